/* The embedded policy that chooses among enums and small numbers, as a token model. */
#include "policy/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/rng.h"
#include "policy/tokenizer.h"

#define NEAR    1e-9
#define IDS_MAX 8192
#define SCALE   24
#define TURNS   5
#define TEXT    65536

#define FUNCTION(name, parameters)                                                                 \
    "{\"type\":\"function\",\"function\":{\"name\":\"" name "\",\"parameters\":" parameters "}}"
#define ONE(property)                                                                              \
    "[" FUNCTION("go", "{\"properties\":{\"a\":" property "},\"required\":[\"a\"]}") "]"

static const char tools[] = "[" FUNCTION(
    "move",
    "{\"type\":\"object\",\"properties\":{"
    "\"to\":{\"enum\":[\"up\",\"upper \\\"left\\\"\",7,true]},"
    "\"by\":{\"type\":\"integer\",\"minimum\":-1,\"maximum\":12},"
    "\"note\":{\"type\":\"string\"},"
    "\"fast\":{\"type\":\"boolean\"}},\"required\":[\"to\",\"by\"]}") "," FUNCTION("wait",
                                                                                   "{}") "]";

static gg_policy *policy;

static int open_all(void **state)
{
    (void)state;
    return gg_policy_open("chooser", NULL, &policy, NULL) == GG_OK ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    gg_policy_close(policy);
    return 0;
}

static gg_weights random_weights(gg_rng *rng, double size)
{
    gg_weights w = {.n = gg_policy_weight_count(policy), .version = 1};
    w.adapter = calloc(w.n, sizeof *w.adapter);
    assert_non_null(w.adapter);
    for (size_t k = 0; k < w.n; k++)
        w.adapter[k] = size * gg_rng_normal(rng);
    return w;
}

/* A whole play as one sequence. */
typedef struct sequence {
    int32_t ids[IDS_MAX];
    double sampled[IDS_MAX]; /* 1 where the next token was sampled */
    double logprobs[IDS_MAX];
    size_t count;
} sequence;

static void take_reply(sequence *s, const gg_policy_reply *reply)
{
    assert_true(reply->prompt_count + reply->count <= IDS_MAX);
    assert_true(reply->prompt_count > s->count);
    assert_memory_equal(s->ids, reply->prompt_ids, s->count * sizeof *s->ids);
    for (size_t i = s->count; i < reply->prompt_count; i++)
        s->ids[i] = reply->prompt_ids[i];
    s->count = reply->prompt_count;
    for (size_t i = 0; i < reply->count; i++, s->count++) {
        s->ids[s->count] = reply->ids[i];
        s->sampled[s->count - 1] = 1;
        s->logprobs[s->count - 1] = reply->logprobs[i];
    }
}

static void add_turn(gg_buf *messages, const gg_policy_call *call, int number)
{
    gg_buf_truncate(messages, messages->len - 1);
    gg_buf_str(messages, ",{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{\"name\":");
    gg_buf_json_str(messages, call->name);
    gg_buf_str(messages, ",\"arguments\":");
    gg_buf_json_str(messages, call->arguments);
    gg_buf_printf(messages, "}}]},{\"role\":\"tool\",\"content\":\"At %d: %s.\\nsecond\\n%d\"}]",
                  number, number % 2 ? "odd" : "even", number);
}

static gg_status ask(const gg_buf *messages, const char *offered, const gg_weights *w,
                     double temperature, uint64_t seed, gg_policy_reply *reply, gg_error *error)
{
    const gg_policy_request request = {.messages = {messages->data, messages->len},
                                       .tools = {offered, strlen(offered)},
                                       .temperature = temperature,
                                       .top_p = 1,
                                       .seed = seed,
                                       .max_tokens = 1000};
    return gg_policy_reply_to(policy, w, SCALE, &request, reply, error);
}

static void begin(gg_buf *messages)
{
    gg_buf_init(messages, TEXT);
    gg_buf_str(messages, "[{\"role\":\"user\",\"content\":\"Play.\"}]");
}

static void play(const gg_weights *w, uint64_t seed, sequence *s)
{
    gg_buf messages;
    gg_policy_reply reply;
    gg_error error = {0};
    memset(s, 0, sizeof *s);
    begin(&messages);
    gg_policy_reply_init(&reply);
    for (int t = 0; t < TURNS; t++) {
        if (ask(&messages, tools, w, 1, seed * 100 + (uint64_t)t, &reply, &error) != GG_OK)
            fail_msg("%s", error.text);
        assert_string_equal(reply.finish_reason, "tool_calls");
        take_reply(s, &reply);
        add_turn(&messages, &reply.call, (int)(seed + (uint64_t)t * 7));
    }
    gg_policy_reply_free(&reply);
    gg_buf_free(&messages);
}

/* Prompts go on from earlier prompts and replies; what a reply says of its tokens is what the
 * model says of them afterwards. */
static void test_plays_are_one_sequence(void **state)
{
    (void)state;
    static sequence s;
    static double out[IDS_MAX];
    for (uint64_t seed = 1; seed <= 30; seed++) {
        gg_rng rng;
        double sum = 0;
        gg_rng_seed(&rng, seed);
        gg_weights w = random_weights(&rng, 0.03);
        play(&w, seed, &s);
        assert_int_equal(gg_policy_logprobs(policy, &w, SCALE, s.ids, s.ids + 1, s.count - 1,
                                            s.sampled, out, NULL),
                         GG_OK);
        for (size_t i = 0; i + 1 < s.count; i++) {
            sum += out[i];
            if (!(fabs(out[i] - s.logprobs[i]) <= NEAR))
                fail_msg("seed %d, token %zu: %.17g sampled, %.17g recomputed", (int)seed, i + 1,
                         s.logprobs[i], out[i]);
        }
        assert_true(sum < -1);
        free(w.adapter);
    }
}

static double weighted_logprob(const sequence *s, const gg_weights *w, const double *upstream)
{
    static double out[IDS_MAX];
    double sum = 0;
    assert_int_equal(
        gg_policy_logprobs(policy, w, SCALE, s->ids, s->ids + 1, s->count - 1, upstream, out, NULL),
        GG_OK);
    for (size_t i = 0; i + 1 < s->count; i++)
        sum += upstream[i] * out[i];
    return sum;
}

static void test_gradient_by_differences(void **state)
{
    (void)state;
    static sequence s;
    static double upstream[IDS_MAX];
    const double step = 1e-6;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        gg_rng rng;
        size_t moved = 0;
        gg_rng_seed(&rng, seed);
        gg_weights w = random_weights(&rng, 0.02);
        double *gradient = calloc(w.n, sizeof *gradient);
        assert_non_null(gradient);
        play(&w, seed, &s);
        for (size_t i = 0; i + 1 < s.count; i++)
            upstream[i] = s.sampled[i] != 0 ? gg_rng_normal(&rng) : 0;
        assert_int_equal(gg_policy_gradient(policy, &w, SCALE, s.ids, s.ids + 1, s.count - 1,
                                            upstream, gradient, NULL),
                         GG_OK);
        for (size_t k = 0; k < w.n; k++) {
            double at = w.adapter[k];
            w.adapter[k] = at + step;
            double up = weighted_logprob(&s, &w, upstream);
            w.adapter[k] = at - step;
            double slope = (up - weighted_logprob(&s, &w, upstream)) / (2 * step);
            w.adapter[k] = at;
            moved += fabs(gradient[k]) > 0;
            if (!(fabs(slope - gradient[k]) <= 1e-4 * (1 + fabs(slope))))
                fail_msg("seed %d, weight %zu: %.9g by differences, %.9g", (int)seed, k, slope,
                         gradient[k]);
        }
        assert_true(moved > 20);
        free(gradient);
        free(w.adapter);
    }
}

/* The tokens after the first prompt's `count` ids are a distribution: over all that can be written
 * next the probabilities sum to 1. */
static void test_next_token_sums_to_one(void **state)
{
    (void)state;
    static sequence s;
    static double wanted[IDS_MAX], out[IDS_MAX];
    static int32_t target[IDS_MAX];
    gg_rng rng;
    gg_rng_seed(&rng, 5);
    gg_weights w = random_weights(&rng, 0.03);
    play(&w, 5, &s);
    for (size_t i = 0; i + 1 < s.count; i++) {
        double sum = 0;
        if (s.sampled[i] == 0 || s.logprobs[i] == 0)
            continue;
        memset(wanted, 0, sizeof wanted);
        memcpy(target, s.ids + 1, i * sizeof *target);
        wanted[i] = 1;
        for (int32_t id = 0; id < gg_policy_vocabulary(policy); id++) {
            target[i] = id;
            assert_int_equal(
                gg_policy_logprobs(policy, &w, SCALE, s.ids, target, i + 1, wanted, out, NULL),
                GG_OK);
            sum += exp(out[i]);
        }
        assert_true(fabs(sum - 1) <= NEAR);
    }
    free(w.adapter);
}

/* Untrained, every value of every readable argument is called, and nothing else. */
static void test_all_values_are_tried(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "{\"to\":\"up\",\"by\":-1,\"fast\":false}", "{\"to\":7,\"by\":12,\"fast\":true}",
        "{\"to\":\"upper \\\"left\\\"\",\"by\":1,\"fast\":true}", "{}"};
    bool seen[sizeof calls / sizeof *calls] = {false};
    gg_buf messages;
    gg_policy_reply reply;
    begin(&messages);
    gg_policy_reply_init(&reply);
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        assert_int_equal(ask(&messages, tools, NULL, 1, seed, &reply, NULL), GG_OK);
        cJSON *arguments = NULL;
        assert_int_equal(
            gg_json_parse(reply.call.arguments, strlen(reply.call.arguments), &arguments, NULL),
            GG_OK);
        assert_null(gg_json_get(arguments, "note"));
        cJSON_Delete(arguments);
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
            seen[i] = seen[i] || strcmp(reply.call.arguments, calls[i]) == 0;
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!seen[i])
            fail_msg("never called: %s", calls[i]);
    gg_policy_reply_free(&reply);
    gg_buf_free(&messages);
}

/* The prompt's tokens are the schemas' text, byte for byte. */
static void test_schemas_stand_in_the_prompt(void **state)
{
    (void)state;
    static const char one[] = ONE("{ \"enum\": [\"x\\u00e9\", 2] }");
    gg_buf messages, text;
    gg_policy_reply reply;
    begin(&messages);
    gg_buf_init(&text, TEXT);
    gg_policy_reply_init(&reply);
    assert_int_equal(ask(&messages, one, NULL, 0, 1, &reply, NULL), GG_OK);
    assert_int_equal(
        gg_policy_detokenize(policy, reply.prompt_ids, reply.prompt_count, &text, NULL), GG_OK);
    assert_string_equal(gg_buf_cstr(&text),
                        "<|low|><|tools|>go<|arguments|>{\"properties\":{\"a\":{ \"enum\": "
                        "[\"x\\u00e9\", 2] }},\"required\":[\"a\"]}<|end|><|user|>Play.<|end|>"
                        "<|assistant|>");
    gg_policy_reply_free(&reply);
    gg_buf_free(&text);
    gg_buf_free(&messages);
}

static void test_what_it_cannot_play(void **state)
{
    (void)state;
    static const struct {
        const char *tools, *says;
    } cases[] = {
        {ONE("{\"type\":\"string\"}"), "the tool go: its argument a is neither an enum"},
        {ONE("{\"type\":\"integer\"}"), "without minimum and maximum"},
        {ONE("{\"type\":\"integer\",\"minimum\":0}"), "without minimum and maximum"},
        {ONE("{\"type\":\"integer\",\"minimum\":3,\"maximum\":2}"), "minimum above its maximum"},
        {ONE("{\"type\":\"integer\",\"minimum\":0,\"maximum\":128}"), "too many values"},
        {ONE("{\"type\":\"integer\",\"minimum\":-9007199254740991,\"maximum\":9007199254740991}"),
         "too many values"},
        {ONE("{\"enum\":[]}"), "an empty enum"},
        {ONE("{\"enum\":[[1]]}"), "other than texts"},
        {ONE("{\"type\":\"array\"}"), "neither an enum"},
        {ONE("3"), "neither an enum"},
        {"[" FUNCTION("go", "{\"required\":[\"b\"]}") "]", "b is required but not described"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gg_buf messages;
        gg_policy_reply reply;
        gg_error error = {0};
        begin(&messages);
        gg_policy_reply_init(&reply);
        assert_int_equal(ask(&messages, cases[i].tools, NULL, 1, 1, &reply, &error), GG_E_ARGUMENT);
        if (!strstr(error.text, cases[i].says))
            fail_msg("\"%s\" does not say \"%s\"", error.text, cases[i].says);
        gg_policy_reply_free(&reply);
        gg_buf_free(&messages);
    }
}

/* Ids in any order are read without harm. */
static void test_senseless_ids(void **state)
{
    (void)state;
    int32_t ids[200];
    double wanted[200], out[200], gradient[512] = {0};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        gg_rng rng;
        gg_rng_seed(&rng, seed);
        for (size_t i = 0; i < 200; i++) {
            ids[i] = gg_rng_below(&rng, 3) ? (int32_t)(GG_TOKEN_BYTES + gg_rng_below(&rng, 13))
                                           : (int32_t)gg_rng_below(&rng, GG_TOKEN_BYTES);
            wanted[i] = 1;
        }
        gg_status status =
            gg_policy_logprobs(policy, NULL, SCALE, ids, ids + 1, 199, wanted, out, NULL);
        assert_true(status == GG_OK || status == GG_E_ARGUMENT || status == GG_E_FORMAT);
        gg_policy_gradient(policy, NULL, SCALE, ids, ids + 1, 199, wanted, gradient, NULL);
        for (size_t k = 0; k < 512; k++)
            assert_true(isfinite(gradient[k]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plays_are_one_sequence),
        cmocka_unit_test(test_gradient_by_differences),
        cmocka_unit_test(test_next_token_sums_to_one),
        cmocka_unit_test(test_all_values_are_tried),
        cmocka_unit_test(test_schemas_stand_in_the_prompt),
        cmocka_unit_test(test_what_it_cannot_play),
        cmocka_unit_test(test_senseless_ids),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
