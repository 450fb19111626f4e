/* --help, the man page and the completion, all made from the tables of commands and options. */
#ifndef GG_CLI_HELP_H
#define GG_CLI_HELP_H

#include <stdio.h>

#include "cli/command.h"

void gg_help_overview(FILE *stream);
void gg_help_command(const gg_cmd *cmd, FILE *stream);
/* Answers --help, --version, --man and --completion SHELL where a command would stand; false when
 * argv holds none of them. */
bool gg_help_global(int argc, char *const *argv);

/* roff, for man(7). */
void gg_help_man(FILE *stream);
/* A script for bash. */
void gg_help_completion(FILE *stream);

#endif
