/* The word game through its function table: rules, texts, facts (env/guess). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "env/guess/guess.h"
#include "tests/play.h"

#define TOOL "guess_word"

static void assert_says(const play *p, const char *piece)
{
    if (!strstr(gg_buf_cstr(&p->text), piece))
        fail_msg("no \"%s\" in \"%s\"", piece, gg_buf_cstr(&p->text));
}

static void assert_no(const play *p, const char *piece)
{
    if (strstr(gg_buf_cstr(&p->text), piece))
        fail_msg("\"%s\" in \"%s\"", piece, gg_buf_cstr(&p->text));
}

/* One whole game, text and facts to the letter. */
static void a_game(void **state)
{
    static const struct {
        const char *guess, *text, *facts;
    } rows[] = {
        {"crane",
         "Guess 1: c=grey r=yellow a=grey n=grey e=green\n"
         "Current knowledge:\n"
         "- Right places: _ _ _ _ e\n"
         "- In the word, place still open (least number of copies): r>=1\n"
         "- No further copies of: a c n\n"
         "- Words guessed: crane\n"
         "- Guesses left: 5",
         "\"marks\":\"BYBBG\",\"number\":1,\"listed\":true,\"repeat\":false,\"greens_kept\":0,"
         "\"greens_dropped\":0,\"yellows_kept\":0,\"yellows_missing\":0,\"greys_used\":0,"
         "\"new_letters\":5,\"new_greens\":1,\"new_yellows\":1,\"candidates_before\":2279,"},
        /* Keeps e, has r; a is grey by now. o and d are new. */
        {"adore",
         "Guess 2: a=grey d=grey o=grey r=yellow e=green\n"
         "Current knowledge:\n"
         "- Right places: _ _ _ _ e\n"
         "- In the word, place still open (least number of copies): r>=1\n"
         "- No further copies of: a c d n o\n"
         "- Words guessed: crane adore\n"
         "- Guesses left: 4",
         "\"marks\":\"BBBYG\",\"number\":2,\"listed\":true,\"repeat\":false,\"greens_kept\":1,"
         "\"greens_dropped\":0,\"yellows_kept\":1,\"yellows_missing\":0,\"greys_used\":1,"
         "\"new_letters\":2,\"new_greens\":0,\"new_yellows\":0,"},
        /* Drops e at 5 and leaves r out; c is grey. The two e's are at other places, so two
         * copies are owed beside the one at 5. */
        {"cheek",
         "Guess 3: c=grey h=grey e=yellow e=yellow k=grey\n"
         "Current knowledge:\n"
         "- Right places: _ _ _ _ e\n"
         "- In the word, place still open (least number of copies): e>=2 r>=1\n"
         "- No further copies of: a c d h k n o\n"
         "- Words guessed: crane adore cheek\n"
         "- Guesses left: 3",
         "\"marks\":\"BBYYB\",\"number\":3,\"listed\":true,\"repeat\":false,\"greens_kept\":0,"
         "\"greens_dropped\":1,\"yellows_kept\":0,\"yellows_missing\":1,\"greys_used\":1,"
         "\"new_letters\":2,\"new_greens\":0,\"new_yellows\":1,"},
        {"eerie", "Guess 4: e=green e=green r=green i=green e=green\nSolved. The game is over.",
         "\"marks\":\"GGGGG\",\"number\":4,\"listed\":true,\"repeat\":false,\"greens_kept\":1,"
         "\"greens_dropped\":0,\"yellows_kept\":2,\"yellows_missing\":0,\"greys_used\":0,"
         "\"new_letters\":1,\"new_greens\":4,\"new_yellows\":0,"},
        {"eerie", "The game is over and nothing was played. Do not call the tool again.", "{}"},
    };
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    play_start(&p, "eerie");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play_guess(&p, rows[i].guess);
        assert_string_equal(gg_buf_cstr(&p.text), rows[i].text);
        if (!strstr(gg_buf_cstr(&p.facts), rows[i].facts))
            fail_msg("%s: want %s in %s", rows[i].guess, rows[i].facts, gg_buf_cstr(&p.facts));
        assert_int_equal(p.result.status, i < 4 ? GG_CALL_VALID : GG_CALL_OVER);
        assert_int_equal(p.result.moved, i < 4);
        assert_int_equal(p.result.done, i == 3);
    }
    assert_int_equal(p.episode->outcome, GG_SOLVED);
    play_close(&p);
}

/* What may come as a guess: played, or refused with the reason; a refusal uses no guess. */
static void form_of_a_guess(void **state)
{
    static const struct {
        const char *arguments, *malformed, *says;
    } rows[] = {
        {"{\"guess\":\"crane\"}", NULL, "c=grey"},
        {"{\"guess\":\"CRANE\"}", NULL, "c=grey"},
        {"{\"guess\":\"  Crane\\n\"}", NULL, "c=grey"},
        {"{\"guess\":\"\\t\\r\\ncrane\\u000b\"}", NULL, "c=grey"},
        {"{\"thought\":[1,{\"guess\":\"speed\"}],\"guess\":\"crane\",\"n\":null}", NULL, "c=grey"},
        {"{\"guess\":\"cranes\"}", "length", "number of letters is 6."},
        {"{\"guess\":\"cran\"}", "length", "number of letters is 4."},
        {"{\"guess\":\"\"}", "empty", "it is empty."},
        {"{\"guess\":\" \\t\\n \"}", "empty", "it is empty."},
        {"{\"guess\":\"cra ne\"}", "character", "not U+0020."},
        {"{\"guess\":\"cra-e\"}", "character", "not '-'."},
        {"{\"guess\":\"[crane]\"}", "character", "not '['."},
        {"{\"guess\":\"crane.\"}", "character", "not '.'."},
        {"{\"guess\":\"cr4ne\"}", "character", "not '4'."},
        {"{\"guess\":\"cr\\u0000ne\"}", "character", "not U+FFFD."},
        {"{\"guess\":\"l\xc4\xb1kes\"}", "character", "not U+0131."}, /* dotless i */
        {"{\"guess\":\"L\xc4\xb0KES\"}", "character", "not U+0130."}, /* dotted I */
        {"{\"guess\":\"stra\xc3\x9f"
         "e\"}",
         "character", "not U+00DF."}, /* sharp s */
        {"{\"guess\":\"na\xc3\xafve\"}", "character", "not U+00EF."},
        {"{\"guess\":\"nai\xcc\x88ve\"}", "character", "not U+0308."},    /* combining diaeresis */
        {"{\"guess\":\"\xef\xbd\x83rane\"}", "character", "not U+FF43."}, /* full-width c */
        {"{\"guess\":\"cr\xe2\x80\x8b"
         "ane\"}",
         "character", "not U+200B."},                                  /* zero width space */
        {"{\"guess\":\"crane\xc2\xa0\"}", "character", "not U+00A0."}, /* no-break space */
        {"{\"guess\":\"\xd1\x81rane\"}", "character", "not U+0441."},  /* Cyrillic es */
        {"{\"guess\":\"\xf0\x9f\x98\x80\"}", "character", "not U+1F600."},
        {"{\"guess\":\"\\ud83d\\ude00\"}", "character", "not U+1F600."},
        {"{\"guess\":\"\\ud83d\"}", "character", "not U+FFFD."}, /* lone surrogate */
        {"{\"guess\":\"cr\xff\xff"
         "e\"}",
         "character", "not valid UTF-8"},
        {"{\"guess\":\"cran\xc3\"}", "character", "not valid UTF-8"},
        {"{}", "missing", "guess is missing."},
        {"{\"word\":\"crane\"}", "missing", "guess is missing."},
        {"{\"Guess\":\"crane\"}", "missing", "guess is missing."},
        {"{\"guess\":null}", "missing", "guess is missing."},
        {"{\"guess\":5}", "type", "must be a string."},
        {"{\"guess\":true}", "type", "must be a string."},
        {"{\"guess\":[\"crane\"]}", "type", "must be a string."},
        {"{\"guess\":{\"word\":\"crane\"}}", "type", "must be a string."},
    };
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char reason[16];
        play_start(&p, "sleek");
        play_call(&p, TOOL, rows[i].arguments);
        assert_says(&p, rows[i].says);
        assert_says(&p, rows[i].malformed ? "Guesses left: 6" : "Guesses left: 5");
        assert_int_equal(p.result.status, rows[i].malformed ? GG_CALL_INVALID : GG_CALL_VALID);
        assert_int_equal(p.result.moved, !rows[i].malformed);
        assert_false(p.result.done);
        bool given = gg_fact_text(gg_buf_cstr(&p.facts), "malformed", reason, sizeof reason);
        assert_int_equal(given, rows[i].malformed != NULL);
        if (given)
            assert_string_equal(reason, rows[i].malformed);
    }
    play_call(&p, "guess", "{\"guess\":\"crane\"}");
    assert_says(&p, "the only tool is guess_word.");
    assert_int_equal(p.result.status, GG_CALL_INVALID);
    play_close(&p);
}

static void overlong_guess_is_refused(void **state)
{
    char word[5001];
    play p;
    (void)state;
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    play_open(&p, "guess", NULL);
    play_start(&p, "sleek");
    play_guess(&p, word);
    assert_says(&p, "far too long");
    word[100] = '\0';
    play_guess(&p, word);
    assert_says(&p, "number of letters is 100.");
    play_guess(&p, "sleek");
    assert_int_equal(p.result.outcome, GG_SOLVED);
    play_close(&p);
}

/* The end: on the sixth guess, won or lost; refusals do not count. */
static void the_sixth_guess(void **state)
{
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    for (int win = 0; win < 2; win++) {
        play_start(&p, "brave");
        for (int i = 0; i < 5; i++) {
            play_guess(&p, "nope!");
            play_guess(&p, "grave");
            assert_false(p.result.done);
        }
        play_guess(&p, win ? "brave" : "crave");
        assert_true(p.result.done);
        assert_int_equal(p.result.outcome, win ? GG_SOLVED : GG_LOST);
        assert_int_equal(p.episode->moves, 6);
        if (win)
            assert_says(&p, "Solved.");
        else
            assert_says(&p, "The hidden word was brave.");
        play_guess(&p, "brave");
        assert_int_equal(p.result.status, GG_CALL_OVER);
        assert_false(p.result.done);
        assert_false(p.result.moved);
    }
    play_close(&p);
}

static void a_loss_tells_the_word(void **state)
{
    play p;
    (void)state;
    play_open(&p, "guess", "{\"guesses\":1}");
    play_start(&p, "brave");
    play_guess(&p, "grave");
    assert_string_equal(gg_buf_cstr(&p.text),
                        "Guess 1: g=grey r=green a=green v=green e=green\n"
                        "No guesses left. The hidden word was brave. The game is over.");
    play_close(&p);
}

static void a_repeat_uses_a_guess_and_says_so(void **state)
{
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    play_start(&p, "brave");
    play_guess(&p, "grave");
    assert_int_equal(play_fact(&p, "repeat"), 0);
    double left = play_fact(&p, "candidates_after");
    play_guess(&p, "GRAVE");
    assert_says(&p, "You have guessed this word before; it uses a guess all the same.");
    assert_says(&p, "Guesses left: 4");
    assert_int_equal(play_fact(&p, "repeat"), 1);
    assert_true(play_fact(&p, "candidates_after") == left);
    assert_int_equal(play_fact(&p, "new_letters"), 0);
    play_close(&p);
}

static void unlisted_words(void **state)
{
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    play_start(&p, "brave");
    play_guess(&p, "qqqqq");
    assert_says(&p, "not in the word list; it is played all the same.");
    assert_says(&p, "Guesses left: 5");
    assert_int_equal(play_fact(&p, "listed"), 0);
    assert_true(p.result.moved);
    /* No answer has a q five times, so the class is all words without q. */
    assert_true(play_fact(&p, "candidates_after") < play_fact(&p, "candidates_before"));
    assert_true(play_fact(&p, "entropy_bits") > 0);
    play_close(&p);

    play_open(&p, "guess", "{\"unlisted\":\"reject\"}");
    play_start(&p, "brave");
    play_guess(&p, "qqqqq");
    assert_says(&p, "not in the game's word list. No guess was used.");
    assert_says(&p, "Guesses left: 6");
    assert_int_equal(p.result.status, GG_CALL_INVALID);
    assert_false(p.result.moved);
    play_guess(&p, "grave");
    assert_says(&p, "Guess 1:");
    play_close(&p);
}

static void hard_mode(void **state)
{
    static const struct {
        const char *guess;
        bool played;
        const char *says, *why;
    } rows[] = {
        {"crane", true, "Guess 1: c=grey r=yellow a=grey n=grey e=green", "anything goes at first"},
        {"eager", false, "known green letter must stay at its place: _ _ _ _ e.", "e moved"},
        {"sleep", false, "known green letter", "e left its place"},
        {"olive", false, "known yellow letter must be used again: r>=1.", "no r"},
        {"crane", true, "uses a guess all the same", "a repeat keeps every hint"},
        {"adore", true, "Guess 3:", "greys may be used again"},
        {"eerie", true, "Solved", "the word"},
    };
    play p;
    (void)state;
    play_open(&p, "guess", "{\"hard\":true}");
    play_start(&p, "eerie");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play_guess(&p, rows[i].guess);
        assert_says(&p, rows[i].says);
        if (p.result.moved != rows[i].played)
            fail_msg("%s: %s", rows[i].guess, rows[i].why);
    }
    assert_int_equal(p.episode->moves, 4);
    play_close(&p);
}

/* The rules in force stand in the prompt, and nothing claims that grey letters are absent. */
static void prompt_states_the_rules(void **state)
{
    static const struct {
        const char *settings, *says, *not ;
    } rows[] = {
        {NULL, "word of 5 letters in at most 6 guesses", NULL},
        {NULL, "is played all the same and uses a guess", "Hard mode"},
        {NULL, "second time uses a guess", "refused and uses no guess.\n- Guessing a word"},
        {NULL, "unsolved after 12 calls of the tool, refused ones included", NULL},
        {NULL, "no further copy of that letter", "not in the word\n"},
        {NULL, "not 5 letters a to z is refused and uses no guess", NULL},
        {"{\"unlisted\":\"reject\"}", "word list is refused and uses no guess", "played all"},
        {"{\"hard\":true}", "Hard mode: green letters must stay", NULL},
        {"{\"guesses\":9}", "in at most 9 guesses", " 12 calls"},
        {"{\"guesses\":9}", "after 18 calls", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play p;
        gg_error error = {0};
        play_open(&p, "guess", rows[i].settings);
        play_start(&p, "brave");
        assert_int_equal(p.game->api->system_prompt(p.play, &p.text, &error), GG_OK);
        assert_says(&p, rows[i].says);
        if (rows[i].not )
            assert_no(&p, rows[i].not );
        gg_buf_reset(&p.text);
        assert_int_equal(p.game->api->opening(p.play, &p.text, &error), GG_OK);
        assert_string_equal(gg_buf_cstr(&p.text), "Guess the 5-letter word");
        play_close(&p);
    }
}

static void rows_and_identities(void **state)
{
    static const struct {
        const char *prompt, *identity, *says;
    } rows[] = {
        {"brave", "brave", NULL},
        {" Brave\n", "brave", NULL},
        {"{\"prompt\":\"Hello\",\"answer\":\"brave\",\"id\":\"w_0\"}", "brave", NULL},
        {"{\"answer\":\"BRAVE\"}", "brave", NULL},
        {"{\"id\":7,\"prompt\":null,\"answer\":\" brave \",\"extra\":[{}]}", "brave", NULL},
        {"aback", "aback", NULL},
        {"{\"answer\":\"aahed\"}", "aahed", NULL}, /* allowed, but no answer */
        {"{\"id\":\"w_7\"}", NULL, "row \"w_7\""},
        {"{\"id\":\"w_7\",\"answer\":\"\"}", NULL, "has no `answer`"},
        {"{\"id\":\"w_7\",\"answer\":null}", NULL, "has no `answer`"},
        {"{\"id\":\"w_7\",\"answer\":5}", NULL, "row"},
        {"{\"id\":\"w_7\",\"answer\":\"brav\"}", NULL, "not a word of 5 letters"},
        {"{\"id\":\"w_7\",\"answer\":\"qqqqq\"}", NULL, "not among the allowed words"},
        {"{\"answer\":\"brave\"", NULL, "not a JSON object"},
        {"{\"answer\":\"brave\"} x", NULL, "not a JSON object"},
        {"[\"brave\"]", NULL, "not a word of 5 letters"},
        {"", NULL, "has no `answer`"},
        {"braves", NULL, "\"braves\""},
    };
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_error error = {0};
        gg_buf_reset(&p.text);
        gg_status status = p.game->api->identity(p.game->env, rows[i].prompt, &p.text, &error);
        assert_int_equal(status, rows[i].identity ? GG_OK : GG_E_CONFIG);
        if (rows[i].identity)
            assert_string_equal(gg_buf_cstr(&p.text), rows[i].identity);
        else if (!strstr(error.text, rows[i].says))
            fail_msg("row %s: no \"%s\" in \"%s\"", rows[i].prompt, rows[i].says, error.text);
        gg_play *other = NULL;
        assert_int_equal(p.game->api->start(p.game->env, rows[i].prompt, 0, &other, &error),
                         status);
        p.game->api->finish(other);
    }
    play_start(&p, rows[2].prompt);
    gg_buf_reset(&p.text);
    gg_error error = {0};
    assert_int_equal(p.game->api->opening(p.play, &p.text, &error), GG_OK);
    assert_string_equal(gg_buf_cstr(&p.text), "Hello");
    assert_string_equal(p.episode->answer, "\"brave\"");
    play_close(&p);
}

/* A hidden word outside the answers (allowed only) still plays; no answer needs to fit it. */
static void hidden_word_outside_the_answers(void **state)
{
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    play_start(&p, "aahed");
    play_guess(&p, "crane");
    assert_true(play_fact(&p, "candidates_after") >= 0);
    play_guess(&p, "zzzzz");
    play_guess(&p, "aahed");
    assert_int_equal(p.result.outcome, GG_SOLVED);
    assert_int_equal(play_fact(&p, "candidates_after"), 0);
    play_close(&p);
}

static void options_are_checked(void **state)
{
    static const struct {
        const char *settings, *says;
    } rows[] = {
        {"{\"length\":2}", "3 to 12"},
        {"{\"length\":13}", "3 to 12"},
        {"{\"guesses\":0}", "1 to 32"},
        {"{\"guesses\":33}", "1 to 32"},
        {"{\"guesses\":2.5}", "whole number"},
        {"{\"length\":7}", "the shipped lists have words of 5 letters"},
        {"{\"answers\":\"/nonexistent\"}", "/nonexistent"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_game *game = NULL;
        gg_error error = {0};
        assert_int_not_equal(gg_game_open("guess", rows[i].settings, &game, &error), GG_OK);
        assert_null(game);
        if (!strstr(error.text, rows[i].says))
            fail_msg("%s: no \"%s\" in \"%s\"", rows[i].settings, rows[i].says, error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_game),
        cmocka_unit_test(form_of_a_guess),
        cmocka_unit_test(overlong_guess_is_refused),
        cmocka_unit_test(the_sixth_guess),
        cmocka_unit_test(a_loss_tells_the_word),
        cmocka_unit_test(a_repeat_uses_a_guess_and_says_so),
        cmocka_unit_test(unlisted_words),
        cmocka_unit_test(hard_mode),
        cmocka_unit_test(prompt_states_the_rules),
        cmocka_unit_test(rows_and_identities),
        cmocka_unit_test(hidden_word_outside_the_answers),
        cmocka_unit_test(options_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
