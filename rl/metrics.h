/*
 * One training step in numbers, under the managed service's metric names.
 *
 * A gg_metrics is an ordered list of names and values; a line of metrics.jsonl is written from it.
 * The functions that fill it are pure functions of plays, groups and datums.
 */
#ifndef GG_RL_METRICS_H
#define GG_RL_METRICS_H

#include "core/health.h"
#include "rl/datum.h"
#include "rl/groups.h"

#define GG_METRIC_NAME 64

typedef struct gg_metric {
    char name[GG_METRIC_NAME];
    double value; /* not a number = unknown, written as null */
} gg_metric;

typedef struct gg_metrics {
    gg_metric *items;
    size_t count, room;
    gg_status status; /* GG_E_MEMORY once an add failed */
} gg_metrics;

void gg_metrics_free(gg_metrics *metrics);
/* Sets prefix + name; a name that is there is replaced. */
void gg_metrics_set(gg_metrics *metrics, const char *prefix, const char *name, double value);
/* The value, or NaN. */
double gg_metrics_get(const gg_metrics *metrics, const char *name);

/* reward/, turns/, tokens/ and logprob/ of plays, under "rollout/" or "val/". */
void gg_metrics_plays(gg_metrics *metrics, const char *prefix, gg_episode *const *plays,
                      size_t count);
/* rollout/advantage/, rollout/reward/valid_mean and analysis/. */
void gg_metrics_groups(gg_metrics *metrics, const gg_groups *groups);
/* training/ counts of what is submitted. */
void gg_metrics_datums(gg_metrics *metrics, const gg_datums *datums, size_t plays);

/* Appends "name":value pairs, each after a comma. */
void gg_metrics_write(const gg_metrics *metrics, gg_buf *out);

/* Counts of a ledger and of tokens over plays, as the step's line holds them. */
typedef struct gg_step_count {
    int64_t planned, by_outcome[GG_OUTCOME_COUNT];
    int64_t prefill, sample, train; /* tokens; GG_TOKENS_UNKNOWN once a reply did not say */
    gg_health health;
} gg_step_count;
void gg_step_count_plays(gg_step_count *count, gg_episode *const *plays, size_t plays_count);
void gg_step_count_write(const gg_step_count *count, gg_buf *out);

#endif
