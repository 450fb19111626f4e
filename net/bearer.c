#include "net/bearer.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#define HOST         "sagemaker.amazonaws.com"
#define ACTION       "Action=CallWithBearerToken"
#define VERSION      "&Version=1" /* not signed */
#define EMPTY_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void add_base64(gg_buf *out, const char *text, size_t len)
{
    unsigned char *code = malloc(4 * (len / 3 + 1) + 1);
    if (!code) {
        out->status = GG_E_MEMORY;
        return;
    }
    int made = EVP_EncodeBlock(code, (const unsigned char *)text, (int)len);
    gg_buf_add(out, code, (size_t)made);
    free(code);
}

gg_status gg_bearer_make(const gg_aws_keys *keys, const char *region, int64_t time_s,
                         int64_t expires_s, gg_buf *out, gg_error *error)
{
    const gg_sigv4_header host = {"host", HOST};
    const gg_sigv4_request request = {.method = "POST",
                                      .path = "/",
                                      .query = ACTION,
                                      .headers = &host,
                                      .header_count = 1,
                                      .payload_hash = EMPTY_SHA256};
    const gg_sigv4_scope scope = {region, GG_BEARER_SERVICE, time_s};
    gg_buf url;

    if (expires_s < 1 || expires_s > GG_BEARER_EXPIRES_MAX)
        return gg_fail(error, GG_E_ARGUMENT, "a bearer token lasts from 1 to %d s, not %lld",
                       GG_BEARER_EXPIRES_MAX, (long long)expires_s);
    gg_buf_init(&url, GG_BEARER_MAX);
    gg_buf_str(&url, HOST "/?");
    gg_buf query;
    gg_buf_init(&query, GG_BEARER_MAX);
    gg_status status = gg_sigv4_presign(keys, &scope, &request, expires_s, &query, error);
    gg_buf_add(&url, gg_buf_cstr(&query), query.len);
    gg_buf_str(&url, VERSION);
    if (status == GG_OK)
        status = gg_buf_status(&url, "a bearer token", error);
    if (status == GG_OK) {
        gg_buf_str(out, GG_BEARER_PREFIX);
        add_base64(out, url.data, url.len);
        status = gg_buf_status(out, "a bearer token", error);
    }
    gg_buf_free(&query);
    gg_buf_free(&url);
    return status;
}

/* ------------------------------------------------------------------ checking */

static gg_status no_token(gg_error *error)
{
    return gg_fail(error, GG_E_FORMAT,
                   "the bearer token is not of the form that the runtime takes");
}

/* Appends the decoded bytes; false for text that is not padded base64. */
static bool add_plain(gg_buf *out, const char *code, size_t len)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t body = strspn(code, letters), padding = len - body;
    if (!len || len % 4 || len > GG_BEARER_MAX || padding > 2 ||
        strspn(code + body, "=") != padding)
        return false;
    unsigned char *plain = malloc(len / 4 * 3 + 1);
    int made = plain ? EVP_DecodeBlock(plain, (const unsigned char *)code, (int)len) : -1;
    if (made >= 0)
        gg_buf_add(out, plain, (size_t)made - padding);
    free(plain);
    return made >= 0 && out->status == GG_OK && strlen(gg_buf_cstr(out)) == out->len;
}

gg_status gg_bearer_open(const char *token, gg_buf *query, gg_sigv4_claim *out, gg_error *error)
{
    size_t prefix = strlen(GG_BEARER_PREFIX), head = strlen(HOST "/?"), tail = strlen(VERSION);
    gg_buf plain;

    gg_buf_reset(query);
    if (!token || strncmp(token, GG_BEARER_PREFIX, prefix) != 0)
        return no_token(error);
    gg_buf_init(&plain, GG_BEARER_MAX);
    bool good = add_plain(&plain, token + prefix, strlen(token + prefix)) &&
                plain.len > head + tail && strncmp(plain.data, HOST "/?", head) == 0 &&
                strcmp(plain.data + plain.len - tail, VERSION) == 0;
    if (good)
        gg_buf_add(query, plain.data + head, plain.len - head - tail);
    gg_buf_free(&plain);
    if (!good || query->status != GG_OK)
        return no_token(error);
    gg_buf action;
    gg_buf_init(&action, GG_BEARER_MAX);
    good = gg_sigv4_query_value(query->data, "Action", &action) &&
           strcmp(gg_buf_cstr(&action), strchr(ACTION, '=') + 1) == 0;
    gg_buf_free(&action);
    if (!good)
        return no_token(error);
    return gg_sigv4_claim_query(query->data, out, error);
}

static const char *header(void *context, const char *name)
{
    (void)context;
    return strcmp(name, "host") == 0 ? HOST : NULL;
}

gg_sigv4_verdict gg_bearer_check(const char *query, const gg_sigv4_claim *claim, const char *secret,
                                 int64_t now_s)
{
    const gg_sigv4_received request = {.method = "POST",
                                       .path = "/",
                                       .query = query,
                                       .header = header,
                                       .payload_hash = EMPTY_SHA256};
    if (strcmp(claim->service, GG_BEARER_SERVICE) != 0 || claim->expires_s > GG_BEARER_EXPIRES_MAX)
        return GG_SIGV4_UNFIT;
    return gg_sigv4_check(&request, claim, secret, now_s);
}
