/*
 * A training session as the service holds it: its state, its queue of operations, its worker.
 *
 *   Running <-> Blocked    an operation waits for a number that has not arrived
 *   Running | Blocked -> Stopping -> Stopped
 *   Running | Blocked -> Failed   an operation failed, or a gap was not filled in time; what was
 *                                 queued behind is Skipped
 *
 * Training operations run in the order of their numbers, from 1, whatever the order of arrival;
 * sampling operations run as they come, before waiting training operations. Both run on the
 * session's own thread, one at a time.
 *
 * Ownership: counted; gg_hosted_keep and gg_hosted_release. Threads: any.
 */
#ifndef GG_SERVICE_HOSTED_H
#define GG_SERVICE_HOSTED_H

#include "core/digest.h"
#include "service/operation.h"
#include "service/packages.h"

#define GG_OPERATION_ID_MAX 64
#define GG_QUEUE_MAX        256          /* operations that wait; one more is told to come later */
#define GG_QUEUE_BYTES      (256u << 20) /* of their bodies */
#define GG_RESULTS_KEPT     4096         /* of each kind; older results are forgotten */
#define GG_RESULTS_BYTES    (64u << 20)  /* of each kind */
#define GG_HOLD_AHEAD       8 /* a look at one of the next so many operations waits for its end */
#define GG_GAP_MS           600000
#define GG_STOP_WAIT_MS     200
#define GG_DETAIL_MAX       1024

typedef enum gg_hosted_state {
    GG_HOSTED_RUNNING,
    GG_HOSTED_BLOCKED,
    GG_HOSTED_STOPPING,
    GG_HOSTED_STOPPED,
    GG_HOSTED_FAILED,
    GG_HOSTED_STATE_COUNT
} gg_hosted_state;
const char *gg_hosted_state_name(gg_hosted_state state); /* "Running" ... */
gg_hosted_state gg_hosted_state_parse(const char *name); /* COUNT when unknown */

/* What a session is made with; strings are copied. */
typedef struct gg_hosted_options {
    const char *name, *arn, *region, *account;
    const char *base_id, *base_version; /* hub content */
    const char *group;                  /* of its model packages */
    const char *s3_path;
    const char *request; /* the create request as JSON, for describing it */
    double rank, alpha;
    uint64_t seed; /* of samples that name none */
    int64_t gap_ms;
    const gg_policy *policy; /* these two are the service's and outlive the session */
    gg_packages *packages;
} gg_hosted_options;

typedef struct gg_hosted_usage {
    int64_t prefill, sampled, trained;
} gg_hosted_usage;

/* How it stands; strings are copies. */
typedef struct gg_hosted_info {
    gg_hosted_state state;
    char detail[GG_DETAIL_MAX + 1];  /* of Failed and Blocked; "" otherwise */
    double created, modified, ended; /* seconds since 1970; 0 = not yet */
    int64_t last_received;           /* highest number accepted; 0 = none */
    gg_hosted_usage usage;
} gg_hosted_info;

typedef struct gg_hosted gg_hosted;

gg_status gg_hosted_new(const gg_hosted_options *options, gg_hosted **out, gg_error *error);
/* One that an earlier process left, in a state that has ended: it has no worker. */
gg_status gg_hosted_restore(const gg_hosted_options *options, const gg_hosted_info *info,
                            gg_hosted **out, gg_error *error);
gg_hosted *gg_hosted_keep(gg_hosted *session);
void gg_hosted_release(gg_hosted *session); /* the last one stops it; NULL is fine */

const gg_hosted_options *gg_hosted_made_with(const gg_hosted *session);
void gg_hosted_look(gg_hosted *session, gg_hosted_info *info);
/* GG_E_STATE with the API's sentence where it cannot be stopped, or not be deleted. */
gg_status gg_hosted_stop(gg_hosted *session, gg_error *error);
gg_status gg_hosted_may_delete(gg_hosted *session, gg_error *error);

/* What came of a submit or of asking for weights; each has a status of its own on the wire. */
typedef enum gg_hosted_answer {
    GG_ANSWER_OK,
    GG_ANSWER_INVALID,  /* 400: number or token */
    GG_ANSWER_UNKNOWN,  /* 404 */
    GG_ANSWER_CONFLICT, /* 409: the state takes no operations */
    GG_ANSWER_LATER,    /* 429: the queue is full */
    GG_ANSWER_BROKEN    /* 500 */
} gg_hosted_answer;

/* `digest` is that of the body: the same number, token and body again is the same operation. Takes
 * the request over in any case. */
gg_hosted_answer gg_hosted_submit(gg_hosted *session, int64_t sequence, const char *token,
                                  const uint8_t digest[32], gg_op_request *request,
                                  char id[GG_OPERATION_ID_MAX + 1], gg_error *error);
gg_hosted_answer gg_hosted_submit_sampling(gg_hosted *session, gg_op_request *request,
                                           char id[GG_OPERATION_ID_MAX + 1], gg_error *error);

/* The result's JSON, valid during the call. */
typedef void (*gg_result_fn)(void *context, const char *json, size_t len);
/* Calls `then` exactly once: when the operation has ended, or at once while its turn is far off or
 * waits for a number. False (and no call) when there is no such operation. A caller that polls
 * needs no pause in between. */
bool gg_hosted_result(gg_hosted *session, bool sampling, const char *id, gg_result_fn then,
                      void *context);

/* Weights for a chat request: of a package, or with arn NULL those last bound (*out NULL = base).
 */
gg_hosted_answer gg_hosted_weights(gg_hosted *session, const char *arn, gg_version **out,
                                   gg_error *error);
void gg_hosted_count(gg_hosted *session, int64_t prefill, int64_t sampled);

#endif
