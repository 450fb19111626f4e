#include "net/post.h"

#include <stdlib.h>
#include <string.h>

#define RAMP_TICK_MS 20

static const gg_http_reply NO_REPLY = {
    .transport = GG_TRANSPORT_OTHER, .body = "", .content_type = "", .detail = ""};

int64_t gg_endpoint_now(const gg_endpoint *e)
{
    return (int64_t)uv_now(e->loop);
}

/* ---- lists ---- */

static void list_add(gg_post_list *l, gg_post *post, bool front)
{
    post->before = front ? NULL : l->last;
    post->after = front ? l->first : NULL;
    *(post->before ? &post->before->after : &l->first) = post;
    *(post->after ? &post->after->before : &l->last) = post;
    l->count++;
}

static void list_take(gg_post_list *l, gg_post *post)
{
    *(post->before ? &post->before->after : &l->first) = post->after;
    *(post->after ? &post->after->before : &l->last) = post->before;
    post->before = post->after = NULL;
    l->count--;
}

/* ---- the pause ---- */

void gg_endpoint_pause(gg_endpoint *e, gg_retry_class class, int64_t delay_ms)
{
    int64_t until = gg_endpoint_now(e) + delay_ms;
    if (until <= e->paused_until_ms)
        return;
    e->paused_until_ms = until;
    e->ramp_ms = delay_ms < GG_ENDPOINT_RAMP_MS ? delay_ms : GG_ENDPOINT_RAMP_MS;
    e->ramp_started = 0;
    e->pause_class = class;
}

/* After a pause the allowed number of starts grows evenly, so that a thousand requests do not all
 * come in the same millisecond. */
static bool may_start(gg_endpoint *e, int64_t now)
{
    if (e->held || e->flying.count >= e->options.in_flight_max || now < e->paused_until_ms)
        return false;
    int64_t since = now - e->paused_until_ms;
    if (since >= e->ramp_ms)
        return true;
    size_t allowed = 1 + e->options.in_flight_max * (size_t)since / (size_t)e->ramp_ms;
    if (e->ramp_started >= allowed)
        return false;
    e->ramp_started++;
    return true;
}

/* Sets the timer to whatever comes next. */
static void arm(gg_endpoint *e)
{
    int64_t now = gg_endpoint_now(e), next = INT64_MAX;
    const gg_due *first = gg_due_first(&e->heap);
    if (first)
        next = first->time;
    if (e->queue.count && !e->held && e->flying.count < e->options.in_flight_max) {
        int64_t start = now < e->paused_until_ms ? e->paused_until_ms : now + RAMP_TICK_MS;
        next = start < next ? start : next;
    }
    if (next == INT64_MAX)
        uv_timer_stop(&e->timer);
    else
        uv_timer_start(&e->timer, gg_endpoint_on_timer, next > now ? (uint64_t)(next - now) : 0, 0);
}

/* ---- ending a request ---- */

void gg_post_free(gg_post *post)
{
    post->endpoint->live--;
    if (post->attempts != &post->one)
        free(post->attempts);
    free(post->trouble);
    free(post);
}

void gg_post_withdraw(gg_post *post)
{
    gg_endpoint *e = post->endpoint;
    gg_due_take(&e->heap, &post->due);
    if (post->stage == GG_POST_QUEUED)
        list_take(&e->queue, post);
    else if (post->stage == GG_POST_FLYING)
        list_take(&e->flying, post);
    else
        e->waiting--;
}

void gg_post_note(gg_post *post, int status, gg_retry_class class)
{
    if (!post->attempts)
        post->attempts = &post->one, post->attempt_room = 1;
    if (post->attempt_count == post->attempt_room) {
        size_t room = post->attempt_room * 2 + 2;
        gg_attempt *grown =
            realloc(post->attempts == &post->one ? NULL : post->attempts, room * sizeof *grown);
        if (!grown)
            return; /* the record loses a line; the request goes on */
        if (post->attempts == &post->one)
            grown[0] = post->one;
        post->attempts = grown;
        post->attempt_room = room;
    }
    post->attempts[post->attempt_count++] =
        (gg_attempt){.status = status, .reason = gg_retry_class_name(class)};
}

void gg_post_finish(gg_post *post, gg_retry_class outcome, const gg_http_reply *reply,
                    const char *message)
{
    gg_post_result result = {.outcome = outcome,
                             .reply = reply,
                             .attempts = post->attempts,
                             .attempt_count = post->attempt_count,
                             .message = message};
    post->done(post->context, &result);
    gg_post_free(post);
}

/* ---- sending ---- */

void gg_post_wait(gg_post *post, int64_t until_ms)
{
    post->stage = GG_POST_WAITING;
    post->endpoint->waiting++;
    gg_due_put(&post->endpoint->heap, &post->due, until_ms);
}

static void fail_later(gg_post *post, const char *why)
{
    gg_endpoint *e = post->endpoint;
    free(post->trouble);
    post->trouble = strdup(why);
    post->hopeless = true;
    gg_post_wait(post, gg_endpoint_now(e));
}

/* Collects all header lines; the signer's are cut out of e->lines in place. */
static gg_status collect_headers(gg_post *post, gg_http_request *request,
                                 const char *lines[GG_POST_HEADERS + 1], gg_error *error)
{
    gg_endpoint *e = post->endpoint;
    size_t count = 0;
    for (size_t i = 0; i < e->header_count; i++)
        lines[count++] = e->headers[i];
    for (size_t i = 0; i < post->header_count; i++)
        lines[count++] = post->headers[i];
    lines[count] = NULL;
    gg_buf_reset(&e->lines);
    if (e->options.sign) {
        gg_sign_request sign = {.method = request->method,
                                .url = request->url,
                                .body = post->body,
                                .len = post->body_len,
                                .headers = lines,
                                .again = post->sign_again};
        gg_status status = e->options.sign(e->options.sign_context, &sign, &e->lines, error);
        if (status == GG_OK)
            status = gg_buf_status(&e->lines, "a request's signature", error);
        if (status != GG_OK)
            return status;
    }
    for (char *line = e->lines.len ? e->lines.data : NULL, *end; line && *line; line = end + 1) {
        end = strchr(line, '\n');
        if (!end || count == GG_POST_HEADERS)
            return gg_fail(error, GG_E_LIMIT, "a request has more than %d headers",
                           GG_POST_HEADERS);
        *end = '\0';
        lines[count++] = line;
        gg_secrets_add_header(&e->secrets, line);
    }
    lines[count] = NULL;
    return GG_OK;
}

static void on_reply(void *context, const gg_http_reply *reply);

/* The post is in no list; afterwards it flies, or waits to fail. */
static void launch(gg_post *post)
{
    gg_endpoint *e = post->endpoint;
    gg_error error = {0};
    const char *lines[GG_POST_HEADERS + 1];
    int64_t now = gg_endpoint_now(e), left = post->deadline_ms - now;
    if (left <= 0) {
        gg_post_wait(post, now);
        return;
    }
    gg_buf_reset(&e->url);
    gg_buf_str(&e->url, e->address.base);
    gg_buf_str(&e->url, post->path);
    gg_buf_str(&e->url, e->address.query);
    post->cut_short = left < e->options.timeout_ms;
    gg_http_request request = {.method = post->body ? "POST" : "GET",
                               .url = gg_buf_cstr(&e->url),
                               .unix_socket = e->unix_socket,
                               .headers = lines,
                               .body = post->body,
                               .body_len = post->body_len,
                               .timeout_ms = post->cut_short ? left : e->options.timeout_ms};
    gg_status status = gg_buf_status(&e->url, "a request's address", &error);
    if (status == GG_OK)
        status = collect_headers(post, &request, lines, &error);
    if (status == GG_E_STATE && e->options.sign) { /* the signer has heard of a refusal by now */
        post->sign_again = false;
        e->held = true;
        gg_post_enqueue(post, true);
        return;
    }
    if (status == GG_OK)
        status = gg_http_send(e->http, &request, on_reply, post, &post->transfer, &error);
    if (status != GG_OK) {
        fail_later(post, error.text);
        return;
    }
    if (post->attempt_count) {
        e->retries++;
        post->attempts[post->attempt_count - 1].wait_ms = now - post->failed_ms;
    }
    if (e->requests++ == 0)
        e->first_ms = now;
    post->started_ms = now;
    post->stage = GG_POST_FLYING;
    list_add(&e->flying, post, false);
}

void gg_post_enqueue(gg_post *post, bool front)
{
    gg_endpoint *e = post->endpoint;
    post->stage = GG_POST_QUEUED;
    list_add(&e->queue, post, front);
    if (post->deadline_ms != INT64_MAX)
        gg_due_put(&e->heap, &post->due, post->deadline_ms);
}

void gg_endpoint_pump(gg_endpoint *e)
{
    while (e->queue.first && may_start(e, gg_endpoint_now(e))) {
        gg_post *post = e->queue.first;
        gg_post_withdraw(post);
        launch(post);
    }
    arm(e);
}

void gg_endpoint_go_on(gg_endpoint *e)
{
    e->held = false;
    gg_endpoint_pump(e);
}

/* What a good reply says is kept in records; errors are hidden as they are told. */
static void blank_keys(const gg_endpoint *e, const gg_http_reply *reply)
{
    char *body; /* the transfer's own buffer, which nobody else looks at */
    if (reply->status / 100 != 2)
        return;
    memcpy(&body, &reply->body, sizeof body);
    gg_secrets_blank(&e->secrets, body, reply->len);
}

static void on_reply(void *context, const gg_http_reply *reply)
{
    gg_post *post = context;
    gg_endpoint *e = post->endpoint;
    gg_post_withdraw(post);
    post->transfer = NULL;
    post->sign_again = false;
    gg_buf_reset(&e->message);
    blank_keys(e, reply);
    gg_retry_class class = gg_retry_classify(reply, &e->message);
    if (class == GG_RETRY_OK && post->accept)
        class = post->accept(post->context, reply, &e->message);
    if (reply->transport == GG_TRANSPORT_OK)
        e->last_reply_ms = gg_endpoint_now(e);
    if (class == GG_RETRY_OK) {
        gg_endpoint_note(post, true);
        gg_post_note(post, reply->status, class);
        gg_post_finish(post, GG_RETRY_OK, reply, "");
    } else
        gg_post_failed(post, class, reply);
    gg_endpoint_pump(e);
}

/* A deadline in the queue, a deadline or the next attempt of a waiting request, or its end. */
static void fall_due(gg_post *post)
{
    gg_endpoint *e = post->endpoint;
    bool late = post->deadline_ms <= gg_endpoint_now(e);
    gg_post_withdraw(post);
    if (!post->hopeless && !late) {
        gg_post_enqueue(post, true);
        return;
    }
    if (post->attempt_count)
        post->attempts[post->attempt_count - 1].wait_ms = gg_endpoint_now(e) - post->failed_ms;
    gg_buf_reset(&e->message);
    if (!post->hopeless)
        gg_buf_printf(&e->message, "the deadline passed while waiting %s%s",
                      post->trouble ? "to try again; before that: " : "to be sent",
                      post->trouble ? post->trouble : "");
    else
        gg_buf_str(&e->message, post->trouble ? post->trouble : "out of memory");
    gg_post_finish(post, post->hopeless ? GG_RETRY_STOP : GG_RETRY_DEADLINE, &NO_REPLY,
                   gg_buf_cstr(&e->message));
}

void gg_endpoint_on_timer(uv_timer_t *timer)
{
    gg_endpoint *e = timer->data;
    int64_t now = gg_endpoint_now(e);
    for (gg_due *due; (due = gg_due_first(&e->heap)) && due->time <= now;)
        fall_due((gg_post *)due);
    gg_endpoint_pump(e);
}

void gg_post_begin(gg_post *post)
{
    gg_endpoint *e = post->endpoint;
    if (!e->queue.first && may_start(e, gg_endpoint_now(e)))
        launch(post);
    else
        gg_post_enqueue(post, false);
    if (post->stage != GG_POST_FLYING)
        arm(e);
}
