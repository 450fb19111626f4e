/* One play as text for a terminal: its board, then what was thought, called and answered. */
#ifndef GG_CLI_VIEW_TEXT_H
#define GG_CLI_VIEW_TEXT_H

#include "env/env.h"

/* Appends lines, each ended, of at most `width` columns; model text is shown without its controls.
 */
gg_status gg_view_text(const gg_game *game, const gg_episode *episode, bool color, int width,
                       gg_buf *out, gg_error *error);

#endif
