#include "env/reward/script.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "core/digest.h"
#include "core/file.h"
#include "env/reward/sandbox.h"

#define ENDING    ".lua"
#define DIGEST_AT "#sha256:"
#define TEXT_MAX  8192
#define ENTRY     "reward" /* the function that a script defines */

struct gg_lua {
    gg_buf text; /* path, DIGEST_AT, digest */
    gg_buf path;
    gg_buf code; /* compiled */
    /* A state that has scored and can score again; a thread takes it out while it does. */
    _Atomic(gg_sandbox *) spare;
};

/* The path's length; 0 when the text names no script. *digest is NULL or what follows it. */
static size_t split(const char *text, const char **digest)
{
    const char *mark = strstr(text, ENDING DIGEST_AT);
    size_t len = mark ? (size_t)(mark - text) + strlen(ENDING) : strlen(text);
    *digest = mark ? mark + strlen(ENDING DIGEST_AT) : NULL;
    bool ends =
        len > strlen(ENDING) && memcmp(text + len - strlen(ENDING), ENDING, strlen(ENDING)) == 0;
    return ends ? len : 0;
}

bool gg_lua_named(const char *text)
{
    const char *digest;
    return split(text, &digest) > 0;
}

const char *gg_lua_text(const gg_lua *script)
{
    return gg_buf_cstr(&script->text);
}

/* What Lua left on the stack as an error. It begins with "my.lua:12: " where the script failed. */
static gg_status said(const gg_lua *script, const gg_sandbox *box, const char *episode,
                      gg_error *error)
{
    const char *message = lua_tostring(box->L, -1);
    if (box->short_of_heap)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a reward script");
    if (!message)
        message = "the error is not a text";
    bool placed = strncmp(message, gg_buf_cstr(&script->path), script->path.len) == 0;
    return gg_fail(error, GG_E_CONFIG, "reward script %s%s%s%s%s%s",
                   placed ? "" : gg_buf_cstr(&script->path), placed ? "" : ": ", message,
                   episode ? " (episode " : "", episode ? episode : "", episode ? ")" : "");
}

/* Loading. */

static int keep_code(lua_State *L, const void *bytes, size_t len, void *into)
{
    (void)L;
    gg_buf_add(into, bytes, len);
    return ((gg_buf *)into)->status != GG_OK;
}

/* Runs the script's text, leaves nothing, and checks that it defined the function. */
static gg_status first_run(const gg_lua *script, const gg_sandbox *box, gg_error *error)
{
    lua_State *L = box->L;
    if (gg_sandbox_call(L, 0, 0) != LUA_OK)
        return said(script, box, NULL, error);
    lua_getglobal(L, ENTRY);
    if (!lua_isfunction(L, -1))
        return gg_fail(error, GG_E_CONFIG,
                       "reward script %s defines no function \"" ENTRY
                       "\"; it needs: function " ENTRY "(episode) return ... end",
                       gg_buf_cstr(&script->path));
    return GG_OK;
}

static gg_status compile(gg_lua *script, const gg_buf *source, gg_error *error)
{
    gg_sandbox box;
    gg_buf name;
    gg_buf_init(&name, TEXT_MAX);
    gg_buf_printf(&name, "@%s", gg_buf_cstr(&script->path));
    gg_status status = gg_sandbox_open(&box, error);
    if (status == GG_OK && luaL_loadbufferx(box.L, gg_buf_cstr(source), source->len,
                                            gg_buf_cstr(&name), "t") != LUA_OK)
        status = said(script, &box, NULL, error);
    if (status == GG_OK) {
        lua_dump(box.L, keep_code, &script->code, 0);
        status = gg_buf_status(&script->code, "a compiled reward script", error);
    }
    if (status == GG_OK)
        status = first_run(script, &box, error);
    gg_sandbox_close(&box);
    gg_buf_free(&name);
    return status;
}

static gg_status check_digest(gg_lua *script, const gg_buf *source, const char *expected,
                              gg_error *error)
{
    char digest[GG_DIGEST_HEX];
    gg_sha256_hex(gg_buf_cstr(source), source->len, digest);
    gg_buf_printf(&script->text, "%s" DIGEST_AT "%s", gg_buf_cstr(&script->path), digest);
    if (expected && strcmp(expected, digest) != 0)
        return gg_fail(error, GG_E_CONFIG,
                       "reward script %s has changed since the run began (sha256 %.8s, then %.8s); "
                       "restore it or start a new run",
                       gg_buf_cstr(&script->path), digest, expected);
    return gg_buf_status(&script->text, "a reward script's name", error);
}

gg_status gg_lua_load(const char *text, gg_lua **out, gg_error *error)
{
    const char *digest;
    size_t path = split(text, &digest);
    gg_buf source;
    gg_lua *script = calloc(1, sizeof *script);
    *out = NULL;
    if (!script)
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading a reward script");
    gg_buf_init(&source, GG_LUA_BYTES);
    gg_buf_init(&script->text, TEXT_MAX);
    gg_buf_init(&script->path, TEXT_MAX);
    gg_buf_init(&script->code, GG_LUA_MEMORY);
    gg_buf_add(&script->path, text, path);
    gg_status status = gg_buf_status(&script->path, "a reward script's path", error);
    if (status == GG_OK)
        status = gg_file_read(gg_buf_cstr(&script->path), &source, error);
    if (status == GG_E_IO) /* the path is what the user gave */
        status = error ? (error->status = GG_E_CONFIG) : GG_E_CONFIG;
    if (status == GG_OK)
        status = check_digest(script, &source, digest, error);
    if (status == GG_OK)
        status = compile(script, &source, error);
    gg_buf_free(&source);
    if (status == GG_OK)
        *out = script;
    else
        gg_lua_free(script);
    return status;
}

static void free_box(gg_sandbox *box)
{
    if (!box)
        return;
    gg_sandbox_close(box);
    free(box);
}

void gg_lua_free(gg_lua *script)
{
    if (!script)
        return;
    gg_buf_free(&script->text);
    gg_buf_free(&script->path);
    gg_buf_free(&script->code);
    free_box(atomic_load(&script->spare));
    free(script);
}

/* Scoring. */

typedef struct scoring {
    const gg_lua *script;
    gg_episode *episode;
} scoring;

static const char loaded; /* its address is the registry's key of the loaded script */

/* Runs protected: pushes the function's two results. The script runs from its first line with the
 * globals of now, which are its one upvalue. */
static int run_reward(lua_State *L)
{
    const gg_lua *script = lua_touserdata(L, 1);
    lua_settop(L, 0);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &loaded) == LUA_TNIL) {
        lua_settop(L, 0);
        if (luaL_loadbufferx(L, gg_buf_cstr(&script->code), script->code.len, "=script", "b") !=
            LUA_OK)
            return lua_error(L);
        lua_pushvalue(L, 1);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &loaded);
    }
    lua_pushglobaltable(L);
    (void)lua_setupvalue(L, 1, 1);
    lua_call(L, 0, 0);
    lua_getglobal(L, ENTRY);
    gg_sandbox_push_episode(L);
    lua_call(L, 1, 2);
    gg_sandbox_make_whole(L, 1);
    gg_sandbox_make_whole(L, 2);
    return 2;
}

static gg_status no_memory(gg_error *error)
{
    return gg_fail(error, GG_E_MEMORY, "out of memory while scoring an episode");
}

static gg_status refuse(const scoring *s, gg_error *error, const char *what)
{
    return gg_fail(error, GG_E_CONFIG, "reward script %s: " ENTRY " returned %s (episode %s)",
                   gg_buf_cstr(&s->script->path), what, s->episode->id ? s->episode->id : "");
}

/* A finite number at this place of the stack. */
static bool number_at(lua_State *L, int index, double *out)
{
    if (lua_type(L, index) != LUA_TNUMBER)
        return false;
    *out = lua_tonumber(L, index);
    return *out - *out == 0;
}

static gg_status take_turns(scoring *s, lua_State *L, gg_error *error)
{
    gg_episode *e = s->episode;
    double total = 0;
    if (lua_rawlen(L, 1) != e->turn_count)
        return gg_fail(error, GG_E_CONFIG,
                       "reward script %s: " ENTRY " returned a list of %zu values for %zu turns "
                       "(episode %s)",
                       gg_buf_cstr(&s->script->path), (size_t)lua_rawlen(L, 1), e->turn_count,
                       e->id ? e->id : "");
    double *values = gg_episode_alloc(e, (e->turn_count + 1) * sizeof *values);
    if (!values)
        return no_memory(error);
    for (size_t t = 0; t < e->turn_count; t++) {
        lua_rawgeti(L, 1, (lua_Integer)t + 1);
        if (!number_at(L, -1, &values[t]))
            return refuse(s, error, "a list with a value that is no finite number");
        total += values[t];
        lua_pop(L, 1);
    }
    e->reward_by_turn = e->turn_count ? values : NULL;
    e->reward = total;
    return GG_OK;
}

static gg_status take_total(scoring *s, lua_State *L, gg_error *error)
{
    s->episode->reward_by_turn = NULL;
    if (lua_istable(L, 1))
        return take_turns(s, L, error);
    if (!number_at(L, 1, &s->episode->reward))
        return refuse(s, error,
                      lua_type(L, 1) == LUA_TNUMBER ? "a number that is not finite"
                      : lua_isnil(L, 1)             ? "nothing, not a number or a list of them"
                                                    : "neither a number nor a list of them");
    return GG_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const gg_named *)a)->name, ((const gg_named *)b)->name);
}

static gg_status add_part(scoring *s, lua_State *L, gg_error *error)
{
    gg_episode *e = s->episode;
    size_t len = 0;
    double value;
    if (lua_type(L, -2) != LUA_TSTRING || !number_at(L, -1, &value))
        return refuse(s, error, "parts that are not all name = finite number");
    const char *name = lua_tolstring(L, -2, &len);
    if (len == 0 || len >= GG_LUA_NAME || strlen(name) != len)
        return refuse(s, error, "a part whose name is empty or too long");
    if (e->part_count == GG_LUA_PARTS)
        return refuse(s, error, "too many parts");
    gg_named *part = gg_episode_push(e, &e->parts, &e->part_count, sizeof *part);
    const char *kept = part ? gg_episode_string(e, name, len) : NULL;
    if (!kept)
        return no_memory(error);
    *part = (gg_named){.name = kept, .value = value};
    return GG_OK;
}

static gg_status take_parts(scoring *s, lua_State *L, gg_error *error)
{
    gg_episode *e = s->episode;
    gg_status status = GG_OK;
    e->parts = NULL;
    e->part_count = 0;
    if (lua_isnil(L, 2))
        return GG_OK;
    if (!lua_istable(L, 2))
        return refuse(s, error, "a second value that is no table of parts");
    lua_pushnil(L);
    while (status == GG_OK && lua_next(L, 2)) {
        status = add_part(s, L, error);
        lua_pop(L, 1);
    }
    if (status == GG_OK && e->part_count)
        qsort(e->parts, e->part_count, sizeof *e->parts, by_name);
    return status;
}

/* A state as new: the spare one, else another. */
static gg_status take_box(gg_lua *script, gg_sandbox **out, gg_error *error)
{
    gg_sandbox *box = atomic_exchange(&script->spare, NULL);
    gg_status status = GG_OK;
    if (box) {
        status = gg_sandbox_renew(box, error);
    } else {
        box = malloc(sizeof *box);
        if (!box)
            return gg_fail(error, GG_E_MEMORY, "out of memory for a reward script");
        status = gg_sandbox_open(box, error);
    }
    if (status != GG_OK)
        free_box(box);
    *out = status == GG_OK ? box : NULL;
    return status;
}

gg_status gg_lua_score(const gg_lua *script, const gg_game *game, gg_episode *episode,
                       gg_error *error)
{
    scoring s = {.script = script, .episode = episode};
    gg_sandbox *box = NULL;
    gg_lua *owner = (gg_lua *)(uintptr_t)script; /* only its spare state changes */
    gg_status status = take_box(owner, &box, error);
    if (status != GG_OK)
        return status;
    box->game = game;
    box->episode = episode;
    lua_pushcfunction(box->L, run_reward);
    lua_pushlightuserdata(box->L, owner);
    bool ran = gg_sandbox_call(box->L, 1, 2) == LUA_OK;
    if (!ran)
        status = said(script, box, episode->id ? episode->id : "", error);
    if (status == GG_OK)
        status = take_total(&s, box->L, error);
    if (status == GG_OK)
        status = take_parts(&s, box->L, error);
    free_box(ran ? atomic_exchange(&owner->spare, box) : box);
    return status;
}
