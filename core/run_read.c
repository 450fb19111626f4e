#include "core/run_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define READ_PIECE (256u << 10)

/* A journal being walked: whole lines are handed out from `held`, the rest moves to its front. */
typedef struct walker {
    const gg_run *run;
    const char *name;
    int fd;
    gg_buf held;
    size_t number;
    int64_t *offset; /* behind the lines that were handed out; NULL = nobody asks */
    gg_line_fn each;
    void *context;
} walker;

/* Hands out the complete lines that are held. */
static gg_status hand_out(walker *w, size_t searched, gg_error *error)
{
    size_t start = 0;
    char *data = w->held.data;
    for (;;) {
        char *newline = memchr(data + searched, '\n', w->held.len - searched);
        if (!newline)
            break;
        size_t end = (size_t)(newline - data);
        gg_status status = w->each(w->context, data + start, end - start, ++w->number, error);
        if (status != GG_OK)
            return status;
        if (w->offset)
            *w->offset += (int64_t)(end + 1 - start);
        start = searched = end + 1;
    }
    memmove(data, data + start, w->held.len - start);
    gg_buf_truncate(&w->held, w->held.len - start);
    return GG_OK;
}

static gg_status walk(walker *w, gg_error *error)
{
    for (;;) {
        gg_buf_reserve(&w->held, READ_PIECE);
        if (w->held.status == GG_E_LIMIT)
            return gg_fail(error, GG_E_LIMIT, "%s/%s: line %zu is longer than %u bytes",
                           w->run->dir, w->name, w->number + 1, GG_LINE_MAX);
        if (w->held.status != GG_OK)
            return gg_buf_status(&w->held, w->name, error);
        size_t searched = w->held.len;
        ssize_t got = read(w->fd, w->held.data + searched, READ_PIECE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return gg_fail(error, GG_E_IO, "cannot read %s/%s: %s", w->run->dir, w->name,
                           strerror(errno));
        if (got == 0)
            return GG_OK; /* what is held is a torn last line */
        w->held.len += (size_t)got;
        w->held.data[w->held.len] = '\0';
        gg_status status = hand_out(w, searched, error);
        if (status != GG_OK)
            return status;
    }
}

gg_status gg_run_each(const gg_run *run, gg_journal journal, gg_line_fn each, void *context,
                      gg_error *error)
{
    return gg_run_each_from(run, journal, NULL, each, context, error);
}

gg_status gg_run_each_from(const gg_run *run, gg_journal journal, int64_t *offset, gg_line_fn each,
                           void *context, gg_error *error)
{
    walker w = {.run = run,
                .name = gg_journal_name(journal),
                .offset = offset,
                .each = each,
                .context = context};
    gg_buf path;
    gg_status status = gg_run_path(run, w.name, &path, error);
    w.fd = status == GG_OK ? open(path.data, O_RDONLY | O_CLOEXEC) : -1;
    gg_buf_free(&path);
    if (status != GG_OK)
        return status;
    if (w.fd < 0)
        return errno == ENOENT ? GG_OK
                               : gg_fail(error, GG_E_IO, "cannot open %s/%s: %s", run->dir, w.name,
                                         strerror(errno));
    gg_buf_init(&w.held, (size_t)GG_LINE_MAX + READ_PIECE);
    if (offset && lseek(w.fd, (off_t)*offset, SEEK_SET) < 0)
        status =
            gg_fail(error, GG_E_IO, "cannot read %s/%s: %s", run->dir, w.name, strerror(errno));
    if (status == GG_OK)
        status = walk(&w, error);
    gg_buf_free(&w.held);
    close(w.fd);
    return status;
}

typedef struct episodes {
    const gg_run *run;
    const char *name;
    gg_read_depth depth;
    gg_record_fn each;
    void *context;
    gg_damage *damage;
} episodes;

static gg_status each_line(void *context, const char *line, size_t len, size_t number,
                           gg_error *error)
{
    episodes *walk_of = context;
    gg_damage *damage = walk_of->damage;
    gg_episode *episode;
    gg_error said;
    gg_status status = gg_episode_read(line, len, walk_of->depth, &episode, &said);
    if (status == GG_OK)
        return walk_of->each(walk_of->context, episode, error);
    if (status != GG_E_FORMAT)
        return gg_fail(error, status, "%s/%s: line %zu: %s", walk_of->run->dir, walk_of->name,
                       number, said.text);
    if (damage->lines++ == 0) {
        damage->first = number;
        gg_fail(&damage->first_said, status, "%s/%s: line %zu: %s", walk_of->run->dir,
                walk_of->name, number, said.text);
    }
    return GG_OK;
}

gg_status gg_run_each_episode(const gg_run *run, gg_journal journal, gg_read_depth depth,
                              gg_record_fn each, void *context, gg_damage *damage, gg_error *error)
{
    *damage = (gg_damage){0};
    episodes walk_of = {run, gg_journal_name(journal), depth, each, context, damage};
    return gg_run_each(run, journal, each_line, &walk_of, error);
}
