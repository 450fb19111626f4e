#include "env/env.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/near.h"
#include "env/guess/guess.h"
#include "env/search/search.h"

#define CONFIG_MAX  (1u << 20)
#define PATH_ROOM   4096
#define NAMES_MAX   64 /* options or choices that a near miss is sought among */
#define CHOICE_ROOM 64
#define LIST_ROOM   512 /* bytes of a list of names in an error sentence */

static const gg_env_api *const builtins[] = {&gg_guess_env, &gg_search_env};

size_t gg_env_builtin_count(void)
{
    return sizeof builtins / sizeof *builtins;
}

const gg_env_api *gg_env_builtin(size_t index)
{
    return index < gg_env_builtin_count() ? builtins[index] : NULL;
}

/* "; did you mean X?" for a near miss, else "; known: A, B, C". */
static gg_status refuse_name(gg_error *error, const char *what, const char *name,
                             const char *const *known, size_t count)
{
    const char *near = gg_near_miss(name, known, count);
    if (near)
        return gg_fail(error, GG_E_CONFIG, "%s \"%s\" is not known; did you mean \"%s\"?", what,
                       name, near);
    gg_buf list;
    gg_buf_init(&list, LIST_ROOM);
    for (size_t i = 0; i < count; i++)
        gg_buf_printf(&list, "%s%s", i ? ", " : "", known[i]);
    gg_status status =
        gg_fail(error, GG_E_CONFIG, "%s \"%s\" is not known; there %s: %s", what, name,
                count == 1 ? "is" : "are", count ? gg_buf_cstr(&list) : "none");
    gg_buf_free(&list);
    return status;
}

/* Finding. */

static gg_status find_builtin(const char *name, const gg_env_api **api, gg_error *error)
{
    const char *known[sizeof builtins / sizeof *builtins];
    for (size_t i = 0; i < gg_env_builtin_count(); i++) {
        known[i] = builtins[i]->name;
        if (strcmp(name, known[i]) == 0) {
            *api = builtins[i];
            return GG_OK;
        }
    }
    return refuse_name(error, "environment (a plug-in is given by its path, ./NAME.so)", name,
                       known, gg_env_builtin_count());
}

static bool is_path(const char *name)
{
    size_t len = strlen(name);
    return strchr(name, '/') || (len > 3 && strcmp(name + len - 3, ".so") == 0);
}

/* Names the first function that a table must have and lacks, or NULL. */
static const char *missing_function(const gg_env_api *api)
{
    const struct {
        const char *name;
        bool there;
    } needed[] = {
        {"open", api->open},
        {"close", api->close},
        {"info", api->info},
        {"tools", api->tools},
        {"default_tasks", api->default_tasks},
        {"identity", api->identity},
        {"start", api->start},
        {"system_prompt", api->system_prompt},
        {"opening", api->opening},
        {"call", api->call},
        {"answer", api->answer},
        {"finish", api->finish},
        {"measure", api->measure},
        {"parts", api->parts},
        {"labels", api->labels},
        {"render", api->render},
        {"name", api->name},
        {"summary", api->summary},
        {"options", api->options || !api->option_count},
        {"part_table", api->part_table || !api->part_count},
    };
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!needed[i].there)
            return needed[i].name;
    return NULL;
}

static gg_status check_table(const char *path, const gg_env_api *api, gg_error *error)
{
    if (!api)
        return gg_fail(error, GG_E_CONFIG, "%s: " GG_ENV_PLUGIN_SYMBOL " returned no table", path);
    /* The number stands first in every version of the table; nothing else may be read before it. */
    if (api->abi != GG_ENV_ABI)
        return gg_fail(error, GG_E_CONFIG,
                       "%s was built for environment ABI %u, this program has %u; build it again "
                       "against the headers of this version",
                       path, (unsigned)api->abi, (unsigned)GG_ENV_ABI);
    const char *missing = missing_function(api);
    if (missing)
        return gg_fail(error, GG_E_CONFIG, "%s: its table has no `%s`", path, missing);
    return GG_OK;
}

static gg_status load_plugin(const char *name, const gg_env_api **api, void **library,
                             gg_error *error)
{
    gg_buf path; /* dlopen searches system folders unless there is a slash */
    gg_buf_init(&path, PATH_ROOM);
    gg_buf_printf(&path, "%s%s", strchr(name, '/') ? "" : "./", name);
    gg_status status = gg_buf_status(&path, "a plug-in's path", error);
    if (status == GG_OK) {
        *library = dlopen(gg_buf_cstr(&path), RTLD_NOW | RTLD_LOCAL);
        if (!*library)
            status = gg_fail(error, GG_E_CONFIG, "cannot load %s: %s", name, dlerror());
    }
    gg_buf_free(&path);
    if (status != GG_OK)
        return status;
    void *symbol = dlsym(*library, GG_ENV_PLUGIN_SYMBOL);
    gg_env_plugin_fn entry;
    memcpy(&entry, &symbol, sizeof entry); /* POSIX, not ISO C, lets an object be a function */
    if (!entry)
        return gg_fail(error, GG_E_CONFIG,
                       "%s is not an environment: it exports no " GG_ENV_PLUGIN_SYMBOL, name);
    *api = entry();
    return check_table(name, *api, error);
}

gg_status gg_env_find(const char *name, const gg_env_api **api, void **library, gg_error *error)
{
    *api = NULL;
    *library = NULL;
    if (!is_path(name))
        return find_builtin(name, api, error);
    gg_status status = load_plugin(name, api, library, error);
    if (status != GG_OK && *library) {
        dlclose(*library);
        *library = NULL;
        *api = NULL;
    }
    return status;
}

/* Options. */

static const gg_env_option *find_option(const gg_env_api *api, const char *name)
{
    for (size_t i = 0; i < api->option_count; i++)
        if (strcmp(api->options[i].name, name) == 0)
            return &api->options[i];
    return NULL;
}

static gg_status check_names(const gg_env_api *api, const cJSON *settings, gg_error *error)
{
    const char *known[NAMES_MAX];
    size_t count = 0;
    for (; count < api->option_count && count < NAMES_MAX; count++)
        known[count] = api->options[count].name;
    for (const cJSON *s = settings ? settings->child : NULL; s; s = s->next)
        if (!find_option(api, s->string))
            return refuse_name(error, "environment option", s->string, known, count);
    return GG_OK;
}

static gg_status bad_value(const gg_env_option *option, const char *wanted, gg_error *error)
{
    return gg_fail(error, GG_E_CONFIG, "environment option \"%s\" must be %s", option->name,
                   wanted);
}

static gg_status add_int(const gg_env_option *option, const char *text, gg_buf *out,
                         gg_error *error)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno || value > INT_MAX || value < INT_MIN)
        return bad_value(option, "a whole number", error);
    gg_buf_int(out, value);
    return GG_OK;
}

static gg_status add_bool(const gg_env_option *option, const char *text, gg_buf *out,
                          gg_error *error)
{
    static const struct {
        const char *text;
        bool value;
    } words[] = {{"true", true}, {"false", false}, {"on", true}, {"off", false},
                 {"yes", true},  {"no", false},    {"1", true},  {"0", false}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i].text) == 0) {
            gg_buf_str(out, words[i].value ? "true" : "false");
            return GG_OK;
        }
    return bad_value(option, "true or false", error);
}

/* One of "a|b|c"; a near miss is named. */
static gg_status check_choice(const gg_env_option *option, const char *text, gg_error *error)
{
    char choice[NAMES_MAX][CHOICE_ROOM];
    const char *known[NAMES_MAX];
    size_t count = 0;
    for (const char *p = option->choices; p && count < NAMES_MAX; count++) {
        size_t len = strcspn(p, "|");
        size_t kept = len < CHOICE_ROOM ? len : CHOICE_ROOM - 1;
        memcpy(choice[count], p, kept);
        choice[count][kept] = '\0';
        known[count] = choice[count];
        if (len == strlen(text) && memcmp(p, text, len) == 0)
            return GG_OK;
        p = p[len] ? p + len + 1 : NULL;
    }
    const char *near = gg_near_miss(text, known, count);
    return gg_fail(error, GG_E_CONFIG,
                   "environment option \"%s\" must be one of %s, not \"%s\"%s%s%s", option->name,
                   option->choices, text, near ? "; did you mean \"" : "", near ? near : "",
                   near ? "\"?" : "");
}

static gg_status add_text(const gg_env_option *option, const char *text, gg_buf *out,
                          gg_error *error)
{
    gg_status status = option->choices ? check_choice(option, text, error) : GG_OK;
    if (status == GG_OK && option->type == GG_OPTION_FILE && !*text)
        status = bad_value(option, "a path", error);
    if (status == GG_OK)
        gg_buf_json_str(out, text);
    return status;
}

/* A setting's value as text: what a command line gives, or the JSON value of a configuration. */
static bool value_text(const cJSON *value, gg_buf *out)
{
    if (cJSON_IsString(value))
        gg_buf_str(out, value->valuestring);
    else if (cJSON_IsBool(value))
        gg_buf_str(out, cJSON_IsTrue(value) ? "true" : "false");
    else if (cJSON_IsNumber(value))
        gg_buf_double(out, value->valuedouble);
    else
        return false;
    return true;
}

static gg_status add_value(const gg_env_option *option, const char *text, gg_buf *out,
                           gg_error *error)
{
    gg_buf_printf(out, "%s\"%s\":", out->len > 1 ? "," : "", option->name);
    switch (option->type) {
    case GG_OPTION_INT:
        return add_int(option, text, out, error);
    case GG_OPTION_BOOL:
        return add_bool(option, text, out, error);
    case GG_OPTION_TEXT:
    case GG_OPTION_FILE:
        return add_text(option, text, out, error);
    }
    return gg_fail(error, GG_E_CONFIG, "environment option \"%s\" has an unknown type",
                   option->name);
}

static gg_status add_option(const gg_env_option *option, const cJSON *settings, gg_buf *out,
                            gg_error *error)
{
    const cJSON *given = gg_json_get(settings, option->name);
    if (!given)
        return option->fallback ? add_value(option, option->fallback, out, error) : GG_OK;
    gg_buf text;
    gg_buf_init(&text, CONFIG_MAX);
    gg_status status = value_text(given, &text)
                           ? gg_buf_status(&text, "an option's value", error)
                           : bad_value(option, "a text, a number, true or false", error);
    if (status == GG_OK)
        status = add_value(option, gg_buf_cstr(&text), out, error);
    gg_buf_free(&text);
    return status;
}

/* All options of the table with their values, in its order. */
static gg_status resolve(const gg_env_api *api, const char *settings, char **out, gg_error *error)
{
    cJSON *tree = NULL;
    gg_buf config;
    gg_buf_init(&config, CONFIG_MAX);
    gg_status status = settings ? gg_json_parse(settings, strlen(settings), &tree, error) : GG_OK;
    if (status == GG_OK && tree && !cJSON_IsObject(tree))
        status = gg_fail(error, GG_E_CONFIG, "an environment's settings must be a JSON object");
    if (status == GG_OK)
        status = check_names(api, tree, error);
    gg_buf_char(&config, '{');
    for (size_t i = 0; i < api->option_count && status == GG_OK; i++)
        status = add_option(&api->options[i], tree, &config, error);
    gg_buf_char(&config, '}');
    if (status == GG_OK)
        status = gg_buf_status(&config, "an environment's settings", error);
    if (status == GG_OK && !(*out = gg_buf_take(&config)))
        status = gg_fail(error, GG_E_MEMORY, "out of memory while reading settings");
    gg_buf_free(&config);
    cJSON_Delete(tree);
    return status;
}

/* Opening. */

static gg_status check_info(const gg_game *game, gg_error *error)
{
    const gg_env_info *i = &game->info;
    if (!i->name || !i->task_noun || !i->move_noun || !i->measure_name || !i->default_reward ||
        i->max_calls < 1 || i->max_turns < 1)
        return gg_fail(error, GG_E_CONFIG,
                       "environment %s describes itself incompletely: it needs name, task_noun, "
                       "move_noun, measure_name, default_reward and caps of at least 1",
                       game->name);
    return GG_OK;
}

static gg_status open_game(gg_game *game, const char *settings, gg_error *error)
{
    gg_status status = gg_env_find(game->name, &game->api, &game->library, error);
    if (status == GG_OK)
        status = resolve(game->api, settings, &game->config, error);
    if (status == GG_OK)
        status = game->api->open(game->config, &game->env, error);
    if (status != GG_OK)
        return status;
    game->api->info(game->env, &game->info);
    return check_info(game, error);
}

gg_status gg_game_open(const char *name, const char *settings, gg_game **out, gg_error *error)
{
    *out = NULL;
    gg_game *game = calloc(1, sizeof *game);
    if (game)
        game->name = strdup(name);
    if (!game || !game->name) {
        free(game);
        return gg_fail(error, GG_E_MEMORY, "out of memory while opening an environment");
    }
    gg_status status = open_game(game, settings, error);
    if (status == GG_OK)
        *out = game;
    else
        gg_game_close(game);
    return status;
}

void gg_game_close(gg_game *game)
{
    if (!game)
        return;
    if (game->env)
        game->api->close(game->env);
    if (game->library)
        dlclose(game->library);
    free(game->config);
    free(game->name);
    free(game);
}
