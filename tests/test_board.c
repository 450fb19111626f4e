/* What the marks tell about the hidden word. */
#include "policy/board.h"

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

static void test_clashes(void **state)
{
    (void)state;
    static const struct {
        const char *guess, *hidden, *draft;
        gg_clash clash;
        char letter;
        int place;
    } table[] = {
        {"crane", "stare", "stare", GG_CLASH_NONE, 0, 0},
        {"crane", "stare", "flown", GG_CLASH_GREEN, 'a', 2}, /* a is green at 3 */
        {"crane", "stare", "brave", GG_CLASH_WRONG, 'r', 1}, /* r is yellow at 2 */
        {"crane", "stare", "grade", GG_CLASH_WRONG, 'r', 1},
        {"crane", "stare", "stage", GG_CLASH_MISSING, 'r', -1},
        {"eerie", "stare", "erase", GG_CLASH_WRONG, 'e', 0},
        {"eerie", "theme", "there", GG_CLASH_OFTEN, 'r', -1}, /* r is grey, and free at 4 */
        {"speed", "abide", "abide", GG_CLASH_NONE, 0, 0},
        {"speed", "abide", "elide", GG_CLASH_OFTEN, 'e', -1}, /* one e: the second was grey */
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        gg_board board;
        uint8_t draft[GG_WORD_MAX];
        int letter = 0, place = 0;
        gg_board_init(&board, 5);
        board_learn(&board, table[i].guess, table[i].hidden);
        word_letters(table[i].draft, draft);
        assert_int_equal(gg_board_clash(&board, draft, &letter, &place), table[i].clash);
        if (table[i].clash == GG_CLASH_NONE)
            continue;
        assert_int_equal('a' + letter, table[i].letter);
        assert_int_equal(place, table[i].place);
    }
}

/* A word agrees with the board exactly when it would have got the same marks. */
static void test_agreement_is_equal_marks(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        gg_rng rng;
        gg_board board;
        const char *hidden, *guesses[4];
        gg_rng_seed(&rng, seed);
        gg_board_init(&board, 5);
        hidden = random_answer(&rng);
        for (int g = 0; g < 4; g++)
            board_learn(&board, guesses[g] = random_answer(&rng), hidden);
        for (size_t a = 0; a < gg_words_answer_count(words); a++) {
            const char *word = gg_words_answer(words, a);
            uint8_t letters[GG_WORD_MAX];
            bool same = true;
            for (int g = 0; g < 4; g++)
                same = same && gg_mark(guesses[g], word, 5) == gg_mark(guesses[g], hidden, 5);
            word_letters(word, letters);
            if (same != (gg_board_clash(&board, letters, NULL, NULL) == GG_CLASH_NONE))
                fail_msg("seed %llu: %s against %s", (unsigned long long)seed, word, hidden);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clashes),
        cmocka_unit_test(test_agreement_is_equal_marks),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
