#include "rl/loss.h"

#include <math.h>
#include <string.h>

#define RL_TENSORS                                                                                 \
    (GG_TENSOR_TARGET | GG_TENSOR_WEIGHTS | GG_TENSOR_LOGPROBS | GG_TENSOR_ADVANTAGES)

typedef struct token {
    double logprob, ratio, advantage;
    bool held; /* the log-ratio was outside its range */
} token;

/* Writes the gradient; returns the loss. */
typedef double (*token_loss)(const gg_loss_config *config, const token *t, double *gradient,
                             bool *clipped);

static double cross_entropy(const gg_loss_config *config, const token *t, double *gradient,
                            bool *clipped)
{
    (void)config;
    *gradient = -1;
    *clipped = false;
    return -t->logprob;
}

static double importance_sampling(const gg_loss_config *config, const token *t, double *gradient,
                                  bool *clipped)
{
    (void)config;
    double loss = -t->ratio * t->advantage;
    *gradient = t->held ? 0 : loss;
    *clipped = t->held;
    return loss;
}

static double bounded(double ratio, const gg_loss_config *config)
{
    return fmin(fmax(ratio, config->clip_low), config->clip_high);
}

static double ppo(const gg_loss_config *config, const token *t, double *gradient, bool *clipped)
{
    double plain = t->ratio * t->advantage;
    double bound = bounded(t->ratio, config) * t->advantage;
    *clipped = bound < plain || t->held;
    *gradient = *clipped ? 0 : -plain;
    return bound < plain ? -bound : -plain;
}

static double cispo(const gg_loss_config *config, const token *t, double *gradient, bool *clipped)
{
    double ratio = bounded(t->ratio, config);
    *clipped = ratio != t->ratio;
    *gradient = -ratio * t->advantage;
    return *gradient * t->logprob;
}

static const struct {
    const char *name;
    token_loss of;
    unsigned tensors;
} losses[GG_LOSS_COUNT] = {
    [GG_LOSS_CROSS_ENTROPY] = {"cross_entropy", cross_entropy,
                               GG_TENSOR_TARGET | GG_TENSOR_WEIGHTS},
    [GG_LOSS_IMPORTANCE_SAMPLING] = {"importance_sampling", importance_sampling, RL_TENSORS},
    [GG_LOSS_PPO] = {"ppo", ppo, RL_TENSORS},
    [GG_LOSS_CISPO] = {"cispo", cispo, RL_TENSORS},
};

const char *gg_loss_name(gg_loss loss)
{
    size_t i = (size_t)loss;
    return i < GG_LOSS_COUNT ? losses[i].name : "unknown";
}

gg_status gg_loss_parse(const char *name, gg_loss *out, gg_error *error)
{
    for (size_t i = 0; name && i < GG_LOSS_COUNT; i++)
        if (strcmp(losses[i].name, name) == 0) {
            *out = (gg_loss)i;
            return GG_OK;
        }
    return gg_fail(error, GG_E_ARGUMENT,
                   "no loss is called \"%s\"; use one of cross_entropy, importance_sampling, ppo, "
                   "cispo",
                   name ? name : "");
}

unsigned gg_loss_tensors(gg_loss loss)
{
    return losses[loss].tensors;
}

double gg_token_loss(gg_loss loss, const gg_loss_config *config, double new_logprob,
                     double old_logprob, double advantage, double *gradient, bool *clipped)
{
    bool was_clipped;
    double difference = new_logprob - old_logprob;
    double within = fmin(fmax(difference, -GG_LOG_RATIO_MAX), GG_LOG_RATIO_MAX);
    token t = {new_logprob, exp(within), advantage, within != difference};
    double value = losses[loss].of(config, &t, gradient, &was_clipped);
    if (clipped)
        *clipped = was_clipped;
    return value;
}
