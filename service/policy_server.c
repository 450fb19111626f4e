#include "service/policy_server.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/rng.h"
#include "policy/adapter.h"
#include "service/chat.h"
#include "service/hostile.h"

struct gg_policy_server {
    gg_server *http;
    gg_policy *policy;
    gg_adapter adapter;
    bool has_adapter;
    gg_chat_model model;
    gg_faults *script; /* NULL = well behaved */
    uint64_t seed;
    atomic_llong unseeded; /* requests without a seed so far: each gets its own */
    char *url;
};

static void send_reply(gg_exchange *exchange, gg_chat_reply *reply)
{
    gg_exchange_reply(exchange, reply->status, reply->content_type, NULL, gg_buf_cstr(&reply->body),
                      reply->body.len);
}

/* "default" and the policy's own name are known; anything else is a mistake worth telling. */
static bool known_model(const gg_policy_server *server, const char *body, size_t len)
{
    gg_json_reader reader = gg_json_reader_make(body, len);
    gg_json_name name;
    if (!gg_read_object(&reader))
        return true;
    while (gg_read_name(&reader, &name)) {
        gg_json_name value;
        if (!gg_read_raw(&reader, &value))
            return true;
        if (!gg_name_is(name, "model"))
            continue;
        size_t own = strlen(server->model.name);
        bool quoted = value.len >= 2 && value.bytes[0] == '"';
        return !quoted || (value.len == 9 && !memcmp(value.bytes, "\"default\"", 9)) ||
               (value.len == own + 2 && !memcmp(value.bytes + 1, server->model.name, own));
    }
    return true;
}

static void chat(gg_policy_server *server, gg_exchange *exchange,
                 const gg_exchange_request *request)
{
    gg_chat_reply reply;
    int64_t index = atomic_fetch_add(&server->unseeded, 1);
    uint64_t seed = gg_derive_seed(server->seed, "unseeded", index);
    bool known = known_model(server, request->body, request->body_len);
    if (known && server->script) {
        gg_hostile_answer(server->script, &server->model, seed, exchange, request);
        return;
    }
    gg_chat_reply_init(&reply);
    if (known) {
        gg_chat_answer(&server->model, request->body, request->body_len, seed, &reply);
    } else {
        char text[160];
        snprintf(text, sizeof text, "no such model here; this server has '%s' (or 'default')",
                 server->model.name);
        gg_chat_refuse(&reply, 404, "invalid_request_error", "model", "model_not_found", text);
    }
    send_reply(exchange, &reply);
    gg_chat_reply_free(&reply);
}

static void models(gg_policy_server *server, gg_exchange *exchange,
                   const gg_exchange_request *request)
{
    gg_buf out;
    (void)request;
    gg_buf_init(&out, GG_CHAT_REPLY_MAX);
    gg_chat_models(&server->model.name, 1, &out);
    gg_exchange_reply_json(exchange, 200, gg_buf_cstr(&out));
    gg_buf_free(&out);
}

static void health(gg_policy_server *server, gg_exchange *exchange,
                   const gg_exchange_request *request)
{
    (void)server;
    (void)request;
    gg_exchange_reply_json(exchange, 200, "{\"status\":\"ok\"}");
}

static const struct route {
    const char *method, *path;
    void (*handle)(gg_policy_server *, gg_exchange *, const gg_exchange_request *);
} routes[] = {
    {"POST", "/v1/chat/completions", chat},
    {"GET", "/v1/models", models},
    {"GET", "/health", health},
};

static void handle(void *context, gg_exchange *exchange, const gg_exchange_request *request)
{
    bool path_known = false;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (strcmp(routes[i].path, request->path) != 0)
            continue;
        path_known = true;
        if (!strcmp(routes[i].method, request->method)) {
            routes[i].handle(context, exchange, request);
            return;
        }
    }
    gg_chat_reply reply;
    gg_chat_reply_init(&reply);
    if (path_known)
        gg_chat_refuse(&reply, 405, "invalid_request_error", NULL, NULL,
                       "this path takes another method");
    else
        gg_chat_refuse(
            &reply, 404, "invalid_request_error", NULL, NULL,
            "no such path; the base URL ends in /v1 and chat is POST /v1/chat/completions");
    send_reply(exchange, &reply);
    gg_chat_reply_free(&reply);
}

static gg_status load_adapter(gg_policy_server *server, const char *path, gg_error *error)
{
    gg_status status = gg_adapter_read(path, server->policy, &server->adapter, error);
    if (status != GG_OK)
        return status;
    server->has_adapter = true;
    server->model.weights = &server->adapter.weights;
    server->model.scale = gg_adapter_scale(server->adapter.rank, server->adapter.alpha);
    return GG_OK;
}

static gg_status load_shipped_script(gg_faults **out, gg_error *error)
{
    gg_buf path;
    gg_buf_init(&path, GG_FILE_MAX);
    gg_status status = gg_data_path(GG_HOSTILE_SCRIPT, &path, error);
    if (status == GG_OK)
        status = gg_faults_load(gg_buf_cstr(&path), out, error);
    gg_buf_free(&path);
    return status;
}

static gg_status open_policy(gg_policy_server *server, const gg_policy_server_options *options,
                             gg_error *error)
{
    const char *name = options->policy;
    bool hostile = !strcmp(name, GG_HOSTILE);
    gg_status status = options->faults ? gg_faults_load(options->faults, &server->script, error)
                       : hostile       ? load_shipped_script(&server->script, error)
                                       : GG_OK;
    if (status != GG_OK)
        return status;
    if (hostile) {
        name = gg_faults_policy(server->script);
        name = name ? name : GG_HOSTILE_POLICY;
    }
    return gg_policy_open(name, options->settings, &server->policy, error);
}

static gg_status start(gg_policy_server *server, const gg_policy_server_options *options,
                       gg_error *error)
{
    gg_status status = open_policy(server, options, error);
    if (status != GG_OK)
        return status;
    server->seed = options->seed;
    server->model.policy = server->policy;
    server->model.name = gg_policy_name(server->policy);
    if (options->adapter && (status = load_adapter(server, options->adapter, error)) != GG_OK)
        return status;
    gg_server_options http = {.listen = options->listen,
                              .threads = options->threads,
                              .handler = handle,
                              .context = server};
    if ((status = gg_server_start(&http, &server->http, error)) != GG_OK)
        return status;
    gg_buf url;
    gg_buf_init(&url, GG_FILE_MAX);
    gg_buf_printf(&url, "%s/v1", gg_server_url(server->http));
    server->url = gg_buf_take(&url);
    return server->url ? GG_OK
                       : gg_fail(error, GG_E_MEMORY, "out of memory starting the policy server");
}

gg_status gg_policy_server_start(const gg_policy_server_options *options, gg_policy_server **out,
                                 gg_error *error)
{
    gg_policy_server *server = calloc(1, sizeof *server);
    *out = NULL;
    if (!server)
        return gg_fail(error, GG_E_MEMORY, "out of memory starting the policy server");
    gg_status status = start(server, options, error);
    if (status == GG_OK)
        *out = server;
    else
        gg_policy_server_stop(server);
    return status;
}

void gg_policy_server_stop(gg_policy_server *server)
{
    if (!server)
        return;
    gg_server_stop(server->http); /* takes NULL; no request is being answered after it */
    if (server->has_adapter)
        gg_adapter_free(&server->adapter);
    gg_policy_close(server->policy);
    gg_faults_free(server->script);
    free(server->url);
    free(server);
}

const char *gg_policy_server_url(const gg_policy_server *server)
{
    return server->url;
}

const char *gg_policy_server_model(const gg_policy_server *server)
{
    return server->model.name;
}
