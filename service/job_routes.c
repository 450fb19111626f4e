/* The jobs' runtime operations: Sample, SampleWithResponseStream, CompleteRollout, UpdateReward,
 * and the OpenAI path. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/inside.h"

#define ARN_HEADER        "X-Amzn-SageMaker-Job-Arn"
#define TRAJECTORY_HEADER "X-Amzn-SageMaker-Trajectory-Id"
#define MESSAGE_MAX       1024
#define REWARDS_MAX       GG_JOB_TURNS_MAX

/* ---- refusals ---- */

static const struct answer {
    int status;
    const char *exception;
} answers[] = {
    [GG_JOB_INVALID] = {400, "ValidationException"},
    [GG_JOB_UNKNOWN] = {404, "ResourceNotFoundException"},
    [GG_JOB_CONFLICT] = {409, "ConflictException"},
    [GG_JOB_BROKEN] = {500, "InternalServiceError"},
};

/* {"Message":...} as the API's clients read it, and "error" as OpenAI's do. */
static void refuse_with(gg_request *request, int status, const char *exception, const char *message)
{
    char type[96], id[80], text[MESSAGE_MAX + 1];
    gg_buf body;
    const char *const headers[] = {type, id, NULL};
    snprintf(type, sizeof type, "x-amzn-ErrorType: %s", exception);
    snprintf(id, sizeof id, "x-amzn-RequestId: guessgym-%lld",
             (long long)atomic_load(&request->service->requests));
    snprintf(text, sizeof text, "%s", message);
    gg_buf_init(&body, GG_CONTROL_BODY_MAX);
    gg_buf_str(&body, "{\"Message\":");
    gg_buf_json_str(&body, text);
    gg_buf_str(&body, ",\"error\":{\"message\":");
    gg_buf_json_str(&body, text);
    gg_buf_printf(&body, ",\"type\":\"%s\",\"param\":null,\"code\":\"%s\"}}",
                  status < 500 ? "invalid_request_error" : "server_error", exception);
    gg_exchange_reply(request->exchange, status, "application/json", headers, gg_buf_cstr(&body),
                      body.len);
    gg_buf_free(&body);
}

static void refuse(gg_request *request, gg_job_answer answer, const char *message)
{
    refuse_with(request, answers[answer].status, answers[answer].exception, message);
}

static void deny(gg_request *request, const char *message)
{
    refuse_with(request, 403, "AccessDeniedException", message);
}

/* ---- the job of a request ---- */

static gg_job *look_up(gg_request *request, const char *arn, const gg_job_arn *parts)
{
    gg_job_category category = gg_job_category_parse(parts->category);
    gg_job *job = category < GG_JOB_CATEGORIES
                      ? gg_jobs_find(request->service->jobs, category, parts->name)
                      : NULL;
    if (job && strcmp(gg_job_made_with(job)->arn, arn) == 0)
        return job;
    gg_job_release(job);
    return NULL;
}

/* Kept; NULL when the request is answered. The account is looked at before the job. */
static gg_job *request_job(gg_request *request, const char *arn)
{
    char message[MESSAGE_MAX];
    gg_job_arn parts;
    gg_job *job = NULL;
    if (request->shown == GG_AUTH_NOTHING) {
        deny(request, "Missing Authentication Token");
    } else if (!arn) {
        refuse(request, GG_JOB_INVALID, "the header " ARN_HEADER " is missing");
    } else if (!gg_text_is(arn, GG_TEXT_JOB_ARN) || !gg_job_arn_parts(arn, &parts)) {
        snprintf(message, sizeof message, "JobArn %.256s must satisfy the pattern %s", arn,
                 gg_text_pattern(GG_TEXT_JOB_ARN));
        refuse(request, GG_JOB_INVALID, message);
    } else if (strcmp(parts.account, request->service->account) != 0) {
        deny(request, "User is not authorized to access this resource");
    } else if (gg_auth_verifies(request->service->auth) && request->region_given &&
               strcmp(parts.region, request->region) != 0) {
        deny(request, GG_AUTH_BAD_TOKEN);
    } else if (!(job = look_up(request, arn, &parts))) {
        snprintf(message, sizeof message, "Could not find job %.256s", arn);
        refuse(request, GG_JOB_INVALID, message);
    }
    return job;
}

static bool is_trajectory_id(const char *id)
{
    return id && *id && strlen(id) <= GG_TRAJECTORY_ID_MAX;
}

/* ---- sampling ---- */

static const char *copy_header(const gg_request *request, const char *name, char *out, size_t room)
{
    const char *value = gg_exchange_header(request->exchange, name);
    return value && (size_t)snprintf(out, room, "%s", value) < room ? out : NULL;
}

/* A body that was refused gets the API's form too. */
static void send_refusal(gg_request *request, const gg_chat_reply *reply)
{
    cJSON *root = NULL;
    gg_error error;
    (void)gg_json_parse(gg_buf_cstr(&reply->body), reply->body.len, &root, &error);
    const char *text = gg_json_text(gg_json_get(root, "error"), "message");
    if (!text)
        text = "the request was refused";
    if (reply->status < 500)
        refuse(request, GG_JOB_INVALID, text);
    else
        refuse(request, GG_JOB_BROKEN, text);
    cJSON_Delete(root);
}

static void answer_turn(gg_request *request, gg_job *job, const char *id, const char *body,
                        size_t len)
{
    gg_error error = {0};
    gg_chat_reply reply;
    gg_chat_reply_init(&reply);
    gg_job_answer answer = gg_job_sample(job, id, body, len, &reply, &error);
    if (answer != GG_JOB_OK) {
        refuse(request, answer, error.text);
    } else if (reply.status != 200) {
        send_refusal(request, &reply);
    } else {
        size_t reply_len = reply.body.len;
        char *text = gg_buf_take(&reply.body);
        gg_exchange_reply_take(request->exchange, 200, reply.content_type, NULL, text,
                               text ? reply_len : 0);
    }
    gg_chat_reply_free(&reply);
}

static void sample(gg_request *request, bool stream)
{
    char id[GG_TRAJECTORY_ID_MAX + 2], arn[300];
    gg_buf text;
    gg_job *job = request_job(request, copy_header(request, ARN_HEADER, arn, sizeof arn));
    const char *trajectory = copy_header(request, TRAJECTORY_HEADER, id, sizeof id);
    if (!job)
        return;
    if (!is_trajectory_id(trajectory)) {
        refuse(request, GG_JOB_INVALID,
               "the header " TRAJECTORY_HEADER " must hold 1 to 256 characters");
    } else if (stream) {
        gg_stream_body(request->http, &text);
        answer_turn(request, job, trajectory, gg_buf_cstr(&text), text.len);
        gg_buf_free(&text);
    } else {
        answer_turn(request, job, trajectory, request->http->body, request->http->body_len);
    }
    gg_job_release(job);
}

void gg_job_route_sample(gg_request *request)
{
    sample(request, false);
}

void gg_job_route_stream(gg_request *request)
{
    sample(request, true);
}

/* ---- CompleteRollout, UpdateReward ---- */

/* The job's ARN stands in the header or, as the SDK has it, in the body; where both, they agree. */
static gg_job *body_job(gg_request *request, const cJSON *in)
{
    char header[300];
    const char *arn = copy_header(request, ARN_HEADER, header, sizeof header);
    const char *inside = gg_json_text(in, "JobArn");
    if (arn && inside && strcmp(arn, inside) != 0) {
        refuse(request, GG_JOB_INVALID, "JobArn in the body is not the one of the header");
        return NULL;
    }
    return request_job(request, arn ? arn : inside);
}

static void send_empty(gg_request *request)
{
    gg_exchange_reply_json(request->exchange, 200, "{}");
}

typedef void (*call_fn)(gg_request *request, gg_job *job, const char *id, const char *token,
                        const cJSON *in);

static void call(gg_request *request, call_fn fn)
{
    cJSON *in = NULL;
    gg_error error = {0};
    gg_job *job = NULL;
    if (gg_json_parse(request->http->body, request->http->body_len, &in, &error) != GG_OK ||
        !cJSON_IsObject(in)) {
        refuse_with(request, 400, "SerializationException", "the body must be one JSON object");
    } else if ((job = body_job(request, in))) {
        const char *id = gg_json_text(in, "TrajectoryId");
        const cJSON *token = gg_json_get(in, "ClientToken");
        if (!is_trajectory_id(id))
            refuse(request, GG_JOB_INVALID, "TrajectoryId must hold 1 to 256 characters");
        else if (token && !cJSON_IsString(token))
            refuse(request, GG_JOB_INVALID, "ClientToken must be a text");
        else
            fn(request, job, id, token ? token->valuestring : NULL, in);
    }
    gg_job_release(job);
    cJSON_Delete(in);
}

static void complete(gg_request *request, gg_job *job, const char *id, const char *token,
                     const cJSON *in)
{
    gg_error error = {0};
    const cJSON *status = gg_json_get(in, "Status");
    const char *text = gg_json_text(in, "Status");
    bool failed = text && strcmp(text, "failed") == 0;
    if (status && !failed && !(text && strcmp(text, "ready") == 0)) {
        refuse(request, GG_JOB_INVALID, "Status must be ready or failed");
        return;
    }
    gg_job_answer answer = gg_job_complete(job, id, failed, token, &error);
    if (answer == GG_JOB_OK)
        send_empty(request);
    else
        refuse(request, answer, error.text);
}

/* How many numbers; SIZE_MAX when it is no list of numbers. */
static size_t read_rewards(const cJSON *list, double *out)
{
    const cJSON *item;
    size_t count = 0;
    if (!cJSON_IsArray(list))
        return SIZE_MAX;
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsNumber(item) || count == REWARDS_MAX)
            return SIZE_MAX;
        out[count++] = item->valuedouble;
    }
    return count;
}

static void reward(gg_request *request, gg_job *job, const char *id, const char *token,
                   const cJSON *in)
{
    gg_error error = {0};
    double *rewards = malloc(REWARDS_MAX * sizeof *rewards);
    size_t count = rewards ? read_rewards(gg_json_get(in, "Rewards"), rewards) : 0;
    if (!rewards) {
        refuse(request, GG_JOB_BROKEN, "out of memory for the rewards");
    } else if (count == SIZE_MAX) {
        refuse(request, GG_JOB_INVALID, "Rewards must be a list of finite numbers");
    } else {
        gg_job_answer answer = gg_job_reward(job, id, rewards, count, token, &error);
        if (answer == GG_JOB_OK)
            send_empty(request);
        else
            refuse(request, answer, error.text);
    }
    free(rewards);
}

void gg_job_route_complete(gg_request *request)
{
    call(request, complete);
}

void gg_job_route_reward(gg_request *request)
{
    call(request, reward);
}

/* The model's list for OpenAI clients. */
void gg_job_route_models(gg_request *request)
{
    static const char *const names[] = {"default"};
    gg_buf out;
    gg_buf_init(&out, GG_CHAT_REPLY_MAX);
    gg_chat_models(names, 1, &out);
    gg_exchange_reply_json(request->exchange, 200, gg_buf_cstr(&out));
    gg_buf_free(&out);
}
