/* An S3 endpoint in path style: GetObject, PutObject, ListObjectsV2. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "net/http.h"
#include "net/sigv4.h"
#include "service/store_inside.h"

#define URL_MAX     8192
#define REPLY_MAX   (256u << 20)
#define LINES_MAX   8192
#define HEADERS_MAX 8
#define PAGES_MAX   (GG_STORE_LISTED / 1000 + 2)
#define BACKOFF_MS  200

typedef struct call {
    const char *method;
    const char *path, *query; /* encoded; query may be "" */
    const char *body;
    size_t len;
} call;

/* "s3://bucket/key" as a path: /bucket/key, encoded. `key` false leaves the key out. */
static gg_status path_of(const char *uri, bool key, gg_buf *out, gg_error *error)
{
    const char *rest = uri + strlen("s3://");
    size_t bucket = strcspn(rest, "/");
    gg_buf_init(out, URL_MAX);
    gg_buf_char(out, '/');
    gg_sigv4_encode(out, rest, key ? strlen(rest) : bucket, true);
    return gg_buf_status(out, "an S3 address", error);
}

/* Host of an endpoint's address, with its port. */
static void host_of(const char *endpoint, char *out, size_t room)
{
    const char *at = strstr(endpoint, "://");
    at = at ? at + 3 : endpoint;
    snprintf(out, room, "%.*s", (int)strcspn(at, "/"), at);
}

static gg_status sign(const gg_store *store, const call *c, gg_buf *lines, gg_error *error)
{
    char host[256], hash[GG_DIGEST_HEX];
    if (!store->key_id || !store->secret)
        return GG_OK;
    host_of(store->endpoint, host, sizeof host);
    gg_sha256_hex(c->body ? c->body : "", c->len, hash);
    const gg_aws_keys keys = {store->key_id, store->secret, store->token};
    const gg_sigv4_scope scope = {store->region, "s3", (int64_t)time(NULL)};
    const gg_sigv4_header headers[] = {{"Host", host}};
    const gg_sigv4_request request = {.method = c->method,
                                      .path = c->path,
                                      .query = c->query,
                                      .headers = headers,
                                      .header_count = 1,
                                      .payload_hash = hash,
                                      .s3 = true};
    return gg_sigv4_sign(&keys, &scope, &request, lines, error);
}

/* Cuts lines into a list of them. */
static void split(char *text, const char **list)
{
    size_t count = 0;
    for (char *at = text; at && *at && count < HEADERS_MAX;) {
        char *end = strchr(at, '\n');
        list[count++] = at;
        if (end)
            *end++ = '\0';
        at = end;
    }
    list[count] = NULL;
}

static gg_status once(const gg_store *store, const call *c, gg_buf *storage, gg_http_reply *reply,
                      gg_error *error)
{
    gg_buf url, lines;
    const char *headers[HEADERS_MAX + 2];
    gg_buf_init(&url, URL_MAX);
    gg_buf_init(&lines, LINES_MAX);
    gg_buf_printf(&url, "%s%s%s%s", store->endpoint, c->path, *c->query ? "?" : "", c->query);
    gg_status status = sign(store, c, &lines, error);
    if (status == GG_OK)
        status = gg_buf_status(&url, "an S3 address", error);
    if (status == GG_OK && c->body)
        gg_buf_str(&lines, "Content-Type: application/octet-stream\n");
    if (status == GG_OK)
        status = gg_buf_status(&lines, "a request's headers", error);
    if (status == GG_OK) {
        split(lines.data, headers);
        const gg_http_request request = {.method = c->method,
                                         .url = url.data,
                                         .headers = headers,
                                         .body = c->body,
                                         .body_len = c->len,
                                         .timeout_ms = GG_STORE_TIMEOUT_MS,
                                         .reply_max = REPLY_MAX};
        status = gg_http_call(&request, storage, reply, error);
    }
    gg_buf_free(&url);
    gg_buf_free(&lines);
    return status;
}

/* The <Code> or <Message> of an S3 error, else the body's start. */
static void reason(const gg_http_reply *reply, char *out, size_t room)
{
    const char *at = strstr(reply->body, "<Message>"), *end = at ? strstr(at, "</Message>") : NULL;
    if (end)
        snprintf(out, room, "%.*s", (int)(end - at - 9 > 200 ? 200 : end - at - 9), at + 9);
    else
        snprintf(out, room, "%.200s", reply->body);
}

static gg_status told(const gg_store *store, const char *uri, const gg_http_reply *reply,
                      gg_error *error)
{
    char text[256];
    if (reply->transport != GG_TRANSPORT_OK)
        return gg_fail(error, GG_E_UNREACHABLE, "%s at %s: %s", uri, store->endpoint,
                       reply->detail);
    reason(reply, text, sizeof text);
    return gg_fail(error, GG_E_IO, "%s at %s: HTTP %d %s", uri, store->endpoint, reply->status,
                   text);
}

/* Retries what may pass; the reply's strings live in `storage`. */
static gg_status run(const gg_store *store, const char *uri, const call *c, gg_buf *storage,
                     gg_http_reply *reply, gg_error *error)
{
    gg_status status = GG_OK;
    for (int attempt = 0; attempt < GG_STORE_ATTEMPTS; attempt++) {
        if (attempt)
            nanosleep(&(struct timespec){.tv_nsec = (long)(BACKOFF_MS << attempt) * 500000L}, NULL);
        gg_buf_free(storage); /* the call begins it anew */
        status = once(store, c, storage, reply, error);
        if (status != GG_OK)
            return status;
        bool passing =
            reply->transport != GG_TRANSPORT_OK || reply->status >= 500 || reply->status == 429;
        if (!passing)
            break;
    }
    bool good = reply->transport == GG_TRANSPORT_OK && reply->status / 100 == 2;
    return good ? GG_OK : told(store, uri, reply, error);
}

gg_status gg_s3_get(const gg_store *store, const char *uri, gg_buf *out, gg_error *error)
{
    gg_buf path, storage = {0};
    gg_http_reply reply;
    gg_status status = path_of(uri, true, &path, error);
    const call c = {"GET", gg_buf_cstr(&path), "", NULL, 0};
    if (status == GG_OK)
        status = run(store, uri, &c, &storage, &reply, error);
    if (status == GG_OK) {
        gg_buf_add(out, reply.body, reply.len);
        status = gg_buf_status(out, uri, error);
    }
    gg_buf_free(&path);
    gg_buf_free(&storage);
    return status;
}

gg_status gg_s3_put(const gg_store *store, const char *uri, const char *bytes, size_t len,
                    gg_error *error)
{
    gg_buf path, storage = {0};
    gg_http_reply reply;
    gg_status status = path_of(uri, true, &path, error);
    const call c = {"PUT", gg_buf_cstr(&path), "", bytes, len};
    if (status == GG_OK)
        status = run(store, uri, &c, &storage, &reply, error);
    gg_buf_free(&path);
    gg_buf_free(&storage);
    return status;
}

/* ---- listing ---- */

/* The text of the next <tag> from *at on, its entities undone; false at the end. */
static bool next_text(const char **at, const char *tag, gg_buf *out)
{
    static const char *const entities[][2] = {
        {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}};
    char open[40], close[40];
    snprintf(open, sizeof open, "<%s>", tag);
    snprintf(close, sizeof close, "</%s>", tag);
    const char *start = strstr(*at, open), *end = start ? strstr(start, close) : NULL;
    if (!end)
        return false;
    gg_buf_reset(out);
    for (const char *p = start + strlen(open); p < end;) {
        size_t i = 0, count = sizeof entities / sizeof *entities;
        while (i < count && strncmp(p, entities[i][0], strlen(entities[i][0])) != 0)
            i++;
        gg_buf_add(out, i < count ? entities[i][1] : p, 1);
        p += i < count ? strlen(entities[i][0]) : 1;
    }
    *at = end + strlen(close);
    return out->status == GG_OK;
}

static gg_status take_keys(const char *body, const char *bucket, size_t bucket_len,
                           const char *prefix, gg_store_list *out, gg_error *error)
{
    gg_status status = GG_OK;
    gg_buf key, uri;
    size_t len = strlen(prefix);
    gg_buf_init(&key, GG_STORE_URI_MAX);
    gg_buf_init(&uri, 2 * GG_STORE_URI_MAX);
    while (status == GG_OK && next_text(&body, "Key", &key)) {
        const char *text = gg_buf_cstr(&key);
        bool folder = key.len && text[key.len - 1] == '/';
        bool below = len == 0 || prefix[len - 1] == '/' || text[len] == '\0' || text[len] == '/';
        if (folder || !below || strncmp(text, prefix, len) != 0)
            continue;
        gg_buf_reset(&uri);
        gg_buf_printf(&uri, "s3://%.*s/%s", (int)bucket_len, bucket, text);
        status = gg_buf_status(&uri, "an S3 address", error);
        if (status == GG_OK)
            status = gg_store_push(out, uri.data, error);
    }
    gg_buf_free(&key);
    gg_buf_free(&uri);
    return status;
}

/* The query of one page, its names sorted. */
static gg_status page_query(const gg_buf *token, const char *prefix, gg_buf *query, gg_error *error)
{
    gg_buf_reset(query);
    if (token->len) {
        gg_buf_str(query, "continuation-token=");
        gg_sigv4_encode(query, token->data, token->len, false);
        gg_buf_char(query, '&');
    }
    gg_buf_str(query, "list-type=2&prefix=");
    gg_sigv4_encode(query, prefix, strlen(prefix), false);
    return gg_buf_status(query, "an S3 address", error);
}

/* One object of exactly this name stands for itself alone. */
static void keep_exact(const char *uri, gg_store_list *out)
{
    for (size_t i = 0; i < out->count; i++)
        if (strcmp(out->uris[i], uri) == 0) {
            char *own = out->uris[i];
            out->uris[i] = NULL;
            for (size_t k = 0; k < out->count; k++)
                free(out->uris[k]);
            out->uris[0] = own;
            out->count = 1;
            return;
        }
}

gg_status gg_s3_find(const gg_store *store, const char *uri, gg_store_list *out, gg_error *error)
{
    const char *bucket = uri + strlen("s3://");
    size_t bucket_len = strcspn(bucket, "/");
    const char *prefix = bucket[bucket_len] ? bucket + bucket_len + 1 : "";
    gg_buf path, query, token, storage = {0};
    gg_http_reply reply;
    gg_buf_init(&query, URL_MAX);
    gg_buf_init(&token, URL_MAX);
    gg_status status = path_of(uri, false, &path, error);
    bool more = true;
    for (int page = 0; status == GG_OK && more && page < PAGES_MAX; page++) {
        status = page_query(&token, prefix, &query, error);
        const call c = {"GET", gg_buf_cstr(&path), gg_buf_cstr(&query), NULL, 0};
        if (status == GG_OK)
            status = run(store, uri, &c, &storage, &reply, error);
        if (status == GG_OK)
            status = take_keys(reply.body, bucket, bucket_len, prefix, out, error);
        const char *at = status == GG_OK ? reply.body : "";
        more = next_text(&at, "NextContinuationToken", &token);
    }
    gg_buf_free(&path);
    gg_buf_free(&query);
    gg_buf_free(&storage);
    gg_buf_free(&token);
    keep_exact(uri, out);
    return status;
}
