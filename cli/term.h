/*
 * What the program says: results to stdout, everything else to stderr. The only file besides the
 * commands that prints.
 */
#ifndef GG_CLI_TERM_H
#define GG_CLI_TERM_H

#include <stdio.h>

#include "cli/command.h"

#define GG_PROGRAM "guessgym"

/* Colour on this stream: a terminal, no NO_COLOR, no --no-color, TERM not dumb; FORCE_COLOR
 * replaces the first. */
bool gg_term_color(const gg_cli *cli, FILE *stream);
bool gg_term_is_tty(FILE *stream);
/* Columns of a terminal, COLUMNS if set, else 80. */
int gg_term_width(FILE *stream);

/* "guessgym: sentence" on stderr. */
void gg_complain(const char *format, ...) GG_PRINTF(1, 2);
/* The same, left out by --quiet. */
void gg_remark(const gg_cli *cli, const char *format, ...) GG_PRINTF(2, 3);
/* Complains of the error and gives the code to exit with. */
gg_exit gg_give_up(gg_phase phase, const gg_error *error);
/* Writes a result to stdout. */
void gg_print(const gg_buf *text);
/* Closes stdout; a result that could not be written (full disk) turns `code` into an error. */
gg_exit gg_close_stdout(gg_exit code);

/* Appends a command line as one can paste it into a shell. */
void gg_quote_command(gg_buf *out, int argc, char *const *argv);

#endif
