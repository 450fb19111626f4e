/* Figures as JSON: the keys that scripts build on. */
#include "report/summary.h"

static void key(gg_buf *out, const char *name)
{
    gg_buf_printf(out, ",\"%s\":", name);
}

static void count(gg_buf *out, const char *name, int64_t value)
{
    key(out, name);
    gg_buf_int(out, value);
}

static void real(gg_buf *out, const char *name, double value)
{
    key(out, name);
    gg_buf_double(out, value); /* NaN gives null */
}

static void token_count(gg_buf *out, const char *name, int64_t value)
{
    gg_buf_printf(out, "\"%s\":", name);
    if (value < 0)
        gg_buf_str(out, "null");
    else
        gg_buf_int(out, value);
}

static void ledger(const gg_figures *f, gg_buf *out)
{
    static const gg_outcome order[] = {GG_SOLVED,    GG_LOST,    GG_FORFEITED,
                                       GG_TRUNCATED, GG_ERRORED, GG_UNPLAYED};

    gg_buf_str(out, "{\"planned\":");
    gg_buf_int(out, f->planned);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        count(out, gg_outcome_name(order[i]), f->by_outcome[order[i]]);
}

static void rates(const gg_figures *f, gg_buf *out)
{
    real(out, "solve_rate", f->solve_rate);
    real(out, "solve_rate_low", f->solve_interval.low);
    real(out, "solve_rate_high", f->solve_interval.high);
    real(out, "solve_rate_pessimistic", f->solve_rate_pessimistic);
    gg_buf_str(out, ",\"measure\":{\"name\":");
    gg_buf_json_str(out, f->measure_name);
    real(out, "mean", f->measure_mean);
    real(out, "low", f->measure_interval.low);
    real(out, "high", f->measure_interval.high);
    gg_buf_char(out, '}');
    real(out, "failure_rate", f->failure_rate);
    real(out, "mean_turns", f->mean_turns);
    real(out, "mean_moves", f->mean_moves);
}

static void passes(const gg_figures *f, gg_buf *out)
{
    if (f->pass_count == 0)
        return;
    gg_buf_str(out, ",\"pass\":[");
    for (size_t i = 0; i < f->pass_count; i++) {
        gg_buf_printf(out, "%s{\"k\":%lld", i ? "," : "", (long long)f->pass[i].k);
        real(out, "any", f->pass[i].any);
        real(out, "all", f->pass[i].all);
        gg_buf_char(out, '}');
    }
    gg_buf_char(out, ']');
}

/* {"0":1,"4":17}: numbers of moves that happened. */
static void histogram(const gg_figures *f, gg_buf *out)
{
    const char *between = "";

    gg_buf_str(out, ",\"move_histogram\":{");
    for (size_t i = 0; i < f->move_count; i++)
        if (f->move_histogram[i] > 0) {
            gg_buf_printf(out, "%s\"%zu\":%lld", between, i, (long long)f->move_histogram[i]);
            between = ",";
        }
    gg_buf_char(out, '}');
}

static void tokens(const gg_figures *f, gg_buf *out)
{
    gg_buf_str(out, ",\"tokens\":{");
    token_count(out, "prompt", f->prompt_tokens);
    gg_buf_char(out, ',');
    token_count(out, "completion", f->completion_tokens);
    gg_buf_char(out, ',');
    token_count(out, "reasoning", f->reasoning_tokens);
    gg_buf_char(out, '}');
    real(out, "tokens_per_turn", f->tokens_per_turn);
}

static void repairs(const gg_figures *f, gg_buf *out)
{
    gg_buf_str(out, ",\"repairs\":{");
    for (size_t i = 0; i < f->repair_count; i++) {
        gg_buf_str(out, i ? "," : "");
        gg_buf_json_str(out, f->repairs[i].kind);
        gg_buf_printf(out, ":%lld", (long long)f->repairs[i].count);
    }
    gg_buf_char(out, '}');
}

static void warnings(const gg_figures *f, bool groups, gg_buf *out)
{
    gg_warning list[GG_WARNINGS_MAX];
    size_t told = gg_health_warnings(&f->health, groups, list);

    key(out, "warnings");
    gg_warnings_write(list, told, out);
}

void gg_figures_write(const gg_figures *figures, const gg_summary_list *list, bool groups,
                      gg_buf *out)
{
    ledger(figures, out);
    rates(figures, out);
    passes(figures, out);
    histogram(figures, out);
    tokens(figures, out);
    repairs(figures, out);
    real(out, "wall_s", figures->wall_s);
    real(out, "reward_mean", figures->reward_mean);
    if (groups) {
        count(out, "groups", figures->groups);
        count(out, "groups_refused", figures->groups_refused);
        count(out, "groups_without_signal", figures->groups_without_signal);
    }
    warnings(figures, groups, out);
    gg_buf_str(out, ",\"list\":{\"name\":");
    gg_buf_json_str(out, list->name);
    count(out, "count", (int64_t)list->count);
    gg_buf_str(out, ",\"identity\":");
    gg_buf_json_str(out, list->identity);
    gg_buf_str(out, "}}");
}
