/*
 * Hyperparameters of the managed jobs: names, ranges, defaults, by the kind of job and the family
 * of its base model. Both sides need them: the service checks what a job asks for, and a plan is
 * checked before it is sent.
 *
 * Source: the parameter schemas of the managed service's recipes (aws/sagemaker-hyperpod-recipes,
 * mtrl*). Values may be texts, as the service wants them, or numbers.
 */
#ifndef GG_RL_HYPER_H
#define GG_RL_HYPER_H

#include <guessgym/buf.h>

#include "rl/adam.h"
#include "rl/advantage.h"
#include "rl/loss.h"

#define GG_PASS_K_MAX 16

typedef enum gg_hyper_of { GG_HYPER_TRAIN, GG_HYPER_EVALUATE } gg_hyper_of;

typedef struct gg_hyper {
    /* of an evaluation, group_size is its eval_group_size */
    int64_t batch, group_size, max_epochs, max_steps, val_every;
    int64_t max_tokens, concurrency, timeout_s, retries, off_policy;
    double temperature, top_p;
    gg_advantage advantage;
    gg_loss loss;
    gg_loss_config clip;
    gg_adam_config adam;
    double rank, alpha;
    int64_t pass_k[GG_PASS_K_MAX];
    size_t pass_k_count;
    double success_threshold;
} gg_hyper;

struct cJSON;
/* Reads an object (NULL = all defaults). `base_id` is the base model's hub id. A name that does not
 * exist and a value out of its range are GG_E_ARGUMENT. */
gg_status gg_hyper_read(gg_hyper_of of, const char *base_id, const struct cJSON *object,
                        gg_hyper *out, gg_error *error);
/* One value as text, by the same rules. */
gg_status gg_hyper_check(gg_hyper_of of, const char *base_id, const char *name, const char *value,
                         gg_error *error);
/* Appends "name":{schema},... for the JSON schema of a document. */
void gg_hyper_schema(gg_hyper_of of, gg_buf *out);

#endif
