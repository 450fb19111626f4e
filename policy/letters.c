#include "policy/letters.h"

#include <math.h>
#include <string.h>

/* Start weights: the untrained policy knows the game's words and heeds the marks half. Biases
 * start at 0. docs/letters.md says where the figures come from. */
static const double start[GG_LETTER_FEATURES] = {
    [GG_FEATURE_GREEN] = 2.4, [GG_FEATURE_WRONG] = -1.5,  [GG_FEATURE_OFTEN] = -1.5,
    [GG_FEATURE_OWED] = 0.8,  [GG_FEATURE_PRESSED] = 0,   [GG_FEATURE_REPEATED] = 0.8,
    [GG_FEATURE_NEW] = 0,     [GG_FEATURE_LOG_WORDS] = 1,
};

void gg_letters_init(gg_letters *letters, const gg_vocabulary *vocabulary, const gg_trie *trie)
{
    *letters = (gg_letters){.vocabulary = vocabulary, .trie = trie};
    letters->weight_count = GG_LETTER_FEATURES + (size_t)trie->length * GG_LETTERS;
    memcpy(letters->base, start, sizeof start);
}

/* What the marks still ask of the places from walk->place on. */
typedef struct demand {
    int8_t later[GG_LETTERS]; /* copies that known greens there will bring */
    uint32_t owed;            /* letters of which copies are due beyond those */
    bool pressed;             /* the copies due fill every place without a known green */
} demand;

static void find_demand(const gg_walk *walk, demand *d)
{
    const gg_board *board = &walk->board;
    int open = 0, due = 0;
    *d = (demand){0};
    for (int i = walk->place; i < board->length; i++) {
        if (board->green[i] >= 0)
            d->later[board->green[i]]++;
        else
            open++;
    }
    for (uint32_t left = board->needed; left; left &= left - 1) {
        int c = __builtin_ctz(left);
        int copies = board->least[c] - walk->used[c] - d->later[c];
        if (copies > 0) {
            d->owed |= 1u << c;
            due += copies;
        }
    }
    d->pressed = due >= open;
}

static uint8_t find_flags(const gg_walk *walk, const demand *d, int c)
{
    const gg_board *board = &walk->board;
    bool green = board->green[walk->place] == c;
    bool wrong = board->wrong[walk->place] >> c & 1;
    bool often = !green && walk->used[c] + d->later[c] + 1 > board->most[c];
    bool owed = !green && (d->owed >> c & 1);
    bool pressed = owed && d->pressed;
    bool repeated = walk->used[c] > 0;
    return (uint8_t)(green << GG_FEATURE_GREEN | wrong << GG_FEATURE_WRONG |
                     often << GG_FEATURE_OFTEN | owed << GG_FEATURE_OWED |
                     pressed << GG_FEATURE_PRESSED | repeated << GG_FEATURE_REPEATED);
}

static void set_scores(const gg_walk *walk, const double *weights, gg_choice *choice)
{
    const double *bias = weights + GG_LETTER_FEATURES + (size_t)walk->place * GG_LETTERS;
    demand d;
    find_demand(walk, &d);
    for (int a = 0; a < choice->count; a++) {
        int c = choice->branches[a].letter;
        double log_words = walk->trie->nodes[choice->branches[a].node].log_words;
        double fresh = walk->board.tried >> c & 1 ? 0 : walk->trie->frequency[c];
        uint8_t flags = find_flags(walk, &d, c);
        double score =
            bias[c] + weights[GG_FEATURE_LOG_WORDS] * log_words + weights[GG_FEATURE_NEW] * fresh;
        for (unsigned left = flags; left; left &= left - 1)
            score += weights[__builtin_ctz(left)];
        choice->flags[a] = flags;
        choice->fresh[a] = fresh;
        choice->score[a] = score;
    }
}

void gg_letters_choose(const gg_walk *walk, const double *weights, gg_choice *choice)
{
    const gg_trie_node *node = &walk->trie->nodes[walk->node];
    double most = -INFINITY, sum = 0;
    choice->count = node->count;
    choice->branches = walk->trie->branches + node->first;
    if (node->count == 1) { /* certain, to the last bit */
        choice->score[0] = choice->log_sum = 0;
        choice->p[0] = 1;
        return;
    }
    set_scores(walk, weights, choice);
    for (int a = 0; a < choice->count; a++)
        if (choice->score[a] > most)
            most = choice->score[a];
    for (int a = 0; a < choice->count; a++)
        sum += choice->p[a] = exp(choice->score[a] - most);
    for (int a = 0; a < choice->count; a++)
        choice->p[a] /= sum;
    choice->log_sum = most + log(sum);
}

static int find_branch(const gg_choice *choice, int32_t id)
{
    for (int a = 0; a < choice->count; a++)
        if ('a' + choice->branches[a].letter == id)
            return a;
    return -1;
}

/* Index after the last value that is not 0. */
static size_t last_wanted(const double *values, size_t n)
{
    while (n > 0 && values[n - 1] == 0)
        n--;
    return n;
}

static double target_logprob(const gg_walk *walk, const double *weights, int32_t target)
{
    gg_next next = gg_walk_next(walk);
    if (next == GG_NEXT_GIVEN)
        return 0;
    if (next == GG_NEXT_FIXED)
        return walk->due[walk->due_at] == target ? 0 : -INFINITY;
    if (next == GG_NEXT_NOTHING)
        return -INFINITY;
    gg_choice choice;
    gg_letters_choose(walk, weights, &choice);
    int pick = find_branch(&choice, target);
    return pick < 0 ? -INFINITY : choice.score[pick] - choice.log_sum;
}

void gg_letters_logprobs(const gg_letters *letters, const double *weights, const int32_t *input,
                         const int32_t *target, size_t n, const double *wanted, double *out)
{
    gg_walk walk;
    gg_walk_start(&walk, letters->vocabulary, letters->trie);
    size_t end = last_wanted(wanted, n);
    for (size_t i = 0; i < n; i++) {
        out[i] = 0;
        if (i >= end)
            continue;
        gg_walk_put(&walk, input[i]);
        if (wanted[i] != 0)
            out[i] = target_logprob(&walk, weights, target[i]);
    }
}

/* Adds factor x d log p(pick) / d weights: the chosen branch's features less their mean. */
static void add_gradient(const gg_walk *walk, const gg_choice *choice, int pick, double factor,
                         double *sum)
{
    double *bias = sum + GG_LETTER_FEATURES + (size_t)walk->place * GG_LETTERS;
    double fresh = 0, log_words = 0;
    for (int a = 0; a < choice->count; a++) {
        double share = factor * ((a == pick) - choice->p[a]);
        bias[choice->branches[a].letter] += share;
        fresh += share * choice->fresh[a];
        log_words += share * walk->trie->nodes[choice->branches[a].node].log_words;
        for (unsigned left = choice->flags[a]; left; left &= left - 1)
            sum[__builtin_ctz(left)] += share;
    }
    sum[GG_FEATURE_NEW] += fresh;
    sum[GG_FEATURE_LOG_WORDS] += log_words;
}

void gg_letters_gradient(const gg_letters *letters, const double *weights, const int32_t *input,
                         const int32_t *target, size_t n, const double *upstream, double *sum)
{
    gg_walk walk;
    gg_choice choice;
    gg_walk_start(&walk, letters->vocabulary, letters->trie);
    size_t end = last_wanted(upstream, n);
    for (size_t i = 0; i < end; i++) {
        gg_walk_put(&walk, input[i]);
        if (upstream[i] == 0 || gg_walk_next(&walk) != GG_NEXT_LETTER)
            continue;
        gg_letters_choose(&walk, weights, &choice);
        int pick = find_branch(&choice, target[i]);
        if (pick >= 0 && choice.count > 1)
            add_gradient(&walk, &choice, pick, upstream[i], sum);
    }
}
