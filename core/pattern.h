/*
 * Regular expressions (PCRE2) on bytes of strangers: bounded work, no UTF mode, so that any bytes
 * may be looked at.
 *
 * Threads: a compiled pattern is immutable and shared by threads.
 */
#ifndef GG_CORE_PATTERN_H
#define GG_CORE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include <guessgym/error.h>

#define GG_PATTERN_STEPS 100000 /* of one match; a text that needs more does not match */

typedef struct gg_pattern gg_pattern;

/* The caller frees. A faulty expression is GG_E_ARGUMENT with PCRE2's sentence and the place. */
gg_status gg_pattern_compile(const char *expression, gg_pattern **out, gg_error *error);
void gg_pattern_free(gg_pattern *pattern);
/* The expression fits the whole text. Short memory counts as no match. */
bool gg_pattern_is(const gg_pattern *pattern, const char *text, size_t len);

#endif
