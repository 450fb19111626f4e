#include "cli/plan.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/term.h"
#include "core/file.h"

#define RUN_JSON_MAX  (16u << 20)
#define PROMPT_MAX    (1u << 20)
#define PATH_ROOM     4096
#define MS_OF_SECONDS 1000

static bool is_on(const gg_cli *cli, gg_opt_id id)
{
    return strcmp(gg_opt_text(cli->opts, id), "on") == 0;
}

/* OpenAI's own hosts refuse a field that they do not know; others pass over it. */
static unsigned ids_asked(const gg_cli *cli, const gg_player *player)
{
    static const unsigned plain = GG_IDS_LOGPROBS | GG_IDS_VLLM, every = plain | GG_IDS_SGLANG;
    bool strict =
        strstr(player->shown, ".openai.com") || strstr(player->shown, ".openai.azure.com");

    switch ((gg_switch)gg_opt_choice(cli->opts, GG_OPT_TOKEN_IDS)) {
    case GG_ON:
        return every;
    case GG_OFF:
        return 0;
    case GG_AUTO:
        break;
    }
    return strict ? 0 : strcmp(player->owner, "sglang") == 0 ? every : plain;
}

gg_ask gg_plan_ask(const gg_cli *cli, const gg_player *player, const char *effort,
                   const char *system_prompt)
{
    const gg_opts *opts = cli->opts;
    gg_ask ask = GG_ASK_DEFAULTS;

    ask.model = player->model;
    ask.effort = effort;
    ask.effort_in = (gg_effort_in)gg_opt_choice(opts, GG_OPT_EFFORT_IN);
    ask.temperature = gg_opt_real(opts, GG_OPT_TEMPERATURE);
    ask.top_p = gg_opt_real(opts, GG_OPT_TOP_P);
    ask.max_tokens = gg_opt_int(opts, GG_OPT_MAX_TOKENS);
    ask.send_seed = is_on(cli, GG_OPT_SEND_SEED);
    ask.echo_reasoning = (gg_switch)gg_opt_choice(opts, GG_OPT_ECHO_REASONING);
    ask.token_ids = ids_asked(cli, player);
    ask.drop = gg_opt_text(opts, GG_OPT_DROP_FIELD);
    ask.extra_body = gg_opt_text(opts, GG_OPT_EXTRA_BODY);
    ask.max_tokens_key = gg_opt_text(opts, GG_OPT_MAX_TOKENS_FIELD);
    ask.stream = gg_opt_flag(opts, GG_OPT_STREAM);
    ask.train_constrained = gg_opt_flag(opts, GG_OPT_TRAIN_CONSTRAINED);
    ask.nudges = (int)gg_opt_int(opts, GG_OPT_NUDGES);
    ask.text_calls = is_on(cli, GG_OPT_TEXT_CALLS);
    ask.system_prompt = system_prompt;
    ask.episode_ms = (int64_t)(gg_opt_real(opts, GG_OPT_EPISODE_TIMEOUT) * MS_OF_SECONDS);
    return ask;
}

gg_status gg_plan_system_prompt(const gg_cli *cli, gg_buf *out, gg_error *error)
{
    const char *path = gg_opt_text(cli->opts, GG_OPT_SYSTEM_PROMPT);

    gg_buf_init(out, PROMPT_MAX);
    return path ? gg_file_read(path, out, error) : GG_OK;
}

static void member(gg_buf *out, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    gg_buf_printf(out, ",\"%s\":", name);
    gg_buf_json_str(out, value);
}

static void list(gg_buf *out, const char *name, const gg_tasks *tasks)
{
    if (tasks)
        gg_buf_printf(out, ",\"%s\":{\"count\":%zu,\"identity\":\"%s\"}", name, tasks->count,
                      tasks->identity);
}

void gg_plan_config(const gg_cli *cli, const gg_plan_facts *f, gg_buf *out)
{
    static const gg_opt_id resolved[] = {GG_OPT_ENDPOINT, GG_OPT_MODEL, GG_OPT_REWARD,
                                         GG_OPT_EFFORT};

    gg_buf_str(out, "{\"command\":");
    gg_buf_json_str(out, cli->cmd->name);
    gg_opts_write_run(cli->opts, resolved, sizeof resolved / sizeof *resolved, out);
    member(out, "endpoint", f->player->shown);
    member(out, "model", f->player->model);
    member(out, "adapter_sha256", f->player->adapter_sha256);
    member(out, "reasoning_effort", f->effort);
    member(out, "reward", gg_reward_text(f->reward));
    member(out, "system_prompt_text", f->system_prompt);
    gg_buf_str(out, ",\"game\":");
    gg_buf_str(out, f->game->config);
    list(out, "list", f->tasks);
    list(out, "val_list", f->val);
    list(out, "held_out_list", f->held_out);
    gg_buf_char(out, '}');
}

/* "http://127.0.0.1:8000/v1" says nothing in a folder's name; the model's does. */
static void add_plain(gg_buf *out, const char *text)
{
    for (; *text; text++) {
        bool plain = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
                     (*text >= '0' && *text <= '9') || *text == '.' || *text == '_';
        gg_buf_char(out, plain ? *text : '-');
    }
}

void gg_plan_folder(const gg_cli *cli, const gg_player *player, gg_buf *out)
{
    const char *dir = gg_opt_text(cli->opts, GG_OPT_OUTPUT);
    time_t now = time(NULL);
    struct tm at = {0};
    char day[32] = "";

    gg_buf_init(out, PATH_ROOM);
    if (dir) {
        gg_buf_str(out, dir);
        return;
    }
    localtime_r(&now, &at);
    strftime(day, sizeof day, "%Y%m%d-%H%M%S", &at);
    gg_buf_printf(out, "runs/%s-%s-", day, cli->cmd->name);
    add_plain(out, player->model);
    size_t len = out->len;
    for (int again = 2; access(gg_buf_cstr(out), F_OK) == 0 && out->status == GG_OK; again++) {
        gg_buf_truncate(out, len);
        gg_buf_printf(out, "-%d", again);
    }
}

static gg_status read_run_json(const gg_cli *cli, const char *dir, const char *sub, bool *found,
                               gg_error *error)
{
    gg_buf path, text;
    gg_status status = GG_OK;

    gg_buf_init(&path, PATH_ROOM);
    gg_buf_init(&text, RUN_JSON_MAX);
    gg_buf_printf(&path, "%s/%s%srun.json", dir, sub, *sub ? "/" : "");
    *found = access(gg_buf_cstr(&path), F_OK) == 0;
    if (*found)
        status = gg_file_read(gg_buf_cstr(&path), &text, error);
    if (*found && status == GG_OK)
        status = gg_opts_read_json(cli->opts, gg_buf_cstr(&text), text.len, GG_FROM_RUN,
                                   gg_buf_cstr(&path), error);
    gg_buf_free(&path);
    gg_buf_free(&text);
    return status;
}

gg_status gg_plan_resume(const gg_cli *cli, gg_error *error)
{
    const char *dir = gg_opt_text(cli->opts, GG_OPT_OUTPUT);
    char effort[32] = "";
    bool found = false;

    if (!gg_opt_flag(cli->opts, GG_OPT_RESUME))
        return GG_OK;
    if (!dir)
        return gg_fail(error, GG_E_CONFIG, "--resume needs the run's folder: --output DIR");
    gg_status status = read_run_json(cli, dir, "", &found, error);
    if (status == GG_OK && !found &&
        gg_opt_item(cli->opts, GG_OPT_EFFORT, 0, effort, sizeof effort))
        status = read_run_json(cli, dir, effort, &found, error);
    return status;
}

gg_status gg_plan_price(const gg_cli *cli, gg_price *out, gg_error *error)
{
    const char *path = gg_opt_text(cli->opts, GG_OPT_PRICES),
               *model = gg_opt_text(cli->opts, GG_OPT_PRICE_MODEL);

    return path ? gg_price_read(path, model, out, error) : gg_price_find(model, out, error);
}
