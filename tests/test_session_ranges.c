/* The training-session API over HTTP: what an operation may say, field by field. */
#include "tests/session_calls.h"

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
        cmocka_unit_test(what_a_training_operation_may_say),
        cmocka_unit_test(what_an_envelope_may_say),
        cmocka_unit_test(what_a_sampling_operation_may_say),
        cmocka_unit_test(too_many_datums_are_refused),
    };
    return cmocka_run_group_tests_name("session ranges", tests, start, stop);
}
