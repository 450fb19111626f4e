/* The run folder: lock, torn lines, damage, resume. */
#include "core/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/alloc.h"
#include "tests/folder.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define CONFIG   "{\"seed\":42,\"env\":{\"name\":\"toy\",\"hard\":false},\"list\":[1,2]}"

static char dir[FOLDER_PATH];

static int make_dir(void **state)
{
    (void)state;
    folder_make(dir);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    folder_remove(dir);
    return 0;
}

static gg_run *must_open(const char *path, bool resume)
{
    gg_run *run;
    gg_error error = {0};
    if (gg_run_open(path, CONFIG, resume, &run, &error) != GG_OK)
        fail_msg("%s", error.text);
    return run;
}

static void must_append(gg_run *run, gg_journal journal, const char *line)
{
    gg_error error = {0};
    if (gg_run_append(run, journal, line, strlen(line), &error) != GG_OK)
        fail_msg("%s", error.text);
}

/* All lines of a journal, each followed by '|'. */
typedef struct lines {
    char text[4096];
    size_t len, last_number;
} lines;

static gg_status collect(void *context, const char *line, size_t len, size_t number,
                         gg_error *error)
{
    lines *all = context;
    (void)error;
    assert_int_equal(number, all->last_number + 1);
    all->last_number = number;
    assert_true(all->len + len + 2 < sizeof all->text);
    memcpy(all->text + all->len, line, len);
    all->len += len;
    all->text[all->len++] = '|';
    all->text[all->len] = '\0';
    return GG_OK;
}

static void has_lines(const gg_run *run, gg_journal journal, const char *want)
{
    lines all = {.len = 0};
    gg_error error = {0};
    assert_int_equal(gg_run_each(run, journal, collect, &all, &error), GG_OK);
    assert_string_equal(all.text, want);
}

static void a_run(void **state)
{
    (void)state;
    gg_error error;
    const char *path = folder_path(dir, "a/b//run/");
    gg_run *run = must_open(path, false);
    assert_string_equal(gg_run_config(run),
                        "{\"schema\":\"guessgym.run/1\",\"version\":\"" GG_VERSION
                        "\",\"config\":" CONFIG "}\n");
    has_lines(run, GG_JOURNAL_EPISODES, "");
    must_append(run, GG_JOURNAL_EPISODES, "{\"id\":1}\n");
    must_append(run, GG_JOURNAL_EPISODES, "{\"id\":2}\n");
    must_append(run, GG_JOURNAL_METRICS, "{}\n");
    has_lines(run, GG_JOURNAL_EPISODES, "{\"id\":1}|{\"id\":2}|");
    assert_int_equal(gg_run_sync(run, GG_JOURNAL_EPISODES, &error), GG_OK);
    assert_int_equal(gg_run_sync(run, GG_JOURNAL_GROUPS, &error), GG_OK);
    assert_int_equal(gg_run_write_file(run, "summary.json", "{}", 2, &error), GG_OK);
    static const char *const not_lines[] = {"", "x", "x\ny\n", "\n\n"};
    for (size_t i = 0; i < COUNT(not_lines); i++)
        assert_int_equal(
            gg_run_append(run, GG_JOURNAL_EPISODES, not_lines[i], strlen(not_lines[i]), &error),
            GG_E_ARGUMENT);
    gg_run_close(run);
    gg_run_close(NULL);

    assert_int_equal(gg_run_open(path, CONFIG, false, &run, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "--resume"));
    assert_null(run);
    run = must_open(path, true);
    must_append(run, GG_JOURNAL_EPISODES, "{\"id\":3}\n");
    has_lines(run, GG_JOURNAL_EPISODES, "{\"id\":1}|{\"id\":2}|{\"id\":3}|");
    gg_run_close(run);
}

static void sizes(void **state)
{
    (void)state;
    int64_t size;
    gg_error error;
    gg_run *run = must_open(dir, false);
    assert_int_equal(gg_run_size(run, GG_JOURNAL_STEP, &size, &error), GG_OK);
    assert_int_equal(size, 0);
    assert_int_equal(gg_run_cut(run, GG_JOURNAL_STEP, 0, &error), GG_OK);
    must_append(run, GG_JOURNAL_STEP, "one\n");
    must_append(run, GG_JOURNAL_STEP, "two\n");
    assert_int_equal(gg_run_cut(run, GG_JOURNAL_STEP, 9, &error), GG_E_STATE);
    assert_int_equal(gg_run_cut(run, GG_JOURNAL_STEP, -1, &error), GG_E_STATE);
    assert_int_equal(gg_run_cut(run, GG_JOURNAL_STEP, 4, &error), GG_OK);
    must_append(run, GG_JOURNAL_STEP, "three\n");
    has_lines(run, GG_JOURNAL_STEP, "one|three|");
    assert_int_equal(gg_run_size(run, GG_JOURNAL_STEP, &size, &error), GG_OK);
    assert_int_equal(size, 10);
    assert_int_equal(gg_run_clear(run, GG_JOURNAL_STEP, &error), GG_OK);
    has_lines(run, GG_JOURNAL_STEP, "");
    gg_run_close(run);
}

/* Characters that end a line for some readers, and bytes that are no UTF-8: all inside lines. */
static const char *const odd_lines[] = {
    "{\"t\":\"\xe2\x80\xa8 \xe2\x80\xa9 \xc2\x85 \x0b \x0c \x1c \x1d \x1e \r\"}\n",
    "{\"t\":\"\\ud800 \\u2028\"}\n",
    "\xed\xa0\x80\xff\xfe\n",
};

static void only_newlines_end_lines(void **state)
{
    (void)state;
    char want[256];
    size_t used = 0;
    gg_run *run = must_open(dir, false);
    for (size_t i = 0; i < COUNT(odd_lines); i++) {
        int bytes = (int)strlen(odd_lines[i]) - 1;
        must_append(run, GG_JOURNAL_GROUPS, odd_lines[i]);
        used += (size_t)snprintf(want + used, sizeof want - used, "%.*s|", bytes, odd_lines[i]);
    }
    has_lines(run, GG_JOURNAL_GROUPS, want);
    gg_run_close(run);
    run = must_open(dir, true);
    has_lines(run, GG_JOURNAL_GROUPS, want);
    gg_run_close(run);
}

/* The last line cut at every byte, resumed, written to, cut again, resumed again. */
static void torn_at_every_byte(void **state)
{
    (void)state;
    const char whole[] = "{\"a\":\"\xe2\x80\xa8\"}\n{\"b\":2}\n";
    size_t first = strcspn(whole, "\n") + 1, len = strlen(whole);
    gg_run_close(must_open(dir, false));
    for (size_t cut = 0; cut <= len; cut++) {
        folder_write(dir, "episodes.jsonl", whole, cut);
        bool has_first = cut >= first, has_both = cut == len;
        gg_run *run = must_open(dir, true);
        must_append(run, GG_JOURNAL_EPISODES, "{\"c\":3}\n");
        const char *want = has_both    ? "{\"a\":\"\xe2\x80\xa8\"}|{\"b\":2}|{\"c\":3}|"
                           : has_first ? "{\"a\":\"\xe2\x80\xa8\"}|{\"c\":3}|"
                                       : "{\"c\":3}|";
        has_lines(run, GG_JOURNAL_EPISODES, want);
        gg_run_close(run);

        size_t now;
        char *bytes = folder_read(dir, "episodes.jsonl", &now);
        folder_write(dir, "episodes.jsonl", bytes, now - 1 - cut % 7);
        free(bytes);
        run = must_open(dir, true);
        must_append(run, GG_JOURNAL_EPISODES, "{\"c\":3}\n");
        has_lines(run, GG_JOURNAL_EPISODES, want);
        gg_run_close(run);
    }
}

/* A refused open changes nothing, not even a torn line. */
static void refused_and_untouched(void **state)
{
    (void)state;
    size_t len;
    gg_run *run;
    gg_error error;
    gg_run_close(must_open(dir, false));
    folder_write(dir, "groups.jsonl", "{}\n{\"to", 7);
    assert_int_equal(gg_run_open(dir, CONFIG, false, &run, &error), GG_E_CONFIG);
    assert_int_equal(gg_run_open(dir, "{}", true, &run, &error), GG_E_CONFIG);
    char *bytes = folder_read(dir, "groups.jsonl", &len);
    assert_int_equal(len, 7);
    free(bytes);
    /* A torn line alone is nothing begun. */
    folder_write(dir, "groups.jsonl", "{\"to", 4);
    run = must_open(dir, false);
    has_lines(run, GG_JOURNAL_GROUPS, "");
    gg_run_close(run);
    /* Lines without run.json: nobody knows how they were made. */
    folder_write(dir, "groups.jsonl", "{}\n", 3);
    assert_int_equal(unlink(folder_path(dir, "run.json")), 0);
    assert_int_equal(gg_run_open(dir, CONFIG, true, &run, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "run.json"));
}

static void changed_configuration(void **state)
{
    (void)state;
    static const struct {
        const char *config;
        gg_status status;
        const char *says; /* NULL = resumed */
    } rows[] = {
        {CONFIG, GG_OK, NULL},
        {"{ \"list\":[1,2], \"env\":{\"hard\":false,\"name\":\"toy\"}, \"seed\":4.2e1 }", GG_OK,
         NULL},
        {"{\"seed\":42,\"env\":{\"name\":\"toy\",\"hard\":false},\"list\":[1,2],\"x\":null}", GG_OK,
         NULL},
        {"{\"seed\":43,\"env\":{\"name\":\"toy\",\"hard\":false},\"list\":[1,2]}", GG_E_CONFIG,
         "seed (was 42, now 43)"},
        {"{\"seed\":42,\"env\":{\"name\":\"toy\",\"hard\":true},\"list\":[2,1]}", GG_E_CONFIG,
         "env.hard (was false, now true), list (was [1,2], now [2,1])"},
        {"{\"seed\":42,\"env\":{\"name\":\"toy\"},\"list\":[1,2],\"Seed\":1}", GG_E_CONFIG,
         "env.hard (was false, now not given), Seed (was not given, now 1)"},
        {"{\"seed\":42,\"env\":\"toy\",\"list\":[1,2]}", GG_E_CONFIG, "env (was {"},
        {"{}", GG_E_CONFIG, "seed (was 42, now not given)"},
        {"{", GG_E_FORMAT, "JSON"},
    };
    gg_run *run = must_open(dir, false);
    must_append(run, GG_JOURNAL_EPISODES, "{}\n");
    gg_run_close(run);
    for (size_t i = 0; i < COUNT(rows); i++) {
        gg_error error = {0};
        gg_status status = gg_run_open(dir, rows[i].config, true, &run, &error);
        if (status != rows[i].status || (rows[i].says && !strstr(error.text, rows[i].says)))
            fail_msg("row %zu: %d %s", i, status, error.text);
        gg_run_close(run);
    }
    static const char *const damaged[] = {"", "{\"config\":", "{\"config\":3}", "[]"};
    for (size_t i = 0; i < COUNT(damaged); i++) {
        gg_error error = {0};
        folder_write(dir, "run.json", damaged[i], strlen(damaged[i]));
        gg_status status = gg_run_open(dir, CONFIG, true, &run, &error);
        if ((status != GG_E_FORMAT && status != GG_E_CONFIG) || !strstr(error.text, "run.json"))
            fail_msg("damaged %zu: %d %s", i, status, error.text);
    }
    gg_error error;
    assert_int_equal(gg_run_open(folder_path(dir, "new"), "[1]", false, &run, &error),
                     GG_E_ARGUMENT);
}

static void second_process(void **state)
{
    (void)state;
    gg_run *run = must_open(dir, false), *other;
    gg_error error;
    char holder[40];
    snprintf(holder, sizeof holder, "process %ld ", (long)getpid());
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool right = gg_run_open(dir, CONFIG, true, &other, &error) == GG_E_LOCKED &&
                     strstr(error.text, holder) && strstr(error.text, dir);
        _exit(right ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(gg_run_open(dir, CONFIG, true, &other, &error), GG_E_LOCKED);
    gg_run_close(run);
    gg_run_close(must_open(dir, true));
}

static void reading_only(void **state)
{
    (void)state;
    gg_run *run = must_open(dir, false), *reader;
    gg_error error;
    int64_t size;
    must_append(run, GG_JOURNAL_EPISODES, "{}\n");
    assert_int_equal(gg_run_open_read(folder_path(dir, ""), &reader, &error), GG_OK);
    assert_string_equal(gg_run_dir(reader), dir);
    assert_string_equal(gg_run_config(reader), gg_run_config(run));
    must_append(run, GG_JOURNAL_EPISODES, "{\"later\":1}\n");
    has_lines(reader, GG_JOURNAL_EPISODES, "{}|{\"later\":1}|");
    assert_int_equal(gg_run_append(reader, GG_JOURNAL_EPISODES, "x\n", 2, &error), GG_E_STATE);
    assert_int_equal(gg_run_size(reader, GG_JOURNAL_EPISODES, &size, &error), GG_E_STATE);
    gg_run_close(run);
    folder_write(dir, "episodes.jsonl", "{}\n{", 4);
    has_lines(reader, GG_JOURNAL_EPISODES, "{}|");
    gg_run_close(reader);
    assert_int_equal(gg_run_open_read(folder_path(dir, "none"), &reader, &error), GG_E_CONFIG);
    assert_null(reader);
    assert_int_not_equal(access(folder_path(dir, "none"), F_OK), 0);
}

static void unwritable(void **state)
{
    (void)state;
    gg_run *run;
    gg_error error;
    folder_write(dir, "file", "", 0);
    assert_int_equal(gg_run_open(folder_path(dir, "file"), CONFIG, false, &run, &error), GG_E_IO);
    assert_int_equal(gg_run_open(folder_path(dir, "file/x"), CONFIG, false, &run, &error), GG_E_IO);
    assert_non_null(strstr(error.text, "file"));
    assert_int_equal(gg_run_open("/proc/nowhere", CONFIG, false, &run, &error), GG_E_IO);
    assert_int_equal(mkdir(folder_path(dir, ".lock"), 0777), 0);
    assert_int_equal(gg_run_open(dir, CONFIG, false, &run, &error), GG_E_IO);
}

#define EPISODE(id)                                                                                \
    "{\"schema\":\"guessgym.episode/1\",\"id\":\"" id "\",\"env\":\"toy\",\"turns\":[],"           \
    "\"messages\":[]}\n"

typedef struct seen {
    char ids[256];
    size_t stop_after;
} seen;

static gg_status note(void *context, gg_episode *episode, gg_error *error)
{
    seen *s = context;
    strncat(s->ids, episode->id, 20);
    strncat(s->ids, " ", 2);
    gg_episode_free(episode);
    if (s->stop_after && --s->stop_after == 0)
        return gg_fail(error, GG_E_STATE, "enough");
    return GG_OK;
}

static void damaged_lines(void **state)
{
    (void)state;
    gg_run *run = must_open(dir, false);
    gg_damage damage;
    gg_error error;
    must_append(run, GG_JOURNAL_EPISODES, EPISODE("one"));
    must_append(run, GG_JOURNAL_EPISODES, "{\"schema\":\"guessgym.episode/1\",\"id\":\"tw\n");
    must_append(run, GG_JOURNAL_EPISODES, EPISODE("three"));
    must_append(run, GG_JOURNAL_EPISODES, "\n");
    gg_run_append(run, GG_JOURNAL_EPISODES, "\0\0\0\n", 4, &error);
    must_append(run, GG_JOURNAL_EPISODES, EPISODE("six"));
    seen s = {.ids = ""};
    assert_int_equal(
        gg_run_each_episode(run, GG_JOURNAL_EPISODES, GG_READ_PLAY, note, &s, &damage, &error),
        GG_OK);
    assert_string_equal(s.ids, "one three six ");
    assert_int_equal(damage.lines, 3);
    assert_int_equal(damage.first, 2);
    assert_non_null(strstr(damage.first_said.text, "episodes.jsonl: line 2: "));
    s = (seen){.stop_after = 2};
    assert_int_equal(
        gg_run_each_episode(run, GG_JOURNAL_EPISODES, GG_READ_PLAY, note, &s, &damage, &error),
        GG_E_STATE);
    assert_string_equal(s.ids, "one three ");
    gg_run_close(run);
}

/* Token records whose episode is not there: only the last one can be, and it goes. */
static void orphans(void **state)
{
    (void)state;
    static const struct {
        const char *episodes, *tokens, *kept;
    } rows[] = {
        {EPISODE("a") EPISODE("b"), "{\"id\":\"a\"}\n{\"id\":\"b\"}\n",
         "{\"id\":\"a\"}|{\"id\":\"b\"}|"},
        {EPISODE("a"), "{\"id\":\"a\"}\n{\"id\":\"b\"}\n", "{\"id\":\"a\"}|"},
        {EPISODE("a") "{\"schema\":\"guessgym.episode/1\",\"id\":\"b",
         "{\"id\":\"a\"}\n{\"id\":\"b\"}\n", "{\"id\":\"a\"}|"},
        {EPISODE("a") EPISODE("b") EPISODE("c"), "{\"id\":\"a\"}\n{\"id\":\"b\"}\n",
         "{\"id\":\"a\"}|{\"id\":\"b\"}|"},
        {EPISODE("a"), "{\"id\":\"a\"}\n{\"id\":\"b", "{\"id\":\"a\"}|"},
        {EPISODE("a"), "{\"id\":\"ab\"}\n", ""},
        {"", "{\"id\":\"a\"}\n", ""},
    };
    gg_run_close(must_open(dir, false));
    for (size_t i = 0; i < COUNT(rows); i++) {
        folder_write(dir, "episodes.jsonl", rows[i].episodes, strlen(rows[i].episodes));
        folder_write(dir, "tokens.jsonl", rows[i].tokens, strlen(rows[i].tokens));
        folder_write(dir, "step.jsonl", rows[i].episodes, strlen(rows[i].episodes));
        folder_write(dir, "step-tokens.jsonl", rows[i].tokens, strlen(rows[i].tokens));
        gg_run *run = must_open(dir, true);
        has_lines(run, GG_JOURNAL_TOKENS, rows[i].kept);
        has_lines(run, GG_JOURNAL_STEP_TOKENS, rows[i].kept);
        gg_run_close(run);
    }
}

static void long_lines(void **state)
{
    (void)state;
    enum { LEN = 1 << 20 };
    gg_run *run = must_open(dir, false);
    gg_error error;
    char *line = malloc(LEN);
    assert_non_null(line);
    memset(line, 'x', LEN);
    line[LEN - 1] = '\n';
    for (int i = 0; i < 3; i++)
        assert_int_equal(gg_run_append(run, GG_JOURNAL_GROUPS, line, LEN, &error), GG_OK);
    free(line);
    gg_run_close(run);
    run = must_open(dir, true);
    int64_t size;
    assert_int_equal(gg_run_size(run, GG_JOURNAL_GROUPS, &size, &error), GG_OK);
    assert_int_equal(size, 3 * LEN);
    gg_run_close(run);
}

static gg_status short_life(void *context)
{
    (void)context;
    gg_run *run;
    gg_damage damage;
    seen s = {.ids = ""};
    gg_error error;
    gg_status status = gg_run_open(dir, CONFIG, true, &run, &error);
    if (status == GG_OK)
        status = gg_run_append(run, GG_JOURNAL_TOKENS, "{\"id\":\"one\"}\n", 13, &error);
    if (status == GG_OK)
        status =
            gg_run_append(run, GG_JOURNAL_EPISODES, EPISODE("one"), strlen(EPISODE("one")), &error);
    if (status == GG_OK)
        status =
            gg_run_each_episode(run, GG_JOURNAL_EPISODES, GG_READ_PLAY, note, &s, &damage, &error);
    if (status == GG_OK && damage.lines)
        status = GG_E_STATE; /* want of memory must not look like damage */
    if (status == GG_OK)
        status = gg_run_write_file(run, "summary.json", "{}", 2, &error);
    gg_run_close(run);
    if (truncate(folder_path(dir, "episodes.jsonl"), 0) != 0 ||
        truncate(folder_path(dir, "tokens.jsonl"), 0) != 0)
        return status == GG_OK ? GG_E_IO : status;
    return status;
}

static void allocation_failures(void **state)
{
    (void)state;
    assert_true(alloc_each_fails(short_life, NULL) > 10);
}

#define RUN_TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)

static bool not_b(void *context, const char *line, size_t len)
{
    size_t *asked = context;
    ++*asked;
    return memchr(line, 'b', len) == NULL;
}

/* A journal loses the lines that must go, takes new ones behind the rest, and is the same file when
 * nothing goes. */
static void lines_can_be_dropped(void **state)
{
    const char *kept = folder_path(dir, "kept");
    gg_run *run = must_open(kept, false);
    gg_error error = {0};
    size_t asked = 0, len = 0;
    (void)state;
    must_append(run, GG_JOURNAL_EPISODES, "{\"a\":1}\n");
    must_append(run, GG_JOURNAL_EPISODES, "{\"b\":2}\n");
    must_append(run, GG_JOURNAL_EPISODES, "{\"c\":3}\n");
    assert_int_equal(gg_run_keep(run, GG_JOURNAL_EPISODES, not_b, &asked, &error), GG_OK);
    assert_int_equal(asked, 3);
    must_append(run, GG_JOURNAL_EPISODES, "{\"d\":4}\n");
    assert_int_equal(gg_run_keep(run, GG_JOURNAL_EPISODES, not_b, &asked, &error), GG_OK);
    assert_int_equal(gg_run_keep(run, GG_JOURNAL_GROUPS, not_b, &asked, &error), GG_OK);
    gg_run_close(run);
    char *text = folder_read(kept, "episodes.jsonl", &len);
    assert_string_equal(text, "{\"a\":1}\n{\"c\":3}\n{\"d\":4}\n");
    free(text);
    assert_int_not_equal(access(folder_path(kept, "episodes.jsonl.part"), F_OK), 0);
    assert_int_not_equal(access(folder_path(kept, "groups.jsonl"), F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN_TEST(a_run),
        RUN_TEST(sizes),
        RUN_TEST(lines_can_be_dropped),
        RUN_TEST(only_newlines_end_lines),
        RUN_TEST(torn_at_every_byte),
        RUN_TEST(refused_and_untouched),
        RUN_TEST(changed_configuration),
        RUN_TEST(second_process),
        RUN_TEST(reading_only),
        RUN_TEST(unwritable),
        RUN_TEST(damaged_lines),
        RUN_TEST(orphans),
        RUN_TEST(long_lines),
        RUN_TEST(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
