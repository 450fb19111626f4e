/* The word game over many plays: open words, lengths, tokens, allocations, threads (env/guess). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/file.h"
#include "core/rng.h"
#include "env/guess/guess.h"
#include "tests/alloc.h"
#include "tests/play.h"

#define TOOL "guess_word"

static void assert_says(const play *p, const char *piece)
{
    if (!strstr(gg_buf_cstr(&p->text), piece))
        fail_msg("no \"%s\" in \"%s\"", piece, gg_buf_cstr(&p->text));
}

/* Properties over random games. */

/* Independent of the game's own marks: its text, read back. */
static char told_mark(const char *text, const char *word, int place)
{
    const char *p = strstr(text, ":") + 1;
    for (int i = 0; i < place; i++)
        p = strchr(p + 1, ' ');
    assert_int_equal(p[1], word[place]);
    const char *name = p + 3;
    return !strncmp(name, "green", 5) ? 'G' : !strncmp(name, "yellow", 6) ? 'Y' : 'B';
}

static bool fits(const char *answer, char guesses[][GG_WORD_MAX + 1], char marks[][GG_WORD_MAX + 1],
                 int count, int length)
{
    for (int g = 0; g < count; g++) {
        gg_marks m = gg_mark(guesses[g], answer, length);
        for (int i = 0; i < length; i++)
            if (gg_mark_letter(m, i) != marks[g][i])
                return false;
    }
    return true;
}

/* Words still open are those, and only those, that give every guess the marks that were told;
 * the hidden word is always among them. */
static void open_words_are_counted_right(void **state)
{
    (void)state;
    play p;
    gg_words *words = NULL;
    gg_error error = {0};
    gg_rng rng;
    play_open(&p, "guess", NULL);
    assert_int_equal(gg_words_load(NULL, NULL, 5, &words, &error), GG_OK);
    size_t answers = gg_words_answer_count(words), allowed = gg_words_allowed_count(words);
    gg_rng_seed(&rng, 7);
    printf("seed 7\n");
    for (int game = 0; game < 60; game++) {
        char guesses[6][GG_WORD_MAX + 1] = {{0}}, marks[6][GG_WORD_MAX + 1] = {{0}};
        double before = (double)answers;
        const char *hidden = gg_words_answer(words, gg_rng_below(&rng, answers));
        play_start(&p, hidden);
        for (int g = 0; g < 6 && !(g && p.result.done); g++) {
            for (int i = 0; i < 5; i++) /* one in four is no word */
                guesses[g][i] = (char)('a' + gg_rng_below(&rng, 26));
            if (game % 4)
                memcpy(guesses[g], gg_words_allowed(words, gg_rng_below(&rng, allowed)), 5);
            play_guess(&p, guesses[g]);
            for (int i = 0; i < 5; i++)
                marks[g][i] = told_mark(strstr(p.text.data, "Guess "), guesses[g], i);
            size_t open = 0;
            for (size_t a = 0; a < answers; a++)
                open += fits(gg_words_answer(words, a), guesses, marks, g + 1, 5);
            assert_true(fits(hidden, guesses, marks, g + 1, 5));
            assert_true(play_fact(&p, "candidates_before") == before);
            before = play_fact(&p, "candidates_after");
            assert_true(before == (double)open);
        }
    }
    gg_words_free(words);
    play_close(&p);
}

/* Every length, with lists of its own. */
static void every_length(void **state)
{
    char folder[] = "/tmp/gg-length-XXXXXX", answers[64], allowed[64], settings[256];
    static const char letters[] = "abcdefghijklmnop";
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(answers, sizeof answers, "%s/answers.txt", folder);
    snprintf(allowed, sizeof allowed, "%s/allowed.txt", folder);
    for (int length = GG_WORD_MIN; length <= GG_WORD_MAX; length++) {
        char list[64];
        gg_error error = {0};
        play p;
        int len = snprintf(list, sizeof list, "%.*s\n%.*s\n", length, letters, length, letters + 1);
        assert_int_equal(gg_file_write(answers, list, (size_t)len, &error), GG_OK);
        assert_int_equal(gg_file_write(allowed, list, (size_t)len, &error), GG_OK);
        snprintf(settings, sizeof settings,
                 "{\"length\":%d,\"guesses\":32,\"answers\":\"%s\",\"allowed\":\"%s\"}", length,
                 answers, allowed);
        play_open(&p, "guess", settings);
        list[length] = '\0';
        play_start(&p, list);
        assert_null(p.game->api->default_tasks(p.game->env, "test"));
        for (int i = 0; i < 31; i++)
            play_guess(&p, list + length + 1); /* runs to its line end, which is trimmed */
        assert_says(&p, "Guesses left: 1");
        assert_int_equal(play_fact(&p, "candidates_after"), 1);
        play_guess(&p, list);
        assert_int_equal(p.result.outcome, GG_SOLVED);
        play_close(&p);
    }
    unlink(answers);
    unlink(allowed);
    rmdir(folder);
}

/* The longest texts: words, letters and counts at their limits. */
static void the_longest_text_fits(void **state)
{
    char folder[] = "/tmp/gg-long-XXXXXX", list[64], settings[256];
    play p;
    gg_error error = {0};
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(list, sizeof list, "%s/list.txt", folder);
    assert_int_equal(gg_file_write(list, "aaaaaabbbbbb\n", 13, &error), GG_OK);
    snprintf(settings, sizeof settings,
             "{\"length\":12,\"guesses\":32,\"answers\":\"%s\",\"allowed\":\"%s\"}", list, list);
    play_open(&p, "guess", settings);
    play_start(&p, "aaaaaabbbbbb");
    play_guess(&p, "bbbbbbaaaaaa");
    assert_says(&p, " a>=6 b>=6\n");
    for (int i = 0; i < 30; i++) {
        char word[13] = "cdefghijklmn";
        for (int k = 0; k < 12; k++)
            word[k] = (char)('a' + (i + k * 2) % 26);
        play_guess(&p, word);
    }
    assert_says(&p, "Guesses left: 1");
    play_close(&p);
    unlink(list);
    rmdir(folder);
}

/* Tokens under greedy longest match, a phrase never ending or beginning inside a run of letters;
 * whatever no phrase matches must be one letter or digit. */
static size_t count_tokens(const char *text)
{
    size_t phrases, tokens = 0, len = strlen(text);
    const char *const *all = gg_guess_phrases(&phrases);
    for (size_t at = 0; at < len; tokens++) {
        size_t best = 0;
        bool inside = at && strchr("abcdefghijklmnopqrstuvwxyz", text[at - 1]);
        for (size_t i = 0; i < phrases; i++) {
            size_t n = strlen(all[i]);
            bool starts = all[i][0] >= 'a' && all[i][0] <= 'z' && inside;
            bool ends = n <= len - at && all[i][n - 1] >= 'a' && all[i][n - 1] <= 'z' &&
                        text[at + n] >= 'a' && text[at + n] <= 'z';
            if (n > best && !starts && !ends && !strncmp(text + at, all[i], n))
                best = n;
        }
        char c = text[at];
        /* '!' and quotes come from the malformed guesses of this test. */
        if (!best && !strchr("abcdefghijklmnopqrstuvwxyz0123456789 !'", c))
            fail_msg("no phrase for \"%.40s\"", text + at);
        at += best ? best : 1;
    }
    return tokens;
}

/* All of a game's own texts, and the arguments of its calls. */
static size_t game_tokens(play *p, const char *const *guesses, size_t count)
{
    size_t tokens = 0;
    gg_error error = {0};
    gg_buf_reset(&p->text);
    assert_int_equal(p->game->api->system_prompt(p->play, &p->text, &error), GG_OK);
    tokens += count_tokens(p->text.data);
    gg_buf_reset(&p->text);
    assert_int_equal(p->game->api->opening(p->play, &p->text, &error), GG_OK);
    tokens += count_tokens(p->text.data);
    tokens += count_tokens(p->game->api->tools(p->game->env));
    for (size_t i = 0; i < count; i++) {
        play_guess(p, guesses[i]);
        tokens += count_tokens(p->episode->turns[0].calls[i].arguments_raw);
        tokens += count_tokens(p->text.data);
    }
    return tokens;
}

static void a_game_is_few_tokens(void **state)
{
    static const char *const won[] = {"crane", "moist", "pupil", "build"};
    static const char *const odd[] = {"qqqqq", "qqqqq", "x", "", "build!", "eerie", "buildd"};
    static const char *const hard[] = {"build", "eerie", "blush", "dulls"};
    static const char *const settings[] = {NULL, "{\"hard\":true,\"unlisted\":\"reject\"}"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        play p;
        play_open(&p, "guess", settings[i]);
        play_start(&p, "build");
        size_t tokens = game_tokens(&p, won, 4);
        printf("a game of 4 guesses: %zu tokens\n", tokens);
        assert_true(i == 1 || tokens <= 160);
        play_start(&p, "build");
        game_tokens(&p, odd, 7);
        play_start(&p, "build");
        game_tokens(&p, hard, 4);
        play_close(&p);
    }
}

/* Rows of the table are made on first use; from then on a call allocates nothing. */
static void calls_allocate_nothing(void **state)
{
    static const char *const guesses[] = {"crane", "moist", "!", "pupil", "crane", "build"};
    play p;
    size_t spent = 0;
    (void)state;
    play_open(&p, "guess", NULL);
    for (int round = 0; round < 2; round++) {
        play_start(&p, "build");
        for (size_t i = 0; i < sizeof guesses / sizeof *guesses; i++) {
            char arguments[64];
            gg_error error = {0};
            snprintf(arguments, sizeof arguments, "{\"guess\":\"%s\"}", guesses[i]);
            gg_buf_reset(&p.text);
            gg_buf_reset(&p.facts);
            p.result = (gg_result){.text = &p.text, .facts = &p.facts};
            alloc_fail_at(0);
            assert_int_equal(p.game->api->call(p.play, TOOL, arguments, &p.result, &error), GG_OK);
            spent += round ? alloc_count() : 0;
        }
        assert_int_equal(p.result.outcome, GG_SOLVED);
    }
    assert_int_equal(spent, 0);
    play_close(&p);
}

static gg_status play_once(void *context)
{
    static const char *const guesses[] = {"moist", "qqqqq", "build"};
    gg_game *game = NULL;
    gg_play *playing = NULL;
    gg_buf text, facts;
    gg_error error = {0};
    (void)context;
    gg_buf_init(&text, 1 << 16);
    gg_buf_init(&facts, 1 << 16);
    gg_status status = gg_game_open("guess", NULL, &game, &error);
    if (status == GG_OK)
        status = game->api->start(game->env, "{\"prompt\":\"Hi\",\"answer\":\"build\"}", 1,
                                  &playing, &error);
    for (size_t i = 0; i < 3 && status == GG_OK; i++) {
        char arguments[64];
        gg_result result = {.text = &text, .facts = &facts};
        snprintf(arguments, sizeof arguments, "{\"guess\":\"%s\"}", guesses[i]);
        gg_buf_reset(&text);
        gg_buf_reset(&facts);
        status = game->api->call(playing, TOOL, arguments, &result, &error);
    }
    if (game)
        game->api->finish(playing);
    gg_game_close(game);
    gg_buf_free(&text);
    gg_buf_free(&facts);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(alloc_each_fails(play_once, NULL) > 10);
}

/* One opened game, several threads, the same figures. */
typedef struct worker {
    gg_game *game;
    uint64_t sum;
} worker;

static void *work(void *context)
{
    worker *w = context;
    static const char *const guesses[] = {"crane", "moist", "pupil", "zesty", "vivid", "build"};
    gg_buf text, facts;
    gg_buf_init(&text, 1 << 16);
    gg_buf_init(&facts, 1 << 16);
    for (size_t g = 0; g < sizeof guesses / sizeof *guesses; g++) {
        gg_play *p = NULL;
        gg_error error = {0};
        if (w->game->api->start(w->game->env, guesses[g], 1, &p, &error) != GG_OK)
            return NULL;
        for (size_t i = 0; i < sizeof guesses / sizeof *guesses; i++) {
            char arguments[64];
            gg_result result = {.text = &text, .facts = &facts};
            snprintf(arguments, sizeof arguments, "{\"guess\":\"%s\"}", guesses[i]);
            gg_buf_reset(&text);
            gg_buf_reset(&facts);
            if (w->game->api->call(p, TOOL, arguments, &result, &error) != GG_OK)
                break;
            for (size_t k = 0; k < facts.len; k++)
                w->sum = w->sum * 31 + (unsigned char)facts.data[k];
        }
        w->game->api->finish(p);
    }
    gg_buf_free(&text);
    gg_buf_free(&facts);
    return NULL;
}

static void threads_share_a_game(void **state)
{
    pthread_t threads[4];
    worker workers[4];
    gg_game *game = NULL;
    gg_error error = {0};
    (void)state;
    assert_int_equal(gg_game_open("guess", NULL, &game, &error), GG_OK);
    for (size_t i = 0; i < 4; i++) {
        workers[i] = (worker){.game = game};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    worker alone = {.game = game};
    work(&alone);
    for (size_t i = 0; i < 4; i++)
        assert_true(workers[i].sum == alone.sum);
    assert_true(alone.sum != 0);
    gg_game_close(game);
}

static void shipped_tasks_are_named(void **state)
{
    play p;
    (void)state;
    play_open(&p, "guess", NULL);
    assert_non_null(strstr(p.game->api->default_tasks(p.game->env, "test"), "splits/test.jsonl"));
    assert_non_null(p.game->api->default_tasks(p.game->env, "train"));
    assert_null(p.game->api->default_tasks(p.game->env, "other"));
    assert_int_equal(p.game->info.max_calls, 12);
    play_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_words_are_counted_right), cmocka_unit_test(every_length),
        cmocka_unit_test(the_longest_text_fits),        cmocka_unit_test(a_game_is_few_tokens),
        cmocka_unit_test(calls_allocate_nothing),       cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(threads_share_a_game),         cmocka_unit_test(shipped_tasks_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
