/* What signing (net/sigv4.c) and checking (net/sigv4_check.c) share. */
#ifndef GG_NET_SIGV4_INSIDE_H
#define GG_NET_SIGV4_INSIDE_H

#include "net/sigv4.h"

#define GG_SIGV4_SIGNATURE_KEY "X-Amz-Signature"

/* Everything that is signed. */
typedef struct gg_sigv4_matter {
    const char *method, *path, *query;
    const char *signed_headers; /* names, sorted, ';' between */
    const char *(*header)(void *context, const char *name);
    void *context;
    const char *payload_hash;
    bool s3;
    const char *region, *service, *stamp;
} gg_sigv4_matter;

/* The signature in hex. GG_E_ARGUMENT when a signed header is not there. */
gg_status gg_sigv4_signature(const gg_sigv4_matter *matter, const char *secret,
                             char out[GG_DIGEST_HEX], gg_error *error);
/* Appends one query piece, decoded. A '+' stays one. */
void gg_sigv4_decode(gg_buf *out, const char *text, size_t len);

#endif
