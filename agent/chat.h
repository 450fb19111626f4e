/*
 * The chat completions codec of the agent: request bodies out, replies in. JSON only, no I/O.
 *
 * A conversation is kept as growing JSON text: the messages, comma between, without the brackets
 * around them. A request is then three pieces put together, and no message is ever printed twice.
 *
 * Threads: no shared state; one object, one thread at a time.
 */
#ifndef GG_AGENT_CHAT_H
#define GG_AGENT_CHAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guessgym/buf.h>
#include <guessgym/record.h>

#include "agent/pool.h"
#include "net/retry.h"

#define GG_NUDGES           2
#define GG_EPISODE_MS       1800000
#define GG_EPISODE_TOKENS   1000000     /* prompt and completion together, over all turns */
#define GG_HISTORY_MAX      (8u << 20)  /* bytes of one conversation */
#define GG_REQUEST_MAX      (16u << 20) /* bytes of one request body */
#define GG_CALLS_MAX        64          /* calls of one reply; further ones are dropped */
#define GG_REPLY_STRING_MAX (16u << 20) /* bytes of one string in a reply */

/* Where reasoning effort goes in the request. */
typedef enum gg_effort_in {
    GG_EFFORT_TOP,              /* "reasoning_effort": "low" */
    GG_EFFORT_REASONING_OBJECT, /* "reasoning": {"effort": "low"} */
    GG_EFFORT_TEMPLATE_KWARGS, /* "chat_template_kwargs": {"reasoning_effort", "enable_thinking"} */
    GG_EFFORT_SYSTEM_LINE,     /* last line of the system prompt: "Reasoning: low" */
    GG_EFFORT_OFF
} gg_effort_in;

/* "top", "reasoning-object", "template-kwargs", "system-line", "off". False for another text. */
bool gg_effort_in_parse(const char *text, gg_effort_in *out);
/* Whether it is one of the efforts: none, minimal, low, medium, high, xhigh, max. */
bool gg_effort_known(const char *text);
/* Both lists for a message, "none|minimal|..."; static storage. */
const char *gg_effort_choices(void);
const char *gg_effort_in_choices(void);

typedef enum gg_switch { GG_AUTO, GG_ON, GG_OFF } gg_switch;

/* How token ids are asked for; bits. A reply is read in every form whatever was asked. */
enum {
    GG_IDS_LOGPROBS = 1, /* "logprobs": llama.cpp gives each entry an id */
    GG_IDS_VLLM = 2,     /* "return_token_ids": ours too */
    GG_IDS_SGLANG = 4    /* "return_prompt_token_ids", "return_meta_info" */
};

/* How to ask: everything of the request that does not change from turn to turn. */
typedef struct gg_ask {
    const char *model;
    const char *effort; /* NULL = not sent */
    gg_effort_in effort_in;
    double temperature, top_p;
    int64_t max_tokens;
    bool send_seed;
    /* Whether thoughts go back in the history. AUTO: while the endpoint gives token ids and its
     * template keeps the thoughts (no fork was seen in this episode). */
    gg_switch echo_reasoning;
    /* GG_IDS_ bits, 0 = not asked for. A reply without ids is no error; the episode is then not
     * trainable and says why. */
    unsigned token_ids;
    bool train_constrained;     /* plays whose sampling was held to a form may be trained on */
    int nudges;                 /* reminders an episode after replies without a call */
    bool text_calls;            /* accept a call that is the reply's whole text */
    const char *system_prompt;  /* replaces the environment's; NULL = its own */
    const char *path;           /* "/chat/completions" */
    const char *const *headers; /* sent with every request */
    int64_t episode_ms;         /* of a planned episode, its replays included */
    const char *max_tokens_key; /* "max_tokens" or "max_completion_tokens" */
    const char *extra_body;     /* JSON object merged into every request last; NULL = none */
    const char *drop;           /* names never sent, one a line; NULL = none */
    bool effort_line;           /* the system prompt tells the effort, wherever else it goes */
    bool stream;                /* ask for a stream; what comes is read in either form */
} gg_ask;
#define GG_ASK_DEFAULTS                                                                            \
    {                                                                                              \
        "default", NULL, GG_EFFORT_TOP, 1.0, 1.0, 4096, true, GG_AUTO,                             \
            GG_IDS_LOGPROBS | GG_IDS_VLLM, false, GG_NUDGES, true, NULL, "/chat/completions",      \
            NULL, GG_EPISODE_MS, "max_tokens", NULL, NULL, false, false                            \
    }

/* The fixed part of a request. */
typedef struct gg_frame {
    gg_buf head;      /* everything up to the messages */
    bool seed;        /* the request takes a seed */
    bool constrained; /* sampling is held to a form (a grammar, a schema, a forced call, a mask):
                         log-probabilities are not the free policy's */
} gg_frame;

/* `tools` is a JSON array. Names in ask->drop are left out; ask->extra_body replaces what it names.
 * "messages" in it, and anything but an object, is GG_E_CONFIG. */
gg_status gg_frame_make(gg_frame *frame, const gg_ask *ask, const char *tools, gg_error *error);
void gg_frame_free(gg_frame *frame);
/* Appends the whole body: frame, messages, seed. */
void gg_frame_body(const gg_frame *frame, const gg_buf *history, uint64_t seed, gg_buf *body);

/* The conversation. Text is made valid UTF-8 on the way in. */
void gg_history_system(gg_buf *history, const char *text, const char *line); /* line may be NULL */
void gg_history_user(gg_buf *history, const char *text);
void gg_history_tool(gg_buf *history, const char *id, const char *text);
/* An assistant message is begun, gets its calls (none or more), and is ended. Empty content without
 * calls or thoughts becomes GG_EMPTY_REPLY, since one empty message makes servers refuse every
 * request that follows. `field` names the thoughts' key, NULL = thoughts are not sent. */
#define GG_EMPTY_REPLY "(empty reply)"
typedef struct gg_said {
    const char *content;
    size_t content_len;
    const char *field, *reasoning;
} gg_said;
void gg_history_said(gg_buf *history, const gg_said *said, size_t call_count);
/* The `index`-th call of the message begun last, 0 first. `arguments` is valid JSON text. */
void gg_history_call(gg_buf *history, size_t index, const char *id, const char *name,
                     const char *arguments);
void gg_history_said_end(gg_buf *history, size_t call_count);

/* One call as the endpoint gave it. Absent, null and empty are all NULL. */
typedef struct gg_reply_call {
    const char *id, *name;
    const char *arguments; /* the string's text, or the value's own bytes */
    bool bare;             /* arguments were no string */
    bool legacy;           /* came as function_call */
} gg_reply_call;

/* Token ids that came one by one with their log-probabilities. */
typedef struct gg_reply_pairs {
    int32_t *ids;
    double *logprobs; /* NaN where there was none */
    size_t count, room;
} gg_reply_pairs;

/* A parsed reply; reused from reply to reply. Everything lives until the next read. */
typedef struct gg_reply {
    const char *content, *reasoning; /* never NULL */
    size_t content_len;
    const char *reasoning_field; /* key the thoughts came under; NULL = none came */
    const char *finish_reason;   /* NULL = absent or null */
    gg_reply_call *calls;
    size_t call_count, call_room;
    size_t calls_dropped; /* beyond GG_CALLS_MAX */
    gg_usage usage;
    int64_t weight_version; /* -1 = not said */
    int32_t *prompt_ids, *ids;
    size_t prompt_count, prompt_room, id_count, id_room;
    double *logprobs; /* NaN where an entry was null */
    size_t logprob_count, logprob_room;
    gg_buf token_text;      /* of all log-probability entries, put together */
    bool token_text_whole;  /* every entry had a text; false when there was none */
    gg_reply_pairs entries; /* ids in the log-probability entries: llama.cpp, vLLM's "token_id:7" */
    gg_reply_pairs meta;    /* SGLang's meta_info.output_token_logprobs */
    bool has_choice;
    const char *error; /* JSON text of an error inside the body, NULL = none */
    gg_pool pool;
    gg_buf scratch;
} gg_reply;

void gg_reply_init(gg_reply *reply);
void gg_reply_free(gg_reply *reply);
/* Reads a body. Only the first choice counts. Unknown keys are passed over, values of a wrong type
 * count as absent; GG_E_FORMAT when the text is not one whole JSON object. */
gg_status gg_reply_read(gg_reply *reply, const char *body, size_t len, gg_error *error);
/* gg_reply_read as a judge of 2xx replies (net/retry.h): an error inside a 200, no choice, a reply
 * broken off by the server, a body that is not JSON are failures with the class they deserve. A
 * stream of events is put together first (agent/stream.h). */
gg_retry_class gg_reply_judge(gg_reply *reply, const gg_http_reply *http, gg_buf *message);
/* The reply was cut by a token limit. */
bool gg_reply_cut(const gg_reply *reply);

#endif
