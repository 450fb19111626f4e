#include "report/mlflow_client.h"

#include <openssl/evp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/address.h"
#include "net/http.h"

#define NS_OF_MS    1000000u
#define URL_MAX     (16u << 10)
#define HEADER_MAX  (16u << 10)
#define HEADERS     8
#define TOLD_MAX    300 /* bytes of a server's own words that are repeated */
#define MESSAGE_MAX 4096

struct gg_mlflow_client {
    gg_address address;
    gg_secrets secrets;
    gg_buf authorization, url, reply;
    uv_loop_t loop;
    bool looping;
    gg_http *http;
    atomic_ullong until;
    /* of the request under way */
    bool done;
    gg_transport transport;
    int status;
    char detail[TOLD_MAX];
    cJSON *json;
};

/* ---- opening ---- */

static gg_status add_basic(gg_buf *out, const char *user, const char *password, gg_error *error)
{
    gg_buf plain;
    gg_buf_init(&plain, HEADER_MAX / 2);
    gg_buf_printf(&plain, "%s:%s", user, password);
    unsigned char *code = malloc(4 * (plain.len / 3 + 1) + 1);
    gg_status status = gg_buf_status(&plain, "MLFLOW_TRACKING_USERNAME and _PASSWORD", error);
    if (!code)
        status = gg_fail(error, GG_E_MEMORY, "out of memory for a header");
    if (status == GG_OK) {
        (void)EVP_EncodeBlock(code, (const unsigned char *)plain.data, (int)plain.len);
        gg_buf_printf(out, "Authorization: Basic %s", (char *)code);
    }
    free(code);
    gg_buf_free(&plain);
    return status;
}

static gg_status authorize(gg_mlflow_client *c, const gg_mlflow_keys *keys, gg_error *error)
{
    gg_status status = GG_OK;
    if (keys->token && *keys->token)
        gg_buf_printf(&c->authorization, "Authorization: Bearer %s", keys->token);
    else if (keys->user && *keys->user)
        status =
            add_basic(&c->authorization, keys->user, keys->password ? keys->password : "", error);
    if (strpbrk(gg_buf_cstr(&c->authorization), "\r\n"))
        return gg_fail(error, GG_E_CONFIG, "MLFLOW_TRACKING_TOKEN holds a line break");
    if (status == GG_OK)
        status = gg_buf_status(&c->authorization, "MLFLOW_TRACKING_TOKEN", error);
    if (status == GG_OK && c->authorization.len)
        gg_secrets_add_header(&c->secrets, c->authorization.data);
    return status;
}

gg_status gg_mlflow_client_new(const char *url, const gg_mlflow_keys *keys, gg_mlflow_client **out,
                               gg_error *error)
{
    gg_mlflow_client *c = calloc(1, sizeof *c);
    *out = NULL;
    if (!c)
        return gg_fail(error, GG_E_MEMORY, "out of memory for an MLflow client");
    gg_buf_init(&c->authorization, HEADER_MAX);
    gg_buf_init(&c->url, URL_MAX);
    gg_buf_init(&c->reply, GG_MLFLOW_REPLY_MAX);
    atomic_init(&c->until, UINT64_MAX);
    gg_status status = gg_address_parse(url, &c->address, error);
    if (status == GG_E_CONFIG)
        status = gg_fail(error, GG_E_CONFIG,
                         "the MLflow address is not like http://HOST:PORT or https://HOST");
    if (status == GG_OK) {
        gg_secrets_add_url(&c->secrets, url);
        status = authorize(c, keys, error);
    }
    if (status == GG_OK) {
        c->looping = uv_loop_init(&c->loop) == 0;
        status = c->looping ? gg_http_new(&c->loop, &c->http, error)
                            : gg_fail(error, GG_E_MEMORY, "cannot make an event loop");
    }
    if (status == GG_OK)
        *out = c;
    else
        gg_mlflow_client_free(c);
    return status;
}

void gg_mlflow_client_free(gg_mlflow_client *c)
{
    if (!c)
        return;
    gg_http_free(c->http);
    if (c->looping) {
        uv_run(&c->loop, UV_RUN_DEFAULT); /* lets the handles close */
        uv_loop_close(&c->loop);
    }
    cJSON_Delete(c->json);
    gg_address_free(&c->address);
    gg_secrets_free(&c->secrets);
    gg_buf_free(&c->authorization);
    gg_buf_free(&c->url);
    gg_buf_free(&c->reply);
    free(c);
}

const char *gg_mlflow_client_shown(const gg_mlflow_client *client)
{
    return client->address.shown;
}

void gg_mlflow_client_until(gg_mlflow_client *client, uint64_t time_ns)
{
    atomic_store(&client->until, time_ns);
}

/* ---- one request ---- */

static void on_reply(void *context, const gg_http_reply *reply)
{
    gg_mlflow_client *c = context;
    c->done = true;
    c->transport = reply->transport;
    c->status = reply->status;
    snprintf(c->detail, sizeof c->detail, "%s", reply->detail);
    gg_buf_reset(&c->reply);
    gg_buf_add(&c->reply, reply->body, reply->len);
}

static gg_status send_once(gg_mlflow_client *c, const gg_mlflow_request *r, int64_t timeout_ms,
                           gg_error *error)
{
    const char *headers[HEADERS + 3];
    char type[128];
    size_t count = 0;
    gg_transfer *transfer;
    snprintf(type, sizeof type, "Content-Type: %s", r->type ? r->type : "application/json");
    if (r->body)
        headers[count++] = type;
    if (c->authorization.len)
        headers[count++] = c->authorization.data;
    for (size_t i = 0; r->headers && r->headers[i] && i < HEADERS; i++)
        headers[count++] = r->headers[i];
    headers[count] = NULL;
    const gg_http_request request = {.method = r->method,
                                     .url = gg_buf_cstr(&c->url),
                                     .headers = headers,
                                     .body = r->body,
                                     .body_len = r->len,
                                     .timeout_ms = timeout_ms,
                                     .reply_max = GG_MLFLOW_REPLY_MAX};
    c->done = false;
    gg_status status = gg_http_send(c->http, &request, on_reply, c, &transfer, error);
    while (status == GG_OK && !c->done)
        uv_run(&c->loop, UV_RUN_ONCE);
    return status;
}

/* The server is not there, or wants to be asked later. */
static bool is_outage(const gg_mlflow_client *c)
{
    return c->transport != GG_TRANSPORT_OK || c->status == 408 || c->status == 429 ||
           (c->status >= 500 && c->status != 501);
}

static gg_status complain(gg_mlflow_client *c, const char *code, gg_error *error)
{
    gg_buf text;
    const char *said = gg_json_text(c->json, "message");
    if (!said)
        said = gg_json_text(c->json, "detail");
    if (!said && !c->json)
        said = gg_buf_cstr(&c->reply);
    gg_buf_init(&text, MESSAGE_MAX);
    if (c->transport != GG_TRANSPORT_OK)
        gg_buf_str(&text, *c->detail ? c->detail : gg_transport_name(c->transport));
    else
        gg_buf_printf(&text, "HTTP %d%s%s%s%.*s", c->status, *code ? " " : "", code,
                      said && *said ? ": " : "",
                      said ? (int)strcspn(said, "\r\n") < TOLD_MAX ? (int)strcspn(said, "\r\n")
                                                                   : TOLD_MAX
                           : 0,
                      said ? said : "");
    gg_secrets_hide(&c->secrets, &text, 0);
    gg_status kind = is_outage(c) ? GG_E_UNREACHABLE : GG_E_PROTOCOL;
    gg_fail(error, kind, "MLflow at %s: %s", c->address.shown, gg_buf_cstr(&text));
    gg_buf_free(&text);
    return kind;
}

static int64_t time_left(const gg_mlflow_client *c)
{
    uint64_t until = atomic_load(&c->until), now = uv_hrtime();
    if (until <= now)
        return 0;
    uint64_t left = (until - now) / NS_OF_MS + 1;
    return left < GG_MLFLOW_TIMEOUT_MS ? (int64_t)left : GG_MLFLOW_TIMEOUT_MS;
}

static void pause_before(const gg_mlflow_client *c, int attempt)
{
    int64_t left = time_left(c), wait = (int64_t)GG_MLFLOW_PAUSE_MS * attempt;
    uv_sleep((unsigned)(wait < left ? wait : left));
}

gg_status gg_mlflow_call(gg_mlflow_client *c, const gg_mlflow_request *r, gg_mlflow_answer *answer,
                         gg_error *error)
{
    gg_status status = GG_OK;
    gg_buf_reset(&c->url);
    gg_buf_printf(&c->url, "%s%s", c->address.base, r->path);
    status = gg_buf_status(&c->url, "an MLflow address", error);
    *answer = (gg_mlflow_answer){.code = ""};
    cJSON_Delete(c->json);
    c->json = NULL;
    for (int attempt = 0; attempt < GG_MLFLOW_ATTEMPTS && status == GG_OK; attempt++) {
        if (attempt > 0)
            pause_before(c, attempt);
        int64_t left = time_left(c);
        if (left == 0)
            return gg_fail(error, GG_E_LIMIT, "MLflow at %s: no time is left", c->address.shown);
        status = send_once(c, r, left, error);
        if (status == GG_OK && !is_outage(c))
            break;
    }
    if (status != GG_OK)
        return status;
    if (c->transport == GG_TRANSPORT_OK)
        (void)gg_json_parse(gg_buf_cstr(&c->reply), c->reply.len, &c->json, NULL);
    const char *code = gg_json_text(c->json, "error_code");
    *answer = (gg_mlflow_answer){.status = c->status, .code = code ? code : "", .json = c->json};
    if (c->transport == GG_TRANSPORT_OK && c->status >= 200 && c->status < 300)
        return GG_OK;
    return complain(c, answer->code, error);
}
