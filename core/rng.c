#include "core/rng.h"
#include "core/digest.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* splitmix64 spreads one number over the generator's state. */
static uint64_t spread(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void gg_rng_seed(gg_rng *rng, uint64_t seed)
{
    for (size_t i = 0; i < 4; i++)
        rng->s[i] = spread(&seed);
}

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t gg_rng_next(gg_rng *rng)
{
    uint64_t *s = rng->s;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double gg_rng_unit(gg_rng *rng)
{
    return (double)(gg_rng_next(rng) >> 11) * 0x1.0p-53;
}

/* Multiply and take the high half; the low half tells the few draws that would be unfair (Lemire,
 * 2019, ACM TOMACS 29(1)). */
uint64_t gg_rng_below(gg_rng *rng, uint64_t bound)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)gg_rng_next(rng) * bound;
    if ((uint64_t)product < bound) {
        uint64_t unfair = (0 - bound) % bound;
        while ((uint64_t)product < unfair)
            product = (wide)gg_rng_next(rng) * bound;
    }
    return (uint64_t)(product >> 64);
}

/* Marsaglia's polar method; the second number of a pair is dropped, so that the generator's state
 * is all there is. */
double gg_rng_normal(gg_rng *rng)
{
    double u, v, s;
    do {
        u = 2 * gg_rng_unit(rng) - 1;
        v = 2 * gg_rng_unit(rng) - 1;
        s = u * u + v * v;
    } while (s >= 1 || s == 0);
    return u * sqrt(-2 * log(s) / s);
}

void gg_rng_shuffle(gg_rng *rng, uint32_t *items, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)gg_rng_below(rng, i);
        uint32_t kept = items[i - 1];
        items[i - 1] = items[j];
        items[j] = kept;
    }
}

static uint64_t first_bits(const char *text, size_t len)
{
    uint8_t digest[32];
    uint64_t value = 0;
    gg_sha256(text, len, digest);
    for (size_t i = 0; i < 8; i++)
        value = value << 8 | digest[i];
    return value >> (64 - GG_SEED_BITS);
}

uint64_t gg_request_seed(uint64_t run_seed, int64_t step, int64_t group, int64_t sample,
                         int64_t turn)
{
    char text[5 * 21 + 1]; /* five numbers of at most 20 characters, four bars */
    int len =
        snprintf(text, sizeof text, "%" PRIu64 "|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64,
                 run_seed, step, group, sample, turn);
    return first_bits(text, (size_t)len);
}

uint64_t gg_derive_seed(uint64_t seed, const char *purpose, int64_t index)
{
    char text[GG_PURPOSE_MAX + 2 * 21 + 1];
    int len = snprintf(text, sizeof text, "%" PRIu64 "|%.*s|%" PRId64, seed, GG_PURPOSE_MAX,
                       purpose, index);
    return first_bits(text, (size_t)len);
}
