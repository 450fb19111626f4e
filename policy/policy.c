#include "policy/policy.h"

#include <string.h>

#include "core/near.h"
#include "policy/api.h"
#include "policy/chooser.h"
#include "policy/letters_policy.h"
#include "policy/reply.h"
#include "policy/retriever.h"
#include "policy/seeker.h"
#include "policy/template.h"

#define LIST_ROOM 256 /* bytes of the list of names in an error sentence */

/* Every policy, in the order in which --help lists them; the names once more, as others want
 * them. */
static const gg_policy_api *const policies[] = {
    &gg_letters_policy,        &gg_solver_policies[0],    &gg_solver_policies[1],
    &gg_solver_policies[2],    &gg_solver_policies[3],    &gg_solver_policies[4],
    &gg_solver_policies[5],    &gg_retriever_policies[0], &gg_retriever_policies[1],
    &gg_retriever_policies[2], &gg_seeker_policy,         &gg_chooser_policy,
};
#define POLICIES (sizeof policies / sizeof *policies)
static const char *const policy_names[POLICIES + 1] = {
    "letters", "random", "consistent", "entropy", "buckets", "expected", "minimax",
    "bm25",    "vector", "hybrid",     "seeker",  "chooser", NULL,
};

static const struct effort {
    const char *name;
    gg_effort effort;
} efforts[] = {
    {"none", GG_EFFORT_LOW},      {"minimal", GG_EFFORT_LOW}, {"low", GG_EFFORT_LOW},
    {"medium", GG_EFFORT_MEDIUM}, {"high", GG_EFFORT_HIGH},   {"xhigh", GG_EFFORT_HIGH},
    {"max", GG_EFFORT_HIGH},
};

gg_status gg_effort_parse(const char *name, gg_effort *out, gg_error *error)
{
    *out = GG_EFFORT_MEDIUM;
    for (size_t i = 0; name && i < sizeof efforts / sizeof *efforts; i++) {
        if (strcmp(efforts[i].name, name) == 0) {
            *out = efforts[i].effort;
            return GG_OK;
        }
    }
    if (!name)
        return GG_OK;
    return gg_fail(error, GG_E_ARGUMENT,
                   "unknown reasoning effort \"%.40s\"; known are none, minimal, low, medium, "
                   "high, xhigh and max",
                   name);
}

/* ---- which policy ---- */

const char *const *gg_policy_names(void)
{
    return policy_names;
}

static const gg_policy_api *find(const char *name)
{
    for (size_t i = 0; i < POLICIES; i++)
        if (strcmp(policies[i]->name, name) == 0)
            return policies[i];
    return NULL;
}

bool gg_policy_name_trainable(const char *name)
{
    const gg_policy_api *api = find(name);
    return api && api->trainable;
}

static gg_status refuse_name(const char *name, gg_error *error)
{
    const char *near = gg_near_miss(name, policy_names, POLICIES);
    gg_buf list;
    gg_buf_init(&list, LIST_ROOM);
    for (size_t i = 0; i < POLICIES; i++)
        gg_buf_printf(&list, "%s%s",
                      i == 0             ? ""
                      : i + 1 < POLICIES ? ", "
                                         : " and ",
                      policy_names[i]);
    gg_fail(error, GG_E_CONFIG, "there is no policy \"%.40s\"%s%s%s; known are %s", name,
            near ? " (did you mean \"" : "", near ? near : "", near ? "\"?)" : "",
            gg_buf_cstr(&list));
    gg_buf_free(&list);
    return GG_E_CONFIG;
}

gg_status gg_policy_open(const char *name, const char *settings, gg_policy **out, gg_error *error)
{
    const gg_policy_api *api = find(name);
    *out = NULL;
    if (!api)
        return refuse_name(name, error);
    gg_status status = api->open(api, settings, out, error);
    if (status == GG_OK)
        (*out)->api = api;
    return status;
}

void gg_policy_close(gg_policy *p)
{
    if (p)
        p->api->close(p);
}

const char *gg_policy_name(const gg_policy *p)
{
    return p->api->name;
}

bool gg_policy_trainable(const gg_policy *p)
{
    return p->api->trainable;
}

size_t gg_policy_weight_count(const gg_policy *p)
{
    return p->weight_count;
}

int32_t gg_policy_vocabulary(const gg_policy *p)
{
    return gg_tokenizer_size(p->tokenizer);
}

const gg_policy_trait *gg_policy_traits(const gg_policy *p, size_t *count)
{
    *count = p->trait_count;
    return p->traits;
}

/* ---- checks ---- */

static gg_status check_weights(const gg_policy *p, const gg_weights *weights, gg_error *error)
{
    if (!weights || !p->api->trainable || weights->n == p->weight_count)
        return GG_OK;
    return gg_fail(error, GG_E_ARGUMENT, "the adapter has %zu numbers, the policy %s has %zu",
                   weights->n, p->api->name, p->weight_count);
}

static gg_status check_trainable(const gg_policy *p, const gg_weights *weights, gg_error *error)
{
    if (!p->api->trainable)
        return gg_fail(error, GG_E_STATE,
                       "the policy %s is no token model: it has no log-probabilities to train",
                       p->api->name);
    return check_weights(p, weights, error);
}

static gg_status check_ids(const gg_policy *p, const int32_t *ids, size_t count, gg_error *error)
{
    int32_t vocabulary = gg_policy_vocabulary(p);
    for (size_t i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= vocabulary)
            return gg_fail(error, GG_E_ARGUMENT,
                           "token %zu is %d, outside the vocabulary of %d ids", i, (int)ids[i],
                           (int)vocabulary);
    return GG_OK;
}

/* base + scale x adapter. `weights` NULL = base. */
static void add_adapter(const gg_policy *p, const gg_weights *weights, double scale,
                        double out[GG_POLICY_WEIGHTS_MAX])
{
    for (size_t i = 0; i < p->weight_count; i++)
        out[i] = weights ? p->base[i] + scale * weights->adapter[i] : p->base[i];
}

/* ---- replies ---- */

gg_status gg_policy_reply_to(const gg_policy *p, const gg_weights *weights, double scale,
                             const gg_policy_request *request, gg_policy_reply *reply,
                             gg_error *error)
{
    double effective[GG_POLICY_WEIGHTS_MAX];
    gg_reply_reset(reply);
    gg_status status = check_weights(p, weights, error);
    if (status != GG_OK)
        return status;
    if (request->max_tokens < 1)
        return gg_fail(error, GG_E_ARGUMENT, "max_tokens must be at least 1");
    gg_ids prompt = gg_reply_take_prompt(reply);
    gg_effort effort = p->api->trainable ? request->effort : GG_EFFORT_LOW;
    status = gg_template_prompt(p->tokenizer, request->messages, request->tools, p->api->schemas,
                                effort, &prompt, error);
    gg_reply_give_prompt(reply, prompt);
    if (status != GG_OK)
        return status;
    gg_sampling sampling = {.temperature = request->temperature,
                            .top_p = request->top_p,
                            .seed = request->seed,
                            .max_tokens = (size_t)request->max_tokens};
    add_adapter(p, weights, scale, effective);
    status = p->api->sample(p, effective, reply->prompt_ids, reply->prompt_count, &sampling, reply,
                            error);
    return status == GG_OK ? gg_template_parse(p->tokenizer, reply, error) : status;
}

gg_status gg_policy_sample(const gg_policy *p, const gg_weights *weights, double scale,
                           const int32_t *prompt, size_t prompt_count, double temperature,
                           double top_p, uint64_t seed, int64_t max_tokens, gg_policy_reply *reply,
                           gg_error *error)
{
    double effective[GG_POLICY_WEIGHTS_MAX];
    gg_reply_reset(reply);
    gg_status status = check_weights(p, weights, error);
    if (status == GG_OK)
        status = check_ids(p, prompt, prompt_count, error);
    if (status == GG_OK && max_tokens < 1)
        status = gg_fail(error, GG_E_ARGUMENT, "max_tokens must be at least 1");
    if (status != GG_OK)
        return status;
    gg_sampling sampling = {
        .temperature = temperature, .top_p = top_p, .seed = seed, .max_tokens = (size_t)max_tokens};
    add_adapter(p, weights, scale, effective);
    return p->api->sample(p, effective, prompt, prompt_count, &sampling, reply, error);
}

/* ---- the token model ---- */

gg_status gg_policy_detokenize(const gg_policy *p, const int32_t *ids, size_t count, gg_buf *out,
                               gg_error *error)
{
    return gg_tokenizer_decode(p->tokenizer, ids, count, out, error);
}

gg_status gg_policy_tokenize(const gg_policy *p, const char *text, size_t len, int32_t **ids,
                             size_t *count, gg_error *error)
{
    gg_ids out = {0};
    *ids = NULL;
    *count = 0;
    gg_ids_reserve(&out, 1); /* no text still gives an array to free */
    gg_tokenizer_encode(p->tokenizer, text, len, &out);
    if (out.failed) {
        gg_ids_free(&out);
        return gg_fail(error, GG_E_MEMORY, "not enough memory for the tokens of %zu bytes", len);
    }
    *ids = out.data;
    *count = out.count;
    return GG_OK;
}

gg_status gg_policy_logprobs(const gg_policy *p, const gg_weights *weights, double scale,
                             const int32_t *input, const int32_t *target, size_t n,
                             const double *wanted, double *out, gg_error *error)
{
    double effective[GG_POLICY_WEIGHTS_MAX];
    gg_status status = check_trainable(p, weights, error);
    if (status == GG_OK)
        status = check_ids(p, input, n, error);
    if (status != GG_OK)
        return status;
    add_adapter(p, weights, scale, effective);
    return p->api->logprobs(p, effective, input, target, n, wanted, out, error);
}

gg_status gg_policy_gradient(const gg_policy *p, const gg_weights *weights, double scale,
                             const int32_t *input, const int32_t *target, size_t n,
                             const double *upstream, double *gradient, gg_error *error)
{
    double effective[GG_POLICY_WEIGHTS_MAX], sum[GG_POLICY_WEIGHTS_MAX] = {0};
    gg_status status = check_trainable(p, weights, error);
    if (status == GG_OK)
        status = check_ids(p, input, n, error);
    if (status != GG_OK)
        return status;
    add_adapter(p, weights, scale, effective);
    status = p->api->gradient(p, effective, input, target, n, upstream, sum, error);
    for (size_t k = 0; status == GG_OK && k < p->weight_count; k++)
        gradient[k] += scale * sum[k];
    return status;
}
