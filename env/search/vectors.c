#include "env/search/vectors.h"

#include <string.h>

/* Four floats at once, by the compilers' own vectors: plain C would have to be told that sums may
 * be reordered. */
typedef float four __attribute__((vector_size(16)));
#define STEP 16
#define AHEAD                                                                                      \
    1024 /* floats: by itself the processor does not fetch far enough ahead, and waits             \
          */

static float dot(const float *a, const float *b, size_t dims)
{
    four sum[4] = {{0}};
    for (size_t i = 0; i < dims; i += STEP) {
        __builtin_prefetch((const void *)((uintptr_t)(b + i) + AHEAD * sizeof *b));
        for (size_t j = 0; j < 4; j++) {
            four x, y;
            memcpy(&x, a + i + 4 * j, sizeof x);
            memcpy(&y, b + i + 4 * j, sizeof y);
            sum[j] += x * y;
        }
    }
    four all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    return (all[0] + all[1]) + (all[2] + all[3]);
}

gg_status gg_vectors_open(const char *path, size_t count, size_t dims, gg_vectors *out,
                          gg_error *error)
{
    *out = (gg_vectors){.count = count, .dims = dims};
    gg_status status = gg_map_file(path, &out->file, error);
    if (status != GG_OK)
        return status;
    if (dims == 0 || dims % STEP || out->file.len != count * dims * sizeof(float)) {
        status = gg_fail(error, GG_E_FORMAT,
                         "%s does not hold %zu rows of %zu numbers; build the index again", path,
                         count, dims);
        gg_vectors_close(out);
    }
    return status;
}

void gg_vectors_close(gg_vectors *vectors)
{
    gg_unmap_file(&vectors->file);
}

size_t gg_hits_put(gg_hit *hits, size_t count, size_t k, gg_hit hit)
{
    if (k == 0 || (count == k && hit.score <= hits[k - 1].score))
        return count;
    size_t at = count < k ? count++ : k - 1;
    for (; at > 0 && hits[at - 1].score < hit.score; at--)
        hits[at] = hits[at - 1];
    hits[at] = hit;
    return count;
}

size_t gg_vectors_nearest(const gg_vectors *v, const float *query, size_t k, gg_hit *out)
{
    const float *row = (const float *)(const void *)v->file.bytes;
    size_t count = 0;
    for (size_t i = 0; i < v->count; i++, row += v->dims) {
        float score = dot(query, row, v->dims);
        if (score > 0)
            count = gg_hits_put(out, count, k, (gg_hit){.row = (int64_t)i + 1, .score = score});
    }
    return count;
}
