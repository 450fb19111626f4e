/*
 * The plays of one step: planned, taken in as they end, written down, found again after a kill.
 *
 * Slots stand in (group, sample) order. Every play that is taken is first written to the journals
 * it was given (tokens, then the episode), so that nothing is played twice after a kill.
 *
 * Ownership: owns the episodes unless `borrowed`. Threads: one at a time.
 */
#ifndef GG_TRAIN_PLAYS_H
#define GG_TRAIN_PLAYS_H

#include "agent/rollout.h"
#include "core/run.h"

typedef struct gg_plays {
    gg_run *run;
    gg_journal episodes, tokens; /* where plays are written */
    const char *player; /* named in the records in place of the address; NULL = the address */
    int64_t step;
    size_t groups, group_size;
    const gg_task **tasks; /* one a group; owned array of borrowed tasks */
    gg_episode **items;    /* groups * group_size; NULL = not played yet */
    bool borrowed;         /* the episodes are somebody else's */
    bool unwritten;        /* taken plays are kept in memory only, until gg_plays_write_down */
    gg_planned *plan;      /* what is missing; storage for gg_plays_plan */
    gg_buf line;
} gg_plays;

gg_status gg_plays_init(gg_plays *plays, gg_run *run, gg_journal episodes, gg_journal tokens,
                        int64_t step, size_t groups, size_t group_size, gg_error *error);
void gg_plays_free(gg_plays *plays);
/* Reads what the journals already hold of this step. A record of another task than the slot's is
 * GG_E_CONFIG: the tasks have changed. Set the tasks first. */
gg_status gg_plays_recover(gg_plays *plays, gg_error *error);
/* The missing plays. */
size_t gg_plays_plan(gg_plays *plays);
/* A gg_episode_fn; `context` is the gg_plays. */
gg_status gg_plays_take(void *context, size_t index, gg_episode *episode, gg_error *error);
/* Writes down what was taken while `unwritten`, and from now on at once. */
gg_status gg_plays_write_down(gg_plays *plays, gg_error *error);

#endif
