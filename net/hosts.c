#include "net/transfer.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static size_t key_length(const char *url)
{
    const char *at = strstr(url, "://");
    at = at ? at + 3 : url;
    return (size_t)(at - url) + strcspn(at, "/?#");
}

/* The name in a key, without user info and port; *len is its length. */
static const char *host_name(const gg_host *h, size_t *len)
{
    const char *name = strstr(h->key, "://");
    name = name ? name + 3 : h->key;
    const char *user = strrchr(name, '@');
    name = user ? user + 1 : name;
    *len = *name == '[' ? strcspn(name, "]") + 1 : strcspn(name, ":");
    return name;
}

/* The addresses at which a cloud tells its machines and containers who they are count as loopback:
 * what they say must not go through a proxy. */
static bool is_loopback(const gg_host *h)
{
    static const char *const LOOPBACK[] = {"localhost", "[::1]", "[fd00:ec2::23]",
                                           "[fd00:ec2::254]"};
    size_t len;
    const char *name = host_name(h, &len);
    for (size_t i = 0; i < sizeof LOOPBACK / sizeof *LOOPBACK; i++)
        if (len == strlen(LOOPBACK[i]) && strncasecmp(name, LOOPBACK[i], len) == 0)
            return true;
    return strncmp(name, "127.", 4) == 0 || strncmp(name, "169.254.", 8) == 0;
}

gg_host *gg_host_of(gg_http *http, const char *url)
{
    size_t len = key_length(url);
    for (gg_host *h = http->hosts; h; h = h->next)
        if (h->key_len == len && memcmp(h->key, url, len) == 0)
            return h;
    gg_host *h = calloc(1, sizeof *h + len + 1);
    if (!h)
        return NULL;
    memcpy(h->key, url, len);
    h->key_len = len;
    h->loopback = is_loopback(h);
    h->next = http->hosts;
    http->hosts = h;
    return h;
}

void gg_host_wait(gg_transfer *t)
{
    gg_host *h = t->host;
    t->waits_after = NULL;
    if (h->last)
        h->last->waits_after = t;
    else
        h->first = t;
    h->last = t;
}

void gg_host_leave(gg_transfer *t)
{
    gg_host *h = t->host;
    gg_transfer *before = NULL;
    for (gg_transfer *w = h->first; w != t; w = w->waits_after)
        before = w;
    *(before ? &before->waits_after : &h->first) = t->waits_after;
    if (h->last == t)
        h->last = before;
}

/* Makes libcurl look the name up again: "-name:port" takes it out of its cache. */
static void forget_name(gg_transfer *t)
{
    const gg_host *h = t->host;
    size_t len;
    const char *name = host_name(h, &len), *port = name + len;
    bool tls = strncasecmp(h->key, "https", 5) == 0;
    gg_buf line;
    gg_buf_init(&line, GG_ERROR_TEXT);
    gg_buf_printf(&line, "-%.*s:%s", (int)len, name, *port == ':' ? port + 1 : tls ? "443" : "80");
    if (line.status == GG_OK)
        t->resolve = curl_slist_append(NULL, line.data);
    gg_buf_free(&line);
    curl_easy_setopt(t->easy, CURLOPT_RESOLVE, t->resolve);
}

void gg_scout_begin(gg_transfer *t)
{
    t->host->scout = t;
    /* Only a new connection shows that the name is good. */
    curl_easy_setopt(t->easy, CURLOPT_FRESH_CONNECT, 1L);
    if (t->host->stale)
        forget_name(t);
    t->host->stale = false;
}

void gg_scout_end(gg_transfer *t)
{
    t->host->scout = NULL;
    curl_easy_setopt(t->easy, CURLOPT_FRESH_CONNECT, 0L);
    curl_easy_setopt(t->easy, CURLOPT_RESOLVE, NULL);
    curl_slist_free_all(t->resolve);
    t->resolve = NULL;
}

void gg_hosts_free(gg_http *http)
{
    for (gg_host *h = http->hosts, *next; h; h = next) {
        next = h->next;
        free(h);
    }
}
