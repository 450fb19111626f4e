/* Reading operations: cut and mangled bodies, and short memory. What each field may say is tested
 * over HTTP in tests/test_session.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/rng.h"
#include "service/operation.h"
#include "tests/alloc.h"

static const char training[] =
    "{\"clientToken\":\"t-1\",\"operationConfig\":{\"forwardBackward\":{\"datumList\":[{"
    "\"modelInput\":"
    "{\"chunks\":[{\"tokens\":[1,2],\"type\":\"encoded_text\"},{\"type\":\"encoded_text\","
    "\"tokens\":[3]"
    "}]},\"lossFnInputs\":{\"target_tokens\":{\"data\":[2,3,4],\"dtype\":\"int64\",\"shape\":[3]},"
    "\"weights\":{\"data\":[0,1,1],\"dtype\":\"float32\"},\"logprobs\":{\"data\":[0,-0.5,-1e-3],"
    "\"dtype\":\"float32\"},\"advantages\":{\"data\":[0,1.5,-1],\"dtype\":\"float32\"}}}],"
    "\"lossFnName\":"
    "\"ppo\",\"lossFnConfig\":{\"clip_low_threshold\":0.7,\"clip_high_threshold\":1.3}}},"
    "\"sequenceNumber\":7}";
static const char saving[] = "{\"sequenceNumber\":1,\"operationConfig\":{\"saveWeights\":{"
                             "\"description\":\"a \\u00e9 b\"}}}";
static const char loading[] =
    "{\"sequenceNumber\":1,\"operationConfig\":{\"loadState\":{\"loadOptimizer\":true,"
    "\"modelPackageArn\":\"arn:aws:sagemaker:us-west-2:123456789012:model-package/demo/1\"}}}";
static const char sampling[] =
    "{\"operationConfig\":{\"sample\":{\"prompt\":{\"chunks\":[{\"tokens\":[65,66],\"type\":"
    "\"encoded_text\"}]},\"numSamples\":2,\"samplingParams\":{\"maxTokens\":512,\"temperature\":0."
    "5,"
    "\"topP\":0.9,\"seed\":9007199254740991,\"stop\":[\"a\",\"bc\"]},\"modelPackageArn\":"
    "\"arn:aws:sagemaker:us-west-2:123456789012:model-package/demo/1\"}}}";

typedef struct body {
    const char *text;
    bool sampling;
} body;

static const body bodies[] = {
    {training, false}, {saving, false}, {loading, false}, {sampling, true}};

static gg_status read_one(const body *b, const char *text, size_t len, gg_op_request *out)
{
    int64_t sequence;
    char token[GG_CLIENT_TOKEN_MAX + 1];
    gg_error error = {0};
    gg_status status = b->sampling ? gg_op_read_sampling(text, len, out, &error)
                                   : gg_op_read_training(text, len, &sequence, token, out, &error);
    if (status != GG_OK)
        assert_true(error.text[0] != '\0');
    return status;
}

static void every_member_is_kept(void **state)
{
    (void)state;
    gg_op_request r;
    gg_error error;
    int64_t sequence;
    char token[GG_CLIENT_TOKEN_MAX + 1];
    assert_int_equal(gg_op_read_training(training, strlen(training), &sequence, token, &r, &error),
                     GG_OK);
    assert_int_equal(sequence, 7);
    assert_string_equal(token, "t-1");
    assert_int_equal(r.kind, GG_OP_FORWARD_BACKWARD);
    assert_int_equal(r.loss, GG_LOSS_PPO);
    assert_true(r.clip.clip_low == 0.7 && r.clip.clip_high == 1.3);
    assert_int_equal(r.datums.count, 1);
    assert_int_equal(r.datums.items[0].n, 3);
    assert_int_equal(r.datums.items[0].input[2], 3);
    assert_true(r.datums.items[0].logprobs[2] == -1e-3);
    assert_int_equal(r.bytes, strlen(training));
    gg_op_request_free(&r);
    assert_int_equal(gg_op_read_training(saving, strlen(saving), &sequence, token, &r, &error),
                     GG_OK);
    assert_string_equal(token, "");
    assert_string_equal(r.description, "a \xc3\xa9 b");
    gg_op_request_free(&r);
    assert_int_equal(gg_op_read_sampling(sampling, strlen(sampling), &r, &error), GG_OK);
    assert_true(r.samples == 2 && r.max_tokens == 512 && r.temperature == 0.5 && r.top_p == 0.9);
    assert_true(r.seeded && r.seed == 9007199254740991);
    assert_int_equal(r.stop_count, 2);
    assert_string_equal(r.stops[1], "bc");
    assert_int_equal(r.prompt_count, 2);
    gg_op_request_free(&r);
}

static void a_cut_body_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        for (size_t len = 0; len < strlen(bodies[i].text); len++) {
            gg_op_request r;
            char *cut = malloc(len + 1); /* so that reading past its end is seen */
            assert_non_null(cut);
            memcpy(cut, bodies[i].text, len);
            cut[len] = '\0';
            assert_int_equal(read_one(&bodies[i], cut, len, &r), GG_E_ARGUMENT);
            free(cut);
        }
}

/* Whatever the bytes: an answer, no crash, no leak. */
static void mangled_bodies(void **state)
{
    (void)state;
    const uint64_t seed = 3;
    static const char odd[] = "{}[]:,\"\\0-9eE.nulltrfa ";
    gg_rng rng;
    int read = 0;
    printf("seed %llu\n", (unsigned long long)seed);
    gg_rng_seed(&rng, seed);
    for (int round = 0; round < 20000; round++) {
        const body *b = &bodies[gg_rng_below(&rng, sizeof bodies / sizeof *bodies)];
        char text[1024];
        size_t len = strlen(b->text);
        gg_op_request r;
        memcpy(text, b->text, len + 1);
        for (uint64_t n = 1 + gg_rng_below(&rng, 3); n > 0; n--)
            text[gg_rng_below(&rng, len)] = odd[gg_rng_below(&rng, sizeof odd - 1)];
        if (read_one(b, text, len, &r) == GG_OK) {
            read++;
            gg_op_request_free(&r);
        }
    }
    assert_true(read > 0);
}

static gg_status read_and_free(void *context)
{
    const body *b = context;
    gg_op_request r;
    gg_status status = read_one(b, b->text, strlen(b->text), &r);
    if (status == GG_OK)
        gg_op_request_free(&r);
    return status;
}

static void short_of_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        assert_true(alloc_each_fails(read_and_free, (void *)(uintptr_t)&bodies[i]) >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_is_kept),
        cmocka_unit_test(a_cut_body_is_refused),
        cmocka_unit_test(mangled_bodies),
        cmocka_unit_test(short_of_memory),
    };
    return cmocka_run_group_tests_name("operation", tests, NULL, NULL);
}
