/* Filling a gg_policy_reply: storage grows and is kept between replies. */
#ifndef GG_POLICY_REPLY_H
#define GG_POLICY_REPLY_H

#include "policy/policy.h"
#include "policy/tokenizer.h"

#define GG_REPLY_TEXT_MAX (1u << 20) /* bytes of reasoning, and of content */

/* Empties a reply for the next use. */
void gg_reply_reset(gg_policy_reply *reply);
/* Appends a sampled id; `logprob` NULL for a policy that has none. False when memory is short. */
bool gg_reply_push(gg_policy_reply *reply, int32_t id, const double *logprob);
/* The prompt's storage, lent out and given back. */
gg_ids gg_reply_take_prompt(gg_policy_reply *reply);
void gg_reply_give_prompt(gg_policy_reply *reply, gg_ids ids);

#endif
