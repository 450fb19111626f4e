#include "train/train.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/price.h"
#include "core/rng.h"
#include "rl/batch.h"
#include "train/checkpoint.h"
#include "train/plays.h"
#include "train/session.h"

#define URL_MAX          (16u << 10)
#define METRICS_LINE_MAX (1u << 20)

struct gg_train {
    gg_train_options o;
    gg_http *http;
    gg_endpoint *control, *runtime, *policy;
    gg_session *session;
    gg_rollout *rollout;
    bool playing, stopped;
    int64_t step; /* in work */
    gg_checkpoint checkpoint;
    uint8_t *kept;  /* one flag a planned play of the whole training; NULL = all */
    uint32_t *rows; /* of the step in work */
    char budget[160];
};

/* One step in work. */
typedef struct step {
    gg_plays plays;
    gg_groups groups;
    gg_datums datums;
    gg_metrics metrics;
    gg_step_count count;
    int64_t stale;                     /* datums older than the bound */
    uint64_t started, played, trained; /* uv_hrtime */
} step;

static void step_free(step *s)
{
    gg_datums_free(&s->datums);
    gg_groups_free(&s->groups);
    gg_plays_free(&s->plays);
    gg_metrics_free(&s->metrics);
}

static double seconds(uint64_t from, uint64_t to)
{
    return (double)(to - from) / 1e9;
}

/* ---- opening ---- */

static gg_status open_endpoint(gg_train *t, const char *url, size_t in_flight, gg_endpoint **out,
                               gg_error *error)
{
    gg_endpoint_options options = {.base_url = url,
                                   .in_flight_max = in_flight,
                                   .attempts_max = GG_RETRY_ATTEMPTS,
                                   .timeout_ms = GG_HTTP_TIMEOUT_MS,
                                   .seed = gg_derive_seed(t->o.seed, "jitter", 0)};
    return gg_endpoint_new(t->http, &options, out, error);
}

static gg_status open_session(gg_train *t, gg_error *error)
{
    char name[64];
    t->checkpoint.sessions++;
    snprintf(name, sizeof name, "%.40s-%lld", t->o.session_name, (long long)t->checkpoint.sessions);
    gg_session_options options = {.loop = t->o.loop,
                                  .control = t->control,
                                  .runtime = t->runtime,
                                  .name = name,
                                  .base_model_arn = t->o.base_model_arn,
                                  .role_arn = t->o.role_arn,
                                  .s3_path = t->o.s3_path,
                                  .package_group_arn = t->o.package_group_arn,
                                  .rank = GG_SESSION_RANK,
                                  .alpha = GG_SESSION_ALPHA,
                                  .token_seed = t->o.seed};
    return gg_session_open(&options, &t->session, error);
}

static gg_status open_rollout(gg_train *t, gg_error *error)
{
    char *url = NULL;
    if (!t->o.policy_url) {
        gg_buf buf;
        gg_buf_init(&buf, URL_MAX);
        gg_session_chat_url(t->session, t->o.runtime_url, &buf);
        url = gg_buf_take(&buf);
        if (!url)
            return gg_fail(error, GG_E_MEMORY, "out of memory for an address");
    }
    gg_status status =
        open_endpoint(t, url ? url : t->o.policy_url, t->o.concurrency, &t->policy, error);
    free(url);
    if (status != GG_OK)
        return status;
    gg_rollout_options options = {.game = t->o.game,
                                  .reward = t->o.reward,
                                  .endpoint = t->policy,
                                  .ask = t->o.ask,
                                  .seed = t->o.seed,
                                  .concurrency = t->o.concurrency,
                                  .weight_version = t->checkpoint.step,
                                  .id_prefix = "s"};
    return gg_rollout_new(t->o.loop, &options, &t->rollout, error);
}

/* Marks `keep` of all planned plays, drawn without replacement by the seed. */
static gg_status draw_kept(gg_train *t, gg_error *error)
{
    size_t total = (size_t)t->o.steps * t->o.batch * t->o.group_size;
    gg_rng rng;
    if (t->o.keep == GG_KEEP_ALL)
        return GG_OK;
    t->kept = calloc(total + 1, 1);
    if (!t->kept)
        return gg_fail(error, GG_E_MEMORY, "out of memory for %zu plays", total);
    gg_rng_seed(&rng, gg_derive_seed(t->o.seed, "keep", 0));
    size_t wanted = (size_t)t->o.keep < total ? (size_t)t->o.keep : total;
    /* Floyd's sampling (Bentley and Floyd 1987): no list of all plays is needed. */
    for (size_t j = total - wanted; j < total; j++) {
        size_t pick = (size_t)gg_rng_below(&rng, j + 1);
        t->kept[t->kept[pick] ? j : pick] = 1;
    }
    return GG_OK;
}

/* Brings the session to where the folder stands, and saves and binds its weights. */
static gg_status restore(gg_train *t, bool found, gg_error *error)
{
    gg_status status = GG_OK;
    if (found && t->checkpoint.state_arn[0])
        status = gg_session_load_state(t->session, t->checkpoint.state_arn, true, error);
    else if (t->o.start_arn)
        status = gg_session_load_state(t->session, t->o.start_arn, false, error);
    if (status == GG_OK && !t->checkpoint.weights_arn[0])
        status = gg_session_save_weights(t->session, t->checkpoint.weights_arn, error);
    if (status == GG_OK)
        status = gg_session_bind(t->session, t->checkpoint.weights_arn, error);
    return status;
}

/* What was appended after the last checkpoint belongs to a step that will be done again. */
static gg_status cut_back(gg_train *t, gg_error *error)
{
    gg_status status = GG_OK;
    for (gg_journal j = 0; j < GG_JOURNAL_STEP && status == GG_OK; j++)
        status = gg_run_cut(t->o.run, j, t->checkpoint.sizes[j], error);
    return status;
}

static gg_status open_all(gg_train *t, gg_error *error)
{
    bool found = false;
    gg_status status = gg_http_new(t->o.loop, &t->http, error);
    if (status == GG_OK)
        status = open_endpoint(t, t->o.control_url, 1, &t->control, error);
    if (status == GG_OK)
        status = open_endpoint(t, t->o.runtime_url, 1, &t->runtime, error);
    if (status == GG_OK)
        status = gg_checkpoint_read(t->o.run, &t->checkpoint, &found, error);
    if (status == GG_OK && found)
        status = cut_back(t, error);
    if (status == GG_OK)
        status = draw_kept(t, error);
    if (status == GG_OK)
        status = open_session(t, error);
    if (status == GG_OK)
        status = restore(t, found, error);
    if (status == GG_OK)
        status = gg_checkpoint_write(t->o.run, &t->checkpoint, error);
    if (status == GG_OK)
        status = open_rollout(t, error);
    return status;
}

gg_status gg_train_open(const gg_train_options *options, gg_train **out, gg_error *error)
{
    gg_train *t = calloc(1, sizeof *t);
    *out = NULL;
    if (t)
        t->rows = calloc(options->batch + 1, sizeof *t->rows);
    if (!t || !t->rows) {
        free(t);
        return gg_fail(error, GG_E_MEMORY, "out of memory opening a training");
    }
    t->o = *options;
    gg_status status = open_all(t, error);
    if (status == GG_OK)
        *out = t;
    else
        (void)gg_train_close(t, NULL); /* the first error is the one to tell */
    return status;
}

gg_status gg_train_close(gg_train *t, gg_error *error)
{
    if (!t)
        return GG_OK;
    gg_rollout_free(t->rollout);
    gg_status status = gg_session_close(t->session, error);
    gg_endpoint_free(t->policy);
    gg_endpoint_free(t->runtime);
    gg_endpoint_free(t->control);
    gg_http_free(t->http);
    free(t->kept);
    free(t->rows);
    free(t);
    return status;
}

void gg_train_stop(gg_train *t)
{
    t->stopped = true;
    if (t->playing)
        gg_rollout_stop(t->rollout);
}

bool gg_train_look(const gg_train *t, int64_t *step, gg_rollout_state *out)
{
    *step = t->step;
    if (t->playing)
        gg_rollout_look(t->rollout, out);
    return t->playing;
}

gg_status gg_train_location(gg_train *t, gg_buf *uri, gg_error *error)
{
    return gg_session_location(t->session, t->checkpoint.weights_arn, uri, error);
}

const char *gg_train_budget_reason(const gg_train *t)
{
    return t->budget[0] ? t->budget : NULL;
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

static gg_status play_step(gg_train *t, step *s, gg_error *error)
{
    const gg_tasks *rows = t->o.from ? t->o.from : t->o.rows;
    size_t group_size = t->o.from ? t->o.from_samples : t->o.group_size;
    gg_status status = gg_plays_init(&s->plays, t->o.run, GG_JOURNAL_STEP, GG_JOURNAL_STEP_TOKENS,
                                     t->step, t->o.batch, group_size, error);
    if (status == GG_OK)
        status = gg_batch_draw(rows->count, t->o.batch, t->o.seed, t->step, t->rows, error);
    if (status != GG_OK)
        return status;
    for (size_t g = 0; g < t->o.batch; g++)
        s->plays.tasks[g] = &rows->items[t->rows[g]];
    if (t->o.from) {
        borrow_plays(t, &s->plays);
        return GG_OK;
    }
    status = gg_plays_recover(&s->plays, error);
    return status == GG_OK ? play(t, &s->plays, "s", error) : status;
}

/* ---- from plays to datums ---- */

static bool all_zero(const double *advantage, size_t turns)
{
    for (size_t i = 0; i < turns; i++)
        if (advantage[i] != 0)
            return false;
    return true;
}

/* Drops the datums from `first` on that were sampled too many versions ago. */
static void drop_stale(const gg_train *t, step *s, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < s->datums.count; i++) {
        gg_datum *d = &s->datums.items[i];
        bool stale =
            d->weight_version >= 0 && t->checkpoint.step - d->weight_version > t->o.max_staleness;
        if (stale) {
            gg_datum_free(d);
            s->stale++;
        } else {
            s->datums.items[kept++] = *d;
        }
    }
    s->datums.count = kept;
}

/* Datums of one group, in sample order; none of a play that cannot teach anything. */
static gg_status add_group(const gg_train *t, step *s, const gg_group *group, gg_error *error)
{
    bool imitation = t->o.loss == GG_LOSS_CROSS_ENTROPY;
    for (size_t i = 0; i < group->size; i++) {
        const gg_episode *play = group->plays[i];
        size_t first = s->datums.count;
        bool wanted = imitation ? play->outcome == GG_SOLVED
                                : !all_zero(group->advantages[i], play->turn_count);
        bool usable = play->trainable || (imitation && play->tokens);
        if (!wanted || !usable)
            continue;
        gg_status status = gg_datums_add(&s->datums, play, group->advantages[i], error);
        if (status != GG_OK)
            return status;
        drop_stale(t, s, t->o.from ? s->datums.count : first);
    }
    return GG_OK;
}

static gg_status make_datums(gg_train *t, step *s, gg_error *error)
{
    gg_status status = gg_groups_build(t->o.advantage, s->plays.items, s->plays.groups,
                                       s->plays.group_size, &s->groups, error);
    for (size_t g = 0; status == GG_OK && g < s->groups.count; g++)
        if (!s->groups.items[g].refused)
            status = add_group(t, s, &s->groups.items[g], error);
    return status;
}

/* ---- submitting ---- */

static void take_metric(void *context, const char *name, double value)
{
    step *s = context;
    if (!strcmp(name, "trainingTokens"))
        s->count.train += (int64_t)value;
    else
        gg_metrics_set(&s->metrics, "", name, value);
}

static gg_status submit(gg_train *t, step *s, gg_error *error)
{
    size_t operations = gg_session_operations(s->datums.items, s->datums.count);
    gg_operation *ids = calloc(operations + 1, sizeof *ids);
    if (!ids)
        return gg_fail(error, GG_E_MEMORY, "out of memory for %zu operations", operations);
    gg_status status = gg_session_forward_backward(t->session, t->o.loss, &t->o.clip,
                                                   s->datums.items, s->datums.count, ids, error);
    if (status == GG_OK && operations)
        status = gg_session_step(t->session, &t->o.adam, &ids[operations], error);
    for (size_t i = 0; status == GG_OK && operations && i <= operations; i++)
        status = gg_session_wait(t->session, &ids[i], take_metric, s, error);
    free(ids);
    return status;
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

/* ---- validation ---- */

static gg_status validate(gg_train *t, gg_metrics *metrics, gg_error *error)
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
        gg_metrics_set(metrics, "timing_s/", "eval", seconds(started, uv_hrtime()));
    }
    gg_plays_free(&plays);
    return status;
}

static bool validation_due(const gg_train *t, int64_t step)
{
    if (!t->o.val)
        return false;
    return step == 0 || step == t->o.steps || (t->o.val_every > 0 && step % t->o.val_every == 0);
}

/* ---- writing down ---- */

static void add_tokens(int64_t *sum, int64_t tokens)
{
    *sum = *sum == GG_TOKENS_UNKNOWN || tokens == GG_TOKENS_UNKNOWN ? GG_TOKENS_UNKNOWN
                                                                    : *sum + tokens;
}

static gg_status measure(gg_train *t, step *s, gg_error *error)
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
        {"training/epoch", (double)gg_batch_epoch(rows->count, t->o.batch, t->step)},
        {"training/global_step", (double)t->step},
        {"training/total_tokens", (double)s->count.train},
        {"training/stale_datums", (double)s->stale},
        {"timing_s/rollout", seconds(s->started, s->played)},
        {"timing_s/policy_update", seconds(s->played, s->trained)},
        {"timing_s/step", seconds(s->started, now)},
    };
    for (size_t i = 0; i < sizeof rows_of / sizeof *rows_of; i++)
        gg_metrics_set(m, "", rows_of[i].name, rows_of[i].value);
    return m->status == GG_OK ? GG_OK
                              : gg_fail(error, GG_E_MEMORY, "out of memory for a step's metrics");
}

static double cost_so_far(const gg_train *t)
{
    gg_price price;
    const gg_checkpoint *c = &t->checkpoint;
    bool known = c->prefill != GG_TOKENS_UNKNOWN && c->sample != GG_TOKENS_UNKNOWN;
    if (!known || !t->o.price_model || gg_price_find(t->o.price_model, &price, NULL) != GG_OK)
        return NAN;
    return gg_price_cost(&price, c->prefill, c->sample, c->train);
}

static gg_status append_metrics(gg_train *t, const gg_metrics *metrics, const gg_step_count *count,
                                double wall_s, gg_error *error)
{
    gg_buf line;
    gg_buf_init(&line, METRICS_LINE_MAX);
    gg_buf_printf(&line, "{\"step\":%lld,\"weight_version\":%lld,\"plays\":%lld,",
                  (long long)t->step, (long long)t->checkpoint.step, (long long)count->planned);
    gg_step_count_write(count, &line);
    gg_buf_str(&line, ",\"wall_s\":");
    gg_buf_double(&line, wall_s);
    gg_buf_str(&line, ",\"cost_usd\":");
    gg_buf_double(&line, cost_so_far(t));
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
static gg_status append_records(gg_train *t, gg_plays *plays, const gg_groups *groups,
                                gg_error *error)
{
    gg_status status = GG_OK;
    if (plays->borrowed)
        return GG_OK;
    for (size_t i = 0; i < plays->groups * plays->group_size && status == GG_OK; i++)
        if (plays->items[i] && is_kept(t, plays, i))
            status = gg_plays_append(plays, plays->items[i], GG_JOURNAL_EPISODES, GG_JOURNAL_TOKENS,
                                     error);
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
static gg_status commit(gg_train *t, gg_error *error)
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

/* ---- the loop ---- */

static bool over_budget(gg_train *t)
{
    const gg_checkpoint *c = &t->checkpoint;
    bool known = c->prefill != GG_TOKENS_UNKNOWN && c->sample != GG_TOKENS_UNKNOWN;
    double cost = cost_so_far(t);
    if (t->o.max_total_tokens > 0 && known &&
        c->prefill + c->sample + c->train >= t->o.max_total_tokens)
        snprintf(t->budget, sizeof t->budget, "--max-total-tokens %lld is used up",
                 (long long)t->o.max_total_tokens);
    else if (t->o.max_cost > 0 && cost >= t->o.max_cost)
        snprintf(t->budget, sizeof t->budget, "--max-cost %g is used up", t->o.max_cost);
    return t->budget[0] != '\0';
}

static gg_status close_step(gg_train *t, step *s, gg_error *error)
{
    gg_status status = GG_OK;
    add_tokens(&t->checkpoint.prefill, s->count.prefill);
    add_tokens(&t->checkpoint.sample, s->count.sample);
    add_tokens(&t->checkpoint.train, s->count.train);
    if (validation_due(t, t->step))
        status = validate(t, &s->metrics, error);
    if (status == GG_OK)
        status = append_records(t, &s->plays, &s->groups, error);
    if (status == GG_OK)
        status = append_metrics(t, &s->metrics, &s->count, seconds(s->started, uv_hrtime()), error);
    return status == GG_OK ? commit(t, error) : status;
}

static gg_status update(gg_train *t, step *s, gg_error *error)
{
    gg_status status = make_datums(t, s, error);
    if (status == GG_OK)
        status = submit(t, s, error);
    t->checkpoint.step = t->step;
    if (status == GG_OK)
        status = save(t, error);
    return status;
}

static gg_status do_step(gg_train *t, gg_error *error)
{
    step s = {.started = uv_hrtime()};
    gg_status status = play_step(t, &s, error);
    s.played = uv_hrtime();
    if (status == GG_OK)
        status = update(t, &s, error);
    s.trained = uv_hrtime();
    if (status == GG_OK)
        status = measure(t, &s, error);
    if (status == GG_OK)
        status = close_step(t, &s, error);
    if (status == GG_OK && t->o.progress)
        t->o.progress(t->o.context, t->step, &s.metrics);
    step_free(&s);
    return status;
}

/* Step 0: the untrained policy on the validation rows. */
static gg_status first_validation(gg_train *t, gg_error *error)
{
    gg_metrics metrics = {0};
    gg_step_count none = {0};
    int64_t have = 0;
    uint64_t started = uv_hrtime();
    gg_status status = gg_run_size(t->o.run, GG_JOURNAL_METRICS, &have, error);
    if (status != GG_OK || have > 0 || !validation_due(t, 0))
        return status;
    status = validate(t, &metrics, error);
    if (status == GG_OK)
        status = append_metrics(t, &metrics, &none, seconds(started, uv_hrtime()), error);
    if (status == GG_OK)
        status = commit(t, error);
    if (status == GG_OK && t->o.progress)
        t->o.progress(t->o.context, 0, &metrics);
    gg_metrics_free(&metrics);
    return status;
}

gg_status gg_train_run(gg_train *t, gg_error *error)
{
    gg_status status = GG_OK;
    if (t->checkpoint.step == 0)
        status = first_validation(t, error);
    while (status == GG_OK && t->checkpoint.step < t->o.steps && !over_budget(t)) {
        t->step = t->checkpoint.step + 1;
        status = do_step(t, error);
    }
    return status;
}
