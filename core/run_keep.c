#include "core/run_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PART_SUFFIX ".part"
#define PIECE       (1u << 20) /* written at a time */

/* A journal being written anew. */
typedef struct copy {
    int fd;
    const char *path;
    gg_buf held; /* kept lines that are not written yet */
    size_t dropped;
    gg_keep_fn keep;
    void *context;
} copy;

static gg_status cannot_write(const copy *c, gg_error *error)
{
    return gg_fail(error, GG_E_IO, "cannot write %s: %s", c->path, strerror(errno));
}

static gg_status flush(copy *c, gg_error *error)
{
    for (size_t done = 0; done < c->held.len;) {
        ssize_t put = write(c->fd, c->held.data + done, c->held.len - done);
        if (put < 0 && errno != EINTR)
            return cannot_write(c, error);
        done += put > 0 ? (size_t)put : 0;
    }
    gg_buf_reset(&c->held);
    return GG_OK;
}

static gg_status copy_line(void *context, const char *line, size_t len, size_t number,
                           gg_error *error)
{
    copy *c = context;
    (void)number;
    if (!c->keep(c->context, line, len)) {
        c->dropped++;
        return GG_OK;
    }
    gg_buf_add(&c->held, line, len);
    gg_buf_char(&c->held, '\n');
    if (c->held.status != GG_OK)
        return gg_buf_status(&c->held, c->path, error);
    return c->held.len < PIECE ? GG_OK : flush(c, error);
}

static gg_status copy_lines(gg_run *run, gg_journal journal, copy *c, gg_error *error)
{
    c->fd = open(c->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (c->fd < 0)
        return cannot_write(c, error);
    gg_status status = gg_run_each(run, journal, copy_line, c, error);
    if (status == GG_OK)
        status = flush(c, error);
    if (status == GG_OK && fsync(c->fd) != 0)
        status = cannot_write(c, error);
    close(c->fd);
    return status;
}

/* Puts the copy in the journal's place and opens it. */
static gg_status replace(gg_run *run, gg_journal journal, const copy *c, gg_error *error)
{
    gg_journal_file *file = &run->journals[journal];
    gg_buf path;
    gg_status status = gg_run_path(run, gg_journal_name(journal), &path, error);
    if (status == GG_OK && rename(c->path, path.data) != 0)
        status = cannot_write(c, error);
    gg_buf_free(&path);
    if (status != GG_OK)
        return status;
    if (file->fd >= 0)
        close(file->fd);
    *file = (gg_journal_file){.fd = -1};
    return gg_run_open_journal(run, journal, false, error);
}

gg_status gg_run_keep(gg_run *run, gg_journal journal, gg_keep_fn keep, void *context,
                      gg_error *error)
{
    char name[64];
    gg_buf path;
    copy c = {.keep = keep, .context = context};
    if (run->lock < 0)
        return gg_fail(error, GG_E_STATE, "%s is open for reading only", run->dir);
    snprintf(name, sizeof name, "%s" PART_SUFFIX, gg_journal_name(journal));
    gg_status status = gg_run_path(run, name, &path, error);
    if (status == GG_OK) {
        c.path = path.data;
        gg_buf_init(&c.held, (size_t)GG_LINE_MAX + PIECE);
        status = copy_lines(run, journal, &c, error);
        if (status == GG_OK && c.dropped > 0)
            status = replace(run, journal, &c, error);
        else
            unlink(c.path);
        gg_buf_free(&c.held);
    }
    gg_buf_free(&path);
    return status;
}
