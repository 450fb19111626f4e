/*
 * What the managed service, or a forwarder, asks of the agent: the body of POST /invocations and
 * POST /rollout taken apart. All spellings that the service's documents and client libraries know
 * are read:
 *
 *   prompt          or instance: a string, or an object that holds a prompt; the whole object's
 *                   JSON text when it does not
 *   metadata        jobArn, job_arn; rolloutId, rollout_id, trajectoryId, trajectory_id; endpoint,
 *                   region. Without metadata they stand beside the prompt
 *   inferenceParams or inference_params: temperature; topP, top_p; maxTokens, max_tokens
 *   model_endpoint, modelEndpoint   an endpoint's older name
 *   body            the whole as a JSON string, as a Lambda event carries it
 *
 * Absent and null are the same. A value of a wrong type or out of range is refused, not passed
 * over.
 *
 * Threads: no shared state.
 */
#ifndef GG_AGENT_INVOCATION_H
#define GG_AGENT_INVOCATION_H

#include "agent/chat.h"

#define GG_INVOCATION_NAME_MAX 256 /* bytes of a job's ARN and a trajectory's id */

typedef struct gg_invocation {
    char *prompt, *job_arn, *rollout_id;
    char *endpoint, *region;   /* NULL = not given */
    double temperature, top_p; /* NaN = not given */
    int64_t max_tokens;        /* -1 = not given */
} gg_invocation;

/* GG_E_FORMAT with what is missing or wrong. The caller frees, also after a failure. */
gg_status gg_invocation_read(const char *body, size_t len, gg_invocation *out, gg_error *error);
void gg_invocation_free(gg_invocation *invocation);
/* A region's name: lower-case letters, digits, dashes. */
bool gg_region_valid(const char *region);

#endif
