/* guessgym: finds the command, parses its options, runs it, and makes sure its result got out. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/help.h"
#include "cli/term.h"

static gg_exit wrong_usage(const gg_cmd *cmd, const gg_error *error)
{
    gg_complain("%s", error->text);
    fprintf(stderr, "See `" GG_PROGRAM "%s%s --help`.\n", cmd ? " " : "", cmd ? cmd->name : "");
    return GG_EXIT_USAGE;
}

static gg_status check_arguments(const gg_cli *cli, gg_error *error)
{
    if (cli->arg_count < cli->cmd->arguments_min)
        return gg_fail(error, GG_E_CONFIG, "%s needs %s", cli->cmd->name, cli->cmd->arguments);
    if (cli->arg_count > cli->cmd->arguments_max)
        return gg_fail(error, GG_E_CONFIG, "%s does not take \"%s\"", cli->cmd->name,
                       cli->args[cli->cmd->arguments_max]);
    return GG_OK;
}

static gg_exit run_parsed(gg_cli *cli)
{
    gg_error error = {0};

    if (gg_opt_flag(cli->opts, GG_OPT_HELP)) {
        gg_help_command(cli->cmd, stdout);
        return GG_EXIT_OK;
    }
    if (gg_opt_flag(cli->opts, GG_OPT_VERSION))
        return gg_cmd_version(cli);
    if (check_arguments(cli, &error) != GG_OK)
        return wrong_usage(cli->cmd, &error);
    return cli->cmd->run(cli);
}

static gg_exit run(int argc, char **argv)
{
    gg_error error = {0};
    int used = 0;
    gg_cli cli = {.argc = argc, .argv = argv};

    if (argc < 2) {
        gg_help_overview(stderr);
        return GG_EXIT_USAGE;
    }
    if (gg_help_global(argc - 1, argv + 1))
        return GG_EXIT_OK;
    cli.cmd = gg_cmd_find(argc - 1, argv + 1, &used, &error);
    if (!cli.cmd)
        return wrong_usage(NULL, &error);

    const char **args = calloc((size_t)argc, sizeof *args);
    gg_exit code = GG_EXIT_INTERNAL;
    if (!args)
        gg_complain("out of memory");
    else if (gg_opts_parse(cli.cmd->id, argc - 1 - used, argv + 1 + used, &cli.opts, args,
                           &cli.arg_count, &error) != GG_OK)
        code = wrong_usage(cli.cmd, &error);
    else {
        cli.args = args;
        code = run_parsed(&cli);
    }
    if (cli.hanging)
        _exit((int)gg_close_stdout(code));
    gg_opts_free(cli.opts);
    free(args);
    return code;
}

/* A closed standard stream would give its number to the next file opened, and a result would end up
 * in a journal. The stand-in is opened the wrong way round, so that using it fails. */
static void fill_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    fill_standard_streams();
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away is an error of a write, not our death */
    return (int)gg_close_stdout(run(argc, argv));
}
