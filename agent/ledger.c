/* Counting episodes (agent/rollout.h). */
#include "agent/rollout.h"

#include <string.h>

static void add_tokens(int64_t *sum, int64_t count)
{
    *sum =
        *sum == GG_TOKENS_UNKNOWN || count == GG_TOKENS_UNKNOWN ? GG_TOKENS_UNKNOWN : *sum + count;
}

/* A turn whose last attempt failed has no reply. */
static bool has_reply(const gg_turn *turn)
{
    return turn->attempt_count == 0 || strcmp(turn->attempts[turn->attempt_count - 1].reason,
                                              gg_retry_class_name(GG_RETRY_OK)) == 0;
}

void gg_ledger_add(gg_ledger *ledger, const gg_episode *episode)
{
    ledger->by_outcome[episode->outcome]++;
    ledger->turns += (int64_t)episode->turn_count;
    ledger->moves += episode->moves;
    for (size_t i = 0; i < episode->turn_count; i++) {
        const gg_turn *turn = &episode->turns[i];
        if (!has_reply(turn))
            continue;
        add_tokens(&ledger->prompt_tokens, turn->usage.prompt);
        add_tokens(&ledger->completion_tokens, turn->usage.completion);
        add_tokens(&ledger->reasoning_tokens, turn->usage.reasoning);
    }
}
