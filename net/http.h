/*
 * HTTP client for many transfers on one libuv loop.
 *
 * libcurl's multi interface driven by socket events. Transfers are spread over several multi
 * handles of at most GG_HTTP_PER_MULTI each, since libcurl 7.88 searches its idle connections one
 * by one. HTTP/1.1, no redirects, no signals, compressed bodies capped after decoding. Loopback
 * addresses never go through a proxy, and are not offered compression. A host's name is looked up
 * once, by its first transfer, while the others wait (libcurl would start a thread for each), and
 * again when a connection fails.
 *
 * Threads: everything on the loop's thread. Ownership: the client copies url and headers; the body
 * is borrowed until `done` or cancel. SIGPIPE is ignored from gg_http_new on unless the program
 * handles it, since TLS may write to a closed connection.
 */
#ifndef GG_NET_HTTP_H
#define GG_NET_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include <guessgym/buf.h>

#define GG_HTTP_PER_MULTI    64
#define GG_HTTP_CONNECT_MS   10000
#define GG_HTTP_TIMEOUT_MS   600000
#define GG_HTTP_IDLE_REUSE_S 4 /* below uvicorn's keep-alive of 5 s */
#define GG_HTTP_REPLY_MAX    (64u << 20)
/* libcurl's receive buffer: for the first transfers, and for those beyond GG_HTTP_LARGE_COUNT at
 * once, where memory counts more than system calls. */
#define GG_HTTP_LARGE_COUNT  1024
#define GG_HTTP_LARGE_BUFFER 16384L
#define GG_HTTP_SMALL_BUFFER 4096L

typedef struct gg_http gg_http;
typedef struct gg_transfer gg_transfer;

typedef struct gg_http_request {
    const char *method;         /* "GET", "POST", ... */
    const char *url;            /* http:// or https:// */
    const char *unix_socket;    /* path, or NULL */
    const char *const *headers; /* "Name: value" lines, NULL-terminated; NULL = none. A body without
                                   a Content-Type is application/json */
    const char *body;
    size_t body_len;
    int64_t timeout_ms; /* 0 = GG_HTTP_TIMEOUT_MS */
    size_t reply_max;   /* 0 = GG_HTTP_REPLY_MAX */
} gg_http_request;

typedef enum gg_transport {
    GG_TRANSPORT_OK = 0,
    GG_TRANSPORT_RESOLVE,
    GG_TRANSPORT_CONNECT,
    GG_TRANSPORT_TLS,
    GG_TRANSPORT_TIMEOUT,
    GG_TRANSPORT_RESET, /* connection lost, empty or cut reply */
    GG_TRANSPORT_TOO_BIG,
    GG_TRANSPORT_OTHER,
    GG_TRANSPORT_COUNT
} gg_transport;
const char *gg_transport_name(gg_transport transport);

/* Valid during the callback only. */
typedef struct gg_http_reply {
    gg_transport transport;
    int status;       /* 0 unless transport is OK */
    const char *body; /* NUL-terminated */
    size_t len;
    const char *content_type; /* "" when absent */
    /* Header values, NULL when absent. Not looked up for status 200. */
    const char *retry_after;
    const char *retry_after_ms;
    const char *should_retry;   /* x-should-retry */
    const char *reset_requests; /* x-ratelimit-reset-requests */
    const char *reset_tokens;   /* x-ratelimit-reset-tokens */
    const char *request_id;     /* x-request-id or x-amzn-requestid */
    const char *error_type;     /* x-amzn-errortype */
    const char *location;
    const char *detail; /* libcurl's sentence when transport is not OK, else "" */
    int64_t elapsed_ms;
} gg_http_reply;

typedef void (*gg_http_done)(void *context, const gg_http_reply *reply);

gg_status gg_http_new(uv_loop_t *loop, gg_http **out, gg_error *error);
/* Cancels what is in flight (their callbacks are not called). Runs no loop; the caller lets the
 * loop run once more so that libuv handles close. Not from a callback. NULL is fine. */
void gg_http_free(gg_http *http);
/* `done` is called exactly once, from the loop, never from inside this call. *transfer is valid
 * until then. */
gg_status gg_http_send(gg_http *http, const gg_http_request *request, gg_http_done done,
                       void *context, gg_transfer **transfer, gg_error *error);
/* Ends a transfer without calling back. */
void gg_http_cancel(gg_transfer *transfer);
size_t gg_http_in_flight(const gg_http *http);
uv_loop_t *gg_http_loop(const gg_http *http);

/* One request, waiting for it, on a private loop: for commands and tests, not for the agent. The
 * reply's strings live in `storage` (caller frees); a failed transfer is GG_OK with
 * reply->transport saying so. */
gg_status gg_http_call(const gg_http_request *request, gg_buf *storage, gg_http_reply *reply,
                       gg_error *error);

#endif
