#include "core/sequence.h"

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
static bool continues(const gg_episode *episode, size_t turn, const gg_sequence_turn *tokens,
                      size_t *length)
{
    *length = 0;
    for (size_t t = sequence_start(episode, turn); t < turn; t++) {
        const gg_turn_tokens *had = &episode->tokens[t];
        if (!agrees(had->prompt_ids, had->prompt_count, tokens->prompt_ids, tokens->prompt_count,
                    length) ||
            !agrees(had->ids, had->count, tokens->prompt_ids, tokens->prompt_count, length))
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

gg_status gg_sequence_add(gg_episode *episode, const gg_sequence_turn *from, bool *forked,
                          gg_error *error)
{
    size_t turn = episode->turn_count - 1, length = 0;
    bool has_ids = from && from->count;
    *forked = false;
    /* An episode without ids needs no arrays; with the first ids the turns before get theirs. */
    if (!has_ids && !episode->tokens)
        return GG_OK;
    gg_turn_tokens *tokens = NULL;
    for (size_t count = episode->tokens ? turn : 0; count <= turn;) {
        tokens = gg_episode_push(episode, &episode->tokens, &count, sizeof *tokens);
        if (!tokens)
            return gg_fail(error, GG_E_MEMORY, "out of memory for a token record");
    }
    size_t before = sequence_length(episode, turn);
    if (!has_ids) {
        tokens->prompt_from = (int64_t)before;
        return GG_OK;
    }
    bool whole = from->prompt_count && !continues(episode, turn, from, &length);
    *forked = whole && before > 0;
    if (whole) {
        tokens->fork_at = (int64_t)length;
        length = 0;
    }
    if (!from->prompt_count)
        length = before;
    tokens->prompt_from = (int64_t)length;
    tokens->prompt_count = from->prompt_count ? from->prompt_count - length : 0;
    tokens->count = from->count;
    tokens->prompt_ids = keep(episode, tokens->prompt_count ? from->prompt_ids + length : NULL,
                              tokens->prompt_count * sizeof *from->prompt_ids);
    tokens->ids = keep(episode, from->ids, from->count * sizeof *from->ids);
    if (from->logprobs)
        tokens->logprobs = keep(episode, from->logprobs, from->count * sizeof *from->logprobs);
    if (!tokens->prompt_ids || !tokens->ids || (from->logprobs && !tokens->logprobs))
        return gg_fail(error, GG_E_MEMORY, "out of memory for a token record");
    return GG_OK;
}
