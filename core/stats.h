/*
 * Statistics of a measurement. Pure functions; sources of the formulas stand beside them.
 */
#ifndef GG_CORE_STATS_H
#define GG_CORE_STATS_H

#include <stddef.h>
#include <stdint.h>

typedef struct gg_interval {
    double low, high;
} gg_interval;

double gg_mean(const double *x, size_t n);           /* NaN for n = 0 */
double gg_population_std(const double *x, size_t n); /* NaN for n = 0 */

/* Wilson score interval without continuity correction, 95 %. E. B. Wilson (1927), JASA 22: 209-212;
 * Newcombe (1998), Stat Med 17: 857-872, method 3. [0, 1] for no trials. */
gg_interval gg_wilson(int64_t successes, int64_t trials);

/* Percentile bootstrap over clusters (tasks): mean of x[i], 95 %, `rounds` resamples, seeded (Efron
 * and Tibshirani 1993, chapter 13; quantiles interpolated, type 7 of Hyndman and Fan 1996). NaN for
 * n = 0 and when memory is short. */
#define GG_BOOTSTRAP_ROUNDS 10000
gg_interval gg_bootstrap_mean(const double *x, size_t n, size_t rounds, uint64_t seed);
/* The same for a ratio of sums over clusters: sum(a)/sum(b), resamples in which sum(b) is 0 left
 * out. With the same seed and b all 1, the same interval as gg_bootstrap_mean. Solve rate with
 * several samples a task. */
gg_interval gg_bootstrap_ratio(const double *a, const double *b, size_t n, size_t rounds,
                               uint64_t seed);

/* Exact McNemar (conditional): two-sided binomial p-value of the discordant pairs; 1 when there are
 * none. Fagerland, Lydersen and Laake (2013), BMC Med Res Methodol 13: 91. */
double gg_mcnemar_exact(int64_t better, int64_t worse);
/* Two-sided permutation of signs of paired differences (Fisher 1935): all 2^n where n, the pairs
 * that differ, is at most GG_PERMUTATION_ALL; else `rounds` seeded draws with the +1 correction
 * (Phipson and Smyth 2010). 1 when no pair differs. */
#define GG_PERMUTATION_ALL    20
#define GG_PERMUTATION_ROUNDS 10000
double gg_permutation_signs(const double *difference, size_t n, size_t rounds, uint64_t seed);

/* Share of groups of size n without signal when every play is solved with probability p. */
double gg_no_signal_share(double p, int64_t n);

#endif
