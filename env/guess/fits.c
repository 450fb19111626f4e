#include "env/guess/fits.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS  26
#define SET_BITS 64
#define GROUP    2 /* numbers of a set that are worked on at once */

/* Two numbers in a vector register (gcc and clang): every 64-bit machine has such registers. */
typedef uint64_t group __attribute__((vector_size(GROUP * sizeof(uint64_t)), aligned(8)));

struct gg_fits {
    const gg_words *words;
    size_t width;              /* numbers a set */
    uint64_t *sets;            /* all sets, `width` numbers each */
    _Atomic uint32_t *entropy; /* [allowed]: millionths of a bit + 1, 0 = not asked for yet */
};

/* Sets in the order of `sets`: a letter at a place, then a letter's least number of copies. */
static uint64_t *at_place(const gg_fits *fits, int place, int letter)
{
    return fits->sets + (size_t)(place * LETTERS + letter) * fits->width;
}

/* copies from 1 to length */
static uint64_t *at_least(const gg_fits *fits, int copies, int letter)
{
    return at_place(fits, gg_words_length(fits->words) + copies - 1, letter);
}

static void add(uint64_t *set, size_t answer)
{
    set[answer / SET_BITS] |= UINT64_C(1) << (answer % SET_BITS);
}

static void fill(gg_fits *fits)
{
    int length = gg_words_length(fits->words);
    for (size_t a = 0; a < gg_words_answer_count(fits->words); a++) {
        const char *answer = gg_words_answer(fits->words, a);
        int copies[LETTERS] = {0};
        for (int i = 0; i < length; i++) {
            int letter = answer[i] - 'a';
            add(at_place(fits, i, letter), a);
            add(at_least(fits, ++copies[letter], letter), a);
        }
    }
}

gg_fits *gg_fits_new(const gg_words *words)
{
    gg_fits *fits = calloc(1, sizeof *fits);
    if (!fits)
        return NULL;
    fits->words = words;
    size_t bits = GROUP * SET_BITS;
    fits->width = (gg_words_answer_count(words) + bits - 1) / bits * GROUP;
    size_t sets = 2 * (size_t)gg_words_length(words) * LETTERS;
    fits->sets = calloc(sets * fits->width, sizeof *fits->sets);
    fits->entropy = calloc(gg_words_allowed_count(words), sizeof *fits->entropy);
    if (!fits->sets || !fits->entropy) {
        gg_fits_free(fits);
        return NULL;
    }
    fill(fits);
    return fits;
}

void gg_fits_free(gg_fits *fits)
{
    if (!fits)
        return;
    free(fits->sets);
    free((void *)fits->entropy);
    free(fits);
}

size_t gg_fits_width(const gg_fits *fits)
{
    return fits->width;
}

void gg_fits_all(const gg_fits *fits, uint64_t *set)
{
    size_t answers = gg_words_answer_count(fits->words);
    memset(set, 0, fits->width * sizeof *set);
    memset(set, 0xff, answers / SET_BITS * sizeof *set);
    if (answers % SET_BITS)
        set[answers / SET_BITS] = (UINT64_C(1) << (answers % SET_BITS)) - 1;
}

/* A word fits when it is in all sets of the one list and in none of the other. A letter that is
 * repeated gives at most one set to each beside one for each of its places. */
typedef struct conditions {
    const uint64_t *in[2 * GG_WORD_MAX], *out[2 * GG_WORD_MAX];
    size_t in_count, out_count;
} conditions;

typedef struct letter_marks {
    uint8_t greens, hits; /* hits: green or yellow */
    bool grey;
    bool told; /* its own conditions are in the list */
} letter_marks;

/* How often a letter occurs: grey fixes the number, else it is at least the hits. What the places
 * say already is left out. */
static void letter_conditions(const gg_fits *fits, int letter, const letter_marks *m,
                              conditions *to)
{
    if (m->hits > m->greens)
        to->in[to->in_count++] = at_least(fits, m->hits, letter);
    if (m->grey && m->hits < gg_words_length(fits->words))
        to->out[to->out_count++] = at_least(fits, m->hits + 1, letter);
}

/* The conditions under which `guess` gives `marks`. */
static void make_conditions(const gg_fits *fits, const char *guess, gg_marks marks, conditions *to)
{
    letter_marks of[LETTERS];
    int length = gg_words_length(fits->words);
    gg_marks rest = marks;
    for (int i = 0; i < length; i++)
        of[guess[i] - 'a'] = (letter_marks){0};
    for (int i = 0; i < length; i++, rest /= 3) {
        letter_marks *m = &of[guess[i] - 'a'];
        m->greens = (uint8_t)(m->greens + (rest % 3 == 2));
        m->hits = (uint8_t)(m->hits + (rest % 3 != 0));
        m->grey |= rest % 3 == 0;
    }
    for (int i = 0; i < length; i++, marks /= 3) {
        int letter = guess[i] - 'a';
        letter_marks *m = &of[letter];
        if (marks % 3 == 2)
            to->in[to->in_count++] = at_place(fits, i, letter);
        else if (m->hits) /* no copy at all says that none is here */
            to->out[to->out_count++] = at_place(fits, i, letter);
        if (!m->told)
            letter_conditions(fits, letter, m, to);
        m->told = true;
    }
}

/* Bits of a number: pairs, fours, bytes, and their sum in the top byte. */
static unsigned count_bits(uint64_t x)
{
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (unsigned)(x * UINT64_C(0x0101010101010101) >> 56);
}

size_t gg_fits_narrow(const gg_fits *fits, const char *guess, gg_marks marks, uint64_t *set)
{
    conditions c;
    size_t count = 0;
    c.in_count = c.out_count = 0;
    make_conditions(fits, guess, marks, &c);
    for (size_t w = 0; w < fits->width; w += GROUP) {
        group left = *(const group *)(set + w);
        if (!(left[0] | left[1]))
            continue;
        for (size_t i = 0; i < c.in_count; i++)
            left &= *(const group *)(c.in[i] + w);
        for (size_t i = 0; i < c.out_count; i++)
            left &= ~*(const group *)(c.out[i] + w);
        *(group *)(set + w) = left;
        for (int i = 0; i < GROUP; i++)
            count += count_bits(left[i]);
    }
    return count;
}

size_t gg_fits_count(const gg_fits *fits, const gg_fits_condition *asked, size_t count)
{
    size_t answers = gg_words_answer_count(fits->words), fitting = 0;
    for (size_t w = 0; w * SET_BITS < answers; w++) {
        size_t rest = answers - w * SET_BITS;
        uint64_t left = rest < SET_BITS ? (UINT64_C(1) << rest) - 1 : ~UINT64_C(0);
        for (size_t i = 0; i < count && left; i++) {
            const gg_fits_condition *c = &asked[i];
            uint64_t set = (c->place == GG_FITS_COPIES ? at_least(fits, c->copies, c->letter)
                                                       : at_place(fits, c->place, c->letter))[w];
            left &= c->holds ? set : ~set;
        }
        fitting += count_bits(left);
    }
    return fitting;
}

/* Entropy. */

static size_t pattern_count(int length)
{
    size_t n = 1;
    for (int i = 0; i < length; i++)
        n *= 3;
    return n;
}

/* H = log2 N - (sum of n log2 n) / N, n answers with one pattern. */
static uint32_t entropy_of(const gg_words *words, const char *guess, uint32_t *counts)
{
    size_t answers = gg_words_answer_count(words), patterns;
    int length = gg_words_length(words);
    double sum = 0;
    patterns = pattern_count(length);
    for (size_t a = 0; a < answers; a++)
        counts[gg_mark(guess, gg_words_answer(words, a), length)]++;
    for (size_t p = 0; p < patterns; p++)
        if (counts[p] > 1)
            sum += counts[p] * log2(counts[p]);
    double bits = log2((double)answers) - sum / (double)answers;
    return (uint32_t)lround(fmax(bits, 0) * GG_ENTROPY_UNIT);
}

bool gg_fits_entropy(gg_fits *fits, const char *guess, int allowed, uint32_t *millionths)
{
    if (allowed >= 0) {
        uint32_t kept = atomic_load_explicit(&fits->entropy[allowed], memory_order_relaxed);
        *millionths = kept - 1;
        if (kept)
            return true;
    }
    uint32_t *counts = calloc(pattern_count(gg_words_length(fits->words)), sizeof *counts);
    if (!counts)
        return false;
    *millionths = entropy_of(fits->words, guess, counts);
    free(counts);
    if (allowed >= 0)
        atomic_store_explicit(&fits->entropy[allowed], *millionths + 1, memory_order_relaxed);
    return true;
}
