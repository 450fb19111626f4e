/*
 * The parts of the HTTP client. Private to net/http.c, net/transfer.c and net/hosts.c.
 *
 * http.c holds the life of a transfer; transfer.c turns a request into an easy handle's settings
 * and its end into a reply; hosts.c keeps names from being looked up a thousand times.
 */
#ifndef GG_NET_TRANSFER_H
#define GG_NET_TRANSFER_H

#include "net/http.h"
#include "net/lanes.h"

/* Where requests go: one of these a scheme, name and port. Holds back all but one transfer
 * until the name is known. */
typedef struct gg_host {
    struct gg_host *next;
    bool known;
    bool stale;                /* what libcurl remembers of it led nowhere */
    gg_transfer *scout;        /* the one that finds out, when not known */
    gg_transfer *first, *last; /* those that wait for it */
    bool loopback;
    size_t key_len;
    char key[]; /* "http://host:port" as far as the URL spells it out */
} gg_host;

struct gg_transfer {
    gg_http *http;
    CURL *easy;
    gg_lane *lane; /* NULL while it waits for its host */
    gg_host *host; /* NULL for unix sockets */
    gg_http_done done;
    void *context;
    gg_transfer *before, *after; /* running: all of them; else `after` alone: the free ones */
    gg_transfer *waits_after;    /* in the host's list */
    bool doomed;                 /* in it, and to fail as the scout did */
    struct curl_slist *resolve;  /* the scout's order to forget a name */
    uint64_t started_ms;
    /* What the easy handle is set to; set again only where a request differs. */
    char *method, *url, *unix_socket;
    struct curl_slist *headers;
    bool has_body;
    int64_t timeout_ms;
    gg_buf *reply; /* from the pool, with the first byte */
    size_t reply_max;
    char detail[CURL_ERROR_SIZE];
};

struct gg_http {
    uv_loop_t *loop;
    gg_lanes *lanes;
    CURLSH *names; /* looked-up names, shared by the lanes */
    gg_host *hosts;
    gg_transfer *running, *idle;
    size_t in_flight, made;
    bool release;     /* some host has become known */
    gg_buf **replies; /* spare reply buffers */
    size_t reply_count, reply_room;
};

/* The host of a URL, made on first sight; NULL when memory is short. */
gg_host *gg_host_of(gg_http *http, const char *url);
void gg_hosts_free(gg_http *http);
void gg_host_wait(gg_transfer *t); /* into the host's list */
void gg_host_leave(gg_transfer *t);
/* A scout goes ahead on a new connection and finds out whether the name is good. */
void gg_scout_begin(gg_transfer *t);
void gg_scout_end(gg_transfer *t);

gg_transfer *gg_transfer_new(gg_http *http);
void gg_transfer_free(gg_transfer *t);
gg_status gg_transfer_configure(gg_transfer *t, const gg_http_request *request, gg_error *error);
gg_transport gg_transfer_result(gg_transfer *t, CURLcode code);
void gg_transfer_fill(gg_transfer *t, gg_transport transport, const char *detail,
                      gg_http_reply *reply);
/* Gives the reply's buffer back to the pool. */
void gg_transfer_give_reply(gg_transfer *t);
void gg_replies_free(gg_http *http);

#endif
