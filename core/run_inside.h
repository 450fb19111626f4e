/* What the files of the run folder (run.c, run_config.c, run_read.c, run_recover.c) share. */
#ifndef GG_CORE_RUN_INSIDE_H
#define GG_CORE_RUN_INSIDE_H

#include "core/run.h"

#include <sys/types.h>

typedef struct gg_journal_file {
    int fd; /* -1 until it is written to */
    off_t size;
    bool torn; /* a failed write could not be cut back; tried again before the next */
} gg_journal_file;

struct gg_run {
    char *dir;
    gg_buf config; /* run.json */
    gg_journal_file journals[GG_JOURNAL_COUNT];
    int lock; /* -1 when opened for reading */
};

/* Appends DIR/name with its NUL. */
gg_status gg_run_path(const gg_run *run, const char *name, gg_buf *path, gg_error *error);

/* Opens a journal; one that is missing stays closed unless `create`. */
gg_status gg_run_open_journal(gg_run *run, gg_journal journal, bool create, gg_error *error);

/* run_config.c: reads run.json into run->config; an empty buffer when there is none. */
gg_status gg_run_read_config(gg_run *run, gg_error *error);
gg_status gg_run_write_config(gg_run *run, const char *config, gg_error *error);
/* GG_E_CONFIG, with the keys in the sentence, when `config` differs from run.json's. */
gg_status gg_run_same_config(const gg_run *run, const char *config, gg_error *error);

/* run_recover.c: how many bytes of the open file make complete lines. */
gg_status gg_whole_lines(int fd, const char *path, off_t *size, gg_error *error);
/* Cuts torn last lines and orphaned token records; all journals that exist are open. */
gg_status gg_run_recover(gg_run *run, gg_error *error);

#endif
