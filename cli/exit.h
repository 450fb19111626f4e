/* Exit codes of the program: one table from a status to a code. */
#ifndef GG_CLI_EXIT_H
#define GG_CLI_EXIT_H

#include <guessgym/error.h>

typedef enum gg_exit {
    GG_EXIT_OK = 0,
    GG_EXIT_INTERNAL = 1,    /* also a full disk and short memory */
    GG_EXIT_USAGE = 2,       /* usage, configuration, or an input file that is wrong */
    GG_EXIT_UNREACHABLE = 3, /* the endpoint does not answer, or refuses us */
    GG_EXIT_ERRORED = 4,     /* finished, but more episodes errored than --max-errored allows */
    GG_EXIT_THRESHOLD = 5,   /* --min-solve-rate missed */
    GG_EXIT_INTERRUPTED = 130
} gg_exit;

/* While reading options and inputs, a file that cannot be read is the user's to put right (2); once
 * the work runs it is a failure of the work (1). */
typedef enum gg_phase { GG_STARTING, GG_WORKING } gg_phase;

gg_exit gg_exit_code(gg_status status, gg_phase phase);

/* For --help and the man page: NULL past the last. */
typedef struct gg_exit_row {
    gg_exit code;
    const char *meaning;
} gg_exit_row;
const gg_exit_row *gg_exit_meaning(unsigned index);

#endif
