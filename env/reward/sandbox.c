#include "env/reward/sandbox.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "env/reward/script.h"

#define HOOK_EVERY   1000         /* instructions between two looks at the limit */
#define GARBAGE_MOST (128u << 10) /* bytes of earlier episodes that may lie about */
#define GLOBALS_ROOM 16

static const char pristine; /* its address is the registry's key of the plain globals; the
                                libraries stand under those of their rows */

gg_sandbox *gg_sandbox_of(lua_State *L)
{
    gg_sandbox *box;
    memcpy(&box, lua_getextraspace(L), sizeof box);
    return box;
}

/* Limits. */

static void *allocate(void *context, void *old, size_t old_size, size_t size)
{
    gg_sandbox *box = context;
    size_t had = old ? old_size : 0;
    if (size == 0) {
        box->used -= had;
        free(old);
        return NULL;
    }
    if (size > had && size - had > GG_LUA_MEMORY - box->used)
        return NULL;
    void *got = realloc(old, size);
    if (got)
        box->used = box->used - had + size;
    else
        box->short_of_heap = true;
    return got;
}

/* Once the limit is passed every instruction fails, so that pcall cannot outlive it. */
static void on_count(lua_State *L, lua_Debug *at)
{
    gg_sandbox *box = gg_sandbox_of(L);
    (void)at;
    box->left -= HOOK_EVERY;
    if (box->left > 0)
        return;
    lua_sethook(L, on_count, LUA_MASKCOUNT, 1);
    luaL_error(L, "it ran for more than %d instructions", GG_LUA_INSTRUCTIONS);
}

int gg_sandbox_call(lua_State *L, int arguments, int results)
{
    lua_sethook(L, on_count, LUA_MASKCOUNT, HOOK_EVERY);
    int code = lua_pcall(L, arguments, results, 0);
    lua_sethook(L, NULL, 0, 0);
    return code;
}

/* Functions that replace those of Lua which show addresses or the order of a hash table. */

static int order_of(int type)
{
    return type == LUA_TNUMBER ? 0 : type == LUA_TSTRING ? 1 : type == LUA_TBOOLEAN ? 2 : 3;
}

/* Orders two keys: numbers, then strings by their bytes, then false and true. */
static int key_less(lua_State *L)
{
    int a = order_of(lua_type(L, 1)), b = order_of(lua_type(L, 2));
    bool less = a < b;
    if (a == b && a == 0) {
        less = lua_compare(L, 1, 2, LUA_OPLT);
    } else if (a == b && a == 1) {
        size_t n, m;
        const char *x = lua_tolstring(L, 1, &n), *y = lua_tolstring(L, 2, &m);
        int differ = memcmp(x, y, n < m ? n : m);
        less = differ < 0 || (differ == 0 && n < m);
    } else if (a == b && a == 2) {
        less = lua_toboolean(L, 1) < lua_toboolean(L, 2);
    }
    lua_pushboolean(L, less);
    return 1;
}

/* Upvalues: the table, its keys in order, the number of those that were given. */
static int next_in_order(lua_State *L)
{
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(3));
    do {
        lua_settop(L, 0);
        if (lua_rawgeti(L, lua_upvalueindex(2), ++i) == LUA_TNIL)
            return 1;
        lua_pushvalue(L, 1);
    } while (lua_gettable(L, lua_upvalueindex(1)) == LUA_TNIL);
    lua_pushinteger(L, i);
    lua_replace(L, lua_upvalueindex(3));
    return 2;
}

/* Upvalue: table.sort. */
static int pairs_in_order(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    gg_sandbox_make_whole(L, 1);
    lua_newtable(L);
    lua_Integer count = 0;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        if (order_of(lua_type(L, -2)) > 2)
            return luaL_error(L, "pairs: a key must be a number, string or boolean");
        lua_pushvalue(L, -2);
        lua_rawseti(L, 2, ++count);
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 2);
    lua_pushcfunction(L, key_less);
    lua_call(L, 2, 0);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_in_order, 3);
    return 1;
}

static int plain_tostring(lua_State *L)
{
    luaL_checkany(L, 1);
    int type = lua_type(L, 1);
    if (type == LUA_TTABLE || type == LUA_TFUNCTION)
        lua_pushstring(L, lua_typename(L, type));
    else
        luaL_tolstring(L, 1, NULL);
    return 1;
}

/* "%p", flags and width between the two. */
static bool shows_address(const char *format)
{
    while ((format = strchr(format, '%'))) {
        format++;
        format += strspn(format, "-+ #.0123456789");
        if (*format == 'p')
            return true;
        format += *format != '\0';
    }
    return false;
}

/* Upvalue: string.format. */
static int plain_format(lua_State *L)
{
    int count = lua_gettop(L);
    if (shows_address(luaL_checkstring(L, 1)))
        return luaL_error(L, "format: %%p is not for reward scripts");
    for (int i = 2; i <= count; i++)
        if (lua_type(L, i) == LUA_TTABLE || lua_type(L, i) == LUA_TFUNCTION)
            return luaL_argerror(L, i, "number, string or boolean expected");
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, count, 1);
    return 1;
}

/* Opening. */

static const char *const kept[] = {"assert", "error",    "ipairs", "pcall",
                                   "select", "tonumber", "type",   "_VERSION"};

static const struct library {
    const char *name;
    lua_CFunction open;
    const char *without[3];
} libraries[] = {
    {LUA_STRLIBNAME, luaopen_string, {"dump"}},
    {LUA_TABLIBNAME, luaopen_table, {NULL}},
    {LUA_MATHLIBNAME, luaopen_math, {"random", "randomseed"}},
    {LUA_UTF8LIBNAME, luaopen_utf8, {NULL}},
};

/* Adds a library to the table of globals on top of the stack. */
static void add_library(lua_State *L, const struct library *library)
{
    lua_pushcfunction(L, library->open);
    lua_call(L, 0, 1);
    for (size_t i = 0; library->without[i]; i++) {
        lua_pushnil(L);
        lua_setfield(L, -2, library->without[i]);
    }
    lua_setfield(L, -2, library->name);
}

/* `into`[name] = a closure over the function library[name]. */
static void wrap(lua_State *L, int globals, const char *library, const char *name,
                 lua_CFunction function, const char *as)
{
    lua_getfield(L, globals, library);
    lua_getfield(L, -1, name);
    lua_pushcclosure(L, function, 1);
    if (as)
        lua_setfield(L, globals, as);
    else
        lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

static int set_up(lua_State *L)
{
    lua_pushcfunction(L, luaopen_base);
    lua_call(L, 0, 1);
    lua_newtable(L);
    int whole = lua_absindex(L, -2), globals = lua_absindex(L, -1);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        lua_getfield(L, whole, kept[i]);
        lua_setfield(L, globals, kept[i]);
    }
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        add_library(L, &libraries[i]);
    wrap(L, globals, LUA_TABLIBNAME, "sort", pairs_in_order, "pairs");
    wrap(L, globals, LUA_STRLIBNAME, "format", plain_format, NULL);
    lua_pushcfunction(L, plain_tostring);
    lua_setfield(L, globals, "tostring");
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        lua_getfield(L, globals, libraries[i].name);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &libraries[i]);
        lua_pushnil(L);
        lua_setfield(L, globals, libraries[i].name);
    }
    lua_rawsetp(L, LUA_REGISTRYINDEX, &pristine);
    gg_sandbox_set_up_late(L);
    return 0;
}

/* Copies the members of the table at `from` into the table at `to`. */
static void copy_members(lua_State *L, int from, int to)
{
    for (lua_pushnil(L); lua_next(L, from);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, to);
    }
}

void gg_sandbox_fill_library(lua_State *L, const void *of)
{
    const struct library *library = of;
    int to = lua_gettop(L);
    lua_rawgetp(L, LUA_REGISTRYINDEX, library);
    copy_members(L, to + 1, to);
    lua_settop(L, to);
}

/* The methods of strings are those of the library that the script has. */
static int renew(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &pristine);
    lua_createtable(L, 0, GLOBALS_ROOM);
    copy_members(L, 1, 2);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        gg_sandbox_push_library(L, &libraries[i]);
        lua_setfield(L, 2, libraries[i].name);
    }
    lua_pushliteral(L, "");
    if (lua_getmetatable(L, -1)) {
        lua_getfield(L, 2, LUA_STRLIBNAME);
        lua_setfield(L, -2, "__index");
    }
    lua_pushvalue(L, 2);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    return 0;
}

gg_status gg_sandbox_renew(gg_sandbox *box, gg_error *error)
{
    lua_settop(box->L, 0);
    if (box->used > GARBAGE_MOST)
        lua_gc(box->L, LUA_GCCOLLECT);
    box->left = GG_LUA_INSTRUCTIONS;
    box->short_of_heap = false;
    lua_pushcfunction(box->L, renew);
    if (lua_pcall(box->L, 0, 0, 0) == LUA_OK)
        return GG_OK;
    return gg_fail(error, GG_E_MEMORY, "out of memory for a reward script");
}

gg_status gg_sandbox_open(gg_sandbox *box, gg_error *error)
{
    *box = (gg_sandbox){.left = GG_LUA_INSTRUCTIONS};
    gg_buf_init(&box->scratch, GG_LUA_MEMORY);
    box->L = lua_newstate(allocate, box);
    if (box->L) {
        memcpy(lua_getextraspace(box->L), &box, sizeof box);
        /* Garbage is collected between episodes, and when a script comes to its limit. */
        lua_gc(box->L, LUA_GCSTOP);
        lua_pushcfunction(box->L, set_up);
        if (lua_pcall(box->L, 0, 0, 0) == LUA_OK && gg_sandbox_renew(box, NULL) == GG_OK)
            return GG_OK;
    }
    gg_sandbox_close(box);
    return gg_fail(error, GG_E_MEMORY, "out of memory for a reward script");
}

void gg_sandbox_close(gg_sandbox *box)
{
    if (box->L)
        lua_close(box->L);
    box->L = NULL;
    gg_buf_free(&box->scratch);
}
