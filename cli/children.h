/*
 * This program as children of its own, a few at a time. What they print goes to files.
 *
 * A first SIGINT or SIGTERM is handed on to the children, which drain; a second one as well, which
 * ends them. Children are a process group each, so that a terminal's Ctrl-C reaches them once.
 * Threads: one at a time, before any thread is started.
 */
#ifndef GG_CLI_CHILDREN_H
#define GG_CLI_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>

#include <guessgym/error.h>

#define GG_CHILD_ARGUMENTS 48

typedef struct gg_child {
    const char *arguments[GG_CHILD_ARGUMENTS]; /* the first is the command; NULL-terminated */
    const char *log;                           /* file for stdout and stderr; replaced */
    const char *what;                          /* for messages */
    int after;                                 /* start when this one is done; -1 = at once */
    bool started, done;
    int code; /* exit code, 128 + signal where killed by one */
    int pid;
} gg_child;

/* Runs them all, `jobs` at a time, and calls `ended` after each. A child that fails lets those that
 * run end and starts no further ones: GG_E_STATE with the log's last line. */
typedef void (*gg_child_fn)(void *context, const gg_child *child, size_t done);
gg_status gg_children_run(gg_child *children, size_t count, size_t jobs, gg_child_fn ended,
                          void *context, gg_error *error);

#endif
