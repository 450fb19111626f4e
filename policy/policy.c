#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

#include "core/near.h"
#include "policy/letters.h"
#include "policy/reply.h"
#include "policy/solver.h"
#include "policy/template.h"

#define DEFAULT_LENGTH 5

typedef struct kind {
    const char *name;
    bool trainable;
    gg_baseline baseline; /* where it is not trainable */
} kind;

#define KINDS 7
static const kind kinds[KINDS] = {
    {"letters", true, GG_BASELINE_RANDOM},         {"random", false, GG_BASELINE_RANDOM},
    {"consistent", false, GG_BASELINE_CONSISTENT}, {"entropy", false, GG_BASELINE_ENTROPY},
    {"buckets", false, GG_BASELINE_BUCKETS},       {"expected", false, GG_BASELINE_EXPECTED},
    {"minimax", false, GG_BASELINE_MINIMAX},
};
static const char *const kind_names[KINDS + 1] = {
    "letters", "random", "consistent", "entropy", "buckets", "expected", "minimax", NULL,
};

struct gg_policy {
    const kind *kind;
    gg_words *words;
    gg_vocabulary vocabulary;
    gg_trie trie;
    gg_letters letters;
    gg_solver *solver; /* of a baseline */
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

const char *const *gg_policy_names(void)
{
    return kind_names;
}

static gg_status find_kind(const char *name, const kind **out, gg_error *error)
{
    for (size_t i = 0; i < KINDS; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            *out = &kinds[i];
            return GG_OK;
        }
    }
    const char *near = gg_near_miss(name, kind_names, KINDS);
    return gg_fail(error, GG_E_CONFIG,
                   "there is no policy \"%.40s\"%s%s%s; known are letters, random, consistent, "
                   "entropy, buckets, expected and minimax",
                   name, near ? " (did you mean \"" : "", near ? near : "", near ? "\"?)" : "");
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

static gg_status open_parts(gg_policy *p, const char *settings, gg_error *error)
{
    gg_status status = load_words(settings, &p->words, error);
    if (status == GG_OK)
        status = gg_vocabulary_init(&p->vocabulary, error);
    if (status == GG_OK)
        status = gg_trie_init(&p->trie, p->words, error);
    if (status != GG_OK)
        return status;
    gg_letters_init(&p->letters, &p->vocabulary, &p->trie);
    return p->kind->trainable ? GG_OK
                              : gg_solver_new(p->words, p->kind->baseline, &p->solver, error);
}

gg_status gg_policy_open(const char *name, const char *settings, gg_policy **out, gg_error *error)
{
    const kind *found = NULL;
    *out = NULL;
    gg_status status = find_kind(name, &found, error);
    if (status != GG_OK)
        return status;
    gg_policy *p = calloc(1, sizeof *p);
    if (!p)
        return gg_fail(error, GG_E_MEMORY, "not enough memory for the policy %s", name);
    p->kind = found;
    status = open_parts(p, settings, error);
    if (status != GG_OK) {
        gg_policy_close(p);
        return status;
    }
    *out = p;
    return GG_OK;
}

void gg_policy_close(gg_policy *p)
{
    if (!p)
        return;
    gg_solver_free(p->solver);
    gg_trie_free(&p->trie);
    gg_vocabulary_free(&p->vocabulary);
    gg_words_free(p->words);
    free(p);
}

const char *gg_policy_name(const gg_policy *p)
{
    return p->kind->name;
}

bool gg_policy_trainable(const gg_policy *p)
{
    return p->kind->trainable;
}

size_t gg_policy_weight_count(const gg_policy *p)
{
    return p->kind->trainable ? p->letters.weight_count : 0;
}

int32_t gg_policy_vocabulary(const gg_policy *p)
{
    return p->vocabulary.size;
}

const char *gg_policy_lists(const gg_policy *p)
{
    return gg_words_digest(p->words);
}

int gg_policy_length(const gg_policy *p)
{
    return p->trie.length;
}

static gg_status check_weights(const gg_policy *p, const gg_weights *weights, gg_error *error)
{
    if (!weights || !p->kind->trainable || weights->n == p->letters.weight_count)
        return GG_OK;
    return gg_fail(error, GG_E_ARGUMENT, "the adapter has %zu numbers, the policy %s has %zu",
                   weights->n, p->kind->name, p->letters.weight_count);
}

static gg_status check_trainable(const gg_policy *p, const gg_weights *weights, gg_error *error)
{
    if (!p->kind->trainable)
        return gg_fail(error, GG_E_STATE,
                       "the policy %s is no token model: it has no log-probabilities to train",
                       p->kind->name);
    return check_weights(p, weights, error);
}

static gg_status check_ids(const gg_policy *p, const int32_t *ids, size_t count, gg_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= p->vocabulary.size)
            return gg_fail(error, GG_E_ARGUMENT,
                           "token %zu is %d, outside the vocabulary of %d ids", i, (int)ids[i],
                           (int)p->vocabulary.size);
    return GG_OK;
}

static void walk_over(const gg_policy *p, gg_walk *walk, const int32_t *ids, size_t count)
{
    gg_walk_start(walk, &p->vocabulary, &p->trie);
    for (size_t i = 0; i < count; i++)
        gg_walk_put(walk, ids[i]);
}

/* Continues the walk by the policy's own way of choosing. */
static gg_status sample(const gg_policy *p, const gg_weights *weights, double scale, gg_walk *walk,
                        gg_sampling *sampling, gg_policy_reply *reply, gg_error *error)
{
    double effective[GG_LETTER_WEIGHTS_MAX];
    uint8_t forced[GG_WORD_MAX];
    if (p->solver) {
        const char *word;
        gg_status status = gg_solver_pick(p->solver, &walk->board, sampling->seed, &word, error);
        if (status != GG_OK)
            return status;
        for (int i = 0; i < p->trie.length; i++)
            forced[i] = (uint8_t)(word[i] - 'a');
        sampling->forced = forced;
    } else {
        gg_letters_effective(&p->letters, weights, scale, effective);
    }
    if (gg_letters_sample(effective, walk, sampling, reply) != GG_OK)
        return gg_fail(error, GG_E_MEMORY, "not enough memory for a reply");
    return GG_OK;
}

gg_status gg_policy_reply_to(const gg_policy *p, const gg_weights *weights, double scale,
                             const gg_policy_request *request, gg_policy_reply *reply,
                             gg_error *error)
{
    gg_reply_reset(reply);
    gg_status status = check_weights(p, weights, error);
    if (status != GG_OK)
        return status;
    if (request->max_tokens < 1)
        return gg_fail(error, GG_E_ARGUMENT, "max_tokens must be at least 1");
    gg_ids prompt = gg_reply_take_prompt(reply);
    gg_effort effort = p->kind->trainable ? request->effort : GG_EFFORT_LOW;
    status = gg_template_prompt(&p->vocabulary, request->messages, request->tools, effort, &prompt,
                                error);
    gg_reply_give_prompt(reply, prompt);
    if (status != GG_OK)
        return status;
    gg_walk walk;
    gg_sampling sampling = {.temperature = request->temperature,
                            .top_p = request->top_p,
                            .seed = request->seed,
                            .max_tokens = (size_t)request->max_tokens};
    walk_over(p, &walk, reply->prompt_ids, reply->prompt_count);
    status = sample(p, weights, scale, &walk, &sampling, reply, error);
    return status == GG_OK ? gg_template_parse(&p->vocabulary, reply, error) : status;
}

gg_status gg_policy_sample(const gg_policy *p, const gg_weights *weights, double scale,
                           const int32_t *prompt, size_t prompt_count, double temperature,
                           double top_p, uint64_t seed, int64_t max_tokens, gg_policy_reply *reply,
                           gg_error *error)
{
    gg_reply_reset(reply);
    gg_status status = check_weights(p, weights, error);
    if (status == GG_OK)
        status = check_ids(p, prompt, prompt_count, error);
    if (status == GG_OK && max_tokens < 1)
        status = gg_fail(error, GG_E_ARGUMENT, "max_tokens must be at least 1");
    if (status != GG_OK)
        return status;
    gg_walk walk;
    gg_sampling sampling = {
        .temperature = temperature, .top_p = top_p, .seed = seed, .max_tokens = (size_t)max_tokens};
    walk_over(p, &walk, prompt, prompt_count);
    return sample(p, weights, scale, &walk, &sampling, reply, error);
}

gg_status gg_policy_detokenize(const gg_policy *p, const int32_t *ids, size_t count, gg_buf *out,
                               gg_error *error)
{
    return gg_tokenizer_decode(p->vocabulary.tokenizer, ids, count, out, error);
}

gg_status gg_policy_tokenize(const gg_policy *p, const char *text, size_t len, int32_t **ids,
                             size_t *count, gg_error *error)
{
    gg_ids out = {0};
    *ids = NULL;
    *count = 0;
    gg_ids_reserve(&out, 1); /* no text still gives an array to free */
    gg_tokenizer_encode(p->vocabulary.tokenizer, text, len, &out);
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
    double effective[GG_LETTER_WEIGHTS_MAX];
    gg_status status = check_trainable(p, weights, error);
    if (status == GG_OK)
        status = check_ids(p, input, n, error);
    if (status != GG_OK)
        return status;
    gg_letters_effective(&p->letters, weights, scale, effective);
    gg_letters_logprobs(&p->letters, effective, input, target, n, wanted, out);
    return GG_OK;
}

gg_status gg_policy_gradient(const gg_policy *p, const gg_weights *weights, double scale,
                             const int32_t *input, const int32_t *target, size_t n,
                             const double *upstream, double *gradient, gg_error *error)
{
    double effective[GG_LETTER_WEIGHTS_MAX];
    gg_status status = check_trainable(p, weights, error);
    if (status == GG_OK)
        status = check_ids(p, input, n, error);
    if (status != GG_OK)
        return status;
    gg_letters_effective(&p->letters, weights, scale, effective);
    gg_letters_gradient(&p->letters, effective, scale, input, target, n, upstream, gradient);
    return GG_OK;
}
