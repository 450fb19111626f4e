/*
 * No secret leaves the agent before the end: whole transcripts of the word game, as they went over
 * the wire, are searched for the hidden word - in any case, reversed, spaced, in base64 or hex -
 * and for the task's digest and key. A find counts unless the transcripts of other words hold it
 * too: then it is the rendered text or the player's own words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/rollout.h"
#include "agent/tasks.h"
#include "core/digest.h"
#include "core/rng.h"
#include "env/guess/guess.h"
#include "tests/farm.h"

#define WORDS     ((size_t)80)
#define TURNS     ((size_t)16)
#define FORM_ROOM 96

/* ------------------------------------------------------------------ forms of a word */

typedef struct forms {
    char text[32][FORM_ROOM];
    bool exact[32]; /* base64: capitals matter */
    size_t count;
} forms;

static char *form(forms *f, bool exact)
{
    f->exact[f->count] = exact;
    f->text[f->count][0] = '\0';
    return f->text[f->count++];
}

static void add_joined(forms *f, const char *word, const char *between)
{
    char *out = form(f, false);
    for (const char *c = word; *c; c++)
        snprintf(out + strlen(out), FORM_ROOM - strlen(out), "%s%c", c == word ? "" : between, *c);
}

/* The characters of base64 that depend on the word alone, when `before` bytes stand before it. */
static void add_base64(forms *f, const char *word, size_t before)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t len = strlen(word), bits = (before + len) * 8, n = 0;
    char *out = form(f, true);
    for (size_t at = 0; at + 6 <= bits; at += 6) {
        unsigned value = 0;
        if (at < before * 8)
            continue;
        for (size_t b = at; b < at + 6; b++)
            value = value << 1 | ((unsigned)word[b / 8 - before] >> (7 - b % 8) & 1);
        out[n++] = digits[value];
    }
    out[n] = '\0';
}

static void all_forms(const char *word, forms *f)
{
    char other[16] = "";
    size_t len = strlen(word);
    f->count = 0;
    add_joined(f, word, "");
    add_joined(f, word, " ");
    add_joined(f, word, "-");
    add_joined(f, word, ",");
    add_joined(f, word, ", ");
    add_joined(f, word, "\\\",\\\"");
    char *hex = form(f, false);
    for (size_t i = 0; i < len; i++)
        snprintf(hex + 2 * i, FORM_ROOM - 2 * i, "%02x", (unsigned)word[i]);
    for (size_t i = 0; i < len; i++)
        other[i] = word[len - 1 - i];
    add_joined(f, other, "");
    add_joined(f, other, " ");
    for (int kind = 0; kind < 3; kind++) {
        for (size_t i = 0; i < len; i++)
            other[i] = (char)(kind == 2 || (kind == 1 && i == 0) ? toupper(word[i]) : word[i]);
        for (size_t before = 0; before < 3; before++)
            add_base64(f, other, before);
    }
}

static bool holds(const char *text, const char *lower, const forms *f, size_t i)
{
    return strstr(f->exact[i] ? text : lower, f->text[i]) != NULL;
}

static char *lowered(const char *text)
{
    char *copy = strdup(text);
    for (char *c = copy; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

/* The search itself: it must find a planted secret. "c3RhcmU=" is base64 of "stare". */
static void forms_are_found(void **state)
{
    static const char *const planted[] = {
        "it is stare!",
        "It Is STARE",
        "erats",
        "s t a r e",
        "S-T-A-R-E",
        "s, t, a, r, e",
        "[\\\"s\\\",\\\"t\\\",\\\"a\\\",\\\"r\\\",\\\"e\\\"]",
        "7374617265",
        "E R A T S",
        "x c3RhcmU= y",
        "xzdGFyZQ==",
        "eHhzdGFyZXh4",
        "U1RBUkU=",
    };
    forms f;
    (void)state;
    all_forms("stare", &f);
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        char *lower = lowered(planted[i]);
        bool found = false;
        for (size_t k = 0; k < f.count; k++)
            found |= holds(planted[i], lower, &f, k);
        if (!found)
            fail_msg("not found in %s", planted[i]);
        free(lower);
    }
}

/* ------------------------------------------------------------------ transcripts */

typedef struct wire {
    uint64_t seeds[WORDS][TURNS];
    gg_buf text[WORDS]; /* every body that was sent while the word was played */
    int unknown;
} wire;

/* What a player says, good and bad, turn by turn; the same for every word. */
static const char *const script[] = {
    "\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"guess_word\",\"arguments\":\"{"
    "\\\"guess\\\":\\\"slate\\\"}\"}}]",
    "\"tool_calls\":[{\"id\":\"b\",\"function\":{\"name\":\"guess_word\",\"arguments\":\"{"
    "\\\"guess\\\":\"}}]",
    "\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"reveal_answer\",\"arguments\":\"{}\"}}"
    "]",
    "\"content\":\"What is the hidden word?\"",
    "\"tool_calls\":[{\"id\":\"d\",\"function\":{\"name\":\"guess_word\",\"arguments\":\"{"
    "\\\"guess\\\":\\\"ab1de\\\"}\"}},"
    "{\"id\":\"e\",\"function\":{\"name\":\"guess_word\",\"arguments\":\"{\\\"guess\\\":7}\"}}]",
    "\"tool_calls\":[{\"id\":\"f\",\"function\":{\"name\":\"guess_word\",\"arguments\":\"{"
    "\\\"guess\\\":\\\"crony\\\"}\"}}]",
    "\"tool_calls\":[{\"id\":\"g\",\"function\":{\"name\":\"guess_word\",\"arguments\":\"{"
    "\\\"guess\\\":\\\"crony\\\"}\"}}]",
    "\"tool_calls\":[{\"id\":\"h\",\"function\":{\"name\":\"guess_word\"}}]",
    "\"tool_calls\":[{\"id\":\"i\",\"function\":{\"name\":\"guess_word\",\"arguments\":\"{"
    "\\\"guess\\\":\\\"fighp\\\"}\"}}]",
    "\"tool_calls\":[{\"id\":\"j\",\"function\":{\"name\":\"guess_word\",\"arguments\":\"{"
    "\\\"guess\\\":\\\"vivid\\\"}\"}}]",
    "\"content\":\"I give up\"",
};
static const char *const guessed[] = {"slate", "crony", "fighp", "vivid"};

static int record(void *context, const farm_request *request, gg_buf *reply)
{
    wire *w = context;
    size_t at = 0;
    while (at < WORDS * TURNS && w->seeds[at / TURNS][at % TURNS] != request->seed)
        at++;
    if (at == WORDS * TURNS) {
        w->unknown++;
        return 500;
    }
    gg_buf_str(&w->text[at / TURNS], request->text);
    size_t turn = at % TURNS, count = sizeof script / sizeof *script;
    gg_buf_printf(reply, "{\"choices\":[{\"message\":{%s}}]}",
                  script[turn < count ? turn : count - 1]);
    return 200;
}

typedef struct played {
    gg_outcome outcomes[WORDS];
    size_t count;
} played;

static gg_status take(void *context, size_t index, gg_episode *episode, gg_error *error)
{
    played *p = context;
    (void)error;
    p->outcomes[index] = episode->outcome;
    p->count++;
    gg_episode_free(episode);
    return GG_OK;
}

static void play_all(const gg_game *game, const gg_task *tasks, wire *w)
{
    static played p;
    gg_planned plan[WORDS];
    gg_error error = {0};
    uv_loop_t loop;
    gg_http *http;
    gg_endpoint *endpoint;
    gg_reward *reward;
    gg_rollout *rollout;
    gg_ask ask = GG_ASK_DEFAULTS;
    farm *f = farm_start(record, w);
    for (int64_t i = 0; i < (int64_t)WORDS; i++) {
        plan[i] = (gg_planned){&tasks[i], 0, i, 0};
        gg_buf_init(&w->text[i], 16u << 20);
        for (int64_t t = 0; t < (int64_t)TURNS; t++)
            w->seeds[i][t] = gg_request_seed(42, 0, i, 0, t);
    }
    uv_loop_init(&loop);
    assert_int_equal(gg_http_new(&loop, &http, &error), GG_OK);
    gg_endpoint_options to = {.base_url = farm_url(f), .seed = 1};
    assert_int_equal(gg_endpoint_new(http, &to, &endpoint, &error), GG_OK);
    assert_int_equal(gg_reward_parse(game, "solve", &reward, &error), GG_OK);
    gg_rollout_options options = {.game = game,
                                  .reward = reward,
                                  .endpoint = endpoint,
                                  .ask = &ask,
                                  .seed = 42,
                                  .concurrency = 16,
                                  .weight_version = -1,
                                  .id_prefix = "s"};
    assert_int_equal(gg_rollout_new(&loop, &options, &rollout, &error), GG_OK);
    gg_status status = gg_rollout_play(rollout, plan, WORDS, take, &p, &error);
    if (status != GG_OK)
        fail_msg("%s", error.text);
    assert_int_equal(p.count, WORDS);
    for (size_t i = 0; i < WORDS; i++)
        assert_int_equal(p.outcomes[i], GG_FORFEITED); /* to the script's end: nobody solved it */
    gg_rollout_free(rollout);
    gg_endpoint_free(endpoint);
    gg_http_free(http);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    gg_reward_free(reward);
    farm_stop(f);
}

/* Words spread over the answers, none of them one of the script's. */
static void choose(const gg_words *words, gg_task *tasks, const gg_game *game)
{
    size_t count = gg_words_answer_count(words), at = 0;
    gg_error error;
    gg_buf identity;
    gg_buf_init(&identity, 4096);
    for (size_t i = 0; i < WORDS; i++) {
        const char *word = gg_words_answer(words, at);
        for (size_t k = 0; k < sizeof guessed / sizeof *guessed; k++)
            if (strcmp(word, guessed[k]) == 0)
                word = gg_words_answer(words, ++at);
        tasks[i].id = "t";
        tasks[i].prompt = word;
        gg_sha256_hex(word, strlen(word), tasks[i].digest);
        gg_buf_reset(&identity);
        assert_int_equal(game->api->identity(game->env, word, &identity, &error), GG_OK);
        gg_sha256_hex(identity.data, identity.len, tasks[i].key);
        at += count / WORDS;
    }
    gg_buf_free(&identity);
}

static void transcripts_do_not_tell(void **state)
{
    static wire w;
    static gg_task tasks[WORDS];
    char *lower[WORDS];
    gg_game *game;
    gg_words *words;
    gg_error error;
    (void)state;
    assert_int_equal(gg_game_open("guess", NULL, &game, &error), GG_OK);
    assert_int_equal(gg_words_load(NULL, NULL, 5, &words, &error), GG_OK);
    choose(words, tasks, game);
    play_all(game, tasks, &w);
    assert_int_equal(w.unknown, 0);
    for (size_t i = 0; i < WORDS; i++) {
        assert_true(w.text[i].len > 10000); /* eleven growing bodies */
        lower[i] = lowered(w.text[i].data);
    }
    for (size_t i = 0; i < WORDS; i++) {
        forms f;
        all_forms(tasks[i].prompt, &f);
        for (size_t k = 0; k < f.count; k++) {
            bool elsewhere = false;
            if (!holds(w.text[i].data, lower[i], &f, k))
                continue;
            for (size_t other = 0; other < WORDS; other++)
                elsewhere |= other != i && holds(w.text[other].data, lower[other], &f, k);
            if (!elsewhere)
                fail_msg("%s was told as %s", tasks[i].prompt, f.text[k]);
        }
        assert_null(strstr(lower[i], tasks[i].digest));
        assert_null(strstr(lower[i], tasks[i].key));
    }
    for (size_t i = 0; i < WORDS; i++) {
        free(lower[i]);
        gg_buf_free(&w.text[i]);
    }
    gg_words_free(words);
    gg_game_close(game);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_are_found),
        cmocka_unit_test(transcripts_do_not_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
