/* What an episode writes into its record while it is played (agent/stage.h). */
#include "agent/stage.h"

#include <stdlib.h>
#include <string.h>

gg_status gg_actor_no_memory(gg_error *error)
{
    return gg_fail(error, GG_E_MEMORY, "out of memory for an episode");
}

const char *gg_actor_keep(gg_actor *actor, const char *text, size_t len)
{
    return gg_episode_string(actor->episode, text, len);
}

gg_turn *gg_actor_turn(gg_actor *actor)
{
    return &actor->episode->turns[actor->episode->turn_count - 1];
}

gg_status gg_actor_add_turn(gg_actor *actor, const gg_reply *reply, const gg_exchange_log *log,
                            gg_error *error)
{
    gg_episode *e = actor->episode;
    gg_turn *turn = gg_episode_add_turn(e);
    if (!turn)
        return gg_actor_no_memory(error);
    turn->latency_ms = log->latency_ms;
    turn->attempts = gg_episode_alloc(e, log->attempt_count * sizeof *turn->attempts);
    if (!turn->attempts)
        return gg_actor_no_memory(error);
    turn->attempt_count = log->attempt_count;
    for (size_t i = 0; i < log->attempt_count; i++) {
        turn->attempts[i] = log->attempts[i];
        turn->attempts[i].reason =
            gg_actor_keep(actor, log->attempts[i].reason, strlen(log->attempts[i].reason));
        if (!turn->attempts[i].reason)
            return gg_actor_no_memory(error);
    }
    if (!reply)
        return GG_OK;
    turn->usage = reply->usage;
    turn->reasoning = gg_actor_keep(actor, reply->reasoning, strlen(reply->reasoning));
    if (reply->finish_reason)
        turn->finish_reason =
            gg_actor_keep(actor, reply->finish_reason, strlen(reply->finish_reason));
    if (!turn->reasoning || (reply->finish_reason && !turn->finish_reason))
        return gg_actor_no_memory(error);
    return GG_OK;
}

static void note_version(gg_actor *actor, const gg_reply *reply)
{
    gg_policy_info *policy = &actor->episode->policy;
    int64_t version =
        reply->weight_version >= 0 ? reply->weight_version : actor->stage->options.weight_version;
    if (actor->episode->turn_count == 1)
        policy->weight_version_first = version;
    policy->weight_version_last = version;
}

/* Some servers drop the front of a conversation that is too long and say nothing: the prompt's
 * count then falls, though the conversation only ever grows. */
static gg_status note_usage(gg_actor *actor, const gg_reply *reply, gg_error *error)
{
    int64_t prompt = reply->usage.prompt, completion = reply->usage.completion;
    if (prompt == GG_TOKENS_UNKNOWN)
        prompt = (int64_t)reply->prompt_count;
    if (completion == GG_TOKENS_UNKNOWN)
        completion = (int64_t)reply->id_count;
    actor->tokens += prompt + completion;
    /* A template that drops old thoughts shortens the prompt too; ids tell the two apart. */
    bool shortened = prompt > 0 && prompt < actor->last_prompt && reply->prompt_count == 0;
    if (shortened && !actor->shortened) {
        gg_buf *text = &actor->stage->notes;
        gg_buf_reset(text);
        gg_buf_printf(
            text,
            "the endpoint seems to have dropped the front of the conversation: its prompt "
            "fell from %lld to %lld tokens",
            (long long)actor->last_prompt, (long long)prompt);
        actor->episode->error = gg_actor_keep(actor, gg_buf_cstr(text), text->len);
        if (!actor->episode->error)
            return gg_actor_no_memory(error);
    }
    actor->shortened |= shortened;
    actor->last_prompt = prompt;
    return GG_OK;
}

gg_status gg_actor_note_reply(gg_actor *actor, const gg_reply *reply, gg_error *error)
{
    note_version(actor, reply);
    return note_usage(actor, reply, error);
}

bool gg_actor_set_repairs(gg_actor *actor, gg_call *call, uint32_t repairs)
{
    size_t count = 0;
    for (int i = 0; i < GG_REPAIR_COUNT; i++)
        count += repairs >> i & 1;
    if (!count)
        return true;
    call->repairs = gg_episode_alloc(actor->episode, count * sizeof *call->repairs);
    for (int i = 0; call->repairs && i < GG_REPAIR_COUNT; i++)
        if (repairs >> i & 1)
            call->repairs[call->repair_count++] = gg_repair_name((gg_repair)i);
    return call->repairs != NULL;
}

/* The calls that were found, in the record and as work to do. */
gg_status gg_actor_keep_calls(gg_actor *actor, gg_error *error)
{
    const gg_found *found = &actor->stage->found;
    gg_turn *turn = gg_actor_turn(actor);
    gg_pending *pending = realloc(actor->pending, (found->count + 1) * sizeof *pending);
    if (!pending)
        return gg_actor_no_memory(error);
    actor->pending = pending;
    actor->pending_count = found->count;
    actor->next = 0;
    if (found->count == 0)
        return GG_OK;
    /* In one piece of the right size: thousands of episodes wait at once. */
    turn->calls = gg_episode_alloc(actor->episode, found->count * sizeof *turn->calls);
    if (!turn->calls)
        return gg_actor_no_memory(error);
    turn->call_count = found->count;
    for (size_t i = 0; i < found->count; i++) {
        const gg_found_call *from = &found->calls[i];
        gg_call *call = &turn->calls[i];
        *call = (gg_call){.status = GG_CALL_FAILED};
        if (*from->id)
            call->id = gg_actor_keep(actor, from->id, strlen(from->id));
        call->name = gg_actor_keep(actor, from->name, strlen(from->name));
        call->arguments_raw = gg_actor_keep(actor, from->raw, strlen(from->raw));
        pending[i].fault = from->fault;
        pending[i].arguments = strcmp(from->arguments, from->raw) == 0
                                   ? call->arguments_raw
                                   : gg_actor_keep(actor, from->arguments, strlen(from->arguments));
        if ((*from->id && !call->id) || !call->name || !call->arguments_raw ||
            !pending[i].arguments || !gg_actor_set_repairs(actor, call, from->repairs))
            return gg_actor_no_memory(error);
        if (from->repairs &
            (GG_REPAIR_BIT(GG_REPAIR_ID_MADE) | GG_REPAIR_BIT(GG_REPAIR_ID_REPEATED)))
            actor->made_ids++;
    }
    return GG_OK;
}
