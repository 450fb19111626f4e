#include "net/server.h"
#include "net/listen.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define BODY_FIRST_ROOM (1u << 20) /* believed of a Content-Length before the bytes are here */
#define HEADER_NAME_MAX 128
#define STOP_STEP_NS    1000000
#define METHOD_ROOM     16
#define STOPPING        "the server is stopping"

/* The life of an exchange. The first two are seen by libmicrohttpd's thread alone; the rest
 * changes under the server's lock. */
typedef enum phase {
    ARRIVING, /* nothing but the target is known */
    RECEIVING,
    HANDLING, /* the handler runs and has not answered yet */
    WAITING,  /* suspended, in the server's list */
    ANSWERED  /* `response` (NULL = drop the connection) is there to be queued */
} phase;

struct gg_exchange {
    gg_server *server;
    struct MHD_Connection *connection;
    phase phase;
    bool owed;  /* somebody still has to end it */
    bool alive; /* libmicrohttpd still has it */
    bool queued;
    bool leaving; /* counted in the server's `leaving` */
    int64_t started_ms;
    struct MHD_Response *response;
    unsigned status;
    gg_buf body;
    size_t excess;               /* bytes past the cap, thrown away */
    gg_exchange *before, *after; /* list of waiting exchanges */
    gg_exchange_request request;
    char method[METHOD_ROOM];
    char *path;
    char target[]; /* as sent; behind it the decoded path */
};

struct gg_server {
    struct MHD_Daemon *daemon;
    gg_server_options options;
    char *listen;
    int port;
    char url[GG_URL_ROOM];
    pthread_mutex_t lock;
    bool stopping;
    bool stopped;
    size_t owed;     /* exchanges out there */
    size_t resuming; /* replies between "answered" and MHD_resume_connection */
    size_t leaving;  /* answered and not yet out */
    gg_exchange *waiting;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void server_free(gg_server *server)
{
    pthread_mutex_destroy(&server->lock);
    free(server->listen);
    free(server);
}

static void exchange_free(gg_exchange *exchange)
{
    if (exchange->response)
        MHD_destroy_response(exchange->response);
    gg_buf_free(&exchange->body);
    free(exchange);
}

/* Lets go of one of the two holds on an exchange (`owed`: the caller's, else libmicrohttpd's) and
 * frees what nobody holds any more. */
static void release(gg_exchange *exchange, bool owed)
{
    gg_server *server = exchange->server;
    pthread_mutex_lock(&server->lock);
    if (owed) {
        exchange->owed = false;
        server->owed--;
    } else
        exchange->alive = false;
    bool last = !exchange->owed && !exchange->alive;
    bool last_of_all = owed && server->stopped && server->owed == 0;
    pthread_mutex_unlock(&server->lock);
    if (last)
        exchange_free(exchange);
    if (last_of_all)
        server_free(server);
}

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
    exchange->started_ms = now_ms();
    memcpy(exchange->target, uri, len + 1);
    exchange->path = exchange->target + len + 1;
    gg_buf_init(&exchange->body, server->options.body_max);
    return exchange;
}

/* Counts a reply that is on its way, for gg_server_stop; under the lock. */
static void set_out(gg_exchange *exchange)
{
    if (!exchange->leaving)
        exchange->server->leaving++;
    exchange->leaving = true;
}

static enum MHD_Result queue(gg_exchange *exchange)
{
    gg_server *server = exchange->server;
    if (!exchange->response)
        return MHD_NO;
    pthread_mutex_lock(&server->lock);
    set_out(exchange);
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
    exchange->phase = ANSWERED;
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
    exchange->phase = RECEIVING;
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
    if (now_ms() - exchange->started_ms > limit_ms)
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

static void leave_list(gg_exchange *exchange)
{
    if (exchange->before)
        exchange->before->after = exchange->after;
    else
        exchange->server->waiting = exchange->after;
    if (exchange->after)
        exchange->after->before = exchange->before;
}

/* After the handler: the answer is there, or the connection sleeps until it is. */
static enum MHD_Result settle(gg_exchange *exchange)
{
    gg_server *server = exchange->server;
    pthread_mutex_lock(&server->lock);
    bool answered = exchange->phase == ANSWERED;
    bool stopping = server->stopping;
    if (!answered && !stopping) {
        /* Suspended before anybody else can see it, so that the answer finds it asleep. */
        MHD_suspend_connection(exchange->connection);
        exchange->phase = WAITING;
        join_list(exchange);
    } else if (!answered)
        exchange->phase = ANSWERED;
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
        exchange->phase = HANDLING;
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
    case ARRIVING:
        return begin(exchange, method, path);
    case RECEIVING:
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
    release(exchange, false);
}

/* ---- answering ---- */

/* Hands in the answer (NULL = drop) and gives up the caller's hold. */
static void hand_in(gg_exchange *exchange, unsigned status, struct MHD_Response *response)
{
    gg_server *server = exchange->server;
    pthread_mutex_lock(&server->lock);
    bool asleep = exchange->phase == WAITING;
    bool late = exchange->phase == ANSWERED; /* gg_server_stop was faster */
    if (asleep) {
        leave_list(exchange);
        set_out(exchange);
        server->resuming++;
    }
    if (!late) {
        exchange->response = response;
        exchange->status = status;
        exchange->phase = ANSWERED;
    }
    pthread_mutex_unlock(&server->lock);
    if (late && response)
        MHD_destroy_response(response);
    if (asleep) {
        /* A connection that sleeps lives; gg_server_stop waits for `resuming`. */
        MHD_resume_connection(exchange->connection);
        pthread_mutex_lock(&server->lock);
        server->resuming--;
        pthread_mutex_unlock(&server->lock);
    }
    release(exchange, true);
}

static void add_headers(struct MHD_Response *response, const char *content_type,
                        const char *const *headers)
{
    if (content_type)
        (void)MHD_add_response_header(response, "Content-Type", content_type);
    for (; headers && *headers; headers++) {
        char name[HEADER_NAME_MAX];
        size_t len = strcspn(*headers, ":");
        if (!(*headers)[len] || len >= sizeof name)
            continue;
        memcpy(name, *headers, len);
        name[len] = '\0';
        (void)MHD_add_response_header(response, name,
                                      *headers + len + 1 + strspn(*headers + len + 1, " "));
    }
}

void gg_exchange_reply_take(gg_exchange *exchange, int status, const char *content_type,
                            const char *const *headers, char *body, size_t len)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(len, body, MHD_RESPMEM_MUST_FREE);
    if (response)
        add_headers(response, content_type, headers);
    else
        free(body);
    hand_in(exchange, (unsigned)status, response);
}

void gg_exchange_reply(gg_exchange *exchange, int status, const char *content_type,
                       const char *const *headers, const char *body, size_t len)
{
    char *copy = malloc(len + 1);
    if (!copy) {
        gg_exchange_drop(exchange);
        return;
    }
    if (len)
        memcpy(copy, body, len);
    gg_exchange_reply_take(exchange, status, content_type, headers, copy, len);
}

void gg_exchange_reply_json(gg_exchange *exchange, int status, const char *json)
{
    gg_exchange_reply(exchange, status, "application/json", NULL, json, strlen(json));
}

void gg_exchange_drop(gg_exchange *exchange)
{
    hand_in(exchange, 0, NULL);
}

const char *gg_exchange_header(const gg_exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
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
    server_free(server);
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
        server_free(server);
        return status;
    }
    server->daemon = start_daemon(server, fd);
    if (!server->daemon) {
        status = gg_fail(error, GG_E_IO, "cannot start the server's threads on %s: %s",
                         server->listen, strerror(errno));
        close(fd);
        gg_listen_remove(server->listen);
        server_free(server);
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
        set_out(e);
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
    int64_t limit = now_ms() + GG_SERVER_STOP_MS;
    for (;;) {
        pthread_mutex_lock(&server->lock);
        bool must = server->resuming > 0, may = server->leaving > 0;
        pthread_mutex_unlock(&server->lock);
        if (!must && (!may || now_ms() > limit))
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
        server_free(server);
}

int gg_server_port(const gg_server *server)
{
    return server->port;
}

const char *gg_server_url(const gg_server *server)
{
    return server->url;
}
