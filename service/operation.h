/*
 * Operations of a training session as they come over the wire: read, checked, kept.
 *
 * Reading checks everything that can be known without the session: names, ranges, the key set of
 * the loss. What fails here is the caller's 400; what can only be seen while running (a tensor of a
 * wrong length) makes the operation Failed.
 */
#ifndef GG_SERVICE_OPERATION_H
#define GG_SERVICE_OPERATION_H

#include "rl/adam.h"
#include "rl/loss.h"

#define GG_SAMPLES_MAX       1000
#define GG_SAMPLE_TOKENS_MIN 512
#define GG_SAMPLE_TOKENS_MAX 131072
#define GG_STOPS_MAX         16
#define GG_DESCRIPTION_MAX   1024
#define GG_CLIENT_TOKEN_MAX  128

typedef enum gg_op_kind {
    GG_OP_FORWARD = 0,
    GG_OP_FORWARD_BACKWARD,
    GG_OP_OPTIMIZER_STEP,
    GG_OP_SAVE_WEIGHTS,
    GG_OP_SAVE_STATE,
    GG_OP_LOAD_STATE,
    GG_OP_SAMPLE,
    GG_OP_COMPUTE_LOGPROBS,
    GG_OP_LOAD_FOR_SAMPLING,
    GG_OP_KIND_COUNT
} gg_op_kind;

const char *gg_op_kind_name(gg_op_kind kind); /* the member of operationConfig */

/* Zeroed = empty. Owns what it points to. */
typedef struct gg_op_request {
    gg_op_kind kind;
    size_t bytes; /* of its body: what it costs to wait */
    /* forward, forwardBackward */
    gg_loss loss;
    gg_loss_config clip;
    gg_datums datums;
    gg_adam_config adam; /* optimizerStep */
    char *description;   /* saves; may be NULL */
    char *package;       /* modelPackageArn; NULL = none was given */
    bool load_optimizer; /* loadState */
    int32_t *prompt;     /* sample, computeLogprobs */
    size_t prompt_count;
    int64_t samples, max_tokens;
    double temperature, top_p;
    bool seeded, prompt_logprobs;
    uint64_t seed;
    char *stops[GG_STOPS_MAX];
    size_t stop_count;
} gg_op_request;

void gg_op_request_free(gg_op_request *request);

/* {"sequenceNumber":N,"clientToken":"...","operationConfig":{...}}; `token` "" when there is none.
 * GG_E_ARGUMENT with the sentence for the caller, or GG_E_MEMORY. */
gg_status gg_op_read_training(const char *body, size_t len, int64_t *sequence,
                              char token[GG_CLIENT_TOKEN_MAX + 1], gg_op_request *out,
                              gg_error *error);
/* {"operationConfig":{...}} */
gg_status gg_op_read_sampling(const char *body, size_t len, gg_op_request *out, gg_error *error);

#endif
