#include "rl/batch.h"

#include <stdlib.h>
#include <string.h>

#include "core/rng.h"

int64_t gg_batch_epoch(size_t rows, size_t batch, int64_t step)
{
    return (step - 1) / (int64_t)(rows / batch);
}

gg_status gg_batch_draw(size_t rows, size_t batch, uint64_t seed, int64_t step, uint32_t *out,
                        gg_error *error)
{
    gg_rng rng;
    if (batch == 0 || step < 1 || rows > UINT32_MAX)
        return gg_fail(error, GG_E_ARGUMENT,
                       "a batch needs a size, a step from 1 and fewer than 2^32 rows");
    if (rows < batch)
        return gg_fail(
            error, GG_E_CONFIG,
            "%zu rows are fewer than one batch of %zu; give more rows or a smaller --batch", rows,
            batch);
    uint32_t *order = malloc(rows * sizeof *order);
    if (!order)
        return gg_fail(error, GG_E_MEMORY, "out of memory drawing a batch of %zu rows", rows);
    for (size_t i = 0; i < rows; i++)
        order[i] = (uint32_t)i;
    gg_rng_seed(&rng, gg_derive_seed(seed, "epoch", gg_batch_epoch(rows, batch, step)));
    gg_rng_shuffle(&rng, order, rows);
    size_t first = (size_t)((step - 1) % (int64_t)(rows / batch)) * batch;
    memcpy(out, order + first, batch * sizeof *out);
    free(order);
    return GG_OK;
}
