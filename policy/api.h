/*
 * One embedded policy, as policy.c sees it: a table of functions and what all of them share. A new
 * policy is a file with such a table and a line in policy.c.
 *
 * policy.c checks ids and weights, adds base weights and adapter, goes by the chat template, and
 * calls these. All are reentrant; a policy is immutable once opened.
 */
#ifndef GG_POLICY_API_H
#define GG_POLICY_API_H

#include "policy/draw.h"
#include "policy/policy.h"
#include "policy/tokenizer.h"

#define GG_POLICY_WEIGHTS_MAX 512
#define GG_POLICY_TRAITS_MAX  2

typedef struct gg_policy_api {
    const char *name;
    bool trainable; /* false: no weights, no log-probabilities; logprobs and gradient are NULL */
    bool schemas;   /* the prompt spells the tools' schemas too (template.h) */
    int variant;    /* for tables that share functions */
    gg_status (*open)(const struct gg_policy_api *api, const char *settings, gg_policy **out,
                      gg_error *error);
    void (*close)(gg_policy *policy); /* takes an opened one, never NULL */

    /* Continues a prompt until the closing token or sampling->max_tokens: pushes ids and, where
     * trainable, their log-probabilities at temperature 1 and top_p 1 (reply.h), and sets
     * finish_reason to "stop" or "length". `weights` are effective ones. */
    gg_status (*sample)(const gg_policy *policy, const double *weights, const int32_t *prompt,
                        size_t count, const gg_sampling *sampling, gg_policy_reply *reply,
                        gg_error *error);
    /* As gg_policy_logprobs, on effective weights. */
    gg_status (*logprobs)(const gg_policy *policy, const double *weights, const int32_t *input,
                          const int32_t *target, size_t n, const double *wanted, double *out,
                          gg_error *error);
    /* Adds sum over i of upstream[i] * d logprob[i] / d weights into `sum`. */
    gg_status (*gradient)(const gg_policy *policy, const double *weights, const int32_t *input,
                          const int32_t *target, size_t n, const double *upstream, double *sum,
                          gg_error *error);
} gg_policy_api;

/* The first member of every policy's own struct; open fills all but `api`. */
struct gg_policy {
    const gg_policy_api *api;
    const gg_tokenizer *tokenizer;
    const double *base; /* start weights */
    size_t weight_count;
    gg_policy_trait traits[GG_POLICY_TRAITS_MAX];
    size_t trait_count;
};

#endif
