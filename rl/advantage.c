#include "rl/advantage.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[GG_ADV_COUNT] = {
    [GG_ADV_GROUP_BASED] = "group_based",
    [GG_ADV_GROUP_BASED_PER_TURN] = "group_based_per_turn",
    [GG_ADV_RLOO] = "rloo",
    [GG_ADV_GRPO_PASSK] = "grpo_passk",
    [GG_ADV_MONTE_CARLO] = "monte_carlo",
    [GG_ADV_OPO] = "opo",
    [GG_ADV_GPG] = "gpg",
    [GG_ADV_REINFORCE_PP] = "reinforce_pp",
    [GG_ADV_REINFORCE_PP_BASELINE] = "reinforce_pp_baseline",
};

#define OTHER_NAME "grpo" /* of group_based */

const char *gg_advantage_name(gg_advantage method)
{
    size_t i = (size_t)method;
    return i < GG_ADV_COUNT ? names[i] : "unknown";
}

gg_status gg_advantage_parse(const char *name, gg_advantage *out, gg_error *error)
{
    if (name && strcmp(name, OTHER_NAME) == 0) {
        *out = GG_ADV_GROUP_BASED;
        return GG_OK;
    }
    for (size_t i = 0; name && i < GG_ADV_COUNT; i++)
        if (strcmp(names[i], name) == 0) {
            *out = (gg_advantage)i;
            return GG_OK;
        }
    return gg_fail(error, GG_E_ARGUMENT,
                   "no advantage method is called \"%s\"; use one of " OTHER_NAME
                   ", group_based, group_based_per_turn, rloo, grpo_passk, monte_carlo, opo, gpg, "
                   "reinforce_pp, reinforce_pp_baseline",
                   name ? name : "");
}

bool gg_rewards_equal(const double *values, size_t count)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    return count < 2 || high - low <= GG_EQUAL_REWARDS * fmax(fabs(low), fabs(high));
}

/* One group's rewards and what the formulas take from them. */
typedef struct group {
    const gg_play_return *plays;
    double *const *out;
    double *reward; /* scratch of `count` */
    size_t count;
    double scale; /* gpg's batch factor */
} group;

typedef struct spread {
    double mean, std;
} spread;

static spread spread_of(const double *x, size_t n)
{
    spread s = {0, 0};
    for (size_t i = 0; i < n; i++)
        s.mean += x[i];
    s.mean /= (double)n;
    for (size_t i = 0; i < n; i++)
        s.std += (x[i] - s.mean) * (x[i] - s.mean);
    s.std = sqrt(s.std / (double)n);
    return s;
}

static void fill(double *turns, size_t count, double value)
{
    for (size_t t = 0; t < count; t++)
        turns[t] = value;
}

static void center(const group *g, double baseline, double factor)
{
    for (size_t i = 0; i < g->count; i++)
        fill(g->out[i], g->plays[i].turn_count, (g->reward[i] - baseline) * factor);
}

static void group_based(const group *g)
{
    spread s = spread_of(g->reward, g->count);
    for (size_t i = 0; i < g->count; i++)
        fill(g->out[i], g->plays[i].turn_count, (g->reward[i] - s.mean) / s.std);
}

/* R_t of every turn of a play. */
static void returns(const gg_play_return *play, double *out)
{
    if (!play->by_turn) {
        fill(out, play->turn_count, play->reward);
        return;
    }
    double sum = 0;
    for (size_t t = play->turn_count; t-- > 0;) {
        sum += play->by_turn[t];
        out[t] = sum;
    }
}

/* Works in place: out holds R_t first, then the advantages; reward[] serves as one turn's column.
 */
static void per_turn(const group *g)
{
    size_t longest = 0;
    for (size_t i = 0; i < g->count; i++) {
        returns(&g->plays[i], g->out[i]);
        if (g->plays[i].turn_count > longest)
            longest = g->plays[i].turn_count;
    }
    for (size_t t = 0; t < longest; t++) {
        size_t n = 0;
        for (size_t i = 0; i < g->count; i++)
            if (t < g->plays[i].turn_count)
                g->reward[n++] = g->out[i][t];
        bool equal = gg_rewards_equal(g->reward, n);
        spread s = spread_of(g->reward, n);
        for (size_t i = 0; i < g->count; i++)
            if (t < g->plays[i].turn_count)
                g->out[i][t] = equal ? 0 : (g->out[i][t] - s.mean) / s.std;
    }
}

static void rloo(const group *g)
{
    double n = (double)g->count;
    center(g, spread_of(g->reward, g->count).mean, n / (n - 1));
}

static void passk(const group *g)
{
    size_t best = 0, second = 1;
    for (size_t i = 1; i < g->count; i++) {
        if (g->reward[i] > g->reward[best]) {
            second = best;
            best = i;
        } else if (i != second && g->reward[i] > g->reward[second]) {
            second = i;
        }
    }
    const double top[2] = {g->reward[best], g->reward[second]};
    double advantage =
        gg_rewards_equal(top, 2) ? 0 : (top[0] - top[1]) / spread_of(g->reward, g->count).std;
    for (size_t i = 0; i < g->count; i++)
        fill(g->out[i], g->plays[i].turn_count, i == best ? advantage : 0);
}

static void monte_carlo(const group *g)
{
    for (size_t i = 0; i < g->count; i++)
        returns(&g->plays[i], g->out[i]);
}

static void opo(const group *g)
{
    double weighted = 0, length = 0;
    for (size_t i = 0; i < g->count; i++) {
        weighted += (double)g->plays[i].tokens * g->reward[i];
        length += (double)g->plays[i].tokens;
    }
    /* Plays without a single sampled token have nothing to train on. */
    center(g, length > 0 ? weighted / length : 0, length > 0 ? 1 : 0);
}

static void gpg(const group *g)
{
    center(g, spread_of(g->reward, g->count).mean, g->scale);
}

static void centered(const group *g)
{
    center(g, spread_of(g->reward, g->count).mean, 1);
}

typedef struct method {
    void (*group)(const group *g);
    bool within;  /* subtracts or compares within the group: equal rewards give 0 */
    bool by_turn; /* equality is the method's own affair, turn by turn */
    bool whiten;  /* over the batch afterwards */
} method;

static const method methods[GG_ADV_COUNT] = {
    [GG_ADV_GROUP_BASED] = {group_based, true, false, false},
    [GG_ADV_GROUP_BASED_PER_TURN] = {per_turn, false, true, false},
    [GG_ADV_RLOO] = {rloo, true, false, false},
    [GG_ADV_GRPO_PASSK] = {passk, true, false, false},
    [GG_ADV_MONTE_CARLO] = {monte_carlo, false, true, false},
    [GG_ADV_OPO] = {opo, true, false, false},
    [GG_ADV_GPG] = {gpg, true, false, false},
    [GG_ADV_REINFORCE_PP] = {monte_carlo, false, true, true},
    [GG_ADV_REINFORCE_PP_BASELINE] = {centered, true, false, true},
};

static double turn_tokens(const gg_play_return *play, size_t turn)
{
    return play->turn_tokens ? (double)play->turn_tokens[turn]
                             : (double)play->tokens / (double)play->turn_count;
}

typedef struct batch {
    const gg_play_return *plays;
    const size_t *first;
    size_t groups;
    double *const *out;
    const bool *skip; /* groups that stay at 0 */
} batch;

/* Calls for every turn of every play that takes part. */
typedef void (*turn_fn)(void *context, double tokens, double *value);

static void each_turn(const batch *b, turn_fn fn, void *context)
{
    for (size_t g = 0; g < b->groups; g++)
        for (size_t i = b->first[g]; !b->skip[g] && i < b->first[g + 1]; i++)
            for (size_t t = 0; t < b->plays[i].turn_count; t++)
                fn(context, turn_tokens(&b->plays[i], t), &b->out[i][t]);
}

typedef struct whitening {
    double weight, sum, squares, mean, std;
    double low, high;
} whitening;

static void add_value(void *context, double tokens, double *value)
{
    whitening *w = context;
    w->weight += tokens;
    w->sum += tokens * *value;
    w->low = fmin(w->low, *value);
    w->high = fmax(w->high, *value);
}

static void add_square(void *context, double tokens, double *value)
{
    whitening *w = context;
    w->squares += tokens * (*value - w->mean) * (*value - w->mean);
}

static void set_value(void *context, double tokens, double *value)
{
    const whitening *w = context;
    (void)tokens;
    *value = w->std > 0 ? (*value - w->mean) / w->std : 0;
}

/* Mean 0 and variance 1 over the sampled tokens; a batch of equal values becomes 0. */
static void whiten(const batch *b)
{
    whitening w = {.low = INFINITY, .high = -INFINITY};
    each_turn(b, add_value, &w);
    const double ends[2] = {w.low, w.high};
    if (w.weight > 0 && !gg_rewards_equal(ends, 2)) {
        w.mean = w.sum / w.weight;
        each_turn(b, add_square, &w);
        w.std = sqrt(w.squares / w.weight);
    }
    each_turn(b, set_value, &w);
}

static gg_status check(const gg_play_return *plays, size_t count, gg_error *error)
{
    for (size_t i = 0; i < count; i++) {
        bool finite = isfinite(plays[i].reward);
        for (size_t t = 0; plays[i].by_turn && t < plays[i].turn_count; t++)
            finite = finite && isfinite(plays[i].by_turn[t]);
        if (!finite)
            return gg_fail(error, GG_E_ARGUMENT,
                           "the reward of play %zu is not a finite number; fix the reward", i);
    }
    return GG_OK;
}

static double gpg_scale(const gg_play_return *plays, size_t count)
{
    size_t with = 0;
    for (size_t i = 0; i < count; i++)
        with += plays[i].reward != 0;
    return (double)count / (double)(with ? with : 1);
}

static void one_group(const method *m, const group *g, bool *skip)
{
    for (size_t i = 0; i < g->count; i++)
        g->reward[i] = g->plays[i].reward;
    *skip = m->within && gg_rewards_equal(g->reward, g->count);
    if (*skip)
        for (size_t i = 0; i < g->count; i++)
            fill(g->out[i], g->plays[i].turn_count, 0);
    else if (g->count)
        m->group(g);
}

static void tell_signals(const batch *b, bool *signal)
{
    for (size_t g = 0; g < b->groups; g++) {
        bool any = false;
        for (size_t i = b->first[g]; i < b->first[g + 1]; i++)
            for (size_t t = 0; t < b->plays[i].turn_count; t++)
                any = any || b->out[i][t] != 0;
        signal[g] = any;
    }
}

gg_status gg_advantages(gg_advantage method_id, const gg_play_return *plays, const size_t *first,
                        size_t groups, double *const *out, bool *signal, gg_error *error)
{
    if ((size_t)method_id >= GG_ADV_COUNT)
        return gg_fail(error, GG_E_ARGUMENT, "advantage method number %d does not exist",
                       (int)method_id);
    size_t largest = 0, total = groups ? first[groups] : 0;
    for (size_t g = 0; g < groups; g++)
        if (first[g + 1] - first[g] > largest)
            largest = first[g + 1] - first[g];
    gg_status status = check(plays, total, error);
    if (status != GG_OK)
        return status;
    double *scratch = malloc((largest + 1) * sizeof *scratch);
    if (!scratch)
        return gg_fail(error, GG_E_MEMORY, "out of memory for the advantages of a group");

    const method *m = &methods[method_id];
    double scale = gpg_scale(plays, total);
    batch b = {plays, first, groups, out, signal};
    for (size_t g = 0; g < groups; g++) {
        group one = {plays + first[g], out + first[g], scratch, first[g + 1] - first[g], scale};
        one_group(m, &one, &signal[g]);
    }
    free(scratch);
    if (m->whiten)
        whiten(&b);
    tell_signals(&b, signal);
    return GG_OK;
}
