#include "service/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gg_engine {
    const gg_policy *policy;
    double rank, alpha, scale;
    gg_weights weights;
    gg_adam adam;
    double *gradient;    /* sums since the last step */
    double total_weight; /* likewise */
    double *datum;       /* one datum's gradient */
    double *before;      /* the sums before a call, for a failure in its middle */
    double *logprobs, *upstream;
    size_t room; /* of the last two */
};

gg_status gg_engine_new(const gg_policy *policy, double rank, double alpha, gg_engine **out,
                        gg_error *error)
{
    *out = NULL;
    size_t n = gg_policy_weight_count(policy);
    if (!gg_policy_trainable(policy) || n == 0)
        return gg_fail(error, GG_E_CONFIG, "the policy %s cannot be trained",
                       gg_policy_name(policy));
    gg_engine *e = calloc(1, sizeof *e);
    double *arrays = calloc(6 * n, sizeof *arrays);
    if (!e || !arrays) {
        free(e);
        free(arrays);
        return gg_fail(error, GG_E_MEMORY, "out of memory for a training session's weights");
    }
    *e = (gg_engine){.policy = policy, .rank = rank, .alpha = alpha};
    e->scale = gg_adapter_scale(rank, alpha);
    e->weights = (gg_weights){.n = n, .adapter = arrays};
    e->adam = (gg_adam){.n = n, .m = arrays + n, .v = arrays + 2 * n};
    e->gradient = arrays + 3 * n;
    e->datum = arrays + 4 * n;
    e->before = arrays + 5 * n;
    *out = e;
    return GG_OK;
}

void gg_engine_free(gg_engine *engine)
{
    if (!engine)
        return;
    free(engine->weights.adapter); /* the start of all arrays of gg_engine_new */
    free(engine->logprobs);
    free(engine->upstream);
    free(engine);
}

static bool make_room(gg_engine *e, size_t n)
{
    if (n <= e->room)
        return true;
    size_t room = 2 * n;
    double *logprobs = realloc(e->logprobs, room * sizeof *logprobs);
    if (logprobs)
        e->logprobs = logprobs;
    double *upstream = realloc(e->upstream, room * sizeof *upstream);
    if (upstream)
        e->upstream = upstream;
    if (!logprobs || !upstream)
        return false;
    e->room = room;
    return true;
}

static gg_status check(const gg_engine *e, gg_loss loss, const gg_datum *d, size_t index,
                       gg_error *error)
{
    int32_t vocabulary = gg_policy_vocabulary(e->policy);
    unsigned missing = gg_loss_tensors(loss) & ~gg_datum_tensors(d);
    if (d->fault)
        return gg_fail(error, GG_E_FORMAT, "datum %zu: %s", index, d->fault);
    if (missing)
        return gg_fail(error, GG_E_FORMAT, "datum %zu: %s needs %s", index, gg_loss_name(loss),
                       gg_tensor_name(missing & (~missing + 1)));
    for (size_t i = 0; i < d->n; i++) {
        int32_t bad = d->input[i] < 0 || d->input[i] >= vocabulary ? d->input[i] : d->target[i];
        if (bad < 0 || bad >= vocabulary)
            return gg_fail(error, GG_E_FORMAT,
                           "datum %zu, place %zu: token %d is not in the vocabulary of %d tokens",
                           index, i, bad, vocabulary);
        if (!(d->weights[i] >= 0))
            return gg_fail(error, GG_E_FORMAT, "datum %zu, place %zu: a weight is negative", index,
                           i);
    }
    return GG_OK;
}

/* The losses of one datum, and what flows back into its log-probabilities. */
static void score(gg_engine *e, const gg_engine_batch *batch, const gg_datum *d,
                  gg_engine_sums *sums)
{
    for (size_t i = 0; i < d->n; i++) {
        double weight = d->weights[i], gradient;
        bool clipped;
        e->upstream[i] = 0;
        if (weight == 0) {
            e->logprobs[i] = 0;
            continue;
        }
        if (!isfinite(e->logprobs[i])) {
            sums->unreachable++;
            continue;
        }
        double old = d->logprobs ? d->logprobs[i] : e->logprobs[i];
        double advantage = d->advantages ? d->advantages[i] : 0;
        double loss = gg_token_loss(batch->loss, &batch->config, e->logprobs[i], old, advantage,
                                    &gradient, &clipped);
        e->upstream[i] = weight * gradient;
        sums->scored++;
        sums->weight += weight;
        sums->loss += weight * loss;
        sums->kl += weight * (old - e->logprobs[i]);
        sums->clipped += clipped ? weight : 0;
    }
    sums->tokens += (int64_t)d->n;
}

static gg_status one_datum(gg_engine *e, const gg_engine_batch *batch, size_t index,
                           gg_engine_sums *sums, gg_error *error)
{
    const gg_datum *d = &batch->datums[index];
    gg_status status = check(e, batch->loss, d, index, error);
    if (status != GG_OK)
        return status;
    if (!make_room(e, d->n))
        return gg_fail(error, GG_E_MEMORY, "out of memory for a datum of %zu tokens", d->n);
    status = gg_policy_logprobs(e->policy, &e->weights, e->scale, d->input, d->target, d->n,
                                d->weights, e->logprobs, error);
    if (status != GG_OK)
        return status;
    score(e, batch, d, sums);
    if (batch->logprobs)
        memcpy(batch->logprobs[index], e->logprobs, d->n * sizeof *e->logprobs);
    if (!batch->backward)
        return GG_OK;
    memset(e->datum, 0, e->weights.n * sizeof *e->datum);
    status = gg_policy_gradient(e->policy, &e->weights, e->scale, d->input, d->target, d->n,
                                e->upstream, e->datum, error);
    for (size_t i = 0; status == GG_OK && i < e->weights.n; i++)
        e->gradient[i] += e->datum[i];
    return status;
}

static double norm(const gg_engine *e)
{
    double squares = 0;
    for (size_t i = 0; e->total_weight > 0 && i < e->weights.n; i++) {
        double mean = e->gradient[i] / e->total_weight;
        squares += mean * mean;
    }
    return sqrt(squares);
}

gg_status gg_engine_forward(gg_engine *e, const gg_engine_batch *batch, gg_engine_sums *sums,
                            gg_error *error)
{
    size_t bytes = e->weights.n * sizeof *e->gradient;
    *sums = (gg_engine_sums){0};
    memcpy(e->before, e->gradient, bytes);
    double weight_before = e->total_weight;
    gg_status status = GG_OK;
    for (size_t i = 0; i < batch->count && status == GG_OK; i++) {
        gg_engine_sums one = {0};
        status = one_datum(e, batch, i, &one, error);
        sums->tokens += one.tokens;
        sums->scored += one.scored;
        sums->unreachable += one.unreachable;
        sums->weight += one.weight;
        sums->loss += one.loss;
        sums->kl += one.kl;
        sums->clipped += one.clipped;
        if (batch->backward)
            e->total_weight += one.weight;
    }
    if (status != GG_OK) {
        memcpy(e->gradient, e->before, bytes);
        e->total_weight = weight_before;
    }
    sums->gradient_norm = norm(e);
    return status;
}

static void clear(gg_engine *e)
{
    memset(e->gradient, 0, e->weights.n * sizeof *e->gradient);
    e->total_weight = 0;
}

gg_status gg_engine_step(gg_engine *e, const gg_adam_config *config, gg_engine_moved *moved,
                         gg_error *error)
{
    moved->weight = e->total_weight;
    moved->gradient_norm =
        gg_adam_step(&e->adam, config, e->weights.adapter, e->gradient, e->total_weight);
    if (!isfinite(moved->gradient_norm))
        return gg_fail(error, GG_E_STATE,
                       "the accumulated gradient is not finite; no step was taken");
    clear(e);
    moved->version = ++e->weights.version;
    return GG_OK;
}

gg_status gg_engine_snapshot(const gg_engine *e, gg_adapter *out, gg_error *error)
{
    *out = (gg_adapter){.policy = strdup(gg_policy_name(e->policy)),
                        .rank = e->rank,
                        .alpha = e->alpha,
                        .weights = {.n = e->weights.n, .version = e->weights.version}};
    out->weights.adapter = malloc(e->weights.n * sizeof *out->weights.adapter);
    if (!out->policy || !out->weights.adapter) {
        gg_adapter_free(out);
        return gg_fail(error, GG_E_MEMORY, "out of memory for a copy of the weights");
    }
    memcpy(out->weights.adapter, e->weights.adapter, e->weights.n * sizeof *e->weights.adapter);
    return GG_OK;
}

gg_status gg_engine_write_optimizer(const gg_engine *e, gg_buf *out, gg_error *error)
{
    gg_buf_str(out, "{\"schema\":\"" GG_OPTIMIZER_SCHEMA "\",\"steps\":");
    gg_buf_int(out, e->adam.steps);
    gg_buf_str(out, ",\"m\":");
    gg_buf_doubles(out, e->adam.m, e->adam.n);
    gg_buf_str(out, ",\"v\":");
    gg_buf_doubles(out, e->adam.v, e->adam.n);
    gg_buf_str(out, "}\n");
    return gg_buf_status(out, "the optimiser's state", error);
}

typedef struct optimizer {
    int64_t steps;
    double *m, *v;
    size_t m_count, v_count;
    bool schema, no_memory;
} optimizer;

static void read_optimizer(const char *text, size_t len, optimizer *o)
{
    gg_json_reader r = gg_json_reader_make(text, len);
    gg_json_name name, raw;
    size_t m_room = 0, v_room = 0;
    const char *schema = "\"" GG_OPTIMIZER_SCHEMA "\"";
    o->steps = -1;
    if (!gg_read_object(&r))
        return;
    while (gg_read_name(&r, &name)) {
        if (gg_name_is(name, "schema"))
            o->schema = gg_read_raw(&r, &raw) && gg_name_is(raw, schema);
        else if (gg_name_is(name, "steps"))
            gg_read_int(&r, &o->steps);
        else if (gg_name_is(name, "m") && !o->m)
            gg_read_doubles(&r, &o->m, &o->m_count, &m_room);
        else if (gg_name_is(name, "v") && !o->v)
            gg_read_doubles(&r, &o->v, &o->v_count, &v_room);
        else
            gg_read_skip(&r);
    }
    if (!gg_read_end(&r))
        o->steps = -1;
    o->no_memory = r.no_memory;
}

gg_status gg_engine_load(gg_engine *e, const gg_adapter *adapter, const char *optimizer_text,
                         size_t len, gg_error *error)
{
    size_t n = e->weights.n;
    optimizer o = {0};
    if (adapter->weights.n != n || adapter->rank != e->rank || adapter->alpha != e->alpha)
        return gg_fail(error, GG_E_CONFIG,
                       "the adapter has rank %g and alpha %g, the session %g and %g; create the "
                       "session with the adapter's",
                       adapter->rank, adapter->alpha, e->rank, e->alpha);
    if (optimizer_text)
        read_optimizer(optimizer_text, len, &o);
    bool fine = !optimizer_text || (o.schema && o.steps >= 0 && o.m_count == n && o.v_count == n);
    if (fine) {
        memcpy(e->weights.adapter, adapter->weights.adapter, n * sizeof *e->weights.adapter);
        e->weights.version = adapter->weights.version;
        memset(e->adam.m, 0, n * sizeof *e->adam.m);
        memset(e->adam.v, 0, n * sizeof *e->adam.v);
        e->adam.steps = o.steps;
        if (o.m)
            memcpy(e->adam.m, o.m, n * sizeof *o.m);
        if (o.v)
            memcpy(e->adam.v, o.v, n * sizeof *o.v);
        clear(e);
    }
    free(o.m);
    free(o.v);
    if (o.no_memory)
        return gg_fail(error, GG_E_MEMORY, "out of memory for the optimiser's state");
    return fine ? GG_OK
                : gg_fail(error, GG_E_FORMAT,
                          "the optimiser's state is damaged or of other weights; load without it");
}
