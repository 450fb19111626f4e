/*
 * An endpoint: one address with its headers, retry rules, shared pause and in-flight limit.
 *
 * Requests wait in a queue of ours (waiting does not count against the request's time), go out up
 * to the limit, are retried by class with full jitter, and share one pause: when the endpoint says
 * "later", everybody waits, not just the request that heard it, and after the pause they come back
 * spread over a moment, not all at once. Retry classes are a table (net/retry.h). The jitter comes
 * from the seed and the request's own bytes, never from time or order.
 *
 * A request that has used up its attempts ends with its last class; but when nobody has had a good
 * reply meanwhile, it is the endpoint that is down, and the request ends as GG_RETRY_STOP (not for
 * bad replies of an endpoint that has given good ones).
 *
 * Threads: the loop's thread.
 */
#ifndef GG_NET_ENDPOINT_H
#define GG_NET_ENDPOINT_H

#include "net/http.h"
#include "net/retry.h"

#define GG_ENDPOINT_IN_FLIGHT   64
#define GG_ENDPOINT_RAMP_MS     1000   /* requests come back from a pause within this time */
#define GG_ENDPOINT_BUSY_STREAK 8      /* 503s without a delay, none good between: all pause */
#define GG_ENDPOINT_START_MS    120000 /* a model may load so long without using up attempts */
#define GG_ENDPOINT_SAME_500    4      /* a request that breaks the server so often is given up */

typedef struct gg_endpoint gg_endpoint;
typedef struct gg_post gg_post;

/* Headers that must be made anew for each attempt: signatures, tokens that expire. Appends lines
 * "Name: value\n". `again`: the one before was refused (401, 403), so forget what was cached; this
 * happens once a request. GG_E_STATE: not ready, so the endpoint holds its requests back (deadlines
 * go on) until gg_endpoint_go_on, which must not be called from inside. Another failure ends the
 * request as GG_RETRY_STOP. */
typedef struct gg_sign_request {
    const char *method, *url, *body;
    size_t len;
    const char *const *headers; /* the other lines that are sent, NULL-terminated */
    bool again;
} gg_sign_request;
typedef gg_status (*gg_endpoint_sign)(void *context, const gg_sign_request *request, gg_buf *lines,
                                      gg_error *error);

typedef struct gg_endpoint_options {
    const char *base_url;    /* "http://127.0.0.1:8000/v1", no trailing slash needed; a query stays
                                behind the path */
    const char *unix_socket; /* or NULL */
    const char *const
        *headers;          /* sent with every request: authorization and the like; never logged */
    size_t in_flight_max;  /* 0 = GG_ENDPOINT_IN_FLIGHT */
    int attempts_max;      /* 0 = GG_RETRY_ATTEMPTS */
    int64_t timeout_ms;    /* of one attempt; 0 = GG_HTTP_TIMEOUT_MS */
    uint64_t seed;         /* of the jitter */
    gg_endpoint_sign sign; /* or NULL */
    void *sign_context;
} gg_endpoint_options;

/* What came of a request after all attempts; valid during the callback. */
typedef struct gg_post_result {
    gg_retry_class outcome;     /* GG_RETRY_OK: reply is good; else the class of the last failure */
    const gg_http_reply *reply; /* of the last attempt; never NULL, status 0 when there was none */
    const gg_attempt *attempts;
    size_t attempt_count;
    const char *message; /* what went wrong, without the address, for a person; "" when OK. Keys
                            that the server repeats in its error are hidden in it */
} gg_post_result;
typedef void (*gg_post_done)(void *context, const gg_post_result *result);

/* GG_E_CONFIG for an address or header that makes no sense, or when in_flight_max is more than the
 * open files allow. Everything is copied. */
gg_status gg_endpoint_new(gg_http *http, const gg_endpoint_options *options, gg_endpoint **out,
                          gg_error *error);
/* Drops all requests without calling back; the caller lets the loop run once more. Not from a
 * callback. NULL is fine. */
void gg_endpoint_free(gg_endpoint *endpoint);
/* The address as it may be shown: without user info and query. */
const char *gg_endpoint_shown(const gg_endpoint *endpoint);

/* One request. Everything is copied. */
typedef struct gg_post_request {
    const char *path; /* appended to base_url */
    const char *body; /* NULL = GET */
    size_t len;
    const char *const *headers; /* besides the endpoint's own; NULL = none */
    int64_t deadline_ms;        /* on uv_now's clock, 0 = none: past it the request ends as
                                   GG_RETRY_DEADLINE, in the queue, in a pause or in flight; also at once
                                   when the next attempt would come after it */
    gg_retry_judge
        accept; /* may class a 2xx reply as a failure after all (a 200 that is an error); or NULL */
} gg_post_request;

/* `done` is called exactly once, from the loop, never from inside this call. *out is valid until
 * then. */
gg_status gg_endpoint_send(gg_endpoint *endpoint, const gg_post_request *request, gg_post_done done,
                           void *context, gg_post **out, gg_error *error);
void gg_post_cancel(gg_post *post); /* no callback */

/* Requests that were held back go out. From the loop, not from the signer. */
void gg_endpoint_go_on(gg_endpoint *endpoint);

/* For the live line. */
typedef struct gg_endpoint_state {
    size_t queued, in_flight, backing_off;
    int64_t paused_until_ms; /* uv_now clock; 0 = not paused */
    const char *pause_reason;
    int64_t requests, retries; /* attempts sent, and those of them that were not the first */
    int64_t oldest_ms;         /* start of the oldest attempt in flight; 0 = none */
    int64_t last_reply_ms;     /* of the last reply of any kind; 0 = none yet */
} gg_endpoint_state;
void gg_endpoint_look(const gg_endpoint *endpoint, gg_endpoint_state *out);

#endif
