/*
 * The OpenAI-compatible chat completions wire over an embedded policy: from a request body to a
 * reply body. No sockets here: `serve policy`, `builtin:` and the training service all answer with
 * this.
 *
 * Spoken: tools, tool_choice, reasoning_effort, seed, n, max_tokens and max_completion_tokens,
 * temperature, top_p, logprobs, streaming with include_usage, and vLLM's return_token_ids. What the
 * policy cannot honour (stop, response_format ...) is refused with 400 and the parameter's name,
 * never ignored.
 *
 * Threads: reentrant; the model's policy and weights are read only.
 */
#ifndef GG_SERVICE_CHAT_H
#define GG_SERVICE_CHAT_H

#include "policy/policy.h"

#define GG_CHAT_REPLY_MAX (16u << 20)
#define GG_CHAT_CHOICES   16   /* largest `n` */
#define GG_CHAT_TOKENS    4096 /* max_tokens when the request names none */

typedef struct gg_chat_model {
    const gg_policy *policy;
    const gg_weights *weights; /* NULL = base */
    double scale;              /* effective weight = base + scale x adapter */
    const char *name;          /* as replies name it */
} gg_chat_model;

typedef struct gg_chat_reply {
    int status;
    const char *content_type; /* application/json or text/event-stream */
    gg_buf body;
    int64_t prompt_tokens, completion_tokens; /* for the bill; 0 on errors */
} gg_chat_reply;

void gg_chat_reply_init(gg_chat_reply *reply);
void gg_chat_reply_free(gg_chat_reply *reply);

/* Always fills the reply: a bad request gives a 400 with OpenAI's error body. `fallback_seed` is
 * used when the request has none. The request's `model` is the caller's business. */
void gg_chat_answer(const gg_chat_model *model, const char *body, size_t len,
                    uint64_t fallback_seed, gg_chat_reply *reply);
/* A turn of which somebody keeps the tokens. */
typedef struct gg_chat_turn {
    double temperature, top_p; /* these, where the request names none */
    int64_t max_tokens;
    uint64_t seed;
    /* Called once with the one reply before it is sent; false = it comes too late, and the request
     * is refused. */
    bool (*keep)(void *context, const gg_policy_reply *reply);
    void *context;
    const char *late; /* what is told then */
} gg_chat_turn;
/* The same for one turn; `n` must be 1. */
void gg_chat_answer_turn(const gg_chat_model *model, const char *body, size_t len,
                         const gg_chat_turn *turn, gg_chat_reply *reply);
/* {"error":{message,type,param,code}}; param and code may be NULL. */
void gg_chat_refuse(gg_chat_reply *reply, int status, const char *type, const char *param,
                    const char *code, const char *message);
/* Body of GET /v1/models. */
void gg_chat_models(const char *const *names, size_t count, gg_buf *out);

#endif
