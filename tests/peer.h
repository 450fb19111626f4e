/* Raw sockets for tests: a client that says exactly these bytes. */
#ifndef GG_TESTS_PEER_H
#define GG_TESTS_PEER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static inline int peer_connect(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static inline int peer_connect_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static inline bool peer_say(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes += sent;
        len -= (size_t)sent;
    }
    return true;
}

/* Reads one reply (headers and Content-Length bytes) or to the end of the stream; NUL-terminated
 * in `out`. Returns its length; 0 when the peer closed without a byte. */
static inline size_t peer_hear(int fd, char *out, size_t room)
{
    size_t len = 0, want = room - 1;
    out[0] = '\0';
    while (len < want) {
        ssize_t got = recv(fd, out + len, 1, 0);
        if (got <= 0)
            break;
        out[++len] = '\0';
        if (want == room - 1 && len >= 4 && memcmp(out + len - 4, "\r\n\r\n", 4) == 0) {
            const char *length = strcasestr(out, "content-length:");
            if (length)
                want = len + strtoul(length + strlen("content-length:"), NULL, 10);
            else if (strncmp(out, "HTTP/1.1 100", 12) == 0)
                len = 0;
        }
    }
    return len;
}

#endif
