#include "net/due.h"
#include "net/endpoint.h"
#include "net/server.h"
#include "tests/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#define STEPS_MAX 32
#define HELD_MAX  512
#define SOON      "retry-after-ms: 1" /* keeps the tests from waiting for real back-offs */

/* ---- a server that follows a script ---- */

typedef struct step {
    int status; /* 0 (with some body) = close without a reply, HOLD = answer when told */
    const char *body, *header;
} step;
#define HOLD (-1)

typedef struct script {
    pthread_mutex_t lock;
    gg_server *server;
    step steps[STEPS_MAX]; /* then "200 {}" for ever */
    size_t next;
    const char *poison; /* requests with this in their body get the last step for ever */
    step poisoned;
    int served;
    int64_t times_ms[HELD_MAX];
    gg_exchange *held[HELD_MAX];
    size_t held_count;
    char target[256], headers[512], body[256], method[16]; /* of the last request */
} script;

static int64_t clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void see(script *s, const gg_exchange *exchange, const gg_exchange_request *request)
{
    const char *key = gg_exchange_header(exchange, "authorization");
    const char *extra = gg_exchange_header(exchange, "x-extra");
    s->times_ms[s->served % HELD_MAX] = clock_ms();
    s->served++;
    snprintf(s->target, sizeof s->target, "%s", request->target);
    snprintf(s->body, sizeof s->body, "%s", request->body);
    snprintf(s->method, sizeof s->method, "%s", request->method);
    snprintf(s->headers, sizeof s->headers, "%s|%s", key ? key : "-", extra ? extra : "-");
}

static void play(void *context, gg_exchange *exchange, const gg_exchange_request *request)
{
    script *s = context;
    step now = {200, "{}", NULL};
    pthread_mutex_lock(&s->lock);
    see(s, exchange, request);
    if (s->poison && strstr(request->body, s->poison))
        now = s->poisoned;
    else if (s->next < STEPS_MAX && (s->steps[s->next].status || s->steps[s->next].body))
        now = s->steps[s->next++];
    if (now.status == HOLD) {
        assert_true(s->held_count < HELD_MAX);
        s->held[s->held_count++] = exchange;
    }
    pthread_mutex_unlock(&s->lock);
    const char *const headers[] = {now.header, NULL};
    if (now.status == 0)
        gg_exchange_drop(exchange);
    else if (now.status != HOLD)
        gg_exchange_reply(exchange, now.status, "application/json", headers, now.body,
                          strlen(now.body));
}

static int served(script *s)
{
    pthread_mutex_lock(&s->lock);
    int count = s->served;
    pthread_mutex_unlock(&s->lock);
    return count;
}

/* Answers what is held; returns how many that were. */
static size_t let_go(script *s)
{
    gg_exchange *held[HELD_MAX];
    pthread_mutex_lock(&s->lock);
    size_t count = s->held_count;
    memcpy(held, s->held, count * sizeof(gg_exchange *));
    s->held_count = 0;
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < count; i++)
        gg_exchange_reply_json(held[i], 200, "{}");
    return count;
}

/* ---- a client ---- */

typedef struct client {
    uv_loop_t loop;
    gg_http *http;
    gg_endpoint *endpoint;
    script script;
} client;

/* options.base_url: "%d" stands for the port; NULL = the usual one. */
static void start_with(client *c, gg_endpoint_options options)
{
    gg_error error = {0};
    char url[256];
    *c = (client){.endpoint = NULL};
    pthread_mutex_init(&c->script.lock, NULL);
    gg_server_options server = {.listen = ":0", .handler = play, .context = &c->script};
    if (gg_server_start(&server, &c->script.server, &error) != GG_OK)
        fail_msg("%s", error.text);
    assert_int_equal(uv_loop_init(&c->loop), 0);
    assert_int_equal(gg_http_new(&c->loop, &c->http, &error), GG_OK);
    const char *base = options.base_url ? options.base_url : "http://127.0.0.1:%d/v1";
    const char *port = strstr(base, "%d");
    snprintf(url, sizeof url, "%.*s%d%s", (int)(port - base), base,
             gg_server_port(c->script.server), port + 2);
    options.base_url = url;
    if (gg_endpoint_new(c->http, &options, &c->endpoint, &error) != GG_OK)
        fail_msg("%s", error.text);
}

static void start(client *c, size_t in_flight)
{
    start_with(c, (gg_endpoint_options){.in_flight_max = in_flight, .seed = 42});
}

static void stop(client *c)
{
    gg_endpoint_free(c->endpoint);
    gg_http_free(c->http);
    uv_run(&c->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&c->loop), 0);
    let_go(&c->script);
    gg_server_stop(c->script.server);
    pthread_mutex_destroy(&c->script.lock);
}

typedef struct seen {
    int count;
    gg_retry_class outcome;
    int status;
    size_t attempts;
    char reasons[512], message[2048], body[256];
    int64_t waited_ms, at_ms;
} seen;

static void note(void *context, const gg_post_result *result)
{
    seen *s = context;
    s->count++;
    s->outcome = result->outcome;
    s->status = result->reply->status;
    s->attempts = result->attempt_count;
    s->at_ms = clock_ms();
    snprintf(s->message, sizeof s->message, "%s", result->message);
    snprintf(s->body, sizeof s->body, "%s", result->reply->body);
    s->reasons[0] = '\0';
    for (size_t i = 0; i < result->attempt_count; i++) {
        size_t len = strlen(s->reasons);
        snprintf(s->reasons + len, sizeof s->reasons - len, "%s%s", i ? " " : "",
                 result->attempts[i].reason);
        s->waited_ms += result->attempts[i].wait_ms;
    }
}

static gg_post *post_to(client *c, const gg_post_request *request, seen *s)
{
    gg_error error = {0};
    gg_post *post;
    *s = (seen){0};
    if (gg_endpoint_send(c->endpoint, request, note, s, &post, &error) != GG_OK)
        fail_msg("%s", error.text);
    assert_int_equal(s->count, 0);
    return post;
}

static gg_post *post(client *c, const char *body, int64_t deadline_ms, seen *s)
{
    gg_post_request request = {
        .path = "/chat/completions", .body = body, .len = strlen(body), .deadline_ms = deadline_ms};
    return post_to(c, &request, s);
}

static void run(client *c)
{
    uv_run(&c->loop, UV_RUN_DEFAULT);
}

/* ---- one request: what comes of a row of replies ---- */

static gg_retry_class no_bad(void *context, const gg_http_reply *reply, gg_buf *message)
{
    (void)context;
    if (!strstr(reply->body, "bad"))
        return GG_RETRY_OK;
    gg_buf_str(message, "the reply has no choices");
    return GG_RETRY_BAD_REPLY;
}

static void test_outcomes(void **state)
{
    (void)state;
#define BUSY                                                                                       \
    {                                                                                              \
        503, "busy", SOON                                                                          \
    }
#define A500                                                                                       \
    {                                                                                              \
        500, "same text", SOON                                                                     \
    }
#define STARTING                                                                                   \
    {                                                                                              \
        503, "{\"error\":{\"message\":\"Loading model\"}}", SOON                                   \
    }
    static const struct {
        const char *what;
        step steps[14];
        gg_retry_class outcome;
        const char *reasons;
        const char *message[3]; /* parts */
    } table[] = {
        {"good", {{200, "{}", NULL}}, GG_RETRY_OK, "ok", {""}},
        {"busy once", {BUSY}, GG_RETRY_OK, "busy ok", {""}},
        {"all kinds",
         {{429, "slow", SOON},
          {500, "x", SOON},
          {408, "x", SOON},
          {409, "x", SOON},
          {504, "x", SOON}},
         GG_RETRY_OK,
         "rate server timeout server server ok",
         {""}},
        {"a lost connection", {{0, "drop", NULL}}, GG_RETRY_OK, "transport ok", {""}},
        {"a 200 that is no reply", {{200, "bad", NULL}}, GG_RETRY_OK, "bad_reply ok", {""}},
        {"key",
         {{401, "{\"error\":{\"message\":\"wrong key\"}}", NULL}},
         GG_RETRY_STOP,
         "stop",
         {"HTTP 401: wrong key", "check the API key"}},
        {"forbidden", {{403, "no", NULL}}, GG_RETRY_STOP, "stop", {"HTTP 403: no", "permissions"}},
        {"not found",
         {{404, "{\"detail\":\"Not Found\"}", NULL}},
         GG_RETRY_STOP,
         "stop",
         {"HTTP 404: Not Found", "check the model's name and the base URL"}},
        {"quota",
         {{429, "{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"no credit\"}}", SOON}},
         GG_RETRY_STOP,
         "stop",
         {"no credit"}},
        {"redirect",
         {{301, "", "Location: https://example.com/v1"}},
         GG_RETRY_STOP,
         "stop",
         {"give the address it redirects to", "https://example.com/v1"}},
        {"refused",
         {{400, "{\"message\":\"max_tokens is not supported\"}", NULL}},
         GG_RETRY_REFUSED,
         "refused",
         {"HTTP 400: max_tokens is not supported"}},
        {"context",
         {{400, "{\"message\":\"maximum context length\"}", NULL}},
         GG_RETRY_CONTEXT,
         "context",
         {"maximum context length"}},
        {"do not retry", {{500, "x", "x-should-retry: false"}}, GG_RETRY_REFUSED, "refused", {"x"}},
        {"the same 500",
         {A500, A500, A500, A500},
         GG_RETRY_REFUSED,
         "server server server server",
         {"same text", "4 times in a row"}},
        {"three of the same 500 are tolerated",
         {A500, A500, A500},
         GG_RETRY_OK,
         "server server server ok",
         {""}},
        {"other 500s",
         {{500, "1", SOON}, A500, A500, A500, {500, "2", SOON}},
         GG_RETRY_OK,
         "server server server server server ok",
         {""}},
        {"too long a wait",
         {{429, "slow", "Retry-After: 3600"}},
         GG_RETRY_STOP,
         "rate",
         {"HTTP 429: slow", "3600 s", "120 s"}},
        {"503 for ever",
         {BUSY, BUSY, BUSY, BUSY, BUSY, BUSY, BUSY, BUSY, BUSY},
         GG_RETRY_STOP,
         "busy busy busy busy busy busy busy busy",
         {"HTTP 503: busy", "8 attempts", "running?"}},
        {"loading costs no attempts",
         {STARTING, STARTING, STARTING, STARTING, STARTING, STARTING, STARTING, STARTING, STARTING,
          STARTING},
         GG_RETRY_OK,
         "starting starting starting starting starting starting starting starting starting "
         "starting ok",
         {""}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        client c;
        seen s;
        start(&c, 4);
        memcpy(c.script.steps, table[i].steps, sizeof table[i].steps);
        gg_post_request request = {
            .path = "/chat/completions", .body = "{}", .len = 2, .accept = no_bad};
        post_to(&c, &request, &s);
        run(&c);
        assert_int_equal(s.count, 1);
        if (s.outcome != table[i].outcome || strcmp(s.reasons, table[i].reasons) != 0)
            fail_msg("%s: %s after %s: %s", table[i].what, gg_retry_class_name(s.outcome),
                     s.reasons, s.message);
        for (size_t k = 0; k < 3 && table[i].message[k]; k++)
            if (!strstr(s.message, table[i].message[k]))
                fail_msg("%s: \"%s\" lacks \"%s\"", table[i].what, s.message, table[i].message[k]);
        if (s.outcome == GG_RETRY_OK)
            assert_string_equal(s.message, "");
        assert_int_equal(served(&c.script), s.attempts);
        stop(&c);
    }
}

static void test_unreachable(void **state)
{
    (void)state;
    client c;
    seen s[2];
    start_with(&c, (gg_endpoint_options){.attempts_max = 2, .in_flight_max = 1});
    gg_server_stop(c.script.server);
    post(&c, "a", 0, &s[0]);
    post(&c, "b", 0, &s[1]);
    run(&c);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(s[i].outcome, GG_RETRY_STOP);
        assert_string_equal(s[i].reasons, "transport transport");
        assert_non_null(strstr(s[i].message, "no reply (connect)"));
    }
    gg_server_options options = {.listen = ":0", .handler = play, .context = &c.script};
    gg_error error;
    assert_int_equal(gg_server_start(&options, &c.script.server, &error), GG_OK);
    stop(&c);
}

/* A prompt that always fails ends its own episode, while the others show that the endpoint lives.
 */
static void test_poisoned_request(void **state)
{
    (void)state;
    client c;
    seen s[4];
    start(&c, 1);
    c.script.poison = "poison";
    c.script.poisoned = (step){503, "busy", SOON};
    post(&c, "a", 0, &s[0]);
    post(&c, "poison", 0, &s[1]);
    post(&c, "b", 0, &s[2]);
    post(&c, "c", 0, &s[3]);
    run(&c);
    assert_int_equal(s[1].outcome, GG_RETRY_BUSY);
    assert_int_equal(s[1].attempts, GG_RETRY_ATTEMPTS);
    assert_non_null(strstr(s[1].message, "(8 attempts)"));
    assert_int_equal(s[0].outcome, GG_RETRY_OK);
    assert_int_equal(s[2].outcome, GG_RETRY_OK);
    assert_int_equal(s[3].outcome, GG_RETRY_OK);
    stop(&c);
}

/* ---- the shared pause ---- */

/* One 429 that asks for 200 ms: nobody else comes in that time, and then all are served. */
static void test_shared_pause(void **state)
{
    (void)state;
    enum { N = 64, PAUSE_MS = 200 };
    static const char *const forms[] = {"retry-after-ms: 200", "Retry-After: 0.2",
                                        "x-ratelimit-reset-requests: 200ms", NULL};
    for (size_t form = 0; form < 4; form++) {
        client c;
        seen s[N];
        start(&c, 1);
        c.script.steps[0] = (step){429, "Please try again in 0.2s.", forms[form]};
        for (int i = 0; i < N; i++)
            post(&c, "x", 0, &s[i]);
        bool told = false;
        while (uv_run(&c.loop, UV_RUN_ONCE)) {
            gg_endpoint_state look;
            gg_endpoint_look(c.endpoint, &look);
            if (look.paused_until_ms) {
                told = true;
                assert_string_equal(look.pause_reason, "rate");
                assert_int_equal(look.queued + look.backing_off, N);
                assert_int_equal(look.in_flight, 0);
            }
        }
        assert_true(told);
        assert_int_equal(served(&c.script), N + 1);
        for (int i = 1; i <= N; i++)
            assert_true(c.script.times_ms[i] - c.script.times_ms[0] >= PAUSE_MS);
        for (int i = 0; i < N; i++)
            assert_int_equal(s[i].outcome, GG_RETRY_OK);
        assert_string_equal(s[0].reasons, "rate ok");
        assert_true(s[0].waited_ms >= PAUSE_MS);
        stop(&c);
    }
}

/* A 503 without a delay concerns one request; a row of them pauses all. */
static void test_busy_streak(void **state)
{
    (void)state;
    for (int streak = 1; streak <= GG_ENDPOINT_BUSY_STREAK; streak += GG_ENDPOINT_BUSY_STREAK - 1) {
        client c;
        seen s[GG_ENDPOINT_BUSY_STREAK];
        start(&c, 1);
        for (int i = 0; i < streak; i++)
            c.script.steps[i] = (step){503, "busy", NULL};
        for (int i = 0; i < streak; i++)
            post(&c, "x", 0, &s[i]);
        bool paused = false;
        while (uv_run(&c.loop, UV_RUN_ONCE)) {
            gg_endpoint_state look;
            gg_endpoint_look(c.endpoint, &look);
            paused = paused || look.paused_until_ms;
        }
        assert_int_equal(paused, streak >= GG_ENDPOINT_BUSY_STREAK);
        for (int i = 0; i < streak; i++)
            assert_string_equal(s[i].reasons, "busy ok");
        stop(&c);
    }
}

/* ---- limits and deadlines ---- */

static void test_in_flight_limit(void **state)
{
    (void)state;
    enum { N = 200 };
    static const size_t limits[] = {1, 4, 64};
    static seen s[N];
    for (size_t k = 0; k < 3; k++) {
        client c;
        start(&c, limits[k]);
        c.script.poison = "hold";
        c.script.poisoned = (step){HOLD, NULL, NULL};
        for (int i = 0; i < N; i++)
            post(&c, "hold", 0, &s[i]);
        size_t peak = 0;
        for (size_t done = 0; done < N;) {
            gg_endpoint_state look;
            uv_run(&c.loop, UV_RUN_NOWAIT);
            gg_endpoint_look(c.endpoint, &look);
            pthread_mutex_lock(&c.script.lock);
            size_t held = c.script.held_count, want = N - done < limits[k] ? N - done : limits[k];
            pthread_mutex_unlock(&c.script.lock);
            assert_true(look.in_flight <= limits[k] && held <= limits[k]);
            peak = held > peak ? held : peak;
            if (held == want)
                done += let_go(&c.script);
        }
        run(&c);
        assert_int_equal(peak, limits[k]);
        for (int i = 0; i < N; i++)
            assert_int_equal(s[i].outcome, GG_RETRY_OK);
        stop(&c);
    }
}

static void test_deadlines(void **state)
{
    (void)state;
    static const int64_t LEFT_MS = 60;
    client c;
    seen held, queued, in_time;
    /* in flight, and in the queue behind it */
    start(&c, 1);
    c.script.steps[0] = (step){HOLD, NULL, NULL};
    int64_t now = (int64_t)uv_now(&c.loop);
    post(&c, "a", now + 2 * LEFT_MS, &held);
    post(&c, "b", now + LEFT_MS, &queued);
    post(&c, "c", 0, &in_time);
    run(&c);
    assert_int_equal(held.outcome, GG_RETRY_DEADLINE);
    assert_string_equal(held.reasons, "timeout");
    assert_int_equal(queued.outcome, GG_RETRY_DEADLINE);
    assert_int_equal(queued.attempts, 0);
    assert_int_equal(queued.status, 0);
    assert_non_null(strstr(queued.message, "deadline"));
    assert_int_equal(in_time.outcome, GG_RETRY_OK);
    stop(&c);
    /* in a pause: the one that was told to wait ends at once, the other at its deadline */
    start(&c, 1);
    c.script.steps[0] = (step){429, "slow down", "Retry-After: 30"};
    now = (int64_t)uv_now(&c.loop);
    post(&c, "a", now + 10000, &held);
    post(&c, "b", now + LEFT_MS, &queued);
    run(&c);
    assert_int_equal(held.outcome, GG_RETRY_DEADLINE);
    assert_non_null(strstr(held.message, "slow down"));
    assert_int_equal(queued.outcome, GG_RETRY_DEADLINE);
    assert_int_equal(served(&c.script), 1);
    stop(&c);
    /* passed before it was sent */
    start(&c, 1);
    uv_update_time(&c.loop);
    post(&c, "a", 1, &held);
    assert_int_equal(held.count, 0);
    run(&c);
    assert_int_equal(held.outcome, GG_RETRY_DEADLINE);
    assert_int_equal(served(&c.script), 0);
    stop(&c);
}

/* The attempt's own time is up: another attempt, not the end. */
static void test_attempt_timeout(void **state)
{
    (void)state;
    client c;
    seen s;
    start_with(&c, (gg_endpoint_options){.timeout_ms = 1000, .attempts_max = 3, .seed = 1});
    c.script.steps[0] = (step){HOLD, NULL, NULL};
    post(&c, "a", 0, &s);
    run(&c);
    assert_int_equal(s.outcome, GG_RETRY_OK);
    assert_string_equal(s.reasons, "timeout ok");
    stop(&c);
}

/* ---- cancelling ---- */

static void test_cancel(void **state)
{
    (void)state;
    client c;
    seen flying, waiting, queued, other;
    gg_endpoint_state look;
    start(&c, 2);
    c.script.steps[0] = (step){HOLD, NULL, NULL};
    c.script.steps[1] = (step){500, "x", "Retry-After: 100"};
    c.script.steps[2] = (step){HOLD, NULL, NULL};
    gg_post *a = post(&c, "a", 0, &flying);
    while (served(&c.script) < 1)
        uv_run(&c.loop, UV_RUN_NOWAIT);
    gg_post *b = post(&c, "b", 0, &waiting);
    do {
        uv_run(&c.loop, UV_RUN_NOWAIT);
        gg_endpoint_look(c.endpoint, &look);
    } while (look.backing_off < 1);
    post(&c, "c", 0, &other);
    gg_post *d = post(&c, "d", 0, &queued);
    gg_endpoint_look(c.endpoint, &look);
    assert_int_equal(look.in_flight, 2);
    assert_int_equal(look.queued, 1);
    gg_post_cancel(d);
    gg_post_cancel(b);
    gg_endpoint_look(c.endpoint, &look);
    assert_int_equal(look.queued + look.backing_off, 0);
    gg_post_cancel(a);
    while (served(&c.script) < 3)
        uv_run(&c.loop, UV_RUN_NOWAIT);
    let_go(&c.script);
    run(&c);
    assert_int_equal(flying.count + waiting.count + queued.count, 0);
    assert_int_equal(other.outcome, GG_RETRY_OK);
    stop(&c);
}

static void test_free_with_requests(void **state)
{
    (void)state;
    enum { N = 20 };
    client c;
    seen s[N];
    gg_endpoint_state look;
    start(&c, 5);
    c.script.steps[0] = (step){500, "x", "Retry-After: 100"};
    c.script.poison = "hold";
    c.script.poisoned = (step){HOLD, NULL, NULL};
    post(&c, "a", 0, &s[0]);
    for (int i = 1; i < N; i++)
        post(&c, "hold", i % 2 ? (int64_t)uv_now(&c.loop) + 100000 : 0, &s[i]);
    do {
        uv_run(&c.loop, UV_RUN_NOWAIT);
        gg_endpoint_look(c.endpoint, &look);
    } while (look.backing_off < 1);
    assert_int_equal(look.in_flight, 5);
    assert_int_equal(look.queued, N - 6);
    stop(&c);
    for (int i = 0; i < N; i++)
        assert_int_equal(s[i].count, 0);
}

/* ---- addresses and requests ---- */

static void test_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *base; /* %d is the port */
        const char *shown, *target;
    } table[] = {
        {"http://127.0.0.1:%d/v1", "http://127.0.0.1:%d/v1", "/v1/chat/completions"},
        {"http://127.0.0.1:%d/v1///", "http://127.0.0.1:%d/v1", "/v1/chat/completions"},
        {"http://127.0.0.1:%d", "http://127.0.0.1:%d", "/chat/completions"},
        {"http://user:pass@127.0.0.1:%d/v1", "http://127.0.0.1:%d/v1", "/v1/chat/completions"},
        {"HTTP://127.0.0.1:%d/a/b?version=1&key=s", "HTTP://127.0.0.1:%d/a/b",
         "/a/b/chat/completions?version=1&key=s"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        client c;
        seen s;
        char shown[256];
        start_with(&c, (gg_endpoint_options){.base_url = table[i].base});
        const char *port = strstr(table[i].shown, "%d");
        snprintf(shown, sizeof shown, "%.*s%d%s", (int)(port - table[i].shown), table[i].shown,
                 gg_server_port(c.script.server), port + 2);
        assert_string_equal(gg_endpoint_shown(c.endpoint), shown);
        post(&c, "{}", 0, &s);
        run(&c);
        assert_int_equal(s.outcome, GG_RETRY_OK);
        assert_string_equal(c.script.target, table[i].target);
        stop(&c);
    }
}

static void test_request(void **state)
{
    (void)state;
    static const char *const all[] = {"Authorization: Bearer k123", NULL};
    static const char *const one[] = {"X-Extra: 7", NULL};
    client c;
    seen s;
    start_with(&c, (gg_endpoint_options){.headers = all});
    char body[] = "{\"a\":1}";
    gg_post_request request = {.path = "/x", .body = body, .len = strlen(body), .headers = one};
    post_to(&c, &request, &s);
    memset(body, 'z', sizeof body - 1); /* copied */
    run(&c);
    assert_string_equal(c.script.method, "POST");
    assert_string_equal(c.script.target, "/v1/x");
    assert_string_equal(c.script.body, "{\"a\":1}");
    assert_string_equal(c.script.headers, "Bearer k123|7");
    gg_post_request get = {.path = "/models"};
    post_to(&c, &get, &s);
    run(&c);
    assert_string_equal(c.script.method, "GET");
    assert_string_equal(c.script.headers, "Bearer k123|-");
    assert_int_equal(s.outcome, GG_RETRY_OK);
    stop(&c);
}

static void test_bad_options(void **state)
{
    (void)state;
    static const char *const broken[] = {"X-A: 1", "Authorization: Bearer sk-secret\nX: y", NULL};
    static const struct {
        gg_endpoint_options options;
        gg_status status;
        const char *text;
    } table[] = {
        {{.base_url = ""}, GG_E_CONFIG, "http://HOST"},
        {{.base_url = "127.0.0.1:80"}, GG_E_CONFIG, "http://HOST"},
        {{.base_url = "ftp://sk-secret@x/"}, GG_E_CONFIG, "http://HOST"},
        {{.base_url = "http://"}, GG_E_CONFIG, "http://HOST"},
        {{.base_url = "http:///v1"}, GG_E_CONFIG, "http://HOST"},
        {{.base_url = "http://:80/v1"}, GG_E_CONFIG, "http://HOST"},
        {{.base_url = "http://sk-secret@/v1"}, GG_E_CONFIG, "http://HOST"},
        {{.base_url = "http://x y/?key=sk-secret"}, GG_E_CONFIG, "http://HOST"},
        {{.base_url = "http://x/", .headers = broken}, GG_E_CONFIG, "header 2"},
        {{.base_url = "http://x/", .in_flight_max = 100000000}, GG_E_CONFIG, "ulimit -n"},
    };
    uv_loop_t loop;
    gg_http *http;
    gg_error error;
    assert_int_equal(uv_loop_init(&loop), 0);
    assert_int_equal(gg_http_new(&loop, &http, &error), GG_OK);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        gg_endpoint *endpoint;
        gg_error why = {0};
        if (gg_endpoint_new(http, &table[i].options, &endpoint, &why) != table[i].status)
            fail_msg("row %zu: %s", i, why.text);
        assert_null(endpoint);
        assert_non_null(strstr(why.text, table[i].text));
        assert_null(strstr(why.text, "secret"));
    }
    gg_http_free(http);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
}

/* ---- keys ---- */

/* Whatever the server repeats of what we sent, no key is in any message. */
static void test_keys_are_hidden(void **state)
{
    (void)state;
    static const char *const all[] = {"Authorization: Bearer sk-first-0123456789", NULL};
    static const char *const one[] = {"x-api-key: sk-second-0123456789", "X-Note: visible", NULL};
    static const char *const secrets[] = {"sk-first", "sk-second", "hunter22", "sk-third", NULL};
    static char padded[1024];
    memset(padded, '.', 392); /* the text's limit cuts the key that follows */
    snprintf(padded + 392, sizeof padded - 392, "sk-first-0123456789");
    const char *const texts[] = {
        "wrong key sk-first-0123456789, or sk-second-0123456789!",
        "{\"error\":{\"message\":\"Bearer sk-first-0123456789sk-first-0123456789 is not known\"}}",
        "http://visitor:hunter22@host/v1?api=sk-third-0123456789", "sk-first-0123456789", padded};
    static const int statuses[] = {401, 400, 500, 404, 429};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t k = 0; k < sizeof statuses / sizeof *statuses; k++) {
            client c;
            seen s;
            start_with(
                &c,
                (gg_endpoint_options){
                    .base_url = "http://visitor:hunter22@127.0.0.1:%d/v1?api=sk-third-0123456789",
                    .headers = all,
                    .attempts_max = 1});
            c.script.steps[0] =
                (step){statuses[k], texts[i], "Location: /x?api=sk-third-0123456789"};
            gg_post_request request = {
                .path = "/chat/completions", .body = "{}", .len = 2, .headers = one};
            post_to(&c, &request, &s);
            run(&c);
            assert_int_not_equal(s.outcome, GG_RETRY_OK);
            for (size_t n = 0; secrets[n]; n++)
                if (strstr(s.message, secrets[n]) ||
                    strstr(gg_endpoint_shown(c.endpoint), secrets[n]))
                    fail_msg("%d: \"%s\" in \"%s\"", statuses[k], secrets[n], s.message);
            if (i == 0)
                assert_non_null(strstr(s.message, "wrong key [hidden], or [hidden]!"));
            stop(&c);
        }
}

/* A good reply goes into records, so a key that it repeats is blanked; a short one may be a word.
 */
static void test_keys_in_replies(void **state)
{
    (void)state;
    static const struct {
        const char *key, *reply, *seen;
    } table[] = {
        {"Authorization: Bearer sk-0123456789abcdef", "[\"sk-0123456789abcdef\"]",
         "[\"*******************\"]"},
        {"x-api-key: sk-0123456789abcdef", "sk-0123456789abcdefsk-0123456789abcdef!sk-0",
         "**************************************!sk-0"},
        {"Authorization: Bearer EMPTY", "{\"a\":\"EMPTY\"}", "{\"a\":\"EMPTY\"}"},
        {"Authorization: Bearer placeholder", "placeholder", "placeholder"},
        {"Authorization: Bearer abcdefghijklmnop", "abcdefghijklmnop", "****************"},
        {"Authorization: Bearer sk-01234", "sk-01234 sk-0123", "******** sk-0123"},
        {"X-Note: not-a-secret-at-all", "not-a-secret-at-all", "not-a-secret-at-all"},
        {"Authorization: Bearer sk-0123456789abcdef", "", ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        client c;
        seen s;
        const char *const headers[] = {table[i].key, NULL};
        start_with(&c, (gg_endpoint_options){.base_url = "http://127.0.0.1:%d/v1",
                                             .headers = headers,
                                             .attempts_max = 1});
        c.script.steps[0] = (step){200, table[i].reply, NULL};
        gg_post_request request = {.path = "/chat/completions", .body = "{}", .len = 2};
        post_to(&c, &request, &s);
        run(&c);
        assert_int_equal(s.status, 200);
        assert_string_equal(s.body, table[i].seen);
        stop(&c);
    }
}

/* ---- signing ---- */

typedef struct signer {
    int calls, agains;
    gg_status status;
} signer;

static gg_status sign(void *context, const gg_sign_request *request, gg_buf *lines, gg_error *error)
{
    signer *s = context;
    s->calls++;
    s->agains += request->again;
    if (s->status != GG_OK)
        return gg_fail(error, s->status, "the token file is gone");
    assert_non_null(strstr(request->url, "/v1/chat/completions"));
    assert_string_equal(request->method, "POST");
    gg_buf_printf(lines, "Authorization: Bearer token-%d\nX-Extra: %zu\n", s->calls, request->len);
    return GG_OK;
}

static void test_signing(void **state)
{
    (void)state;
    static const struct {
        step steps[4];
        gg_status status;
        gg_retry_class outcome;
        int calls, agains;
        const char *headers, *message;
    } table[] = {
        {{{200, "{}", NULL}}, GG_OK, GG_RETRY_OK, 1, 0, "Bearer token-1|2", ""},
        {{{403, "expired", NULL}}, GG_OK, GG_RETRY_OK, 2, 1, "Bearer token-2|2", ""},
        {{{401, "expired", NULL}, {500, "x", SOON}},
         GG_OK,
         GG_RETRY_OK,
         3,
         1,
         "Bearer token-3|2",
         ""},
        {{{403, "expired", NULL}, {403, "token-2 expired", NULL}},
         GG_OK,
         GG_RETRY_STOP,
         2,
         1,
         "Bearer token-2|2",
         "[hidden] expired"},
        {{{200, "{}", NULL}}, GG_E_IO, GG_RETRY_STOP, 1, 0, "", "the token file is gone"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        client c;
        seen s;
        signer who = {.status = table[i].status};
        start_with(&c, (gg_endpoint_options){.sign = sign, .sign_context = &who});
        memcpy(c.script.steps, table[i].steps, sizeof table[i].steps);
        post(&c, "{}", 0, &s);
        run(&c);
        assert_int_equal(s.count, 1);
        assert_int_equal(s.outcome, table[i].outcome);
        assert_int_equal(who.calls, table[i].calls);
        assert_int_equal(who.agains, table[i].agains);
        assert_string_equal(c.script.headers, table[i].headers);
        assert_non_null(strstr(s.message, table[i].message));
        stop(&c);
    }
}

/* ---- short memory ---- */

/* Two requests, one retried, on a new client. */
static gg_status two_requests(void *context)
{
    client *c = context;
    static const char *const key[] = {"Authorization: Bearer k123", NULL};
    char url[64];
    gg_error error = {0};
    gg_post *posts[2];
    seen s[2] = {{0}};
    snprintf(url, sizeof url, "%s/v1", gg_server_url(c->script.server));
    c->script.next = 0;
    gg_endpoint_options options = {.base_url = url, .headers = key, .in_flight_max = 1};
    gg_status status = gg_http_new(&c->loop, &c->http, &error);
    if (status == GG_OK)
        status = gg_endpoint_new(c->http, &options, &c->endpoint, &error);
    gg_post_request request = {.path = "/x", .body = "{}", .len = 2, .headers = key};
    for (int i = 0; i < 2 && status == GG_OK; i++)
        status = gg_endpoint_send(c->endpoint, &request, note, &s[i], &posts[i], &error);
    if (status == GG_OK)
        run(c);
    for (int i = 0; i < 2 && status == GG_OK; i++)
        status = s[i].outcome == GG_RETRY_OK ? GG_OK : GG_E_MEMORY;
    gg_endpoint_free(c->endpoint);
    gg_http_free(c->http);
    c->endpoint = NULL;
    c->http = NULL;
    run(c);
    return status;
}

static void test_short_memory(void **state)
{
    (void)state;
    client c;
    start(&c, 1);
    gg_endpoint_free(c.endpoint);
    gg_http_free(c.http);
    c.endpoint = NULL;
    c.http = NULL;
    run(&c);
    c.script.steps[0] = (step){503, "{\"error\":{\"message\":\"busy\"}}", SOON};
    assert_true(alloc_each_fails(two_requests, &c) > 10);
    stop(&c);
}

/* ---- the heap of times ---- */

static void test_due_heap(void **state)
{
    (void)state;
    enum { N = 300, ROUNDS = 5000 };
    static gg_due items[N];
    gg_due_heap heap = {.items = NULL};
    unsigned seed = 20240229;
    printf("seed %u\n", seed);
    for (size_t i = 0; i < N; i++)
        items[i].place = GG_DUE_NONE;
    assert_true(gg_due_reserve(&heap, N));
    for (int round = 0; round < ROUNDS; round++) {
        seed = seed * 1664525u + 1013904223u;
        gg_due *due = &items[(seed >> 8) % N];
        if (seed >> 31)
            gg_due_take(&heap, due);
        else
            gg_due_put(&heap, due, (seed >> 4) % 1000);
        int64_t least = INT64_MAX;
        size_t count = 0;
        for (size_t i = 0; i < N; i++)
            if (items[i].place != GG_DUE_NONE) {
                least = items[i].time < least ? items[i].time : least;
                count++;
                assert_ptr_equal(heap.items[items[i].place], &items[i]);
            }
        assert_int_equal(heap.count, count);
        const gg_due *first = gg_due_first(&heap);
        assert_true(count ? first && first->time == least : !first);
    }
    gg_due_free(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcomes),         cmocka_unit_test(test_unreachable),
        cmocka_unit_test(test_poisoned_request), cmocka_unit_test(test_shared_pause),
        cmocka_unit_test(test_busy_streak),      cmocka_unit_test(test_in_flight_limit),
        cmocka_unit_test(test_deadlines),        cmocka_unit_test(test_attempt_timeout),
        cmocka_unit_test(test_cancel),           cmocka_unit_test(test_free_with_requests),
        cmocka_unit_test(test_addresses),        cmocka_unit_test(test_request),
        cmocka_unit_test(test_bad_options),      cmocka_unit_test(test_keys_are_hidden),
        cmocka_unit_test(test_keys_in_replies),  cmocka_unit_test(test_signing),
        cmocka_unit_test(test_short_memory),     cmocka_unit_test(test_due_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
