/* Files read and written whole, folders, and where shipped data is found. */
#include "core/file.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/alloc.h"
#include "tests/folder.h"

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

static size_t files_in(const char *path)
{
    DIR *stream = opendir(path);
    size_t count = 0;
    assert_non_null(stream);
    for (struct dirent *entry; (entry = readdir(stream));)
        count += entry->d_name[0] != '.';
    closedir(stream);
    return count;
}

static void has_content(const char *name, const char *want)
{
    size_t len;
    char *got = folder_read(dir, name, &len);
    assert_string_equal(got, want);
    free(got);
}

static void reading(void **state)
{
    (void)state;
    gg_buf buf;
    gg_error error;
    gg_buf_init(&buf, 1 << 20);
    gg_buf_str(&buf, "before ");
    folder_write(dir, "f", "a\0b", 3);
    assert_int_equal(gg_file_read(folder_path(dir, "f"), &buf, &error), GG_OK);
    assert_int_equal(buf.len, 10);
    assert_memory_equal(buf.data, "before a\0b", 11);

    static char large[300000];
    memset(large, 'x', sizeof large);
    folder_write(dir, "large", large, sizeof large);
    assert_int_equal(gg_file_read(folder_path(dir, "large"), &buf, &error), GG_OK);
    assert_int_equal(buf.len, 10 + sizeof large);
    gg_buf_free(&buf);

    gg_buf_init(&buf, sizeof large);
    assert_int_equal(gg_file_read(folder_path(dir, "large"), &buf, &error), GG_OK);
    assert_int_equal(buf.len, sizeof large);
    gg_buf_free(&buf);

    gg_buf_init(&buf, sizeof large - 1);
    assert_int_equal(gg_file_read(folder_path(dir, "large"), &buf, &error), GG_E_LIMIT);
    assert_non_null(strstr(error.text, "large"));
    gg_buf_free(&buf);

    gg_buf_init(&buf, 100);
    folder_write(dir, "empty", "", 0);
    assert_int_equal(gg_file_read(folder_path(dir, "empty"), &buf, &error), GG_OK);
    assert_int_equal(buf.len, 0);
    assert_int_equal(gg_file_read(folder_path(dir, "none"), &buf, &error), GG_E_IO);
    assert_non_null(strstr(error.text, "/none: No such file"));
    assert_int_equal(gg_file_read(dir, &buf, &error), GG_E_IO);
    gg_buf_free(&buf);
}

static void writing(void **state)
{
    (void)state;
    gg_error error;
    struct stat info;
    assert_int_equal(gg_file_write(folder_path(dir, "f"), "one", 3, &error), GG_OK);
    assert_int_equal(gg_file_write(folder_path(dir, "f"), "second", 6, &error), GG_OK);
    has_content("f", "second");
    assert_int_equal(gg_file_write(folder_path(dir, "f"), NULL, 0, &error), GG_OK);
    has_content("f", "");
    assert_int_equal(symlink("f", folder_path(dir, "link")), 0);
    assert_int_equal(gg_file_write(folder_path(dir, "link"), "through", 7, &error), GG_OK);
    has_content("f", "through");
    assert_int_equal(lstat(folder_path(dir, "link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(files_in(dir), 2);
    assert_int_equal(gg_file_write(folder_path(dir, "none/f"), "x", 1, &error), GG_E_IO);
    assert_int_equal(gg_file_write(dir, "x", 1, &error), GG_E_IO);
    /* Devices are written to, not replaced. */
    assert_int_equal(gg_file_write("/dev/null", "x", 1, &error), GG_OK);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    assert_int_equal(gg_file_write("/dev/full", "x", 1, &error), GG_E_IO);
    assert_non_null(strstr(error.text, "/dev/full: No space left"));
}

/* A write that fails half way leaves the old file and nothing else. */
static void full_disk(void **state)
{
    (void)state;
    gg_error error;
    struct rlimit before, limit;
    assert_int_equal(gg_file_write(folder_path(dir, "f"), "old", 3, &error), GG_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 4;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    gg_status status = gg_file_write(folder_path(dir, "f"), "longer", 6, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, GG_E_IO);
    has_content("f", "old");
    assert_int_equal(files_in(dir), 1);
}

static void folders(void **state)
{
    (void)state;
    gg_error error;
    assert_int_equal(gg_dir_make(folder_path(dir, "a/b//c/"), &error), GG_OK);
    assert_int_equal(gg_dir_make(folder_path(dir, "a/b"), &error), GG_OK);
    assert_int_equal(access(folder_path(dir, "a/b/c"), X_OK), 0);
    assert_int_equal(gg_dir_make("/", &error), GG_OK);
    folder_write(dir, "file", "", 0);
    assert_int_equal(gg_dir_make(folder_path(dir, "file"), &error), GG_E_IO);
    assert_non_null(strstr(error.text, "Not a directory"));
    assert_int_equal(gg_dir_make(folder_path(dir, "file/x"), &error), GG_E_IO);
    assert_int_equal(gg_dir_make("", &error), GG_E_IO);
    static char endless[5000];
    memset(endless, 'x', sizeof endless - 1);
    assert_int_equal(gg_dir_make(endless, &error), GG_E_IO);
}

static void shipped_data(void **state)
{
    (void)state;
    gg_buf path;
    gg_error error;
    gg_buf_init(&path, 4096);
    /* This test lies in build/.../tests/, below the source tree. */
    assert_int_equal(gg_data_path("wordlists/answers.txt", &path, &error), GG_OK);
    assert_int_equal(access(path.data, R_OK), 0);
    gg_buf_reset(&path);
    assert_int_equal(gg_data_path("wordlists/none.txt", &path, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "GUESSGYM_DATA"));
    assert_int_equal(path.len, 0);

    folder_write(dir, "list", "", 0);
    assert_int_equal(setenv("GUESSGYM_DATA", dir, 1), 0);
    assert_int_equal(gg_data_path("list", &path, &error), GG_OK);
    assert_string_equal(path.data, folder_path(dir, "list"));
    /* What the user says holds: no second place is tried. */
    assert_int_equal(gg_data_path("wordlists/answers.txt", &path, &error), GG_E_CONFIG);
    unsetenv("GUESSGYM_DATA");
    gg_buf_free(&path);

    gg_buf_init(&path, 5);
    assert_int_equal(gg_data_path("wordlists/answers.txt", &path, &error), GG_E_LIMIT);
    gg_buf_free(&path);
}

static gg_status read_and_write(void *context)
{
    gg_buf buf;
    gg_buf_init(&buf, 1 << 20);
    gg_status status = gg_file_read(context, &buf, NULL);
    if (status == GG_OK)
        status = gg_file_write(context, buf.data, buf.len, NULL);
    gg_buf_free(&buf);
    return status;
}

static void allocation_failures(void **state)
{
    (void)state;
    char path[2 * FOLDER_PATH];
    folder_write(dir, "f", "text", 4);
    memcpy(path, folder_path(dir, "f"), sizeof path);
    assert_true(alloc_each_fails(read_and_write, path) >= 1);
    has_content("f", "text");
}

#define RUN_TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN_TEST(reading), RUN_TEST(writing),      RUN_TEST(full_disk),
        RUN_TEST(folders), RUN_TEST(shipped_data), RUN_TEST(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
