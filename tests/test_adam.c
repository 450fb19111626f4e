/* The optimiser step: first steps by hand, then the definition written out with the sums of the
 * paper's recursion unrolled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <cmocka.h>

#include "rl/adam.h"

typedef struct work {
    gg_adam adam;
    double m[2], v[2], w[2], g[2];
} work;

static void start(work *x, double g0, double g1)
{
    *x = (work){.w = {1, -1}, .g = {g0, g1}};
    x->adam = (gg_adam){.n = 2, .m = x->m, .v = x->v};
}

/* In the first step both averages are unbiased to g and g^2: the move is lr x sign(g), up to eps.
 */
static void first_step_moves_by_the_learning_rate(void **state)
{
    (void)state;
    work x;
    gg_adam_config config = GG_ADAM_DEFAULTS;
    config.clip_norm = 0;
    start(&x, 30, -40);
    double norm = gg_adam_step(&x.adam, &config, x.w, x.g, 10);
    assert_true(fabs(norm - 5) < 1e-12); /* (3, -4) */
    assert_true(x.g[0] == 3 && x.g[1] == -4);
    assert_true(fabs(x.w[0] - (1 - 0.01 * 3 / (3 + 1e-8))) < 1e-15);
    assert_true(fabs(x.w[1] - (-1 + 0.01 * 4 / (4 + 1e-8))) < 1e-15);
    assert_int_equal(x.adam.steps, 1);
}

static void clips_by_the_global_norm(void **state)
{
    (void)state;
    static const struct {
        double clip, want0, want1;
    } rows[] = {{1, 0.6, -0.8}, {5, 3, -4}, {6, 3, -4}, {0, 3, -4}, {0.5, 0.3, -0.4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        work x;
        gg_adam_config config = GG_ADAM_DEFAULTS;
        config.clip_norm = rows[i].clip;
        start(&x, 6, -8);
        assert_true(fabs(gg_adam_step(&x.adam, &config, x.w, x.g, 2) - 5) < 1e-12);
        assert_true(fabs(x.g[0] - rows[i].want0) < 1e-15);
        assert_true(fabs(x.g[1] - rows[i].want1) < 1e-15);
        assert_true(fabs(x.m[0] - 0.1 * rows[i].want0) < 1e-15);
    }
}

static void weight_decay_is_decoupled(void **state)
{
    (void)state;
    work x;
    gg_adam_config config = {0.01, 0.9, 0.95, 1e-8, 0.5, 0};
    start(&x, 0, 0);
    x.g[0] = 1e-300; /* no gradient to speak of: the decay alone acts on w[1] */
    gg_adam_step(&x.adam, &config, x.w, x.g, 1);
    assert_true(fabs(x.w[1] - (-1 + 0.01 * 0.5)) < 1e-15);
}

/* m_t = (1 - b1) sum b1^(t-k) g_k and the like for v, divided by 1 - b^t. */
static void many_steps_follow_the_unrolled_sums(void **state)
{
    (void)state;
    enum { STEPS = 25 };
    work x;
    gg_adam_config config = {0.003, 0.9, 0.999, 1e-6, 0, 0};
    double history[STEPS], want = 1;
    start(&x, 0, 0);
    for (int t = 0; t < STEPS; t++) {
        double m = 0, v = 0;
        history[t] = sin(3.0 * t) + 0.2;
        x.g[0] = history[t] * 7;
        x.g[1] = 0;
        gg_adam_step(&x.adam, &config, x.w, x.g, 7);
        for (int k = 0; k <= t; k++) {
            m += (1 - 0.9) * pow(0.9, t - k) * history[k];
            v += (1 - 0.999) * pow(0.999, t - k) * history[k] * history[k];
        }
        m /= 1 - pow(0.9, t + 1);
        v /= 1 - pow(0.999, t + 1);
        want -= 0.003 * m / (sqrt(v) + 1e-6);
        assert_true(fabs(x.w[0] - want) < 1e-12);
    }
}

static void nothing_to_learn_changes_nothing(void **state)
{
    (void)state;
    gg_adam_config config = GG_ADAM_DEFAULTS;
    static const struct {
        double g, total, want_norm;
    } rows[] = {{3, 0, 0}, {INFINITY, 1, INFINITY}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        work x;
        start(&x, rows[i].g, 0);
        assert_true(gg_adam_step(&x.adam, &config, x.w, x.g, rows[i].total) == rows[i].want_norm);
        assert_true(x.w[0] == 1 && x.w[1] == -1 && x.adam.steps == 0 && x.m[0] == 0);
    }
    work x;
    start(&x, NAN, 0);
    assert_true(isnan(gg_adam_step(&x.adam, &config, x.w, x.g, 1)));
    assert_true(x.w[0] == 1 && x.adam.steps == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_step_moves_by_the_learning_rate),
        cmocka_unit_test(clips_by_the_global_norm),
        cmocka_unit_test(weight_decay_is_decoupled),
        cmocka_unit_test(many_steps_follow_the_unrolled_sums),
        cmocka_unit_test(nothing_to_learn_changes_nothing),
    };
    return cmocka_run_group_tests_name("adam", tests, NULL, NULL);
}
