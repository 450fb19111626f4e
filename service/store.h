/*
 * Objects by address: s3://BUCKET/KEY and file:///PATH.
 *
 * s3:// lies either in a folder (ROOT/BUCKET/KEY) or at an S3 endpoint (path style, signed with
 * Signature Version 4 when there are keys). file:// is always a file of this machine.
 *
 * Threads: any; nothing is shared but what is fixed at the opening.
 */
#ifndef GG_SERVICE_STORE_H
#define GG_SERVICE_STORE_H

#include <stdbool.h>

#include <guessgym/buf.h>

#define GG_STORE_LISTED     10000  /* objects below one prefix */
#define GG_STORE_TIMEOUT_MS 120000 /* of one request */
#define GG_STORE_ATTEMPTS   4
#define GG_STORE_URI_MAX    1100

typedef struct gg_store gg_store;

typedef struct gg_store_options {
    const char *root;     /* folder behind s3://; used when `endpoint` is NULL */
    const char *endpoint; /* "http://127.0.0.1:5000", or NULL */
    const char *region;
    const char *key_id, *secret, *token; /* NULL = requests are not signed */
} gg_store_options;

/* Everything is copied. */
gg_status gg_store_open(const gg_store_options *options, gg_store **out, gg_error *error);
void gg_store_close(gg_store *store); /* NULL is fine */

/* Appends a whole object. GG_E_ARGUMENT for an address that is none, GG_E_IO when it is not there
 * or cannot be read. */
gg_status gg_store_read(const gg_store *store, const char *uri, gg_buf *out, gg_error *error);
/* Writes an object whole. */
gg_status gg_store_write(const gg_store *store, const char *uri, const char *bytes, size_t len,
                         gg_error *error);

typedef struct gg_store_list {
    char **uris; /* sorted by key */
    size_t count, room;
} gg_store_list;
void gg_store_list_free(gg_store_list *list);
/* The objects at a prefix: the object of exactly that name alone when there is one, else all below
 * "PREFIX/". A prefix under which nothing lies gives an empty list. */
gg_status gg_store_find(const gg_store *store, const char *prefix, gg_store_list *out,
                        gg_error *error);

/* Whether this is an address that the store knows, s3:// or file://. */
bool gg_store_is_uri(const char *uri);

#endif
