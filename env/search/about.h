/* index.json: what an index is of. */
#ifndef GG_ENV_SEARCH_ABOUT_H
#define GG_ENV_SEARCH_ABOUT_H

#include <stdbool.h>

#include "core/digest.h"
#include "env/search/remote.h"

#define GG_INDEX_SCHEMA "guessgym.index/1"

typedef struct gg_about {
    char corpus[GG_DIGEST_HEX];
    size_t documents;
    bool finished;
    bool by_remote;   /* embeddings of a server; else the built-in ones */
    gg_remote remote; /* its url "" where the built-in ones are meant */
} gg_about;

/* GG_E_CONFIG where there is no such file, or it is of another version. */
gg_status gg_about_read(const char *path, gg_about *out, gg_error *error);
gg_status gg_about_write(const char *path, const gg_about *about, gg_error *error);
/* Floats of a row of vectors.bin: the embedding's, up to the next multiple that the scan wants. */
size_t gg_about_row(const gg_about *about);

#endif
