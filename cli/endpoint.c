#include "cli/endpoint.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/digest.h"
#include "core/file.h"
#include "core/json.h"
#include "net/http.h"

#define BUILTIN      "builtin:"
#define KEY_MAX      8192
#define PROBE_MS     10000
#define MODELS_MAX   (4u << 20)
#define MODELS_SHOWN 5
#define LIST_ROOM    400
#define THREADS_MAX  16

static gg_status no_memory(gg_error *error)
{
    return gg_fail(error, GG_E_MEMORY, "out of memory for the endpoint");
}

static unsigned core_count(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > THREADS_MAX ? THREADS_MAX : (unsigned)cores;
}

static gg_status digest_adapter(const char *path, gg_player *p, gg_error *error)
{
    gg_buf bytes;

    gg_buf_init(&bytes, GG_FILE_MAX);
    gg_status status = gg_file_read(path, &bytes, error);
    if (status == GG_OK)
        gg_sha256_hex(gg_buf_cstr(&bytes), bytes.len, p->adapter_sha256);
    gg_buf_free(&bytes);
    return status;
}

static gg_status start_builtin(const gg_cli *cli, const gg_game *game, const char *name,
                               gg_player *p, gg_error *error)
{
    const char *model = gg_opt_text(cli->opts, GG_OPT_MODEL);
    const gg_policy_server_options options = {
        .listen = "127.0.0.1:0",
        .policy = name,
        .settings = game->config,
        .adapter = gg_opt_text(cli->opts, GG_OPT_ADAPTER),
        .faults = gg_opt_text(cli->opts, GG_OPT_FAULTS),
        .seed = (uint64_t)gg_opt_int(cli->opts, GG_OPT_SEED),
        .threads = core_count(),
    };
    gg_status status = options.adapter ? digest_adapter(options.adapter, p, error) : GG_OK;

    if (status == GG_OK)
        status = gg_policy_server_start(&options, &p->server, error);
    if (status != GG_OK)
        return status;
    p->url = strdup(gg_policy_server_url(p->server));
    p->model = strdup(model ? model : gg_policy_server_model(p->server));
    return p->url && p->model ? GG_OK : no_memory(error);
}

/* ---- an address of the user's ---- */

static gg_status check_address(const gg_cli *cli, const char *url, gg_error *error)
{
    const char *host = strstr(url, "://");
    bool http = strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;

    if (!http || !host[3])
        return gg_fail(error, GG_E_CONFIG,
                       "--endpoint: \"%s\" is neither " BUILTIN "NAME nor an address such as "
                       "http://127.0.0.1:8000/v1",
                       url);
    if (memchr(host + 3, '@', strcspn(host + 3, "/?#")))
        return gg_fail(error, GG_E_CONFIG,
                       "--endpoint: the address holds a user name; keys go into GUESSGYM_API_KEY "
                       "or --api-key-file");
    if (strstr(host, "/chat/completions"))
        return gg_fail(error, GG_E_CONFIG,
                       "--endpoint: give the base address, without /chat/completions");
    if (gg_opt_text(cli->opts, GG_OPT_FAULTS))
        return gg_fail(error, GG_E_CONFIG,
                       "--faults works with embedded policies (builtin:NAME) only; to put faults "
                       "behind an address use guessgym serve policy --faults FILE");
    if (gg_opt_text(cli->opts, GG_OPT_ADAPTER))
        return gg_fail(error, GG_E_CONFIG,
                       "--adapter works with embedded policies (builtin:NAME) only; a server loads "
                       "its own");
    return GG_OK;
}

static gg_status read_key_file(const char *path, gg_buf *key, gg_error *error)
{
    gg_status status = gg_file_read(path, key, error);
    size_t len = key->len;

    while (len > 0 && isspace((unsigned char)key->data[len - 1]))
        len--;
    gg_buf_truncate(key, len);
    if (status == GG_OK && len == 0)
        status = gg_fail(error, GG_E_CONFIG, "%s holds no key", path);
    return status;
}

static gg_status read_key(const gg_cli *cli, gg_buf *key, gg_error *error)
{
    const char *path = gg_opt_text(cli->opts, GG_OPT_API_KEY_FILE);
    const char *value = getenv("GUESSGYM_API_KEY");

    if (path)
        return read_key_file(path, key, error);
    if (!value || !*value)
        value = getenv("OPENAI_API_KEY");
    gg_buf_str(key, value ? value : "");
    return gg_buf_status(key, "the endpoint's key", error);
}

static gg_status authorize(const gg_cli *cli, gg_player *p, gg_error *error)
{
    gg_buf key, line;

    gg_buf_init(&key, KEY_MAX);
    gg_buf_init(&line, KEY_MAX + 64);
    gg_status status = read_key(cli, &key, error);
    for (size_t i = 0; status == GG_OK && i < key.len; i++)
        if (iscntrl((unsigned char)key.data[i]))
            status = gg_fail(error, GG_E_CONFIG, "the endpoint's key holds a control character");
    if (status == GG_OK && key.len > 0) {
        gg_buf_printf(&line, "Authorization: Bearer %s", gg_buf_cstr(&key));
        p->headers[0] = p->authorization = gg_buf_take(&line);
        status = p->authorization ? GG_OK : no_memory(error);
    }
    gg_buf_free(&key);
    gg_buf_free(&line);
    return status;
}

/* The model asked for, else the only one of the list; several are the user's choice, none or no
 * list is "default". */
static gg_status pick_model(gg_player *p, const gg_http_reply *reply, const char *wanted,
                            gg_error *error)
{
    cJSON *root = NULL;
    gg_status status = GG_OK;

    if (reply->transport == GG_TRANSPORT_OK && reply->status == 200)
        (void)gg_json_parse(reply->body, reply->len, &root, NULL);
    const cJSON *data = gg_json_get(root, "data");
    int count = cJSON_GetArraySize(data);
    const char *owner = gg_json_text(cJSON_GetArrayItem(data, 0), "owned_by");
    snprintf(p->owner, sizeof p->owner, "%s", owner ? owner : "");
    if (count > 1 && !wanted) {
        gg_buf names;
        gg_buf_init(&names, LIST_ROOM);
        for (int i = 0; i < count && i < MODELS_SHOWN; i++) {
            const char *id = gg_json_text(cJSON_GetArrayItem(data, i), "id");
            gg_buf_printf(&names, "%s%s", i ? ", " : "", id ? id : "?");
        }
        status = gg_fail(error, GG_E_CONFIG, "%s serves %d models; choose one with --model: %s%s",
                         p->url, count, gg_buf_cstr(&names), count > MODELS_SHOWN ? " ..." : "");
        gg_buf_free(&names);
    } else {
        const char *only = gg_json_text(cJSON_GetArrayItem(data, 0), "id");
        p->model = strdup(wanted ? wanted : only ? only : "default");
        status = p->model ? GG_OK : no_memory(error);
    }
    cJSON_Delete(root);
    return status;
}

static bool is_dead(gg_transport transport)
{
    return transport == GG_TRANSPORT_RESOLVE || transport == GG_TRANSPORT_CONNECT ||
           transport == GG_TRANSPORT_TLS;
}

/* GET /models. Only an address that cannot be reached at all is an error: many servers lack the
 * path, and what else may be wrong shows with the first real request. */
static gg_status probe(const gg_cli *cli, gg_player *p, gg_error *error)
{
    const char *model = gg_opt_text(cli->opts, GG_OPT_MODEL);
    gg_buf url, storage;
    gg_http_reply reply = {0};

    gg_buf_init(&url, KEY_MAX);
    gg_buf_init(&storage, MODELS_MAX);
    gg_buf_printf(&url, "%s/models", p->url);
    const gg_http_request request = {.method = "GET",
                                     .url = gg_buf_cstr(&url),
                                     .headers = p->headers,
                                     .timeout_ms = PROBE_MS,
                                     .reply_max = MODELS_MAX};
    gg_status status = gg_buf_status(&url, "the address", error);
    if (status == GG_OK)
        status = gg_http_call(&request, &storage, &reply, error);
    if (status == GG_OK && is_dead(reply.transport))
        status = gg_fail(error, GG_E_UNREACHABLE, "cannot reach %s: %s; is the server running?",
                         p->url, reply.detail);
    if (status == GG_OK)
        status = pick_model(p, &reply, model, error);
    gg_buf_free(&url);
    gg_buf_free(&storage);
    return status;
}

static gg_status take_address(const gg_cli *cli, const char *url, gg_player *p, gg_error *error)
{
    gg_status status = check_address(cli, url, error);

    if (status != GG_OK)
        return status;
    p->url = strdup(url);
    if (!p->url)
        return no_memory(error);
    for (size_t len = strlen(p->url); len > 0 && p->url[len - 1] == '/'; len--)
        p->url[len - 1] = '\0';
    return authorize(cli, p, error);
}

static gg_status open_address(const gg_cli *cli, const char *url, gg_player *p, gg_error *error)
{
    gg_status status = take_address(cli, url, p, error);

    return status == GG_OK ? probe(cli, p, error) : status;
}

gg_status gg_player_address(const gg_cli *cli, const char *url, gg_player *out, gg_error *error)
{
    *out = (gg_player){.shown = strdup(url)};
    gg_status status = out->shown ? take_address(cli, url, out, error) : no_memory(error);

    if (status != GG_OK)
        gg_player_close(out);
    return status;
}

gg_status gg_player_open(const gg_cli *cli, const gg_game *game, gg_player *out, gg_error *error)
{
    const char *endpoint = gg_opt_text(cli->opts, GG_OPT_ENDPOINT);
    char own[128];

    *out = (gg_player){0};
    if (!endpoint && !game->info.default_policy)
        return gg_fail(error, GG_E_CONFIG,
                       "%s has no embedded policy; say who plays with --endpoint URL", game->name);
    if (!endpoint) {
        snprintf(own, sizeof own, BUILTIN "%s", game->info.default_policy);
        endpoint = own;
    }
    out->shown = strdup(endpoint);
    gg_status status = out->shown ? GG_OK : no_memory(error);
    if (status == GG_OK && strncmp(endpoint, BUILTIN, strlen(BUILTIN)) == 0)
        status = start_builtin(cli, game, endpoint + strlen(BUILTIN), out, error);
    else if (status == GG_OK)
        status = open_address(cli, endpoint, out, error);
    if (status != GG_OK)
        gg_player_close(out);
    return status;
}

void gg_player_close(gg_player *player)
{
    if (!player)
        return;
    gg_policy_server_stop(player->server);
    free(player->url);
    free(player->shown);
    free(player->model);
    free(player->authorization);
    *player = (gg_player){0};
}
