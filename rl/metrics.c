#include "rl/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gg_metrics_free(gg_metrics *metrics)
{
    if (!metrics)
        return;
    free(metrics->items);
    *metrics = (gg_metrics){0};
}

static gg_metric *find(const gg_metrics *metrics, const char *name)
{
    for (size_t i = 0; i < metrics->count; i++)
        if (!strcmp(metrics->items[i].name, name))
            return &metrics->items[i];
    return NULL;
}

void gg_metrics_set(gg_metrics *metrics, const char *prefix, const char *name, double value)
{
    char full[GG_METRIC_NAME];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    gg_metric *item = find(metrics, full);
    if (!item && metrics->count == metrics->room) {
        size_t room = metrics->room ? metrics->room * 2 : 64;
        gg_metric *items = realloc(metrics->items, room * sizeof *items);
        if (!items) {
            metrics->status = GG_E_MEMORY;
            return;
        }
        metrics->items = items;
        metrics->room = room;
    }
    if (!item) {
        item = &metrics->items[metrics->count++];
        memcpy(item->name, full, sizeof full);
    }
    item->value = value;
}

double gg_metrics_get(const gg_metrics *metrics, const char *name)
{
    const gg_metric *item = find(metrics, name);
    return item ? item->value : NAN;
}

void gg_metrics_write(const gg_metrics *metrics, gg_buf *out)
{
    for (size_t i = 0; i < metrics->count; i++) {
        gg_buf_char(out, ',');
        gg_buf_json_str(out, metrics->items[i].name);
        gg_buf_char(out, ':');
        gg_buf_double(out, metrics->items[i].value);
    }
}

/* ---- running figures of a series of numbers ---- */

typedef struct series {
    double sum, squares, low, high;
    int64_t n, zeros;
} series;

static void add(series *s, double x)
{
    s->low = s->n && s->low < x ? s->low : x;
    s->high = s->n && s->high > x ? s->high : x;
    s->sum += x;
    s->squares += x * x;
    s->zeros += x == 0;
    s->n++;
}

static double mean(const series *s)
{
    return s->n ? s->sum / (double)s->n : NAN;
}

static double spread(const series *s)
{
    double variance = s->n ? s->squares / (double)s->n - mean(s) * mean(s) : NAN;
    return variance < 0 ? 0 : sqrt(variance);
}

static double share(int64_t part, int64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

/* Which figures of a series a family of names shows. */
enum { MEAN = 1, STD = 2, RANGE = 4, ZERO_SHARE = 8 };

static void set_series(gg_metrics *m, const char *prefix, const char *family, const series *s,
                       int shown)
{
    const struct {
        int bit;
        const char *name;
        double value;
    } rows[] = {
        {MEAN, "mean", mean(s)},
        {STD, "std", spread(s)},
        {RANGE, "min", s->n ? s->low : NAN},
        {RANGE, "max", s->n ? s->high : NAN},
        {ZERO_SHARE, "zero_frac", share(s->zeros, s->n)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[GG_METRIC_NAME];
        if (!(shown & rows[i].bit))
            continue;
        snprintf(name, sizeof name, "%s%s", family, rows[i].name);
        gg_metrics_set(m, prefix, name, rows[i].value);
    }
}

/* ---- plays ---- */

typedef struct play_series {
    series reward, turns, prompt, response, logprob;
    int64_t logprob_zeros, logprobs;
} play_series;

static void add_play(play_series *s, const gg_episode *e)
{
    double prompt = 0, response = 0;
    for (size_t t = 0; t < e->turn_count; t++) {
        prompt += (double)(e->turns[t].usage.prompt > 0 ? e->turns[t].usage.prompt : 0);
        response += (double)(e->turns[t].usage.completion > 0 ? e->turns[t].usage.completion : 0);
    }
    add(&s->reward, e->reward);
    add(&s->turns, (double)e->turn_count);
    add(&s->prompt, prompt);
    add(&s->response, response);
    for (size_t t = 0; e->tokens && t < e->turn_count; t++)
        for (size_t i = 0; e->tokens[t].logprobs && i < e->tokens[t].count; i++) {
            s->logprobs++;
            if (e->tokens[t].logprobs[i] == 0)
                s->logprob_zeros++;
            else
                add(&s->logprob, e->tokens[t].logprobs[i]);
        }
}

void gg_metrics_plays(gg_metrics *m, const char *prefix, gg_episode *const *plays, size_t count)
{
    play_series s = {0};
    for (size_t i = 0; i < count; i++)
        if (plays[i] && plays[i]->outcome != GG_ERRORED && plays[i]->outcome != GG_UNPLAYED)
            add_play(&s, plays[i]);
    set_series(m, prefix, "reward/", &s.reward, MEAN | STD | RANGE | ZERO_SHARE);
    set_series(m, prefix, "turns/", &s.turns, MEAN | RANGE);
    set_series(m, prefix, "tokens/prompt_", &s.prompt, MEAN);
    set_series(m, prefix, "tokens/response_", &s.response, MEAN | STD | RANGE);
    set_series(m, prefix, "logprob/nz_", &s.logprob, MEAN | STD | RANGE);
    gg_metrics_set(m, prefix, "logprob/zero_count", (double)s.logprob_zeros);
    gg_metrics_set(m, prefix, "logprob/zero_frac", share(s.logprob_zeros, s.logprobs));
}

/* ---- groups ---- */

typedef struct group_series {
    series advantage, valid_reward, group_mean, group_spread;
    int64_t positive, negative, zero_zero, zero_nonzero;
} group_series;

static void add_group(group_series *s, const gg_group *group)
{
    series reward = {0};
    bool any = false;
    for (size_t i = 0; i < group->size; i++) {
        add(&reward, group->plays[i]->reward);
        for (size_t t = 0; t < group->plays[i]->turn_count; t++)
            any = any || group->advantages[i][t] != 0;
        if (!group->plays[i]->turn_count)
            continue;
        double advantage = group->advantages[i][0];
        add(&s->advantage, advantage);
        s->positive += advantage > 0;
        s->negative += advantage < 0;
    }
    for (size_t i = 0; any && i < group->size; i++)
        add(&s->valid_reward, group->plays[i]->reward);
    s->zero_zero += !any && mean(&reward) == 0;
    s->zero_nonzero += !any && mean(&reward) != 0;
    add(&s->group_mean, mean(&reward));
    add(&s->group_spread, reward.high - reward.low);
}

void gg_metrics_groups(gg_metrics *m, const gg_groups *groups)
{
    group_series s = {0};
    int64_t closed = (int64_t)(groups->count - groups->refused);
    for (size_t g = 0; g < groups->count; g++)
        if (!groups->items[g].refused)
            add_group(&s, &groups->items[g]);
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"rollout/reward/valid_mean", mean(&s.valid_reward)},
        {"rollout/advantage/n_positive", (double)s.positive},
        {"rollout/advantage/n_negative", (double)s.negative},
        {"analysis/batch_completion_ratio", share(closed, (int64_t)groups->count)},
        {"analysis/batch_valid_ratio",
         share(closed - s.zero_zero - s.zero_nonzero, (int64_t)groups->count)},
        {"analysis/zero_adv_groups", (double)(s.zero_zero + s.zero_nonzero)},
        {"analysis/zero_adv_zero_reward", (double)s.zero_zero},
        {"analysis/zero_adv_nonzero_reward", (double)s.zero_nonzero},
        {"analysis/reward_variance_across_groups", spread(&s.group_mean) * spread(&s.group_mean)},
        {"analysis/mean_group_reward_spread", mean(&s.group_spread)},
        {"analysis/refused_groups", (double)groups->refused},
    };
    set_series(m, "rollout/", "advantage/", &s.advantage, MEAN | STD | RANGE);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        gg_metrics_set(m, "", rows[i].name, rows[i].value);
    gg_metrics_set(m, "", "training/num_groups", (double)groups->count);
}

/* ---- datums ---- */

void gg_metrics_datums(gg_metrics *m, const gg_datums *datums, size_t plays)
{
    double total = 0, action = 0, n = (double)datums->count;
    for (size_t i = 0; i < datums->count; i++) {
        total += (double)datums->items[i].n;
        for (size_t k = 0; k < datums->items[i].n; k++)
            action += datums->items[i].weights[k] != 0;
    }
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"num_trajectories", (double)plays},
        {"num_datums", n},
        {"datums_per_trajectory", plays ? n / (double)plays : NAN},
        {"action_tokens_mean", n > 0 ? action / n : NAN},
        {"obs_tokens_mean", n > 0 ? (total - action) / n : NAN},
        {"trainable_token_positions", action},
        {"nontrainable_token_positions", total - action},
        {"trainable_token_ratio", total > 0 ? action / total : NAN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        gg_metrics_set(m, "training/", rows[i].name, rows[i].value);
}

/* ---- counts ---- */

static void add_tokens(int64_t *sum, int64_t tokens)
{
    *sum = *sum == GG_TOKENS_UNKNOWN || tokens == GG_TOKENS_UNKNOWN ? GG_TOKENS_UNKNOWN
                                                                    : *sum + tokens;
}

void gg_step_count_plays(gg_step_count *count, gg_episode *const *plays, size_t plays_count)
{
    for (size_t i = 0; i < plays_count; i++) {
        count->planned++;
        count->by_outcome[plays[i] ? plays[i]->outcome : GG_UNPLAYED]++;
        if (plays[i])
            gg_health_add(&count->health, plays[i]);
        for (size_t t = 0; plays[i] && t < plays[i]->turn_count; t++) {
            add_tokens(&count->prefill, plays[i]->turns[t].usage.prompt);
            add_tokens(&count->sample, plays[i]->turns[t].usage.completion);
        }
    }
}

static void write_count(gg_buf *out, const char *name, int64_t value)
{
    gg_buf_str(out, name);
    if (value == GG_TOKENS_UNKNOWN)
        gg_buf_str(out, "null");
    else
        gg_buf_int(out, value);
}

void gg_step_count_write(const gg_step_count *count, gg_buf *out)
{
    write_count(out, "\"ledger\":{\"planned\":", count->planned);
    for (int i = 0; i < GG_OUTCOME_COUNT; i++)
        gg_buf_printf(out, ",\"%s\":%lld", gg_outcome_name((gg_outcome)i),
                      (long long)count->by_outcome[i]);
    write_count(out, "},\"tokens\":{\"prefill\":", count->prefill);
    write_count(out, ",\"sample\":", count->sample);
    write_count(out, ",\"train\":", count->train);
    gg_buf_str(out, "},\"health\":");
    gg_health_write(&count->health, out);
}
