/*
 * A multi-turn RL job as the service holds it: a training or an evaluation that plays through an
 * agent which somebody else runs.
 *
 *   InProgress (Starting, Downloading, Training | Evaluating, Uploading) -> Completed
 *   InProgress -> Stopping -> Stopped           StopJob, or the time is up (MaxRuntimeExceeded)
 *   InProgress -> Failed                        the reason is kept
 *   InProgress (Restarting) -> ...              the service was started again
 *
 * A job's own thread reads the data, has the agent play the rollouts of a step (service/drive.h),
 * trains on them with the five operations of service/engine.h, and saves two model packages a step:
 * one to sample from, one to go on from. Its state file commits a step; what was played since is
 * played again after a kill, with the same seeds, under other trajectory ids.
 *
 * Trajectories: open -> ready | failed -> rewarded. The agent samples, completes and rewards over
 * the runtime operations below, from any of the server's threads.
 *
 * Ownership: counted; gg_job_keep and gg_job_release. Threads: any.
 */
#ifndef GG_SERVICE_JOB_H
#define GG_SERVICE_JOB_H

#include "service/chat.h"
#include "service/hosted.h"
#include "service/job_config.h"
#include "service/store.h"

#define GG_JOB_REASON_MAX     1024
#define GG_JOB_TRANSITIONS    100
#define GG_TRAJECTORY_ID_MAX  256
#define GG_JOB_TURNS_MAX      4096 /* of one trajectory */
#define GG_JOB_ROLLOUT_TPS    5    /* rollouts begun a second, as the managed service */
#define GG_JOB_REWARD_WAIT_MS 60000

typedef enum gg_job_state {
    GG_JOB_IN_PROGRESS,
    GG_JOB_STOPPING,
    GG_JOB_COMPLETED, /* this and all that follow have ended */
    GG_JOB_FAILED,
    GG_JOB_STOPPED,
    GG_JOB_STATES
} gg_job_state;
const char *gg_job_state_name(gg_job_state state);
gg_job_state gg_job_state_parse(const char *name); /* the COUNT when unknown */

typedef enum gg_job_phase {
    GG_PHASE_STARTING,
    GG_PHASE_DOWNLOADING,
    GG_PHASE_TRAINING,
    GG_PHASE_EVALUATING,
    GG_PHASE_UPLOADING,
    GG_PHASE_STOPPING,
    GG_PHASE_STOPPED,
    GG_PHASE_MAX_RUNTIME,
    GG_PHASE_RESTARTING,
    GG_PHASE_FAILED,
    GG_PHASE_COMPLETED,
    GG_PHASES
} gg_job_phase;
const char *gg_job_phase_name(gg_job_phase phase); /* SecondaryStatus */
gg_job_phase gg_job_phase_parse(const char *name);

/* What the service gives all its jobs; it outlives them. */
typedef struct gg_job_site {
    const gg_store *store;
    gg_packages *packages;
    const char *agent_url;    /* NULL = jobs fail with a reason */
    const char *endpoint_url; /* told to the agent; set once the server listens */
    const char *state_dir;    /* NULL = nothing is kept */
    const char *account;
    uint64_t seed;
    double rollout_tps;     /* 0 = as fast as the agent takes them */
    int64_t reward_wait_ms; /* how long a reward may come after all else is over */
    void (*log)(void *context, const char *line); /* may be NULL */
    void *log_context;
} gg_job_site;

/* What a job is made with; strings are copied. */
typedef struct gg_job_options {
    const gg_job_site *site;
    const char *name, *arn, *region, *role, *schema_version, *document;
    const char *tags; /* JSON array */
    gg_job_category category;
    const gg_policy *policy; /* the service's */
} gg_job_options;

typedef struct gg_job gg_job;

/* Checks nothing: the document was read before. Does not start it. */
gg_status gg_job_new(const gg_job_options *options, gg_job **out, gg_error *error);
/* Starts its thread, unless it has ended. */
gg_status gg_job_start(gg_job *job, gg_error *error);
gg_job *gg_job_keep(gg_job *job);
void gg_job_release(gg_job *job); /* NULL is fine */
/* Interrupts the work and waits for the thread; the job stays InProgress for the next start. */
void gg_job_suspend(gg_job *job);
/* GG_E_STATE where it has ended. */
gg_status gg_job_stop(gg_job *job, gg_error *error);

const gg_job_options *gg_job_made_with(const gg_job *job);

/* How it stands; strings are copies. */
typedef struct gg_job_transition {
    gg_job_phase phase;
    double start, end; /* end 0 = not yet */
    char message[128];
} gg_job_transition;
typedef struct gg_job_info {
    gg_job_state state;
    gg_job_phase phase;
    char reason[GG_JOB_REASON_MAX + 1];
    double created, modified, ended;
    gg_job_transition transitions[GG_JOB_TRANSITIONS];
    size_t transition_count;
    gg_hosted_usage usage;
    int64_t step, steps, epoch, epochs, steps_per_epoch, batch;
    int64_t rollouts, rollouts_done;
    int64_t seconds; /* worked so far, over all starts */
    int64_t starts;
    char model_arn[GG_PACKAGE_ARN_MAX + 1], state_arn[GG_PACKAGE_ARN_MAX + 1];
    char output_arn[GG_PACKAGE_ARN_MAX + 1];
} gg_job_info;
void gg_job_look(gg_job *job, gg_job_info *info);

/* ---- the runtime operations of one trajectory ---- */

typedef enum gg_job_answer {
    GG_JOB_OK,
    GG_JOB_INVALID,  /* 400 */
    GG_JOB_UNKNOWN,  /* 404 */
    GG_JOB_CONFLICT, /* 409 */
    GG_JOB_BROKEN    /* 500 */
} gg_job_answer;

/* Answers a chat request as the trajectory's next turn. *reply is filled on GG_JOB_OK, which may be
 * a refusal of the body. */
gg_job_answer gg_job_sample(gg_job *job, const char *id, const char *body, size_t len,
                            gg_chat_reply *reply, gg_error *error);
/* `token` may be NULL. Repeating a call with its token is fine. */
gg_job_answer gg_job_complete(gg_job *job, const char *id, bool failed, const char *token,
                              gg_error *error);
gg_job_answer gg_job_reward(gg_job *job, const char *id, const double *rewards, size_t count,
                            const char *token, gg_error *error);

#endif
