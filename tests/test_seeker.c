/* The embedded policy that searches: as a token model, and what it reads of a play. */
#include "policy/seeker_choice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/rng.h"
#include "policy/adapter.h"
#include "tests/corpus_make.h"
#include "word_play.h"

#define NEAR    1e-9
#define IDS_MAX 16384
#define TURNS   10

static char folder[FOLDER_PATH], settings[FOLDER_PATH + 32];
static gg_policy *policy;
static gg_game *game;

static const char *const questions[] = {
    "{\"id\":\"one\",\"prompt\":\"Which is defined like this: a sorting algorithm that picks a "
    "pivot?\",\"answer\":[{\"id\":\"a00\",\"grade\":2}],\"kind\":\"single\"}",
    "{\"id\":\"two\",\"prompt\":\"What do both refer to? First: a protocol that keeps loops out. "
    "Second: a unit of data that is routed between machines of a network.\","
    "\"answer\":[{\"id\":\"a01\",\"grade\":2},{\"id\":\"a09\",\"grade\":1}],\"kind\":\"two\"}",
    "{\"id\":\"none\",\"prompt\":\"Zyxwv?\",\"answer\":[{\"id\":\"a02\",\"grade\":1}]}",
};
#define QUESTIONS (sizeof questions / sizeof *questions)

static int open_all(void **state)
{
    (void)state;
    gg_error error = {0};
    folder_make(folder);
    corpus_index(folder);
    snprintf(settings, sizeof settings, "{\"index\":\"%s\"}", folder_path(folder, "index"));
    if (gg_policy_open("seeker", settings, &policy, &error) != GG_OK ||
        gg_game_open("search", settings, &game, &error) != GG_OK) {
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
    folder_remove(folder);
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
    int turns;
    bool done;
} sequence;

static void take_reply(sequence *s, const gg_policy_reply *reply, uint64_t seed)
{
    assert_true(reply->prompt_count + reply->count <= IDS_MAX);
    if (reply->prompt_count < s->count ||
        memcmp(s->ids, reply->prompt_ids, s->count * sizeof *s->ids) != 0)
        fail_msg("seed %llu: a prompt does not begin with the one before and its reply",
                 (unsigned long long)seed);
    for (size_t i = s->count; i < reply->prompt_count; i++)
        s->ids[i] = reply->prompt_ids[i];
    s->count = reply->prompt_count;
    for (size_t i = 0; i < reply->count; i++, s->count++) {
        s->ids[s->count] = reply->ids[i];
        s->sampled[s->count - 1] = 1;
        s->logprobs[s->count - 1] = reply->logprobs[i];
    }
}

static void play(const gg_policy *player, const gg_game *at, const gg_weights *weights,
                 const char *question, uint64_t seed, sequence *s)
{
    word_play p;
    gg_policy_reply reply;
    gg_policy_reply_init(&reply);
    memset(s, 0, sizeof *s);
    assert_true(word_play_start(&p, at, question));
    while (!p.done && p.turns < TURNS) {
        gg_policy_request request =
            word_play_request(&p, (gg_effort)(seed % 3), seed * 100 + (uint64_t)p.turns);
        gg_error error = {0};
        if (gg_policy_reply_to(player, weights, 24, &request, &reply, &error) != GG_OK)
            fail_msg("%s", error.text);
        assert_string_equal(reply.finish_reason, "tool_calls");
        take_reply(s, &reply, seed);
        assert_true(word_play_answer(&p, &reply, true));
    }
    s->turns = p.turns;
    s->done = p.done;
    word_play_end(&p);
    gg_policy_reply_free(&reply);
}

static void check_logprobs(const gg_policy *player, const gg_weights *w, const sequence *s,
                           uint64_t seed)
{
    static double out[IDS_MAX];
    size_t n = s->count - 1;
    double sum = 0;
    assert_int_equal(
        gg_policy_logprobs(player, w, 24, s->ids, s->ids + 1, n, s->sampled, out, NULL), GG_OK);
    for (size_t i = 0; i < n; i++) {
        sum += out[i];
        if (!(fabs(out[i] - s->logprobs[i]) <= NEAR))
            fail_msg("seed %llu, token %zu: %.17g sampled, %.17g recomputed",
                     (unsigned long long)seed, i + 1, s->logprobs[i], out[i]);
    }
    assert_true(sum < -1);
}

/* Prompts go on from earlier prompts and replies, and what a reply says of its tokens is what the
 * token model says of them afterwards. */
static void test_plays_are_one_sequence(void **state)
{
    (void)state;
    static sequence s;
    int done = 0, many = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        gg_rng rng;
        gg_rng_seed(&rng, seed);
        gg_weights w = random_weights(&rng, 0.03);
        play(policy, game, &w, questions[seed % QUESTIONS], seed, &s);
        check_logprobs(policy, &w, &s, seed);
        done += s.done;
        many += s.turns > 2;
        free(w.adapter);
    }
    assert_true(done > 10 && many > 10); /* the plays are of both kinds */
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
    for (uint64_t seed = 1; seed <= 4; seed++) {
        gg_rng rng;
        gg_rng_seed(&rng, seed);
        gg_weights w = random_weights(&rng, 0.02);
        double *gradient = calloc(w.n, sizeof *gradient);
        assert_non_null(gradient);
        play(policy, game, &w, questions[seed % 2], seed, &s);
        for (size_t i = 0; i + 1 < s.count; i++)
            upstream[i] = s.sampled[i] != 0 ? gg_rng_normal(&rng) : 0;
        assert_int_equal(gg_policy_gradient(policy, &w, 24, s.ids, s.ids + 1, s.count - 1, upstream,
                                            gradient, NULL),
                         GG_OK);
        for (size_t k = 0; k < w.n; k++) {
            double at = w.adapter[k];
            w.adapter[k] = at + step;
            double up = weighted_logprob(&s, &w, upstream);
            w.adapter[k] = at - step;
            double down = weighted_logprob(&s, &w, upstream), slope = (up - down) / (2 * step);
            w.adapter[k] = at;
            if (!(fabs(slope - gradient[k]) <= 1e-4 * (1 + fabs(slope))))
                fail_msg("seed %llu, weight %zu: %.9g by differences, %.9g",
                         (unsigned long long)seed, k, slope, gradient[k]);
        }
        free(gradient);
        free(w.adapter);
    }
}

/* At every sampled token the probabilities of all tokens add up to 1. */
static void check_sums(const gg_policy *player, const sequence *s, size_t at)
{
    static double wanted[IDS_MAX], out[IDS_MAX];
    static int32_t target[IDS_MAX];
    double sum = 0;
    memset(wanted, 0, sizeof wanted);
    memcpy(target, s->ids + 1, s->count * sizeof *target);
    wanted[at] = 1;
    for (int32_t id = 0; id < gg_policy_vocabulary(player); id++) {
        target[at] = id;
        assert_int_equal(
            gg_policy_logprobs(player, NULL, 0, s->ids, target, at + 1, wanted, out, NULL), GG_OK);
        sum += exp(out[at]);
    }
    if (!(fabs(sum - 1) <= NEAR))
        fail_msg("token %zu: the probabilities add up to %.12g", at + 1, sum);
}

static const char spelled[] =
    "{\"_id\":\"q\",\"title\":\"Red\",\"text\":\"A colour of roses.\"}\n"
    "{\"_id\":\"q-1\",\"title\":\"Blue\",\"text\":\"A colour of skies.\"}\n"
    "{\"_id\":\"q-1.5\",\"title\":\"Pink\",\"text\":\"A colour of roses, too.\"}\n"
    "{\"_id\":\"r \\u00e9\",\"title\":\"Grey\",\"text\":\"A colour of stones.\"}\n";

/* Ids of several tokens that begin alike: the plays find their ways through them, and at each of
 * their tokens there is a distribution. */
static void test_ids_of_several_tokens(void **state)
{
    (void)state;
    static sequence s;
    gg_policy *other;
    gg_game *place;
    gg_error error = {0};
    char where[FOLDER_PATH], at[FOLDER_PATH + 32];
    folder_make(where);
    folder_write(where, "corpus.jsonl", spelled, strlen(spelled));
    const char *corpus = folder_path(where, "corpus.jsonl");
    char *file = strdup(corpus), *dir = strdup(folder_path(where, "index"));
    const gg_index_plan plan = {
        .corpus = (const char *const *)&file, .corpus_count = 1, .dir = dir};
    gg_index_built built;
    if (gg_index_build(&plan, &built, &error) != GG_OK)
        fail_msg("%s", error.text);
    snprintf(at, sizeof at, "{\"index\":\"%s\"}", dir);
    if (gg_policy_open("seeker", at, &other, &error) != GG_OK ||
        gg_game_open("search", at, &place, &error) != GG_OK)
        fail_msg("%s", error.text);
    int done = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        play(other, place, NULL,
             "{\"id\":\"x\",\"prompt\":\"Which colour of roses or stones?\","
             "\"answer\":[{\"id\":\"q\",\"grade\":1}]}",
             seed, &s);
        check_logprobs(other, NULL, &s, seed);
        done += s.done;
        for (size_t i = 0; seed <= 6 && i + 1 < s.count; i++)
            if (s.sampled[i] != 0)
                check_sums(other, &s, i);
    }
    assert_true(done > 10);
    gg_policy_close(other);
    gg_game_close(place);
    folder_remove(where);
    free(file);
    free(dir);
}

/* Any text comes back, whatever it is made of. */
static void test_tokenizer_is_lossless(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "sorting",       " sorting",    "Sorting", "SORTING", "a00",        " | ",
        "{\"query\":\"", "\",\"k\":5}", " ",       "\n",      "  ",         "s",
        "pivot",         "\xc3\xa9",    "\xff",    "12",      "Question: ", "documents:\n",
        "bm25_search",   "<|end|>",     "\"",
    };
    for (uint64_t seed = 1; seed <= 300; seed++) {
        gg_rng rng;
        gg_buf text, back;
        int32_t *ids;
        size_t count;
        gg_rng_seed(&rng, seed);
        gg_buf_init(&text, 1u << 16);
        gg_buf_init(&back, 1u << 16);
        for (uint64_t n = gg_rng_below(&rng, 30); n > 0; n--) {
            if (gg_rng_below(&rng, 3) == 0)
                gg_buf_char(&text, (char)(1 + gg_rng_below(&rng, 255)));
            else
                gg_buf_str(&text, pieces[gg_rng_below(&rng, sizeof pieces / sizeof *pieces)]);
        }
        const char *bytes = gg_buf_cstr(&text);
        assert_int_equal(gg_policy_tokenize(policy, bytes, text.len, &ids, &count, NULL), GG_OK);
        assert_int_equal(gg_policy_detokenize(policy, ids, count, &back, NULL), GG_OK);
        if (back.len != text.len || memcmp(gg_buf_cstr(&back), bytes, text.len) != 0)
            fail_msg("seed %llu: a text does not come back", (unsigned long long)seed);
        for (size_t i = 0; i < count; i++)
            assert_false(ids[i] >= GG_TOKEN_BYTES && ids[i] < GG_TOKEN_PHRASES);
        free(ids);
        gg_buf_free(&text);
        gg_buf_free(&back);
    }
}

/* Sequences that nobody wrote are read all the same; a log-probability is at most 0. */
static void test_any_ids(void **state)
{
    (void)state;
    enum { COUNT = 600 };
    int32_t ids[COUNT + 1];
    double wanted[COUNT], out[COUNT], gradient[GG_SEEK_WEIGHTS];
    uint64_t vocabulary = (uint64_t)gg_policy_vocabulary(policy);
    for (uint64_t seed = 1; seed <= 200; seed++) {
        gg_rng rng;
        gg_rng_seed(&rng, seed);
        for (int i = 0; i <= COUNT; i++)
            ids[i] = gg_rng_below(&rng, 3) ? GG_TOKEN_BYTES + (int32_t)gg_rng_below(&rng, 40)
                                           : (int32_t)gg_rng_below(&rng, vocabulary);
        for (int i = 0; i < COUNT; i++)
            wanted[i] = 1;
        memset(gradient, 0, sizeof gradient);
        assert_int_equal(
            gg_policy_logprobs(policy, NULL, 0, ids, ids + 1, COUNT, wanted, out, NULL), GG_OK);
        assert_int_equal(
            gg_policy_gradient(policy, NULL, 0, ids, ids + 1, COUNT, wanted, gradient, NULL),
            GG_OK);
        for (int i = 0; i < COUNT; i++)
            assert_true(out[i] <= NEAR);
    }
}

static void test_opening(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *says;
    } cases[] = {
        {NULL, "--env-set index=DIR"},
        {"{\"index\":\"\"}", "--env-set index=DIR"},
        {"{\"index\":\"/nowhere/index\"}", "/nowhere/index"},
        {"{", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gg_policy *p;
        gg_error error = {0};
        assert_int_not_equal(gg_policy_open("seeker", cases[i].settings, &p, &error), GG_OK);
        assert_null(p);
        if (!strstr(error.text, cases[i].says))
            fail_msg("\"%s\" does not say \"%s\"", error.text, cases[i].says);
    }
}

/* An adapter names the corpus, and one of another corpus is refused. */
static void test_adapter_names_its_corpus(void **state)
{
    (void)state;
    gg_adapter adapter, back;
    gg_buf text;
    gg_error error = {0};
    gg_buf_init(&text, 1u << 20);
    assert_int_equal(gg_adapter_new(policy, &adapter, NULL), GG_OK);
    assert_int_equal(adapter.weights.n, GG_SEEK_WEIGHTS);
    assert_int_equal(gg_adapter_write(&adapter, policy, &text, NULL), GG_OK);
    char *digest = strstr(text.data, "\"corpus\":\"");
    assert_non_null(digest);
    assert_int_equal(gg_adapter_parse(text.data, text.len, policy, &back, NULL), GG_OK);
    gg_adapter_free(&back);
    digest += strlen("\"corpus\":\"");
    *digest = *digest == '0' ? '1' : '0';
    assert_int_equal(gg_adapter_parse(text.data, text.len, policy, &back, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "the corpus it was trained with"));
    gg_adapter_free(&adapter);
    gg_buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plays_are_one_sequence),
        cmocka_unit_test(test_gradient_by_differences),
        cmocka_unit_test(test_ids_of_several_tokens),
        cmocka_unit_test(test_tokenizer_is_lossless),
        cmocka_unit_test(test_any_ids),
        cmocka_unit_test(test_opening),
        cmocka_unit_test(test_adapter_names_its_corpus),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
