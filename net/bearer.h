/*
 * The bearer token of the managed runtime: a signed address in base64.
 *
 * `POST https://sagemaker.amazonaws.com/?Action=CallWithBearerToken` is signed in its query
 * (service "sagemaker", the signed header is Host alone, no body); "https://" goes, "&Version=1"
 * comes behind it unsigned, and the text in base64 follows "sagemaker-api-key-". The form is the
 * SageMaker Python SDK's token generator's.
 *
 * Threads: no shared state. A token is a key: it goes into no record and no log.
 */
#ifndef GG_NET_BEARER_H
#define GG_NET_BEARER_H

#include "net/sigv4.h"

#define GG_BEARER_PREFIX      "sagemaker-api-key-"
#define GG_BEARER_SERVICE     "sagemaker"
#define GG_BEARER_EXPIRES_MAX 43200 /* s: twelve hours */
#define GG_BEARER_MAX         16384 /* bytes of a token */

/* Appends a token. */
gg_status gg_bearer_make(const gg_aws_keys *keys, const char *region, int64_t time_s,
                         int64_t expires_s, gg_buf *out, gg_error *error);

/* Takes a token apart (without "Bearer "): GG_E_FORMAT when it is none. `query` takes what
 * gg_bearer_check signs again; X-Amz-Security-Token can be read from it by gg_sigv4_query_value. */
gg_status gg_bearer_open(const char *token, gg_buf *query, gg_sigv4_claim *out, gg_error *error);
/* Whether `secret` signed it and it has not expired. The caller checks key id, region and session
 * token. A server that is shown one token many times keeps the verdict and the time it ends. */
gg_sigv4_verdict gg_bearer_check(const char *query, const gg_sigv4_claim *claim, const char *secret,
                                 int64_t now_s);

#endif
