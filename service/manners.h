/*
 * Rules of a chat request that strict servers and templates hold their clients to.
 * `builtin:hostile` refuses what breaks one of them, which proves that our own requests are clean.
 */
#ifndef GG_SERVICE_MANNERS_H
#define GG_SERVICE_MANNERS_H

#include "core/json.h"

/* False when the request (an object) breaks a rule; then `why` tells which, with the place. */
bool gg_manners_check(const cJSON *request, gg_buf *why);

#endif
