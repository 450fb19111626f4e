/*
 * Registry and plug-in loader: from a name or a path to an opened environment.
 *
 * A gg_game is an API table together with the environment it opened and, for a plug-in, the loaded
 * library. It is immutable after opening and may be shared by threads.
 */
#ifndef GG_ENV_ENV_H
#define GG_ENV_ENV_H

#include <guessgym/env.h>

typedef struct gg_game {
    const gg_env_api *api;
    gg_env *env;
    gg_env_info info;
    void *library; /* dlopen handle, NULL for a built-in */
    char *config;  /* resolved options as JSON, for run.json */
    char *name;    /* as the user gave it */
} gg_game;

/* Finds a table: a built-in's name ("guess"), or a path with a slash or ending in ".so", which is
 * loaded and its ABI number checked. *library is the dlopen handle to keep until the table is
 * unused. */
gg_status gg_env_find(const char *name, const gg_env_api **api, void **library, gg_error *error);

/* Built-ins, for --help. */
size_t gg_env_builtin_count(void);
const gg_env_api *gg_env_builtin(size_t index);

/* Opens by name with settings as a JSON object (NULL = all defaults). Unknown names, wrong types
 * and values outside `choices` are GG_E_CONFIG with the near miss named. */
gg_status gg_game_open(const char *name, const char *settings, gg_game **out, gg_error *error);
void gg_game_close(gg_game *game);

#endif
