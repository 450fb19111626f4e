/*
 * AWS Signature Version 4: signing requests, signing URLs, and checking what others have signed.
 *
 * The algorithm is AWS's ("Create a signed AWS API request", Signature Version 4), as botocore's
 * signers carry it out: headers are folded to lower case and single blanks, repeated query keys are
 * sorted by value, and a path is normalised and encoded once more for signing, but for S3, where it
 * is signed as it stands. Paths and queries are those of the wire, percent-encoded; a piece of a
 * query that is not in the one canonical form is put into it first.
 *
 * Nothing here has a clock or keeps a key: the caller passes both. No text of a gg_error holds a
 * key or a signature.
 *
 * Threads: no shared state.
 */
#ifndef GG_NET_SIGV4_H
#define GG_NET_SIGV4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guessgym/buf.h>

#include "core/digest.h"

#define GG_SIGV4_ALGORITHM   "AWS4-HMAC-SHA256"
#define GG_SIGV4_UNSIGNED    "UNSIGNED-PAYLOAD"
#define GG_SIGV4_STAMP_ROOM  17         /* "20261130T120000Z" */
#define GG_SIGV4_SKEW_S      900        /* how far a signer's clock may be off */
#define GG_SIGV4_EXPIRES_MAX 604800     /* of a signed URL: seven days */
#define GG_SIGV4_HEADERS_MAX 64         /* signed headers of one request */
#define GG_SIGV4_TEXT_MAX    (1u << 20) /* bytes of a request's head in canonical form */
#define GG_SIGV4_NAME_ROOM   129        /* a key's id, a region, a service */

/* Keys of one signer. */
typedef struct gg_aws_keys {
    const char *id, *secret;
    const char *token; /* of temporary keys; NULL or "" = none */
} gg_aws_keys;

/* Where a signature holds, and when it was made. */
typedef struct gg_sigv4_scope {
    const char *region, *service;
    int64_t time_s; /* Unix time */
} gg_sigv4_scope;

typedef struct gg_sigv4_header {
    const char *name, *value;
} gg_sigv4_header;

/* A request to be signed. */
typedef struct gg_sigv4_request {
    const char *method;
    const char *path;               /* NULL or "" = "/" */
    const char *query;              /* without its '?'; NULL = none */
    const gg_sigv4_header *headers; /* to be signed, Host among them; any order */
    size_t header_count;
    const char *payload_hash; /* SHA-256 of the body in hex, or GG_SIGV4_UNSIGNED */
    bool s3;                  /* path as it stands; X-Amz-Content-Sha256 is sent and signed */
} gg_sigv4_request;

/* "20261130T120000Z"; "" for times before 1970 or after 9999. */
void gg_sigv4_stamp(int64_t time_s, char out[GG_SIGV4_STAMP_ROOM]);
/* The reverse; false for another form. */
bool gg_sigv4_time(const char *stamp, int64_t *time_s);
/* Appends text percent-encoded as AWS wants it: all but letters, digits and "-._~" (and '/' when
 * `keep_slash`). */
void gg_sigv4_encode(gg_buf *out, const char *text, size_t len, bool keep_slash);

/* Appends the header lines that sign the request, each "Name: value\n": X-Amz-Date, then
 * X-Amz-Security-Token and (for S3) X-Amz-Content-Sha256 where they are due, then Authorization.
 * These must not be among the request's own headers. */
gg_status gg_sigv4_sign(const gg_aws_keys *keys, const gg_sigv4_scope *scope,
                        const gg_sigv4_request *request, gg_buf *lines, gg_error *error);
/* Appends the query, without '?', that signs the request for `expires_s` seconds: its own query,
 * then X-Amz-Algorithm, -Credential, -Date, -Expires, -SignedHeaders, -Security-Token for temporary
 * keys, -Signature. */
gg_status gg_sigv4_presign(const gg_aws_keys *keys, const gg_sigv4_scope *scope,
                           const gg_sigv4_request *request, int64_t expires_s, gg_buf *query,
                           gg_error *error);

/* ------------------------------------------------------------------ checking */

/* What a signed request says of itself, taken apart; nothing of it is proven yet. */
typedef struct gg_sigv4_claim {
    char key_id[GG_SIGV4_NAME_ROOM], region[GG_SIGV4_NAME_ROOM], service[GG_SIGV4_NAME_ROOM];
    char day[9]; /* of the scope */
    char stamp[GG_SIGV4_STAMP_ROOM];
    int64_t time_s;
    int64_t expires_s;         /* of a signed URL; 0 = header signed */
    char signed_headers[1024]; /* "host;x-amz-date" */
    char signature[GG_DIGEST_HEX];
} gg_sigv4_claim;

/* From an Authorization header (`date`: the X-Amz-Date header), or a query. GG_E_FORMAT with what
 * is wrong. The session token is not in the claim: compare the header X-Amz-Security-Token, or
 * gg_sigv4_query_value's, with the key's. */
gg_status gg_sigv4_claim_header(const char *authorization, const char *date, gg_sigv4_claim *out,
                                gg_error *error);
gg_status gg_sigv4_claim_query(const char *query, gg_sigv4_claim *out, gg_error *error);
/* The decoded value of the query's first parameter of that name; false when there is none. */
bool gg_sigv4_query_value(const char *query, const char *name, gg_buf *out);

/* A received request. `header` gives the value of a header by its name in lower case, or NULL. */
typedef struct gg_sigv4_received {
    const char *method, *path, *query; /* as in gg_sigv4_request; X-Amz-Signature is left out */
    const char *(*header)(void *context, const char *name);
    void *context;
    const char *payload_hash; /* of the body that came, or what X-Amz-Content-Sha256 says of it
                                 where that is no digest */
    bool s3;
} gg_sigv4_received;

typedef enum gg_sigv4_verdict {
    GG_SIGV4_GOOD,
    GG_SIGV4_MISMATCH, /* another key, or the request was changed on its way */
    GG_SIGV4_EXPIRED,  /* too old */
    GG_SIGV4_EARLY,    /* from the future */
    GG_SIGV4_UNFIT     /* host is not signed, a signed header is missing, scope and date differ */
} gg_sigv4_verdict;
const char *gg_sigv4_verdict_text(gg_sigv4_verdict verdict); /* a clause for an error message */

/* Whether `secret` signed the request that the claim belongs to. The caller has looked up the
 * secret by the claim's key_id, and checks region, service and session token itself. */
gg_sigv4_verdict gg_sigv4_check(const gg_sigv4_received *request, const gg_sigv4_claim *claim,
                                const char *secret, int64_t now_s);

#endif
