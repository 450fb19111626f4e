#include "core/run_inside.h"
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define LOCK_NAME  ".lock"

static const char *const names[GG_JOURNAL_COUNT] = {
    [GG_JOURNAL_EPISODES] = "episodes.jsonl", [GG_JOURNAL_TOKENS] = "tokens.jsonl",
    [GG_JOURNAL_GROUPS] = "groups.jsonl",     [GG_JOURNAL_METRICS] = "metrics.jsonl",
    [GG_JOURNAL_STEP] = "step.jsonl",         [GG_JOURNAL_STEP_TOKENS] = "step-tokens.jsonl",
};

const char *gg_journal_name(gg_journal journal)
{
    return names[journal];
}

const char *gg_run_dir(const gg_run *run)
{
    return run->dir;
}

const char *gg_run_config(const gg_run *run)
{
    return gg_buf_cstr(&run->config);
}

gg_status gg_run_path(const gg_run *run, const char *name, gg_buf *path, gg_error *error)
{
    gg_buf_init(path, PATH_BYTES);
    gg_buf_printf(path, "%s/%s", run->dir, name);
    return gg_buf_status(path, "the path of a run folder", error);
}

static gg_status cannot(const gg_run *run, const char *what, const char *name, gg_error *error)
{
    return gg_fail(error, GG_E_IO, "cannot %s %s/%s: %s", what, run->dir, name, strerror(errno));
}

/* NULL when memory is short. */
static gg_run *run_new(const char *dir, gg_error *error)
{
    gg_run *run = calloc(1, sizeof *run);
    char *copy = strdup(dir);
    if (!run || !copy) {
        free(run);
        free(copy);
        gg_fail(error, GG_E_MEMORY, "out of memory while opening the run folder %s", dir);
        return NULL;
    }
    size_t len = strlen(copy);
    while (len > 1 && copy[len - 1] == '/')
        copy[--len] = '\0';
    run->dir = copy;
    run->lock = -1;
    gg_buf_init(&run->config, GG_FILE_MAX);
    for (int i = 0; i < GG_JOURNAL_COUNT; i++)
        run->journals[i].fd = -1;
    return run;
}

void gg_run_close(gg_run *run)
{
    if (!run)
        return;
    for (int i = 0; i < GG_JOURNAL_COUNT; i++)
        if (run->journals[i].fd >= 0)
            close(run->journals[i].fd);
    if (run->lock >= 0)
        close(run->lock); /* which gives the lock back */
    gg_buf_free(&run->config);
    free(run->dir);
    free(run);
}

/* The number in the lock file says who has it, for the sentence alone. */
static gg_status locked(const gg_run *run, int fd, gg_error *error)
{
    char text[24] = "";
    ssize_t len = pread(fd, text, sizeof text - 1, 0);
    long holder = len > 0 ? strtol(text, NULL, 10) : 0;
    close(fd);
    if (holder > 0)
        return gg_fail(error, GG_E_LOCKED,
                       "process %ld is working in %s; wait until it ends or choose another folder",
                       holder, run->dir);
    return gg_fail(error, GG_E_LOCKED,
                   "another process is working in %s; wait until it ends or choose another folder",
                   run->dir);
}

static gg_status lock(gg_run *run, gg_error *error)
{
    gg_buf path;
    gg_status status = gg_run_path(run, LOCK_NAME, &path, error);
    int fd = status == GG_OK ? open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    gg_buf_free(&path);
    if (status != GG_OK)
        return status;
    if (fd < 0)
        return cannot(run, "open", LOCK_NAME, error);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            return locked(run, fd, error);
        close(fd);
        return cannot(run, "lock", LOCK_NAME, error);
    }
    run->lock = fd;
    char text[24];
    int len = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    /* On a full disk the number is missing; the lock holds all the same. */
    bool noted = ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)len, 0) == len;
    (void)noted;
    return GG_OK;
}

gg_status gg_run_open_journal(gg_run *run, gg_journal journal, bool create, gg_error *error)
{
    gg_journal_file *file = &run->journals[journal];
    struct stat info;
    gg_buf path;
    if (file->fd >= 0)
        return GG_OK;
    gg_status status = gg_run_path(run, names[journal], &path, error);
    if (status == GG_OK)
        file->fd = open(path.data, O_RDWR | O_APPEND | O_CLOEXEC | (create ? O_CREAT : 0), 0666);
    gg_buf_free(&path);
    if (status != GG_OK)
        return status;
    if (file->fd < 0)
        return errno == ENOENT && !create ? GG_OK : cannot(run, "open", names[journal], error);
    if (fstat(file->fd, &info) != 0)
        return cannot(run, "read", names[journal], error);
    file->size = info.st_size;
    return GG_OK;
}

static gg_status open_all(gg_run *run, gg_error *error)
{
    gg_status status = GG_OK;
    for (int i = 0; i < GG_JOURNAL_COUNT && status == GG_OK; i++)
        status = gg_run_open_journal(run, (gg_journal)i, false, error);
    return status;
}

/* The first journal that holds a complete line; GG_JOURNAL_COUNT when none does. */
static gg_status first_with_lines(gg_run *run, gg_journal *found, gg_error *error)
{
    for (*found = 0; *found < GG_JOURNAL_COUNT; (*found)++) {
        off_t size = 0;
        int fd = run->journals[*found].fd;
        gg_status status = fd >= 0 ? gg_whole_lines(fd, names[*found], &size, error) : GG_OK;
        if (status != GG_OK || size)
            return status;
    }
    return GG_OK;
}

/* Begins a run or takes up the one that is there. */
static gg_status begin(gg_run *run, const char *config, bool resume, gg_error *error)
{
    gg_journal found;
    gg_status status = open_all(run, error);
    if (status == GG_OK)
        status = first_with_lines(run, &found, error);
    if (status == GG_OK)
        status = gg_run_read_config(run, error);
    if (status != GG_OK)
        return status;
    bool begun = found != GG_JOURNAL_COUNT;
    if (begun && !resume)
        return gg_fail(
            error, GG_E_CONFIG,
            "%s already holds a run (%s has lines); go on with --resume or choose another "
            "folder",
            run->dir, names[found]);
    if (begun && !run->config.len)
        return gg_fail(
            error, GG_E_CONFIG,
            "%s has lines in %s but no run.json to say how they were made; choose another "
            "folder",
            run->dir, names[found]);
    if (resume && run->config.len) {
        status = gg_run_same_config(run, config, error);
        if (status != GG_OK)
            return status;
    }
    status = gg_run_recover(run, error);
    return status == GG_OK && !begun ? gg_run_write_config(run, config, error) : status;
}

gg_status gg_run_open(const char *dir, const char *config, bool resume, gg_run **out,
                      gg_error *error)
{
    gg_run *run = run_new(dir, error);
    *out = NULL;
    if (!run)
        return GG_E_MEMORY;
    gg_status status = gg_dir_make(run->dir, error);
    if (status == GG_OK)
        status = lock(run, error);
    if (status == GG_OK)
        status = begin(run, config, resume, error);
    if (status == GG_OK)
        *out = run;
    else
        gg_run_close(run);
    return status;
}

gg_status gg_run_open_read(const char *dir, gg_run **out, gg_error *error)
{
    gg_run *run = run_new(dir, error);
    *out = NULL;
    if (!run)
        return GG_E_MEMORY;
    gg_status status = gg_run_read_config(run, error);
    if (status == GG_OK && !run->config.len)
        status = gg_fail(error, GG_E_CONFIG, "%s is no run folder: it has no run.json", run->dir);
    if (status == GG_OK)
        *out = run;
    else
        gg_run_close(run);
    return status;
}

static gg_status writable(gg_run *run, gg_journal journal, gg_error *error)
{
    if (run->lock < 0)
        return gg_fail(error, GG_E_STATE, "%s is open for reading only", run->dir);
    return gg_run_open_journal(run, journal, true, error);
}

static gg_status cut_to(gg_run *run, gg_journal journal, off_t size, gg_error *error)
{
    gg_journal_file *file = &run->journals[journal];
    while (ftruncate(file->fd, size) != 0)
        if (errno != EINTR) {
            file->torn = true;
            return cannot(run, "cut back", names[journal], error);
        }
    file->size = size;
    file->torn = false;
    return GG_OK;
}

/* Says why a line could not be written whole, and takes back what was. */
static gg_status take_back(gg_run *run, gg_journal journal, ssize_t done, size_t len,
                           gg_error *error)
{
    gg_status status =
        done < 0 ? cannot(run, "write", names[journal], error)
                 : gg_fail(error, GG_E_IO,
                           "cannot write %s/%s: only %zd of %zu bytes went to the disk, it may be "
                           "full; the run can be resumed",
                           run->dir, names[journal], done, len);
    gg_error cut;
    if (cut_to(run, journal, run->journals[journal].size, &cut) != GG_OK)
        return gg_fail_prefix(error, "%s", cut.text);
    return status;
}

gg_status gg_run_append(gg_run *run, gg_journal journal, const char *line, size_t len,
                        gg_error *error)
{
    gg_journal_file *file = &run->journals[journal];
    const char *newline = memchr(line, '\n', len);
    if (!newline || newline + 1 != line + len)
        return gg_fail(error, GG_E_ARGUMENT, "a journal takes one line with its newline at a time");
    if (len > GG_LINE_MAX)
        return gg_fail(error, GG_E_LIMIT, "a line of %zu bytes is too long for %s/%s", len,
                       run->dir, names[journal]);
    gg_status status = writable(run, journal, error);
    if (status == GG_OK && file->torn)
        status = cut_to(run, journal, file->size, error);
    if (status != GG_OK)
        return status;
    ssize_t done;
    do
        done = write(file->fd, line, len);
    while (done < 0 && errno == EINTR);
    if (done != (ssize_t)len)
        return take_back(run, journal, done, len, error);
    file->size += done;
    return GG_OK;
}

gg_status gg_run_append_episode(gg_run *run, gg_journal episodes, gg_journal tokens,
                                const gg_episode *episode, gg_buf *scratch, gg_error *error)
{
    gg_buf_reset(scratch);
    gg_status status = gg_episode_write_tokens(episode, scratch, error);
    if (status == GG_OK && scratch->len > 0)
        status = gg_run_append(run, tokens, scratch->data, scratch->len, error);
    gg_buf_reset(scratch);
    if (status == GG_OK)
        status = gg_episode_write(episode, scratch, error);
    if (status == GG_OK)
        status = gg_run_append(run, episodes, scratch->data, scratch->len, error);
    return status;
}

gg_status gg_run_sync(gg_run *run, gg_journal journal, gg_error *error)
{
    int fd = run->journals[journal].fd;
    return fd < 0 || fdatasync(fd) == 0 ? GG_OK : cannot(run, "write", names[journal], error);
}

gg_status gg_run_clear(gg_run *run, gg_journal journal, gg_error *error)
{
    return gg_run_cut(run, journal, 0, error);
}

gg_status gg_run_size(gg_run *run, gg_journal journal, int64_t *size, gg_error *error)
{
    *size = 0;
    if (run->lock < 0)
        return gg_fail(error, GG_E_STATE, "%s is open for reading only", run->dir);
    gg_status status = gg_run_open_journal(run, journal, false, error);
    if (status == GG_OK)
        *size = run->journals[journal].size;
    return status;
}

gg_status gg_run_cut(gg_run *run, gg_journal journal, int64_t size, gg_error *error)
{
    int64_t now;
    gg_status status = gg_run_size(run, journal, &now, error);
    if (status != GG_OK || size == now)
        return status;
    if (size < 0 || size > now)
        return gg_fail(error, GG_E_STATE,
                       "%s/%s has %lld bytes and should have had %lld before; lines are missing",
                       run->dir, names[journal], (long long)now, (long long)size);
    return cut_to(run, journal, (off_t)size, error);
}

gg_status gg_run_write_file(const gg_run *run, const char *name, const char *bytes, size_t len,
                            gg_error *error)
{
    gg_buf path;
    gg_status status = gg_run_path(run, name, &path, error);
    if (status == GG_OK)
        status = gg_file_write(path.data, bytes, len, error);
    gg_buf_free(&path);
    return status;
}
