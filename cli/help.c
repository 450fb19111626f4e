#include "cli/help.h"

#include <string.h>

#include "cli/term.h"
#include "env/reward/reward.h"
#include "policy/policy.h"

#define HELP_COLUMN 30
#define WIDTH_MAX   100
#define LEFT_ROOM   96
#define TEXT_ROOM   512

static const char *const section_titles[] = {
    [GG_SECTION_TASK] = "what is played",
    [GG_SECTION_PLAYER] = "who plays",
    [GG_SECTION_RUN] = "how it runs",
    [GG_SECTION_COMMON] = "every command",
};

static int help_width(FILE *stream)
{
    int width = gg_term_width(stream);
    return width > WIDTH_MAX ? WIDTH_MAX : width;
}

/* Prints `left`, then the text wrapped in a column of its own. */
static void print_row(FILE *stream, const char *left, const char *text)
{
    int width = help_width(stream), column = HELP_COLUMN;

    fprintf(stream, "  %-*s", HELP_COLUMN - 2, left);
    if (strlen(left) + 3 > HELP_COLUMN)
        fprintf(stream, "\n%*s", HELP_COLUMN, "");
    while (*text) {
        size_t len = strcspn(text, " ");
        if (column > HELP_COLUMN && column + 1 + (int)len > width) {
            fprintf(stream, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        }
        column += fprintf(stream, "%s%.*s", column > HELP_COLUMN ? " " : "", (int)len, text);
        text += len + (text[len] == ' ');
    }
    fputc('\n', stream);
}

static void print_option(FILE *stream, const gg_opt *row)
{
    char left[LEFT_ROOM], text[TEXT_ROOM], letter[] = {'-', row->letter, ',', ' ', '\0'};

    snprintf(left, sizeof left, "%s--%s%s%s", row->letter ? letter : "    ", row->name,
             row->value ? " " : "", row->value ? row->value : "");
    snprintf(text, sizeof text, "%s%s%s%s%s%s%s%s", row->help, row->choices ? ": " : "",
             row->choices ? row->choices : "", row->alias ? "; also --" : "",
             row->alias ? row->alias : "", row->fallback ? " (" : "",
             row->fallback ? row->fallback : "", row->fallback ? ")" : "");
    print_row(stream, left, text);
}

static void print_section(FILE *stream, const gg_cmd *cmd, gg_opt_section section)
{
    bool any = false;

    for (int id = 0; id < GG_OPT_COUNT; id++) {
        const gg_opt *row = gg_opt_row((gg_opt_id)id);
        if (row->section != section || !gg_opt_taken_by((gg_opt_id)id, cmd->id))
            continue;
        if (!any)
            fprintf(stream, "\n%s:\n", section_titles[section]);
        any = true;
        print_option(stream, row);
    }
}

static void print_examples(FILE *stream, const gg_cmd *cmd)
{
    if (!cmd->examples)
        return;
    fputs("\nexamples:\n", stream);
    for (size_t i = 0; cmd->examples[i]; i += 2)
        fprintf(stream, "  # %s\n  %s\n", cmd->examples[i + 1], cmd->examples[i]);
}

static bool takes(const gg_cmd *cmd, gg_opt_id id)
{
    return gg_opt_taken_by(id, cmd->id);
}

static void print_policies(FILE *stream)
{
    fputs("\nembedded policies (builtin:NAME):\n ", stream);
    for (size_t i = 0; gg_policy_names()[i]; i++)
        fprintf(stream, " %s", gg_policy_names()[i]);
    fputc('\n', stream);
}

/* What --reward can be made of, in the games that are built in. */
static void print_rewards(FILE *stream)
{
    fputs("\nrewards:\n", stream);
    for (size_t i = 0; gg_reward_preset(i); i++)
        print_row(stream, gg_reward_preset(i)->name, gg_reward_preset(i)->help);
    for (size_t g = 0; g < gg_env_builtin_count(); g++) {
        const gg_env_api *api = gg_env_builtin(g);
        fprintf(stream, "\nparts of a reward, in the game %s:\n", api->name);
        for (size_t i = 0; gg_reward_part(api, i); i++)
            print_row(stream, gg_reward_part(api, i)->name, gg_reward_part(api, i)->help);
    }
}

/* Settings that have no option of their own. */
static void print_settings(const gg_cmd *cmd, FILE *stream)
{
    for (size_t g = 0; g < gg_env_builtin_count(); g++) {
        const gg_env_api *api = gg_env_builtin(g);
        bool any = false;
        for (size_t i = 0; i < api->option_count; i++) {
            const gg_env_option *o = &api->options[i];
            if (gg_opt_named(cmd->id, o->name, strlen(o->name)) != GG_OPT_COUNT)
                continue;
            if (!any)
                fprintf(stream, "\nsettings of the game %s (--env-set):\n", api->name);
            any = true;
            print_row(stream, o->name, o->help);
        }
    }
}

static void print_names(const gg_cmd *cmd, FILE *stream)
{
    if (takes(cmd, GG_OPT_ENDPOINT) || takes(cmd, GG_OPT_POLICY))
        print_policies(stream);
    if (takes(cmd, GG_OPT_REWARD))
        print_rewards(stream);
    if (takes(cmd, GG_OPT_ENV))
        print_settings(cmd, stream);
}

void gg_help_command(const gg_cmd *cmd, FILE *stream)
{
    fprintf(stream, GG_PROGRAM " %s: %s\n\nusage: " GG_PROGRAM " %s%s%s [OPTION...]\n", cmd->name,
            cmd->summary, cmd->name, *cmd->arguments ? " " : "", cmd->arguments);
    print_examples(stream, cmd);
    for (int section = 0; section < GG_SECTION_COUNT; section++)
        print_section(stream, cmd, (gg_opt_section)section);
    print_names(cmd, stream);
    fputs("\nEvery option is also read from the environment (GUESSGYM_NAME) and from --config.\n",
          stream);
}

void gg_help_overview(FILE *stream)
{
    fputs("guessgym: play a word-guessing game with a tool-calling model, measure it, train it\n"
          "\nusage: guessgym COMMAND [OPTION...]\n"
          "\nstart here:\n"
          "  # play a game yourself\n  guessgym play\n"
          "  # let the embedded policy play the shipped list; no network, no key\n  guessgym eval\n"
          "\ncommands:\n",
          stream);
    for (size_t i = 0; gg_cmd_at(i); i++)
        print_row(stream, gg_cmd_at(i)->name, gg_cmd_at(i)->summary);
    fputs("\nexit codes:\n", stream);
    for (unsigned i = 0; gg_exit_meaning(i); i++) {
        char code[LEFT_ROOM];
        snprintf(code, sizeof code, "%d", (int)gg_exit_meaning(i)->code);
        print_row(stream, code, gg_exit_meaning(i)->meaning);
    }
    fputs("\n`guessgym COMMAND --help` tells a command's options.\n", stream);
}

bool gg_help_global(int argc, char *const *argv)
{
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)
        gg_help_overview(stdout);
    else if (strcmp(argv[0], "--version") == 0 || strcmp(argv[0], "-V") == 0)
        puts(GG_PROGRAM " " GG_VERSION);
    else if (strcmp(argv[0], "--man") == 0)
        gg_help_man(stdout);
    else if (strcmp(argv[0], "--completion") == 0 && argc > 1 && strcmp(argv[1], "bash") == 0)
        gg_help_completion(stdout);
    else
        return false;
    return true;
}

gg_exit gg_cmd_help(gg_cli *cli)
{
    char words[2][LEFT_ROOM] = {{0}};
    char *argv[] = {words[0], words[1]};
    gg_error error = {0};
    int used = 0;

    if (cli->arg_count == 0) {
        gg_help_overview(stdout);
        return GG_EXIT_OK;
    }
    for (size_t i = 0; i < cli->arg_count; i++)
        snprintf(words[i], sizeof words[i], "%s", cli->args[i]);
    const gg_cmd *cmd = gg_cmd_find((int)cli->arg_count, argv, &used, &error);
    if (!cmd)
        return gg_give_up(GG_STARTING, &error);
    gg_help_command(cmd, stdout);
    return GG_EXIT_OK;
}

gg_exit gg_cmd_version(gg_cli *cli)
{
    if (gg_opt_flag(cli->opts, GG_OPT_JSON))
        puts("{\"name\":\"" GG_PROGRAM "\",\"version\":\"" GG_VERSION "\"}");
    else
        puts(GG_PROGRAM " " GG_VERSION);
    return GG_EXIT_OK;
}
