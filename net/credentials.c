#include "net/credentials_inside.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/crypto.h>

static void wipe(char *text)
{
    if (text)
        OPENSSL_cleanse(text, strlen(text));
    free(text);
}

void gg_key_set_free(gg_key_set *keys)
{
    free(keys->id);
    wipe(keys->secret);
    wipe(keys->token);
    *keys = (gg_key_set){NULL, NULL, NULL, GG_NEVER};
}

int64_t gg_credentials_now(const gg_credentials *c)
{
    return c->options.clock_s ? c->options.clock_s() : (int64_t)time(NULL);
}

int64_t gg_credentials_version(const gg_credentials *c)
{
    return c->version;
}

const char *gg_credentials_variable(const gg_credentials *c, const char *name)
{
    const char *value = c->options.variable ? c->options.variable(name) : getenv(name);
    return value && *value ? value : NULL;
}

static int64_t loop_now(const gg_credentials *c)
{
    return (int64_t)uv_now(gg_http_loop(c->options.http));
}

/* ------------------------------------------------------------------ life */

gg_status gg_credentials_new(const gg_credentials_options *options, gg_credentials **out,
                             gg_error *error)
{
    *out = NULL;
    gg_credentials *c = calloc(1, sizeof *c);
    if (!c)
        return gg_fail(error, GG_E_MEMORY, "no memory for credentials");
    c->options = *options;
    c->keys.expires_s = GG_NEVER;
    gg_buf_init(&c->url, GG_CREDENTIALS_MAX);
    gg_buf_init(&c->form, GG_CREDENTIALS_MAX);
    gg_buf_init(&c->session, GG_CREDENTIALS_MAX);
    gg_buf_init(&c->role, GG_CREDENTIALS_MAX);
    uv_timer_init(gg_http_loop(options->http), &c->timer);
    c->timer.data = c;
    *out = c;
    return GG_OK;
}

static void on_closed(uv_handle_t *handle)
{
    gg_credentials *c = handle->data;
    gg_key_set_free(&c->keys);
    gg_buf_free(&c->url);
    gg_buf_free(&c->form);
    gg_buf_free(&c->session);
    gg_buf_free(&c->role);
    free(c);
}

void gg_credentials_free(gg_credentials *c)
{
    if (!c)
        return;
    if (c->transfer)
        gg_http_cancel(c->transfer);
    uv_close((uv_handle_t *)&c->timer, on_closed);
}

/* ------------------------------------------------------------------ waiting */

void gg_credentials_wait(gg_credentials *c, gg_credentials_waiter *waiter)
{
    if (waiter->waits)
        return;
    waiter->waits = true;
    waiter->next = c->waiters;
    c->waiters = waiter;
}

void gg_credentials_leave(gg_credentials *c, gg_credentials_waiter *waiter)
{
    for (gg_credentials_waiter **at = &c->waiters; *at; at = &(*at)->next)
        if (*at == waiter) {
            *at = waiter->next;
            break;
        }
    waiter->waits = false;
}

static void tell_waiters(gg_credentials *c)
{
    gg_credentials_waiter *waiter;
    while ((waiter = c->waiters)) {
        c->waiters = waiter->next;
        waiter->waits = false;
        waiter->ready(waiter);
    }
}

void gg_credentials_fetched(gg_credentials *c, gg_status status, gg_key_set *keys, gg_error *error)
{
    c->fetching = false;
    c->failed = status != GG_OK;
    c->failed_ms = loop_now(c);
    if (status == GG_OK) {
        c->stale = false;
        gg_key_set_free(&c->keys);
        c->keys = *keys;
        c->version++;
    } else {
        c->failure = *error;
    }
    tell_waiters(c);
}

/* ------------------------------------------------------------------ keys */

/* The environment and the file answer at once; *found false leaves the others. */
static gg_status read_local(gg_credentials *c, bool *found, gg_error *error)
{
    gg_key_set keys = {NULL, NULL, NULL, GG_NEVER};
    gg_status status = gg_keys_from_environment(c, &keys, found, error);
    if (status == GG_OK && !*found && !gg_keys_by_web_identity(c))
        status = gg_keys_from_file(c, &keys, found, error);
    if (status != GG_OK || !*found)
        return status;
    gg_key_set_free(&c->keys);
    c->keys = keys;
    c->version++;
    c->stale = false;
    return GG_OK;
}

static gg_key_source choose(const gg_credentials *c)
{
    const char *off = gg_credentials_variable(c, "AWS_EC2_METADATA_DISABLED");
    if (gg_keys_by_web_identity(c))
        return GG_KEYS_WEB;
    if (gg_credentials_variable(c, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") ||
        gg_credentials_variable(c, "AWS_CONTAINER_CREDENTIALS_FULL_URI"))
        return GG_KEYS_CONTAINER;
    return off && strcmp(off, "true") == 0 ? GG_KEYS_NONE : GG_KEYS_INSTANCE;
}

static void begin_fetch(gg_credentials *c)
{
    if (c->fetching)
        return;
    c->fetching = true;
    c->tries = 0;
    gg_credentials_fetch(c);
}

static gg_status find(gg_credentials *c, gg_error *error)
{
    bool found = false;
    if (c->fetching)
        return GG_E_STATE;
    if (c->failed && loop_now(c) - c->failed_ms < GG_CREDENTIALS_SORRY_MS) {
        if (error)
            *error = c->failure;
        return c->failure.status;
    }
    gg_status status = read_local(c, &found, error);
    if (status != GG_OK || found)
        return status;
    c->source = choose(c);
    if (c->source == GG_KEYS_NONE)
        return gg_fail(error, GG_E_CONFIG,
                       "there are no AWS credentials: set AWS_ACCESS_KEY_ID and "
                       "AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or run where a role gives them");
    begin_fetch(c);
    return GG_E_STATE;
}

gg_status gg_credentials_keys(gg_credentials *c, gg_aws_keys *out, gg_error *error)
{
    int64_t left =
        c->keys.expires_s == GG_NEVER ? GG_NEVER : c->keys.expires_s - gg_credentials_now(c);
    bool usable = c->keys.id && !c->stale && left > GG_CREDENTIALS_LAST_S;
    gg_status status = usable ? GG_OK : find(c, error);
    if (status != GG_OK)
        return status;
    bool rests = c->failed && loop_now(c) - c->failed_ms < GG_CREDENTIALS_REST_MS;
    if (usable && left < GG_CREDENTIALS_AHEAD_S && c->source != GG_KEYS_NONE && !rests)
        begin_fetch(c);
    *out = (gg_aws_keys){c->keys.id, c->keys.secret, c->keys.token};
    return GG_OK;
}

void gg_credentials_forget(gg_credentials *c)
{
    c->stale = true;
}
