/*
 * The run folder: runs/<name>/ with run.json, append-only journals and summary.json.
 *
 * Lines are written with one write(2) each and recovered after a torn last one: opening cuts a file
 * back to its last complete line, and drops a token record that was written without its episode. A
 * line ends at '\n' and nowhere else. A damaged line in the middle is reported by number and its
 * record counts as not done. One process at a time: the folder is locked (flock on DIR/.lock) while
 * open. A process that writes run folders ignores SIGXFSZ, so that a size limit is an error.
 *
 * Threads: one at a time.
 */
#ifndef GG_CORE_RUN_H
#define GG_CORE_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include <guessgym/buf.h>
#include <guessgym/record.h>

#define GG_RUN_SCHEMA "guessgym.run/1"
#define GG_LINE_MAX   (256u << 20) /* bytes of one line of a journal */

typedef struct gg_run gg_run;

typedef enum gg_journal {
    GG_JOURNAL_EPISODES,    /* episodes.jsonl */
    GG_JOURNAL_TOKENS,      /* tokens.jsonl */
    GG_JOURNAL_GROUPS,      /* groups.jsonl */
    GG_JOURNAL_METRICS,     /* metrics.jsonl */
    GG_JOURNAL_STEP,        /* step.jsonl: the training step in work */
    GG_JOURNAL_STEP_TOKENS, /* step-tokens.jsonl */
    GG_JOURNAL_COUNT
} gg_journal;

/* "episodes.jsonl" ...; static storage. */
const char *gg_journal_name(gg_journal journal);

/* Creates DIR (and parents) or opens it. `config` is the resolved configuration, a JSON object; it
 * becomes the member "config" of run.json: {"schema", "version", "config"}. Without `resume` a
 * folder that already holds lines is refused (GG_E_CONFIG) and left as it was; with it, so is a
 * configuration that differs, and every key that does is named. Resuming an empty folder is
 * beginning. GG_E_LOCKED when another process has it open. */
gg_status gg_run_open(const char *dir, const char *config, bool resume, gg_run **out,
                      gg_error *error);
/* Opens for reading only: no lock, nothing created or cut. */
gg_status gg_run_open_read(const char *dir, gg_run **out, gg_error *error);
void gg_run_close(gg_run *run); /* NULL is fine */
const char *gg_run_dir(const gg_run *run);
/* run.json as text; owned by the run. */
const char *gg_run_config(const gg_run *run);

/* Appends a finished line ('\n' included, none inside) in one write. A short write (disk full) is
 * cut back and reported. */
gg_status gg_run_append(gg_run *run, gg_journal journal, const char *line, size_t len,
                        gg_error *error);
/* Appends one play: its token record, if it has one, then its record. `scratch` is reused. */
gg_status gg_run_append_episode(gg_run *run, gg_journal episodes, gg_journal tokens,
                                const gg_episode *episode, gg_buf *scratch, gg_error *error);
/* Flushes to the disk (fdatasync). */
gg_status gg_run_sync(gg_run *run, gg_journal journal, gg_error *error);
/* Removes a journal's contents (the step files once their checkpoint stands). */
gg_status gg_run_clear(gg_run *run, gg_journal journal, gg_error *error);
/* Size in bytes now, and cutting back to an earlier size: a step's records are all or nothing. */
gg_status gg_run_size(gg_run *run, gg_journal journal, int64_t *size, gg_error *error);
gg_status gg_run_cut(gg_run *run, gg_journal journal, int64_t size, gg_error *error);

/* Walks the complete lines of a journal; memory grows with the longest line, not with the file.
 * `each` gets the line without its newline and its number, from 1; a status other than GG_OK ends
 * the walk and is returned. A missing file has no lines. */
typedef gg_status (*gg_line_fn)(void *context, const char *line, size_t len, size_t number,
                                gg_error *error);
gg_status gg_run_each(const gg_run *run, gg_journal journal, gg_line_fn each, void *context,
                      gg_error *error);

/* The same from byte *offset on, which moves behind each line that was handed out: a journal that
 * grows can be followed. Line numbers count from there. */
gg_status gg_run_each_from(const gg_run *run, gg_journal journal, int64_t *offset, gg_line_fn each,
                           void *context, gg_error *error);

/* Lines that were passed over because they hold no whole record. */
typedef struct gg_damage {
    size_t lines;
    size_t first;        /* number of the first of them */
    gg_error first_said; /* file, line number and what is wrong with it; "" when there is none */
} gg_damage;

/* Walks the episodes of a journal. `each` owns the episode it gets. Damaged lines are counted in
 * *damage and passed over; want of memory is an error. */
typedef gg_status (*gg_record_fn)(void *context, gg_episode *episode, gg_error *error);
gg_status gg_run_each_episode(const gg_run *run, gg_journal journal, gg_read_depth depth,
                              gg_record_fn each, void *context, gg_damage *damage, gg_error *error);

/* Writes a journal anew with the lines for which `keep` says so: temporary file, fsync, rename. The
 * journal is left as it was when that fails or when nothing has to go. */
typedef bool (*gg_keep_fn)(void *context, const char *line, size_t len);
gg_status gg_run_keep(gg_run *run, gg_journal journal, gg_keep_fn keep, void *context,
                      gg_error *error);

/* Writes DIR/name whole: temporary file, fsync, rename. */
gg_status gg_run_write_file(const gg_run *run, const char *name, const char *bytes, size_t len,
                            gg_error *error);

#endif
