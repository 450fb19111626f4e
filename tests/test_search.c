/* The search game (env/search): what a player reads, what counts, how it is scored, what it never
 * tells; and its baselines. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/json.h"
#include "core/rng.h"
#include "env/reward/reward.h"
#include "env/search/game.h"
#include "policy/policy.h"
#include "tests/alloc.h"
#include "tests/corpus_make.h"
#include "tests/play.h"

#define TEXT_ROOM (1u << 20)
#define TASK(answer)                                                                               \
    "{\"id\":\"q1\",\"prompt\":\"What orders or maps "                                             \
    "things?\",\"kind\":\"two\",\"answer\":" answer "}"
/* Ideal DCG@10: 2/log2(2) + 1/log2(3) = 2.630930. */
#define ANSWER                                                                                     \
    "[{\"id\":\"a00\",\"grade\":2},{\"id\":\"a03\",\"grade\":1},{\"id\":\"a08\",\"grade\":0}]"

static char folder[FOLDER_PATH];

static int make(void **state)
{
    (void)state;
    folder_make(folder);
    corpus_index(folder);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    folder_remove(folder);
    return 0;
}

/* `more` begins with a comma. */
static const char *settings(const char *more)
{
    static char text[FOLDER_PATH + 256];
    (void)snprintf(text, sizeof text, "{\"index\":\"%s\"%s}", folder_path(folder, "index"), more);
    return text;
}

static void open_search(play *p)
{
    play_open(p, "search", settings(""));
    play_start(p, TASK(ANSWER));
}

static void ask(play *p, const char *tool, const char *query)
{
    gg_buf arguments;
    gg_buf_init(&arguments, TEXT_ROOM);
    gg_buf_str(&arguments, "{\"query\":");
    gg_buf_json_str(&arguments, query);
    gg_buf_char(&arguments, '}');
    play_call(p, tool, gg_buf_cstr(&arguments));
    gg_buf_free(&arguments);
}

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) < 1e-6))
        fail_msg("%.9g, not %.9g", got, want);
}

/* ---- pages ---- */

static void pages_as_players_read_them(void **state)
{
    static const struct {
        const char *tool, *arguments, *page;
    } rows[] = {
        {"bm25_search", "{\"query\":\"pivot\"}",
         "1 document:\na00 | Quicksort | A sorting algorithm that picks a pivot and partitions "
         "around it.\n"},
        {"bm25_search", "{\"query\":\"ethernet\",\"k\":2}",
         "2 documents:\na01 | Ethernet | A family of local network technologies with collision "
         "detection.\na09 | Spanning tree | A protocol that keeps loops out of a bridged Ethernet "
         "network.\n"},
        {"bm25_search", "{\"query\":\"  ethernet \\n\",\"k\":1}",
         "1 document:\na01 | Ethernet | A family of local network technologies with collision "
         "detection.\n"},
        {"vector_search", "{\"query\":\"semaphroe recource\",\"k\":1}",
         "1 document:\na02 | Semaphore | A counter that guards a shared resource between "
         "processes.\n"},
        {"bm25_search", "{\"query\":\"caf\\u00e9\",\"k\":null}",
         "1 document:\na05 | Caf\u00e9 bench | A \"quoted\" title, a back\\slash and a tab "
         "here.\n"},
        {"bm25_search", "{\"query\":\"zzzzzzzzzz\"}", "No document found.\n"},
        {"bm25_search", "{\"query\":\"?!\"}", "No document found.\n"},
        {"bm25_search", "{\"query\":\"\\\" OR *) NEAR(\"}", "No document found.\n"},
    };
    play p;
    (void)state;
    play_open(&p, "search", settings(""));
    for (size_t round = 0; round < 2; round++) /* the second time from what is kept */
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            play_start(&p, TASK(ANSWER));
            play_call(&p, rows[i].tool, rows[i].arguments);
            assert_string_equal(gg_buf_cstr(&p.text), rows[i].page);
            assert_int_equal(p.result.status, GG_CALL_VALID);
            assert_true(p.result.moved && !p.result.done);
        }
    play_close(&p);
}

/* The snippet of a long document begins a little before the rarest word of the query, and a title
 * or text with bars, line ends or half a character at its cut stays one line of three columns. */
static void long_and_odd_documents(void **state)
{
    gg_buf corpus;
    gg_error error = {0};
    gg_index_built built;
    play p;
    gg_page_line line;
    size_t at = 0;
    char dir[FOLDER_PATH], text[FOLDER_PATH + 64];
    (void)state;
    gg_buf_init(&corpus, TEXT_ROOM);
    gg_buf_str(&corpus, "{\"_id\":\"long\",\"title\":\"a | b\\n| c\",\"text\":\"");
    for (int i = 0; i < 500; i++)
        gg_buf_str(&corpus, "common \u00fcber ");
    gg_buf_str(&corpus, "the needle | stands\\nhere");
    for (int i = 0; i < 500; i++)
        gg_buf_str(&corpus, " \u00e9\u00e9\u00e9\u00e9");
    gg_buf_str(&corpus, "\"}\n{\"_id\":\"other\",\"text\":\"common words\"}\n");
    folder_write(folder, "odd.jsonl", corpus.data, corpus.len);
    gg_buf_free(&corpus);
    const char *path = folder_path(folder, "odd.jsonl");
    (void)snprintf(dir, sizeof dir, "%s", folder_path(folder, "odd"));
    const gg_index_plan plan = {.corpus = &path, .corpus_count = 1, .dir = dir};
    assert_int_equal(gg_index_build(&plan, &built, &error), GG_OK);
    (void)snprintf(text, sizeof text, "{\"index\":\"%s\"}", dir);
    play_open(&p, "search", text);
    play_start(&p, TASK(ANSWER));
    ask(&p, "bm25_search", "common needle");
    assert_true(gg_page_next(p.text.data, p.text.len, &at, &line));
    assert_int_equal(line.id.len, 4);
    assert_memory_equal(line.id.at, "long", 4);
    assert_int_equal(line.title.len, strlen("a / b / c"));
    assert_memory_equal(line.title.at, "a / b / c", line.title.len);
    const char *needle = memmem(line.snippet.at, line.snippet.len, "needle / stands here", 20);
    assert_non_null(needle);
    assert_true(needle - line.snippet.at <= 24);
    assert_true(line.snippet.len <= GG_SNIPPET_MAX + 4);
    assert_memory_equal(line.snippet.at + line.snippet.len - 4, " ...", 4);
    assert_true(gg_page_next(p.text.data, p.text.len, &at, &line));
    assert_false(gg_page_next(p.text.data, p.text.len, &at, &line));
    play_close(&p);
}

static void repeats_are_told(void **state)
{
    static const struct {
        const char *tool, *arguments;
        double repeat, fresh;
    } rows[] = {
        {"bm25_search", "{\"query\":\"pivot\"}", 0, 1},
        {"bm25_search", "{\"query\":\" pivot\"}", 1, 0},
        {"bm25_search", "{\"query\":\"pivot\",\"k\":10}", 1, 0}, /* 10 is the default */
        {"bm25_search", "{\"query\":\"pivot\",\"k\":5}", 0, 0},
        {"vector_search", "{\"query\":\"pivot\",\"k\":1}", 0, 0},
        {"bm25_search", "{\"query\":\"pivot bucket\"}", 0, 1},
        {"bm25_search", "{\"query\":\"bucket\\npivot\"}", 0, 0},
        {"bm25_search", "{\"query\":\"bucket pivot\"}", 1, 0},
    };
    play p;
    (void)state;
    open_search(&p);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play_call(&p, rows[i].tool, rows[i].arguments);
        if (play_fact(&p, "repeat") != rows[i].repeat || play_fact(&p, "new") != rows[i].fresh)
            fail_msg("row %zu: %s", i, gg_buf_cstr(&p.facts));
        assert_int_equal(rows[i].repeat != 0, strncmp(gg_buf_cstr(&p.text), "You have", 8) == 0);
    }
    play_close(&p);
}

/* ---- what does not count ---- */

static void flawed_calls_are_told(void **state)
{
    static const struct {
        const char *tool, *arguments, *flaw, *says;
    } rows[] = {
        {"search", "{}", "no_tool", "bm25_search, vector_search and submit_ranking"},
        {"", "{}", "no_tool", "There is no such tool"},
        {"bm25_search", "{}", "no_query", "missing or empty"},
        {"bm25_search", "{\"query\":\"\"}", "no_query", "missing or empty"},
        {"bm25_search", "{\"query\":\" \\t\\r\\n\"}", "no_query", "missing or empty"},
        {"bm25_search", "{\"query\":[\"pivot\"]}", "no_query", "missing or empty"},
        {"vector_search", "{\"query\":null}", "no_query", "missing or empty"},
        {"vector_search", "not JSON", "no_query", "missing or empty"},
        {"vector_search", "{\"QUERY\":\"pivot\"}", "no_query", "missing or empty"},
        {"bm25_search", "{\"query\":\"pivot\",\"k\":0}", "bad_k", "from 1 to 20"},
        {"bm25_search", "{\"query\":\"pivot\",\"k\":21}", "bad_k", "from 1 to 20"},
        {"bm25_search", "{\"query\":\"pivot\",\"k\":1.5}", "bad_k", "from 1 to 20"},
        {"bm25_search", "{\"query\":\"pivot\",\"k\":\"5\"}", "bad_k", "from 1 to 20"},
        {"bm25_search", "{\"query\":\"pivot\",\"k\":-1e308}", "bad_k", "from 1 to 20"},
        {"submit_ranking", "{}", "no_ids", "1 to 10 ids"},
        {"submit_ranking", "{\"document_ids\":[]}", "no_ids", "1 to 10 ids"},
        {"submit_ranking", "{\"document_ids\":\"a00\"}", "no_ids", "1 to 10 ids"},
        {"submit_ranking", "{\"document_ids\":{\"a\":\"a00\"}}", "no_ids", "1 to 10 ids"},
        {"submit_ranking", "{\"document_ids\":[\"a00\",\"b99\"]}", "unknown_id", "id: b99"},
        {"submit_ranking", "{\"document_ids\":[\"\"]}", "unknown_id", "no document"},
        {"submit_ranking", "{\"document_ids\":[0]}", "unknown_id", "(not a text)"},
        {"submit_ranking", "{\"document_ids\":[\"A00\"]}", "unknown_id", "id: A00"},
        {"submit_ranking", "{\"document_ids\":[\"a00\",\"a01\",\"a00\"]}", "id_twice", ": a00"},
        {"submit_ranking",
         "{\"document_ids\":[\"a00\",\"a01\",\"a02\",\"a03\",\"a04\",\"a05\",\"a06\",\"a07\","
         "\"a08\",\"a09\",\"x010\"]}",
         "many_ids", "At most 10"},
    };
    play p;
    char flaw[32];
    (void)state;
    open_search(&p);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play_call(&p, rows[i].tool, rows[i].arguments);
        if (p.result.status != GG_CALL_INVALID || p.result.moved || p.result.done)
            fail_msg("row %zu: %s", i, gg_buf_cstr(&p.text));
        if (!gg_fact_text(gg_buf_cstr(&p.facts), "flaw", flaw, sizeof flaw) ||
            strcmp(flaw, rows[i].flaw) != 0 || !strstr(gg_buf_cstr(&p.text), rows[i].says))
            fail_msg("row %zu: %s %s", i, gg_buf_cstr(&p.text), gg_buf_cstr(&p.facts));
    }
    play_call(&p, "submit_ranking", "{\"document_ids\":[\"a00\"]}");
    assert_true(p.result.done); /* nothing of that spoiled the play */
    play_close(&p);
}

/* Queries and ids of 10 kB, and bytes that are no UTF-8, whatever they do, go on and answer text.
 */
static void huge_input_is_told(void **state)
{
    static const size_t sizes[] = {GG_QUERY_MAX, GG_QUERY_MAX + 1, 10000, 900000};
    play p;
    gg_buf arguments;
    (void)state;
    open_search(&p);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int ranking = 0; ranking < 2; ranking++) {
            gg_buf_init(&arguments, TEXT_ROOM);
            gg_buf_str(&arguments, ranking ? "{\"document_ids\":[\"" : "{\"query\":\"");
            for (size_t n = 0; n < sizes[i]; n++)
                gg_buf_char(&arguments, "abc de\xff"[n % 7]);
            gg_buf_str(&arguments, ranking ? "\"]}" : "\"}");
            play_call(&p,
                      ranking ? "submit_ranking"
                      : i % 2 ? "vector_search"
                              : "bm25_search",
                      gg_buf_cstr(&arguments));
            gg_buf_free(&arguments);
            assert_int_equal(p.result.status, !ranking && sizes[i] <= GG_QUERY_MAX
                                                  ? GG_CALL_VALID
                                                  : GG_CALL_INVALID);
            assert_true(p.text.len < 4096);
        }
    play_close(&p);
}

/* A play that searches to its call cap with the longest queries keeps all it needs. */
static void a_thousand_searches(void **state)
{
    play p;
    char query[GG_QUERY_MAX + 1];
    (void)state;
    open_search(&p);
    for (unsigned n = 0; n < 1000; n++) {
        (void)snprintf(query, sizeof query, "%04u", n);
        for (size_t i = 4; i < GG_QUERY_MAX; i++)
            query[i] = i % 6 ? 'q' : ' ';
        query[GG_QUERY_MAX - 1] = 'q';
        query[GG_QUERY_MAX] = '\0';
        ask(&p, "bm25_search", query);
        assert_int_equal(p.result.status, GG_CALL_VALID);
        assert_true(play_fact(&p, "repeat") == 0);
    }
    play_close(&p);
}

/* ---- rankings ---- */

#define RANK(ids) "{\"document_ids\":[" ids "]}"

static void rankings_are_scored(void **state)
{
    static const struct {
        const char *arguments;
        double ndcg;
        gg_outcome outcome;
    } rows[] = {
        {RANK("\"a00\",\"a03\""), 1, GG_SOLVED},
        {RANK("\"a03\",\"a00\""), 0.8597186, GG_SOLVED},        /* (1 + 2/log2 3) / 2.630930 */
        {RANK("\"a00\""), 0.7601876, GG_SOLVED},                /* 2 / 2.630930 */
        {RANK("\"a08\",\"a00\""), 0.4796249, GG_LOST},          /* (2/log2 3) / 2.630930 */
        {RANK("\"a08\",\"x010\",\"a00\""), 0.3800938, GG_LOST}, /* (2/log2 4) / 2.630930 */
        {RANK("\"a01\""), 0, GG_LOST},
        {RANK("\"x010\",\"x011\",\"x012\",\"x013\",\"x014\",\"x015\",\"x016\",\"x017\",\"x018\","
              "\"a00\""),
         0.2197442, GG_LOST}, /* (2/log2 11) / 2.630930 */
    };
    play p;
    (void)state;
    play_open(&p, "search", settings(""));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play_start(&p, TASK(ANSWER));
        play_call(&p, "submit_ranking", rows[i].arguments);
        assert_true(p.result.done && p.result.status == GG_CALL_VALID && !p.result.moved);
        assert_int_equal(p.result.outcome, rows[i].outcome);
        assert_string_equal(gg_buf_cstr(&p.text), "Ranking received; the search is over.");
        assert_near(play_fact(&p, "ndcg"), rows[i].ndcg);
        assert_near(p.game->api->measure(p.game->env, p.episode), rows[i].ndcg);
        play_call(&p, "bm25_search", "{\"query\":\"pivot\"}");
        assert_int_equal(p.result.status, GG_CALL_OVER);
        assert_string_equal(gg_buf_cstr(&p.text), "The search is over.");
    }
    play_close(&p);
    play_open(&p, "search", settings(",\"solved_at\":\"0.9\""));
    play_start(&p, TASK(ANSWER));
    play_call(&p, "submit_ranking", RANK("\"a03\",\"a00\""));
    assert_int_equal(p.result.outcome, GG_LOST);
    play_close(&p);
}

static void prose_that_lists_ids_counts(void **state)
{
    static const struct {
        const char *text;
        double ndcg; /* below 0: not taken */
    } rows[] = {
        {"a00\na03", 1},
        {"Here is my ranking:\n\n1. a03\n2. a00\n", 0.8597186},
        {"1) a00 | Quicksort | it sorts\r\n2) a03 | Hash table", 1},
        {"- a00: the best\n* a03, too", 1},
        {"a00\na00\na03", 1}, /* a repeat changes nothing */
        {"a99\na00", 0.7601876},
        {"> a00", 0.7601876},
        {"The answer is a00.", -1}, /* in the middle of prose */
        {"x010\nx011", -1},         /* never shown */
        {"a0", -1},                 /* a part of an id */
        {"a000", -1},
        {"", -1},
        {"\n\n...\n", -1},
    };
    play p;
    (void)state;
    play_open(&p, "search", settings(""));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool taken = true;
        gg_error error = {0};
        play_start(&p, TASK(ANSWER));
        ask(&p, "bm25_search", "pivot bucket");
        gg_buf_reset(&p.text);
        gg_buf_reset(&p.facts);
        p.result = (gg_result){.text = &p.text, .facts = &p.facts};
        assert_int_equal(p.game->api->text(p.play, rows[i].text, &taken, &p.result, &error), GG_OK);
        if (taken != (rows[i].ndcg >= 0))
            fail_msg("row %zu: taken %d", i, taken);
        assert_int_equal(p.text.len > 0, taken);
        if (taken) {
            assert_near(play_fact(&p, "ndcg"), rows[i].ndcg);
            assert_true(p.result.done && !p.result.moved);
        }
    }
    play_close(&p);
}

/* ---- options and tasks ---- */

static void options_are_checked(void **state)
{
    static const struct {
        const char *more, *says;
    } rows[] = {
        {",\"turns\":0", "turns must be a whole number from 1 to 100"},
        {",\"turns\":101", "turns must be"},
        {",\"calls\":0", "calls must be a whole number from 1 to 1000"},
        {",\"k\":21", "k must be a whole number from 1 to 20"},
        {",\"solved_at\":\"0\"", "solved_at must be a number above 0, at most 1"},
        {",\"solved_at\":\"1.01\"", "solved_at"},
        {",\"solved_at\":\"half\"", "solved_at"},
        {",\"solved_at\":\"nan\"", "solved_at"},
        {",\"solved_at\":\"0.5x\"", "solved_at"},
        {",\"solved_at\":\"\"", "solved_at"},
        {",\"indx\":\"a\"", "index"},
    };
    gg_game *game;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_error error = {0};
        gg_status status = gg_game_open("search", settings(rows[i].more), &game, &error);
        assert_int_equal(status, GG_E_CONFIG);
        if (!strstr(error.text, rows[i].says))
            fail_msg("row %zu: %s", i, error.text);
    }
    gg_error error = {0};
    assert_int_equal(gg_game_open("search", NULL, &game, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "--env-set index=DIR"));
    assert_int_equal(gg_game_open("search", "{\"index\":\"/nonexistent\"}", &game, &error),
                     GG_E_CONFIG);
    assert_non_null(strstr(error.text, "there is no index at /nonexistent"));
}

static void caps_are_the_options(void **state)
{
    play p;
    gg_buf out;
    gg_error error = {0};
    (void)state;
    play_open(&p, "search", settings(",\"turns\":3,\"calls\":7,\"k\":2"));
    play_start(&p, TASK(ANSWER));
    assert_int_equal(p.game->info.max_turns, 3);
    assert_int_equal(p.game->info.max_calls, 7);
    assert_true(p.game->info.may_block);
    gg_buf_init(&out, TEXT_ROOM);
    assert_int_equal(p.game->api->system_prompt(p.play, &out, &error), GG_OK);
    assert_non_null(strstr(gg_buf_cstr(&out), "You have 3 replies and 7 tool calls"));
    gg_buf_reset(&out);
    assert_int_equal(p.game->api->opening(p.play, &out, &error), GG_OK);
    assert_string_equal(gg_buf_cstr(&out), "Question: What orders or maps things?");
    gg_buf_free(&out);
    ask(&p, "vector_search", "network");
    assert_true(play_fact(&p, "found") == 2);
    play_close(&p);
}

static void bad_tasks_are_refused(void **state)
{
    static const struct {
        const char *task, *says;
    } rows[] = {
        {"", "a question is a JSON object"},
        {"crane", "this is none: crane"},
        {"[]", "question without an id"},
        {"{\"prompt\":\"q\",\"answer\":[{\"id\":\"a\",\"grade\":1}]}", "it needs an `id`"},
        {"{\"id\":\"\",\"prompt\":\"q\",\"answer\":[{\"id\":\"a\",\"grade\":1}]}", "an `id`"},
        {"{\"id\":7,\"prompt\":\"q\",\"answer\":[{\"id\":\"a\",\"grade\":1}]}", "an `id`"},
        {"{\"id\":\"q\",\"answer\":[{\"id\":\"a\",\"grade\":1}]}",
         "question q: it needs a `prompt`"},
        {"{\"id\":\"q\",\"prompt\":\"q\"}", "`answer` has to be a list"},
        {"{\"id\":\"q\",\"prompt\":\"q\",\"answer\":[]}", "`answer` has to be a list"},
        {"{\"id\":\"q\",\"prompt\":\"q\",\"answer\":[\"a\"]}", "no {\"id\", \"grade\"}"},
        {"{\"id\":\"q\",\"prompt\":\"q\",\"answer\":[{\"id\":\"a\"}]}", "no {\"id\", \"grade\"}"},
        {"{\"id\":\"q\",\"prompt\":\"q\",\"answer\":[{\"id\":\"a\",\"grade\":0.5}]}", "grade"},
        {"{\"id\":\"q\",\"prompt\":\"q\",\"answer\":[{\"id\":\"a\",\"grade\":1e99}]}", "grade"},
    };
    play p;
    gg_buf out;
    (void)state;
    play_open(&p, "search", settings(""));
    gg_buf_init(&out, TEXT_ROOM);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_error error = {0};
        gg_play *none;
        assert_int_equal(p.game->api->identity(p.game->env, rows[i].task, &out, &error),
                         GG_E_FORMAT);
        if (!strstr(error.text, rows[i].says))
            fail_msg("row %zu: %s", i, error.text);
        assert_int_equal(p.game->api->start(p.game->env, rows[i].task, 1, &none, &error),
                         GG_E_FORMAT);
    }
    gg_buf_free(&out);
    play_close(&p);
}

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
    play_open(&p, "search", settings(""));
    assert_string_equal(p.game->info.default_reward, "ndcg");
    assert_string_equal(p.game->info.measure_name, "nDCG@10");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play_start(&p, TASK(ANSWER));
        assert_label(&p, "tools", "none");
        ask(&p, "bm25_search", "pivot");
        ask(&p, "bm25_search", "pivot");
        assert_label(&p, "tools", "words");
        ask(&p, "vector_search", "pivot");
        if (rows[i].ranked)
            play_call(&p, "submit_ranking", RANK("\"a00\""));
        p.episode->outcome = rows[i].outcome;
        p.episode->stop = rows[i].stop;
        assert_near(score(&p, "ndcg"), rows[i].reward);
        assert_near(score(&p, "ndcg=0,caps=1"), rows[i].reward < 0);
        assert_near(score(&p, "submitted=1"), rows[i].ranked);
        assert_near(score(&p, "by_words=1,by_vectors=100,repeats=1000"), 1102);
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
    open_search(&p);
    gg_buf_init(&out, TEXT_ROOM);
    render(&p, GG_RENDER_PLAIN, &out);
    assert_string_equal(gg_buf_cstr(&out), "no search yet\n");
    ask(&p, "bm25_search", "<b>pivot & \"bucket\"\x1b[2J");
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
    gg_buf_init(&want, TEXT_ROOM);
    gg_buf_init(&got, TEXT_ROOM);
    play_open(&p, "search", settings(""));
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

/* ---- memory ---- */

static gg_status once(void *context)
{
    static const char *const calls[][2] = {
        {"bm25_search", "{\"query\":\"pivot bucket\"}"},
        {"vector_search", "{\"query\":\"pivot\",\"k\":3}"},
        {"submit_ranking", RANK("\"a00\",\"a03\"")},
    };
    gg_game *game = NULL;
    gg_play *p = NULL;
    gg_error error = {0};
    gg_buf text, facts;
    (void)context;
    gg_buf_init(&text, TEXT_ROOM);
    gg_buf_init(&facts, TEXT_ROOM);
    gg_status status = gg_game_open("search", settings(""), &game, &error);
    if (status == GG_OK)
        status = game->api->start(game->env, TASK(ANSWER), 1, &p, &error);
    for (size_t i = 0; i < sizeof calls / sizeof *calls && status == GG_OK; i++) {
        gg_result result = {.text = &text, .facts = &facts};
        gg_buf_reset(&text);
        gg_buf_reset(&facts);
        status = game->api->call(p, calls[i][0], calls[i][1], &result, &error);
    }
    if (p)
        game->api->finish(p);
    gg_game_close(game);
    gg_buf_free(&text);
    gg_buf_free(&facts);
    return status;
}

static void memory_may_fail_anywhere(void **state)
{
    (void)state;
    assert_true(alloc_each_fails(once, NULL) > 20);
}

/* ---- the baselines ---- */

#define PAGE_ONE "3 documents:\\nA | One | x\\nB | Two | x\\nC | Three | x\\n"
#define PAGE_TWO "3 documents:\\nC | Three | y\\nA | One | y\\nD | Four | y\\n"
#define ASKED                                                                                      \
    "{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":\"Question: what?\"}"
#define CALLED                                                                                     \
    ",{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c\",\"type\":"            \
    "\"function\",\"function\":{\"name\":\"bm25_search\",\"arguments\":\"{\\\"query\\\":"          \
    "\\\"what?\\\"}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\""
#define FOUND(page) CALLED page "\"}"

static void baselines_reply(void **state)
{
    static const struct {
        const char *policy, *messages, *tool, *arguments; /* tool NULL: text */
    } rows[] = {
        {"bm25", ASKED, "bm25_search", "{\"query\":\"what?\",\"k\":20}"},
        {"vector", ASKED, "vector_search", "{\"query\":\"what?\",\"k\":20}"},
        {"hybrid", ASKED, "bm25_search", "{\"query\":\"what?\",\"k\":20}"},
        {"bm25", ASKED FOUND(PAGE_ONE), "submit_ranking", RANK("\"A\",\"B\",\"C\"")},
        {"vector", ASKED FOUND(PAGE_TWO), "submit_ranking", RANK("\"C\",\"A\",\"D\"")},
        {"hybrid", ASKED FOUND(PAGE_ONE), "vector_search", "{\"query\":\"what?\",\"k\":20}"},
        /* 1/61 + 1/62, 1/63 + 1/61, 1/62, 1/63 */
        {"hybrid", ASKED FOUND(PAGE_ONE) FOUND(PAGE_TWO), "submit_ranking",
         RANK("\"A\",\"C\",\"B\",\"D\"")},
        {"hybrid", ASKED FOUND("No document found.\\n") FOUND(PAGE_TWO), "submit_ranking",
         RANK("\"C\",\"A\",\"D\"")},
        {"bm25", ASKED FOUND("No document found.\\n"), NULL, "No document was found."},
        /* a reply that is no page (an error's text) is not searched for ids, and is asked again */
        {"bm25", ASKED FOUND("The server is busy."), "bm25_search",
         "{\"query\":\"what?\",\"k\":20}"},
        {"bm25", "{\"role\":\"system\",\"content\":\"s\"}", NULL, "No document was found."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_policy *policy;
        gg_policy_reply reply;
        gg_error error = {0};
        char messages[4096];
        (void)snprintf(messages, sizeof messages, "[%s]", rows[i].messages);
        if (gg_policy_open(rows[i].policy, NULL, &policy, &error) != GG_OK)
            fail_msg("%s", error.text);
        assert_false(gg_policy_trainable(policy));
        gg_policy_reply_init(&reply);
        const gg_policy_request request = {.messages = {messages, strlen(messages)},
                                           .temperature = 1,
                                           .top_p = 1,
                                           .max_tokens = 4096};
        if (gg_policy_reply_to(policy, NULL, 1, &request, &reply, &error) != GG_OK)
            fail_msg("row %zu: %s", i, error.text);
        if (rows[i].tool) {
            assert_non_null(reply.call.name);
            assert_string_equal(reply.call.name, rows[i].tool);
            assert_string_equal(reply.call.arguments, rows[i].arguments);
        } else {
            assert_null(reply.call.name);
            assert_string_equal(gg_buf_cstr(&reply.content), rows[i].arguments);
        }
        gg_policy_reply_free(&reply);
        gg_policy_close(policy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_as_players_read_them),
        cmocka_unit_test(long_and_odd_documents),
        cmocka_unit_test(repeats_are_told),
        cmocka_unit_test(flawed_calls_are_told),
        cmocka_unit_test(huge_input_is_told),
        cmocka_unit_test(a_thousand_searches),
        cmocka_unit_test(rankings_are_scored),
        cmocka_unit_test(prose_that_lists_ids_counts),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(caps_are_the_options),
        cmocka_unit_test(bad_tasks_are_refused),
        cmocka_unit_test(rewards_of_records),
        cmocka_unit_test(renders),
        cmocka_unit_test(judgments_never_reach_a_player),
        cmocka_unit_test(memory_may_fail_anywhere),
        cmocka_unit_test(baselines_reply),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
