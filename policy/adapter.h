/*
 * The adapter file, adapter.json: what training changed, apart from the frozen base weights.
 *
 * {"schema":"guessgym.adapter/1","policy":"letters","vocabulary":N,"length":5,"lists":"<digest>",
 *  "rank":32,"alpha":64,"version":100,"adapter":[...]} - numbers that read back bit for bit, so the
 * same training gives the same bytes. Between the vocabulary and the rank stand the policy's traits
 * (gg_policy_traits). Unknown keys are passed over.
 */
#ifndef GG_POLICY_ADAPTER_H
#define GG_POLICY_ADAPTER_H

#include "policy/policy.h"

#define GG_LORA_RANK  32
#define GG_LORA_ALPHA 64
/* An embedded policy has about a hundred weights where a real model's adapter has millions, and the
 * managed service's highest learning rate moves each by at most 0.01 a step. The gain makes up for
 * it: effective weight = base + gain x (alpha / rank) x adapter. */
#define GG_ADAPTER_GAIN 12.0

typedef struct gg_adapter {
    char *policy; /* owned */
    double rank, alpha;
    gg_weights weights; /* owned */
} gg_adapter;

/* The `scale` that the gg_policy functions take. */
double gg_adapter_scale(double rank, double alpha);

/* Fresh: all zero, version 0, the default rank and alpha. */
gg_status gg_adapter_new(const gg_policy *policy, gg_adapter *out, gg_error *error);
/* An adapter of another policy, other traits or another vocabulary is GG_E_CONFIG; anything
 * that is no adapter is GG_E_FORMAT. On failure *out is empty. */
gg_status gg_adapter_read(const char *path, const gg_policy *policy, gg_adapter *out,
                          gg_error *error);
gg_status gg_adapter_parse(const char *text, size_t len, const gg_policy *policy, gg_adapter *out,
                           gg_error *error);
/* Appends the file's contents, its newline included. */
gg_status gg_adapter_write(const gg_adapter *adapter, const gg_policy *policy, gg_buf *out,
                           gg_error *error);
void gg_adapter_free(gg_adapter *adapter);

#endif
