#include "service/auth.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "net/bearer.h"

#define BEARER      "Bearer "
#define TOKENS_KEPT 8 /* tokens that were good: agents show one of them a thousand times */

typedef struct kept_token {
    char *token;
    int64_t until_s;
    char region[GG_AUTH_REGION_ROOM];
} kept_token;

struct gg_auth {
    char *key_id, *secret, *token;
    pthread_mutex_t lock;
    kept_token kept[TOKENS_KEPT];
    size_t next;
};

gg_status gg_auth_open(const char *key_id, const char *secret, const char *token, gg_auth **out,
                       gg_error *error)
{
    gg_auth *auth = calloc(1, sizeof *auth);
    *out = NULL;
    if (!auth)
        return gg_fail(error, GG_E_MEMORY, "out of memory for the service's keys");
    pthread_mutex_init(&auth->lock, NULL);
    bool fine = true;
    if (key_id && secret) {
        auth->key_id = strdup(key_id);
        auth->secret = strdup(secret);
        auth->token = token && *token ? strdup(token) : NULL;
        fine = auth->key_id && auth->secret && (auth->token || !token || !*token);
    }
    if (fine) {
        *out = auth;
        return GG_OK;
    }
    gg_auth_close(auth);
    return gg_fail(error, GG_E_MEMORY, "out of memory for the service's keys");
}

void gg_auth_close(gg_auth *auth)
{
    if (!auth)
        return;
    for (size_t i = 0; i < TOKENS_KEPT; i++)
        free(auth->kept[i].token);
    free(auth->key_id);
    free(auth->secret);
    free(auth->token);
    pthread_mutex_destroy(&auth->lock);
    free(auth);
}

bool gg_auth_verifies(const gg_auth *auth)
{
    return auth->key_id != NULL;
}

/* ---- results ---- */

static void refuse(gg_auth_result *out, const char *exception, const char *message)
{
    out->good = false;
    out->exception = exception;
    out->message = message;
}

static void take_region(gg_auth_result *out, const gg_sigv4_claim *claim)
{
    size_t len = strlen(claim->region);
    out->region_given = len > 0 && len < sizeof out->region;
    if (out->region_given)
        memcpy(out->region, claim->region, len + 1);
}

/* The token that goes with temporary keys. */
static bool same_token(const gg_auth *auth, const char *shown)
{
    return !auth->token || (shown && strcmp(auth->token, shown) == 0);
}

static void judge(const gg_auth *auth, const gg_sigv4_claim *claim, gg_sigv4_verdict verdict,
                  const char *shown_token, gg_auth_result *out)
{
    if (strcmp(claim->key_id, auth->key_id) != 0 || !same_token(auth, shown_token))
        refuse(out, "UnrecognizedClientException",
               "The security token included in the request is invalid.");
    else if (verdict == GG_SIGV4_EXPIRED || verdict == GG_SIGV4_EARLY)
        refuse(out, "InvalidSignatureException", "Signature expired: check the sender's clock");
    else if (verdict != GG_SIGV4_GOOD)
        refuse(out, "InvalidSignatureException",
               "The request signature we calculated does not match the signature you provided. "
               "Check your AWS Secret Access Key and signing method.");
}

/* ---- signatures ---- */

/* "AWS4-HMAC-SHA256 Credential=KEY/20261130/us-west-2/sagemaker/aws4_request, ...": what is not
 * verified may be of any form around it. */
static bool scope_region(const char *authorization, char *out, size_t room)
{
    const char *at = authorization ? strstr(authorization, "Credential=") : NULL;
    for (int slash = 0; slash < 2 && at; slash++) {
        at = strchr(at, '/');
        at = at ? at + 1 : NULL;
    }
    size_t len = at ? strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;
    if (len == 0 || len >= room || at[len] != '/')
        return false;
    memcpy(out, at, len);
    out[len] = '\0';
    return true;
}

static const char *read_header(void *context, const char *name)
{
    return gg_exchange_header(context, name);
}

static void look_signed(const gg_auth *auth, const gg_exchange *exchange,
                        const gg_exchange_request *http, const char *authorization, int64_t now_s,
                        gg_auth_result *out)
{
    gg_sigv4_claim claim;
    gg_error error = {0};
    char hash[GG_DIGEST_HEX], path[4096];
    bool in_query = !authorization;
    gg_status status =
        in_query ? gg_sigv4_claim_query(http->query, &claim, &error)
                 : gg_sigv4_claim_header(authorization, gg_exchange_header(exchange, "X-Amz-Date"),
                                         &claim, &error);
    if (status != GG_OK && gg_auth_verifies(auth))
        refuse(out, "IncompleteSignatureException", "the request's signature cannot be read");
    else if (status != GG_OK)
        out->region_given = scope_region(authorization, out->region, sizeof out->region);
    if (status != GG_OK)
        return;
    take_region(out, &claim);
    if (!gg_auth_verifies(auth))
        return;
    const char *sent = gg_exchange_header(exchange, "X-Amz-Content-Sha256");
    gg_sha256_hex(http->body, http->body_len, hash);
    snprintf(path, sizeof path, "%.*s", (int)strcspn(http->target, "?"), http->target);
    const gg_sigv4_received received = {
        .method = http->method,
        .path = path,
        .query = http->query,
        .header = read_header,
        .context = (void *)(uintptr_t)exchange,
        .payload_hash = sent && strcmp(sent, GG_SIGV4_UNSIGNED) == 0 ? sent : hash};
    judge(auth, &claim, gg_sigv4_check(&received, &claim, auth->secret, now_s),
          gg_exchange_header(exchange, "X-Amz-Security-Token"), out);
}

/* ---- bearer tokens ---- */

static bool known(gg_auth *auth, const char *token, int64_t now_s, gg_auth_result *out)
{
    bool found = false;
    pthread_mutex_lock(&auth->lock);
    for (size_t i = 0; i < TOKENS_KEPT && !found; i++) {
        const kept_token *kept = &auth->kept[i];
        found = kept->token && kept->until_s > now_s && strcmp(kept->token, token) == 0;
        if (found) {
            memcpy(out->region, kept->region, sizeof out->region);
            out->region_given = true;
        }
    }
    pthread_mutex_unlock(&auth->lock);
    return found;
}

static void keep(gg_auth *auth, const char *token, const gg_sigv4_claim *claim,
                 const gg_auth_result *result)
{
    char *copy = strdup(token);
    if (!copy || !result->region_given) {
        free(copy); /* it is looked at again next time */
        return;
    }
    pthread_mutex_lock(&auth->lock);
    kept_token *kept = &auth->kept[auth->next++ % TOKENS_KEPT];
    free(kept->token);
    kept->token = copy;
    kept->until_s = claim->time_s + claim->expires_s;
    memcpy(kept->region, result->region, sizeof kept->region);
    pthread_mutex_unlock(&auth->lock);
}

static void look_bearer(gg_auth *auth, const char *token, int64_t now_s, gg_auth_result *out)
{
    gg_sigv4_claim claim;
    gg_error error = {0};
    gg_buf query, session;
    if (known(auth, token, now_s, out))
        return;
    gg_buf_init(&query, GG_BEARER_MAX);
    gg_buf_init(&session, GG_BEARER_MAX);
    gg_status status = gg_bearer_open(token, &query, &claim, &error);
    if (status == GG_OK) {
        take_region(out, &claim);
        bool has = gg_sigv4_query_value(query.data, "X-Amz-Security-Token", &session);
        if (gg_auth_verifies(auth))
            judge(auth, &claim, gg_bearer_check(query.data, &claim, auth->secret, now_s),
                  has ? gg_buf_cstr(&session) : NULL, out);
    } else if (gg_auth_verifies(auth)) {
        out->good = false;
    }
    if (!out->good)
        refuse(out, "AccessDeniedException", GG_AUTH_BAD_TOKEN);
    else if (status == GG_OK && gg_auth_verifies(auth))
        keep(auth, token, &claim, out);
    gg_buf_free(&query);
    gg_buf_free(&session);
}

void gg_auth_look(gg_auth *auth, const gg_exchange *exchange, const gg_exchange_request *http,
                  int64_t now_s, gg_auth_result *out)
{
    const char *authorization = gg_exchange_header(exchange, "Authorization");
    *out = (gg_auth_result){.good = true};
    if (authorization && strncasecmp(authorization, BEARER, strlen(BEARER)) == 0) {
        out->kind = GG_AUTH_BEARER;
        look_bearer(auth, authorization + strlen(BEARER), now_s, out);
    } else if (authorization || strstr(http->query, "X-Amz-Signature=")) {
        out->kind = GG_AUTH_SIGNED;
        look_signed(auth, exchange, http, authorization, now_s, out);
    } else if (gg_auth_verifies(auth)) {
        refuse(out, "MissingAuthenticationTokenException", "Missing Authentication Token");
    }
}
