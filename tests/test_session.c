/* The managed training-session API over HTTP: state machine, numbers and tokens, ranges, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "service/service.h"
#include "tests/client.h"

#define PATH_MAX_HERE 256
#define ROOM          4096

static gg_service *service;
static const char *base;
static int made; /* sessions so far: every test has its own */

static int start(void **state)
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

static int stop(void **state)
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

static void create_on(const char *url, char name[64], const char *rest)
{
    char body[ROOM];
    snprintf(name, 64, "session-%d", ++made);
    snprintf(body, sizeof body, "{\"TrainingSessionName\":\"%s\",%s}", name, rest);
    answer a = client_control(url, "CreateTrainingSession", body);
    answer_expect(&a, 200);
    answer_free(&a);
}

static void create(char name[64])
{
    create_on(base, name, REST);
}

static answer control(const char *operation, const char *name)
{
    char body[128];
    snprintf(body, sizeof body, "{\"TrainingSessionName\":\"%s\"}", name);
    return client_control(base, operation, body);
}

/* The session's status, copied. */
static void status_on(const char *url, const char *name, char out[32])
{
    char body[128];
    snprintf(body, sizeof body, "{\"TrainingSessionName\":\"%s\"}", name);
    answer a = client_control(url, "DescribeTrainingSession", body);
    answer_expect(&a, 200);
    snprintf(out, 32, "%s", answer_text(&a, "TrainingSessionDetail.TrainingSessionStatus"));
    answer_free(&a);
}

static answer post(const char *url, const char *name, const char *kind, const char *body)
{
    char path[PATH_MAX_HERE];
    snprintf(path, sizeof path, "/v1/training-sessions/%s/%s", name, kind);
    return client_call(url, path, body, NULL);
}

static answer submit_on(const char *url, const char *name, int number, const char *token,
                        const char *config)
{
    static char body[65536];
    snprintf(body, sizeof body,
             "{\"sequenceNumber\":%d,\"clientToken\":\"%s\",\"operationConfig\":%s}", number, token,
             config);
    return post(url, name, "operations", body);
}

/* Submits and returns the operation's id. */
static void submit(const char *name, int number, const char *config, char id[65])
{
    char token[32];
    snprintf(token, sizeof token, "t-%d", number);
    answer a = submit_on(base, name, number, token, config);
    answer_expect(&a, 200);
    snprintf(id, 65, "%s", answer_text(&a, "operationId"));
    answer_free(&a);
}

static answer result_on(const char *url, const char *name, const char *kind, const char *id)
{
    char path[PATH_MAX_HERE];
    snprintf(path, sizeof path, "/v1/training-sessions/%s/%s/%s", name, kind, id);
    return client_call(url, path, NULL, NULL);
}

static void expect_result(const char *name, const char *id, const char *want)
{
    answer a = result_on(base, name, "operations", id);
    answer_expect(&a, 200);
    if (strcmp(answer_text(&a, "status"), want) != 0)
        fail_msg("%s: want %s, got %s", id, want, a.body);
    answer_free(&a);
}

/* Expects an exception of the runtime and a part of its sentence. */
static void expect_refused(answer a, int status, const char *exception, const char *part)
{
    answer_expect(&a, status);
    assert_non_null(a.error_type);
    assert_string_equal(a.error_type, exception);
    if (!strstr(answer_text(&a, "message"), part))
        fail_msg("want \"%s\" in %s", part, a.body);
    answer_free(&a);
}

static void expect_control_refused(answer a, const char *type, const char *part)
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

/* ---- paths ---- */

static void health_and_unknown_paths(void **state)
{
    (void)state;
    answer a = client_call(base, "/health", NULL, NULL);
    answer_expect(&a, 200);
    answer_free(&a);
    static const struct {
        const char *path, *body;
        int status;
    } rows[] = {{"/v2/health", NULL, 404},
                {"/health", "{}", 405},
                {"/v1/training-sessions//operations", "{}", 404},
                {"/v1/training-sessions/a%2Fb/operations", "{}", 404},
                {"/v1/training-sessions/a_b/operations", "{}", 404},
                {"/v1/training-sessions/none/operations/op-1/more", NULL, 404}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        a = client_call(base, rows[i].path, rows[i].body, NULL);
        answer_expect(&a, rows[i].status);
        answer_free(&a);
    }
    expect_refused(post(base, "none", "operations", "{}"), 404, "ResourceNotFoundException",
                   "no training session none");
    expect_refused(result_on(base, "none", "operations", "op-1"), 404, "ResourceNotFoundException",
                   "none");
    expect_control_refused(client_control(base, "CreateCluster", "{}"), "UnknownOperationException",
                           "CreateCluster");
    expect_control_refused(client_control(base, "ListTrainingSessions", "{"),
                           "SerializationException", "JSON");
}

/* ---- the control plane ---- */

static void a_session_lives_and_ends(void **state)
{
    (void)state;
    char name[64], body[ROOM];
    create(name);
    answer a = control("DescribeTrainingSession", name);
    answer_expect(&a, 200);
#define DETAIL "TrainingSessionDetail."
    assert_string_equal(answer_text(&a, DETAIL "TrainingSessionStatus"), "Running");
    assert_string_equal(answer_text(&a, DETAIL "TrainingSessionName"), name);
    snprintf(body, sizeof body, "arn:aws:sagemaker:us-west-2:123456789012:training-session/%s",
             name);
    assert_string_equal(answer_text(&a, DETAIL "TrainingSessionArn"), body);
    assert_true(answer_number(&a, DETAIL "CreationTime") > 1.7e9);
    assert_true(answer_number(&a, DETAIL "LoraConfig.Alpha") == 64);
    assert_string_equal(answer_text(&a, DETAIL "OutputConfig.S3Location.Path"),
                        "s3://demo-bucket/out");
    assert_true(answer_number(&a, DETAIL "BillableTokenUsage.TrainingTokenCount") == 0);
    answer_free(&a);

    snprintf(body, sizeof body, "{\"TrainingSessionName\":\"%s\"," REST "}", name);
    expect_control_refused(client_control(base, "CreateTrainingSession", body), "ResourceInUse",
                           "already exists");
    expect_control_refused(control("DeleteTrainingSession", name), "ValidationException",
                           "invalid session state transition from Running to Deleting");
    a = control("StopTrainingSession", name);
    answer_expect(&a, 200);
    assert_string_equal(a.body, "{}");
    answer_free(&a);
    expect_control_refused(control("StopTrainingSession", name), "ValidationException",
                           "invalid session state transition from Stopped to Stopping");
    expect_refused(submit_on(base, name, 1, "t", SAVE), 409, "ConflictException", "is Stopped");
    a = control("DescribeTrainingSession", name);
    assert_true(answer_number(&a, DETAIL "EndTime") > 1.7e9);
    answer_free(&a);
    a = control("DeleteTrainingSession", name);
    answer_expect(&a, 200);
    answer_free(&a);
    expect_control_refused(control("DescribeTrainingSession", name), "ResourceNotFound", name);
    expect_refused(submit_on(base, name, 1, "t", SAVE), 404, "ResourceNotFoundException", name);
}

static void what_create_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *body, *part;
    } rows[] = {
        {"{" REST "}", "TrainingSessionName is missing"},
        {"{\"TrainingSessionName\":\"-a\"," REST "}", "TrainingSessionName '-a'"},
        {"{\"TrainingSessionName\":\"a_b\"," REST "}", "pattern"},
        {"{\"TrainingSessionName\":\"x\"," LORA "," MODEL("letters") "," OUTPUT "}",
         "RoleArn is missing"},
        {"{\"TrainingSessionName\":\"x\"," ROLE "," MODEL("letters") "," OUTPUT "}", "LoraConfig"},
        {"{\"TrainingSessionName\":\"x\"," ROLE
         ",\"LoraConfig\":{\"Rank\":257,\"Alpha\":64}," MODEL("letters") "," OUTPUT "}",
         "Rank must be a whole number from 1 to 256"},
        {"{\"TrainingSessionName\":\"x\"," ROLE
         ",\"LoraConfig\":{\"Rank\":1.5,\"Alpha\":64}," MODEL("letters") "," OUTPUT "}",
         "Rank"},
        {"{\"TrainingSessionName\":\"x\"," ROLE
         ",\"LoraConfig\":{\"Rank\":32,\"Alpha\":0}," MODEL("letters") "," OUTPUT "}",
         "Alpha"},
        {"{\"TrainingSessionName\":\"x\"," ROLE "," LORA ",\"ModelConfig\":{\"BaseModelArn\":"
         "\"letters\"}," OUTPUT "}",
         "BaseModelArn 'letters'"},
        {"{\"TrainingSessionName\":\"x\"," ROLE "," LORA "," MODEL("random") "," OUTPUT "}",
         "random cannot be trained"},
        {"{\"TrainingSessionName\":\"x\"," ROLE "," LORA
         "," MODEL("letters") ",\"OutputConfig\":{\"S3Location\":{\"Path\":\"/tmp/x\"}}}",
         "Path '/tmp/x'"},
        {"{\"TrainingSessionName\":\"x\"," REST ",\"Tags\":[{\"Key\":\"k\"}]}", "a tag needs"},
        {"{\"TrainingSessionName\":\"x\"," REST
         ",\"VpcConfig\":{\"SecurityGroupIds\":[],\"Subnets\":[\"s\"]}}",
         "SecurityGroupIds"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_control_refused(client_control(base, "CreateTrainingSession", rows[i].body),
                               "ValidationException", rows[i].part);
}

static void lists_newest_first_in_pages(void **state)
{
    (void)state;
    char names[3][64], body[256], token[32];
    for (int i = 0; i < 3; i++)
        create(names[i]);
    answer a = control("StopTrainingSession", names[1]);
    answer_free(&a);
    a = client_control(base, "ListTrainingSessions", "{\"MaxResults\":2}");
    answer_expect(&a, 200);
    assert_non_null(
        strstr(answer_text(&a, "TrainingSessionSummaries.0.TrainingSessionArn"), names[2]));
    assert_non_null(
        strstr(answer_text(&a, "TrainingSessionSummaries.1.TrainingSessionArn"), names[1]));
    assert_null(gg_json_path(a.json, "TrainingSessionSummaries.2"));
    snprintf(token, sizeof token, "%s", answer_text(&a, "NextToken"));
    answer_free(&a);
    snprintf(body, sizeof body, "{\"MaxResults\":1,\"NextToken\":\"%s\"}", token);
    a = client_control(base, "ListTrainingSessions", body);
    assert_non_null(
        strstr(answer_text(&a, "TrainingSessionSummaries.0.TrainingSessionArn"), names[0]));
    answer_free(&a);
    snprintf(body, sizeof body, "{\"NameContains\":\"%s\",\"StatusEquals\":\"Running\"}", names[1]);
    a = client_control(base, "ListTrainingSessions", body);
    assert_null(gg_json_path(a.json, "TrainingSessionSummaries.0"));
    answer_free(&a);
    expect_control_refused(client_control(base, "ListTrainingSessions", "{\"MaxResults\":101}"),
                           "ValidationException", "MaxResults");
    expect_control_refused(client_control(base, "ListTrainingSessions", "{\"NextToken\":\"x\"}"),
                           "ValidationException", "NextToken");
}

/* ---- numbers and tokens ---- */

static void numbers_run_in_order_whatever_the_arrival(void **state)
{
    (void)state;
    char name[64], status[32], third[65], second[65], first[65];
    create(name);
    submit(name, 3, STEP, third);
    submit(name, 2, CROSS(DATUM("[0,1,1]")), second);
    status_on(base, name, status);
    assert_string_equal(status, "Blocked");
    expect_result(name, third, "Pending");
    expect_result(name, second, "Pending");
    answer a = control("DescribeTrainingSession", name);
    assert_true(answer_number(&a, DETAIL "LastReceivedSequenceNumber") == 3);
    assert_non_null(strstr(answer_text(&a, DETAIL "ErrorDetails"), "operation 1 has not arrived"));
    answer_free(&a);
    submit(name, 1, SAVE, first);
    expect_result(name, first, "Completed");
    expect_result(name, second, "Completed");
    a = result_on(base, name, "operations", third);
    assert_string_equal(answer_text(&a, "status"), "Completed");
    assert_true(answer_number(&a, "operationResult.optimizerStep.metrics.actor/weight_version") ==
                1);
    answer_free(&a);
    status_on(base, name, status);
    assert_string_equal(status, "Running");
}

static void a_number_is_taken_once_and_a_token_repeats(void **state)
{
    (void)state;
    char name[64], id[65];
    create(name);
    answer a = submit_on(base, name, 1, "same", SAVE);
    snprintf(id, sizeof id, "%s", answer_text(&a, "operationId"));
    answer_free(&a);
    a = submit_on(base, name, 1, "same", SAVE);
    answer_expect(&a, 200);
    assert_string_equal(answer_text(&a, "operationId"), id);
    answer_free(&a);
    expect_refused(submit_on(base, name, 1, "other", SAVE), 400, "ValidationException",
                   "sequenceNumber 1 was accepted before");
    expect_refused(submit_on(base, name, 2, "same", SAVE), 400, "ValidationException",
                   "clientToken same was used before");
    expect_refused(submit_on(base, name, 1, "same", STEP), 400, "ValidationException",
                   "clientToken same was used before");
    submit(name, 2, SAVE, id); /* a refused number is free */
    expect_result(name, id, "Completed");
    expect_refused(
        post(base, name, "operations", "{\"sequenceNumber\":2,\"operationConfig\":" SAVE "}"), 400,
        "ValidationException", "sequenceNumber 2");
    /* The answer to a repeated submit may be asked for after the session's end. */
    a = control("StopTrainingSession", name);
    answer_free(&a);
    a = submit_on(base, name, 1, "same", SAVE);
    answer_expect(&a, 200);
    answer_free(&a);
}

static void a_waiting_number_is_taken_too(void **state)
{
    (void)state;
    char name[64], id[65];
    create(name);
    submit(name, 5, SAVE, id);
    expect_refused(submit_on(base, name, 5, "u", SAVE), 400, "ValidationException",
                   "sequenceNumber 5 was accepted before; the highest so far is 5");
    answer a = control("StopTrainingSession", name);
    answer_expect(&a, 200);
    answer_free(&a);
    expect_result(name, id, "Skipped");
}

static void the_queue_has_an_end(void **state)
{
    (void)state;
    char name[64], id[65];
    create(name);
    for (int i = 0; i < 256; i++)
        submit(name, 2 + i, SAVE, id);
    expect_refused(submit_on(base, name, 300, "late", SAVE), 429, "ThrottlingException", "256");
    answer a = control("StopTrainingSession", name);
    answer_free(&a);
}

static void unknown_operations(void **state)
{
    (void)state;
    static const char *const ids[] = {
        "op-2", "op-0", "sample-1", "op-", "op-x", "x", "op-99999999999999999999"};
    char name[64], id[65];
    create(name);
    submit(name, 1, SAVE, id);
    assert_string_equal(id, "op-1");
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        expect_refused(result_on(base, name, "operations", ids[i]), 404,
                       "ResourceNotFoundException", ids[i]);
    expect_refused(result_on(base, name, "sampling-operations", id), 404,
                   "ResourceNotFoundException", id);
}

/* ---- failures ---- */

static void a_failed_operation_fails_the_session(void **state)
{
    (void)state;
    char name[64], first[65], second[65], third[65], status[32];
    create(name);
    submit(name, 3, SAVE, third);
    submit(name, 2, STEP, second);
    submit(name, 1, CROSS(DATUM("[0,1,1]") "," DATUM("[0,1]")), first);
    answer a = result_on(base, name, "operations", first);
    assert_string_equal(answer_text(&a, "status"), "Failed");
    assert_string_equal(answer_text(&a, "errorDetails"),
                        "datum 1: weights has another length than modelInput");
    assert_null(gg_json_get(a.json, "operationResult"));
    answer_free(&a);
    expect_result(name, second, "Skipped");
    expect_result(name, third, "Skipped");
    status_on(base, name, status);
    assert_string_equal(status, "Failed");
    a = control("DescribeTrainingSession", name);
    assert_non_null(strstr(answer_text(&a, DETAIL "ErrorDetails"),
                           "operation 1 (forwardBackward) failed: datum 1"));
    answer_free(&a);
    expect_refused(submit_on(base, name, 4, "t4", SAVE), 409, "ConflictException",
                   "is Failed and takes no operations: operation 1");
    expect_refused(post(base, name, "sampling-operations",
                        "{\"operationConfig\":{\"computeLogprobs\":{\"prompt\":{\"chunks\":[{"
                        "\"tokens\":[1],\"type\":\"encoded_text\"}]}}}}"),
                   409, "ConflictException", "is Failed");
    a = control("DeleteTrainingSession", name);
    answer_expect(&a, 200);
    answer_free(&a);
}

static void a_gap_that_is_not_filled_fails_the_session(void **state)
{
    (void)state;
    gg_service *hasty;
    gg_error error;
    char name[64], status[32] = "Blocked";
    gg_service_options options = {.listen = ":0", .gap_ms = 1};
    assert_int_equal(gg_service_start(&options, &hasty, &error), GG_OK);
    create_on(gg_service_url(hasty), name, REST);
    answer a = submit_on(gg_service_url(hasty), name, 2, "t", SAVE);
    answer_expect(&a, 200);
    answer_free(&a);
    while (strcmp(status, "Blocked") == 0)
        status_on(gg_service_url(hasty), name, status);
    assert_string_equal(status, "Failed");
    a = result_on(gg_service_url(hasty), name, "operations", "op-1");
    assert_string_equal(answer_text(&a, "status"), "Skipped");
    answer_free(&a);
    gg_service_stop(hasty);
}

/* ---- ranges ---- */

#define ADAM(fields) "{\"optimizerStep\":{\"adamParamsConfig\":{" fields "}}}"
#define LR           "\"learningRate\":0.01,"

static void what_a_training_operation_may_say(void **state)
{
    (void)state;
    static const struct {
        const char *config, *part; /* part NULL = accepted */
    } rows[] = {
        {"{}", "exactly one member"},
        {"{"
         "\"saveWeights\":{},\"saveState\":{}}",
         "exactly one member"},
        {"{\"sample\":{}}", "no member \"sample\""},
        {"{\"saveWeights\":[]}", "saveWeights must be an object"},
        {"{\"saveWeights\":{\"mergeWeights\":true}}", "mergeWeights must be false"},
        {"{\"saveWeights\":{\"mergeWeights\":false,\"description\":\"d\"}}", NULL},
        {"{\"saveState\":{\"mergeWeights\":false}}", "no member \"mergeWeights\""},
        {"{\"saveWeights\":null,\"saveState\":{}}", NULL},
        {"{\"loadState\":{\"loadOptimizer\":true}}", "needs modelPackageArn and loadOptimizer"},
        {"{\"loadState\":{\"loadOptimizer\":true,\"modelPackageArn\":"
         "\"arn:aws:sagemaker:us-west-2:123456789012:model-package-group/demo\"}}",
         "ARN of a model package version"},
        {ADAM(""), "needs learningRate"},
        {ADAM("\"learningRate\":0"), "learningRate must be a number above 0 and at most 0.01"},
        {ADAM("\"learningRate\":0.010001"), "learningRate"},
        {ADAM("\"learningRate\":\"0.01\""), "learningRate"},
        {ADAM(LR "\"beta1\":1"), "beta1 must be a number from 0 and at most 0.999999"},
        {ADAM(LR "\"beta1\":0.999999,\"beta2\":0"), NULL},
        {ADAM(LR "\"beta2\":-0.1"), "beta2"},
        {ADAM(LR "\"eps\":1e-17"), "eps"},
        {ADAM(LR "\"eps\":0.011"), "eps"},
        {ADAM(LR "\"weightDecay\":1.1"), "weightDecay"},
        {ADAM(LR "\"gradClipNorm\":100.5"), "gradClipNorm"},
        {ADAM(LR "\"gradClipNorm\":0,\"loraPlusLrRatio\":16"), NULL},
        {ADAM(LR "\"loraPlusLrRatio\":0.5"), "loraPlusLrRatio"},
        {ADAM(LR "\"momentum\":0.9"), "no member \"momentum\""},
        {"{\"forwardBackward\":{\"lossFnName\":\"cross_entropy\",\"datumList\":[]}}",
         "at least one datum"},
        {"{\"forwardBackward\":{\"datumList\":[" DATUM("[0,1,1]") "]}}", "lossFnName is missing"},
        {"{\"forwardBackward\":{\"lossFnName\":\"custom\",\"datumList\":[" DATUM("[0,1,1]") "]}}",
         "no loss is called \"custom\""},
        {"{\"forwardBackward\":{\"lossFnName\":\"ppo\",\"datumList\":[" DATUM("[0,1,1]") "]}}",
         "datumList[0]: ppo needs logprobs in lossFnInputs"},
        {"{\"forward\":{\"lossFnName\":\"cross_entropy\",\"datumList\":[" DATUM(
             "[0,1,1]") "],\"lossFnConfig\":{\"clip_low_threshold\":1.1}}}",
         "clip_low_threshold"},
        {"{\"forward\":{\"lossFnName\":\"cross_entropy\",\"datumList\":[" DATUM(
             "[0,1,1]") "],\"lossFnConfig\":{\"clip_high_threshold\":0.9}}}",
         "clip_high_threshold"},
        {"{\"forward\":{\"lossFnName\":\"cross_entropy\",\"datumList\":[" DATUM(
             "[0,1,1]") "],\"lossFnConfig\":{\"epsilon\":0.2}}}",
         "no member \"epsilon\""},
        {"{\"forward\":{\"lossFnName\":\"cross_entropy\",\"datumList\":[" DATUM(
             "[0,1,1]") "],\"lossFnConfig\":{\"clip_low_threshold\":0,\"clip_high_threshold\":10}}"
                        "}",
         NULL},
        {"{\"forward\":{\"lossFnName\":\"cross_entropy\",\"datumList\":[{\"modelInput\":{"
         "\"chunks\":"
         "[{\"tokens\":[1],\"type\":\"encoded_text\"}]},\"lossFnInputs\":{\"mask\":{\"data\":[1],"
         "\"dtype\":\"float32\"}}}]}}",
         "datumList[0]: datum: lossFnInputs has no key \"mask\""},
    };
    char name[64], token[32];
    int number = 1;
    create(name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(token, sizeof token, "r-%zu", i);
        answer a = submit_on(base, name, number, token, rows[i].config);
        if (rows[i].part) {
            expect_refused(a, 400, "ValidationException", rows[i].part);
            continue;
        }
        answer_expect(&a, 200);
        number++;
        answer_free(&a);
    }
}

static void what_an_envelope_may_say(void **state)
{
    (void)state;
    static const struct {
        const char *body, *part;
    } rows[] = {
        {"", "JSON object"},
        {"[]", "JSON object"},
        {"{\"sequenceNumber\":0,\"operationConfig\":" SAVE "}", "sequenceNumber must be"},
        {"{\"sequenceNumber\":1.5,\"operationConfig\":" SAVE "}", "sequenceNumber must be"},
        {"{\"operationConfig\":" SAVE "}", "sequenceNumber is missing"},
        {"{\"sequenceNumber\":1}", "operationConfig is missing"},
        {"{\"sequenceNumber\":1,\"clientToken\":\"a b\",\"operationConfig\":" SAVE "}",
         "clientToken must be"},
        {"{\"sequenceNumber\":1,\"clientToken\":\"\",\"operationConfig\":" SAVE "}",
         "clientToken must be"},
        {"{\"sequenceNumber\":1,\"operationConfig\":" SAVE ",\"x\":1}", "no member \"x\""},
        {"{\"sequenceNumber\":1,\"operationConfig\":" SAVE "} {", "not valid JSON"},
        {"{\"sequenceNumber\":1,\"operationConfig\":{\"saveWeights\":{}", "not valid JSON"},
    };
    char name[64];
    create(name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_refused(post(base, name, "operations", rows[i].body), 400, "ValidationException",
                       rows[i].part);
}

#define PROMPT "\"prompt\":{\"chunks\":[{\"tokens\":[65,66],\"type\":\"encoded_text\"}]}"
#define SAMPLE(count, params)                                                                      \
    "{\"operationConfig\":{\"sample\":{" PROMPT ",\"numSamples\":" count                           \
    ",\"samplingParams\":{" params "}}}}"

static void what_a_sampling_operation_may_say(void **state)
{
    (void)state;
    static const struct {
        const char *body, *part;
    } rows[] = {
        {"{}", "operationConfig of a sampling operation must be an object"},
        {"{\"operationConfig\":{}}", "exactly one member"},
        {"{\"operationConfig\":{\"saveWeights\":{}}}", "no member \"saveWeights\""},
        {"{\"sequenceNumber\":1,\"operationConfig\":{}}", "no member \"sequenceNumber\""},
        {SAMPLE("1", "\"maxTokens\":511"), "maxTokens must be a whole number from 512 to 131072"},
        {SAMPLE("1", "\"maxTokens\":131073"), "maxTokens"},
        {SAMPLE("1", ""), "maxTokens is missing"},
        {SAMPLE("0", "\"maxTokens\":512"), "numSamples must be a whole number from 1 to 1000"},
        {SAMPLE("1001", "\"maxTokens\":512"), "numSamples"},
        {SAMPLE("1", "\"maxTokens\":512,\"temperature\":2.1"), "temperature"},
        {SAMPLE("1", "\"maxTokens\":512,\"topP\":1.1"), "topP"},
        {SAMPLE("1", "\"maxTokens\":512,\"topK\":40"), "topK is not supported"},
        {SAMPLE("1", "\"maxTokens\":512,\"topK\":-1,\"seed\":7,\"stop\":[\"x\"]"), NULL},
        {SAMPLE("1", "\"maxTokens\":512,\"stop\":[1]"), "stop must be an array of texts"},
        {SAMPLE("1", "\"maxTokens\":512,\"stop\":\"x\""), "stop must be an array"},
        {SAMPLE("1", "\"maxTokens\":512,\"minP\":0"), "no member \"minP\""},
        {"{\"operationConfig\":{\"sample\":{\"numSamples\":1,\"samplingParams\":{\"maxTokens\":512}"
         "}}}",
         "prompt must be an object"},
        {"{\"operationConfig\":{\"computeLogprobs\":{\"prompt\":{\"chunks\":[{\"tokens\":[],"
         "\"type\":\"encoded_text\"}]}}}}",
         "at least one token"},
        {"{\"operationConfig\":{\"computeLogprobs\":{\"prompt\":{\"chunks\":[{\"tokens\":[0.5],"
         "\"type\":\"encoded_text\"}]}}}}",
         "array of token ids"},
        {"{\"operationConfig\":{\"loadWeightsForSampling\":{}}}", "modelPackageArn must be"},
        {"{\"operationConfig\":{\"loadWeightsForSampling\":{\"modelPackageArn\":\"demo/1\"}}}",
         "modelPackageArn must be"},
        {"{\"operationConfig\"", "not valid JSON"},
    };
    char name[64];
    create(name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        answer a = post(base, name, "sampling-operations", rows[i].body);
        if (rows[i].part) {
            expect_refused(a, 400, "ValidationException", rows[i].part);
            continue;
        }
        answer_expect(&a, 200);
        answer_free(&a);
    }
}

static void too_many_datums_are_refused(void **state)
{
    (void)state;
    char name[64];
    gg_buf body;
    create(name);
    gg_buf_init(&body, 1 << 22);
    gg_buf_str(&body, "{\"sequenceNumber\":1,\"operationConfig\":{\"forward\":{\"lossFnName\":"
                      "\"cross_entropy\",\"datumList\":[" DATUM("[0,0,0]"));
    for (int i = 0; i < 1024; i++)
        gg_buf_str(&body, "," DATUM("[0,0,0]"));
    gg_buf_str(&body, "]}}}");
    expect_refused(post(base, name, "operations", body.data), 400, "ValidationException",
                   "more than 1024 datums");
    gg_buf_free(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(health_and_unknown_paths),
        cmocka_unit_test(a_session_lives_and_ends),
        cmocka_unit_test(what_create_refuses),
        cmocka_unit_test(lists_newest_first_in_pages),
        cmocka_unit_test(numbers_run_in_order_whatever_the_arrival),
        cmocka_unit_test(a_number_is_taken_once_and_a_token_repeats),
        cmocka_unit_test(a_waiting_number_is_taken_too),
        cmocka_unit_test(the_queue_has_an_end),
        cmocka_unit_test(unknown_operations),
        cmocka_unit_test(a_failed_operation_fails_the_session),
        cmocka_unit_test(a_gap_that_is_not_filled_fails_the_session),
        cmocka_unit_test(what_a_training_operation_may_say),
        cmocka_unit_test(what_an_envelope_may_say),
        cmocka_unit_test(what_a_sampling_operation_may_say),
        cmocka_unit_test(too_many_datums_are_refused),
    };
    return cmocka_run_group_tests_name("session", tests, start, stop);
}
