/*
 * Losses over the tokens of a datum, and their gradient with respect to the new log-probabilities.
 *
 * Loss = sum over tokens of weight x token loss. Ratio = exp(new - recorded logprob). Sources:
 * importance_sampling, ppo (Schulman 2017; bounds 0.8 / 1.2 when none are given), cispo
 * (MiniMax-M1, arXiv 2506.13585), cross_entropy.
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

#define GG_CLIP_LOW  0.8
#define GG_CLIP_HIGH 1.2

typedef struct gg_loss_config {
    double clip_low, clip_high; /* ratio bounds */
} gg_loss_config;

const char *gg_loss_name(gg_loss loss);
gg_status gg_loss_parse(const char *name, gg_loss *out, gg_error *error);

/* One token: its loss, and d loss / d new_logprob. `clipped` (may be NULL) tells whether the bound
 * was active. */
double gg_token_loss(gg_loss loss, const gg_loss_config *config, double new_logprob,
                     double old_logprob, double advantage, double *gradient, bool *clipped);

#endif
