/* Decimal text of doubles against the C library's, digit for digit and bit for bit. */
#include "core/number.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/rng.h"

/* The definition: the first of three precisions that reads back. */
static void reference(double value, char out[64])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, 64, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            return;
    }
}

static void same_text(double value)
{
    char want[64], got[GG_DOUBLE_TEXT];
    reference(value, want);
    size_t len = gg_double_text(value, got);
    if (strcmp(got, want) != 0 || len != strlen(want))
        fail_msg("%a: %s, not %s", value, got, want);
}

/* Doubles of every kind that a record or datum holds, and any bits at all. */
static double draw(gg_rng *rng, int kind)
{
    double unit = gg_rng_unit(rng), value;
    uint64_t bits = gg_rng_next(rng);
    switch (kind) {
    case 0: /* log-probabilities */
        return log(unit + 1e-300);
    case 1: /* rewards: a few decimal digits */
        return (double)gg_rng_below(rng, 100000) / 1000 - 50;
    case 2: /* shares */
        return (double)gg_rng_below(rng, 1000) / (double)(1 + gg_rng_below(rng, 1000));
    case 3: /* float32 values */
        return (float)gg_rng_normal(rng);
    case 4: /* all sizes the fast way takes, and a little beyond */
        return pow(10, unit * 40 - 12);
    case 5: /* near a power of ten */
        value = pow(10, (double)gg_rng_below(rng, 30) - 8);
        return value * (1 + ((double)gg_rng_below(rng, 9) - 4) * 0x1p-52);
    case 6: /* near a power of two */
        return ldexp(1 + ((double)gg_rng_below(rng, 5) - 2) * 0x1p-53, (int)(bits % 80) - 30);
    default:
        memcpy(&value, &bits, sizeof value);
        return isfinite(value) ? value : 0.5;
    }
}

static void text_as_printf(void **state)
{
    (void)state;
    const uint64_t seed = 31;
    gg_rng rng;
    gg_rng_seed(&rng, seed);
    for (int i = 0; i < 160000; i++)
        same_text(draw(&rng, i % 8));
    static const double fixed[] = {0.1,
                                   -0.1,
                                   0.5,
                                   1.5,
                                   1e-4,
                                   1e-5,
                                   123456.789,
                                   1e-10,
                                   9e-11,
                                   1e15,
                                   1e16,
                                   1e17,
                                   1e26,
                                   1e27,
                                   9.995,
                                   0.3,
                                   2.0 / 3,
                                   1e22,
                                   1e23,
                                   5e-324,
                                   -0.0,
                                   0.0,
                                   1.7976931348623157e308};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        same_text(fixed[i]);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* digits x 10^exponent against strtod of the same digits; what is not sure may be handed on. */
static void value_as_strtod(void **state)
{
    (void)state;
    const uint64_t seed = 37;
    gg_rng rng;
    int sure = 0, asked = 160000;
    gg_rng_seed(&rng, seed);
    for (int i = 0; i < asked; i++) {
        uint64_t digits = gg_rng_next(&rng) >> gg_rng_below(&rng, 64);
        int64_t exponent = (int64_t)gg_rng_below(&rng, 54) - 27;
        if (i % 4 == 0) { /* half way between two doubles, or next to it */
            digits = (UINT64_C(1) << 53) + 1 + 2 * gg_rng_below(&rng, UINT64_C(1) << 52);
            exponent = 0;
            if (i % 8 == 0) {
                digits = digits * 10 + gg_rng_below(&rng, 3) - 1;
                exponent = -1;
            }
        }
        char text[64];
        double got, want;
        snprintf(text, sizeof text, "%jue%jd", (uintmax_t)digits, (intmax_t)exponent);
        want = strtod(text, NULL);
        if (!gg_double_from(digits, exponent, &got))
            continue;
        sure++;
        if (bits_of(got) != bits_of(want))
            fail_msg("seed %ju: %s read as %.17g", (uintmax_t)seed, text, got);
    }
    assert_true(sure > asked / 4); /* where long doubles are no wider, only small numbers are */
    double got;
    assert_true(gg_double_from(0, 0, &got) && got == 0);
    assert_false(gg_double_from(1, 400, &got));
    assert_false(gg_double_from(1, INT64_MIN, &got));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(text_as_printf),
                                       cmocka_unit_test(value_as_strtod)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
