#include "net/exchange.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BODY_FIRST_ROOM (1u << 20) /* believed of a Content-Length before the bytes are here */
#define STOP_STEP_NS    1000000
#define STOPPING        "the server is stopping"

/* ---- receiving ---- */

/* libmicrohttpd's first call for a request: what it returns becomes *slot below. */
static void *on_target(void *context, const char *uri, struct MHD_Connection *connection)
{
    gg_server *server = context;
    size_t len = strlen(uri);
    /* Twice the target: the decoded path is never longer than the target. */
    gg_exchange *exchange = calloc(1, sizeof *exchange + 2 * len + 2);
    if (!exchange)
        return NULL;
    exchange->server = server;
    exchange->connection = connection;
    exchange->alive = true;
    exchange->started_ms = gg_clock_now();
    memcpy(exchange->target, uri, len + 1);
    exchange->path = exchange->target + len + 1;
    gg_buf_init(&exchange->body, server->options.body_max);
    return exchange;
}

static enum MHD_Result queue(gg_exchange *exchange)
{
    gg_server *server = exchange->server;
    if (!exchange->response)
        return MHD_NO;
    pthread_mutex_lock(&server->lock);
    gg_exchange_set_out(exchange);
    pthread_mutex_unlock(&server->lock);
    exchange->queued = true;
    return MHD_queue_response(exchange->connection, exchange->status, exchange->response);
}

/* An answer of our own. */
static void answer(gg_exchange *exchange, unsigned status, const char *message)
{
    char json[256];
    int len = snprintf(json, sizeof json,
                       "{\"error\":{\"message\":\"%s\",\"type\":\"server_error\",\"code\":%u}}",
                       message, status);
    exchange->response = MHD_create_response_from_buffer((size_t)len, json, MHD_RESPMEM_MUST_COPY);
    if (exchange->response)
        (void)MHD_add_response_header(exchange->response, "Content-Type", "application/json");
    exchange->status = status;
    exchange->phase = GG_ANSWERED;
}

static enum MHD_Result refuse(gg_exchange *exchange, unsigned status, const char *message)
{
    answer(exchange, status, message);
    return queue(exchange);
}

static enum MHD_Result refuse_size(gg_exchange *exchange)
{
    char message[96];
    snprintf(message, sizeof message, "the body is longer than %zu bytes",
             exchange->server->options.body_max);
    return refuse(exchange, 413, message);
}

static void keep_request(gg_exchange *exchange, const char *method, const char *path)
{
    snprintf(exchange->method, sizeof exchange->method, "%s", method);
    memcpy(exchange->path, path, strlen(path) + 1);
    const char *query = strchr(exchange->target, '?');
    exchange->request = (gg_exchange_request){.method = exchange->method,
                                              .target = exchange->target,
                                              .path = exchange->path,
                                              .query = query ? query + 1 : ""};
}

/* The headers are here. A body that is far too long is refused at once; one a little too long is
 * read to its end, since a sender that is cut off while sending never sees the 413. */
static enum MHD_Result begin(gg_exchange *exchange, const char *method, const char *path)
{
    exchange->phase = GG_RECEIVING;
    keep_request(exchange, method, path);
    const char *declared =
        MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, "Content-Length");
    if (!declared)
        return MHD_YES;
    unsigned long long length = strtoull(declared, NULL, 10);
    size_t body_max = exchange->server->options.body_max;
    if (length > body_max && length - body_max > GG_SERVER_DRAIN_MAX)
        return refuse_size(exchange);
    if (length <= body_max)
        gg_buf_reserve(&exchange->body,
                       length < BODY_FIRST_ROOM ? (size_t)length : BODY_FIRST_ROOM);
    return MHD_YES;
}

static enum MHD_Result receive(gg_exchange *exchange, const char *data, size_t *len)
{
    size_t got = *len;
    *len = 0;
    int64_t limit_ms = (int64_t)exchange->server->options.receive_s * 1000;
    if (gg_clock_now() - exchange->started_ms > limit_ms)
        return MHD_NO;
    if (!exchange->excess && got <= exchange->server->options.body_max - exchange->body.len) {
        gg_buf_add(&exchange->body, data, got);
        return exchange->body.status == GG_OK ? MHD_YES : MHD_NO;
    }
    exchange->excess += got;
    return exchange->excess <= GG_SERVER_DRAIN_MAX ? MHD_YES : MHD_NO;
}

/* ---- handling ---- */

static void join_list(gg_exchange *exchange)
{
    gg_server *server = exchange->server;
    exchange->after = server->waiting;
    if (exchange->after)
        exchange->after->before = exchange;
    server->waiting = exchange;
}

/* After the handler: the answer is there, or the connection sleeps until it is. */
static enum MHD_Result settle(gg_exchange *exchange)
{
    gg_server *server = exchange->server;
    pthread_mutex_lock(&server->lock);
    bool answered = exchange->phase == GG_ANSWERED;
    bool stopping = server->stopping;
    if (!answered && !stopping) {
        /* Suspended before anybody else can see it, so that the answer finds it asleep. */
        MHD_suspend_connection(exchange->connection);
        exchange->phase = GG_WAITING;
        join_list(exchange);
    } else if (!answered)
        exchange->phase = GG_ANSWERED;
    pthread_mutex_unlock(&server->lock);
    if (answered)
        return queue(exchange);
    return stopping ? MHD_NO : MHD_YES;
}

static enum MHD_Result handle(gg_exchange *exchange)
{
    gg_server *server = exchange->server;
    if (exchange->excess)
        return refuse_size(exchange);
    exchange->request.body = gg_buf_cstr(&exchange->body);
    exchange->request.body_len = exchange->body.len;
    pthread_mutex_lock(&server->lock);
    bool stopping = server->stopping;
    if (!stopping) {
        exchange->owed = true;
        server->owed++;
        exchange->phase = GG_HANDLING;
    }
    pthread_mutex_unlock(&server->lock);
    if (stopping)
        return refuse(exchange, 503, STOPPING);
    server->options.handler(server->options.context, exchange, &exchange->request);
    return settle(exchange);
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
                                  const char *path, const char *method, const char *version,
                                  const char *data, size_t *len, void **slot)
{
    (void)context, (void)connection, (void)version;
    gg_exchange *exchange = *slot;
    if (!exchange)
        return MHD_NO; /* no memory */
    switch (exchange->phase) {
    case GG_ARRIVING:
        return begin(exchange, method, path);
    case GG_RECEIVING:
        return *len ? receive(exchange, data, len) : handle(exchange);
    default:
        return exchange->queued ? MHD_YES : queue(exchange);
    }
}

static void on_completed(void *context, struct MHD_Connection *connection, void **slot,
                         enum MHD_RequestTerminationCode code)
{
    (void)connection, (void)code;
    gg_server *server = context;
    gg_exchange *exchange = *slot;
    if (!exchange)
        return;
    *slot = NULL;
    if (exchange->leaving) {
        pthread_mutex_lock(&server->lock);
        server->leaving--;
        pthread_mutex_unlock(&server->lock);
    }
    gg_exchange_release(exchange, false);
}

/* ---- starting and stopping ---- */

static struct MHD_Daemon *start_daemon(gg_server *server, int fd)
{
    const gg_server_options *options = &server->options;
    size_t files = gg_files_raise();
    size_t connections = files / 2 > GG_FILES_SPARE ? files - GG_FILES_SPARE : GG_FILES_SPARE;
    if (connections > GG_SERVER_CONNECTIONS)
        connections = GG_SERVER_CONNECTIONS;
    struct MHD_OptionItem pool[] = {{MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)options->threads, NULL},
                                    {MHD_OPTION_END, 0, NULL}};
    if (options->threads <= 1)
        pool[0].option = MHD_OPTION_END;
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0, NULL, NULL,
        on_request, server, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_URI_LOG_CALLBACK, on_target,
        server, MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)GG_SERVER_HEADER_MAX,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)connections, MHD_OPTION_CONNECTION_TIMEOUT,
        options->idle_s, MHD_OPTION_ARRAY, pool, MHD_OPTION_END);
}

static gg_server *server_new(const gg_server_options *options)
{
    gg_server *server = calloc(1, sizeof *server);
    if (!server)
        return NULL;
    pthread_mutex_init(&server->lock, NULL);
    server->options = *options;
    server->options.threads = options->threads ? options->threads : 1;
    server->options.body_max = options->body_max ? options->body_max : GG_SERVER_BODY_MAX;
    server->options.idle_s = options->idle_s ? options->idle_s : GG_SERVER_IDLE_S;
    server->options.receive_s = options->receive_s ? options->receive_s : GG_SERVER_RECEIVE_S;
    server->listen = strdup(options->listen);
    if (server->listen)
        return server;
    gg_server_destroy(server);
    return NULL;
}

gg_status gg_server_start(const gg_server_options *options, gg_server **out, gg_error *error)
{
    *out = NULL;
    gg_server *server = server_new(options);
    if (!server)
        return gg_fail(error, GG_E_MEMORY, "no memory for a server");
    int fd;
    gg_status status = gg_listen(server->listen, &fd, &server->port, server->url, error);
    if (status != GG_OK) {
        gg_server_destroy(server);
        return status;
    }
    server->daemon = start_daemon(server, fd);
    if (!server->daemon) {
        status = gg_fail(error, GG_E_IO, "cannot start the server's threads on %s: %s",
                         server->listen, strerror(errno));
        close(fd);
        gg_listen_remove(server->listen);
        gg_server_destroy(server);
        return status;
    }
    *out = server;
    return GG_OK;
}

/* Answers everything that is owed. An exchange may be gone as soon as it is resumed. */
static void answer_waiting(gg_server *server)
{
    pthread_mutex_lock(&server->lock);
    server->stopping = true;
    gg_exchange *first = server->waiting;
    for (gg_exchange *e = first; e; e = e->after) {
        answer(e, 503, STOPPING);
        gg_exchange_set_out(e);
    }
    server->waiting = NULL;
    pthread_mutex_unlock(&server->lock);
    for (gg_exchange *e = first, *next; e; e = next) {
        next = e->after;
        MHD_resume_connection(e->connection);
    }
}

static void let_replies_out(gg_server *server)
{
    int64_t limit = gg_clock_now() + GG_SERVER_STOP_MS;
    for (;;) {
        pthread_mutex_lock(&server->lock);
        bool must = server->resuming > 0, may = server->leaving > 0;
        pthread_mutex_unlock(&server->lock);
        if (!must && (!may || gg_clock_now() > limit))
            return;
        nanosleep(&(struct timespec){.tv_nsec = STOP_STEP_NS}, NULL);
    }
}

void gg_server_stop(gg_server *server)
{
    if (!server)
        return;
    MHD_socket fd = MHD_quiesce_daemon(server->daemon);
    answer_waiting(server);
    gg_clock_stop(server->clock);
    let_replies_out(server);
    MHD_stop_daemon(server->daemon);
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
    gg_listen_remove(server->listen);
    pthread_mutex_lock(&server->lock);
    server->stopped = true;
    bool last = server->owed == 0;
    pthread_mutex_unlock(&server->lock);
    if (last)
        gg_server_destroy(server);
}

int gg_server_port(const gg_server *server)
{
    return server->port;
}

const char *gg_server_url(const gg_server *server)
{
    return server->url;
}
