#include "cli/game.h"

#include <string.h>

#include "core/json.h"

#define LENGTH_DEFAULT 5
#define SETTINGS_MAX   (1u << 20)

gg_status gg_cli_words(const gg_cli *cli, gg_words **out, gg_error *error)
{
    int length = gg_opt_text(cli->opts, GG_OPT_LENGTH) ? (int)gg_opt_int(cli->opts, GG_OPT_LENGTH)
                                                       : LENGTH_DEFAULT;

    return gg_words_load(gg_opt_text(cli->opts, GG_OPT_ANSWERS),
                         gg_opt_text(cli->opts, GG_OPT_ALLOWED), length, out, error);
}

gg_status gg_cli_game(const gg_cli *cli, const char *name, gg_game **out, gg_error *error)
{
    gg_buf settings;

    gg_buf_init(&settings, SETTINGS_MAX);
    bool any = gg_opts_settings(cli->opts, &settings);
    gg_status status = gg_buf_status(&settings, "the game's settings", error);
    if (status == GG_OK)
        status = gg_game_open(name, any ? gg_buf_cstr(&settings) : NULL, out, error);
    gg_buf_free(&settings);
    return status;
}

gg_status gg_cli_tasks(const gg_cli *cli, const gg_game *game, const char *split, gg_tasks *out,
                       gg_error *error)
{
    const char *path = gg_opt_text(cli->opts, GG_OPT_TASKS);

    if (!path)
        path = game->api->default_tasks(game->env, split);
    if (!path)
        return gg_fail(error, GG_E_CONFIG,
                       "%s with these settings ships no list of its own; give one with --tasks "
                       "FILE",
                       game->name);
    gg_status status = gg_tasks_load(game, path, out, error);
    if (status == GG_OK && gg_opt_given(cli->opts, GG_OPT_LIMIT))
        status = gg_tasks_keep(out, (size_t)gg_opt_int(cli->opts, GG_OPT_LIMIT), error);
    return status;
}

gg_status gg_cli_reward(const gg_cli *cli, const gg_game *game, gg_reward **out, gg_error *error)
{
    const char *text = gg_opt_text(cli->opts, GG_OPT_REWARD);

    return gg_reward_parse(game, text ? text : game->info.default_reward, out, error);
}

gg_status gg_cli_saved_game(const gg_run *run, gg_game **out, gg_error *error)
{
    const char *config = gg_run_config(run);
    cJSON *root = NULL;
    gg_buf settings;

    gg_buf_init(&settings, SETTINGS_MAX);
    *out = NULL;
    gg_status status = gg_json_parse(config, strlen(config), &root, error);
    const char *name = cJSON_GetStringValue(gg_json_path(root, "config.env"));
    const cJSON *game = gg_json_path(root, "config.game");
    if (status == GG_OK && !name)
        status = gg_fail(error, GG_E_CONFIG, "%s/run.json does not tell which game was played",
                         gg_run_dir(run));
    if (status == GG_OK && game) {
        gg_buf_cjson(&settings, game);
        status = gg_buf_status(&settings, "the game's settings", error);
    }
    if (status == GG_OK)
        status = gg_game_open(name, game ? gg_buf_cstr(&settings) : NULL, out, error);
    gg_buf_free(&settings);
    cJSON_Delete(root);
    return status;
}
