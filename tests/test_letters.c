/* The distribution of the embedded policy "letters", against a slow reference. */
#include "policy/letters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/rng.h"
#include "word_play.h"

#define SEEDS 100
#define NEAR  1e-12

static gg_words *words;

static int open_all(void **state)
{
    (void)state;
    gg_error error = {0};
    if (gg_words_load(NULL, NULL, 5, &words, &error) != GG_OK) {
        print_error("%s\n", error.text);
        return -1;
    }
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    gg_words_free(words);
    return 0;
}

static const char *random_answer(gg_rng *rng)
{
    return gg_words_answer(words, gg_rng_below(rng, gg_words_answer_count(words)));
}

/* The distribution once more, slowly and from strings: what docs/letters.md says, word for word. */
typedef struct reference {
    const char *guesses[6];
    char marks[6][5]; /* G Y B */
    int count;
    double frequency[26];
} reference;

static void reference_init(reference *r)
{
    double most = 0;
    memset(r, 0, sizeof *r);
    for (size_t a = 0; a < gg_words_answer_count(words); a++)
        for (int c = 0; c < 26; c++)
            r->frequency[c] += strchr(gg_words_answer(words, a), 'a' + c) != NULL;
    for (int c = 0; c < 26; c++)
        most = r->frequency[c] > most ? r->frequency[c] : most;
    for (int c = 0; c < 26; c++)
        r->frequency[c] /= most;
}

static void reference_learn(reference *r, const char *guess, const char *hidden)
{
    gg_marks marks = gg_mark(guess, hidden, 5);
    r->guesses[r->count] = guess;
    for (int i = 0; i < 5; i++)
        r->marks[r->count][i] = gg_mark_letter(marks, i);
    r->count++;
}

static int copies_in(const char *word, int length, char c)
{
    int n = 0;
    for (int i = 0; i < length; i++)
        n += word[i] == c;
    return n;
}

/* Copies of c that guess g has marked with one of `kinds`. */
static int marked(const reference *r, int g, char c, const char *kinds)
{
    int n = 0;
    for (int i = 0; i < 5; i++)
        n += r->guesses[g][i] == c && strchr(kinds, r->marks[g][i]) != NULL;
    return n;
}

static char green_at(const reference *r, int place)
{
    for (int g = 0; g < r->count; g++)
        if (r->marks[g][place] == 'G')
            return r->guesses[g][place];
    return 0;
}

static int least(const reference *r, char c)
{
    int n = 0;
    for (int g = 0; g < r->count; g++)
        n = marked(r, g, c, "GY") > n ? marked(r, g, c, "GY") : n;
    return n;
}

static int most(const reference *r, char c)
{
    int n = 5;
    for (int g = 0; g < r->count; g++)
        if (marked(r, g, c, "B") && marked(r, g, c, "GY") < n)
            n = marked(r, g, c, "GY");
    return n;
}

static int owed(const reference *r, const char *draft, int place, char c)
{
    int n = least(r, c) - copies_in(draft, place, c);
    for (int i = place; i < 5; i++)
        n -= green_at(r, i) == c;
    return n;
}

static void reference_features(const reference *r, const char *draft, int place, char c,
                               double x[GG_LETTER_FEATURES])
{
    int open = 0, sum = 0, later = 0;
    bool green = green_at(r, place) == c, wrong = false, tried = false;
    for (int i = place; i < 5; i++) {
        open += !green_at(r, i);
        later += green_at(r, i) == c;
    }
    for (char other = 'a'; other <= 'z'; other++)
        sum += owed(r, draft, place, other) > 0 ? owed(r, draft, place, other) : 0;
    for (int g = 0; g < r->count; g++) {
        wrong = wrong || (r->guesses[g][place] == c && r->marks[g][place] != 'G');
        tried = tried || strchr(r->guesses[g], c);
    }
    x[0] = green;
    x[1] = wrong;
    x[2] = !green && copies_in(draft, place, c) + later + 1 > most(r, c);
    x[3] = !green && owed(r, draft, place, c) > 0;
    x[4] = x[3] > 0 && sum >= open;
    x[5] = copies_in(draft, place, c) > 0;
    x[6] = tried ? 0 : r->frequency[c - 'a'];
}

/* Fills p by letter; letters that lead nowhere get 0. */
static void reference_choose(const reference *r, const double *w, const char *draft, int place,
                             double p[26])
{
    double below[26] = {0}, total = 0;
    for (size_t a = 0; a < gg_words_answer_count(words); a++) {
        const char *word = gg_words_answer(words, a);
        if (strncmp(word, draft, (size_t)place) == 0)
            below[word[place] - 'a']++;
    }
    for (int c = 0; c < 26; c++) {
        double x[GG_LETTER_FEATURES], score = w[GG_LETTER_FEATURES + place * 26 + c];
        p[c] = 0;
        if (below[c] == 0)
            continue;
        reference_features(r, draft, place, (char)('a' + c), x);
        x[7] = log(below[c]);
        for (int f = 0; f < GG_LETTER_FEATURES; f++)
            score += w[f] * x[f];
        p[c] = exp(score);
        total += p[c];
    }
    for (int c = 0; c < 26; c++)
        p[c] /= total;
}

static void compare_choice(const reference *r, const gg_walk *walk, const double *w,
                           const char *draft, uint64_t seed)
{
    gg_choice choice;
    double p[26], sum = 0;
    int branches = 0;
    gg_letters_choose(walk, w, &choice);
    reference_choose(r, w, draft, walk->place, p);
    for (int a = 0; a < choice.count; a++) {
        sum += choice.p[a];
        if (!(fabs(choice.p[a] - p[choice.branches[a].letter]) < NEAR))
            fail_msg("seed %llu, draft %s, place %d, letter %c: %.17g, reference %.17g",
                     (unsigned long long)seed, draft, walk->place, 'a' + choice.branches[a].letter,
                     choice.p[a], p[choice.branches[a].letter]);
    }
    for (int c = 0; c < 26; c++)
        branches += p[c] > 0;
    assert_int_equal(branches, choice.count);
    assert_true(fabs(sum - 1) < NEAR);
}

static void test_distribution(void **state)
{
    (void)state;
    gg_vocabulary vocabulary;
    gg_trie trie;
    assert_int_equal(gg_vocabulary_init(&vocabulary, NULL), GG_OK);
    assert_int_equal(gg_trie_init(&trie, words, NULL), GG_OK);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        gg_rng rng;
        gg_walk walk;
        reference r;
        double w[GG_LETTER_FEATURES + 5 * 26];
        const char *hidden, *draft;
        gg_rng_seed(&rng, seed);
        reference_init(&r);
        gg_walk_start(&walk, &vocabulary, &trie);
        walk.tool_offered = true;
        hidden = random_answer(&rng);
        draft = random_answer(&rng);
        for (uint64_t g = gg_rng_below(&rng, 5); g > 0; g--) {
            const char *guess = random_answer(&rng);
            if (strcmp(guess, hidden) == 0)
                continue;
            board_learn(&walk.board, guess, hidden);
            reference_learn(&r, guess, hidden);
        }
        for (size_t k = 0; k < sizeof w / sizeof *w; k++)
            w[k] = gg_rng_normal(&rng);
        gg_walk_put(&walk, GG_TOKEN_MEDIUM);
        gg_walk_put(&walk, GG_TOKEN_ASSISTANT);
        gg_walk_put(&walk, GG_TOKEN_THINK);
        for (int place = 0; place < 5; place++) {
            assert_int_equal(gg_walk_next(&walk), GG_NEXT_LETTER);
            compare_choice(&r, &walk, w, draft, seed);
            gg_walk_put(&walk, draft[place]);
        }
        assert_int_equal(gg_walk_next(&walk), GG_NEXT_FIXED);
    }
    gg_trie_free(&trie);
    gg_vocabulary_free(&vocabulary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distribution),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
