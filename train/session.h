/*
 * Client of a managed training session: the same calls whether the address is the cloud's or our
 * own service.
 *
 * Operations are numbered from 1 in the order of these calls, each with a client token of its own,
 * and the retries of one submit repeat number and token unchanged. A submit does not wait;
 * gg_session_wait does.
 *
 * Ownership: the session owns its strings; arn results are owned by the session until the next call
 * of the same function. Threads: the loop's thread. A session bills until it is stopped:
 * gg_session_stop on every way out.
 */
#ifndef GG_TRAIN_SESSION_H
#define GG_TRAIN_SESSION_H

#include "net/endpoint.h"
#include "rl/adam.h"
#include "rl/datum.h"
#include "rl/loss.h"

#define GG_SESSION_START_MS 600000 /* longest wait for Running */
#define GG_SESSION_POLL_MS  2000   /* slowest polling */
#define GG_ARN_MAX          2048
#define GG_SESSION_RANK     32
#define GG_SESSION_ALPHA    64

typedef struct gg_session gg_session;

typedef struct gg_session_options {
    uv_loop_t *loop;
    gg_endpoint *control; /* AWS JSON 1.1 */
    gg_endpoint *runtime; /* REST */
    const char *name;     /* 1-63 of [a-zA-Z0-9-], unique */
    const char *base_model_arn, *role_arn, *s3_path, *package_group_arn;
    int64_t rank, alpha;
    uint64_t token_seed;  /* of the client tokens */
    const bool *given_up; /* as gg_call_options'; borrowed */
} gg_session_options;

/* Creates the session and waits until it runs. */
gg_status gg_session_open(const gg_session_options *options, gg_session **out, gg_error *error);
/* Stops (which ends the bill) and forgets; NULL is fine. The error of a failed stop is reported,
 * the memory is freed anyway. */
gg_status gg_session_close(gg_session *session, gg_error *error);

/* Stops a session that an earlier process left behind. One that is not there or has ended is fine.
 */
gg_status gg_session_stop_left(uv_loop_t *loop, gg_endpoint *endpoint, const char *name,
                               const bool *given_up, gg_error *error);
/* Base URL of the session's own model for OpenAI clients, appended:
 * RUNTIME/training-sessions/NAME/v1. */
void gg_session_chat_url(const gg_session *session, const char *runtime_url, gg_buf *out);

#define GG_OPERATION_ID 65
typedef struct gg_operation {
    char id[GG_OPERATION_ID];
} gg_operation;

/* Submits forward-backward over datums[0..count): as many operations as the limits of rl/datum.h
 * ask for. The ids are put into `ids` (room for gg_session_operations(datums, count)). */
size_t gg_session_operations(const gg_datum *datums, size_t count);
/* How many datums go into the operation that begins with datums[first]. */
size_t gg_session_slice(const gg_datum *datums, size_t count, size_t first);
gg_status gg_session_forward_backward(gg_session *session, gg_loss loss,
                                      const gg_loss_config *config, const gg_datum *datums,
                                      size_t count, gg_operation *ids, gg_error *error);
gg_status gg_session_step(gg_session *session, const gg_adam_config *adam, gg_operation *id,
                          gg_error *error);
/* Waits for an operation. Its metrics, when it has any, are added to `metrics` (may be NULL) by
 * name: see gg_metric_fn. */
typedef void (*gg_metric_fn)(void *context, const char *name, double value);
gg_status gg_session_wait(gg_session *session, const gg_operation *id, gg_metric_fn each,
                          void *context, gg_error *error);

/* Save and wait; the new model package's ARN. */
gg_status gg_session_save_weights(gg_session *session, char arn[GG_ARN_MAX + 1], gg_error *error);
gg_status gg_session_save_state(gg_session *session, char arn[GG_ARN_MAX + 1], gg_error *error);
gg_status gg_session_load_state(gg_session *session, const char *arn, bool optimizer,
                                gg_error *error);
/* From now on `model: default` means these weights. */
gg_status gg_session_bind(gg_session *session, const char *arn, gg_error *error);
/* Where the package's files lie: the S3 URI by DescribeModelPackage. */
gg_status gg_session_location(gg_session *session, const char *arn, gg_buf *uri, gg_error *error);

#endif
