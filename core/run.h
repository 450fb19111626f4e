/*
 * The run folder: runs/<name>/ with run.json, append-only journals and summary.json.
 *
 * Lines are written with one write(2) each and recovered after a torn last one: opening cuts a file
 * back to its last complete line. A damaged line in the middle is reported by number and its record
 * counts as not done. One process at a time: the folder is locked (flock on DIR/.lock) while open.
 *
 * Threads: one at a time.
 */
#ifndef GG_CORE_RUN_H
#define GG_CORE_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include <guessgym/buf.h>

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

/* Creates DIR (and parents) or opens it. `config` is run.json's resolved configuration as JSON.
 * Without `resume` a folder that already holds episodes is refused; with it, every key of
 * run.json's "config" that differs is named and refused. */
gg_status gg_run_open(const char *dir, const char *config, bool resume, gg_run **out,
                      gg_error *error);
/* Opens for reading only: no lock, nothing created. */
gg_status gg_run_open_read(const char *dir, gg_run **out, gg_error *error);
void gg_run_close(gg_run *run);
const char *gg_run_dir(const gg_run *run);
/* run.json as text; owned by the run. */
const char *gg_run_config(const gg_run *run);

/* Appends a finished line ('\n' included) in one write. A short write (disk full) is cut back and
 * reported. */
gg_status gg_run_append(gg_run *run, gg_journal journal, const char *line, size_t len,
                        gg_error *error);
/* Flushes to the disk (fdatasync). */
gg_status gg_run_sync(gg_run *run, gg_journal journal, gg_error *error);
/* Removes a journal's contents (the step files once their checkpoint stands). */
gg_status gg_run_clear(gg_run *run, gg_journal journal, gg_error *error);
/* Size in bytes now, and cutting back to an earlier size: a step's records are all or nothing. */
gg_status gg_run_size(gg_run *run, gg_journal journal, int64_t *size, gg_error *error);
gg_status gg_run_cut(gg_run *run, gg_journal journal, int64_t size, gg_error *error);

/* Walks the lines of a journal; memory does not grow with the file. `each` gets the line without
 * its newline; a status other than GG_OK ends the walk and is returned. A missing file has no
 * lines. */
typedef gg_status (*gg_line_fn)(void *context, const char *line, size_t len, size_t number,
                                gg_error *error);
gg_status gg_run_each(const gg_run *run, gg_journal journal, gg_line_fn each, void *context,
                      gg_error *error);

/* Writes DIR/name whole: temporary file, fsync, rename. */
gg_status gg_run_write_file(const gg_run *run, const char *name, const char *bytes, size_t len,
                            gg_error *error);

#endif
