/*
 * What the files of the service share: the service itself, a request being answered, the ways to
 * answer. Not for other rooms.
 */
#ifndef GG_SERVICE_INSIDE_H
#define GG_SERVICE_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "net/server.h"
#include "service/auth.h"
#include "service/jobs.h"
#include "service/packages.h"
#include "service/registry.h"
#include "service/service.h"

#define GG_DEFAULT_GROUP    "sagemaker-default" /* of sessions that name no package group */
#define GG_POLICIES_MAX     8
#define GG_CONTROL_BODY_MAX (1u << 20)

struct gg_service {
    gg_server *http;
    char *state_dir, *s3_root, *account, *model, *settings;
    bool own_root; /* s3_root is ours to remove */
    uint64_t seed;
    int64_t gap_ms;
    gg_service_log log;
    void *log_context;
    pthread_mutex_t lock; /* of the policies */
    gg_policy *policies[GG_POLICIES_MAX];
    size_t policy_count;
    gg_store *store; /* behind s3:// and file:// */
    gg_packages *packages;
    gg_registry *sessions;
    gg_auth *auth;
    gg_job_site site; /* what jobs share; its texts are ours */
    char *agent_url;
    gg_jobs *jobs;
    atomic_llong requests; /* so far: makes request ids and seeds for requests without one */
};

/* One request. */
typedef struct gg_request {
    gg_service *service;
    gg_exchange *exchange;
    const gg_exchange_request *http;
    char region[GG_REGION_MAX + 1]; /* in the signature, else GG_SERVICE_REGION */
    bool region_given;
    gg_auth_kind shown;                 /* what it identified itself with */
    char name[GG_OPERATION_ID_MAX + 1]; /* the path's parts */
    char id[GG_OPERATION_ID_MAX + 1];
} gg_request;

/* An embedded policy by name, opened once. */
gg_status gg_service_policy(gg_service *service, const char *name, const gg_policy **out,
                            gg_error *error);
GG_PRINTF(2, 3) void gg_service_say(const gg_service *service, const char *format, ...);

/* The embedded policy that stands for a base model, opened once; who wants it is for the log. NULL,
 * or the error's __type. */
const char *gg_choose_policy(gg_service *service, const char *who, const char *base_id,
                             const gg_policy **out, gg_error *error);

/* Who sends this? Fills `region` and `shown`. False when the caller is refused; the exchange is
 * then answered. */
bool gg_request_admit(gg_request *request);

/* Answers of the runtime: an exception by name with its status, as rest-json has it. */
void gg_refuse(gg_request *request, int status, const char *exception, const char *message);
/* The exception that fits an answer of service/hosted.h. */
void gg_refuse_answer(gg_request *request, gg_hosted_answer answer, const char *message);
/* The session of the path, kept; NULL (and answered 404) when there is none. */
gg_hosted *gg_request_session(gg_request *request);

/* Requests by kind; each answers the exchange. */
void gg_route(gg_request *request);
void gg_control(gg_request *request);
/* An error of the control plane. */
void gg_control_refuse(gg_request *request, int status, const char *type, const char *message);
void gg_sample_pass(gg_request *request);
void gg_sample_stream(gg_request *request);
void gg_openai_chat(gg_request *request);
void gg_openai_models(gg_request *request);
void gg_job_route_sample(gg_request *request);
void gg_job_route_stream(gg_request *request);
void gg_job_route_complete(gg_request *request);
void gg_job_route_reward(gg_request *request);
void gg_job_route_models(gg_request *request);
/* A request's body, made one that asks for a stream. The caller frees. */
void gg_stream_body(const gg_exchange_request *http, gg_buf *out);

/* Control plane operations: NULL, or the error's __type with the sentence in `error`. */
typedef const char *(*gg_control_fn)(gg_request *request, const cJSON *in, gg_buf *out,
                                     gg_error *error);
const char *gg_create_session(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error);
const char *gg_describe_session(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error);
const char *gg_list_sessions(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error);
const char *gg_stop_session(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error);
const char *gg_delete_session(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error);
const char *gg_create_job(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error);
const char *gg_describe_job(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error);
const char *gg_list_jobs(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error);
const char *gg_stop_job(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error);
const char *gg_delete_job(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error);
const char *gg_list_job_schemas(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error);
const char *gg_describe_job_schema(gg_request *request, const cJSON *in, gg_buf *out,
                                   gg_error *error);
const char *gg_create_package_group(gg_request *request, const cJSON *in, gg_buf *out,
                                    gg_error *error);
const char *gg_describe_package_group(gg_request *request, const cJSON *in, gg_buf *out,
                                      gg_error *error);
const char *gg_create_package(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error);
const char *gg_describe_package(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error);
const char *gg_list_packages(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error);
const char *gg_delete_package(gg_request *request, const cJSON *in, gg_buf *out, gg_error *error);

#define GG_VALIDATION    "ValidationException"
#define GG_NOT_FOUND     "ResourceNotFound"
#define GG_IN_USE        "ResourceInUse"
#define GG_LIMIT_REACHED "ResourceLimitExceeded"
#define GG_INTERNAL      "InternalFailure"
/* Fills `error` with the sentence and returns `type`. */
GG_PRINTF(3, 4)
const char *gg_control_fail(gg_error *error, const char *type, const char *format, ...);
/* A required text of a kind; the __type of the refusal otherwise. */
const char *gg_control_text(const cJSON *in, const char *name, gg_text_kind kind, const char **out,
                            gg_error *error);

/* MaxResults and NextToken of the List operations: *skip_to is the token's number, INT64_MAX
 * without one. */
const char *gg_control_page(const cJSON *in, int64_t *most, int64_t *token, gg_error *error);

#endif
