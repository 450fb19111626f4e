#include "net/post.h"
#include "net/listen.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGE_MAX 2048
#define URL_MAX     8192
#define SIGN_MAX    65536

static size_t text_room(const gg_post_request *request, size_t *headers)
{
    size_t room = strlen(request->path) + 1 + (request->body ? request->len + 1 : 0);
    *headers = 0;
    for (const char *const *line = request->headers; line && *line; line++, ++*headers)
        room += strlen(*line) + 1;
    return room;
}

static char *keep(char **at, const char *bytes, size_t len)
{
    char *kept = *at;
    memcpy(kept, bytes, len);
    kept[len] = '\0';
    *at += len + 1;
    return kept;
}

/* One block: the post, its header pointers, its texts. */
static gg_post *post_new(gg_endpoint *e, const gg_post_request *request)
{
    size_t headers, room = text_room(request, &headers);
    gg_post *post = malloc(sizeof *post + headers * sizeof(char *) + room);
    if (!post)
        return NULL;
    *post =
        (gg_post){.endpoint = e, .body_len = request->len, .header_count = headers, .epoch = -1};
    post->due.place = GG_DUE_NONE;
    post->deadline_ms = request->deadline_ms ? request->deadline_ms : INT64_MAX;
    post->accept = request->accept;
    post->headers = (const char **)(post + 1);
    char *at = (char *)(post->headers + headers);
    post->path = keep(&at, request->path, strlen(request->path));
    if (request->body)
        post->body = keep(&at, request->body, request->len);
    for (size_t i = 0; i < headers; i++)
        post->headers[i] = keep(&at, request->headers[i], strlen(request->headers[i]));
    return post;
}

/* The line is not shown: it may hold a key. */
static gg_status check_headers(const char *const *headers, size_t already, gg_error *error)
{
    size_t count = 0;
    for (; headers && headers[count]; count++)
        if (!strchr(headers[count], ':') || strpbrk(headers[count], "\r\n"))
            return gg_fail(
                error, GG_E_CONFIG,
                "header %zu is not one line of \"Name: value\"; is there a line break in "
                "a key?",
                count + 1);
    if (count + already > GG_POST_HEADERS)
        return gg_fail(error, GG_E_LIMIT, "a request has more than %d headers", GG_POST_HEADERS);
    return GG_OK;
}

gg_status gg_endpoint_send(gg_endpoint *e, const gg_post_request *request, gg_post_done done,
                           void *context, gg_post **out, gg_error *error)
{
    *out = NULL;
    gg_status status = check_headers(request->headers, e->header_count, error);
    if (status != GG_OK)
        return status;
    gg_post *post = gg_due_reserve(&e->heap, e->live + 1) ? post_new(e, request) : NULL;
    if (!post)
        return gg_fail(error, GG_E_MEMORY, "no memory for a request");
    for (size_t i = 0; i < post->header_count; i++)
        gg_secrets_add_header(&e->secrets, post->headers[i]);
    e->live++;
    post->done = done;
    post->context = context;
    *out = post;
    gg_post_begin(post);
    return GG_OK;
}

void gg_post_cancel(gg_post *post)
{
    gg_endpoint *e = post->endpoint;
    bool flew = post->stage == GG_POST_FLYING;
    gg_post_withdraw(post);
    if (flew)
        gg_http_cancel(post->transfer);
    gg_post_free(post);
    gg_endpoint_pump(e);
}

void gg_endpoint_look(const gg_endpoint *e, gg_endpoint_state *out)
{
    bool paused = e->paused_until_ms > gg_endpoint_now(e);
    *out = (gg_endpoint_state){
        .queued = e->queue.count,
        .in_flight = e->flying.count,
        .backing_off = e->waiting,
        .paused_until_ms = paused ? e->paused_until_ms : 0,
        .pause_reason = paused ? gg_retry_class_name(e->pause_class) : "",
        .requests = e->requests,
        .retries = e->retries,
        .oldest_ms = e->flying.first ? e->flying.first->started_ms : 0,
        .last_reply_ms = e->last_reply_ms,
    };
}

/* ---- the endpoint ---- */

static void destroy(gg_endpoint *e)
{
    for (size_t i = 0; i < e->header_count; i++)
        free(e->headers[i]);
    free(e->headers);
    free(e->unix_socket);
    gg_address_free(&e->address);
    gg_secrets_free(&e->secrets);
    gg_due_free(&e->heap);
    gg_buf_free(&e->message);
    gg_buf_free(&e->url);
    gg_buf_free(&e->lines);
    free(e);
}

static void on_closed(uv_handle_t *handle)
{
    destroy(handle->data);
}

void gg_endpoint_free(gg_endpoint *e)
{
    if (!e)
        return;
    e->options.in_flight_max = 0; /* nothing is sent any more */
    while (e->flying.first)
        gg_post_cancel(e->flying.first);
    while (e->queue.first)
        gg_post_cancel(e->queue.first);
    while (e->heap.count)
        gg_post_cancel((gg_post *)gg_due_first(&e->heap));
    uv_close((uv_handle_t *)&e->timer, on_closed);
}

const char *gg_endpoint_shown(const gg_endpoint *e)
{
    return e->address.shown;
}

static bool keep_headers(gg_endpoint *e, const char *const *headers)
{
    size_t count = 0;
    while (headers && headers[count])
        count++;
    e->headers = calloc(count + 1, sizeof *e->headers);
    for (size_t i = 0; e->headers && i < count; i++) {
        if (!(e->headers[i] = strdup(headers[i])))
            return false;
        e->header_count++;
        gg_secrets_add_header(&e->secrets, headers[i]);
    }
    return e->headers != NULL;
}

static gg_status fill(gg_endpoint *e, const gg_endpoint_options *options, gg_error *error)
{
    gg_status status = gg_address_parse(options->base_url, &e->address, error);
    if (status == GG_OK)
        status = check_headers(options->headers, 0, error);
    if (status == GG_OK)
        status = gg_files_check(e->options.in_flight_max, error);
    if (status != GG_OK)
        return status;
    gg_secrets_add_url(&e->secrets, options->base_url);
    e->unix_socket = options->unix_socket ? strdup(options->unix_socket) : NULL;
    if (!keep_headers(e, options->headers) || (options->unix_socket && !e->unix_socket))
        return gg_fail(error, GG_E_MEMORY, "no memory for an endpoint");
    return GG_OK;
}

gg_status gg_endpoint_new(gg_http *http, const gg_endpoint_options *options, gg_endpoint **out,
                          gg_error *error)
{
    *out = NULL;
    gg_endpoint *e = calloc(1, sizeof *e);
    if (!e)
        return gg_fail(error, GG_E_MEMORY, "no memory for an endpoint");
    e->http = http;
    e->loop = gg_http_loop(http);
    e->options = *options;
    if (!e->options.in_flight_max)
        e->options.in_flight_max = GG_ENDPOINT_IN_FLIGHT;
    if (e->options.attempts_max <= 0)
        e->options.attempts_max = GG_RETRY_ATTEMPTS;
    if (e->options.timeout_ms <= 0)
        e->options.timeout_ms = GG_HTTP_TIMEOUT_MS;
    gg_buf_init(&e->message, MESSAGE_MAX);
    gg_buf_init(&e->url, URL_MAX);
    gg_buf_init(&e->lines, SIGN_MAX);
    gg_status status = fill(e, options, error);
    if (status != GG_OK) {
        destroy(e);
        return status;
    }
    uv_timer_init(e->loop, &e->timer);
    e->timer.data = e;
    /* Copied above; the caller's may go. */
    e->options.base_url = e->options.unix_socket = NULL;
    e->options.headers = NULL;
    *out = e;
    return GG_OK;
}
