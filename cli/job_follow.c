#include "cli/job_follow.h"

#include <string.h>
#include <time.h>

#include "agent/live.h"
#include "cli/term.h"
#include "train/call.h"

#define FIRST_POLL_MS 200
#define LINE_ROOM     1024
#define JSON_MAX      (64u << 10)
#define BAR_CELLS     24
#define MILLION       1e6

static bool knows_tokens(const gg_remote_job_state *job)
{
    return job->prefill >= 0 && job->sample >= 0 && job->train >= 0;
}

static double cost(const gg_remote_job_state *job, const gg_price *price)
{
    return gg_price_cost(price, job->prefill, job->sample, job->train);
}

/* ---- the live line ---- */

static void write_bar(const gg_remote_job_state *job, gg_buf *out)
{
    int full = job->steps > 0 ? (int)(BAR_CELLS * job->step / job->steps) : 0;

    gg_buf_printf(out, "step %lld/%lld [", (long long)job->step, (long long)job->steps);
    for (int i = 0; i < BAR_CELLS; i++)
        gg_buf_char(out, i < full ? '#' : '.');
    gg_buf_char(out, ']');
}

static void write_live(const gg_remote_job_state *job, const gg_price *price, gg_buf *out)
{
    double passed = difftime(time(NULL), (time_t)job->created_s);

    gg_buf_printf(out, "%s: ", job->secondary[0] ? job->secondary : job->status);
    if (job->step >= 0 && job->steps > 0)
        write_bar(job, out);
    if (job->rollouts_done >= 0)
        gg_buf_printf(out, " | %lld/%lld plays", (long long)job->rollouts_done,
                      (long long)job->rollouts);
    if (knows_tokens(job))
        gg_buf_printf(out, " | %.1f M tokens, %.2f dollars",
                      (double)(job->prefill + job->sample + job->train) / MILLION,
                      cost(job, price));
    if (job->step > 0 && job->created_s > 0 && passed > 0) {
        gg_buf_str(out, " | ETA ");
        gg_live_time(
            (int64_t)(passed * 1000 / (double)job->step * (double)(job->steps - job->step)), out);
    }
}

typedef struct follower {
    const gg_cli *cli;
    const gg_price *price;
    bool live, shown;
    char said[24];
    gg_buf line;
} follower;

static void wipe(follower *f)
{
    if (f->shown)
        fputs("\r\x1b[K", stderr);
    f->shown = false;
}

/* On a terminal one line that is redrawn; elsewhere a line at each change of the status. */
static void show(follower *f, const gg_remote_job_state *job)
{
    const char *word = job->secondary[0] ? job->secondary : job->status;

    if (f->live) {
        gg_buf_reset(&f->line);
        write_live(job, f->price, &f->line);
        fprintf(stderr, "\r%.*s\x1b[K", gg_term_width(stderr) - 1, gg_buf_cstr(&f->line));
        fflush(stderr);
        f->shown = true;
    } else if (strcmp(f->said, word) != 0) {
        snprintf(f->said, sizeof f->said, "%s", word);
        gg_remark(f->cli, "job %s: %s", job->name, word);
    }
}

gg_status gg_job_follow(gg_cli *cli, gg_managed *managed, const char *name, const gg_price *price,
                        gg_remote_job_state *out, gg_error *error)
{
    follower f = {.cli = cli,
                  .price = price,
                  .live = gg_term_is_tty(stderr) && !gg_opt_flag(cli->opts, GG_OPT_QUIET)};
    gg_status status = GG_OK;

    gg_buf_init(&f.line, LINE_ROOM);
    for (int64_t pause = FIRST_POLL_MS;;
         pause = pause * 2 > GG_JOB_POLL_MS ? GG_JOB_POLL_MS : pause * 2) {
        status = gg_remote_job_describe(&managed->client, name, out, error);
        if (status != GG_OK)
            break;
        show(&f, out);
        if (gg_remote_job_ended(out))
            break;
        status = gg_loop_sleep(&managed->loop, pause, error);
        if (status == GG_OK && managed->given_up)
            status =
                gg_fail(error, GG_E_INTERRUPTED,
                        "stopped following; the job goes on and bills: guessgym job follow %s, "
                        "or guessgym job stop %s",
                        name, name);
        if (status != GG_OK)
            break;
    }
    wipe(&f);
    gg_buf_free(&f.line);
    return status;
}

/* ---- the result ---- */

static void number(gg_buf *out, const char *name, int64_t value)
{
    gg_buf_printf(out, ",\"%s\":", name);
    if (value >= 0)
        gg_buf_int(out, value);
    else
        gg_buf_str(out, "null");
}

static void text(gg_buf *out, const char *name, const char *value)
{
    gg_buf_printf(out, ",\"%s\":", name);
    gg_buf_json_str(out, value[0] ? value : NULL);
}

static void write_json(const gg_remote_job_state *job, const gg_price *price, gg_buf *out)
{
    gg_buf_str(out, "{\"name\":");
    gg_buf_json_str(out, job->name);
    text(out, "arn", job->arn);
    text(out, "status", job->status);
    text(out, "secondary_status", job->secondary);
    text(out, "failure_reason", job->failure);
    number(out, "step", job->step);
    number(out, "steps", job->steps);
    number(out, "rollouts_completed", job->rollouts_done);
    number(out, "rollouts_total", job->rollouts);
    number(out, "prefill_tokens", job->prefill);
    number(out, "sample_tokens", job->sample);
    number(out, "train_tokens", job->train);
    gg_buf_str(out, ",\"cost\":");
    if (knows_tokens(job))
        gg_buf_double(out, cost(job, price));
    else
        gg_buf_str(out, "null");
    text(out, "model_package", job->package);
    text(out, "output", job->output);
    gg_buf_str(out, "}\n");
}

static void write_text(const gg_remote_job_state *job, const gg_price *price, gg_buf *out)
{
    gg_buf_printf(out, "job            %s\nstatus         %s%s%s\n", job->name, job->status,
                  job->secondary[0] ? ", " : "", job->secondary);
    if (job->failure[0])
        gg_buf_printf(out, "reason         %s\n", job->failure);
    if (job->step >= 0)
        gg_buf_printf(out, "steps          %lld of %lld\n", (long long)job->step,
                      (long long)job->steps);
    if (job->rollouts_done >= 0)
        gg_buf_printf(out, "plays          %lld of %lld\n", (long long)job->rollouts_done,
                      (long long)job->rollouts);
    if (knows_tokens(job))
        gg_buf_printf(out,
                      "tokens         %.2f M prefilled, %.2f M sampled, %.2f M trained\n"
                      "cost           %.2f dollars at the prices of %s\n",
                      (double)job->prefill / MILLION, (double)job->sample / MILLION,
                      (double)job->train / MILLION, cost(job, price), price->model);
    if (job->package[0])
        gg_buf_printf(out, "model package  %s\n", job->package);
    if (job->output[0])
        gg_buf_printf(out, "output         %s\n", job->output);
}

void gg_job_print(const gg_cli *cli, const gg_remote_job_state *job, const gg_price *price)
{
    gg_buf out;

    gg_buf_init(&out, JSON_MAX);
    if (gg_opt_flag(cli->opts, GG_OPT_JSON))
        write_json(job, price, &out);
    else
        write_text(job, price, &out);
    gg_print(&out);
    gg_buf_free(&out);
}
