/* "letters" and the word game's baselines as policies: what they open, and the tables of
 * functions. */
#include "policy/letters_policy.h"

#include <stdlib.h>
#include <string.h>

#include "policy/letters.h"
#include "policy/solver.h"

#define DEFAULT_LENGTH 5

typedef struct letters_policy {
    gg_policy base;
    gg_words *words;
    gg_vocabulary vocabulary;
    gg_trie trie;
    gg_letters letters;
    gg_solver *solver; /* of a baseline */
} letters_policy;

static const letters_policy *own(const gg_policy *policy)
{
    return (const letters_policy *)policy;
}

/* A path from the settings; empty is the same as absent. */
static const char *path_setting(const cJSON *settings, const char *name)
{
    const char *path = gg_json_text(settings, name);
    return path && *path ? path : NULL;
}

static gg_status length_setting(const cJSON *settings, int *length, gg_error *error)
{
    const cJSON *value = gg_json_get(settings, "length");
    double number = DEFAULT_LENGTH;
    if (cJSON_IsString(value))
        number = strtod(value->valuestring, NULL);
    else if (value)
        number = cJSON_IsNumber(value) ? value->valuedouble : 0;
    if (!(number >= GG_WORD_MIN && number <= GG_WORD_MAX) || number != (double)(int)number)
        return gg_fail(error, GG_E_CONFIG, "the setting length must be a whole number, %d to %d",
                       GG_WORD_MIN, GG_WORD_MAX);
    *length = (int)number;
    return GG_OK;
}

static gg_status load_words(const char *settings, gg_words **out, gg_error *error)
{
    cJSON *root = NULL;
    int length = DEFAULT_LENGTH;
    gg_status status = GG_OK;
    if (settings)
        status = gg_json_parse(settings, strlen(settings), &root, error);
    if (status == GG_OK)
        status = length_setting(root, &length, error);
    if (status == GG_OK)
        status = gg_words_load(path_setting(root, "answers"), path_setting(root, "allowed"), length,
                               out, error);
    cJSON_Delete(root);
    return status;
}

static void close_letters(gg_policy *policy)
{
    letters_policy *p = (letters_policy *)policy;
    gg_solver_free(p->solver);
    gg_trie_free(&p->trie);
    gg_vocabulary_free(&p->vocabulary);
    gg_words_free(p->words);
    free(p);
}

static gg_status open_parts(const gg_policy_api *api, letters_policy *p, const char *settings,
                            gg_error *error)
{
    gg_status status = load_words(settings, &p->words, error);
    if (status == GG_OK)
        status = gg_vocabulary_init(&p->vocabulary, error);
    if (status == GG_OK)
        status = gg_trie_init(&p->trie, p->words, error);
    if (status != GG_OK)
        return status;
    gg_letters_init(&p->letters, &p->vocabulary, &p->trie);
    return api->trainable ? GG_OK
                          : gg_solver_new(p->words, (gg_baseline)api->variant, &p->solver, error);
}

static gg_status open_letters(const gg_policy_api *api, const char *settings, gg_policy **out,
                              gg_error *error)
{
    letters_policy *p = calloc(1, sizeof *p);
    if (!p)
        return gg_fail(error, GG_E_MEMORY, "not enough memory for the policy %s", api->name);
    gg_status status = open_parts(api, p, settings, error);
    if (status != GG_OK) {
        close_letters(&p->base);
        return status;
    }
    p->base.tokenizer = p->vocabulary.tokenizer;
    p->base.base = p->letters.base;
    p->base.weight_count = api->trainable ? p->letters.weight_count : 0;
    p->base.traits[p->base.trait_count++] =
        (gg_policy_trait){.name = "length",
                          .number = p->trie.length,
                          .advice = "use words of the length it was trained with"};
    p->base.traits[p->base.trait_count++] =
        (gg_policy_trait){.name = "lists",
                          .text = gg_words_digest(p->words),
                          .advice = "use the word lists it was trained with"};
    *out = &p->base;
    return GG_OK;
}

static gg_status sample_letters(const gg_policy *policy, const double *weights,
                                const int32_t *prompt, size_t count, const gg_sampling *sampling,
                                gg_policy_reply *reply, gg_error *error)
{
    const letters_policy *p = own(policy);
    uint8_t forced[GG_WORD_MAX] = {0};
    const char *word = NULL;
    gg_walk walk;
    gg_walk_start(&walk, &p->vocabulary, &p->trie);
    for (size_t i = 0; i < count; i++)
        gg_walk_put(&walk, prompt[i]);
    if (p->solver) {
        gg_status status = gg_solver_pick(p->solver, &walk.board, sampling->seed, &word, error);
        if (status != GG_OK)
            return status;
        for (int i = 0; i < p->trie.length; i++)
            forced[i] = (uint8_t)(word[i] - 'a');
    }
    if (gg_letters_sample(weights, &walk, sampling, word ? forced : NULL, reply) != GG_OK)
        return gg_fail(error, GG_E_MEMORY, "not enough memory for a reply");
    return GG_OK;
}

static gg_status letters_logprobs(const gg_policy *policy, const double *weights,
                                  const int32_t *input, const int32_t *target, size_t n,
                                  const double *wanted, double *out, gg_error *error)
{
    (void)error;
    gg_letters_logprobs(&own(policy)->letters, weights, input, target, n, wanted, out);
    return GG_OK;
}

static gg_status letters_gradient(const gg_policy *policy, const double *weights,
                                  const int32_t *input, const int32_t *target, size_t n,
                                  const double *upstream, double *sum, gg_error *error)
{
    (void)error;
    gg_letters_gradient(&own(policy)->letters, weights, input, target, n, upstream, sum);
    return GG_OK;
}

const gg_policy_api gg_letters_policy = {
    .name = "letters",
    .trainable = true,
    .open = open_letters,
    .close = close_letters,
    .sample = sample_letters,
    .logprobs = letters_logprobs,
    .gradient = letters_gradient,
};

#define BASELINE(shown, kind)                                                                      \
    {                                                                                              \
        .name = (shown), .variant = (kind), .open = open_letters, .close = close_letters,          \
        .sample = sample_letters                                                                   \
    }

const gg_policy_api gg_solver_policies[GG_SOLVER_POLICIES] = {
    BASELINE("random", GG_BASELINE_RANDOM),     BASELINE("consistent", GG_BASELINE_CONSISTENT),
    BASELINE("entropy", GG_BASELINE_ENTROPY),   BASELINE("buckets", GG_BASELINE_BUCKETS),
    BASELINE("expected", GG_BASELINE_EXPECTED), BASELINE("minimax", GG_BASELINE_MINIMAX),
};
