#include "cli/measured.h"

#include <math.h>
#include <stdlib.h>

#include "core/plan_stats.h"
#include "core/run.h"

/* One play, by the group that it belongs to. */
typedef struct play {
    int64_t step, group;
    bool solved;
} play;

typedef struct reading {
    play *plays;
    size_t count, room;
    double prefill, sample, train, turns, cut;
    gg_measured *measured;
} reading;

static bool add_play(reading *r, const gg_episode *episode)
{
    if (r->count == r->room) {
        size_t room = r->room ? 2 * r->room : 1024;
        play *grown = realloc(r->plays, room * sizeof *grown);
        if (!grown)
            return false;
        r->plays = grown;
        r->room = room;
    }
    r->plays[r->count++] = (play){episode->step, episode->group, episode->outcome == GG_SOLVED};
    return true;
}

static double known(int64_t tokens)
{
    return tokens > 0 ? (double)tokens : 0;
}

/* The service bills every request's input, every sampled token, and the sequence that is trained
 * on: the last request's input and its reply. */
static gg_status add_episode(void *context, gg_episode *episode, gg_error *error)
{
    reading *r = context;
    double sequence = 0;
    bool added = episode->outcome == GG_ERRORED || add_play(r, episode);

    for (size_t i = 0; added && episode->outcome != GG_ERRORED && i < episode->turn_count; i++) {
        const gg_usage *usage = &episode->turns[i].usage;
        r->prefill += known(usage->prompt);
        r->sample += known(usage->completion);
        sequence = known(usage->prompt) + known(usage->completion);
    }
    if (added && episode->outcome != GG_ERRORED) {
        r->train += sequence;
        r->turns += (double)episode->turn_count;
        r->cut += episode->stop == GG_STOP_TOKEN_LIMIT;
        r->measured->longest = fmax(r->measured->longest, sequence);
    }
    gg_episode_free(episode);
    return added ? GG_OK : gg_fail(error, GG_E_MEMORY, "out of memory while reading plays");
}

static int by_group(const void *a, const void *b)
{
    const play *x = a, *y = b;
    int order = (x->step > y->step) - (x->step < y->step);
    return order ? order : (x->group > y->group) - (x->group < y->group);
}

/* Unbiased where every task has enough plays; else from the rate alone, which is too low where
 * tasks differ. */
static void expect_signal(reading *r, int64_t group_size, gg_baseline *out)
{
    double sum = 0, solved = 0;
    int64_t exact = 0;

    qsort(r->plays, r->count, sizeof *r->plays, by_group);
    for (size_t i = 0, next; i < r->count; i = next) {
        int64_t c = 0;
        for (next = i; next < r->count && by_group(&r->plays[i], &r->plays[next]) == 0; next++)
            c += r->plays[next].solved;
        double share = gg_no_signal_of((int64_t)(next - i), c, group_size);
        solved += (double)c;
        exact += !isnan(share);
        sum += isnan(share) ? 0 : share;
        out->tasks++;
    }
    out->solved = solved / (double)r->count;
    out->no_signal =
        exact == out->tasks ? sum / (double)exact : gg_no_signal_share(out->solved, group_size);
}

gg_status gg_measured_read(const char *dir, int64_t group_size, gg_baseline *baseline,
                           gg_measured *measured, gg_error *error)
{
    reading r = {.measured = measured};
    gg_damage damage = {0};
    gg_run *run = NULL;

    *baseline = (gg_baseline){0};
    *measured = (gg_measured){0};
    gg_status status = gg_run_open_read(dir, &run, error);
    if (status == GG_OK)
        status = gg_run_each_episode(run, GG_JOURNAL_EPISODES, GG_READ_PLAY, add_episode, &r,
                                     &damage, error);
    if (status == GG_OK && r.count == 0)
        status = gg_fail(error, GG_E_FORMAT, "%s holds no play that could be measured", dir);
    if (status == GG_OK) {
        double n = (double)r.count;
        measured->plays = (int64_t)r.count;
        measured->prefill = r.prefill / n;
        measured->sample = r.sample / n;
        measured->train = r.train / n;
        measured->turns = r.turns / n;
        measured->cut = r.cut / n;
        expect_signal(&r, group_size, baseline);
    }
    free(r.plays);
    gg_run_close(run);
    return status;
}
