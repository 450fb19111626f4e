/*
 * One HTML page of one run, or of a run before and after: figures, curves, tables, and every play
 * with its board. The page needs no network and runs no code but its own: a policy in its head
 * allows the digest of its one script and nothing else, and text of models and datasets is data to
 * it, never markup.
 *
 * The journals are read twice, as streams: first the figures, then the plays, which go into the
 * page deflated, in pieces that the page opens when they are looked at. Memory grows with the
 * tasks, not with the plays.
 *
 * Threads: one at a time. Curves are drawn by gnuplot where it is there; without it their numbers
 * stand in a table.
 */
#ifndef GG_REPORT_REPORT_H
#define GG_REPORT_REPORT_H

#include "core/run.h"
#include "env/env.h"

#define GG_REPORT_RUNS  2
#define GG_REPORT_PLAYS 10000 /* shown in the viewer; figures count all */

typedef struct gg_report_options {
    const gg_run *runs[GG_REPORT_RUNS]; /* the second NULL for one run */
    const char *names[GG_REPORT_RUNS];
    const gg_game *game;
    size_t plays;  /* most in the viewer; 0 = GG_REPORT_PLAYS */
    uint64_t seed; /* of intervals, and of which plays are shown where not all are */
    bool no_plots;
} gg_report_options;

/* Gets the page in pieces, in order. */
typedef gg_status (*gg_report_write_fn)(void *context, const char *bytes, size_t len,
                                        gg_error *error);

/* Two runs of different games or without a common task are GG_E_CONFIG. */
gg_status gg_report_write(const gg_report_options *options, gg_report_write_fn write, void *context,
                          gg_error *error);

#endif
