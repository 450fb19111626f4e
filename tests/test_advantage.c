/* Advantages: figures worked out by hand from the formulas in rl/advantage.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>

#include "core/rng.h"
#include "rl/advantage.h"

#define PLAYS  16
#define TURNS  4
#define GROUPS 3

#define SQRT3 1.7320508075688772 /* sqrt(3): (1 - 1/4) / sqrt(3/16) */
#define INV3  0.5773502691896258 /* 1/sqrt(3): (1/4) / sqrt(3/16) */
#define SQRT2 1.4142135623730951
#define HALF2 0.7071067811865476

typedef struct play {
    double reward;
    size_t tokens, turns; /* turns 0 = 1 */
    const double *by_turn;
    double want[TURNS];
} play;

typedef struct batch_case {
    const char *name;
    gg_advantage method;
    size_t sizes[GROUPS]; /* plays a group; 0 ends */
    play plays[PLAYS];
    bool signal[GROUPS];
} batch_case;

static const double gain_late[] = {0, 1, 0}, gain_first[] = {1, 0}, nothing[] = {0, 0, 0};

static const batch_case cases[] = {
    {"two plays", GG_ADV_GROUP_BASED, {2}, {{.reward = 1, .want = {1}}, {.want = {-1}}}, {true}},
    /* mean 1/4, population variance 3/16 */
    {"one of four",
     GG_ADV_GROUP_BASED,
     {4},
     {{.reward = 1, .want = {SQRT3}}, {.want = {-INV3}}, {.want = {-INV3}}, {.want = {-INV3}}},
     {true}},
    {"one value for all turns",
     GG_ADV_GROUP_BASED,
     {2},
     {{.reward = 3, .turns = 3, .want = {1, 1, 1}}, {.reward = 1, .turns = 2, .want = {-1, -1}}},
     {true}},
    {"group of one",
     GG_ADV_GROUP_BASED,
     {1, 2},
     {{.reward = 1}, {.reward = 1, .want = {1}}, {.want = {-1}}},
     {false, true}},
    {"group of one, rloo", GG_ADV_RLOO, {1}, {{.reward = 0.7}}, {false}},
    {"group of one, opo", GG_ADV_OPO, {1}, {{.reward = 0.7, .tokens = 3}}, {false}},
    {"group of one, passk", GG_ADV_GRPO_PASSK, {1}, {{.reward = 0.7}}, {false}},
    /* reward minus the mean of the three others */
    {"rloo",
     GG_ADV_RLOO,
     {4},
     {{.reward = 1, .want = {1}}, {.want = {-1.0 / 3}}, {.want = {-1.0 / 3}}, {.want = {-1.0 / 3}}},
     {true}},
    /* mean 3/8, variance 11/64: (1 - 1/2) x 8 / sqrt(11) */
    {"passk: the best play alone",
     GG_ADV_GRPO_PASSK,
     {4},
     {{.reward = 0.5}, {.reward = 0}, {.reward = 1, .want = {1.2060453783110545}}, {.reward = 0}},
     {true}},
    {"passk: two best",
     GG_ADV_GRPO_PASSK,
     {3},
     {{.reward = 1}, {.reward = 1}, {.reward = 0}},
     {false}},
    /* turn 0: 1 1 0; turn 1: 0 1 0; turn 2: 0 0 of the two that got there */
    {"per turn, mixed lengths",
     GG_ADV_GROUP_BASED_PER_TURN,
     {3},
     {{.reward = 1, .turns = 2, .by_turn = gain_first, .want = {HALF2, -HALF2}},
      {.reward = 1, .turns = 3, .by_turn = gain_late, .want = {HALF2, SQRT2, 0}},
      {.reward = 0, .turns = 3, .by_turn = nothing, .want = {-SQRT2, -HALF2, 0}}},
     {true}},
    {"per turn without rewards by turn",
     GG_ADV_GROUP_BASED_PER_TURN,
     {2},
     {{.reward = 1, .turns = 2, .want = {1, 1}}, {.turns = 3, .want = {-1, -1, 0}}},
     {true}},
    {"monte carlo",
     GG_ADV_MONTE_CARLO,
     {2},
     {{.reward = 1, .turns = 3, .by_turn = gain_late, .want = {1, 1, 0}},
      {.reward = 0.25, .turns = 2, .want = {0.25, 0.25}}},
     {true}},
    /* baseline (10 x 1 + 30 x 0 + 20 x 0.5) / 60 = 1/3 */
    {"opo",
     GG_ADV_OPO,
     {3},
     {{.reward = 1, .tokens = 10, .want = {2.0 / 3}},
      {.reward = 0, .tokens = 30, .want = {-1.0 / 3}},
      {.reward = 0.5, .tokens = 20, .want = {1.0 / 6}}},
     {true}},
    /* 8 plays, 3 with a reward: factor 8/3 */
    {"gpg",
     GG_ADV_GPG,
     {4, 4},
     {{.reward = 1, .want = {2}},
      {.want = {-2.0 / 3}},
      {.want = {-2.0 / 3}},
      {.want = {-2.0 / 3}},
      {.reward = 1, .want = {4.0 / 3}},
      {.reward = 1, .want = {4.0 / 3}},
      {.want = {-4.0 / 3}},
      {.want = {-4.0 / 3}}},
     {true, true}},
    /* over 40 tokens: mean 1/4, variance 3/16; the groups play no part */
    {"reinforce_pp",
     GG_ADV_REINFORCE_PP,
     {1, 1},
     {{.reward = 1, .tokens = 10, .want = {SQRT3}}, {.tokens = 30, .want = {-INV3}}},
     {true, true}},
    {"reinforce_pp, batch of equal rewards",
     GG_ADV_REINFORCE_PP,
     {2},
     {{.reward = 0.1, .tokens = 10}, {.reward = 0.1, .tokens = 30}},
     {false}},
    /* +-1/2 around the group's mean; over 40 tokens: mean -1/4, variance 3/16; group 2 is left out
     */
    {"reinforce_pp_baseline",
     GG_ADV_REINFORCE_PP_BASELINE,
     {2, 2},
     {{.reward = 1, .tokens = 10, .want = {SQRT3}},
      {.tokens = 30, .want = {-INV3}},
      {.reward = 0.1, .tokens = 100},
      {.reward = 0.1, .tokens = 7}},
     {true, false}},
};

typedef struct work {
    gg_play_return plays[PLAYS];
    double values[PLAYS][TURNS];
    double *out[PLAYS];
    size_t first[GROUPS + 1];
    bool signal[GROUPS];
} work;

static void prepare(work *w)
{
    memset(w, 0, sizeof *w);
    for (size_t i = 0; i < PLAYS; i++)
        w->out[i] = w->values[i];
}

static void run_case(const batch_case *c)
{
    work w;
    gg_error error;
    size_t groups = 0;
    prepare(&w);
    for (; groups < GROUPS && c->sizes[groups]; groups++)
        w.first[groups + 1] = w.first[groups] + c->sizes[groups];
    for (size_t i = 0; i < PLAYS; i++) {
        const play *p = &c->plays[i];
        w.plays[i] =
            (gg_play_return){p->reward, p->by_turn, p->turns ? p->turns : 1, p->tokens, NULL};
    }
    assert_int_equal(gg_advantages(c->method, w.plays, w.first, groups, w.out, w.signal, &error),
                     GG_OK);
    for (size_t i = 0; i < w.first[groups]; i++)
        for (size_t t = 0; t < w.plays[i].turn_count; t++)
            if (fabs(w.values[i][t] - c->plays[i].want[t]) > 1e-14)
                fail_msg("%s: play %zu, turn %zu: %.17g, want %.17g", c->name, i, t, w.values[i][t],
                         c->plays[i].want[t]);
    for (size_t g = 0; g < groups; g++)
        if (w.signal[g] != c->signal[g])
            fail_msg("%s: signal of group %zu", c->name, g);
}

static void table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_case(&cases[i]);
}

/* Values whose mean is not exactly themselves: a test of the std would see a spread. */
static void equal_rewards_give_exactly_zero(void **state)
{
    (void)state;
    static const double values[] = {0.1, 1.0 / 3, 0.7, 1e-9, -0.3, 0, 1, 1e12};
    for (size_t v = 0; v < sizeof values / sizeof *values; v++)
        for (int m = 0; m < GG_ADV_COUNT; m++) {
            work w;
            gg_error error;
            prepare(&w);
            w.first[1] = 8;
            for (size_t i = 0; i < 8; i++)
                w.plays[i] =
                    (gg_play_return){.reward = values[v], .turn_count = 2, .tokens = 5 + i};
            assert_int_equal(
                gg_advantages((gg_advantage)m, w.plays, w.first, 1, w.out, w.signal, &error),
                GG_OK);
            double want = m == GG_ADV_MONTE_CARLO ? values[v] : 0;
            for (size_t i = 0; i < 8; i++)
                assert_true(w.values[i][0] == want && w.values[i][1] == want);
            assert_true(w.signal[0] == (want != 0));
        }
}

static void sums_in_another_order_are_equal(void **state)
{
    (void)state;
    const double same[] = {0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1, 0.6};
    const double other[] = {0, 1e-13};
    assert_true(same[0] != same[1] || same[1] != same[2]);
    assert_true(gg_rewards_equal(same, 3));
    assert_false(gg_rewards_equal(other, 2));
    assert_true(gg_rewards_equal(other, 1));
    assert_true(gg_rewards_equal(NULL, 0));
}

static void turn_tokens_weigh_the_whitening(void **state)
{
    (void)state;
    static const size_t spread[] = {1, 3};
    static const double by_turn[] = {1, 0}; /* R_t = 1, 0 with weights 1, 3: mean 1/4, var 3/16 */
    work w;
    gg_error error;
    prepare(&w);
    w.first[1] = 1;
    w.plays[0] = (gg_play_return){1, by_turn, 2, 4, spread};
    assert_int_equal(
        gg_advantages(GG_ADV_REINFORCE_PP, w.plays, w.first, 1, w.out, w.signal, &error), GG_OK);
    assert_true(fabs(w.values[0][0] - SQRT3) < 1e-14);
    assert_true(fabs(w.values[0][1] + INV3) < 1e-14);
}

static void group_based_has_mean_0_and_variance_1(void **state)
{
    (void)state;
    const uint64_t seed = 20260801;
    gg_rng rng;
    printf("seed %llu\n", (unsigned long long)seed);
    gg_rng_seed(&rng, seed);
    for (int round = 0; round < 200; round++) {
        work w;
        gg_error error;
        double sum = 0, squares = 0;
        prepare(&w);
        size_t n = w.first[1] = 2 + gg_rng_below(&rng, PLAYS - 1);
        for (size_t i = 0; i < n; i++)
            w.plays[i] = (gg_play_return){.reward = 1e3 * gg_rng_unit(&rng) - 500, .turn_count = 1};
        assert_int_equal(
            gg_advantages(GG_ADV_GROUP_BASED, w.plays, w.first, 1, w.out, w.signal, &error), GG_OK);
        for (size_t i = 0; i < n; i++) {
            sum += w.values[i][0];
            squares += w.values[i][0] * w.values[i][0];
        }
        assert_true(fabs(sum) < 1e-12 * (double)n);
        assert_true(fabs(squares / (double)n - 1) < 1e-12);
        assert_true(w.signal[0]);
    }
}

static void names(void **state)
{
    (void)state;
    gg_advantage method;
    gg_error error;
    for (int m = 0; m < GG_ADV_COUNT; m++) {
        assert_int_equal(gg_advantage_parse(gg_advantage_name((gg_advantage)m), &method, &error),
                         GG_OK);
        assert_int_equal(method, m);
    }
    assert_int_equal(gg_advantage_parse("grpo", &method, &error), GG_OK);
    assert_int_equal(method, GG_ADV_GROUP_BASED);
    assert_int_equal(gg_advantage_parse("GRPO", &method, &error), GG_E_ARGUMENT);
    assert_int_equal(gg_advantage_parse(NULL, &method, &error), GG_E_ARGUMENT);
    assert_non_null(strstr(error.text, "reinforce_pp_baseline"));
}

static void a_reward_that_is_no_number_is_refused(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        work w;
        gg_error error;
        const double by_turn[] = {0, bad[i]};
        prepare(&w);
        w.first[1] = 2;
        w.plays[0] = (gg_play_return){.reward = 1, .turn_count = 1};
        w.plays[1] = (gg_play_return){.reward = bad[i], .turn_count = 1};
        assert_int_equal(gg_advantages(GG_ADV_RLOO, w.plays, w.first, 1, w.out, w.signal, &error),
                         GG_E_ARGUMENT);
        assert_non_null(strstr(error.text, "play 1"));
        w.plays[1] = (gg_play_return){.reward = 0, .by_turn = by_turn, .turn_count = 2};
        assert_int_equal(gg_advantages(GG_ADV_RLOO, w.plays, w.first, 1, w.out, w.signal, &error),
                         GG_E_ARGUMENT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(equal_rewards_give_exactly_zero),
        cmocka_unit_test(sums_in_another_order_are_equal),
        cmocka_unit_test(turn_tokens_weigh_the_whitening),
        cmocka_unit_test(group_based_has_mean_0_and_variance_1),
        cmocka_unit_test(names),
        cmocka_unit_test(a_reward_that_is_no_number_is_refused),
    };
    return cmocka_run_group_tests_name("advantage", tests, NULL, NULL);
}
