#include "net/listen.h"
#include "net/server.h"
#include "tests/alloc.h"
#include "tests/peer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#define TEXT_ROOM 8192
#define BODY_MAX  ((size_t)1000)
#define HELD_MAX  256

/* A server whose handler tells back what it got, or does what the path asks. */
typedef struct bench {
    gg_server *server;
    pthread_mutex_t lock;
    gg_exchange *held[HELD_MAX];
    size_t held_count;
} bench;

static void tell_back(gg_exchange *exchange, const gg_exchange_request *request)
{
    gg_buf text;
    gg_buf_init(&text, 1 << 20);
    const char *header = gg_exchange_header(exchange, "x-TEST");
    gg_buf_printf(&text, "%s|%s|%s|%s|%zu|%s|%s", request->method, request->target, request->path,
                  request->query, request->body_len, request->body, header ? header : "-");
    const char *const headers[] = {"X-One: 1", "X-Two:2", NULL};
    gg_exchange_reply(exchange, 200, "text/plain", headers, text.data, text.len);
    gg_buf_free(&text);
}

static void *tell_later(void *exchange)
{
    gg_exchange_reply_json(exchange, 202, "{\"later\":true}");
    return NULL;
}

static void shaped(gg_exchange *exchange, const char *how)
{
    bool drips = strstr(how, "drip"), slow = strstr(how, "slow");
    gg_reply_shape shape = {.delay_ms = slow && !drips ? 100000 : 20,
                            .cut = strstr(how, "cut"),
                            .cut_at = 7,
                            .drip_bytes = drips ? 3 : 0,
                            .drip_ms = slow ? 100000 : 5};
    const char *body = strstr(how, "drop") ? NULL : "0123456789";
    gg_exchange_reply_shaped(exchange, 200, "text/plain", NULL, body, 10, &shape);
}

static void handler(void *context, gg_exchange *exchange, const gg_exchange_request *request)
{
    bench *b = context;
    pthread_t thread;
    if (strcmp(request->path, "/drop") == 0)
        gg_exchange_drop(exchange);
    else if (strcmp(request->path, "/take") == 0)
        gg_exchange_reply_take(exchange, 200, NULL, NULL, strdup("taken"), 5);
    else if (strcmp(request->path, "/later") == 0) {
        assert_int_equal(pthread_create(&thread, NULL, tell_later, exchange), 0);
        pthread_detach(thread);
    } else if (strncmp(request->path, "/shape/", 7) == 0) {
        shaped(exchange, request->path + 7);
    } else if (strcmp(request->path, "/hold") == 0) {
        pthread_mutex_lock(&b->lock);
        b->held[b->held_count++] = exchange;
        pthread_mutex_unlock(&b->lock);
    } else
        tell_back(exchange, request);
}

static void start(bench *b, const char *listen, unsigned threads)
{
    gg_error error = {0};
    *b = (bench){.server = NULL};
    pthread_mutex_init(&b->lock, NULL);
    gg_server_options options = {.listen = listen,
                                 .threads = threads,
                                 .body_max = BODY_MAX,
                                 .idle_s = 1,
                                 .receive_s = 1,
                                 .handler = handler,
                                 .context = b};
    if (gg_server_start(&options, &b->server, &error) != GG_OK)
        fail_msg("%s", error.text);
}

static void stop(bench *b)
{
    gg_server_stop(b->server);
    pthread_mutex_destroy(&b->lock);
}

static size_t held(bench *b)
{
    pthread_mutex_lock(&b->lock);
    size_t count = b->held_count;
    pthread_mutex_unlock(&b->lock);
    return count;
}

static void wait_held(bench *b, size_t count)
{
    while (held(b) < count)
        usleep(1000);
}

/* One connection, the request's bytes, the reply's bytes ("" = closed without one). */
static void ask(int port, const char *request, char reply[TEXT_ROOM])
{
    int fd = peer_connect(port);
    assert_true(fd >= 0);
    assert_true(peer_say(fd, request, strlen(request)));
    peer_hear(fd, reply, TEXT_ROOM);
    close(fd);
}

static void test_requests(void **state)
{
    (void)state;
    static const struct {
        const char *what, *request;
        const char *status; /* "" = the connection is closed without a reply */
        const char *body;
    } table[] = {
        {"get", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "200", "GET|/|/||0||-"},
        {"query stays raw", "GET /a?b=%20c+d HTTP/1.1\r\nHost: x\r\n\r\n", "200",
         "GET|/a?b=%20c+d|/a|b=%20c+d|0||-"},
        {"path decoded once", "GET /a%2520b%2Fc HTTP/1.1\r\nHost: x\r\n\r\n", "200",
         "GET|/a%2520b%2Fc|/a%20b/c||0||-"},
        {"post with header",
         "POST /p HTTP/1.1\r\nHost: x\r\nX-test: v w\r\nContent-Length: 3\r\n\r\nabc", "200",
         "POST|/p|/p||3|abc|v w"},
        {"chunked",
         "POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
         "chunked\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n",
         "200", "POST|/p|/p||5|abcde|-"},
        {"delete", "DELETE /x HTTP/1.1\r\nHost: x\r\n\r\n", "200", "DELETE|/x|/x||0||-"},
        {"expect",
         "POST /p HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nz", "200",
         "POST|/p|/p||1|z|-"},
        {"later", "GET /later HTTP/1.1\r\nHost: x\r\n\r\n", "202", "{\"later\":true}"},
        {"take", "GET /take HTTP/1.1\r\nHost: x\r\n\r\n", "200", "taken"},
        {"drop", "GET /drop HTTP/1.1\r\nHost: x\r\n\r\n", "", ""},
        {"declared far too long",
         "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", "413",
         "{\"error\":{\"message\":\"the body is longer than 1000 bytes\",\"type\":\"server_error\","
         "\"code\":413}}"},
        {"no HTTP at all", "hello\r\n\r\n", "", ""},
        {"half a request", "GET /x HT", "", ""}, /* closed when idle */
        {"half a body", "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab", "", ""},
    };
    for (unsigned threads = 1; threads <= 2; threads++) {
        bench b;
        start(&b, ":0", threads);
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
            char reply[TEXT_ROOM];
            ask(gg_server_port(b.server), table[i].request, reply);
            if (!*table[i].status) {
                if (*reply && strncmp(reply + 9, "408", 3) != 0)
                    fail_msg("%s: wanted no reply, got %s", table[i].what, reply);
                continue;
            }
            if (strlen(reply) < 12 || strncmp(reply + 9, table[i].status, 3) != 0)
                fail_msg("%s: wanted %s, got %s", table[i].what, table[i].status, reply);
            if (table[i].body)
                assert_string_equal(strstr(reply, "\r\n\r\n") + 4, table[i].body);
        }
        stop(&b);
    }
}

static void test_reply_headers(void **state)
{
    (void)state;
    bench b;
    char reply[TEXT_ROOM];
    start(&b, ":0", 1);
    ask(gg_server_port(b.server), "GET / HTTP/1.1\r\nHost: x\r\n\r\n", reply);
    assert_non_null(strstr(reply, "\r\nX-One: 1\r\n"));
    assert_non_null(strstr(reply, "\r\nX-Two: 2\r\n"));
    assert_non_null(strstr(reply, "\r\nContent-Type: text/plain\r\n"));
    stop(&b);
}

static void test_keep_alive(void **state)
{
    (void)state;
    bench b;
    char reply[TEXT_ROOM];
    start(&b, ":0", 1);
    int fd = peer_connect(gg_server_port(b.server));
    static const char *const paths[] = {"/1", "/later", "/2", "/take", "/later"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char request[128];
        snprintf(request, sizeof request,
                 "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi", paths[i]);
        assert_true(peer_say(fd, request, strlen(request)));
        assert_true(peer_hear(fd, reply, sizeof reply) > 0);
        assert_memory_equal(reply, "HTTP/1.1 20", 11);
    }
    close(fd);
    stop(&b);
}

/* Up to the cap is taken; past it the sender gets its 413, and the connection lives on. */
static void test_body_cap(void **state)
{
    (void)state;
    static const struct {
        size_t len;
        bool chunked;
        const char *status;
    } table[] = {{BODY_MAX, false, "200"},      {BODY_MAX + 1, false, "413"},
                 {BODY_MAX, true, "200"},       {BODY_MAX + 1, true, "413"},
                 {BODY_MAX * 900, true, "413"}, {BODY_MAX * 900, false, "413"}};
    bench b;
    start(&b, ":0", 1);
    int fd = peer_connect(gg_server_port(b.server));
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char head[256], reply[TEXT_ROOM];
        char *body = malloc(table[i].len);
        assert_non_null(body);
        memset(body, 'x', table[i].len);
        int n = table[i].chunked
                    ? snprintf(
                          head, sizeof head,
                          "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n",
                          table[i].len)
                    : snprintf(head, sizeof head,
                               "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n",
                               table[i].len);
        assert_true(peer_say(fd, head, (size_t)n));
        assert_true(peer_say(fd, body, table[i].len));
        if (table[i].chunked)
            assert_true(peer_say(fd, "\r\n0\r\n\r\n", 7));
        peer_hear(fd, reply, sizeof reply);
        if (strncmp(reply + 9, table[i].status, 3) != 0)
            fail_msg("%zu bytes: wanted %s, got %s", table[i].len, table[i].status, reply);
        free(body);
    }
    close(fd);
    stop(&b);
}

/* A sender that drips is never idle, but its body may not take for ever. */
static void test_dripping_sender(void **state)
{
    (void)state;
    bench b;
    char reply[TEXT_ROOM];
    start(&b, ":0", 1);
    int fd = peer_connect(gg_server_port(b.server));
    const char *head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n";
    assert_true(peer_say(fd, head, strlen(head)));
    size_t sent = 0;
    while (sent < 900 && peer_say(fd, "x", 1)) {
        sent++;
        usleep(50000);
    }
    assert_true(sent < 900);
    assert_int_equal(peer_hear(fd, reply, sizeof reply), 0);
    close(fd);
    stop(&b);
}

static void test_many_at_once(void **state)
{
    (void)state;
    bench b;
    start(&b, "127.0.0.1:0", 2);
    int fds[HELD_MAX];
    const char *request = "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n";
    for (size_t i = 0; i < HELD_MAX; i++) {
        fds[i] = peer_connect(gg_server_port(b.server));
        assert_true(peer_say(fds[i], request, strlen(request)));
    }
    wait_held(&b, HELD_MAX);
    /* One that closes while it is owed an answer must not hurt. */
    close(fds[7]);
    for (size_t i = HELD_MAX; i-- > 0;)
        gg_exchange_reply_json(b.held[i], 200, "{}");
    for (size_t i = 0; i < HELD_MAX; i++) {
        char reply[TEXT_ROOM];
        if (i == 7)
            continue;
        assert_true(peer_hear(fds[i], reply, sizeof reply) > 0);
        assert_memory_equal(reply, "HTTP/1.1 200", 12);
        close(fds[i]);
    }
    stop(&b);
}

/* Stop answers what is owed with 503; an answer that comes after that is thrown away. */
static void test_shaped_replies(void **state)
{
    (void)state;
    static const struct {
        const char *path, *body; /* NULL = no reply */
    } table[] = {
        {"/shape/late", "0123456789"},  {"/shape/drip", "0123456789"}, {"/shape/cut", "0123456"},
        {"/shape/drip-cut", "0123456"}, {"/shape/drop", NULL},
    };
    bench b;
    start(&b, ":0", 1);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char request[128], reply[TEXT_ROOM];
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", table[i].path);
        ask(gg_server_port(b.server), request, reply);
        if (!table[i].body) {
            assert_string_equal(reply, "");
            continue;
        }
        assert_non_null(strstr(reply, "\r\nContent-Length: 10\r\n"));
        assert_string_equal(strstr(reply, "\r\n\r\n") + 4, table[i].body);
    }
    stop(&b);
}

/* A server that stops does not wait for replies that would take minutes. */
static void test_stop_during_shaped_replies(void **state)
{
    (void)state;
    enum { N = 20 };
    bench b;
    int fds[N];
    start(&b, ":0", 2);
    for (int i = 0; i < N; i++) {
        const char *request = i % 2 ? "GET /shape/slow HTTP/1.1\r\nHost: x\r\n\r\n"
                                    : "GET /shape/slow-drip HTTP/1.1\r\nHost: x\r\n\r\n";
        fds[i] = peer_connect(gg_server_port(b.server));
        assert_true(peer_say(fds[i], request, strlen(request)));
    }
    char head[64];
    for (int i = 0; i < N; i += 2) /* the drips have begun */
        assert_true(recv(fds[i], head, sizeof head, 0) > 0);
    stop(&b);
    for (int i = 0; i < N; i++) {
        char reply[TEXT_ROOM];
        peer_hear(fds[i], reply, sizeof reply);
        close(fds[i]);
    }
}

static void test_stop_while_owed(void **state)
{
    (void)state;
    bench b;
    char reply[TEXT_ROOM];
    start(&b, ":0", 1);
    int fds[3];
    const char *request = "POST /hold HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";
    for (int i = 0; i < 3; i++) {
        fds[i] = peer_connect(gg_server_port(b.server));
        assert_true(peer_say(fds[i], request, strlen(request)));
    }
    wait_held(&b, 3);
    gg_server_stop(b.server);
    for (int i = 0; i < 3; i++) {
        assert_true(peer_hear(fds[i], reply, sizeof reply) > 0);
        assert_memory_equal(reply, "HTTP/1.1 503", 12);
        close(fds[i]);
    }
    gg_exchange_reply_json(b.held[0], 200, "{}");
    gg_exchange_reply_take(b.held[1], 200, NULL, NULL, strdup("x"), 1);
    gg_exchange_drop(b.held[2]);
    pthread_mutex_destroy(&b.lock);
}

static void *answer_all(void *context)
{
    bench *b = context;
    for (size_t i = 0; i < HELD_MAX; i++)
        gg_exchange_reply_json(b->held[i], 200, "{}");
    return NULL;
}

/* Answers and stop at the same time: each client hears exactly one of 200 and 503. */
static void test_stop_races_answers(void **state)
{
    (void)state;
    bench b;
    start(&b, ":0", 2);
    int fds[HELD_MAX];
    const char *request = "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n";
    for (size_t i = 0; i < HELD_MAX; i++) {
        fds[i] = peer_connect(gg_server_port(b.server));
        assert_true(peer_say(fds[i], request, strlen(request)));
    }
    wait_held(&b, HELD_MAX);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, answer_all, &b), 0);
    gg_server_stop(b.server);
    pthread_join(thread, NULL);
    for (size_t i = 0; i < HELD_MAX; i++) {
        char reply[TEXT_ROOM];
        assert_true(peer_hear(fds[i], reply, sizeof reply) > 0);
        assert_true(strncmp(reply + 9, "200", 3) == 0 || strncmp(reply + 9, "503", 3) == 0);
        close(fds[i]);
    }
    pthread_mutex_destroy(&b.lock);
}

static void test_unix_socket(void **state)
{
    (void)state;
    char folder[] = "/tmp/gg-test-XXXXXX", listen[64], reply[TEXT_ROOM];
    assert_non_null(mkdtemp(folder));
    snprintf(listen, sizeof listen, "unix:%s/s", folder);
    for (int round = 0; round < 2; round++) {
        bench b;
        start(&b, listen, 1);
        assert_string_equal(gg_server_url(b.server), listen);
        assert_int_equal(gg_server_port(b.server), 0);
        int fd = peer_connect_unix(listen + 5);
        const char *request = "GET /u HTTP/1.1\r\nHost: x\r\n\r\n";
        assert_true(peer_say(fd, request, strlen(request)));
        assert_true(peer_hear(fd, reply, sizeof reply) > 0);
        assert_string_equal(strstr(reply, "\r\n\r\n") + 4, "GET|/u|/u||0||-");
        close(fd);
        stop(&b);
        assert_int_not_equal(access(listen + 5, F_OK), 0);
        /* What a killed program leaves behind. */
        int stale = socket(AF_UNIX, SOCK_STREAM, 0);
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        memcpy(address.sun_path, listen + 5, strlen(listen + 5) + 1);
        assert_int_equal(bind(stale, (struct sockaddr *)&address, sizeof address), 0);
        close(stale);
    }
    unlink(listen + 5);
    rmdir(folder);
}

static void test_listen_text(void **state)
{
    (void)state;
    static const struct {
        const char *listen;
        const char *url; /* up to the port; NULL = refused */
    } table[] = {
        {"127.0.0.1:0", "http://127.0.0.1:"},
        {":0", "http://127.0.0.1:"},
        {"0.0.0.0:0", "http://127.0.0.1:"},
        {"localhost:0", "http://localhost:"},
        {"", NULL},
        {"8080", NULL},
        {"127.0.0.1", NULL},
        {"127.0.0.1:", NULL},
        {"127.0.0.1:x", NULL},
        {"127.0.0.1:80a", NULL},
        {"127.0.0.1:99999", NULL},
        {"::1:80", NULL},
        {"[::1]80", NULL},
        {"unix:", NULL},
        {"unix:/no/such/folder/s", NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int fd = -1, port = -1;
        char url[GG_URL_ROOM];
        gg_error error = {0};
        gg_status status = gg_listen(table[i].listen, &fd, &port, url, &error);
        if (!table[i].url) {
            if (status != GG_E_CONFIG || !strstr(error.text, table[i].listen))
                fail_msg("\"%s\": status %d, \"%s\"", table[i].listen, status, error.text);
            continue;
        }
        if (status != GG_OK)
            fail_msg("\"%s\": %s", table[i].listen, error.text);
        assert_memory_equal(url, table[i].url, strlen(table[i].url));
        assert_true(port > 0);
        assert_int_equal(atol(url + strlen(table[i].url)), port);
        close(fd);
    }
}

static void test_port_taken(void **state)
{
    (void)state;
    bench b;
    gg_error error = {0};
    char listen[32];
    start(&b, ":0", 1);
    snprintf(listen, sizeof listen, "127.0.0.1:%d", gg_server_port(b.server));
    gg_server *second;
    gg_server_options options = {.listen = listen, .handler = handler};
    assert_int_equal(gg_server_start(&options, &second, &error), GG_E_CONFIG);
    assert_null(second);
    assert_non_null(strstr(error.text, "another program holds this port"));
    stop(&b);
}

static void test_file_limit_is_told(void **state)
{
    (void)state;
    gg_error error = {0};
    assert_int_equal(gg_files_check(1, &error), GG_OK);
    size_t limit = gg_files_raise();
    assert_int_equal(gg_files_check(limit, &error), GG_E_CONFIG);
    char advice[64];
    snprintf(advice, sizeof advice, "ulimit -n %zu", limit + GG_FILES_SPARE);
    assert_non_null(strstr(error.text, advice));
}

static gg_status start_and_stop(void *context)
{
    (void)context;
    gg_server *server;
    gg_error error = {0};
    gg_server_options options = {.listen = ":0", .handler = handler};
    gg_status status = gg_server_start(&options, &server, &error);
    gg_server_stop(server);
    return status;
}

static void test_short_memory(void **state)
{
    (void)state;
    assert_true(alloc_each_fails(start_and_stop, NULL) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_reply_headers),
        cmocka_unit_test(test_keep_alive),
        cmocka_unit_test(test_body_cap),
        cmocka_unit_test(test_dripping_sender),
        cmocka_unit_test(test_many_at_once),
        cmocka_unit_test(test_stop_while_owed),
        cmocka_unit_test(test_shaped_replies),
        cmocka_unit_test(test_stop_during_shaped_replies),
        cmocka_unit_test(test_stop_races_answers),
        cmocka_unit_test(test_unix_socket),
        cmocka_unit_test(test_listen_text),
        cmocka_unit_test(test_port_taken),
        cmocka_unit_test(test_file_limit_is_told),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
