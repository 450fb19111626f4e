/*
 * The jobs of a service, by category and name.
 *
 * With a state folder, jobs are known after a restart, and those that had not ended go on from
 * their last step. Threads: any.
 */
#ifndef GG_SERVICE_JOBS_H
#define GG_SERVICE_JOBS_H

#include "service/job.h"

#define GG_JOBS_RUNNING_MAX 1 /* of each category: the managed service's quota */

typedef struct gg_jobs gg_jobs;

/* Finds the policy that stands for a base model; for jobs that an earlier process left. */
typedef gg_status (*gg_policy_fn)(void *context, const char *base_id, const gg_policy **out,
                                  gg_error *error);

/* Reads what an earlier process left; a damaged file is GG_E_FORMAT. `site` outlives the jobs. */
gg_status gg_jobs_open(const gg_job_site *site, gg_policy_fn policy, void *context, gg_jobs **out,
                       gg_error *error);
/* Starts those that had not ended; once the server listens. */
gg_status gg_jobs_resume(gg_jobs *jobs, gg_error *error);
/* Interrupts all work; jobs that run stay InProgress for the next start. */
void gg_jobs_suspend(gg_jobs *jobs);
void gg_jobs_close(gg_jobs *jobs); /* NULL is fine */

typedef enum gg_jobs_answer {
    GG_JOBS_OK,
    GG_JOBS_TAKEN,
    GG_JOBS_FULL,
    GG_JOBS_BROKEN
} gg_jobs_answer;

/* Makes a job and starts it. */
gg_jobs_answer gg_jobs_add(gg_jobs *jobs, const gg_job_options *options, gg_error *error);
/* Kept; NULL when there is none. */
gg_job *gg_jobs_find(gg_jobs *jobs, gg_job_category category, const char *name);
/* Forgets one that has ended, and its files. */
void gg_jobs_remove(gg_jobs *jobs, gg_job *job);
/* All of one category, kept, oldest first: the caller releases each and frees the array. NULL when
 * memory is short. */
gg_job **gg_jobs_list(gg_jobs *jobs, gg_job_category category, size_t *count);

#endif
