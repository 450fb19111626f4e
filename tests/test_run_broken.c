/* The run folder when a write fails or the writer is killed. */
#include "core/run.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/rng.h"
#include "tests/folder.h"

#define CONFIG "{\"seed\":42}"

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

/* Counts lines and checks that each is whole: in these tests all end in the same byte. */
static gg_status count_line(void *context, const char *line, size_t len, size_t number,
                            gg_error *error)
{
    (void)error;
    assert_true(len > 4 && line[len - 1] == '}');
    *(size_t *)context = number;
    return GG_OK;
}

static size_t count_lines(const gg_run *run, gg_journal journal)
{
    size_t count = 0;
    assert_int_equal(gg_run_each(run, journal, count_line, &count, NULL), GG_OK);
    return count;
}

/* The file may not grow beyond `bytes`: what a full disk does to a write, without a disk. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void full_disk(void **state)
{
    (void)state;
    gg_run *run = must_open(dir, false);
    gg_error error;
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    must_append(run, GG_JOURNAL_EPISODES, "{\"i\":1234}\n");
    limit_files(16);
    gg_status short_write = gg_run_append(run, GG_JOURNAL_EPISODES, "{\"i\":1234}\n", 11, &error);
    struct stat info;
    int seen_size = stat(folder_path(dir, "episodes.jsonl"), &info);
    limit_files(11);
    gg_status no_write = gg_run_append(run, GG_JOURNAL_EPISODES, "x\n", 2, NULL);
    limit_files(RLIM_INFINITY);
    signal(SIGXFSZ, before);
    assert_int_equal(short_write, GG_E_IO);
    assert_non_null(strstr(error.text, "5 of 11 bytes"));
    assert_int_equal(seen_size, 0);
    assert_int_equal(info.st_size, 11);
    assert_int_equal(no_write, GG_E_IO);
    must_append(run, GG_JOURNAL_EPISODES, "{\"i\":9}\n");
    assert_int_equal(count_lines(run, GG_JOURNAL_EPISODES), 2);
    gg_run_close(run);
}

/* The same on a real, tiny file system, where the process may mount one. */
static void full_tmpfs(void **state)
{
    (void)state;
    char line[1001];
    gg_error error = {0};
    if (mount("none", dir, "tmpfs", 0, "size=64k") != 0)
        skip(); /* not root, or in a container: full_disk has to do */
    memset(line, 'x', sizeof line);
    line[sizeof line - 2] = '}';
    line[sizeof line - 1] = '\n';
    gg_run *run = must_open(dir, false);
    size_t whole = 0;
    while (whole < 100 &&
           gg_run_append(run, GG_JOURNAL_EPISODES, line, sizeof line, &error) == GG_OK)
        whole++;
    gg_status file = gg_run_write_file(run, "summary.json", line, sizeof line, NULL);
    size_t counted = count_lines(run, GG_JOURNAL_EPISODES);
    gg_run_close(run);
    gg_status again = gg_run_open(dir, CONFIG, true, &run, NULL);
    gg_run_close(run);
    umount2(dir, MNT_DETACH);
    assert_true(whole > 10 && whole < 100);
    assert_non_null(strstr(error.text, "episodes.jsonl"));
    assert_int_equal(counted, whole);
    assert_int_equal(file, GG_E_IO);
    assert_int_equal(again, GG_OK);
}

/* Appends numbered pairs until it is killed. */
static void write_until_killed(int ready)
{
    gg_run *run;
    if (gg_run_open(dir, CONFIG, true, &run, NULL) != GG_OK)
        _exit(1);
    size_t done = 0;
    for (char told = 1;; done++) {
        char line[128];
        int len = snprintf(line, sizeof line, "{\"id\":\"%ld-%zu\"}\n", (long)getpid(), done);
        if (gg_run_append(run, GG_JOURNAL_TOKENS, line, (size_t)len, NULL) != GG_OK ||
            gg_run_append(run, GG_JOURNAL_EPISODES, line, (size_t)len, NULL) != GG_OK)
            _exit(1);
        if (done % 64 == 0 && write(ready, &told, 1) != 1)
            _exit(1);
    }
}

static void killed_and_resumed(void **state)
{
    (void)state;
    const uint64_t seed = 17;
    gg_rng rng;
    gg_rng_seed(&rng, seed);
    size_t before = 0;
    gg_run_close(must_open(dir, false));
    for (int round = 0; round < 10; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            write_until_killed(ends[1]);
        close(ends[1]);
        for (uint64_t wait = 1 + gg_rng_below(&rng, 5); wait; wait--) {
            char told;
            assert_int_equal(read(ends[0], &told, 1), 1);
        }
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        close(ends[0]);
        gg_run *run = must_open(dir, true);
        size_t episodes = count_lines(run, GG_JOURNAL_EPISODES);
        size_t tokens = count_lines(run, GG_JOURNAL_TOKENS);
        gg_run_close(run);
        if (episodes != tokens || episodes <= before)
            fail_msg("seed %ju, round %d: %zu episodes, %zu token records, %zu before",
                     (uintmax_t)seed, round, episodes, tokens, before);
        before = episodes;
    }
}

#define RUN_TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN_TEST(full_disk),
        RUN_TEST(full_tmpfs),
        RUN_TEST(killed_and_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
