/* Keys over HTTP: the security token service, a container's endpoint, or the instance's metadata
 * service (version 2: a session token by PUT, then the role's name, then its keys). */
#include "net/credentials_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/file.h"

#define CONTAINER_BASE "http://169.254.170.2"
#define INSTANCE_BASE  "http://169.254.169.254"
#define ROLES          "/latest/meta-data/iam/security-credentials/"
#define SESSION_TTL    "X-aws-ec2-metadata-token-ttl-seconds: 21600"
#define HEADER_ROOM    8192
#define FORM_MAX       (64u << 10)
#define FORM_TYPE      "Content-Type: application/x-www-form-urlencoded"

typedef enum step { WEB, CONTAINER, SESSION, ROLE, ROLE_KEYS } step;

static const char *const NOWHERE[GG_KEYS_SOURCES] = {
    [GG_KEYS_WEB] = "no AWS credentials from the security token service",
    [GG_KEYS_CONTAINER] = "no AWS credentials from the container's endpoint",
    [GG_KEYS_INSTANCE] = "no AWS credentials, not even from instance metadata",
};

static gg_status send_step(gg_credentials *c, gg_error *error);

static void try_again(gg_credentials *c, gg_error *error)
{
    gg_key_set none = {NULL, NULL, NULL, GG_NEVER};
    if (error->status == GG_E_CONFIG || ++c->tries >= GG_CREDENTIALS_TRIES) {
        gg_fail_prefix(error, "%s", NOWHERE[c->source]);
        gg_credentials_fetched(c, error->status, &none, error);
        return;
    }
    uint64_t wait = (uint64_t)GG_CREDENTIALS_BASE_MS << (c->tries - 1);
    uv_timer_start(&c->timer, gg_credentials_on_timer, wait, 0);
}

/* The first line of a reply, as a header's or a path's part. */
static bool take_line(gg_buf *out, const gg_http_reply *reply)
{
    size_t len = strcspn(reply->body, "\r\n");
    gg_buf_reset(out);
    for (size_t i = 0; i < len; i++)
        if (reply->body[i] <= ' ' || reply->body[i] == 127)
            return false;
    gg_buf_add(out, reply->body, len);
    return len > 0 && out->status == GG_OK;
}

static gg_status use_reply(gg_credentials *c, const gg_http_reply *reply, gg_key_set *keys,
                           bool *done, gg_error *error)
{
    if (reply->transport != GG_TRANSPORT_OK)
        return gg_fail(error, GG_E_UNREACHABLE, "%s", reply->detail);
    if (reply->status != 200)
        return gg_fail(error, GG_E_UNREACHABLE, "it answered HTTP %d%s", reply->status,
                       c->step == ROLE && reply->status == 404 ? " (the instance has no role)"
                                                               : "");
    switch ((step)c->step) {
    case SESSION:
    case ROLE:
        if (!take_line(c->step == SESSION ? &c->session : &c->role, reply))
            return gg_fail(error, GG_E_PROTOCOL, "it answered no %s",
                           c->step == SESSION ? "session token" : "role");
        c->step++;
        return GG_OK;
    case WEB:
    case CONTAINER:
    case ROLE_KEYS:
        break;
    }
    *done = true;
    if (c->step == WEB)
        return gg_keys_from_xml(reply->body, keys, error);
    return gg_keys_from_json(reply->body, reply->len, keys, error);
}

static void on_reply(void *context, const gg_http_reply *reply)
{
    gg_credentials *c = context;
    gg_key_set keys;
    gg_error error = {0};
    bool done = false;
    c->transfer = NULL;
    gg_status status = use_reply(c, reply, &keys, &done, &error);
    if (status == GG_OK && !done)
        status = send_step(c, &error);
    else if (status == GG_OK)
        gg_credentials_fetched(c, GG_OK, &keys, &error);
    if (status != GG_OK)
        try_again(c, &error);
}

/* ------------------------------------------------------------------ requests */

/* Plain HTTP carries keys only to this machine or to where clouds serve them. */
static bool may_ask(const char *url)
{
    static const char *const hosts[] = {"localhost",     "127.0.0.1",      "[::1]",
                                        "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};
    if (strncasecmp(url, "https://", 8) == 0)
        return true;
    if (strncasecmp(url, "http://", 7) != 0)
        return false;
    const char *host = url + 7;
    size_t len = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/?#@");
    if (host[strcspn(host, "/?#@")] == '@')
        return false;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (len == strlen(hosts[i]) && strncasecmp(host, hosts[i], len) == 0)
            return true;
    return false;
}

static gg_status container_url(gg_credentials *c, gg_error *error)
{
    const char *relative = gg_credentials_variable(c, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    const char *full = gg_credentials_variable(c, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
    gg_buf_reset(&c->url);
    if (relative) {
        gg_buf_str(&c->url, c->options.container_base ? c->options.container_base : CONTAINER_BASE);
        gg_buf_str(&c->url, relative);
    } else if (full && may_ask(full)) {
        gg_buf_str(&c->url, full);
    } else {
        return gg_fail(error, GG_E_CONFIG,
                       "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor a host that may be "
                       "asked in the clear");
    }
    return gg_buf_status(&c->url, "the address of the credentials", error);
}

/* Appends an Authorization line where the container has a token, read again each time. */
static gg_status container_token(gg_credentials *c, gg_buf *line, gg_error *error)
{
    const char *path = gg_credentials_variable(c, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    const char *value = gg_credentials_variable(c, "AWS_CONTAINER_AUTHORIZATION_TOKEN");
    if (!path && !value)
        return GG_OK;
    gg_buf_str(line, "Authorization: ");
    gg_status status = GG_OK;
    if (path)
        status = gg_file_read(path, line, error);
    else
        gg_buf_str(line, value);
    if (status != GG_OK)
        return status;
    while (line->len && strchr("\r\n ", line->data[line->len - 1]))
        gg_buf_truncate(line, line->len - 1);
    if (line->len && strpbrk(line->data, "\r\n"))
        return gg_fail(error, GG_E_CONFIG, "the container's token is more than one line");
    return gg_buf_status(line, "the container's token", error);
}

bool gg_keys_by_web_identity(const gg_credentials *c)
{
    return gg_credentials_variable(c, "AWS_WEB_IDENTITY_TOKEN_FILE") &&
           gg_credentials_variable(c, "AWS_ROLE_ARN");
}

static gg_status web_url(gg_credentials *c, gg_error *error)
{
    const char *base = gg_credentials_variable(c, "AWS_ENDPOINT_URL_STS");
    const char *region = gg_credentials_variable(c, "AWS_REGION");
    gg_buf_reset(&c->url);
    if (base)
        gg_buf_str(&c->url, base);
    else if (region)
        gg_buf_printf(&c->url, "https://sts.%s.amazonaws.com%s/", region,
                      strncmp(region, "cn-", 3) == 0 ? ".cn" : "");
    else
        gg_buf_str(&c->url, "https://sts.amazonaws.com/");
    return gg_buf_status(&c->url, "the address of the security token service", error);
}

/* The token file is read anew each time: the cluster replaces it. */
static gg_status web_form(gg_credentials *c, gg_buf *form, gg_error *error)
{
    const char *session = gg_credentials_variable(c, "AWS_ROLE_SESSION_NAME");
    const char *role = gg_credentials_variable(c, "AWS_ROLE_ARN");
    gg_buf token;
    gg_buf_init(&token, FORM_MAX);
    gg_status status =
        gg_file_read(gg_credentials_variable(c, "AWS_WEB_IDENTITY_TOKEN_FILE"), &token, error);
    gg_buf_str(form, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=");
    gg_sigv4_encode(form, role, strlen(role), false);
    gg_buf_str(form, "&RoleSessionName=");
    session = session ? session : "guessgym";
    gg_sigv4_encode(form, session, strlen(session), false);
    gg_buf_str(form, "&WebIdentityToken=");
    while (token.len && strchr("\r\n ", token.data[token.len - 1]))
        gg_buf_truncate(&token, token.len - 1);
    gg_sigv4_encode(form, gg_buf_cstr(&token), token.len, false);
    gg_buf_free(&token);
    return status == GG_OK ? gg_buf_status(form, "the web identity", error) : status;
}

static gg_status instance_url(gg_credentials *c, const char *path, const char *rest,
                              gg_error *error)
{
    const char *base = gg_credentials_variable(c, "AWS_EC2_METADATA_SERVICE_ENDPOINT");
    size_t len = strlen(base ? base : INSTANCE_BASE);
    while (base && len && base[len - 1] == '/')
        len--;
    gg_buf_reset(&c->url);
    gg_buf_add(&c->url, base ? base : INSTANCE_BASE, len);
    gg_buf_printf(&c->url, "%s%s", path, rest);
    return gg_buf_status(&c->url, "the address of the metadata", error);
}

static gg_status prepare(gg_credentials *c, gg_buf *line, gg_buf *form, gg_error *error)
{
    gg_status status;
    if (c->step == WEB) {
        gg_buf_str(line, FORM_TYPE);
        status = web_url(c, error);
        return status == GG_OK ? web_form(c, form, error) : status;
    }
    if (c->step == CONTAINER) {
        status = container_url(c, error);
        return status == GG_OK ? container_token(c, line, error) : status;
    }
    if (c->step == SESSION) {
        gg_buf_str(line, SESSION_TTL);
        return instance_url(c, "/latest/api/token", "", error);
    }
    gg_buf_printf(line, "X-aws-ec2-metadata-token: %s", gg_buf_cstr(&c->session));
    return instance_url(c, ROLES, c->step == ROLE_KEYS ? gg_buf_cstr(&c->role) : "", error);
}

static gg_status send_step(gg_credentials *c, gg_error *error)
{
    static const char *const METHODS[] = {[WEB] = "POST",
                                          [CONTAINER] = "GET",
                                          [SESSION] = "PUT",
                                          [ROLE] = "GET",
                                          [ROLE_KEYS] = "GET"};
    gg_buf line;
    gg_buf_init(&line, HEADER_ROOM);
    gg_buf_reset(&c->form);
    gg_status status = prepare(c, &line, &c->form, error);
    const char *const headers[] = {line.len ? line.data : NULL, NULL};
    bool has_body = c->step == WEB || c->step == SESSION;
    const gg_http_request request = {.method = METHODS[c->step],
                                     .url = gg_buf_cstr(&c->url),
                                     .headers = headers,
                                     .body = has_body ? gg_buf_cstr(&c->form) : NULL,
                                     .body_len = c->form.len,
                                     .timeout_ms = GG_CREDENTIALS_CALL_MS,
                                     .reply_max = GG_CREDENTIALS_MAX};
    if (status == GG_OK)
        status = gg_http_send(c->options.http, &request, on_reply, c, &c->transfer, error);
    gg_buf_free(&line);
    return status;
}

void gg_credentials_fetch(gg_credentials *c)
{
    gg_error error = {0};
    c->step = c->source == GG_KEYS_WEB ? WEB : c->source == GG_KEYS_CONTAINER ? CONTAINER : SESSION;
    /* A failure is told from the loop as well: whoever asked is not waiting yet. */
    if (send_step(c, &error) != GG_OK) {
        c->failure = error;
        c->transfer = NULL;
        c->tries = -1;
        uv_timer_start(&c->timer, gg_credentials_on_timer, 0, 0);
    }
}

void gg_credentials_on_timer(uv_timer_t *timer)
{
    gg_credentials *c = timer->data;
    gg_error error = c->failure;
    if (c->tries < 0) {
        c->tries = GG_CREDENTIALS_TRIES;
        try_again(c, &error);
        return;
    }
    gg_credentials_fetch(c);
}
