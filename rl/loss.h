/*
 * Losses over the tokens of a datum, and their gradient with respect to the new log-probabilities.
 *
 * Loss = sum over tokens of weight x token loss. With r = exp(new - recorded logprob), A the
 * advantage and [low, high] the ratio bounds, the token loss is
 *
 *   cross_entropy        - new
 *   importance_sampling  - r x A
 *   ppo                  - min(r x A, clip(r) x A)       Schulman et al. 2017, arXiv 1707.06347
 *   cispo                - clip(r) x A x new, clip(r) taken as a constant
 *                                                        MiniMax-M1 2025, arXiv 2506.13585
 *
 * The log-ratio is held within +-GG_LOG_RATIO_MAX, where it has no gradient outside.
 */
#ifndef GG_RL_LOSS_H
#define GG_RL_LOSS_H

#include "rl/datum.h"

typedef enum gg_loss {
    GG_LOSS_CROSS_ENTROPY = 0,
    GG_LOSS_IMPORTANCE_SAMPLING,
    GG_LOSS_PPO,
    GG_LOSS_CISPO,
    GG_LOSS_COUNT
} gg_loss;

#define GG_CLIP_LOW      0.8
#define GG_CLIP_HIGH     1.2
#define GG_LOG_RATIO_MAX 20.0

typedef struct gg_loss_config {
    double clip_low, clip_high; /* ratio bounds */
} gg_loss_config;

#define GG_LOSS_DEFAULTS                                                                           \
    {                                                                                              \
        GG_CLIP_LOW, GG_CLIP_HIGH                                                                  \
    }

const char *gg_loss_name(gg_loss loss);
/* GG_E_ARGUMENT with the list of names when there is no such loss. */
gg_status gg_loss_parse(const char *name, gg_loss *out, gg_error *error);
/* Which tensors a datum must have: GG_TENSOR_ bits of rl/datum.h. */
unsigned gg_loss_tensors(gg_loss loss);

/* One token: its loss, and d loss / d new_logprob. `clipped` (may be NULL) tells whether a bound
 * was active. */
double gg_token_loss(gg_loss loss, const gg_loss_config *config, double new_logprob,
                     double old_logprob, double advantage, double *gradient, bool *clipped);

#endif
