#include "policy/solver.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"

#define TABLE_PATTERNS 256 /* the table holds one byte a pair: words up to 5 letters */
#define TABLE_BYTES    ((size_t)256 << 20) /* larger lists are marked as they are needed */
#define LOG_UNIT       4294967296.0        /* logarithms in units of 2^-32 */

/* What decides which answers are left; two boards with equal keys have the same best word. */
typedef struct board_key {
    int8_t green[GG_WORD_MAX], least[GG_LETTERS], most[GG_LETTERS];
    uint32_t wrong[GG_WORD_MAX];
} board_key;

typedef struct cached {
    board_key key;
    const char *word; /* NULL: a free slot */
} cached;

struct gg_solver {
    const gg_words *words;
    gg_baseline kind;
    int length;
    size_t answers, allowed, patterns;
    int32_t *answer_of; /* of each allowed word: its index among the answers, or -1 */
    int64_t *logs;      /* of 1..answers, base 2, in LOG_UNIT; sums of logarithms of primes */
    pthread_mutex_t lock;
    uint8_t *table; /* marks of allowed word g for answer a at [g * answers + a]; NULL: not made */
    cached *cache;
    size_t cache_count;
};

/* One search: storage for a pass over all allowed words. */
typedef struct search {
    int32_t *left; /* answers still possible */
    size_t left_count;
    bool *possible; /* by answer */
    int32_t *group; /* answers left by marks; all 0 between words */
    int32_t *seen;  /* marks with a group that is not empty */
} search;

static size_t pattern_count(int length)
{
    size_t n = 1;
    for (int i = 0; i < length; i++)
        n *= 3;
    return n;
}

/* log2(n) = sum of the logarithms of its primes, each rounded once: products that are equal as
 * numbers have equal logarithms to the last bit, so ties are exact. */
static void fill_logs(int64_t *logs, size_t count)
{
    for (size_t n = 2; n <= count; n++) {
        size_t p = 2;
        while (p * p <= n && n % p != 0)
            p++;
        logs[n] = p * p <= n ? logs[p] + logs[n / p] : llround(log2((double)n) * LOG_UNIT);
    }
}

static bool is_greedy(gg_baseline kind)
{
    return kind >= GG_BASELINE_ENTROPY;
}

static bool fill(gg_solver *s)
{
    s->answer_of = malloc(s->allowed * sizeof *s->answer_of);
    s->logs = calloc(s->answers + 1, sizeof *s->logs);
    s->cache = is_greedy(s->kind) ? calloc(GG_SOLVER_CACHE, sizeof *s->cache) : NULL;
    if (!s->answer_of || !s->logs || (is_greedy(s->kind) && !s->cache))
        return false;
    for (size_t g = 0; g < s->allowed; g++)
        s->answer_of[g] = gg_words_find_answer(s->words, gg_words_allowed(s->words, g));
    fill_logs(s->logs, s->answers);
    return true;
}

gg_status gg_solver_new(const gg_words *words, gg_baseline kind, gg_solver **out, gg_error *error)
{
    *out = NULL;
    gg_solver *s = calloc(1, sizeof *s);
    if (!s)
        return gg_fail(error, GG_E_MEMORY, "not enough memory for a baseline");
    s->words = words;
    s->kind = kind;
    s->length = gg_words_length(words);
    s->answers = gg_words_answer_count(words);
    s->allowed = gg_words_allowed_count(words);
    s->patterns = pattern_count(s->length);
    pthread_mutex_init(&s->lock, NULL);
    if (!fill(s)) {
        gg_solver_free(s);
        return gg_fail(error, GG_E_MEMORY, "not enough memory for a baseline");
    }
    *out = s;
    return GG_OK;
}

void gg_solver_free(gg_solver *s)
{
    if (!s)
        return;
    pthread_mutex_destroy(&s->lock);
    free(s->answer_of);
    free(s->logs);
    free(s->table);
    free(s->cache);
    free(s);
}

/* The board as a filter of many words: gg_board_clash without saying what clashes. */
typedef struct filter {
    int length;
    uint32_t may[GG_WORD_MAX]; /* letters that may stand at a place */
    int counted;
    struct {
        char letter;
        int8_t least, most;
    } count[GG_LETTERS]; /* letters whose number of copies is bound */
} filter;

static void make_filter(const gg_board *board, filter *f)
{
    *f = (filter){.length = board->length};
    for (int i = 0; i < f->length; i++)
        f->may[i] = ~board->wrong[i] & (board->green[i] >= 0 ? 1u << board->green[i] : UINT32_MAX);
    for (int c = 0; c < GG_LETTERS; c++) {
        if (board->least[c] == 0 && board->most[c] == f->length)
            continue;
        f->count[f->counted].letter = (char)('a' + c);
        f->count[f->counted].least = board->least[c];
        f->count[f->counted++].most = board->most[c];
    }
}

static bool agrees(const filter *f, const char *word)
{
    for (int i = 0; i < f->length; i++)
        if (!(f->may[i] >> (word[i] - 'a') & 1))
            return false;
    for (int k = 0; k < f->counted; k++) {
        int copies = 0;
        for (int i = 0; i < f->length; i++)
            copies += word[i] == f->count[k].letter;
        if (copies < f->count[k].least || copies > f->count[k].most)
            return false;
    }
    return true;
}

/* The answers that agree with the board, in file order. */
static size_t find_left(const gg_solver *s, const filter *f, int32_t *left)
{
    size_t count = 0;
    for (size_t a = 0; a < s->answers; a++)
        if (agrees(f, gg_words_answer(s->words, a)))
            left[count++] = (int32_t)a;
    return count;
}

static const char *without_answers(const gg_solver *s, const filter *f)
{
    for (size_t g = 0; g < s->allowed; g++)
        if (agrees(f, gg_words_allowed(s->words, g)))
            return gg_words_allowed(s->words, g);
    return gg_words_answer(s->words, 0);
}

/* Makes the table once, where it fits. Without it (memory is short) marks are computed each time.
 */
static void need_table(gg_solver *s)
{
    if (s->patterns > TABLE_PATTERNS || s->answers > TABLE_BYTES / s->allowed)
        return;
    pthread_mutex_lock(&s->lock);
    uint8_t *table = s->table ? NULL : malloc(s->allowed * s->answers);
    for (size_t g = 0; table && g < s->allowed; g++)
        for (size_t a = 0; a < s->answers; a++)
            table[g * s->answers + a] = (uint8_t)gg_mark(gg_words_allowed(s->words, g),
                                                         gg_words_answer(s->words, a), s->length);
    if (table)
        s->table = table;
    pthread_mutex_unlock(&s->lock);
}

/* Splits the answers left by their marks for allowed word g; returns the number of groups. */
static size_t split(const gg_solver *s, search *f, size_t g)
{
    const uint8_t *row = s->table ? s->table + g * s->answers : NULL;
    const char *word = gg_words_allowed(s->words, g);
    size_t groups = 0;
    for (size_t i = 0; i < f->left_count; i++) {
        int32_t a = f->left[i];
        int32_t marks =
            row ? row[a] : gg_mark(word, gg_words_answer(s->words, (size_t)a), s->length);
        if (f->group[marks]++ == 0)
            f->seen[groups++] = marks;
    }
    return groups;
}

/* The score of a split, smaller is better; empties the groups. */
static int64_t judge(const gg_solver *s, search *f, size_t groups)
{
    int64_t sum = 0, largest = 0;
    for (size_t i = 0; i < groups; i++) {
        int64_t n = f->group[f->seen[i]];
        f->group[f->seen[i]] = 0;
        sum += s->kind == GG_BASELINE_ENTROPY ? n * s->logs[n] : n * n;
        largest = n > largest ? n : largest;
    }
    switch (s->kind) {
    case GG_BASELINE_BUCKETS:
        return -(int64_t)groups;
    case GG_BASELINE_MINIMAX:
        return largest;
    default:
        return sum;
    }
}

static const char *best_word(const gg_solver *s, search *f)
{
    int64_t best = INT64_MAX;
    bool best_possible = false;
    size_t word = 0;
    for (size_t g = 0; g < s->allowed; g++) {
        int64_t score = judge(s, f, split(s, f, g));
        bool possible = s->answer_of[g] >= 0 && f->possible[s->answer_of[g]];
        if (score < best || (score == best && possible && !best_possible)) {
            best = score;
            best_possible = possible;
            word = g;
        }
    }
    return gg_words_allowed(s->words, word);
}

static void set_key(const gg_board *board, board_key *key)
{
    memset(key, 0, sizeof *key);
    memcpy(key->green, board->green, sizeof key->green);
    memcpy(key->least, board->least, sizeof key->least);
    memcpy(key->most, board->most, sizeof key->most);
    memcpy(key->wrong, board->wrong, sizeof key->wrong);
}

/* The slot of a key: its own, or the free one where it goes. */
static cached *find_slot(const gg_solver *s, const board_key *key)
{
    const uint8_t *bytes = (const uint8_t *)key;
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = 0; i < sizeof *key; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    size_t at = (size_t)(hash % GG_SOLVER_CACHE);
    while (s->cache[at].word && memcmp(&s->cache[at].key, key, sizeof *key) != 0)
        at = (at + 1) % GG_SOLVER_CACHE;
    return &s->cache[at];
}

static const char *recall(gg_solver *s, const board_key *key)
{
    pthread_mutex_lock(&s->lock);
    const char *word = find_slot(s, key)->word;
    pthread_mutex_unlock(&s->lock);
    return word;
}

static void remember(gg_solver *s, const board_key *key, const char *word)
{
    pthread_mutex_lock(&s->lock);
    cached *slot = find_slot(s, key);
    if (!slot->word && s->cache_count < GG_SOLVER_CACHE / 2) {
        *slot = (cached){.key = *key, .word = word};
        s->cache_count++;
    }
    pthread_mutex_unlock(&s->lock);
}

static const char *greedy(gg_solver *s, search *f)
{
    need_table(s);
    for (size_t i = 0; i < f->left_count; i++)
        f->possible[f->left[i]] = true;
    return best_word(s, f);
}

static const char *choose(gg_solver *s, search *f, const gg_board *board, uint64_t seed)
{
    filter by_board;
    make_filter(board, &by_board);
    f->left_count = find_left(s, &by_board, f->left);
    if (f->left_count == 0)
        return without_answers(s, &by_board);
    if (s->kind == GG_BASELINE_CONSISTENT) {
        gg_rng rng;
        gg_rng_seed(&rng, seed);
        return gg_words_answer(s->words, (size_t)f->left[gg_rng_below(&rng, f->left_count)]);
    }
    return f->left_count <= 2 ? gg_words_answer(s->words, (size_t)f->left[0]) : greedy(s, f);
}

static gg_status search_for(gg_solver *s, const gg_board *board, uint64_t seed, const char **word,
                            gg_error *error)
{
    size_t patterns = is_greedy(s->kind) ? s->patterns : 1;
    size_t groups = s->answers < patterns ? s->answers : patterns;
    search f = {.left = malloc(s->answers * sizeof *f.left),
                .possible = calloc(s->answers, sizeof *f.possible),
                .group = calloc(patterns, sizeof *f.group),
                .seen = malloc(groups * sizeof *f.seen)};
    gg_status status = GG_OK;
    if (f.left && f.possible && f.group && f.seen)
        *word = choose(s, &f, board, seed);
    else
        status = gg_fail(error, GG_E_MEMORY, "not enough memory to search for a word");
    free(f.left);
    free(f.possible);
    free(f.group);
    free(f.seen);
    return status;
}

gg_status gg_solver_pick(gg_solver *s, const gg_board *board, uint64_t seed, const char **word,
                         gg_error *error)
{
    if (s->kind == GG_BASELINE_RANDOM) {
        gg_rng rng;
        gg_rng_seed(&rng, seed);
        *word = gg_words_allowed(s->words, (size_t)gg_rng_below(&rng, s->allowed));
        return GG_OK;
    }
    if (!is_greedy(s->kind))
        return search_for(s, board, seed, word, error);
    board_key key;
    set_key(board, &key);
    *word = recall(s, &key);
    if (*word)
        return GG_OK;
    gg_status status = search_for(s, board, seed, word, error);
    if (status == GG_OK)
        remember(s, &key, *word);
    return status;
}
