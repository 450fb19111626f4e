#include "policy/chooser.h"

#include <math.h>
#include <stdlib.h>

#include "policy/chooser_choice.h"
#include "policy/reply.h"

typedef struct chooser {
    gg_policy base;
    gg_tokenizer *tokenizer;
} chooser;

_Static_assert(GG_CHOOSER_WEIGHTS <= GG_POLICY_WEIGHTS_MAX, "the weights must have room");

static void close_chooser(gg_policy *policy)
{
    chooser *c = (chooser *)policy;
    gg_tokenizer_free(c->tokenizer);
    free(c);
}

/* No phrases: texts are bytes, so that one vocabulary serves every game. */
static gg_status open_chooser(const gg_policy_api *api, const char *settings, gg_policy **out,
                              gg_error *error)
{
    chooser *c = calloc(1, sizeof *c);
    (void)settings;
    if (!c)
        return gg_fail(error, GG_E_MEMORY, "not enough memory for the policy %s", api->name);
    gg_status status = gg_tokenizer_new(GG_TOKENIZER_LETTERS, NULL, 0, &c->tokenizer, error);
    if (status != GG_OK) {
        free(c);
        return status;
    }
    c->base.tokenizer = c->tokenizer;
    c->base.base = gg_chooser_base;
    c->base.weight_count = GG_CHOOSER_WEIGHTS;
    *out = &c->base;
    return GG_OK;
}

/* What a pass over a sequence needs; too large for the stack. */
typedef struct pass {
    gg_chooser_reader reader;
    gg_chooser_choice choice;
} pass;

static gg_status new_pass(pass **out, gg_error *error)
{
    *out = malloc(sizeof **out);
    if (!*out)
        return gg_fail(error, GG_E_MEMORY, "not enough memory to read a sequence");
    gg_chooser_reader_init(&(*out)->reader);
    return GG_OK;
}

/* Ends a pass; tells what was wrong with the schemas. */
static gg_status end_pass(pass *at, gg_error *error)
{
    gg_status status = at->reader.status;
    if (status != GG_OK)
        gg_fail(error, status, "%s", at->reader.error.text);
    gg_chooser_reader_free(&at->reader);
    free(at);
    return status;
}

/* Writes one slot, or what is left of it. */
static gg_status write_slot(pass *at, const double *weights, const gg_sampling *sampling,
                            gg_rng *rng, gg_policy_reply *reply, gg_error *error)
{
    const gg_chooser_reader *r = &at->reader;
    gg_chooser_choose(r, weights, &at->choice);
    if (at->choice.count == 0) { /* a prompt that leaves nothing to say */
        double certain = 0;
        return gg_reply_push(reply, GG_TOKEN_END, &certain)
                   ? GG_OK
                   : gg_fail(error, GG_E_MEMORY, "not enough memory for a reply");
    }
    size_t drawn = gg_draw(sampling, at->choice.score, at->choice.p, at->choice.count, rng);
    size_t candidate = at->choice.candidate[drawn], end = r->written;
    while (gg_chooser_token(r, candidate, end) != GG_CHOOSER_NONE)
        end++;
    for (size_t left = end - r->written; left > 0 && reply->count < sampling->max_tokens; left--) {
        int32_t id = gg_chooser_token(r, candidate, r->written);
        gg_chooser_choose(r, weights, &at->choice);
        double logprob = gg_chooser_logprob(&at->choice, id);
        if (!gg_reply_push(reply, id, &logprob))
            return gg_fail(error, GG_E_MEMORY, "not enough memory for a reply");
        gg_chooser_put(&at->reader, id);
    }
    return GG_OK;
}

static gg_status sample(const gg_policy *policy, const double *weights, const int32_t *prompt,
                        size_t count, const gg_sampling *sampling, gg_policy_reply *reply,
                        gg_error *error)
{
    pass *at;
    gg_rng rng;
    gg_status status = new_pass(&at, error);
    (void)policy;
    if (status != GG_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        gg_chooser_put(&at->reader, prompt[i]);
    gg_rng_seed(&rng, sampling->seed);
    reply->finish_reason = "length";
    while (status == GG_OK && at->reader.status == GG_OK && reply->count < sampling->max_tokens) {
        status = write_slot(at, weights, sampling, &rng, reply, error);
        if (reply->count && reply->ids[reply->count - 1] == GG_TOKEN_END) {
            reply->finish_reason = "stop";
            break;
        }
    }
    gg_status read = end_pass(at, status == GG_OK ? error : NULL);
    return status == GG_OK ? read : status;
}

/* Index after the last value that is not 0. */
static size_t last_wanted(const double *values, size_t n)
{
    while (n > 0 && values[n - 1] == 0)
        n--;
    return n;
}

static double target_logprob(pass *at, const double *weights, int32_t target)
{
    if (at->reader.slot == GG_SLOT_OUTSIDE)
        return 0;
    gg_chooser_choose(&at->reader, weights, &at->choice);
    return gg_chooser_logprob(&at->choice, target);
}

static gg_status logprobs(const gg_policy *policy, const double *weights, const int32_t *input,
                          const int32_t *target, size_t n, const double *wanted, double *out,
                          gg_error *error)
{
    pass *at;
    gg_status status = new_pass(&at, error);
    (void)policy;
    if (status != GG_OK)
        return status;
    size_t end = last_wanted(wanted, n);
    for (size_t i = 0; i < n; i++) {
        out[i] = 0;
        if (i >= end)
            continue;
        gg_chooser_put(&at->reader, input[i]);
        if (wanted[i] != 0)
            out[i] = target_logprob(at, weights, target[i]);
    }
    return end_pass(at, error);
}

static gg_status gradient(const gg_policy *policy, const double *weights, const int32_t *input,
                          const int32_t *target, size_t n, const double *upstream, double *sum,
                          gg_error *error)
{
    pass *at;
    gg_status status = new_pass(&at, error);
    (void)policy;
    if (status != GG_OK)
        return status;
    size_t end = last_wanted(upstream, n);
    for (size_t i = 0; i < end; i++) {
        gg_chooser_put(&at->reader, input[i]);
        if (upstream[i] == 0 || at->reader.slot == GG_SLOT_OUTSIDE)
            continue;
        gg_chooser_choose(&at->reader, weights, &at->choice);
        gg_chooser_add_gradient(&at->choice, target[i], upstream[i], sum);
    }
    return end_pass(at, error);
}

const gg_policy_api gg_chooser_policy = {
    .name = "chooser",
    .trainable = true,
    .schemas = true,
    .open = open_chooser,
    .close = close_chooser,
    .sample = sample,
    .logprobs = logprobs,
    .gradient = gradient,
};
