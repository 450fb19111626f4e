#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_PIECE     (64u << 10)
#define PATH_BYTES     4096
#define TEMP_TRIES     100
#define PARENTS_TO_TRY 4 /* build/test/tests/test_x is three folders below the source tree */

static gg_status cannot(gg_error *error, const char *what, const char *path)
{
    return gg_fail(error, errno == ENOMEM ? GG_E_MEMORY : GG_E_IO, "cannot %s %s: %s", what, path,
                   strerror(errno));
}

static gg_status read_all(int fd, const char *path, gg_buf *out, gg_error *error)
{
    size_t start = out->len;
    for (;;) {
        size_t left = out->maximum - out->len;
        size_t want = left < READ_PIECE ? left : READ_PIECE;
        char beyond; /* a full buffer is only too small when there is more */
        gg_buf_reserve(out, want);
        if (out->status != GG_OK)
            return gg_buf_status(out, path, error);
        ssize_t got = want ? read(fd, out->data + out->len, want) : read(fd, &beyond, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return cannot(error, "read", path);
        if (got == 0)
            break;
        if (!want)
            out->status = GG_E_LIMIT;
        else
            out->len += (size_t)got;
        if (out->len - start > GG_FILE_MAX)
            return gg_fail(error, GG_E_LIMIT, "%s is larger than %u bytes", path, GG_FILE_MAX);
    }
    out->data[out->len] = '\0';
    return GG_OK;
}

gg_status gg_file_read(const char *path, gg_buf *out, gg_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return cannot(error, "open", path);
    size_t start = out->len;
    gg_status status = read_all(fd, path, out, error);
    if (status != GG_OK)
        gg_buf_truncate(out, start);
    close(fd);
    return status;
}

static gg_status write_all(int fd, const char *path, const char *bytes, size_t len, gg_error *error)
{
    while (len) {
        ssize_t done = write(fd, bytes, len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return cannot(error, "write", path);
        bytes += done;
        len -= (size_t)done;
    }
    return GG_OK;
}

/* A pipe or device cannot be replaced by a rename (and /dev/null must not be): written as it is. */
static gg_status write_in_place(const char *path, const char *bytes, size_t len, gg_error *error)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return cannot(error, "open", path);
    gg_status status = write_all(fd, path, bytes, len, error);
    if (close(fd) != 0 && status == GG_OK)
        status = cannot(error, "write", path);
    return status;
}

/* Opens a new file beside `path`; its name goes to `temp`. */
static int open_temp(const char *path, char temp[PATH_BYTES])
{
    for (int i = 0; i < TEMP_TRIES; i++) {
        int len = snprintf(temp, PATH_BYTES, "%s.%ld-%d.tmp", path, (long)getpid(), i);
        if (len >= PATH_BYTES) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* The new name is safe only once the folder is on the disk too. */
static void sync_folder_of(const char *path)
{
    char copy[PATH_BYTES];
    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy)
        return;
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    /* Some file systems cannot do this; the file itself is written. */
    (void)fsync(fd);
    close(fd);
}

static gg_status write_by_rename(const char *path, const char *bytes, size_t len, gg_error *error)
{
    char temp[PATH_BYTES];
    int fd = open_temp(path, temp);
    if (fd < 0)
        return cannot(error, "write", path);
    gg_status status = write_all(fd, path, bytes, len, error);
    if (status == GG_OK && fsync(fd) != 0)
        status = cannot(error, "write", path);
    if (close(fd) != 0 && status == GG_OK)
        status = cannot(error, "write", path);
    if (status == GG_OK && rename(temp, path) != 0)
        status = cannot(error, "replace", path);
    if (status != GG_OK)
        (void)unlink(temp);
    else
        sync_folder_of(path);
    return status;
}

gg_status gg_file_write(const char *path, const char *bytes, size_t len, gg_error *error)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return write_by_rename(path, bytes, len, error);
    if (S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return cannot(error, "write", path);
    }
    if (!S_ISREG(info.st_mode))
        return write_in_place(path, bytes, len, error);
    char *real = realpath(path, NULL); /* so that a link stays a link */
    gg_status status =
        real ? write_by_rename(real, bytes, len, error) : cannot(error, "write", path);
    free(real);
    return status;
}

gg_status gg_dir_make(const char *path, gg_error *error)
{
    char part[PATH_BYTES];
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof part) {
        errno = len ? ENAMETOOLONG : ENOENT;
        return cannot(error, "make folder", path);
    }
    memcpy(part, path, len + 1);
    for (size_t i = 1; i <= len; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return cannot(error, "make folder", part);
        part[i] = path[i];
    }
    struct stat info;
    if (stat(path, &info) != 0)
        return cannot(error, "make folder", path);
    if (!S_ISDIR(info.st_mode)) {
        errno = ENOTDIR;
        return cannot(error, "make folder", path);
    }
    return GG_OK;
}

/* Appends folder/name when there is such a file. */
static bool found_in(const char *folder, const char *name, gg_buf *path)
{
    size_t start = path->len;
    gg_buf_printf(path, "%s/%s", folder, name);
    if (path->status != GG_OK)
        return true; /* told by gg_buf_status */
    if (access(path->data + start, R_OK) == 0)
        return true;
    gg_buf_truncate(path, start);
    return false;
}

static bool found_installed(const char *prefix, const char *name, gg_buf *path)
{
    char folder[PATH_BYTES];
    int len = snprintf(folder, sizeof folder, "%s/share/guessgym", prefix);
    return len < (int)sizeof folder && found_in(folder, name, path);
}

/* Looks from the parent of the program's folder upwards: a source tree, or what was installed
 * somewhere and moved. */
static bool found_beside_program(const char *name, gg_buf *path)
{
    char program[PATH_BYTES];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    if (len <= 0)
        return false;
    program[len] = '\0';
    char *slash = strrchr(program, '/');
    for (int i = 0; i <= PARENTS_TO_TRY && slash && slash != program; i++) {
        *slash = '\0';
        if (i > 0 && (found_in(program, name, path) || found_installed(program, name, path)))
            return true;
        slash = strrchr(program, '/');
    }
    return false;
}

gg_status gg_data_path(const char *name, gg_buf *path, gg_error *error)
{
    const char *own = getenv("GUESSGYM_DATA");
    if (own && *own) {
        if (found_in(own, name, path))
            return gg_buf_status(path, "a path", error);
        return gg_fail(
            error, GG_E_CONFIG,
            "cannot read %s/%s: GUESSGYM_DATA must name the folder that holds the shipped "
            "data",
            own, name);
    }
    if (found_beside_program(name, path) || found_in(GG_DATADIR, name, path))
        return gg_buf_status(path, "a path", error);
    return gg_fail(
        error, GG_E_CONFIG,
        "cannot find %s beside the program or in %s; set GUESSGYM_DATA to the folder that "
        "holds it",
        name, GG_DATADIR);
}
