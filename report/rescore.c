#include "report/rescore_inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIN_WIDTH 0.5

gg_status gg_rescore_new(const gg_game *game, const gg_reward *const *rewards, size_t count,
                         size_t group_size, gg_rescore **out, gg_error *error)
{
    *out = NULL;
    if (count == 0 || count > GG_RESCORE_REWARDS)
        return gg_fail(error, GG_E_CONFIG, "from 1 to %d rewards can be looked at together",
                       GG_RESCORE_REWARDS);
    gg_rescore *r = calloc(1, sizeof *r);
    if (!r)
        return gg_fail(error, GG_E_MEMORY, "out of memory for rescoring");
    *r = (gg_rescore){.game = game, .count = count, .group_size = group_size};
    memcpy(r->rewards, rewards, count * sizeof *rewards);
    r->tally = calloc(count, sizeof *r->tally);
    r->values = calloc(count, sizeof *r->values);
    gg_status status =
        r->tally && r->values ? GG_OK : gg_fail(error, GG_E_MEMORY, "out of memory for rescoring");
    for (size_t i = 0; i < count && status == GG_OK; i++)
        status = gg_values_open(&r->values[i], error);
    if (status == GG_OK)
        *out = r;
    else
        gg_rescore_free(r);
    return status;
}

void gg_rescore_free(gg_rescore *r)
{
    if (!r)
        return;
    for (size_t i = 0; r->values && i < r->count; i++)
        gg_values_close(&r->values[i]);
    for (size_t i = 0; i < r->open_count; i++)
        free(r->open[i].members);
    free(r->open);
    free(r->values);
    free(r->tally);
    free(r);
}

/* Closing groups. */

static bool all_equal(const gg_rescore_group *g, size_t reward)
{
    for (size_t i = 1; i < g->count; i++)
        if (g->members[i].reward[reward] != g->members[0].reward[reward])
            return false;
    return true;
}

static size_t count_solved(const gg_rescore_group *g)
{
    size_t solved = 0;
    for (size_t i = 0; i < g->count; i++)
        solved += g->members[i].outcome == GG_SOLVED;
    return solved;
}

/* The advantage group_based: distance from the mean in population standard deviations. */
static void bin_advantages(const gg_rescore_group *g, size_t reward, int64_t *bins)
{
    double n = (double)g->count, mean = 0, squares = 0;
    for (size_t i = 0; i < g->count; i++)
        mean += g->members[i].reward[reward] / n;
    for (size_t i = 0; i < g->count; i++)
        squares += pow(g->members[i].reward[reward] - mean, 2);
    double deviation = sqrt(squares / n);
    for (size_t i = 0; i < g->count && deviation > 0; i++) {
        double advantage = (g->members[i].reward[reward] - mean) / deviation;
        double bin = floor(advantage / BIN_WIDTH) + GG_RESCORE_BINS / 2;
        bins[(size_t)fmin(fmax(bin, 0), GG_RESCORE_BINS - 1)]++;
    }
}

static bool is_inverted(const gg_rescore_group *g, size_t reward)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < g->count; i++) {
        double earned = g->members[i].reward[reward];
        if (g->members[i].outcome == GG_SOLVED)
            least = fmin(least, earned);
        else if (g->members[i].outcome == GG_LOST)
            most = fmax(most, earned);
    }
    return most > least;
}

static int by_id(const void *a, const void *b)
{
    return strverscmp(((const gg_rescore_member *)a)->id, ((const gg_rescore_member *)b)->id);
}

static void close_group(gg_rescore *r, const gg_rescore_group *g)
{
    /* Sums depend on the order to the last bit, and plays end in any. */
    qsort(g->members, g->count, sizeof *g->members, by_id);
    if (g->errored || g->count < r->group_size) {
        r->figures.refused += g->errored;
        r->figures.incomplete += !g->errored;
        return;
    }
    size_t solved = count_solved(g);
    r->figures.groups++;
    r->figures.silent_by_outcome += solved == 0 || solved == g->count;
    r->figures.unsolved_groups += solved == 0;
    for (size_t i = 0; i < r->count; i++) {
        gg_rescore_tally *t = &r->tally[i];
        if (all_equal(g, i)) {
            t->silent_groups++;
            continue;
        }
        bin_advantages(g, i, t->advantages);
        t->inverted_groups += is_inverted(g, i);
        if (solved == 0) {
            t->unsolved_signal++;
            if (!*t->unsolved_example || strverscmp(g->members[0].id, t->unsolved_example) < 0)
                memcpy(t->unsolved_example, g->members[0].id, GG_RESCORE_ID);
        }
    }
}

static void remove_open(gg_rescore *r, size_t at)
{
    close_group(r, &r->open[at]);
    free(r->open[at].members);
    memmove(&r->open[at], &r->open[at + 1], (r->open_count - at - 1) * sizeof *r->open);
    r->open_count--;
}

/* Collecting groups. */

static gg_rescore_group *find_open(gg_rescore *r, const gg_episode *e)
{
    for (size_t i = r->open_count; i-- > 0;)
        if (r->open[i].group == e->group && r->open[i].step == e->step)
            return &r->open[i];
    return NULL;
}

/* Steps of a training are written one after the other: nothing more comes for earlier ones. */
static void close_earlier_steps(gg_rescore *r, int64_t step)
{
    while (r->open_count && r->open[0].step < step)
        remove_open(r, 0);
}

static gg_status open_group(gg_rescore *r, const gg_episode *e, gg_rescore_group **out,
                            gg_error *error)
{
    close_earlier_steps(r, e->step);
    if (r->open_count == GG_RESCORE_OPEN)
        remove_open(r, 0);
    if (r->open_count == r->open_room) {
        size_t room = r->open_room ? 2 * r->open_room : 64;
        gg_rescore_group *open = realloc(r->open, room * sizeof *open);
        if (!open)
            return gg_fail(error, GG_E_MEMORY, "out of memory for %zu open groups", room);
        r->open = open;
        r->open_room = room;
    }
    gg_rescore_member *members = calloc(r->group_size, sizeof *members);
    if (!members)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a group");
    *out = &r->open[r->open_count++];
    **out = (gg_rescore_group){.step = e->step, .group = e->group, .members = members};
    return GG_OK;
}

static void keep_id(char out[GG_RESCORE_ID], const gg_episode *e)
{
    snprintf(out, GG_RESCORE_ID, "%s", e->id);
}

static gg_status add_to_group(gg_rescore *r, const gg_episode *e, const double *rewards,
                              gg_error *error)
{
    gg_rescore_group *g = find_open(r, e);
    if (r->group_size < 2)
        return GG_OK;
    gg_status status = g ? GG_OK : open_group(r, e, &g, error);
    if (status != GG_OK)
        return status;
    gg_rescore_member *member = &g->members[g->count++];
    keep_id(member->id, e);
    member->outcome = e->outcome;
    memcpy(member->reward, rewards, r->count * sizeof *rewards);
    g->errored = g->errored || e->outcome == GG_ERRORED;
    if (g->count == r->group_size)
        remove_open(r, (size_t)(g - r->open));
    return GG_OK;
}

/* Taking plays in. */

/* Of equals the first by step, group and sample, whatever order the plays ended in. */
static void keep_if(bool better, gg_rescore_example *example, const gg_episode *e, double reward)
{
    bool first = reward == example->reward && strverscmp(e->id, example->id) < 0;
    if (*example->id && !better && !first)
        return;
    keep_id(example->id, e);
    example->reward = reward;
}

static void add_extremes(gg_rescore_example *least, gg_rescore_example *most, const gg_episode *e,
                         double reward)
{
    keep_if(reward < least->reward, least, e, reward);
    keep_if(reward > most->reward, most, e, reward);
}

static void add_value(gg_rescore *r, size_t i, const gg_episode *e, double reward)
{
    gg_rescore_tally *t = &r->tally[i];
    double step = reward - t->mean;
    t->plays++;
    t->mean += step / (double)t->plays;
    t->squares += step * (reward - t->mean);
    add_extremes(&t->least, &t->most, e, reward);
    t->by_outcome[e->outcome]++;
    t->sum_by_outcome[e->outcome] += reward;
    add_extremes(&t->least_by[e->outcome], &t->most_by[e->outcome], e, reward);
    gg_values_add(&r->values[i], reward,
                  e->outcome == GG_SOLVED ? CLASS_SOLVED
                  : e->outcome == GG_LOST ? CLASS_LOST
                                          : CLASS_GIVEN_UP);
}

gg_status gg_rescore_add(gg_rescore *r, gg_episode *e, gg_error *error)
{
    double rewards[GG_RESCORE_REWARDS] = {0};
    gg_status status = GG_OK;
    if (e->outcome == GG_UNPLAYED)
        return GG_OK;
    if (e->outcome == GG_ERRORED) {
        r->figures.errored++;
        return add_to_group(r, e, rewards, error);
    }
    r->figures.plays++;
    for (size_t i = 0; i < r->count && status == GG_OK; i++) {
        status = gg_reward_score(r->rewards[i], r->game, e, error);
        rewards[i] = e->reward;
    }
    for (size_t i = 0; i < r->count && status == GG_OK; i++)
        add_value(r, i, e, rewards[i]);
    if (status == GG_OK)
        status = gg_rescore_calls(r, e, error);
    return status == GG_OK ? add_to_group(r, e, rewards, error) : status;
}

static gg_status add_line(void *context, gg_episode *episode, gg_error *error)
{
    gg_status status = gg_rescore_add(context, episode, error);
    gg_episode_free(episode);
    return status;
}

gg_status gg_rescore_read(gg_rescore *r, const gg_run *run, gg_error *error)
{
    gg_damage damage;
    gg_status status =
        gg_run_each_episode(run, GG_JOURNAL_EPISODES, GG_READ_PLAY, add_line, r, &damage, error);
    r->figures.damaged += (int64_t)damage.lines;
    return status == GG_OK ? GG_OK : gg_fail_prefix(error, "%s", gg_run_dir(run));
}

void gg_rescore_finish(gg_rescore *r, gg_rescore_figures *out)
{
    while (r->open_count)
        remove_open(r, 0);
    for (size_t i = 0; i < r->count; i++) {
        gg_rescore_tally *t = &r->tally[i];
        gg_values *v = &r->values[i];
        double solved_above_lost = gg_values_above(v, CLASS_SOLVED, CLASS_LOST, NULL);
        double solved_above_rest = gg_values_above(v, CLASS_SOLVED, CLASS_GIVEN_UP, NULL);
        double lost = (double)t->by_outcome[GG_LOST];
        double rest = (double)(t->plays - t->by_outcome[GG_SOLVED]) - lost;
        double above =
            (lost > 0 ? lost * solved_above_lost : 0) + (rest > 0 ? rest * solved_above_rest : 0);
        t->spread = t->plays ? sqrt(t->squares / (double)t->plays) : NAN;
        t->rank_correlation = lost + rest > 0 ? 2 * above / (lost + rest) - 1 : NAN;
        gg_values_above(v, CLASS_LOST, CLASS_SOLVED, &t->loss_above);
        gg_values_above(v, CLASS_GIVEN_UP, CLASS_LOST, &t->forfeit_above);
        t->exact = !v->merged;
        r->figures.reward[i] = r->rewards[i];
        r->figures.tally[i] = t;
    }
    r->figures.rewards = r->count;
    *out = r->figures;
}
