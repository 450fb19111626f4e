/* Playing an episode, turn by turn (agent/episode.h). */
#include "agent/stage.h"

#include <stdlib.h>
#include <string.h>

#include "agent/tokens.h"
#include "core/rng.h"

#define BIT(repair) (UINT32_C(1) << (repair))

gg_want gg_actor_wants(const gg_actor *actor)
{
    return actor->want;
}

const char *gg_actor_id(const gg_actor *actor)
{
    return actor->episode->id;
}

gg_outcome gg_actor_outcome(const gg_actor *actor)
{
    return actor->episode->outcome;
}

gg_stop gg_actor_stop_reason(const gg_actor *actor)
{
    return actor->episode->stop;
}

size_t gg_actor_turns(const gg_actor *actor)
{
    return actor->episode->turn_count;
}

static void end(gg_actor *actor, gg_outcome outcome, gg_stop stop)
{
    actor->episode->outcome = outcome;
    actor->episode->stop = stop;
    actor->want = GG_WANT_END;
}

static gg_status no_memory(gg_error *error)
{
    return gg_fail(error, GG_E_MEMORY, "out of memory for an episode");
}

static const char *keep(gg_actor *actor, const char *text, size_t len)
{
    return gg_episode_string(actor->episode, text, len);
}

static gg_turn *newest(gg_actor *actor)
{
    return &actor->episode->turns[actor->episode->turn_count - 1];
}

gg_status gg_actor_request(const gg_actor *actor, gg_buf *body, gg_error *error)
{
    const gg_episode *e = actor->episode;
    uint64_t seed = gg_request_seed(actor->stage->options.seed, e->step, e->group, e->sample,
                                    (int64_t)e->turn_count);
    gg_frame_body(&actor->stage->frame, &actor->history, seed, body);
    return gg_buf_status(body, "a request", error);
}

/* ------------------------------------------------------------------ recording */

static gg_status add_turn(gg_actor *actor, const gg_reply *reply, const gg_exchange_log *log,
                          gg_error *error)
{
    gg_episode *e = actor->episode;
    gg_turn *turn = gg_episode_add_turn(e);
    if (!turn)
        return no_memory(error);
    turn->latency_ms = log->latency_ms;
    turn->attempts = gg_episode_alloc(e, log->attempt_count * sizeof *turn->attempts);
    if (!turn->attempts)
        return no_memory(error);
    turn->attempt_count = log->attempt_count;
    for (size_t i = 0; i < log->attempt_count; i++) {
        turn->attempts[i] = log->attempts[i];
        turn->attempts[i].reason =
            keep(actor, log->attempts[i].reason, strlen(log->attempts[i].reason));
        if (!turn->attempts[i].reason)
            return no_memory(error);
    }
    if (!reply)
        return GG_OK;
    turn->usage = reply->usage;
    turn->reasoning = keep(actor, reply->reasoning, strlen(reply->reasoning));
    if (reply->finish_reason)
        turn->finish_reason = keep(actor, reply->finish_reason, strlen(reply->finish_reason));
    if (!turn->reasoning || (reply->finish_reason && !turn->finish_reason))
        return no_memory(error);
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
        actor->episode->error = keep(actor, gg_buf_cstr(text), text->len);
        if (!actor->episode->error)
            return no_memory(error);
    }
    actor->shortened |= shortened;
    actor->last_prompt = prompt;
    return GG_OK;
}

static bool set_repairs(gg_actor *actor, gg_call *call, uint32_t repairs)
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
static gg_status keep_calls(gg_actor *actor, gg_error *error)
{
    const gg_found *found = &actor->stage->found;
    gg_turn *turn = newest(actor);
    gg_pending *pending = realloc(actor->pending, (found->count + 1) * sizeof *pending);
    if (!pending)
        return no_memory(error);
    actor->pending = pending;
    actor->pending_count = found->count;
    actor->next = 0;
    if (found->count == 0)
        return GG_OK;
    /* In one piece of the right size: thousands of episodes wait at once. */
    turn->calls = gg_episode_alloc(actor->episode, found->count * sizeof *turn->calls);
    if (!turn->calls)
        return no_memory(error);
    turn->call_count = found->count;
    for (size_t i = 0; i < found->count; i++) {
        const gg_found_call *from = &found->calls[i];
        gg_call *call = &turn->calls[i];
        *call = (gg_call){.status = GG_CALL_FAILED};
        if (*from->id)
            call->id = keep(actor, from->id, strlen(from->id));
        call->name = keep(actor, from->name, strlen(from->name));
        call->arguments_raw = keep(actor, from->raw, strlen(from->raw));
        pending[i].fault = from->fault;
        pending[i].arguments = strcmp(from->arguments, from->raw) == 0
                                   ? call->arguments_raw
                                   : keep(actor, from->arguments, strlen(from->arguments));
        if ((*from->id && !call->id) || !call->name || !call->arguments_raw ||
            !pending[i].arguments || !set_repairs(actor, call, from->repairs))
            return no_memory(error);
        if (from->repairs & (BIT(GG_REPAIR_ID_MADE) | BIT(GG_REPAIR_ID_REPEATED)))
            actor->made_ids++;
    }
    return GG_OK;
}

static bool echoes(const gg_actor *actor, const gg_reply *reply)
{
    switch (actor->stage->options.ask->echo_reasoning) {
    case GG_ON:
        return true;
    case GG_OFF:
        return false;
    case GG_AUTO:
        break;
    }
    return reply->id_count && !actor->forked;
}

static void add_said(gg_actor *actor, const gg_reply *reply)
{
    const gg_found *found = &actor->stage->found;
    gg_said said = {reply->content, reply->content_len,
                    echoes(actor, reply) ? reply->reasoning_field : NULL, reply->reasoning};
    size_t count = found->from_text ? 0 : found->count;
    gg_history_said(&actor->history, &said, count);
    for (size_t i = 0; i < count; i++)
        gg_history_call(&actor->history, i, found->calls[i].id, found->calls[i].name,
                        found->calls[i].arguments);
    gg_history_said_end(&actor->history, count);
}

/* Whether an earlier turn used the id. */
static bool id_used(void *context, const char *id)
{
    const gg_episode *e = ((const gg_actor *)context)->episode;
    for (size_t t = 0; t < e->turn_count; t++)
        for (size_t i = 0; i < e->turns[t].call_count; i++)
            if (e->turns[t].calls[i].id && strcmp(e->turns[t].calls[i].id, id) == 0)
                return true;
    return false;
}

/* ------------------------------------------------------------------ between turns */

/* The conversation so far is whole: keep it, or end when it has grown too large. */
static gg_status keep_history(gg_actor *actor, gg_error *error)
{
    if (actor->history.status == GG_E_MEMORY)
        return no_memory(error);
    if (actor->history.status == GG_OK) {
        actor->history_kept = actor->history.len;
        return GG_OK;
    }
    actor->history.status = GG_OK;
    gg_buf_truncate(&actor->history, actor->history_kept);
    if (actor->want != GG_WANT_END)
        end(actor, GG_TRUNCATED, GG_STOP_CONTEXT);
    return GG_OK;
}

/* After a turn that did not end the episode: the caps, in the order in which they bind. */
static gg_status next_turn(gg_actor *actor, gg_error *error)
{
    const gg_env_info *info = &actor->stage->options.game->info;
    if (actor->calls >= info->max_calls)
        end(actor, GG_FORFEITED, GG_STOP_CALL_CAP);
    else if (actor->episode->turn_count >= (size_t)info->max_turns)
        end(actor, GG_FORFEITED, GG_STOP_TURN_CAP);
    else if (actor->tokens >= GG_EPISODE_TOKENS)
        end(actor, GG_TRUNCATED, GG_STOP_TOKEN_LIMIT);
    else
        actor->want = GG_WANT_REPLY;
    return keep_history(actor, error);
}

static gg_status nudge(gg_actor *actor, gg_error *error)
{
    gg_buf *text = &actor->stage->notes;
    if (actor->nudges >= actor->stage->options.ask->nudges) {
        end(actor, GG_FORFEITED, GG_STOP_NO_CALL);
        return keep_history(actor, error);
    }
    actor->nudges++;
    gg_status status = next_turn(actor, error);
    if (status != GG_OK || actor->want != GG_WANT_REPLY)
        return status;
    gg_buf_reset(text);
    gg_buf_str(text, "That reply called no tool, so nothing happened. Go on by calling ");
    gg_buf_str(text, gg_tools_count(actor->stage->tools) > 1 ? "one of: " : "");
    gg_tools_list(actor->stage->tools, text);
    gg_buf_char(text, '.');
    gg_history_user(&actor->history, gg_buf_cstr(text));
    return keep_history(actor, error);
}

/* Results of calls found in text go back together, as there is no call to answer. */
static void add_results(gg_actor *actor)
{
    const gg_turn *turn = newest(actor);
    gg_buf *text = &actor->stage->notes;
    gg_buf_reset(text);
    for (size_t i = 0; i < turn->call_count; i++) {
        gg_buf_str(text, i ? "\n\n" : "");
        gg_buf_str(text, turn->calls[i].result);
    }
    gg_history_user(&actor->history, gg_buf_cstr(text));
}

/* Writes a call's answer into the record, and into the conversation unless it came from text. */
static gg_status answer(gg_actor *actor, gg_call *call, const gg_buf *text, gg_error *error)
{
    call->result = keep(actor, gg_buf_cstr(text), text->len);
    if (!call->result)
        return no_memory(error);
    if (!actor->from_text)
        gg_history_tool(&actor->history, call->id, call->result);
    return GG_OK;
}

static bool is_over(const gg_actor *actor)
{
    return actor->episode->outcome != GG_UNPLAYED;
}

/* Answers what needs no environment, up to the next call that does. */
static gg_status next_call(gg_actor *actor, gg_error *error)
{
    gg_stage *stage = actor->stage;
    int max_calls = stage->options.game->info.max_calls;
    for (; actor->next < actor->pending_count; actor->next++) {
        const gg_found_call fault = {.fault = actor->pending[actor->next].fault,
                                     .name = newest(actor)->calls[actor->next].name};
        bool capped = !is_over(actor) && actor->calls >= max_calls;
        if (fault.fault == GG_FAULT_NONE && !capped) {
            actor->want = GG_WANT_CALL;
            return GG_OK;
        }
        gg_buf_reset(&stage->text);
        if (capped)
            gg_buf_printf(&stage->text,
                          "The limit of %d tool calls is reached, so this call was not run.",
                          max_calls);
        else
            gg_fault_text(&fault, stage->tools, &stage->text);
        gg_status status = answer(actor, &newest(actor)->calls[actor->next], &stage->text, error);
        if (status != GG_OK)
            return status;
        actor->calls += !is_over(actor) && !capped;
    }
    if (actor->from_text)
        add_results(actor);
    if (!is_over(actor))
        return next_turn(actor, error);
    actor->want = GG_WANT_END;
    return keep_history(actor, error);
}

/* ------------------------------------------------------------------ replies */

static gg_status cut_short(gg_actor *actor, gg_error *error)
{
    gg_status status = next_call(actor, error);
    if (status == GG_OK)
        end(actor, GG_TRUNCATED, GG_STOP_TOKEN_LIMIT);
    return status;
}

static gg_status no_calls(gg_actor *actor, gg_error *error)
{
    const gg_found *found = &actor->stage->found;
    if (found->text_len == 0 || !actor->stage->options.game->api->text)
        return nudge(actor, error);
    actor->text = keep(actor, found->text, found->text_len);
    if (!actor->text)
        return no_memory(error);
    actor->want = GG_WANT_CALL;
    return GG_OK;
}

gg_status gg_actor_reply(gg_actor *actor, const gg_reply *reply, const gg_exchange_log *log,
                         gg_error *error)
{
    gg_stage *stage = actor->stage;
    bool forked;
    gg_status status = add_turn(actor, reply, log, error);
    if (status == GG_OK)
        status = gg_tokens_record(actor->episode, reply, &forked, error);
    if (status != GG_OK)
        return status;
    actor->forked |= forked;
    note_version(actor, reply);
    status = note_usage(actor, reply, error);
    if (status != GG_OK)
        return status;
    gg_ids ids = {id_used, actor, actor->episode->seed, actor->made_ids};
    status = gg_find_calls(&stage->found, reply, stage->tools, &ids, stage->options.ask->text_calls,
                           error);
    if (status != GG_OK)
        return status;
    actor->from_text = stage->found.from_text;
    actor->text = NULL;
    add_said(actor, reply);
    status = keep_calls(actor, error);
    if (status != GG_OK)
        return status;
    if (gg_reply_cut(reply))
        return cut_short(actor, error);
    return stage->found.count ? next_call(actor, error) : no_calls(actor, error);
}

gg_status gg_actor_failed(gg_actor *actor, gg_retry_class why, const char *message,
                          const gg_exchange_log *log, gg_error *error)
{
    bool forked;
    gg_status status = add_turn(actor, NULL, log, error);
    if (status == GG_OK)
        status = gg_tokens_record(actor->episode, NULL, &forked, error);
    if (status != GG_OK)
        return status;
    if (why == GG_RETRY_CONTEXT)
        end(actor, GG_TRUNCATED, GG_STOP_CONTEXT);
    else if (why == GG_RETRY_DEADLINE)
        end(actor, GG_ERRORED, GG_STOP_DEADLINE);
    else if (why == GG_RETRY_REFUSED || why == GG_RETRY_STOP)
        end(actor, GG_ERRORED, GG_STOP_REFUSED);
    else
        end(actor, GG_ERRORED, GG_STOP_TRANSPORT);
    if (*message)
        actor->episode->error = keep(actor, message, strlen(message));
    return GG_OK;
}

/* ------------------------------------------------------------------ the environment */

void gg_actor_job(gg_actor *actor, gg_job *job)
{
    gg_stage *stage = actor->stage;
    gg_buf_reset(&stage->text);
    gg_buf_reset(&stage->facts);
    *job = (gg_job){
        .game = stage->options.game,
        .play = actor->play,
        .tool = actor->text ? NULL : newest(actor)->calls[actor->next].name,
        .input = actor->text ? actor->text : actor->pending[actor->next].arguments,
        .result = {.text = &stage->text, .facts = &stage->facts},
    };
}

void gg_job_run(gg_job *job)
{
    const gg_env_api *api = job->game->api;
    if (job->tool) {
        job->taken = true;
        job->status = api->call(job->play, job->tool, job->input, &job->result, &job->error);
    } else {
        job->status = api->text(job->play, job->input, &job->taken, &job->result, &job->error);
    }
    if (job->status == GG_OK)
        job->status = gg_buf_status(job->result.text, "a tool's result", &job->error);
    if (job->status == GG_OK)
        job->status = gg_buf_status(job->result.facts, "a tool's facts", &job->error);
}

/* Facts with the mark that the call was found in prose. */
static const char *keep_facts(gg_actor *actor, const gg_buf *facts, bool from_text)
{
    static const char mark[] = "\"from_text\":true}";
    size_t len = facts->len;
    if (!from_text)
        return len ? keep(actor, facts->data, len) : "{}";
    while (len && facts->data[len - 1] != '}')
        len--;
    size_t room = (len ? len : 2) + sizeof mark;
    char *text = gg_episode_alloc(actor->episode, room);
    if (!text)
        return NULL;
    size_t kept = len ? len - 1 : 0; /* without the brace */
    if (kept)
        memcpy(text, facts->data, kept);
    else
        text[kept++] = '{';
    if (kept > 1)
        text[kept++] = ',';
    memcpy(text + kept, mark, sizeof mark);
    return text;
}

/* A text that the environment took as a move stands in the record as a call without a name. */
static gg_call *add_text_call(gg_actor *actor)
{
    gg_turn *turn = newest(actor);
    gg_call *call = gg_episode_push(actor->episode, &turn->calls, &turn->call_count, sizeof *call);
    uint32_t repairs = BIT(GG_REPAIR_TEXT_MOVE);
    if (!call || !set_repairs(actor, call, repairs))
        return NULL;
    call->arguments_raw = actor->text;
    actor->from_text = true;
    return call;
}

static gg_status broken_environment(gg_actor *actor, const gg_job *job, gg_error *error)
{
    end(actor, GG_ERRORED, GG_STOP_TRANSPORT);
    actor->episode->error = keep(actor, job->error.text, strlen(job->error.text));
    return keep_history(actor, error);
}

gg_status gg_actor_did(gg_actor *actor, const gg_job *job, gg_error *error)
{
    bool is_text = actor->text != NULL;
    if (job->status != GG_OK)
        return broken_environment(actor, job, error);
    if (!job->taken)
        return nudge(actor, error);
    gg_call *call = is_text ? add_text_call(actor) : &newest(actor)->calls[actor->next];
    if (!call)
        return no_memory(error);
    call->status = job->result.status;
    call->facts = keep_facts(actor, job->result.facts, actor->from_text);
    if (!call->facts)
        return no_memory(error);
    gg_status status = answer(actor, call, job->result.text, error);
    if (status != GG_OK)
        return status;
    actor->calls += !is_over(actor);
    actor->episode->moves += job->result.moved;
    if (job->result.done && !is_over(actor)) {
        actor->episode->outcome = job->result.outcome;
        actor->episode->stop = GG_STOP_DONE;
    }
    actor->next++;
    return next_call(actor, error);
}

void gg_actor_abort(gg_actor *actor, gg_stop stop, const char *message)
{
    end(actor, GG_ERRORED, stop);
    actor->episode->error = keep(actor, message, strlen(message));
    actor->history.status = GG_OK;
    gg_buf_truncate(&actor->history, actor->history_kept);
}

gg_play *gg_actor_release(gg_actor *actor)
{
    gg_play *play = actor->play;
    actor->play = NULL;
    return play;
}
