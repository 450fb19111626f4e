#include "report/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/plan_stats.h"

#define KEY_ROOM   65
#define SEED       42 /* of the bootstraps */
#define BEFORE     0
#define AFTER      (GG_SHAPE_POINTS - 1)
#define SURE       0.95
#define FIRST_ROOM 256

/* Plays of one task at one point of one reward's trainings. */
typedef struct cell {
    char key[KEY_ROOM];
    int64_t plays, solved;
} cell;

typedef struct cells {
    cell *items;
    size_t count, room;
    bool sorted;
} cells;

/* Sums over one training. */
typedef struct seed_sums {
    int64_t plays[GG_SHAPE_POINTS], solved[GG_SHAPE_POINTS];
    double own_before, own_after;
    double groups, silent, tokens, token_plays;
} seed_sums;

struct gg_shape {
    size_t rewards, seeds, group_size;
    const char *name[GG_SHAPE_REWARDS];
    int64_t steps[GG_SHAPE_POINTS];
    cells (*cells)[GG_SHAPE_POINTS]; /* one a reward; the first's BEFORE serves all */
    seed_sums *sums;                 /* [reward * seeds + seed] */
};

gg_status gg_shape_new(const char *const *rewards, size_t reward_count, size_t seeds,
                       size_t group_size, const int64_t steps[GG_SHAPE_POINTS], gg_shape **out,
                       gg_error *error)
{
    gg_shape *s = *out = calloc(1, sizeof *s);
    if (s) {
        *s = (gg_shape){.rewards = reward_count, .seeds = seeds, .group_size = group_size};
        memcpy(s->name, rewards, reward_count * sizeof *rewards);
        memcpy(s->steps, steps, sizeof s->steps);
        s->cells = calloc(reward_count, sizeof *s->cells);
        s->sums = calloc(reward_count * seeds, sizeof *s->sums);
    }
    if (s && s->cells && s->sums)
        return GG_OK;
    gg_shape_free(s);
    *out = NULL;
    return gg_fail(error, GG_E_MEMORY, "out of memory for %zu rewards", reward_count);
}

void gg_shape_free(gg_shape *s)
{
    if (!s)
        return;
    for (size_t r = 0; s->cells && r < s->rewards; r++)
        for (size_t p = 0; p < GG_SHAPE_POINTS; p++)
            free(s->cells[r][p].items);
    free(s->cells);
    free(s->sums);
    free(s);
}

/* Taking runs in. */

static gg_status push(cells *to, const char *key, bool solved, gg_error *error)
{
    if (to->count == to->room) {
        size_t room = to->room ? 2 * to->room : FIRST_ROOM;
        cell *items = realloc(to->items, room * sizeof *items);
        if (!items)
            return gg_fail(error, GG_E_MEMORY, "out of memory for %zu plays", room);
        to->items = items;
        to->room = room;
    }
    cell *item = &to->items[to->count++];
    *item = (cell){.plays = 1, .solved = solved};
    memcpy(item->key, key, strlen(key) < KEY_ROOM ? strlen(key) : KEY_ROOM - 1);
    to->sorted = false;
    return GG_OK;
}

typedef struct reading {
    gg_shape *shape;
    size_t reward;
    seed_sums *sums; /* NULL: the plays before */
    int point;       /* of every play; -1: by the play's step */
} reading;

static int point_of(const gg_shape *s, int64_t step)
{
    for (int p = 0; p < GG_SHAPE_POINTS; p++)
        if (s->steps[p] == step)
            return p;
    return -1;
}

static gg_status add_play(void *context, gg_episode *e, gg_error *error)
{
    reading *r = context;
    gg_status status = GG_OK;
    int point = r->point >= 0 ? r->point : point_of(r->shape, e->step);
    /* Before and after are measured by runs of their own, with more plays. */
    bool wanted = r->point >= 0 || (point > BEFORE && point < AFTER);
    if (wanted && e->outcome != GG_ERRORED && e->outcome != GG_UNPLAYED) {
        bool solved = e->outcome == GG_SOLVED;
        status =
            push(&r->shape->cells[r->reward][point], e->task_key ? e->task_key : "", solved, error);
        if (r->sums) {
            r->sums->plays[point]++;
            r->sums->solved[point] += solved;
        }
    }
    gg_episode_free(e);
    return status;
}

static gg_status read_plays(reading *r, const gg_run *run, gg_error *error)
{
    gg_damage damage;
    gg_status status =
        gg_run_each_episode(run, GG_JOURNAL_EPISODES, GG_READ_PLAY, add_play, r, &damage, error);
    return status == GG_OK ? GG_OK : gg_fail_prefix(error, "%s", gg_run_dir(run));
}

static double number(const cJSON *line, const char *name)
{
    double value = NAN;
    gg_json_number(line, name, &value);
    return value;
}

/* A missing number adds nothing. */
static void add_number(double *sum, double value)
{
    *sum += isnan(value) ? 0 : value;
}

static gg_status add_metrics(void *context, const char *text, size_t len, size_t line_number,
                             gg_error *error)
{
    reading *r = context;
    cJSON *line = NULL;
    int64_t step = 0;
    (void)line_number;
    gg_status status = gg_json_parse(text, len, &line, error);
    if (status != GG_OK)
        return status;
    gg_json_int(line, "step", &step);
    double own = number(line, "val/reward/mean");
    if (!isnan(own) && step == r->shape->steps[BEFORE])
        r->sums->own_before = own;
    if (!isnan(own) && step == r->shape->steps[AFTER])
        r->sums->own_after = own;
    add_number(&r->sums->groups, number(line, "training/num_groups"));
    add_number(&r->sums->silent, number(line, "analysis/zero_adv_groups"));
    if (4 * step > 3 * r->shape->steps[AFTER]) {
        r->sums->tokens += number(gg_json_get(line, "tokens"), "sample");
        r->sums->token_plays += number(line, "plays");
    }
    cJSON_Delete(line);
    return GG_OK;
}

gg_status gg_shape_add_before(gg_shape *s, const gg_run *run, gg_error *error)
{
    reading r = {s, 0, NULL, BEFORE};
    return read_plays(&r, run, error);
}

gg_status gg_shape_add(gg_shape *s, size_t reward, size_t seed, const gg_run *training,
                       const gg_run *validation, const gg_run *after, gg_error *error)
{
    seed_sums *sums = &s->sums[reward * s->seeds + seed];
    reading during = {s, reward, sums, -1}, end = {s, reward, sums, AFTER};
    gg_status status = gg_run_each(training, GG_JOURNAL_METRICS, add_metrics, &during, error);
    if (status == GG_OK)
        status = read_plays(&during, validation, error);
    return status == GG_OK ? read_plays(&end, after, error) : status;
}

/* Figures. */

static int by_key(const void *a, const void *b)
{
    return strcmp(((const cell *)a)->key, ((const cell *)b)->key);
}

static void settle(cells *c)
{
    size_t kept = 0;
    if (c->sorted || c->count == 0)
        return;
    qsort(c->items, c->count, sizeof *c->items, by_key);
    for (size_t i = 0; i < c->count; i++) {
        if (kept && strcmp(c->items[kept - 1].key, c->items[i].key) == 0) {
            c->items[kept - 1].plays += c->items[i].plays;
            c->items[kept - 1].solved += c->items[i].solved;
        } else {
            c->items[kept++] = c->items[i];
        }
    }
    c->count = kept;
    c->sorted = true;
}

static cells *cells_at(gg_shape *s, size_t reward, size_t point)
{
    return &s->cells[point == BEFORE ? 0 : reward][point];
}

static gg_status no_memory(gg_error *error)
{
    return gg_fail(error, GG_E_MEMORY, "out of memory for figures");
}

static gg_status fill_point(gg_shape *s, size_t reward, size_t p, gg_shape_point *out,
                            gg_error *error)
{
    cells *c = cells_at(s, reward, p);
    int64_t solved = 0;
    settle(c);
    *out = (gg_shape_point){.step = s->steps[p], .rate = NAN, .interval = {NAN, NAN}};
    double *a = calloc(2 * c->count + 1, sizeof *a), *b = a ? a + c->count : NULL;
    if (!a)
        return no_memory(error);
    for (size_t i = 0; i < c->count; i++) {
        a[i] = (double)c->items[i].solved;
        b[i] = (double)c->items[i].plays;
        solved += c->items[i].solved;
        out->plays += c->items[i].plays;
    }
    if (out->plays)
        out->rate = (double)solved / (double)out->plays;
    out->interval = gg_bootstrap_ratio(a, b, c->count, GG_BOOTSTRAP_ROUNDS, SEED);
    free(a);
    for (size_t k = 0; k < s->seeds; k++) {
        const seed_sums *sums = &s->sums[reward * s->seeds + k];
        out->by_seed[k] = p == BEFORE      ? out->rate
                          : sums->plays[p] ? (double)sums->solved[p] / (double)sums->plays[p]
                                           : NAN;
    }
    return GG_OK;
}

/* Change of the solve rate over the tasks that were played before and after. */
static gg_status fill_change(gg_shape *s, size_t reward, gg_shape_reward *out, gg_error *error)
{
    const cells *before = cells_at(s, reward, BEFORE), *after = cells_at(s, reward, AFTER);
    double *change = calloc(before->count + 1, sizeof *change);
    size_t count = 0;
    if (!change)
        return no_memory(error);
    for (size_t i = 0, j = 0; i < before->count && j < after->count;) {
        const cell *x = &before->items[i], *y = &after->items[j];
        int order = strcmp(x->key, y->key);
        if (order == 0)
            change[count++] =
                (double)y->solved / (double)y->plays - (double)x->solved / (double)x->plays;
        i += order <= 0;
        j += order >= 0;
    }
    out->change = gg_bootstrap_mean(change, count, GG_BOOTSTRAP_ROUNDS, SEED);
    free(change);
    return GG_OK;
}

static gg_status fill_reward(gg_shape *s, size_t reward, gg_shape_reward *out, gg_error *error)
{
    double groups = 0, silent = 0, tokens = 0, plays = 0;
    gg_status status = GG_OK;
    *out = (gg_shape_reward){.name = s->name[reward]};
    for (size_t p = 0; p < GG_SHAPE_POINTS && status == GG_OK; p++)
        status = fill_point(s, reward, p, &out->points[p], error);
    for (size_t k = 0; k < s->seeds; k++) {
        const seed_sums *sums = &s->sums[reward * s->seeds + k];
        groups += sums->groups;
        silent += sums->silent;
        tokens += sums->tokens;
        plays += sums->token_plays;
        out->own_before += sums->own_before / (double)s->seeds;
        out->own_after += sums->own_after / (double)s->seeds;
        out->rose += sums->own_after > sums->own_before;
    }
    out->silent = groups > 0 ? silent / groups : NAN;
    out->tokens_per_play = plays > 0 ? tokens / plays : NAN;
    if (status == GG_OK)
        status = fill_change(s, reward, out, error);
    out->gamed = out->rose == (int)s->seeds && !(out->change.low > 0);
    return status;
}

static void compare_with_best(const gg_shape *s, gg_shape_figures *out)
{
    double confidence = 1 - (1 - SURE) / (double)(s->rewards > 1 ? s->rewards - 1 : 1);
    for (size_t r = 0; r < s->rewards; r++)
        if (out->reward[r].points[AFTER].rate > out->reward[out->best].points[AFTER].rate)
            out->best = r;
    for (size_t r = 0; r < s->rewards; r++) {
        double difference[GG_SHAPE_SEEDS];
        if (r == out->best)
            continue;
        for (size_t k = 0; k < s->seeds; k++)
            difference[k] = out->reward[out->best].points[AFTER].by_seed[k] -
                            out->reward[r].points[AFTER].by_seed[k];
        gg_shape_verdict *v = &out->verdict[out->verdict_count++];
        *v = (gg_shape_verdict){.other = r, .difference = gg_mean(difference, s->seeds)};
        v->interval = gg_student_interval(difference, s->seeds, confidence);
        v->better = v->interval.low > 0;
    }
}

gg_status gg_shape_expect(gg_shape *s, gg_shape_figures *out, gg_error *error)
{
    cells *c = cells_at(s, 0, BEFORE);
    double sum = 0;
    size_t tasks = 0;
    *out =
        (gg_shape_figures){.rewards = s->rewards, .seeds = s->seeds, .group_size = s->group_size};
    gg_status status = fill_point(s, 0, BEFORE, &out->reward[0].points[BEFORE], error);
    for (size_t i = 0; i < c->count; i++) {
        double silent =
            gg_no_signal_of(c->items[i].plays, c->items[i].solved, (int64_t)s->group_size);
        if (isnan(silent))
            continue;
        sum += silent;
        tasks++;
    }
    out->expected_silent = tasks ? sum / (double)tasks : NAN;
    out->expected_if_alike =
        gg_no_signal_share(out->reward[0].points[BEFORE].rate, (int64_t)s->group_size);
    return status;
}

gg_status gg_shape_finish(gg_shape *s, gg_shape_figures *out, gg_error *error)
{
    gg_status status = gg_shape_expect(s, out, error);
    for (size_t r = 0; r < s->rewards && status == GG_OK; r++)
        status = fill_reward(s, r, &out->reward[r], error);
    if (status == GG_OK)
        compare_with_best(s, out);
    return status;
}

/* JSON. */

static void member(gg_buf *out, const char *name, double value)
{
    gg_buf_printf(out, ",\"%s\":", name);
    gg_buf_double(out, value);
}

static void write_point(const gg_shape_point *p, size_t seeds, gg_buf *out)
{
    gg_buf_printf(out, "{\"step\":%lld,\"plays\":%lld", (long long)p->step, (long long)p->plays);
    member(out, "solve_rate", p->rate);
    member(out, "solve_rate_low", p->interval.low);
    member(out, "solve_rate_high", p->interval.high);
    gg_buf_str(out, ",\"by_seed\":");
    gg_buf_doubles(out, p->by_seed, seeds);
    gg_buf_char(out, '}');
}

static void write_reward(const gg_shape_reward *r, size_t seeds, gg_buf *out)
{
    gg_buf_str(out, "{\"reward\":");
    gg_buf_json_str(out, r->name);
    gg_buf_str(out, ",\"points\":[");
    for (int p = 0; p < GG_SHAPE_POINTS; p++) {
        gg_buf_str(out, p ? "," : "");
        write_point(&r->points[p], seeds, out);
    }
    gg_buf_char(out, ']');
    member(out, "own_mean_before", r->own_before);
    member(out, "own_mean_after", r->own_after);
    member(out, "change_low", r->change.low);
    member(out, "change_high", r->change.high);
    member(out, "no_signal_share", r->silent);
    member(out, "tokens_per_play", r->tokens_per_play);
    gg_buf_printf(out, ",\"gamed\":%s}", r->gamed ? "true" : "false");
}

void gg_shape_write(const gg_shape_figures *f, gg_buf *out)
{
    gg_buf_printf(out, "{\"seeds\":%zu,\"group_size\":%zu", f->seeds, f->group_size);
    member(out, "expected_no_signal_share", f->expected_silent);
    member(out, "expected_if_tasks_alike", f->expected_if_alike);
    gg_buf_str(out, ",\"rewards\":[");
    for (size_t r = 0; r < f->rewards; r++) {
        gg_buf_str(out, r ? "," : "");
        write_reward(&f->reward[r], f->seeds, out);
    }
    gg_buf_str(out, "],\"best\":");
    gg_buf_json_str(out, f->reward[f->best].name);
    gg_buf_str(out, ",\"verdicts\":[");
    for (size_t i = 0; i < f->verdict_count; i++) {
        const gg_shape_verdict *v = &f->verdict[i];
        gg_buf_str(out, i ? ",{\"against\":" : "{\"against\":");
        gg_buf_json_str(out, f->reward[v->other].name);
        member(out, "difference", v->difference);
        member(out, "difference_low", v->interval.low);
        member(out, "difference_high", v->interval.high);
        gg_buf_printf(out, ",\"verdict\":\"%s\"}", v->better ? "better" : "cannot tell");
    }
    gg_buf_str(out, "]}");
}
