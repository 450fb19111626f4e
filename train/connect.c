/* The training's connections: the two sides of the service, the model that plays, and the question
 * whether that model's replies can be trained on. */
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "train/state.h"

#define URL_MAX   4096
#define SIGNED_AS "sagemaker"
#define SAMPLE    "/sample" /* the managed pass-through, under the session's address */

/* One signature a side: what holds an endpoint back must know which one to let go on. */
static gg_status open_side(gg_train *t, const char *url, gg_endpoint **out, gg_signing **signing,
                           gg_error *error)
{
    gg_endpoint_options options = {.base_url = url,
                                   .in_flight_max = 1,
                                   .attempts_max = GG_RETRY_ATTEMPTS,
                                   .timeout_ms = GG_HTTP_TIMEOUT_MS,
                                   .seed = gg_derive_seed(t->o.seed, "jitter", 0)};
    gg_status status = GG_OK;
    if (t->credentials)
        status = gg_signing_new(t->credentials, t->o.sign_region, SIGNED_AS, signing, error);
    if (status != GG_OK)
        return status;
    options.sign = *signing ? gg_signing_sign : NULL;
    options.sign_context = *signing;
    status = gg_endpoint_new(t->http, &options, out, error);
    if (status == GG_OK && *signing)
        gg_signing_attach(*signing, *out);
    return status;
}

gg_status gg_train_connect(gg_train *t, gg_error *error)
{
    gg_status status = gg_http_new(t->o.loop, &t->http, error);
    const gg_credentials_options keys = {.http = t->http};
    if (status == GG_OK && t->o.sign_region)
        status = gg_credentials_new(&keys, &t->credentials, error);
    if (status == GG_OK)
        status = open_side(t, t->o.control_url, &t->control, &t->control_signing, error);
    if (status == GG_OK)
        status = open_side(t, t->o.runtime_url, &t->runtime, &t->runtime_signing, error);
    return status;
}

/* The session's own model: behind the OpenAI path of our service, which clients know; signed, as
 * the managed service wants it, behind the pass-through. */
static gg_status own_model(gg_train *t, gg_buf *url, gg_error *error)
{
    t->ask = *t->o.ask;
    gg_session_chat_url(t->session, t->o.runtime_url, url);
    if (!t->credentials)
        return gg_buf_status(url, "an address", error);
    gg_buf_truncate(url, url->len - strlen("/v1"));
    t->ask.path = SAMPLE;
    gg_status status =
        gg_signing_new(t->credentials, t->o.sign_region, SIGNED_AS, &t->policy_signing, error);
    return status == GG_OK ? gg_buf_status(url, "an address", error) : status;
}

gg_status gg_train_open_rollout(gg_train *t, gg_error *error)
{
    gg_buf url;
    gg_status status = GG_OK;
    gg_buf_init(&url, URL_MAX);
    t->ask = *t->o.ask;
    if (!t->o.policy_url)
        status = own_model(t, &url, error);
    gg_endpoint_options asked = {.base_url = t->o.policy_url ? t->o.policy_url : gg_buf_cstr(&url),
                                 .headers = t->o.policy_headers,
                                 .in_flight_max = t->o.concurrency,
                                 .attempts_max = t->o.attempts,
                                 .timeout_ms = t->o.timeout_ms,
                                 .sign = t->policy_signing ? gg_signing_sign : NULL,
                                 .sign_context = t->policy_signing,
                                 .seed = gg_derive_seed(t->o.seed, "jitter", 1)};
    if (status == GG_OK)
        status = gg_endpoint_new(t->http, &asked, &t->policy, error);
    gg_buf_free(&url);
    if (status != GG_OK)
        return status;
    if (t->policy_signing)
        gg_signing_attach(t->policy_signing, t->policy);
    gg_rollout_options options = {.game = t->o.game,
                                  .reward = t->o.reward,
                                  .endpoint = t->policy,
                                  .ask = &t->ask,
                                  .seed = t->o.seed,
                                  .concurrency = t->o.concurrency,
                                  .weight_version = t->checkpoint.step,
                                  .id_prefix = "s"};
    return gg_rollout_new(t->o.loop, &options, &t->rollout, error);
}

void gg_train_disconnect(gg_train *t)
{
    gg_endpoint_free(t->policy);
    gg_endpoint_free(t->runtime);
    gg_endpoint_free(t->control);
    gg_signing_free(t->policy_signing);
    gg_signing_free(t->runtime_signing);
    gg_signing_free(t->control_signing);
    gg_credentials_free(t->credentials);
    gg_http_free(t->http);
}

/* ---- can it be trained on? ---- */

static gg_status look(void *context, size_t index, gg_episode *episode, gg_error *error)
{
    gg_status status = GG_OK;
    (void)context;
    (void)index;
    if (episode->outcome != GG_ERRORED && !episode->trainable)
        status = gg_fail(error, GG_E_PROTOCOL,
                         "one play was asked for before the first group, and it cannot be trained "
                         "on: %s; see `guessgym probe`",
                         episode->untrainable_reason ? episode->untrainable_reason
                                                     : "its tokens are not known");
    gg_episode_free(episode);
    return status;
}

gg_status gg_train_probe(gg_train *t, gg_error *error)
{
    const gg_planned plan = {.task = &t->o.rows->items[0]};
    t->playing = true;
    gg_status status = gg_rollout_play(t->rollout, &plan, 1, look, NULL, error);
    t->playing = false;
    return status;
}
