/* Until a play is over, nothing that it writes holds the hidden word, in any case, reversed, spaced
 * or in base64, beyond what the same game holds with another hidden word and the player's own
 * words. Whole transcripts of several kinds of player. */
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

#define FORMS     8
#define FORM_ROOM 40
#define LOG_MAX   (1u << 20)

/* Standard base64 without padding: what stands in the middle of a longer text. */
static void base64(const char *text, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t len = strlen(text), n = 0;
    for (size_t bit = 0; bit < len * 8; bit += 6) {
        unsigned value = 0;
        for (size_t i = bit; i < bit + 6; i++)
            value = value << 1 | (i < len * 8 ? (unsigned)text[i / 8] >> (7 - i % 8) & 1 : 0);
        out[n++] = digits[value];
    }
    out[n] = '\0';
}

static void joined(const char *word, const char *between, char *out)
{
    size_t n = 0;
    for (size_t i = 0; word[i]; i++) {
        if (i)
            n += (size_t)snprintf(out + n, FORM_ROOM - n, "%s", between);
        out[n++] = word[i];
    }
    out[n] = '\0';
}

static void make_forms(const char *word, char forms[FORMS][FORM_ROOM])
{
    size_t len = strlen(word);
    char upper[GG_WORD_MAX + 1], back[GG_WORD_MAX + 1];
    for (size_t i = 0; i <= len; i++) {
        upper[i] = i < len ? (char)(word[i] - 'a' + 'A') : '\0';
        back[i] = i < len ? word[len - 1 - i] : '\0';
    }
    joined(word, "", forms[0]);
    joined(back, "", forms[1]);
    joined(word, " ", forms[2]);
    joined(back, " ", forms[3]);
    joined(word, "-", forms[4]);
    joined(word, ",", forms[5]);
    base64(word, forms[6]);
    base64(upper, forms[7]);
}

static char folded(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Occurrences in any case. */
static size_t count(const char *text, const char *form)
{
    size_t n = 0;
    for (; *text; text++) {
        size_t i = 0;
        while (form[i] && folded(text[i]) == folded(form[i]))
            i++;
        n += !form[i];
    }
    return n;
}

/* "green" is an answer too, and stands in the text as often as there are green marks. */
static void blank_mark_names(gg_buf *log)
{
    for (char *p = strstr(log->data, "=green"); p; p = strstr(p, "=green"))
        memset(p, '=', strlen("=green"));
}

typedef struct script {
    const char *guesses[12];
} script;

static void add_text(play *p, gg_buf *log)
{
    gg_buf_str(log, gg_buf_cstr(&p->text));
    gg_buf_char(log, '\n');
    gg_buf_reset(&p->text);
}

/* Everything that is written before the end: prompt, opening, tools, results, facts. */
static void transcript(play *p, const char *hidden, const script *s, gg_buf *log)
{
    gg_error error = {0};
    char row[128];
    gg_buf_reset(log);
    snprintf(row, sizeof row,
             "{\"prompt\":\"Guess the 5-letter word\",\"answer\":\"%s\",\"id\":\"x\"}", hidden);
    play_start(p, row);
    gg_buf_reset(&p->text);
    assert_int_equal(p->game->api->system_prompt(p->play, &p->text, &error), GG_OK);
    add_text(p, log);
    assert_int_equal(p->game->api->opening(p->play, &p->text, &error), GG_OK);
    add_text(p, log);
    gg_buf_str(log, p->game->api->tools(p->game->env));
    for (size_t i = 0; i < 12 && s->guesses[i]; i++) {
        play_guess(p, s->guesses[i]);
        if (p->result.done)
            break;
        add_text(p, log);
        gg_buf_str(log, gg_buf_cstr(&p->facts));
    }
    blank_mark_names(log);
}

/* The player's own words, which every list of guessed words tells again. */
static bool said(const script *s, const char *form)
{
    for (size_t i = 0; i < 12 && s->guesses[i]; i++)
        if (count(s->guesses[i], form))
            return true;
    return false;
}

static void assert_hidden(play *p, const char *hidden, const char *other, const script *s,
                          gg_buf *log, gg_buf *control)
{
    char forms[FORMS][FORM_ROOM];
    make_forms(hidden, forms);
    transcript(p, hidden, s, log);
    transcript(p, other, s, control);
    for (int f = 0; f < FORMS; f++)
        if (count(log->data, forms[f]) > count(control->data, forms[f]) && !said(s, forms[f]))
            fail_msg("%s is told as \"%s\" in:\n%s", hidden, forms[f], log->data);
}

/* All green letters are known by different guesses, and the word is not guessed yet. */
static void every_place_known(void **state)
{
    static const script s = {{"stone", "share", "scary"}};
    play p;
    gg_buf log, control;
    (void)state;
    gg_buf_init(&log, LOG_MAX);
    gg_buf_init(&control, LOG_MAX);
    play_open(&p, "guess", NULL);
    assert_hidden(&p, "stare", "moldy", &s, &log, &control);
    assert_non_null(strstr(log.data, "all known"));
    play_close(&p);
    gg_buf_free(&log);
    gg_buf_free(&control);
}

static const char *const settings[] = {NULL, "{\"hard\":true}", "{\"unlisted\":\"reject\"}",
                                       "{\"guesses\":12}"};

static const script scripts[] = {
    {{"crane", "moist", "pupil", "zesty", "vivid"}},
    {{"", "12345", "cranes", "na\xc3\xafve", "cr ne", "{}", "\x1b[2J", "answer", "guess"}},
    {{"aaaaa", "eeeee", "iiiii", "ooooo", "uuuuu"}},
    {{"crane", "crane", "CRANE", " crane", "crane"}},
    {{"qqqqq", "xzxzx", "hidden", "secret", "reveal the hidden word"}},
};

static void scripted_players(void **state)
{
    static const char *const hidden[] = {"stare", "level", "guess", "words", "green", "eerie",
                                         "aback", "right", "again", "other", "abbey", "zebra"};
    gg_buf log, control;
    (void)state;
    gg_buf_init(&log, LOG_MAX);
    gg_buf_init(&control, LOG_MAX);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        play p;
        play_open(&p, "guess", settings[i]);
        for (size_t h = 0; h < sizeof hidden / sizeof *hidden; h++)
            for (size_t s = 0; s < sizeof scripts / sizeof *scripts; s++)
                assert_hidden(&p, hidden[h], "moldy", &scripts[s], &log, &control);
        play_close(&p);
    }
    gg_buf_free(&log);
    gg_buf_free(&control);
}

/* A player that plays words consistent with all it knows comes nearest to the hidden word. */
static size_t consistent_script(const gg_words *words, const char *hidden, gg_rng *rng, script *s)
{
    size_t answers = gg_words_answer_count(words), n = 0;
    *s = (script){{NULL}};
    for (int tries = 0; tries < 100000 && n < 5; tries++) {
        const char *word = gg_words_answer(words, gg_rng_below(rng, answers));
        bool fits = strcmp(word, hidden) != 0;
        for (size_t i = 0; i < n && fits; i++)
            fits = gg_mark(s->guesses[i], hidden, 5) == gg_mark(s->guesses[i], word, 5) &&
                   strcmp(word, s->guesses[i]) != 0;
        if (fits)
            s->guesses[n++] = word;
    }
    return n;
}

static void consistent_players(void **state)
{
    play p;
    gg_words *words = NULL;
    gg_error error = {0};
    gg_rng rng;
    gg_buf log, control;
    (void)state;
    gg_buf_init(&log, LOG_MAX);
    gg_buf_init(&control, LOG_MAX);
    play_open(&p, "guess", NULL);
    assert_int_equal(gg_words_load(NULL, NULL, 5, &words, &error), GG_OK);
    gg_rng_seed(&rng, 3);
    printf("seed 3\n");
    for (int n = 0; n < 40; n++) {
        size_t answers = gg_words_answer_count(words);
        const char *hidden = gg_words_answer(words, gg_rng_below(&rng, answers));
        const char *other = gg_words_answer(words, gg_rng_below(&rng, answers));
        script s;
        assert_true(consistent_script(words, hidden, &rng, &s) > 0);
        if (strcmp(hidden, other) != 0 && !said(&s, other))
            assert_hidden(&p, hidden, other, &s, &log, &control);
    }
    gg_words_free(words);
    play_close(&p);
    gg_buf_free(&log);
    gg_buf_free(&control);
}

/* The scan itself finds what it looks for. */
static void the_scan_finds_leaks(void **state)
{
    static const char *const leaks[] = {
        "the word is Stare.", "ERATS",      "s t a r e", "S-T-A-R-E",
        "s,t,a,r,e",          "x=c3RhcmU=", "U1RBUkU=",  "e r a t s"};
    char forms[FORMS][FORM_ROOM];
    (void)state;
    make_forms("stare", forms);
    for (size_t i = 0; i < sizeof leaks / sizeof *leaks; i++) {
        size_t found = 0;
        for (int f = 0; f < FORMS; f++)
            found += count(leaks[i], forms[f]);
        if (!found)
            fail_msg("not found in \"%s\"", leaks[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scan_finds_leaks),
        cmocka_unit_test(every_place_known),
        cmocka_unit_test(scripted_players),
        cmocka_unit_test(consistent_players),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
