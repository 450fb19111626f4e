/*
 * Seeded random numbers. The same seed gives the same numbers on every machine. Nothing here reads
 * a clock.
 *
 * The generator is xoshiro256** seeded by splitmix64 (Blackman and Vigna, 2018, public domain
 * reference: prng.di.unimi.it). Threads: one generator, one thread.
 */
#ifndef GG_CORE_RNG_H
#define GG_CORE_RNG_H

#include <stddef.h>
#include <stdint.h>

typedef struct gg_rng {
    uint64_t s[4];
} gg_rng;

void gg_rng_seed(gg_rng *rng, uint64_t seed);
uint64_t gg_rng_next(gg_rng *rng);
double gg_rng_unit(gg_rng *rng);                    /* [0, 1), 53 bits */
uint64_t gg_rng_below(gg_rng *rng, uint64_t bound); /* [0, bound), unbiased; bound > 0 */
double gg_rng_normal(gg_rng *rng);                  /* standard normal; up to libm's last bit */
void gg_rng_shuffle(gg_rng *rng, uint32_t *items, size_t count); /* Fisher-Yates, from the end */

#define GG_SEED_BITS 53

/* First 53 bits of SHA-256("run seed|step|group|sample|turn") in decimal: the seed of one request.
 */
uint64_t gg_request_seed(uint64_t run_seed, int64_t step, int64_t group, int64_t sample,
                         int64_t turn);
/* First 53 bits of SHA-256("seed|purpose|index"): streams that must not meet. Of `purpose` the
 * first GG_PURPOSE_MAX bytes count. */
#define GG_PURPOSE_MAX 64
uint64_t gg_derive_seed(uint64_t seed, const char *purpose, int64_t index);

#endif
