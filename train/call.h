/*
 * One answered request at a time on a loop that others share: sends through an endpoint (with its
 * retries) and runs the loop until the answer is there. For control traffic, where the next call
 * needs the last one's answer.
 *
 * Threads: the loop's thread.
 */
#ifndef GG_TRAIN_CALL_H
#define GG_TRAIN_CALL_H

#include "core/json.h"
#include "net/endpoint.h"

/* How long a call may take that begins after its caller was told to give up. */
#define GG_CALL_LAST_MS 3000

typedef struct gg_call_options {
    uv_loop_t *loop;
    gg_endpoint *endpoint;
    const char *path;
    const char *body; /* NULL = GET */
    size_t len;
    const char *const *headers; /* or NULL */
    /* Becomes true, in a callback of the loop, when nobody wants to wait any longer: the call in
     * work ends as GG_E_INTERRUPTED. NULL is never. */
    const bool *given_up;
} gg_call_options;

/* The reply's JSON in *out (caller deletes; an empty body gives an empty object). A failure that
 * retries did not cure is GG_E_UNREACHABLE or GG_E_PROTOCOL with the service's own sentence;
 * *status (may be NULL) is the last HTTP status. */
gg_status gg_call_wait(const gg_call_options *call, cJSON **out, int *status, gg_error *error);
/* The same for a control-plane operation in AWS JSON 1.1: "CreateJob" and its body. */
gg_status gg_control_wait(uv_loop_t *loop, gg_endpoint *control, const char *operation,
                          const gg_buf *body, const bool *given_up, cJSON **out, gg_error *error);
/* Lets the loop run for `ms`. */
gg_status gg_loop_sleep(uv_loop_t *loop, int64_t ms, gg_error *error);

#endif
