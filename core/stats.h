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

double gg_mean(const double *x, size_t n); /* NaN for n = 0 */
double gg_population_std(const double *x, size_t n);

/* Wilson score interval without continuity correction, 95 %. E. B. Wilson (1927), JASA 22: 209-212;
 * Newcombe (1998), Stat Med 17: 857-872, method 3. */
gg_interval gg_wilson(int64_t successes, int64_t trials);

/* Percentile bootstrap over clusters (tasks): mean of x[i], 95 %, `rounds` resamples, seeded. */
#define GG_BOOTSTRAP_ROUNDS 10000
gg_interval gg_bootstrap_mean(const double *x, size_t n, size_t rounds, uint64_t seed);
/* The same for a ratio of sums over clusters: sum(a)/sum(b). Solve rate with several samples a
 * word. */
gg_interval gg_bootstrap_ratio(const double *a, const double *b, size_t n, size_t rounds,
                               uint64_t seed);

/* Exact McNemar: two-sided binomial p-value of b against c discordant pairs. */
double gg_mcnemar_exact(int64_t better, int64_t worse);
/* Two-sided permutation of signs of paired differences: all 2^n for n <= 20, else `rounds` seeded
 * draws with the +1 correction (Phipson and Smyth 2010). */
#define GG_PERMUTATION_ROUNDS 10000
double gg_permutation_signs(const double *difference, size_t n, size_t rounds, uint64_t seed);

/* Share of groups of size n without signal when every play is solved with probability p. */
double gg_no_signal_share(double p, int64_t n);

#endif
