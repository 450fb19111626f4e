/*
 * The engine: what a training session computes. Five operations on one policy: sample (that is
 * policy/policy.h, on a snapshot of the weights), forward-backward, optimiser step, save, load.
 *
 * Gradients of successive forward-backward calls add up until the next step; the step divides the
 * accumulated gradient by the accumulated weight (rl/adam.h). Base weights are frozen: only the
 * adapter changes. The sum runs datum by datum in the order given, each datum's gradient summed on
 * its own first, so the bytes of the result do not depend on how a batch was cut into calls, nor on
 * the number of threads.
 *
 * Ownership: the policy is the caller's and outlives the engine. Threads: one at a time.
 */
#ifndef GG_SERVICE_ENGINE_H
#define GG_SERVICE_ENGINE_H

#include "policy/adapter.h"
#include "rl/adam.h"
#include "rl/loss.h"

#define GG_OPTIMIZER_SCHEMA "guessgym.optimizer/1"

typedef struct gg_engine gg_engine;

/* Starts at the base weights. GG_E_CONFIG when the policy cannot be trained. */
gg_status gg_engine_new(const gg_policy *policy, double rank, double alpha, gg_engine **out,
                        gg_error *error);
void gg_engine_free(gg_engine *engine); /* NULL is fine */

typedef struct gg_engine_batch {
    gg_loss loss;
    gg_loss_config config;
    const gg_datum *datums;
    size_t count;
    bool backward;     /* false: look at the losses only */
    double **logprobs; /* NULL, or `count` arrays of datums[i].n: the new log-probabilities, 0 where
                          the weight is 0 */
} gg_engine_batch;

/* What one call saw; the sums run over tokens, each counted by its weight. */
typedef struct gg_engine_sums {
    int64_t tokens;      /* input tokens of all datums */
    int64_t scored;      /* with a weight other than 0 that the policy can produce */
    int64_t unreachable; /* with a weight other than 0 that it cannot: counted, weight 0 */
    double weight, loss;
    double kl;            /* recorded - new logprob */
    double clipped;       /* where a bound of the ratio was active */
    double gradient_norm; /* of the accumulated gradient / the accumulated weight, after the call */
} gg_engine_sums;

/* GG_E_FORMAT, naming the datum, for one with a fault, without a tensor the loss needs, with a
 * token outside the vocabulary or with a negative weight; then nothing was accumulated. */
gg_status gg_engine_forward(gg_engine *engine, const gg_engine_batch *batch, gg_engine_sums *sums,
                            gg_error *error);

typedef struct gg_engine_moved {
    double gradient_norm; /* before clipping; 0 when nothing was accumulated */
    double weight;        /* that the gradient was divided by */
    int64_t version;      /* of the new weights */
} gg_engine_moved;

/* One optimiser step; the accumulated gradient is cleared. With nothing accumulated the weights
 * stay, but the version counts on. GG_E_STATE when the gradient is not finite: nothing changed. */
gg_status gg_engine_step(gg_engine *engine, const gg_adam_config *config, gg_engine_moved *moved,
                         gg_error *error);

/* A copy of the present state as an adapter; free with gg_adapter_free. */
gg_status gg_engine_snapshot(const gg_engine *engine, gg_adapter *out, gg_error *error);
/* Appends optimizer.json: {"schema":"guessgym.optimizer/1","steps":N,"m":[...],"v":[...]}. */
gg_status gg_engine_write_optimizer(const gg_engine *engine, gg_buf *out, gg_error *error);
/* Takes over an adapter's weights and version, of the same rank and alpha. `optimizer` is the text
 * of optimizer.json; NULL starts the optimiser afresh. What was accumulated is dropped. On failure
 * nothing changed. */
gg_status gg_engine_load(gg_engine *engine, const gg_adapter *adapter, const char *optimizer,
                         size_t len, gg_error *error);

#endif
