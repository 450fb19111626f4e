/*
 * "letters": a tiny policy that draws words letter by letter. Not a language model.
 *
 * At each letter it scores the branches of the tree of answers linearly and draws from their
 * softmax. docs/letters.md gives features, weights and vocabulary in full; the numbers there and
 * the table in letters.c are checked against each other by a test.
 *
 * Weights: GG_LETTER_FEATURES feature weights, then a bias for each (place, letter).
 *
 * Threads: gg_letters is immutable; every function is reentrant and allocates nothing but its
 * output.
 */
#ifndef GG_POLICY_LETTERS_H
#define GG_POLICY_LETTERS_H

#include "policy/draw.h"
#include "policy/walk.h"

enum gg_letter_feature {
    GG_FEATURE_GREEN,                 /* the letter is known to stand here */
    GG_FEATURE_WRONG,                 /* the letter is known not to stand here */
    GG_FEATURE_OFTEN,                 /* one copy more than the marks allow */
    GG_FEATURE_OWED,                  /* a known letter that the draft still lacks */
    GG_FEATURE_PRESSED,               /* the same, and the owed letters fill all places left */
    GG_FEATURE_REPEATED,              /* the draft holds the letter already */
    GG_LETTER_FLAGS,                  /* the features above are 0 or 1 */
    GG_FEATURE_NEW = GG_LETTER_FLAGS, /* letter never tried: its frequency among the answers */
    GG_FEATURE_LOG_WORDS,             /* logarithm of the number of answers below */
    GG_LETTER_FEATURES
};

#define GG_LETTER_WEIGHTS_MAX (GG_LETTER_FEATURES + GG_WORD_MAX * GG_LETTERS)

typedef struct gg_letters {
    const gg_vocabulary *vocabulary;
    const gg_trie *trie;
    size_t weight_count;
    double base[GG_LETTER_WEIGHTS_MAX];
} gg_letters;

void gg_letters_init(gg_letters *letters, const gg_vocabulary *vocabulary, const gg_trie *trie);

/* The distribution over the branches of one node. */
typedef struct gg_choice {
    int count;
    const gg_trie_branch *branches;
    uint8_t flags[GG_LETTERS]; /* of each branch, bit f = feature f; unset for a lone one, as ... */
    double fresh[GG_LETTERS];  /* ... GG_FEATURE_NEW; GG_FEATURE_LOG_WORDS stands in the tree */
    double score[GG_LETTERS];
    double p[GG_LETTERS];
    double log_sum; /* logarithm of the sum of exp(score) */
} gg_choice;

/* `weights` are effective ones; the walk must be at GG_NEXT_LETTER. */
void gg_letters_choose(const gg_walk *walk, const double *weights, gg_choice *choice);

/* As gg_policy_api has them; ids are in range. */
void gg_letters_logprobs(const gg_letters *letters, const double *weights, const int32_t *input,
                         const int32_t *target, size_t n, const double *wanted, double *out);
void gg_letters_gradient(const gg_letters *letters, const double *weights, const int32_t *input,
                         const int32_t *target, size_t n, const double *upstream, double *sum);

/* Continues the walk until the closing token or max_tokens; appends ids to the reply and, unless a
 * word is forced, their log-probabilities at temperature 1 and top_p 1, whatever was drawn with.
 * `forced` is a word (letters 0-25) to write instead of drawing one, or NULL. Sets finish_reason to
 * "stop" or "length". GG_E_MEMORY is the only failure. */
gg_status gg_letters_sample(const double *weights, gg_walk *walk, const gg_sampling *sampling,
                            const uint8_t *forced, gg_policy_reply *reply);

#endif
