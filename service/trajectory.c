#include "service/trajectory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/sequence.h"

#define NUMBER_MAX 1000000000000

const char *gg_trajectory_state_name(gg_trajectory_state state)
{
    static const char *const names[] = {"waiting", "in_progress", "ready",
                                        "failed",  "rewarded",    "dropped"};
    return names[state];
}

gg_window *gg_window_new(char kind, int64_t step, const char *const *prompts, const uint32_t *rows,
                         size_t groups, size_t group_size)
{
    gg_window *w = calloc(1, sizeof *w);
    size_t count = groups * group_size;
    if (!w)
        return NULL;
    *w = (gg_window){.kind = kind,
                     .step = step,
                     .groups = groups,
                     .group_size = group_size,
                     .count = count,
                     .prompts = prompts,
                     .rows = malloc((groups + 1) * sizeof *rows),
                     .digests = calloc(groups + 1, sizeof *w->digests),
                     .slots = calloc(count + 1, sizeof *w->slots),
                     .again = malloc((count + 1) * sizeof *w->again)};
    if (!w->rows || !w->digests || !w->slots || !w->again) {
        gg_window_free(w);
        return NULL;
    }
    for (size_t g = 0; g < groups; g++) {
        w->rows[g] = rows ? rows[g] : (uint32_t)g;
        const char *prompt = prompts[w->rows[g]];
        gg_sha256_hex(prompt, strlen(prompt), w->digests[g]);
    }
    for (size_t i = 0; i < count; i++)
        w->slots[i].try = w->slots[i].failed_try = -1;
    return w;
}

void gg_window_free(gg_window *w)
{
    if (!w)
        return;
    for (size_t i = 0; w->slots && i < w->count; i++)
        gg_episode_free(w->slots[i].episode);
    free(w->rows);
    free(w->digests);
    free(w->slots);
    free(w->again);
    free(w);
}

void gg_trajectory_name(const gg_trajectory_place *p, char out[96])
{
    snprintf(out, 96, "r%" PRId64 "-%c%" PRId64 "-g%" PRId64 "-%" PRId64 "-t%" PRId64, p->start,
             p->kind, p->step, p->group, p->sample, p->try);
}

bool gg_trajectory_parse(const char *id, gg_trajectory_place *out)
{
    char again[96];
    bool fine =
        sscanf(id, "r%12" SCNd64 "-%c%12" SCNd64 "-g%12" SCNd64 "-%12" SCNd64 "-t%12" SCNd64,
               &out->start, &out->kind, &out->step, &out->group, &out->sample, &out->try) == 6 &&
        strchr("sve", out->kind) && out->start < NUMBER_MAX;
    if (!fine)
        return false;
    gg_trajectory_name(out, again); /* one spelling alone */
    return strcmp(again, id) == 0;
}

bool gg_trajectory_open(gg_window *w, size_t slot, int64_t now_ms)
{
    gg_trajectory *t = &w->slots[slot];
    gg_episode *episode = gg_episode_new();
    if (!episode)
        return false;
    gg_episode_free(t->episode);
    *t = (gg_trajectory){.state = GG_TRAJECTORY_OPEN,
                         .try = t->try + 1,
                         .failed_try = t->failed_try,
                         .failures = t->failures,
                         .first_step = -1,
                         .touched_ms = now_ms,
                         .episode = episode};
    episode->step = w->step;
    episode->group = (int64_t)(slot / w->group_size);
    episode->sample = (int64_t)(slot % w->group_size);
    episode->task_digest = w->digests[slot / w->group_size];
    return true;
}

gg_status gg_trajectory_add_turn(gg_trajectory *t, const gg_policy_reply *reply, gg_error *error)
{
    bool forked;
    gg_turn *turn = gg_episode_add_turn(t->episode);
    const gg_sequence_turn tokens = {.prompt_ids = reply->prompt_ids,
                                     .prompt_count = reply->prompt_count,
                                     .ids = reply->ids,
                                     .logprobs = reply->logprobs,
                                     .count = reply->count};
    if (!turn)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a turn");
    turn->usage.prompt = (int64_t)reply->prompt_count;
    turn->usage.completion = (int64_t)reply->count;
    turn->usage.reasoning = reply->reasoning_tokens;
    turn->finish_reason = reply->finish_reason;
    return gg_sequence_add(t->episode, &tokens, &forked, error);
}

gg_status gg_trajectory_take_reward(gg_trajectory *t, const double *rewards, size_t count,
                                    double threshold, gg_error *error)
{
    gg_episode *e = t->episode;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += rewards[i];
    if (count > 1) {
        e->reward_by_turn = gg_episode_alloc(e, count * sizeof *rewards);
        if (!e->reward_by_turn)
            return gg_fail(error, GG_E_MEMORY, "out of memory for a reward");
        memcpy(e->reward_by_turn, rewards, count * sizeof *rewards);
    }
    e->reward = sum;
    e->outcome = sum >= threshold ? GG_SOLVED : GG_LOST;
    e->stop = GG_STOP_DONE;
    e->trainable = e->tokens != NULL;
    return GG_OK;
}
