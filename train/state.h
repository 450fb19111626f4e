/* What the files of this room share of a training in work; see train.h for the contract. */
#ifndef GG_TRAIN_STATE_H
#define GG_TRAIN_STATE_H

#include "net/signing.h"
#include "train/checkpoint.h"
#include "train/plays.h"
#include "train/session.h"
#include "train/train.h"

struct gg_train {
    gg_train_options o;
    gg_http *http;
    gg_endpoint *control, *runtime, *policy;
    gg_credentials *credentials; /* NULL = nothing is signed */
    gg_signing *control_signing, *runtime_signing, *policy_signing;
    gg_ask ask;
    gg_session *session;
    gg_rollout *rollout;
    bool playing, stopped;
    int64_t step;          /* being played or trained */
    struct gg_step *ahead; /* the next step, played while the present one is trained; NULL = none */
    gg_checkpoint checkpoint;
    uint8_t *kept;  /* one flag a planned play of the whole training; NULL = all */
    uint32_t *rows; /* of the step in work */
    char budget[160];
};

/* One step in work. */
typedef struct gg_step {
    int64_t number;
    int64_t behind; /* optimiser steps that the bound weights lacked while it was played */
    gg_plays plays;
    gg_groups groups;
    gg_datums datums;
    gg_metrics metrics;
    gg_step_count count;
    gg_operation *operations; /* submitted, not yet waited for */
    size_t operation_count;
    int64_t stale;                     /* datums older than the bound */
    uint64_t started, played, trained; /* uv_hrtime */
} gg_step;

/* train/step.c: one step from its plays to the saved weights. Play, submit, then settle. */
gg_status gg_step_play(gg_train *train, gg_step *step, gg_error *error);
gg_status gg_step_submit(gg_train *train, gg_step *step, gg_error *error);
gg_status gg_step_settle(gg_train *train, gg_step *step, gg_error *error);
gg_status gg_step_validate(gg_train *train, gg_metrics *metrics, gg_error *error);
void gg_step_free(gg_step *step); /* its contents; the struct is the caller's */

/* train/connect.c: http, signatures and endpoints; closing takes what is not open, too. */
gg_status gg_train_connect(gg_train *train, gg_error *error);
gg_status gg_train_open_rollout(gg_train *train, gg_error *error);
void gg_train_disconnect(gg_train *train);
/* Plays one task; GG_E_PROTOCOL when it comes without ids and log-probabilities. */
gg_status gg_train_probe(gg_train *train, gg_error *error);

/* train/journal.c: what stands in the run folder. */
gg_status gg_step_measure(gg_train *train, gg_step *step, gg_error *error);
gg_status gg_train_append_records(gg_train *train, gg_plays *plays, const gg_groups *groups,
                                  gg_error *error);
gg_status gg_train_append_metrics(gg_train *train, const gg_metrics *metrics,
                                  const gg_step_count *count, double wall_s, gg_error *error);
gg_status gg_train_commit(gg_train *train, gg_error *error);
gg_status gg_train_cut_back(gg_train *train, gg_error *error);
double gg_train_cost(const gg_train *train); /* dollars so far; NaN when unknown */

double gg_seconds(uint64_t from, uint64_t to); /* of uv_hrtime */

#endif
