/* Marks (gg_mark in env/guess/guess.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/rng.h"
#include "env/guess/guess.h"
#include "tests/play.h"

/* The definition, place by place, sharing nothing with the fast way: green where the letters are
 * the same; yellow where fewer earlier unplaced copies of the letter stand in the guess than the
 * answer has copies that no green uses; grey otherwise. */
static char slow_mark(const char *guess, const char *answer, int length, int place)
{
    char letter = guess[place];
    int copies = 0, greens = 0, earlier = 0;
    if (answer[place] == letter)
        return 'G';
    for (int i = 0; i < length; i++) {
        copies += answer[i] == letter;
        greens += answer[i] == letter && guess[i] == letter;
        earlier += i < place && guess[i] == letter && answer[i] != letter;
    }
    return earlier < copies - greens ? 'Y' : 'B';
}

static void assert_marks(const char *guess, const char *answer, int length)
{
    gg_marks marks = gg_mark(guess, answer, length);
    for (int i = 0; i < length; i++)
        if (gg_mark_letter(marks, i) != slow_mark(guess, answer, length, i))
            fail_msg("guess %.*s, answer %.*s: place %d is %c, want %c", length, guess, length,
                     answer, i + 1, gg_mark_letter(marks, i), slow_mark(guess, answer, length, i));
}

static void table(void **state)
{
    static const struct {
        const char *guess, *answer, *want, *why;
    } rows[] = {
        {"crane", "crane", "GGGGG", "the word itself"},
        {"crane", "moist", "BBBBB", "nothing in common"},
        {"spare", "spree", "GGBYG", "clemcore 153: the last e is in place"},
        {"speed", "abide", "BBYBY", "tutorial's vector; clemcore 91"},
        {"speed", "erase", "YBYYB", "two copies in both"},
        {"speed", "crepe", "BYGYB", "one copy placed, one not"},
        {"geese", "those", "BBBGG", "nodele 12: surplus copies before the placed one"},
        {"added", "dread", "YYBYG", "nodele 12: three copies guessed, two there"},
        {"mamma", "maxim", "GGYBB", "wordle-clone 6: three copies guessed, two there"},
        {"skill", "label", "BBBYG", "ShivamPandya 10: the unplaced copy comes first"},
        {"label", "skill", "YBBBG", "the same the other way round"},
        {"eagle", "crane", "BYBBG", "surplus copy first, placed copy last"},
        {"sease", "essay", "YYYYB", "coolbutuseless 1: a grey e beside a yellow one"},
        {"balsa", "float", "BYYBB", "lynn 71: the second a is grey"},
        {"aaaaa", "zzazz", "BBGBB", "one copy placed, four surplus"},
        {"abcde", "eabcd", "YYYYY", "every letter at another place"},
        {"aab", "baa", "YGY", "three letters, the fewest"},
        {"abcabcabcabc", "cabcabcabcab", "YYYYYYYYYYYY", "twelve letters, the most"},
        {"aaaaaaaaaaaa", "aaaaaaaaaaaa", "GGGGGGGGGGGG", "the largest pattern"},
    };
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        int length = (int)strlen(rows[r].want);
        gg_marks marks = gg_mark(rows[r].guess, rows[r].answer, length);
        char got[GG_WORD_MAX + 1] = {0};
        for (int i = 0; i < length; i++)
            got[i] = gg_mark_letter(marks, i);
        if (strcmp(got, rows[r].want) != 0)
            fail_msg("%s: %s against %s gives %s, want %s", rows[r].why, rows[r].guess,
                     rows[r].answer, got, rows[r].want);
    }
}

/* Base-3 digits, first letter least significant, as other files rely on. */
static void pattern_is_base_three(void **state)
{
    (void)state;
    assert_int_equal(gg_mark("crane", "crane", 5), 242);
    assert_int_equal(gg_mark("crane", "moist", 5), 0);
    assert_int_equal(gg_mark("cxxxx", "czzzz", 5), 2);
    assert_int_equal(gg_mark("xxxxc", "czzzz", 5), 81);
}

/* Every shipped answer against every shipped answer. */
static void all_pairs_of_answers(void **state)
{
    (void)state;
    gg_words *words = NULL;
    gg_error error = {0};
    if (gg_words_load(NULL, NULL, 5, &words, &error) != GG_OK)
        fail_msg("%s", error.text);
    size_t count = gg_words_answer_count(words);
    assert_true(count > 1000);
    for (size_t g = 0; g < count; g++)
        for (size_t a = 0; a < count; a++)
            assert_marks(gg_words_answer(words, g), gg_words_answer(words, a), 5);
    gg_words_free(words);
}

/* Two or three letters only, so that copies are many; every length. */
static void random_words_of_every_length(void **state)
{
    (void)state;
    gg_rng rng;
    gg_rng_seed(&rng, 20);
    printf("seed 20\n");
    for (int n = 0; n < 200000; n++) {
        char guess[GG_WORD_MAX], answer[GG_WORD_MAX];
        int length = GG_WORD_MIN + n % (GG_WORD_MAX - GG_WORD_MIN + 1);
        uint64_t letters = 2 + gg_rng_below(&rng, 3);
        for (int i = 0; i < length; i++) {
            guess[i] = (char)('a' + gg_rng_below(&rng, letters));
            answer[i] = (char)('a' + gg_rng_below(&rng, letters));
        }
        assert_marks(guess, answer, length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(pattern_is_base_three),
        cmocka_unit_test(all_pairs_of_answers),
        cmocka_unit_test(random_words_of_every_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
