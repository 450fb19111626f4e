#include "train/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "train/call.h"
#include "train/package.h"

#define BODY_MAX      (64u << 20)
#define FIRST_POLL_MS 5

struct gg_session {
    gg_session_options o;
    char *name;
    int64_t sequence; /* number of the last operation */
    gg_buf body;
};

/* ---- plumbing ---- */

static gg_status control(gg_session *s, const char *operation, cJSON **out, gg_error *error)
{
    gg_status status = gg_buf_status(&s->body, operation, error);
    if (status == GG_OK)
        status = gg_control_wait(s->o.loop, s->o.control, operation, &s->body, s->o.given_up, out,
                                 error);
    return status;
}

/* Posts s->body to .../KIND and copies the operation's id. */
static gg_status submit(gg_session *s, const char *kind, gg_operation *id, gg_error *error)
{
    char path[160];
    const char *const headers[] = {"Content-Type: application/json", NULL};
    cJSON *reply = NULL;
    snprintf(path, sizeof path, "/v1/training-sessions/%s/%s", s->name, kind);
    gg_status status = gg_buf_status(&s->body, "an operation", error);
    if (status != GG_OK)
        return status;
    gg_call_options call = {s->o.loop,   s->o.runtime, path,         gg_buf_cstr(&s->body),
                            s->body.len, headers,      s->o.given_up};
    status = gg_call_wait(&call, &reply, NULL, error);
    if (status != GG_OK)
        return status;
    const char *text = gg_json_text(reply, "operationId");
    if (text && strlen(text) < sizeof id->id)
        memcpy(id->id, text, strlen(text) + 1);
    else
        status = gg_fail(error, GG_E_PROTOCOL, "%s%s answered without an operationId",
                         gg_endpoint_shown(s->o.runtime), path);
    cJSON_Delete(reply);
    return status;
}

/* Starts s->body with sequence number and client token; the caller appends the operation and two
 * braces. */
static void begin_operation(gg_session *s)
{
    s->sequence++;
    gg_buf_reset(&s->body);
    gg_buf_printf(&s->body,
                  "{\"sequenceNumber\":%" PRId64 ",\"clientToken\":\"%013" PRIx64 "-%" PRId64
                  "\",\"operationConfig\":{",
                  s->sequence, gg_derive_seed(s->o.token_seed, s->name, s->sequence), s->sequence);
}

static gg_status failure(gg_session *s, const cJSON *reply, const char *state, gg_error *error)
{
    const char *detail = gg_json_text(reply, "errorDetails");
    const cJSON *object = gg_json_get(reply, "errorDetails");
    if (!detail)
        detail = gg_json_text(object, "message");
    return gg_fail(error, GG_E_PROTOCOL, "an operation of training session %s ended as %s: %s",
                   s->name, state, detail ? detail : "no reason given");
}

/* Polls until the operation has ended; its result's one member in *out (caller deletes the reply).
 */
static gg_status wait_for(gg_session *s, const char *kind, const gg_operation *id, cJSON **out,
                          gg_error *error)
{
    char path[256];
    snprintf(path, sizeof path, "/v1/training-sessions/%s/%s/%s", s->name, kind, id->id);
    for (int64_t pause = FIRST_POLL_MS;;
         pause = pause * 2 > GG_SESSION_POLL_MS ? GG_SESSION_POLL_MS : pause * 2) {
        gg_call_options call = {s->o.loop, s->o.runtime, path, NULL, 0, NULL, s->o.given_up};
        cJSON *reply = NULL;
        gg_status status = gg_call_wait(&call, &reply, NULL, error);
        if (status != GG_OK)
            return status;
        const char *state = gg_json_text(reply, "status");
        if (state && !strcmp(state, "Completed")) {
            *out = reply;
            return GG_OK;
        }
        bool ended = state && (!strcmp(state, "Failed") || !strcmp(state, "Skipped"));
        if (ended)
            status = failure(s, reply, state, error);
        cJSON_Delete(reply);
        if (ended)
            return status;
        if ((status = gg_loop_sleep(s->o.loop, pause, error)) != GG_OK)
            return status;
    }
}

/* ---- life ---- */

static void write_create(gg_session *s)
{
    const gg_session_options *o = &s->o;
    gg_buf *b = &s->body;
    gg_buf_reset(b);
    gg_buf_str(b, "{\"TrainingSessionName\":");
    gg_buf_json_str(b, s->name);
    gg_buf_printf(b, ",\"LoraConfig\":{\"Rank\":%" PRId64 ",\"Alpha\":%" PRId64 "},\"RoleArn\":",
                  o->rank, o->alpha);
    gg_buf_json_str(b, o->role_arn);
    gg_buf_str(b, ",\"ModelConfig\":{\"BaseModelArn\":");
    gg_buf_json_str(b, o->base_model_arn);
    gg_buf_str(b, "},\"OutputConfig\":{\"S3Location\":{\"Path\":");
    gg_buf_json_str(b, o->s3_path);
    gg_buf_str(b, "}},\"ModelPackageGroupArn\":");
    gg_buf_json_str(b, o->package_group_arn);
    gg_buf_char(b, '}');
}

static void write_name(gg_session *s)
{
    gg_buf_reset(&s->body);
    gg_buf_str(&s->body, "{\"TrainingSessionName\":");
    gg_buf_json_str(&s->body, s->name);
    gg_buf_char(&s->body, '}');
}

/* One look at the session's state: *running once it is, an error once it never will be. */
static gg_status look(gg_session *s, bool *running, gg_error *error)
{
    static const char *const coming[] = {"Created", "Scheduled"};
    cJSON *reply = NULL;
    write_name(s);
    gg_status status = control(s, "DescribeTrainingSession", &reply, error);
    if (status != GG_OK)
        return status;
    const cJSON *detail = gg_json_get(reply, "TrainingSessionDetail");
    const char *state = gg_json_text(detail, "TrainingSessionStatus");
    *running = state && !strcmp(state, "Running");
    bool waiting = *running;
    for (size_t i = 0; i < sizeof coming / sizeof *coming; i++)
        waiting = waiting || (state && !strcmp(state, coming[i]));
    if (!waiting) {
        const char *why = gg_json_text(detail, "ErrorDetails");
        status =
            gg_fail(error, GG_E_PROTOCOL, "training session %s is %s instead of Running: %s",
                    s->name, state ? state : "in no known state", why ? why : "no reason given");
    }
    cJSON_Delete(reply);
    return status;
}

static gg_status wait_running(gg_session *s, gg_error *error)
{
    int64_t waited = 0;
    for (int64_t pause = FIRST_POLL_MS; waited < GG_SESSION_START_MS; waited += pause, pause *= 2) {
        bool running = false;
        gg_status status = look(s, &running, error);
        if (status != GG_OK || running)
            return status;
        if (pause > 5 * GG_SESSION_POLL_MS)
            pause = 5 * GG_SESSION_POLL_MS;
        if ((status = gg_loop_sleep(s->o.loop, pause, error)) != GG_OK)
            return status;
    }
    return gg_fail(error, GG_E_LIMIT, "training session %s was not Running after %d s", s->name,
                   GG_SESSION_START_MS / 1000);
}

gg_status gg_session_open(const gg_session_options *options, gg_session **out, gg_error *error)
{
    gg_session *s = calloc(1, sizeof *s);
    cJSON *reply = NULL;
    *out = NULL;
    if (s)
        s->name = strdup(options->name);
    if (!s || !s->name) {
        free(s);
        return gg_fail(error, GG_E_MEMORY, "out of memory opening a training session");
    }
    s->o = *options;
    gg_buf_init(&s->body, BODY_MAX);
    write_create(s);
    gg_status status = control(s, "CreateTrainingSession", &reply, error);
    cJSON_Delete(reply);
    if (status != GG_OK) {
        gg_buf_free(&s->body);
        free(s->name);
        free(s);
        return status;
    }
    status = wait_running(s, error);
    if (status == GG_OK)
        *out = s;
    else
        gg_session_close(s, NULL); /* the first error is the one to tell */
    return status;
}

gg_status gg_session_close(gg_session *s, gg_error *error)
{
    cJSON *reply = NULL;
    if (!s)
        return GG_OK;
    write_name(s);
    gg_status status = control(s, "StopTrainingSession", &reply, error);
    cJSON_Delete(reply);
    gg_buf_free(&s->body);
    free(s->name);
    free(s);
    return status;
}

gg_status gg_session_stop_left(uv_loop_t *loop, gg_endpoint *endpoint, const char *name,
                               const bool *given_up, gg_error *error)
{
    gg_session left = {.o = {.loop = loop, .control = endpoint, .given_up = given_up},
                       .name = strdup(name)};
    cJSON *reply = NULL;
    if (!left.name)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a session's name");
    gg_buf_init(&left.body, BODY_MAX);
    write_name(&left);
    gg_status status = control(&left, "StopTrainingSession", &reply, error);
    cJSON_Delete(reply);
    gg_buf_free(&left.body);
    free(left.name);
    /* A refusal says that it is gone or over; only silence leaves the bill open. */
    return status == GG_E_PROTOCOL ? GG_OK : status;
}

void gg_session_chat_url(const gg_session *s, const char *runtime_url, gg_buf *out)
{
    size_t len = strlen(runtime_url);
    while (len && runtime_url[len - 1] == '/')
        len--;
    gg_buf_printf(out, "%.*s/training-sessions/%s/v1", (int)len, runtime_url, s->name);
}

/* ---- operations ---- */

/* At least one, however large it is. */
size_t gg_session_slice(const gg_datum *datums, size_t count, size_t first)
{
    size_t bytes = 0, n = 0;
    while (first + n < count && n < GG_DATUMS_PER_OPERATION) {
        bytes += gg_datum_estimate(&datums[first + n]);
        if (n > 0 && bytes > GG_OPERATION_BYTES)
            break;
        n++;
    }
    return n;
}

size_t gg_session_operations(const gg_datum *datums, size_t count)
{
    size_t operations = 0;
    for (size_t first = 0; first < count; first += gg_session_slice(datums, count, first))
        operations++;
    return operations;
}

gg_status gg_session_forward_backward(gg_session *s, gg_loss loss, const gg_loss_config *config,
                                      const gg_datum *datums, size_t count, gg_operation *ids,
                                      gg_error *error)
{
    bool clips = loss == GG_LOSS_PPO || loss == GG_LOSS_CISPO;
    for (size_t first = 0, i = 0, n; first < count; first += n, i++) {
        n = gg_session_slice(datums, count, first);
        begin_operation(s);
        gg_buf_printf(&s->body, "\"forwardBackward\":{\"lossFnName\":\"%s\",", gg_loss_name(loss));
        if (config && clips) {
            gg_buf_str(&s->body, "\"lossFnConfig\":{\"clip_low_threshold\":");
            gg_buf_double(&s->body, config->clip_low);
            gg_buf_str(&s->body, ",\"clip_high_threshold\":");
            gg_buf_double(&s->body, config->clip_high);
            gg_buf_str(&s->body, "},");
        }
        gg_buf_str(&s->body, "\"datumList\":[");
        for (size_t k = 0; k < n; k++) {
            if (k)
                gg_buf_char(&s->body, ',');
            gg_datum_write(&datums[first + k], &s->body);
        }
        gg_buf_str(&s->body, "]}}}");
        gg_status status = submit(s, "operations", &ids[i], error);
        if (status != GG_OK)
            return status;
    }
    return GG_OK;
}

gg_status gg_session_step(gg_session *s, const gg_adam_config *adam, gg_operation *id,
                          gg_error *error)
{
    const struct {
        const char *name;
        double value;
    } fields[] = {
        {"learningRate", adam->learning_rate},
        {"beta1", adam->beta1},
        {"beta2", adam->beta2},
        {"eps", adam->eps},
        {"weightDecay", adam->weight_decay},
        {"gradClipNorm", adam->clip_norm},
    };
    begin_operation(s);
    gg_buf_str(&s->body, "\"optimizerStep\":{\"adamParamsConfig\":{");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        gg_buf_printf(&s->body, "%s\"%s\":", i ? "," : "", fields[i].name);
        gg_buf_double(&s->body, fields[i].value);
    }
    gg_buf_str(&s->body, "}}}}");
    return submit(s, "operations", id, error);
}

static void each_metric(const cJSON *metrics, gg_metric_fn each, void *context)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, metrics) if (cJSON_IsNumber(item) && each)
        each(context, item->string, item->valuedouble);
}

gg_status gg_session_wait(gg_session *s, const gg_operation *id, gg_metric_fn each, void *context,
                          gg_error *error)
{
    cJSON *reply = NULL;
    gg_status status = wait_for(s, "operations", id, &reply, error);
    if (status != GG_OK)
        return status;
    const cJSON *result = gg_json_get(reply, "operationResult");
    double tokens = 0;
    if (result && result->child)
        each_metric(gg_json_get(result->child, "metrics"), each, context);
    if (each && gg_json_number(gg_json_get(reply, "tokenUsage"), "trainingTokens", &tokens))
        each(context, "trainingTokens", tokens);
    cJSON_Delete(reply);
    return GG_OK;
}

static gg_status save(gg_session *s, const char *kind, char *arn, gg_error *error)
{
    gg_operation id;
    cJSON *reply = NULL;
    begin_operation(s);
    gg_buf_printf(&s->body, "\"%s\":{}}}", kind);
    gg_status status = submit(s, "operations", &id, error);
    if (status == GG_OK)
        status = wait_for(s, "operations", &id, &reply, error);
    if (status != GG_OK)
        return status;
    const char *text =
        gg_json_text(gg_json_get(gg_json_get(reply, "operationResult"), kind), "modelPackageArn");
    if (text && strlen(text) <= GG_ARN_MAX)
        memcpy(arn, text, strlen(text) + 1);
    else
        status =
            gg_fail(error, GG_E_PROTOCOL,
                    "training session %s answered %s without a modelPackageArn", s->name, kind);
    cJSON_Delete(reply);
    return status;
}

gg_status gg_session_save_weights(gg_session *s, char arn[GG_ARN_MAX + 1], gg_error *error)
{
    return save(s, "saveWeights", arn, error);
}

gg_status gg_session_save_state(gg_session *s, char arn[GG_ARN_MAX + 1], gg_error *error)
{
    return save(s, "saveState", arn, error);
}

gg_status gg_session_load_state(gg_session *s, const char *arn, bool optimizer, gg_error *error)
{
    gg_operation id;
    begin_operation(s);
    gg_buf_str(&s->body, "\"loadState\":{\"modelPackageArn\":");
    gg_buf_json_str(&s->body, arn);
    gg_buf_printf(&s->body, ",\"loadOptimizer\":%s}}}", optimizer ? "true" : "false");
    gg_status status = submit(s, "operations", &id, error);
    return status == GG_OK ? gg_session_wait(s, &id, NULL, NULL, error) : status;
}

gg_status gg_session_bind(gg_session *s, const char *arn, gg_error *error)
{
    gg_operation id;
    cJSON *reply = NULL;
    gg_buf_reset(&s->body);
    gg_buf_str(&s->body, "{\"operationConfig\":{\"loadWeightsForSampling\":{\"modelPackageArn\":");
    gg_buf_json_str(&s->body, arn);
    gg_buf_str(&s->body, "}}}");
    gg_status status = submit(s, "sampling-operations", &id, error);
    if (status == GG_OK)
        status = wait_for(s, "sampling-operations", &id, &reply, error);
    cJSON_Delete(reply);
    return status;
}

gg_status gg_session_location(gg_session *s, const char *arn, gg_buf *uri, gg_error *error)
{
    return gg_package_location(s->o.loop, s->o.control, arn, s->o.given_up, uri, error);
}
