/* The Lua state in which a reward script runs (env/reward/script.h says what it offers). */
#ifndef GG_ENV_REWARD_SANDBOX_H
#define GG_ENV_REWARD_SANDBOX_H

#include <stdbool.h>

#include <lua.h>

#include "env/env.h"

typedef struct gg_sandbox {
    lua_State *L;
    size_t used;        /* bytes */
    int64_t left;       /* instructions */
    bool short_of_heap; /* the machine's memory ended, not the script's share */
} gg_sandbox;

/* A state with the libraries that scripts may use and a stack with nothing on it. The struct must
 * stay where it is until it is closed. */
gg_status gg_sandbox_open(gg_sandbox *box, gg_error *error);
void gg_sandbox_close(gg_sandbox *box);
/* lua_pcall under the limits. The results, or the error, are all that is left on the stack. */
int gg_sandbox_call(lua_State *L, int arguments, int results);
/* Pushes the record as a table; call it protected. `scratch` takes decoded strings and is the
 * caller's, so that an error cannot lose it. */
void gg_sandbox_push_episode(lua_State *L, const gg_game *game, const gg_episode *episode,
                             gg_buf *scratch);

#endif
