#include "core/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Logarithms of probabilities are written and read by the hundred thousand, and snprintf with its
 * check by strtod costs 2 us each. A long double of 64 bits holds 17 digits with seven bits to
 * spare, and the powers of ten up to 10^27 exactly, so one multiplication is off by at most 2^-64
 * of its result. Wherever that could matter, the slow way decides.
 */

#define POWERS 28
#define DIGITS 17
/* In units of the 17th digit: 2^-64 of 10^17 is below 0.006. */
#define MARGIN 0.02L

static const long double tens[POWERS] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,
                                         1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
                                         1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
                                         1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};

/* Asked of the processor and not of <float.h>: under valgrind, or with its precision control turned
 * down, an x87 gives 53 bits all the same. */
static bool is_wide(void)
{
    volatile long double one = 1;
    return one + 0x1p-63L != one;
}

static size_t slow_text(double value, char out[GG_DOUBLE_TEXT])
{
    int len = 0;
    for (int digits = 15; digits <= DIGITS; digits++) {
        len = snprintf(out, GG_DOUBLE_TEXT, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
    return (size_t)len;
}

static long double scaled(double value, int power)
{
    return power >= 0 ? (long double)value * tens[power] : (long double)value / tens[-power];
}

/* A number as printed: `digits` has `count` decimal digits, the first of which stands for
 * 10^exponent. */
typedef struct decimal {
    uint64_t digits;
    int count, exponent;
} decimal;

/* Rounds x, a number of 17 digits before the point, to `count` digits. False when it is not sure
 * which way, or whether that reads back; *good = whether it does. */
static bool round_to(long double x, long double half_gap, int count, decimal *d, bool *good)
{
    static const uint64_t units[] = {1, 10, 100};
    uint64_t unit = units[DIGITS - count];
    uint64_t whole = (uint64_t)x;
    uint64_t below = whole - whole % unit;
    long double rest = x - (long double)below, middle = (long double)unit / 2;
    if (fabsl(rest - middle) < MARGIN)
        return false;
    bool up = rest > middle;
    long double off = up ? (long double)unit - rest : rest;
    if (fabsl(off - half_gap) < MARGIN)
        return false;
    *good = off < half_gap;
    d->digits = below / unit + up;
    d->count = count;
    return true;
}

/* The shortest digits of value > 0; false when only the slow way can say. */
static bool find_digits(double value, decimal *d)
{
    int exponent2;
    double fraction = frexp(value, &exponent2);
    if (fraction == 0.5) /* the gap below a power of two is half as wide */
        return false;
    d->exponent = (int)floor((exponent2 - 1) * 0.30102999566398120);
    int power = DIGITS - 1 - d->exponent;
    if (power >= POWERS || power - 1 <= -POWERS)
        return false;
    long double x = scaled(value, power);
    if (x >= tens[DIGITS]) {
        d->exponent++;
        power--;
        x = scaled(value, power);
    }
    long double half_gap = scaled(ldexp(1.0, exponent2 - DBL_MANT_DIG - 1), power);
    bool good = false;
    for (int count = 15; count <= DIGITS && !good; count++)
        if (!round_to(x, half_gap, count, d, &good))
            return false;
    return good;
}

/* As %g does it: no trailing zeros; an exponent when it is below -4 or not below the precision. */
static size_t print(const decimal *number, bool negative, char out[GG_DOUBLE_TEXT])
{
    char digits[24] = "";
    decimal d = *number;
    int precision = d.count;
    if (d.digits >= (uint64_t)tens[d.count]) { /* 9.99... rounded up */
        d.digits /= 10;
        d.exponent++;
    }
    for (int i = d.count; i-- > 0; d.digits /= 10)
        digits[i] = (char)('0' + d.digits % 10);
    while (d.count > 1 && digits[d.count - 1] == '0')
        d.count--;
    char *p = out;
    if (negative)
        *p++ = '-';
    bool scientific = d.exponent < -4 || d.exponent >= precision;
    int point = scientific ? 0 : d.exponent; /* the digit before the point */
    if (point < 0) {
        memcpy(p, "0.0000", 6);
        p += 1 - point;
    }
    for (int i = 0; i < d.count || i <= point; i++) {
        *p++ = i < d.count ? digits[i] : '0';
        if (i == point && i + 1 < d.count)
            *p++ = '.';
    }
    *p = '\0';
    if (scientific)
        p += snprintf(p, 8, "e%c%02d", d.exponent < 0 ? '-' : '+', abs(d.exponent));
    return (size_t)(p - out);
}

size_t gg_double_text(double value, char out[GG_DOUBLE_TEXT])
{
    decimal d;
    double size = fabs(value);
    if (size >= 1e-10 && size < 1e27 && is_wide() && find_digits(size, &d))
        return print(&d, value < 0, out);
    return slow_text(value, out);
}

/* Exact when digits and power of ten are both exact doubles (Clinger 1990). */
static bool from_exact(uint64_t digits, int64_t exponent, double *out)
{
    static const double small_tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (digits > UINT64_C(1) << DBL_MANT_DIG || exponent < -22 || exponent > 22)
        return false;
    *out = exponent < 0 ? (double)digits / small_tens[-exponent]
                        : (double)digits * small_tens[exponent];
    return true;
}

bool gg_double_from(uint64_t digits, int64_t exponent, double *out)
{
    if (from_exact(digits, exponent, out))
        return true;
    if (exponent <= -POWERS || exponent >= POWERS || !is_wide())
        return false;
    long double value = (long double)digits;
    value = exponent < 0 ? value / tens[-exponent] : value * tens[exponent];
    /* One step of the long double to either side must round to the same double. */
    double low = (double)(value * (1 - LDBL_EPSILON)), high = (double)(value * (1 + LDBL_EPSILON));
    *out = low;
    return low == high;
}

char *gg_int_text(int64_t value, char *end)
{
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do {
        *--end = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0)
        *--end = '-';
    return end;
}
