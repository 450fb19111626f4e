/* The runtime operations of jobs: states of a trajectory, errors, repeated calls. */
#include "tests/job_calls.h"

static char job_name[64], job_arn[256];

static int open_job(void **state)
{
    int failed = open_all(state);
    if (!failed)
        create_job(job_name, job_arn, true, SMALL);
    return failed;
}

static int close_job(void **state)
{
    stop_job(job_name, true);
    return close_all(state);
}

/* One letter a call, with the status that it must get: S sample, R ready, F failed, N complete
 * without a status, W a reward, T a reward for two turns. */
static void the_states_of_a_trajectory(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "S200 S200 R200 W200",
        "S200 N200 W200",
        "R200 W200", /* a rollout that never sampled may be rewarded */
        "S200 W409", /* a reward before completion */
        "S200 R200 S400",
        "S200 R200 R409 F409 W200",
        "S200 R200 W200 W409",
        "S200 R200 W200 S400 R409",
        "S200 F200 W200 W200 R409 S400", /* nothing is made of a failed one's reward */
        "S200 S200 R200 T200",
        "S200 R200 T400 W200",
        "S200 S200 S200 R200 T400 W200",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char id[ID_ROOM], call;
        int want, used = 0;
        next_rollout(id);
        for (const char *at = rows[i]; sscanf(at, " %c%d%n", &call, &want, &used) == 2;
             at += used) {
            answer a = call == 'S'   ? sample(job_arn, id)
                       : call == 'R' ? complete(job_arn, id, ",\"Status\":\"ready\"")
                       : call == 'F' ? complete(job_arn, id, ",\"Status\":\"failed\"")
                       : call == 'N' ? complete(job_arn, id, "")
                       : call == 'T' ? reward(job_arn, id, "[0.5,1]", "")
                                     : reward(job_arn, id, "[1]", "");
            if (a.status != want)
                fail_msg("%s, %c: %d %s", rows[i], call, a.status, a.body);
            answer_free(&a);
        }
    }
}

static void expect(answer a, int status, const char *exception, const char *part)
{
    answer_expect(&a, status);
    assert_string_equal(a.error_type, exception);
    if (!strstr(answer_text(&a, "Message"), part))
        fail_msg("want \"%s\" in %s", part, a.body);
    assert_string_equal(answer_text(&a, "Message"), answer_text(&a, "error.message"));
    answer_free(&a);
}

static void sentences_that_clients_look_for(void **state)
{
    (void)state;
    char id[ID_ROOM], other[300];
    next_rollout(id);
    expect(sample(JOB_ARN "AgentRFT/no-such-job", id), 400, "ValidationException",
           "Could not find job");
    expect(sample("arn:aws:sagemaker:us-west-2:999999999999:job/AgentRFT/j", id), 403,
           "AccessDeniedException", "not authorized to access this resource");
    snprintf(other, sizeof other, "%s", strstr(job_arn, "us-west-2") ? job_arn : "");
    memcpy(strstr(other, "us-west-2"), "us-east-1", 9);
    expect(sample(other, id), 400, "ValidationException", "Could not find job");
    expect(sample(JOB_ARN "AgentRFTEvaluation/job-1", id), 400, "ValidationException",
           "Could not find job");
    expect(sample("job-1", id), 400, "ValidationException", "must satisfy the pattern");
    expect(sample(job_arn, "r1-s1-g0-0-t9"), 404, "ResourceNotFoundException",
           "Could not find trajectory");
    expect(sample(job_arn, "r9-s1-g0-0-t0"), 404, "ResourceNotFoundException",
           "Could not find trajectory");
    expect(complete(job_arn, "nothing", ""), 404, "ResourceNotFoundException",
           "Could not find trajectory nothing");
    expect(reward(job_arn, "r1-s01-g0-0-t0", "[1]", ""), 404, "ResourceNotFoundException",
           "Could not find trajectory");
    expect(reward(job_arn, id, "[1]", ""), 409, "ConflictException",
           "Cannot transition trajectory");
    answer a = complete(job_arn, id, "");
    answer_expect(&a, 200);
    assert_string_equal(a.body, "{}");
    answer_free(&a);
    expect(sample(job_arn, id), 400, "ValidationException", "not in valid status");
    expect(complete(job_arn, id, ""), 409, "ConflictException", "Cannot transition trajectory");
}

static void headers(void **state)
{
    (void)state;
    char id[ID_ROOM], arn[300], trajectory[ID_ROOM + 64], long_id[400], body[1024];
    next_rollout(id);
    snprintf(arn, sizeof arn, "X-Amzn-SageMaker-Job-Arn: %s", job_arn);
    snprintf(trajectory, sizeof trajectory, "x-amzn-sagemaker-trajectory-id: %s", id);
    snprintf(long_id, sizeof long_id, "X-Amzn-SageMaker-Trajectory-Id: %0300d", 0);
    const struct {
        const char *headers[4];
        int status;
        const char *part;
    } rows[] = {
        {{arn, trajectory, NULL}, 403, "Missing Authentication Token"},
        {{KEY, trajectory, NULL}, 400, "X-Amzn-SageMaker-Job-Arn is missing"},
        {{KEY, arn, NULL}, 400, "X-Amzn-SageMaker-Trajectory-Id must hold"},
        {{KEY, arn, long_id, NULL}, 400, "X-Amzn-SageMaker-Trajectory-Id must hold"},
        {{KEY, arn, trajectory, NULL}, 200, NULL},
    };
    static const char *const paths[] = {"/v1/chat/completions", "/sample",
                                        "/sample-with-response-stream"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
            answer a = client_call(base, paths[k], CHAT, rows[i].headers);
            answer_expect(&a, rows[i].status);
            if (rows[i].part && !strstr(answer_text(&a, "Message"), rows[i].part))
                fail_msg("row %zu: %s", i, a.body);
            answer_free(&a);
        }
    /* The SDK names the job in the body of its feedback calls alone. */
    const char *const key[] = {KEY, NULL}, *const both[] = {KEY, arn, NULL};
    snprintf(body, sizeof body, "{\"JobArn\":\"%s\",\"TrajectoryId\":\"%s\"}", job_arn, id);
    answer a = client_call(base, "/complete-rollout", body, key);
    answer_expect(&a, 200);
    answer_free(&a);
    snprintf(body, sizeof body,
             "{\"JobArn\":\"" JOB_ARN "AgentRFT/x\",\"TrajectoryId\":\"%s\",\"Rewards\":[1]}", id);
    a = client_call(base, "/update-reward", body, both);
    expect(a, 400, "ValidationException", "not the one of the header");
}

static void bodies(void **state)
{
    (void)state;
    char id[ID_ROOM];
    next_rollout(id);
    static const struct {
        const char *path, *body;
        int status;
        const char *part;
    } rows[] = {
        {"/sample", "{", 400, "not a JSON object"},
        {"/sample", "{}", 400, "'messages' must be an array"},
        {"/sample", "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"n\":2}", 400,
         "'n' must be 1"},
        {"/sample", "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"temperature\":3}", 400,
         "'temperature' must be"},
        {"/complete-rollout", "[]", 400, "one JSON object"},
        {"/complete-rollout", "{", 400, "one JSON object"},
        {"/complete-rollout", "{}", 400, "TrajectoryId must hold"},
        {"/complete-rollout", "{\"TrajectoryId\":\"\"}", 400, "TrajectoryId must hold"},
        {"/complete-rollout", "{\"TrajectoryId\":\"ID\",\"Status\":\"Ready\"}", 400,
         "Status must be ready or failed"},
        {"/complete-rollout", "{\"TrajectoryId\":\"ID\",\"Status\":1}", 400, "Status must be"},
        {"/complete-rollout", "{\"TrajectoryId\":\"ID\",\"ClientToken\":1}", 400,
         "ClientToken must be a text"},
        {"/update-reward", "{\"TrajectoryId\":\"ID\"}", 400, "Rewards must be a list"},
        {"/update-reward", "{\"TrajectoryId\":\"ID\",\"Rewards\":1}", 400, "Rewards must be"},
        {"/update-reward", "{\"TrajectoryId\":\"ID\",\"Rewards\":[\"NaN\"]}", 400,
         "Rewards must be a list of finite numbers"},
        {"/update-reward", "{\"TrajectoryId\":\"ID\",\"Rewards\":[NaN]}", 400, "one JSON object"},
        {"/update-reward", "{\"TrajectoryId\":\"ID\",\"Rewards\":[null]}", 400, "finite numbers"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[512];
        const char *at = strstr(rows[i].body, "\"ID\"");
        if (at)
            snprintf(body, sizeof body, "%.*s\"%s\"%s", (int)(at - rows[i].body), rows[i].body, id,
                     at + 4);
        else
            snprintf(body, sizeof body, "%s", rows[i].body);
        answer a = runtime(rows[i].path, job_arn, id, body);
        if (a.status != rows[i].status || !strstr(answer_text(&a, "Message"), rows[i].part))
            fail_msg("%s %s: %d %s", rows[i].path, rows[i].body, a.status, a.body);
        answer_free(&a);
    }
    static const char *const rewards[] = {"[]", "[1e999]", "[-1e999]", "[1,2]", "[0.5]"};
    answer a = complete(job_arn, id, "");
    answer_free(&a);
    for (size_t i = 0; i < sizeof rewards / sizeof *rewards; i++) {
        a = reward(job_arn, id, rewards[i], "");
        answer_expect(&a, i + 1 < sizeof rewards / sizeof *rewards ? 400 : 200);
        answer_free(&a);
    }
}

static void repeated_calls(void **state)
{
    (void)state;
    char id[ID_ROOM];
    next_rollout(id);
    static const struct {
        const char *rewards, *rest; /* rewards NULL = complete */
        int status;
        const char *part;
    } rows[] = {
        {NULL, ",\"ClientToken\":\"one\"", 200, NULL},
        {NULL, ",\"ClientToken\":\"one\"", 200, NULL},
        {NULL, ",\"ClientToken\":\"one\",\"Status\":\"failed\"", 400, "used before with other"},
        {NULL, ",\"ClientToken\":\"two\"", 409, "Cannot transition"},
        {NULL, "", 409, "Cannot transition"},
        {"[1]", ",\"ClientToken\":\"three\"", 200, NULL},
        {"[1]", ",\"ClientToken\":\"three\"", 200, NULL},
        {"[0]", ",\"ClientToken\":\"three\"", 400, "used before with other"},
        {"[1]", ",\"ClientToken\":\"four\"", 409, "Cannot transition"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        answer a = rows[i].rewards ? reward(job_arn, id, rows[i].rewards, rows[i].rest)
                                   : complete(job_arn, id, rows[i].rest);
        if (a.status != rows[i].status ||
            (rows[i].part && !strstr(answer_text(&a, "Message"), rows[i].part)))
            fail_msg("row %zu: %d %s", i, a.status, a.body);
        answer_free(&a);
    }
}

static void what_the_agent_is_told(void **state)
{
    (void)state;
    answer told = {.body = agent.bodies[0]};
    assert_int_equal(gg_json_parse(told.body, strlen(told.body), &told.json, NULL), GG_OK);
    assert_memory_equal(answer_text(&told, "prompt"), "row ", 4);
    assert_string_equal(answer_text(&told, "metadata.jobArn"), job_arn);
    assert_memory_equal(answer_text(&told, "metadata.rolloutId"), "r1-s1-g0-0-t0", 13);
    assert_string_equal(answer_text(&told, "metadata.endpoint"), base);
    assert_string_equal(answer_text(&told, "metadata.region"), "us-west-2");
    assert_true(answer_number(&told, "inferenceParams.temperature") == 1);
    assert_true(answer_number(&told, "inferenceParams.topP") == 1);
    assert_true(answer_number(&told, "inferenceParams.maxTokens") == 4096);
    cJSON_Delete(told.json);
}

static void a_streamed_turn(void **state)
{
    (void)state;
    char id[ID_ROOM];
    next_rollout(id);
    answer a = runtime("/sample-with-response-stream", job_arn, id, CHAT);
    answer_expect(&a, 200);
    assert_memory_equal(a.body, "data: {", 7);
    assert_non_null(strstr(a.body, "data: [DONE]"));
    answer_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_states_of_a_trajectory),
        cmocka_unit_test(sentences_that_clients_look_for),
        cmocka_unit_test(headers),
        cmocka_unit_test(bodies),
        cmocka_unit_test(repeated_calls),
        cmocka_unit_test(what_the_agent_is_told),
        cmocka_unit_test(a_streamed_turn),
    };
    return cmocka_run_group_tests_name("job_calls", tests, open_job, close_job);
}
