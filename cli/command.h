/*
 * The commands: one table, one file each.
 *
 * A command gets its parsed options and the words that are not options, writes its result to stdout
 * and everything else to stderr, and returns an exit code. It never calls exit().
 */
#ifndef GG_CLI_COMMAND_H
#define GG_CLI_COMMAND_H

#include "cli/exit.h"
#include "cli/options.h"

typedef struct gg_cmd gg_cmd;

typedef struct gg_cli {
    const gg_cmd *cmd;
    gg_opts *opts;
    const char *const *args; /* what is not an option */
    size_t arg_count;
    bool hanging; /* work that cannot be ended still runs: leave without waiting */
    int argc;     /* the whole command line, to print it again */
    char *const *argv;
} gg_cli;

typedef gg_exit (*gg_cmd_fn)(gg_cli *cli);

struct gg_cmd {
    gg_cmd_id id;
    const char *name;      /* "eval", "serve policy" */
    const char *arguments; /* "BEFORE AFTER", or "" */
    size_t arguments_min, arguments_max;
    const char *summary;
    const char *const *examples; /* command line and what it does, in turn; NULL-terminated */
    gg_cmd_fn run;
};

#define GG_ARGUMENTS_ANY ((size_t)-1)

/* In the order of --help; NULL past the last. */
const gg_cmd *gg_cmd_at(size_t index);
const gg_cmd *gg_cmd_by_id(gg_cmd_id id);
/* Some command of the table takes this option. */
bool gg_cmd_option_used(gg_opt_id id);
/* Finds the command whose name argv[0..] begins with; *used is the number of words it took. NULL
 * with a sentence (near miss included) when there is none. */
const gg_cmd *gg_cmd_find(int argc, char *const *argv, int *used, gg_error *error);

gg_exit gg_cmd_compare(gg_cli *cli);
gg_exit gg_cmd_env_check(gg_cli *cli);
gg_exit gg_cmd_eval(gg_cli *cli);
gg_exit gg_cmd_help(gg_cli *cli);
gg_exit gg_cmd_job_describe(gg_cli *cli);
gg_exit gg_cmd_job_follow(gg_cli *cli);
gg_exit gg_cmd_job_list(gg_cli *cli);
gg_exit gg_cmd_job_stop(gg_cli *cli);
gg_exit gg_cmd_index(gg_cli *cli);
gg_exit gg_cmd_mlflow_push(gg_cli *cli);
gg_exit gg_cmd_mark(gg_cli *cli);
gg_exit gg_cmd_probe(gg_cli *cli);
gg_exit gg_cmd_play(gg_cli *cli);
gg_exit gg_cmd_preflight(gg_cli *cli);
gg_exit gg_cmd_report(gg_cli *cli);
gg_exit gg_cmd_rescore(gg_cli *cli);
gg_exit gg_cmd_rollout(gg_cli *cli);
gg_exit gg_cmd_serve_agent(gg_cli *cli);
gg_exit gg_cmd_serve_policy(gg_cli *cli);
gg_exit gg_cmd_serve_service(gg_cli *cli);
gg_exit gg_cmd_shape(gg_cli *cli);
gg_exit gg_cmd_train(gg_cli *cli);
gg_exit gg_cmd_version(gg_cli *cli);
gg_exit gg_cmd_view(gg_cli *cli);
gg_exit gg_cmd_words_check(gg_cli *cli);
gg_exit gg_cmd_words_split(gg_cli *cli);

#endif
