/* Near misses: the known name that a mistyped one most likely meant. */
#ifndef GG_CORE_NEAR_H
#define GG_CORE_NEAR_H

#include <stddef.h>

#define GG_NEAR_MAX 64 /* longer names are never near */

/* Edits (insert, delete, replace, swap of neighbours: optimal string alignment) between two names;
 * GG_NEAR_MAX + 1 when either is longer than GG_NEAR_MAX. */
size_t gg_edit_distance(const char *a, const char *b);

/* The nearest of `count` names, the first of equals; NULL when none is within a third of the
 * text's length (at least one edit). NULL names are passed over. */
const char *gg_near_miss(const char *text, const char *const *names, size_t count);

#endif
