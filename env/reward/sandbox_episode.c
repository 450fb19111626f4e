/*
 * The record as a Lua table.
 *
 * Most scripts look at a few fields. So the tables below the record's own are late: empty, with a
 * pointer to what they stand for and a metatable whose every method first makes the table whole and
 * then takes the metatable away. Scripts have no raw access and no metatables, so they cannot tell.
 */
#include <math.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "core/json.h"
#include "env/reward/reward.h"
#include "env/reward/sandbox.h"

#define STACK_SPARE  8
#define SINGLE_READS 3 /* facts that are looked up one by one before their table is made whole */

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
        if (!push_string(L, &quoted, scratch))
            return false;
        lua_pushvalue(L, -1);
        bool twice = lua_rawget(L, -3) != LUA_TNIL;
        lua_pop(L, 1);
        if (!push_value(L, r, scratch))
            return false;
        if (twice)
            lua_pop(L, 2);
        else
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

/* ---- tables that are made late ---- */

typedef enum late_kind {
    LATE_TURNS,
    LATE_TURN,
    LATE_FACTS,
    LATE_PARTS,
    LATE_LABELS,
    LATE_USAGE,
    LATE_LIBRARY
} late_kind;

static void fill_turns(lua_State *L, const void *of);
static void fill_turn(lua_State *L, const void *of);
static void fill_facts(lua_State *L, const void *of);
static void fill_parts(lua_State *L, const void *of);
static void fill_labels(lua_State *L, const void *of);
static void fill_usage(lua_State *L, const void *of);

static const struct late {
    void (*fill)(lua_State *L, const void *of); /* into the table on top of the stack */
    int fields;
} kinds[] = {
    [LATE_TURNS] = {fill_turns, 1},
    [LATE_TURN] = {fill_turn, 8},
    [LATE_FACTS] = {fill_facts, 2},
    [LATE_PARTS] = {fill_parts, 1},
    [LATE_LABELS] = {fill_labels, 1},
    [LATE_USAGE] = {fill_usage, 1},
    [LATE_LIBRARY] = {gg_sandbox_fill_library, 1},
};
#define KIND_COUNT (sizeof kinds / sizeof *kinds)

/* Their addresses are keys of a late table: what it stands for, how often it was read singly. */
static const char of_key, reads_key;

static void push_late(lua_State *L, late_kind kind, const void *of)
{
    lua_createtable(L, 0, kinds[kind].fields);
    lua_pushlightuserdata(L, (void *)(uintptr_t)of);
    lua_rawsetp(L, -2, &of_key);
    lua_rawgetp(L, LUA_REGISTRYINDEX, &kinds[kind]);
    lua_setmetatable(L, -2);
}

void gg_sandbox_push_library(lua_State *L, const void *of)
{
    push_late(L, LATE_LIBRARY, of);
}

void gg_sandbox_make_whole(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    if (!lua_istable(L, index) || lua_rawgetp(L, index, &of_key) != LUA_TLIGHTUSERDATA) {
        lua_settop(L, lua_istable(L, index) ? lua_gettop(L) - 1 : lua_gettop(L));
        return;
    }
    const void *of = lua_touserdata(L, -1);
    lua_getmetatable(L, index);
    lua_rawgetp(L, -1, &of_key);
    const struct late *kind = lua_touserdata(L, -1);
    lua_pop(L, 3);
    lua_pushnil(L);
    lua_rawsetp(L, index, &of_key);
    lua_pushnil(L);
    lua_rawsetp(L, index, &reads_key);
    lua_pushnil(L);
    lua_setmetatable(L, index);
    lua_pushvalue(L, index);
    kind->fill(L, of);
    lua_pop(L, 1);
}

static int late_index(lua_State *L)
{
    gg_sandbox_make_whole(L, 1);
    lua_pushvalue(L, 2);
    lua_rawget(L, 1);
    return 1;
}

static int late_newindex(lua_State *L)
{
    gg_sandbox_make_whole(L, 1);
    lua_settop(L, 3);
    lua_rawset(L, 1);
    return 0;
}

static int late_len(lua_State *L)
{
    gg_sandbox_make_whole(L, 1);
    lua_pushinteger(L, (lua_Integer)lua_rawlen(L, 1));
    return 1;
}

/* One member of the facts' JSON that is a plain value, or nil; false when only the whole table can
 * tell. The first of its name counts, as for the parts that are computed in C. */
static bool push_fact(lua_State *L, const char *facts, const char *wanted, gg_buf *scratch)
{
    gg_json_reader r = gg_json_reader_make(facts, strlen(facts));
    gg_json_name name;
    if (!gg_read_object(&r))
        return false;
    while (gg_read_name(&r, &name)) {
        if (memchr(name.bytes, '\\', name.len))
            return false;
        if (gg_name_is(name, wanted)) {
            char next = gg_read_next(&r);
            return next != '{' && next != '[' && push_value(L, &r, scratch);
        }
        if (!gg_read_skip(&r))
            return false;
    }
    lua_pushnil(L);
    return !r.failed;
}

/* Plain values are not kept in the table: nothing stands there that the script could not have seen
 * changed. */
static int facts_index(lua_State *L)
{
    size_t len;
    lua_rawgetp(L, 1, &reads_key);
    lua_Integer reads = lua_tointeger(L, -1);
    lua_rawgetp(L, 1, &of_key);
    const char *facts = lua_touserdata(L, -1);
    const char *wanted = lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &len) : NULL;
    if (!wanted || strlen(wanted) != len || reads >= SINGLE_READS ||
        !push_fact(L, facts, wanted, &gg_sandbox_of(L)->scratch))
        return late_index(L);
    lua_pushinteger(L, reads + 1);
    lua_rawsetp(L, 1, &reads_key);
    return 1;
}

void gg_sandbox_set_up_late(lua_State *L)
{
    for (size_t i = 0; i < KIND_COUNT; i++) {
        lua_createtable(L, 0, 4);
        lua_pushcfunction(L, i == LATE_FACTS ? facts_index : late_index);
        lua_setfield(L, -2, "__index");
        lua_pushcfunction(L, late_newindex);
        lua_setfield(L, -2, "__newindex");
        lua_pushcfunction(L, late_len);
        lua_setfield(L, -2, "__len");
        lua_pushlightuserdata(L, (void *)(uintptr_t)&kinds[i]);
        lua_rawsetp(L, -2, &of_key);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &kinds[i]);
    }
}

/* ---- the record ---- */

static void fill_usage(lua_State *L, const void *of)
{
    const gg_usage *usage = of;
    set_count(L, "prompt", usage->prompt);
    set_count(L, "completion", usage->completion);
    set_count(L, "reasoning", usage->reasoning);
    set_count(L, "cached", usage->cached);
}

/* Text that is no JSON leaves the table empty. */
static void fill_facts(lua_State *L, const void *of)
{
    const char *facts = of;
    gg_buf *scratch = &gg_sandbox_of(L)->scratch;
    int top = lua_gettop(L);
    gg_json_reader r = gg_json_reader_make(facts, strlen(facts));
    if (push_value(L, &r, scratch) && lua_istable(L, -1)) {
        int made = lua_gettop(L);
        for (lua_pushnil(L); lua_next(L, made);) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, top);
        }
    }
    lua_settop(L, top);
}

static void push_call(lua_State *L, const gg_call *call)
{
    lua_createtable(L, 0, 8);
    set_text(L, "id", call->id);
    set_text(L, "name", call->name);
    set_text(L, "arguments", call->arguments_raw);
    set_text(L, "status", gg_call_status_name(call->status));
    set_text(L, "result", call->result);
    push_late(L, LATE_FACTS, call->facts ? call->facts : "{}");
    lua_setfield(L, -2, "facts");
    lua_createtable(L, (int)call->repair_count, 0);
    for (size_t i = 0; i < call->repair_count; i++) {
        lua_pushstring(L, call->repairs[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "repairs");
}

static void fill_turn(lua_State *L, const void *of)
{
    const gg_turn *turn = of;
    set_count(L, "index", turn->index);
    set_text(L, "finish_reason", turn->finish_reason);
    set_text(L, "reasoning", turn->reasoning);
    push_late(L, LATE_USAGE, &turn->usage);
    lua_setfield(L, -2, "usage");
    lua_createtable(L, (int)turn->call_count, 0);
    for (size_t c = 0; c < turn->call_count; c++) {
        push_call(L, &turn->calls[c]);
        lua_rawseti(L, -2, (lua_Integer)c + 1);
    }
    lua_setfield(L, -2, "calls");
}

static void fill_turns(lua_State *L, const void *of)
{
    const gg_episode *e = of;
    for (size_t t = 0; t < e->turn_count; t++) {
        push_late(L, LATE_TURN, &e->turns[t]);
        lua_rawseti(L, -2, (lua_Integer)t + 1);
    }
}

static void set_part(void *context, const char *name, double value)
{
    set_number(context, name, value);
}

static void set_label(void *context, const char *name, const char *value)
{
    set_text(context, name, value);
}

static void fill_parts(lua_State *L, const void *of)
{
    gg_reward_values(gg_sandbox_of(L)->game, of, set_part, L);
}

static void fill_labels(lua_State *L, const void *of)
{
    const gg_game *game = gg_sandbox_of(L)->game;
    game->api->labels(game->env, of, set_label, L);
}

void gg_sandbox_push_episode(lua_State *L)
{
    gg_sandbox *box = gg_sandbox_of(L);
    const gg_episode *e = box->episode;
    lua_createtable(L, 0, 20);
    set_text(L, "id", e->id);
    set_text(L, "env", e->env);
    set_count(L, "step", e->step);
    set_count(L, "group", e->group);
    set_count(L, "sample", e->sample);
    set_text(L, "task_id", e->task_id);
    set_text(L, "task_key", e->task_key);
    set_json(L, "answer", e->answer, &box->scratch);
    set_text(L, "outcome", gg_outcome_name(e->outcome));
    set_text(L, "stop", gg_stop_name(e->stop));
    set_count(L, "moves", e->moves);
    set_number(L, "measure", box->game->api->measure(box->game->env, e));
    push_late(L, LATE_LABELS, e);
    lua_setfield(L, -2, "labels");
    push_late(L, LATE_PARTS, e);
    lua_setfield(L, -2, "parts");
    push_late(L, LATE_TURNS, e);
    lua_setfield(L, -2, "turns");
}
