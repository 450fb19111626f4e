#include "core/plan_stats.h"

#include <math.h>
#include <stdbool.h>

#define LEVEL_95 0.975 /* quantile of a two-sided test at 5 % */
#define HALVINGS 200   /* until neighbouring doubles are left */
#define FAR      40.0  /* no quantile of the normal distribution in doubles is farther out */
#define T_MOST   1e9

/* C(a, k) / C(n, k), a <= n, as a product: no factorial gets large. */
static double share_of_subsets(int64_t a, int64_t n, int64_t k)
{
    double share = 1;
    if (a < k)
        return 0;
    for (int64_t i = 0; i < k; i++)
        share *= (double)(a - i) / (double)(n - i);
    return share;
}

static int senseless(int64_t n, int64_t c, int64_t k)
{
    return k < 1 || k > n || c < 0 || c > n;
}

double gg_pass_at_k(int64_t n, int64_t c, int64_t k)
{
    return senseless(n, c, k) ? NAN : 1 - share_of_subsets(n - c, n, k);
}

double gg_pass_all_k(int64_t n, int64_t c, int64_t k)
{
    return senseless(n, c, k) ? NAN : share_of_subsets(c, n, k);
}

double gg_no_signal_of(int64_t n, int64_t c, int64_t k)
{
    return senseless(n, c, k) ? NAN : share_of_subsets(c, n, k) + share_of_subsets(n - c, n, k);
}

double gg_normal_quantile(double p)
{
    double low = -FAR, high = FAR;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        if (erfc(-middle / sqrt(2)) / 2 < p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

double gg_pairs_to_decide(double better, double worse, double power)
{
    double differ = better + worse, gain = better - worse;
    double a = gg_normal_quantile(LEVEL_95) * sqrt(differ);
    double b = gg_normal_quantile(power) * sqrt(differ - gain * gain);
    return gain == 0 ? INFINITY : pow((a + b) / gain, 2);
}

double gg_pairs_for_means(double difference, double deviation, double power)
{
    double sum = gg_normal_quantile(LEVEL_95) + gg_normal_quantile(power);
    return difference == 0 ? INFINITY : pow(sum * deviation / difference, 2);
}

double gg_plays_to_decide(double p, double q, double power)
{
    double mean = (p + q) / 2;
    double a = gg_normal_quantile(LEVEL_95) * sqrt(2 * mean * (1 - mean));
    double b = gg_normal_quantile(power) * sqrt(p * (1 - p) + q * (1 - q));
    return p == q ? INFINITY : pow((a + b) / (p - q), 2);
}

double gg_plays_for_width(double p, double half)
{
    return pow(gg_normal_quantile(LEVEL_95) / half, 2) * p * (1 - p);
}

/* P(|T| <= t). */
static double student_within(int64_t df, double t)
{
    const double pi = acos(-1);
    double angle = atan(t / sqrt((double)df)), cosine = cos(angle), sum = 0;
    double term = df % 2 ? cosine : 1;
    for (int64_t i = df % 2 ? 3 : 2; i <= df; i += 2) {
        sum += term;
        term *= cosine * cosine * (double)(i - 1) / (double)i;
    }
    return df % 2 ? 2 / pi * (angle + sin(angle) * sum) : sin(angle) * sum;
}

double gg_student(int64_t df, double confidence)
{
    double low = 0, high = T_MOST;
    if (df < 1)
        return INFINITY;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        if (student_within(df, middle) < confidence)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

gg_interval gg_student_interval(const double *x, size_t n, double confidence)
{
    double mean = gg_mean(x, n), half = INFINITY;
    if (n >= 2)
        half =
            gg_student((int64_t)n - 1, confidence) * gg_population_std(x, n) / sqrt((double)n - 1);
    return (gg_interval){mean - half, mean + half};
}

/* The smallest is multiplied by n, the next by n - 1 and so on, never below the one before it. */
void gg_holm(double *p, size_t n)
{
    bool done[GG_HOLM_MOST] = {false};
    double floor_of = 0;
    for (size_t round = 0; round < n && n <= GG_HOLM_MOST; round++) {
        size_t least = n;
        for (size_t i = 0; i < n; i++)
            if (!done[i] && (least == n || p[i] < p[least]))
                least = i;
        done[least] = true;
        floor_of = fmax(floor_of, fmin(1, p[least] * (double)(n - round)));
        p[least] = floor_of;
    }
}
