/*
 * Client of managed multi-turn RL jobs: the control plane's calls, and what a job says of itself.
 * The same calls whether the address is the cloud's or our own service.
 *
 * Ownership: everything is the caller's. Threads: the loop's thread.
 */
#ifndef GG_TRAIN_JOB_H
#define GG_TRAIN_JOB_H

#include "net/endpoint.h"
#include "train/preflight.h"

#define GG_JOB_SCHEMA   "1.0.0"
#define GG_JOB_CATEGORY "AgentRFT"
#define GG_JOB_NAME_MAX 63
#define GG_JOB_ARN_MAX  256
#define GG_JOB_TEXT     2049
#define GG_JOB_POLL_MS  5000 /* slowest polling of a job */

typedef struct gg_remote_job_client {
    uv_loop_t *loop;
    gg_endpoint *control;
    const bool *given_up; /* as gg_call_options' */
} gg_remote_job_client;

/* The rows of a job, where the service finds them; validation NULL = none. */
typedef struct gg_remote_job_data {
    const char *train, *validation;
} gg_remote_job_data;

/* What DescribeJob tells; "" and -1 where it does not. */
typedef struct gg_remote_job_state {
    char name[GG_JOB_NAME_MAX + 1], arn[GG_JOB_ARN_MAX + 1];
    char status[24], secondary[24];
    char failure[1025];
    char output[GG_JOB_TEXT], package[GG_JOB_TEXT];
    int64_t step, steps;
    int64_t rollouts_done, rollouts;
    int64_t prefill, sample, train; /* tokens */
    double created_s, ended_s;      /* Unix time, 0 = unknown */
} gg_remote_job_state;

/* Appends the JobConfigDocument of a plan. */
void gg_remote_job_document(const gg_job_plan *plan, const gg_remote_job_data *data, gg_buf *out);

/* A job of the plan's name; its ARN in `arn`. One of that name that is there already is
 * GG_E_PROTOCOL. */
gg_status gg_remote_job_create(const gg_remote_job_client *client, const gg_job_plan *plan,
                               const gg_remote_job_data *data, char arn[GG_JOB_ARN_MAX + 1],
                               gg_error *error);
gg_status gg_remote_job_describe(const gg_remote_job_client *client, const char *name,
                                 gg_remote_job_state *out, gg_error *error);
gg_status gg_remote_job_stop(const gg_remote_job_client *client, const char *name, gg_error *error);
/* Each job of the account, newest first; of a listing only name, status and times are known. */
typedef gg_status (*gg_remote_job_fn)(void *context, const gg_remote_job_state *job,
                                      gg_error *error);
gg_status gg_remote_job_list(const gg_remote_job_client *client, gg_remote_job_fn each,
                             void *context, gg_error *error);

bool gg_remote_job_ended(const gg_remote_job_state *job);
bool gg_remote_job_completed(const gg_remote_job_state *job);

#endif
