/* From plays to figures. Everything runs over the plays in (group, sample) order, so that sums of
 * floating-point numbers do not depend on the order in which the plays ended. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan_stats.h"
#include "report/summary_inside.h"

#define BOOTSTRAP_WORK 200000000 /* draws: fewer rounds on very long lists */
#define ROUNDS_MIN     1000

static bool counts(const gg_summary_play *play) /* over, and not by a fault of ours */
{
    return play->outcome != GG_UNPLAYED && play->outcome != GG_ERRORED;
}

static size_t rounds_for(size_t tasks)
{
    size_t rounds = tasks ? BOOTSTRAP_WORK / tasks : GG_BOOTSTRAP_ROUNDS;
    return rounds > GG_BOOTSTRAP_ROUNDS ? GG_BOOTSTRAP_ROUNDS
           : rounds < ROUNDS_MIN        ? ROUNDS_MIN
                                        : rounds;
}

/* Sums a task: of a value over the plays that count, and of their number. */
typedef struct per_task {
    double *value, *plays;
} per_task;

typedef double (*value_fn)(const gg_summary_play *play);

static double solved_of(const gg_summary_play *play)
{
    return play->outcome == GG_SOLVED ? 1 : 0;
}

static double measure_of(const gg_summary_play *play)
{
    return play->measure;
}

static void sum_tasks(const gg_summary *s, value_fn value, per_task *sums)
{
    for (size_t t = 0; t < s->tasks; t++) {
        sums->value[t] = sums->plays[t] = 0;
        for (size_t k = 0; k < s->samples; k++) {
            const gg_summary_play *play = &s->plays[t * s->samples + k];
            if (counts(play)) {
                sums->value[t] += value(play);
                sums->plays[t] += 1;
            }
        }
    }
}

/* Puts tasks without any play that counts behind the others and returns how many are left. */
static size_t drop_empty(per_task *sums, size_t tasks)
{
    size_t kept = 0;

    for (size_t t = 0; t < tasks; t++)
        if (sums->plays[t] > 0) {
            sums->value[kept] = sums->value[t];
            sums->plays[kept++] = sums->plays[t];
        }
    return kept;
}

static double mean_of(const gg_summary *s, value_fn value, per_task *sums, size_t *tasks)
{
    double total = 0, plays = 0;

    sum_tasks(s, value, sums);
    *tasks = drop_empty(sums, s->tasks);
    for (size_t t = 0; t < *tasks; t++) {
        total += sums->value[t];
        plays += sums->plays[t];
    }
    return plays > 0 ? total / plays : NAN;
}

static gg_interval bootstrap(const per_task *sums, size_t tasks)
{
    if (tasks == 0)
        return (gg_interval){NAN, NAN};
    return gg_bootstrap_ratio(sums->value, sums->plays, tasks, rounds_for(tasks), GG_SUMMARY_SEED);
}

static void solve_rate(const gg_summary *s, per_task *sums, gg_figures *f)
{
    size_t tasks = 0;
    int64_t over = f->planned - f->by_outcome[GG_ERRORED] - f->by_outcome[GG_UNPLAYED];
    int64_t ended = f->planned - f->by_outcome[GG_UNPLAYED];

    f->solve_rate = mean_of(s, solved_of, sums, &tasks);
    f->solve_rate_pessimistic = ended > 0 ? (double)f->by_outcome[GG_SOLVED] / (double)ended : NAN;
    if (over == 0)
        f->solve_interval = (gg_interval){NAN, NAN};
    else if (s->samples == 1)
        f->solve_interval = gg_wilson(f->by_outcome[GG_SOLVED], over);
    else if (f->by_outcome[GG_SOLVED] == 0 || f->by_outcome[GG_SOLVED] == over)
        f->solve_interval =
            gg_wilson(f->by_outcome[GG_SOLVED] ? (int64_t)tasks : 0, (int64_t)tasks);
    else
        f->solve_interval = bootstrap(sums, tasks);
}

static bool measure_is_solved(const gg_summary *s)
{
    for (size_t i = 0; i < s->tasks * s->samples; i++)
        if (counts(&s->plays[i]) && s->plays[i].measure != solved_of(&s->plays[i]))
            return false;
    return true;
}

static void measure(const gg_summary *s, per_task *sums, gg_figures *f)
{
    size_t tasks = 0;

    f->measure_name = s->measure_name;
    f->measure_mean = mean_of(s, measure_of, sums, &tasks);
    /* The same number twice must not come with two intervals. */
    f->measure_interval = measure_is_solved(s) ? f->solve_interval : bootstrap(sums, tasks);
}

static void ledger(const gg_summary *s, gg_figures *f)
{
    f->planned = (int64_t)(s->tasks * s->samples);
    for (size_t i = 0; i < s->tasks * s->samples; i++)
        f->by_outcome[s->plays[i].outcome]++;
}

static void means(const gg_summary *s, gg_figures *f)
{
    double turns = 0, moves = 0, reward = 0, over = 0;

    for (size_t i = 0; i < s->tasks * s->samples; i++) {
        const gg_summary_play *play = &s->plays[i];
        if (!counts(play))
            continue;
        turns += (double)play->turns;
        moves += (double)play->moves;
        reward += play->reward;
        over += 1;
    }
    int64_t failed = f->by_outcome[GG_FORFEITED] + f->by_outcome[GG_TRUNCATED];
    f->failure_rate = over > 0 ? (double)failed / over : NAN;
    f->mean_turns = over > 0 ? turns / over : NAN;
    f->mean_moves = over > 0 ? moves / over : NAN;
    f->reward_mean = over > 0 ? reward / over : NAN;
}

static void add_known(int64_t *sum, int64_t tokens)
{
    *sum = *sum < 0 || tokens < 0 ? GG_TOKENS_UNKNOWN : *sum + tokens;
}

/* All that was asked for, errored plays included: it was paid for. */
static void tokens(const gg_summary *s, gg_figures *f)
{
    int64_t turns = 0;

    for (size_t i = 0; i < s->tasks * s->samples; i++) {
        add_known(&f->prompt_tokens, s->plays[i].prompt);
        add_known(&f->completion_tokens, s->plays[i].completion);
        add_known(&f->reasoning_tokens, s->plays[i].reasoning);
        turns += s->plays[i].turns;
    }
    f->tokens_per_turn =
        turns > 0 && f->completion_tokens >= 0 ? (double)f->completion_tokens / (double)turns : NAN;
}

static gg_status histogram(gg_summary *s, gg_figures *f, gg_error *error)
{
    size_t bins = 1;

    for (size_t i = 0; i < s->tasks * s->samples; i++)
        if (counts(&s->plays[i]) && s->plays[i].moves >= (int64_t)bins)
            bins = (size_t)s->plays[i].moves + 1;
    int64_t *both = calloc(2 * bins, sizeof *both);
    if (!both)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a histogram");
    for (size_t i = 0; i < s->tasks * s->samples; i++) {
        const gg_summary_play *play = &s->plays[i];
        if (!counts(play) || play->moves < 0)
            continue;
        both[play->moves]++;
        both[bins + (size_t)play->moves] += play->outcome == GG_SOLVED;
    }
    free(s->histogram);
    s->histogram = both;
    f->move_histogram = both;
    f->solved_by_moves = both + bins;
    f->move_count = bins;
    return GG_OK;
}

static void groups(const gg_summary *s, gg_figures *f)
{
    for (size_t t = 0; t < s->tasks; t++) {
        const gg_summary_play *first = &s->plays[t * s->samples];
        bool whole = true, errored = false, same = true;
        for (size_t k = 0; k < s->samples; k++) {
            whole = whole && first[k].outcome != GG_UNPLAYED;
            errored = errored || first[k].outcome == GG_ERRORED;
            same = same && first[k].reward == first[0].reward;
        }
        f->groups += whole && !errored;
        f->groups_refused += whole && errored;
        f->groups_without_signal += whole && !errored && same;
    }
}

typedef struct span {
    int64_t start, end;
} span;

static int by_start(const void *a, const void *b)
{
    const span *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* Length of the union of the plays' times: a pause between a kill and its resume does not count. */
static gg_status wall_time(const gg_summary *s, gg_figures *f, gg_error *error)
{
    size_t count = 0;
    int64_t busy = 0, until = INT64_MIN;
    span *spans = calloc(s->tasks * s->samples + 1, sizeof *spans);

    if (!spans)
        return gg_fail(error, GG_E_MEMORY, "out of memory for the times of the plays");
    for (size_t i = 0; i < s->tasks * s->samples; i++)
        if (s->plays[i].start_ms > 0)
            spans[count++] = (span){s->plays[i].start_ms, s->plays[i].end_ms};
    qsort(spans, count, sizeof *spans, by_start);
    for (size_t i = 0; i < count; i++) {
        if (spans[i].start > until)
            until = spans[i].start;
        if (spans[i].end > until) {
            busy += spans[i].end - until;
            until = spans[i].end;
        }
    }
    free(spans);
    f->wall_s = (double)busy / 1000;
    return GG_OK;
}

static int by_kind(const void *a, const void *b)
{
    const gg_repair_count *x = a, *y = b;
    return strcmp(x->kind, y->kind);
}

static void pass_k(const gg_summary *s, per_task *sums, int64_t k, gg_figures *out)
{
    double any = 0, all = 0;
    size_t tasks = 0;

    for (size_t t = 0; t < s->tasks; t++) {
        int64_t plays = (int64_t)sums->plays[t], solved = (int64_t)sums->value[t];
        if (plays < k)
            continue;
        any += gg_pass_at_k(plays, solved, k);
        all += gg_pass_all_k(plays, solved, k);
        tasks++;
    }
    if (tasks > 0 && out->pass_count < GG_PASS_MOST)
        out->pass[out->pass_count++] = (gg_pass_k){k, any / (double)tasks, all / (double)tasks};
}

static void passes(const gg_summary *s, per_task *sums, gg_figures *out)
{
    int64_t samples = (int64_t)s->samples;

    if (samples < 2)
        return;
    sum_tasks(s, solved_of, sums);
    for (int64_t k = 1; k < samples; k *= 2)
        pass_k(s, sums, k, out);
    pass_k(s, sums, samples, out);
}

gg_status gg_summary_figures(gg_summary *summary, gg_figures *out, gg_error *error)
{
    per_task sums = {calloc(summary->tasks + 1, sizeof *sums.value),
                     calloc(summary->tasks + 1, sizeof *sums.plays)};
    gg_status status = GG_OK;

    *out = (gg_figures){0};
    if (!sums.value || !sums.plays)
        status = gg_fail(error, GG_E_MEMORY, "out of memory for the figures");
    if (status == GG_OK) {
        ledger(summary, out);
        solve_rate(summary, &sums, out);
        measure(summary, &sums, out);
        passes(summary, &sums, out);
        means(summary, out);
        tokens(summary, out);
        groups(summary, out);
        out->health = summary->health;
        if (summary->repair_count > 0)
            qsort(summary->repairs, summary->repair_count, sizeof *summary->repairs, by_kind);
        out->repairs = summary->repairs;
        out->repair_count = summary->repair_count;
        status = histogram(summary, out, error);
    }
    /* With plays there are intervals; only short memory leaves them out. */
    if (status == GG_OK && !isnan(out->solve_rate) &&
        (isnan(out->solve_interval.low) || isnan(out->measure_interval.low)))
        status = gg_fail(error, GG_E_MEMORY, "out of memory for the intervals");
    if (status == GG_OK)
        status = wall_time(summary, out, error);
    free(sums.value);
    free(sums.plays);
    return status;
}
