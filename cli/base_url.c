#include "cli/base_url.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Ends that name one call, longest first. */
static const char *const calls[] = {"/chat/completions", "/completions", "/models", "/responses",
                                    "/chat"};
#define CALLS (sizeof calls / sizeof *calls)

/* The address in pieces. */
typedef struct parts {
    char head[GG_BASE_URL_MAX]; /* scheme and host */
    char path[GG_BASE_URL_MAX]; /* "" or "/..." without a slash at its end */
    char query[GG_BASE_URL_MAX];
} parts;

static void cut_end(char *path, size_t len)
{
    path[strlen(path) - len] = '\0';
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Whether a host needs no TLS: this machine, a bare name, or an address with a port. */
static const char *scheme_for(const char *host)
{
    size_t n = strcspn(host, "/:?");
    bool plain = host[n] == ':' || !memchr(host, '.', n);
    return plain ? "http://" : "https://";
}

static const char *split(const char *given, parts *p)
{
    const char *scheme = strstr(given, "://"), *host = scheme ? scheme + 3 : given;
    size_t host_len = strcspn(host, "/?#"), path_len = strcspn(host + host_len, "?#");
    snprintf(p->head, sizeof p->head, "%s%.*s", scheme ? "" : scheme_for(given),
             (int)(host + host_len - given), given);
    snprintf(p->path, sizeof p->path, "%.*s", (int)path_len, host + host_len);
    const char *query = host + host_len + path_len;
    snprintf(p->query, sizeof p->query, "%.*s", (int)strcspn(query, "#"), query);
    return scheme ? NULL : "it has no scheme";
}

/* Two slashes where one belongs, and one at the end, mean nothing. */
static void tidy_slashes(char *path)
{
    char *to = path;
    for (const char *from = path; *from; from++)
        if (*from != '/' || from[1] != '/')
            *to++ = *from;
    *to = '\0';
    while (ends_with(path, "/"))
        cut_end(path, 1);
}

static const char *tidy(parts *p)
{
    const char *fault = NULL;
    tidy_slashes(p->path);
    for (size_t i = 0; i < CALLS; i++)
        if (ends_with(p->path, calls[i])) {
            cut_end(p->path, strlen(calls[i]));
            fault = "it names one call; wanted is what stands before it";
            break;
        }
    while (ends_with(p->path, "/v1/v1")) {
        cut_end(p->path, 3);
        fault = "/v1 stands in it twice";
    }
    return fault;
}

static bool is_new(const gg_base_url *tries, size_t count, const char *url)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(tries[i].url, url) == 0)
            return false;
    return true;
}

static size_t add(const parts *p, const char *path, const char *fault, gg_base_url *tries,
                  size_t count)
{
    char url[3 * GG_BASE_URL_MAX];
    int len = snprintf(url, sizeof url, "%s%s%s", p->head, path, p->query);
    if (count == GG_BASE_URL_TRIES || len >= GG_BASE_URL_MAX || !is_new(tries, count, url))
        return count;
    snprintf(tries[count].url, sizeof tries[count].url, "%.*s", GG_BASE_URL_MAX - 1, url);
    tries[count].fault = fault;
    return count + 1;
}

size_t gg_base_url_tries(const char *given, gg_base_url out[GG_BASE_URL_TRIES])
{
    static const char *const ends[] = {"/v1", "/openai/v1", "/api/v1"};
    static const char *const faults[] = {"/v1 is missing at its end",
                                         "/openai/v1 is missing at its end",
                                         "/api/v1 is missing at its end"};
    char path[GG_BASE_URL_MAX + 16];
    parts p = {.head = ""};
    if (strlen(given) >= GG_BASE_URL_MAX - 16)
        return 0;
    const char *no_scheme = split(given, &p), *fault = tidy(&p);
    size_t count = add(&p, p.path, fault ? fault : no_scheme, out, 0);
    if (ends_with(p.path, "/v1")) {
        cut_end(p.path, 3);
        return add(&p, p.path, "/v1 does not belong to it", out, count);
    }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(path, sizeof path, "%s%s", p.path, ends[i]);
        count = add(&p, path, faults[i], out, count);
    }
    return count;
}
