/*
 * HTTP server: a thin wrapper of libmicrohttpd (epoll, its own threads).
 *
 * A handler gets the whole request and answers now, or keeps the gg_exchange and answers later from
 * any thread. Body size, header size, connection count and idle time are capped. Binds loopback
 * unless told otherwise.
 */
#ifndef GG_NET_SERVER_H
#define GG_NET_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guessgym/buf.h>

#define GG_SERVER_BODY_MAX    (64u << 20)
#define GG_SERVER_CONNECTIONS 20000
#define GG_SERVER_IDLE_S      30

typedef struct gg_server gg_server;
typedef struct gg_exchange gg_exchange;

typedef struct gg_exchange_request {
    const char *method;
    const char *path;  /* decoded once, without query */
    const char *query; /* raw, "" when absent */
    const char *body;  /* NUL-terminated */
    size_t body_len;
} gg_exchange_request;

/* Must call gg_exchange_reply exactly once, now or later. Called on a server thread. */
typedef void (*gg_server_handler)(void *context, gg_exchange *exchange,
                                  const gg_exchange_request *request);

typedef struct gg_server_options {
    const char *listen; /* "127.0.0.1:8080", ":0" (loopback, any port), "[::1]:80", "unix:/path" */
    unsigned threads;   /* 0 = 1 */
    size_t body_max;    /* 0 = GG_SERVER_BODY_MAX */
    gg_server_handler handler;
    void *context;
} gg_server_options;

gg_status gg_server_start(const gg_server_options *options, gg_server **out, gg_error *error);
void gg_server_stop(gg_server *server);
int gg_server_port(const gg_server *server);        /* the real port after ":0" */
const char *gg_server_url(const gg_server *server); /* "http://127.0.0.1:43211" */

const char *gg_exchange_header(const gg_exchange *exchange, const char *name); /* NULL if absent */
/* Copies the body. `headers` are "Name: value" lines, NULL-terminated, or NULL. */
void gg_exchange_reply(gg_exchange *exchange, int status, const char *content_type,
                       const char *const *headers, const char *body, size_t len);
void gg_exchange_reply_json(gg_exchange *exchange, int status, const char *json);

#endif
