#include "train/call.h"

#include <stdio.h>

#define TARGET_ROOM 96

typedef struct waiting {
    bool done;
    int status;
    gg_retry_class outcome;
    cJSON *json;
    gg_error error;
} waiting;

static void answered(void *context, const gg_post_result *result)
{
    waiting *w = context;
    w->done = true;
    w->outcome = result->outcome;
    w->status = result->reply->status;
    if (result->outcome != GG_RETRY_OK) {
        gg_fail(&w->error, result->outcome == GG_RETRY_REFUSED ? GG_E_PROTOCOL : GG_E_UNREACHABLE,
                "%s", result->message);
        return;
    }
    if (result->reply->len == 0)
        w->json = cJSON_CreateObject();
    else if (gg_json_parse(result->reply->body, result->reply->len, &w->json, &w->error) ==
             GG_E_FORMAT)
        w->error.status = GG_E_PROTOCOL; /* the service's fault, not a file's */
    if (!w->json && w->error.status == GG_OK)
        gg_fail(&w->error, GG_E_MEMORY, "out of memory while reading a reply");
}

static bool is_given_up(const gg_call_options *call)
{
    return call->given_up && *call->given_up;
}

gg_status gg_call_wait(const gg_call_options *call, cJSON **out, int *status, gg_error *error)
{
    waiting w = {0};
    gg_post *post = NULL;
    gg_post_request request = {
        .path = call->path, .body = call->body, .len = call->len, .headers = call->headers};
    bool last = is_given_up(call);
    if (last)
        request.deadline_ms = (int64_t)uv_now(call->loop) + GG_CALL_LAST_MS;
    *out = NULL;
    gg_status sent = gg_endpoint_send(call->endpoint, &request, answered, &w, &post, error);
    if (sent != GG_OK)
        return sent;
    while (!w.done && (last || !is_given_up(call)))
        uv_run(call->loop, UV_RUN_ONCE);
    if (!w.done) {
        gg_post_cancel(post);
        return gg_fail(error, GG_E_INTERRUPTED, "interrupted while waiting for %s%s",
                       gg_endpoint_shown(call->endpoint), call->path);
    }
    if (status)
        *status = w.status;
    if (w.error.status != GG_OK)
        return gg_fail(error, w.error.status, "%s%s: %s", gg_endpoint_shown(call->endpoint),
                       call->path, w.error.text);
    *out = w.json;
    return GG_OK;
}

gg_status gg_control_wait(uv_loop_t *loop, gg_endpoint *control, const char *operation,
                          const gg_buf *body, const bool *given_up, cJSON **out, gg_error *error)
{
    char target[TARGET_ROOM];
    const char *const headers[] = {"Content-Type: application/x-amz-json-1.1", target, NULL};
    const gg_call_options call = {loop,      control, "/",     gg_buf_cstr(body),
                                  body->len, headers, given_up};

    snprintf(target, sizeof target, "X-Amz-Target: SageMaker.%s", operation);
    return gg_call_wait(&call, out, NULL, error);
}

static void ring(uv_timer_t *timer)
{
    *(bool *)timer->data = true;
}

static void closed(uv_handle_t *handle)
{
    *(bool *)handle->data = true;
}

gg_status gg_loop_sleep(uv_loop_t *loop, int64_t ms, gg_error *error)
{
    uv_timer_t timer;
    bool flag = false;
    int failed = uv_timer_init(loop, &timer);
    if (failed)
        return gg_fail(error, GG_E_STATE, "cannot start a timer: %s", uv_strerror(failed));
    timer.data = &flag;
    uv_timer_start(&timer, ring, (uint64_t)ms, 0);
    while (!flag)
        uv_run(loop, UV_RUN_ONCE);
    flag = false;
    uv_close((uv_handle_t *)&timer, closed);
    while (!flag)
        uv_run(loop, UV_RUN_ONCE);
    return GG_OK;
}
