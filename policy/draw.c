#include "policy/draw.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static size_t likeliest(const double *score, size_t count)
{
    size_t best = 0;
    for (size_t a = 1; a < count; a++)
        if (score[a] > score[best])
            best = a;
    return best;
}

/* Unnormalised probabilities at another temperature. */
static void reheat(const double *score, size_t count, double temperature, double *weight)
{
    double most = score[likeliest(score, count)];
    for (size_t a = 0; a < count; a++)
        weight[a] = exp((score[a] - most) / temperature);
}

/* Sets to 0 all but the likeliest candidates that make up top_p of the whole together. */
static void cut_tail(double *weight, size_t count, double top_p)
{
    bool kept[GG_DRAW_MAX] = {false};
    double total = 0, sum = 0;
    for (size_t a = 0; a < count; a++)
        total += weight[a];
    for (size_t round = 0; round < count && (round == 0 || sum < top_p * total); round++) {
        size_t best = count;
        for (size_t a = 0; a < count; a++)
            if (!kept[a] && (best == count || weight[a] > weight[best]))
                best = a;
        kept[best] = true; /* a round has a candidate that is not kept */
        sum += weight[best];
    }
    for (size_t a = 0; a < count; a++)
        if (!kept[a])
            weight[a] = 0;
}

static size_t spin(const double *weight, size_t count, gg_rng *rng)
{
    double total = 0;
    size_t last = 0;
    for (size_t a = 0; a < count; a++)
        total += weight[a];
    double left = gg_rng_unit(rng) * total;
    for (size_t a = 0; a < count; a++) {
        if (weight[a] == 0)
            continue;
        last = a;
        if (left < weight[a])
            break;
        left -= weight[a];
    }
    return last; /* rounding may leave a remainder: then the last one that can be drawn */
}

size_t gg_draw(const gg_sampling *s, const double *score, const double *p, size_t count,
               gg_rng *rng)
{
    double weight[GG_DRAW_MAX];
    if (count == 1)
        return 0;
    if (s->temperature == 0)
        return likeliest(score, count);
    if (s->temperature == 1)
        memcpy(weight, p, count * sizeof *weight);
    else
        reheat(score, count, s->temperature, weight);
    if (s->top_p < 1)
        cut_tail(weight, count, s->top_p);
    return spin(weight, count, rng);
}
