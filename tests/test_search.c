/* The search game (env/search): what a player reads, what counts and how it is scored. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/json.h"
#include "env/search/game.h"
#include "tests/alloc.h"
#include "tests/folder.h"
#include "tests/search_play.h"

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
    play_open(&p, "search", search_settings(""));
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
    gg_buf_init(&corpus, SEARCH_TEXT_ROOM);
    gg_buf_str(&corpus, "{\"_id\":\"long\",\"title\":\"a | b\\n| c\",\"text\":\"");
    for (int i = 0; i < 500; i++)
        gg_buf_str(&corpus, "common \u00fcber ");
    gg_buf_str(&corpus, "the needle | stands\\nhere");
    for (int i = 0; i < 500; i++)
        gg_buf_str(&corpus, " \u00e9\u00e9\u00e9\u00e9");
    gg_buf_str(&corpus, "\"}\n{\"_id\":\"other\",\"text\":\"common words\"}\n");
    folder_write(search_path(""), "odd.jsonl", corpus.data, corpus.len);
    gg_buf_free(&corpus);
    const char *path = search_path("odd.jsonl");
    (void)snprintf(dir, sizeof dir, "%s", search_path("odd"));
    const gg_index_plan plan = {.corpus = &path, .corpus_count = 1, .dir = dir};
    assert_int_equal(gg_index_build(&plan, &built, &error), GG_OK);
    (void)snprintf(text, sizeof text, "{\"index\":\"%s\"}", dir);
    play_open(&p, "search", text);
    play_start(&p, TASK(ANSWER));
    search_ask(&p, "bm25_search", "common needle");
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
    search_open(&p);
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
    search_open(&p);
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
    search_open(&p);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int ranking = 0; ranking < 2; ranking++) {
            gg_buf_init(&arguments, SEARCH_TEXT_ROOM);
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
    search_open(&p);
    for (unsigned n = 0; n < 1000; n++) {
        (void)snprintf(query, sizeof query, "%04u", n);
        for (size_t i = 4; i < GG_QUERY_MAX; i++)
            query[i] = i % 6 ? 'q' : ' ';
        query[GG_QUERY_MAX - 1] = 'q';
        query[GG_QUERY_MAX] = '\0';
        search_ask(&p, "bm25_search", query);
        assert_int_equal(p.result.status, GG_CALL_VALID);
        assert_true(play_fact(&p, "repeat") == 0);
    }
    play_close(&p);
}

/* ---- rankings ---- */

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
    play_open(&p, "search", search_settings(""));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        play_start(&p, TASK(ANSWER));
        play_call(&p, "submit_ranking", rows[i].arguments);
        assert_true(p.result.done && p.result.status == GG_CALL_VALID && !p.result.moved);
        assert_int_equal(p.result.outcome, rows[i].outcome);
        assert_string_equal(gg_buf_cstr(&p.text), "Ranking received; the search is over.");
        search_near(play_fact(&p, "ndcg"), rows[i].ndcg);
        search_near(p.game->api->measure(p.game->env, p.episode), rows[i].ndcg);
        play_call(&p, "bm25_search", "{\"query\":\"pivot\"}");
        assert_int_equal(p.result.status, GG_CALL_OVER);
        assert_string_equal(gg_buf_cstr(&p.text), "The search is over.");
    }
    play_close(&p);
    play_open(&p, "search", search_settings(",\"solved_at\":\"0.9\""));
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
    play_open(&p, "search", search_settings(""));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool taken = true;
        gg_error error = {0};
        play_start(&p, TASK(ANSWER));
        search_ask(&p, "bm25_search", "pivot bucket");
        gg_buf_reset(&p.text);
        gg_buf_reset(&p.facts);
        p.result = (gg_result){.text = &p.text, .facts = &p.facts};
        assert_int_equal(p.game->api->text(p.play, rows[i].text, &taken, &p.result, &error), GG_OK);
        if (taken != (rows[i].ndcg >= 0))
            fail_msg("row %zu: taken %d", i, taken);
        assert_int_equal(p.text.len > 0, taken);
        if (taken) {
            search_near(play_fact(&p, "ndcg"), rows[i].ndcg);
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
        gg_status status = gg_game_open("search", search_settings(rows[i].more), &game, &error);
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
    play_open(&p, "search", search_settings(",\"turns\":3,\"calls\":7,\"k\":2"));
    play_start(&p, TASK(ANSWER));
    assert_int_equal(p.game->info.max_turns, 3);
    assert_int_equal(p.game->info.max_calls, 7);
    assert_true(p.game->info.may_block);
    gg_buf_init(&out, SEARCH_TEXT_ROOM);
    assert_int_equal(p.game->api->system_prompt(p.play, &out, &error), GG_OK);
    assert_non_null(strstr(gg_buf_cstr(&out), "You have 3 replies and 7 tool calls"));
    gg_buf_reset(&out);
    assert_int_equal(p.game->api->opening(p.play, &out, &error), GG_OK);
    assert_string_equal(gg_buf_cstr(&out), "Question: What orders or maps things?");
    gg_buf_free(&out);
    search_ask(&p, "vector_search", "network");
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
    play_open(&p, "search", search_settings(""));
    gg_buf_init(&out, SEARCH_TEXT_ROOM);
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

/* ---- threads ---- */

#define THREADS 4

typedef struct player {
    pthread_t thread;
    const gg_game *game;
    int start;
    bool failed;
    gg_buf pages[THREADS];
} player;

/* Twice the same queries, from another one on, so that some are found kept and some are asked for
 * by two at once. */
static void *play_apart(void *context)
{
    static const char *const queries[THREADS] = {
        "{\"query\":\"pivot network\"}", "{\"query\":\"the thing\",\"k\":20}",
        "{\"query\":\"shared memory\"}", "{\"query\":\"bucket\"}"};
    player *me = context;
    gg_play *p = NULL;
    gg_buf text, facts;
    gg_error error = {0};
    gg_buf_init(&text, SEARCH_TEXT_ROOM);
    gg_buf_init(&facts, SEARCH_TEXT_ROOM);
    for (int round = 0; round < 2; round++) {
        me->failed |= me->game->api->start(me->game->env, TASK(ANSWER), 1, &p, &error) != GG_OK;
        for (int i = 0; i < THREADS && !me->failed; i++) {
            int n = (i + me->start) % THREADS;
            gg_result result = {.text = &text, .facts = &facts};
            gg_buf_reset(&text);
            gg_buf_reset(&facts);
            me->failed |= me->game->api->call(p, n % 2 ? "vector_search" : "bm25_search",
                                              queries[n], &result, &error) != GG_OK;
            gg_buf_reset(&me->pages[n]);
            gg_buf_add(&me->pages[n], text.data, text.len);
        }
        me->game->api->finish(p);
        p = NULL;
    }
    gg_buf_free(&text);
    gg_buf_free(&facts);
    return NULL;
}

static void many_threads_read_the_same(void **state)
{
    player players[THREADS];
    gg_game *game;
    gg_error error = {0};
    (void)state;
    assert_int_equal(gg_game_open("search", search_settings(""), &game, &error), GG_OK);
    for (int i = 0; i < THREADS; i++) {
        players[i] = (player){.game = game, .start = i};
        for (int n = 0; n < THREADS; n++)
            gg_buf_init(&players[i].pages[n], SEARCH_TEXT_ROOM);
        assert_int_equal(pthread_create(&players[i].thread, NULL, play_apart, &players[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(players[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_false(players[i].failed);
        for (int n = 0; n < THREADS; n++) {
            assert_true(players[i].pages[n].len > 0);
            assert_string_equal(gg_buf_cstr(&players[i].pages[n]),
                                gg_buf_cstr(&players[0].pages[n]));
        }
    }
    for (int i = 0; i < THREADS; i++)
        for (int n = 0; n < THREADS; n++)
            gg_buf_free(&players[i].pages[n]);
    gg_game_close(game);
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
    gg_buf_init(&text, SEARCH_TEXT_ROOM);
    gg_buf_init(&facts, SEARCH_TEXT_ROOM);
    gg_status status = gg_game_open("search", search_settings(""), &game, &error);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_as_players_read_them), cmocka_unit_test(long_and_odd_documents),
        cmocka_unit_test(repeats_are_told),           cmocka_unit_test(flawed_calls_are_told),
        cmocka_unit_test(huge_input_is_told),         cmocka_unit_test(a_thousand_searches),
        cmocka_unit_test(rankings_are_scored),        cmocka_unit_test(prose_that_lists_ids_counts),
        cmocka_unit_test(options_are_checked),        cmocka_unit_test(caps_are_the_options),
        cmocka_unit_test(bad_tasks_are_refused),      cmocka_unit_test(many_threads_read_the_same),
        cmocka_unit_test(memory_may_fail_anywhere),
    };
    return cmocka_run_group_tests(tests, search_make, search_drop);
}
