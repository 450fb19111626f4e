#include "rl/adam.h"

#include <math.h>

static double norm_of(const double *gradient, size_t n, double total_weight)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        double mean = gradient[i] / total_weight;
        squares += mean * mean;
    }
    return sqrt(squares);
}

double gg_adam_step(gg_adam *adam, const gg_adam_config *config, double *weights, double *gradient,
                    double total_weight)
{
    if (total_weight == 0)
        return 0;
    double norm = norm_of(gradient, adam->n, total_weight);
    if (!isfinite(norm))
        return norm;
    double clip = config->clip_norm > 0 && norm > config->clip_norm ? config->clip_norm / norm : 1;

    adam->steps++;
    double bias1 = 1 - pow(config->beta1, (double)adam->steps);
    double bias2 = 1 - pow(config->beta2, (double)adam->steps);
    for (size_t i = 0; i < adam->n; i++) {
        double g = gradient[i] = gradient[i] / total_weight * clip;
        adam->m[i] = config->beta1 * adam->m[i] + (1 - config->beta1) * g;
        adam->v[i] = config->beta2 * adam->v[i] + (1 - config->beta2) * g * g;
        double step = adam->m[i] / bias1 / (sqrt(adam->v[i] / bias2) + config->eps);
        weights[i] -= config->learning_rate * (step + config->weight_decay * weights[i]);
    }
    return norm;
}
