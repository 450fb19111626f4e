/* gg_http_call: one request on a loop of its own. */
#include "net/http.h"

#include <string.h>

typedef struct call {
    gg_buf *storage;
    gg_http_reply *reply;
    bool done;
} call;

/* The strings of a reply, copied one behind the other; places first, since the buffer may move. */
static const size_t STRINGS[] = {
    offsetof(gg_http_reply, content_type),   offsetof(gg_http_reply, retry_after),
    offsetof(gg_http_reply, retry_after_ms), offsetof(gg_http_reply, should_retry),
    offsetof(gg_http_reply, reset_requests), offsetof(gg_http_reply, reset_tokens),
    offsetof(gg_http_reply, request_id),     offsetof(gg_http_reply, error_type),
    offsetof(gg_http_reply, location),       offsetof(gg_http_reply, detail),
};
#define STRING_COUNT (sizeof STRINGS / sizeof *STRINGS)

static const char *get(const gg_http_reply *reply, size_t field)
{
    const char *text;
    memcpy(&text, (const char *)reply + field, sizeof text);
    return text;
}

static void put(gg_http_reply *reply, size_t field, const char *text)
{
    memcpy((char *)reply + field, &text, sizeof text);
}

static void keep(void *context, const gg_http_reply *reply)
{
    call *c = context;
    size_t places[STRING_COUNT];
    gg_buf_add(c->storage, reply->body, reply->len);
    gg_buf_char(c->storage, '\0');
    for (size_t i = 0; i < STRING_COUNT; i++) {
        const char *text = get(reply, STRINGS[i]);
        places[i] = c->storage->len;
        gg_buf_add(c->storage, text ? text : "", text ? strlen(text) + 1 : 1);
    }
    *c->reply = *reply;
    c->done = true;
    if (c->storage->status != GG_OK)
        return;
    c->reply->body = c->storage->data;
    for (size_t i = 0; i < STRING_COUNT; i++)
        if (get(reply, STRINGS[i]))
            put(c->reply, STRINGS[i], c->storage->data + places[i]);
}

gg_status gg_http_call(const gg_http_request *request, gg_buf *storage, gg_http_reply *reply,
                       gg_error *error)
{
    uv_loop_t loop;
    gg_http *http;
    gg_transfer *transfer;
    call c = {.storage = storage, .reply = reply};
    *reply = (gg_http_reply){.transport = GG_TRANSPORT_OTHER};
    gg_buf_init(storage, GG_HTTP_REPLY_MAX + (1u << 20));
    if (uv_loop_init(&loop) != 0)
        return gg_fail(error, GG_E_MEMORY, "cannot make an event loop");
    gg_status status = gg_http_new(&loop, &http, error);
    if (status == GG_OK)
        status = gg_http_send(http, request, keep, &c, &transfer, error);
    if (status == GG_OK)
        uv_run(&loop, UV_RUN_DEFAULT);
    gg_http_free(http);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    if (status == GG_OK && !c.done)
        status = gg_fail(error, GG_E_STATE, "a %s request ended without a result", request->method);
    return status == GG_OK ? gg_buf_status(storage, "an HTTP reply", error) : status;
}
