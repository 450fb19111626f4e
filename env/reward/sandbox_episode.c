/* The record as a Lua table. */
#include <math.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "core/json.h"
#include "env/reward/reward.h"
#include "env/reward/sandbox.h"

#define STACK_SPARE 8

static void set_text(lua_State *L, const char *name, const char *value)
{
    if (!value)
        return;
    lua_pushstring(L, value);
    lua_setfield(L, -2, name);
}

/* Counts that are unknown are left out. */
static void set_count(lua_State *L, const char *name, int64_t value)
{
    if (value < 0)
        return;
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

static void set_number(lua_State *L, const char *name, double value)
{
    if (isnan(value))
        return;
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

/* JSON values. */

static bool push_value(lua_State *L, gg_json_reader *r, gg_buf *scratch);

static bool push_string(lua_State *L, gg_json_reader *r, gg_buf *scratch)
{
    gg_buf_reset(scratch);
    if (!gg_read_string(r, scratch))
        return false;
    lua_pushlstring(L, gg_buf_cstr(scratch), scratch->len);
    return true;
}

static bool push_number(lua_State *L, gg_json_reader *r)
{
    gg_json_reader again = *r;
    gg_json_name raw;
    double real;
    int64_t whole;
    bool good = gg_read_raw(&again, &raw);
    bool integer = good && !memchr(raw.bytes, '.', raw.len) && !memchr(raw.bytes, 'e', raw.len) &&
                   !memchr(raw.bytes, 'E', raw.len);
    again = *r;
    if (integer && gg_read_int(&again, &whole)) {
        *r = again;
        lua_pushinteger(L, whole);
        return true;
    }
    if (!good || !gg_read_double(r, &real))
        return false;
    lua_pushnumber(L, real);
    return true;
}

static bool push_object(lua_State *L, gg_json_reader *r, gg_buf *scratch)
{
    gg_json_name name;
    lua_newtable(L);
    if (!gg_read_object(r))
        return false;
    while (gg_read_name(r, &name)) {
        gg_json_reader quoted = gg_json_reader_make(name.bytes - 1, name.len + 2);
        if (!push_string(L, &quoted, scratch) || !push_value(L, r, scratch))
            return false;
        lua_rawset(L, -3);
    }
    return !r->failed;
}

static bool push_array(lua_State *L, gg_json_reader *r, gg_buf *scratch)
{
    lua_Integer count = 0;
    lua_newtable(L);
    if (!gg_read_array(r))
        return false;
    while (gg_read_element(r)) {
        if (!push_value(L, r, scratch))
            return false;
        lua_rawseti(L, -2, ++count);
    }
    return !r->failed;
}

/* null becomes nil. On false anything may stand above the caller's part of the stack. */
static bool push_value(lua_State *L, gg_json_reader *r, gg_buf *scratch)
{
    gg_json_reader look = *r;
    gg_json_name raw;
    bool flag;
    luaL_checkstack(L, STACK_SPARE, "a deeply nested value");
    if (!gg_read_raw(&look, &raw)) /* also refuses what is nested too deeply */
        return false;
    switch (*raw.bytes) {
    case '{':
        return push_object(L, r, scratch);
    case '[':
        return push_array(L, r, scratch);
    case '"':
        return push_string(L, r, scratch);
    case 'n':
        lua_pushnil(L);
        return gg_read_null(r);
    case 't':
    case 'f':
        if (!gg_read_bool(r, &flag))
            return false;
        lua_pushboolean(L, flag);
        return true;
    default:
        return push_number(L, r);
    }
}

/* Text that is no JSON sets nothing. */
static void set_json(lua_State *L, const char *name, const char *text, gg_buf *scratch)
{
    int top = lua_gettop(L);
    if (!text)
        return;
    gg_json_reader r = gg_json_reader_make(text, strlen(text));
    if (push_value(L, &r, scratch))
        lua_setfield(L, top, name);
    lua_settop(L, top);
}

/* The record. */

static void set_usage(lua_State *L, const gg_usage *usage)
{
    lua_createtable(L, 0, 4);
    set_count(L, "prompt", usage->prompt);
    set_count(L, "completion", usage->completion);
    set_count(L, "reasoning", usage->reasoning);
    set_count(L, "cached", usage->cached);
    lua_setfield(L, -2, "usage");
}

static void push_call(lua_State *L, const gg_call *call, gg_buf *scratch)
{
    lua_createtable(L, 0, 8);
    set_text(L, "id", call->id);
    set_text(L, "name", call->name);
    set_text(L, "arguments", call->arguments_raw);
    set_text(L, "status", gg_call_status_name(call->status));
    set_text(L, "result", call->result);
    lua_newtable(L);
    lua_setfield(L, -2, "facts");
    set_json(L, "facts", call->facts, scratch);
    lua_createtable(L, (int)call->repair_count, 0);
    for (size_t i = 0; i < call->repair_count; i++) {
        lua_pushstring(L, call->repairs[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "repairs");
}

static void push_turn(lua_State *L, const gg_turn *turn, gg_buf *scratch)
{
    lua_createtable(L, 0, 6);
    set_count(L, "index", turn->index);
    set_text(L, "finish_reason", turn->finish_reason);
    set_text(L, "reasoning", turn->reasoning);
    set_usage(L, &turn->usage);
    lua_createtable(L, (int)turn->call_count, 0);
    for (size_t c = 0; c < turn->call_count; c++) {
        push_call(L, &turn->calls[c], scratch);
        lua_rawseti(L, -2, (lua_Integer)c + 1);
    }
    lua_setfield(L, -2, "calls");
}

static void set_turns(lua_State *L, const gg_episode *e, gg_buf *scratch)
{
    lua_createtable(L, (int)e->turn_count, 0);
    for (size_t t = 0; t < e->turn_count; t++) {
        push_turn(L, &e->turns[t], scratch);
        lua_rawseti(L, -2, (lua_Integer)t + 1);
    }
    lua_setfield(L, -2, "turns");
}

static void set_part(void *context, const char *name, double value)
{
    set_number(context, name, value);
}

static void set_label(void *context, const char *name, const char *value)
{
    set_text(context, name, value);
}

void gg_sandbox_push_episode(lua_State *L, const gg_game *game, const gg_episode *e,
                             gg_buf *scratch)
{
    lua_createtable(L, 0, 20);
    set_text(L, "id", e->id);
    set_text(L, "env", e->env);
    set_count(L, "step", e->step);
    set_count(L, "group", e->group);
    set_count(L, "sample", e->sample);
    set_text(L, "task_id", e->task_id);
    set_text(L, "task_key", e->task_key);
    set_json(L, "answer", e->answer, scratch);
    set_text(L, "outcome", gg_outcome_name(e->outcome));
    set_text(L, "stop", gg_stop_name(e->stop));
    set_count(L, "moves", e->moves);
    set_number(L, "measure", game->api->measure(game->env, e));
    lua_newtable(L);
    game->api->labels(game->env, e, set_label, L);
    lua_setfield(L, -2, "labels");
    lua_createtable(L, 0, (int)game->api->part_count + 12);
    gg_reward_values(game, e, set_part, L);
    lua_setfield(L, -2, "parts");
    set_turns(L, e, scratch);
}
