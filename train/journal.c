#include "train/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rl/batch.h"

#define METRICS_LINE_MAX (1u << 20)

double gg_seconds(uint64_t from, uint64_t to)
{
    return (double)(to - from) / 1e9;
}

gg_status gg_step_measure(gg_train *t, gg_step *s, gg_error *error)
{
    uint64_t now = uv_hrtime();
    const gg_tasks *rows = t->o.from ? t->o.from : t->o.rows;
    gg_metrics *m = &s->metrics;
    gg_step_count_plays(&s->count, s->plays.items, s->plays.groups * s->plays.group_size);
    gg_metrics_plays(m, "rollout/", s->plays.items, s->plays.groups * s->plays.group_size);
    gg_metrics_groups(m, &s->groups);
    gg_metrics_datums(m, &s->datums, (size_t)s->count.planned);
    int64_t judged = s->count.planned - s->count.by_outcome[GG_ERRORED];
    const struct {
        const char *name;
        double value;
    } rows_of[] = {
        {"rollout/solve_rate",
         judged ? (double)s->count.by_outcome[GG_SOLVED] / (double)judged : NAN},
        {"training/epoch", (double)gg_batch_epoch(rows->count, t->o.batch, s->number)},
        {"training/global_step", (double)s->number},
        {"training/total_tokens", (double)s->count.train},
        {"training/stale_datums", (double)s->stale},
        {"timing_s/rollout", gg_seconds(s->started, s->played)},
        {"timing_s/policy_update", gg_seconds(s->played, s->trained)},
        {"timing_s/step", gg_seconds(s->started, now)},
    };
    for (size_t i = 0; i < sizeof rows_of / sizeof *rows_of; i++)
        gg_metrics_set(m, "", rows_of[i].name, rows_of[i].value);
    return m->status == GG_OK ? GG_OK
                              : gg_fail(error, GG_E_MEMORY, "out of memory for a step's metrics");
}

double gg_train_cost(const gg_train *t)
{
    const gg_checkpoint *c = &t->checkpoint;
    bool known = c->prefill != GG_TOKENS_UNKNOWN && c->sample != GG_TOKENS_UNKNOWN;
    return known ? gg_price_cost(&t->o.price, c->prefill, c->sample, c->train) : NAN;
}

gg_status gg_train_append_metrics(gg_train *t, const gg_metrics *metrics,
                                  const gg_step_count *count, double wall_s, gg_error *error)
{
    gg_buf line;
    gg_buf_init(&line, METRICS_LINE_MAX);
    gg_buf_printf(&line, "{\"step\":%lld,\"weight_version\":%lld,\"plays\":%lld,",
                  (long long)t->checkpoint.step, (long long)t->checkpoint.step,
                  (long long)count->planned);
    gg_step_count_write(count, &line);
    gg_buf_str(&line, ",\"wall_s\":");
    gg_buf_double(&line, wall_s);
    gg_buf_str(&line, ",\"cost_usd\":");
    gg_buf_double(&line, gg_train_cost(t));
    gg_metrics_write(metrics, &line);
    gg_buf_str(&line, "}\n");
    gg_status status = gg_buf_status(&line, "a metrics line", error);
    if (status == GG_OK)
        status = gg_run_append(t->o.run, GG_JOURNAL_METRICS, line.data, line.len, error);
    gg_buf_free(&line);
    return status;
}

static bool is_kept(const gg_train *t, const gg_plays *plays, size_t i)
{
    size_t before = (size_t)(plays->step - 1) * plays->groups * plays->group_size;
    return !t->kept || t->kept[before + i];
}

/* Appends the step's kept records and its groups. Saved plays that were trained on stand in their
 * own run. */
gg_status gg_train_append_records(gg_train *t, gg_plays *plays, const gg_groups *groups,
                                  gg_error *error)
{
    gg_status status = GG_OK;
    if (plays->borrowed)
        return GG_OK;
    for (size_t i = 0; i < plays->groups * plays->group_size && status == GG_OK; i++)
        if (plays->items[i] && is_kept(t, plays, i))
            status = gg_run_append_episode(t->o.run, GG_JOURNAL_EPISODES, GG_JOURNAL_TOKENS,
                                           plays->items[i], &plays->line, error);
    for (size_t g = 0; g < groups->count && status == GG_OK; g++) {
        gg_buf_reset(&plays->line);
        gg_group_write(groups, g, &plays->line);
        status = gg_buf_status(&plays->line, "a group's line", error);
        if (status == GG_OK)
            status = gg_run_append(t->o.run, GG_JOURNAL_GROUPS, plays->line.data, plays->line.len,
                                   error);
    }
    return status;
}

/* The commit of a step: everything appended is on the disk and the checkpoint names the journals'
 * sizes; what a later kill leaves behind them is cut away. */
gg_status gg_train_commit(gg_train *t, gg_error *error)
{
    gg_status status = GG_OK;
    for (gg_journal j = 0; j < GG_JOURNAL_STEP && status == GG_OK; j++) {
        status = gg_run_sync(t->o.run, j, error);
        if (status == GG_OK)
            status = gg_run_size(t->o.run, j, &t->checkpoint.sizes[j], error);
    }
    if (status == GG_OK)
        status = gg_checkpoint_write(t->o.run, &t->checkpoint, error);
    if (status == GG_OK)
        status = gg_run_clear(t->o.run, GG_JOURNAL_STEP, error);
    if (status == GG_OK)
        status = gg_run_clear(t->o.run, GG_JOURNAL_STEP_TOKENS, error);
    return status;
}

/* What was appended after the last checkpoint belongs to a step that will be done again. */
gg_status gg_train_cut_back(gg_train *t, gg_error *error)
{
    gg_status status = GG_OK;
    for (gg_journal j = 0; j < GG_JOURNAL_STEP && status == GG_OK; j++)
        status = gg_run_cut(t->o.run, j, t->checkpoint.sizes[j], error);
    return status;
}
