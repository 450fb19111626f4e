/* Inside of the reply reader: agent/reply.c, and agent/reply_tokens.c for ids and
 * log-probabilities. */
#ifndef GG_AGENT_REPLY_INSIDE_H
#define GG_AGENT_REPLY_INSIDE_H

#include "agent/chat.h"
#include "core/json.h"

/* A read in progress: the reader, and what is being filled. */
typedef struct gg_reply_reading {
    gg_json_reader r;
    gg_reply *reply;
    gg_reply_call *call; /* whose members are being read */
    gg_reply_call legacy;
    const char *refusal;
    size_t refusal_len;
    /* the token being read */
    double logprob;
    int64_t id;     /* -1 = not said */
    bool has_text;  /* its text was there, whole */
    size_t text_at; /* where that begins in token_text */
    size_t place;   /* of the count being read, in the reply */
} gg_reply_reading;

/* The members of one kind of object that are of use, and what reads each one's value. */
typedef struct gg_reply_member {
    const char *name;
    void (*read)(gg_reply_reading *in);
    size_t place; /* for gg_reply_count_into */
} gg_reply_member;

/* Reads an object by its table; any other value is passed over. */
void gg_reply_members(gg_reply_reading *in, const gg_reply_member *table, size_t count);
#define READ_MEMBERS(in, table) gg_reply_members(in, table, sizeof(table) / sizeof *(table))
/* Enters an array; any other value is passed over. */
bool gg_reply_array(gg_reply_reading *in);
/* A number that may also come as a string of digits; -1 for anything else. */
int64_t gg_reply_count(gg_reply_reading *in);
void gg_reply_count_into(gg_reply_reading *in);
#define COUNT_MEMBER(name, field)                                                                  \
    {                                                                                              \
        name, gg_reply_count_into, offsetof(gg_reply, field)                                       \
    }

void gg_reply_ids(gg_reply_reading *in);
void gg_reply_prompt_ids(gg_reply_reading *in);
void gg_reply_logprobs(gg_reply_reading *in);
void gg_reply_meta(gg_reply_reading *in); /* SGLang's meta_info */
/* Once all is read: ids that came in another place than a list of their own. False: no memory. */
bool gg_reply_settle_ids(gg_reply *reply);

#endif
