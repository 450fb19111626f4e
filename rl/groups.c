#include "rl/groups.h"

#include <stdlib.h>
#include <string.h>

static const char *refusal(const gg_episode *const *plays, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (!plays[i] || plays[i]->outcome == GG_UNPLAYED)
            return "a member was not played";
        if (plays[i]->outcome == GG_ERRORED)
            return "a member errored, and again when it was played again";
        if (strcmp(plays[i]->task_digest, plays[0]->task_digest) != 0)
            return "the members are of different tasks";
    }
    return NULL;
}

/* Pairwise against the first play: equal in the sense that the advantages use. */
static void look_for_signal(gg_group *group)
{
    for (size_t i = 1; i < group->size; i++) {
        const gg_episode *a = group->plays[0], *b = group->plays[i];
        const double pair[] = {a->reward, b->reward};
        group->reward_signal = group->reward_signal || !gg_rewards_equal(pair, 2);
        group->outcome_signal =
            group->outcome_signal || (a->outcome == GG_SOLVED) != (b->outcome == GG_SOLVED);
    }
}

/* The closed groups' plays in the form that rl/ takes. */
typedef struct returns {
    gg_play_return *plays;
    size_t *first;
    double **out;
    bool *signal;
    size_t groups, count;
} returns;

static void returns_free(returns *r)
{
    free(r->plays);
    free(r->first);
    free(r->out);
    free(r->signal);
}

static bool returns_alloc(returns *r, size_t groups, size_t plays)
{
    r->plays = calloc(plays + 1, sizeof *r->plays);
    r->first = calloc(groups + 1, sizeof *r->first);
    r->out = calloc(plays + 1, sizeof *r->out);
    r->signal = calloc(groups + 1, sizeof *r->signal);
    return r->plays && r->first && r->out && r->signal;
}

static size_t sampled_tokens(const gg_episode *episode)
{
    size_t tokens = 0;
    for (size_t t = 0; episode->tokens && t < episode->turn_count; t++)
        tokens += episode->tokens[t].count;
    return tokens;
}

static void returns_add(returns *r, const gg_group *group)
{
    for (size_t i = 0; i < group->size; i++) {
        const gg_episode *e = group->plays[i];
        r->plays[r->count] = (gg_play_return){.reward = e->reward,
                                              .by_turn = e->reward_by_turn,
                                              .turn_count = e->turn_count,
                                              .tokens = sampled_tokens(e)};
        r->out[r->count++] = group->advantages[i];
    }
    r->first[++r->groups] = r->count;
}

/* Points every play of every closed group at its own stretch of one array of turns. */
static bool place_advantages(gg_groups *groups)
{
    size_t turns = 0, plays = 0, turn = 0, play = 0;
    for (size_t g = 0; g < groups->count; g++)
        for (size_t i = 0; !groups->items[g].refused && i < groups->items[g].size; i++, plays++)
            turns += groups->items[g].plays[i]->turn_count;
    groups->values = calloc(turns + 1, sizeof *groups->values);
    groups->rows = calloc(plays + 1, sizeof *groups->rows);
    if (!groups->values || !groups->rows)
        return false;
    for (size_t g = 0; g < groups->count; g++) {
        gg_group *group = &groups->items[g];
        if (group->refused)
            continue;
        group->advantages = groups->rows + play;
        for (size_t i = 0; i < group->size; i++) {
            groups->rows[play++] = groups->values + turn;
            turn += group->plays[i]->turn_count;
        }
    }
    return true;
}

static gg_status fill(gg_groups *out, gg_episode *const *plays, size_t group_size, gg_error *error)
{
    returns r = {0};
    for (size_t g = 0; g < out->count; g++) {
        gg_group *group = &out->items[g];
        group->plays = plays + g * group_size;
        group->size = group_size;
        group->refused = refusal((const gg_episode *const *)group->plays, group_size);
        out->refused += group->refused != NULL;
        if (!group->refused)
            look_for_signal(group);
        out->without_signal += !group->refused && !group->reward_signal;
    }
    if (!place_advantages(out) || !returns_alloc(&r, out->count, out->count * group_size)) {
        returns_free(&r);
        return gg_fail(error, GG_E_MEMORY, "out of memory for the advantages of %zu groups",
                       out->count);
    }
    for (size_t g = 0; g < out->count; g++)
        if (!out->items[g].refused)
            returns_add(&r, &out->items[g]);
    gg_status status =
        r.groups ? gg_advantages(out->method, r.plays, r.first, r.groups, r.out, r.signal, error)
                 : GG_OK;
    returns_free(&r);
    return status;
}

gg_status gg_groups_build(gg_advantage method, gg_episode *const *plays, size_t groups,
                          size_t group_size, gg_groups *out, gg_error *error)
{
    *out = (gg_groups){.method = method, .count = groups};
    out->items = calloc(groups + 1, sizeof *out->items);
    if (!out->items)
        return gg_fail(error, GG_E_MEMORY, "out of memory for %zu groups", groups);
    gg_status status = fill(out, plays, group_size, error);
    if (status != GG_OK)
        gg_groups_free(out);
    return status;
}

void gg_groups_free(gg_groups *groups)
{
    if (!groups)
        return;
    free(groups->items);
    free(groups->values);
    free(groups->rows);
    *groups = (gg_groups){0};
}

/* ---- training sequences ---- */

static bool all_zero(const double *advantage, size_t turns)
{
    for (size_t i = 0; i < turns; i++)
        if (advantage[i] != 0)
            return false;
    return true;
}

static gg_status add_group(const gg_group *group, gg_play_fn imitable, gg_datums *out,
                           gg_error *error)
{
    for (size_t i = 0; i < group->size; i++) {
        const gg_episode *play = group->plays[i];
        bool wanted = imitable ? play->outcome == GG_SOLVED
                               : !all_zero(group->advantages[i], play->turn_count);
        bool usable = play->trainable || (imitable && imitable(play));
        if (!wanted || !usable)
            continue;
        gg_status status = gg_datums_add(out, play, group->advantages[i], error);
        if (status != GG_OK)
            return status;
    }
    return GG_OK;
}

gg_status gg_groups_datums(const gg_groups *groups, gg_play_fn imitable, gg_datums *out,
                           gg_error *error)
{
    gg_status status = GG_OK;
    for (size_t g = 0; status == GG_OK && g < groups->count; g++)
        if (!groups->items[g].refused)
            status = add_group(&groups->items[g], imitable, out, error);
    return status;
}

/* ---- groups.jsonl ---- */

/* One number a play; an array a play when its turns differ. */
static void write_advantage(const double *advantage, size_t turns, gg_buf *line)
{
    bool same = true;
    for (size_t t = 1; t < turns; t++)
        same = same && advantage[t] == advantage[0];
    if (same)
        gg_buf_double(line, turns ? advantage[0] : 0);
    else {
        gg_buf_char(line, '[');
        for (size_t t = 0; t < turns; t++) {
            if (t)
                gg_buf_char(line, ',');
            gg_buf_double(line, advantage[t]);
        }
        gg_buf_char(line, ']');
    }
}

static void write_plays(const gg_group *group, gg_buf *line)
{
    gg_buf_str(line, ",\"episode_ids\":[");
    for (size_t i = 0; i < group->size; i++) {
        gg_buf_str(line, i ? "," : "");
        gg_buf_json_str(line, group->plays[i] ? group->plays[i]->id : NULL);
    }
    gg_buf_str(line, "],\"rewards\":[");
    for (size_t i = 0; i < group->size; i++) {
        gg_buf_str(line, i ? "," : "");
        if (group->plays[i])
            gg_buf_double(line, group->plays[i]->reward);
        else
            gg_buf_str(line, "null");
    }
    gg_buf_str(line, "],\"advantages\":[");
    for (size_t i = 0; group->advantages && i < group->size && group->plays[i]; i++) {
        gg_buf_str(line, i ? "," : "");
        write_advantage(group->advantages[i], group->plays[i]->turn_count, line);
    }
    gg_buf_char(line, ']');
}

static const gg_episode *any_play(const gg_group *group)
{
    for (size_t i = 0; i < group->size; i++)
        if (group->plays[i])
            return group->plays[i];
    return NULL;
}

void gg_group_write(const gg_groups *groups, size_t index, gg_buf *line)
{
    const gg_group *group = &groups->items[index];
    const gg_episode *play = any_play(group);
    gg_buf_str(line, "{\"group\":");
    gg_buf_int(line, play ? play->group : (int64_t)index);
    gg_buf_str(line, ",\"step\":");
    gg_buf_int(line, play ? play->step : 0);
    gg_buf_str(line, ",\"task_key\":");
    gg_buf_json_str(line, play ? play->task_key : NULL);
    write_plays(group, line);
    gg_buf_printf(line, ",\"method\":\"%s\",\"signal\":{\"reward\":%s,\"outcome\":%s}",
                  gg_advantage_name(groups->method), group->reward_signal ? "true" : "false",
                  group->outcome_signal ? "true" : "false");
    if (group->refused) {
        gg_buf_str(line, ",\"refused_reason\":");
        gg_buf_json_str(line, group->refused);
    }
    gg_buf_str(line, "}\n");
}
