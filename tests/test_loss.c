/* Losses: figures by hand (r = exp(new - old)), and the gradient against central differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "rl/loss.h"

#define LN2 0.6931471805599453

static const gg_loss_config usual = GG_LOSS_DEFAULTS, wide = {0.5, 5};

static const struct {
    const char *name;
    gg_loss loss;
    const gg_loss_config *config;
    double now, old, advantage;
    double want, gradient;
    bool clipped;
} cases[] = {
    {"cross entropy", GG_LOSS_CROSS_ENTROPY, &usual, -1.5, 0, 0, 1.5, -1, false},
    {"importance, on policy", GG_LOSS_IMPORTANCE_SAMPLING, &usual, -1, -1, 2, -2, -2, false},
    {"importance, ratio 2", GG_LOSS_IMPORTANCE_SAMPLING, &usual, -1, -1 - LN2, 3, -6, -6, false},
    {"importance, ratio 1/2", GG_LOSS_IMPORTANCE_SAMPLING, &usual, -1 - LN2, -1, -3, 1.5, 1.5,
     false},
    {"ppo, on policy", GG_LOSS_PPO, &usual, -1, -1, 2, -2, -2, false},
    /* min(2 x 3, 1.2 x 3): the bound holds, no gradient */
    {"ppo, ratio 2, good", GG_LOSS_PPO, &usual, -1, -1 - LN2, 3, -3.6, 0, true},
    /* min(2 x -3, 1.2 x -3) = -6: not clipped */
    {"ppo, ratio 2, bad", GG_LOSS_PPO, &usual, -1, -1 - LN2, -3, 6, 6, false},
    /* min(0.5 x 3, 0.8 x 3) = 1.5 */
    {"ppo, ratio 1/2, good", GG_LOSS_PPO, &usual, -1 - LN2, -1, 3, -1.5, -1.5, false},
    /* min(0.5 x -3, 0.8 x -3) = -2.4 */
    {"ppo, ratio 1/2, bad", GG_LOSS_PPO, &usual, -1 - LN2, -1, -3, 2.4, 0, true},
    {"ppo, wide bounds", GG_LOSS_PPO, &wide, -1, -1 - LN2, 3, -6, -6, false},
    /* clip(2) = 1.2: loss - 1.2 x 3 x -1 */
    {"cispo, ratio 2", GG_LOSS_CISPO, &usual, -1, -1 - LN2, 3, 3.6, -3.6, true},
    /* clip(0.5) = 0.8 */
    {"cispo, ratio 1/2", GG_LOSS_CISPO, &usual, -1 - LN2, -1, 1, 0.8 * (1 + LN2), -0.8, true},
    {"cispo, on policy", GG_LOSS_CISPO, &usual, -2, -2, -1, -2, 1, false},
    {"advantage 0", GG_LOSS_PPO, &usual, -1, -3, 0, 0, 0, false},
};

static void table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double gradient;
        bool clipped;
        double loss = gg_token_loss(cases[i].loss, cases[i].config, cases[i].now, cases[i].old,
                                    cases[i].advantage, &gradient, &clipped);
        if (fabs(loss - cases[i].want) > 1e-12 || fabs(gradient - cases[i].gradient) > 1e-12 ||
            clipped != cases[i].clipped)
            fail_msg("%s: loss %.17g (want %.17g), gradient %.17g (want %.17g), clipped %d",
                     cases[i].name, loss, cases[i].want, gradient, cases[i].gradient, clipped);
    }
}

/* cispo's surrogate holds the clipped ratio fixed, so its difference quotient does too. */
static double surrogate(gg_loss loss, double now, double old, double advantage, double fixed)
{
    double unused;
    if (loss == GG_LOSS_CISPO)
        return -fixed * advantage * now;
    return gg_token_loss(loss, &usual, now, old, advantage, &unused, NULL);
}

static void gradient_is_the_difference_quotient(void **state)
{
    (void)state;
    const double h = 1e-6;
    /* Ratios away from the kinks at 0.8, 1 and 1.2. */
    static const double shifts[] = {-3, -0.9, -0.1, 0.05, 0.15, 0.5, 2};
    static const double advantages[] = {-2, -0.3, 0.4, 1.7};
    for (int loss = 0; loss < GG_LOSS_COUNT; loss++)
        for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++)
            for (size_t a = 0; a < sizeof advantages / sizeof *advantages; a++) {
                double now = -1.25, old = now - shifts[s], gradient;
                double fixed = fmin(fmax(exp(now - old), GG_CLIP_LOW), GG_CLIP_HIGH);
                gg_token_loss((gg_loss)loss, &usual, now, old, advantages[a], &gradient, NULL);
                double up = surrogate((gg_loss)loss, now + h, old, advantages[a], fixed);
                double down = surrogate((gg_loss)loss, now - h, old, advantages[a], fixed);
                double quotient = (up - down) / (2 * h);
                if (fabs(quotient - gradient) > 1e-6 * fmax(1, fabs(gradient)))
                    fail_msg("%s at shift %g, advantage %g: %g against %g",
                             gg_loss_name((gg_loss)loss), shifts[s], advantages[a], gradient,
                             quotient);
            }
}

static void an_absurd_ratio_stays_finite(void **state)
{
    (void)state;
    for (int loss = 0; loss < GG_LOSS_COUNT; loss++) {
        double gradient;
        double value = gg_token_loss((gg_loss)loss, &usual, -0.1, -5000, -1, &gradient, NULL);
        assert_true(isfinite(value) && isfinite(gradient));
        if (loss == GG_LOSS_IMPORTANCE_SAMPLING || loss == GG_LOSS_PPO)
            assert_true(gradient == 0);
    }
}

static void names_and_tensors(void **state)
{
    (void)state;
    gg_loss loss;
    gg_error error;
    for (int i = 0; i < GG_LOSS_COUNT; i++) {
        assert_int_equal(gg_loss_parse(gg_loss_name((gg_loss)i), &loss, &error), GG_OK);
        assert_int_equal(loss, i);
        assert_int_equal(gg_loss_tensors(loss), i == GG_LOSS_CROSS_ENTROPY ? 3 : 15);
    }
    assert_int_equal(gg_loss_parse("dro", &loss, &error), GG_E_ARGUMENT);
    assert_non_null(strstr(error.text, "cispo"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(gradient_is_the_difference_quotient),
        cmocka_unit_test(an_absurd_ratio_stays_finite),
        cmocka_unit_test(names_and_tensors),
    };
    return cmocka_run_group_tests_name("loss", tests, NULL, NULL);
}
