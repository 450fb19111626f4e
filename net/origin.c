#include "net/origin.h"

#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#define PORT_MAX   65535
#define HTTP_PORT  80
#define HTTPS_PORT 443

/* Appends a part of the address; false when it has none. */
static bool part(CURLU *url, CURLUPart what, unsigned flags, gg_buf *out)
{
    char *text = NULL;
    gg_buf_reset(out);
    if (curl_url_get(url, what, &text, flags) != CURLUE_OK)
        return false;
    gg_buf_str(out, text);
    curl_free(text);
    return out->status == GG_OK;
}

static bool keep_host(const gg_buf *text, gg_origin *out)
{
    static const char name[] = "abcdefghijklmnopqrstuvwxyz0123456789-._";
    static const char ipv6[] = "abcdef0123456789:.";
    if (!text->len || text->len >= sizeof out->host)
        return false;
    for (size_t i = 0; i <= text->len; i++) {
        char c = text->data[i];
        out->host[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    if (*out->host != '[')
        return strspn(out->host, name) == text->len;
    return strspn(out->host + 1, ipv6) == text->len - 2 && out->host[text->len - 1] == ']';
}

static bool keep_port(const gg_buf *text, gg_origin *out)
{
    char *end;
    unsigned long port = strtoul(gg_buf_cstr(text), &end, 10);
    out->port = (unsigned)port;
    return text->len && !*end && port >= 1 && port <= PORT_MAX;
}

static bool read_parts(CURLU *url, gg_origin *out, gg_buf *text)
{
    static const CURLUPart unwanted[] = {CURLUPART_USER,  CURLUPART_PASSWORD, CURLUPART_OPTIONS,
                                         CURLUPART_QUERY, CURLUPART_FRAGMENT, CURLUPART_ZONEID};
    if (!part(url, CURLUPART_SCHEME, 0, text))
        return false;
    out->https = strcmp(gg_buf_cstr(text), "https") == 0;
    if (!out->https && strcmp(gg_buf_cstr(text), "http") != 0)
        return false;
    for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
        if (part(url, unwanted[i], 0, text))
            return false;
    return part(url, CURLUPART_HOST, 0, text) && keep_host(text, out) &&
           part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT, text) && keep_port(text, out) &&
           part(url, CURLUPART_PATH, 0, text);
}

static bool is_plain(const char *url)
{
    for (; *url; url++)
        if (*url <= ' ' || *url > '~' || *url == '\\' || *url == '"')
            return false;
    return true;
}

gg_status gg_origin_parse(const char *url, gg_origin *out, gg_buf *base, gg_error *error)
{
    gg_buf text;
    gg_buf_init(&text, 1u << 16);
    *out = (gg_origin){.https = false};
    CURLU *parts = curl_url();
    bool good = parts && is_plain(url) && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
                read_parts(parts, out, &text);
    if (good && base) {
        while (text.len && text.data[text.len - 1] == '/')
            gg_buf_truncate(&text, text.len - 1);
        gg_buf_printf(base, "%s://%s", out->https ? "https" : "http", out->host);
        if (out->port != (out->https ? HTTPS_PORT : HTTP_PORT))
            gg_buf_printf(base, ":%u", out->port);
        gg_buf_str(base, gg_buf_cstr(&text));
    }
    bool starved = !parts || text.status == GG_E_MEMORY;
    gg_buf_free(&text);
    curl_url_cleanup(parts);
    if (starved)
        return gg_fail(error, GG_E_MEMORY, "out of memory for an address");
    if (!good)
        return gg_fail(error, GG_E_CONFIG,
                       "an address is not like https://HOST or http://HOST:PORT/PATH");
    return base ? gg_buf_status(base, "an address", error) : GG_OK;
}

bool gg_origin_same(const gg_origin *a, const gg_origin *b)
{
    return a->https == b->https && a->port == b->port && strcmp(a->host, b->host) == 0;
}
