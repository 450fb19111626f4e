#include "core/stats.h"
#include "core/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define Z_95 1.959963984540054 /* 97.5 % quantile of the standard normal distribution */
/* Sums that differ by less than this part of their size are one sum: signs cancel to within
 * rounding only. */
#define SAME_SUM 1e-9

double gg_mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return n ? sum / (double)n : NAN;
}

double gg_population_std(const double *x, size_t n)
{
    double mean = gg_mean(x, n), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return n ? sqrt(sum / (double)n) : NAN;
}

gg_interval gg_wilson(int64_t successes, int64_t trials)
{
    if (trials <= 0)
        return (gg_interval){0, 1};
    double n = (double)trials, p = (double)successes / n, zz = Z_95 * Z_95;
    double middle = p + zz / (2 * n);
    double half = Z_95 * sqrt(p * (1 - p) / n + zz / (4 * n * n));
    double scale = 1 + zz / n;
    gg_interval interval = {(middle - half) / scale, (middle + half) / scale};
    /* The ends are exact there; rounding must not show 1e-18. */
    if (successes == 0)
        interval.low = 0;
    if (successes == trials)
        interval.high = 1;
    return interval;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t below = (size_t)at;
    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

gg_interval gg_bootstrap_ratio(const double *a, const double *b, size_t n, size_t rounds,
                               uint64_t seed)
{
    gg_interval interval = {NAN, NAN};
    gg_rng rng;
    double *ratios = n && rounds ? malloc(rounds * sizeof *ratios) : NULL;
    if (!ratios)
        return interval;
    gg_rng_seed(&rng, seed);
    size_t kept = 0;
    for (size_t round = 0; round < rounds; round++) {
        double above = 0, below = 0;
        for (size_t i = 0; i < n; i++) {
            size_t drawn = (size_t)gg_rng_below(&rng, n);
            above += a[drawn];
            below += b ? b[drawn] : 1;
        }
        if (below != 0)
            ratios[kept++] = above / below;
    }
    if (kept) {
        qsort(ratios, kept, sizeof *ratios, by_value);
        interval.low = quantile(ratios, kept, 0.025);
        interval.high = quantile(ratios, kept, 0.975);
    }
    free(ratios);
    return interval;
}

gg_interval gg_bootstrap_mean(const double *x, size_t n, size_t rounds, uint64_t seed)
{
    return gg_bootstrap_ratio(x, NULL, n, rounds, seed);
}

/* Log of n over k. lgamma_r, since lgamma writes a global. */
static double log_choose(double n, double k)
{
    int sign;
    return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(n - k + 1, &sign);
}

double gg_mcnemar_exact(int64_t better, int64_t worse)
{
    int64_t n = better + worse, least = better < worse ? better : worse;
    double term = exp(log_choose((double)n, (double)least) - (double)n * log(2)), sum = 0;
    if (better == worse)
        return 1;
    for (int64_t k = least; k >= 0; k--) {
        sum += term;
        if (term < sum * 1e-17)
            break;
        term *= (double)k / (double)(n - k + 1);
    }
    return sum < 0.5 ? 2 * sum : 1;
}

/* Walks all sign patterns in Gray code order, so that a step changes one sign. The first sign
 * stays: turning all signs gives the same size. */
static double all_signs(const double *difference, size_t n, double observed, double slack)
{
    double sum = 0;
    bool minus[GG_PERMUTATION_ALL] = {false};
    for (size_t i = 0; i < n; i++)
        sum += difference[i];
    uint64_t patterns = UINT64_C(1) << (n - 1), hits = 0;
    for (uint64_t i = 1;; i++) {
        hits += fabs(sum) >= observed - slack;
        if (i == patterns)
            break;
        size_t turned = 1;
        for (uint64_t rest = i; !(rest & 1); rest >>= 1)
            turned++;
        minus[turned] = !minus[turned];
        sum += (minus[turned] ? -2 : 2) * difference[turned];
    }
    return (double)hits / (double)patterns;
}

static double drawn_signs(const double *difference, size_t n, double observed, double slack,
                          size_t rounds, uint64_t seed)
{
    gg_rng rng;
    size_t hits = 0;
    gg_rng_seed(&rng, seed);
    for (size_t round = 0; round < rounds; round++) {
        double sum = 0;
        uint64_t bits = 0;
        for (size_t i = 0; i < n; i++) {
            if (i % 64 == 0)
                bits = gg_rng_next(&rng);
            sum += bits & 1 ? difference[i] : -difference[i];
            bits >>= 1;
        }
        hits += fabs(sum) >= observed - slack;
    }
    return ((double)hits + 1) / ((double)rounds + 1);
}

double gg_permutation_signs(const double *difference, size_t n, size_t rounds, uint64_t seed)
{
    double few[GG_PERMUTATION_ALL], sum = 0, size = 0;
    size_t differing = 0;
    for (size_t i = 0; i < n; i++) {
        if (difference[i] == 0)
            continue;
        if (differing < GG_PERMUTATION_ALL)
            few[differing] = difference[i];
        differing++;
        sum += difference[i];
        size += fabs(difference[i]);
    }
    if (differing == 0)
        return 1;
    double slack = SAME_SUM * size;
    if (differing <= GG_PERMUTATION_ALL)
        return all_signs(few, differing, fabs(sum), slack);
    return drawn_signs(difference, n, fabs(sum), slack, rounds, seed);
}

double gg_no_signal_share(double p, int64_t n)
{
    return pow(p, (double)n) + pow(1 - p, (double)n);
}
