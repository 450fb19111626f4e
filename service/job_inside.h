/* A job's parts, for the files that make it up: service/job.c (life), job_file.c (its state file),
 * job_calls.c (the runtime operations), drive.c (asking the agent), job_run.c (the worker),
 * job_learn.c (a step's training), job_report.c (figures). */
#ifndef GG_SERVICE_JOB_INSIDE_H
#define GG_SERVICE_JOB_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

#include "rl/metrics.h"
#include "service/engine.h"
#include "service/job.h"
#include "service/job_data.h"
#include "service/trajectory.h"

#define GG_METRICS_MAX (64u << 20)

/* A trajectory that the agent has ended, for the worker. */
typedef struct gg_ended {
    gg_window *window;
    size_t slot;
    int try;
} gg_ended;

struct gg_job {
    atomic_long holders;
    gg_job_options o; /* its strings are ours */
    gg_job_config config;
    pthread_mutex_t file; /* one writes the state file at a time; taken before `lock` */
    pthread_mutex_t lock; /* of all that follows, to the worker's own */
    pthread_t thread;
    bool started;
    bool stop, suspend, overtime; /* why the worker should end */
    gg_job_info info;
    gg_window *windows; /* being played, first to be begun first */
    gg_ended *ended;
    size_t ended_count, ended_room;
    gg_version *weights; /* sampled from; NULL = base */
    int64_t done;        /* finished steps */
    uv_async_t wake;
    bool awake; /* `wake` may be used */
    /* the worker's own */
    uv_loop_t loop;
    gg_rows rows, validation;
    gg_engine *engine;
    gg_buf metrics;       /* lines so far */
    size_t metrics_shown; /* of them, in the output location */
    int64_t shown_ms;
    struct gg_drive *drive;
    int64_t began_ms, seconds_before;
};

int64_t gg_job_ticks(void); /* ms of the monotonic clock */
double gg_job_now(void);    /* seconds since 1970 */
GG_PRINTF(2, 3) void gg_job_say(const gg_job *job, const char *format, ...);
/* Tells the worker that something has changed; under the lock. */
void gg_job_poke(gg_job *job);
/* The next SecondaryStatus, and the state that goes with it; writes the state file. `message` may
 * be NULL. */
void gg_job_enter(gg_job *job, gg_job_state state, gg_job_phase phase, const char *message);

/* job_file.c: STATE/jobs/CATEGORY/NAME.json, NAME.metrics.jsonl. */
gg_status gg_job_save(gg_job *job, gg_error *error);
/* Reads the figures of a state file into a new job. */
void gg_job_read_info(const cJSON *root, gg_job_info *info);
void gg_job_file_path(const gg_job *job, const char *suffix, gg_buf *out);
void gg_job_files_remove(const gg_job *job);

/* job_run.c */
void *gg_job_worker(void *job);

/* drive.c: has the agent play. */
typedef struct gg_drive gg_drive;
gg_status gg_drive_open(gg_job *job, gg_drive **out, gg_error *error);
void gg_drive_close(gg_drive *drive); /* drops what is in flight; NULL is fine */
/* Plays until all of this window is over, and what the job's other windows offer meanwhile.
 * GG_E_INTERRUPTED when the job is to end, GG_E_PROTOCOL when the agent has failed it. */
gg_status gg_drive_play(gg_drive *drive, const gg_window *window, gg_error *error);

/* job_learn.c */
typedef struct gg_job_step {
    gg_metrics metrics;
    gg_step_count count;
    gg_groups groups;
    gg_datums datums;
    gg_episode **plays; /* in (group, sample) order, NULL = dropped; they are the window's */
} gg_job_step;
gg_status gg_job_learn(gg_job *job, const gg_window *window, gg_job_step *step, gg_error *error);
void gg_job_step_free(gg_job_step *step);
/* Saves the weights as they are as two packages and samples from them from now on. */
gg_status gg_job_save_weights(gg_job *job, gg_error *error);
/* Brings the engine to where the job stands. */
gg_status gg_job_restore(gg_job *job, gg_error *error);

/* job_report.c */
/* Figures of a window's plays under "rollout/", "val/" or "eval/": families and pass@k. */
gg_status gg_job_measure(const gg_job *job, const gg_window *window, const char *prefix,
                         gg_metrics *out, gg_error *error);
/* Appends one line to the job's metrics. */
gg_status gg_job_append_metrics(gg_job *job, const gg_metrics *metrics, const gg_step_count *count,
                                gg_error *error);
/* Writes the metrics so far to the output location; not `now`: at most every few seconds. */
gg_status gg_job_publish(gg_job *job, bool now, gg_error *error);
/* An evaluation's rollouts, one line each. */
gg_status gg_job_write_rollouts(gg_job *job, const gg_window *window, gg_error *error);
/* Reads back what an earlier start has written, cut to `bytes`. */
void gg_job_recover_metrics(gg_job *job, int64_t bytes);

#endif
