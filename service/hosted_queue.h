/* The operations of a session, waiting and done; part of hosted.h. Not locked: the session does. */
#ifndef GG_SERVICE_HOSTED_QUEUE_H
#define GG_SERVICE_HOSTED_QUEUE_H

#include "service/hosted.h"

typedef enum gg_op_status {
    GG_OP_PENDING,
    GG_OP_IN_PROGRESS,
    GG_OP_COMPLETED,
    GG_OP_FAILED,
    GG_OP_SKIPPED
} gg_op_status;

/* Somebody who wants to hear of an operation's end. */
typedef struct gg_op_waiter {
    gg_result_fn then;
    void *context;
    struct gg_op_waiter *next;
} gg_op_waiter;

typedef struct gg_op {
    int64_t number;   /* of its kind, from 1: makes its id */
    int64_t sequence; /* 0 for sampling */
    char token[GG_CLIENT_TOKEN_MAX + 1];
    uint8_t digest[32];
    gg_op_status status;
    gg_op_request request; /* emptied when it has run */
    gg_buf json;           /* the answer, once it has ended */
    size_t charged;        /* what it counts for in the log */
    gg_op_waiter *waiters;
    struct gg_op *next; /* in a queue */
} gg_op;

/* All operations of one kind that are remembered, by number. */
typedef struct gg_op_log {
    gg_op **items;
    size_t count, room;
    int64_t first; /* number of items[0] */
    size_t bytes;  /* of the results */
} gg_op_log;

/* A new pending operation at the end of the log, which owns it; takes the request over in any case.
 * NULL when memory is short. */
gg_op *gg_op_log_add(gg_op_log *log, gg_op_request *request);
/* Counts the result of an operation that has ended, and forgets the oldest ones where there are too
 * many or they are too large; never this one. */
void gg_op_log_charge(gg_op_log *log, gg_op *op);
gg_op *gg_op_log_find(const gg_op_log *log, int64_t number);
/* The one with this sequence number or this token (not ""); NULL when none is remembered. */
gg_op *gg_op_log_sequence(const gg_op_log *log, int64_t sequence);
gg_op *gg_op_log_token(const gg_op_log *log, const char *token);
void gg_op_log_free(gg_op_log *log);

bool gg_op_ended(const gg_op *op);
/* The answer as of now: of an operation that has ended, or {"status":"Pending"}. */
void gg_op_answer(const gg_op *op, gg_result_fn then, void *context);
/* False when memory is short. */
bool gg_op_wait(gg_op *op, gg_result_fn then, void *context);
/* Ends it: `member` and `result` for COMPLETED, the sentence `detail` for FAILED. Tells those who
 * wait. */
void gg_op_end(gg_op *op, gg_op_status status, const gg_buf *result, int64_t trained,
               const char *detail);

#endif
