/* Statistics for planning (core/plan_stats.h), against published figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "core/plan_stats.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

static void close_to(double got, double want, double slack, const char *what)
{
    if (!(fabs(got - want) <= slack))
        fail_msg("%s: %.12g, want %.12g", what, got, want);
}

/* Independent: walks all subsets of size k of n plays of which the first c are solved. */
static void count_subsets(int n, int c, int k, double *any, double *all)
{
    double subsets = 0, with = 0, whole = 0;
    for (unsigned s = 0; s < 1u << n; s++) {
        if (__builtin_popcount(s) != k)
            continue;
        unsigned solved = s & ((1u << c) - 1);
        subsets++;
        with += solved != 0;
        whole += solved == s;
    }
    *any = with / subsets;
    *all = whole / subsets;
}

static void pass_k_against_all_subsets(void **state)
{
    (void)state;
    for (int n = 1; n <= 9; n++)
        for (int c = 0; c <= n; c++)
            for (int k = 1; k <= n; k++) {
                double any, all, none;
                count_subsets(n, c, k, &any, &all);
                close_to(gg_pass_at_k(n, c, k), any, 1e-12, "pass@k");
                close_to(gg_pass_all_k(n, c, k), all, 1e-12, "pass^k");
                count_subsets(n, n - c, k, &any, &none);
                close_to(gg_no_signal_of(n, c, k), all + none, 1e-12, "no signal");
            }
}

static void pass_k_by_hand(void **state)
{
    static const struct {
        int64_t n, c, k;
        double any, all;
    } rows[] = {
        {10, 3, 1, 0.3, 0.3},
        {5, 2, 2, 0.7, 0.1},    /* 1 - 3/10; 1/10 */
        {200, 20, 1, 0.1, 0.1}, /* pass@1 = c/n */
        {200, 0, 100, 0, 0},
        {200, 200, 100, 1, 1},
        {200, 101, 100, 1, 101.0 / 9.0548514656103e58}, /* C(200,100) */
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        close_to(gg_pass_at_k(rows[i].n, rows[i].c, rows[i].k), rows[i].any, 1e-12, "pass@k");
        close_to(gg_pass_all_k(rows[i].n, rows[i].c, rows[i].k) /
                     (rows[i].all > 0 ? rows[i].all : 1),
                 rows[i].all > 0 ? 1 : 0, 1e-9, "pass^k");
    }
    /* Too few plays: no unbiased estimate (paiml/aprender 2118). */
    assert_true(isnan(gg_pass_at_k(1, 1, 2)) && isnan(gg_pass_all_k(4, 2, 5)));
    assert_true(isnan(gg_pass_at_k(4, 2, 0)) && isnan(gg_pass_at_k(4, 5, 1)));
    assert_true(isnan(gg_no_signal_of(7, 3, 8)));
}

static void games_needed(void **state)
{
    (void)state;
    /* powerandsamplesize.com, McNemar's Z-test, 2-sided, after Connor (1987) page 209: 0.45 and
     * 0.05 at 80 % need 23 pairs; the R package MESS gives 22.0 for the same (power_mcnemar_test(
     * paid = 0.05, psi = 9), its test suite). Discordant 0.45, difference 0.15: 155 pairs. */
    assert_true(ceil(gg_pairs_to_decide(0.45, 0.05, 0.8)) == 23);
    assert_true(ceil(gg_pairs_to_decide(0.05, 0.45, 0.8)) == 23);
    assert_true(ceil(gg_pairs_to_decide(0.30, 0.15, 0.8)) == 155);
    /* R documentation of power.prop.test(p1 = .50, p2 = .75, power = .90): n = 76.7 */
    close_to(gg_plays_to_decide(0.5, 0.75, 0.9), 76.7, 0.05, "power.prop.test");
    /* The textbook 385 of a poll: p = 0.5 to within 5 points. */
    assert_true(ceil(gg_plays_for_width(0.5, 0.05)) == 385);
    /* (1.960 + 0.842)^2 = 7.85, Lehr (1992), Stat Med 11: 1099-1102, twice which is his 16 for two
     * samples */
    close_to(gg_pairs_for_means(1, 1, 0.8), 7.849, 0.0005, "one deviation");
    close_to(gg_pairs_for_means(-0.05, 0.25, 0.8), 25 * 7.849, 0.02, "a fifth");
    assert_true(isinf(gg_pairs_for_means(0, 1, 0.8)));
    assert_true(isinf(gg_pairs_to_decide(0.1, 0.1, 0.8)) && isinf(gg_plays_to_decide(1, 1, 0.8)));
}

/* R documentation style: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm") is 0.05 0.08 0.09 0.09
 * 0.09; the four p-values of Holm's procedure in the English Wikipedia (0.01, 0.04, 0.03, 0.005)
 * become 0.03, 0.06, 0.06, 0.02. */
static void holm(void **state)
{
    double a[] = {0.01, 0.02, 0.03, 0.04, 0.05}, b[] = {0.01, 0.04, 0.03, 0.005}, c[] = {0.7, 0.6};
    static const double want_a[] = {0.05, 0.08, 0.09, 0.09, 0.09},
                        want_b[] = {0.03, 0.06, 0.06, 0.02};
    (void)state;
    gg_holm(a, 5);
    gg_holm(b, 4);
    gg_holm(c, 2);
    for (int i = 0; i < 5; i++)
        close_to(a[i], want_a[i], 1e-12, "adjusted");
    for (int i = 0; i < 4; i++)
        close_to(b[i], want_b[i], 1e-12, "adjusted");
    assert_true(c[0] == 1 && c[1] == 1);
}

/* Tables of the t and normal distributions, as in any handbook (NIST/SEMATECH 1.3.6.7). */
static void quantiles(void **state)
{
    static const struct {
        int64_t df;
        double confidence, t;
    } rows[] = {
        {1, 0.95, 12.706}, {2, 0.95, 4.303},   {3, 0.95, 3.182},  {4, 0.95, 2.776},
        {5, 0.95, 2.571},  {9, 0.95, 2.262},   {10, 0.95, 2.228}, {30, 0.95, 2.042},
        {60, 0.95, 2.000}, {100, 0.95, 1.984}, {2, 0.99, 9.925},  {5, 0.9, 2.015},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        close_to(gg_student(rows[i].df, rows[i].confidence), rows[i].t, 0.0006, "t");
    assert_true(isinf(gg_student(0, 0.95)));
    close_to(gg_normal_quantile(0.975), 1.959963984540054, 1e-12, "normal");
    close_to(gg_normal_quantile(0.8), 0.8416212335729143, 1e-12, "normal");
    close_to(gg_normal_quantile(0.5), 0, 1e-12, "normal");
}

/* Student (1908), The probable error of a mean: extra sleep by two drugs, differences of ten
 * patients; R's t.test(extra ~ group, data = sleep, paired = TRUE) gives 0.70 to 2.46, mean 1.58.
 */
static void students_sleep(void **state)
{
    const double d[] = {1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};
    (void)state;
    gg_interval got = gg_student_interval(d, COUNT(d), 0.95);
    close_to(gg_mean(d, COUNT(d)), 1.58, 1e-12, "mean");
    close_to(got.low, 0.7001142, 1e-6, "low");
    close_to(got.high, 2.4598858, 1e-6, "high");
    assert_true(isinf(gg_student_interval(d, 1, 0.95).high));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pass_k_against_all_subsets),
        cmocka_unit_test(pass_k_by_hand),
        cmocka_unit_test(games_needed),
        cmocka_unit_test(quantiles),
        cmocka_unit_test(students_sleep),
        cmocka_unit_test(holm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
