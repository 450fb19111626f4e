/*
 * The reward lab's figures: trainings under several rewards, several seeds each, on the same tasks,
 * judged by what they solve and not by what they earn.
 *
 * Solve rates are pooled over the seeds; their intervals are a bootstrap over tasks. Which reward
 * is better is read off the differences between seeds: trainings differ by luck, and plays of one
 * training tell nothing of that. The interval of a difference is Student's over the seeds, widened
 * for the number of comparisons (Bonferroni), so one seed can tell nothing.
 *
 * A reward is called gamed when its own mean on the validation tasks rose in every seed while the
 * solve rate did not: the interval of its change, pooled over the seeds, does not lie above 0.
 */
#ifndef GG_REPORT_SHAPE_H
#define GG_REPORT_SHAPE_H

#include <stdbool.h>

#include <guessgym/buf.h>

#include "core/run.h"
#include "core/stats.h"

#define GG_SHAPE_REWARDS 16
#define GG_SHAPE_SEEDS   64
#define GG_SHAPE_POINTS  4 /* before, a quarter, half, all of the steps */

typedef struct gg_shape_point {
    int64_t step, plays;
    double rate; /* pooled */
    gg_interval interval;
    double by_seed[GG_SHAPE_SEEDS];
} gg_shape_point;

typedef struct gg_shape_reward {
    const char *name;
    gg_shape_point points[GG_SHAPE_POINTS];
    double own_before, own_after; /* the reward's own mean on the validation tasks */
    int rose;                     /* seeds in which it rose */
    double silent;                /* share of training groups without signal */
    double tokens_per_play;       /* sampled, in the last quarter; NaN when not told */
    gg_interval change;           /* of the solve rate, from before to after */
    bool gamed;
} gg_shape_reward;

typedef struct gg_shape_verdict { /* the best against another */
    size_t other;
    double difference; /* of the solve rates at the end */
    gg_interval interval;
    bool better;
} gg_shape_verdict;

typedef struct gg_shape_figures {
    size_t rewards, seeds, group_size;
    gg_shape_reward reward[GG_SHAPE_REWARDS];
    double expected_silent;   /* groups without signal by outcome, from the plays before */
    double expected_if_alike; /* the same if all tasks were equally hard: p^G + (1-p)^G */
    size_t best;
    gg_shape_verdict verdict[GG_SHAPE_REWARDS];
    size_t verdict_count;
} gg_shape_figures;

typedef struct gg_shape gg_shape;

gg_status gg_shape_new(const char *const *rewards, size_t reward_count, size_t seeds,
                       size_t group_size, const int64_t steps[GG_SHAPE_POINTS], gg_shape **out,
                       gg_error *error);
void gg_shape_free(gg_shape *shape);
/* The plays of the untrained policy, which stand for step 0 of every training. */
gg_status gg_shape_add_before(gg_shape *shape, const gg_run *run, gg_error *error);
/* One training: its folder, its validation's, and plays of the policy it ended with. */
gg_status gg_shape_add(gg_shape *shape, size_t reward, size_t seed, const gg_run *training,
                       const gg_run *validation, const gg_run *after, gg_error *error);
gg_status gg_shape_finish(gg_shape *shape, gg_shape_figures *out, gg_error *error);
/* What the untrained plays alone let expect; usable before any training. */
gg_status gg_shape_expect(gg_shape *shape, gg_shape_figures *out, gg_error *error);

/* One JSON object without newline. */
void gg_shape_write(const gg_shape_figures *figures, gg_buf *out);

#endif
