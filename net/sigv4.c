#include "net/sigv4_inside.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The headers of a request to be signed, sorted, with those that signing adds. */
typedef struct head {
    gg_sigv4_header rows[GG_SIGV4_HEADERS_MAX + 3];
    size_t count;
    gg_buf names;
} head;

static int by_name(const void *a, const void *b)
{
    const gg_sigv4_header *x = a, *y = b;
    return strcasecmp(x->name, y->name);
}

static const char *find_header(void *context, const char *name)
{
    const head *h = context;
    for (size_t i = 0; i < h->count; i++)
        if (strcasecmp(h->rows[i].name, name) == 0)
            return h->rows[i].value;
    return NULL;
}

static void head_add(head *h, const char *name, const char *value)
{
    h->rows[h->count++] = (gg_sigv4_header){name, value};
}

static gg_status head_seal(head *h, gg_error *error)
{
    qsort(h->rows, h->count, sizeof *h->rows, by_name);
    for (size_t i = 0; i < h->count; i++) {
        if (i && by_name(&h->rows[i - 1], &h->rows[i]) == 0)
            return gg_fail(error, GG_E_ARGUMENT, "header %s is to be signed twice",
                           h->rows[i].name);
        if (i)
            gg_buf_char(&h->names, ';');
        for (const char *c = h->rows[i].name; *c; c++)
            gg_buf_char(&h->names, (char)tolower((unsigned char)*c));
    }
    return gg_buf_status(&h->names, "the names of signed headers", error);
}

static gg_status head_begin(head *h, const gg_aws_keys *keys, const gg_sigv4_request *request,
                            gg_error *error)
{
    h->count = 0;
    gg_buf_init(&h->names, GG_SIGV4_TEXT_MAX);
    if (!keys->id || !*keys->id || !keys->secret || !*keys->secret)
        return gg_fail(error, GG_E_CONFIG, "there is no access key to sign with");
    if (request->header_count > GG_SIGV4_HEADERS_MAX)
        return gg_fail(error, GG_E_LIMIT, "a request signs at most %d headers",
                       GG_SIGV4_HEADERS_MAX);
    for (size_t i = 0; i < request->header_count; i++)
        head_add(h, request->headers[i].name, request->headers[i].value);
    if (!find_header(h, "host"))
        return gg_fail(error, GG_E_ARGUMENT, "a request is signed with its Host header");
    return GG_OK;
}

static gg_status stamp_of(const gg_sigv4_scope *scope, char stamp[GG_SIGV4_STAMP_ROOM],
                          gg_error *error)
{
    gg_sigv4_stamp(scope->time_s, stamp);
    if (!*stamp)
        return gg_fail(error, GG_E_ARGUMENT, "the clock's time cannot be signed");
    return GG_OK;
}

static gg_sigv4_matter matter_of(const gg_sigv4_request *request, const gg_sigv4_scope *scope,
                                 const char *stamp, head *h)
{
    return (gg_sigv4_matter){.method = request->method,
                             .path = request->path,
                             .query = request->query,
                             .signed_headers = gg_buf_cstr(&h->names),
                             .header = find_header,
                             .context = h,
                             .payload_hash = request->payload_hash,
                             .s3 = request->s3,
                             .region = scope->region,
                             .service = scope->service,
                             .stamp = stamp};
}

static bool has_token(const gg_aws_keys *keys)
{
    return keys->token && *keys->token;
}

gg_status gg_sigv4_sign(const gg_aws_keys *keys, const gg_sigv4_scope *scope,
                        const gg_sigv4_request *request, gg_buf *lines, gg_error *error)
{
    head h;
    char stamp[GG_SIGV4_STAMP_ROOM], signature[GG_DIGEST_HEX];
    gg_status status = head_begin(&h, keys, request, error);
    if (status == GG_OK)
        status = stamp_of(scope, stamp, error);
    if (status == GG_OK) {
        head_add(&h, "X-Amz-Date", stamp);
        if (has_token(keys))
            head_add(&h, "X-Amz-Security-Token", keys->token);
        if (request->s3)
            head_add(&h, "X-Amz-Content-Sha256", request->payload_hash);
        status = head_seal(&h, error);
    }
    if (status == GG_OK) {
        gg_sigv4_matter matter = matter_of(request, scope, stamp, &h);
        status = gg_sigv4_signature(&matter, keys->secret, signature, error);
    }
    if (status == GG_OK) {
        gg_buf_printf(lines, "X-Amz-Date: %s\n", stamp);
        if (has_token(keys))
            gg_buf_printf(lines, "X-Amz-Security-Token: %s\n", keys->token);
        if (request->s3)
            gg_buf_printf(lines, "X-Amz-Content-Sha256: %s\n", request->payload_hash);
        gg_buf_printf(lines,
                      "Authorization: " GG_SIGV4_ALGORITHM
                      " Credential=%s/%.8s/%s/%s/aws4_request, SignedHeaders=%s, Signature=%s\n",
                      keys->id, stamp, scope->region, scope->service, gg_buf_cstr(&h.names),
                      signature);
        status = gg_buf_status(lines, "the signature's headers", error);
    }
    gg_buf_free(&h.names);
    return status;
}

/* Appends "&name=value", the value encoded. */
static void add_parameter(gg_buf *query, size_t begun, const char *name, const char *value)
{
    if (query->len > begun)
        gg_buf_char(query, '&');
    gg_buf_printf(query, "%s=", name);
    gg_sigv4_encode(query, value, strlen(value), false);
}

/* All parameters but the signature. */
static void add_parameters(gg_buf *query, size_t begun, const gg_aws_keys *keys,
                           const gg_sigv4_scope *scope, const char *stamp, int64_t expires_s,
                           const char *signed_headers)
{
    gg_buf credential;
    gg_buf_init(&credential, GG_SIGV4_TEXT_MAX);
    gg_buf_printf(&credential, "%s/%.8s/%s/%s/aws4_request", keys->id, stamp, scope->region,
                  scope->service);
    add_parameter(query, begun, "X-Amz-Algorithm", GG_SIGV4_ALGORITHM);
    add_parameter(query, begun, "X-Amz-Credential", gg_buf_cstr(&credential));
    add_parameter(query, begun, "X-Amz-Date", stamp);
    gg_buf_str(query, "&X-Amz-Expires=");
    gg_buf_int(query, expires_s);
    add_parameter(query, begun, "X-Amz-SignedHeaders", signed_headers);
    if (has_token(keys))
        add_parameter(query, begun, "X-Amz-Security-Token", keys->token);
    if (credential.status != GG_OK)
        query->status = credential.status;
    gg_buf_free(&credential);
}

gg_status gg_sigv4_presign(const gg_aws_keys *keys, const gg_sigv4_scope *scope,
                           const gg_sigv4_request *request, int64_t expires_s, gg_buf *query,
                           gg_error *error)
{
    head h;
    char stamp[GG_SIGV4_STAMP_ROOM], signature[GG_DIGEST_HEX];
    size_t begun = query->len;
    gg_status status = head_begin(&h, keys, request, error);
    if (status == GG_OK)
        status = stamp_of(scope, stamp, error);
    if (status == GG_OK && (expires_s < 1 || expires_s > GG_SIGV4_EXPIRES_MAX))
        status = gg_fail(error, GG_E_ARGUMENT, "a signed address lasts from 1 to %d s, not %lld",
                         GG_SIGV4_EXPIRES_MAX, (long long)expires_s);
    if (status == GG_OK)
        status = head_seal(&h, error);
    if (status == GG_OK) {
        gg_buf_str(query, request->query ? request->query : "");
        add_parameters(query, begun, keys, scope, stamp, expires_s, gg_buf_cstr(&h.names));
        status = gg_buf_status(query, "a signed address", error);
    }
    if (status == GG_OK) {
        gg_sigv4_matter matter = matter_of(request, scope, stamp, &h);
        matter.query = query->data + begun;
        status = gg_sigv4_signature(&matter, keys->secret, signature, error);
    }
    if (status == GG_OK) {
        add_parameter(query, begun, GG_SIGV4_SIGNATURE_KEY, signature);
        status = gg_buf_status(query, "a signed address", error);
    }
    gg_buf_free(&h.names);
    return status;
}
