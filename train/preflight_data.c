/* Rows, and what the run will come to: tokens, signal, money, time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train/preflight.h"

#define ROWS_ADVISED  10    /* times the batch */
#define SIGNAL_DOUBT  0.5   /* share of groups without signal */
#define CUT_DOUBT     0.05  /* share of plays that hit the token limit */
#define RATE_DOUBT    1e-4  /* learning rate of a hub model */
#define RATE_PER_S    5.0   /* rollouts that the service starts a second */
#define SECONDS_A_DAY 86400 /* a job's default limit */
#define BATCH_DEFAULT 128
#define GROUP_DEFAULT 8
#define STEPS_DEFAULT 100

/* ---- rows ---- */

static void check_overlap(const char *check, const char *what, const gg_tasks *rows,
                          const gg_tasks *others, gg_findings *out)
{
    gg_error error = {0};

    if (!rows || !others || !others->count)
        return;
    if (gg_tasks_disjoint(rows, others, &error) != GG_OK)
        gg_findings_add(out, check, GG_FAULT, "%s: %s", what, error.text);
    else
        gg_findings_add(out, check, GG_HOLDS, "%s: no task in both", what);
}

/* Steps that the rows give, as the service cuts them: whole batches an epoch, the rest dropped. */
static void check_steps(const gg_job_plan *plan, double rows, double batch, gg_findings *out)
{
    double steps = gg_plan_number(plan, "max_steps", STEPS_DEFAULT),
           epochs = gg_plan_number(plan, "max_epochs", 1), given = floor(rows / batch) * epochs;

    if (given < steps)
        gg_findings_add(out, "epochs", GG_DOUBT,
                        "%.0f rows in batches of %.0f give %.0f steps in %.0f epochs, so the job "
                        "ends before step %.0f; --epochs %.0f would do",
                        rows, batch, given, epochs, steps,
                        rows >= batch ? ceil(steps / floor(rows / batch)) : 0);
}

void gg_check_rows(const gg_preflight *p, gg_findings *out)
{
    double batch = gg_plan_number(p->plan, "global_batch_size", BATCH_DEFAULT);

    if (p->rows_fault)
        gg_findings_add(out, "rows", GG_FAULT, "%s", p->rows_fault);
    if (p->val_fault)
        gg_findings_add(out, "validation", GG_FAULT, "%s", p->val_fault);
    if (p->rows && p->rows->count < (size_t)batch)
        gg_findings_add(out, "rows", GG_FAULT,
                        "%s has %zu rows, a batch takes %.0f: give at least as many, better %d "
                        "times as many",
                        p->rows->path, p->rows->count, batch, ROWS_ADVISED);
    else if (p->rows && p->rows->count < (size_t)batch * ROWS_ADVISED)
        gg_findings_add(out, "rows", GG_DOUBT, "%zu rows are %.1f batches of %.0f; %d are advised",
                        p->rows->count, (double)p->rows->count / batch, batch, ROWS_ADVISED);
    else if (p->rows)
        gg_findings_add(out, "rows", GG_HOLDS, "%zu rows, each task once", p->rows->count);
    if (p->rows && p->rows->count >= (size_t)batch)
        check_steps(p->plan, (double)p->rows->count, batch, out);
    if (!p->val && !p->val_fault)
        gg_findings_add(out, "validation", GG_DOUBT,
                        "no validation rows: nothing would show a reward that is gamed");
    check_overlap("leak-validation", "training and validation", p->rows, p->val, out);
    check_overlap("leak-held-out", "training and held-out", p->rows, p->held_out, out);
}

/* ---- what it comes to ---- */

static void check_signal(const gg_preflight *p, gg_findings *out)
{
    double group = gg_plan_number(p->plan, "group_size", GROUP_DEFAULT);

    if (!p->baseline.tasks)
        gg_findings_add(out, "signal", GG_REMARK,
                        "not looked at: play some groups with the base model and give the run by "
                        "--baseline");
    else if (p->baseline.solved == 0 || p->baseline.solved == 1)
        gg_findings_add(out, "signal", GG_FAULT,
                        "the baseline solved %s of its plays: by outcome no group has signal; the "
                        "base model must solve some tasks and not all",
                        p->baseline.solved == 0 ? "none" : "all");
    else
        gg_findings_add(out, "signal", p->baseline.no_signal > SIGNAL_DOUBT ? GG_DOUBT : GG_HOLDS,
                        "the baseline solved %.1f %%; of groups of %.0f, %.0f %% would have no "
                        "signal by outcome%s",
                        100 * p->baseline.solved, group, 100 * p->baseline.no_signal,
                        p->baseline.no_signal > SIGNAL_DOUBT
                            ? ": a denser reward, easier tasks or bigger groups would waste less"
                            : "");
}

static void check_cut(const gg_preflight *p, gg_findings *out)
{
    if (p->measured.plays && p->measured.cut > CUT_DOUBT)
        gg_findings_add(out, "token-limit", GG_DOUBT,
                        "%.0f %% of the plays at home ended at the token limit; below %.0f %% is "
                        "advised: raise --max-tokens",
                        100 * p->measured.cut, 100 * CUT_DOUBT);
}

static void check_rate(const gg_job_plan *plan, gg_findings *out)
{
    double rate = gg_plan_number(plan, "learning_rate", 0);

    if (rate > RATE_DOUBT)
        gg_findings_add(out, "learning-rate", GG_DOUBT,
                        "a learning rate of %g is meant for the embedded policies; hub models are "
                        "trained at 1e-5 to 4e-5, and above %g they break",
                        rate, RATE_DOUBT);
}

/* The service starts rollouts at a fixed rate, whatever the concurrency. */
static void check_time(double plays, gg_findings *out)
{
    double seconds = plays / RATE_PER_S;

    gg_findings_add(out, "time", seconds > SECONDS_A_DAY ? GG_DOUBT : GG_REMARK,
                    "%.0f plays started at %.0f a second take %.1f hours at least%s", plays,
                    RATE_PER_S, seconds / 3600,
                    seconds > SECONDS_A_DAY ? ", and a job ends after 24 hours: fewer steps, or "
                                              "resume it from its checkpoint"
                                            : "");
}

static void check_money(const gg_preflight *p, double plays, gg_findings *out)
{
    const gg_measured *m = &p->measured;

    if (!m->plays) {
        gg_findings_add(
            out, "cost", GG_REMARK,
            "not estimated: play some groups with the base model and give the run by --baseline");
        return;
    }
    double prefill = m->prefill * plays, sample = m->sample * plays, train = m->train * plays;
    double dollars = gg_price_cost(&p->price, (int64_t)prefill, (int64_t)sample, (int64_t)train);
    gg_findings_add(
        out, "cost", p->max_cost > 0 && dollars > p->max_cost ? GG_FAULT : GG_REMARK,
        "%.0f plays as the %lld measured ones: %.1f M tokens prefilled, %.1f M sampled, "
        "%.1f M trained; at the prices of %s (%s) about %.0f dollars%s",
        plays, (long long)m->plays, prefill / 1e6, sample / 1e6, train / 1e6, p->price.model,
        p->price.date[0] ? p->price.date : "your file", dollars,
        p->max_cost > 0 && dollars > p->max_cost ? ", more than --max-cost" : "");
}

void gg_check_budget(const gg_preflight *p, gg_findings *out)
{
    double plays = gg_plan_number(p->plan, "max_steps", STEPS_DEFAULT) *
                   gg_plan_number(p->plan, "global_batch_size", BATCH_DEFAULT) *
                   gg_plan_number(p->plan, "group_size", GROUP_DEFAULT);

    check_signal(p, out);
    check_cut(p, out);
    check_rate(p->plan, out);
    check_time(plays, out);
    check_money(p, plays, out);
}
