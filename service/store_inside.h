/* The two kinds of places behind service/store.h. */
#ifndef GG_SERVICE_STORE_INSIDE_H
#define GG_SERVICE_STORE_INSIDE_H

#include "service/store.h"

struct gg_store {
    char *root, *endpoint, *region, *key_id, *secret, *token;
};

/* Adds an address to a list. */
gg_status gg_store_push(gg_store_list *list, const char *uri, gg_error *error);

/* service/store_s3.c: an S3 endpoint. `uri` was checked. */
gg_status gg_s3_get(const gg_store *store, const char *uri, gg_buf *out, gg_error *error);
gg_status gg_s3_put(const gg_store *store, const char *uri, const char *bytes, size_t len,
                    gg_error *error);
gg_status gg_s3_find(const gg_store *store, const char *prefix, gg_store_list *out,
                     gg_error *error);

#endif
