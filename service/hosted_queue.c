#include "service/hosted_queue.h"

#include <stdlib.h>
#include <string.h>

#include "service/hosted_run.h"

#define FIRST_ROOM 64

static const char *const status_names[] = {
    [GG_OP_PENDING] = "Pending",     [GG_OP_IN_PROGRESS] = "InProgress",
    [GG_OP_COMPLETED] = "Completed", [GG_OP_FAILED] = "Failed",
    [GG_OP_SKIPPED] = "Skipped",
};

static void op_free(gg_op *op)
{
    gg_op_request_free(&op->request);
    gg_buf_free(&op->json);
    free(op);
}

bool gg_op_ended(const gg_op *op)
{
    return op->status >= GG_OP_COMPLETED;
}

void gg_op_log_charge(gg_op_log *log, gg_op *op)
{
    size_t drop = 0;
    op->charged = op->json.room;
    log->bytes += op->charged;
    while (drop < log->count && log->items[drop] != op && gg_op_ended(log->items[drop]) &&
           (log->count - drop > GG_RESULTS_KEPT || log->bytes > GG_RESULTS_BYTES)) {
        log->bytes -= log->items[drop]->charged;
        op_free(log->items[drop++]);
    }
    if (drop == 0)
        return;
    memmove(log->items, log->items + drop, (log->count - drop) * sizeof(gg_op *));
    log->count -= drop;
    log->first += (int64_t)drop;
}

static bool grow(gg_op_log *log)
{
    if (log->count < log->room)
        return true;
    size_t room = log->room ? log->room * 2 : FIRST_ROOM;
    gg_op **items = realloc(log->items, room * sizeof(gg_op *));
    if (!items)
        return false;
    log->items = items;
    log->room = room;
    return true;
}

gg_op *gg_op_log_add(gg_op_log *log, gg_op_request *request)
{
    gg_op *op = calloc(1, sizeof *op);
    if (!op || !grow(log)) {
        free(op);
        gg_op_request_free(request);
        return NULL;
    }
    if (log->count == 0 && log->first == 0)
        log->first = 1;
    op->number = log->first + (int64_t)log->count;
    op->request = *request;
    *request = (gg_op_request){0};
    gg_buf_init(&op->json, GG_RESULT_MAX);
    log->items[log->count++] = op;
    return op;
}

gg_op *gg_op_log_find(const gg_op_log *log, int64_t number)
{
    int64_t at = number - log->first;
    return at >= 0 && at < (int64_t)log->count ? log->items[at] : NULL;
}

gg_op *gg_op_log_sequence(const gg_op_log *log, int64_t sequence)
{
    for (size_t i = log->count; i-- > 0;)
        if (log->items[i]->sequence == sequence)
            return log->items[i];
    return NULL;
}

gg_op *gg_op_log_token(const gg_op_log *log, const char *token)
{
    for (size_t i = log->count; *token && i-- > 0;)
        if (strcmp(log->items[i]->token, token) == 0)
            return log->items[i];
    return NULL;
}

void gg_op_log_free(gg_op_log *log)
{
    for (size_t i = 0; i < log->count; i++)
        op_free(log->items[i]);
    free(log->items);
    *log = (gg_op_log){0};
}

void gg_op_answer(const gg_op *op, gg_result_fn then, void *context)
{
    static const char *const early[] = {"{\"status\":\"Pending\"}", "{\"status\":\"InProgress\"}"};
    static const char *const lost = "{\"status\":\"Failed\",\"errorDetails\":\"out of memory\"}";
    if (!gg_op_ended(op))
        then(context, early[op->status], strlen(early[op->status]));
    else if (op->json.status == GG_OK)
        then(context, op->json.data, op->json.len);
    else
        then(context, lost, strlen(lost));
}

bool gg_op_wait(gg_op *op, gg_result_fn then, void *context)
{
    gg_op_waiter *waiter = malloc(sizeof *waiter);
    if (!waiter)
        return false;
    *waiter = (gg_op_waiter){then, context, op->waiters};
    op->waiters = waiter;
    return true;
}

static bool has_usage(gg_op_kind kind)
{
    return kind == GG_OP_FORWARD || kind == GG_OP_FORWARD_BACKWARD;
}

void gg_op_end(gg_op *op, gg_op_status status, const gg_buf *result, int64_t trained,
               const char *detail)
{
    gg_buf *out = &op->json;
    op->status = status;
    gg_buf_printf(out, "{\"status\":\"%s\"", status_names[status]);
    if (status == GG_OP_COMPLETED) {
        gg_buf_printf(out, ",\"operationResult\":{\"%s\":", gg_op_kind_name(op->request.kind));
        gg_buf_add(out, result->data, result->len);
        gg_buf_char(out, '}');
        if (has_usage(op->request.kind))
            gg_buf_printf(out, ",\"tokenUsage\":{\"trainingTokens\":%lld}", (long long)trained);
    } else if (status == GG_OP_FAILED) {
        gg_buf_str(out, ",\"errorDetails\":");
        gg_buf_json_str(out, detail);
    }
    gg_buf_char(out, '}');
    gg_op_request_free(&op->request);
    for (gg_op_waiter *w = op->waiters, *next; w; w = next) {
        next = w->next;
        gg_op_answer(op, w->then, w->context);
        free(w);
    }
    op->waiters = NULL;
}
