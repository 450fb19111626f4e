#include "cli/figures_text.h"

#include <math.h>
#include <string.h>

#include "cli/term.h"

#define BAR_WIDTH     40
#define CELL_ROOM     48
#define FORFEIT_SHARE 0.1 /* more than this is told */
#define SIGNAL_SHARE  0.5

/* "16.8 %", "-" for a rate of nothing. */
static const char *percent(double rate, char out[CELL_ROOM])
{
    if (isnan(rate))
        snprintf(out, CELL_ROOM, "-");
    else
        snprintf(out, CELL_ROOM, "%.1f %%", 100 * rate);
    return out;
}

/* "12.7 to 21.8 %". */
static const char *range(gg_interval i, char out[CELL_ROOM])
{
    if (isnan(i.low) || isnan(i.high))
        snprintf(out, CELL_ROOM, "-");
    else
        snprintf(out, CELL_ROOM, "%.1f to %.1f %%", 100 * i.low, 100 * i.high);
    return out;
}

/* The same of a measure, which is shown as a number. */
static const char *number_range(gg_interval i, char out[CELL_ROOM])
{
    if (isnan(i.low) || isnan(i.high))
        snprintf(out, CELL_ROOM, "-");
    else
        snprintf(out, CELL_ROOM, "%.4f to %.4f", i.low, i.high);
    return out;
}

static const char *number(double value, int digits, char out[CELL_ROOM])
{
    if (isnan(value))
        snprintf(out, CELL_ROOM, "-");
    else
        snprintf(out, CELL_ROOM, "%.*f", digits, value);
    return out;
}

/* 1234567 -> "1,234,567". */
static const char *count_text(int64_t value, char out[CELL_ROOM])
{
    char digits[CELL_ROOM];
    size_t used = 0;

    if (value < 0) {
        snprintf(out, CELL_ROOM, "not told");
        return out;
    }
    size_t len = (size_t)snprintf(digits, sizeof digits, "%lld", (long long)value);
    for (size_t i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = '\0';
    return out;
}

static const char *time_text(double seconds, char out[CELL_ROOM])
{
    int64_t whole = (int64_t)seconds;

    if (seconds < 60)
        snprintf(out, CELL_ROOM, "%.1f s", seconds);
    else if (seconds < 3600)
        snprintf(out, CELL_ROOM, "%lld min %02lld s", (long long)(whole / 60),
                 (long long)(whole % 60));
    else
        snprintf(out, CELL_ROOM, "%lld h %02lld min", (long long)(whole / 3600),
                 (long long)(whole / 60 % 60));
    return out;
}

/* "guess" -> "guesses": the nouns of games are English ones. */
static const char *plural(const char *noun, char out[CELL_ROOM])
{
    size_t len = strlen(noun);
    bool hisses = len > 1 && (noun[len - 1] == 's' || noun[len - 1] == 'x' ||
                              (noun[len - 1] == 'h' && strchr("cs", noun[len - 2])));

    snprintf(out, CELL_ROOM, "%s%s", noun, hisses ? "es" : "s");
    return out;
}

static bool measure_differs(const gg_figures *f)
{
    return f->measure_name && !isnan(f->measure_mean) && f->measure_mean != f->solve_rate;
}

void gg_tell_ledger(const gg_figures *f, gg_buf *out)
{
    static const gg_outcome order[] = {GG_SOLVED, GG_LOST, GG_FORFEITED, GG_TRUNCATED, GG_ERRORED};

    gg_buf_printf(out, "planned %lld", (long long)f->planned);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        gg_buf_printf(out, " %s %s %lld", i ? "+" : "=", gg_outcome_name(order[i]),
                      (long long)f->by_outcome[order[i]]);
    if (f->by_outcome[GG_UNPLAYED] > 0)
        gg_buf_printf(out, " + unplayed %lld", (long long)f->by_outcome[GG_UNPLAYED]);
    gg_buf_char(out, '\n');
}

static void tell_rates(const gg_figures *f, gg_buf *out)
{
    char a[CELL_ROOM], b[CELL_ROOM];

    gg_buf_printf(out, "solve rate    %-8s %s (95 %%)", percent(f->solve_rate, a),
                  range(f->solve_interval, b));
    if (f->by_outcome[GG_ERRORED] > 0)
        gg_buf_printf(out, "   [%s with the errored as unsolved]",
                      percent(f->solve_rate_pessimistic, a));
    gg_buf_char(out, '\n');
    if (measure_differs(f))
        gg_buf_printf(out, "%-13s %-8s %s (95 %%)\n", f->measure_name,
                      number(f->measure_mean, 4, a), number_range(f->measure_interval, b));
    gg_buf_printf(out, "failures      %-8s %lld forfeited, %lld truncated\n",
                  percent(f->failure_rate, a), (long long)f->by_outcome[GG_FORFEITED],
                  (long long)f->by_outcome[GG_TRUNCATED]);
}

/* "pass@k        1: 44.6 %  2: 61.0 %", then the same of all k. */
static void tell_passes(const gg_figures *f, gg_buf *out)
{
    for (int all = 0; all < 2 && f->pass_count > 0; all++) {
        gg_buf_str(out, all ? "pass^k       " : "pass@k       ");
        for (size_t i = 0; i < f->pass_count; i++)
            gg_buf_printf(out, " %lld: %.1f %% ", (long long)f->pass[i].k,
                          100 * (all ? f->pass[i].all : f->pass[i].any));
        gg_buf_str(out, all ? " (all k plays of a task solved)\n" : " (one of k)\n");
    }
}

static void tell_costs(const gg_figures *f, const gg_env_info *game, gg_buf *out)
{
    char a[CELL_ROOM], b[CELL_ROOM], c[CELL_ROOM], d[CELL_ROOM];

    gg_buf_printf(out, "mean          %s %s, %s replies, reward %s\n", number(f->mean_moves, 2, a),
                  plural(game->move_noun, d), number(f->mean_turns, 2, b),
                  number(f->reward_mean, 3, c));
    gg_buf_printf(out, "tokens        %s a reply; ", number(f->tokens_per_turn, 1, a));
    gg_buf_printf(out, "prompt %s, completion %s, reasoning %s\n", count_text(f->prompt_tokens, a),
                  count_text(f->completion_tokens, b), count_text(f->reasoning_tokens, c));
    gg_buf_printf(out, "time          %s\n", time_text(f->wall_s, a));
}

static void tell_groups(const gg_figures *f, gg_buf *out)
{
    char a[CELL_ROOM];
    double share = f->groups ? (double)f->groups_without_signal / (double)f->groups : NAN;

    gg_buf_printf(out, "groups        %lld whole, %lld refused, %lld without signal (%s)\n",
                  (long long)f->groups, (long long)f->groups_refused,
                  (long long)f->groups_without_signal, percent(share, a));
}

static void tell_bar(const char *label, int64_t count, int64_t most, gg_buf *out)
{
    int width = most > 0 ? (int)((count * BAR_WIDTH + most - 1) / most) : 0;

    gg_buf_printf(out, "%10s  ", label);
    for (int i = 0; i < width; i++)
        gg_buf_char(out, '#');
    gg_buf_printf(out, "%s%lld\n", width ? " " : "", (long long)count);
}

/* How many moves the solved ones took. */
static void tell_histogram(const gg_figures *f, const gg_env_info *game, gg_buf *out)
{
    int64_t solved = f->by_outcome[GG_SOLVED], most = 0, unsolved = 0;
    size_t last = 0;

    for (size_t i = 0; i < f->move_count; i++) {
        unsolved += f->move_histogram[i] - f->solved_by_moves[i];
        if (f->solved_by_moves[i] > 0)
            last = i;
        most = f->solved_by_moves[i] > most ? f->solved_by_moves[i] : most;
    }
    if (solved == 0)
        return;
    most = unsolved > most ? unsolved : most;
    gg_buf_printf(out, "\nsolved with %s number\n", game->move_noun);
    for (size_t i = 1; i <= last; i++) {
        char label[CELL_ROOM];
        snprintf(label, sizeof label, "%zu", i);
        tell_bar(label, f->solved_by_moves[i], most, out);
    }
    tell_bar("not solved", unsolved, most, out);
}

void gg_tell_run(const gg_figures *figures, const gg_env_info *game, bool groups, gg_buf *out)
{
    if (figures->by_outcome[GG_UNPLAYED] < figures->planned) { /* else there are no rates yet */
        tell_rates(figures, out);
        tell_passes(figures, out);
        if (groups)
            tell_groups(figures, out);
        tell_costs(figures, game, out);
        tell_histogram(figures, game, out);
        gg_buf_char(out, '\n');
    }
    gg_tell_ledger(figures, out);
}

void gg_tell_table(const gg_told_run *runs, size_t count, const gg_env_info *game, bool groups,
                   gg_buf *out)
{
    char a[CELL_ROOM], b[CELL_ROOM], c[CELL_ROOM], d[CELL_ROOM], e[CELL_ROOM];

    gg_buf_printf(out, "| %-7s | %10s | %-16s | %8s | %12s | tokens/turn | errored |%s\n", "effort",
                  "solve rate", "95 %", "failures", plural(game->move_noun, a),
                  groups ? " no signal |" : "");
    gg_buf_printf(out,
                  "|---------|-----------:|------------------|---------:|-------------:|"
                  "------------:|--------:|%s\n",
                  groups ? "----------:|" : "");
    for (size_t i = 0; i < count; i++) {
        const gg_figures *f = runs[i].figures;
        gg_buf_printf(out, "| %-7s | %10s | %-16s | %8s | %12s | %11s | %7lld |", runs[i].effort,
                      percent(f->solve_rate, a), range(f->solve_interval, b),
                      percent(f->failure_rate, c), number(f->mean_moves, 2, d),
                      number(f->tokens_per_turn, 1, e), (long long)f->by_outcome[GG_ERRORED]);
        if (groups)
            gg_buf_printf(out, " %9lld |", (long long)f->groups_without_signal);
        gg_buf_char(out, '\n');
    }
}

static const char *most_repaired(const gg_figures *f)
{
    size_t most = 0;

    for (size_t i = 1; i < f->repair_count; i++)
        if (f->repairs[i].count > f->repairs[most].count)
            most = i;
    return f->repair_count ? f->repairs[most].kind : "";
}

static void tell_health(const gg_figures *f, bool groups)
{
    gg_warning list[GG_WARNINGS_MAX];
    size_t count = gg_health_warnings(&f->health, groups, list);

    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].kind, "repairs") == 0)
            gg_complain("warning: %s, most often \"%s\"; the server's tool-call parser may not fit "
                        "the model",
                        list[i].text, most_repaired(f));
        else
            gg_complain("warning: %s", list[i].text);
}

void gg_tell_warnings(const gg_figures *f, bool groups)
{
    char a[CELL_ROOM];
    int64_t errored = f->by_outcome[GG_ERRORED];
    int64_t over = f->planned - errored - f->by_outcome[GG_UNPLAYED];

    if (errored > 0)
        gg_complain("warning: %lld episodes errored and are not in the solve rate; counted as "
                    "unsolved it would be %s",
                    (long long)errored, percent(f->solve_rate_pessimistic, a));
    if ((double)f->by_outcome[GG_FORFEITED] > FORFEIT_SHARE * (double)over)
        gg_complain("warning: %lld episodes were forfeited: the model stopped calling the tool, or "
                    "called it too often",
                    (long long)f->by_outcome[GG_FORFEITED]);
    if (groups && (double)f->groups_without_signal > SIGNAL_SHARE * (double)f->groups)
        gg_complain("warning: %lld of %lld groups have no signal: all plays of a task earned the "
                    "same; training learns nothing from them",
                    (long long)f->groups_without_signal, (long long)f->groups);
    tell_health(f, groups);
}
