#include "train/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/tokens.h"
#include "rl/batch.h"

void gg_step_free(gg_step *s)
{
    gg_datums_free(&s->datums);
    gg_groups_free(&s->groups);
    gg_plays_free(&s->plays);
    gg_metrics_free(&s->metrics);
    free(s->operations);
    s->operations = NULL;
}

/* ---- playing ---- */

static gg_status play(gg_train *t, gg_plays *plays, const char *prefix, gg_error *error)
{
    size_t missing = gg_plays_plan(plays);
    if (missing == 0)
        return GG_OK;
    if (t->stopped)
        return gg_fail(error, GG_E_INTERRUPTED, "interrupted before step %lld was played",
                       (long long)plays->step);
    plays->player = t->o.player;
    gg_rollout_set(t->rollout, prefix, t->checkpoint.step);
    t->playing = true;
    gg_status status =
        gg_rollout_play(t->rollout, plays->plan, missing, gg_plays_take, plays, error);
    t->playing = false;
    return status;
}

/* A step of a training from saved plays. */
static void borrow_plays(const gg_train *t, gg_plays *plays)
{
    plays->borrowed = true;
    for (size_t g = 0; g < plays->groups; g++)
        for (size_t k = 0; k < plays->group_size; k++)
            plays->items[g * plays->group_size + k] =
                t->o.from_plays[t->rows[g] * t->o.from_samples + k];
}

gg_status gg_step_play(gg_train *t, gg_step *s, gg_error *error)
{
    const gg_tasks *rows = t->o.from ? t->o.from : t->o.rows;
    size_t group_size = t->o.from ? t->o.from_samples : t->o.group_size;
    gg_status status = gg_plays_init(&s->plays, t->o.run, GG_JOURNAL_STEP, GG_JOURNAL_STEP_TOKENS,
                                     s->number, t->o.batch, group_size, error);
    if (status == GG_OK)
        status = gg_batch_draw(rows->count, t->o.batch, t->o.seed, s->number, t->rows, error);
    if (status != GG_OK)
        return status;
    for (size_t g = 0; g < t->o.batch; g++)
        s->plays.tasks[g] = &rows->items[t->rows[g]];
    if (t->o.from) {
        borrow_plays(t, &s->plays);
        return GG_OK;
    }
    /* What is played ahead is written down once the present step's files are emptied. */
    s->plays.unwritten = s->behind > 0;
    if (!s->plays.unwritten)
        status = gg_plays_recover(&s->plays, error);
    return status == GG_OK ? play(t, &s->plays, "s", error) : status;
}

/* ---- from plays to datums ---- */

/* The newest weight version that any of the step's replies named; -1 when none did. */
static int64_t newest_version(const gg_plays *plays)
{
    int64_t newest = -1;
    for (size_t i = 0; i < plays->groups * plays->group_size; i++)
        if (plays->items[i] && plays->items[i]->policy.weight_version_last > newest)
            newest = plays->items[i]->policy.weight_version_last;
    return newest;
}

/* Drops the datums that were sampled too many versions ago. Saved plays have no age. */
static void drop_stale(const gg_train *t, gg_step *s)
{
    int64_t newest = newest_version(&s->plays);
    size_t kept = 0;
    for (size_t i = 0; i < s->datums.count; i++) {
        gg_datum *d = &s->datums.items[i];
        int64_t age = s->behind + (d->weight_version >= 0 ? newest - d->weight_version : 0);
        if (age > t->o.max_staleness) {
            gg_datum_free(d);
            s->stale++;
        } else {
            s->datums.items[kept++] = *d;
        }
    }
    s->datums.count = kept;
}

static gg_status make_datums(gg_train *t, gg_step *s, gg_error *error)
{
    gg_status status = gg_groups_build(t->o.advantage, s->plays.items, s->plays.groups,
                                       s->plays.group_size, &s->groups, error);
    if (status == GG_OK)
        status = gg_groups_datums(&s->groups,
                                  t->o.loss == GG_LOSS_CROSS_ENTROPY ? gg_tokens_imitable : NULL,
                                  &s->datums, error);
    if (status == GG_OK && !t->o.from)
        drop_stale(t, s);
    return status;
}

/* ---- submitting ---- */

/* One operation's metrics on their way into the step's. */
typedef struct taking {
    gg_step *step;
    double share; /* of the step's datums that went into the operation */
    bool whole;   /* the operation is the optimiser's */
} taking;

static bool is_count(const char *name)
{
    static const char *const counts[] = {"global_token_num", "loss/sum", "loss/weight",
                                         "loss/tokens", "loss/unreachable_tokens"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (!strcmp(counts[i], name))
            return true;
    return false;
}

/* A batch that was cut into operations is one again, by the managed SDK's rules: counts are summed,
 * the gradient's norm is that of the last, all else is a mean over the datums. */
static void take_metric(void *context, const char *name, double value)
{
    const taking *x = context;
    gg_metrics *metrics = &x->step->metrics;
    double before = gg_metrics_get(metrics, name);
    if (!strcmp(name, "trainingTokens"))
        x->step->count.train += (int64_t)value;
    else if (x->whole || strstr(name, "grad_norm"))
        gg_metrics_set(metrics, "", name, value);
    else
        gg_metrics_set(metrics, "", name,
                       (isnan(before) ? 0 : before) + (is_count(name) ? 1 : x->share) * value);
}

gg_status gg_step_submit(gg_train *t, gg_step *s, gg_error *error)
{
    gg_status status = make_datums(t, s, error);
    size_t passes = gg_session_operations(s->datums.items, s->datums.count);
    /* Nothing to learn from: no optimiser step either, which would only move Adam's averages. */
    if (status != GG_OK || passes == 0)
        return status;
    s->operations = calloc(passes + 1, sizeof *s->operations);
    if (!s->operations)
        return gg_fail(error, GG_E_MEMORY, "out of memory for %zu operations", passes);
    s->operation_count = passes + 1;
    status = gg_session_forward_backward(t->session, t->o.loss, &t->o.clip, s->datums.items,
                                         s->datums.count, s->operations, error);
    return status == GG_OK ? gg_session_step(t->session, &t->o.adam, &s->operations[passes], error)
                           : status;
}

/* Saves what the next step samples from, and what a resumed training goes on from. */
static gg_status save(gg_train *t, gg_error *error)
{
    gg_status status = gg_session_save_state(t->session, t->checkpoint.state_arn, error);
    if (status == GG_OK)
        status = gg_session_save_weights(t->session, t->checkpoint.weights_arn, error);
    if (status == GG_OK)
        status = gg_session_bind(t->session, t->checkpoint.weights_arn, error);
    return status;
}

gg_status gg_step_settle(gg_train *t, gg_step *s, gg_error *error)
{
    gg_status status = GG_OK;
    size_t first = 0;
    for (size_t i = 0; i < s->operation_count && status == GG_OK; i++) {
        size_t count = gg_session_slice(s->datums.items, s->datums.count, first);
        taking x = {s, (double)count / (double)s->datums.count, i + 1 == s->operation_count};
        status = gg_session_wait(t->session, &s->operations[i], take_metric, &x, error);
        first += count;
    }
    t->checkpoint.step = s->number;
    return status == GG_OK ? save(t, error) : status;
}

/* ---- validation ---- */

gg_status gg_step_validate(gg_train *t, gg_metrics *metrics, gg_error *error)
{
    gg_plays plays;
    gg_step_count count = {0};
    uint64_t started = uv_hrtime();
    gg_status status =
        gg_plays_init(&plays, t->o.validation, GG_JOURNAL_EPISODES, GG_JOURNAL_TOKENS,
                      t->checkpoint.step, t->o.val->count, 1, error);
    if (status != GG_OK)
        return status;
    for (size_t g = 0; g < t->o.val->count; g++)
        plays.tasks[g] = &t->o.val->items[g];
    status = gg_plays_recover(&plays, error);
    if (status == GG_OK)
        status = play(t, &plays, "v", error);
    if (status == GG_OK) {
        gg_step_count_plays(&count, plays.items, plays.groups);
        int64_t judged = count.planned - count.by_outcome[GG_ERRORED];
        gg_metrics_plays(metrics, "val/", plays.items, plays.groups);
        gg_metrics_set(metrics, "val/", "solve_rate",
                       judged ? (double)count.by_outcome[GG_SOLVED] / (double)judged : NAN);
        gg_metrics_set(metrics, "val/", "reward/num_prompts", (double)count.planned);
        gg_metrics_set(metrics, "val/", "reward/failed_rollouts",
                       (double)count.by_outcome[GG_ERRORED]);
        gg_metrics_set(metrics, "timing_s/", "eval", gg_seconds(started, uv_hrtime()));
    }
    gg_plays_free(&plays);
    return status;
}
