#include "cli/collect.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "cli/groups.h"
#include "cli/mend.h"
#include "cli/mlflow.h"
#include "cli/progress.h"
#include "cli/term.h"
#include "net/listen.h"

#define LINE_MAX_B    (256u << 20)
#define SUMMARY_MAX   (16u << 20)
#define MS_OF_SECONDS 1000

/* One list being played. */
typedef struct collector {
    const gg_collect_plan *plan;
    gg_run *run;
    gg_summary *summary;
    gg_group_log *groups; /* NULL without a method */
    size_t found;         /* plays in the folder */
    gg_buf line;
    /* the machinery, alive while plays are under way */
    uv_loop_t loop;
    gg_http *http;
    gg_endpoint *endpoint;
    gg_rollout *rollout;
    gg_progress progress;
    uv_signal_t interrupt, terminate;
    int signals;
} collector;

/* ---- what the folder already holds ---- */

static gg_status check_task(const collector *c, const gg_episode *e, gg_error *error)
{
    const gg_tasks *tasks = c->plan->tasks;

    if (e->group < 0 || (size_t)e->group >= tasks->count ||
        strcmp(tasks->items[e->group].key, e->task_key) != 0)
        return gg_fail(error, GG_E_CONFIG,
                       "%s: episode %s is of another task than the list has there; the list has "
                       "changed",
                       gg_run_dir(c->run), e->id);
    return GG_OK;
}

static gg_status recover_episode(void *context, gg_episode *episode, gg_error *error)
{
    collector *c = context;

    gg_status status = check_task(c, episode, error);
    if (status == GG_OK)
        status = gg_summary_add(c->summary, episode, error);
    if (status == GG_OK && c->groups)
        status = gg_group_log_add(c->groups, episode, error);
    c->found++;
    gg_episode_free(episode);
    return status;
}

static gg_status mend(collector *c, gg_error *error)
{
    gg_mended mended;

    gg_status status = gg_mend_run(c->run, c->plan->tasks->count, c->plan->samples, &mended, error);
    if (mended.errored + mended.damaged > 0)
        gg_remark(c->plan->cli, "%s: %zu errored episodes and %zu damaged lines are played again",
                  c->plan->dir, mended.errored, mended.damaged);
    return status;
}

static gg_status recover(collector *c, gg_error *error)
{
    gg_damage damage;

    gg_status status = c->plan->resume ? mend(c, error) : GG_OK;
    if (status == GG_OK && c->groups)
        status = gg_group_log_recover(c->groups, error);
    if (status == GG_OK)
        status = gg_run_each_episode(c->run, GG_JOURNAL_EPISODES, GG_READ_PLAY, recover_episode, c,
                                     &damage, error);
    if (status == GG_OK && c->plan->resume)
        gg_remark(c->plan->cli, "%s: %zu of %zu plays are there", c->plan->dir, c->found,
                  c->plan->tasks->count * c->plan->samples);
    return status;
}

/* ---- a play that has ended ---- */

static gg_status take(void *context, size_t index, gg_episode *episode, gg_error *error)
{
    collector *c = context;
    gg_status status = GG_OK;

    (void)index;
    episode->policy.endpoint = c->plan->player->shown; /* a loopback port says nothing */
    if (episode->outcome != GG_UNPLAYED) { /* left over from an interruption: nothing to keep */
        status = gg_run_append_episode(c->run, GG_JOURNAL_EPISODES, GG_JOURNAL_TOKENS, episode,
                                       &c->line, error);
        if (status == GG_OK)
            status = gg_summary_add(c->summary, episode, error);
        if (status == GG_OK && c->groups)
            status = gg_group_log_add(c->groups, episode, error);
    }
    gg_episode_free(episode);
    return status;
}

/* ---- signals ---- */

static void on_signal(uv_signal_t *handle, int number)
{
    collector *c = handle->data;

    (void)number;
    c->signals++;
    gg_rollout_stop(c->rollout);
    gg_progress_wipe(&c->progress);
    if (c->signals == 1) {
        gg_complain("stopping: waiting for the episodes in flight; Ctrl-C again drops them");
        return;
    }
    /* From now on a signal ends the program as if nobody listened. */
    uv_signal_stop(&c->interrupt);
    uv_signal_stop(&c->terminate);
}

static void listen_to(collector *c, uv_signal_t *handle, int number)
{
    uv_signal_init(&c->loop, handle);
    handle->data = c;
    uv_signal_start(handle, on_signal, number);
    uv_unref((uv_handle_t *)handle);
}

/* ---- the machinery ---- */

static gg_status set_up(collector *c, gg_error *error)
{
    const gg_opts *opts = c->plan->cli->opts;
    size_t concurrency = (size_t)gg_opt_int(opts, GG_OPT_CONCURRENCY);
    uint64_t seed = (uint64_t)gg_opt_int(opts, GG_OPT_SEED);
    const gg_endpoint_options endpoint = {
        .base_url = c->plan->player->url,
        .headers = c->plan->player->headers,
        .in_flight_max = concurrency,
        .attempts_max = (int)gg_opt_int(opts, GG_OPT_ATTEMPTS),
        .timeout_ms = (int64_t)(gg_opt_real(opts, GG_OPT_TIMEOUT) * MS_OF_SECONDS),
        .seed = seed,
    };
    gg_rollout_options rollout = {
        .game = c->plan->game,
        .reward = c->plan->reward,
        .ask = c->plan->ask,
        .seed = seed,
        .concurrency = concurrency,
        .weight_version = -1,
        .id_prefix = "s",
        .run_ms = (int64_t)(gg_opt_real(opts, GG_OPT_RUN_TIMEOUT) * MS_OF_SECONDS),
    };
    gg_status status = gg_http_new(&c->loop, &c->http, error);

    if (status == GG_OK)
        status = gg_endpoint_new(c->http, &endpoint, &c->endpoint, error);
    rollout.endpoint = c->endpoint;
    if (status == GG_OK)
        status = gg_rollout_new(&c->loop, &rollout, &c->rollout, error);
    if (status == GG_OK)
        gg_progress_start(&c->progress, c->plan->cli, &c->loop, c->rollout);
    return status;
}

static void tear_down(collector *c)
{
    gg_rollout_free(c->rollout);
    gg_endpoint_free(c->endpoint);
    gg_http_free(c->http);
    uv_close((uv_handle_t *)&c->interrupt, NULL);
    uv_close((uv_handle_t *)&c->terminate, NULL);
    uv_run(&c->loop, UV_RUN_DEFAULT); /* lets the handles close */
    uv_loop_close(&c->loop);
}

static size_t plan_missing(const collector *c, gg_planned *plan)
{
    size_t count = 0;

    for (size_t g = 0; g < c->plan->tasks->count; g++)
        for (size_t k = 0; k < c->plan->samples; k++)
            if (!gg_summary_has(c->summary, (int64_t)g, (int64_t)k))
                plan[count++] = (gg_planned){
                    .task = &c->plan->tasks->items[g], .group = (int64_t)g, .sample = (int64_t)k};
    return count;
}

static gg_status play_missing(collector *c, gg_error *error)
{
    size_t all = c->plan->tasks->count * c->plan->samples;
    gg_planned *plan = calloc(all + 1, sizeof *plan);

    if (!plan)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a plan of %zu plays", all);
    size_t missing = plan_missing(c, plan);
    gg_status status = GG_OK;
    if (missing > 0) {
        uv_loop_init(&c->loop);
        listen_to(c, &c->interrupt, SIGINT);
        listen_to(c, &c->terminate, SIGTERM);
        status = set_up(c, error);
        if (status == GG_OK)
            status = gg_rollout_play(c->rollout, plan, missing, take, c, error);
        gg_progress_stop(&c->progress);
        if (c->rollout && gg_rollout_hanging(c->rollout) > 0)
            c->plan->cli->hanging = true;
        else
            tear_down(c);
    }
    free(plan);
    return status;
}

/* ---- the end ---- */

/* The figures so far, also on disk. An earlier failure is not hidden by one of these. */
static gg_status conclude(collector *c, gg_collected *out, gg_error *error)
{
    const gg_summary_list list = {.name = c->plan->list_name,
                                  .count = c->plan->tasks->count,
                                  .identity = c->plan->tasks->identity};
    gg_buf text;

    gg_buf_init(&text, SUMMARY_MAX);
    gg_status status = gg_run_sync(c->run, GG_JOURNAL_EPISODES, error);
    if (status == GG_OK)
        status = gg_summary_figures(c->summary, &out->figures, error);
    if (status == GG_OK) {
        gg_figures_write(&out->figures, &list, c->groups != NULL, &text);
        gg_buf_char(&text, '\n');
        status = gg_buf_status(&text, "the summary", error);
    }
    if (status == GG_OK)
        status = gg_run_write_file(c->run, "summary.json", gg_buf_cstr(&text), text.len, error);
    gg_buf_free(&text);
    return status;
}

static gg_status open_folder(collector *c, gg_error *error)
{
    const gg_collect_plan *p = c->plan;

    gg_status status = gg_run_open(p->dir, p->config, p->resume, &c->run, error);
    if (status == GG_OK)
        status = gg_summary_new(p->tasks->count, p->samples, &c->summary, error);
    if (status == GG_OK && p->method)
        status =
            gg_group_log_new(c->run, *p->method, p->tasks->count, p->samples, &c->groups, error);
    return status == GG_OK ? recover(c, error) : status;
}

gg_status gg_collect(const gg_collect_plan *plan, gg_collected *out, gg_error *error)
{
    collector c = {.plan = plan};
    gg_error later = {0};

    *out = (gg_collected){0};
    gg_buf_init(&c.line, LINE_MAX_B);
    gg_mlflow_live *mlflow = NULL;
    gg_status status = open_folder(&c, error);
    if (status == GG_OK)
        status = gg_mlflow_start(plan->cli, plan->dir, &mlflow, error);
    if (status == GG_OK) {
        status = play_missing(&c, error);
        gg_status ended = conclude(&c, out, status == GG_OK ? error : &later);
        if (status == GG_OK)
            status = ended;
        out->summary = c.summary;
    } else {
        gg_summary_free(c.summary);
    }
    gg_group_log_free(c.groups);
    gg_run_close(c.run);
    gg_buf_free(&c.line);
    gg_mlflow_stop(mlflow, status);
    return status;
}

void gg_collected_free(gg_collected *collected)
{
    gg_summary_free(collected->summary);
    *collected = (gg_collected){0};
}
