#include "net/address.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HIDDEN "[hidden]"
#define SIGNED "AWS4-HMAC-SHA256 "

/* Parts of header names whose values are nobody's business. */
static const char *const SECRET_NAMES[] = {"auth",   "key",       "token",     "secret",
                                           "cookie", "signature", "credential"};

static const char *after_scheme(const char *url)
{
    static const char *const SCHEMES[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof SCHEMES / sizeof *SCHEMES; i++)
        if (strncasecmp(url, SCHEMES[i], strlen(SCHEMES[i])) == 0)
            return url + strlen(SCHEMES[i]);
    return NULL;
}

/* The last '@' before the path ends the user info; NULL when there is none. */
static const char *user_end(const char *host)
{
    return memrchr(host, '@', strcspn(host, "/?#"));
}

static bool has_version(const char *path)
{
    for (; (path = strstr(path, "/v")); path++)
        if (isdigit((unsigned char)path[2]))
            return true;
    return false;
}

gg_status gg_address_parse(const char *url, gg_address *out, gg_error *error)
{
    *out = (gg_address){.base = NULL};
    const char *host = after_scheme(url);
    const char *user = host ? user_end(host) : NULL;
    const char *name = user ? user + 1 : host;
    if (!name || !name[strspn(name, " ")] || strchr("/?#:", *name) || strpbrk(url, " \r\n\t#"))
        return gg_fail(
            error, GG_E_CONFIG,
            "an endpoint's address is not like http://HOST:PORT/v1 or https://HOST/v1%s%s",
            host ? "" : ": it starts with ",
            host   ? ""
            : *url ? "something else"
                   : "nothing");
    size_t path_len = strcspn(url, "?"), shown_len = path_len - (size_t)(name - url);
    while (path_len && url[path_len - 1] == '/')
        path_len--, shown_len--;
    out->base = malloc(path_len + 1 + strlen(url) + 1);
    out->shown = malloc((size_t)(host - url) + shown_len + 1);
    if (!out->base || !out->shown) {
        gg_address_free(out);
        return gg_fail(error, GG_E_MEMORY, "no memory for an endpoint");
    }
    memcpy(out->base, url, path_len);
    out->base[path_len] = '\0';
    char *query = out->base + path_len + 1;
    memcpy(query, url + strcspn(url, "?"), strlen(url) - strcspn(url, "?") + 1);
    out->query = query;
    memcpy(out->shown, url, (size_t)(host - url));
    memcpy(out->shown + (host - url), name, shown_len);
    out->shown[(size_t)(host - url) + shown_len] = '\0';
    out->versioned = has_version(out->shown + (host - url));
    return GG_OK;
}

void gg_address_free(gg_address *address)
{
    free(address->base);
    free(address->shown);
    *address = (gg_address){.base = NULL};
}

static void add(gg_secrets *secrets, const char *text, size_t len)
{
    if (len < GG_SECRET_MIN)
        return;
    for (size_t i = 0; i < secrets->count; i++)
        if (strlen(secrets->items[i]) == len && memcmp(secrets->items[i], text, len) == 0)
            return;
    char *copy = strndup(text, len);
    if (!copy)
        return;
    if (secrets->count == GG_SECRET_COUNT) { /* tokens that change: the oldest is forgotten */
        free(secrets->items[0]);
        memmove(secrets->items, secrets->items + 1, --secrets->count * sizeof *secrets->items);
    }
    secrets->items[secrets->count++] = copy;
}

/* Adds the pieces of a text between the given separators. */
static void add_pieces(gg_secrets *secrets, const char *text, size_t len, const char *between)
{
    const char *end = text + len;
    while (text < end) {
        size_t piece = 0;
        while (text + piece < end && !strchr(between, text[piece]))
            piece++;
        add(secrets, text, piece);
        text += piece + (text + piece < end);
    }
}

void gg_secrets_add_url(gg_secrets *secrets, const char *url)
{
    const char *host = after_scheme(url);
    const char *user = host ? user_end(host) : NULL;
    if (user)
        add_pieces(secrets, host, (size_t)(user - host), ":");
    const char *query = strchr(url, '?');
    while (query) { /* values, not names */
        const char *value = query + strcspn(query, "=");
        const char *end = value + strcspn(value, "&");
        if (*value == '=')
            add(secrets, value + 1, (size_t)(end - value - 1));
        query = *end ? end + 1 : NULL;
    }
}

void gg_secrets_add_header(gg_secrets *secrets, const char *line)
{
    char name[64];
    size_t len = strcspn(line, ":");
    bool secret = false;
    if (!line[len] || len >= sizeof name)
        return;
    memcpy(name, line, len);
    name[len] = '\0';
    for (size_t i = 0; i < sizeof SECRET_NAMES / sizeof *SECRET_NAMES; i++)
        secret = secret || strcasestr(name, SECRET_NAMES[i]);
    if (!secret)
        return;
    const char *value = line + len + 1;
    value += strspn(value, " ");
    if (strncmp(value, SIGNED, strlen(SIGNED)) == 0)
        return; /* a signature is of no use to anybody, and its words are common ones */
    size_t scheme = strcspn(value, " "); /* "Bearer KEY": the first word is no secret */
    if (value[scheme])
        add_pieces(secrets, value + scheme, strlen(value + scheme), " ,;=");
    else
        add(secrets, value, scheme);
}

void gg_secrets_free(gg_secrets *secrets)
{
    for (size_t i = 0; i < secrets->count; i++)
        free(secrets->items[i]);
    secrets->count = 0;
}

static void hide_one(const char *secret, gg_buf *text, size_t start)
{
    size_t from = start, len = strlen(secret);
    for (const char *at;
         from < text->len && (at = memmem(text->data + from, text->len - from, secret, len));) {
        size_t place = (size_t)(at - text->data), rest = text->len - place - len;
        char *tail = strndup(at + len, rest);
        gg_buf_truncate(text, place);
        gg_buf_str(text, HIDDEN);
        if (tail)
            gg_buf_add(text, tail, rest);
        free(tail);
        if (text->status != GG_OK) /* rather cut than shown */
            text->status = GG_OK;
        from = place + strlen(HIDDEN);
    }
    /* A text that was cut may end in the first part of a secret. */
    for (size_t part = len - 1; part >= GG_SECRET_MIN; part--)
        if (text->len >= start + part && memcmp(text->data + text->len - part, secret, part) == 0) {
            gg_buf_truncate(text, text->len - part);
            return;
        }
}

void gg_secrets_hide(const gg_secrets *secrets, gg_buf *text, size_t start)
{
    text->status = GG_OK; /* a text that did not fit is shown as far as it did */
    for (size_t i = 0; i < secrets->count; i++)
        hide_one(secrets->items[i], text, start);
}

/* A key such as EMPTY is a word that a good reply may hold. */
static bool is_sure(const char *secret, size_t len)
{
    size_t letters = 0;
    while (isalpha((unsigned char)secret[letters]))
        letters++;
    return len >= GG_SECRET_LONG || (len >= GG_SECRET_SURE && letters < len);
}

void gg_secrets_blank(const gg_secrets *secrets, char *text, size_t len)
{
    for (size_t i = 0; i < secrets->count; i++) {
        size_t size = strlen(secrets->items[i]);
        char *end = text + len;
        if (!is_sure(secrets->items[i], size))
            continue;
        for (char *at = text; (at = memmem(at, (size_t)(end - at), secrets->items[i], size));)
            memset(at, '*', size);
    }
}
