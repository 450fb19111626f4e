/*
 * A game for tests of the agent: reach a number.
 *
 * A task is a number from 1 to 99. Tool add {"n": integer} adds n; at the number the episode is
 * solved, past it or after six moves it is lost. Tool peek tells the sum. The text "add 3" is a
 * move too. The tool "break" of a task 99 fails as a broken disk would.
 */
#ifndef GG_TESTS_COUNTER_H
#define GG_TESTS_COUNTER_H

#include "env/env.h"

#define COUNTER_CALLS 8
#define COUNTER_TURNS 7
#define COUNTER_MOVES 6

typedef struct counter_counts {
    _Atomic int overlapping; /* calls of one play that ran at the same time; must stay 0 */
    _Atomic int playing;     /* plays that were started and not finished */
} counter_counts;

struct gg_env {
    bool may_block;
    int sleep_ms; /* each call takes this long */
    counter_counts own, *counts;
};

/* A game on a zeroed env; the caller keeps both. */
gg_game counter_game(gg_env *env);

#endif
