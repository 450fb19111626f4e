#include "policy/reply.h"

#include <stdlib.h>

#define FIRST_ROOM 64

void gg_policy_reply_init(gg_policy_reply *reply)
{
    *reply = (gg_policy_reply){0};
    gg_buf_init(&reply->reasoning, GG_REPLY_TEXT_MAX);
    gg_buf_init(&reply->content, GG_REPLY_TEXT_MAX);
}

void gg_policy_reply_free(gg_policy_reply *reply)
{
    if (!reply)
        return;
    gg_buf_free(&reply->reasoning);
    gg_buf_free(&reply->content);
    free(reply->call.name);
    free(reply->call.arguments);
    free(reply->prompt_ids);
    free(reply->ids);
    free(reply->logprobs);
    gg_policy_reply_init(reply);
}

void gg_reply_reset(gg_policy_reply *reply)
{
    gg_buf_reset(&reply->reasoning);
    gg_buf_reset(&reply->content);
    free(reply->call.name);
    free(reply->call.arguments);
    reply->call = (gg_policy_call){0};
    reply->finish_reason = NULL;
    reply->prompt_count = reply->count = 0;
    reply->reasoning_tokens = 0;
}

static bool grow(gg_policy_reply *reply, bool logprobs)
{
    size_t room = reply->room ? reply->room * 2 : FIRST_ROOM;
    int32_t *ids = realloc(reply->ids, room * sizeof *ids);
    if (!ids)
        return false;
    reply->ids = ids;
    if (logprobs) {
        double *more = realloc(reply->logprobs, room * sizeof *more);
        if (!more)
            return false;
        reply->logprobs = more;
    }
    reply->room = room;
    return true;
}

bool gg_reply_push(gg_policy_reply *reply, int32_t id, const double *logprob)
{
    if (logprob && !reply->logprobs)
        reply->room = 0; /* storage of a policy without: let both arrays grow anew */
    if (!logprob && reply->logprobs) {
        free(reply->logprobs);
        reply->logprobs = NULL;
    }
    if (reply->count == reply->room && !grow(reply, logprob != NULL))
        return false;
    reply->ids[reply->count] = id;
    if (logprob)
        reply->logprobs[reply->count] = *logprob;
    reply->count++;
    return true;
}

gg_ids gg_reply_take_prompt(gg_policy_reply *reply)
{
    gg_ids ids = {.data = reply->prompt_ids, .room = reply->prompt_room};
    reply->prompt_ids = NULL;
    reply->prompt_count = reply->prompt_room = 0;
    return ids;
}

void gg_reply_give_prompt(gg_policy_reply *reply, gg_ids ids)
{
    reply->prompt_ids = ids.data;
    reply->prompt_count = ids.count;
    reply->prompt_room = ids.room;
}
