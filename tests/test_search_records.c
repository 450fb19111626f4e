/* The search game (env/search): what its records are worth and look like, and that no judgment
 * reaches a player. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/rng.h"
#include "env/reward/reward.h"
#include "tests/search_play.h"

/* ---- records ---- */

typedef struct wanted_label {
    const char *name;
    char value[32];
} wanted_label;

static void take_label(void *context, const char *name, const char *value)
{
    wanted_label *wanted = context;
    if (strcmp(name, wanted->name) == 0)
        (void)snprintf(wanted->value, sizeof wanted->value, "%s", value);
}

static void assert_label(const play *p, const char *name, const char *value)
{
    wanted_label found = {.name = name};
    p->game->api->labels(p->game->env, p->episode, take_label, &found);
    assert_string_equal(found.value, value);
}

static double score(const play *p, const char *text)
{
    gg_reward *reward;
    gg_error error = {0};
    if (gg_reward_parse(p->game, text, &reward, &error) != GG_OK ||
        gg_reward_score(reward, p->game, p->episode, &error) != GG_OK)
        fail_msg("%s: %s", text, error.text);
    gg_reward_free(reward);
    return p->episode->reward;
}

/* The preset: nDCG@10, -1 for a cap on replies, calls or tokens, 0 for one that only stopped. */
static void rewards_of_records(void **state)
{
    static const struct {
        bool ranked;
        gg_outcome outcome;
        gg_stop stop;
        double reward;
    } rows[] = {
        {true, GG_SOLVED, GG_STOP_DONE, 0.7601876},  {false, GG_FORFEITED, GG_STOP_TURN_CAP, -1},
        {false, GG_FORFEITED, GG_STOP_CALL_CAP, -1}, {false, GG_TRUNCATED, GG_STOP_TOKEN_LIMIT, -1},
        {false, GG_TRUNCATED, GG_STOP_CONTEXT, -1},  {false, GG_FORFEITED, GG_STOP_NO_CALL, 0},
    };
    play p;
    (void)state;
    play_open(&p, "search", search_settings(""));
    assert_string_equal(p.game->info.default_reward, "ndcg");
    assert_string_equal(p.game->info.measure_name, "nDCG@10");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play_start(&p, TASK(ANSWER));
        assert_label(&p, "tools", "none");
        search_ask(&p, "bm25_search", "pivot");
        search_ask(&p, "bm25_search", "pivot");
        assert_label(&p, "tools", "words");
        search_ask(&p, "vector_search", "pivot");
        if (rows[i].ranked)
            play_call(&p, "submit_ranking", RANK("\"a00\""));
        p.episode->outcome = rows[i].outcome;
        p.episode->stop = rows[i].stop;
        search_near(score(&p, "ndcg"), rows[i].reward);
        search_near(score(&p, "ndcg=0,caps=1"), rows[i].reward < 0);
        search_near(score(&p, "submitted=1"), rows[i].ranked);
        search_near(score(&p, "by_words=1,by_vectors=100,repeats=1000"), 1102);
        assert_label(&p, "kind", "two");
        assert_label(&p, "tools", "both");
    }
    play_close(&p);
}

static void render(const play *p, gg_render_style style, gg_buf *out)
{
    gg_error error = {0};
    gg_buf_reset(out);
    if (p->game->api->render(p->game->env, p->episode, style, out, &error) != GG_OK)
        fail_msg("%s", error.text);
}

static void renders(void **state)
{
    play p;
    gg_buf out;
    (void)state;
    search_open(&p);
    gg_buf_init(&out, SEARCH_TEXT_ROOM);
    render(&p, GG_RENDER_PLAIN, &out);
    assert_string_equal(gg_buf_cstr(&out), "no search yet\n");
    search_ask(&p, "bm25_search", "<b>pivot & \"bucket\"\x1b[2J");
    play_call(&p, "submit_ranking", "{}");
    render(&p, GG_RENDER_PLAIN, &out); /* of an unfinished record, without its judgments */
    assert_string_equal(gg_buf_cstr(&out),
                        "words   <b>pivot & \"bucket\" [2J (2 found, 2 new)\nrefused: {}\n");
    play_call(&p, "submit_ranking", RANK("\"a03\",\"a01\",\"a00\""));
    render(&p, GG_RENDER_PLAIN, &out);
    assert_non_null(strstr(gg_buf_cstr(&out), " 1. a03 grade 1\n 2. a01\n 3. a00 grade 2\n"));
    assert_non_null(strstr(gg_buf_cstr(&out), "solved, nDCG@10 0.760\n")); /* (1+1)/2.63 */
    render(&p, GG_RENDER_ANSI, &out);
    assert_non_null(strstr(gg_buf_cstr(&out), "\x1b[32ma03 grade 1\x1b[0m\n"));
    assert_null(strstr(gg_buf_cstr(&out), "\x1b[2J"));
    render(&p, GG_RENDER_HTML, &out);
    assert_null(strstr(gg_buf_cstr(&out), "<b>"));
    assert_non_null(strstr(gg_buf_cstr(&out), "&#60;b&#62;pivot &#38; &#34;bucket&#34;"));
    assert_non_null(strstr(gg_buf_cstr(&out), "<strong>a00 grade 2</strong>"));
    gg_buf_free(&out);
    play_close(&p);
}

/* ---- secrets ---- */

#define QUERIES 12

/* A call by chance: searches, flawed calls, unknown ids; `last`: a ranking. */
static void random_call(gg_rng *rng, bool last, const char **tool, char *arguments, size_t room)
{
    static const char *const queries[QUERIES] = {
        "pivot",     "hash bucket", "network",   "a00",       "grade 2",       "orders maps",
        "semaphore", "answer",      "collector", "judgments", "which is best", ""};
    static const char *const tools[] = {"bm25_search", "vector_search"};
    if (last || gg_rng_below(rng, 6) == 0) {
        *tool = "submit_ranking";
        (void)snprintf(arguments, room, "{\"document_ids\":[\"a%02d\",\"%s\"]}",
                       (int)gg_rng_below(rng, 10), last ? "x100" : "b01");
        return;
    }
    *tool = tools[gg_rng_below(rng, 2)];
    (void)snprintf(arguments, room, "{\"query\":\"%s %s\",\"k\":%d}",
                   queries[gg_rng_below(rng, QUERIES)], queries[gg_rng_below(rng, QUERIES)],
                   (int)gg_rng_below(rng, 22));
}

/* Everything that a player reads, the end's text included, and every fact before the end. */
static void write_transcript(play *p, const char *task, uint64_t seed, gg_buf *out)
{
    gg_rng rng;
    gg_error error = {0};
    const char *tool;
    char arguments[256];
    gg_rng_seed(&rng, seed);
    gg_buf_reset(out);
    play_start(p, task);
    assert_int_equal(p->game->api->system_prompt(p->play, out, &error), GG_OK);
    assert_int_equal(p->game->api->opening(p->play, out, &error), GG_OK);
    uint64_t calls = 1 + gg_rng_below(&rng, 8);
    for (uint64_t n = 0; n <= calls; n++) {
        random_call(&rng, n == calls, &tool, arguments, sizeof arguments);
        play_call(p, tool, arguments);
        gg_buf_add(out, p->text.data, p->text.len);
        if (!p->result.done)
            gg_buf_add(out, p->facts.data, p->facts.len);
    }
    assert_true(p->result.done);
    assert_int_equal(out->status, GG_OK);
}

/* Whatever the judgments are, a player reads the same, to the byte. */
static void judgments_never_reach_a_player(void **state)
{
    static const char *const tasks[] = {
        TASK(ANSWER),
        TASK("[{\"id\":\"a07\",\"grade\":3}]"),
        TASK("[{\"id\":\"gone\",\"grade\":1},{\"id\":\"x100\",\"grade\":2}]"),
    };
    play p;
    gg_buf want, got;
    (void)state;
    gg_buf_init(&want, SEARCH_TEXT_ROOM);
    gg_buf_init(&got, SEARCH_TEXT_ROOM);
    play_open(&p, "search", search_settings(""));
    for (uint64_t seed = 1; seed <= 60; seed++) {
        write_transcript(&p, tasks[0], seed, &want);
        for (size_t i = 1; i < sizeof tasks / sizeof *tasks; i++) {
            write_transcript(&p, tasks[i], seed, &got);
            if (strcmp(gg_buf_cstr(&want), gg_buf_cstr(&got)) != 0)
                fail_msg("seed %d, task %zu: the transcripts differ", (int)seed, i);
        }
    }
    play_close(&p);
    gg_buf_free(&want);
    gg_buf_free(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rewards_of_records),
        cmocka_unit_test(renders),
        cmocka_unit_test(judgments_never_reach_a_player),
    };
    return cmocka_run_group_tests(tests, search_make, search_drop);
}
