/* Figures and tables, readable without the script. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/price.h"
#include "report/report_inside.h"

#define PERCENT      100.0
#define FLIPS_SHOWN  200
#define LABELS_SHOWN 30
#define BAR          100 /* percent of its cell */

static const gg_outcome outcomes[] = {GG_SOLVED,    GG_LOST,    GG_FORFEITED,
                                      GG_TRUNCATED, GG_ERRORED, GG_UNPLAYED};
#define OUTCOMES (sizeof outcomes / sizeof *outcomes)

static bool two(const gg_report *r)
{
    return r->run_count == 2;
}

/* ---- the headline ---- */

static void figure(gg_buf *out, const char *value, const char *says)
{
    gg_buf_str(out, "<div class=\"figure\"><b>");
    gg_buf_str(out, value);
    gg_buf_str(out, "</b><span>");
    gg_report_text(out, says);
    gg_buf_str(out, "</span></div>\n");
}

static const char *rate(double value, char out[64])
{
    if (isnan(value))
        snprintf(out, 64, "-");
    else
        snprintf(out, 64, "%.1f&#8201;%%", value * PERCENT);
    return out;
}

static void run_headline(gg_report *r, size_t i)
{
    const gg_figures *f = &r->runs[i].figures;
    char value[64], says[160];
    snprintf(says, sizeof says, "%s, %.1f to %.1f %%",
             two(r) ? (i ? "solved after" : "solved before") : "solved",
             f->solve_interval.low * PERCENT, f->solve_interval.high * PERCENT);
    figure(&r->out, rate(f->solve_rate, value), says);
    if (f->measure_name && strcmp(f->measure_name, "solved") != 0) {
        snprintf(value, sizeof value, "%.3f", f->measure_mean);
        snprintf(says, sizeof says, "%.40s%s, %.3f to %.3f", f->measure_name,
                 two(r) ? (i ? " after" : " before") : "", f->measure_interval.low,
                 f->measure_interval.high);
        figure(&r->out, value, says);
    }
    if (f->by_outcome[GG_ERRORED]) {
        snprintf(value, sizeof value, "%lld", (long long)f->by_outcome[GG_ERRORED]);
        snprintf(says, sizeof says, "errored%s; counted as unsolved: %.1f %%",
                 two(r) ? (i ? " after" : " before") : "", f->solve_rate_pessimistic * PERCENT);
        figure(&r->out, value, says);
    }
    snprintf(says, sizeof says, "failed%s (gave up, ran into a cap, cut)",
             two(r) ? (i ? " after" : " before") : "");
    figure(&r->out, rate(f->failure_rate, value), says);
}

static void training_headline(gg_report *r, size_t i)
{
    const gg_training_figures *t = &r->runs[i].training;
    char value[64], says[160];
    snprintf(says, sizeof says, "solved in validation after step %lld",
             (long long)t->val_after_step);
    figure(&r->out, rate(t->val_after, value), says);
    snprintf(says, sizeof says, "solved in validation before (step %lld)",
             (long long)t->val_before_step);
    figure(&r->out, rate(t->val_before, value), says);
    snprintf(value, sizeof value, "%lld", (long long)t->plays);
    snprintf(says, sizeof says, "plays in %lld steps, %lld of %lld groups without signal",
             (long long)t->steps, (long long)t->groups_without_signal, (long long)t->groups);
    figure(&r->out, value, says);
    if (t->prefill >= 0) {
        snprintf(value, sizeof value, isnan(t->cost_usd) ? "-" : "$%.2f", t->cost_usd);
        snprintf(says, sizeof says, "%.1f M tokens prefilled, %.1f M sampled, %.1f M trained",
                 (double)t->prefill / 1e6, (double)t->sample / 1e6, (double)t->train / 1e6);
        figure(&r->out, value, says);
    }
}

static void verdict(gg_report *r)
{
    const gg_comparison *c = &r->comparison;
    bool better = c->interval.low > 0, worse = c->interval.high < 0;
    if (!r->compared)
        return;
    gg_buf_printf(
        &r->out,
        "<p class=\"verdict %s\"><strong>%s</strong>: %+.1f points of %s (%+.1f to %+.1f) "
        "over %zu tasks; %zu better, %zu worse, %zu the same; p = %.2g</p>\n",
        better  ? "better"
        : worse ? "worse"
                : "unsure",
        c->verdict, c->difference * PERCENT, r->measure ? r->measure : "the measure",
        c->interval.low * PERCENT, c->interval.high * PERCENT, c->pairs, c->better, c->worse,
        c->same, c->p_value);
}

void gg_report_headline(gg_report *r)
{
    gg_buf_str(&r->out, "<div class=\"headline\">\n");
    for (size_t i = 0; i < r->run_count; i++) {
        if (r->runs[i].trained)
            training_headline(r, i);
        else
            run_headline(r, i);
    }
    gg_buf_str(&r->out, "</div>\n");
    verdict(r);
}

/* ---- tables ---- */

static void head(gg_report *r, const char *title, const char *first)
{
    gg_buf_printf(&r->out, "<section><h2>%s</h2><div class=\"scroll\"><table><thead><tr><th>%s",
                  title, first);
}

static void foot(gg_report *r)
{
    gg_buf_str(&r->out, "</tbody></table></div></section>\n");
}

static void run_columns(gg_report *r, const char *what)
{
    if (!two(r)) {
        gg_buf_printf(&r->out, "<th class=\"n\">%s", what);
        return;
    }
    gg_buf_printf(&r->out, "<th class=\"n\">%s before<th class=\"n\">after", what);
}

static int64_t outcome_count(const gg_report_run *run, gg_outcome outcome)
{
    return run->trained ? run->training.by_outcome[outcome] : run->figures.by_outcome[outcome];
}

static void outcome_table(gg_report *r)
{
    head(r, "How plays ended", "outcome");
    run_columns(r, "plays");
    gg_buf_str(&r->out, "</thead><tbody>");
    for (size_t k = 0; k < OUTCOMES; k++) {
        int64_t sum = 0;
        for (size_t i = 0; i < r->run_count; i++)
            sum += outcome_count(&r->runs[i], outcomes[k]);
        if (!sum)
            continue;
        gg_buf_printf(&r->out, "<tr><td><span class=\"tag %s\">%s</span>",
                      gg_outcome_name(outcomes[k]), gg_outcome_name(outcomes[k]));
        for (size_t i = 0; i < r->run_count; i++)
            gg_buf_printf(&r->out, "<td class=\"n\">%lld",
                          (long long)outcome_count(&r->runs[i], outcomes[k]));
    }
    for (int stop = GG_STOP_DONE + 1; stop < GG_STOP_COUNT; stop++) {
        int64_t sum = 0;
        for (size_t i = 0; i < r->run_count; i++)
            sum += r->runs[i].by_stop[stop];
        if (!sum)
            continue;
        gg_buf_printf(&r->out, "<tr><td class=\"faint\">stopped by %s",
                      gg_stop_name((gg_stop)stop));
        for (size_t i = 0; i < r->run_count; i++)
            gg_buf_printf(&r->out, "<td class=\"n\">%lld", (long long)r->runs[i].by_stop[stop]);
    }
    foot(r);
}

static int64_t solved_with(const gg_report_run *run, size_t moves)
{
    return run->trained || moves >= run->figures.move_count ? 0
                                                            : run->figures.solved_by_moves[moves];
}

static void move_table(gg_report *r)
{
    size_t most = 0;
    int64_t high = 1;
    for (size_t i = 0; i < r->run_count; i++)
        for (size_t m = 0; !r->runs[i].trained && m < r->runs[i].figures.move_count; m++) {
            int64_t n = r->runs[i].figures.solved_by_moves[m];
            most = n && m > most ? m : most;
            high = n > high ? n : high;
        }
    if (!most)
        return;
    gg_buf_str(&r->out, "<section><h2>Solved with ");
    gg_report_text(&r->out, r->o->game->info.move_noun);
    gg_buf_str(&r->out, " number</h2><table><tbody>");
    for (size_t m = 1; m <= most; m++) {
        gg_buf_printf(&r->out, "<tr><th class=\"n\" scope=\"row\">%zu", m);
        for (size_t i = 0; i < r->run_count; i++) {
            int64_t n = solved_with(&r->runs[i], m);
            gg_buf_printf(&r->out,
                          "<td class=\"n\">%lld<td class=\"bar\"><span class=\"fill%s\" "
                          "style=\"width:%.1f%%\"></span>",
                          (long long)n, i ? " second" : "", (double)(BAR * n) / (double)high);
        }
    }
    gg_buf_str(&r->out, "</tbody></table></section>\n");
}

static void token_row(gg_report *r, const char *what, double values[GG_REPORT_RUNS])
{
    gg_buf_printf(&r->out, "<tr><td>%s", what);
    for (size_t i = 0; i < r->run_count; i++)
        gg_buf_printf(&r->out, values[i] >= 0 ? "<td class=\"n\">%.6g" : "<td class=\"n\">unknown",
                      values[i]);
}

static void token_table(gg_report *r)
{
    double prompt[GG_REPORT_RUNS], reply[GG_REPORT_RUNS], thought[GG_REPORT_RUNS],
        each[GG_REPORT_RUNS], turns[GG_REPORT_RUNS], cost[GG_REPORT_RUNS];
    gg_price price;
    bool priced = gg_price_find(GG_PRICE_MODEL, &price, NULL) == GG_OK;
    for (size_t i = 0; i < r->run_count; i++) {
        const gg_figures *f = &r->runs[i].figures;
        if (r->runs[i].trained)
            return;
        prompt[i] = (double)f->prompt_tokens;
        reply[i] = (double)f->completion_tokens;
        thought[i] = (double)f->reasoning_tokens;
        each[i] = isnan(f->tokens_per_turn) ? -1 : f->tokens_per_turn;
        turns[i] = isnan(f->mean_turns) ? -1 : f->mean_turns;
        cost[i] = priced && f->prompt_tokens >= 0 && f->completion_tokens >= 0
                      ? gg_price_cost(&price, f->prompt_tokens, f->completion_tokens, 0)
                      : -1;
    }
    head(r, "Tokens", "");
    run_columns(r, "");
    gg_buf_str(&r->out, "</thead><tbody>");
    token_row(r, "prompt", prompt);
    token_row(r, "completion", reply);
    token_row(r, "of them thoughts", thought);
    token_row(r, "a reply", each);
    token_row(r, "replies a play", turns);
    token_row(r, "dollars on " GG_PRICE_MODEL " (" GG_PRICES_DATE ")", cost);
    foot(r);
}

static void repair_table(gg_report *r)
{
    size_t rows = 0;
    for (size_t i = 0; i < r->run_count; i++)
        rows += r->runs[i].trained ? 0 : r->runs[i].figures.repair_count;
    if (!rows)
        return;
    head(r, "Repairs", two(r) ? "run<th>kind" : "kind");
    gg_buf_str(&r->out, "<th class=\"n\">calls</thead><tbody>");
    for (size_t i = 0; i < r->run_count; i++)
        for (size_t k = 0; !r->runs[i].trained && k < r->runs[i].figures.repair_count; k++) {
            gg_buf_str(&r->out,
                       two(r) ? (i ? "<tr><td>after<td>" : "<tr><td>before<td>") : "<tr><td>");
            gg_report_text(&r->out, r->runs[i].figures.repairs[k].kind);
            gg_buf_printf(&r->out, "<td class=\"n\">%lld",
                          (long long)r->runs[i].figures.repairs[k].count);
        }
    foot(r);
}

/* ---- flips ---- */

typedef struct flip {
    size_t task;
    double by;
} flip;

static int by_size(const void *a, const void *b)
{
    const flip *x = a, *y = b;
    int order = (fabs(x->by) < fabs(y->by)) - (fabs(x->by) > fabs(y->by));
    return order ? order : (x->task > y->task) - (x->task < y->task);
}

static void flip_row(gg_report *r, const flip *f)
{
    const gg_report_task *t = &r->tasks[f->task];
    gg_buf_printf(&r->out, "<tr class=\"pick\" data-task=\"%zu\" tabindex=\"0\"><td>", f->task);
    gg_report_text(&r->out, *t->answer ? t->answer : t->id);
    for (size_t i = 0; i < GG_REPORT_RUNS; i++)
        gg_buf_printf(&r->out, "<td class=\"n\">%lld of %lld", (long long)t->solved[i],
                      (long long)t->plays[i]);
    gg_buf_printf(&r->out, "<td class=\"n %s\">%+.3g", f->by > 0 ? "better" : "worse", f->by);
}

static void flip_table(gg_report *r)
{
    flip *flips = two(r) ? calloc(r->task_count + 1, sizeof *flips) : NULL;
    size_t count = 0;
    for (size_t i = 0; flips && i < r->task_count; i++) {
        const gg_report_task *t = &r->tasks[i];
        if (t->flipped)
            flips[count++] = (flip){i, t->measure[1] / (double)t->plays[1] -
                                           t->measure[0] / (double)t->plays[0]};
    }
    if (count) {
        qsort(flips, count, sizeof *flips, by_size);
        head(r, "What changed most", "");
        gg_report_text(&r->out, r->o->game->info.task_noun);
        gg_buf_str(&r->out, "<th class=\"n\">solved before<th class=\"n\">after<th class=\"n\">");
        gg_report_text(&r->out, r->measure ? r->measure : "measure");
        gg_buf_str(&r->out, "</thead><tbody>");
        for (size_t i = 0; i < count && i < FLIPS_SHOWN; i++)
            flip_row(r, &flips[i]);
        foot(r);
    }
    free(flips);
}

/* ---- labels ---- */

static int by_plays(const void *a, const void *b)
{
    const gg_report_label *x = *(const gg_report_label *const *)a,
                          *y = *(const gg_report_label *const *)b;
    int64_t n = x->plays[0] + x->plays[1], m = y->plays[0] + y->plays[1];
    return n != m ? (n < m) - (n > m) : strcmp(x->value, y->value);
}

static void label_row(gg_report *r, const gg_report_label *label)
{
    gg_buf_str(&r->out, "<tr><td>");
    gg_report_text(&r->out, label->value);
    for (size_t i = 0; i < r->run_count; i++) {
        char share[64];
        double plays = (double)label->plays[i];
        gg_buf_printf(&r->out, "<td class=\"n\">%lld<td class=\"n\">%s<td class=\"n\">%.3g",
                      (long long)label->plays[i],
                      rate(plays > 0 ? (double)label->solved[i] / plays : NAN, share),
                      plays > 0 ? label->reward[i] / plays : 0);
    }
}

static void label_table(gg_report *r, const char *name, const gg_report_label **some)
{
    size_t count = 0;
    for (size_t i = 0; i < r->label_count; i++)
        if (strcmp(r->labels[i].name, name) == 0)
            some[count++] = &r->labels[i];
    qsort(some, count, sizeof *some, by_plays);
    gg_buf_str(&r->out, "<section><h2>By ");
    gg_report_text(&r->out, name);
    gg_buf_str(&r->out, "</h2><div class=\"scroll\"><table><thead><tr><th>");
    for (size_t i = 0; i < r->run_count; i++)
        gg_buf_printf(&r->out,
                      "<th class=\"n\">plays%s<th class=\"n\">solved<th class=\"n\">reward",
                      two(r) ? (i ? " after" : " before") : "");
    gg_buf_str(&r->out, "</thead><tbody>");
    for (size_t i = 0; i < count && i < LABELS_SHOWN; i++)
        label_row(r, some[i]);
    if (count > LABELS_SHOWN)
        gg_buf_printf(&r->out, "<tr><td class=\"faint\">and %zu more", count - LABELS_SHOWN);
    foot(r);
}

static void label_tables(gg_report *r)
{
    const gg_report_label **some = calloc(r->label_count + 1, sizeof *some);
    for (size_t i = 0; some && i < r->label_count; i++) {
        bool first = true;
        for (size_t k = 0; k < i; k++)
            first = first && strcmp(r->labels[k].name, r->labels[i].name) != 0;
        if (first)
            label_table(r, r->labels[i].name, some);
    }
    free(some);
}

void gg_report_tables(gg_report *r)
{
    flip_table(r);
    gg_buf_str(&r->out, "<div class=\"columns\">\n");
    outcome_table(r);
    move_table(r);
    token_table(r);
    repair_table(r);
    gg_buf_str(&r->out, "</div>\n<div class=\"columns\">\n");
    label_tables(r);
    gg_buf_str(&r->out, "</div>\n");
}
