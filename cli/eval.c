/* guessgym eval and guessgym rollout: a list, played by a model, once for each effort. */
#include <stdlib.h>
#include <string.h>

#include "cli/collect.h"
#include "cli/figures_text.h"
#include "cli/game.h"
#include "cli/mlflow.h"
#include "cli/plan.h"
#include "cli/term.h"
#include "core/file.h"

#define EFFORTS_MAX 8
#define EFFORT_ROOM 16
#define PATH_ROOM   4096
#define CONFIG_MAX  (16u << 20)
#define OUTPUT_MAX  (16u << 20)

/* One effort's run. */
typedef struct effort_run {
    char effort[EFFORT_ROOM]; /* "" = not sent */
    gg_collected collected;
} effort_run;

/* Everything the runs share. */
typedef struct session {
    gg_cli *cli;
    gg_game *game;
    gg_reward *reward;
    gg_tasks tasks;
    gg_player player;
    const char *list_name;
    char shipped[32];
    gg_buf dir, system_prompt;
    gg_advantage advantage;
    bool groups; /* rollout */
    effort_run runs[EFFORTS_MAX];
    size_t count; /* runs planned */
    size_t told;  /* runs that have figures */
} session;

/* Held-out tasks measure; what is rolled out may be trained on, so it must not be held out. */
static const char *split_of(const session *s)
{
    return s->groups ? "train" : "test";
}

/* A list that ships with the program is called so, and another one, given or a game's own, by its
 * path. */
static void name_list(session *s)
{
    gg_buf data;
    gg_buf_init(&data, PATH_ROOM);
    bool shipped = gg_data_path("wordlists/", &data, NULL) == GG_OK &&
                   strncmp(s->tasks.path, gg_buf_cstr(&data), data.len) == 0 &&
                   !gg_opt_given(s->cli->opts, GG_OPT_TASKS);
    gg_buf_free(&data);
    snprintf(s->shipped, sizeof s->shipped, "the shipped %s split", split_of(s));
    s->list_name = shipped ? s->shipped : s->tasks.path;
}

static gg_status open_session(session *s, gg_error *error)
{
    const gg_opts *opts = s->cli->opts;

    const char *mlflow;

    gg_status status = gg_mlflow_address(s->cli, &mlflow, error);
    if (status == GG_OK)
        status = gg_plan_resume(s->cli, error);
    if (status == GG_OK)
        status = gg_plan_system_prompt(s->cli, &s->system_prompt, error);
    if (status == GG_OK)
        status = gg_cli_game(s->cli, gg_opt_text(opts, GG_OPT_ENV), &s->game, error);
    if (status == GG_OK)
        status = gg_cli_reward(s->cli, s->game, &s->reward, error);
    if (status == GG_OK)
        status = gg_cli_tasks(s->cli, s->game, split_of(s), &s->tasks, error);
    if (status == GG_OK)
        name_list(s);
    if (status == GG_OK && s->groups)
        status = gg_advantage_parse(gg_opt_text(opts, GG_OPT_ADVANTAGE), &s->advantage, error);
    if (status == GG_OK)
        status = gg_player_open(s->cli, s->game, &s->player, error);
    if (status != GG_OK)
        return status;
    gg_plan_folder(s->cli, &s->player, &s->dir);
    while (s->count < EFFORTS_MAX &&
           gg_opt_item(opts, GG_OPT_EFFORT, s->count, s->runs[s->count].effort, EFFORT_ROOM))
        s->count++;
    if (s->count == 0)
        s->count = 1; /* no effort is sent */
    return gg_buf_status(&s->dir, "the run folder's path", error);
}

static void close_session(session *s)
{
    for (size_t i = 0; i < s->count; i++)
        gg_collected_free(&s->runs[i].collected);
    gg_player_close(&s->player);
    gg_tasks_free(&s->tasks);
    gg_reward_free(s->reward);
    if (!s->cli->hanging)
        gg_game_close(s->game);
    gg_buf_free(&s->dir);
    gg_buf_free(&s->system_prompt);
}

static size_t samples(const session *s)
{
    return (size_t)gg_opt_int(s->cli->opts, s->groups ? GG_OPT_GROUP_SIZE : GG_OPT_SAMPLES);
}

static gg_status collect(session *s, effort_run *run, gg_error *error)
{
    const char *effort = *run->effort ? run->effort : NULL;
    const char *prompt = s->system_prompt.len ? gg_buf_cstr(&s->system_prompt) : NULL;
    const gg_plan_facts facts = {.game = s->game,
                                 .reward = s->reward,
                                 .tasks = &s->tasks,
                                 .player = &s->player,
                                 .effort = effort,
                                 .system_prompt = prompt};
    const gg_ask ask = gg_plan_ask(s->cli, &s->player, effort, prompt);
    gg_buf dir, config;

    gg_buf_init(&dir, PATH_ROOM);
    gg_buf_init(&config, CONFIG_MAX);
    gg_buf_printf(&dir, "%s%s%s", gg_buf_cstr(&s->dir), s->count > 1 ? "/" : "",
                  s->count > 1 ? run->effort : "");
    gg_plan_config(s->cli, &facts, &config);
    gg_status status = gg_buf_status(&config, "run.json", error);
    if (status == GG_OK)
        status = gg_buf_status(&dir, "the run folder's path", error);
    const gg_collect_plan plan = {.cli = s->cli,
                                  .game = s->game,
                                  .reward = s->reward,
                                  .tasks = &s->tasks,
                                  .list_name = s->list_name,
                                  .player = &s->player,
                                  .ask = &ask,
                                  .samples = samples(s),
                                  .method = s->groups ? &s->advantage : NULL,
                                  .dir = gg_buf_cstr(&dir),
                                  .config = gg_buf_cstr(&config),
                                  .resume = gg_opt_flag(s->cli->opts, GG_OPT_RESUME)};
    if (status == GG_OK)
        status = gg_collect(&plan, &run->collected, error);
    gg_buf_free(&dir);
    gg_buf_free(&config);
    return status;
}

static void announce(const session *s)
{
    const char *efforts = gg_opt_text(s->cli->opts, GG_OPT_EFFORT);

    gg_remark(s->cli, "%zu tasks x %zu from %s (%.8s)%s%s", s->tasks.count, samples(s),
              s->list_name, s->tasks.identity, efforts ? ", effort " : "", efforts ? efforts : "");
    if (s->player.server)
        gg_remark(s->cli, "player %s: a tiny embedded policy, no language model", s->player.shown);
    else
        gg_remark(s->cli, "player %s at %s", s->player.model, s->player.shown);
    gg_remark(s->cli, "run folder %s", gg_buf_cstr(&s->dir));
}

static gg_status collect_all(session *s, gg_error *error)
{
    gg_status status = GG_OK;

    announce(s);
    for (size_t i = 0; i < s->count && status == GG_OK; i++) {
        status = collect(s, &s->runs[i], error);
        s->told += s->runs[i].collected.summary != NULL;
    }
    return status;
}

/* ---- what came of it ---- */

static void write_json(const session *s, gg_buf *out)
{
    const gg_summary_list list = {s->list_name, s->tasks.count, s->tasks.identity};

    for (size_t i = 0; i < s->told; i++) {
        if (s->count > 1)
            gg_buf_printf(out, "%s\"%s\":", i ? "," : "{", s->runs[i].effort);
        gg_figures_write(&s->runs[i].collected.figures, &list, s->groups, out);
    }
    gg_buf_str(out, s->count > 1 ? "}\n" : "\n");
}

static void write_text(const session *s, gg_buf *out)
{
    gg_told_run told[EFFORTS_MAX];

    for (size_t i = 0; i < s->told; i++)
        told[i] = (gg_told_run){s->runs[i].effort, &s->runs[i].collected.figures};
    if (s->count == 1) {
        gg_tell_run(told[0].figures, &s->game->info, s->groups, out);
        return;
    }
    gg_tell_table(told, s->told, &s->game->info, s->groups, out);
    gg_buf_char(out, '\n');
    for (size_t i = 0; i < s->told; i++) {
        gg_buf_printf(out, "%s: ", s->runs[i].effort);
        gg_tell_ledger(&s->runs[i].collected.figures, out);
    }
}

static void tell(const session *s)
{
    gg_buf out;

    if (s->told == 0)
        return;
    gg_buf_init(&out, OUTPUT_MAX);
    if (gg_opt_flag(s->cli->opts, GG_OPT_JSON))
        write_json(s, &out);
    else
        write_text(s, &out);
    gg_print(&out);
    fflush(stdout);
    for (size_t i = 0; i < s->told; i++)
        gg_tell_warnings(&s->runs[i].collected.figures, s->groups);
    gg_buf_free(&out);
}

/* The command that goes on: this one, with the folder and --resume. */
static void tell_resume(const session *s)
{
    const gg_cli *cli = s->cli;
    gg_buf out;

    gg_buf_init(&out, OUTPUT_MAX);
    gg_quote_command(&out, cli->argc, cli->argv);
    if (!gg_opt_text(cli->opts, GG_OPT_OUTPUT)) {
        char *const folder[] = {(char *)"-o", (char *)gg_buf_cstr(&s->dir)};
        gg_buf_char(&out, ' ');
        gg_quote_command(&out, 2, folder);
    }
    if (!gg_opt_flag(cli->opts, GG_OPT_RESUME))
        gg_buf_str(&out, " --resume");
    gg_complain("what was played is kept; go on with:\n  %s", gg_buf_cstr(&out));
    gg_buf_free(&out);
}

static gg_exit judge(const session *s)
{
    const gg_opts *opts = s->cli->opts;
    gg_exit code = GG_EXIT_OK;

    for (size_t i = 0; i < s->told; i++) {
        const gg_figures *f = &s->runs[i].collected.figures;
        double least = gg_opt_real(opts, GG_OPT_MIN_SOLVE_RATE);
        if (f->by_outcome[GG_ERRORED] > gg_opt_int(opts, GG_OPT_MAX_ERRORED))
            return GG_EXIT_ERRORED;
        if (gg_opt_given(opts, GG_OPT_MIN_SOLVE_RATE) && !(f->solve_rate >= least)) {
            gg_complain("the solve rate is below --min-solve-rate %g", least);
            code = GG_EXIT_THRESHOLD;
        }
    }
    return code;
}

static gg_exit run(gg_cli *cli, bool groups)
{
    session s = {.cli = cli, .groups = groups};
    gg_error error = {0};
    gg_exit code = GG_EXIT_OK;

    gg_status status = open_session(&s, &error);
    if (status != GG_OK) {
        close_session(&s);
        return gg_give_up(GG_STARTING, &error);
    }
    status = collect_all(&s, &error);
    tell(&s);
    if (status == GG_OK)
        code = judge(&s);
    else if (s.told == 0)
        code = gg_give_up(GG_STARTING, &error);
    else {
        code = gg_give_up(GG_WORKING, &error);
        tell_resume(&s);
    }
    close_session(&s);
    return code;
}

gg_exit gg_cmd_eval(gg_cli *cli)
{
    return run(cli, false);
}

gg_exit gg_cmd_rollout(gg_cli *cli)
{
    return run(cli, true);
}
