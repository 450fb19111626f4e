/* guessgym probe: asking (cli/probe.h). */
#include "cli/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/drive.h"
#include "cli/game.h"
#include "cli/plan.h"
#include "cli/term.h"
#include "core/json.h"

#define BODY_MAX      (16u << 20)
#define PATH          "/chat/completions"
#define NO_EFFORT     "no-such-effort"
#define STREAM_TOKENS 16
#define MS_OF_SECONDS 1000

static gg_status no_memory(gg_error *error)
{
    return gg_fail(error, GG_E_MEMORY, "out of memory for a probe");
}

/* ---- one request ---- */

/* Where a base address's query stays behind the path. */
static void join(const char *base, const char *path, char *out, size_t room)
{
    int len = (int)strcspn(base, "?");
    snprintf(out, room, "%.*s%s%s", len, base, path, base + len);
}

static void keep_reply(gg_shot *shot, const gg_http_reply *reply)
{
    shot->transport = reply->transport;
    shot->status = reply->status;
    shot->ms = reply->elapsed_ms;
    shot->received = reply->len;
    snprintf(shot->type, sizeof shot->type, "%.*s", (int)strcspn(reply->content_type, ";"),
             reply->content_type);
    gg_buf_init(&shot->body, BODY_MAX);
    gg_buf_add(&shot->body, reply->body, reply->len);
    if (reply->location)
        snprintf(shot->message, sizeof shot->message, "it redirects to %s", reply->location);
}

/* GET, or POST where there is a body. `judge` looks into a 2xx reply. */
static gg_status shoot(const gg_probe *p, const char *path, const cJSON *body, gg_reply *judge,
                       gg_shot *shot, gg_error *error)
{
    gg_http_reply reply = {0};
    gg_buf text, storage, message;

    *shot = (gg_shot){.made = true};
    join(p->player.url, path, shot->url, sizeof shot->url);
    gg_buf_init(&text, BODY_MAX);
    gg_buf_init(&storage, BODY_MAX);
    gg_buf_init(&message, GG_PROBE_TEXT - 1);
    if (body)
        gg_buf_cjson(&text, body);
    const gg_http_request request = {
        .method = body ? "POST" : "GET",
        .url = shot->url,
        .headers = p->player.headers,
        .body = body ? gg_buf_cstr(&text) : NULL,
        .body_len = text.len,
        .timeout_ms = (int64_t)(gg_opt_real(p->cli->opts, GG_OPT_TIMEOUT) * MS_OF_SECONDS),
        .reply_max = BODY_MAX};
    shot->sent = text.len;
    gg_status status = gg_buf_status(&text, "a request", error);
    if (status == GG_OK)
        status = gg_http_call(&request, &storage, &reply, error);
    if (status == GG_OK) {
        keep_reply(shot, &reply);
        bool good = reply.transport == GG_TRANSPORT_OK && reply.status / 100 == 2;
        shot->outcome = good && judge ? gg_reply_judge(judge, &reply, &message)
                                      : gg_retry_classify(&reply, &message);
        if (!*shot->message)
            snprintf(shot->message, sizeof shot->message, "%s", gg_buf_cstr(&message));
    }
    gg_buf_free(&text);
    gg_buf_free(&storage);
    gg_buf_free(&message);
    return status;
}

static bool is_dead(const gg_shot *shot)
{
    return shot->transport == GG_TRANSPORT_RESOLVE || shot->transport == GG_TRANSPORT_CONNECT ||
           shot->transport == GG_TRANSPORT_TLS;
}

/* ---- the address and the model ---- */

/* The list of models, when that is what came. */
static cJSON *read_list(const gg_shot *shot)
{
    cJSON *root = NULL;

    if (shot->status != 200 ||
        gg_json_parse(gg_buf_cstr(&shot->body), shot->body.len, &root, NULL) != GG_OK)
        return NULL;
    if (cJSON_IsArray(gg_json_get(root, "data")))
        return root;
    cJSON_Delete(root);
    return NULL;
}

static gg_status note_models(gg_probe *p, const cJSON *root, gg_error *error)
{
    const char *wanted = gg_opt_text(p->cli->opts, GG_OPT_MODEL), *first = NULL;
    const cJSON *item, *data = gg_json_get(root, "data");
    size_t used = 0;

    p->model_listed = !data || !wanted;
    cJSON_ArrayForEach(item, data)
    {
        const char *id = gg_json_text(item, "id"), *owner = gg_json_text(item, "owned_by");
        if (!id)
            continue;
        if (!first && owner)
            snprintf(p->player.owner, sizeof p->player.owner, "%s", owner);
        first = first ? first : id;
        p->model_listed = p->model_listed || strcmp(id, wanted) == 0;
        if (p->model_count++ < GG_PROBE_MODELS && used < sizeof p->models)
            used += (size_t)snprintf(p->models + used, sizeof p->models - used, "%s%s",
                                     used ? ", " : "", id);
    }
    p->player.model = strdup(wanted ? wanted : first ? first : "default");
    return p->player.model ? GG_OK : no_memory(error);
}

/* Whether something else than the API answered: another program's page, or nothing at that path. */
static bool is_elsewhere(const gg_shot *shot)
{
    bool odd = shot->status == 404 || shot->status == 405 || shot->status / 100 == 3 ||
               shot->outcome == GG_RETRY_BAD_REPLY || strstr(shot->type, "html");

    return shot->transport == GG_TRANSPORT_OK && odd && !strstr(shot->message, "model");
}

static gg_status try_address(gg_probe *p, const gg_base_url *address, cJSON **list, gg_error *error)
{
    gg_player_close(&p->player);
    gg_buf_free(&p->list.body);
    gg_status status = gg_player_address(p->cli, address->url, &p->player, error);
    if (status == GG_OK)
        status = shoot(p, "/models", NULL, NULL, &p->list, error);
    *list = status == GG_OK ? read_list(&p->list) : NULL;
    return status;
}

/* The first address that lists models, else the given one: some servers have no list. */
static gg_status find_address(gg_probe *p, gg_error *error)
{
    gg_base_url tries[GG_BASE_URL_TRIES];
    size_t count = gg_base_url_tries(p->given, tries), at = 0;
    cJSON *list = NULL;
    gg_status status = GG_OK;

    if (count == 0)
        return gg_fail(error, GG_E_CONFIG, "--endpoint: the address is too long");
    do
        status = try_address(p, &tries[at], &list, error);
    while (status == GG_OK && !list && !is_dead(&p->list) && ++at < count);
    if (status == GG_OK && is_dead(&p->list))
        status = gg_fail(error, GG_E_UNREACHABLE, "cannot reach %s: %s; is the server running?",
                         tries[at].url, p->list.message);
    if (status == GG_OK && !list && at)
        status = try_address(p, &tries[at = 0], &list, error);
    if (status == GG_OK) {
        p->url_fault = tries[at].fault;
        snprintf(p->mended, sizeof p->mended, "%s", tries[at].url);
        status = note_models(p, list, error);
    }
    cJSON_Delete(list);
    return status;
}

static gg_status find_player(gg_probe *p, gg_error *error)
{
    const char *endpoint = gg_opt_text(p->cli->opts, GG_OPT_ENDPOINT);

    if (endpoint && strncmp(endpoint, "builtin:", 8) != 0) {
        p->given = endpoint;
        return find_address(p, error);
    }
    p->model_listed = true;
    gg_status status = gg_player_open(p->cli, p->game, &p->player, error);
    return status == GG_OK ? shoot(p, "/models", NULL, NULL, &p->list, error) : status;
}

/* ---- the first request of a run ---- */

/* A play that has been opened, and its first request's body. */
typedef struct opened {
    gg_stage *stage;
    gg_actor *actor;
    gg_tasks tasks;
} opened;

static void close_play(opened *o)
{
    gg_actor_free(o->actor);
    gg_stage_free(o->stage);
    *o = (opened){.tasks = o->tasks};
}

static gg_status open_play(gg_probe *p, opened *o, gg_error *error)
{
    const gg_stage_options options = {.game = p->game,
                                      .reward = p->reward,
                                      .ask = &p->ask,
                                      .endpoint = p->player.shown,
                                      .id_prefix = "s",
                                      .seed = (uint64_t)gg_opt_int(p->cli->opts, GG_OPT_SEED),
                                      .weight_version = -1};
    const gg_planned planned = {.task = o->tasks.items};
    char started[GG_STARTED_ROOM];
    gg_buf text;

    gg_drive_clock(started);
    gg_buf_init(&text, BODY_MAX);
    gg_status status = gg_stage_new(&options, &o->stage, error);
    if (status == GG_OK)
        status = gg_actor_new(o->stage, &planned, started, &o->actor, error);
    if (status == GG_OK)
        status = gg_actor_request(o->actor, &text, error);
    cJSON_Delete(p->body);
    p->body = NULL;
    if (status == GG_OK)
        status = gg_json_parse(gg_buf_cstr(&text), text.len, &p->body, error);
    gg_buf_free(&text);
    return status;
}

/* Fields that endpoints refuse, and what leaves them out. Those that are part of others' names come
 * later. */
static const gg_refused fields[] = {
    {"return_prompt_token_ids", "--token-ids off"},
    {"return_token_ids", "--token-ids off"},
    {"return_meta_info", "--token-ids off"},
    {"logprobs", "--token-ids off"},
    {"reasoning_effort", "--effort-in off"},
    {"max_tokens", "--max-tokens-field max_completion_tokens"},
    {"temperature", "--drop-field temperature"},
    {"top_p", "--drop-field top_p"},
    {"seed", "--send-seed off"},
    {"tool", ""},
};

/* Leaves out the field that a refusal names. False when there is none that could be. */
static bool leave_out(gg_probe *p)
{
    bool refused = p->chat.outcome == GG_RETRY_REFUSED;

    for (size_t i = 0; refused && i < sizeof fields / sizeof *fields; i++) {
        const char *name = strcmp(fields[i].field, "tool") == 0 ? "tools" : fields[i].field;
        if (!strstr(p->chat.message, fields[i].field) ||
            !cJSON_GetObjectItemCaseSensitive(p->body, name) || p->refused_count == GG_PROBE_FIELDS)
            continue;
        p->refused[p->refused_count] = (gg_refused){name, fields[i].flags};
        if (strcmp(name, "max_tokens") == 0) {
            bool renamed = strstr(p->chat.message, "max_completion_tokens");
            p->ask.max_tokens_key = renamed ? "max_completion_tokens" : p->ask.max_tokens_key;
            p->refused[p->refused_count].flags = renamed ? fields[i].flags : "";
        }
        p->refused_count++;
        size_t len = strlen(p->drop);
        snprintf(p->drop + len, sizeof p->drop - len, "%s%s", len ? "\n" : "", name);
        p->ask.drop = p->drop;
        return true;
    }
    return false;
}

/* The calls of the reply are answered by the game; the record then tells all. */
static gg_status play_reply(gg_probe *p, opened *o, gg_error *error)
{
    const gg_attempt attempt = {p->chat.status, "ok", 0};
    const gg_exchange_log log = {&attempt, 1, p->chat.ms};
    gg_status status = gg_actor_reply(o->actor, &p->reply, &log, error);

    while (status == GG_OK && gg_actor_wants(o->actor) == GG_WANT_CALL) {
        gg_job job;
        gg_actor_job(o->actor, &job);
        gg_job_run(&job);
        status = gg_actor_did(o->actor, &job, error);
    }
    return status == GG_OK ? gg_actor_finish(o->actor, p->chat.ms, &p->episode, error) : status;
}

static gg_status ask_first(gg_probe *p, gg_error *error)
{
    opened o = {0};
    gg_status status = gg_cli_tasks(p->cli, p->game, "test", &o.tasks, error);
    bool again = status == GG_OK;

    while (again) {
        gg_buf_free(&p->chat.body);
        status = open_play(p, &o, error);
        if (status == GG_OK)
            status = shoot(p, PATH, p->body, &p->reply, &p->chat, error);
        again = status == GG_OK && p->chat.outcome != GG_RETRY_OK && leave_out(p);
        if (status == GG_OK && p->chat.outcome == GG_RETRY_OK)
            status = play_reply(p, &o, error);
        close_play(&o);
    }
    gg_tasks_free(&o.tasks);
    return status;
}

static gg_status use_address(gg_probe *p, const gg_base_url *address, gg_error *error)
{
    char *model = p->player.model; /* the ask points to it */

    p->player.model = NULL;
    gg_player_close(&p->player);
    gg_status status = gg_player_address(p->cli, address->url, &p->player, error);
    p->player.model = model;
    p->url_fault = address->fault;
    snprintf(p->mended, sizeof p->mended, "%s", address->url);
    return status;
}

/* An address without a list of models may still be wrong: the next ones are tried with the request
 * itself. */
static gg_status ask_elsewhere(gg_probe *p, gg_error *error)
{
    gg_base_url tries[GG_BASE_URL_TRIES];
    size_t count = p->given && is_elsewhere(&p->chat) ? gg_base_url_tries(p->given, tries) : 0;
    gg_status status = GG_OK;
    bool found = false;

    for (size_t i = 1; i < count && status == GG_OK && !found; i++) {
        gg_shot shot = {0};
        status = use_address(p, &tries[i], error);
        if (status == GG_OK)
            status = shoot(p, PATH, p->body, &p->reply, &shot, error);
        gg_buf_free(&shot.body);
        found = status == GG_OK && !is_elsewhere(&shot);
    }
    if (found)
        return ask_first(p, error);
    return count && status == GG_OK ? use_address(p, &tries[0], error) : status;
}

/* ---- variations of it ---- */

/* A copy of the first request, without the extras that a feature is not asked for by. */
static cJSON *vary(const gg_probe *p)
{
    static const char *const extras[] = {"logprobs", "return_token_ids", "return_prompt_token_ids",
                                         "return_meta_info"};
    cJSON *body = cJSON_Duplicate(p->body, true);

    for (size_t i = 0; body && i < sizeof extras / sizeof *extras; i++)
        cJSON_DeleteItemFromObjectCaseSensitive(body, extras[i]);
    return body;
}

static void set(cJSON *body, const char *name, cJSON *value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(body, name);
    cJSON_AddItemToObject(body, name, value);
}

static gg_status ask_without_tools(gg_probe *p, gg_error *error)
{
    static const char *const gone[] = {"tools", "tool_choice", "parallel_tool_calls"};
    cJSON *body = vary(p);
    gg_reply reply;

    if (!body)
        return no_memory(error);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        cJSON_DeleteItemFromObjectCaseSensitive(body, gone[i]);
    set(body, p->ask.max_tokens_key, cJSON_CreateNumber(1));
    gg_reply_init(&reply);
    gg_status status = shoot(p, PATH, body, &reply, &p->plain, error);
    p->plain_tokens = GG_TOKENS_UNKNOWN;
    if (status == GG_OK && p->plain.outcome == GG_RETRY_OK)
        p->plain_tokens = reply.usage.prompt >= 0 ? reply.usage.prompt
                          : reply.prompt_count    ? (int64_t)reply.prompt_count
                                                  : GG_TOKENS_UNKNOWN;
    gg_reply_free(&reply);
    cJSON_Delete(body);
    return status;
}

static gg_status ask_strange_effort(gg_probe *p, gg_error *error)
{
    cJSON *body = vary(p);
    gg_reply reply;

    if (!body)
        return no_memory(error);
    set(body, "reasoning_effort", cJSON_CreateString(NO_EFFORT));
    set(body, p->ask.max_tokens_key, cJSON_CreateNumber(1));
    gg_reply_init(&reply);
    gg_status status = shoot(p, PATH, body, &reply, &p->effort, error);
    gg_reply_free(&reply);
    cJSON_Delete(body);
    return status;
}

/* Counts chunks and looks for a count of tokens among them. */
static void read_stream(gg_probe *p)
{
    const char *at = gg_buf_cstr(&p->stream.body);

    for (const char *line = at; *line; line = at) {
        size_t len = strcspn(line, "\r\n");
        at = line + len + strspn(line + len, "\r\n");
        if (len < 6 || memcmp(line, "data:", 5) != 0)
            continue;
        size_t blank = line[5] == ' ';
        const char *data = line + 5 + blank;
        cJSON *chunk = NULL;
        len -= 5 + blank;
        if (len >= 6 && memcmp(data, "[DONE]", 6) == 0)
            p->stream_ended = true;
        else if (gg_json_parse(data, len, &chunk, NULL) == GG_OK) {
            p->chunks += cJSON_IsArray(gg_json_get(chunk, "choices")) ? 1 : 0;
            p->stream_usage = p->stream_usage || cJSON_IsObject(gg_json_get(chunk, "usage"));
        }
        cJSON_Delete(chunk);
    }
}

static gg_status ask_stream(gg_probe *p, gg_error *error)
{
    cJSON *body = vary(p), *options = cJSON_CreateObject();

    if (!body || !options) {
        cJSON_Delete(body);
        cJSON_Delete(options);
        return no_memory(error);
    }
    cJSON_AddItemToObject(options, "include_usage", cJSON_CreateTrue());
    set(body, "stream", cJSON_CreateTrue());
    set(body, "stream_options", options);
    set(body, p->ask.max_tokens_key, cJSON_CreateNumber(STREAM_TOKENS));
    gg_status status = shoot(p, PATH, body, NULL, &p->stream, error);
    if (status == GG_OK && p->stream.outcome == GG_RETRY_OK)
        read_stream(p);
    cJSON_Delete(body);
    return status;
}

/* ---- the command ---- */

static gg_status ask_all(gg_probe *p, gg_error *error)
{
    char effort[32] = "";
    bool any = gg_opt_item(p->cli->opts, GG_OPT_EFFORT, 0, effort, sizeof effort);
    char *sent = any ? strdup(effort) : NULL;

    p->ask = gg_plan_ask(p->cli, &p->player, sent, NULL);
    if (!gg_opt_given(p->cli->opts, GG_OPT_MAX_TOKENS))
        p->ask.max_tokens = GG_PROBE_TOKENS;
    gg_status status = ask_first(p, error);
    if (status == GG_OK)
        status = ask_elsewhere(p, error);
    bool good = status == GG_OK && p->chat.outcome == GG_RETRY_OK;
    if (good)
        status = ask_without_tools(p, error);
    if (good && status == GG_OK)
        status = ask_strange_effort(p, error);
    if (good && status == GG_OK)
        status = ask_stream(p, error);
    p->ask.effort = NULL;
    free(sent);
    return status;
}

static void close_probe(gg_probe *p)
{
    gg_shot *shots[] = {&p->list, &p->chat, &p->plain, &p->stream, &p->effort};

    for (size_t i = 0; i < sizeof shots / sizeof *shots; i++)
        gg_buf_free(&shots[i]->body);
    gg_buf_free(&p->flags);
    cJSON_Delete(p->body);
    gg_episode_free(p->episode);
    gg_reply_free(&p->reply);
    gg_player_close(&p->player);
    gg_reward_free(p->reward);
    gg_game_close(p->game);
}

static gg_exit conclude(gg_probe *p)
{
    gg_buf out;

    gg_probe_look(p);
    gg_buf_init(&out, BODY_MAX);
    if (gg_opt_flag(p->cli->opts, GG_OPT_JSON))
        gg_probe_json(p, &out);
    else
        gg_probe_tell(p, &out);
    gg_print(&out);
    gg_buf_free(&out);
    return p->chat.outcome == GG_RETRY_OK ? GG_EXIT_OK : GG_EXIT_UNREACHABLE;
}

gg_exit gg_cmd_probe(gg_cli *cli)
{
    gg_probe p = {.cli = cli, .plain_tokens = GG_TOKENS_UNKNOWN};
    gg_error error = {0};

    gg_reply_init(&p.reply);
    gg_buf_init(&p.flags, BODY_MAX);
    gg_status status = gg_cli_game(cli, gg_opt_text(cli->opts, GG_OPT_ENV), &p.game, &error);
    if (status == GG_OK)
        status = gg_reward_parse(p.game, p.game->info.default_reward, &p.reward, &error);
    if (status == GG_OK)
        status = find_player(&p, &error);
    if (status == GG_OK)
        status = ask_all(&p, &error);
    gg_exit code = status == GG_OK ? conclude(&p) : gg_give_up(GG_STARTING, &error);
    close_probe(&p);
    return code;
}
