#include "agent/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/invocation.h"
#include "core/digest.h"
#include "net/origin.h"
#include "net/tokens.h"

#define BASE_MAX     4096
#define BODY_MAX     (1u << 20)
#define ALLOW_MAX    64
#define HTTPS_PORT   443
#define HOST_OF      "job-runtime.sagemaker"
#define CHINA_SUFFIX "api.amazonwebservices.com.cn"

struct gg_runtime_link {
    gg_runtime *runtime;
    gg_runtime_link *next;
    size_t users;
    char *base, *region;
    gg_signer *signer;
    gg_endpoint *endpoint;
};

/* A place that may have the token. */
typedef struct allowed {
    gg_origin origin;
    bool any_scheme, any_port; /* "HOST", "HOST:PORT" */
} allowed;

struct gg_runtime {
    gg_runtime_options options;
    char *region, *endpoint;
    gg_credentials *credentials;
    gg_tokens *tokens;
    gg_runtime_link *links;
    size_t link_count;
    allowed allow[ALLOW_MAX];
    size_t allow_count;
};

/* ------------------------------------------------------------------ who may have the token */

static gg_status add_allowed(gg_runtime *runtime, const char *text, gg_error *error)
{
    char url[GG_HOST_ROOM + 16];
    allowed *entry = &runtime->allow[runtime->allow_count];
    bool bare = !strstr(text, "://");
    if (runtime->allow_count == ALLOW_MAX)
        return gg_fail(error, GG_E_LIMIT, "more than %d allowed endpoints", ALLOW_MAX);
    if (bare && strlen(text) < GG_HOST_ROOM) {
        snprintf(url, sizeof url, "http://%s", text);
        text = url;
    }
    gg_status status = gg_origin_parse(text, &entry->origin, NULL, error);
    if (status == GG_E_MEMORY)
        return status;
    if (status != GG_OK)
        return gg_fail(error, GG_E_CONFIG,
                       "an allowed endpoint is neither HOST, HOST:PORT nor an address");
    const char *name = strchr(text, ']');
    name = name ? name : strstr(text, "://") + 3;
    entry->any_scheme = bare;
    entry->any_port = bare && !strchr(name, ':');
    runtime->allow_count++;
    return GG_OK;
}

/* job-runtime.sagemaker.REGION.api.aws and its like: names that only the service can have. */
static bool is_regional(const gg_origin *origin)
{
    static const char *const begins[] = {HOST_OF ".", HOST_OF "-fips."};
    static const char *const ends[] = {".api.aws", "." CHINA_SUFFIX};
    if (!origin->https || origin->port != HTTPS_PORT)
        return false;
    for (size_t b = 0; b < 2; b++) {
        size_t begin = strlen(begins[b]), len = strlen(origin->host);
        if (strncmp(origin->host, begins[b], begin) != 0)
            continue;
        for (size_t e = 0; e < 2; e++) {
            size_t end = strlen(ends[e]);
            if (len > begin + end && strcmp(origin->host + len - end, ends[e]) == 0) {
                char region[GG_HOST_ROOM];
                memcpy(region, origin->host + begin, len - begin - end);
                region[len - begin - end] = '\0';
                return gg_region_valid(region);
            }
        }
    }
    return false;
}

static bool may_have_token(const gg_runtime *runtime, const gg_origin *origin)
{
    if (is_regional(origin))
        return true;
    for (size_t i = 0; i < runtime->allow_count; i++) {
        const allowed *a = &runtime->allow[i];
        if (strcmp(a->origin.host, origin->host) == 0 &&
            (a->any_port || a->origin.port == origin->port) &&
            (a->any_scheme || a->origin.https == origin->https))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------ life */

static gg_status keep_options(gg_runtime *runtime, gg_error *error)
{
    gg_runtime_options *o = &runtime->options;
    if (o->region && !gg_region_valid(o->region))
        return gg_fail(error, GG_E_CONFIG, "\"%s\" is no region's name, such as us-west-2",
                       o->region);
    gg_status status = o->endpoint ? add_allowed(runtime, o->endpoint, error) : GG_OK;
    if (status == GG_OK && o->endpoint && !strstr(o->endpoint, "://"))
        status = gg_fail(error, GG_E_CONFIG,
                         "the runtime's endpoint is not like https://HOST or http://HOST:PORT");
    for (const char *const *text = o->allow; status == GG_OK && text && *text; text++)
        status = add_allowed(runtime, *text, error);
    runtime->region = o->region ? strdup(o->region) : NULL;
    runtime->endpoint = o->endpoint ? strdup(o->endpoint) : NULL;
    if (status == GG_OK && ((o->region && !runtime->region) || (o->endpoint && !runtime->endpoint)))
        status = gg_fail(error, GG_E_MEMORY, "out of memory for the runtime");
    return status;
}

gg_status gg_runtime_new(const gg_runtime_options *options, gg_runtime **out, gg_error *error)
{
    *out = NULL;
    gg_runtime *runtime = calloc(1, sizeof *runtime);
    if (!runtime)
        return gg_fail(error, GG_E_MEMORY, "out of memory for the runtime");
    runtime->options = *options;
    runtime->options.credentials.http = options->http;
    gg_status status = keep_options(runtime, error);
    if (status == GG_OK)
        status = gg_credentials_new(&runtime->options.credentials, &runtime->credentials, error);
    if (status == GG_OK && !(runtime->tokens = gg_tokens_new(runtime->credentials)))
        status = gg_fail(error, GG_E_MEMORY, "out of memory for the runtime");
    if (status != GG_OK) {
        gg_runtime_free(runtime);
        return status;
    }
    *out = runtime;
    return GG_OK;
}

static void free_link(gg_runtime_link *link)
{
    gg_endpoint_free(link->endpoint);
    gg_signer_free(link->signer);
    free(link->base);
    free(link->region);
    free(link);
}

void gg_runtime_free(gg_runtime *runtime)
{
    if (!runtime)
        return;
    for (gg_runtime_link *link = runtime->links, *next; link; link = next) {
        next = link->next;
        free_link(link);
    }
    gg_tokens_free(runtime->tokens);
    gg_credentials_free(runtime->credentials);
    free(runtime->region);
    free(runtime->endpoint);
    free(runtime);
}

/* ------------------------------------------------------------------ links */

static gg_status resolve(const gg_runtime *runtime, const char *endpoint, const char *region,
                         gg_buf *base, gg_error *error)
{
    char own[GG_HOST_ROOM];
    gg_origin origin;
    const char *named = endpoint ? endpoint : runtime->endpoint;
    if (!named) {
        snprintf(own, sizeof own, "https://" HOST_OF ".%s.%s", region,
                 strncmp(region, "cn-", 3) == 0 ? CHINA_SUFFIX : "api.aws");
        named = own;
    }
    gg_status status = gg_origin_parse(named, &origin, base, error);
    if (status == GG_E_MEMORY)
        return status;
    if (status != GG_OK)
        return gg_fail(error, GG_E_ARGUMENT,
                       "the runtime's endpoint is not like https://HOST or http://HOST:PORT");
    if (!may_have_token(runtime, &origin))
        return gg_fail(
            error, GG_E_ARGUMENT,
            "the runtime's endpoint %s is none of the service's own hosts, so it gets no "
            "token; to trust it, name it with --allow-endpoint",
            base->data);
    /* Some write the base with the /v1 that comes next. */
    if (base->len > 3 && strcmp(base->data + base->len - 3, "/v1") == 0)
        gg_buf_truncate(base, base->len - 3);
    return GG_OK;
}

static gg_runtime_link *find_link(const gg_runtime *runtime, const char *base, const char *region)
{
    for (gg_runtime_link *link = runtime->links; link; link = link->next)
        if (strcmp(link->base, base) == 0 && strcmp(link->region, region) == 0)
            return link;
    return NULL;
}

/* Room for one more link: one that nobody uses goes. */
static bool make_room(gg_runtime *runtime)
{
    if (runtime->link_count < GG_RUNTIME_LINKS)
        return true;
    for (gg_runtime_link **at = &runtime->links; *at; at = &(*at)->next)
        if (!(*at)->users) {
            gg_runtime_link *link = *at;
            *at = link->next;
            runtime->link_count--;
            free_link(link);
            return true;
        }
    return false;
}

static gg_status fill_link(gg_runtime_link *link, const char *base, const char *region,
                           gg_error *error)
{
    const gg_runtime_options *o = &link->runtime->options;
    link->base = strdup(base);
    link->region = strdup(region);
    if (!link->base || !link->region)
        return gg_fail(error, GG_E_MEMORY, "out of memory for an endpoint");
    gg_status status = gg_signer_new(link->runtime->tokens, region, &link->signer, error);
    gg_endpoint_options options = {.base_url = base,
                                   .in_flight_max = o->in_flight_max,
                                   .attempts_max = o->attempts_max,
                                   .timeout_ms = o->timeout_ms,
                                   .seed = o->seed,
                                   .sign = gg_signer_sign,
                                   .sign_context = link->signer};
    if (status == GG_OK)
        status = gg_endpoint_new(o->http, &options, &link->endpoint, error);
    if (status == GG_OK)
        gg_signer_attach(link->signer, link->endpoint);
    return status;
}

static gg_status new_link(gg_runtime *runtime, const char *base, const char *region,
                          gg_runtime_link **out, gg_error *error)
{
    if (!make_room(runtime))
        return gg_fail(error, GG_E_LIMIT, "rollouts of more than %d endpoints at a time",
                       GG_RUNTIME_LINKS);
    gg_runtime_link *link = calloc(1, sizeof *link);
    if (!link)
        return gg_fail(error, GG_E_MEMORY, "out of memory for an endpoint");
    link->runtime = runtime;
    gg_status status = fill_link(link, base, region, error);
    if (status != GG_OK) {
        free_link(link);
        return status;
    }
    link->next = runtime->links;
    runtime->links = link;
    runtime->link_count++;
    *out = link;
    return GG_OK;
}

gg_status gg_runtime_open(gg_runtime *runtime, const char *endpoint, const char *region,
                          gg_runtime_link **out, gg_error *error)
{
    gg_buf base;
    *out = NULL;
    region = region ? region : runtime->region;
    if (!region)
        return gg_fail(error, GG_E_CONFIG,
                       "no region to sign for: neither the request's metadata, --region nor "
                       "AWS_REGION names one");
    gg_buf_init(&base, BASE_MAX);
    gg_status status = resolve(runtime, endpoint, region, &base, error);
    if (status == GG_OK && !(*out = find_link(runtime, base.data, region)))
        status = new_link(runtime, base.data, region, out, error);
    gg_buf_free(&base);
    if (status == GG_OK)
        (*out)->users++;
    return status;
}

void gg_runtime_close(gg_runtime_link *link)
{
    if (link)
        link->users--;
}

gg_endpoint *gg_runtime_endpoint(const gg_runtime_link *link)
{
    return link->endpoint;
}

/* ------------------------------------------------------------------ the two calls */

void gg_runtime_headers(const gg_trajectory *trajectory, char job[GG_RUNTIME_LINE_ROOM],
                        char id[GG_RUNTIME_LINE_ROOM])
{
    snprintf(job, GG_RUNTIME_LINE_ROOM, "X-Amzn-SageMaker-Job-Arn: %s", trajectory->job_arn);
    snprintf(id, GG_RUNTIME_LINE_ROOM, "X-Amzn-SageMaker-Trajectory-Id: %s", trajectory->id);
}

/* In the form of a UUID, from the call and the trajectory. */
static void add_token(gg_buf *body, const char *call, const gg_trajectory *trajectory)
{
    char hex[GG_DIGEST_HEX];
    gg_buf text;
    gg_buf_init(&text, BASE_MAX);
    gg_buf_printf(&text, "%s|%s|%s", call, trajectory->job_arn, trajectory->id);
    gg_sha256_hex(gg_buf_cstr(&text), text.len, hex);
    gg_buf_free(&text);
    gg_buf_printf(body, ",\"ClientToken\":\"%.8s-%.4s-4%.3s-8%.3s-%.12s\"}", hex, hex + 8, hex + 13,
                  hex + 17, hex + 20);
}

static void begin_body(gg_buf *body, const gg_trajectory *trajectory)
{
    gg_buf_init(body, BODY_MAX);
    gg_buf_str(body, "{\"JobArn\":");
    gg_buf_json_str(body, trajectory->job_arn);
    gg_buf_str(body, ",\"TrajectoryId\":");
    gg_buf_json_str(body, trajectory->id);
}

static gg_status report(const gg_runtime_link *link, const char *path,
                        const gg_trajectory *trajectory, gg_buf *body, int64_t deadline_ms,
                        gg_post_done done, void *context, gg_post **out, gg_error *error)
{
    char job[GG_RUNTIME_LINE_ROOM], id[GG_RUNTIME_LINE_ROOM];
    const char *const headers[] = {job, id, NULL};
    gg_runtime_headers(trajectory, job, id);
    gg_status status = gg_buf_status(body, "a report to the runtime", error);
    const gg_post_request request = {.path = path,
                                     .body = gg_buf_cstr(body),
                                     .len = body->len,
                                     .headers = headers,
                                     .deadline_ms = deadline_ms};
    if (status == GG_OK)
        status = gg_endpoint_send(link->endpoint, &request, done, context, out, error);
    gg_buf_free(body);
    return status;
}

gg_status gg_runtime_complete(const gg_runtime_link *link, const gg_trajectory *trajectory,
                              int64_t deadline_ms, gg_post_done done, void *context, gg_post **out,
                              gg_error *error)
{
    gg_buf body;
    begin_body(&body, trajectory);
    gg_buf_str(&body, ",\"Status\":\"ready\"");
    add_token(&body, "complete-rollout", trajectory);
    return report(link, "/complete-rollout", trajectory, &body, deadline_ms, done, context, out,
                  error);
}

gg_status gg_runtime_reward(const gg_runtime_link *link, const gg_trajectory *trajectory,
                            const double *rewards, size_t count, int64_t deadline_ms,
                            gg_post_done done, void *context, gg_post **out, gg_error *error)
{
    gg_buf body;
    begin_body(&body, trajectory);
    gg_buf_str(&body, ",\"Rewards\":[");
    for (size_t i = 0; i < count; i++) {
        gg_buf_str(&body, i ? "," : "");
        gg_buf_double(&body, rewards[i]);
    }
    gg_buf_char(&body, ']');
    add_token(&body, "update-reward", trajectory);
    return report(link, "/update-reward", trajectory, &body, deadline_ms, done, context, out,
                  error);
}

bool gg_runtime_is_over(const gg_post_result *result)
{
    if (result->outcome == GG_RETRY_OK)
        return false;
    return result->reply->status == 404 || result->reply->status == 409 ||
           strcasestr(result->message, "not in valid status") ||
           strcasestr(result->message, "cannot transition trajectory");
}
