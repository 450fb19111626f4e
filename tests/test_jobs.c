/* Jobs on the control plane: create, describe, list, stop, delete; what fails them; restarts. */
#include "tests/job_calls.h"

static void expect_refused(answer a, const char *type, const char *part)
{
    answer_expect(&a, 400);
    assert_string_equal(answer_text(&a, "__type"), type);
    if (!strstr(answer_text(&a, "message"), part))
        fail_msg("want \"%s\" in %s", part, a.body);
    answer_free(&a);
}

static void what_create_refuses(void **state)
{
    (void)state;
    char good[ROOM];
    write_create("refused", true, SMALL, good);
    static const struct {
        const char *from, *to; /* replaced in a good request */
        const char *type, *part;
    } rows[] = {
        {"\"refused\"", "\"-refused\"", "ValidationException", "JobName"},
        {"\"refused\"", "\"a_b\"", "ValidationException", "JobName"},
        {"arn:aws:iam::", "arn:aws:iam:", "ValidationException", "RoleArn"},
        {"\"AgentRFT\"", "\"DataTransformation\"", "ValidationException", "JobCategory"},
        {"\"1.0.0\"", "\"1.0\"", "ValidationException", "JobConfigSchemaVersion"},
        {"\"1.0.0\"", "\"2.0.0\"", "ValidationException", "use 1.0.0"},
        {":32", ":33", "ValidationException", "must be one of 32, 64, 128"},
        {"\"JobConfigDocument\"", "\"Document\"", "ValidationException", "JobConfigDocument"},
        {"s3://out/jobs", "/out/jobs", "ValidationException", "S3OutputPath"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[ROOM];
        const char *at = strstr(good, rows[i].from);
        assert_non_null(at);
        snprintf(body, sizeof body, "%.*s%s%s", (int)(at - good), good, rows[i].to,
                 at + strlen(rows[i].from));
        expect_refused(client_control(base, "CreateJob", body), rows[i].type, rows[i].part);
    }
    expect_refused(on_job("DescribeJob", "refused", true), "ResourceNotFound",
                   "Could not find job refused");
    expect_refused(on_job("StopJob", "refused", true), "ResourceNotFound", "Could not find job");
}

static void the_life_of_a_job(void **state)
{
    (void)state;
    char name[64], arn[256], body[ROOM], id[ID_ROOM];
    set_agent(AGENT_ACCEPTS);
    create_job(name, arn, true, SMALL);
    next_rollout(id);
    write_create(name, true, SMALL, body);
    expect_refused(client_control(base, "CreateJob", body), "ResourceInUse", "already exists");
    write_create("another", true, SMALL, body);
    expect_refused(client_control(base, "CreateJob", body), "ResourceLimitExceeded",
                   "concurrent AgentRFT jobs is 1");
    expect_refused(on_job("DeleteJob", name, true), "ResourceInUse", "stop it first");
    answer a = wait_status(name, true, "InProgress");
    assert_string_equal(answer_text(&a, "SecondaryStatus"), "Training");
    assert_string_equal(answer_text(&a, "JobArn"), arn);
    assert_string_equal(answer_text(&a, "SecondaryStatusTransitions.0.Status"), "Starting");
    assert_string_equal(answer_text(&a, "SecondaryStatusTransitions.1.Status"), "Downloading");
    answer doc = {.body = strdup(answer_text(&a, "JobConfigDocument"))};
    assert_int_equal(gg_json_parse(doc.body, strlen(doc.body), &doc.json, NULL), GG_OK);
    assert_true(answer_number(&doc, "ServiceOutput.RolloutInfo.Total") == 64);
    assert_true(answer_number(&doc, "ServiceOutput.ProgressInfo.MaxSteps") == 1);
    assert_true(answer_number(&doc, "ServiceOutput.ProgressInfo.BatchSize") == 32);
    answer_free(&doc);
    answer_free(&a);
    stop_job(name, true);
    a = sample(arn, id);
    answer_expect(&a, 400);
    assert_non_null(strstr(answer_text(&a, "Message"), "not in valid status: Stopped"));
    answer_free(&a);
    expect_refused(on_job("StopJob", name, true), "ValidationException", "status Stopped");
    for (int again = 0; again < 2; again++) { /* deleting may be repeated */
        a = on_job("DeleteJob", name, true);
        answer_expect(&a, 200);
        answer_free(&a);
    }
    expect_refused(on_job("DescribeJob", name, true), "ResourceNotFound", "Could not find job");
}

/* A job whose agent does this ends so. */
static void what_fails_a_job(void **state)
{
    (void)state;
    static const struct {
        agent_mode mode;
        bool training, sampled;
        const char *hyper, *reason;
    } rows[] = {
        {AGENT_BREAKS, true, false, SMALL ",\\\"rollout_max_retries\\\":1",
         "no group of step 1 was played whole"},
        {AGENT_BREAKS, false, false, "\\\"rollout_max_retries\\\":1",
         "no rollout of the evaluation"},
        {AGENT_ENDS, true, false, SMALL ",\\\"rollout_max_retries\\\":1",
         "No sampling requests were received for this rollout"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[64], arn[256];
        set_agent(rows[i].mode);
        create_job(name, arn, rows[i].training, rows[i].hyper);
        answer a = wait_status(name, rows[i].training, "Failed");
        if (!strstr(answer_text(&a, "FailureReason"), rows[i].reason))
            fail_msg("row %zu: %s", i, a.body);
        answer_free(&a);
    }
}

/* Every rollout is failed, or completed without a reward, by the agent. */
static void reported_failures(void **state)
{
    (void)state;
    static const struct {
        const char *rest, *reason;
        agent_mode mode;
    } rows[] = {
        {",\"Status\":\"failed\"", "The agent signaled that the trajectory failed", AGENT_ACCEPTS},
        {"", "The rollout completed but no reward was received in time", AGENT_ENDS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[64], arn[256], id[ID_ROOM];
        set_agent(rows[i].mode);
        create_job(name, arn, true, SMALL ",\\\"rollout_max_retries\\\":1");
        /* 64 rollouts; with those of the second tries the job ends on the way. */
        while (rollout_within(id, 1300)) {
            answer a = sample(arn, id);
            answer_free(&a);
            a = complete(arn, id, rows[i].rest);
            answer_free(&a);
        }
        answer a = wait_status(name, true, "Failed");
        if (!strstr(answer_text(&a, "FailureReason"), rows[i].reason))
            fail_msg("row %zu: %s", i, a.body);
        answer_free(&a);
    }
}

static void too_few_rows(void **state)
{
    (void)state;
    char name[64], arn[256];
    set_agent(AGENT_ACCEPTS);
    create_job(name, arn, true, "");
    answer a = wait_status(name, true, "Failed");
    assert_non_null(strstr(answer_text(&a, "FailureReason"),
                           "40 prompts are fewer than global_batch_size 128"));
    answer_free(&a);
}

/* Sampled once, completed, rewarded by the sample's number: groups get a signal. */
static void play_all(const char *arn, const char *start, int count)
{
    for (int i = 0; i < count; i++) {
        char id[ID_ROOM];
        do /* what an earlier start has asked for is gone */
            next_rollout(id);
        while (strncmp(id, start, strlen(start)) != 0);
        answer a = sample(arn, id);
        answer_expect(&a, 200);
        answer_free(&a);
        a = complete(arn, id, "");
        answer_expect(&a, 200);
        answer_free(&a);
        a = reward(arn, id, strstr(id, "-1-t") ? "[1]" : "[0.25]", "");
        answer_expect(&a, 200);
        answer_free(&a);
    }
}

static cJSON *read_metrics(const char *name)
{
    char path[256];
    size_t len;
    cJSON *root = NULL;
    snprintf(path, sizeof path, "state/s3/out/jobs/%s/metrics.jsonl", name);
    char *text = folder_read(folder, path, &len);
    assert_int_equal(gg_json_parse_first(text, len, &root, &len, NULL), GG_OK);
    free(text);
    return root;
}

static void a_training_job_ends(void **state)
{
    (void)state;
    char name[64], arn[256];
    set_agent(AGENT_ACCEPTS);
    create_job(name, arn, true, SMALL);
    play_all(arn, "r1-", 64);
    answer a = wait_status(name, true, "Completed");
    answer doc = {.body = strdup(answer_text(&a, "JobConfigDocument"))};
    assert_int_equal(gg_json_parse(doc.body, strlen(doc.body), &doc.json, NULL), GG_OK);
    assert_string_equal(answer_text(&doc, "ServiceOutput.OutputModelPackageArn"),
                        answer_text(&doc, "ServiceOutput.ModelCheckpoint"));
    assert_true(answer_number(&doc, "ServiceOutput.RolloutInfo.Completed") == 64);
    answer_free(&doc);
    answer_free(&a);
    cJSON *line = read_metrics(name);
    static const struct {
        const char *name;
        double value;
    } rows[] = {
        {"step", 1},
        {"training/global_step", 1},
        {"training/epoch", 0},
        {"training/num_groups", 32},
        {"training/num_trajectories", 64},
        {"rollout/reward/mean", 0.625},
        {"rollout/reward/max", 1},
        {"rollout/turns/mean", 1},
        {"rollout/advantage/n_positive", 32},
        {"rollout/advantage/n_negative", 32},
        {"analysis/batch_completion_ratio", 1},
        {"analysis/zero_adv_groups", 0},
        {"analysis/mean_group_reward_spread", 0.75},
        {"training/oldest_rollout_steps", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double value = -1;
        if (!gg_json_number(line, rows[i].name, &value) || value != rows[i].value)
            fail_msg("%s: %g, not %g", rows[i].name, value, rows[i].value);
    }
    cJSON_Delete(line);
}

/* 40 prompts, 2 plays each, one of the two passes: pass@1 1/2, pass@2 1, pass^2 0. */
static void an_evaluation_ends(void **state)
{
    (void)state;
    char name[64], arn[256];
    set_agent(AGENT_ACCEPTS);
    create_job(name, arn, false,
               "\\\"eval_group_size\\\":2,\\\"temperature\\\":1,\\\"pass_k_values\\\":[1,2,4]");
    play_all(arn, "r1-", 80);
    answer a = wait_status(name, false, "Completed");
    assert_string_equal(answer_text(&a, "SecondaryStatusTransitions.2.Status"), "Evaluating");
    answer_free(&a);
    cJSON *line = read_metrics(name);
    static const struct {
        const char *name;
        double value;
    } rows[] = {
        {"eval/reward/pass_at_1", 0.5},
        {"eval/reward/pass_at_2", 1},
        {"eval/reward/pass_power_1", 0.5},
        {"eval/reward/pass_power_2", 0},
        {"eval/reward/num_prompts", 40},
        {"eval/reward/rollouts_per_prompt", 2},
        {"eval/reward/succeeded_rollouts", 80},
        {"eval/reward/failed_rollouts", 0},
        {"eval/reward/mean", 0.625},
        {"eval/reward/mean_within_groups", 0.625},
        {"eval/reward/std_within_groups", 0.375},
        {"eval/reward/min_within_groups", 0.25},
        {"eval/reward/max_within_groups", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double value = -1;
        if (!gg_json_number(line, rows[i].name, &value) || value != rows[i].value)
            fail_msg("%s: %g, not %g", rows[i].name, value, rows[i].value);
    }
    assert_null(gg_json_get(line, "eval/reward/pass_at_4"));
    cJSON_Delete(line);
}

/* A service that is stopped in the middle of a step plays it again, under other ids. */
static void a_job_goes_on_after_a_restart(void **state)
{
    (void)state;
    char name[64], arn[256], id[ID_ROOM];
    set_agent(AGENT_ACCEPTS);
    create_job(name, arn, true, SMALL);
    next_rollout(id);
    assert_memory_equal(id, "r1-s1-", 6);
    gg_service_stop(service);
    set_agent(AGENT_ACCEPTS);
    start_service();
    answer a = complete(arn, "r1-s1-g0-0-t0", "");
    answer_expect(&a, 404);
    answer_free(&a);
    play_all(arn, "r2-s1-", 64);
    a = wait_status(name, true, "Completed");
    assert_non_null(strstr(a.body, "\"Restarting\""));
    answer_free(&a);
}

/* Without an agent a job of before waits; it can still be stopped, for good. */
static void a_job_waits_for_its_agent(void **state)
{
    (void)state;
    char name[64], arn[256], id[ID_ROOM];
    gg_error error = {0};
    const gg_service_options options = {.listen = ":0", .state_dir = folder_path(folder, "state")};
    set_agent(AGENT_ACCEPTS);
    create_job(name, arn, true, SMALL);
    next_rollout(id);
    gg_service_stop(service);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gg_service_start(&options, &service, &error), GG_OK);
        base = gg_service_url(service);
        answer a = wait_status(name, true, i ? "Stopped" : "InProgress");
        answer_free(&a);
        if (!i)
            stop_job(name, true);
        gg_service_stop(service);
    }
    start_service();
}

static void lists(void **state)
{
    (void)state;
    static const struct {
        const char *rest, *status; /* of the first entry; NULL = none is listed */
        bool more;
    } rows[] = {
        {"", "Stopped", false},
        {",\"StatusEquals\":\"Failed\"", "Failed", false},
        {",\"StatusEquals\":\"Deleting\"", NULL, false},
        {",\"SortBy\":\"Status\",\"SortOrder\":\"Ascending\"", "Completed", false},
        {",\"SortBy\":\"Name\",\"SortOrder\":\"Ascending\",\"MaxResults\":1", "Completed", true},
        {",\"NameContains\":\"no-such\"", NULL, false},
        {",\"CreationTimeAfter\":4000000000", NULL, false},
        {",\"NextToken\":\"99\"", NULL, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[256];
        snprintf(body, sizeof body, "{\"JobCategory\":\"AgentRFT\"%s}", rows[i].rest);
        answer a = client_control(base, "ListJobs", body);
        answer_expect(&a, 200);
        const char *status = gg_json_text(gg_json_path(a.json, "JobSummaries.0"), "JobStatus");
        if (rows[i].status ? !status || strcmp(status, rows[i].status) != 0 : status != NULL)
            fail_msg("%s: %s", rows[i].rest, a.body);
        assert_int_equal(gg_json_get(a.json, "NextToken") != NULL, rows[i].more);
        answer_free(&a);
    }
    static const char *const bad[] = {"{}", "{\"JobCategory\":\"AgentRFT\",\"MaxResults\":101}",
                                      "{\"JobCategory\":\"AgentRFT\",\"SortBy\":\"Size\"}",
                                      "{\"JobCategory\":\"AgentRFT\",\"StatusEquals\":\"Done\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_refused(client_control(base, "ListJobs", bad[i]), "ValidationException", "");
}

static void schemas(void **state)
{
    (void)state;
    answer a = client_control(base, "ListJobSchemaVersions", "{\"JobCategory\":\"AgentRFT\"}");
    answer_expect(&a, 200);
    assert_string_equal(answer_text(&a, "JobConfigSchemas.0.JobConfigSchemaVersion"), "1.0.0");
    answer_free(&a);
    a = client_control(base, "DescribeJobSchemaVersion", "{\"JobCategory\":\"AgentRFT\"}");
    answer_expect(&a, 200);
    assert_non_null(strstr(answer_text(&a, "JobConfigSchema"), "\"global_batch_size\""));
    answer_free(&a);
    expect_refused(client_control(base, "DescribeJobSchemaVersion",
                                  "{\"JobCategory\":\"AgentRFT\",\"JobConfigSchemaVersion\":"
                                  "\"9.9.9\"}"),
                   "ResourceNotFound", "9.9.9");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_create_refuses),
        cmocka_unit_test(the_life_of_a_job),
        cmocka_unit_test(what_fails_a_job),
        cmocka_unit_test(reported_failures),
        cmocka_unit_test(too_few_rows),
        cmocka_unit_test(a_training_job_ends),
        cmocka_unit_test(an_evaluation_ends),
        cmocka_unit_test(a_job_goes_on_after_a_restart),
        cmocka_unit_test(a_job_waits_for_its_agent),
        cmocka_unit_test(lists),
        cmocka_unit_test(schemas),
    };
    return cmocka_run_group_tests_name("jobs", tests, open_all, close_all);
}
