#include "service/hosted_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"

#define TEXT_MAX (16u << 20)

/* ---- forward, forwardBackward ---- */

static double mean(double sum, double weight)
{
    return weight > 0 ? sum / weight : 0;
}

static void write_metric(gg_buf *out, const char *name, double value)
{
    if (out->len && out->data[out->len - 1] != '{')
        gg_buf_char(out, ',');
    gg_buf_char(out, '"');
    gg_buf_str(out, name);
    gg_buf_str(out, "\":");
    gg_buf_double(out, value);
}

static void write_metrics(const gg_op_request *request, const gg_engine_sums *sums, gg_buf *out)
{
    gg_buf_str(out, "\"metrics\":{");
    write_metric(out, "actor/pg_loss", mean(sums->loss, sums->weight));
    write_metric(out, "actor/ppo_kl", mean(sums->kl, sums->weight));
    write_metric(out, "actor/pg_clipfrac", mean(sums->clipped, sums->weight));
    if (request->kind == GG_OP_FORWARD_BACKWARD)
        write_metric(out, "actor/grad_norm", sums->gradient_norm);
    write_metric(out, "global_token_num", (double)sums->tokens);
    write_metric(out, "loss/sum", sums->loss);
    write_metric(out, "loss/weight", sums->weight);
    write_metric(out, "loss/tokens", (double)sums->scored);
    write_metric(out, "loss/unreachable_tokens", (double)sums->unreachable);
    gg_buf_char(out, '}');
}

static void write_outputs(const gg_op_request *request, double **logprobs, gg_buf *out)
{
    gg_buf_str(out, ",\"lossFnOutputs\":[");
    for (size_t i = 0; i < request->datums.count; i++) {
        size_t n = request->datums.items[i].n;
        for (size_t k = 0; k < n; k++)
            if (!isfinite(logprobs[i][k]))
                logprobs[i][k] = GG_LOGPROB_NEVER;
        gg_buf_str(out, i ? ",{\"logprobs\":{\"data\":" : "{\"logprobs\":{\"data\":");
        gg_buf_doubles(out, logprobs[i], n);
        gg_buf_printf(out, ",\"dtype\":\"float32\",\"shape\":[%zu]}}", n);
    }
    gg_buf_char(out, ']');
}

/* One block: the pointers, then the values. NULL when memory is short. */
static double **make_outputs(const gg_datums *datums)
{
    size_t values = 0;
    for (size_t i = 0; i < datums->count; i++)
        values += datums->items[i].n;
    double **rows = malloc(datums->count * sizeof *rows + values * sizeof(double));
    double *next = rows ? (double *)(void *)(rows + datums->count) : NULL;
    for (size_t i = 0; rows && i < datums->count; i++) {
        rows[i] = next;
        next += datums->items[i].n;
    }
    return rows;
}

static gg_status run_forward(gg_op_context *context, const gg_op_request *request, gg_buf *out,
                             gg_error *error)
{
    bool backward = request->kind == GG_OP_FORWARD_BACKWARD;
    double **logprobs = backward ? NULL : make_outputs(&request->datums);
    gg_engine_batch batch = {request->loss,         request->clip, request->datums.items,
                             request->datums.count, backward,      logprobs};
    gg_engine_sums sums;
    if (!backward && !logprobs)
        return gg_fail(error, GG_E_MEMORY, "out of memory for the outputs of forward");
    gg_status status = gg_engine_forward(context->engine, &batch, &sums, error);
    if (status == GG_OK) {
        context->usage.trained = sums.tokens;
        gg_buf_char(out, '{');
        write_metrics(request, &sums, out);
        if (logprobs)
            write_outputs(request, logprobs, out);
        gg_buf_str(out, ",\"tokenUsage\":{\"trainingTokens\":");
        gg_buf_int(out, sums.tokens);
        gg_buf_str(out, "}}");
    }
    free(logprobs);
    return status;
}

/* ---- optimizerStep, saves, loads ---- */

static gg_status run_step(gg_op_context *context, const gg_op_request *request, gg_buf *out,
                          gg_error *error)
{
    gg_engine_moved moved;
    gg_status status = gg_engine_step(context->engine, &request->adam, &moved, error);
    if (status != GG_OK)
        return status;
    gg_buf_str(out, "{\"metrics\":{");
    write_metric(out, "actor/grad_norm", moved.gradient_norm);
    write_metric(out, "actor/lr", request->adam.learning_rate);
    write_metric(out, "actor/weight_version", (double)moved.version);
    gg_buf_str(out, "}}");
    return GG_OK;
}

static gg_status run_save(gg_op_context *context, const gg_op_request *request, gg_buf *out,
                          gg_error *error)
{
    const gg_hosted_options *s = context->session;
    char arn[GG_PACKAGE_ARN_MAX + 1];
    gg_adapter adapter;
    gg_buf optimizer;
    gg_buf_init(&optimizer, GG_PACKAGE_FILE_MAX);
    gg_status status = GG_OK;
    if (request->kind == GG_OP_SAVE_STATE)
        status = gg_engine_write_optimizer(context->engine, &optimizer, error);
    if (status == GG_OK)
        status = gg_engine_snapshot(context->engine, &adapter, error);
    if (status == GG_OK) {
        gg_package_save save = {.group = s->group,
                                .region = s->region,
                                .account = s->account,
                                .description = request->description,
                                .base_id = s->base_id,
                                .base_version = s->base_version,
                                .s3_path = s->s3_path,
                                .session = s->name,
                                .policy = s->policy,
                                .adapter = &adapter,
                                .optimizer = optimizer.data,
                                .optimizer_len = optimizer.len};
        status = gg_packages_save(s->packages, &save, arn, error);
    }
    gg_buf_free(&optimizer);
    if (status == GG_OK)
        gg_buf_printf(out, "{\"modelPackageArn\":\"%s\"}", arn);
    return status;
}

static gg_status run_load(gg_op_context *context, const gg_op_request *request, gg_buf *out,
                          gg_error *error)
{
    gg_packages *packages = context->session->packages;
    gg_version *version = NULL;
    gg_buf optimizer;
    gg_buf_init(&optimizer, GG_PACKAGE_FILE_MAX);
    gg_status status =
        gg_packages_version(packages, context->session->policy, request->package, &version, error);
    if (status == GG_OK && request->load_optimizer)
        status = gg_packages_optimizer(packages, request->package, &optimizer, error);
    if (status == GG_OK)
        status = gg_engine_load(context->engine, gg_version_adapter(version),
                                request->load_optimizer ? gg_buf_cstr(&optimizer) : NULL,
                                optimizer.len, error);
    gg_version_release(version);
    gg_buf_free(&optimizer);
    gg_buf_str(out, "{}");
    return status;
}

static gg_status run_bind(gg_op_context *context, const gg_op_request *request, gg_buf *out,
                          gg_error *error)
{
    gg_version *version;
    gg_status status = gg_packages_version(context->session->packages, context->session->policy,
                                           request->package, &version, error);
    if (status != GG_OK)
        return status;
    gg_version_release(context->bound);
    context->bound = version;
    gg_buf_str(out, "{}");
    return GG_OK;
}

/* ---- sample, computeLogprobs ---- */

typedef struct model {
    const gg_policy *policy;
    gg_version *version; /* released at the end */
    const gg_weights *weights;
    double scale;
} model;

static gg_status open_model(const gg_op_context *context, const gg_op_request *request, model *out,
                            gg_error *error)
{
    *out = (model){.policy = context->session->policy};
    gg_status status = GG_OK;
    if (request->package)
        status = gg_packages_version(context->session->packages, out->policy, request->package,
                                     &out->version, error);
    else
        out->version = gg_version_keep(context->bound);
    if (status == GG_OK && out->version) {
        const gg_adapter *adapter = gg_version_adapter(out->version);
        out->weights = &adapter->weights;
        out->scale = gg_adapter_scale(adapter->rank, adapter->alpha);
    }
    return status;
}

/* log p of every prompt token but the first; out[0] is 0. */
static gg_status prompt_logprobs(const model *m, const gg_op_request *request, double *out,
                                 gg_error *error)
{
    size_t n = request->prompt_count - 1;
    double *wanted = malloc((n + 1) * sizeof *wanted);
    if (!wanted)
        return gg_fail(error, GG_E_MEMORY, "out of memory for the log-probabilities of a prompt");
    for (size_t i = 0; i <= n; i++)
        wanted[i] = i < n;
    out[0] = 0;
    gg_status status = gg_policy_logprobs(m->policy, m->weights, m->scale, request->prompt,
                                          request->prompt + 1, n, wanted, out + 1, error);
    for (size_t i = 1; i <= n; i++)
        if (!isfinite(out[i]))
            out[i] = GG_LOGPROB_NEVER;
    free(wanted);
    return status;
}

static gg_status run_logprobs(gg_op_context *context, const gg_op_request *request, gg_buf *out,
                              gg_error *error)
{
    model m;
    double *values = malloc(request->prompt_count * sizeof *values);
    gg_status status = values ? open_model(context, request, &m, error)
                              : gg_fail(error, GG_E_MEMORY, "out of memory for log-probabilities");
    if (!values)
        return status;
    if (status == GG_OK)
        status = prompt_logprobs(&m, request, values, error);
    if (status == GG_OK) {
        values[0] = NAN; /* written as null: nothing comes before the first token */
        context->usage.prefill = (int64_t)request->prompt_count;
        gg_buf_str(out, "{\"logprobs\":");
        gg_buf_doubles(out, values, request->prompt_count);
        gg_buf_char(out, '}');
    }
    gg_version_release(m.version);
    free(values);
    return status;
}

/* Where the first stop text ends, in tokens; `count` when none comes. */
static gg_status cut_at_stop(const model *m, const gg_op_request *request, const int32_t *ids,
                             size_t count, size_t *end, gg_error *error)
{
    gg_buf text;
    gg_status status = GG_OK;
    *end = count;
    gg_buf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < count && request->stop_count && status == GG_OK && *end == count; i++) {
        status = gg_policy_detokenize(m->policy, ids + i, 1, &text, error);
        for (size_t s = 0; s < request->stop_count && status == GG_OK; s++)
            if (strstr(gg_buf_cstr(&text), request->stops[s])) {
                *end = i + 1;
                break;
            }
    }
    gg_buf_free(&text);
    return status;
}

static gg_status write_sample(gg_op_context *context, const model *m, const gg_op_request *request,
                              int64_t index, gg_policy_reply *reply, gg_buf *out, gg_error *error)
{
    uint64_t seed =
        gg_derive_seed(request->seeded ? request->seed : context->seed, "sample", index);
    size_t end;
    gg_status status = gg_policy_sample(m->policy, m->weights, m->scale, request->prompt,
                                        request->prompt_count, request->temperature, request->top_p,
                                        seed, request->max_tokens, reply, error);
    if (status == GG_OK)
        status = cut_at_stop(m, request, reply->ids, reply->count, &end, error);
    if (status != GG_OK)
        return status;
    bool stopped = end < reply->count || strcmp(reply->finish_reason, "length") != 0;
    gg_buf_printf(out, "%s{\"stopReason\":\"%s\",\"tokens\":", index ? "," : "",
                  stopped ? "stop" : "length");
    gg_buf_ints(out, reply->ids, end);
    if (reply->logprobs) {
        gg_buf_str(out, ",\"logprobs\":");
        gg_buf_doubles(out, reply->logprobs, end);
    }
    gg_buf_printf(out, ",\"tokenUsage\":{\"prefill\":%zu,\"decode\":%zu}}", request->prompt_count,
                  end);
    context->usage.prefill += (int64_t)request->prompt_count;
    context->usage.sampled += (int64_t)end;
    return GG_OK;
}

static gg_status write_prompt(const model *m, const gg_op_request *request, gg_buf *out,
                              gg_error *error)
{
    double *values = malloc(request->prompt_count * sizeof *values);
    if (!values)
        return gg_fail(error, GG_E_MEMORY, "out of memory for log-probabilities");
    gg_status status = prompt_logprobs(m, request, values, error);
    if (status == GG_OK) {
        gg_buf_str(out, ",\"promptLogprobs\":");
        gg_buf_doubles(out, values, request->prompt_count);
    }
    free(values);
    return status;
}

static gg_status run_sample(gg_op_context *context, const gg_op_request *request, gg_buf *out,
                            gg_error *error)
{
    model m;
    gg_policy_reply reply;
    gg_status status = open_model(context, request, &m, error);
    gg_policy_reply_init(&reply);
    gg_buf_str(out, "{\"sequences\":[");
    for (int64_t i = 0; i < request->samples && status == GG_OK; i++)
        status = write_sample(context, &m, request, i, &reply, out, error);
    gg_buf_char(out, ']');
    if (status == GG_OK && request->prompt_logprobs)
        status = write_prompt(&m, request, out, error);
    gg_buf_char(out, '}');
    gg_policy_reply_free(&reply);
    gg_version_release(m.version);
    return status;
}

static gg_status (*const runners[GG_OP_KIND_COUNT])(gg_op_context *, const gg_op_request *,
                                                    gg_buf *, gg_error *) = {
    [GG_OP_FORWARD] = run_forward,        [GG_OP_FORWARD_BACKWARD] = run_forward,
    [GG_OP_OPTIMIZER_STEP] = run_step,    [GG_OP_SAVE_WEIGHTS] = run_save,
    [GG_OP_SAVE_STATE] = run_save,        [GG_OP_LOAD_STATE] = run_load,
    [GG_OP_SAMPLE] = run_sample,          [GG_OP_COMPUTE_LOGPROBS] = run_logprobs,
    [GG_OP_LOAD_FOR_SAMPLING] = run_bind,
};

gg_status gg_op_run(gg_op_context *context, const gg_op_request *request, gg_buf *result,
                    gg_error *error)
{
    gg_status status = runners[request->kind](context, request, result, error);
    return status == GG_OK ? gg_buf_status(result, "an operation's result", error) : status;
}
