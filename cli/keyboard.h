/* The letters tried so far, laid out as on a keyboard, for people who play the word game. */
#ifndef GG_CLI_KEYBOARD_H
#define GG_CLI_KEYBOARD_H

#include <guessgym/buf.h>
#include <guessgym/record.h>

/* Appends three lines, made from the facts `guess` and `marks` of the record's calls; nothing when
 * no call has such facts. Without colour, letters that are out are left blank and letters that are
 * in are capitals. */
void gg_keyboard(const gg_episode *episode, bool color, gg_buf *out);

#endif
