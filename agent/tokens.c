#include "agent/tokens.h"

#include <math.h>
#include <string.h>

#include "agent/sampled.h"
#include "core/sequence.h"

/* A server may count the closing token or not. */
#define USAGE_SLACK 1

static bool are_usable(const gg_reply *reply)
{
    if (reply->logprob_count != reply->id_count)
        return false;
    for (size_t i = 0; i < reply->logprob_count; i++)
        if (isnan(reply->logprobs[i]))
            return false;
    return true;
}

/* Remembers the first fault of the record; later ones do not matter. */
static void note(gg_episode *episode, const char *reason)
{
    if (!episode->untrainable_reason)
        episode->untrainable_reason = reason;
}

static bool counts_differ(const gg_reply *reply)
{
    int64_t told = reply->usage.completion, have = (int64_t)reply->id_count;
    return told != GG_TOKENS_UNKNOWN && (told > have + USAGE_SLACK || told < have - USAGE_SLACK);
}

static gg_status note_faults(gg_episode *episode, const gg_reply *reply, gg_error *error)
{
    bool agrees;
    gg_status status = gg_sampled_check(reply, &agrees, error);
    if (reply->prompt_count == 0)
        note(episode, GG_UNTRAINABLE_NO_PROMPT);
    if (!agrees)
        note(episode, GG_UNTRAINABLE_TEXT);
    if (counts_differ(reply))
        note(episode, GG_UNTRAINABLE_USAGE);
    if (reply->logprob_count == 0)
        note(episode, GG_UNTRAINABLE_NO_LOGPROBS);
    else if (reply->logprob_count != reply->id_count)
        note(episode, GG_UNTRAINABLE_LENGTHS);
    else if (!are_usable(reply))
        note(episode, GG_UNTRAINABLE_NULLS);
    return status;
}

gg_status gg_tokens_record(gg_episode *episode, const gg_reply *reply, bool *forked,
                           gg_error *error)
{
    bool has_ids = reply && reply->id_count;
    if (!has_ids && reply)
        note(episode, GG_UNTRAINABLE_SOME_IDS);
    if (!has_ids)
        return gg_sequence_add(episode, NULL, forked, error);
    gg_sequence_turn turn = {.prompt_ids = reply->prompt_ids,
                             .prompt_count = reply->prompt_count,
                             .ids = reply->ids,
                             .logprobs = are_usable(reply) ? reply->logprobs : NULL,
                             .count = reply->id_count};
    gg_status status = gg_sequence_add(episode, &turn, forked, error);
    return status == GG_OK ? note_faults(episode, reply, error) : status;
}

void gg_tokens_settle(gg_episode *episode, bool masked, const char *reason)
{
    size_t sampled = 0;
    for (size_t t = 0; episode->tokens && t < episode->turn_count; t++)
        sampled += episode->tokens[t].count;
    if (!sampled) {
        bool had_reply = episode->untrainable_reason != NULL;
        episode->tokens = NULL;
        episode->untrainable_reason = had_reply ? GG_UNTRAINABLE_NO_IDS : GG_UNTRAINABLE_NOTHING;
    } else if (masked) {
        note(episode, GG_UNTRAINABLE_CONSTRAINED);
    }
    if (reason)
        episode->untrainable_reason = reason;
    episode->trainable = episode->untrainable_reason == NULL;
}

bool gg_tokens_imitable(const gg_episode *episode)
{
    static const char *const harmless[] = {GG_UNTRAINABLE_NO_LOGPROBS, GG_UNTRAINABLE_LENGTHS,
                                           GG_UNTRAINABLE_NULLS};
    const char *reason = episode->untrainable_reason;
    if (!episode->tokens)
        return false;
    for (size_t i = 0; reason && i < sizeof harmless / sizeof *harmless; i++)
        if (strcmp(reason, harmless[i]) == 0)
            return true;
    return episode->trainable;
}
