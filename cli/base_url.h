/*
 * Base addresses as people type them, and what was probably meant. Pure functions.
 *
 * Wanted is what the paths of the API are appended to: "http://127.0.0.1:8000/v1". Seen are a
 * missing scheme, a trailing slash, the path of one call, a missing or doubled "/v1".
 */
#ifndef GG_CLI_BASE_URL_H
#define GG_CLI_BASE_URL_H

#include <stddef.h>

#define GG_BASE_URL_MAX   2048
#define GG_BASE_URL_TRIES 5

typedef struct gg_base_url {
    char url[GG_BASE_URL_MAX];
    /* What is wrong with the given address if this one is right: half a sentence; NULL = nothing.
     */
    const char *fault;
} gg_base_url;

/* Addresses to try, likeliest first; the first is the given one, tidied. At least one, unless the
 * text is too long. Each differs from those before it. */
size_t gg_base_url_tries(const char *given, gg_base_url out[GG_BASE_URL_TRIES]);

#endif
