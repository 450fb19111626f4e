/* Requests by path, and the runtime operations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/inside.h"
#include "service/operation.h"

#define JSON "application/json"

/* ---- answers ---- */

void gg_refuse(gg_request *request, int status, const char *exception, const char *message)
{
    char type[96], id[80];
    gg_buf body;
    const char *const headers[] = {type, id, NULL};
    snprintf(type, sizeof type, "x-amzn-ErrorType: %s", exception);
    snprintf(id, sizeof id, "x-amzn-RequestId: guessgym-%lld",
             (long long)atomic_load(&request->service->requests));
    gg_buf_init(&body, GG_CONTROL_BODY_MAX);
    gg_buf_str(&body, "{\"message\":");
    gg_buf_json_str(&body, message);
    gg_buf_char(&body, '}');
    gg_exchange_reply(request->exchange, status, JSON, headers, gg_buf_cstr(&body), body.len);
    gg_buf_free(&body);
}

void gg_refuse_answer(gg_request *request, gg_hosted_answer answer, const char *message)
{
    static const struct {
        int status;
        const char *exception;
    } rows[] = {
        [GG_ANSWER_INVALID] = {400, "ValidationException"},
        [GG_ANSWER_UNKNOWN] = {404, "ResourceNotFoundException"},
        [GG_ANSWER_CONFLICT] = {409, "ConflictException"},
        [GG_ANSWER_LATER] = {429, "ThrottlingException"},
        [GG_ANSWER_BROKEN] = {500, "InternalServerException"},
    };
    gg_refuse(request, rows[answer].status, rows[answer].exception, message);
}

gg_hosted *gg_request_session(gg_request *request)
{
    char message[128];
    gg_hosted *session = gg_registry_find(request->service->sessions, request->name);
    if (session)
        return session;
    snprintf(message, sizeof message, "there is no training session %s", request->name);
    gg_refuse_answer(request, GG_ANSWER_UNKNOWN, message);
    return NULL;
}

/* ---- runtime operations ---- */

static void answer_id(gg_request *request, gg_hosted_answer answer, const char *id,
                      const gg_error *error)
{
    char json[GG_OPERATION_ID_MAX + 32];
    if (answer != GG_ANSWER_OK) {
        gg_refuse_answer(request, answer, error->text);
        return;
    }
    snprintf(json, sizeof json, "{\"operationId\":\"%s\"}", id);
    gg_exchange_reply_json(request->exchange, 200, json);
}

/* A body that could not be read. */
static gg_hosted_answer unreadable(gg_status status)
{
    return status == GG_E_MEMORY ? GG_ANSWER_BROKEN : GG_ANSWER_INVALID;
}

static void submit_training(gg_request *request)
{
    gg_op_request operation = {0};
    gg_error error = {0};
    int64_t sequence;
    uint8_t digest[32];
    char token[GG_CLIENT_TOKEN_MAX + 1], id[GG_OPERATION_ID_MAX + 1];
    gg_hosted *session = gg_request_session(request);
    if (!session)
        return;
    gg_status status = gg_op_read_training(request->http->body, request->http->body_len, &sequence,
                                           token, &operation, &error);
    gg_hosted_answer answer;
    if (status == GG_OK) {
        gg_sha256(request->http->body, request->http->body_len, digest);
        answer = gg_hosted_submit(session, sequence, token, digest, &operation, id, &error);
    } else {
        answer = unreadable(status);
    }
    answer_id(request, answer, id, &error);
    gg_hosted_release(session);
}

static void submit_sampling(gg_request *request)
{
    gg_op_request operation = {0};
    gg_error error = {0};
    char id[GG_OPERATION_ID_MAX + 1];
    gg_hosted *session = gg_request_session(request);
    if (!session)
        return;
    gg_status status =
        gg_op_read_sampling(request->http->body, request->http->body_len, &operation, &error);
    gg_hosted_answer answer = status == GG_OK
                                  ? gg_hosted_submit_sampling(session, &operation, id, &error)
                                  : unreadable(status);
    answer_id(request, answer, id, &error);
    gg_hosted_release(session);
}

static void send_result(void *context, const char *json, size_t len)
{
    gg_exchange_reply(context, 200, JSON, NULL, json, len);
}

static void result(gg_request *request, bool sampling)
{
    char message[200];
    gg_hosted *session = gg_request_session(request);
    if (!session)
        return;
    if (!gg_hosted_result(session, sampling, request->id, send_result, request->exchange)) {
        snprintf(message, sizeof message, "training session %s has no %s operation %s",
                 request->name, sampling ? "sampling" : "training", request->id);
        gg_refuse_answer(request, GG_ANSWER_UNKNOWN, message);
    }
    gg_hosted_release(session);
}

static void training_result(gg_request *request)
{
    result(request, false);
}

static void sampling_result(gg_request *request)
{
    result(request, true);
}

static void health(gg_request *request)
{
    gg_exchange_reply_json(request->exchange, 200, "{\"status\":\"ok\"}");
}

/* ---- the table ---- */

/* A star stands for one part of the path: first the session's name, then an operation's id. */
static const struct route {
    const char *method, *path;
    void (*handle)(gg_request *);
} routes[] = {
    {"GET", "/health", health},
    {"POST", "/", gg_control},
    {"POST", "/sample", gg_job_route_sample},
    {"POST", "/sample-with-response-stream", gg_job_route_stream},
    {"POST", "/complete-rollout", gg_job_route_complete},
    {"POST", "/update-reward", gg_job_route_reward},
    {"POST", "/v1/chat/completions", gg_job_route_sample},
    {"GET", "/v1/models", gg_job_route_models},
    {"POST", "/v1/training-sessions/*/operations", submit_training},
    {"GET", "/v1/training-sessions/*/operations/*", training_result},
    {"POST", "/v1/training-sessions/*/sampling-operations", submit_sampling},
    {"GET", "/v1/training-sessions/*/sampling-operations/*", sampling_result},
    {"POST", "/training-sessions/*/sample", gg_sample_pass},
    {"POST", "/training-sessions/*/sample-with-response-stream", gg_sample_stream},
    {"POST", "/training-sessions/*/v1/chat/completions", gg_openai_chat},
    {"GET", "/training-sessions/*/v1/models", gg_openai_models},
};

static bool take_part(const char **path, char *out)
{
    size_t len = strcspn(*path, "/");
    if (len == 0 || len > GG_OPERATION_ID_MAX)
        return false;
    memcpy(out, *path, len);
    out[len] = '\0';
    *path += len;
    return gg_text_is(out, GG_TEXT_PATH_NAME);
}

static bool matches(const char *pattern, const char *path, gg_request *request)
{
    char *into = request->name;
    for (; *pattern; pattern++) {
        if (*pattern == '*') {
            if (!take_part(&path, into))
                return false;
            into = request->id;
        } else if (*pattern != *path++) {
            return false;
        }
    }
    return *path == '\0';
}

void gg_route(gg_request *request)
{
    bool known = false;
    atomic_fetch_add(&request->service->requests, 1);
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        if (!matches(routes[i].path, request->http->path, request))
            continue;
        if (strcmp(routes[i].method, request->http->method) == 0) {
            routes[i].handle(request);
            return;
        }
        known = true;
    }
    gg_refuse(request, known ? 405 : 404, "UnknownOperationException",
              known ? "this path takes another method" : "there is no such path here");
}
