#include "policy/chooser_choice.h"

#include <math.h>

#define FAR       6 /* places; what lies further counts as this far */
#define LAST_TURN 7
#define NO_SHAPE  0

const double gg_chooser_base[GG_CHOOSER_WEIGHTS] = {0};

enum kind { OF_TOOL, OF_VALUE, OF_STEP, OF_STEP_TURN, OF_SHAPE_VALUE, OF_SIDE, KINDS };

/* The stretch of the weights that a kind of feature has. */
static const struct stretch {
    uint16_t at, len;
} stretches[KINDS] = {
    [OF_TOOL] = {0, 48},        [OF_VALUE] = {48, 80},        [OF_STEP] = {128, 96},
    [OF_STEP_TURN] = {224, 96}, [OF_SHAPE_VALUE] = {320, 96}, [OF_SIDE] = {416, 96},
};

static uint16_t feature(enum kind kind, uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t h = a; /* splitmix64's finisher over each part */
    const uint32_t parts[] = {b, c, (uint32_t)kind};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        h = (h ^ parts[i]) + UINT64_C(0x9e3779b97f4a7c15);
        h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
        h ^= h >> 31;
    }
    return (uint16_t)(stretches[kind].at + h % stretches[kind].len);
}

static uint32_t turn_of(const gg_chooser_reader *r)
{
    return r->turns < LAST_TURN ? (uint32_t)r->turns : LAST_TURN;
}

static size_t set_tool(const gg_chooser_reader *r, uint32_t tool, uint16_t *row)
{
    const gg_chooser_turn *last = gg_chooser_last(r);
    row[0] = feature(OF_TOOL, tool, 0, 0);
    row[1] = feature(OF_TOOL, tool, 1, last ? last->first : NO_SHAPE);
    row[2] = feature(OF_TOOL, tool, 2, turn_of(r));
    return 3;
}

/* Places between two values, cut at FAR, from 0. */
static uint32_t step(int from, int to)
{
    int places = to - from;
    places = places > FAR ? FAR : places < -FAR ? -FAR : places;
    return (uint32_t)(places + FAR);
}

/* The argument's key: of all tools apart. */
static uint32_t argument_key(const gg_chooser_reader *r)
{
    return (uint32_t)(r->call.tool * GG_CHOOSER_ARGUMENTS) + (uint32_t)r->argument;
}

/* All candidates of a slot have the same number of features. */
static size_t set_value(const gg_chooser_reader *r, int value, uint16_t *row)
{
    const gg_chooser_turn *last = gg_chooser_last(r);
    const bool same = last && last->tool == r->call.tool;
    uint32_t key = argument_key(r), which = (uint32_t)value;
    uint32_t shape = same ? last->shape[r->argument] : last ? last->first : NO_SHAPE;
    size_t n = 0;
    row[n++] = feature(OF_VALUE, key, which, same);
    row[n++] = feature(OF_SHAPE_VALUE, key, which, shape);
    if (same) {
        uint32_t places = step(last->value[r->argument], value);
        row[n++] = feature(OF_STEP, (uint32_t)r->call.tool, shape, places);
        row[n++] = feature(OF_STEP_TURN, turn_of(r), shape, places);
    }
    for (size_t i = 0; i < r->history_count; i++) {
        const gg_chooser_turn *turn = &r->history[i];
        if (turn->tool != r->call.tool)
            continue;
        int before = turn->value[r->argument];
        uint32_t side = value < before ? 0 : value == before ? 1 : 2;
        row[n++] = feature(OF_SIDE, (uint32_t)r->call.tool, turn->shape[r->argument], side);
    }
    return n;
}

static void set_scores(const gg_chooser_reader *r, const double *weights, gg_chooser_choice *c)
{
    double most = -INFINITY, sum = 0;
    for (size_t a = 0; a < c->count; a++) {
        uint16_t *row = c->feature[a];
        c->width = r->slot == GG_SLOT_TOOL ? set_tool(r, (uint32_t)c->candidate[a], row)
                                           : set_value(r, (int)c->candidate[a], row);
        c->score[a] = 0;
        for (size_t k = 0; k < c->width; k++)
            c->score[a] += weights[row[k]];
        most = c->score[a] > most ? c->score[a] : most;
    }
    for (size_t a = 0; a < c->count; a++)
        sum += c->p[a] = exp(c->score[a] - most);
    for (size_t a = 0; a < c->count; a++)
        c->p[a] /= sum;
}

void gg_chooser_choose(const gg_chooser_reader *r, const double *weights, gg_chooser_choice *c)
{
    size_t candidates = gg_chooser_candidates(r);
    c->count = c->width = 0;
    for (size_t k = 0; k < candidates; k++) {
        if (!r->alive[k])
            continue;
        c->candidate[c->count] = k;
        c->token[c->count++] = gg_chooser_token(r, k, r->written);
    }
    if (c->count > 1) {
        set_scores(r, weights, c);
    } else if (c->count == 1) { /* certain, to the last bit */
        c->score[0] = 0;
        c->p[0] = 1;
    }
}

/* The mass of the candidates that go on with a token, and how many they are. */
static double mass(const gg_chooser_choice *c, int32_t token, size_t *found)
{
    double sum = 0;
    *found = 0;
    for (size_t a = 0; a < c->count; a++) {
        if (c->token[a] != token)
            continue;
        sum += c->p[a];
        ++*found;
    }
    return sum;
}

double gg_chooser_logprob(const gg_chooser_choice *c, int32_t token)
{
    size_t found;
    double sum = mass(c, token, &found);
    if (found == 0)
        return -INFINITY;
    return found == c->count ? 0 : log(sum);
}

void gg_chooser_add_gradient(const gg_chooser_choice *c, int32_t token, double factor, double *sum)
{
    size_t found;
    double chosen = mass(c, token, &found);
    if (!(chosen > 0) || found == c->count)
        return;
    for (size_t a = 0; a < c->count; a++) {
        double share = (c->token[a] == token ? c->p[a] / chosen : 0) - c->p[a];
        for (size_t k = 0; k < c->width; k++)
            sum[c->feature[a][k]] += factor * share;
    }
}
