#include "tests/folder.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

void folder_make(char path[FOLDER_PATH])
{
    const char *root = getenv("TMPDIR");
    snprintf(path, FOLDER_PATH, "%s/gg-test-XXXXXX", root && *root ? root : "/tmp");
    assert_non_null(mkdtemp(path));
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

void folder_remove(const char *path)
{
    nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *folder_path(const char *folder, const char *name)
{
    static char paths[4][2 * FOLDER_PATH];
    static size_t next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

void folder_write(const char *folder, const char *name, const char *bytes, size_t len)
{
    FILE *file = fopen(folder_path(folder, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

char *folder_read(const char *folder, const char *name, size_t *len)
{
    FILE *file = fopen(folder_path(folder, name), "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    char *bytes = malloc((size_t)size + 1);
    assert_non_null(bytes);
    rewind(file);
    *len = fread(bytes, 1, (size_t)size, file);
    bytes[*len] = '\0';
    fclose(file);
    return bytes;
}
