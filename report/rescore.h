/*
 * Saved plays under other rewards: what each reward would have paid, what a training would have
 * learned from it, and where it pays for the wrong thing.
 *
 * Plays are streamed. What is kept: the plays of groups that are not whole yet (at most
 * GG_RESCORE_OPEN groups; a training step's end closes those of the step before), a bounded
 * distribution and a few examples a reward. So memory does not grow with the run.
 *
 * Holes, all seen from records alone:
 *   loss_beats_solve          a lost play earned more than a solved one
 *   forfeit_beats_play        a play that was given up or cut earned more than one that was lost
 *   unsolved_group_has_signal a group without a solved play still tells its plays apart, so that a
 *                             training learns from it what does not solve
 *   pays_for_repetition       a call with the name and arguments of an earlier one raised the
 * reward pays_for_refused_calls    a call that was refused, or could not be run, raised it The last
 * two compare the record up to and including that call with the record up to before it, both as
 * lost plays: what the call alone was worth.
 *
 * Errored plays are counted and left out; a group with one is refused, as a training would.
 */
#ifndef GG_REPORT_RESCORE_H
#define GG_REPORT_RESCORE_H

#include <guessgym/buf.h>

#include "core/run.h"
#include "env/reward/reward.h"

#define GG_RESCORE_REWARDS 16
#define GG_RESCORE_OPEN    4096 /* groups held at a time */
#define GG_RESCORE_ID      48   /* bytes of an episode's id, its NUL included */
#define GG_RESCORE_BINS    14   /* of advantages: half a unit each, from below -3 to 3 and above */
#define GG_RESCORE_PARTS   65   /* the total, and the parts */
#define GG_RESCORE_NAME    64

typedef enum gg_hole_kind {
    GG_HOLE_LOSS_BEATS_SOLVE,
    GG_HOLE_FORFEIT_BEATS_PLAY,
    GG_HOLE_UNSOLVED_SIGNAL,
    GG_HOLE_REPETITION,
    GG_HOLE_REFUSED,
    GG_HOLE_COUNT
} gg_hole_kind;

const char *gg_hole_name(gg_hole_kind kind);

/* A play kept as an example; "" = none. */
typedef struct gg_rescore_example {
    char id[GG_RESCORE_ID];
    double reward;
} gg_rescore_example;

/* What calls of one kind were worth in one part; parts[0] is the reward itself, named "reward". */
typedef struct gg_rescore_part {
    char name[GG_RESCORE_NAME];
    int64_t calls, paid; /* calls looked at; those that raised it */
    double sum;          /* of what all of them were worth, weighted */
    bool unweighted;     /* a script's part: by how much it grew, not what that earned */
    gg_rescore_example most;
} gg_rescore_part;

typedef struct gg_rescore_tally {
    int64_t plays;
    double mean, squares; /* running mean and sum of squared distances (Welford 1962) */
    gg_rescore_example least, most;
    int64_t by_outcome[GG_OUTCOME_COUNT];
    double sum_by_outcome[GG_OUTCOME_COUNT];
    gg_rescore_example least_by[GG_OUTCOME_COUNT], most_by[GG_OUTCOME_COUNT];
    int64_t silent_groups;   /* all plays earned the same */
    int64_t unsolved_signal; /* groups without a solved play whose rewards differ ... */
    char unsolved_example[GG_RESCORE_ID];
    int64_t inverted_groups; /* a lost play out-earned a solved one of its own group */
    int64_t advantages[GG_RESCORE_BINS];
    gg_rescore_part repeated[GG_RESCORE_PARTS], refused[GG_RESCORE_PARTS];
    size_t repeated_count, refused_count;
    /* filled by gg_rescore_finish */
    double spread;           /* population standard deviation */
    double rank_correlation; /* rank-biserial, 1 = every solved play earned more than every other
                                (Cureton 1956); NaN unless there are both */
    double loss_above;       /* share of (lost, solved) pairs in which the lost one earned more */
    double forfeit_above;    /* the same of (given up or cut, lost) pairs */
    bool exact;              /* the last three are not approximate */
} gg_rescore_tally;

typedef struct gg_rescore_figures {
    size_t rewards;
    const gg_reward *reward[GG_RESCORE_REWARDS];
    const gg_rescore_tally *tally[GG_RESCORE_REWARDS];
    int64_t plays, errored, damaged;
    int64_t groups, incomplete, refused; /* whole ones; too few plays; with an errored play */
    int64_t silent_by_outcome;           /* groups whose plays all solved, or all did not */
    int64_t unsolved_groups;
    int64_t repeated_calls, refused_calls;
} gg_rescore_figures;

typedef struct gg_rescore gg_rescore;

/* Groups have `group_size` plays; below 2 there are none. Keeps `game` and the rewards. */
gg_status gg_rescore_new(const gg_game *game, const gg_reward *const *rewards, size_t count,
                         size_t group_size, gg_rescore **out, gg_error *error);
void gg_rescore_free(gg_rescore *rescore);
/* Takes a play in; the episode's reward and parts are overwritten. */
gg_status gg_rescore_add(gg_rescore *rescore, gg_episode *episode, gg_error *error);
/* Takes in the whole journal of a run folder. */
gg_status gg_rescore_read(gg_rescore *rescore, const gg_run *run, gg_error *error);
/* Closes what is open. The figures' pointers live as long as `rescore`. */
void gg_rescore_finish(gg_rescore *rescore, gg_rescore_figures *out);

/* A hole that a reward has: how often, of how many, examples and a sentence. False when it has
 * not. */
typedef struct gg_hole {
    int64_t count, of;      /* of = 0: no count */
    const char *example[2]; /* episodes' ids, or NULL */
    char part[GG_RESCORE_NAME];
    char says[256];
} gg_hole;
bool gg_rescore_hole(const gg_rescore_figures *figures, size_t reward, gg_hole_kind kind,
                     gg_hole *out);

/* One JSON object without newline. */
void gg_rescore_write(const gg_rescore_figures *figures, gg_buf *out);

#endif
