/*
 * HTTP server: a thin wrapper of libmicrohttpd (epoll, its own threads).
 *
 * A handler gets the whole request and answers now, or keeps the gg_exchange and answers later from
 * any thread. Body size, header size, connection count, idle time and the time a body may take are
 * capped. Binds loopback unless told otherwise.
 *
 * Ownership: an exchange belongs to whoever owes its answer, until one of the gg_exchange_reply
 * functions or gg_exchange_drop, each of which ends it. Threads: start and stop from one thread;
 * the handler runs on the server's threads (several at once when threads > 1); replies from
 * anywhere, also after gg_server_stop (then they are thrown away).
 */
#ifndef GG_NET_SERVER_H
#define GG_NET_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guessgym/buf.h>

#define GG_SERVER_BODY_MAX (64u << 20)
#define GG_SERVER_HEADER_MAX                                                                       \
    (32u << 10) /* libmicrohttpd's pool of a connection: request headers                           \
                 */
#define GG_SERVER_CONNECTIONS 20000
#define GG_SERVER_IDLE_S      30
#define GG_SERVER_RECEIVE_S   120         /* a body that takes longer is cut off */
#define GG_SERVER_DRAIN_MAX   (16u << 20) /* read past the cap so that the sender hears the 413 */
#define GG_SERVER_STOP_MS     1000        /* stop waits so long for replies on their way out */

typedef struct gg_server gg_server;
typedef struct gg_exchange gg_exchange;

typedef struct gg_exchange_request { /* valid until the exchange ends */
    const char *method;
    const char *target; /* as sent, "/a%20b?c=d": what signatures are computed from */
    const char *path;   /* decoded once, without query */
    const char *query;  /* raw, "" when absent */
    const char *body;   /* NUL-terminated */
    size_t body_len;
} gg_exchange_request;

/* Must end the exchange exactly once, now or later. Called on a server thread. */
typedef void (*gg_server_handler)(void *context, gg_exchange *exchange,
                                  const gg_exchange_request *request);

typedef struct gg_server_options {
    const char *listen; /* "127.0.0.1:8080", ":0" (loopback, any port), "[::1]:80", "unix:/path" */
    unsigned threads;   /* 0 = 1 */
    size_t body_max;    /* 0 = GG_SERVER_BODY_MAX; a longer body is answered 413 */
    unsigned idle_s;    /* 0 = GG_SERVER_IDLE_S */
    unsigned receive_s; /* 0 = GG_SERVER_RECEIVE_S */
    gg_server_handler handler;
    void *context;
} gg_server_options;

/* GG_E_CONFIG for an address that cannot be read or bound. A stale unix socket is replaced. */
gg_status gg_server_start(const gg_server_options *options, gg_server **out, gg_error *error);
/* Takes no more requests, answers what is owed with 503, lets replies go out for at most
 * GG_SERVER_STOP_MS and joins the threads. NULL is fine. Not from a handler. */
void gg_server_stop(gg_server *server);
int gg_server_port(const gg_server *server);        /* the real port after ":0"; 0 for unix */
const char *gg_server_url(const gg_server *server); /* "http://127.0.0.1:43211" */

/* A request header, NULL if absent; the name in any case. Only inside the handler. */
const char *gg_exchange_header(const gg_exchange *exchange, const char *name);
/* Copies the body. `headers` are "Name: value" lines, NULL-terminated, or NULL. `content_type` may
 * be NULL. */
void gg_exchange_reply(gg_exchange *exchange, int status, const char *content_type,
                       const char *const *headers, const char *body, size_t len);
void gg_exchange_reply_json(gg_exchange *exchange, int status, const char *json);
/* Takes `body` (malloc'ed; freed when sent), saving a copy. */
void gg_exchange_reply_take(gg_exchange *exchange, int status, const char *content_type,
                            const char *const *headers, char *body, size_t len);
/* Closes the connection without a reply. */
void gg_exchange_drop(gg_exchange *exchange);

/* For endpoints that misbehave on purpose: a reply that comes late, in drips, or not to its end. */
typedef struct gg_reply_shape {
    int64_t delay_ms;  /* before the first byte */
    bool cut;          /* close the connection after `cut_at` bytes of the body */
    size_t cut_at;     /* Content-Length promises them all */
    size_t drip_bytes; /* so many at a time, */
    int64_t drip_ms;   /* with this between them; 0 = all at once */
} gg_reply_shape;
/* As gg_exchange_reply. With body NULL the connection is dropped after the delay. */
void gg_exchange_reply_shaped(gg_exchange *exchange, int status, const char *content_type,
                              const char *const *headers, const char *body, size_t len,
                              const gg_reply_shape *shape);

#endif
