/*
 * The adapter file, adapter.json: what training changed, apart from the frozen base weights.
 *
 * {"schema":"guessgym.adapter/1","policy":"letters","vocabulary":N,"lists":"<digest>","rank":32,"alpha":64,
 *  "version":100,"adapter":[...]} - numbers that read back bit for bit, so the same training gives
 * the same bytes.
 */
#ifndef GG_POLICY_ADAPTER_H
#define GG_POLICY_ADAPTER_H

#include "policy/policy.h"

#define GG_LORA_RANK  32
#define GG_LORA_ALPHA 64
#define GG_GAIN       12.0 /* effective weight = base + GG_GAIN x (alpha / rank) x adapter */

/* The factor before the adapter: GG_GAIN x alpha / rank. */
double gg_adapter_scale(double rank, double alpha);

typedef struct gg_adapter {
    char *policy;
    double rank, alpha;
    gg_weights weights; /* owned */
} gg_adapter;

gg_status gg_adapter_read(const char *path, const gg_policy *policy, gg_adapter *out,
                          gg_error *error);
gg_status gg_adapter_parse(const char *text, size_t len, const gg_policy *policy, gg_adapter *out,
                           gg_error *error);
gg_status gg_adapter_write(const gg_adapter *adapter, const gg_policy *policy, gg_buf *out,
                           gg_error *error);
void gg_adapter_free(gg_adapter *adapter);

#endif
