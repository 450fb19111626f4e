/* guessgym train: from options to trained weights, with progress and a summary. */
#include <math.h>
#include <string.h>

#include "agent/live.h"
#include "cli/mlflow.h"
#include "cli/term.h"
#include "cli/train_job.h"
#include "cli/train_setup.h"
#include "report/training.h"

#define EVERY_MS   250
#define LINE_ROOM  4096
#define BAR_CELLS  24
#define OUTPUT_MAX (1u << 20)
#define PERCENT    100.0

/* A training on its loop, with its signals and its live line. */
typedef struct stage {
    gg_training setup;
    gg_train *train;
    gg_mlflow_live *mlflow;
    uv_loop_t loop;
    uv_timer_t timer;
    uv_signal_t interrupt, terminate;
    int signals;
    bool given_up;
    bool live, shown;   /* a terminal; there is a line to wipe */
    int64_t first_step; /* done before this process */
    uint64_t started;
    double last_val;
    gg_buf line;
} stage;

static void wipe(stage *s)
{
    if (s->shown)
        fputs("\r\x1b[K", stderr);
    s->shown = false;
}

static void on_signal(uv_signal_t *handle, int number)
{
    stage *s = handle->data;

    (void)number;
    s->signals++;
    s->given_up = s->signals > 1 || !s->train; /* nothing is in flight before the training stands */
    if (s->train)
        gg_train_stop(s->train);
    wipe(s);
    if (!s->given_up) {
        gg_complain("stopping: waiting for the episodes in flight; Ctrl-C again drops them");
        return;
    }
    uv_signal_stop(&s->interrupt);
    uv_signal_stop(&s->terminate);
}

static void listen_to(stage *s, uv_signal_t *handle, int number)
{
    uv_signal_init(&s->loop, handle);
    handle->data = s;
    uv_signal_start(handle, on_signal, number);
    uv_unref((uv_handle_t *)handle);
}

/* ---- the live line: a bar over the steps, then the step in work ---- */

static void write_bar(stage *s, int64_t step, int64_t steps)
{
    int full = (int)(BAR_CELLS * (step - 1) / steps);
    double elapsed = (double)(uv_hrtime() - s->started) / 1e6;
    int64_t done = step - 1 - s->first_step;

    gg_buf_printf(&s->line, "step %lld/%lld [", (long long)step, (long long)steps);
    for (int i = 0; i < BAR_CELLS; i++)
        gg_buf_char(&s->line, i < full ? '#' : '.');
    gg_buf_char(&s->line, ']');
    if (!isnan(s->last_val))
        gg_buf_printf(&s->line, " | val %.1f %%", s->last_val * PERCENT);
    if (done > 0) {
        gg_buf_str(&s->line, " | ETA ");
        gg_live_time((int64_t)(elapsed / (double)done * (double)(steps - step + 1)), &s->line);
    }
}

static void draw(uv_timer_t *timer)
{
    stage *s = timer->data;
    gg_rollout_state state;
    int64_t step = 0;
    size_t width = (size_t)gg_term_width(stderr) - 1;

    gg_buf_reset(&s->line);
    bool playing = gg_train_look(s->train, &step, &state);
    if (step > 0)
        write_bar(s, step, s->setup.options.steps);
    else
        gg_buf_str(&s->line, "first validation");
    if (playing && s->line.len + 3 < width) {
        gg_buf_str(&s->line, " | ");
        gg_live_line(&state, NULL, width - s->line.len, &s->line);
    }
    fprintf(stderr, "\r%.*s\x1b[K", (int)width, gg_buf_cstr(&s->line));
    fflush(stderr);
    s->shown = true;
}

/* After each step: on a terminal the bar says enough, elsewhere a line with each validation. */
static void on_step(void *context, int64_t step, const gg_metrics *metrics)
{
    stage *s = context;
    double val = gg_metrics_get(metrics, "val/solve_rate");
    double play = gg_metrics_get(metrics, "rollout/solve_rate");

    if (isnan(val))
        return;
    s->last_val = val;
    wipe(s);
    if (isnan(play))
        gg_remark(s->setup.cli, "step %3lld: validation %5.1f %% solved", (long long)step,
                  val * PERCENT);
    else
        gg_remark(s->setup.cli,
                  "step %3lld: validation %5.1f %% solved; this step's plays %5.1f %%, groups with "
                  "signal %.0f %%",
                  (long long)step, val * PERCENT, play * PERCENT,
                  gg_metrics_get(metrics, "analysis/batch_valid_ratio") * PERCENT);
}

/* ---- running ---- */

static void start_loop(stage *s)
{
    uv_loop_init(&s->loop);
    listen_to(s, &s->interrupt, SIGINT);
    listen_to(s, &s->terminate, SIGTERM);
    s->live = gg_term_is_tty(stderr) && !gg_opt_flag(s->setup.cli->opts, GG_OPT_QUIET);
    uv_timer_init(&s->loop, &s->timer);
    s->timer.data = s;
    uv_unref((uv_handle_t *)&s->timer);
    s->setup.options.loop = &s->loop;
    s->setup.options.progress = on_step;
    s->setup.options.context = s;
    s->setup.options.given_up = &s->given_up;
    s->last_val = NAN;
    gg_buf_init(&s->line, LINE_ROOM);
}

static void end_loop(stage *s)
{
    uv_close((uv_handle_t *)&s->timer, NULL);
    uv_close((uv_handle_t *)&s->interrupt, NULL);
    uv_close((uv_handle_t *)&s->terminate, NULL);
    uv_run(&s->loop, UV_RUN_DEFAULT); /* lets the handles close */
    uv_loop_close(&s->loop);
    gg_buf_free(&s->line);
}

static gg_status run(stage *s, gg_error *error)
{
    gg_error later = {0};
    gg_status status = gg_train_open(&s->setup.options, &s->train, error);

    if (status != GG_OK)
        return status;
    s->started = uv_hrtime();
    s->first_step = gg_train_done(s->train);
    if (s->live)
        uv_timer_start(&s->timer, draw, EVERY_MS, EVERY_MS);
    status = gg_train_run(s->train, error);
    uv_timer_stop(&s->timer);
    wipe(s);
    gg_status fetched = gg_training_fetch(&s->setup, s->train, &later);
    if (fetched != GG_OK && status == GG_OK) {
        *error = later;
        status = fetched;
    }
    return status;
}

static void announce(const gg_training *t)
{
    const gg_train_options *o = &t->options;
    const gg_tasks *rows = o->from ? o->from : &t->rows;

    gg_remark(t->cli, "%lld steps of %zu tasks x %zu plays of %s (%zu, %.8s)%s%s; run folder %s",
              (long long)o->steps, o->batch, o->from ? o->from_samples : o->group_size, rows->path,
              rows->count, rows->identity, *t->effort ? ", effort " : "", t->effort,
              gg_buf_cstr(&t->dir));
    if (t->service)
        gg_remark(t->cli,
                  "trained is an embedded policy, a tiny player and no language "
                  "model, by our own "
                  "service on %s",
                  gg_service_url(t->service));
}

/* ---- what came of it ---- */

static void tell(const gg_training *t, const gg_training_figures *f, const char *adapter,
                 const char *stopped, gg_buf *out)
{
    gg_buf_printf(out, "%lld steps, %lld plays, %lld of %lld groups without signal, %lld refused\n",
                  (long long)f->steps, (long long)f->plays, (long long)f->groups_without_signal,
                  (long long)f->groups, (long long)f->groups_refused);
    if (!isnan(f->val_before) && f->val_after_step == f->val_before_step)
        gg_buf_printf(out, "validation: %.1f %% solved (step %lld)\n", f->val_before * PERCENT,
                      (long long)f->val_before_step);
    else if (!isnan(f->val_before))
        gg_buf_printf(out,
                      "validation: %.1f %% solved before (step %lld), %.1f %% after (step %lld)\n",
                      f->val_before * PERCENT, (long long)f->val_before_step,
                      f->val_after * PERCENT, (long long)f->val_after_step);
    if (f->prefill != GG_TOKENS_UNKNOWN && f->sample != GG_TOKENS_UNKNOWN) {
        gg_buf_str(out, "tokens: ");
        gg_live_count(f->prefill, out);
        gg_buf_str(out, " prefill, ");
        gg_live_count(f->sample, out);
        gg_buf_str(out, " sample, ");
        gg_live_count(f->train, out);
        gg_buf_str(out, " train");
    }
    if (!isnan(f->cost_usd))
        gg_buf_printf(out, "; on %s they would cost $%.2f (prices of %s)", t->options.price.model,
                      f->cost_usd, t->options.price.date);
    gg_buf_char(out, '\n');
    if (stopped)
        gg_buf_printf(out, "stopped early: %s\n", stopped);
    if (adapter)
        gg_buf_printf(out, "weights: %s\n", adapter);
}

static void tell_warnings(const gg_health *health)
{
    gg_warning list[GG_WARNINGS_MAX];
    size_t count = gg_health_warnings(health, true, list);

    for (size_t i = 0; i < count; i++)
        gg_complain("warning: %s", list[i].text);
}

static gg_status conclude(stage *s, gg_error *error)
{
    const gg_training *t = &s->setup;
    const gg_tasks *rows = t->options.from ? t->options.from : &t->rows;
    const gg_summary_list list = {rows->path, rows->count, rows->identity};
    const char *stopped = s->train ? gg_train_budget_reason(s->train) : NULL;
    gg_training_figures figures;
    gg_buf out, adapter;

    gg_buf_init(&out, OUTPUT_MAX);
    gg_buf_init(&adapter, LINE_ROOM);
    gg_buf_printf(&adapter, "%s/adapter.json", gg_buf_cstr(&t->dir));
    gg_status status = gg_training_read(t->run, &figures, error);
    if (status == GG_OK) {
        gg_training_write(&figures, &list, gg_buf_cstr(&adapter), stopped, &out);
        gg_buf_char(&out, '\n');
        status = gg_buf_status(&out, "the summary", error);
    }
    if (status == GG_OK)
        status = gg_run_write_file(t->run, "summary.json", gg_buf_cstr(&out), out.len, error);
    if (status == GG_OK && !gg_opt_flag(t->cli->opts, GG_OPT_JSON)) {
        gg_buf_reset(&out);
        tell(t, &figures, gg_buf_cstr(&adapter), stopped, &out);
    }
    if (status == GG_OK) {
        gg_print(&out);
        fflush(stdout);
        tell_warnings(&figures.health);
    }
    gg_buf_free(&adapter);
    gg_buf_free(&out);
    return status;
}

static gg_exit leave(stage *s, gg_status status, const gg_error *error)
{
    gg_buf command;

    if (status == GG_OK)
        return GG_EXIT_OK;
    gg_exit code = gg_give_up(GG_WORKING, error);
    if (status != GG_E_INTERRUPTED)
        return code;
    gg_buf_init(&command, LINE_ROOM);
    gg_quote_command(&command, s->setup.cli->argc, s->setup.cli->argv);
    if (!gg_opt_flag(s->setup.cli->opts, GG_OPT_RESUME))
        gg_buf_str(&command, " --resume");
    gg_complain("go on with: %s", gg_buf_cstr(&command));
    gg_buf_free(&command);
    return code;
}

gg_exit gg_cmd_train(gg_cli *cli)
{
    stage s = {0};
    gg_error error = {0}, later = {0};
    gg_exit code;

    if (strcmp(gg_opt_text(cli->opts, GG_OPT_ON), "job") == 0)
        return gg_train_on_job(cli);
    gg_status status = gg_training_open(cli, &s.setup, &error);
    if (status == GG_OK) {
        start_loop(&s);
        announce(&s.setup);
        status = gg_mlflow_start(cli, gg_buf_cstr(&s.setup.dir), &s.mlflow, &error);
        if (status == GG_OK)
            status = run(&s, &error);
        if (s.train && conclude(&s, &later) != GG_OK && status == GG_OK) {
            status = later.status;
            error = later;
        }
        code = leave(&s, status, &error);
        if (gg_train_close(s.train, &later) != GG_OK)
            gg_complain("the training session could not be stopped and may still bill: %s",
                        later.text);
        end_loop(&s);
    } else {
        code = gg_give_up(GG_STARTING, &error);
    }
    gg_training_close(&s.setup);
    gg_mlflow_stop(s.mlflow, status);
    return code;
}
