/* Raw sockets for tests: a client and a server that say exactly these bytes. */
#ifndef GG_TESTS_PEER_H
#define GG_TESTS_PEER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
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

#define PEER_SEEN 4096

/* What the scripted server does with one request after the other. */
typedef struct peer_step {
    const char *reply; /* sent as it stands; NULL = nothing */
    size_t len;        /* 0 = strlen(reply) */
    bool keep;         /* the connection stays open for the next step */
    int wait_ms;       /* before the reply, and after it before closing */
} peer_step;

typedef struct peer {
    int listener, port;
    const peer_step *steps;
    size_t count;
    int accepted;
    char seen[PEER_SEEN]; /* the last request's headers and body, as far as they fit */
    pthread_t thread;
} peer;

/* Reads headers and a body of Content-Length bytes; 0 when the peer closed. */
static inline size_t peer_read_request(int fd, char *out, size_t room)
{
    size_t len = 0;
    char c;
    unsigned long body = 0;
    const char *end = NULL;
    out[0] = '\0';
    while (!end && recv(fd, &c, 1, 0) == 1) {
        if (len + 1 < room)
            out[len++] = c;
        out[len] = '\0';
        end = strstr(out, "\r\n\r\n");
    }
    const char *length = strcasestr(out, "content-length:");
    if (length)
        body = strtoul(length + strlen("content-length:"), NULL, 10);
    for (; end && body > 0 && recv(fd, &c, 1, 0) == 1; body--)
        if (len + 1 < room) {
            out[len++] = c;
            out[len] = '\0';
        }
    return len;
}

static inline void *peer_run(void *context)
{
    peer *p = context;
    char request[PEER_SEEN];
    int fd = -1;
    for (size_t i = 0; i < p->count; i++) {
        const peer_step *step = &p->steps[i];
        if (fd < 0) {
            if ((fd = accept(p->listener, NULL, NULL)) < 0)
                return NULL;
            p->accepted++;
        }
        if (peer_read_request(fd, request, sizeof request) == 0) {
            close(fd); /* the client has closed an idle connection: the same step again */
            fd = -1;
            i--;
            continue;
        }
        memcpy(p->seen, request, sizeof request); /* before the reply lets the client look */
        usleep((useconds_t)step->wait_ms * 1000);
        if (step->reply)
            (void)peer_say(fd, step->reply, step->len ? step->len : strlen(step->reply));
        usleep((useconds_t)step->wait_ms * 1000);
        if (!step->keep) {
            close(fd);
            fd = -1;
        }
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

static inline bool peer_start(peer *p, const peer_step *steps, size_t count)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;
    *p = (peer){.steps = steps, .count = count};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (p->listener < 0 || bind(p->listener, (struct sockaddr *)&address, len) != 0 ||
        listen(p->listener, 128) != 0 ||
        getsockname(p->listener, (struct sockaddr *)&address, &len) != 0)
        return false;
    p->port = ntohs(address.sin_port);
    return pthread_create(&p->thread, NULL, peer_run, p) == 0;
}

/* Waits for the script's end. */
static inline void peer_stop(peer *p)
{
    shutdown(p->listener, SHUT_RDWR);
    pthread_join(p->thread, NULL);
    close(p->listener);
}

#endif
