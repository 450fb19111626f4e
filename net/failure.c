#include "net/post.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEXT_MAX     1200
#define LOCATION_MAX 300

/* Paths that stand behind a "/v1". */
static const char *const OPENAI_PATHS[] = {"/chat/completions", "/completions", "/models"};

static bool is_openai(const char *path)
{
    for (size_t i = 0; i < sizeof OPENAI_PATHS / sizeof *OPENAI_PATHS; i++)
        if (strcmp(path, OPENAI_PATHS[i]) == 0)
            return true;
    return false;
}

static int64_t unix_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Puts "HTTP 404: " or "no reply (reset): " before the error's text, and advice behind it. */
static void compose(const gg_post *post, gg_retry_class class, const gg_http_reply *reply)
{
    gg_endpoint *e = post->endpoint;
    gg_buf *m = &e->message;
    char head[64];
    if (reply->transport != GG_TRANSPORT_OK)
        snprintf(head, sizeof head, "no reply (%s)", gg_transport_name(reply->transport));
    else
        snprintf(head, sizeof head, "HTTP %d", reply->status);
    char *text = m->len ? strdup(m->data) : NULL;
    gg_buf_reset(m);
    gg_buf_str(m, head);
    if (text)
        gg_buf_printf(m, ": %.*s", TEXT_MAX, text);
    free(text);
    const char *advice = class == GG_RETRY_STOP && reply->transport == GG_TRANSPORT_OK
                             ? gg_retry_advice(reply->status)
                             : "";
    if (*advice)
        gg_buf_printf(m, "; %s", advice);
    if (reply->location)
        gg_buf_printf(m, " (%.*s)", LOCATION_MAX, reply->location);
    if (reply->status == 404 && !e->address.versioned && is_openai(post->path))
        gg_buf_printf(m, "; should it be %s/v1?", e->address.shown);
}

/* True when nobody has had a good reply for as long as this request has been failing, and it is
 * not just this request. */
static bool is_down(const gg_post *post)
{
    const gg_endpoint *e = post->endpoint;
    return post->first_epoch == e->epoch && (e->failing >= 2 || !e->ever_good);
}

void gg_endpoint_note(gg_post *post, bool alive)
{
    gg_endpoint *e = post->endpoint;
    if (alive) {
        e->epoch++;
        e->failing = 0;
        e->busy_streak = 0;
        e->ever_good = true;
    } else if (post->epoch != e->epoch) {
        if (post->epoch < 0)
            post->first_epoch = e->epoch;
        post->epoch = e->epoch;
        e->failing++;
    }
}

/* The same 500 again and again: the prompt breaks the server, and no patience will mend it. */
static bool breaks_server(gg_post *post, const gg_http_reply *reply)
{
    const gg_buf *m = &post->endpoint->message;
    uint64_t text = gg_retry_hash(0, gg_buf_cstr(m), m->len);
    if (reply->status != 500) {
        post->same_500 = 0;
        return false;
    }
    post->same_500 = text == post->last_500 ? post->same_500 + 1 : 1;
    post->last_500 = text;
    return post->same_500 >= GG_ENDPOINT_SAME_500;
}

/* A model that loads may take its time; nothing else is free of charge. */
static void count_try(gg_post *post, gg_retry_class class)
{
    gg_endpoint *e = post->endpoint;
    bool patient = class == GG_RETRY_STARTING && !e->ever_good &&
                   gg_endpoint_now(e) - e->first_ms < GG_ENDPOINT_START_MS;
    post->tries += patient ? 0 : 1;
}

/* The class after everything that this endpoint and this request have seen; GG_RETRY_DEADLINE when
 * the wait would be longer than the time left. Says why in the message. */
static gg_retry_class decide(gg_post *post, gg_retry_class class, const gg_http_reply *reply,
                             int64_t asked_ms, int64_t delay_ms)
{
    gg_endpoint *e = post->endpoint;
    if (!gg_retry_again(class))
        return class;
    if (post->cut_short && reply->transport == GG_TRANSPORT_TIMEOUT)
        return GG_RETRY_DEADLINE;
    if (breaks_server(post, reply)) {
        gg_buf_printf(&e->message, "; the same %d times in a row, so this request is given up",
                      post->same_500);
        return GG_RETRY_REFUSED;
    }
    if (asked_ms > GG_RETRY_SERVER_CAP_MS) {
        gg_buf_printf(&e->message,
                      "; it asks to wait %" PRId64
                      " s, more than the %d s that we wait: go on later",
                      asked_ms / 1000, GG_RETRY_SERVER_CAP_MS / 1000);
        return GG_RETRY_STOP;
    }
    count_try(post, class);
    if (post->tries >= e->options.attempts_max) {
        /* Replies that are no replies are one request's trouble, once the endpoint has shown that
         * it can do better. */
        bool down = is_down(post) && (class != GG_RETRY_BAD_REPLY || !e->ever_good);
        gg_buf_printf(&e->message, " (%d attempts%s)", post->tries,
                      down ? "; nobody had a good reply meanwhile, is the server running?" : "");
        return down ? GG_RETRY_STOP : class;
    }
    if (delay_ms >= post->deadline_ms - gg_endpoint_now(e)) {
        gg_buf_str(&e->message, "; the next attempt would come after the deadline");
        return GG_RETRY_DEADLINE;
    }
    return class;
}

/* Who else has to wait. */
static void share(gg_endpoint *e, gg_retry_class class, int64_t asked_ms, int64_t delay_ms)
{
    if (!gg_retry_shared(class))
        return;
    e->busy_streak++;
    if (asked_ms > 0 || class == GG_RETRY_RATE || e->busy_streak >= GG_ENDPOINT_BUSY_STREAK)
        gg_endpoint_pause(e, class, delay_ms);
}

void gg_post_failed(gg_post *post, gg_retry_class class, const gg_http_reply *reply)
{
    gg_endpoint *e = post->endpoint;
    bool refused = reply->status == 401 || reply->status == 403;
    int64_t asked_ms = gg_retry_server_delay(reply, gg_buf_cstr(&e->message), unix_ms());
    /* The clock of the loop is cut to milliseconds: one more, not to come too early. */
    int attempt = (int)post->attempt_count;
    double unit = gg_retry_unit(e->options.seed, post->path, post->body, post->body_len, attempt);
    int64_t delay_ms = asked_ms > 0 ? asked_ms + 1 : gg_retry_delay(attempt, unit);
    gg_retry_class said = class;
    gg_post_note(post, reply->status, class);
    gg_endpoint_note(post, class == GG_RETRY_REFUSED || class == GG_RETRY_CONTEXT);
    gg_secrets_hide(&e->secrets, &e->message, 0);
    compose(post, class, reply);
    if (class == GG_RETRY_STOP && refused && e->options.sign && !post->signed_again) {
        post->signed_again = post->sign_again = true;
        post->failed_ms = gg_endpoint_now(e);
        gg_post_enqueue(post, true);
        return;
    }
    class = decide(post, class, reply, asked_ms, delay_ms);
    gg_secrets_hide(&e->secrets, &e->message, 0);
    if (gg_retry_again(said) && class != GG_RETRY_STOP)
        share(e, said, asked_ms, delay_ms);
    if (!gg_retry_again(class) || post->tries >= e->options.attempts_max) {
        gg_post_finish(post, class, reply, gg_buf_cstr(&e->message));
        return;
    }
    free(post->trouble);
    post->trouble = strdup(gg_buf_cstr(&e->message));
    post->failed_ms = gg_endpoint_now(e);
    gg_post_wait(post, post->failed_ms + delay_ms);
}
