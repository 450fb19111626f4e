/* Playing an episode, turn by turn (agent/episode.h). */
#include "agent/stage.h"

#include <stdlib.h>
#include <string.h>

#include "agent/tokens.h"
#include "core/rng.h"

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

gg_status gg_actor_request(const gg_actor *actor, gg_buf *body, gg_error *error)
{
    const gg_episode *e = actor->episode;
    uint64_t seed = gg_request_seed(actor->stage->options.seed, e->step, e->group, e->sample,
                                    (int64_t)e->turn_count);
    gg_frame_body(&actor->stage->frame, &actor->history, seed, body);
    return gg_buf_status(body, "a request", error);
}

/* ------------------------------------------------------------------ what was said */

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
    return reply->id_count && reply->prompt_count && !actor->forked;
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
        return gg_actor_no_memory(error);
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
    const gg_turn *turn = gg_actor_turn(actor);
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
    call->result = gg_actor_keep(actor, gg_buf_cstr(text), text->len);
    if (!call->result)
        return gg_actor_no_memory(error);
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
                                     .name = gg_actor_turn(actor)->calls[actor->next].name};
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
        gg_status status =
            answer(actor, &gg_actor_turn(actor)->calls[actor->next], &stage->text, error);
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
    actor->text = gg_actor_keep(actor, found->text, found->text_len);
    if (!actor->text)
        return gg_actor_no_memory(error);
    actor->want = GG_WANT_CALL;
    return GG_OK;
}

gg_status gg_actor_reply(gg_actor *actor, const gg_reply *reply, const gg_exchange_log *log,
                         gg_error *error)
{
    gg_stage *stage = actor->stage;
    bool forked;
    gg_status status = gg_actor_add_turn(actor, reply, log, error);
    if (status == GG_OK)
        status = gg_tokens_record(actor->episode, reply, &forked, error);
    if (status != GG_OK)
        return status;
    actor->forked |= forked;
    status = gg_actor_note_reply(actor, reply, error);
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
    status = gg_actor_keep_calls(actor, error);
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
    gg_status status = gg_actor_add_turn(actor, NULL, log, error);
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
        actor->episode->error = gg_actor_keep(actor, message, strlen(message));
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
        .tool = actor->text ? NULL : gg_actor_turn(actor)->calls[actor->next].name,
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
        return len ? gg_actor_keep(actor, facts->data, len) : "{}";
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
    gg_turn *turn = gg_actor_turn(actor);
    gg_call *call = gg_episode_push(actor->episode, &turn->calls, &turn->call_count, sizeof *call);
    uint32_t repairs = GG_REPAIR_BIT(GG_REPAIR_TEXT_MOVE);
    if (!call || !gg_actor_set_repairs(actor, call, repairs))
        return NULL;
    call->arguments_raw = actor->text;
    actor->from_text = true;
    return call;
}

static gg_status broken_environment(gg_actor *actor, const gg_job *job, gg_error *error)
{
    end(actor, GG_ERRORED, GG_STOP_TRANSPORT);
    actor->episode->error = gg_actor_keep(actor, job->error.text, strlen(job->error.text));
    return keep_history(actor, error);
}

gg_status gg_actor_did(gg_actor *actor, const gg_job *job, gg_error *error)
{
    bool is_text = actor->text != NULL;
    if (job->status != GG_OK)
        return broken_environment(actor, job, error);
    if (!job->taken)
        return nudge(actor, error);
    gg_call *call = is_text ? add_text_call(actor) : &gg_actor_turn(actor)->calls[actor->next];
    if (!call)
        return gg_actor_no_memory(error);
    call->status = job->result.status;
    call->facts = keep_facts(actor, job->result.facts, actor->from_text);
    if (!call->facts)
        return gg_actor_no_memory(error);
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
    actor->episode->error = gg_actor_keep(actor, message, strlen(message));
    actor->history.status = GG_OK;
    gg_buf_truncate(&actor->history, actor->history_kept);
}

gg_play *gg_actor_release(gg_actor *actor)
{
    gg_play *play = actor->play;
    actor->play = NULL;
    return play;
}
