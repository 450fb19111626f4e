#include "cli/shape_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CELL_ROOM  64
#define PERCENT    100.0
#define NAME_LEAST 20

static const char *rate_cell(const gg_shape_point *p, char out[CELL_ROOM])
{
    if (isnan(p->rate))
        snprintf(out, CELL_ROOM, "-");
    else
        snprintf(out, CELL_ROOM, "%.1f (%.1f-%.1f)", PERCENT * p->rate, PERCENT * p->interval.low,
                 PERCENT * p->interval.high);
    return out;
}

static const char *plain_cell(double value, const char *format, char out[CELL_ROOM])
{
    if (isnan(value))
        snprintf(out, CELL_ROOM, "-");
    else if (*format == '%')
        snprintf(out, CELL_ROOM, "%.1f %%", PERCENT * value);
    else
        snprintf(out, CELL_ROOM, "%.1f", value);
    return out;
}

void gg_tell_shape_expected(const gg_shape_figures *f, gg_buf *out)
{
    char a[CELL_ROOM], b[CELL_ROOM], c[CELL_ROOM];

    gg_buf_printf(
        out,
        "before training %s %% solved; of groups of %zu plays, %s should have no signal by "
        "outcome (%s if all tasks were equally hard)",
        rate_cell(&f->reward[0].points[0], a), f->group_size,
        plain_cell(f->expected_silent, "%", b), plain_cell(f->expected_if_alike, "%", c));
}

/* Columns that the longest name takes. */
static int name_width(const gg_shape_figures *f)
{
    size_t width = NAME_LEAST;

    for (size_t r = 0; r < f->rewards; r++)
        width = strlen(f->reward[r].name) > width ? strlen(f->reward[r].name) : width;
    return (int)width;
}

static void tell_table(const gg_shape_figures *f, gg_buf *out)
{
    const int width = name_width(f);
    char a[CELL_ROOM], b[CELL_ROOM], c[CELL_ROOM];

    gg_buf_printf(out, "\n| %-*s", width, "solve rate, % (95 %)");
    for (int p = 0; p < GG_SHAPE_POINTS; p++) {
        snprintf(a, sizeof a, "step %lld", (long long)f->reward[0].points[p].step);
        gg_buf_printf(out, " | %16s", a);
    }
    gg_buf_printf(out, " | %9s | %7s |\n|", "no signal", "tokens");
    for (int i = 0; i < width + 2; i++)
        gg_buf_char(out, '-');
    for (int p = 0; p < GG_SHAPE_POINTS; p++)
        gg_buf_str(out, "|-----------------:");
    gg_buf_str(out, "|----------:|--------:|\n");
    for (size_t r = 0; r < f->rewards; r++) {
        const gg_shape_reward *w = &f->reward[r];
        gg_buf_printf(out, "| %-*s", width, w->name);
        for (int p = 0; p < GG_SHAPE_POINTS; p++)
            gg_buf_printf(out, " | %16s", rate_cell(&w->points[p], a));
        gg_buf_printf(out, " | %9s | %7s |\n", plain_cell(w->silent, "%", b),
                      plain_cell(w->tokens_per_play, "", c));
    }
}

static void tell_seeds(const gg_shape_figures *f, gg_buf *out)
{

    gg_buf_str(out, "\nseed by seed at the end, and the reward's own mean on the same tasks\n");
    for (size_t r = 0; r < f->rewards; r++) {
        const gg_shape_reward *w = &f->reward[r];
        gg_buf_printf(out, "  %-*s", name_width(f), w->name);
        for (size_t k = 0; k < f->seeds; k++)
            gg_buf_printf(out, " %5.1f", PERCENT * w->points[GG_SHAPE_POINTS - 1].by_seed[k]);
        gg_buf_printf(out, "   %+.3f -> %+.3f\n", w->own_before, w->own_after);
    }
}

static void tell_verdicts(const gg_shape_figures *f, gg_buf *out)
{

    gg_buf_char(out, '\n');
    for (size_t r = 0; r < f->rewards; r++)
        if (f->reward[r].gamed)
            gg_buf_printf(
                out,
                "gamed: %s paid %.3f before and %.3f after, but the solve rate changed by "
                "%+.1f to %+.1f points\n",
                f->reward[r].name, f->reward[r].own_before, f->reward[r].own_after,
                PERCENT * f->reward[r].change.low, PERCENT * f->reward[r].change.high);
    for (size_t i = 0; i < f->verdict_count; i++) {
        const gg_shape_verdict *v = &f->verdict[i];
        const char *best = f->reward[f->best].name, *other = f->reward[v->other].name;
        if (f->seeds < 2)
            gg_buf_printf(out,
                          "cannot tell %s from %s: %+.1f points, but one seed says nothing of how "
                          "trainings differ\n",
                          best, other, PERCENT * v->difference);
        else
            gg_buf_printf(out, v->better ? "%s is better than %s" : "cannot tell %s from %s", best,
                          other);
        if (f->seeds >= 2)
            gg_buf_printf(out, ": %+.1f points (%+.1f to %+.1f over %zu seeds)\n",
                          PERCENT * v->difference, PERCENT * v->interval.low,
                          PERCENT * v->interval.high, f->seeds);
    }
}

void gg_tell_shape(const gg_shape_figures *f, gg_buf *out)
{
    gg_tell_shape_expected(f, out);
    gg_buf_char(out, '\n');
    tell_table(f, out);
    tell_seeds(f, out);
    tell_verdicts(f, out);
}
