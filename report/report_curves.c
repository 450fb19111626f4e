/* A training's curves: from metrics.jsonl, as plots or as a table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "report/report_inside.h"

#define SERIES     4
#define ROWS_SHOWN 40

/* What is drawn, by the names of the metrics. */
static const struct plot {
    const char *title, *unit;
    struct {
        const char *metric, *title;
    } lines[SERIES];
} plots[] = {
    {"Solve rate",
     "share of plays",
     {{"val/solve_rate", "validation"}, {"rollout/solve_rate", "training plays"}}},
    {"Reward",
     "mean reward",
     {{"val/reward/mean", "validation"}, {"rollout/reward/mean", "training plays"}}},
    {"Groups without signal", "share of groups", {{"no_signal", "groups"}}},
    {"Reply tokens", "tokens a play", {{"rollout/tokens/response_mean", "training plays"}}},
};
#define PLOTS (sizeof plots / sizeof *plots)

typedef struct series {
    gg_curve curve;
    size_t room;
} series;

typedef struct reading {
    series all[PLOTS][SERIES];
    bool no_memory;
} reading;

static bool grow(double **values, size_t room)
{
    double *grown = realloc(*values, room * sizeof *grown);
    if (grown)
        *values = grown;
    return grown != NULL;
}

static void push(reading *r, series *s, double x, double y)
{
    if (s->curve.count == s->room) {
        size_t room = s->room ? 2 * s->room : 128;
        if (!grow(&s->curve.x, room) || !grow(&s->curve.y, room)) {
            r->no_memory = true;
            return;
        }
        s->room = room;
    }
    s->curve.x[s->curve.count] = x;
    s->curve.y[s->curve.count++] = y;
}

/* The share of groups without signal stands in two numbers. */
static bool value_of(const cJSON *line, const char *metric, double *out)
{
    double groups = 0, silent = 0;
    if (strcmp(metric, "no_signal") != 0)
        return gg_json_number(line, metric, out);
    if (!gg_json_number(line, "training/num_groups", &groups) ||
        !gg_json_number(line, "analysis/zero_adv_groups", &silent) || groups <= 0)
        return false;
    *out = silent / groups;
    return true;
}

static gg_status each_line(void *context, const char *line, size_t len, size_t number,
                           gg_error *error)
{
    reading *r = context;
    cJSON *root = NULL;
    double step = 0, value;
    (void)number;
    gg_status status = gg_json_parse(line, len, &root, error);
    if (status == GG_E_FORMAT)
        return GG_OK; /* a torn line */
    if (status != GG_OK)
        return status;
    gg_json_number(root, "step", &step);
    for (size_t p = 0; p < PLOTS; p++)
        for (size_t s = 0; s < SERIES && plots[p].lines[s].metric; s++)
            if (value_of(root, plots[p].lines[s].metric, &value))
                push(r, &r->all[p][s], step, value);
    cJSON_Delete(root);
    return r->no_memory ? gg_fail(error, GG_E_MEMORY, "out of memory while reading metrics")
                        : GG_OK;
}

/* Every so many steps, so that the table stays a table. */
static void add_table(const gg_curve *curves, size_t count, gg_buf *out)
{
    gg_buf_str(out, "<div class=\"scroll\"><table><thead><tr><th class=\"n\">step");
    for (size_t c = 0; c < count; c++) {
        gg_buf_str(out, "<th class=\"n\">");
        gg_report_text(out, curves[c].title);
    }
    gg_buf_str(out, "</thead><tbody>");
    size_t longest = 0;
    for (size_t c = 1; c < count; c++)
        longest = curves[c].count > curves[longest].count ? c : longest;
    const gg_curve *steps = &curves[longest];
    size_t every = steps->count / ROWS_SHOWN + 1;
    for (size_t i = 0; i < steps->count; i += every) {
        gg_buf_printf(out, "<tr><td class=\"n\">%.0f", steps->x[i]);
        for (size_t c = 0; c < count; c++) {
            size_t k = 0;
            while (k < curves[c].count && curves[c].x[k] < steps->x[i])
                k++;
            bool there = k < curves[c].count && curves[c].x[k] == steps->x[i];
            gg_buf_printf(out, there ? "<td class=\"n\">%.4g" : "<td class=\"n\">",
                          there ? curves[c].y[k] : 0);
        }
    }
    gg_buf_str(out, "</tbody></table></div>\n");
}

static void add_plot(gg_report *r, const struct plot *plot, series all[SERIES])
{
    gg_curve curves[SERIES];
    size_t count = 0;
    for (size_t s = 0; s < SERIES; s++)
        if (all[s].curve.count) {
            curves[count] = all[s].curve;
            curves[count++].title = plot->lines[s].title;
        }
    if (!count)
        return;
    gg_buf_printf(&r->out, "<section><h3>%s</h3>", plot->title);
    gg_buf_str(&r->out, "<div class=\"plot\">");
    size_t before = r->out.len;
    if (r->o->no_plots || !gg_plot_curves(curves, count, plot->unit, &r->out)) {
        gg_buf_truncate(&r->out, before);
        add_table(curves, count, &r->out);
    }
    gg_buf_str(&r->out, "</div></section>\n");
}

static gg_status add_run(gg_report *r, size_t i, gg_error *error)
{
    reading *from = calloc(1, sizeof *from);
    if (!from)
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading metrics");
    gg_status status = gg_run_each(r->o->runs[i], GG_JOURNAL_METRICS, each_line, from, error);
    if (status == GG_OK) {
        gg_buf_str(&r->out, "<h2>Training");
        if (r->run_count > 1) {
            gg_buf_str(&r->out, " of ");
            gg_report_text(&r->out, r->o->names[i]);
        }
        gg_buf_str(&r->out, "</h2><div class=\"curves\">\n");
        for (size_t p = 0; p < PLOTS; p++)
            add_plot(r, &plots[p], from->all[p]);
        gg_buf_str(&r->out, "</div>\n");
    }
    for (size_t p = 0; p < PLOTS; p++)
        for (size_t s = 0; s < SERIES; s++) {
            free(from->all[p][s].curve.x);
            free(from->all[p][s].curve.y);
        }
    free(from);
    return status;
}

gg_status gg_report_curves(gg_report *r, gg_error *error)
{
    gg_status status = GG_OK;
    for (size_t i = 0; i < r->run_count && status == GG_OK; i++)
        if (r->runs[i].trained)
            status = add_run(r, i, error);
    return status;
}
