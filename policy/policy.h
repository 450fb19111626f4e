/*
 * An embedded policy: what stands behind `builtin:NAME` and behind the local training service.
 *
 * A policy turns chat messages into a reply. A trainable one is also a token model: token ids in, a
 * distribution over the next token out; everything it knows it reads from those tokens, so one
 * function serves sampling, log-probabilities and training.
 *
 * Ownership: a gg_policy is immutable after gg_policy_open and shared by threads; weights are
 * passed in by the caller, so that one policy serves many versions at once. Threads: all functions
 * are reentrant.
 */
#ifndef GG_POLICY_POLICY_H
#define GG_POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/json.h"
#include <guessgym/error.h>

typedef enum gg_effort { GG_EFFORT_LOW, GG_EFFORT_MEDIUM, GG_EFFORT_HIGH } gg_effort;
/* none, minimal, low -> LOW; medium -> MEDIUM; high, xhigh, max -> HIGH. NULL -> MEDIUM, as the
 * models we mirror. */
gg_status gg_effort_parse(const char *name, gg_effort *out, gg_error *error);

typedef struct gg_policy gg_policy;

/* Trainable state of one version. Effective weight = base + gain x (alpha / rank) x adapter. */
typedef struct gg_weights {
    size_t n;
    double *adapter;
    int64_t version; /* optimiser steps in these weights; 0 = base */
} gg_weights;

typedef struct gg_policy_request {
    gg_json_name messages, tools; /* JSON text as in a chat request; bytes NULL = no tools */
    gg_effort effort;
    double temperature, top_p;
    uint64_t seed;
    int64_t max_tokens; /* of the completion */
} gg_policy_request;

typedef struct gg_policy_call {
    char *name, *arguments;
} gg_policy_call;

/* A reply: gg_policy_reply_init before the first use; storage is reused between calls,
 * gg_policy_reply_free at the end. */
typedef struct gg_policy_reply {
    gg_buf reasoning, content;
    gg_policy_call call;       /* name NULL = no call */
    const char *finish_reason; /* "tool_calls", "stop", "length" */
    int32_t *prompt_ids;
    size_t prompt_count, prompt_room;
    int32_t *ids;     /* sampled, closing token included unless cut by max_tokens */
    double *logprobs; /* one an id, as below; NULL for a policy without */
    size_t count, room;
    int64_t reasoning_tokens;
} gg_policy_reply;

/* `settings` are the environment's own (--env-set NAME=...), as JSON or NULL. */
gg_status gg_policy_open(const char *name, const char *settings, gg_policy **out, gg_error *error);
void gg_policy_close(gg_policy *policy);
const char *gg_policy_name(const gg_policy *policy);
bool gg_policy_trainable(const gg_policy *policy);
/* Known names, for --help and near misses; NULL-terminated. */
const char *const *gg_policy_names(void);
/* Whether there is a policy of this name that can be trained. */
bool gg_policy_name_trainable(const char *name);

size_t gg_policy_weight_count(const gg_policy *policy); /* 0 for a baseline */
int32_t gg_policy_vocabulary(const gg_policy *policy);  /* number of token ids */

/* What an adapter depends on beside the vocabulary: it stands in the adapter's file and must agree.
 * The texts are the policy's. */
typedef struct gg_policy_trait {
    const char *name;
    const char *text; /* NULL: the number counts */
    int64_t number;
    const char *advice; /* for a user whose adapter does not agree */
} gg_policy_trait;
const gg_policy_trait *gg_policy_traits(const gg_policy *policy, size_t *count);

/* `weights` NULL = base. Log-probabilities are of the policy itself, at temperature 1 and top_p 1,
 * whatever the reply was drawn with, as vLLM gives them by default: at another temperature they are
 * not those of the drawing. A baseline reads and writes as at low effort, whatever is asked. */
gg_status gg_policy_reply_to(const gg_policy *policy, const gg_weights *weights, double scale,
                             const gg_policy_request *request, gg_policy_reply *reply,
                             gg_error *error);
void gg_policy_reply_init(gg_policy_reply *reply);
void gg_policy_reply_free(gg_policy_reply *reply);

/* Token model. Text of ids, appended; and ids of text (malloc'ed). */
gg_status gg_policy_detokenize(const gg_policy *policy, const int32_t *ids, size_t count,
                               gg_buf *out, gg_error *error);
gg_status gg_policy_tokenize(const gg_policy *policy, const char *text, size_t len, int32_t **ids,
                             size_t *count, gg_error *error);

/* out[i] = log p(target[i] | input[0..i]) for every place where wanted[i] is not 0, at temperature
 * 1; 0 elsewhere. Places that the template fixes and those outside a reply have log-probability 0;
 * a target that the policy cannot write there gets -INFINITY (the caller gives it weight 0 and
 * counts it). */
gg_status gg_policy_logprobs(const gg_policy *policy, const gg_weights *weights, double scale,
                             const int32_t *input, const int32_t *target, size_t n,
                             const double *wanted, double *out, gg_error *error);
/* Adds sum over i of upstream[i] * d logprob[i] / d adapter into gradient (weight_count long);
 * targets that the policy cannot write add nothing. */
gg_status gg_policy_gradient(const gg_policy *policy, const gg_weights *weights, double scale,
                             const int32_t *input, const int32_t *target, size_t n,
                             const double *upstream, double *gradient, gg_error *error);
/* Continues a raw token prompt by up to max_tokens, for the sampling operations: fills ids,
 * logprobs and finish_reason ("stop" or "length") alone. A prompt that does not end within a reply
 * is answered by the closing token. */
gg_status gg_policy_sample(const gg_policy *policy, const gg_weights *weights, double scale,
                           const int32_t *prompt, size_t prompt_count, double temperature,
                           double top_p, uint64_t seed, int64_t max_tokens, gg_policy_reply *reply,
                           gg_error *error);

#endif
