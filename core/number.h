/* Decimal text of numbers and back, exact, without the C library's slow general way. */
#ifndef GG_CORE_NUMBER_H
#define GG_CORE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GG_DOUBLE_TEXT 32 /* room that any double's text fits in, with its NUL */
#define GG_INT_TEXT    20 /* bytes of the longest integer */

/* What the shortest of "%.15g", "%.16g" and "%.17g" that reads back as `value` would print. `value`
 * is finite. Returns the length. */
size_t gg_double_text(double value, char out[GG_DOUBLE_TEXT]);

/* The double nearest to digits x 10^exponent where that can be told at once; false where only
 * strtod can say. */
bool gg_double_from(uint64_t digits, int64_t exponent, double *out);

/* Writes the digits so that they end right before `end`, which has GG_INT_TEXT bytes before it.
 * Returns where they begin. */
char *gg_int_text(int64_t value, char *end);

#endif
