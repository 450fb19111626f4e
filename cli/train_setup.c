#include "cli/train_setup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/game.h"
#include "cli/managed.h"
#include "cli/objects.h"
#include "cli/mlflow.h"
#include "cli/plan.h"
#include "cli/term.h"
#include "core/digest.h"
#include "core/file.h"

#define PATH_ROOM  4096
#define CONFIG_MAX (16u << 20)
#define ADAPTER    "adapter.json"
#define BUCKET     "guessgym"
#define BASE_MODEL "arn:aws:sagemaker:%s:aws:hub-content/SageMakerPublicHub/Model/"
#define LOCAL_ROLE "arn:aws:iam::" GG_SERVICE_ACCOUNT ":role/guessgym-local"
#define LOCAL_GROUP                                                                                \
    "arn:aws:sagemaker:" GG_SERVICE_REGION ":" GG_SERVICE_ACCOUNT ":model-package-group/guessgym"

/* ---- the rows ---- */

/* --held-out, else test.jsonl beside the rows, else the game's own test split. */
static gg_status load_held_out(gg_training *t, const char *rows_path, gg_error *error)
{
    const char *given = gg_opt_text(t->cli->opts, GG_OPT_HELD_OUT);
    const char *slash = strrchr(rows_path, '/');
    gg_buf beside;

    gg_buf_init(&beside, PATH_ROOM);
    gg_buf_printf(&beside, "%.*stest.jsonl", slash ? (int)(slash - rows_path + 1) : 0, rows_path);
    const char *path = given;
    if (!path && access(gg_buf_cstr(&beside), R_OK) == 0 &&
        strcmp(gg_buf_cstr(&beside), rows_path) != 0)
        path = gg_buf_cstr(&beside);
    if (!path)
        path = t->game->api->default_tasks(t->game->env, "test");
    gg_status status = gg_buf_status(&beside, "a path", error);
    if (status == GG_OK && path)
        status = gg_tasks_load(t->game, path, &t->held_out, error);
    else if (status == GG_OK)
        gg_complain("no held-out list is known: nothing keeps you from measuring on what was "
                    "trained; see --held-out");
    gg_buf_free(&beside);
    return status;
}

static gg_status load_val(gg_training *t, gg_error *error)
{
    const char *path = gg_opt_text(t->cli->opts, GG_OPT_VAL);

    if (!path)
        path = t->game->api->default_tasks(t->game->env, "val");
    return path ? gg_tasks_load(t->game, path, &t->val, error) : GG_OK;
}

static gg_status load_rows(gg_training *t, gg_error *error)
{
    const char *from = gg_opt_text(t->cli->opts, GG_OPT_FROM);

    gg_status status = from ? gg_saved_plays_read(from, &t->from, error)
                            : gg_cli_tasks(t->cli, t->game, "train", &t->rows, error);
    const gg_tasks *rows = from ? &t->from.rows : &t->rows;
    if (status == GG_OK)
        status = load_val(t, error);
    if (status == GG_OK)
        status = load_held_out(t, rows->path, error);
    if (status == GG_OK && t->held_out.count)
        status = gg_tasks_disjoint(rows, &t->held_out, error);
    if (status == GG_OK && t->val.count)
        status = gg_tasks_disjoint(rows, &t->val, error);
    return status;
}

/* ---- what was asked for ---- */

static gg_status read_keep(const gg_cli *cli, int64_t *out, gg_error *error)
{
    const char *text = gg_opt_text(cli->opts, GG_OPT_KEEP);
    char *end = NULL;

    *out = !strcmp(text, "all") ? GG_KEEP_ALL : 0;
    if (!strcmp(text, "all") || !strcmp(text, "none"))
        return GG_OK;
    if (strncmp(text, "sample:", 7) == 0)
        *out = strtoll(text + 7, &end, 10);
    if (end && end != text + 7 && !*end && *out >= 0)
        return GG_OK;
    return gg_fail(error, GG_E_CONFIG, "--keep: \"%s\" is neither all, none nor sample:N", text);
}

/* What the managed service has to be told; a service of the user's own makes do without. */
static gg_status check_session(const gg_opts *opts, gg_error *error)
{
    static const gg_opt_id needed[] = {GG_OPT_REGION, GG_OPT_BASE_MODEL, GG_OPT_ROLE,
                                       GG_OPT_JOB_OUTPUT, GG_OPT_PACKAGE_GROUP};

    for (size_t i = 0; !gg_opt_text(opts, GG_OPT_SERVICE_URL) && i < sizeof needed / sizeof *needed;
         i++)
        if (!gg_opt_text(opts, needed[i]))
            return gg_fail(error, GG_E_CONFIG,
                           "--on session needs --%s, or --service-url for a service of your own",
                           gg_opt_row(needed[i])->name);
    return GG_OK;
}

static gg_status check(const gg_training *t, gg_error *error)
{
    gg_status status = GG_OK;
    const gg_opts *opts = t->cli->opts;
    char second[16];
    bool imitation = !strcmp(gg_opt_text(opts, GG_OPT_LOSS), "cross_entropy");
    size_t rows = gg_opt_text(opts, GG_OPT_FROM) ? t->from.rows.count : t->rows.count;
    size_t batch = (size_t)gg_opt_int(opts, GG_OPT_BATCH);

    if (gg_opt_item(opts, GG_OPT_EFFORT, 1, second, sizeof second))
        return gg_fail(error, GG_E_CONFIG,
                       "--reasoning-effort: a training has one effort; train once for each");
    if (gg_opt_text(opts, GG_OPT_FROM) && !imitation)
        return gg_fail(error, GG_E_CONFIG,
                       "--from trains by imitation only: add --loss cross_entropy");
    if (strcmp(gg_opt_text(opts, GG_OPT_ON), "session") == 0)
        status = check_session(opts, error);
    if (status != GG_OK)
        return status;
    if (gg_opt_text(opts, GG_OPT_SERVICE_URL) && !gg_opt_given(opts, GG_OPT_ON))
        return gg_fail(error, GG_E_CONFIG,
                       "--service-url is for --on session: add it, or --on local to train on "
                       "this machine all the same");
    if (rows < batch)
        return gg_fail(
            error, GG_E_CONFIG,
            "%zu rows are fewer than one batch of %zu; give more rows or a smaller --batch", rows,
            batch);
    return GG_OK;
}

/* ---- the service ---- */

static gg_status start_service(gg_training *t, gg_error *error)
{
    const char *adapter = gg_opt_text(t->cli->opts, GG_OPT_ADAPTER);
    gg_buf state;

    gg_buf_init(&state, PATH_ROOM);
    gg_buf_printf(&state, "%s/service", gg_run_dir(t->run));
    const gg_service_options options = {.listen = "127.0.0.1:0",
                                        .state_dir = gg_buf_cstr(&state),
                                        .s3_root = gg_opt_text(t->cli->opts, GG_OPT_S3_ROOT),
                                        .model = t->game->info.default_policy,
                                        .settings = t->game->config,
                                        .seed = (uint64_t)gg_opt_int(t->cli->opts, GG_OPT_SEED)};
    gg_status status = gg_buf_status(&state, "a path", error);
    if (status == GG_OK)
        status = gg_service_start(&options, &t->service, error);
    if (status == GG_OK && adapter)
        status = gg_service_add_adapter(t->service, "guessgym", adapter, t->start_arn, error);
    gg_buf_free(&state);
    return status;
}

/* ---- the folders ---- */

static gg_status write_config(const gg_training *t, gg_buf *config, gg_error *error)
{
    const bool from = t->from.rows.count > 0;
    gg_player player = t->player;
    if (!player.url)
        player.shown = NULL; /* the session's own model is no --endpoint */
    const gg_plan_facts facts = {.game = t->game,
                                 .reward = t->reward,
                                 .tasks = from ? &t->from.rows : &t->rows,
                                 .player = &player,
                                 .effort = *t->effort ? t->effort : NULL,
                                 .system_prompt =
                                     t->system_prompt.len ? gg_buf_cstr(&t->system_prompt) : NULL,
                                 .val = t->val.count ? &t->val : NULL,
                                 .held_out = t->held_out.count ? &t->held_out : NULL};

    gg_plan_config(t->cli, &facts, config);
    return gg_buf_status(config, "run.json", error);
}

static gg_status open_folders(gg_training *t, gg_error *error)
{
    const bool resume = gg_opt_flag(t->cli->opts, GG_OPT_RESUME);
    gg_buf config, path;

    gg_buf_init(&config, CONFIG_MAX);
    gg_buf_init(&path, PATH_ROOM);
    gg_status status = write_config(t, &config, error);
    if (status == GG_OK)
        status = gg_run_open(gg_buf_cstr(&t->dir), gg_buf_cstr(&config), resume, &t->run, error);
    gg_buf_printf(&path, "%s/validation", gg_buf_cstr(&t->dir));
    if (status == GG_OK && t->val.count)
        status =
            gg_run_open(gg_buf_cstr(&path), gg_buf_cstr(&config), resume, &t->validation, error);
    gg_buf_free(&config);
    gg_buf_free(&path);
    return status;
}

/* ---- who plays ---- */

/* Without --endpoint the session's own model plays; records name the policy, not a loopback port.
 */
static gg_status open_player(gg_training *t, gg_error *error)
{
    const char *adapter = gg_opt_text(t->cli->opts, GG_OPT_ADAPTER);
    gg_buf bytes;

    if (gg_opt_text(t->cli->opts, GG_OPT_ENDPOINT))
        return gg_player_open(t->cli, t->game, &t->player, error);
    if (!t->game->info.default_policy)
        return gg_fail(error, GG_E_CONFIG, "%s has no embedded policy to train", t->game->name);
    t->player.shown = strdup("session");
    t->player.model = strdup("default");
    if (!t->player.shown || !t->player.model)
        return gg_fail(error, GG_E_MEMORY, "out of memory for the player's name");
    if (!adapter)
        return GG_OK;
    gg_buf_init(&bytes, GG_FILE_MAX);
    gg_status status = gg_file_read(adapter, &bytes, error);
    if (status == GG_OK)
        gg_sha256_hex(gg_buf_cstr(&bytes), bytes.len, t->player.adapter_sha256);
    gg_buf_free(&bytes);
    return status;
}

static const char *or_else(const char *given, const char *otherwise)
{
    return given ? given : otherwise;
}

/* The managed service's two hosts. */
static void name_hosts(gg_training *t)
{
    const char *region = gg_opt_text(t->cli->opts, GG_OPT_REGION);

    snprintf(t->control_url, sizeof t->control_url, GG_MANAGED_CONTROL, region ? region : "");
    snprintf(t->runtime_url, sizeof t->runtime_url, GG_MANAGED_SESSIONS, region ? region : "");
}

static gg_status fill_options(gg_training *t, gg_error *error)
{
    const gg_opts *opts = t->cli->opts;
    const char *url = gg_opt_text(opts, GG_OPT_SERVICE_URL);
    const bool from = t->from.rows.count > 0;
    gg_train_options *o = &t->options;

    name_hosts(t);
    *o = (gg_train_options){
        .run = t->run,
        .validation = t->validation,
        .game = t->game,
        .reward = t->reward,
        .ask = &t->ask,
        .rows = &t->rows,
        .val = t->val.count ? &t->val : NULL,
        .steps = gg_opt_int(opts, GG_OPT_STEPS),
        .val_every = gg_opt_int(opts, GG_OPT_VAL_EVERY),
        .batch = (size_t)gg_opt_int(opts, GG_OPT_BATCH),
        .group_size = (size_t)gg_opt_int(opts, GG_OPT_GROUP_SIZE),
        .concurrency = (size_t)gg_opt_int(opts, GG_OPT_CONCURRENCY),
        .clip = {gg_opt_real(opts, GG_OPT_CLIP_LOW), gg_opt_real(opts, GG_OPT_CLIP_HIGH)},
        .adam = GG_ADAM_DEFAULTS,
        .max_staleness = gg_opt_int(opts, GG_OPT_MAX_STALENESS),
        .seed = (uint64_t)gg_opt_int(opts, GG_OPT_SEED),
        .max_total_tokens = gg_opt_int(opts, GG_OPT_MAX_TOTAL_TOKENS),
        .max_cost = gg_opt_real(opts, GG_OPT_MAX_COST),
        .control_url = t->service ? gg_service_url(t->service)
                       : url      ? url
                                  : t->control_url,
        .runtime_url = t->service ? gg_service_url(t->service)
                       : url      ? url
                                  : t->runtime_url,
        .sign_region = t->service ? NULL : gg_managed_region(t->cli),
        .probe = !t->service,
        .policy_url = t->player.url,
        .policy_headers = t->player.headers,
        .player = t->player.shown,
        .attempts = (int)gg_opt_int(opts, GG_OPT_ATTEMPTS),
        .timeout_ms = (int64_t)(gg_opt_real(opts, GG_OPT_TIMEOUT) * 1000),
        .session_name = "guessgym",
        .role_arn = or_else(gg_opt_text(opts, GG_OPT_ROLE), LOCAL_ROLE),
        .s3_path = or_else(gg_opt_text(opts, GG_OPT_JOB_OUTPUT), "s3://" BUCKET "/out"),
        .package_group_arn = or_else(gg_opt_text(opts, GG_OPT_PACKAGE_GROUP), LOCAL_GROUP),
        .base_model_arn = gg_buf_cstr(&t->base_model),
        .start_arn = *t->start_arn ? t->start_arn : NULL,
        .from = from ? &t->from.rows : NULL,
        .from_plays = t->from.plays,
        .from_samples = t->from.samples,
    };
    o->adam.learning_rate = gg_opt_real(opts, GG_OPT_LEARNING_RATE);
    gg_status status = read_keep(t->cli, &o->keep, error);
    if (status == GG_OK)
        status = gg_plan_price(t->cli, &o->price, error);
    if (status == GG_OK)
        status = gg_advantage_parse(gg_opt_text(opts, GG_OPT_ADVANTAGE), &o->advantage, error);
    if (status == GG_OK)
        status = gg_loss_parse(gg_opt_text(opts, GG_OPT_LOSS), &o->loss, error);
    return status;
}

static gg_status open_game(gg_training *t, gg_error *error)
{
    const char *mlflow;
    gg_status status = gg_mlflow_address(t->cli, &mlflow, error);
    if (status == GG_OK)
        status = gg_plan_resume(t->cli, error);
    if (status == GG_OK)
        status = gg_plan_system_prompt(t->cli, &t->system_prompt, error);
    if (status == GG_OK)
        status = gg_cli_game(t->cli, gg_opt_text(t->cli->opts, GG_OPT_ENV), &t->game, error);
    if (status == GG_OK)
        status = gg_cli_reward(t->cli, t->game, &t->reward, error);
    if (status == GG_OK)
        status = load_rows(t, error);
    if (status == GG_OK)
        status = check(t, error);
    return status;
}

static void write_base_model(gg_training *t)
{
    const char *id = gg_opt_text(t->cli->opts, GG_OPT_BASE_MODEL),
               *region = gg_opt_text(t->cli->opts, GG_OPT_REGION);

    gg_buf_printf(&t->base_model, BASE_MODEL "%s", or_else(region, GG_SERVICE_REGION),
                  or_else(id, t->game->info.default_policy));
    gg_buf_str(&t->base_model, id ? "" : "/1.0.0");
}

gg_status gg_training_open(gg_cli *cli, gg_training *t, gg_error *error)
{
    *t = (gg_training){.cli = cli};
    gg_buf_init(&t->base_model, PATH_ROOM);
    gg_status status = open_game(t, error);
    if (status == GG_OK)
        status = open_player(t, error);
    if (status != GG_OK)
        return status;
    gg_opt_item(cli->opts, GG_OPT_EFFORT, 0, t->effort, sizeof t->effort);
    gg_plan_folder(cli, &t->player, &t->dir);
    t->ask = gg_plan_ask(cli, &t->player, *t->effort ? t->effort : NULL,
                         t->system_prompt.len ? gg_buf_cstr(&t->system_prompt) : NULL);
    write_base_model(t);
    status = gg_buf_status(&t->dir, "the run folder's path", error);
    if (status == GG_OK)
        status = open_folders(t, error);
    if (status == GG_OK && !strcmp(gg_opt_text(cli->opts, GG_OPT_ON), "local"))
        status = start_service(t, error);
    return status == GG_OK ? fill_options(t, error) : status;
}

void gg_training_close(gg_training *t)
{
    gg_service_stop(t->service);
    gg_run_close(t->validation);
    gg_run_close(t->run);
    gg_player_close(&t->player);
    gg_saved_plays_free(&t->from);
    gg_tasks_free(&t->held_out);
    gg_tasks_free(&t->val);
    gg_tasks_free(&t->rows);
    gg_reward_free(t->reward);
    if (!t->cli->hanging)
        gg_game_close(t->game);
    gg_buf_free(&t->dir);
    gg_buf_free(&t->system_prompt);
    gg_buf_free(&t->base_model);
}

/* The keys of the environment; a service of the user's own has files or an endpoint without. */
static const gg_aws_keys *own_keys(gg_aws_keys *keys)
{
    *keys = (gg_aws_keys){getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY"),
                          getenv("AWS_SESSION_TOKEN")};
    return keys->id && keys->secret ? keys : NULL;
}

/* A service of the user's own does not say where its s3:// lies. */
static bool is_lost(const gg_training *t)
{
    const gg_opts *opts = t->cli->opts;
    return !t->service && gg_opt_text(opts, GG_OPT_SERVICE_URL) &&
           !gg_opt_text(opts, GG_OPT_S3_ROOT) && !gg_opt_text(opts, GG_OPT_S3_ENDPOINT);
}

gg_status gg_training_fetch(gg_training *t, gg_train *train, gg_error *error)
{
    const char *region = gg_opt_text(t->cli->opts, GG_OPT_REGION);
    gg_aws_keys keys;
    gg_store *store = NULL;
    gg_buf uri, bytes;

    gg_buf_init(&uri, PATH_ROOM);
    gg_buf_init(&bytes, GG_FILE_MAX);
    gg_status status = gg_train_location(train, &uri, error);
    if (status == GG_OK && is_lost(t))
        status = gg_fail(error, GG_E_CONFIG,
                         "the weights are at %s; say with --s3-root or --s3-endpoint where that is",
                         gg_buf_cstr(&uri));
    if (status == GG_OK)
        status = gg_cli_store(t->cli, t->service ? gg_service_s3_root(t->service) : NULL,
                              or_else(region, GG_SERVICE_REGION), own_keys(&keys), &store, error);
    if (status == GG_OK)
        status = gg_cli_store_file(store, gg_buf_cstr(&uri), ADAPTER, &bytes, error);
    if (status == GG_E_IO)
        status = gg_fail(error, GG_E_CONFIG,
                         "the weights are at %s and could not be read from there; say with "
                         "--s3-root or --s3-endpoint where s3:// lies",
                         gg_buf_cstr(&uri));
    if (status == GG_OK)
        status = gg_run_write_file(t->run, ADAPTER, gg_buf_cstr(&bytes), bytes.len, error);
    gg_store_close(store);
    gg_buf_free(&uri);
    gg_buf_free(&bytes);
    return status;
}
