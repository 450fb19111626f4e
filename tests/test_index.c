/* The search index (env/search): building, going on, searching, judgments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "core/rng.h"
#include "env/search/embed.h"
#include "env/search/judged.h"
#include "tests/alloc.h"
#include "tests/corpus_make.h"

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

static gg_index *open_index(void)
{
    gg_index *index;
    gg_error error = {0};
    if (gg_index_open(folder_path(folder, "index"), &index, &error) != GG_OK)
        fail_msg("%s", error.text);
    return index;
}

static gg_status build(const char *corpus, const char *dir, gg_index_built *built, gg_error *error)
{
    const char *path = folder_path(folder, corpus);
    const gg_index_plan plan = {
        .corpus = &path, .corpus_count = 1, .dir = folder_path(folder, dir)};
    return gg_index_build(&plan, built, error);
}

/* Searching. */

static void search(gg_index *index, gg_search_kind kind, const char *query, gg_hit *hits,
                   size_t *count)
{
    gg_error error = {0};
    if (gg_index_search(index, kind, query, strlen(query), 5, hits, count, &error) != GG_OK)
        fail_msg("\"%s\": %s", query, error.text);
    for (size_t i = 1; i < *count; i++)
        assert_true(hits[i - 1].score >= hits[i].score);
}

static void words_find_their_documents(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        int words, vectors; /* number of the best document among the known ones; -1 = nothing,
                               -2 = whatever */
    } rows[] = {
        {"which algorithm uses a pivot?", 0, 0},
        {"COLLISION detection", 1, 1},
        {"semaphores", 2, 2},          /* full text by its stem, vectors by its trigrams */
        {"semaphroe recource", -1, 2}, /* misspelt words: trigrams alone */
        {"hash function bucket", 3, 3},
        {"caf\u00e9", 5, 5},
        {"bridged loops", 9, 9},
        {"NOT OR AND NEAR(pivot partitions) title: \"*", 0, 0}, /* no operators of FTS5 */
        {"\"\"''--;%_*^:()", -1, -1},
        {"\xff\xfe \xf0", -2, -2}, /* no UTF-8; must not fail */
        {"   ", -1, -1},
        {"zzzzzzzzzz", -1, -2},
    };
    gg_index *index = open_index();
    assert_int_equal(gg_index_documents(index), CORPUS_DOCUMENTS);
    /* The second time from what was kept. */
    for (size_t i = 0; i < 2 * (sizeof rows / sizeof *rows); i++) {
        size_t r = i % (sizeof rows / sizeof *rows), count;
        gg_hit hits[5];
        search(index, GG_SEARCH_WORDS, rows[r].query, hits, &count);
        if (rows[r].words >= -1 && (count ? hits[0].row - 1 : -1) != rows[r].words)
            fail_msg("\"%s\": full text finds row %d", rows[r].query, count ? (int)hits[0].row : 0);
        search(index, GG_SEARCH_VECTORS, rows[r].query, hits, &count);
        if (rows[r].vectors >= -1 && (count ? hits[0].row - 1 : -1) != rows[r].vectors)
            fail_msg("\"%s\": vectors find row %d", rows[r].query, count ? (int)hits[0].row : 0);
    }
    gg_index_close(index);
}

/* Common words are left out while rarer ones are there, and searched for alone. */
static void common_words(void **state)
{
    (void)state;
    gg_index *index = open_index();
    gg_hit hits[5];
    size_t count;
    search(index, GG_SEARCH_WORDS, "the thing pivot", hits, &count);
    assert_int_equal(count, 1);
    search(index, GG_SEARCH_WORDS, "the thing", hits, &count);
    assert_int_equal(count, 5);
    gg_index_close(index);
}

/* The scores are those of FTS5's own bm25(), to the last bit, with rows whose length is known and
 * those whose is not. */
static void scores_are_those_of_fts5(void **state)
{
    (void)state;
    enum { K = 20, ROUNDS = 40 };
    static const char *const words[] = {"a",     "the",    "thing", "of",       "network",
                                        "sort*", "pivot",  "maps",  "\"to a\"", "machine",
                                        "that",  "nobody", "title", "variable", "and"};
    const uint64_t seed = 9;
    const char *path = folder_path(folder, "index/documents.db");
    gg_docstore *store;
    gg_rng rng;
    gg_error error = {0};
    sqlite3 *db;
    sqlite3_stmt *s;
    gg_rng_seed(&rng, seed);
    assert_int_equal(gg_docstore_open(path, &store, &error), GG_OK);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT rowid, bm25(words) FROM words WHERE words MATCH ?1 "
                                        "ORDER BY 2, 1 LIMIT 20",
                                        -1, &s, NULL),
                     SQLITE_OK);
    for (int round = 0; round < ROUNDS; round++) {
        char query[256] = "";
        size_t len = 0, count;
        gg_hit hits[K];
        for (uint64_t n = 1 + gg_rng_below(&rng, 8); n > 0; n--)
            len += (size_t)snprintf(query + len, sizeof query - len, "%s%s", len ? " OR " : "",
                                    words[gg_rng_below(&rng, sizeof words / sizeof *words)]);
        if (gg_docstore_match(store, query, K, hits, &count, &error) != GG_OK)
            fail_msg("%s: %s", query, error.text);
        sqlite3_bind_text(s, 1, query, -1, SQLITE_STATIC);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(sqlite3_step(s), SQLITE_ROW);
            if (hits[i].row != sqlite3_column_int64(s, 0) ||
                hits[i].score != -sqlite3_column_double(s, 1))
                fail_msg("seed %d, \"%s\", place %zu", (int)seed, query, i);
        }
        assert_true(count == K || sqlite3_step(s) == SQLITE_DONE);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    sqlite3_close(db);
    gg_docstore_close(store);
}

static void documents_come_back(void **state)
{
    (void)state;
    gg_index *index = open_index();
    gg_document d;
    gg_error error = {0};
    int64_t row;
    gg_document_init(&d);
    assert_int_equal(gg_index_find(index, "a05", 3, &row, &error), GG_OK);
    assert_int_equal(row, 6);
    assert_int_equal(gg_index_read(index, row, &d, &error), GG_OK);
    assert_string_equal(gg_buf_cstr(&d.id), "a05");
    assert_string_equal(gg_buf_cstr(&d.title), "Caf\u00e9 bench");
    assert_string_equal(gg_buf_cstr(&d.text), "A \"quoted\" title, a back\\slash and a tab\there.");
    assert_int_equal(gg_index_find(index, "a0", 2, &row, &error), GG_OK);
    assert_int_equal(row, 0);
    assert_int_equal(gg_index_read(index, 100000, &d, &error), GG_E_FORMAT);
    gg_document_free(&d);
    gg_index_close(index);
}

/* The scan against a plain loop over the file's own numbers. */
static void nearest_rows(void **state)
{
    (void)state;
    enum { ROWS = 500, DIMS = 48, K = 7 };
    static float rows[ROWS][DIMS], query[DIMS];
    gg_rng rng;
    gg_vectors v;
    gg_error error = {0};
    const uint64_t seed = 5;
    gg_rng_seed(&rng, seed);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < DIMS; j++)
            rows[i][j] = (float)gg_rng_normal(&rng);
    memcpy(rows[400], rows[3], sizeof rows[3]); /* a tie */
    folder_write(folder, "rows.bin", (const char *)rows, sizeof rows);
    const char *path = folder_path(folder, "rows.bin");
    assert_int_equal(gg_vectors_open(path, ROWS + 1, DIMS, &v, &error), GG_E_FORMAT);
    assert_int_equal(gg_vectors_open(path, ROWS, DIMS, &v, &error), GG_OK);
    for (int round = 0; round < 50; round++) {
        gg_hit hits[K];
        for (size_t j = 0; j < DIMS; j++)
            query[j] = round ? (float)gg_rng_normal(&rng) : rows[3][j];
        size_t count = gg_vectors_nearest(&v, query, K, hits);
        assert_int_equal(count, K);
        for (size_t h = 0; h < K; h++) {
            double sum = 0;
            size_t better = 0;
            for (size_t j = 0; j < DIMS; j++)
                sum += (double)rows[hits[h].row - 1][j] * query[j];
            for (size_t i = 0; i < ROWS; i++) {
                double other = 0;
                for (size_t j = 0; j < DIMS; j++)
                    other += (double)rows[i][j] * query[j];
                better += other > sum + 1e-4;
            }
            if (better > h || hits[h].score > sum + 1e-4 || hits[h].score < sum - 1e-4)
                fail_msg("seed %llu, round %d, place %zu: %zu rows are better",
                         (unsigned long long)seed, round, h, better);
        }
        if (round == 0) {
            assert_int_equal(hits[0].row, 4);
            assert_int_equal(hits[1].row, 401);
        }
    }
    gg_vectors_close(&v);
}

static void vectors_have_length_one(void **state)
{
    (void)state;
    size_t len;
    char *bytes = folder_read(folder_path(folder, "index"), "vectors.bin", &len);
    assert_int_equal(len, CORPUS_DOCUMENTS * GG_EMBED_DIMS * sizeof(float));
    for (size_t i = 0; i < CORPUS_DOCUMENTS; i++) {
        double square = 0;
        for (size_t j = 0; j < GG_EMBED_DIMS; j++) {
            float x;
            memcpy(&x, bytes + (i * GG_EMBED_DIMS + j) * sizeof x, sizeof x);
            square += (double)x * x;
        }
        assert_true(square > 1 - 1e-5 && square < 1 + 1e-5);
    }
    free(bytes);
}

/* Building. */

/* A kill leaves an unfinished index.json, some documents and a torn row. */
static void goes_on_where_it_was(void **state)
{
    (void)state;
    gg_index_built built;
    gg_error error = {0};
    gg_docstore_writer *writer;
    gg_document d;
    size_t len, count;
    assert_int_equal(build("corpus.jsonl", "whole", &built, &error), GG_OK);
    assert_int_equal(built.kept, 0);
    assert_int_equal(build("corpus.jsonl", "whole", &built, &error), GG_OK);
    assert_true(built.had_all);
    char *vectors = folder_read(folder_path(folder, "whole"), "vectors.bin", &len);
    size_t vectors_len = len;

    gg_document_init(&d);
    gg_buf_str(&d.id, "a00");
    gg_buf_str(&d.title, "Quicksort");
    gg_buf_str(&d.text, "A sorting algorithm that picks a pivot and partitions around it.");
    char command[2 * FOLDER_PATH + 200];
    (void)snprintf(command, sizeof command,
                   "mkdir %s && sed 's/\"finished\":true/\"finished\":false/' %s/index.json > "
                   "%s/index.json",
                   folder_path(folder, "torn"), folder_path(folder, "whole"),
                   folder_path(folder, "torn"));
    assert_int_equal(system(command), 0);
    assert_int_equal(
        gg_docstore_write_open(folder_path(folder, "torn/documents.db"), &writer, &count, &error),
        GG_OK);
    assert_int_equal(count, 0);
    assert_int_equal(gg_docstore_add(writer, &d, &error), GG_OK);
    assert_int_equal(gg_docstore_commit(writer, &error), GG_OK);
    gg_buf_reset(&d.id);
    gg_buf_str(&d.id, "lost"); /* never committed */
    assert_int_equal(gg_docstore_add(writer, &d, &error), GG_OK);
    gg_docstore_write_close(writer);
    gg_document_free(&d);
    folder_write(folder_path(folder, "torn"), "vectors.bin", vectors,
                 3 * GG_EMBED_DIMS * sizeof(float) + 17);

    gg_index *index;
    assert_int_equal(gg_index_open(folder_path(folder, "torn"), &index, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "not finished"));
    assert_int_equal(build("corpus.jsonl", "torn", &built, &error), GG_OK);
    assert_int_equal(built.kept, 1);
    char *again = folder_read(folder_path(folder, "torn"), "vectors.bin", &len);
    assert_int_equal(len, vectors_len);
    assert_memory_equal(again, vectors, len);
    assert_int_equal(gg_index_open(folder_path(folder, "torn"), &index, &error), GG_OK);
    int64_t row;
    assert_int_equal(gg_index_find(index, "a09", 3, &row, &error), GG_OK);
    assert_int_equal(row, 10);
    assert_int_equal(gg_index_find(index, "lost", 4, &row, &error), GG_OK);
    assert_int_equal(row, 0);
    gg_index_close(index);
    free(again);
    free(vectors);
}

static void another_corpus_is_refused(void **state)
{
    (void)state;
    gg_index_built built;
    gg_error error = {0};
    const char other[] = "{\"_id\":\"a\",\"text\":\"other\"}\n";
    folder_write(folder, "other.jsonl", other, sizeof other - 1);
    assert_int_equal(build("other.jsonl", "index", &built, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "another corpus"));
    gg_index_close(open_index());
}

static void bad_corpora(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "holds no documents"},
        {"\n \n", "holds no documents"},
        {"{\"_id\":\"a\",\"text\":\"x\"}\n{\"_id\":\"a\",\"text\":\"y\"}\n",
         ":2: the _id a stands twice"},
        {"{\"_id\":\"a\",\"text\":\"x\"}\nnot json\n", ":2: not a document"},
        {"{\"text\":\"x\"}\n", ":1: not a document"},
        {"{\"_id\":\"a\"}\n", ":1: not a document"},
        {"{\"_id\":[1],\"text\":\"x\"}\n", ":1: not a document"},
        {"{\"_id\":\"a\",\"text\":\"x\"} more\n", ":1: not a document"},
        {"{\"_id\":\"a|b\",\"text\":\"x\"}\n", ":1: a document's _id holds a bar"},
        {"{\"_id\":\"a\\nb\",\"text\":\"x\"}\n", ":1: a document's _id holds"},
        {"{\"_id\":\" a\",\"text\":\"x\"}\n", ":1: a document's _id holds"},
        {"{\"_id\":\"a \",\"text\":\"x\"}\n", ":1: a document's _id holds"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_index_built built;
        gg_error error = {0};
        char dir[16];
        (void)snprintf(dir, sizeof dir, "bad%zu", i);
        folder_write(folder, "bad.jsonl", rows[i].text, strlen(rows[i].text));
        gg_status status = build("bad.jsonl", dir, &built, &error);
        if (status == GG_OK || !strstr(error.text, rows[i].says))
            fail_msg("row %zu: %s", i, error.text);
    }
}

/* Numbers as ids, null titles, blank lines, CRLF, no newline at the end. */
static void odd_corpora(void **state)
{
    (void)state;
    gg_index_built built;
    gg_error error = {0};
    gg_index *index;
    int64_t row;
    const char text[] = "\n{\"_id\":17,\"title\":null,\"text\":\"seventeen\"}\r\n\r\n"
                        "{\"extra\":{\"a\":[1]},\"text\":\"no title\",\"_id\":\"b c\"}";
    folder_write(folder, "odd.jsonl", text, sizeof text - 1);
    if (build("odd.jsonl", "odd", &built, &error) != GG_OK)
        fail_msg("%s", error.text);
    assert_int_equal(built.documents, 2);
    assert_int_equal(gg_index_open(folder_path(folder, "odd"), &index, &error), GG_OK);
    assert_int_equal(gg_index_find(index, "17", 2, &row, &error), GG_OK);
    assert_int_equal(row, 1);
    assert_int_equal(gg_index_find(index, "b c", 3, &row, &error), GG_OK);
    assert_int_equal(row, 2);
    gg_index_close(index);
}

/* Judgments. */

static gg_status rows_of(const char *questions, const char *qrels, gg_buf *rows, gg_judged *out,
                         gg_error *error)
{
    gg_questions *q;
    gg_index *index = open_index();
    folder_write(folder, "q.jsonl", questions, strlen(questions));
    folder_write(folder, "r.tsv", qrels, strlen(qrels));
    gg_buf_reset(rows);
    gg_status status = gg_questions_read(folder_path(folder, "q.jsonl"), &q, error);
    if (status == GG_OK) {
        status = gg_judged_rows(q, folder_path(folder, "r.tsv"), index, rows, out, error);
        gg_questions_free(q);
    }
    gg_index_close(index);
    return status;
}

#define QUESTIONS                                                                                  \
    "{\"_id\":\"q2\",\"text\":\"two?\",\"metadata\":{\"kind\":\"single\"}}\n"                      \
    "{\"_id\":\"q1\",\"text\":\"say \\\"one\\\"\"}\n"

static void judgments_become_tasks(void **state)
{
    (void)state;
    static const struct {
        const char *questions, *qrels, *rows;
        gg_judged judged;
    } rows[] = {
        /* BEIR: questions in the order of the judgments, a document judged again the same way */
        {QUESTIONS,
         "query-id\tcorpus-id\tscore\nq1\ta01\t1\nq2\ta00\t2\nq1\ta02\t0\nq1\ta01\t1\n",
         "{\"id\":\"q1\",\"prompt\":\"{\\\"id\\\":\\\"q1\\\",\\\"prompt\\\":\\\"say "
         "\\\\\\\"one\\\\\\\"\\\",\\\"answer\\\":[{\\\"id\\\":\\\"a01\\\",\\\"grade\\\":1},{"
         "\\\"id\\\":\\\"a02\\\",\\\"grade\\\":0}]}\"}\n"
         "{\"id\":\"q2\",\"prompt\":\"{\\\"id\\\":\\\"q2\\\",\\\"prompt\\\":\\\"two?\\\","
         "\\\"answer\\\":[{\\\"id\\\":\\\"a00\\\",\\\"grade\\\":2}],\\\"kind\\\":\\\"single\\\"}\"}"
         "\n",
         {.tasks = 2, .judgments = 3}},
        /* TREC: blanks, no head line, a document that is not there, a hopeless question, CRLF */
        {"1\twhat?\r\n2\twhy?\r\n",
         "1 0 a03 1\r\n1  Q0  gone  3\r\n2 0 a04 0\r\n",
         "{\"id\":\"1\",\"prompt\":\"{\\\"id\\\":\\\"1\\\",\\\"prompt\\\":\\\"what?\\\","
         "\\\"answer\\\":[{\\\"id\\\":\\\"a03\\\",\\\"grade\\\":1},{\\\"id\\\":\\\"gone\\\","
         "\\\"grade\\\":3}]}\"}\n",
         {.tasks = 1, .judgments = 3, .missing = 1, .hopeless = 1}},
    };
    gg_buf out;
    gg_buf_init(&out, 1u << 20);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_judged judged;
        gg_error error = {0};
        if (rows_of(rows[i].questions, rows[i].qrels, &out, &judged, &error) != GG_OK)
            fail_msg("row %zu: %s", i, error.text);
        assert_string_equal(gg_buf_cstr(&out), rows[i].rows);
        assert_memory_equal(&judged, &rows[i].judged, sizeof judged);
    }
    gg_buf_free(&out);
}

static void bad_judgments(void **state)
{
    (void)state;
    static const struct {
        const char *questions, *qrels, *says;
    } rows[] = {
        {"", "q1\ta\t1\n", "holds no questions"},
        {"{\"_id\":\"a\"}\n", "a\tb\t1\n", "q.jsonl:1: not a question"},
        {"alone\n", "a\tb\t1\n", "q.jsonl:1: not a question"},
        {"a\tx\na\ty\n", "a\tb\t1\n", "the question a stands twice"},
        {QUESTIONS, "", "holds no judgments"},
        {QUESTIONS, "head\tline\tscore\nq9\ta00\t1\n", "r.tsv:2: the question q9 is not in"},
        {QUESTIONS, "q1\ta00\t1\nq1\ta00\n", "r.tsv:2: not a judgment"},
        {QUESTIONS, "q1\ta00\t1\nq1\ta01\tmuch\n", "r.tsv:2: not a judgment"},
        {QUESTIONS, "q1\ta00\t1\nq1\ta01\t0.5\n", "r.tsv:2: not a judgment"},
        {QUESTIONS, "q1\ta00\t1\nq1\ta01\t99999999999\n", "r.tsv:2: not a judgment"},
        {QUESTIONS, "q1\ta00\t1\nq1\ta00\t2\n", "a00 has two grades"},
    };
    gg_buf out;
    gg_buf_init(&out, 1u << 20);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_judged judged;
        gg_error error = {0};
        gg_status status = rows_of(rows[i].questions, rows[i].qrels, &out, &judged, &error);
        if (status == GG_OK || !strstr(error.text, rows[i].says))
            fail_msg("row %zu: %s", i, error.text);
    }
    gg_buf_free(&out);
}

/* Short memory. */

static gg_status once(void *context)
{
    (void)context;
    gg_index *index;
    gg_questions *q;
    gg_hit hits[5];
    gg_judged judged;
    gg_buf rows;
    size_t count;
    gg_error error = {0};
    gg_buf_init(&rows, 1u << 20);
    gg_status status = gg_questions_read(folder_path(folder, "q.jsonl"), &q, &error);
    if (status != GG_OK)
        return status;
    status = gg_index_open(folder_path(folder, "index"), &index, &error);
    if (status == GG_OK)
        status = gg_index_search(index, GG_SEARCH_WORDS, "pivot", 5, 5, hits, &count, &error);
    if (status == GG_OK)
        status = gg_index_search(index, GG_SEARCH_VECTORS, "pivot", 5, 5, hits, &count, &error);
    if (status == GG_OK)
        status = gg_judged_rows(q, folder_path(folder, "r.tsv"), index, &rows, &judged, &error);
    gg_index_close(index);
    gg_questions_free(q);
    gg_buf_free(&rows);
    return status;
}

static void short_memory(void **state)
{
    (void)state;
    folder_write(folder, "q.jsonl", QUESTIONS, strlen(QUESTIONS));
    folder_write(folder, "r.tsv", "q1\ta00\t1\n", 9);
    assert_true(alloc_each_fails(once, NULL) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_find_their_documents),
        cmocka_unit_test(common_words),
        cmocka_unit_test(scores_are_those_of_fts5),
        cmocka_unit_test(documents_come_back),
        cmocka_unit_test(nearest_rows),
        cmocka_unit_test(vectors_have_length_one),
        cmocka_unit_test(goes_on_where_it_was),
        cmocka_unit_test(another_corpus_is_refused),
        cmocka_unit_test(bad_corpora),
        cmocka_unit_test(odd_corpora),
        cmocka_unit_test(judgments_become_tasks),
        cmocka_unit_test(bad_judgments),
        cmocka_unit_test(short_memory),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
