#include "agent/tokens.h"

#include <math.h>
#include <string.h>

/* The first turn of the sequence that the newest turn would go on with. */
static size_t sequence_start(const gg_episode *episode, size_t end)
{
    size_t start = end;
    while (start > 0) {
        start--;
        if (episode->tokens[start].prompt_from == 0 && episode->tokens[start].prompt_count)
            break;
    }
    return start;
}

/* How far `ids` agrees with `part`, from place *at on; false where they part. */
static bool agrees(const int32_t *part, size_t count, const int32_t *ids, size_t len, size_t *at)
{
    for (size_t i = 0; i < count; i++, (*at)++)
        if (*at == len || ids[*at] != part[i])
            return false;
    return true;
}

/* Compares a prompt with the sequence so far. *length is where they part, or the sequence's length
 * when all of it is there. */
static bool continues(const gg_episode *episode, size_t turn, const gg_reply *reply, size_t *length)
{
    *length = 0;
    for (size_t t = sequence_start(episode, turn); t < turn; t++) {
        const gg_turn_tokens *had = &episode->tokens[t];
        if (!agrees(had->prompt_ids, had->prompt_count, reply->prompt_ids, reply->prompt_count,
                    length) ||
            !agrees(had->ids, had->count, reply->prompt_ids, reply->prompt_count, length))
            return false;
    }
    return true;
}

static size_t sequence_length(const gg_episode *episode, size_t turn)
{
    size_t length = 0;
    for (size_t t = sequence_start(episode, turn); t < turn; t++)
        length += episode->tokens[t].prompt_count + episode->tokens[t].count;
    return length;
}

static void *keep(gg_episode *episode, const void *values, size_t bytes)
{
    void *copy = gg_episode_alloc(episode, bytes);
    if (copy && bytes)
        memcpy(copy, values, bytes);
    return copy;
}

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

static void note_faults(gg_episode *episode, const gg_reply *reply)
{
    if (reply->logprob_count == 0)
        note(episode, GG_UNTRAINABLE_NO_LOGPROBS);
    else if (reply->logprob_count != reply->id_count)
        note(episode, GG_UNTRAINABLE_LENGTHS);
    else if (!are_usable(reply))
        note(episode, GG_UNTRAINABLE_NULLS);
}

gg_status gg_tokens_record(gg_episode *episode, const gg_reply *reply, bool *forked,
                           gg_error *error)
{
    size_t turn = episode->turn_count - 1, length = 0;
    bool has_ids = reply && reply->id_count && reply->prompt_count;
    *forked = false;
    /* An episode without ids needs no arrays; with the first ids the turns before get theirs. */
    if (!has_ids && reply)
        note(episode, GG_UNTRAINABLE_SOME_IDS);
    if (!has_ids && !episode->tokens)
        return GG_OK;
    gg_turn_tokens *tokens = NULL;
    for (size_t count = episode->tokens ? turn : 0; count <= turn;) {
        tokens = gg_episode_push(episode, &episode->tokens, &count, sizeof *tokens);
        if (!tokens)
            return gg_fail(error, GG_E_MEMORY, "out of memory for a token record");
    }
    if (!has_ids) {
        tokens->prompt_from = (int64_t)sequence_length(episode, turn);
        return GG_OK;
    }
    size_t before = sequence_length(episode, turn);
    bool whole = !continues(episode, turn, reply, &length);
    *forked = whole && before > 0;
    if (whole) {
        tokens->fork_at = (int64_t)length;
        length = 0;
    }
    tokens->prompt_from = (int64_t)length;
    tokens->prompt_count = reply->prompt_count - length;
    tokens->count = reply->id_count;
    tokens->prompt_ids =
        keep(episode, reply->prompt_ids + length, tokens->prompt_count * sizeof *reply->prompt_ids);
    tokens->ids = keep(episode, reply->ids, reply->id_count * sizeof *reply->ids);
    bool usable = are_usable(reply);
    if (usable)
        tokens->logprobs =
            keep(episode, reply->logprobs, reply->logprob_count * sizeof *reply->logprobs);
    if (!tokens->prompt_ids || !tokens->ids || (usable && !tokens->logprobs))
        return gg_fail(error, GG_E_MEMORY, "out of memory for a token record");
    note_faults(episode, reply);
    return GG_OK;
}

void gg_tokens_settle(gg_episode *episode, bool constrained, const char *reason)
{
    size_t sampled = 0;
    for (size_t t = 0; episode->tokens && t < episode->turn_count; t++)
        sampled += episode->tokens[t].count;
    if (!sampled) {
        bool had_reply = episode->untrainable_reason != NULL;
        episode->tokens = NULL;
        episode->untrainable_reason = had_reply ? GG_UNTRAINABLE_NO_IDS : GG_UNTRAINABLE_NOTHING;
    } else if (constrained) {
        note(episode, GG_UNTRAINABLE_CONSTRAINED);
    }
    if (reason)
        episode->untrainable_reason = reason;
    episode->trainable = episode->untrainable_reason == NULL;
}
