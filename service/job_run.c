/* The worker of a job: from its data to its last package. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rl/batch.h"
#include "service/job_inside.h"

static double seconds_since(uint64_t ns)
{
    return (double)(uv_hrtime() - ns) / 1e9;
}

/* ---- data ---- */

static gg_status load_rows(gg_job *job, const char *uri, const char *channel, gg_rows *out,
                           gg_error *error)
{
    gg_status status = gg_rows_load(job->o.site->store, uri, out, error);
    if (status != GG_OK)
        return gg_fail_prefix(error, "channel %s", channel);
    if (out->duplicates)
        gg_job_say(job, "channel %s: %zu of %zu prompts stand there more than once", channel,
                   out->duplicates, out->count);
    return GG_OK;
}

static gg_status plan(gg_job *job, gg_error *error)
{
    const gg_job_config *c = &job->config;
    size_t batch = (size_t)c->hyper.batch;
    if (c->category == GG_JOB_EVALUATE)
        return GG_OK;
    if (job->rows.count < batch)
        return gg_fail(error, GG_E_CONFIG,
                       "channel train: %zu prompts are fewer than global_batch_size %zu; give more",
                       job->rows.count, batch);
    int64_t per_epoch = (int64_t)(job->rows.count / batch), steps = per_epoch * c->hyper.max_epochs;
    pthread_mutex_lock(&job->lock);
    job->info.steps = steps < c->hyper.max_steps ? steps : c->hyper.max_steps;
    job->info.steps_per_epoch = per_epoch;
    job->info.epochs = c->hyper.max_epochs;
    job->info.batch = c->hyper.batch;
    job->info.rollouts = job->info.steps * c->hyper.batch * c->hyper.group_size;
    pthread_mutex_unlock(&job->lock);
    return GG_OK;
}

static gg_status download(gg_job *job, gg_error *error)
{
    const gg_job_config *c = &job->config;
    gg_status status = load_rows(
        job, c->data_uri, c->category == GG_JOB_TRAIN ? "train" : "evaluation", &job->rows, error);
    if (status == GG_OK && c->validation_uri)
        status = load_rows(job, c->validation_uri, "validation", &job->validation, error);
    return status == GG_OK ? plan(job, error) : status;
}

/* ---- windows ---- */

/* `first`: to be begun before all others. */
static void add_window(gg_job *job, gg_window *w, bool first)
{
    pthread_mutex_lock(&job->lock);
    gg_window **at = &job->windows;
    while (!first && *at)
        at = &(*at)->after;
    w->after = *at;
    *at = w;
    pthread_mutex_unlock(&job->lock);
}

static void remove_window(gg_job *job, gg_window *w)
{
    pthread_mutex_lock(&job->lock);
    gg_window **at = &job->windows;
    while (*at && *at != w)
        at = &(*at)->after;
    if (*at)
        *at = w->after;
    pthread_mutex_unlock(&job->lock);
    gg_window_free(w);
}

static gg_window *make_window(gg_job *job, char kind, int64_t step, const gg_rows *data,
                              const uint32_t *rows, size_t groups, size_t group_size)
{
    gg_window *w =
        gg_window_new(kind, step, (const char *const *)data->prompts, rows, groups, group_size);
    if (!w)
        return NULL;
    bool validation = kind == 'v'; /* always greedy, as the managed service's */
    w->temperature = validation ? 0 : job->config.hyper.temperature;
    w->top_p = validation ? 1 : job->config.hyper.top_p;
    w->started_ns = uv_hrtime();
    return w;
}

static gg_status plan_step(gg_job *job, int64_t step, gg_error *error)
{
    size_t batch = (size_t)job->config.hyper.batch;
    uint32_t *rows = malloc(batch * sizeof *rows);
    if (!rows)
        return gg_fail(error, GG_E_MEMORY, "out of memory for step %lld", (long long)step);
    gg_status status = gg_batch_draw(job->rows.count, batch, job->o.site->seed, step, rows, error);
    gg_window *w = status == GG_OK ? make_window(job, 's', step, &job->rows, rows, batch,
                                                 (size_t)job->config.hyper.group_size)
                                   : NULL;
    free(rows);
    if (status == GG_OK && !w)
        status = gg_fail(error, GG_E_MEMORY, "out of memory for step %lld", (long long)step);
    if (w)
        add_window(job, w, false);
    return status;
}

static gg_window *step_window(const gg_job *job, int64_t step)
{
    gg_window *w = job->windows;
    while (w && (w->kind != 's' || w->step != step))
        w = w->after;
    return w;
}

/* Plans the steps that may be begun: as far ahead as the staleness bound lets them. */
static gg_status plan_ahead(gg_job *job, gg_error *error)
{
    int64_t last = job->done + 1 + job->config.hyper.off_policy;
    gg_status status = GG_OK;
    for (int64_t step = job->done + 1; status == GG_OK && step <= last && step <= job->info.steps;
         step++)
        if (!step_window(job, step))
            status = plan_step(job, step, error);
    return status;
}

/* ---- validation ---- */

static bool validation_due(const gg_job *job)
{
    int64_t every = job->config.hyper.val_every;
    if (!job->config.validation_uri)
        return false;
    return job->done == 0 || job->done == job->info.steps || (every > 0 && job->done % every == 0);
}

static gg_status validate(gg_job *job, gg_metrics *metrics, gg_error *error)
{
    gg_window *w =
        make_window(job, 'v', job->done, &job->validation, NULL, job->validation.count, 1);
    if (!w)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a validation");
    add_window(job, w, true);
    gg_status status = gg_drive_play(job->drive, w, error);
    if (status == GG_OK)
        status = gg_job_measure(job, w, "val/", metrics, error);
    if (status == GG_OK)
        gg_metrics_set(metrics, "timing_s/", "eval", seconds_since(w->started_ns));
    remove_window(job, w);
    return status;
}

/* ---- a step ---- */

/* What was written and counted is committed with the state file. */
static gg_status commit(gg_job *job, int64_t rollouts, int64_t trained, bool publish,
                        gg_error *error)
{
    pthread_mutex_lock(&job->lock);
    job->info.step = job->done;
    job->info.epoch =
        job->done ? gg_batch_epoch(job->rows.count, (size_t)job->config.hyper.batch, job->done) : 0;
    job->info.rollouts_done += rollouts;
    job->info.usage.trained += trained;
    job->info.seconds = job->seconds_before + (gg_job_ticks() - job->began_ms) / 1000;
    job->info.modified = gg_job_now();
    pthread_mutex_unlock(&job->lock);
    gg_status status = gg_job_publish(job, publish, error);
    return status == GG_OK ? gg_job_save(job, error) : status;
}

static gg_status first_validation(gg_job *job, gg_error *error)
{
    gg_metrics metrics = {0};
    const gg_step_count none = {0};
    if (job->done || job->metrics.len || !validation_due(job))
        return GG_OK;
    gg_status status = validate(job, &metrics, error);
    if (status == GG_OK)
        status = gg_job_append_metrics(job, &metrics, &none, error);
    if (status == GG_OK)
        status = commit(job, 0, 0, true, error);
    gg_metrics_free(&metrics);
    return status;
}

/* Rollouts sampled from weights that were older than the bound: none, by the way they are planned.
 */
static double oldest(const gg_window *w)
{
    int64_t age = 0;
    for (size_t i = 0; i < w->count; i++)
        if (w->slots[i].first_step >= 0 && w->step - 1 - w->slots[i].first_step > age)
            age = w->step - 1 - w->slots[i].first_step;
    return (double)age;
}

static gg_status measure_step(gg_job *job, const gg_window *w, gg_job_step *s, uint64_t played,
                              gg_error *error)
{
    gg_metrics *m = &s->metrics;
    gg_step_count_plays(&s->count, s->plays, w->count);
    gg_status status = gg_job_measure(job, w, "rollout/", m, error);
    if (status != GG_OK)
        return status;
    gg_metrics_groups(m, &s->groups);
    gg_metrics_datums(m, &s->datums, w->count);
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"training/epoch",
         (double)gg_batch_epoch(job->rows.count, (size_t)job->config.hyper.batch, w->step)},
        {"training/global_step", (double)w->step},
        {"training/total_tokens", (double)s->count.train},
        {"training/oldest_rollout_steps", oldest(w)},
        {"timing_s/training", seconds_since(played)},
        {"timing_s/policy_update", seconds_since(played)},
        {"timing_s/step", seconds_since(w->started_ns)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        gg_metrics_set(m, "", rows[i].name, rows[i].value);
    return GG_OK;
}

static gg_status save_step(gg_job *job, gg_metrics *metrics, gg_error *error)
{
    uint64_t started = uv_hrtime();
    gg_status status = gg_job_save_weights(job, error);
    gg_metrics_set(metrics, "timing_s/", "save_checkpoint", seconds_since(started));
    return status;
}

/* The step is played: trains on it and commits it. */
static gg_status close_step(gg_job *job, gg_window *w, gg_job_step *s, gg_error *error)
{
    uint64_t played = uv_hrtime();
    bool validated = false;
    gg_status status = gg_job_learn(job, w, s, error);
    if (status == GG_OK)
        status = measure_step(job, w, s, played, error);
    int64_t rollouts = (int64_t)(w->over - w->dropped);
    pthread_mutex_lock(&job->lock);
    if (status == GG_OK)
        job->done = w->step;
    pthread_mutex_unlock(&job->lock);
    if (status == GG_OK)
        status = save_step(job, &s->metrics, error);
    if (status == GG_OK && (validated = validation_due(job)))
        status = validate(job, &s->metrics, error);
    if (status == GG_OK)
        status = gg_job_append_metrics(job, &s->metrics, &s->count, error);
    remove_window(job, w);
    return status == GG_OK ? commit(job, rollouts, s->count.train, validated, error) : status;
}

static gg_status train(gg_job *job, gg_error *error)
{
    gg_status status = first_validation(job, error);
    while (status == GG_OK && job->done < job->info.steps) {
        gg_job_step step = {0};
        status = plan_ahead(job, error);
        gg_window *w = step_window(job, job->done + 1);
        if (status == GG_OK)
            status = gg_drive_play(job->drive, w, error);
        if (status == GG_OK)
            status = close_step(job, w, &step, error);
        gg_job_step_free(&step);
    }
    return status;
}

/* ---- an evaluation ---- */

static gg_status evaluate(gg_job *job, gg_error *error)
{
    gg_metrics metrics = {0};
    gg_step_count count = {0};
    gg_window *w = make_window(job, 'e', 0, &job->rows, NULL, job->rows.count,
                               (size_t)job->config.hyper.group_size);
    if (!w)
        return gg_fail(error, GG_E_MEMORY, "out of memory for an evaluation");
    pthread_mutex_lock(&job->lock);
    job->info.rollouts = (int64_t)w->count;
    pthread_mutex_unlock(&job->lock);
    add_window(job, w, false);
    gg_status status = gg_drive_play(job->drive, w, error);
    if (status == GG_OK && w->dropped == w->count)
        status = gg_fail(error, GG_E_PROTOCOL, "no rollout of the evaluation succeeded");
    if (status == GG_OK)
        status = gg_job_measure(job, w, "eval/", &metrics, error);
    gg_metrics_set(&metrics, "timing_s/", "eval", seconds_since(w->started_ns));
    count.planned = (int64_t)w->count;
    if (status == GG_OK)
        status = gg_job_append_metrics(job, &metrics, &count, error);
    if (status == GG_OK)
        status = gg_job_write_rollouts(job, w, error);
    int64_t rollouts = (int64_t)(w->over - w->dropped);
    remove_window(job, w);
    gg_metrics_free(&metrics);
    return status == GG_OK ? commit(job, rollouts, 0, true, error) : status;
}

/* ---- the whole ---- */

static gg_status work(gg_job *job, gg_error *error)
{
    bool training = job->config.category == GG_JOB_TRAIN;
    if (!job->o.site->agent_url)
        return gg_fail(error, GG_E_CONFIG,
                       "the service does not know where the agent is: start it with --agent URL");
    gg_job_enter(job, GG_JOB_IN_PROGRESS, GG_PHASE_DOWNLOADING, NULL);
    gg_status status = download(job, error);
    if (status != GG_OK)
        return status;
    gg_job_enter(job, GG_JOB_IN_PROGRESS, training ? GG_PHASE_TRAINING : GG_PHASE_EVALUATING, NULL);
    status = gg_job_restore(job, error);
    if (status == GG_OK)
        status = gg_drive_open(job, &job->drive, error);
    if (status == GG_OK)
        status = training ? train(job, error) : evaluate(job, error);
    return status;
}

/* The last weights become the job's output. */
static void promote(gg_job *job)
{
    gg_error error = {0};
    pthread_mutex_lock(&job->lock);
    memcpy(job->info.output_arn, job->info.model_arn, sizeof job->info.output_arn);
    pthread_mutex_unlock(&job->lock);
    if (gg_job_publish(job, true, &error) != GG_OK)
        gg_job_say(job, "its metrics cannot be written: %s", error.text);
}

static void end_failed(gg_job *job, const char *reason)
{
    pthread_mutex_lock(&job->lock);
    snprintf(job->info.reason, sizeof job->info.reason, "%s", reason);
    pthread_mutex_unlock(&job->lock);
    promote(job);
    gg_job_say(job, "failed: %s", reason);
    gg_job_enter(job, GG_JOB_FAILED, GG_PHASE_FAILED, reason);
}

static void end(gg_job *job, gg_status status, const char *text)
{
    pthread_mutex_lock(&job->lock);
    bool stop = job->stop, overtime = job->overtime && !job->suspend;
    pthread_mutex_unlock(&job->lock);
    if (status == GG_OK) {
        gg_job_enter(job, GG_JOB_IN_PROGRESS, GG_PHASE_UPLOADING, NULL);
        promote(job);
        gg_job_enter(job, GG_JOB_COMPLETED, GG_PHASE_COMPLETED, NULL);
    } else if (status != GG_E_INTERRUPTED) {
        end_failed(job, text);
    } else if (stop) {
        promote(job);
        gg_job_enter(job, GG_JOB_STOPPED, GG_PHASE_STOPPED, NULL);
    } else if (overtime) {
        promote(job);
        gg_job_enter(job, GG_JOB_STOPPED, GG_PHASE_MAX_RUNTIME, "MaxRuntimeInSeconds is over");
    }
    /* else the service stops: the job goes on at its next start */
}

static void clear(gg_job *job)
{
    gg_drive_close(job->drive);
    job->drive = NULL;
    while (job->windows)
        remove_window(job, job->windows);
    gg_rows_free(&job->rows);
    gg_rows_free(&job->validation);
    gg_engine_free(job->engine);
    job->engine = NULL;
}

void *gg_job_worker(void *argument)
{
    gg_job *job = argument;
    gg_error error = {0};
    bool again = job->info.starts > 0;
    job->began_ms = gg_job_ticks();
    job->seconds_before = job->info.seconds;
    pthread_mutex_lock(&job->lock);
    job->info.starts++;
    bool stopping = job->info.state == GG_JOB_STOPPING; /* a kill came before the stop was done */
    job->stop = job->stop || stopping;
    pthread_mutex_unlock(&job->lock);
    if (again && !stopping)
        gg_job_enter(job, GG_JOB_IN_PROGRESS, GG_PHASE_RESTARTING, NULL);
    gg_status status = GG_E_MEMORY;
    if (uv_loop_init(&job->loop) == 0) {
        status = stopping ? GG_E_INTERRUPTED : work(job, &error);
        clear(job);
        uv_loop_close(&job->loop);
    }
    end(job, status, error.text);
    return NULL;
}
