/*
 * Embeddings from a server: any OpenAI-compatible `POST BASE/embeddings`, many texts a request.
 *
 * The key, where one is needed, is $GUESSGYM_EMBED_API_KEY and is never written anywhere. What may
 * pass (no connection, 408, 429, 5xx) is tried again a few times. Threads: a gg_remote is immutable
 * while it is used; calls block and may run side by side.
 */
#ifndef GG_ENV_SEARCH_REMOTE_H
#define GG_ENV_SEARCH_REMOTE_H

#include <stddef.h>

#include <guessgym/error.h>

#define GG_REMOTE_NAME     "endpoint/1" /* as GG_EMBED_NAME */
#define GG_REMOTE_BATCH    64           /* texts a request */
#define GG_REMOTE_TEXT     8000         /* most bytes of a text that are sent */
#define GG_REMOTE_TEXT_MIN 16
#define GG_REMOTE_DIMS_MAX 8192
#define GG_REMOTE_URL_MAX  2048
#define GG_REMOTE_MODEL    256
#define GG_REMOTE_ATTEMPTS 5
#define GG_REMOTE_WAIT_MS  120000 /* longest wait for one reply */

typedef struct gg_remote {
    char url[GG_REMOTE_URL_MAX]; /* without a slash at its end */
    char model[GG_REMOTE_MODEL];
    size_t
        bytes;   /* of a text that are sent, at most: servers refuse what their model cannot read */
    size_t dims; /* numbers of a vector; 0 = not known yet */
} gg_remote;

typedef struct gg_text {
    const char *bytes;
    size_t len;
} gg_text;

/* Checks the values and takes them. */
gg_status gg_remote_make(const char *url, const char *model, size_t bytes, gg_remote *out,
                         gg_error *error);
/* The vectors of up to GG_REMOTE_BATCH texts (of a text that the model cannot read the first half,
 * quarter ...), scaled to length 1: `count` rows of `row` floats, a
 * row's rest filled with zeros. Where dims is 0, any length up to `row` is taken and *dims tells
 * it (NULL = do not tell); else another length is GG_E_PROTOCOL. A server that cannot be reached or
 * refuses is GG_E_UNREACHABLE, an answer that cannot be GG_E_PROTOCOL. */
gg_status gg_remote_embed(const gg_remote *remote, const gg_text *texts, size_t count, float *out,
                          size_t row, size_t *dims, gg_error *error);

#endif
