/* A local service of the test's own and short calls of the training-session API. Failures fail the
 * test. */
#ifndef GG_TESTS_SESSION_CALLS_H
#define GG_TESTS_SESSION_CALLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "service/service.h"
#include "tests/client.h"

#define PATH_MAX_HERE 256
#define ROOM          4096

static gg_service *service;
static const char *base;
static int made; /* sessions so far: every test has its own */

static inline int start(void **state)
{
    (void)state;
    gg_error error = {0};
    gg_service_options options = {.listen = ":0"};
    if (gg_service_start(&options, &service, &error) != GG_OK) {
        print_error("%s\n", error.text);
        return -1;
    }
    base = gg_service_url(service);
    return 0;
}

static inline int stop(void **state)
{
    (void)state;
    gg_service_stop(service);
    return 0;
}

#define ROLE "\"RoleArn\":\"arn:aws:iam::123456789012:role/SessionRole\""
#define LORA "\"LoraConfig\":{\"Rank\":32,\"Alpha\":64}"
#define GROUP                                                                                      \
    "\"ModelPackageGroupArn\":\"arn:aws:sagemaker:us-west-2:123456789012:model-package-group/"     \
    "demo\""
#define MODEL(name)                                                                                \
    "\"ModelConfig\":{\"BaseModelArn\":\"arn:aws:sagemaker:us-west-2:aws:hub-content/"             \
    "SageMakerPublicHub/Model/" name "\"}"
#define OUTPUT "\"OutputConfig\":{\"S3Location\":{\"Path\":\"s3://demo-bucket/out\"}}"
#define REST   ROLE "," LORA "," MODEL("letters") "," OUTPUT "," GROUP

static inline void create_on(const char *url, char name[64], const char *rest)
{
    char body[ROOM];
    snprintf(name, 64, "session-%d", ++made);
    snprintf(body, sizeof body, "{\"TrainingSessionName\":\"%s\",%s}", name, rest);
    answer a = client_control(url, "CreateTrainingSession", body);
    answer_expect(&a, 200);
    answer_free(&a);
}

static inline void create(char name[64])
{
    create_on(base, name, REST);
}

static inline answer control(const char *operation, const char *name)
{
    char body[128];
    snprintf(body, sizeof body, "{\"TrainingSessionName\":\"%s\"}", name);
    return client_control(base, operation, body);
}

/* The session's status, copied. */
static inline void status_on(const char *url, const char *name, char out[32])
{
    char body[128];
    snprintf(body, sizeof body, "{\"TrainingSessionName\":\"%s\"}", name);
    answer a = client_control(url, "DescribeTrainingSession", body);
    answer_expect(&a, 200);
    snprintf(out, 32, "%s", answer_text(&a, "TrainingSessionDetail.TrainingSessionStatus"));
    answer_free(&a);
}

static inline answer post(const char *url, const char *name, const char *kind, const char *body)
{
    char path[PATH_MAX_HERE];
    snprintf(path, sizeof path, "/v1/training-sessions/%s/%s", name, kind);
    return client_call(url, path, body, NULL);
}

static inline answer submit_on(const char *url, const char *name, int number, const char *token,
                               const char *config)
{
    static char body[65536];
    snprintf(body, sizeof body,
             "{\"sequenceNumber\":%d,\"clientToken\":\"%s\",\"operationConfig\":%s}", number, token,
             config);
    return post(url, name, "operations", body);
}

/* Submits and returns the operation's id. */
static inline void submit(const char *name, int number, const char *config, char id[65])
{
    char token[32];
    snprintf(token, sizeof token, "t-%d", number);
    answer a = submit_on(base, name, number, token, config);
    answer_expect(&a, 200);
    snprintf(id, 65, "%s", answer_text(&a, "operationId"));
    answer_free(&a);
}

static inline answer result_on(const char *url, const char *name, const char *kind, const char *id)
{
    char path[PATH_MAX_HERE];
    snprintf(path, sizeof path, "/v1/training-sessions/%s/%s/%s", name, kind, id);
    return client_call(url, path, NULL, NULL);
}

static inline void expect_result(const char *name, const char *id, const char *want)
{
    answer a = result_on(base, name, "operations", id);
    answer_expect(&a, 200);
    if (strcmp(answer_text(&a, "status"), want) != 0)
        fail_msg("%s: want %s, got %s", id, want, a.body);
    answer_free(&a);
}

/* Expects an exception of the runtime and a part of its sentence. */
static inline void expect_refused(answer a, int status, const char *exception, const char *part)
{
    answer_expect(&a, status);
    assert_non_null(a.error_type);
    assert_string_equal(a.error_type, exception);
    if (!strstr(answer_text(&a, "message"), part))
        fail_msg("want \"%s\" in %s", part, a.body);
    answer_free(&a);
}

static inline void expect_control_refused(answer a, const char *type, const char *part)
{
    answer_expect(&a, 400);
    assert_string_equal(answer_text(&a, "__type"), type);
    assert_string_equal(a.error_type, type);
    if (!strstr(answer_text(&a, "message"), part))
        fail_msg("want \"%s\" in %s", part, a.body);
    answer_free(&a);
}

#define SAVE "{\"saveWeights\":{}}"
#define STEP "{\"optimizerStep\":{\"adamParamsConfig\":{\"learningRate\":0.01}}}"
/* A datum of byte tokens: outside a reply the policy says nothing, so it scores 0. */
#define DATUM(weights)                                                                             \
    "{\"modelInput\":{\"chunks\":[{\"tokens\":[65,66,67],\"type\":\"encoded_text\"}]},"            \
    "\"lossFnInputs\":{\"target_tokens\":{\"data\":[66,67,68],\"dtype\":\"int64\"},"               \
    "\"weights\":{\"data\":" weights ",\"dtype\":\"float32\"}}}"
#define CROSS(datums)                                                                              \
    "{\"forwardBackward\":{\"lossFnName\":\"cross_entropy\",\"datumList\":[" datums "]}}"

#endif
