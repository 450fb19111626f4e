/*
 * Who sends a request: signatures (Signature Version 4, in the header or the query) and bearer
 * tokens, checked against the one pair of keys that the service was started with. Without keys they
 * are taken apart for their region and not verified.
 *
 * Threads: any.
 */
#ifndef GG_SERVICE_AUTH_H
#define GG_SERVICE_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/server.h"

#define GG_AUTH_REGION_ROOM 32

typedef struct gg_auth gg_auth;

/* NULL id or secret: nothing is verified. Everything is copied. */
gg_status gg_auth_open(const char *key_id, const char *secret, const char *token, gg_auth **out,
                       gg_error *error);
void gg_auth_close(gg_auth *auth); /* NULL is fine */
bool gg_auth_verifies(const gg_auth *auth);

/* What a request showed. */
typedef enum gg_auth_kind { GG_AUTH_NOTHING, GG_AUTH_SIGNED, GG_AUTH_BEARER } gg_auth_kind;

typedef struct gg_auth_result {
    gg_auth_kind kind;
    bool good; /* verified, or nothing is verified */
    char region[GG_AUTH_REGION_ROOM];
    bool region_given;
    const char *exception; /* when not good; static */
    const char *message;   /* likewise */
} gg_auth_result;

void gg_auth_look(gg_auth *auth, const gg_exchange *exchange, const gg_exchange_request *http,
                  int64_t now_s, gg_auth_result *out);

/* What the managed runtime says to a token that it does not take. */
#define GG_AUTH_BAD_TOKEN "Authentication failed: Please make sure your API Key is valid"

#endif
