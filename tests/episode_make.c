#include "tests/episode_make.h"

#include <stdio.h>
#include <string.h>

#include "core/digest.h"

static const char *keep(gg_episode *e, const char *text)
{
    return gg_episode_string(e, text, strlen(text));
}

static void add_turns(gg_episode *e, const made_play *play)
{
    for (int t = 0; t < play->turns; t++) {
        gg_turn *turn = gg_episode_push(e, &e->turns, &e->turn_count, sizeof *turn);
        gg_call *call = gg_episode_push(e, &turn->calls, &turn->call_count, sizeof *call);
        turn->index = t;
        turn->finish_reason = "tool_calls";
        turn->usage =
            (gg_usage){play->prompt, play->completion, play->reasoning, GG_TOKENS_UNKNOWN};
        *call = (gg_call){
            .id = "c", .name = "tool", .arguments_raw = "{}", .result = "", .facts = "{}"};
        if (play->repair && t == 0) {
            const char **repair =
                gg_episode_push(e, &call->repairs, &call->repair_count, sizeof *repair);
            *repair = play->repair;
        }
    }
}

gg_episode *make_episode(const made_play *play)
{
    gg_episode *e = gg_episode_new();
    char text[64], hex[GG_DIGEST_HEX];

    snprintf(text, sizeof text, "s0-g%lld-%lld", (long long)play->group, (long long)play->sample);
    e->id = keep(e, text);
    snprintf(text, sizeof text, "%lld", (long long)play->group);
    gg_sha256_hex(text, strlen(text), hex);
    e->task_id = keep(e, text);
    e->task_key = e->task_digest = keep(e, hex);
    e->env = "game";
    e->answer = "null";
    e->group = play->group;
    e->sample = play->sample;
    e->policy = (gg_policy_info){
        .endpoint = "e", .model = "m", .weight_version_first = -1, .weight_version_last = -1};
    e->outcome = play->outcome;
    e->stop = GG_STOP_DONE;
    e->moves = play->moves;
    e->measure = (gg_named){"score", play->measure};
    e->reward = play->reward;
    e->started = play->started ? play->started : "2026-01-01T00:00:00.000Z";
    e->duration_ms = play->duration_ms;
    e->messages = "[]";
    add_turns(e, play);
    return e;
}
