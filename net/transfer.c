#include "net/transfer.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define KEPT_REPLY_ROOM (1u << 20) /* a reply buffer that grew beyond this is not kept */
#define NAME_LOOKED_UP  (-1L)      /* host names stay known until a connection fails */
#define KEEPALIVE_S     30L
#define KEEPALIVE_GAP_S 15L

static const char *const TRANSPORT_NAMES[] = {
    [GG_TRANSPORT_OK] = "ok",           [GG_TRANSPORT_RESOLVE] = "resolve",
    [GG_TRANSPORT_CONNECT] = "connect", [GG_TRANSPORT_TLS] = "tls",
    [GG_TRANSPORT_TIMEOUT] = "timeout", [GG_TRANSPORT_RESET] = "reset",
    [GG_TRANSPORT_TOO_BIG] = "too_big", [GG_TRANSPORT_OTHER] = "other",
};

static const struct {
    CURLcode code;
    gg_transport transport;
} TRANSPORTS[] = {
    {CURLE_OK, GG_TRANSPORT_OK},
    {CURLE_COULDNT_RESOLVE_HOST, GG_TRANSPORT_RESOLVE},
    {CURLE_COULDNT_RESOLVE_PROXY, GG_TRANSPORT_RESOLVE},
    {CURLE_COULDNT_CONNECT, GG_TRANSPORT_CONNECT},
    {CURLE_PROXY, GG_TRANSPORT_CONNECT},
    {CURLE_SSL_CONNECT_ERROR, GG_TRANSPORT_TLS},
    {CURLE_PEER_FAILED_VERIFICATION, GG_TRANSPORT_TLS},
    {CURLE_SSL_CERTPROBLEM, GG_TRANSPORT_TLS},
    {CURLE_SSL_CIPHER, GG_TRANSPORT_TLS},
    {CURLE_SSL_CACERT_BADFILE, GG_TRANSPORT_TLS},
    {CURLE_SSL_ISSUER_ERROR, GG_TRANSPORT_TLS},
    {CURLE_OPERATION_TIMEDOUT, GG_TRANSPORT_TIMEOUT},
    {CURLE_GOT_NOTHING, GG_TRANSPORT_RESET},
    {CURLE_SEND_ERROR, GG_TRANSPORT_RESET},
    {CURLE_RECV_ERROR, GG_TRANSPORT_RESET},
    {CURLE_PARTIAL_FILE, GG_TRANSPORT_RESET},
    {CURLE_SEND_FAIL_REWIND, GG_TRANSPORT_RESET},
    {CURLE_WRITE_ERROR, GG_TRANSPORT_TOO_BIG}, /* our own writer refused */
};

static const struct {
    CURLoption option;
    long value;
} FIXED[] = {
    {CURLOPT_NOSIGNAL, 1L},
    {CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1},
    {CURLOPT_CONNECTTIMEOUT_MS, GG_HTTP_CONNECT_MS},
    {CURLOPT_MAXAGE_CONN, GG_HTTP_IDLE_REUSE_S},
    {CURLOPT_DNS_CACHE_TIMEOUT, NAME_LOOKED_UP},
    {CURLOPT_TCP_NODELAY, 1L},
    {CURLOPT_TCP_KEEPALIVE, 1L},
    {CURLOPT_TCP_KEEPIDLE, KEEPALIVE_S},
    {CURLOPT_TCP_KEEPINTVL, KEEPALIVE_GAP_S},
    {CURLOPT_FOLLOWLOCATION, 0L},
};

static const struct {
    const char *name;
    size_t field;
} HEADERS[] = {
    {"Retry-After", offsetof(gg_http_reply, retry_after)},
    {"retry-after-ms", offsetof(gg_http_reply, retry_after_ms)},
    {"x-should-retry", offsetof(gg_http_reply, should_retry)},
    {"x-ratelimit-reset-requests", offsetof(gg_http_reply, reset_requests)},
    {"x-ratelimit-reset-tokens", offsetof(gg_http_reply, reset_tokens)},
    {"x-amzn-requestid", offsetof(gg_http_reply, request_id)},
    {"x-request-id", offsetof(gg_http_reply, request_id)},
    {"x-amzn-errortype", offsetof(gg_http_reply, error_type)},
    {"Location", offsetof(gg_http_reply, location)},
};

const char *gg_transport_name(gg_transport transport)
{
    return transport < GG_TRANSPORT_COUNT ? TRANSPORT_NAMES[transport] : "other";
}

gg_transport gg_transfer_result(gg_transfer *t, CURLcode code)
{
    curl_off_t connected = 0;
    for (size_t i = 0; i < sizeof TRANSPORTS / sizeof *TRANSPORTS; i++)
        if (TRANSPORTS[i].code == code) {
            if (code == CURLE_OPERATION_TIMEDOUT)
                curl_easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
            bool never = code == CURLE_OPERATION_TIMEDOUT && connected == 0;
            return never ? GG_TRANSPORT_CONNECT : TRANSPORTS[i].transport;
        }
    return GG_TRANSPORT_OTHER;
}

/* ---- reply buffers: taken with the first byte, so that thousands of waiting transfers hold none
 * ---- */

static gg_buf *take_reply(gg_transfer *t)
{
    gg_http *http = t->http;
    gg_buf *buf = http->reply_count ? http->replies[--http->reply_count] : calloc(1, sizeof *buf);
    if (buf)
        buf->maximum = t->reply_max;
    return buf;
}

static void drop_reply(gg_buf *buf)
{
    gg_buf_free(buf);
    free(buf);
}

void gg_transfer_give_reply(gg_transfer *t)
{
    gg_http *http = t->http;
    gg_buf *buf = t->reply;
    t->reply = NULL;
    if (!buf)
        return;
    if (http->reply_count == http->reply_room) {
        size_t room = http->reply_room * 2 + 8;
        gg_buf **grown = realloc(http->replies, room * sizeof(gg_buf *));
        if (grown) {
            http->replies = grown;
            http->reply_room = room;
        }
    }
    if (http->reply_count == http->reply_room || buf->room > KEPT_REPLY_ROOM) {
        drop_reply(buf);
        return;
    }
    gg_buf_reset(buf);
    http->replies[http->reply_count++] = buf;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
    gg_transfer *t = context;
    if (!t->reply)
        t->reply = take_reply(t);
    if (!t->reply)
        return 0;
    gg_buf_add(t->reply, bytes, size * count);
    return t->reply->status == GG_OK ? size * count : 0;
}

void gg_replies_free(gg_http *http)
{
    for (size_t i = 0; i < http->reply_count; i++)
        drop_reply(http->replies[i]);
    free(http->replies);
}

/* ---- easy handles ---- */

static curl_socket_t on_open_socket(void *context, curlsocktype purpose,
                                    struct curl_sockaddr *address)
{
    (void)purpose;
    gg_transfer *t = context;
    if (t->host && t->host->scout == t) {
        t->host->known = true; /* there is an address to connect to */
        t->http->release = true;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static int on_close_socket(void *context, curl_socket_t fd)
{
    return gg_lanes_close_socket(context, fd);
}

void gg_transfer_free(gg_transfer *t)
{
    if (!t)
        return;
    curl_easy_cleanup(t->easy);
    curl_slist_free_all(t->headers);
    curl_slist_free_all(t->resolve);
    free(t->method);
    free(t->url);
    free(t->unix_socket);
    if (t->reply)
        drop_reply(t->reply);
    free(t);
}

gg_transfer *gg_transfer_new(gg_http *http)
{
    gg_transfer *t = calloc(1, sizeof *t);
    if (!t || !(t->easy = curl_easy_init())) {
        free(t);
        return NULL;
    }
    t->http = http;
    for (size_t i = 0; i < sizeof FIXED / sizeof *FIXED; i++)
        curl_easy_setopt(t->easy, FIXED[i].option, FIXED[i].value);
    bool large = http->made++ < GG_HTTP_LARGE_COUNT;
    curl_easy_setopt(t->easy, CURLOPT_BUFFERSIZE,
                     large ? GG_HTTP_LARGE_BUFFER : GG_HTTP_SMALL_BUFFER);
    curl_easy_setopt(t->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(t->easy, CURLOPT_SHARE, http->names);
    curl_easy_setopt(t->easy, CURLOPT_ERRORBUFFER, t->detail);
    curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
    curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(t->easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
    curl_easy_setopt(t->easy, CURLOPT_OPENSOCKETDATA, t);
    curl_easy_setopt(t->easy, CURLOPT_CLOSESOCKETFUNCTION, on_close_socket);
    curl_easy_setopt(t->easy, CURLOPT_CLOSESOCKETDATA, http->lanes);
    return t;
}

/* ---- setting up a request ---- */

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Keeps a copy of `value` in *kept; true when it changed. */
static bool changed(char **kept, const char *value, bool *ok)
{
    if (same(*kept, value))
        return false;
    free(*kept);
    *kept = value ? strdup(value) : NULL;
    *ok = *ok && (*kept || !value);
    return true;
}

static bool names_type(const char *const *headers)
{
    static const char NAME[] = "Content-Type:";
    for (; headers && *headers; headers++)
        if (strncasecmp(*headers, NAME, sizeof NAME - 1) == 0)
            return true;
    return false;
}

/* Walks a list past `lines`; NULL at the first difference, else the node behind them. `end` stands
 * for "behind the last node". */
static const struct curl_slist *past(const struct curl_slist *node, const char *const *lines,
                                     const struct curl_slist *end)
{
    for (; node && lines && *lines; lines++) {
        if (node == end || strcmp(node->data, *lines) != 0)
            return NULL;
        node = node->next ? node->next : end;
    }
    return node;
}

static bool append(struct curl_slist **list, const char *const *lines)
{
    for (; lines && *lines; lines++) {
        struct curl_slist *grown = curl_slist_append(*list, *lines);
        if (!grown)
            return false;
        *list = grown;
    }
    return true;
}

/* The request's headers, and ours: the body's type; none of "Expect: 100-continue", for which
 * libcurl would wait a second with big bodies; on loopback no "Accept" (see set_distance). */
static gg_status set_headers(gg_transfer *t, const gg_http_request *request, gg_error *error)
{
    static const struct curl_slist END = {NULL, NULL};
    static const char *const FAR[] = {"Content-Type: application/json", "Expect:", NULL};
    static const char *const NEAR[] = {"Content-Type: application/json",
                                       "Expect:", "Accept:", NULL};
    const char *const *ours = t->host->loopback ? NEAR : FAR;
    ours += request->body && !names_type(request->headers) ? 0 : 1;
    if (t->headers && past(past(t->headers, request->headers, &END), ours, &END) == &END)
        return GG_OK;
    for (const char *const *line = request->headers; line && *line; line++)
        if (!strchr(*line, ':') || strpbrk(*line, "\r\n"))
            return gg_fail(error, GG_E_ARGUMENT,
                           "header %zu of a request is not one line of \"Name: value\"; is there a "
                           "line break in a key?",
                           (size_t)(line - request->headers) + 1);
    curl_slist_free_all(t->headers);
    t->headers = NULL;
    bool ok = append(&t->headers, request->headers) && append(&t->headers, ours);
    curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers);
    return ok ? GG_OK : gg_fail(error, GG_E_MEMORY, "no memory for a request's headers");
}

static void set_method(gg_transfer *t, const gg_http_request *request)
{
    bool get = strcmp(request->method, "GET") == 0, post = strcmp(request->method, "POST") == 0;
    bool head = strcmp(request->method, "HEAD") == 0;
    curl_easy_setopt(t->easy, CURLOPT_NOBODY, head ? 1L : 0L);
    if (!head)
        curl_easy_setopt(t->easy, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST, get || post || head ? NULL : request->method);
}

static void set_body(gg_transfer *t, const gg_http_request *request)
{
    bool post = strcmp(request->method, "POST") == 0;
    if (!request->body && !post)
        return;
    curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, request->body ? request->body : "");
    curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     (curl_off_t)(request->body ? request->body_len : 0));
}

/* On loopback neither a proxy, whatever the environment says, nor compression; and no headers that
 * only strangers need: libcurl formats them letter by letter, a tenth of a request's cost. */
static void set_distance(gg_transfer *t)
{
    bool near = t->host->loopback;
    curl_easy_setopt(t->easy, CURLOPT_PROXY, near ? "" : NULL);
    curl_easy_setopt(t->easy, CURLOPT_ACCEPT_ENCODING, near ? NULL : "");
    curl_easy_setopt(t->easy, CURLOPT_USERAGENT, near ? NULL : "guessgym/" GG_VERSION);
}

gg_status gg_transfer_configure(gg_transfer *t, const gg_http_request *request, gg_error *error)
{
    bool ok = true;
    /* With a body the request is a POST to libcurl, whatever its name; without, it must be told
     * when the one before had one. */
    bool had_body = t->has_body;
    t->has_body = request->body || strcmp(request->method, "POST") == 0;
    if (changed(&t->method, request->method, &ok) || had_body != t->has_body)
        set_method(t, request);
    set_body(t, request);
    if (changed(&t->url, request->url, &ok)) {
        curl_easy_setopt(t->easy, CURLOPT_URL, t->url);
        t->host = t->url ? gg_host_of(t->http, t->url) : NULL;
        ok = ok && t->host;
        if (t->host)
            set_distance(t);
    }
    if (changed(&t->unix_socket, request->unix_socket, &ok))
        curl_easy_setopt(t->easy, CURLOPT_UNIX_SOCKET_PATH, t->unix_socket);
    int64_t timeout_ms = request->timeout_ms ? request->timeout_ms : GG_HTTP_TIMEOUT_MS;
    if (timeout_ms > LONG_MAX)
        timeout_ms = LONG_MAX;
    if (t->timeout_ms != timeout_ms)
        curl_easy_setopt(t->easy, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    t->timeout_ms = timeout_ms;
    t->reply_max = request->reply_max ? request->reply_max : GG_HTTP_REPLY_MAX;
    if (!ok)
        return gg_fail(error, GG_E_MEMORY, "no memory for a request");
    return set_headers(t, request, error);
}

/* ---- the result ---- */

static void fill_headers(CURL *easy, gg_http_reply *reply)
{
    for (size_t i = 0; i < sizeof HEADERS / sizeof *HEADERS; i++) {
        struct curl_header *header;
        if (curl_easy_header(easy, HEADERS[i].name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
            continue;
        memcpy((char *)reply + HEADERS[i].field, &header->value, sizeof header->value);
    }
}

void gg_transfer_fill(gg_transfer *t, gg_transport transport, const char *detail,
                      gg_http_reply *reply)
{
    long status = 0;
    char *type = NULL;
    *reply = (gg_http_reply){.transport = transport, .body = "", .content_type = "", .detail = ""};
    reply->elapsed_ms = (int64_t)(uv_now(t->http->loop) - t->started_ms);
    if (transport != GG_TRANSPORT_OK) {
        reply->detail = *detail ? detail : gg_transport_name(transport);
        return;
    }
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(t->easy, CURLINFO_CONTENT_TYPE, &type);
    reply->status = (int)status;
    reply->content_type = type ? type : "";
    reply->body = t->reply && t->reply->data ? t->reply->data : "";
    reply->len = t->reply ? t->reply->len : 0;
    if (status != 200)
        fill_headers(t->easy, reply);
}
