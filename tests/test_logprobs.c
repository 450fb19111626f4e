/* The embedded policy as a token model: log-probabilities, gradients, raw sampling. */
#include "policy/letters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/rng.h"
#include "word_play.h"

#define SEEDS   100
#define NEAR    1e-12
#define IDS_MAX 8192

static gg_policy *policy;
static gg_game *game;
static gg_words *words;

static int open_all(void **state)
{
    (void)state;
    gg_error error = {0};
    if (gg_policy_open("letters", NULL, &policy, &error) != GG_OK ||
        gg_game_open("guess", NULL, &game, &error) != GG_OK ||
        gg_words_load(NULL, NULL, 5, &words, &error) != GG_OK) {
        print_error("%s\n", error.text);
        return -1;
    }
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    gg_policy_close(policy);
    gg_game_close(game);
    gg_words_free(words);
    return 0;
}

static const char *random_answer(gg_rng *rng)
{
    return gg_words_answer(words, gg_rng_below(rng, gg_words_answer_count(words)));
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

/* A whole game as one sequence. */
typedef struct sequence {
    int32_t ids[IDS_MAX];
    bool sampled[IDS_MAX];
    double logprobs[IDS_MAX];
    size_t count;
    int turns;
    bool solved, prefix_kept;
} sequence;

static void take_reply(sequence *s, const gg_policy_reply *reply)
{
    assert_true(reply->prompt_count + reply->count <= IDS_MAX);
    s->prefix_kept = s->prefix_kept && reply->prompt_count >= s->count &&
                     memcmp(s->ids, reply->prompt_ids, s->count * sizeof *s->ids) == 0;
    for (size_t i = s->count; i < reply->prompt_count; i++) {
        s->ids[i] = reply->prompt_ids[i];
        s->sampled[i] = false;
        s->logprobs[i] = 0;
    }
    s->count = reply->prompt_count;
    for (size_t i = 0; i < reply->count; i++, s->count++) {
        s->ids[s->count] = reply->ids[i];
        s->sampled[s->count] = true;
        s->logprobs[s->count] = reply->logprobs ? reply->logprobs[i] : 0;
    }
}

static void play_game(const gg_policy *player, const gg_weights *weights, double scale,
                      gg_effort effort, const char *hidden, uint64_t seed, sequence *out)
{
    word_play p;
    gg_policy_reply reply;
    gg_policy_reply_init(&reply);
    memset(out, 0, sizeof *out);
    out->prefix_kept = true;
    assert_true(word_play_start(&p, game, hidden));
    while (!p.done && p.turns < 20) {
        gg_policy_request request = word_play_request(&p, effort, seed * 100 + (uint64_t)p.turns);
        gg_error error = {0};
        if (gg_policy_reply_to(player, weights, scale, &request, &reply, &error) != GG_OK)
            fail_msg("%s", error.text);
        assert_string_equal(reply.finish_reason, "tool_calls");
        take_reply(out, &reply);
        assert_true(word_play_answer(&p, &reply, true));
    }
    out->turns = p.turns;
    out->solved = p.solved;
    word_play_end(&p);
    gg_policy_reply_free(&reply);
}

/* Prompts go on from earlier prompts and replies, and what a reply says of its tokens is what the
 * token model says of them afterwards. */
static void test_sampled_logprobs_come_back(void **state)
{
    (void)state;
    static sequence s;
    static double wanted[IDS_MAX], out[IDS_MAX];
    for (uint64_t seed = 1; seed <= 60; seed++) {
        gg_rng rng;
        gg_rng_seed(&rng, seed);
        gg_weights w = random_weights(&rng, 0.02);
        gg_effort effort = (gg_effort)(seed % 3);
        play_game(policy, &w, 24, effort, random_answer(&rng), seed, &s);
        if (!s.prefix_kept)
            fail_msg("seed %llu: a prompt does not begin with the one before",
                     (unsigned long long)seed);
        size_t n = s.count - 1;
        for (size_t i = 0; i < n; i++)
            wanted[i] = s.sampled[i + 1];
        assert_int_equal(gg_policy_logprobs(policy, &w, 24, s.ids, s.ids + 1, n, wanted, out, NULL),
                         GG_OK);
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            sum += out[i];
            if (!(fabs(out[i] - s.logprobs[i + 1]) <= NEAR))
                fail_msg("seed %llu, token %zu: %.17g sampled, %.17g recomputed",
                         (unsigned long long)seed, i + 1, s.logprobs[i + 1], out[i]);
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
        gg_policy_logprobs(policy, w, 24, s->ids, s->ids + 1, s->count - 1, upstream, out, NULL),
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
    for (uint64_t seed = 1; seed <= 3; seed++) {
        gg_rng rng;
        gg_rng_seed(&rng, seed);
        gg_weights w = random_weights(&rng, 0.02);
        double *gradient = calloc(w.n, sizeof *gradient);
        assert_non_null(gradient);
        play_game(policy, &w, 24, (gg_effort)(seed % 3), random_answer(&rng), seed, &s);
        for (size_t i = 0; i + 1 < s.count; i++)
            upstream[i] = s.sampled[i + 1] ? gg_rng_normal(&rng) : 0;
        assert_int_equal(gg_policy_gradient(policy, &w, 24, s.ids, s.ids + 1, s.count - 1, upstream,
                                            gradient, NULL),
                         GG_OK);
        for (size_t k = 0; k < w.n; k++) {
            double at = w.adapter[k];
            w.adapter[k] = at + step;
            double up = weighted_logprob(&s, &w, upstream);
            w.adapter[k] = at - step;
            double down = weighted_logprob(&s, &w, upstream);
            w.adapter[k] = at;
            double slope = (up - down) / (2 * step);
            if (!(fabs(slope - gradient[k]) <= 1e-4 * (1 + fabs(slope))))
                fail_msg("seed %llu, weight %zu: gradient %.10g, difference %.10g",
                         (unsigned long long)seed, k, gradient[k], slope);
        }
        free(gradient);
        free(w.adapter);
    }
}

static void test_gradient_adds_up(void **state)
{
    (void)state;
    static sequence s;
    static double upstream[IDS_MAX];
    size_t n = gg_policy_weight_count(policy);
    double *once = calloc(n, sizeof *once), *twice = calloc(n, sizeof *twice);
    play_game(policy, NULL, 24, GG_EFFORT_LOW, "crane", 7, &s);
    for (size_t i = 0; i + 1 < s.count; i++)
        upstream[i] = s.sampled[i + 1];
    for (int round = 0; round < 3; round++)
        assert_int_equal(gg_policy_gradient(policy, NULL, 24, s.ids, s.ids + 1, s.count - 1,
                                            upstream, round ? twice : once, NULL),
                         GG_OK);
    for (size_t k = 0; k < n; k++)
        assert_true(fabs(twice[k] - 2 * once[k]) <= NEAR * (1 + fabs(twice[k])));
    free(once);
    free(twice);
}

static void test_seed_decides(void **state)
{
    (void)state;
    static sequence a, b;
    bool differ = false;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        play_game(policy, NULL, 24, GG_EFFORT_MEDIUM, "crane", seed, &a);
        play_game(policy, NULL, 24, GG_EFFORT_MEDIUM, "crane", seed, &b);
        assert_int_equal(a.count, b.count);
        assert_memory_equal(a.ids, b.ids, a.count * sizeof *a.ids);
        play_game(policy, NULL, 24, GG_EFFORT_MEDIUM, "crane", seed + 1, &b);
        differ = differ || a.count != b.count || memcmp(a.ids, b.ids, a.count * sizeof *a.ids) != 0;
    }
    assert_true(differ);
}

/* The ids of a call with a word, at an effort, as another policy may have written it. */
static size_t foreign_call(gg_effort effort, const char *word, int32_t *ids)
{
    int32_t *text;
    size_t count, n = 0;
    ids[n++] = GG_TOKEN_LOW + (int32_t)effort;
    ids[n++] = GG_TOKEN_TOOLS;
    gg_policy_tokenize(policy, "guess_word", 10, &text, &count, NULL);
    int32_t name = ids[n++] = text[0];
    free(text);
    ids[n++] = GG_TOKEN_END;
    ids[n++] = GG_TOKEN_ASSISTANT;
    ids[n++] = GG_TOKEN_CALL;
    ids[n++] = name;
    ids[n++] = GG_TOKEN_ARGUMENTS;
    gg_policy_tokenize(policy, "{\"guess\":\"", 10, &text, &count, NULL);
    ids[n++] = text[0];
    free(text);
    for (size_t i = 0; word[i]; i++)
        ids[n++] = word[i];
    gg_policy_tokenize(policy, "\"}", 2, &text, &count, NULL);
    ids[n++] = text[0];
    free(text);
    ids[n++] = GG_TOKEN_END;
    return n;
}

/* Only what letters cannot write is minus infinity: the tokens around it still count. */
static void test_tokens_it_cannot_write(void **state)
{
    (void)state;
    static const struct {
        gg_effort effort;
        const char *word;
        const char *targets; /* from the call token on: 0 fixed, L a letter, - impossible */
    } cases[] = {
        {GG_EFFORT_LOW, "stare", "0000LLLLL00"},
        {GG_EFFORT_LOW, "stxre", "0000LL---00"},
        {GG_EFFORT_LOW, "xzzzz", "0000-----00"},
        {GG_EFFORT_MEDIUM, "stare", "-000LLLLL00"}, /* it would have thought first */
        {GG_EFFORT_LOW, "sta.e", "0000LLL----"},    /* no letter: off the path to the end */
        {GG_EFFORT_LOW, "stares", "0000LLLLL---"},  /* too long */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t ids[64];
        double wanted[64], out[64], gradient[GG_LETTER_WEIGHTS_MAX] = {0};
        size_t n = foreign_call(cases[i].effort, cases[i].word, ids) - 1;
        for (size_t k = 0; k < n; k++)
            wanted[k] = 1;
        assert_int_equal(gg_policy_logprobs(policy, NULL, 0, ids, ids + 1, n, wanted, out, NULL),
                         GG_OK);
        for (size_t k = 0; k < 4; k++)
            assert_true(out[k] == 0); /* outside a reply */
        for (size_t k = 4; k < n; k++) {
            char kind = out[k] == 0 ? '0' : isinf(out[k]) ? '-' : 'L';
            char want = cases[i].targets[k - 4];
            if (kind != want && !(want == 'L' && kind == '0')) /* a letter without a choice */
                fail_msg("%s, target %zu: %g, expected %c", cases[i].word, k - 4, out[k], want);
        }
        assert_int_equal(
            gg_policy_gradient(policy, NULL, 24, ids, ids + 1, n, wanted, gradient, NULL), GG_OK);
        for (size_t k = 0; k < gg_policy_weight_count(policy); k++)
            assert_true(isfinite(gradient[k]));
    }
}

/* Random ids: every log-probability is 0, finite and negative, or minus infinity. */
static void test_any_ids(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        gg_rng rng;
        int32_t ids[COUNT + 1];
        double wanted[COUNT], out[COUNT];
        gg_policy_reply reply;
        gg_rng_seed(&rng, seed);
        for (size_t i = 0; i <= COUNT; i++) { /* special tokens and letters more often */
            static const uint64_t from[] = {0, GG_TOKEN_LOW, 'a', GG_TOKEN_PHRASES};
            uint64_t size[] = {(uint64_t)gg_policy_vocabulary(policy),
                               GG_TOKEN_PHRASES - GG_TOKEN_LOW, 26, 40};
            uint64_t kind = gg_rng_below(&rng, 4);
            ids[i] = (int32_t)(from[kind] + gg_rng_below(&rng, size[kind]));
        }
        for (size_t i = 0; i < COUNT; i++)
            wanted[i] = 1;
        assert_int_equal(
            gg_policy_logprobs(policy, NULL, 0, ids, ids + 1, COUNT, wanted, out, NULL), GG_OK);
        for (size_t i = 0; i < COUNT; i++)
            if (!(out[i] <= 0))
                fail_msg("seed %llu, token %zu: %g", (unsigned long long)seed, i, out[i]);
        gg_policy_reply_init(&reply);
        assert_int_equal(
            gg_policy_sample(policy, NULL, 0, ids, COUNT, 1, 1, seed, 512, &reply, NULL), GG_OK);
        assert_string_equal(reply.finish_reason, "stop");
        assert_int_equal(reply.ids[reply.count - 1], GG_TOKEN_END);
        gg_policy_reply_free(&reply);
    }
}

static void test_ids_outside_the_vocabulary(void **state)
{
    (void)state;
    const int32_t bad[] = {GG_TOKEN_LOW, gg_policy_vocabulary(policy)}, target[] = {1, 2};
    double wanted[] = {1, 1}, out[2];
    gg_error error = {0};
    gg_policy_reply reply;
    gg_policy_reply_init(&reply);
    assert_int_equal(gg_policy_logprobs(policy, NULL, 0, bad, target, 2, wanted, out, &error),
                     GG_E_ARGUMENT);
    assert_non_null(strstr(error.text, "token 1"));
    assert_int_equal(gg_policy_sample(policy, NULL, 0, bad, 2, 1, 1, 0, 9, &reply, &error),
                     GG_E_ARGUMENT);
    gg_policy_reply_free(&reply);
}

/* Nothing is said of places that are not wanted, after the last wanted one either. */
static void test_only_wanted_places(void **state)
{
    (void)state;
    int32_t ids[64];
    double wanted[64] = {0}, out[64];
    size_t n = foreign_call(GG_EFFORT_LOW, "stare", ids) - 1;
    for (size_t k = 0; k < n; k++)
        out[k] = 7;
    wanted[8] = 1; /* the first letter */
    assert_int_equal(gg_policy_logprobs(policy, NULL, 0, ids, ids + 1, n, wanted, out, NULL),
                     GG_OK);
    for (size_t k = 0; k < n; k++)
        assert_true(k == 8 ? out[k] < 0 : out[k] == 0);
}

static void test_text_comes_back(void **state)
{
    (void)state;
    static const char text[] = "Guess 1: s=grey {\"guess\":\"stare\"} \xf0\x9f\x8e\xb2";
    int32_t *ids;
    size_t count;
    gg_buf out;
    gg_buf_init(&out, 1000);
    assert_int_equal(gg_policy_tokenize(policy, text, sizeof text - 1, &ids, &count, NULL), GG_OK);
    assert_int_equal(gg_policy_detokenize(policy, ids, count, &out, NULL), GG_OK);
    assert_string_equal(gg_buf_cstr(&out), text);
    gg_buf_free(&out);
    free(ids);
    assert_int_equal(gg_policy_tokenize(policy, "", 0, &ids, &count, NULL), GG_OK);
    assert_non_null(ids);
    assert_int_equal(count, 0);
    free(ids);
}

/* A raw prompt may end inside a reply: the rest is written. */
static void test_sample_goes_on(void **state)
{
    (void)state;
    int32_t ids[64];
    gg_policy_reply reply;
    size_t n = foreign_call(GG_EFFORT_LOW, "stare", ids);
    gg_policy_reply_init(&reply);
    assert_int_equal(gg_policy_sample(policy, NULL, 0, ids, n - 4, 1, 1, 3, 100, &reply, NULL),
                     GG_OK);
    assert_int_equal(reply.count, 4); /* two letters, the call's end, the closing token */
    assert_int_equal(reply.ids[2], ids[n - 2]);
    assert_int_equal(reply.ids[3], GG_TOKEN_END);
    assert_int_equal(gg_policy_sample(policy, NULL, 0, ids, n - 4, 1, 1, 3, 3, &reply, NULL),
                     GG_OK);
    assert_string_equal(reply.finish_reason, "length");
    gg_policy_reply_free(&reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sampled_logprobs_come_back),
        cmocka_unit_test(test_gradient_by_differences),
        cmocka_unit_test(test_gradient_adds_up),
        cmocka_unit_test(test_seed_decides),
        cmocka_unit_test(test_tokens_it_cannot_write),
        cmocka_unit_test(test_any_ids),
        cmocka_unit_test(test_ids_outside_the_vocabulary),
        cmocka_unit_test(test_only_wanted_places),
        cmocka_unit_test(test_text_comes_back),
        cmocka_unit_test(test_sample_goes_on),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
