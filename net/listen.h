/* Listening sockets by address text, and the process's limit of open files. */
#ifndef GG_NET_LISTEN_H
#define GG_NET_LISTEN_H

#include <guessgym/buf.h>

#define GG_UNIX_PREFIX "unix:"

/* Opens a listening, non-blocking socket. `listen` is "HOST:PORT", "[IPV6]:PORT", ":PORT"
 * (loopback) or "unix:/path". Fills `url` (room at least GG_URL_ROOM) with the address to reach it
 * by and *port with the real port (0 for unix). The caller closes *fd. GG_E_CONFIG with a sentence
 * when the text makes no sense or the address is taken. */
#define GG_URL_ROOM 160
gg_status gg_listen(const char *listen, int *fd, int *port, char *url, gg_error *error);
/* Removes the file of a "unix:" address; nothing for others. */
void gg_listen_remove(const char *listen);

/* Raises the limit of open files as far as the system lets us and returns it. */
size_t gg_files_raise(void);
#define GG_FILES_SPARE 64 /* files that the program itself needs beside its connections */
/* Raises the limit; GG_E_CONFIG with a sentence when `connections` do not fit in it. */
gg_status gg_files_check(size_t connections, gg_error *error);

#endif
