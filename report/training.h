/*
 * What a training came to: the figures of its summary.json, computed from metrics.jsonl alone, so
 * that a later reading gives the same.
 */
#ifndef GG_REPORT_TRAINING_H
#define GG_REPORT_TRAINING_H

#include "core/run.h"
#include "report/summary.h"

typedef struct gg_training_figures {
    int64_t steps, plays, weight_version;
    int64_t planned, by_outcome[GG_OUTCOME_COUNT]; /* over all training plays */
    int64_t prefill, sample, train;                /* tokens, or GG_TOKENS_UNKNOWN */
    int64_t groups, groups_without_signal, groups_refused, stale_datums;
    double first_solve_rate, last_solve_rate; /* of the training plays; NaN when there are none */
    double val_before, val_after; /* first and last validation; NaN when there was none */
    int64_t val_before_step, val_after_step;
    double cost_usd, wall_s; /* NaN when unknown */
    gg_health health;        /* of all plays, those of validation too */
} gg_training_figures;

gg_status gg_training_read(const gg_run *run, gg_training_figures *out, gg_error *error);
/* One JSON object without newline; `adapter` is its path or NULL, `stopped` why it ended early or
 * NULL. */
void gg_training_write(const gg_training_figures *figures, const gg_summary_list *list,
                       const char *adapter, const char *stopped, gg_buf *out);

#endif
