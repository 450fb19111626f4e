/* The local service over HTTP: a whole training step, model packages, the session's model, restart.
 */
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

static void start_service(void)
{
    gg_error error = {0};
    gg_service_options options = {.listen = ":0", .state_dir = folder_path(folder, "state")};
    if (gg_service_start(&options, &service, &error) != GG_OK)
        fail_msg("%s", error.text);
    base = gg_service_url(service);
}

static int open_all(void **state)
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

static int close_all(void **state)
{
    (void)state;
    gg_service_stop(service);
    gg_datums_free(&games);
    gg_policy_close(policy);
    folder_remove(folder);
    return 0;
}

static void create(char name[64], const char *model)
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

static answer named(const char *operation, const char *key, const char *value)
{
    char body[ROOM];
    snprintf(body, sizeof body, "{\"%s\":\"%s\"}", key, value);
    return client_control(base, operation, body);
}

/* Submits a body and waits for its result. */
static answer run_body(const char *name, const char *kind, const char *body)
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

static answer run(const char *name, int number, const char *config)
{
    gg_buf body;
    gg_buf_init(&body, 1 << 24);
    gg_buf_printf(&body, "{\"sequenceNumber\":%d,\"operationConfig\":%s}", number, config);
    answer a = run_body(name, "operations", body.data);
    gg_buf_free(&body);
    return a;
}

static answer run_sampling(const char *name, const char *config)
{
    char body[ROOM];
    snprintf(body, sizeof body, "{\"operationConfig\":%s}", config);
    return run_body(name, "sampling-operations", body);
}

static void completed(const answer *a)
{
    if (strcmp(answer_text(a, "status"), "Completed") != 0)
        fail_msg("%s", a->body);
}

static void forward_config(const char *kind, gg_buf *out)
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

static void save(const char *name, int number, const char *kind, char arn[ARN])
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
static void step(const char *name, int number)
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
static void local_steps(int steps, gg_buf *out)
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
static char *package_file(const char *arn, const char *file, size_t *len)
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

/* ---- sampling ---- */

static void samples_and_logprobs(void **state)
{
    (void)state;
    char name[64], arn[ARN], config[ROOM];
    create(name, "letters");
    save(name, 1, "saveWeights", arn);
    /* The first prompt of a game: up to the first sampled token. */
    const gg_datum *d = &games.items[0];
    gg_buf prompt;
    size_t n = 0;
    while (d->weights[n] == 0)
        n++;
    gg_buf_init(&prompt, 1 << 20);
    gg_buf_str(&prompt, "\"prompt\":{\"chunks\":[{\"type\":\"encoded_text\",\"tokens\":");
    gg_buf_ints(&prompt, d->input, n + 1);
    gg_buf_str(&prompt, "}]}");

    snprintf(config, sizeof config,
             "{\"sample\":{%s,\"numSamples\":3,\"samplingParams\":{\"maxTokens\":512,\"seed\":4},"
             "\"includePromptLogprobs\":true,\"modelPackageArn\":\"%s\"}}",
             prompt.data, arn);
    answer a = run_sampling(name, config), again = run_sampling(name, config);
    completed(&a);
    assert_string_equal(a.body, again.body); /* the seed decides */
    answer_free(&again);
#define SAMPLE "operationResult.sample."
    const cJSON *all = gg_json_path(a.json, SAMPLE "sequences"), *one, *x;
    assert_int_equal(cJSON_GetArraySize(all), 3);
    cJSON_ArrayForEach(one, all)
    {
        assert_string_equal(gg_json_text(one, "stopReason"), "stop");
        const cJSON *logprobs = gg_json_get(one, "logprobs");
        assert_int_equal(cJSON_GetArraySize(gg_json_get(one, "tokens")),
                         cJSON_GetArraySize(logprobs));
        cJSON_ArrayForEach(x, logprobs) assert_true(cJSON_IsNumber(x) && x->valuedouble <= 0);
    }
    const cJSON *of_prompt = gg_json_path(a.json, SAMPLE "promptLogprobs");
    assert_int_equal(cJSON_GetArraySize(of_prompt), (int)n + 1);
    cJSON_ArrayForEach(x, of_prompt) assert_true(cJSON_IsNumber(x));
    assert_true(answer_number(&a, SAMPLE "sequences.0.tokenUsage.prefill") == (double)n + 1);
    answer_free(&a);

    snprintf(config, sizeof config, "{\"computeLogprobs\":{%s}}", prompt.data);
    a = run_sampling(name, config);
    completed(&a);
    all = gg_json_path(a.json, "operationResult.computeLogprobs.logprobs");
    assert_int_equal(cJSON_GetArraySize(all), (int)n + 1);
    assert_true(cJSON_IsNull(all->child));
    assert_true(cJSON_IsNumber(all->child->next));
    answer_free(&a);
    gg_buf_free(&prompt);

    a = run_sampling(name, "{\"loadWeightsForSampling\":{\"modelPackageArn\":"
                           "\"arn:aws:sagemaker:us-west-2:123456789012:model-package/none/1\"}}");
    assert_string_equal(answer_text(&a, "status"), "Failed");
    assert_non_null(strstr(answer_text(&a, "errorDetails"), "no model package"));
    answer_free(&a);
}

#define CHAT                                                                                       \
    "\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],\"seed\":3,\"return_token_ids\":"    \
    "true"

static answer chat(const char *name, const char *route, const char *body, const char *header)
{
    char path[160];
    const char *const headers[] = {header, NULL};
    snprintf(path, sizeof path, "/training-sessions/%s/%s", name, route);
    return client_call(base, path, body, header ? headers : NULL);
}

static void the_model_of_a_session(void **state)
{
    (void)state;
    char name[64], arn[ARN], config[512], body[1024], header[ARN + 64];
    static const char *const routes[] = {"sample", "v1/chat/completions"};
    create(name, "letters");
    step(name, 1);
    save(name, 3, "saveWeights", arn);
    snprintf(header, sizeof header, "X-Amzn-SageMaker-Model-Package: %s", arn);
    for (int i = 0; i < 2; i++) {
        const char *r = routes[i];
        answer a = chat(name, r, "{" CHAT "}", NULL); /* nothing bound yet: the base */
        answer_expect(&a, 200);
        assert_true(answer_number(&a, "weight_version") == 0);
        assert_string_equal(answer_text(&a, "model"), "default");
        assert_true(answer_number(&a, "choices.0.token_ids.0") > 0);
        answer_free(&a);
        snprintf(body, sizeof body, "{\"model\":\"%s\"," CHAT "}", arn);
        a = chat(name, r, body, NULL);
        answer_expect(&a, 200);
        assert_true(answer_number(&a, "weight_version") == 1);
        assert_string_equal(answer_text(&a, "model"), arn);
        answer_free(&a);
        a = chat(name, r, "{\"model\":\"default\"," CHAT "}", header); /* the header wins */
        assert_true(answer_number(&a, "weight_version") == 1);
        answer_free(&a);
        a = chat(name, r, "{\"model\":\"gpt-4o\"," CHAT "}", NULL);
        answer_expect(&a, 404);
        answer_free(&a);
        a = chat("no-such", r, "{" CHAT "}", NULL);
        answer_expect(&a, 404);
        answer_free(&a);
        a = chat(name, r, "{\"messages\":[]}", NULL);
        answer_expect(&a, 400);
        answer_text(&a, "error.message");
        answer_free(&a);
    }
    snprintf(config, sizeof config, "{\"loadWeightsForSampling\":{\"modelPackageArn\":\"%s\"}}",
             arn);
    answer a = run_sampling(name, config);
    completed(&a);
    assert_non_null(strstr(a.body, "\"operationResult\":{\"loadWeightsForSampling\":{}}"));
    answer_free(&a);
    a = chat(name, "v1/chat/completions", "{\"model\":\"default\"," CHAT "}", NULL);
    assert_true(answer_number(&a, "weight_version") == 1);
    answer_free(&a);
    a = client_call(base, "/training-sessions/none/v1/models", NULL, NULL);
    answer_expect(&a, 404);
    answer_free(&a);
    snprintf(body, sizeof body, "/training-sessions/%s/v1/models", name);
    a = client_call(base, body, NULL, NULL);
    answer_expect(&a, 200);
    assert_string_equal(answer_text(&a, "data.0.id"), "default");
    assert_string_equal(answer_text(&a, "data.1.id"), arn);
    answer_free(&a);

    a = named("DescribeTrainingSession", "TrainingSessionName", name);
    assert_true(answer_number(&a, "TrainingSessionDetail.BillableTokenUsage.SampleTokenCount") > 0);
    answer_free(&a);
    a = named("StopTrainingSession", "TrainingSessionName", name);
    answer_free(&a);
    a = chat(name, "sample", "{" CHAT "}", NULL);
    answer_expect(&a, 409);
    assert_string_equal(a.error_type, "ConflictException");
    answer_free(&a);
    a = chat(name, "v1/chat/completions", "{" CHAT "}", NULL);
    answer_expect(&a, 409);
    answer_text(&a, "error.message");
    answer_free(&a);
}

static void the_stream(void **state)
{
    (void)state;
    static const char *const bodies[] = {"{" CHAT "}", "{\"stream\":true," CHAT "}",
                                         " { " CHAT "}"};
    char name[64];
    create(name, "letters");
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        answer a = chat(name, "sample-with-response-stream", bodies[i], NULL);
        answer_expect(&a, 200);
        assert_memory_equal(a.body, "data: {", 7);
        size_t len = strlen(a.body);
        assert_string_equal(a.body + len - strlen("data: [DONE]\n\n"), "data: [DONE]\n\n");
        answer_free(&a);
    }
    answer a = chat(name, "sample-with-response-stream", "{}", NULL);
    answer_expect(&a, 400);
    answer_free(&a);
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
        cmocka_unit_test(samples_and_logprobs),
        cmocka_unit_test(the_model_of_a_session),
        cmocka_unit_test(the_stream),
        cmocka_unit_test(what_survives_a_restart),
        cmocka_unit_test(a_service_that_cannot_start_says_why),
    };
    return cmocka_run_group_tests_name("service", tests, open_all, close_all);
}
