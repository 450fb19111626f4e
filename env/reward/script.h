/*
 * Reward scripts in Lua 5.4.
 *
 * A script defines one function, reward(episode). It returns a number, or a list with one number a
 * turn (the reward is their sum); as a second value it may return a table of named parts, which are
 * written into the record. docs/rewards.md lists the fields of `episode`: all of the record but its
 * messages, and `parts` with every part the game knows.
 *
 * A script cannot reach files, clocks, random numbers or other episodes: each episode is scored
 * from the script's first line on, as in a fresh state that has string (without dump), table, math
 * (without random), utf8, and assert, error, ipairs, pairs, pcall, select, tonumber, tostring,
 * type. pairs goes through the keys in order, and nothing shows an address, so that the same record
 * always gives the same value. Instructions and memory are limited; what one call of a string
 * function does counts as one instruction.
 */
#ifndef GG_ENV_REWARD_SCRIPT_H
#define GG_ENV_REWARD_SCRIPT_H

#include <stdbool.h>

#include "env/env.h"

#define GG_LUA_BYTES        (1u << 20)  /* of the file */
#define GG_LUA_INSTRUCTIONS 10000000    /* an episode */
#define GG_LUA_MEMORY       (64u << 20) /* bytes, an episode */
#define GG_LUA_PARTS        64
#define GG_LUA_NAME         64 /* bytes of a part's name, its NUL included */

typedef struct gg_lua gg_lua;

/* The text names a script: it ends in ".lua", or in ".lua#sha256:DIGEST". */
bool gg_lua_named(const char *text);
/* Reads, compiles and runs the file once. Errors (GG_E_CONFIG) name file and line. */
gg_status gg_lua_load(const char *text, gg_lua **out, gg_error *error);
void gg_lua_free(gg_lua *script);
/* "my.lua#sha256:DIGEST" */
const char *gg_lua_text(const gg_lua *script);
/* As gg_reward_score. */
gg_status gg_lua_score(const gg_lua *script, const gg_game *game, gg_episode *episode,
                       gg_error *error);

#endif
