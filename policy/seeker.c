#include "policy/seeker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "policy/reply.h"
#include "policy/seeker_choice.h"

typedef struct seeker {
    gg_policy base;
    gg_seek_vocabulary vocabulary;
    char corpus[GG_DIGEST_HEX];
} seeker;

_Static_assert(GG_SEEK_WEIGHTS <= GG_POLICY_WEIGHTS_MAX, "the weights must have room");

static const seeker *own(const gg_policy *policy)
{
    return (const seeker *)policy;
}

/* ---- opening ---- */

static void close_seeker(gg_policy *policy)
{
    seeker *s = (seeker *)policy;
    gg_seek_vocabulary_free(&s->vocabulary);
    free(s);
}

/* Of the corpus that the index was built from. */
static gg_status read_digest(seeker *s, const char *dir, gg_error *error)
{
    gg_buf text;
    cJSON *root = NULL;
    gg_buf_init(&text, GG_FILE_MAX);
    gg_buf_printf(&text, "%s/index.json", dir);
    char *path = gg_buf_take(&text);
    gg_status status = path ? gg_file_read(path, &text, error)
                            : gg_fail(error, GG_E_MEMORY, "not enough memory for a path");
    if (status == GG_OK)
        status = gg_json_parse(gg_buf_cstr(&text), text.len, &root, error);
    const char *digest = root ? gg_json_text(root, "corpus") : NULL;
    if (status == GG_OK && !digest)
        status = gg_fail(error, GG_E_FORMAT, "%s names no corpus", path);
    if (status == GG_OK)
        snprintf(s->corpus, sizeof s->corpus, "%s", digest);
    cJSON_Delete(root);
    gg_buf_free(&text);
    free(path);
    return status;
}

static gg_status read_index(seeker *s, const char *dir, gg_error *error)
{
    gg_index *index = NULL;
    gg_status status = gg_index_open(dir, &index, error);
    if (status == GG_OK)
        status = gg_seek_vocabulary_init(&s->vocabulary, index, error);
    gg_index_close(index);
    return status == GG_OK ? read_digest(s, dir, error) : status;
}

static gg_status read_settings(seeker *s, const char *settings, gg_error *error)
{
    cJSON *root = NULL;
    gg_status status = GG_OK;
    if (settings)
        status = gg_json_parse(settings, strlen(settings), &root, error);
    const char *dir = root ? gg_json_text(root, "index") : NULL;
    if (status == GG_OK && (!dir || !*dir))
        status = gg_fail(error, GG_E_CONFIG,
                         "seeker reads the words of an index: say which with --env-set index=DIR");
    if (status == GG_OK)
        status = read_index(s, dir, error);
    cJSON_Delete(root);
    return status;
}

static gg_status open_seeker(const gg_policy_api *api, const char *settings, gg_policy **out,
                             gg_error *error)
{
    seeker *s = calloc(1, sizeof *s);
    if (!s)
        return gg_fail(error, GG_E_MEMORY, "not enough memory for the policy %s", api->name);
    gg_status status = read_settings(s, settings, error);
    if (status != GG_OK) {
        close_seeker(&s->base);
        return status;
    }
    s->base.tokenizer = s->vocabulary.lexicon.tokenizer;
    s->base.base = gg_seeker_base;
    s->base.weight_count = GG_SEEK_WEIGHTS;
    s->base.traits[s->base.trait_count++] =
        (gg_policy_trait){.name = "corpus",
                          .text = s->corpus,
                          .advice = "use the index of the corpus it was trained with"};
    *out = &s->base;
    return GG_OK;
}

/* ---- the token model ---- */

/* What a pass over a sequence needs; too large for the stack. */
typedef struct pass {
    gg_seeker_state state;
    gg_seek_choice choice;
} pass;

static gg_status new_pass(const gg_policy *policy, pass **out, gg_error *error)
{
    *out = malloc(sizeof **out);
    if (!*out)
        return gg_fail(error, GG_E_MEMORY, "not enough memory to read a sequence");
    gg_seeker_start(&(*out)->state, &own(policy)->vocabulary);
    return GG_OK;
}

/* The token to write now, and its log-probability. */
static int32_t next_token(pass *at, const double *weights, const gg_sampling *sampling, gg_rng *rng,
                          double *logprob)
{
    gg_seek_choice *c = &at->choice;
    *logprob = 0;
    switch (gg_seeker_next(&at->state)) {
    case GG_SEEK_FIXED:
        return at->state.due[at->state.due_at];
    case GG_SEEK_CHOICE: {
        gg_seek_choose(&at->state, weights, c);
        if (c->count == 0)
            return GG_TOKEN_END;
        size_t pick = gg_draw(sampling, c->score, c->p, c->count, rng);
        *logprob = gg_seek_logprob(c, c->token[pick]);
        return c->token[pick];
    }
    default:
        return GG_TOKEN_END; /* a prompt that leaves nothing to say */
    }
}

static gg_status sample(const gg_policy *policy, const double *weights, const int32_t *prompt,
                        size_t count, const gg_sampling *sampling, gg_policy_reply *reply,
                        gg_error *error)
{
    pass *at;
    gg_rng rng;
    gg_status status = new_pass(policy, &at, error);
    if (status != GG_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        gg_seeker_put(&at->state, prompt[i]);
    gg_rng_seed(&rng, sampling->seed);
    reply->finish_reason = "length";
    for (size_t i = 0; status == GG_OK && i < sampling->max_tokens; i++) {
        double logprob;
        int32_t id = next_token(at, weights, sampling, &rng, &logprob);
        if (!gg_reply_push(reply, id, &logprob))
            status = gg_fail(error, GG_E_MEMORY, "not enough memory for a reply");
        gg_seeker_put(&at->state, id);
        if (id == GG_TOKEN_END) {
            reply->finish_reason = "stop";
            break;
        }
    }
    free(at);
    return status;
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
    switch (gg_seeker_next(&at->state)) {
    case GG_SEEK_GIVEN:
        return 0;
    case GG_SEEK_FIXED:
        return at->state.due[at->state.due_at] == target ? 0 : -INFINITY;
    case GG_SEEK_CHOICE:
        gg_seek_choose(&at->state, weights, &at->choice);
        return gg_seek_logprob(&at->choice, target);
    default:
        return -INFINITY;
    }
}

static gg_status logprobs(const gg_policy *policy, const double *weights, const int32_t *input,
                          const int32_t *target, size_t n, const double *wanted, double *out,
                          gg_error *error)
{
    pass *at;
    gg_status status = new_pass(policy, &at, error);
    if (status != GG_OK)
        return status;
    size_t end = last_wanted(wanted, n);
    for (size_t i = 0; i < n; i++) {
        out[i] = 0;
        if (i >= end)
            continue;
        gg_seeker_put(&at->state, input[i]);
        if (wanted[i] != 0)
            out[i] = target_logprob(at, weights, target[i]);
    }
    free(at);
    return GG_OK;
}

static gg_status gradient(const gg_policy *policy, const double *weights, const int32_t *input,
                          const int32_t *target, size_t n, const double *upstream, double *sum,
                          gg_error *error)
{
    pass *at;
    gg_status status = new_pass(policy, &at, error);
    if (status != GG_OK)
        return status;
    size_t end = last_wanted(upstream, n);
    for (size_t i = 0; i < end; i++) {
        gg_seeker_put(&at->state, input[i]);
        if (upstream[i] == 0 || gg_seeker_next(&at->state) != GG_SEEK_CHOICE)
            continue;
        gg_seek_choose(&at->state, weights, &at->choice);
        gg_seek_add_gradient(&at->choice, target[i], upstream[i], sum);
    }
    free(at);
    return GG_OK;
}

const gg_policy_api gg_seeker_policy = {
    .name = "seeker",
    .trainable = true,
    .open = open_seeker,
    .close = close_seeker,
    .sample = sample,
    .logprobs = logprobs,
    .gradient = gradient,
};
