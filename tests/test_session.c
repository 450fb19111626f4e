/* The managed training-session API over HTTP: state machine, numbers and tokens, ranges, errors. */
#include "tests/session_calls.h"

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
    };
    return cmocka_run_group_tests_name("session", tests, start, stop);
}
