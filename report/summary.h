/*
 * What a set of plays came to: the figures that eval and rollout print and summary.json holds.
 *
 * The figures are a pure function of the set of records, whatever order they came in, so the
 * running total of a run and a later reading of its journal give the same bytes.
 *
 * Rates: solve rate = solved / (planned - errored - unplayed). Its interval is Wilson's for one
 * play a task, else a bootstrap over tasks, since plays of one task are not independent. Where
 * every play ended alike that bootstrap has no width, and Wilson's over the tasks stands in.
 *
 * Ownership: gg_summary keeps a few numbers a play, no record. Threads: one at a time.
 */
#ifndef GG_REPORT_SUMMARY_H
#define GG_REPORT_SUMMARY_H

#include <guessgym/buf.h>
#include <guessgym/record.h>

#include "core/health.h"
#include "core/run.h"
#include "core/stats.h"

#define GG_SUMMARY_SEED 42 /* of the bootstraps */

typedef struct gg_summary gg_summary;

/* `tasks` groups of `samples` plays. */
gg_status gg_summary_new(size_t tasks, size_t samples, gg_summary **out, gg_error *error);
void gg_summary_free(gg_summary *summary);
/* Takes a play in. A play outside of the plan, or of a place that is taken, is GG_E_FORMAT. */
gg_status gg_summary_add(gg_summary *summary, const gg_episode *episode, gg_error *error);
/* A play of this place was taken in. */
bool gg_summary_has(const gg_summary *summary, int64_t group, int64_t sample);
/* Takes in the whole journal of a run folder. */
gg_status gg_summary_read(gg_summary *summary, const gg_run *run, gg_error *error);

typedef struct gg_repair_count {
    const char *kind;
    int64_t count;
} gg_repair_count;

/* Of k plays of a task at least one is solved, or all are: means over the tasks, unbiased. Tasks
 * with fewer than k plays that count are left out of that k. */
#define GG_PASS_MOST 22
typedef struct gg_pass_k {
    int64_t k;
    double any, all;
} gg_pass_k;

/* Figures; a rate of nothing is NaN (null in JSON). Pointers live as long as the summary. */
typedef struct gg_figures {
    int64_t planned, by_outcome[GG_OUTCOME_COUNT]; /* [GG_UNPLAYED] = unplayed */
    double solve_rate, solve_rate_pessimistic;     /* the latter counts errored as unsolved */
    gg_interval solve_interval;
    const char *measure_name; /* NULL before the first play */
    double measure_mean;
    gg_interval measure_interval;
    double failure_rate, mean_turns, mean_moves;
    const int64_t *move_histogram;  /* plays by number of moves, 0 .. move_count - 1; no errored */
    const int64_t *solved_by_moves; /* the solved ones among them */
    size_t move_count;
    int64_t prompt_tokens, completion_tokens, reasoning_tokens; /* GG_TOKENS_UNKNOWN */
    double tokens_per_turn;
    const gg_repair_count *repairs; /* sorted by kind */
    size_t repair_count;
    gg_pass_k pass[GG_PASS_MOST]; /* for k = 1, 2, 4 ... and all plays of a task */
    size_t pass_count;            /* 0 with one play a task */
    double wall_s;                /* time in which at least one play was under way */
    double reward_mean;
    int64_t groups, groups_refused, groups_without_signal; /* groups = those that are whole */
    gg_health health;
} gg_figures;

gg_status gg_summary_figures(gg_summary *summary, gg_figures *out, gg_error *error);

/* Where the tasks came from; every summary names it. */
typedef struct gg_summary_list {
    const char *name;
    size_t count;
    const char *identity;
} gg_summary_list;

/* The figures as one JSON object without newline, keys in a fixed order. `groups` adds the keys of
 * a rollout. */
void gg_figures_write(const gg_figures *figures, const gg_summary_list *list, bool groups,
                      gg_buf *out);

#endif
