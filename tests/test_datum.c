/* Training sequences: the worked example of two plays by hand, forks, bad records, the wire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>

#include "core/rng.h"
#include "rl/datum.h"
#include "rl/loss.h"

#define MOST  12
#define TURNS 3

typedef struct turn {
    int64_t from;
    int32_t prompt[MOST], ids[MOST];
    size_t prompts, count;
    double logprobs[MOST];
    bool none; /* no logprobs */
} turn;

typedef struct want {
    size_t n;
    int32_t input[MOST], target[MOST];
    double weights[MOST], logprobs[MOST], advantages[MOST];
} want;

typedef struct datum_case {
    const char *name;
    turn turns[TURNS];
    size_t turn_count;
    double advantage[TURNS];
    want want[TURNS];
    size_t want_count;
    const char *error; /* part of the sentence; then no datum */
} datum_case;

static const datum_case cases[] = {
    /* Prompt 101 102 103; samples 7 8, tool result 201 202, samples 9 2; advantage +1. The table of
     * the API's guide pads the last target; here input and targets are one shorter. */
    {"two turns",
     {{0, {101, 102, 103}, {7, 8}, 3, 2, {-0.5, -0.25}, false},
      {5, {201, 202}, {9, 2}, 2, 2, {-0.75, -0.125}, false}},
     2,
     {1, 1},
     {{8,
       {101, 102, 103, 7, 8, 201, 202, 9},
       {102, 103, 7, 8, 201, 202, 9, 2},
       {0, 0, 1, 1, 0, 0, 1, 1},
       {0, 0, -0.5, -0.25, 0, 0, -0.75, -0.125},
       {0, 0, 1, 1, 0, 0, 1, 1}}},
     1,
     NULL},
    {"one turn",
     {{0, {101, 102, 103}, {7, 5, 2}, 3, 3, {-0.5, -1.5, -0.25}, false}},
     1,
     {-1},
     {{5,
       {101, 102, 103, 7, 5},
       {102, 103, 7, 5, 2},
       {0, 0, 1, 1, 1},
       {0, 0, -0.5, -1.5, -0.25},
       {0, 0, -1, -1, -1}}},
     1,
     NULL},
    {"an advantage a turn",
     {{0, {1}, {7}, 1, 1, {-1}, false}, {2, {3}, {9}, 1, 1, {-2}, false}},
     2,
     {0.5, -2},
     {{3, {1, 7, 3}, {7, 3, 9}, {1, 0, 1}, {-1, 0, -2}, {0.5, 0, -2}}},
     1,
     NULL},
    /* The second prompt does not begin with the first sequence: a new datum, whole. */
    {"split at the fork",
     {{0, {1, 2}, {7, 8}, 2, 2, {-1, -2}, false},
      {0, {1, 2, 8, 4}, {9}, 4, 1, {-3}, false},
      {5, {5}, {6}, 1, 1, {-4}, false}},
     3,
     {1, 2, 3},
     {{3, {1, 2, 7}, {2, 7, 8}, {0, 1, 1}, {0, -1, -2}, {0, 1, 1}},
      {6,
       {1, 2, 8, 4, 9, 5},
       {2, 8, 4, 9, 5, 6},
       {0, 0, 0, 1, 0, 1},
       {0, 0, 0, -3, 0, -4},
       {0, 0, 0, 2, 0, 3}}},
     2,
     NULL},
    {"ends at the last sample",
     {{0, {1}, {7}, 1, 1, {-1}, false}, {2, {3, 4, 5}, {0}, 3, 0, {0}, false}},
     2,
     {1, 1},
     {{1, {1}, {7}, {1}, {-1}, {1}}},
     1,
     NULL},
    {"nothing sampled", {{0, {1, 2}, {0}, 2, 0, {0}, false}}, 1, {1}, {{0}}, 0, NULL},
    {"no turn", {{0}}, 0, {0}, {{0}}, 0, NULL},
    {"a gap",
     {{0, {1}, {7}, 1, 1, {-1}, false}, {3, {3}, {9}, 1, 1, {-2}, false}},
     2,
     {1, 1},
     {{0}},
     0,
     "episode s0-g0-0, turn 1: its prompt does not start where the sequence ends"},
    {"no prompt",
     {{0, {0}, {7}, 0, 1, {-1}, false}},
     1,
     {1},
     {{0}},
     0,
     "begins with a sampled token"},
    {"logprobs for some",
     {{0, {1}, {7}, 1, 1, {-1}, false}, {2, {3}, {9}, 1, 1, {-2}, true}},
     2,
     {1, 1},
     {{0}},
     0,
     "some have none"},
};

/* An episode on the stack that points into the table. */
static gg_episode episode_of(const datum_case *c, gg_turn_tokens *tokens)
{
    for (size_t t = 0; t < c->turn_count; t++) {
        const turn *from = &c->turns[t];
        tokens[t] = (gg_turn_tokens){.prompt_from = from->from,
                                     .prompt_ids = from->prompt,
                                     .prompt_count = from->prompts,
                                     .ids = from->ids,
                                     .logprobs = from->none ? NULL : from->logprobs,
                                     .count = from->count};
    }
    gg_episode e = {.id = "s0-g0-0", .turn_count = c->turn_count, .tokens = tokens};
    e.policy.weight_version_first = 4;
    return e;
}

static void same_array(const char *name, const double *have, const double *wanted, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (have[i] != wanted[i])
            fail_msg("%s: place %zu: %g, want %g", name, i, have[i], wanted[i]);
}

static void same(const char *name, const gg_datum *d, const want *w)
{
    assert_int_equal(d->n, w->n);
    assert_memory_equal(d->input, w->input, w->n * sizeof *d->input);
    assert_memory_equal(d->target, w->target, w->n * sizeof *d->target);
    same_array(name, d->weights, w->weights, w->n);
    same_array(name, d->logprobs, w->logprobs, w->n);
    same_array(name, d->advantages, w->advantages, w->n);
}

static void table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const datum_case *c = &cases[i];
        gg_turn_tokens tokens[TURNS];
        gg_episode e = episode_of(c, tokens);
        gg_datums all = {0};
        gg_error error = {0};
        gg_status status = gg_datums_add(&all, &e, c->advantage, &error);
        assert_int_equal(status, c->error ? GG_E_FORMAT : GG_OK);
        if (c->error && !strstr(error.text, c->error))
            fail_msg("%s: %s", c->name, error.text);
        if (all.count != c->want_count)
            fail_msg("%s: %zu datums, want %zu", c->name, all.count, c->want_count);
        for (size_t k = 0; k < all.count; k++) {
            same(c->name, &all.items[k], &c->want[k]);
            assert_int_equal(all.items[k].weight_version, 4);
            assert_int_equal(gg_datum_tensors(&all.items[k]), 15);
            assert_int_equal(gg_datum_estimate(&all.items[k]), 50 * c->want[k].n);
        }
        gg_datums_free(&all);
    }
}

static void without_logprobs_it_fits_cross_entropy_only(void **state)
{
    (void)state;
    const datum_case c = {"", {{0, {1}, {7}, 1, 1, {0}, true}}, 1, {0}, {{0}}, 1, NULL};
    gg_turn_tokens tokens[TURNS];
    gg_episode e = episode_of(&c, tokens);
    gg_datums all = {0};
    gg_error error;
    gg_buf text;
    assert_int_equal(gg_datums_add(&all, &e, NULL, &error), GG_OK);
    unsigned have = gg_datum_tensors(&all.items[0]);
    assert_int_equal(have, gg_loss_tensors(GG_LOSS_CROSS_ENTROPY));
    assert_int_equal(gg_datum_estimate(&all.items[0]), 30);
    gg_buf_init(&text, 1000);
    gg_datum_write(&all.items[0], &text);
    assert_string_equal(text.data,
                        "{\"modelInput\":{\"chunks\":[{\"tokens\":[1],\"type\":\"encoded_text\"}]},"
                        "\"lossFnInputs\":{\"target_tokens\":{\"data\":[7],\"dtype\":\"int64\","
                        "\"shape\":[1]},\"weights\":{\"data\":[1],\"dtype\":\"float32\","
                        "\"shape\":[1]}}}");
    gg_buf_free(&text);
    gg_datums_free(&all);
}

/* Random datums come back from the wire bit for bit. */
static void the_wire_keeps_every_bit(void **state)
{
    (void)state;
    const uint64_t seed = 7;
    gg_rng rng;
    gg_buf text;
    printf("seed %llu\n", (unsigned long long)seed);
    gg_rng_seed(&rng, seed);
    gg_buf_init(&text, 1 << 20);
    for (int round = 0; round < 50; round++) {
        int32_t ids[40];
        double logprobs[40];
        for (int i = 0; i < 40; i++) {
            ids[i] = (int32_t)gg_rng_below(&rng, 200000);
            logprobs[i] = -gg_rng_unit(&rng) * exp(20 * gg_rng_unit(&rng) - 15);
        }
        gg_turn_tokens tokens = {.prompt_ids = ids,
                                 .prompt_count = 10,
                                 .ids = ids + 10,
                                 .logprobs = logprobs,
                                 .count = 30};
        gg_episode e = {.id = "x", .turn_count = 1, .tokens = &tokens};
        double advantage = gg_rng_normal(&rng);
        gg_datums all = {0};
        gg_datum back;
        gg_error error;
        assert_int_equal(gg_datums_add(&all, &e, &advantage, &error), GG_OK);
        gg_buf_reset(&text);
        gg_datum_write(&all.items[0], &text);
        gg_json_reader r = gg_json_reader_make(text.data, text.len);
        assert_int_equal(gg_datum_read(&r, &back, &error), GG_OK);
        assert_true(gg_read_end(&r));
        assert_null(back.fault);
        assert_int_equal(back.n, 39);
        assert_memory_equal(back.input, all.items[0].input, 39 * 4);
        assert_memory_equal(back.target, all.items[0].target, 39 * 4);
        assert_memory_equal(back.weights, all.items[0].weights, 39 * 8);
        assert_memory_equal(back.logprobs, all.items[0].logprobs, 39 * 8);
        assert_memory_equal(back.advantages, all.items[0].advantages, 39 * 8);
        gg_datum_free(&back);
        gg_datums_free(&all);
    }
    gg_buf_free(&text);
}

#define INPUT  "\"modelInput\":{\"chunks\":[{\"tokens\":[1,2],\"type\":\"encoded_text\"}]}"
#define TARGET "\"target_tokens\":{\"data\":[2,3],\"dtype\":\"int64\"}"

static const struct {
    const char *text;
    const char *error; /* NULL = read */
    const char *fault; /* NULL = none */
    unsigned tensors;
    size_t n;
} wire[] = {
    {"{" INPUT ",\"lossFnInputs\":{}}", NULL, NULL, 0, 2},
    {"{" INPUT ",\"lossFnInputs\":{" TARGET "}}", NULL, NULL, 1, 2},
    {"{\"lossFnInputs\":{" TARGET "}," INPUT "}", NULL, NULL, 1, 2},
    {"{\"modelInput\":{\"chunks\":[{\"type\":\"encoded_text\",\"tokens\":[1]},{\"tokens\":[2,3],"
     "\"type\":\"encoded_text\"}]},\"lossFnInputs\":{\"weights\":{\"data\":[0,1,0.5],"
     "\"dtype\":\"float32\",\"shape\":[3]}}}",
     NULL, NULL, 2, 3},
    {"{" INPUT ",\"lossFnInputs\":{" TARGET
     ",\"ref_log_prob\":{\"data\":[0],\"dtype\":\"float32\"},"
     "\"temperature\":{\"data\":1.0,\"dtype\":\"float32\"}}}",
     NULL, NULL, 1, 2},
    {"{" INPUT ",\"lossFnInputs\":{\"weights\":{\"data\":[1],\"dtype\":\"float32\"}}}", NULL,
     "weights has another length", 2, 2},
    {"{" INPUT ",\"lossFnInputs\":{\"logprobs\":{\"data\":[],\"dtype\":\"float32\"}}}", NULL,
     "logprobs has another length", 4, 2},
    {"{" INPUT ",\"lossFnInputs\":{\"advantages\":{\"data\":[1,null],\"dtype\":\"float32\"}}}",
     NULL, "advantages holds something that is no number", 8, 2},
    {"{" INPUT ",\"lossFnInputs\":{\"weights\":{\"data\":[1,1],\"dtype\":\"float32\",\"shape\":[2,"
     "2]}}}",
     NULL, "shape does not fit", 2, 2},
    {"{" INPUT ",\"lossFnInputs\":{\"mask\":{\"data\":[1,1],\"dtype\":\"float32\"}}}",
     "no key \"mask\"", NULL, 0, 0},
    {"{" INPUT ",\"lossFnInputs\":{\"weights\":{\"data\":[1,1],\"dtype\":\"float64\"}}}", "dtype",
     NULL, 0, 0},
    {"{" INPUT ",\"lossFnInputs\":{\"weights\":{\"data\":[1,1]}}}", "needs data and dtype", NULL, 0,
     0},
    {"{" INPUT ",\"lossFnInputs\":{\"weights\":{\"data\":[NaN],\"dtype\":\"float32\"}}}", "weights",
     NULL, 0, 0},
    {"{" INPUT ",\"lossFnInputs\":{\"weights\":{\"data\":\"AAAA\",\"dtype\":\"float32\"}}}",
     "weights", NULL, 0, 0},
    {"{" INPUT ",\"lossFnInputs\":{" TARGET "," TARGET "}}", "target_tokens must be one", NULL, 0,
     0},
    {"{" INPUT "}", "needs modelInput and lossFnInputs", NULL, 0, 0},
    {"{\"lossFnInputs\":{}}", "needs modelInput", NULL, 0, 0},
    {"{\"modelInput\":{\"chunks\":[]},\"lossFnInputs\":{}}", "at least one chunk", NULL, 0, 0},
    {"{\"modelInput\":{\"chunks\":[{\"tokens\":[],\"type\":\"encoded_text\"}]},\"lossFnInputs\":{}"
     "}",
     "at least one token", NULL, 0, 0},
    {"{\"modelInput\":{\"chunks\":[{\"tokens\":[1],\"type\":\"image\"}]},\"lossFnInputs\":{}}",
     "encoded_text", NULL, 0, 0},
    {"{\"modelInput\":{\"chunks\":[{\"tokens\":[-1],\"type\":\"encoded_text\"}]},\"lossFnInputs\":{"
     "}"
     "}",
     "array of token ids", NULL, 0, 0},
    {"{\"modelInput\":{\"chunks\":[{\"tokens\":[1.5],\"type\":\"encoded_text\"}]},\"lossFnInputs\":"
     "{"
     "}}",
     "array of token ids", NULL, 0, 0},
    {"{" INPUT ",\"lossFnInputs\":{},\"more\":1}", "no other", NULL, 0, 0},
    {"[]", "must be an object", NULL, 0, 0},
    {"{" INPUT ",\"lossFnInputs\":{}", "valid JSON", NULL, 0, 0},
};

static void reads_what_is_a_datum_and_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wire / sizeof *wire; i++) {
        gg_datum d;
        gg_error error = {0};
        gg_json_reader r = gg_json_reader_make(wire[i].text, strlen(wire[i].text));
        gg_status status = gg_datum_read(&r, &d, &error);
        if (status != (wire[i].error ? GG_E_FORMAT : GG_OK) ||
            (wire[i].error && !strstr(error.text, wire[i].error)))
            fail_msg("row %zu: %s", i, error.text);
        assert_int_equal(d.n, wire[i].n);
        assert_int_equal(gg_datum_tensors(&d), wire[i].tensors);
        assert_int_equal(d.fault != NULL, wire[i].fault != NULL);
        if (d.fault && !strstr(d.fault, wire[i].fault))
            fail_msg("row %zu: %s", i, d.fault);
        gg_datum_free(&d);
    }
}

/* Every prefix of a good datum is refused and leaves nothing behind. */
static void a_cut_datum_is_refused(void **state)
{
    (void)state;
    const char *text = wire[3].text;
    for (size_t len = 0; len < strlen(text); len++) {
        gg_datum d;
        gg_error error;
        gg_json_reader r = gg_json_reader_make(text, len);
        assert_int_equal(gg_datum_read(&r, &d, &error), GG_E_FORMAT);
        assert_null(d.input);
        assert_null(d.weights);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(without_logprobs_it_fits_cross_entropy_only),
        cmocka_unit_test(the_wire_keeps_every_bit),
        cmocka_unit_test(reads_what_is_a_datum_and_nothing_else),
        cmocka_unit_test(a_cut_datum_is_refused),
    };
    return cmocka_run_group_tests_name("datum", tests, NULL, NULL);
}
