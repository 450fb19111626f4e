/*
 * Requests and their answers inside the server. Private to net/server.c (receiving, starting,
 * stopping), net/exchange.c (answering) and net/shape.c (answering badly on purpose).
 */
#ifndef GG_NET_EXCHANGE_H
#define GG_NET_EXCHANGE_H

#include <microhttpd.h>
#include <pthread.h>

#include "net/clock.h"
#include "net/listen.h"
#include "net/server.h"

#define GG_METHOD_ROOM 16

/* The life of an exchange. The first two are seen by libmicrohttpd's thread alone; the rest
 * changes under the server's lock. */
typedef enum gg_phase {
    GG_ARRIVING, /* nothing but the target is known */
    GG_RECEIVING,
    GG_HANDLING, /* the handler runs and has not answered yet */
    GG_WAITING,  /* suspended, in the server's list */
    GG_ANSWERED  /* `response` (NULL = drop the connection) is there to be queued */
} gg_phase;

struct gg_exchange {
    gg_server *server;
    struct MHD_Connection *connection;
    gg_phase phase;
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
    char method[GG_METHOD_ROOM];
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
    gg_clock *clock; /* made when the first reply is late on purpose */
};

void gg_server_destroy(gg_server *server);
/* Lets go of one of the two holds on an exchange (`owed`: the caller's, else libmicrohttpd's) and
 * frees what nobody holds any more. */
void gg_exchange_release(gg_exchange *exchange, bool owed);
/* Counts a reply that is on its way, for gg_server_stop; under the lock. */
void gg_exchange_set_out(gg_exchange *exchange);
/* Hands in the answer (NULL = drop) and gives up the caller's hold. */
void gg_exchange_hand_in(gg_exchange *exchange, unsigned status, struct MHD_Response *response);
void gg_response_headers(struct MHD_Response *response, const char *content_type,
                         const char *const *headers);
/* Wakes a connection that sleeps; `resuming` was counted up by the caller, under the lock. */
void gg_exchange_wake(gg_exchange *exchange);

#endif
