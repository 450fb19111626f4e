#include "cli/game.h"

#define LENGTH_DEFAULT 5

gg_status gg_cli_words(const gg_cli *cli, gg_words **out, gg_error *error)
{
    int length = gg_opt_text(cli->opts, GG_OPT_LENGTH) ? (int)gg_opt_int(cli->opts, GG_OPT_LENGTH)
                                                       : LENGTH_DEFAULT;

    return gg_words_load(gg_opt_text(cli->opts, GG_OPT_ANSWERS),
                         gg_opt_text(cli->opts, GG_OPT_ALLOWED), length, out, error);
}
