/* Figures of a job: the families of the managed service's metrics, and where they are written. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/plan_stats.h"
#include "core/stats.h"
#include "service/job_inside.h"

#define SHOW_EVERY_MS 10000
#define LINE_MAX_HERE (1u << 20)

/* ---- within groups ---- */

/* The rewards of one group's plays that have one; their number. */
static size_t group_rewards(const gg_window *w, size_t group, double *out)
{
    size_t n = 0;
    for (size_t k = 0; k < w->group_size; k++) {
        const gg_trajectory *t = &w->slots[group * w->group_size + k];
        if (t->state == GG_TRAJECTORY_REWARDED)
            out[n++] = t->episode->reward;
    }
    return n;
}

typedef struct within {
    double mean, std, low, high;
    size_t groups;
} within;

static void add_group(within *all, const double *rewards, size_t n)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, rewards[i]);
        high = fmax(high, rewards[i]);
    }
    all->mean += gg_mean(rewards, n);
    all->std += gg_population_std(rewards, n);
    all->low += low;
    all->high += high;
    all->groups++;
}

/* Means over the groups of pass@k and pass^k, over groups that have k plays. */
static void add_pass(gg_metrics *m, const char *prefix, const gg_job *job, const gg_window *w,
                     double *scratch)
{
    for (size_t i = 0; i < job->config.hyper.pass_k_count; i++) {
        int64_t k = job->config.hyper.pass_k[i];
        double at = 0, all = 0, groups = 0;
        char name[GG_METRIC_NAME];
        for (size_t g = 0; g < w->groups; g++) {
            size_t n = group_rewards(w, g, scratch);
            int64_t passed = 0;
            for (size_t s = 0; s < n; s++)
                passed += scratch[s] >= job->config.hyper.success_threshold;
            if ((int64_t)n < k)
                continue;
            at += gg_pass_at_k((int64_t)n, passed, k);
            all += gg_pass_all_k((int64_t)n, passed, k);
            groups++;
        }
        if (groups == 0)
            continue;
        snprintf(name, sizeof name, "reward/pass_at_%" PRId64, k);
        gg_metrics_set(m, prefix, name, at / groups);
        snprintf(name, sizeof name, "reward/pass_power_%" PRId64, k);
        gg_metrics_set(m, prefix, name, all / groups);
    }
}

/* Zero log-probabilities per group. */
static double zeros_per_group(const gg_window *w)
{
    double zeros = 0;
    for (size_t i = 0; i < w->count; i++) {
        const gg_episode *e = w->slots[i].episode;
        for (size_t t = 0; e && e->tokens && t < e->turn_count; t++)
            for (size_t k = 0; e->tokens[t].logprobs && k < e->tokens[t].count; k++)
                zeros += e->tokens[t].logprobs[k] == 0;
    }
    return w->groups ? zeros / (double)w->groups : 0;
}

static void set_counts(gg_metrics *m, const char *prefix, const gg_job *job, const gg_window *w,
                       const within *all)
{
    double groups = all->groups ? (double)all->groups : NAN;
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"reward/mean_within_groups", all->mean / groups},
        {"reward/std_within_groups", all->std / groups},
        {"reward/min_within_groups", all->low / groups},
        {"reward/max_within_groups", all->high / groups},
        {"reward/rollouts_per_prompt", (double)w->group_size},
        {"reward/num_prompts", (double)w->groups},
        {"reward/succeeded_rollouts", (double)(w->count - w->dropped)},
        {"reward/failed_rollouts", (double)w->dropped},
        {"reward/success_threshold", job->config.hyper.success_threshold},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        gg_metrics_set(m, prefix, rows[i].name, rows[i].value);
}

gg_status gg_job_measure(const gg_job *job, const gg_window *w, const char *prefix, gg_metrics *m,
                         gg_error *error)
{
    within all = {0};
    gg_episode **plays = calloc(w->count + 1, sizeof *plays);
    double *rewards = calloc(w->group_size + 1, sizeof *rewards);
    if (plays && rewards) {
        for (size_t i = 0; i < w->count; i++)
            plays[i] = w->slots[i].state == GG_TRAJECTORY_REWARDED ? w->slots[i].episode : NULL;
        gg_metrics_plays(m, prefix, plays, w->count);
        gg_metrics_set(m, prefix, "logprob/zero_per_group", zeros_per_group(w));
    }
    for (size_t g = 0; plays && rewards && w->kind != 's' && g < w->groups; g++) {
        size_t n = group_rewards(w, g, rewards);
        if (n)
            add_group(&all, rewards, n);
    }
    if (plays && rewards && w->kind != 's') {
        set_counts(m, prefix, job, w, &all);
        add_pass(m, prefix, job, w, rewards);
    }
    bool fine = plays && rewards && m->status == GG_OK;
    free(plays);
    free(rewards);
    return fine ? GG_OK : gg_fail(error, GG_E_MEMORY, "out of memory for a job's metrics");
}

/* ---- lines ---- */

/* The state folder's copy, for going on after a kill. */
static gg_status append_local(const gg_job *job, const char *line, size_t len, gg_error *error)
{
    gg_buf path;
    if (!job->o.site->state_dir)
        return GG_OK;
    gg_job_file_path(job, ".metrics.jsonl", &path);
    FILE *file = path.status == GG_OK ? fopen(path.data, "ab") : NULL;
    bool fine = file && fwrite(line, 1, len, file) == len;
    if (file && fclose(file) != 0)
        fine = false;
    gg_status status =
        fine ? GG_OK : gg_fail(error, GG_E_IO, "cannot write %s", gg_buf_cstr(&path));
    gg_buf_free(&path);
    return status;
}

void gg_job_recover_metrics(gg_job *job, int64_t bytes)
{
    gg_buf path;
    if (!job->o.site->state_dir || bytes < 0)
        return;
    gg_job_file_path(job, ".metrics.jsonl", &path);
    if (path.status == GG_OK && truncate(path.data, (off_t)bytes) == 0 &&
        gg_file_read(path.data, &job->metrics, NULL) != GG_OK)
        gg_buf_reset(&job->metrics);
    gg_buf_truncate(&job->metrics, (size_t)bytes);
    gg_buf_free(&path);
}

gg_status gg_job_append_metrics(gg_job *job, const gg_metrics *metrics, const gg_step_count *count,
                                gg_error *error)
{
    gg_buf *out = &job->metrics;
    size_t before = out->len;
    gg_buf_printf(out, "{\"step\":%" PRId64 ",\"plays\":%" PRId64 ",", job->done, count->planned);
    gg_step_count_write(count, out);
    gg_metrics_write(metrics, out);
    gg_buf_str(out, "}\n");
    gg_status status = gg_buf_status(out, "a job's metrics", error);
    return status == GG_OK ? append_local(job, out->data + before, out->len - before, error)
                           : status;
}

static gg_status write_output(const gg_job *job, const char *name, const gg_buf *text,
                              gg_error *error)
{
    gg_buf uri;
    gg_buf_init(&uri, 2 * GG_STORE_URI_MAX);
    gg_buf_printf(&uri, "%s/%s/%s", job->config.output_path, job->o.name, name);
    gg_status status = gg_buf_status(&uri, "an address", error);
    if (status == GG_OK)
        status = gg_store_write(job->o.site->store, uri.data, gg_buf_cstr(text), text->len, error);
    gg_buf_free(&uri);
    return status;
}

gg_status gg_job_publish(gg_job *job, bool now, gg_error *error)
{
    int64_t ticks = gg_job_ticks();
    bool due = now || ticks - job->shown_ms >= SHOW_EVERY_MS;
    if (!due || job->metrics.len == job->metrics_shown)
        return GG_OK;
    job->shown_ms = ticks;
    job->metrics_shown = job->metrics.len;
    return write_output(job, "metrics.jsonl", &job->metrics, error);
}

gg_status gg_job_write_rollouts(gg_job *job, const gg_window *w, gg_error *error)
{
    gg_buf text;
    gg_buf_init(&text, GG_METRICS_MAX);
    for (size_t i = 0; i < w->count; i++) {
        const gg_trajectory *t = &w->slots[i];
        bool good = t->state == GG_TRAJECTORY_REWARDED;
        gg_buf_printf(&text,
                      "{\"prompt_index\":%" PRIu32 ",\"sample\":%zu,\"tries\":%d,\"reward\":",
                      w->rows[i / w->group_size], i % w->group_size, t->try + 1);
        gg_buf_double(&text, good ? t->episode->reward : NAN);
        gg_buf_printf(&text, ",\"success\":%s,\"turns\":%zu}\n",
                      good && t->episode->reward >= job->config.hyper.success_threshold ? "true"
                                                                                        : "false",
                      good ? t->episode->turn_count : 0);
    }
    gg_status status = gg_buf_status(&text, "an evaluation's rollouts", error);
    if (status == GG_OK)
        status = write_output(job, "rollouts.jsonl", &text, error);
    gg_buf_free(&text);
    return status;
}
