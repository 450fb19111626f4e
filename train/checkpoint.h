/*
 * checkpoint.json: where a training stands, replaced whole after every step.
 *
 * Its write is what commits a step: the service has saved the weights and the step's records are on
 * the disk before it. It names the journals' sizes, so that what a later kill leaves behind them is
 * cut away.
 */
#ifndef GG_TRAIN_CHECKPOINT_H
#define GG_TRAIN_CHECKPOINT_H

#include "core/run.h"
#include "train/session.h"

#define GG_SESSION_ID 9 /* 8 hex digits and a NUL */

typedef struct gg_checkpoint {
    char session[GG_SESSION_ID];      /* of this folder's session names: NAME-ID-<number> */
    int64_t step;                     /* the last finished one; 0 = only the start */
    char weights_arn[GG_ARN_MAX + 1]; /* bound for sampling in step + 1 */
    char state_arn[GG_ARN_MAX + 1];   /* weights and optimiser, for going on */
    int64_t sizes[GG_JOURNAL_COUNT];  /* of the journals before the step's records were appended */
    int64_t sessions;                 /* opened so far: names must differ */
    int64_t prefill, sample, train;   /* tokens so far, or GG_TOKENS_UNKNOWN */
    char *metrics;                    /* the step's line, with its newline; owned */
} gg_checkpoint;

/* *found is false (and nothing filled) when there is none yet. */
gg_status gg_checkpoint_read(const gg_run *run, gg_checkpoint *out, bool *found, gg_error *error);
gg_status gg_checkpoint_write(const gg_run *run, const gg_checkpoint *checkpoint, gg_error *error);

#endif
