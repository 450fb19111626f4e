/* What the options say of the game: its environment, its lists, its tasks, its reward. */
#ifndef GG_CLI_GAME_H
#define GG_CLI_GAME_H

#include "agent/tasks.h"
#include "cli/command.h"
#include "core/run.h"
#include "env/guess/guess.h"

/* The word lists of --answers, --allowed and --length. The caller frees. */
gg_status gg_cli_words(const gg_cli *cli, gg_words **out, gg_error *error);
/* The environment `name` with the settings of --env-set and the short forms. */
gg_status gg_cli_game(const gg_cli *cli, const char *name, gg_game **out, gg_error *error);
/* The tasks of --tasks, else those that ship for `split`; cut to --limit. */
gg_status gg_cli_tasks(const gg_cli *cli, const gg_game *game, const char *split, gg_tasks *out,
                       gg_error *error);
/* The reward of --reward, else the environment's own. */
gg_status gg_cli_reward(const gg_cli *cli, const gg_game *game, gg_reward **out, gg_error *error);
/* The environment of a saved run, with its settings. */
gg_status gg_cli_saved_game(const gg_run *run, gg_game **out, gg_error *error);

#endif
