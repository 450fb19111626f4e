/*
 * Two runs of the same tasks against each other.
 *
 * Plays are paired by task key; a pair's values are the means over its plays, errored ones left
 * out. The interval of the difference is a bootstrap over pairs, the p-value an exact McNemar test
 * where every task was played once and the value is 0 or 1, else a permutation of signs. The
 * verdict is read off the interval: `better` or `worse` when it lies on one side of 0, else `cannot
 * tell`.
 *
 * Journals are streamed: memory grows with the number of tasks, not of plays.
 */
#ifndef GG_REPORT_COMPARE_H
#define GG_REPORT_COMPARE_H

#include <guessgym/buf.h>

#include "core/run.h"
#include "core/stats.h"

typedef enum gg_compare_by { GG_BY_MEASURE, GG_BY_SOLVED, GG_BY_REWARD, GG_BY_COUNT } gg_compare_by;

/* "measure", "solved", "reward"; GG_BY_COUNT for another name. */
gg_compare_by gg_compare_by_parse(const char *name);

typedef struct gg_comparison {
    size_t pairs, better, worse, same;
    double before, after, difference; /* means over the pairs */
    gg_interval interval;             /* of the difference, 95 % */
    double p_value;
    bool exact; /* McNemar */
    const char *verdict;
    double pairs_needed; /* tasks that would tell a difference like this one in 8 of 10 cases;
                            infinite when there is none */
    size_t only_before, only_after;        /* tasks without a partner */
    int64_t errored_before, errored_after; /* plays that were left out */
    int64_t damaged;                       /* lines that are no records, left out too */
} gg_comparison;

typedef struct gg_compare_options {
    gg_compare_by by;
    bool common;   /* tasks without a partner are left out instead of refused */
    uint64_t seed; /* of the bootstrap */
} gg_compare_options;

/* Runs of different games, measures or (by reward) rewards, and runs without a common task are
 * GG_E_CONFIG; so are tasks without a partner, unless `common`. */
gg_status gg_compare_runs(const gg_run *before, const gg_run *after,
                          const gg_compare_options *options, gg_comparison *out, gg_error *error);
/* One JSON object without newline. */
void gg_comparison_write(const gg_comparison *comparison, gg_buf *out);

#endif
