/* Running one operation; part of hosted.h. */
#ifndef GG_SERVICE_HOSTED_RUN_H
#define GG_SERVICE_HOSTED_RUN_H

#include "service/engine.h"
#include "service/hosted.h"

/* JSON knows no infinity: what a policy can never produce is told as this, as vLLM does. */
#define GG_LOGPROB_NEVER (-9999.0)
#define GG_RESULT_MAX    (64u << 20)

typedef struct gg_op_context {
    const gg_hosted_options *session;
    gg_engine *engine;
    gg_version *bound; /* weights for sampling, NULL = base; replaced by loadWeightsForSampling */
    uint64_t seed;     /* for a sample that names none */
    gg_hosted_usage usage; /* of this operation */
} gg_op_context;

/* Appends the value of the result's one member. */
gg_status gg_op_run(gg_op_context *context, const gg_op_request *request, gg_buf *result,
                    gg_error *error);

#endif
