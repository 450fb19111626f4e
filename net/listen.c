#include "net/listen.h"

#include <errno.h>
#include <stdbool.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LISTEN_BACKLOG 4096 /* Linux cuts this to net.core.somaxconn */
#define HOST_ROOM      256
#define PORT_ROOM      8
#define PORT_MAX       65535

static gg_status split(const char *listen_text, char host[HOST_ROOM], char port[PORT_ROOM],
                       gg_error *error)
{
    const char *colon = strrchr(listen_text, ':');
    size_t host_len = colon ? (size_t)(colon - listen_text) : 0;
    size_t port_len = colon ? strlen(colon + 1) : 0;
    bool bracketed = host_len >= 2 && listen_text[0] == '[' && colon[-1] == ']';
    if (bracketed)
        host_len -= 2;
    if (!colon || port_len == 0 || port_len >= PORT_ROOM || host_len >= HOST_ROOM ||
        strspn(colon + 1, "0123456789") != port_len || strtol(colon + 1, NULL, 10) > PORT_MAX ||
        (!bracketed && memchr(listen_text, ':', host_len)))
        return gg_fail(error, GG_E_CONFIG,
                       "cannot listen on \"%s\": write HOST:PORT, [IPV6]:PORT, :PORT for loopback, "
                       "or unix:/path",
                       listen_text);
    snprintf(host, HOST_ROOM, "%.*s", (int)host_len, listen_text + (bracketed ? 1 : 0));
    if (host_len == 0)
        snprintf(host, HOST_ROOM, "127.0.0.1");
    snprintf(port, PORT_ROOM, "%s", colon + 1);
    return GG_OK;
}

static int open_inet(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    int on = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, LISTEN_BACKLOG) == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

static int real_port(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } name = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t len = sizeof name;
    if (getsockname(fd, &name.any, &len) != 0)
        return 0;
    return ntohs(name.any.sa_family == AF_INET6 ? name.v6.sin6_port : name.v4.sin_port);
}

/* The address to reach a listener by: "any address" is reached on loopback. */
static void name_url(const char *host, int port, char *url)
{
    bool v6 = strchr(host, ':') != NULL;
    if (strcmp(host, "0.0.0.0") == 0)
        host = "127.0.0.1";
    else if (strcmp(host, "::") == 0)
        host = "::1";
    snprintf(url, GG_URL_ROOM, v6 ? "http://[%.120s]:%d" : "http://%.120s:%d", host, port);
}

static gg_status listen_inet(const char *text, int *fd, int *port, char *url, gg_error *error)
{
    char host[HOST_ROOM], service[PORT_ROOM];
    gg_status status = split(text, host, service, error);
    if (status != GG_OK)
        return status;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int code = getaddrinfo(host, service, &hints, &found);
    if (code != 0)
        return gg_fail(error, GG_E_CONFIG, "cannot listen on \"%s\": %s", text, gai_strerror(code));
    *fd = open_inet(found);
    int saved = errno;
    freeaddrinfo(found);
    if (*fd < 0)
        return gg_fail(error, GG_E_CONFIG, "cannot listen on %s: %s%s", text, strerror(saved),
                       saved == EADDRINUSE ? "; another program holds this port, choose another one"
                                           : "");
    *port = real_port(*fd);
    name_url(host, *port, url);
    return GG_OK;
}

/* A socket file nobody listens on any more was left by a program that died. */
static void remove_stale(const struct sockaddr_un *address)
{
    struct stat st;
    if (lstat(address->sun_path, &st) != 0 || !S_ISSOCK(st.st_mode))
        return;
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (probe < 0)
        return;
    if (connect(probe, (const struct sockaddr *)address, sizeof *address) != 0 &&
        errno == ECONNREFUSED)
        unlink(address->sun_path);
    close(probe);
}

static gg_status listen_unix(const char *text, int *fd, int *port, char *url, gg_error *error)
{
    const char *path = text + strlen(GG_UNIX_PREFIX);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!*path || strlen(path) >= sizeof address.sun_path)
        return gg_fail(error, GG_E_CONFIG,
                       "cannot listen on \"%s\": a socket path has 1 to %zu bytes", text,
                       sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);
    remove_stale(&address);
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0 || bind(*fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(*fd, LISTEN_BACKLOG) != 0) {
        int saved = errno;
        if (*fd >= 0)
            close(*fd);
        return gg_fail(error, GG_E_CONFIG, "cannot listen on %s: %s", text, strerror(saved));
    }
    *port = 0;
    snprintf(url, GG_URL_ROOM, "%s", text);
    return GG_OK;
}

static bool is_unix(const char *listen_text)
{
    return strncmp(listen_text, GG_UNIX_PREFIX, strlen(GG_UNIX_PREFIX)) == 0;
}

gg_status gg_listen(const char *listen_text, int *fd, int *port, char *url, gg_error *error)
{
    return (is_unix(listen_text) ? listen_unix : listen_inet)(listen_text, fd, port, url, error);
}

void gg_listen_remove(const char *listen_text)
{
    if (is_unix(listen_text))
        unlink(listen_text + strlen(GG_UNIX_PREFIX));
}

size_t gg_files_raise(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    if (limit.rlim_cur < limit.rlim_max) {
        struct rlimit raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
            limit = raised;
    }
    return (size_t)limit.rlim_cur;
}

gg_status gg_files_check(size_t connections, gg_error *error)
{
    size_t limit = gg_files_raise(), needed = connections + GG_FILES_SPARE;
    if (needed <= limit)
        return GG_OK;
    char lower[64] = "";
    if (limit > GG_FILES_SPARE)
        snprintf(lower, sizeof lower, " or lower the concurrency to %zu", limit - GG_FILES_SPARE);
    return gg_fail(error, GG_E_CONFIG,
                   "%zu connections need %zu open files, but this process may have %zu: raise the "
                   "limit (ulimit -n %zu)%s",
                   connections, needed, limit, needed, lower);
}
