/*
 * Vectors: a file of float32 rows of length 1 (no head: numpy.fromfile reads it), mapped into
 * memory, and the exact scan over all of them. Threads: immutable once opened, shared.
 */
#ifndef GG_ENV_SEARCH_VECTORS_H
#define GG_ENV_SEARCH_VECTORS_H

#include <stdint.h>

#include "env/search/corpus.h"

typedef struct gg_hit {
    int64_t row; /* of the document, from 1 */
    double score;
} gg_hit;

typedef struct gg_vectors {
    gg_mapped file;
    size_t count, dims;
} gg_vectors;

/* Refuses a file that does not hold exactly `count` rows. `dims` is a multiple of 16. */
gg_status gg_vectors_open(const char *path, size_t count, size_t dims, gg_vectors *out,
                          gg_error *error);
void gg_vectors_close(gg_vectors *vectors);
/* The k rows of the highest dot product with `query`, highest first, of equals the earlier row;
 * rows whose product is not above 0 are left out. Returns how many. */
size_t gg_vectors_nearest(const gg_vectors *vectors, const float *query, size_t k, gg_hit *out);

/* Puts a hit into the k best, which are sorted; returns how many there are now. */
size_t gg_hits_put(gg_hit *hits, size_t count, size_t k, gg_hit hit);

#endif
