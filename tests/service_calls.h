/* A local service with a state folder, games to train it on, and whole calls: submit and wait.
 * Failures fail the test. */
#ifndef GG_TESTS_SERVICE_CALLS_H
#define GG_TESTS_SERVICE_CALLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "service/engine.h"
#include "service/packages.h"
#include "service/service.h"
#include "tests/client.h"
#include "tests/folder.h"
#include "tests/games.h"

#define GAMES 12
#define ROOM  4096
#define ARN   256

static char folder[FOLDER_PATH];
static gg_policy *policy;
static gg_datums games;
static gg_service *service;
static const char *base;
static int made;

static inline void start_service(void)
{
    gg_error error = {0};
    gg_service_options options = {.listen = ":0", .state_dir = folder_path(folder, "state")};
    if (gg_service_start(&options, &service, &error) != GG_OK)
        fail_msg("%s", error.text);
    base = gg_service_url(service);
}

static inline int open_all(void **state)
{
    (void)state;
    gg_error error = {0};
    folder_make(folder);
    if (gg_policy_open("letters", NULL, &policy, &error) != GG_OK) {
        print_error("%s\n", error.text);
        return -1;
    }
    games_datums(policy, NULL, 0, GAMES, 5, &games);
    start_service();
    return 0;
}

static inline int close_all(void **state)
{
    (void)state;
    gg_service_stop(service);
    gg_datums_free(&games);
    gg_policy_close(policy);
    folder_remove(folder);
    return 0;
}

static inline void create(char name[64], const char *model)
{
    char body[ROOM];
    snprintf(name, 64, "run-%d", ++made);
    snprintf(body, sizeof body,
             "{\"TrainingSessionName\":\"%s\",\"RoleArn\":\"arn:aws:iam::123456789012:role/Role1\","
             "\"LoraConfig\":{\"Rank\":32,\"Alpha\":64},\"ModelConfig\":{\"BaseModelArn\":"
             "\"arn:aws:sagemaker:us-west-2:aws:hub-content/SageMakerPublicHub/Model/%s\"},"
             "\"OutputConfig\":{\"S3Location\":{\"Path\":\"s3://demo-bucket/out/\"}},"
             "\"ModelPackageGroupArn\":"
             "\"arn:aws:sagemaker:eu-west-1:123456789012:model-package-group/group-%d\"}",
             name, model, made);
    answer a = client_control(base, "CreateTrainingSession", body);
    answer_expect(&a, 200);
    answer_free(&a);
}

static inline answer named(const char *operation, const char *key, const char *value)
{
    char body[ROOM];
    snprintf(body, sizeof body, "{\"%s\":\"%s\"}", key, value);
    return client_control(base, operation, body);
}

/* Submits a body and waits for its result. */
static inline answer run_body(const char *name, const char *kind, const char *body)
{
    char path[256];
    snprintf(path, sizeof path, "/v1/training-sessions/%s/%s", name, kind);
    answer a = client_call(base, path, body, NULL);
    answer_expect(&a, 200);
    snprintf(path, sizeof path, "/v1/training-sessions/%s/%s/%s", name, kind,
             answer_text(&a, "operationId"));
    answer_free(&a);
    a = client_call(base, path, NULL, NULL);
    answer_expect(&a, 200);
    return a;
}

static inline answer run(const char *name, int number, const char *config)
{
    gg_buf body;
    gg_buf_init(&body, 1 << 24);
    gg_buf_printf(&body, "{\"sequenceNumber\":%d,\"operationConfig\":%s}", number, config);
    answer a = run_body(name, "operations", body.data);
    gg_buf_free(&body);
    return a;
}

static inline answer run_sampling(const char *name, const char *config)
{
    char body[2 * ROOM];
    snprintf(body, sizeof body, "{\"operationConfig\":%s}", config);
    return run_body(name, "sampling-operations", body);
}

static inline void completed(const answer *a)
{
    if (strcmp(answer_text(a, "status"), "Completed") != 0)
        fail_msg("%s", a->body);
}

static inline void forward_config(const char *kind, gg_buf *out)
{
    gg_buf_init(out, 1 << 24);
    gg_buf_printf(out, "{\"%s\":{\"lossFnName\":\"ppo\",\"datumList\":[", kind);
    for (size_t i = 0; i < games.count; i++) {
        if (i)
            gg_buf_char(out, ',');
        gg_datum_write(&games.items[i], out);
    }
    gg_buf_str(out, "]}}");
}

static inline void save(const char *name, int number, const char *kind, char arn[ARN])
{
    char config[64], path[96];
    snprintf(config, sizeof config, "{\"%s\":{}}", kind);
    answer a = run(name, number, config);
    completed(&a);
    snprintf(path, sizeof path, "operationResult.%s.modelPackageArn", kind);
    snprintf(arn, ARN, "%s", answer_text(&a, path));
    answer_free(&a);
}

#define STEP                                                                                       \
    "{\"optimizerStep\":{\"adamParamsConfig\":{\"learningRate\":0.01,\"beta1\":0.9,\"beta2\":0."   \
    "95,"                                                                                          \
    "\"eps\":1e-8,\"weightDecay\":0,\"gradClipNorm\":1}}}"

/* One step by HTTP; the numbers go on from `number`. */
static inline void step(const char *name, int number)
{
    gg_buf config;
    forward_config("forwardBackward", &config);
    answer a = run(name, number, config.data);
    completed(&a);
    answer_free(&a);
    gg_buf_free(&config);
    a = run(name, number + 1, STEP);
    completed(&a);
    answer_free(&a);
}

/* The same step in memory; adapter.json of what comes out. */
static inline void local_steps(int steps, gg_buf *out)
{
    gg_engine *e;
    gg_error error = {0};
    gg_engine_sums sums;
    gg_engine_moved moved;
    gg_adapter adapter;
    const gg_adam_config adam = GG_ADAM_DEFAULTS;
    gg_engine_batch batch = {GG_LOSS_PPO, GG_LOSS_DEFAULTS, games.items, games.count, true, NULL};
    gg_buf_init(out, 1 << 20);
    assert_int_equal(gg_engine_new(policy, 32, 64, &e, &error), GG_OK);
    for (int i = 0; i < steps; i++) {
        assert_int_equal(gg_engine_forward(e, &batch, &sums, &error), GG_OK);
        assert_int_equal(gg_engine_step(e, &adam, &moved, &error), GG_OK);
    }
    assert_int_equal(gg_engine_snapshot(e, &adapter, &error), GG_OK);
    assert_int_equal(gg_adapter_write(&adapter, policy, out, &error), GG_OK);
    gg_adapter_free(&adapter);
    gg_engine_free(e);
}

/* A file of a package, by DescribeModelPackage and its S3 address; the caller frees. */
static inline char *package_file(const char *arn, const char *file, size_t *len)
{
    char path[ROOM];
    answer a = named("DescribeModelPackage", "ModelPackageName", arn);
    answer_expect(&a, 200);
    const char *uri =
        answer_text(&a, "InferenceSpecification.Containers.0.ModelDataSource.S3DataSource.S3Uri");
    assert_memory_equal(uri, "s3://", 5);
    assert_true(uri[strlen(uri) - 1] == '/');
    snprintf(path, sizeof path, "%s%s", uri + 5, file);
    answer_free(&a);
    return folder_read(gg_service_s3_root(service), path, len);
}

#define CHAT                                                                                       \
    "\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],\"seed\":3,\"return_token_ids\":"    \
    "true"

static inline answer chat(const char *name, const char *route, const char *body, const char *header)
{
    char path[160];
    const char *const headers[] = {header, NULL};
    snprintf(path, sizeof path, "/training-sessions/%s/%s", name, route);
    return client_call(base, path, body, header ? headers : NULL);
}

#endif
