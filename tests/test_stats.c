/* Statistics against published examples, figures computed by hand and an independent program. */
#include "core/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/rng.h"
#include "tests/alloc.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void close_to(double got, double want, double within, const char *what)
{
    if (!(fabs(got - want) <= within))
        fail_msg("%s: %.17g, not %.17g", what, got, want);
}

static void means(void **state)
{
    (void)state;
    const double x[] = {2, 4, 4, 4, 5, 5, 7, 9}; /* mean 5, squares sum to 32 = 8 x 4 */
    assert_true(gg_mean(x, 8) == 5 && gg_population_std(x, 8) == 2);
    assert_true(gg_mean(x, 1) == 2 && gg_population_std(x, 1) == 0);
    assert_true(isnan(gg_mean(x, 0)) && isnan(gg_population_std(x, 0)));
}

/* Newcombe (1998), table I, method 3, as printed there to four places. */
static void wilson(void **state)
{
    (void)state;
    static const struct {
        int64_t successes, trials;
        double low, high;
    } rows[] = {
        {81, 263, 0.2553, 0.3662},
        {15, 148, 0.0624, 0.1605},
        {0, 20, 0.0, 0.1611},
        {1, 29, 0.0061, 0.1718},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        gg_interval got = gg_wilson(rows[i].successes, rows[i].trials);
        close_to(got.low, rows[i].low, 5e-5, "low");
        close_to(got.high, rows[i].high, 5e-5, "high");
        /* What is a success is a matter of view. */
        gg_interval other = gg_wilson(rows[i].trials - rows[i].successes, rows[i].trials);
        close_to(other.low, 1 - got.high, 1e-15, "mirrored low");
        close_to(other.high, 1 - got.low, 1e-15, "mirrored high");
    }
    assert_true(gg_wilson(0, 20).low == 0 && gg_wilson(20, 20).high == 1);
    assert_true(gg_wilson(0, 0).low == 0 && gg_wilson(0, 0).high == 1);
}

static void mcnemar(void **state)
{
    (void)state;
    static const struct {
        int64_t better, worse;
        double p;
    } rows[] = {
        {1, 7, 0.0703125}, /* Fagerland et al. (2013), table 1 (Bentur's data): 0.0703 */
        {7, 1, 0.0703125},
        {0, 5, 0.0625},         /* 2 / 2^5 */
        {3, 10, 0.09228515625}, /* 2 (1 + 13 + 78 + 286) / 2^13 */
        {4, 4, 1},
        {9, 10, 1},
        {0, 0, 1},
        {0, 1, 1},
        {86, 150, 3.715936139571442e-05}, /* Agresti's approval ratings; whole-number arithmetic */
        {400, 500, 0.0009564441369189461},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        close_to(gg_mcnemar_exact(rows[i].better, rows[i].worse), rows[i].p, 1e-11 * rows[i].p,
                 "p-value");
    assert_true(gg_mcnemar_exact(0, 100000) == 0);
}

static void permutation_by_hand(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double d[6], p;
    } rows[] = {
        {3, {1, 1, 1}, 2.0 / 8},       /* +++ and --- */
        {3, {1, 2, 3}, 2.0 / 8},       /* |sum| >= 6 */
        {3, {1, 2, -3}, 1},            /* |sum| >= 0 */
        {3, {3, 2, -1}, 4.0 / 8},      /* |sum| >= 4: +++ ++- and their mirrors */
        {4, {1, 1, 1, -1}, 10.0 / 16}, /* |sum| >= 2: all but the six of two plus, two minus */
        {5, {0, 1, 0, 1, 1}, 2.0 / 8}, /* pairs that are the same do not count */
        {2, {0.1, 0.2}, 2.0 / 4},
        {3, {0.1, 0.2, -0.3}, 1}, /* 0.1 + 0.2 - 0.3 is not 0 in binary */
        {1, {5}, 1},
        {2, {0, 0}, 1},
        {0, {0}, 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        close_to(gg_permutation_signs(rows[i].d, rows[i].n, 100, 1), rows[i].p, 1e-15, "p-value");
    /* Equal differences are the sign test, which is McNemar's. */
    double same[20];
    for (size_t i = 0; i < 20; i++)
        same[i] = i < 14 ? 0.25 : -0.25;
    close_to(gg_permutation_signs(same, 20, 0, 0), gg_mcnemar_exact(14, 6), 1e-12, "sign test");
}

static void permutation_drawn(void **state)
{
    (void)state;
    enum { N = 200 };
    double d[N];
    for (size_t i = 0; i < N; i++)
        d[i] = i < 115 ? 1 : -1;
    double exact = gg_mcnemar_exact(115, 85); /* 0.04 */
    double p = gg_permutation_signs(d, N, GG_PERMUTATION_ROUNDS, 9);
    close_to(p, exact, 4 * sqrt(exact / GG_PERMUTATION_ROUNDS), "drawn p-value");
    assert_true(p == gg_permutation_signs(d, N, GG_PERMUTATION_ROUNDS, 9));
    assert_true(p != gg_permutation_signs(d, N, GG_PERMUTATION_ROUNDS, 10));
    for (size_t i = 0; i < N; i++)
        d[i] = 1;
    close_to(gg_permutation_signs(d, N, 999, 1), 1.0 / 1000, 1e-15, "never 0");
}

static void bootstrap(void **state)
{
    (void)state;
    /* The figures come from an independent program with its own generator. */
    const double x[] = {1, 0, 1, 1, 0, 0, 1, 0.5}, ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
    gg_interval got = gg_bootstrap_mean(x, 8, 1000, 5);
    assert_true(got.low == 0.25 && got.high == 0.875);
    gg_interval ratio = gg_bootstrap_ratio(x, ones, 8, 1000, 5);
    assert_true(ratio.low == got.low && ratio.high == got.high);
    const double a[] = {3, 0, 2, 4}, b[] = {4, 0, 4, 4};
    got = gg_bootstrap_ratio(a, b, 4, 1000, 5);
    assert_true(got.low == 0.5 && got.high == 1.0);

    const double none[] = {0, 0};
    assert_true(isnan(gg_bootstrap_ratio(a, none, 2, 50, 1).low));
    assert_true(isnan(gg_bootstrap_mean(x, 0, 50, 1).low));
    assert_true(isnan(gg_bootstrap_mean(x, 8, 0, 1).high));
    assert_true(gg_bootstrap_mean(x, 1, 50, 1).low == 1);
    alloc_fail_at(1);
    assert_true(isnan(gg_bootstrap_mean(x, 8, 50, 1).low));
    alloc_fail_at(0);
}

/* The interval holds the true mean in about 95 of 100 samples. */
static void bootstrap_covers(void **state)
{
    (void)state;
    enum { TRIALS = 300, N = 60 };
    gg_rng rng;
    int held = 0;
    const uint64_t seed = 11;
    gg_rng_seed(&rng, seed);
    for (int t = 0; t < TRIALS; t++) {
        double x[N];
        for (size_t i = 0; i < N; i++)
            x[i] = gg_rng_unit(&rng) < 0.4;
        gg_interval got = gg_bootstrap_mean(x, N, 200, (uint64_t)t);
        held += got.low <= 0.4 && 0.4 <= got.high;
    }
    if (held < 0.90 * TRIALS || held > 0.99 * TRIALS)
        fail_msg("seed %ju: %d of %d", (uintmax_t)seed, held, TRIALS);
}

static void no_signal(void **state)
{
    (void)state;
    close_to(gg_no_signal_share(0.5, 8), 2.0 / 256, 1e-15, "half");
    close_to(gg_no_signal_share(0.15, 8), 0.2724908, 1e-7, "0.85^8 + 0.15^8");
    assert_true(gg_no_signal_share(0, 8) == 1 && gg_no_signal_share(1, 8) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means),
        cmocka_unit_test(wilson),
        cmocka_unit_test(mcnemar),
        cmocka_unit_test(permutation_by_hand),
        cmocka_unit_test(permutation_drawn),
        cmocka_unit_test(bootstrap),
        cmocka_unit_test(bootstrap_covers),
        cmocka_unit_test(no_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
