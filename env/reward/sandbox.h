/* The Lua state in which a reward script runs (env/reward/script.h says what it offers). */
#ifndef GG_ENV_REWARD_SANDBOX_H
#define GG_ENV_REWARD_SANDBOX_H

#include <stdbool.h>

#include <lua.h>

#include "env/env.h"

typedef struct gg_sandbox {
    lua_State *L;
    const gg_game *game; /* what is being scored, for the parts of the record that are made late */
    const gg_episode *episode;
    gg_buf scratch;
    size_t used;        /* bytes */
    int64_t left;       /* instructions */
    bool short_of_heap; /* the machine's memory ended, not the script's share */
} gg_sandbox;

/* A state with the libraries that scripts may use and a stack with nothing on it. The struct must
 * stay where it is until it is closed. */
gg_status gg_sandbox_open(gg_sandbox *box, gg_error *error);
void gg_sandbox_close(gg_sandbox *box);
/* Globals, libraries and limits as in a new state: nothing that a script did before can be seen. */
gg_status gg_sandbox_renew(gg_sandbox *box, gg_error *error);
gg_sandbox *gg_sandbox_of(lua_State *L);
/* lua_pcall under the limits. The results, or the error, are all that is left on the stack. */
int gg_sandbox_call(lua_State *L, int arguments, int results);
/* Pushes box->episode as a table; call it protected. What lies deeper is made when the script looks
 * at it, and cannot be told from a table that was there all along. */
void gg_sandbox_push_episode(lua_State *L);
/* The tables' ways to be made late; once a state, protected. */
void gg_sandbox_set_up_late(lua_State *L);
/* Pushes a library of this state as a late table, and fills it; `of` is sandbox.c's. */
void gg_sandbox_push_library(lua_State *L, const void *of);
void gg_sandbox_fill_library(lua_State *L, const void *of);
/* Makes the table at `index` whole if it was late; for C code that looks at tables raw. */
void gg_sandbox_make_whole(lua_State *L, int index);

#endif
