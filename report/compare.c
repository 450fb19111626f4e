#include "report/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <guessgym/record.h>

#include "core/json.h"
#include "core/plan_stats.h"

#define KEY_DIGITS 64
#define POWER      0.8  /* of the number of tasks that would decide */
#define FIRST_ROOM 1024 /* slots; a power of two */

enum { BEFORE, AFTER };

typedef struct slot {         /* one task */
    char key[KEY_DIGITS + 1]; /* "" = free */
    double sum[2];
    int64_t plays[2];
    bool seen[2]; /* played, though perhaps only with errors */
} slot;

typedef struct table {
    slot *slots; /* open addressing, at most half full */
    size_t room, count;
    gg_compare_by by;
    int side; /* which run is being read */
    int64_t errored[2];
    char *measure; /* name of the first measure met */
    bool once;     /* no task has two plays on one side */
    bool binary;   /* every value is 0 or 1 */
} table;

static const char *const by_names[] = {"measure", "solved", "reward"};

gg_compare_by gg_compare_by_parse(const char *name)
{
    size_t i = 0;

    while (i < GG_BY_COUNT && strcmp(by_names[i], name) != 0)
        i++;
    return (gg_compare_by)i;
}

/* Keys are SHA-256 in hex: any 16 of their digits are a good hash. */
static size_t hash(const char *key)
{
    size_t h = 0;

    for (int i = 0; i < 16 && key[i]; i++)
        h = h << 4 | (size_t)(key[i] > '9' ? key[i] - 'a' + 10 : key[i] - '0');
    return h;
}

static slot *find(slot *slots, size_t room, const char *key)
{
    size_t at = hash(key) & (room - 1);

    while (*slots[at].key && strcmp(slots[at].key, key) != 0)
        at = (at + 1) & (room - 1);
    return &slots[at];
}

static gg_status grow(table *t, gg_error *error)
{
    size_t room = t->room ? 2 * t->room : FIRST_ROOM;
    slot *slots = calloc(room, sizeof *slots);

    if (!slots)
        return gg_fail(error, GG_E_MEMORY, "out of memory for %zu tasks", t->count);
    for (size_t i = 0; i < t->room; i++)
        if (*t->slots[i].key)
            *find(slots, room, t->slots[i].key) = t->slots[i];
    free(t->slots);
    t->slots = slots;
    t->room = room;
    return GG_OK;
}

static gg_status slot_of(table *t, const char *key, slot **out, gg_error *error)
{
    if (!key || strlen(key) != KEY_DIGITS)
        return gg_fail(error, GG_E_FORMAT, "a task's key is not a SHA-256 in hex");
    if (2 * (t->count + 1) > t->room) {
        gg_status status = grow(t, error);
        if (status != GG_OK)
            return status;
    }
    *out = find(t->slots, t->room, key);
    if (!*(*out)->key) {
        memcpy((*out)->key, key, KEY_DIGITS + 1);
        t->count++;
    }
    return GG_OK;
}

static double value_of(const gg_episode *episode, gg_compare_by by)
{
    if (by == GG_BY_SOLVED)
        return episode->outcome == GG_SOLVED ? 1 : 0;
    return by == GG_BY_REWARD ? episode->reward : episode->measure.value;
}

static gg_status check_measure(table *t, const char *name, gg_error *error)
{
    if (t->by != GG_BY_MEASURE || !name)
        return GG_OK;
    if (!t->measure)
        t->measure = strdup(name);
    if (t->measure && strcmp(t->measure, name) != 0)
        return gg_fail(error, GG_E_CONFIG,
                       "the runs measure different things (%s, %s); compare them --by solved",
                       t->measure, name);
    return t->measure ? GG_OK : gg_fail(error, GG_E_MEMORY, "out of memory for a name");
}

static gg_status add_play(table *t, const gg_episode *episode, gg_error *error)
{
    slot *task = NULL;
    double value = value_of(episode, t->by);

    gg_status status = slot_of(t, episode->task_key, &task, error);
    if (status != GG_OK)
        return status;
    task->seen[t->side] = true;
    if (episode->outcome == GG_ERRORED) {
        t->errored[t->side]++;
        return GG_OK;
    }
    task->sum[t->side] += value;
    task->plays[t->side]++;
    t->once = t->once && task->plays[t->side] == 1;
    t->binary = t->binary && (value == 0 || value == 1);
    return check_measure(t, episode->measure.name, error);
}

static gg_status read_episode(void *context, gg_episode *episode, gg_error *error)
{
    gg_status status = episode->outcome == GG_UNPLAYED ? GG_OK : add_play(context, episode, error);

    gg_episode_free(episode);
    return status;
}

static gg_status read_run(table *t, const gg_run *run, int side, int64_t *damaged, gg_error *error)
{
    gg_damage damage;

    t->side = side;
    gg_status status = gg_run_each_episode(run, GG_JOURNAL_EPISODES, GG_READ_PLAY, read_episode, t,
                                           &damage, error);
    *damaged += (int64_t)damage.lines; /* plays that were not made */
    return status == GG_OK ? GG_OK : gg_fail_prefix(error, "%s", gg_run_dir(run));
}

/* Members of run.json that must agree; absent on one side is no difference. */
static gg_status check_config(const gg_run *before, const gg_run *after, const char *path,
                              const char *advice, gg_error *error)
{
    const gg_run *runs[] = {before, after};
    cJSON *roots[2] = {NULL, NULL};
    const char *values[2] = {NULL, NULL};
    gg_status status = GG_OK;

    for (int i = 0; i < 2 && status == GG_OK; i++) {
        const char *text = gg_run_config(runs[i]);
        status = gg_json_parse(text, strlen(text), &roots[i], error);
        if (status == GG_OK)
            values[i] = cJSON_GetStringValue(gg_json_path(roots[i], path));
    }
    if (status == GG_OK && values[0] && values[1] && strcmp(values[0], values[1]) != 0)
        status = gg_fail(error, GG_E_CONFIG, "the runs differ in %s (%s, %s); %s", path, values[0],
                         values[1], advice);
    cJSON_Delete(roots[0]);
    cJSON_Delete(roots[1]);
    return status;
}

/* Values of the pairs, in the order of their keys so that the bootstrap does not depend on the
 * order of the journals. */
typedef struct pairs {
    double *before, *after, *difference;
    size_t count;
} pairs;

static int by_key(const void *a, const void *b)
{
    return strcmp(((const slot *)a)->key, ((const slot *)b)->key);
}

static gg_status pair_up(table *t, pairs *out, gg_comparison *result, gg_error *error)
{
    out->before = calloc(3 * t->count + 1, sizeof *out->before);
    if (!out->before)
        return gg_fail(error, GG_E_MEMORY, "out of memory for %zu pairs", t->count);
    out->after = out->before + t->count;
    out->difference = out->after + t->count;
    if (t->room > 0)
        qsort(t->slots, t->room, sizeof *t->slots, by_key);
    for (size_t i = 0; i < t->room; i++) {
        const slot *task = &t->slots[i];
        if (!*task->key)
            continue;
        result->only_before += !task->seen[AFTER];
        result->only_after += !task->seen[BEFORE];
        if (task->plays[BEFORE] == 0 || task->plays[AFTER] == 0)
            continue;
        size_t n = out->count++;
        out->before[n] = task->sum[BEFORE] / (double)task->plays[BEFORE];
        out->after[n] = task->sum[AFTER] / (double)task->plays[AFTER];
        out->difference[n] = out->after[n] - out->before[n];
    }
    return GG_OK;
}

static gg_status check_lists(const gg_comparison *c, bool common, gg_error *error)
{
    if (c->pairs == 0)
        return gg_fail(error, GG_E_CONFIG,
                       "the runs have no task in common (%zu tasks, %zu tasks); play the same list",
                       c->only_before, c->only_after);
    if (!common && c->only_before + c->only_after > 0)
        return gg_fail(error, GG_E_CONFIG,
                       "the runs played different tasks: %zu in both, %zu only before, %zu only "
                       "after; --common compares those in both",
                       c->pairs, c->only_before, c->only_after);
    return GG_OK;
}

static void judge(const table *t, const pairs *p, uint64_t seed, gg_comparison *c)
{
    for (size_t i = 0; i < p->count; i++) {
        c->better += p->difference[i] > 0;
        c->worse += p->difference[i] < 0;
        c->same += p->difference[i] == 0;
    }
    c->before = gg_mean(p->before, p->count);
    c->after = gg_mean(p->after, p->count);
    c->difference = gg_mean(p->difference, p->count);
    c->interval = gg_bootstrap_mean(p->difference, p->count, GG_BOOTSTRAP_ROUNDS, seed);
    c->exact = t->once && t->binary;
    c->p_value = c->exact
                     ? gg_mcnemar_exact((int64_t)c->better, (int64_t)c->worse)
                     : gg_permutation_signs(p->difference, p->count, GG_PERMUTATION_ROUNDS, seed);
    double n = (double)p->count;
    c->pairs_needed =
        c->exact
            ? gg_pairs_to_decide((double)c->better / n, (double)c->worse / n, POWER)
            : gg_pairs_for_means(c->difference, gg_population_std(p->difference, p->count), POWER);
    c->verdict = c->interval.low > 0 ? "better" : c->interval.high < 0 ? "worse" : "cannot tell";
}

gg_status gg_compare_runs(const gg_run *before, const gg_run *after,
                          const gg_compare_options *options, gg_comparison *out, gg_error *error)
{
    table t = {.by = options->by, .once = true, .binary = true};
    pairs p = {0};

    *out = (gg_comparison){.verdict = "cannot tell"};
    gg_status status =
        check_config(before, after, "config.env", "plays of two games cannot be paired", error);
    if (status == GG_OK && options->by == GG_BY_REWARD)
        status = check_config(before, after, "config.reward",
                              "a difference of two rewards says nothing", error);
    if (status == GG_OK)
        status = read_run(&t, before, BEFORE, &out->damaged, error);
    if (status == GG_OK)
        status = read_run(&t, after, AFTER, &out->damaged, error);
    if (status == GG_OK)
        status = pair_up(&t, &p, out, error);
    out->pairs = p.count;
    out->errored_before = t.errored[BEFORE];
    out->errored_after = t.errored[AFTER];
    if (status == GG_OK)
        status = check_lists(out, options->common, error);
    if (status == GG_OK)
        judge(&t, &p, options->seed, out);
    if (status == GG_OK && isnan(out->interval.low))
        status = gg_fail(error, GG_E_MEMORY, "out of memory for the interval");
    free(p.before);
    free(t.slots);
    free(t.measure);
    return status;
}

void gg_comparison_write(const gg_comparison *c, gg_buf *out)
{
    const struct {
        const char *name;
        double value;
    } reals[] = {{"before", c->before},
                 {"after", c->after},
                 {"difference", c->difference},
                 {"difference_low", c->interval.low},
                 {"difference_high", c->interval.high},
                 {"p_value", c->p_value},
                 {"pairs_needed", c->pairs_needed}};

    gg_buf_printf(out, "{\"pairs\":%zu,\"better\":%zu,\"worse\":%zu,\"same\":%zu", c->pairs,
                  c->better, c->worse, c->same);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        gg_buf_printf(out, ",\"%s\":", reals[i].name);
        gg_buf_double(out, reals[i].value);
    }
    gg_buf_printf(out,
                  ",\"verdict\":\"%s\",\"only_before\":%zu,\"only_after\":%zu,"
                  "\"errored_before\":%lld,\"errored_after\":%lld}",
                  c->verdict, c->only_before, c->only_after, (long long)c->errored_before,
                  (long long)c->errored_after);
}
