/*
 * Bearer tokens for endpoints: made from the credentials, one a region, kept for a while.
 *
 * A signer is the `sign` hook of one endpoint. While the credentials are being fetched it lets the
 * endpoint hold its requests back, so that however many rollouts wait, one fetch serves them all.
 * When a token is refused it is made again, and the keys are asked for again; a storm of refusals
 * makes one new token.
 *
 * Threads: the loop's thread.
 */
#ifndef GG_NET_TOKENS_H
#define GG_NET_TOKENS_H

#include "net/bearer.h"
#include "net/credentials.h"
#include "net/endpoint.h"

#define GG_TOKEN_KEEP_S    300
#define GG_TOKEN_EXPIRES_S 43200
#define GG_TOKEN_FRESH_S   2 /* one that is refused at this age was another's refusal */

typedef struct gg_tokens gg_tokens;
typedef struct gg_signer gg_signer;

/* NULL when memory is short. The credentials outlive the tokens, the tokens the signers. */
gg_tokens *gg_tokens_new(gg_credentials *credentials);
void gg_tokens_free(gg_tokens *tokens);

gg_status gg_signer_new(gg_tokens *tokens, const char *region, gg_signer **out, gg_error *error);
/* The endpoint whose options name the signer; before anything is sent. */
void gg_signer_attach(gg_signer *signer, gg_endpoint *endpoint);
void gg_signer_free(gg_signer *signer);
/* A gg_endpoint_sign: the Authorization line. `context` is the signer. */
gg_status gg_signer_sign(void *context, const gg_sign_request *request, gg_buf *lines,
                         gg_error *error);

#endif
