/*
 * Signs an endpoint's requests with Signature Version 4, each attempt anew: the `sign` hook of the
 * control plane's endpoints. Signed are Host, Content-Type and every X-Amz- header.
 *
 * While the credentials are being fetched the endpoint holds its requests back. When a signature is
 * refused, the keys are asked for again.
 *
 * Threads: the loop's thread.
 */
#ifndef GG_NET_SIGNING_H
#define GG_NET_SIGNING_H

#include "net/credentials.h"
#include "net/endpoint.h"

typedef struct gg_signing gg_signing;

/* The strings are copied. The credentials outlive it. */
gg_status gg_signing_new(gg_credentials *credentials, const char *region, const char *service,
                         gg_signing **out, gg_error *error);
/* The endpoint whose options name it; before anything is sent. */
void gg_signing_attach(gg_signing *signing, gg_endpoint *endpoint);
/* After the endpoint. NULL is fine. */
void gg_signing_free(gg_signing *signing);
/* A gg_endpoint_sign. `context` is the gg_signing. */
gg_status gg_signing_sign(void *context, const gg_sign_request *request, gg_buf *lines,
                          gg_error *error);

#endif
