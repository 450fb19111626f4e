/*
 * The token record of an episode while it is played: what each turn's prompt adds, what was
 * sampled, and whether the sequence stayed append-only.
 */
#ifndef GG_AGENT_TOKENS_H
#define GG_AGENT_TOKENS_H

#include "agent/chat.h"

/* Why an episode cannot be trained on; static text. */
#define GG_UNTRAINABLE_ERRORED     "errored"              /* no outcome to learn from */
#define GG_UNTRAINABLE_NO_IDS      "no_token_ids"         /* no reply had ids */
#define GG_UNTRAINABLE_SOME_IDS    "token_ids_missing"    /* some replies had none */
#define GG_UNTRAINABLE_NO_PROMPT   "no_prompt_ids"        /* ids of the reply alone */
#define GG_UNTRAINABLE_NO_LOGPROBS "no_logprobs"          /* ids alone: enough to imitate */
#define GG_UNTRAINABLE_LENGTHS     "logprobs_length"      /* not one log-probability an id */
#define GG_UNTRAINABLE_NULLS       "logprobs_null"        /* some were null */
#define GG_UNTRAINABLE_USAGE       "usage_length"         /* other ids than the usage counts */
#define GG_UNTRAINABLE_TEXT        "text_differs"         /* the tokens' text is not the reply's */
#define GG_UNTRAINABLE_CONSTRAINED "constrained_sampling" /* of a masked distribution */
#define GG_UNTRAINABLE_NOTHING     "nothing_sampled"
#define GG_UNTRAINABLE_SHORTENED   "context_shortened" /* the endpoint dropped earlier messages */

/* Records the tokens of the episode's newest turn. `reply` NULL = the turn got none. *forked tells
 * whether its prompt departed from the sequence before it. */
gg_status gg_tokens_record(gg_episode *episode, const gg_reply *reply, bool *forked,
                           gg_error *error);
/* Settles trainable and untrainable_reason once the episode is over, and drops a token record that
 * holds nothing. `reason` not NULL = known before; `masked` = constrained sampling that may not be
 * trained on. */
void gg_tokens_settle(gg_episode *episode, bool masked, const char *reason);
/* Whether the record is good enough for a loss that needs no log-probabilities. */
bool gg_tokens_imitable(const gg_episode *episode);

#endif
