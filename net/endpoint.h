/*
 * An endpoint: one address with its headers, retry rules, shared pause and in-flight limit.
 *
 * Requests wait in a queue of ours (waiting does not count against the request's time), go out up
 * to the limit, are retried by class with full jitter, and share one pause: when the endpoint says
 * "later", everybody waits, not just the request that heard it. Retry classes are a table
 * (net/retry.h).
 *
 * Threads: the loop's thread.
 */
#ifndef GG_NET_ENDPOINT_H
#define GG_NET_ENDPOINT_H

#include "net/http.h"
#include "net/retry.h"

typedef struct gg_endpoint gg_endpoint;
typedef struct gg_post gg_post;

typedef struct gg_endpoint_options {
    const char *base_url;    /* "http://127.0.0.1:8000/v1", no trailing slash needed */
    const char *unix_socket; /* or NULL */
    const char *const
        *headers; /* sent with every request: authorization and the like; never logged */
    size_t in_flight_max;
    int attempts_max;   /* GG_RETRY_ATTEMPTS */
    int64_t timeout_ms; /* of one attempt */
    uint64_t seed;      /* of the jitter */
} gg_endpoint_options;

/* What came of a request after all attempts; valid during the callback. */
typedef struct gg_post_result {
    gg_retry_class outcome;     /* GG_RETRY_OK: reply is good; else the class of the last failure */
    const gg_http_reply *reply; /* of the last attempt */
    const gg_attempt *attempts;
    size_t attempt_count;
    const char *message; /* the error's text for a person, "" when OK; secrets never in it */
} gg_post_result;
typedef void (*gg_post_done)(void *context, const gg_post_result *result);

gg_status gg_endpoint_new(gg_http *http, const gg_endpoint_options *options, gg_endpoint **out,
                          gg_error *error);
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
                                   GG_RETRY_DEADLINE, in the        queue, in a pause or in flight */
    gg_retry_judge
        accept; /* may class a 2xx reply as a failure after all (a 200 that is an error); or NULL */
} gg_post_request;

/* `done` is called exactly once, from the loop, never from inside this call. */
gg_status gg_endpoint_send(gg_endpoint *endpoint, const gg_post_request *request, gg_post_done done,
                           void *context, gg_post **post, gg_error *error);
void gg_post_cancel(gg_post *post); /* no callback */

/* For the live line. */
typedef struct gg_endpoint_state {
    size_t queued, in_flight, backing_off;
    int64_t paused_until_ms; /* uv_now clock; 0 = not paused */
    const char *pause_reason;
    int64_t requests, retries;
    int64_t oldest_ms; /* start of the oldest attempt in flight; 0 = none */
    int64_t last_reply_ms;
} gg_endpoint_state;
void gg_endpoint_look(const gg_endpoint *endpoint, gg_endpoint_state *out);

#endif
