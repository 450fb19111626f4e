/*
 * Statistics for planning a measurement and for summing up repeated ones. Pure functions; sources
 * of the formulas stand beside them.
 */
#ifndef GG_CORE_PLAN_STATS_H
#define GG_CORE_PLAN_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "core/stats.h"

/* Of n plays of one task c were solved: the probability that at least one of k fresh plays, or that
 * all of them, would be. Both are unbiased; NaN for k > n, where no unbiased estimate exists, and
 * for senseless numbers.
 * pass@k: Chen et al. (2021), arXiv 2107.03374, equation 1: 1 - C(n-c, k) / C(n, k).
 * pass^k: Yao et al. (2024), arXiv 2406.12045, section 3: C(c, k) / C(n, k). */
double gg_pass_at_k(int64_t n, int64_t c, int64_t k);
double gg_pass_all_k(int64_t n, int64_t c, int64_t k);
/* The probability that a group of k fresh plays all end alike: no signal by outcome. */
double gg_no_signal_of(int64_t n, int64_t c, int64_t k);

/* Tasks that two runs must both play, once each, until a two-sided test at 5 % tells them apart
 * with probability `power`, when the second solves a share `better` of the tasks that the first
 * does not, and the other way round `worse`. Connor (1987), Biometrics 43: 207-211. Infinite for
 * equal shares. */
double gg_pairs_to_decide(double better, double worse, double power);
/* The same where a task's value is a mean over plays: from the standard deviation of the
 * differences between the runs (normal approximation). */
double gg_pairs_for_means(double difference, double deviation, double power);
/* Plays of each of two runs on different tasks, with solve rates p and q. The formula of R's
 * power.prop.test (Fleiss, Levin and Paik 2003, section 4.2, without continuity correction). */
double gg_plays_to_decide(double p, double q, double power);
/* Plays until a 95 % interval around rate p is no wider than +-half (normal approximation). */
double gg_plays_for_width(double p, double half);

/* p-values of n comparisons, adjusted in place for their number (Holm 1979, Scand J Stat 6: 65-70).
 * At most GG_HOLM_MOST. */
#define GG_HOLM_MOST 256
void gg_holm(double *p, size_t n);

/* Quantile of the standard normal distribution, 0 < p < 1. */
double gg_normal_quantile(double p);
/* t with P(|T| <= t) = confidence, for Student's T of df degrees of freedom (Abramowitz and Stegun
 * 1964, 26.7.3 and 26.7.4, inverted by bisection). */
double gg_student(int64_t df, double confidence);
/* Mean of n values and its interval by Student's t, for values that differ between trainings.
 * Infinite for n < 2. */
gg_interval gg_student_interval(const double *x, size_t n, double confidence);

#endif
