#include "net/signing.h"

#include <stdlib.h>
#include <string.h>

#define HEADERS_MAX 16
#define PART_MAX    2048

struct gg_signing {
    gg_credentials *credentials;
    gg_endpoint *endpoint;
    gg_credentials_waiter waiter;
    char *region, *service;
};

static void ready(gg_credentials_waiter *waiter)
{
    gg_signing *signing = (gg_signing *)((char *)waiter - offsetof(gg_signing, waiter));
    if (signing->endpoint)
        gg_endpoint_go_on(signing->endpoint);
}

gg_status gg_signing_new(gg_credentials *credentials, const char *region, const char *service,
                         gg_signing **out, gg_error *error)
{
    gg_signing *signing = calloc(1, sizeof *signing);
    if (signing) {
        signing->credentials = credentials;
        signing->waiter.ready = ready;
        signing->region = strdup(region);
        signing->service = strdup(service);
    }
    *out = signing;
    if (signing && signing->region && signing->service)
        return GG_OK;
    gg_signing_free(signing);
    *out = NULL;
    return gg_fail(error, GG_E_MEMORY, "out of memory for a signer");
}

void gg_signing_attach(gg_signing *signing, gg_endpoint *endpoint)
{
    signing->endpoint = endpoint;
}

void gg_signing_free(gg_signing *signing)
{
    if (!signing)
        return;
    gg_credentials_leave(signing->credentials, &signing->waiter);
    free(signing->region);
    free(signing->service);
    free(signing);
}

/* ---- one request ---- */

/* An address and its headers taken apart; the strings lie in `bytes`. */
typedef struct parts {
    char bytes[4 * PART_MAX];
    size_t used;
    gg_sigv4_header headers[HEADERS_MAX];
    size_t header_count;
    const char *path, *query;
    bool full;
} parts;

static const char *keep(parts *p, const char *text, size_t len)
{
    if (p->full || len >= sizeof p->bytes - p->used) {
        p->full = true;
        return "";
    }
    char *copy = p->bytes + p->used;
    memcpy(copy, text, len);
    copy[len] = '\0';
    p->used += len + 1;
    return copy;
}

static void add_header(parts *p, const char *name, size_t name_len, const char *value, size_t len)
{
    if (p->header_count == HEADERS_MAX) {
        p->full = true;
        return;
    }
    gg_sigv4_header *header = &p->headers[p->header_count++];
    header->name = keep(p, name, name_len);
    header->value = keep(p, value, len);
}

static void take_url(parts *p, const char *url)
{
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    size_t host_len = strcspn(host, "/?");
    const char *path = host + host_len, *query = strchr(path, '?');
    size_t path_len = query ? (size_t)(query - path) : strlen(path);

    add_header(p, "Host", 4, host, host_len);
    p->path = path_len ? keep(p, path, path_len) : "/";
    p->query = query ? keep(p, query + 1, strlen(query + 1)) : NULL;
}

static void take_lines(parts *p, const char *const *lines)
{
    for (; lines && *lines; lines++) {
        size_t name = strcspn(*lines, ":");
        bool counts = strncasecmp(*lines, "x-amz-", 6) == 0 ||
                      (name == 12 && strncasecmp(*lines, "content-type", 12) == 0);
        if (!counts || !(*lines)[name])
            continue;
        const char *value = *lines + name + 1;
        value += strspn(value, " ");
        add_header(p, *lines, name, value, strlen(value));
    }
}

gg_status gg_signing_sign(void *context, const gg_sign_request *request, gg_buf *lines,
                          gg_error *error)
{
    gg_signing *signing = context;
    char hash[GG_DIGEST_HEX];
    gg_aws_keys keys;
    parts p = {.used = 0};

    if (request->again)
        gg_credentials_forget(signing->credentials);
    gg_status status = gg_credentials_keys(signing->credentials, &keys, error);
    if (status == GG_E_STATE)
        gg_credentials_wait(signing->credentials, &signing->waiter);
    if (status != GG_OK)
        return status;
    take_url(&p, request->url);
    take_lines(&p, request->headers);
    if (p.full)
        return gg_fail(error, GG_E_LIMIT, "a request's address and headers are too long to sign");
    gg_sha256_hex(request->body ? request->body : "", request->body ? request->len : 0, hash);
    const gg_sigv4_scope scope = {signing->region, signing->service,
                                  gg_credentials_now(signing->credentials)};
    const gg_sigv4_request what = {.method = request->method,
                                   .path = p.path,
                                   .query = p.query,
                                   .headers = p.headers,
                                   .header_count = p.header_count,
                                   .payload_hash = hash};
    return gg_sigv4_sign(&keys, &scope, &what, lines, error);
}
