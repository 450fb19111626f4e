/* What the options say of the game: its environment, its lists, its tasks. */
#ifndef GG_CLI_GAME_H
#define GG_CLI_GAME_H

#include "cli/command.h"
#include "env/guess/guess.h"

/* The word lists of --answers, --allowed and --length. The caller frees. */
gg_status gg_cli_words(const gg_cli *cli, gg_words **out, gg_error *error);

#endif
