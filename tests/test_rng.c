/* The generator against its authors' figures, and what is built on it. */
#include "core/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void reference_numbers(void **state)
{
    (void)state;
    /* xoshiro256** from the state 1, 2, 3, 4: the figures that other implementations of the
     * authors' C program publish in their tests. */
    static const uint64_t next[] = {11520,
                                    0,
                                    1509978240,
                                    1215971899390074240u,
                                    1216172134540287360u,
                                    607988272756665600u,
                                    16172922978634559625u,
                                    8476171486693032832u,
                                    10595114339597558777u,
                                    2904607092377533576u};
    gg_rng rng = {{1, 2, 3, 4}};
    for (size_t i = 0; i < COUNT(next); i++)
        assert_true(gg_rng_next(&rng) == next[i]);
    /* splitmix64 from 1234567. */
    static const uint64_t seeded[] = {6457827717110365317u, 3203168211198807973u,
                                      9817491932198370423u, 4593380528125082431u};
    gg_rng_seed(&rng, 1234567);
    for (size_t i = 0; i < COUNT(seeded); i++)
        assert_true(rng.s[i] == seeded[i]);
}

static void seeds(void **state)
{
    (void)state;
    /* int.from_bytes(sha256(text).digest()[:8], "big") >> 11, in Python. */
    assert_true(gg_request_seed(42, 0, 3, 1, 0) == 6044768963761679u);
    assert_true(gg_request_seed(0, 0, 0, 0, 0) == 2323241685588314u);
    assert_true(gg_request_seed(UINT64_MAX, INT64_MIN, 1, 2, 3) == 7960875313300848u);
    assert_true(gg_derive_seed(42, "shuffle", 7) == 6127607429644979u);
    char purpose[GG_PURPOSE_MAX + 10];
    for (size_t i = 0; i < sizeof purpose; i++)
        purpose[i] = 'p';
    purpose[sizeof purpose - 1] = '\0';
    assert_true(gg_derive_seed(42, purpose, 7) == 8396846576058389u);
    assert_true(gg_derive_seed(42, "shuffle", 8) != gg_derive_seed(42, "shuffle", 7));
}

static void shuffle(void **state)
{
    (void)state;
    uint32_t items[10];
    static const uint32_t want[10] = {9, 1, 4, 2, 8, 7, 6, 5, 3, 0}; /* an independent program */
    gg_rng rng;
    for (uint32_t i = 0; i < 10; i++)
        items[i] = i;
    gg_rng_seed(&rng, 42);
    gg_rng_shuffle(&rng, items, 10);
    assert_memory_equal(items, want, sizeof want);
    gg_rng_shuffle(&rng, items, 0);
    gg_rng_shuffle(&rng, items, 1);
    assert_memory_equal(items, want, sizeof want);
}

/* Counts lie within five standard deviations of fair ones. */
static void below_is_fair(void **state)
{
    (void)state;
    static const uint64_t bounds[] = {1, 2, 3, 7, 10, 243};
    const uint64_t seed = 3;
    gg_rng rng;
    gg_rng_seed(&rng, seed);
    for (size_t b = 0; b < COUNT(bounds); b++) {
        double counts[243] = {0}, n = 20000, share = n / (double)bounds[b];
        for (int i = 0; i < 20000; i++) {
            uint64_t drawn = gg_rng_below(&rng, bounds[b]);
            assert_true(drawn < bounds[b]);
            counts[drawn]++;
        }
        for (size_t k = 0; k < bounds[b]; k++)
            if (fabs(counts[k] - share) > 5 * sqrt(share) + 1e-9)
                fail_msg("seed %ju: %g of %g below %ju", (uintmax_t)seed, counts[k], share,
                         (uintmax_t)bounds[b]);
    }
    /* Nearly half of all draws must be thrown away for this bound; none may come out of range. */
    const uint64_t huge = (UINT64_C(1) << 63) + 1;
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        uint64_t drawn = gg_rng_below(&rng, huge);
        assert_true(drawn < huge);
        sum += (double)drawn / (double)huge;
    }
    assert_true(fabs(sum / 10000 - 0.5) < 5 * sqrt(1.0 / 12 / 10000));
}

static void unit_and_normal(void **state)
{
    (void)state;
    enum { N = 50000 };
    gg_rng rng;
    double sum = 0, squares = 0, units = 0;
    gg_rng_seed(&rng, 5);
    for (int i = 0; i < N; i++) {
        double unit = gg_rng_unit(&rng), normal = gg_rng_normal(&rng);
        assert_true(unit >= 0 && unit < 1);
        units += unit;
        sum += normal;
        squares += normal * normal;
    }
    assert_true(fabs(units / N - 0.5) < 5 * sqrt(1.0 / 12 / N));
    assert_true(fabs(sum / N) < 5 / sqrt(N));
    assert_true(fabs(squares / N - 1) < 5 * sqrt(2.0 / N));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_numbers), cmocka_unit_test(seeds),
        cmocka_unit_test(shuffle),           cmocka_unit_test(below_is_fair),
        cmocka_unit_test(unit_and_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
