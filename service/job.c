#include "service/job_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOG_LINE 512

static const char *const states[GG_JOB_STATES] = {
    [GG_JOB_IN_PROGRESS] = "InProgress", [GG_JOB_STOPPING] = "Stopping",
    [GG_JOB_COMPLETED] = "Completed",    [GG_JOB_FAILED] = "Failed",
    [GG_JOB_STOPPED] = "Stopped",
};
static const char *const phases[GG_PHASES] = {
    [GG_PHASE_STARTING] = "Starting",     [GG_PHASE_DOWNLOADING] = "Downloading",
    [GG_PHASE_TRAINING] = "Training",     [GG_PHASE_EVALUATING] = "Evaluating",
    [GG_PHASE_UPLOADING] = "Uploading",   [GG_PHASE_STOPPING] = "Stopping",
    [GG_PHASE_STOPPED] = "Stopped",       [GG_PHASE_MAX_RUNTIME] = "MaxRuntimeExceeded",
    [GG_PHASE_RESTARTING] = "Restarting", [GG_PHASE_FAILED] = "Failed",
    [GG_PHASE_COMPLETED] = "Completed",
};

static size_t find(const char *const *names, size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && !(name && strcmp(names[i], name) == 0))
        i++;
    return i;
}

const char *gg_job_state_name(gg_job_state state)
{
    return states[state];
}

gg_job_state gg_job_state_parse(const char *name)
{
    return (gg_job_state)find(states, GG_JOB_STATES, name);
}

const char *gg_job_phase_name(gg_job_phase phase)
{
    return phases[phase];
}

gg_job_phase gg_job_phase_parse(const char *name)
{
    return (gg_job_phase)find(phases, GG_PHASES, name);
}

int64_t gg_job_ticks(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

double gg_job_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)(t.tv_nsec / 1000000) / 1000;
}

void gg_job_say(const gg_job *job, const char *format, ...)
{
    char line[LOG_LINE];
    va_list list;
    const gg_job_site *site = job->o.site;
    if (!site->log)
        return;
    int len = snprintf(line, sizeof line, "job %s: ", job->o.name);
    va_start(list, format);
    vsnprintf(line + len, sizeof line - (size_t)len, format, list);
    va_end(list);
    site->log(site->log_context, line);
}

void gg_job_poke(gg_job *job)
{
    if (job->awake)
        uv_async_send(&job->wake);
}

/* ---- states ---- */

static void add_transition(gg_job_info *info, gg_job_phase phase, double now, const char *message)
{
    size_t last = info->transition_count;
    if (last && info->transitions[last - 1].end == 0)
        info->transitions[last - 1].end = now;
    if (last == GG_JOB_TRANSITIONS) { /* the oldest goes */
        memmove(info->transitions, info->transitions + 1,
                (GG_JOB_TRANSITIONS - 1) * sizeof *info->transitions);
        last--;
    }
    gg_job_transition *t = &info->transitions[last];
    *t = (gg_job_transition){.phase = phase, .start = now};
    snprintf(t->message, sizeof t->message, "%s", message ? message : "");
    info->transition_count = last + 1;
}

static void set_state(gg_job *job, gg_job_state state, gg_job_phase phase, const char *message)
{
    double now = gg_job_now();
    job->info.state = state;
    job->info.phase = phase;
    job->info.modified = now;
    add_transition(&job->info, phase, now, message);
    if (state >= GG_JOB_COMPLETED) {
        job->info.ended = now;
        job->info.transitions[job->info.transition_count - 1].end = now;
    }
}

void gg_job_enter(gg_job *job, gg_job_state state, gg_job_phase phase, const char *message)
{
    gg_error error = {0};
    pthread_mutex_lock(&job->lock);
    /* A stop that came meanwhile is not taken back by the next phase of the work. */
    if (job->info.state != GG_JOB_STOPPING || state != GG_JOB_IN_PROGRESS)
        set_state(job, state, phase, message);
    pthread_mutex_unlock(&job->lock);
    if (gg_job_save(job, &error) != GG_OK)
        gg_job_say(job, "its state cannot be kept: %s", error.text);
}

/* ---- life ---- */

static bool copy(const char **text)
{
    *text = strdup(*text ? *text : "");
    return *text != NULL;
}

static void destroy(gg_job *job)
{
    const char *const texts[] = {job->o.name,    job->o.arn,  job->o.region,
                                 job->o.role,    job->o.tags, job->o.schema_version,
                                 job->o.document};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free((char *)(uintptr_t)texts[i]);
    gg_job_config_free(&job->config);
    gg_rows_free(&job->rows);
    gg_rows_free(&job->validation);
    gg_engine_free(job->engine);
    gg_version_release(job->weights);
    gg_buf_free(&job->metrics);
    free(job->ended);
    pthread_mutex_destroy(&job->lock);
    pthread_mutex_destroy(&job->file);
    free(job);
}

gg_status gg_job_new(const gg_job_options *options, gg_job **out, gg_error *error)
{
    gg_job *job = calloc(1, sizeof *job);
    *out = NULL;
    if (!job)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a job");
    atomic_init(&job->holders, 1);
    pthread_mutex_init(&job->lock, NULL);
    pthread_mutex_init(&job->file, NULL);
    gg_buf_init(&job->metrics, GG_METRICS_MAX);
    job->o = *options;
    const char **const texts[] = {&job->o.name,    &job->o.arn,  &job->o.region,
                                  &job->o.role,    &job->o.tags, &job->o.schema_version,
                                  &job->o.document};
    bool fine = true;
    /* All of them, even after a failure: what is freed later must be ours. */
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fine = copy(texts[i]) && fine;
    gg_status status = fine ? gg_job_config_read(options->category, job->o.document, &job->config,
                                                 NULL, NULL, error)
                            : gg_fail(error, GG_E_MEMORY, "out of memory for a job");
    if (status != GG_OK) {
        destroy(job);
        return status;
    }
    job->info.created = job->info.modified = gg_job_now();
    add_transition(&job->info, GG_PHASE_STARTING, job->info.created, NULL);
    *out = job;
    return GG_OK;
}

gg_status gg_job_start(gg_job *job, gg_error *error)
{
    if (job->info.state >= GG_JOB_COMPLETED)
        return GG_OK;
    pthread_mutex_lock(&job->lock);
    job->started = pthread_create(&job->thread, NULL, gg_job_worker, job) == 0;
    bool started = job->started;
    pthread_mutex_unlock(&job->lock);
    return started ? GG_OK : gg_fail(error, GG_E_IO, "cannot start a thread for a job");
}

gg_job *gg_job_keep(gg_job *job)
{
    atomic_fetch_add(&job->holders, 1);
    return job;
}

void gg_job_suspend(gg_job *job)
{
    pthread_mutex_lock(&job->lock);
    job->suspend = true;
    gg_job_poke(job);
    bool join = job->started;
    job->started = false;
    pthread_mutex_unlock(&job->lock);
    if (join)
        pthread_join(job->thread, NULL);
}

void gg_job_release(gg_job *job)
{
    if (!job || atomic_fetch_sub(&job->holders, 1) > 1)
        return;
    gg_job_suspend(job);
    destroy(job);
}

const gg_job_options *gg_job_made_with(const gg_job *job)
{
    return &job->o;
}

void gg_job_look(gg_job *job, gg_job_info *info)
{
    pthread_mutex_lock(&job->lock);
    *info = job->info;
    for (const gg_window *w = job->windows; w; w = w->after)
        info->rollouts_done += w->kind == 'v' ? 0 : (int64_t)(w->over - w->dropped);
    pthread_mutex_unlock(&job->lock);
}

gg_status gg_job_stop(gg_job *job, gg_error *error)
{
    gg_status status = GG_OK;
    pthread_mutex_lock(&job->lock);
    if (job->info.state >= GG_JOB_COMPLETED) {
        status =
            gg_fail(error, GG_E_STATE, "The request was rejected because the job is in status %s",
                    states[job->info.state]);
    } else if (job->info.state != GG_JOB_STOPPING) {
        /* One that waits for a start with an agent has nobody else to end it. */
        bool works = job->started;
        job->stop = true;
        set_state(job, works ? GG_JOB_STOPPING : GG_JOB_STOPPED,
                  works ? GG_PHASE_STOPPING : GG_PHASE_STOPPED, NULL);
        gg_job_poke(job);
    }
    pthread_mutex_unlock(&job->lock);
    /* Kept, so that a kill does not take the stop back. */
    if (status == GG_OK)
        status = gg_job_save(job, error);
    return status;
}
