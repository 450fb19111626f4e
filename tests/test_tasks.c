/* Datasets (agent/tasks.h), with a game whose tasks are numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/tasks.h"
#include "core/digest.h"
#include "tests/alloc.h"
#include "tests/counter.h"

static char folder[] = "/tmp/guessgym-tasks-XXXXXX";
static char path[64], other[64];
static gg_env env;
static gg_game game;

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/rows", folder);
    snprintf(other, sizeof other, "%s/held-out", folder);
    game = counter_game(&env);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    unlink(other);
    return rmdir(folder);
}

static void write_file(const char *name, const char *text, size_t len)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static void hex(const char *text, char out[GG_DIGEST_HEX])
{
    gg_sha256_hex(text, strlen(text), out);
}

static void plain_list(void **state)
{
    gg_tasks tasks;
    gg_error error;
    char want[GG_DIGEST_HEX];
    (void)state;
    write_file(path, "12\n7", 4);
    assert_int_equal(gg_tasks_load(&game, path, &tasks, &error), GG_OK);
    assert_int_equal(tasks.count, 2);
    assert_string_equal(tasks.items[0].prompt, "12");
    assert_string_equal(tasks.items[1].id, "1");
    hex("12", want);
    assert_string_equal(tasks.items[0].digest, want);
    assert_string_equal(tasks.items[0].key, want);
    /* Identity: SHA-256 of the sorted keys, one a line. */
    char keys[2][GG_DIGEST_HEX], lines[2 * GG_DIGEST_HEX + 2];
    hex("12", keys[0]);
    hex("7", keys[1]);
    bool swap = strcmp(keys[0], keys[1]) > 0;
    snprintf(lines, sizeof lines, "%s\n%s\n", keys[swap], keys[!swap]);
    hex(lines, want);
    assert_string_equal(tasks.identity, want);
    gg_tasks_free(&tasks);
}

static void first_rows(void **state)
{
    gg_tasks tasks, fewer;
    gg_error error;
    (void)state;
    write_file(path, "12\n7\n9\n", 7);
    write_file(other, "12\n7\n", 5);
    assert_int_equal(gg_tasks_load(&game, path, &tasks, &error), GG_OK);
    assert_int_equal(gg_tasks_load(&game, other, &fewer, &error), GG_OK);
    assert_int_equal(gg_tasks_keep(&tasks, 5, &error), GG_OK);
    assert_int_equal(tasks.count, 3);
    assert_string_not_equal(tasks.identity, fewer.identity);
    assert_int_equal(gg_tasks_keep(&tasks, 2, &error), GG_OK);
    assert_int_equal(tasks.count, 2);
    assert_string_equal(tasks.identity, fewer.identity);
    gg_tasks_free(&tasks);
    gg_tasks_free(&fewer);
}

static void json_lines(void **state)
{
    static const char text[] = "{\"prompt\":\"12\",\"id\":\"row-a\"}\r\n{\"prompt\": \"7\"}\n"
                               "{\"id\":40,\"prompt\":\"9\"}\n";
    gg_tasks tasks;
    gg_error error;
    char want[GG_DIGEST_HEX];
    (void)state;
    write_file(path, text, sizeof text - 1);
    assert_int_equal(gg_tasks_load(&game, path, &tasks, &error), GG_OK);
    assert_int_equal(tasks.count, 3);
    assert_string_equal(tasks.items[0].id, "row-a");
    assert_string_equal(tasks.items[1].id, "1");
    assert_string_equal(tasks.items[2].id, "40");
    assert_string_equal(tasks.items[1].prompt, "7");
    hex("{\"prompt\": \"7\"}", want);
    assert_string_equal(tasks.items[1].digest, want);
    hex("7", want);
    assert_string_equal(tasks.items[1].key, want);
    gg_tasks_free(&tasks);
}

static void refused(void **state)
{
    static const struct {
        const char *text;
        size_t len; /* 0 = strlen */
        const char *want, *why;
    } rows[] = {
        {"", 0, "is empty", "nothing in it"},
        {"12\n\n7\n", 0, "line 2: the line is empty", "an empty line"},
        {"12\r\n7\r\n", 0, "line 1: the line ends in CR LF", "from Windows"},
        {"\xef\xbb\xbf"
         "12\n",
         0, "byte order mark", "from Windows too"},
        {"12\nabc\n", 0, "line 2: \"abc\" is not a number", "no task"},
        {"12\n7\n12\n", 0, "line 3: the same task as line 1", "twice"},
        {"1\0002\n", 4, "line 1: a NUL byte", "binary"},
        {"{\"prompt\":\"12\"}\n{\"prompt\":\"012\"}\n", 0, "line 2: the same task as line 1",
         "one identity, written in two ways"},
        {"{\"prompt\":\"12\"}\n{\"prompt\":5}\n", 0, "line 2: the row has no \"prompt\" string",
         "a number"},
        {"{\"prompt\":\"12\"}\n{\"question\":\"7\"}\n", 0, "line 2: the row has no",
         "another column"},
        {"{\"prompt\":\"12\"}\n7\n", 0, "line 2: not a JSON object", "mixed"},
        {"{\"prompt\":\"12\"}\n{\"prompt\":\"7\"\n", 0, "line 2: not a JSON object", "cut"},
        {"{\"prompt\":\"500\"}\n", 0, "line 1: \"500\" is not a number", "no task in a row"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_tasks tasks;
        gg_error error = {0};
        write_file(path, rows[i].text, rows[i].len ? rows[i].len : strlen(rows[i].text));
        gg_status status = gg_tasks_load(&game, path, &tasks, &error);
        if (status != GG_E_CONFIG || !strstr(error.text, rows[i].want) || !strstr(error.text, path))
            fail_msg("%s: %d %s", rows[i].why, status, error.text);
        assert_null(tasks.items);
    }
    gg_tasks tasks;
    gg_error error;
    assert_int_equal(gg_tasks_load(&game, "/nowhere/rows", &tasks, &error), GG_E_IO);
    assert_non_null(strstr(error.text, "/nowhere/rows"));
}

static void disjoint(void **state)
{
    static const struct {
        const char *rows, *held_out, *want;
    } table[] = {
        {"1\n2\n3\n", "4\n5\n", NULL},
        {"1\n2\n3\n", "9\n8\n3\n", "line 3 is also in the held-out list"},
        {"{\"prompt\":\"5\"}\n", "1\n05\n", "held-out line 2"}, /* by identity, not by text */
        {"7\n", "7\n", "line 1 is also"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        gg_tasks rows, held_out;
        gg_error error = {0};
        write_file(path, table[i].rows, strlen(table[i].rows));
        write_file(other, table[i].held_out, strlen(table[i].held_out));
        assert_int_equal(gg_tasks_load(&game, path, &rows, &error), GG_OK);
        assert_int_equal(gg_tasks_load(&game, other, &held_out, &error), GG_OK);
        gg_status status = gg_tasks_disjoint(&rows, &held_out, &error);
        assert_int_equal(status, table[i].want ? GG_E_CONFIG : GG_OK);
        if (table[i].want && !strstr(error.text, table[i].want))
            fail_msg("%s", error.text);
        gg_tasks_free(&rows);
        gg_tasks_free(&held_out);
    }
}

static gg_status load(void *context)
{
    gg_tasks tasks, again;
    gg_error error;
    gg_status status = gg_tasks_load(&game, path, &tasks, &error);
    (void)context;
    if (status != GG_OK)
        return status;
    again = (gg_tasks){.path = tasks.path};
    status = gg_tasks_disjoint(&again, &tasks, &error);
    gg_tasks_free(&tasks);
    return status;
}

static void memory_failures(void **state)
{
    (void)state;
    write_file(path, "{\"prompt\":\"1\"}\n{\"prompt\":\"2\"}\n", 30);
    assert_true(alloc_each_fails(load, NULL) > 8);
    write_file(path, "1\n2\n", 4);
    assert_true(alloc_each_fails(load, NULL) > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_list), cmocka_unit_test(first_rows),
        cmocka_unit_test(json_lines), cmocka_unit_test(refused),
        cmocka_unit_test(disjoint),   cmocka_unit_test(memory_failures),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
