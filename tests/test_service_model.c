/* A training session's model on the local service: samples, log-probabilities, chat. */
#include "tests/service_calls.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_and_logprobs),
        cmocka_unit_test(the_model_of_a_session),
        cmocka_unit_test(the_stream),
    };
    return cmocka_run_group_tests_name("service model", tests, open_all, close_all);
}
