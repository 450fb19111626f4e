/* Data sets of jobs: formats, columns, and what is refused, with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/file.h"
#include "service/job_data.h"
#include "tests/folder.h"

typedef struct row {
    const char *name, *text;
    const char *want; /* prompts, '|' between; NULL = refused */
    const char *part; /* of the refusal */
} row;

static void join(const gg_rows *rows, char *out, size_t room)
{
    size_t at = 0;
    *out = '\0';
    for (size_t i = 0; i < rows->count && at < room; i++)
        at += (size_t)snprintf(out + at, room - at, "%s%s", i ? "|" : "", rows->prompts[i]);
}

static void check(const row *r)
{
    gg_rows rows = {0};
    gg_error error = {0};
    char have[256];
    gg_status status = gg_rows_parse(r->name, r->text, strlen(r->text), &rows, &error);
    join(&rows, have, sizeof have);
    if (r->want ? status != GG_OK || strcmp(have, r->want) != 0
                : status != GG_E_CONFIG || !strstr(error.text, r->part))
        fail_msg("%s %s: got %d \"%s\" (%s)", r->name, r->text, status, have, error.text);
    gg_rows_free(&rows);
}

static void formats(void **state)
{
    (void)state;
    static const row rows[] = {
        {"a.jsonl", "{\"prompt\":\"x\"}\n{\"prompt\":\"y\"}\n", "x|y", NULL},
        {"a.jsonl", "{\"prompt\":\"x\"}", "x", NULL},
        {"a.JSONL", "\xEF\xBB\xBF{\"prompt\":\"x\"}\r\n\r\n{\"prompt\":\"y\"}\r\n", "x|y", NULL},
        {"a.jsonl", "{\"id\":1,\"prompt\":\"x\"}\n{\"prompt\":\"y\",\"id\":2}", "x|y", NULL},
        {"a.jsonl", "{\"question\":\"x\",\"id\":1}\n{\"id\":2,\"question\":\"y\"}", "x|y", NULL},
        {"a.jsonl", "{\"prompt\":{\"a\":[1, 2]}}\n{\"prompt\":7}", "{\"a\":[1, 2]}|7", NULL},
        {"a.jsonl", "{\"prompt\":\"\\u00e9 \\\"q\\\"\"}", "\xC3\xA9 \"q\"", NULL},
        {"a.jsonl", "{\"prompt\":\"x\"}\n{\"prompt\":\"x\"}", "x|x", NULL},
        {"a.json", "[{\"prompt\":\"x\"},\n {\"prompt\":\"y\"}]\n", "x|y", NULL},
        {"a.json", "[]", "", NULL},
        {"a.csv", "id,prompt\n1,x\n2,\"y, z\"\n", "x|y, z", NULL},
        {"a.csv", "prompt\r\nx\r\n\r\n\"a\"\"b\"\r\n", "x|a\"b", NULL},
        {"a.csv", "prompt,n\n\"two\nlines\",1\nx,2", "two\nlines|x", NULL},
        {"a.csv", "question,n\nx,1\n", "x", NULL},
        {"a.csv", "\xEF\xBB\xBFprompt\nx", "x", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
}

static void refusals(void **state)
{
    (void)state;
    static const row rows[] = {
        {"a.jsonl", "{\"prompt\":\"x\"}\n{\"other\":\"y\"}", NULL,
         "a.jsonl, line 2: the row has no column \"prompt\""},
        {"a.jsonl", "{\"prompt\":\"\"}", NULL, "line 1: the prompt is empty"},
        {"a.jsonl", "{\"prompt\":\" \\n\"}", NULL, "line 1: the prompt is empty"},
        {"a.jsonl", "{\"prompt\":null}", NULL, "line 1: the prompt is null"},
        {"a.jsonl", "{}", NULL, "line 1: the row has no column"},
        {"a.jsonl", "\n\n[1]", NULL, "line 3: a row must be a JSON object"},
        {"a.jsonl", "{\"prompt\":\"x\"", NULL, "line 1: this is no JSON object"},
        {"a.jsonl", "{\"prompt\":\"x\"} {", NULL, "line 1: something follows"},
        {"a.jsonl", "{\"prompt\":\"x\"}\n{\"prompt\":\"\xFF\"}", NULL, "line 2: invalid UTF-8"},
        {"a.jsonl", "{\"prompt\":\"\xED\xA0\x80\"}", NULL, "line 1: invalid UTF-8"},
        {"a.jsonl", "{\"prompt\":\"\xC0\x80\"}", NULL, "line 1: invalid UTF-8"},
        {"a.json", "{\"prompt\":\"x\"}", NULL, "one array of objects"},
        {"a.json", "[{\"prompt\":\"x\"},\n\n{\"p\":1}]", NULL, "line 3: the row has no column"},
        {"a.json", "[{\"prompt\":\"x\"}", NULL, "broken off"},
        {"a.json", "[{\"prompt\":\"x\"}] 1", NULL, "something follows"},
        {"a.csv", "id,prompt\n1\n", NULL, "line 2: 1 fields where the header has 2"},
        {"a.csv", "id,prompt\n1,\n", NULL, "line 2: the prompt is empty"},
        {"a.csv", "prompt\n\"x", NULL, "line 2: a quoted field does not end"},
        {"a.parquet", "PAR1", NULL, "parquet cannot be read here; convert it"},
        {"a.txt", "x", NULL, "a.txt is none of .jsonl, .json, .csv"},
        {".jsonl", "x", NULL, "is none of"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
}

static void a_row_of_100_megabytes(void **state)
{
    (void)state;
    static const char head[] = "{\"prompt\":\"x\"}\n{\"prompt\":\"", tail[] = "\"}\n";
    size_t len = 100u << 20, total = sizeof head - 1 + len + sizeof tail - 1;
    static const char *const names[] = {"big.jsonl", "big.csv"};
    char *text = malloc(total);
    assert_non_null(text);
    memcpy(text, head, sizeof head - 1);
    memset(text + sizeof head - 1, 'a', len);
    memcpy(text + sizeof head - 1 + len, tail, sizeof tail - 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        gg_rows rows = {0};
        gg_error error = {0};
        assert_int_equal(gg_rows_parse(names[i], text, total, &rows, &error), GG_E_CONFIG);
        if (!strstr(error.text, "line 2: a row of") || !strstr(error.text, "at most 16777216"))
            fail_msg("%s", error.text);
        gg_rows_free(&rows);
    }
    free(text);
}

static void nul_bytes(void **state)
{
    (void)state;
    static const char text[] = "{\"prompt\":\"a\0b\"}";
    gg_rows rows = {0};
    gg_error error = {0};
    assert_int_equal(gg_rows_parse("a.jsonl", text, sizeof text - 1, &rows, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "line 1: a NUL byte"));
    gg_rows_free(&rows);
}

static void channels(void **state)
{
    (void)state;
    char folder[FOLDER_PATH];
    gg_store *store;
    gg_error error = {0};
    gg_rows rows;
    char have[256];
    folder_make(folder);
    assert_int_equal(gg_dir_make(folder_path(folder, "data/set"), &error), GG_OK);
    folder_write(folder, "data/set/b.csv", "prompt\nz\nx\n", 11);
    folder_write(folder, "data/set/a.jsonl", "{\"prompt\":\"x\"}\n{\"prompt\":\"y\"}\n", 30);
    folder_write(folder, "data/set/_SUCCESS", "", 0);
    folder_write(folder, "data/empty.jsonl", "\n", 1);
    const gg_store_options options = {.root = folder};
    assert_int_equal(gg_store_open(&options, &store, &error), GG_OK);
    static const struct {
        const char *uri, *want, *part;
        size_t duplicates;
    } table[] = {
        {"s3://data/set", "x|y|z|x", NULL, 1},
        {"s3://data/set/", "x|y|z|x", NULL, 1},
        {"s3://data/set/b.csv", "z|x", NULL, 0},
        {"s3://data/none", NULL, "there is no data at s3://data/none", 0},
        {"s3://data/empty.jsonl", NULL, "has no rows", 0},
        {"s3://data/../set", NULL, "part . or ..", 0},
        {"http://data/set", NULL, "neither s3://", 0},
        {"file://data/set", NULL, "neither s3://", 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        gg_status status = gg_rows_load(store, table[i].uri, &rows, &error);
        if (table[i].want) {
            assert_int_equal(status, GG_OK);
            join(&rows, have, sizeof have);
            assert_string_equal(have, table[i].want);
            assert_int_equal(rows.duplicates, table[i].duplicates);
        } else if (status == GG_OK || !strstr(error.text, table[i].part)) {
            fail_msg("%s: %d %s", table[i].uri, status, error.text);
        }
        gg_rows_free(&rows);
    }
    char uri[FOLDER_PATH + 64];
    snprintf(uri, sizeof uri, "file://%s/data/set/a.jsonl", folder);
    assert_int_equal(gg_rows_load(store, uri, &rows, &error), GG_OK);
    assert_int_equal(rows.count, 2);
    gg_rows_free(&rows);
    gg_store_close(store);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats),
        cmocka_unit_test(refusals),
        cmocka_unit_test(a_row_of_100_megabytes),
        cmocka_unit_test(nul_bytes),
        cmocka_unit_test(channels),
    };
    return cmocka_run_group_tests_name("job_data", tests, NULL, NULL);
}
