/* guessgym rescore: saved plays under other rewards. */
#include <math.h>
#include <string.h>

#include "cli/game.h"
#include "cli/term.h"
#include "core/json.h"
#include "report/rescore.h"

#define TEXT_ROOM  4200 /* of a reward's text */
#define JSON_MAX   (1u << 20)
#define CELL_ROOM  32
#define BAR_WIDTH  40
#define PERCENT    100.0
#define NAME_LEAST 12
#define BIN_FIRST  (-3.5)
#define BIN_WIDTH  0.5

typedef struct job {
    gg_cli *cli;
    gg_run *run;
    gg_game *game;
    gg_reward *rewards[GG_RESCORE_REWARDS];
    char given[GG_RESCORE_REWARDS][64]; /* as the user wrote it, shortened */
    size_t count;
    gg_rescore *rescore;
    gg_rescore_figures figures;
} job;

/* ---- what is asked ---- */

static gg_status add_reward(job *j, const char *text, gg_error *error)
{
    if (j->count == GG_RESCORE_REWARDS)
        return gg_fail(error, GG_E_CONFIG, "at most %d rewards can be looked at together",
                       GG_RESCORE_REWARDS);
    snprintf(j->given[j->count], sizeof j->given[0], "%.*s", (int)strcspn(text, "#"), text);
    return gg_reward_parse(j->game, text, &j->rewards[j->count++], error);
}

/* Without --reward: the run's own, else the game's. */
static gg_status read_rewards(job *j, const cJSON *config, gg_error *error)
{
    char text[TEXT_ROOM];
    gg_status status = GG_OK;

    for (size_t i = 0;
         status == GG_OK && gg_opt_item(j->cli->opts, GG_OPT_REWARDS, i, text, sizeof text); i++)
        status = add_reward(j, text, error);
    if (status == GG_OK && j->count == 0) {
        const char *own = gg_json_text(config, "reward");
        status = add_reward(j, own ? own : j->game->info.default_reward, error);
    }
    return status;
}

static size_t group_size(const cJSON *config)
{
    int64_t size = 0;

    if (!gg_json_int(config, "group_size", &size) && !gg_json_int(config, "samples", &size))
        return 0;
    return size > 0 ? (size_t)size : 0;
}

static gg_status open_job(job *j, gg_error *error)
{
    cJSON *root = NULL;

    gg_status status = gg_run_open_read(j->cli->args[0], &j->run, error);
    if (status == GG_OK)
        status = gg_cli_saved_game(j->run, &j->game, error);
    if (status == GG_OK)
        status = gg_json_parse(gg_run_config(j->run), strlen(gg_run_config(j->run)), &root, error);
    const cJSON *config = status == GG_OK ? gg_json_get(root, "config") : NULL;
    if (status == GG_OK)
        status = read_rewards(j, config, error);
    if (status == GG_OK)
        status = gg_rescore_new(j->game, (const gg_reward *const *)j->rewards, j->count,
                                group_size(config), &j->rescore, error);
    cJSON_Delete(root);
    return status;
}

static void close_job(job *j)
{
    gg_rescore_free(j->rescore);
    for (size_t i = 0; i < j->count; i++)
        gg_reward_free(j->rewards[i]);
    gg_game_close(j->game);
    gg_run_close(j->run);
}

/* ---- what came of it ---- */

static const char *cell(double value, const char *format, char out[CELL_ROOM])
{
    if (isnan(value))
        snprintf(out, CELL_ROOM, "-");
    else if (*format == '%')
        snprintf(out, CELL_ROOM, "%.1f %%", PERCENT * value);
    else
        snprintf(out, CELL_ROOM, "%.4g", value);
    return out;
}

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : NAN;
}

static int name_width(const job *j)
{
    size_t width = NAME_LEAST;

    for (size_t i = 0; i < j->count; i++)
        width = strlen(j->given[i]) > width ? strlen(j->given[i]) : width;
    return (int)width;
}

static void tell_table(const job *j, gg_buf *out)
{
    const int width = name_width(j);
    const gg_rescore_figures *f = &j->figures;
    char a[CELL_ROOM], b[CELL_ROOM], c[CELL_ROOM], d[CELL_ROOM], e[CELL_ROOM], g[CELL_ROOM];

    gg_buf_printf(out, "| %-*s | %8s | %8s | %8s | %8s | %9s | %9s |\n|", width, "reward", "mean",
                  "spread", "least", "most", "no signal", "rank corr");
    for (int i = 0; i < width + 2; i++)
        gg_buf_char(out, '-');
    gg_buf_str(out, "|---------:|---------:|---------:|---------:|"
                    "----------:|----------:|\n");
    for (size_t i = 0; i < f->rewards; i++) {
        const gg_rescore_tally *t = f->tally[i];
        bool any = t->plays > 0;
        gg_buf_printf(
            out, "| %-*s | %8s | %8s | %8s | %8s | %9s | %9s |\n", width, j->given[i],
            cell(any ? t->mean : NAN, "", a), cell(t->spread, "", b),
            cell(any ? t->least.reward : NAN, "", c), cell(any ? t->most.reward : NAN, "", d),
            cell(share(t->silent_groups, f->groups), "%", e), cell(t->rank_correlation, "", g));
    }
}

static void tell_groups(const gg_rescore_figures *f, gg_buf *out)
{
    char a[CELL_ROOM];

    if (f->groups + f->incomplete + f->refused == 0)
        return;
    gg_buf_printf(out,
                  "groups         %lld whole, %lld incomplete, %lld refused (an errored play)\n",
                  (long long)f->groups, (long long)f->incomplete, (long long)f->refused);
    gg_buf_printf(out,
                  "by outcome     %s of the groups have no signal: all plays solved, or none did "
                  "(%lld)\n",
                  cell(share(f->silent_by_outcome, f->groups), "%", a),
                  (long long)f->unsolved_groups);
}

static void tell_bins(const job *j, size_t i, gg_buf *out)
{
    const int64_t *bins = j->figures.tally[i]->advantages;
    int64_t most = 0;

    for (int b = 0; b < GG_RESCORE_BINS; b++)
        most = bins[b] > most ? bins[b] : most;
    if (most == 0)
        return;
    gg_buf_printf(out, "\nadvantages of %s (in groups with signal)\n", j->given[i]);
    for (int b = 0; b < GG_RESCORE_BINS; b++) {
        int64_t width = (bins[b] * BAR_WIDTH + most - 1) / most;
        double from = BIN_FIRST + BIN_WIDTH * b;
        if (bins[b] == 0)
            continue;
        gg_buf_printf(out, "  %+4.1f to %+4.1f  ", from, from + BIN_WIDTH);
        for (int64_t w = 0; w < width; w++)
            gg_buf_char(out, '#');
        gg_buf_printf(out, " %lld\n", (long long)bins[b]);
    }
}

static void tell_holes(const job *j, size_t i, gg_buf *out)
{
    gg_hole hole;
    int found = 0;

    gg_buf_printf(out, "\nholes of %s\n", j->given[i]);
    for (int k = 0; k < GG_HOLE_COUNT; k++) {
        if (!gg_rescore_hole(&j->figures, i, (gg_hole_kind)k, &hole))
            continue;
        found++;
        gg_buf_printf(out, "  %s: %s", gg_hole_name((gg_hole_kind)k), hole.says);
        for (int e = 0; e < 2 && hole.example[e]; e++)
            gg_buf_printf(out, "%s%s", e ? ", " : " - see ", hole.example[e]);
        gg_buf_char(out, '\n');
    }
    if (!found)
        gg_buf_str(out, "  none in these plays\n");
}

static void tell(const job *j, gg_buf *out)
{
    const gg_rescore_figures *f = &j->figures;

    gg_buf_printf(out, "plays          %lld, %lld errored and left out\n", (long long)f->plays,
                  (long long)f->errored);
    tell_groups(f, out);
    gg_buf_printf(out, "calls          %lld repeated, %lld refused\n\n",
                  (long long)f->repeated_calls, (long long)f->refused_calls);
    tell_table(j, out);
    for (size_t i = 0; i < f->rewards; i++)
        tell_bins(j, i, out);
    for (size_t i = 0; i < f->rewards; i++)
        tell_holes(j, i, out);
}

static void warn(const job *j)
{
    const gg_rescore_figures *f = &j->figures;

    if (f->damaged > 0)
        gg_complain("warning: %lld damaged lines are left out", (long long)f->damaged);
    if (f->plays == 0)
        gg_complain("warning: the run has no plays to look at");
    if (f->incomplete > f->groups)
        gg_complain("warning: most groups lack plays, so little can be said of signal; a training "
                    "keeps them all with --keep all");
    if (f->plays > 0 && f->groups + f->incomplete + f->refused == 0)
        gg_complain("warning: one play a task: no groups, no signal to look at; `rollout` plays "
                    "groups");
}

gg_exit gg_cmd_rescore(gg_cli *cli)
{
    job j = {.cli = cli};
    gg_error error = {0};
    gg_buf out;
    gg_exit code = GG_EXIT_OK;

    gg_buf_init(&out, JSON_MAX);
    gg_status status = open_job(&j, &error);
    if (status == GG_OK)
        status = gg_rescore_read(j.rescore, j.run, &error);
    if (status == GG_OK) {
        gg_rescore_finish(j.rescore, &j.figures);
        if (gg_opt_flag(cli->opts, GG_OPT_JSON)) {
            gg_rescore_write(&j.figures, &out);
            gg_buf_char(&out, '\n');
        } else {
            tell(&j, &out);
        }
        gg_print(&out);
        warn(&j);
    } else {
        code = gg_give_up(GG_STARTING, &error);
    }
    gg_buf_free(&out);
    close_job(&j);
    return code;
}
