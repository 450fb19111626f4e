/*
 * The optimiser step: the accumulated gradient divided by the accumulated weight, clipped by global
 * norm, then Adam (Kingma and Ba 2015, arXiv 1412.6980, algorithm 1, bias-corrected) with decoupled
 * weight decay (Loshchilov and Hutter 2019, arXiv 1711.05101, algorithm 2).
 */
#ifndef GG_RL_ADAM_H
#define GG_RL_ADAM_H

#include <stddef.h>
#include <stdint.h>

typedef struct gg_adam_config { /* a zero clip_norm means no clipping */
    double learning_rate, beta1, beta2, eps, weight_decay, clip_norm;
} gg_adam_config;

#define GG_ADAM_DEFAULTS                                                                           \
    {                                                                                              \
        0.01, 0.9, 0.95, 1e-8, 0.0, 1.0                                                            \
    }

typedef struct gg_adam { /* arrays of `n`, owned by the caller */
    size_t n;
    int64_t steps;
    double *m, *v;
} gg_adam;

/* Updates `weights` in place and returns the mean gradient's norm before clipping. `gradient` holds
 * the sums and is left divided and clipped. A total_weight of 0 leaves everything as it is and
 * returns 0; a gradient that is not finite does too, and returns that norm (NaN or infinity). */
double gg_adam_step(gg_adam *adam, const gg_adam_config *config, double *weights, double *gradient,
                    double total_weight);

#endif
