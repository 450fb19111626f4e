/* A step's training, and the weights on their way out and in. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/job_inside.h"

#define STEP_TEXT "step %lld of job %s"

void gg_job_step_free(gg_job_step *step)
{
    gg_metrics_free(&step->metrics);
    gg_datums_free(&step->datums);
    gg_groups_free(&step->groups);
    free(step->plays);
    *step = (gg_job_step){0};
}

static double mean(double sum, double weight)
{
    return weight > 0 ? sum / weight : 0;
}

/* The engine's figures, by the names that a session tells them by. */
static void note_sums(gg_metrics *m, const gg_engine_sums *sums)
{
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"actor/pg_loss", mean(sums->loss, sums->weight)},
        {"actor/ppo_kl", mean(sums->kl, sums->weight)},
        {"actor/pg_clipfrac", mean(sums->clipped, sums->weight)},
        {"global_token_num", (double)sums->tokens},
        {"loss/sum", sums->loss},
        {"loss/weight", sums->weight},
        {"loss/tokens", (double)sums->scored},
        {"loss/unreachable_tokens", (double)sums->unreachable},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        gg_metrics_set(m, "", rows[i].name, rows[i].value);
}

/* Nothing to learn from: no optimiser step either, which would only move Adam's averages. */
static gg_status train(gg_job *job, gg_job_step *step, gg_error *error)
{
    gg_engine_sums sums;
    gg_engine_moved moved;
    const gg_engine_batch batch = {job->config.hyper.loss,
                                   job->config.hyper.clip,
                                   step->datums.items,
                                   step->datums.count,
                                   true,
                                   NULL};
    if (step->datums.count == 0)
        return GG_OK;
    gg_status status = gg_engine_forward(job->engine, &batch, &sums, error);
    if (status == GG_OK)
        status = gg_engine_step(job->engine, &job->config.hyper.adam, &moved, error);
    if (status != GG_OK)
        return status;
    step->count.train = sums.tokens;
    note_sums(&step->metrics, &sums);
    gg_metrics_set(&step->metrics, "actor/", "grad_norm", moved.gradient_norm);
    gg_metrics_set(&step->metrics, "actor/", "lr", job->config.hyper.adam.learning_rate);
    gg_metrics_set(&step->metrics, "actor/", "weight_version", (double)moved.version);
    return GG_OK;
}

gg_status gg_job_learn(gg_job *job, const gg_window *w, gg_job_step *step, gg_error *error)
{
    *step = (gg_job_step){.plays = calloc(w->count + 1, sizeof *step->plays)};
    if (!step->plays)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a step");
    for (size_t i = 0; i < w->count; i++)
        step->plays[i] = w->slots[i].state == GG_TRAJECTORY_REWARDED ? w->slots[i].episode : NULL;
    gg_status status = gg_groups_build(job->config.hyper.advantage, step->plays, w->groups,
                                       w->group_size, &step->groups, error);
    if (status == GG_OK && step->groups.refused == step->groups.count)
        status = gg_fail(error, GG_E_PROTOCOL, "no group of step %lld was played whole",
                         (long long)w->step);
    if (status == GG_OK)
        status = gg_groups_datums(&step->groups, NULL, &step->datums, error);
    if (status == GG_OK)
        status = train(job, step, error);
    return status;
}

/* ---- packages ---- */

static gg_status save(gg_job *job, const char *group, bool with_optimizer, char *arn,
                      gg_error *error)
{
    char text[128];
    gg_adapter adapter;
    gg_buf optimizer;
    gg_status status = GG_OK;
    gg_buf_init(&optimizer, GG_PACKAGE_FILE_MAX);
    snprintf(text, sizeof text, STEP_TEXT, (long long)job->done, job->o.name);
    if (with_optimizer)
        status = gg_engine_write_optimizer(job->engine, &optimizer, error);
    if (status == GG_OK)
        status = gg_engine_snapshot(job->engine, &adapter, error);
    if (status == GG_OK) {
        const gg_package_save package = {.group = group,
                                         .region = job->o.region,
                                         .account = job->o.site->account,
                                         .description = text,
                                         .base_id = job->config.base_id,
                                         .base_version = job->config.base_version,
                                         .s3_path = job->config.output_path,
                                         .session = job->o.name,
                                         .policy = job->o.policy,
                                         .adapter = &adapter,
                                         .optimizer = with_optimizer ? optimizer.data : NULL,
                                         .optimizer_len = optimizer.len};
        status = gg_packages_save(job->o.site->packages, &package, arn, error);
    }
    gg_buf_free(&optimizer);
    return status;
}

/* Samples from a package from now on. */
static gg_status sample_from(gg_job *job, const char *arn, gg_error *error)
{
    gg_version *version;
    gg_status status =
        gg_packages_version(job->o.site->packages, job->o.policy, arn, &version, error);
    if (status != GG_OK)
        return status;
    pthread_mutex_lock(&job->lock);
    gg_version *old = job->weights;
    job->weights = version;
    pthread_mutex_unlock(&job->lock);
    gg_version_release(old);
    return GG_OK;
}

static void set_done(gg_job *job, int64_t step)
{
    pthread_mutex_lock(&job->lock);
    job->done = step;
    pthread_mutex_unlock(&job->lock);
}

gg_status gg_job_save_weights(gg_job *job, gg_error *error)
{
    char state[GG_PACKAGE_ARN_MAX + 1], model[GG_PACKAGE_ARN_MAX + 1];
    gg_status status = save(job, job->config.checkpoint_group, true, state, error);
    if (status == GG_OK)
        status = save(job, job->config.output_group, false, model, error);
    if (status == GG_OK)
        status = sample_from(job, model, error);
    if (status != GG_OK)
        return status;
    pthread_mutex_lock(&job->lock);
    memcpy(job->info.state_arn, state, sizeof state);
    memcpy(job->info.model_arn, model, sizeof model);
    pthread_mutex_unlock(&job->lock);
    return GG_OK;
}

/* ---- going on ---- */

typedef struct found {
    bool checkpoint;
    long long step;
} found;

static bool look(void *context, const gg_package_info *info)
{
    found *f = context;
    f->checkpoint = info->checkpoint;
    if (!info->description || sscanf(info->description, "step %lld of job ", &f->step) != 1)
        f->step = 0;
    return false;
}

static gg_status load(gg_job *job, const char *arn, bool optimizer, gg_error *error)
{
    gg_version *version = NULL;
    gg_buf text;
    gg_packages *packages = job->o.site->packages;
    gg_buf_init(&text, GG_PACKAGE_FILE_MAX);
    gg_status status = gg_packages_version(packages, job->o.policy, arn, &version, error);
    if (status == GG_OK && optimizer)
        status = gg_packages_optimizer(packages, arn, &text, error);
    if (status == GG_OK)
        status = gg_engine_load(job->engine, gg_version_adapter(version),
                                optimizer ? gg_buf_cstr(&text) : NULL, text.len, error);
    gg_version_release(version);
    gg_buf_free(&text);
    return status;
}

/* From a package that the document names: a checkpoint goes on exactly, weights start anew. */
static gg_status load_input(gg_job *job, const char *arn, gg_error *error)
{
    found f = {0};
    if (!gg_packages_look(job->o.site->packages, arn, look, &f))
        return gg_fail(error, GG_E_ARGUMENT, "there is no model package %.200s", arn);
    gg_status status = load(job, arn, f.checkpoint, error);
    if (status == GG_OK && f.checkpoint)
        set_done(job, f.step);
    return status == GG_OK ? sample_from(job, arn, error) : status;
}

gg_status gg_job_restore(gg_job *job, gg_error *error)
{
    const char *input = job->config.input_package;
    if (job->config.category == GG_JOB_EVALUATE)
        return input ? sample_from(job, input, error) : GG_OK;
    gg_status status = gg_engine_new(job->o.policy, job->config.hyper.rank, job->config.hyper.alpha,
                                     &job->engine, error);
    if (status != GG_OK)
        return status;
    if (!job->info.state_arn[0])
        return input ? load_input(job, input, error) : GG_OK;
    status = load(job, job->info.state_arn, true, error);
    set_done(job, job->info.step);
    return status == GG_OK ? sample_from(job, job->info.model_arn, error) : status;
}
