/*
 * Scheme, host and port of an address, as the HTTP client itself will read it: whoever decides by
 * host where a key may go must not read a URL another way than the one who sends it.
 *
 * Threads: no shared state.
 */
#ifndef GG_NET_ORIGIN_H
#define GG_NET_ORIGIN_H

#include <stdbool.h>

#include <guessgym/buf.h>

#define GG_HOST_ROOM 256

typedef struct gg_origin {
    bool https;
    char host[GG_HOST_ROOM]; /* lower case; IPv6 in brackets */
    unsigned port;           /* the scheme's own when the address names none */
} gg_origin;

/* GG_E_CONFIG for what is no plain http(s) address: user names, queries, fragments, control
 * characters and odd host names are refused. `base`, which may be NULL, gets the address written
 * anew from its parts, without a slash at its end. */
gg_status gg_origin_parse(const char *url, gg_origin *out, gg_buf *base, gg_error *error);
bool gg_origin_same(const gg_origin *a, const gg_origin *b);

#endif
