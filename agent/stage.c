/* Beginning and ending an episode (agent/episode.h). */
#include "agent/stage.h"

#include <stdlib.h>
#include <string.h>

#include "agent/tokens.h"
#include "core/rng.h"

#define RESULT_MAX (1u << 20) /* bytes of one tool result, or of its facts */
#define PROMPT_MAX (4u << 20) /* bytes of a system prompt or an opening */

void gg_stage_free(gg_stage *stage)
{
    if (!stage)
        return;
    gg_frame_free(&stage->frame);
    gg_tools_free(stage->tools);
    gg_found_free(&stage->found);
    gg_buf_free(&stage->text);
    gg_buf_free(&stage->facts);
    gg_buf_free(&stage->notes);
    free(stage);
}

static gg_status check_ask(const gg_ask *ask, gg_error *error)
{
    if (ask->effort && !gg_effort_known(ask->effort))
        return gg_fail(error, GG_E_CONFIG, "reasoning effort \"%s\" is not one of %s", ask->effort,
                       gg_effort_choices());
    if (ask->max_tokens < 1)
        return gg_fail(error, GG_E_CONFIG, "the token limit of a reply must be at least 1");
    if (!(ask->temperature >= 0) || !(ask->top_p > 0 && ask->top_p <= 1))
        return gg_fail(error, GG_E_CONFIG,
                       "temperature must be at least 0, and top_p above 0 and at most 1");
    return GG_OK;
}

gg_status gg_stage_new(const gg_stage_options *options, gg_stage **out, gg_error *error)
{
    *out = NULL;
    gg_status status = check_ask(options->ask, error);
    if (status != GG_OK)
        return status;
    gg_stage *stage = calloc(1, sizeof *stage);
    if (!stage)
        return gg_fail(error, GG_E_MEMORY, "out of memory");
    stage->options = *options;
    gg_found_init(&stage->found);
    gg_buf_init(&stage->text, RESULT_MAX);
    gg_buf_init(&stage->facts, RESULT_MAX);
    gg_buf_init(&stage->notes, PROMPT_MAX);
    const char *tools = options->game->api->tools(options->game->env);
    status = gg_tools_make(tools, &stage->tools, error);
    if (status == GG_OK)
        status = gg_frame_make(&stage->frame, options->ask, tools, error);
    if (status != GG_OK) {
        gg_stage_free(stage);
        return status;
    }
    *out = stage;
    return GG_OK;
}

void gg_stage_set(gg_stage *stage, const char *id_prefix, int64_t weight_version)
{
    stage->options.id_prefix = id_prefix;
    stage->options.weight_version = weight_version;
}

void gg_actor_free(gg_actor *actor)
{
    if (!actor)
        return;
    if (actor->play)
        actor->stage->options.game->api->finish(actor->play);
    gg_episode_free(actor->episode);
    gg_buf_free(&actor->history);
    free(actor->pending);
    free(actor);
}

/* A copy in the arena; NULL stays NULL. */
static bool copy(gg_episode *episode, const char **to, const char *text)
{
    *to = text ? gg_episode_string(episode, text, strlen(text)) : NULL;
    return *to || !text;
}

static bool fill_policy(gg_episode *e, const gg_stage_options *options)
{
    const gg_ask *ask = options->ask;
    e->policy.temperature = ask->temperature;
    e->policy.top_p = ask->top_p;
    e->policy.max_tokens = ask->max_tokens;
    return copy(e, &e->policy.endpoint, options->endpoint) &&
           copy(e, &e->policy.model, ask->model) &&
           copy(e, &e->policy.reasoning_effort,
                ask->effort_in == GG_EFFORT_OFF ? NULL : ask->effort);
}

static bool fill_id(gg_actor *actor, const gg_planned *planned)
{
    gg_buf *id = &actor->stage->notes;
    gg_buf_reset(id);
    gg_buf_printf(id, "%s%lld-g%lld-%lld", actor->stage->options.id_prefix,
                  (long long)planned->step, (long long)planned->group, (long long)planned->sample);
    return copy(actor->episode, &actor->episode->id, gg_buf_cstr(id));
}

static bool fill(gg_actor *actor, const gg_planned *planned, const char *started)
{
    gg_episode *e = actor->episode;
    const gg_task *task = planned->task;
    e->step = planned->step;
    e->group = planned->group;
    e->sample = planned->sample;
    /* Turns count from 0; -1 makes the play's own stream differ from every request's. */
    e->seed = gg_request_seed(actor->stage->options.seed, e->step, e->group, e->sample, -1);
    return fill_id(actor, planned) && copy(e, &e->env, actor->stage->options.game->info.name) &&
           copy(e, &e->task_id, task->id) && copy(e, &e->task_digest, task->digest) &&
           copy(e, &e->task_key, task->key) && copy(e, &e->started, started) &&
           fill_policy(e, &actor->stage->options);
}

/* The first messages. */
static gg_status open_history(gg_actor *actor, gg_error *error)
{
    const gg_stage_options *options = &actor->stage->options;
    const gg_ask *ask = options->ask;
    const gg_env_api *api = options->game->api;
    gg_buf *text = &actor->stage->notes;
    char line[64];
    bool has_line = ask->effort && (ask->effort_line || ask->effort_in == GG_EFFORT_SYSTEM_LINE);
    gg_buf_reset(text);
    if (has_line) {
        gg_buf_printf(text, "Reasoning: %s", ask->effort);
        memcpy(line, text->data, text->len + 1);
        gg_buf_reset(text);
    }
    gg_status status = GG_OK;
    if (ask->system_prompt)
        gg_buf_str(text, ask->system_prompt);
    else
        status = api->system_prompt(actor->play, text, error);
    if (status == GG_OK)
        status = gg_buf_status(text, "the system prompt", error);
    if (status != GG_OK)
        return status;
    if (text->len || has_line)
        gg_history_system(&actor->history, gg_buf_cstr(text), has_line ? line : NULL);
    gg_buf_reset(text);
    status = api->opening(actor->play, text, error);
    if (status == GG_OK)
        status = gg_buf_status(text, "the opening message", error);
    if (status == GG_OK)
        gg_history_user(&actor->history, gg_buf_cstr(text));
    return status == GG_OK ? gg_buf_status(&actor->history, "a conversation", error) : status;
}

/* The answer is asked for at the start: at the end the play may be busy elsewhere. It goes into the
 * record and nowhere else. */
static gg_status keep_answer(gg_actor *actor, gg_error *error)
{
    gg_buf *text = &actor->stage->notes;
    gg_buf_reset(text);
    gg_status status = actor->stage->options.game->api->answer(actor->play, text, error);
    if (status == GG_OK)
        status = gg_buf_status(text, "a task's answer", error);
    if (status == GG_OK && text->len && !copy(actor->episode, &actor->episode->answer, text->data))
        status = gg_fail(error, GG_E_MEMORY, "out of memory");
    return status;
}

gg_status gg_actor_new(gg_stage *stage, const gg_planned *planned, const char *started,
                       gg_actor **out, gg_error *error)
{
    const gg_game *game = stage->options.game;
    *out = NULL;
    gg_actor *actor = calloc(1, sizeof *actor);
    if (!actor)
        return gg_fail(error, GG_E_MEMORY, "out of memory for an episode");
    actor->stage = stage;
    actor->constrained = stage->frame.constrained;
    gg_buf_init(&actor->history, GG_HISTORY_MAX);
    actor->episode = gg_episode_new();
    if (!actor->episode || !fill(actor, planned, started)) {
        gg_actor_free(actor);
        return gg_actor_no_memory(error);
    }
    gg_status status = game->api->start(game->env, planned->task->prompt, actor->episode->seed,
                                        &actor->play, error);
    if (status == GG_OK)
        status = keep_answer(actor, error);
    if (status == GG_OK)
        status = open_history(actor, error);
    if (status != GG_OK) {
        gg_actor_free(actor);
        return status;
    }
    actor->history_kept = actor->history.len;
    *out = actor;
    return GG_OK;
}

static gg_status keep_messages(gg_actor *actor, gg_error *error)
{
    size_t len = actor->history_kept;
    char *text = gg_episode_alloc(actor->episode, len + 3);
    if (!text)
        return gg_fail(error, GG_E_MEMORY, "out of memory for an episode's messages");
    text[0] = '[';
    memcpy(text + 1, actor->history.data, len);
    memcpy(text + 1 + len, "]", 2);
    actor->episode->messages = text;
    return GG_OK;
}

gg_status gg_actor_finish(gg_actor *actor, int64_t duration_ms, gg_episode **out, gg_error *error)
{
    gg_episode *episode = actor->episode;
    const gg_stage_options *options = &actor->stage->options;
    const char *reason = episode->outcome == GG_ERRORED ? GG_UNTRAINABLE_ERRORED
                         : actor->shortened             ? GG_UNTRAINABLE_SHORTENED
                                                        : NULL;
    *out = NULL;
    episode->duration_ms = duration_ms;
    episode->constrained = actor->constrained;
    gg_tokens_settle(episode, actor->constrained && !options->ask->train_constrained, reason);
    gg_status status = keep_messages(actor, error);
    if (status == GG_OK)
        status = gg_episode_judge(options->game, options->reward, episode, error);
    if (status != GG_OK)
        return status;
    actor->episode = NULL;
    *out = episode;
    return GG_OK;
}
