#include "core/run_inside.h"
#include "core/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE  (64u << 10)
#define ID_MAX 256

static gg_status cannot_read(const char *path, gg_error *error)
{
    return gg_fail(error, GG_E_IO, "cannot read %s: %s", path, strerror(errno));
}

/* Position one past the last newline before `end`; 0 when there is none. */
static gg_status last_newline(int fd, const char *path, off_t end, off_t *found, gg_error *error)
{
    char piece[PIECE];
    *found = 0;
    while (end > 0) {
        size_t want = end > (off_t)sizeof piece ? sizeof piece : (size_t)end;
        ssize_t got = pread(fd, piece, want, end - (off_t)want);
        if (got < 0 && errno == EINTR)
            continue;
        if (got != (ssize_t)want)
            return cannot_read(path, error);
        const char *newline = memrchr(piece, '\n', want);
        end -= (off_t)want;
        if (newline) {
            *found = end + (newline - piece) + 1;
            return GG_OK;
        }
    }
    return GG_OK;
}

gg_status gg_whole_lines(int fd, const char *path, off_t *size, gg_error *error)
{
    off_t end = lseek(fd, 0, SEEK_END);
    if (end < 0)
        return cannot_read(path, error);
    return last_newline(fd, path, end, size, error);
}

/* An id in storage of its own: reading one cannot fail for want of memory, which would look like an
 * id that is not there. */
typedef struct id_text {
    char text[ID_MAX + 1];
} id_text;

/* The "id" of a line, from its first members; "" when it has none. */
static void read_id(const char *line, size_t len, id_text *id)
{
    gg_json_reader reader = gg_json_reader_make(line, len);
    gg_json_name name;
    gg_buf buf = {.data = id->text, .room = sizeof id->text, .maximum = ID_MAX};
    gg_buf_reset(&buf);
    if (!gg_read_object(&reader))
        return;
    while (gg_read_name(&reader, &name)) {
        if (gg_name_is(name, "id")) {
            if (!gg_read_string(&reader, &buf))
                gg_buf_reset(&buf);
            return;
        }
        if (!gg_read_skip(&reader))
            return;
    }
}

/* Looks for one episode, and reads no more of a line than its id. */
typedef struct search {
    id_text wanted;
    bool found;
} search;

static gg_status search_line(void *context, const char *line, size_t len, size_t number,
                             gg_error *error)
{
    search *s = context;
    id_text id = {""};
    (void)number;
    (void)error;
    read_id(line, len, &id);
    s->found = s->found || strcmp(id.text, s->wanted.text) == 0;
    return GG_OK;
}

/* Reads the id of the last line; *start = where the line begins. */
static gg_status last_id(const gg_run *run, gg_journal journal, off_t *start, id_text *id,
                         gg_error *error)
{
    const gg_journal_file *file = &run->journals[journal];
    const char *name = gg_journal_name(journal);
    gg_status status = last_newline(file->fd, name, file->size - 1, start, error);
    if (status != GG_OK)
        return status;
    size_t len = (size_t)(file->size - *start);
    char *line = malloc(len);
    if (!line)
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading %s/%s", run->dir, name);
    if (pread(file->fd, line, len, *start) != (ssize_t)len)
        status = cannot_read(name, error);
    else
        read_id(line, len, id);
    free(line);
    return status;
}

/* Whether the wanted episode stands in the journal: nearly always it is on the last line. */
static gg_status has_episode(const gg_run *run, gg_journal journal, search *s, gg_error *error)
{
    off_t start;
    id_text last = {""};
    if (run->journals[journal].fd < 0 || run->journals[journal].size == 0)
        return GG_OK;
    gg_status status = last_id(run, journal, &start, &last, error);
    if (status == GG_OK)
        s->found = strcmp(last.text, s->wanted.text) == 0;
    if (status != GG_OK || s->found)
        return status;
    return gg_run_each(run, journal, search_line, s, error);
}

/* A token record is written before its episode, so the last one may have none: the episode was
 * never finished, or its line was torn and cut. */
static gg_status drop_orphan(gg_run *run, gg_journal tokens, gg_journal journal, gg_error *error)
{
    search s = {.wanted = {""}};
    off_t start;
    if (run->journals[tokens].fd < 0 || run->journals[tokens].size == 0)
        return GG_OK;
    gg_status status = last_id(run, tokens, &start, &s.wanted, error);
    if (status == GG_OK)
        status = has_episode(run, journal, &s, error);
    if (status == GG_OK && !s.found)
        status = gg_run_cut(run, tokens, start, error);
    return status;
}

gg_status gg_run_recover(gg_run *run, gg_error *error)
{
    for (int i = 0; i < GG_JOURNAL_COUNT; i++) {
        gg_journal journal = (gg_journal)i;
        off_t size = 0;
        if (run->journals[i].fd < 0)
            continue;
        gg_status status =
            gg_whole_lines(run->journals[i].fd, gg_journal_name(journal), &size, error);
        if (status == GG_OK)
            status = gg_run_cut(run, journal, size, error);
        if (status != GG_OK)
            return status;
    }
    gg_status status = drop_orphan(run, GG_JOURNAL_TOKENS, GG_JOURNAL_EPISODES, error);
    if (status == GG_OK)
        status = drop_orphan(run, GG_JOURNAL_STEP_TOKENS, GG_JOURNAL_STEP, error);
    return status;
}
