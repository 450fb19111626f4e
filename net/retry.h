/*
 * What to do with a failed request: one table from what was seen to a class, and the delay before
 * the next attempt. Pure functions.
 */
#ifndef GG_NET_RETRY_H
#define GG_NET_RETRY_H

#include "net/http.h"
#include <guessgym/record.h>

#define GG_RETRY_ATTEMPTS      8
#define GG_RETRY_BASE_MS       500
#define GG_RETRY_CAP_MS        30000
#define GG_RETRY_SERVER_CAP_MS 120000 /* a longer Retry-After ends the request */

typedef enum gg_retry_class {
    GG_RETRY_OK = 0,
    GG_RETRY_TRANSPORT, /* no whole reply: retry */
    GG_RETRY_TIMEOUT,   /* our own or 408: retry */
    GG_RETRY_RATE,      /* 429 and friends: retry, shared pause */
    GG_RETRY_SERVER,    /* 5xx, 409, 425, 529: retry */
    GG_RETRY_BAD_REPLY, /* a 200 whose body is no reply: retry */
    GG_RETRY_CONTEXT,   /* context overflow: the episode is truncated */
    GG_RETRY_REFUSED,   /* 400, 422 ...: this request will never work; ends the episode */
    GG_RETRY_STOP,      /* quota, 401, 402, 403, 404: stop the run */
    GG_RETRY_DEADLINE,
    GG_RETRY_CLASS_COUNT
} gg_retry_class;

const char *gg_retry_class_name(gg_retry_class c); /* "rate", "server" ... as in the record */
bool gg_retry_again(gg_retry_class c);             /* another attempt makes sense */
bool gg_retry_shared(gg_retry_class c);            /* the whole endpoint should pause */

/* Class of a reply by transport, status and error body. Fills `message` with the error's text
 * (first non-empty of error.message, error, message, Message, detail, first 200 bytes). */
gg_retry_class gg_retry_classify(const gg_http_reply *reply, gg_buf *message);
/* A second look at a 2xx reply, by who knows the body's format. `context` is that of the request.
 * When it answers GG_RETRY_OK the request's callback follows at once, before anything else on the
 * loop, so a judge may keep what it parsed for it. */
typedef gg_retry_class (*gg_retry_judge)(void *context, const gg_http_reply *reply,
                                         gg_buf *message);

/* Delay the server asked for: retry-after-ms, Retry-After as seconds or date, "try again in 41.7s"
 * in the text; -1 = none. */
int64_t gg_retry_server_delay(const gg_http_reply *reply, const char *message, int64_t now_unix_ms);
/* Full jitter: uniform in [0, min(cap, base * 2^attempt)]; `unit` in [0,1). */
int64_t gg_retry_delay(int attempt, double unit);

#endif
