/* Drawing one of several scored candidates, at any temperature and top_p. */
#ifndef GG_POLICY_DRAW_H
#define GG_POLICY_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "core/rng.h"

#define GG_DRAW_MAX 1024 /* candidates */

/* How a reply is drawn. */
typedef struct gg_sampling {
    double temperature, top_p; /* temperature 0 = the likeliest, the first of them on a tie */
    uint64_t seed;
    size_t max_tokens;
} gg_sampling;

/* Index of the candidate drawn. `p` is the softmax of `score`, `count` 1 to GG_DRAW_MAX. A lone
 * candidate takes no random number, nor does temperature 0. */
size_t gg_draw(const gg_sampling *sampling, const double *score, const double *p, size_t count,
               gg_rng *rng);

#endif
