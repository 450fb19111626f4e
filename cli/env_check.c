/* guessgym env-check: walks an environment through its contract, one line a rule. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/game.h"
#include "cli/term.h"
#include "env/check.h"

#define REPORT_MAX (1u << 20)

typedef struct report {
    bool json;
    size_t rules;
    gg_buf line;
} report;

static void add_rule(void *context, const char *rule, bool kept, const char *detail)
{
    report *r = context;

    if (r->json) {
        gg_buf_str(&r->line, r->rules ? ",{\"rule\":" : "{\"rule\":");
        gg_buf_json_str(&r->line, rule);
        gg_buf_printf(&r->line, ",\"kept\":%s,\"detail\":", kept ? "true" : "false");
        gg_buf_json_str(&r->line, detail);
        gg_buf_char(&r->line, '}');
    } else {
        gg_buf_reset(&r->line);
        gg_buf_printf(&r->line, "%-6s %s%s%s\n", kept ? "kept" : "BROKEN", rule,
                      *detail ? ": " : "", detail);
        gg_print(&r->line);
        fflush(stdout); /* the next rule may crash */
    }
    r->rules++;
}

static void add_end(report *r, const char *name, size_t broken)
{
    gg_buf whole;

    gg_buf_init(&whole, REPORT_MAX);
    if (r->json) {
        gg_buf_str(&whole, "{\"env\":");
        gg_buf_json_str(&whole, name);
        gg_buf_printf(&whole, ",\"rules\":[%s],\"broken\":%zu}\n", gg_buf_cstr(&r->line), broken);
    } else if (broken) {
        gg_buf_printf(&whole, "%zu of %zu rules are broken\n", broken, r->rules);
    } else {
        gg_buf_printf(&whole, "all %zu rules are kept\n", r->rules);
    }
    gg_print(&whole);
    gg_buf_free(&whole);
}

/* The prompts of --tasks; none means those that the environment ships. */
static gg_status load_prompts(const gg_cli *cli, const gg_game *game, gg_tasks *tasks,
                              const char ***prompts, gg_error *error)
{
    if (!gg_opt_text(cli->opts, GG_OPT_TASKS))
        return GG_OK;
    gg_status status = gg_cli_tasks(cli, game, "test", tasks, error);
    if (status != GG_OK)
        return status;
    *prompts = calloc(tasks->count + 1, sizeof **prompts);
    if (!*prompts)
        return gg_fail(error, GG_E_MEMORY, "out of memory for %zu tasks", tasks->count);
    for (size_t i = 0; i < tasks->count; i++)
        (*prompts)[i] = tasks->items[i].prompt;
    return GG_OK;
}

static gg_exit check(gg_cli *cli, const char *name)
{
    report r = {.json = gg_opt_flag(cli->opts, GG_OPT_JSON)};
    gg_game *game = NULL;
    gg_tasks tasks = {0};
    const char **prompts = NULL;
    size_t broken = 0;
    gg_error error = {0};

    gg_buf_init(&r.line, REPORT_MAX);
    gg_status status = gg_cli_game(cli, name, &game, &error);
    if (status == GG_OK)
        status = load_prompts(cli, game, &tasks, &prompts, &error);
    if (status == GG_OK)
        status =
            gg_env_check(game, prompts, tasks.count, (uint64_t)gg_opt_int(cli->opts, GG_OPT_SEED),
                         add_rule, &r, &broken, &error);
    if (status == GG_OK)
        add_end(&r, name, broken);
    free(prompts);
    gg_tasks_free(&tasks);
    gg_game_close(game);
    gg_buf_free(&r.line);
    if (status != GG_OK)
        return gg_give_up(GG_STARTING, &error);
    return broken ? GG_EXIT_USAGE : GG_EXIT_OK;
}

/* In a process of its own: an environment under test may crash, and that too is to be told. */
gg_exit gg_cmd_env_check(gg_cli *cli)
{
    const char *name = cli->arg_count ? cli->args[0] : gg_opt_text(cli->opts, GG_OPT_ENV);
    int state = 0;

    fflush(stdout);
    pid_t child = fork();
    if (child < 0)
        return check(cli, name);
    if (child == 0) {
        gg_exit code = check(cli, name);
        exit((int)gg_close_stdout(code));
    }
    if (waitpid(child, &state, 0) != child)
        return GG_EXIT_INTERNAL;
    if (WIFEXITED(state))
        return (gg_exit)WEXITSTATUS(state);
    gg_complain("%s crashed (%s) in the rule after the last one shown", name,
                strsignal(WTERMSIG(state)));
    return GG_EXIT_USAGE;
}
