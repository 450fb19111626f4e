/* A base URL taken apart, and the secrets that must not be shown. Private to net/endpoint.c. */
#ifndef GG_NET_ADDRESS_H
#define GG_NET_ADDRESS_H

#include <stdbool.h>

#include <guessgym/buf.h>

#define GG_SECRET_MIN   4  /* shorter pieces are words, not keys */
#define GG_SECRET_SURE  8  /* from here on a piece with a digit or a sign in it is surely a key */
#define GG_SECRET_LONG  16 /* from here on any piece is; a shorter one may be a placeholder */
#define GG_SECRET_COUNT 64

typedef struct gg_address {
    char *base;        /* up to the query, user info included, no trailing slash */
    const char *query; /* with its '?', "" when there is none */
    char *shown;       /* without user info and query */
    bool versioned;    /* some part of the path is "v1" or the like */
} gg_address;

/* GG_E_CONFIG with a sentence (that does not show secrets) for what is no http(s) URL. */
gg_status gg_address_parse(const char *url, gg_address *out, gg_error *error);
void gg_address_free(gg_address *address);

/* Texts to be hidden. */
typedef struct gg_secrets {
    char *items[GG_SECRET_COUNT];
    size_t count;
} gg_secrets;

void gg_secrets_add_url(gg_secrets *secrets, const char *url);     /* user info, query values */
void gg_secrets_add_header(gg_secrets *secrets, const char *line); /* when its name tells a key */
void gg_secrets_free(gg_secrets *secrets);
/* Replaces each secret in the text from `start` on by "[hidden]". */
void gg_secrets_hide(const gg_secrets *secrets, gg_buf *text, size_t start);
/* Overwrites each secret that is a key for sure by as many '*', so that JSON stays JSON. */
void gg_secrets_blank(const gg_secrets *secrets, char *text, size_t len);

#endif
