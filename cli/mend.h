/*
 * Makes a run folder ready to go on: episodes that errored and lines that are damaged are taken
 * out, with their token records and the groups that were refused for their sake, so that they are
 * played again. Nothing else is touched. A kill in the middle leaves a folder that can be mended
 * again.
 */
#ifndef GG_CLI_MEND_H
#define GG_CLI_MEND_H

#include "core/run.h"

typedef struct gg_mended {
    size_t errored, damaged;
} gg_mended;

/* The run has `tasks` groups of `samples` plays. */
gg_status gg_mend_run(gg_run *run, size_t tasks, size_t samples, gg_mended *out, gg_error *error);

#endif
