/*
 * Training: collect groups, compute advantages, submit them to a training service, sample from the
 * new weights, repeat.
 *
 * One code path for every service: the addresses say whether it is the cloud's or our own. What the
 * run folder holds at each moment, and what a kill leaves behind, is told in docs/training.md.
 *
 * Ownership: the options and all they point to must outlive the training. Threads: the loop's
 * thread.
 */
#ifndef GG_TRAIN_TRAIN_H
#define GG_TRAIN_TRAIN_H

#include "agent/rollout.h"
#include "agent/tasks.h"
#include "core/price.h"
#include "core/run.h"
#include "rl/adam.h"
#include "rl/loss.h"
#include "rl/metrics.h"

/* Which records of a training are kept: all, a sample drawn by the seed, none. */
#define GG_KEEP_ALL     (-1)
#define GG_KEEP_DEFAULT 200

typedef struct gg_train_options {
    uv_loop_t *loop;
    gg_run *run;        /* DIR */
    gg_run *validation; /* DIR/validation */
    const gg_game *game;
    const gg_reward *reward;
    const gg_ask *ask;
    const gg_tasks *rows;
    const gg_tasks *val; /* NULL = no validation */
    int64_t steps, val_every;
    size_t batch, group_size, concurrency;
    gg_advantage advantage;
    gg_loss loss;
    gg_loss_config clip;
    gg_adam_config adam;
    int64_t max_staleness; /* weight versions */
    int64_t keep;          /* GG_KEEP_ALL or a number */
    uint64_t seed;
    int64_t max_total_tokens; /* prefill + sample + train; 0 = no limit */
    double max_cost;          /* dollars; 0 = no limit */
    gg_price price;           /* whose prices the cost is told in */
    const char *control_url, *runtime_url;
    const char *sign_region; /* requests are signed for it; NULL = not signed */
    bool probe;              /* one play before the first group has to be fit for training */
    const char *policy_url;  /* where plays are sampled; NULL = the session's own model */
    const char *const *policy_headers;
    const char *player;       /* who plays, as the records name it */
    int attempts;             /* of one request to the policy */
    int64_t timeout_ms;       /* of one attempt */
    const char *session_name; /* prefix; a number is added */
    const char *base_model_arn, *role_arn, *s3_path, *package_group_arn;
    const char *start_arn;         /* a model package to start from, NULL = the base model */
    const gg_tasks *from;          /* rows of a saved run, with: */
    gg_episode *const *from_plays; /* its plays, from_samples a row; NULL = play */
    size_t from_samples;
    /* Set by a signal: no more waiting for the service, as in gg_call_options. May be NULL. */
    const bool *given_up;
    /* Called after every step with its figures (step 0: the first validation). May be NULL. */
    void (*progress)(void *context, int64_t step, const gg_metrics *metrics);
    void *context;
} gg_train_options;

typedef struct gg_train gg_train;

/* Opens the session; goes on from the folder's checkpoint when there is one. */
gg_status gg_train_open(const gg_train_options *options, gg_train **out, gg_error *error);
/* Runs to the last step. GG_E_INTERRUPTED after gg_train_stop: what was played is kept, the folder
 * can be resumed. A budget that is used up ends the run with GG_OK after a whole step. */
gg_status gg_train_run(gg_train *train, gg_error *error);
/* Stops the session and frees. NULL is fine. A session that could not be stopped is reported: it
 * may still bill. */
gg_status gg_train_close(gg_train *train, gg_error *error);
/* As gg_rollout_stop. */
void gg_train_stop(gg_train *train);

/* The step in work (0 = before the first), for the live line; false when nothing is being played.
 */
bool gg_train_look(const gg_train *train, int64_t *step, gg_rollout_state *out);
/* The last finished step. */
int64_t gg_train_done(const gg_train *train);
/* S3 URI of the present weights; why a budget ended the run, or NULL. */
gg_status gg_train_location(gg_train *train, gg_buf *uri, gg_error *error);
const char *gg_train_budget_reason(const gg_train *train);

#endif
