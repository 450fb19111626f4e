#include "net/http.h"
#include "net/server.h"
#include "tests/peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>
#include <cmocka.h>

#define URL_ROOM  256
#define REPLY_MAX ((size_t)100000)
#define OK_REPLY  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/* ---- a client on a loop ---- */

typedef struct seen {
    int count; /* callbacks */
    gg_transport transport;
    int status;
    char body[256];
    char detail[256];
} seen;

typedef struct client {
    uv_loop_t loop;
    gg_http *http;
    char url[URL_ROOM];
} client;

static void client_start(client *c, int port, const char *path)
{
    gg_error error = {0};
    assert_int_equal(uv_loop_init(&c->loop), 0);
    if (gg_http_new(&c->loop, &c->http, &error) != GG_OK)
        fail_msg("%s", error.text);
    snprintf(c->url, sizeof c->url, "http://127.0.0.1:%d%s", port, path);
}

static void client_stop(client *c)
{
    gg_http_free(c->http);
    uv_run(&c->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&c->loop), 0);
}

static void note(void *context, const gg_http_reply *reply)
{
    seen *s = context;
    s->count++;
    s->transport = reply->transport;
    s->status = reply->status;
    snprintf(s->body, sizeof s->body, "%s", reply->body);
    snprintf(s->detail, sizeof s->detail, "%s", reply->detail);
    assert_int_equal(strlen(reply->body), reply->len);
}

static gg_transfer *request(client *c, const gg_http_request *what, seen *s)
{
    gg_error error = {0};
    gg_transfer *transfer;
    if (gg_http_send(c->http, what, note, s, &transfer, &error) != GG_OK)
        fail_msg("%s", error.text);
    assert_int_equal(s->count, 0); /* never from inside the call */
    return transfer;
}

static void get(client *c, seen *s)
{
    gg_http_request what = {.method = "GET", .url = c->url, .timeout_ms = 5000};
    *s = (seen){0};
    request(c, &what, s);
    uv_run(&c->loop, UV_RUN_DEFAULT);
    assert_int_equal(s->count, 1);
}

/* ---- what comes back ---- */

static void test_replies(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        peer_step step;
        gg_transport transport;
        int status;
        const char *text; /* body, or a part of the detail */
    } table[] = {
        {"plain", {.reply = OK_REPLY}, GG_TRANSPORT_OK, 200, "ok"},
        {"to the end of the stream",
         {.reply = "HTTP/1.1 200 OK\r\n\r\nall"},
         GG_TRANSPORT_OK,
         200,
         "all"},
        {"chunked",
         {.reply = "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
                   "chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"},
         GG_TRANSPORT_OK,
         200,
         "abc"},
        {"empty body", {.reply = "HTTP/1.1 204 No Content\r\n\r\n"}, GG_TRANSPORT_OK, 204, ""},
        {"an error is a reply",
         {.reply = "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"},
         GG_TRANSPORT_OK,
         503,
         "busy"},
        {"no redirects",
         {.reply =
              "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"},
         GG_TRANSPORT_OK,
         302,
         ""},
        {"interim reply first",
         {.reply = "HTTP/1.1 100 Continue\r\n\r\n" OK_REPLY},
         GG_TRANSPORT_OK,
         200,
         "ok"},
        {"cut body",
         {.reply = "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{\"choices\":[{\"mess"},
         GG_TRANSPORT_RESET,
         0,
         ""},
        {"cut chunk",
         {.reply = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\nabc"},
         GG_TRANSPORT_RESET,
         0,
         ""},
        {"no reply at all", {.reply = NULL}, GG_TRANSPORT_RESET, 0, ""},
        {"half a header", {.reply = "HTTP/1.1 200 O"}, GG_TRANSPORT_RESET, 0, ""},
        {"not HTTP", {.reply = "hello\r\n\r\n"}, GG_TRANSPORT_OTHER, 0, ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        peer p;
        client c;
        seen s;
        assert_true(peer_start(&p, &table[i].step, 1));
        client_start(&c, p.port, "/");
        get(&c, &s);
        if (s.transport != table[i].transport || s.status != table[i].status)
            fail_msg("%s: %s, status %d, %s", table[i].what, gg_transport_name(s.transport),
                     s.status, s.detail);
        if (s.transport == GG_TRANSPORT_OK)
            assert_string_equal(s.body, table[i].text);
        else
            assert_true(strlen(s.detail) > 0 && !*s.body);
        client_stop(&c);
        peer_stop(&p);
    }
}

static void test_headers(void **state)
{
    (void)state;
    const peer_step step = {
        .reply =
            "HTTP/1.1 429 Slow\r\nContent-Type: application/json\r\nretry-after: 7\r\n"
            "Retry-After-Ms: 20\r\nX-Should-Retry: false\r\nx-ratelimit-reset-requests: 1s\r\n"
            "X-RateLimit-Reset-Tokens: 6m0s\r\nX-Request-ID: r1\r\nx-amzn-ErrorType: Throttled\r\n"
            "Content-Length: 2\r\n\r\n{}"};
    peer p;
    char url[URL_ROOM];
    gg_buf storage;
    gg_http_reply reply;
    gg_error error = {0};
    assert_true(peer_start(&p, &step, 1));
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", p.port);
    gg_http_request what = {.method = "GET", .url = url};
    assert_int_equal(gg_http_call(&what, &storage, &reply, &error), GG_OK);
    peer_stop(&p);
    assert_int_equal(reply.status, 429);
    assert_string_equal(reply.body, "{}");
    assert_int_equal(reply.len, 2);
    assert_string_equal(reply.content_type, "application/json");
    assert_string_equal(reply.retry_after, "7");
    assert_string_equal(reply.retry_after_ms, "20");
    assert_string_equal(reply.should_retry, "false");
    assert_string_equal(reply.reset_requests, "1s");
    assert_string_equal(reply.reset_tokens, "6m0s");
    assert_string_equal(reply.request_id, "r1");
    assert_string_equal(reply.error_type, "Throttled");
    assert_null(reply.location);
    assert_string_equal(reply.detail, "");
    gg_buf_free(&storage);
}

/* ---- what goes out ---- */

static void test_requests(void **state)
{
    (void)state;
    static const char *const KEY[] = {"Authorization: Bearer k", NULL};
    static const char *const TYPE[] = {"X-A: 1", "content-type: text/plain", NULL};
    static const struct {
        const char *method, *body;
        const char *const *headers;
        const char *has[3], *lacks[2]; /* parts of the request's bytes */
    } table[] = {
        {"GET",
         NULL,
         NULL,
         {"GET /p?q=1 HTTP/1.1\r\n", "\r\nHost: 127.0.0.1:"},
         {"Content-", "Expect"}},
        {"POST",
         "{}",
         KEY,
         {"POST /p?q=1 HTTP/1.1\r\n", "\r\nContent-Length: 2\r\n",
          "\r\nAuthorization: Bearer k\r\n"},
         {"x-www-form", "Expect"}},
        {"POST",
         "{\"a\":1}",
         TYPE,
         {"\r\ncontent-type: text/plain\r\n", "\r\nContent-Length: 7\r\n", "\r\n\r\n{\"a\":1}"},
         {"application/json", "Bearer"}},
        {"GET", NULL, KEY, {"GET /p", "Bearer k"}, {"Content-", "{"}},
        {"POST", NULL, NULL, {"POST /p", "\r\nContent-Length: 0\r\n"}, {"Bearer", "{"}},
        {"PUT",
         "x",
         NULL,
         {"PUT /p", "\r\nContent-Length: 1\r\n", "\r\n\r\nx"},
         {"POST", "Bearer"}},
        {"DELETE", NULL, NULL, {"DELETE /p"}, {"Content-", "PUT"}},
        {"PATCH", "y", NULL, {"PATCH /p", "\r\n\r\ny", "application/json"}, {"DELETE", "Bearer"}},
        {"GET", NULL, NULL, {"GET /p"}, {"PATCH", "Accept"}},
    };
    enum { N = sizeof table / sizeof *table };
    /* One handle and one connection serve them all, so nothing of one may stay for the next. */
    peer_step steps[N];
    for (size_t i = 0; i < N; i++)
        steps[i] = (peer_step){.reply = OK_REPLY, .keep = true};
    peer p;
    client c;
    assert_true(peer_start(&p, steps, N));
    client_start(&c, p.port, "/p?q=1");
    for (size_t i = 0; i < N; i++) {
        gg_http_request what = {.method = table[i].method,
                                .url = c.url,
                                .headers = table[i].headers,
                                .body = table[i].body,
                                .body_len = table[i].body ? strlen(table[i].body) : 0};
        seen s = {0};
        request(&c, &what, &s);
        uv_run(&c.loop, UV_RUN_DEFAULT);
        assert_int_equal(s.status, 200);
        for (size_t k = 0; k < 3 && table[i].has[k]; k++)
            if (!strstr(p.seen, table[i].has[k]))
                fail_msg("request %zu lacks \"%s\":\n%s", i, table[i].has[k], p.seen);
        for (size_t k = 0; k < 2 && table[i].lacks[k]; k++)
            if (strstr(p.seen, table[i].lacks[k]))
                fail_msg("request %zu has \"%s\":\n%s", i, table[i].lacks[k], p.seen);
    }
    client_stop(&c);
    peer_stop(&p);
    assert_int_equal(p.accepted, 1);
}

static void test_big_body_without_expect(void **state)
{
    (void)state;
    enum { LEN = 3 << 20 };
    const peer_step step = {.reply = OK_REPLY};
    peer p;
    client c;
    seen s = {0};
    char *body = malloc(LEN);
    assert_non_null(body);
    memset(body, 'b', LEN);
    assert_true(peer_start(&p, &step, 1));
    client_start(&c, p.port, "/");
    gg_http_request what = {.method = "POST", .url = c.url, .body = body, .body_len = LEN};
    request(&c, &what, &s);
    uv_run(&c.loop, UV_RUN_DEFAULT);
    assert_int_equal(s.status, 200);
    assert_null(strstr(p.seen, "Expect"));
    client_stop(&c);
    peer_stop(&p);
    free(body);
}

/* A header line that breaks would smuggle another one in; the refusal must not show the key. */
static void test_header_line_break(void **state)
{
    (void)state;
    static const char *const table[] = {"Authorization: Bearer sk-secret\n", "A: sk-secret\r\nB: c",
                                        "sk-secret"};
    client c;
    client_start(&c, 1, "/");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *const headers[] = {"X-First: 1", table[i], NULL};
        gg_http_request what = {.method = "GET", .url = c.url, .headers = headers};
        gg_transfer *transfer;
        gg_error error = {0};
        seen s = {0};
        assert_int_equal(gg_http_send(c.http, &what, note, &s, &transfer, &error), GG_E_ARGUMENT);
        assert_null(transfer);
        assert_null(strstr(error.text, "secret"));
        assert_non_null(strstr(error.text, "header 2"));
    }
    assert_int_equal(gg_http_in_flight(c.http), 0);
    client_stop(&c);
}

/* ---- what goes wrong ---- */

static void test_refused(void **state)
{
    (void)state;
    peer p;
    client c;
    seen s;
    assert_true(peer_start(&p, NULL, 0)); /* a port that nobody listens on any more */
    peer_stop(&p);
    client_start(&c, p.port, "/");
    for (int i = 0; i < 3; i++) {
        get(&c, &s);
        assert_int_equal(s.transport, GG_TRANSPORT_CONNECT);
        assert_non_null(strstr(s.detail, "127.0.0.1"));
    }
    client_stop(&c);
}

static void test_timeout(void **state)
{
    (void)state;
    const peer_step step = {.reply = OK_REPLY, .wait_ms = 400};
    peer p;
    client c;
    seen s = {0};
    assert_true(peer_start(&p, &step, 1));
    client_start(&c, p.port, "/");
    gg_http_request what = {.method = "GET", .url = c.url, .timeout_ms = 50};
    request(&c, &what, &s);
    uv_run(&c.loop, UV_RUN_DEFAULT);
    assert_int_equal(s.count, 1);
    assert_int_equal(s.transport, GG_TRANSPORT_TIMEOUT);
    client_stop(&c);
    peer_stop(&p);
}

/* All who wait for a name that does not exist fail together, not one look-up after the other. */
static void test_unknown_host(void **state)
{
    (void)state;
    enum { N = 50 };
    client c;
    seen s[N] = {{0}};
    client_start(&c, 1, "/");
    gg_http_request what = {.method = "GET", .url = "http://no-such-host.invalid/"};
    for (int i = 0; i < N; i++)
        request(&c, &what, &s[i]);
    assert_int_equal(gg_http_in_flight(c.http), N);
    uv_run(&c.loop, UV_RUN_DEFAULT);
    for (int i = 0; i < N; i++) {
        assert_int_equal(s[i].count, 1);
        assert_int_equal(s[i].transport, GG_TRANSPORT_RESOLVE);
        assert_non_null(strstr(s[i].detail, "no-such-host.invalid"));
    }
    client_stop(&c);
}

/* Sizes are counted after decoding: the bomb is 1 MB of zeros in about 1 kB. */
static void test_size_cap(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        bool gzip;
        gg_transport transport;
    } table[] = {{REPLY_MAX, false, GG_TRANSPORT_OK},
                 {REPLY_MAX + 1, false, GG_TRANSPORT_TOO_BIG},
                 {REPLY_MAX, true, GG_TRANSPORT_OK},
                 {REPLY_MAX * 10, true, GG_TRANSPORT_TOO_BIG}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        unsigned char *plain = calloc(1, table[i].len);
        uLongf packed_len = compressBound(table[i].len);
        unsigned char *packed = malloc(packed_len);
        assert_true(plain && packed);
        memset(plain, 'z', table[i].len);
        assert_int_equal(compress(packed, &packed_len, plain, table[i].len), Z_OK);
        gg_buf reply;
        gg_buf_init(&reply, 10 * REPLY_MAX);
        gg_buf_printf(&reply, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n%s\r\n",
                      table[i].gzip ? (size_t)packed_len : table[i].len,
                      table[i].gzip ? "Content-Encoding: deflate\r\n" : "");
        gg_buf_add(&reply, table[i].gzip ? packed : plain,
                   table[i].gzip ? packed_len : table[i].len);
        const peer_step step = {.reply = reply.data, .len = reply.len};
        peer p;
        client c;
        seen s = {0};
        assert_true(peer_start(&p, &step, 1));
        client_start(&c, p.port, "/");
        /* this host by an address that is not loopback's, which is not offered compression */
        snprintf(c.url, sizeof c.url, "http://0.0.0.0:%d/", p.port);
        gg_http_request what = {.method = "GET", .url = c.url, .reply_max = REPLY_MAX};
        request(&c, &what, &s);
        uv_run(&c.loop, UV_RUN_DEFAULT);
        assert_int_equal(s.transport, table[i].transport);
        assert_non_null(strstr(p.seen, "\r\nUser-Agent: guessgym/"));
        assert_non_null(strstr(p.seen, "\r\nAccept-Encoding: "));
        if (s.transport == GG_TRANSPORT_TOO_BIG)
            assert_string_equal(s.detail, "the reply is longer than 100000 bytes");
        client_stop(&c);
        peer_stop(&p);
        gg_buf_free(&reply);
        free(plain);
        free(packed);
    }
}

/* A server that closes after each reply without saying so: the next request finds a dead
 * connection and must go through all the same. */
static void test_stale_keep_alive(void **state)
{
    (void)state;
    enum { N = 5 };
    peer_step steps[N];
    for (size_t i = 0; i < N; i++)
        steps[i] = (peer_step){.reply = OK_REPLY};
    peer p;
    client c;
    seen s;
    assert_true(peer_start(&p, steps, N));
    client_start(&c, p.port, "/");
    for (int i = 0; i < N; i++) {
        get(&c, &s);
        assert_int_equal(s.status, 200);
        usleep(5000);
    }
    client_stop(&c);
    peer_stop(&p);
    assert_int_equal(p.accepted, N);
}

static void test_loopback_needs_no_proxy(void **state)
{
    (void)state;
    const peer_step step = {.reply = OK_REPLY};
    peer p;
    client c;
    seen s;
    assert_true(peer_start(&p, &step, 1));
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    client_start(&c, p.port, "/");
    get(&c, &s);
    unsetenv("http_proxy");
    assert_int_equal(s.status, 200);
    client_stop(&c);
    peer_stop(&p);
}

/* ---- many ---- */

static void tell_length(void *context, gg_exchange *exchange, const gg_exchange_request *what)
{
    (void)context;
    char text[64];
    int len = snprintf(text, sizeof text, "%zu", what->body_len);
    gg_exchange_reply(exchange, 200, "text/plain", NULL, text, (size_t)len);
}

static gg_server *echo_server(const char *listen)
{
    gg_server *server;
    gg_error error = {0};
    gg_server_options options = {.listen = listen, .handler = tell_length};
    if (gg_server_start(&options, &server, &error) != GG_OK)
        fail_msg("%s", error.text);
    return server;
}

/* A chain sends its next request from the callback of the one before; bodies of growing length
 * show that no reply reaches the wrong chain. */
typedef struct chain {
    client *client;
    const char *body;
    size_t sent, length, left;
    size_t *finished;
} chain;

static void chain_next(chain *ch);

static void chain_done(void *context, const gg_http_reply *reply)
{
    chain *ch = context;
    assert_int_equal(reply->transport, GG_TRANSPORT_OK);
    assert_int_equal(strtoul(reply->body, NULL, 10), ch->sent);
    if (ch->left)
        chain_next(ch);
    else
        ++*ch->finished;
}

static void chain_next(chain *ch)
{
    gg_error error;
    gg_transfer *transfer;
    ch->left--;
    ch->sent = ch->length++;
    gg_http_request what = {
        .method = "POST", .url = ch->client->url, .body = ch->body, .body_len = ch->sent};
    assert_int_equal(gg_http_send(ch->client->http, &what, chain_done, ch, &transfer, &error),
                     GG_OK);
}

static void test_many_chains(void **state)
{
    (void)state;
    enum { CHAINS = 300, LENGTH = 10 };
    static char body[CHAINS * 2 * LENGTH];
    static chain chains[CHAINS];
    memset(body, 'c', sizeof body);
    gg_server *server = echo_server(":0");
    client c;
    client_start(&c, gg_server_port(server), "/x");
    size_t finished = 0;
    for (size_t i = 0; i < CHAINS; i++) {
        chains[i] = (chain){.client = &c,
                            .body = body,
                            .length = i * LENGTH,
                            .left = LENGTH,
                            .finished = &finished};
        chain_next(&chains[i]);
    }
    assert_int_equal(gg_http_in_flight(c.http), CHAINS);
    uv_run(&c.loop, UV_RUN_DEFAULT);
    assert_int_equal(finished, CHAINS);
    assert_int_equal(gg_http_in_flight(c.http), 0);
    client_stop(&c);
    gg_server_stop(server);
}

static void test_unix_socket(void **state)
{
    (void)state;
    char folder[] = "/tmp/gg-test-XXXXXX", listen[64];
    assert_non_null(mkdtemp(folder));
    snprintf(listen, sizeof listen, "unix:%s/s", folder);
    gg_server *server = echo_server(listen);
    client c;
    seen s = {0};
    client_start(&c, 1, "/");
    gg_http_request what = {.method = "POST",
                            .url = "http://localhost/v1",
                            .unix_socket = listen + 5,
                            .body = "abc",
                            .body_len = 3};
    request(&c, &what, &s);
    uv_run(&c.loop, UV_RUN_DEFAULT);
    assert_int_equal(s.status, 200);
    assert_string_equal(s.body, "3");
    client_stop(&c);
    gg_server_stop(server);
    rmdir(folder);
}

/* ---- cancelling ---- */

static void hold(void *context, gg_exchange *exchange, const gg_exchange_request *what)
{
    (void)what;
    gg_exchange **held = context;
    while (*held)
        held++;
    *held = exchange;
}

/* One is the scout, the others wait for it or (after the first turn) are under way. */
static void test_cancel(void **state)
{
    (void)state;
    enum { N = 4 };
    for (int turns = 0; turns < 3; turns++)
        for (int victim = 0; victim < N; victim++) {
            gg_exchange *held[N + 2] = {NULL};
            gg_server *server;
            gg_error error = {0};
            gg_server_options options = {.listen = ":0", .handler = hold, .context = held};
            assert_int_equal(gg_server_start(&options, &server, &error), GG_OK);
            client c;
            seen s[N] = {{0}};
            gg_transfer *transfers[N];
            client_start(&c, gg_server_port(server), "/");
            gg_http_request what = {.method = "GET", .url = c.url};
            for (int i = 0; i < N; i++)
                transfers[i] = request(&c, &what, &s[i]);
            for (int i = 0; i < turns; i++)
                uv_run(&c.loop, UV_RUN_NOWAIT);
            gg_http_cancel(transfers[victim]);
            assert_int_equal(gg_http_in_flight(c.http), N - 1);
            gg_server_stop(server); /* the others end with 503 or a lost connection */
            uv_run(&c.loop, UV_RUN_DEFAULT);
            for (int i = 0; i < N; i++)
                assert_int_equal(s[i].count, i == victim ? 0 : 1);
            for (int i = 0; held[i]; i++)
                gg_exchange_drop(held[i]);
            client_stop(&c);
        }
}

static void test_free_in_flight(void **state)
{
    (void)state;
    enum { N = 100 };
    gg_exchange *held[N + 1] = {NULL};
    gg_server *server;
    gg_error error = {0};
    gg_server_options options = {.listen = ":0", .handler = hold, .context = held};
    assert_int_equal(gg_server_start(&options, &server, &error), GG_OK);
    client c;
    seen s = {0};
    client_start(&c, gg_server_port(server), "/");
    gg_http_request what = {.method = "GET", .url = c.url};
    for (int i = 0; i < N; i++)
        request(&c, &what, &s);
    for (int i = 0; i < 5; i++)
        uv_run(&c.loop, UV_RUN_NOWAIT);
    client_stop(&c);
    assert_int_equal(s.count, 0);
    gg_server_stop(server);
    for (int i = 0; held[i]; i++)
        gg_exchange_drop(held[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replies),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_big_body_without_expect),
        cmocka_unit_test(test_header_line_break),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_unknown_host),
        cmocka_unit_test(test_size_cap),
        cmocka_unit_test(test_stale_keep_alive),
        cmocka_unit_test(test_loopback_needs_no_proxy),
        cmocka_unit_test(test_many_chains),
        cmocka_unit_test(test_unix_socket),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_free_in_flight),
    };
    unsetenv("http_proxy"); /* the machine's own */
    unsetenv("all_proxy");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
