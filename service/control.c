/* The control plane: AWS JSON 1.1, the operation named by X-Amz-Target. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/inside.h"

#define CONTENT_TYPE "application/x-amz-json-1.1"
#define PAGE_MAX     100

static const struct {
    const char *name;
    gg_control_fn run;
} operations[] = {
    {"CreateTrainingSession", gg_create_session},
    {"DescribeTrainingSession", gg_describe_session},
    {"ListTrainingSessions", gg_list_sessions},
    {"StopTrainingSession", gg_stop_session},
    {"DeleteTrainingSession", gg_delete_session},
    {"CreateJob", gg_create_job},
    {"DescribeJob", gg_describe_job},
    {"ListJobs", gg_list_jobs},
    {"StopJob", gg_stop_job},
    {"DeleteJob", gg_delete_job},
    {"ListJobSchemaVersions", gg_list_job_schemas},
    {"DescribeJobSchemaVersion", gg_describe_job_schema},
    {"CreateModelPackageGroup", gg_create_package_group},
    {"DescribeModelPackageGroup", gg_describe_package_group},
    {"CreateModelPackage", gg_create_package},
    {"DescribeModelPackage", gg_describe_package},
    {"ListModelPackages", gg_list_packages},
    {"DeleteModelPackage", gg_delete_package},
};

const char *gg_control_fail(gg_error *error, const char *type, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(error->text, sizeof error->text, format, list);
    va_end(list);
    error->status = GG_E_ARGUMENT;
    return type;
}

const char *gg_control_text(const cJSON *in, const char *name, gg_text_kind kind, const char **out,
                            gg_error *error)
{
    *out = gg_json_text(in, name);
    if (!*out)
        return gg_control_fail(error, GG_VALIDATION, "%s is missing", name);
    if (!gg_text_is(*out, kind))
        return gg_control_fail(error, GG_VALIDATION, "%s '%.200s' must satisfy the pattern %s",
                               name, *out, gg_text_pattern(kind));
    return NULL;
}

const char *gg_control_page(const cJSON *in, int64_t *most, int64_t *token, gg_error *error)
{
    const char *text = gg_json_text(in, "NextToken");
    *most = PAGE_MAX;
    *token = INT64_MAX;
    if (gg_json_get(in, "MaxResults") &&
        (!gg_json_int(in, "MaxResults", most) || *most < 1 || *most > PAGE_MAX))
        return gg_control_fail(error, GG_VALIDATION, "MaxResults must be from 1 to %d", PAGE_MAX);
    if (text && (strspn(text, "0123456789") != strlen(text) || !*text || strlen(text) > 18))
        return gg_control_fail(error, GG_VALIDATION, "NextToken is not one that was given out");
    if (text)
        *token = strtoll(text, NULL, 10);
    return NULL;
}

static void send(gg_request *request, int status, const char *type, const char *body, size_t len)
{
    char header[96], id[80];
    const char *const headers[] = {id, type ? header : NULL, NULL};
    snprintf(header, sizeof header, "x-amzn-ErrorType: %s", type ? type : "");
    snprintf(id, sizeof id, "x-amzn-RequestId: guessgym-%lld",
             (long long)atomic_load(&request->service->requests));
    gg_exchange_reply(request->exchange, status, CONTENT_TYPE, headers, body, len);
}

void gg_control_refuse(gg_request *request, int status, const char *type, const char *message)
{
    gg_buf body;
    gg_buf_init(&body, GG_CONTROL_BODY_MAX);
    gg_buf_str(&body, "{\"__type\":");
    gg_buf_json_str(&body, type);
    gg_buf_str(&body, ",\"message\":");
    gg_buf_json_str(&body, message);
    gg_buf_char(&body, '}');
    send(request, status, type, gg_buf_cstr(&body), body.len);
    gg_buf_free(&body);
}

static void refuse(gg_request *request, const char *type, const char *message)
{
    gg_control_refuse(request, strcmp(type, GG_INTERNAL) == 0 ? 500 : 400, type, message);
}

static void run(gg_request *request, gg_control_fn fn, const cJSON *in)
{
    gg_buf out;
    gg_error error = {0};
    gg_buf_init(&out, GG_SERVER_BODY_MAX);
    const char *type = fn(request, in, &out, &error);
    if (!type && gg_buf_status(&out, "the answer", &error) != GG_OK)
        type = GG_INTERNAL;
    if (type)
        refuse(request, type, error.text);
    else
        send(request, 200, NULL, gg_buf_cstr(&out), out.len);
    gg_buf_free(&out);
}

/* The operation behind "SageMaker.Name"; any prefix will do. */
static gg_control_fn find(const char *target)
{
    const char *dot = target ? strrchr(target, '.') : NULL;
    const char *name = dot ? dot + 1 : target;
    for (size_t i = 0; name && i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i].name, name) == 0)
            return operations[i].run;
    return NULL;
}

void gg_control(gg_request *request)
{
    char message[200];
    gg_error error = {0};
    cJSON *in = NULL;
    const char *target = gg_exchange_header(request->exchange, "X-Amz-Target");
    const gg_exchange_request *http = request->http;
    gg_control_fn fn = find(target);
    if (!fn) {
        snprintf(message, sizeof message, "%.100s is no operation of this service",
                 target ? target : "a request without X-Amz-Target");
        refuse(request, "UnknownOperationException", message);
        return;
    }
    if (http->body_len > GG_CONTROL_BODY_MAX) {
        refuse(request, GG_VALIDATION, "the body is too long");
        return;
    }
    gg_status status =
        http->body_len ? gg_json_parse(http->body, http->body_len, &in, &error) : GG_OK;
    if (status == GG_OK && !in)
        in = cJSON_CreateObject();
    if (status != GG_OK || !cJSON_IsObject(in))
        refuse(request, "SerializationException", "the body must be one JSON object");
    else
        run(request, fn, in);
    cJSON_Delete(in);
}
