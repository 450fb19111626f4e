/* The local service over HTTP: a whole training step, model packages, the session's model, restart.
 */
#include "tests/service_calls.h"

static void the_saved_adapter_is_the_engines_byte_for_byte(void **state)
{
    (void)state;
    char name[64], arn[ARN];
    gg_buf want;
    size_t len;
    create(name, "letters");
    step(name, 1);
    step(name, 3);
    save(name, 5, "saveWeights", arn);
    local_steps(2, &want);
    char *have = package_file(arn, GG_ADAPTER_FILE, &len);
    assert_int_equal(len, want.len);
    assert_memory_equal(have, want.data, len);
    free(have);
    gg_buf_free(&want);
}

static void metrics_and_usage(void **state)
{
    (void)state;
    char name[64];
    gg_buf config;
    int64_t tokens = 0;
    double advantages = 0, weight = 0;
    for (size_t i = 0; i < games.count; i++) {
        tokens += (int64_t)games.items[i].n;
        for (size_t k = 0; k < games.items[i].n; k++) {
            weight += games.items[i].weights[k];
            advantages += games.items[i].advantages[k];
        }
    }
    create(name, "letters");
    forward_config("forward", &config);
    answer a = run(name, 1, config.data);
    completed(&a);
#define METRICS "operationResult.forward.metrics"
    const cJSON *m = gg_json_path(a.json, METRICS);
    double loss = 0, kl = 1, number = 0;
    assert_true(gg_json_number(m, "actor/pg_loss", &loss) &&
                fabs(loss + advantages / weight) < 1e-9);
    assert_true(gg_json_number(m, "actor/ppo_kl", &kl) && fabs(kl) < 1e-9);
    assert_true(gg_json_number(m, "global_token_num", &number) && number == (double)tokens);
    assert_null(gg_json_get(m, "actor/grad_norm"));
    assert_true(answer_number(&a, "tokenUsage.trainingTokens") == (double)tokens);
    assert_true(answer_number(&a, "operationResult.forward.tokenUsage.trainingTokens") ==
                (double)tokens);
    const cJSON *rows = gg_json_path(a.json, "operationResult.forward.lossFnOutputs");
    assert_int_equal(cJSON_GetArraySize(rows), GAMES);
    assert_true(answer_number(&a, "operationResult.forward.lossFnOutputs.0.logprobs.shape.0") ==
                (double)games.items[0].n);
    answer_free(&a);
    gg_buf_free(&config);
    a = named("DescribeTrainingSession", "TrainingSessionName", name);
    assert_true(answer_number(&a, "TrainingSessionDetail.BillableTokenUsage.TrainingTokenCount") ==
                (double)tokens);
    answer_free(&a);
}

static void a_saved_state_goes_on_in_another_session(void **state)
{
    (void)state;
    char first[64], second[64], arn[ARN], weights[ARN], config[512];
    gg_buf want;
    size_t len;
    create(first, "letters");
    step(first, 1);
    save(first, 3, "saveState", arn);
    create(second, "letters");
    snprintf(config, sizeof config,
             "{\"loadState\":{\"modelPackageArn\":\"%s\",\"loadOptimizer\":true}}", arn);
    answer a = run(second, 1, config);
    completed(&a);
    assert_non_null(strstr(a.body, "\"operationResult\":{\"loadState\":{}}"));
    answer_free(&a);
    step(second, 2);
    save(second, 4, "saveWeights", weights);
    local_steps(2, &want);
    char *have = package_file(weights, GG_ADAPTER_FILE, &len);
    assert_int_equal(len, want.len);
    assert_memory_equal(have, want.data, len);
    free(have);
    gg_buf_free(&want);
    /* saveWeights holds no optimiser: asking for one fails the operation. */
    snprintf(config, sizeof config,
             "{\"loadState\":{\"modelPackageArn\":\"%s\",\"loadOptimizer\":true}}", weights);
    a = run(second, 5, config);
    assert_string_equal(answer_text(&a, "status"), "Failed");
    assert_non_null(strstr(answer_text(&a, "errorDetails"), "holds no optimiser"));
    answer_free(&a);
}

/* ---- packages ---- */

static void packages_are_described_and_listed(void **state)
{
    (void)state;
    char name[64], arns[3][ARN], group[64], body[256];
    create(name, "openai-reasoning-gpt-oss-20b/1.0.0"); /* letters stands for it */
    save(name, 1, "saveWeights", arns[0]);
    save(name, 2, "saveState", arns[1]);
    answer a = run(name, 3, "{\"saveWeights\":{\"description\":\"the \\\"third\\\"\"}}");
    snprintf(arns[2], ARN, "%s", answer_text(&a, "operationResult.saveWeights.modelPackageArn"));
    answer_free(&a);
    snprintf(group, sizeof group, "group-%d", made);
    snprintf(body, sizeof body, "arn:aws:sagemaker:eu-west-1:123456789012:model-package/%s/2",
             group);
    assert_string_equal(arns[1], body);

    a = named("DescribeModelPackage", "ModelPackageName", arns[1]);
    answer_expect(&a, 200);
#define CONTAINER "InferenceSpecification.Containers.0."
    assert_true(cJSON_IsTrue(gg_json_path(a.json, CONTAINER "IsCheckpoint")));
    assert_string_equal(answer_text(&a, CONTAINER "BaseModel.HubContentName"),
                        "openai-reasoning-gpt-oss-20b");
    assert_string_equal(answer_text(&a, CONTAINER "BaseModel.HubContentVersion"), "1.0.0");
    assert_true(answer_number(&a, "ModelPackageVersion") == 2);
    assert_string_equal(answer_text(&a, "ModelPackageStatus"), "Completed");
    answer_free(&a);
    a = named("DescribeModelPackage", "ModelPackageName", arns[2]);
    assert_string_equal(answer_text(&a, "ModelPackageDescription"), "the \"third\"");
    assert_true(cJSON_IsFalse(gg_json_path(a.json, CONTAINER "IsCheckpoint")));
    answer_free(&a);

    static const struct {
        const char *rest;
        int first, second; /* index into arns; -1 = none */
        bool more;
    } rows[] = {
        {"", 0, 1, false},
        {",\"SortBy\":\"CreationTime\",\"SortOrder\":\"Descending\"", 2, 1, false},
        {",\"MaxResults\":1,\"SortOrder\":\"Descending\"", 2, -1, true},
        {",\"MaxResults\":2,\"SortOrder\":\"Descending\",\"NextToken\":\"1\"", 1, 0, false},
        {",\"MaxResults\":2,\"NextToken\":\"2\"", 2, -1, false},
        {",\"NextToken\":\"9\"", -1, -1, false},
        {",\"ModelApprovalStatus\":\"Approved\",\"ModelPackageType\":\"Both\"", 0, 1, false},
        {",\"ModelApprovalStatus\":\"Rejected\"", -1, -1, false},
        {",\"ModelPackageType\":\"Unversioned\"", -1, -1, false},
        {",\"CreationTimeAfter\":4000000000", -1, -1, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(body, sizeof body, "{\"ModelPackageGroupName\":\"%s\"%s}", group, rows[i].rest);
        a = client_control(base, "ListModelPackages", body);
        answer_expect(&a, 200);
        const cJSON *list = gg_json_get(a.json, "ModelPackageSummaryList");
        const int wanted[] = {rows[i].first, rows[i].second};
        for (int k = 0; k < 2; k++) {
            const char *arn = gg_json_text(cJSON_GetArrayItem(list, k), "ModelPackageArn");
            if (wanted[k] < 0 ? arn != NULL : !arn || strcmp(arn, arns[wanted[k]]) != 0)
                fail_msg("row %zu, entry %d: %s", i, k, a.body);
        }
        assert_int_equal(gg_json_get(a.json, "NextToken") != NULL, rows[i].more);
        answer_free(&a);
    }
    a = named("DeleteModelPackage", "ModelPackageName", arns[0]);
    answer_expect(&a, 200);
    answer_free(&a);
    a = named("DescribeModelPackage", "ModelPackageName", arns[0]);
    answer_expect(&a, 400);
    assert_string_equal(answer_text(&a, "__type"), "ValidationException");
    assert_non_null(strstr(answer_text(&a, "message"), "does not exist"));
    answer_free(&a);
}

static void groups(void **state)
{
    (void)state;
    answer a = named("CreateModelPackageGroup", "ModelPackageGroupName", "made-by-hand");
    answer_expect(&a, 200);
    assert_string_equal(
        answer_text(&a, "ModelPackageGroupArn"),
        "arn:aws:sagemaker:us-west-2:123456789012:model-package-group/made-by-hand");
    answer_free(&a);
    a = named("CreateModelPackageGroup", "ModelPackageGroupName", "made-by-hand");
    answer_expect(&a, 400);
    assert_non_null(strstr(answer_text(&a, "message"), "already exists"));
    answer_free(&a);
    a = named("DescribeModelPackageGroup", "ModelPackageGroupName", "made-by-hand");
    answer_expect(&a, 200);
    assert_string_equal(answer_text(&a, "ModelPackageGroupStatus"), "Completed");
    answer_free(&a);
    a = named("DescribeModelPackageGroup", "ModelPackageGroupName", "never-made");
    answer_expect(&a, 400);
    answer_free(&a);
}

static void an_adapter_file_becomes_a_package(void **state)
{
    (void)state;
    char name[64], arn[GG_SERVICE_ARN_MAX + 1], config[512], body[1024], saved[ARN];
    gg_error error = {0};
    gg_buf want;
    size_t len;
    local_steps(1, &want);
    folder_write(folder, "given.json", want.data, want.len);
    assert_int_equal(
        gg_service_add_adapter(service, "imported", folder_path(folder, "given.json"), arn, &error),
        GG_OK);
    assert_int_equal(gg_service_add_adapter(service, "imported", "/nowhere.json", arn, &error),
                     GG_E_IO);
    assert_int_equal(gg_service_add_adapter(service, "no group", "/nowhere.json", arn, &error),
                     GG_E_ARGUMENT);
    create(name, "letters");
    snprintf(config, sizeof config,
             "{\"loadState\":{\"modelPackageArn\":\"%s\",\"loadOptimizer\":false}}",
             "arn:aws:sagemaker:us-west-2:123456789012:model-package/imported/1");
    answer a = run(name, 1, config);
    completed(&a);
    answer_free(&a);
    save(name, 2, "saveWeights", saved);
    char *have = package_file(saved, GG_ADAPTER_FILE, &len);
    assert_int_equal(len, want.len);
    assert_memory_equal(have, want.data, len);
    free(have);
    /* The same by the API, from where the files lie. */
    a = named("DescribeModelPackage", "ModelPackageName", saved);
    snprintf(body, sizeof body,
             "{\"ModelPackageGroupName\":\"again\",\"InferenceSpecification\":{\"Containers\":[{"
             "\"ModelDataSource\":{\"S3DataSource\":{\"S3Uri\":\"%s\",\"S3DataType\":\"S3Prefix\","
             "\"CompressionType\":\"None\"}}}]}}",
             answer_text(&a, CONTAINER "ModelDataSource.S3DataSource.S3Uri"));
    answer_free(&a);
    a = client_control(base, "CreateModelPackage", body);
    answer_expect(&a, 200);
    have = package_file(answer_text(&a, "ModelPackageArn"), GG_ADAPTER_FILE, &len);
    assert_int_equal(len, want.len);
    free(have);
    answer_free(&a);
    gg_buf_free(&want);
}

/* ---- restart ---- */

static void what_survives_a_restart(void **state)
{
    (void)state;
    char running[64], stopped[64], deleted[64], arn[ARN], fresh[64], config[512];
    gg_buf want;
    size_t len;
    create(deleted, "letters");
    create(stopped, "letters");
    create(running, "letters");
    step(running, 1);
    save(running, 3, "saveState", arn);
    answer a = named("StopTrainingSession", "TrainingSessionName", stopped);
    answer_free(&a);
    a = named("StopTrainingSession", "TrainingSessionName", deleted);
    answer_free(&a);
    a = named("DeleteTrainingSession", "TrainingSessionName", deleted);
    answer_free(&a);
    /* As a kill would leave it: the state file still says Running. */
    char path[128];
    snprintf(path, sizeof path, "state/sessions/%s.json", running);
    char *text = folder_read(folder, path, &len);
    assert_non_null(strstr(text, "\"state\":\"Running\""));
    gg_service_stop(service);
    folder_write(folder, path, text, len);
    free(text);
    start_service();

    a = named("DescribeTrainingSession", "TrainingSessionName", running);
    assert_string_equal(answer_text(&a, "TrainingSessionDetail.TrainingSessionStatus"), "Failed");
    assert_non_null(strstr(answer_text(&a, "TrainingSessionDetail.ErrorDetails"), "started again"));
    assert_true(answer_number(&a, "TrainingSessionDetail.LoraConfig.Rank") == 32);
    answer_free(&a);
    a = named("DescribeTrainingSession", "TrainingSessionName", stopped);
    assert_string_equal(answer_text(&a, "TrainingSessionDetail.TrainingSessionStatus"), "Stopped");
    answer_free(&a);
    a = named("DescribeTrainingSession", "TrainingSessionName", deleted);
    answer_expect(&a, 400);
    answer_free(&a);
    a = chat(running, "sample", "{" CHAT "}", NULL);
    answer_expect(&a, 409);
    answer_free(&a);

    create(fresh, "letters");
    snprintf(config, sizeof config,
             "{\"loadState\":{\"modelPackageArn\":\"%s\",\"loadOptimizer\":true}}", arn);
    a = run(fresh, 1, config);
    completed(&a);
    answer_free(&a);
    step(fresh, 2);
    save(fresh, 4, "saveWeights", arn);
    local_steps(2, &want);
    char *have = package_file(arn, GG_ADAPTER_FILE, &len);
    assert_int_equal(len, want.len);
    assert_memory_equal(have, want.data, len);
    free(have);
    gg_buf_free(&want);
}

static void a_service_that_cannot_start_says_why(void **state)
{
    (void)state;
    gg_service *s;
    gg_error error = {0};
    folder_write(folder, "file", "x", 1);
    const struct {
        gg_service_options options;
        const char *part;
    } rows[] = {
        {{.listen = "nonsense"}, "nonsense"},
        {{.listen = ":0", .account = "12"}, "12 digits"},
        {{.listen = ":0", .state_dir = folder_path(folder, "file")}, "file"},
        {{.listen = ":0", .s3_root = folder_path(folder, "file/s3")}, "file"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_not_equal(gg_service_start(&rows[i].options, &s, &error), GG_OK);
        assert_null(s);
        if (!strstr(error.text, rows[i].part))
            fail_msg("row %zu: %s", i, error.text);
    }
    gg_service_stop(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_saved_adapter_is_the_engines_byte_for_byte),
        cmocka_unit_test(metrics_and_usage),
        cmocka_unit_test(a_saved_state_goes_on_in_another_session),
        cmocka_unit_test(packages_are_described_and_listed),
        cmocka_unit_test(groups),
        cmocka_unit_test(an_adapter_file_becomes_a_package),
        cmocka_unit_test(what_survives_a_restart),
        cmocka_unit_test(a_service_that_cannot_start_says_why),
    };
    return cmocka_run_group_tests_name("service", tests, open_all, close_all);
}
