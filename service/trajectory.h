/*
 * Rollouts of a job: windows of planned trajectories, and the states of each. Not locked: the job
 * does that.
 *
 * A window is one step's rollouts (or a validation's) in (group, sample) order. A trajectory's id
 * names its place and its try, so nothing needs to be remembered of trajectories that are over:
 * "r<start>-<kind><step>-g<group>-<sample>-t<try>", `start` being the number of times the job was
 * started.
 */
#ifndef GG_SERVICE_TRAJECTORY_H
#define GG_SERVICE_TRAJECTORY_H

#include <guessgym/record.h>

#include "core/digest.h"
#include "service/job.h"

typedef enum gg_trajectory_state {
    GG_TRAJECTORY_WAITING, /* for its (next) try */
    GG_TRAJECTORY_OPEN,    /* the agent was asked to play it */
    GG_TRAJECTORY_READY,   /* complete, without a reward */
    GG_TRAJECTORY_FAILED,  /* the agent said so */
    GG_TRAJECTORY_REWARDED,
    GG_TRAJECTORY_DROPPED /* given up for good */
} gg_trajectory_state;
const char *gg_trajectory_state_name(gg_trajectory_state state);

/* A call that may be repeated with its token. */
typedef struct gg_repeat {
    uint64_t token, call; /* hashes; 0 = none yet */
} gg_repeat;

typedef struct gg_trajectory {
    gg_trajectory_state state;
    int try;            /* of the present play, from 0 */
    int failed_try;     /* the last one that the agent called failed; -1 = none */
    int failures;       /* tries that count against the limit */
    int64_t turns;      /* numbered so far: seeds come from it */
    int64_t first_step; /* finished steps in the weights of the first turn; -1 = no turn yet */
    int64_t touched_ms; /* last sign of life of the agent */
    int64_t retry_ms;   /* when WAITING again: not before */
    gg_repeat complete, reward;
    gg_episode *episode;      /* NULL before the first try */
    struct gg_flight *flight; /* of service/drive.c, its thread's alone */
} gg_trajectory;

typedef struct gg_window {
    char kind; /* 's' step, 'v' validation, 'e' evaluation */
    int64_t step;
    size_t groups, group_size, count;
    const char *const *prompts; /* of the data set */
    uint32_t *rows;             /* of it, one a group; owned */
    char (*digests)[GG_DIGEST_HEX];
    gg_trajectory *slots;
    size_t begun, over, dropped; /* over: rewarded or dropped */
    size_t *again;               /* slots to be tried again, `again_count` of them */
    size_t again_count;
    double temperature, top_p;
    uint64_t started_ns;
    struct gg_window *after;
} gg_window;

/* `rows` NULL = 0, 1, 2 ... NULL when memory is short. The prompts outlive the window. */
gg_window *gg_window_new(char kind, int64_t step, const char *const *prompts, const uint32_t *rows,
                         size_t groups, size_t group_size);
void gg_window_free(gg_window *window); /* NULL is fine */

typedef struct gg_trajectory_place {
    int64_t start, step, group, sample, try;
    char kind;
} gg_trajectory_place;
void gg_trajectory_name(const gg_trajectory_place *place, char out[96]);
bool gg_trajectory_parse(const char *id, gg_trajectory_place *out);

/* Begins a play anew: an empty episode, OPEN. False when memory is short. */
bool gg_trajectory_open(gg_window *window, size_t slot, int64_t now_ms);
/* Adds a turn. */
gg_status gg_trajectory_add_turn(gg_trajectory *t, const gg_policy_reply *reply, gg_error *error);
/* Takes the reward: one value, or one a turn. */
gg_status gg_trajectory_take_reward(gg_trajectory *t, const double *rewards, size_t count,
                                    double threshold, gg_error *error);

#endif
