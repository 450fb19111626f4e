#include "rl/datum.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64

void gg_datum_free(gg_datum *datum)
{
    if (!datum)
        return;
    free(datum->input);
    free(datum->target);
    free(datum->weights);
    free(datum->logprobs);
    free(datum->advantages);
    *datum = (gg_datum){0};
}

void gg_datums_free(gg_datums *datums)
{
    if (!datums)
        return;
    for (size_t i = 0; i < datums->count; i++)
        gg_datum_free(&datums->items[i]);
    free(datums->items);
    *datums = (gg_datums){0};
}

gg_datum *gg_datums_push(gg_datums *datums)
{
    if (datums->count == datums->room) {
        size_t room = datums->room ? datums->room * 2 : FIRST_ROOM;
        gg_datum *items = realloc(datums->items, room * sizeof *items);
        if (!items)
            return NULL;
        datums->items = items;
        datums->room = room;
    }
    datums->items[datums->count] = (gg_datum){0};
    return &datums->items[datums->count++];
}

unsigned gg_datum_tensors(const gg_datum *datum)
{
    return (datum->target ? GG_TENSOR_TARGET : 0) | (datum->weights ? GG_TENSOR_WEIGHTS : 0) |
           (datum->logprobs ? GG_TENSOR_LOGPROBS : 0) |
           (datum->advantages ? GG_TENSOR_ADVANTAGES : 0);
}

size_t gg_datum_estimate(const gg_datum *datum)
{
    size_t arrays = 1;
    for (unsigned bits = gg_datum_tensors(datum); bits; bits &= bits - 1)
        arrays++;
    return 10 * datum->n * arrays;
}

/* One token of a sequence in the making. */
typedef struct place {
    int32_t id;
    bool sampled;
    double logprob, advantage;
} place;

typedef struct sequence {
    place *places;
    size_t count, room;
    size_t end;    /* just past the last sampled token */
    bool logprobs; /* the sampled tokens have them */
} sequence;

static place *push_places(sequence *s, size_t more)
{
    if (more > s->room - s->count) {
        size_t room = s->room ? s->room * 2 : FIRST_ROOM;
        while (room < s->count + more)
            room *= 2;
        place *places = realloc(s->places, room * sizeof *places);
        if (!places)
            return NULL;
        s->places = places;
        s->room = room;
    }
    place *at = s->places + s->count;
    memset(at, 0, more * sizeof *at);
    s->count += more;
    return at;
}

static bool allocate(gg_datum *d, size_t n, bool logprobs, bool advantages)
{
    d->n = n;
    d->input = malloc(n * sizeof *d->input);
    d->target = malloc(n * sizeof *d->target);
    d->weights = calloc(n, sizeof *d->weights);
    d->logprobs = logprobs ? calloc(n, sizeof *d->logprobs) : NULL;
    d->advantages = advantages ? calloc(n, sizeof *d->advantages) : NULL;
    return d->input && d->target && d->weights && (!logprobs || d->logprobs) &&
           (!advantages || d->advantages);
}

/* Turns the sequence into a datum, shifted by one, and starts an empty one. */
static gg_status close_sequence(sequence *s, gg_datums *datums, int64_t version, bool advantages,
                                gg_error *error)
{
    size_t end = s->end;
    s->count = s->end = 0;
    if (end == 0)
        return GG_OK;
    gg_datum *d = gg_datums_push(datums);
    if (!d || !allocate(d, end - 1, s->logprobs, advantages))
        return gg_fail(error, GG_E_MEMORY, "out of memory for a training sequence of %zu tokens",
                       end);
    d->weight_version = version;
    for (size_t i = 0; i + 1 < end; i++) {
        const place *next = &s->places[i + 1];
        d->input[i] = s->places[i].id;
        d->target[i] = next->id;
        if (!next->sampled)
            continue;
        d->weights[i] = 1;
        if (d->logprobs)
            d->logprobs[i] = next->logprob;
        if (d->advantages)
            d->advantages[i] = next->advantage;
    }
    return GG_OK;
}

static gg_status add_turn(sequence *s, const gg_turn_tokens *turn, double advantage,
                          gg_error *error)
{
    place *at = push_places(s, turn->prompt_count + turn->count);
    if (!at)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a training sequence");
    for (size_t i = 0; i < turn->prompt_count; i++)
        at[i].id = turn->prompt_ids[i];
    at += turn->prompt_count;
    for (size_t i = 0; i < turn->count; i++)
        at[i] = (place){turn->ids[i], true, turn->logprobs ? turn->logprobs[i] : 0, advantage};
    if (turn->count)
        s->end = s->count;
    return GG_OK;
}

/* What the record must fulfil before a turn is added; NULL when it does. */
static const char *misfit(const sequence *s, const gg_turn_tokens *turn)
{
    if (turn->prompt_from != (int64_t)s->count)
        return "its prompt does not start where the sequence ends";
    if (s->count == 0 && turn->prompt_count == 0 && turn->count > 0)
        return "its sequence begins with a sampled token";
    if (turn->count && s->end > 0 && s->logprobs != (turn->logprobs != NULL))
        return "some of its sequence's samples have logprobs and some have none";
    if (s->count + turn->prompt_count + turn->count > GG_SEQUENCE_MAX)
        return "its sequence is too long";
    return NULL;
}

gg_status gg_datums_add(gg_datums *datums, const gg_episode *episode, const double *advantage,
                        gg_error *error)
{
    sequence s = {0};
    gg_status status = GG_OK;
    int64_t version = episode->policy.weight_version_first;
    size_t before = datums->count;
    for (size_t t = 0; episode->tokens && t < episode->turn_count && status == GG_OK; t++) {
        const gg_turn_tokens *turn = &episode->tokens[t];
        if (turn->prompt_from == 0)
            status = close_sequence(&s, datums, version, advantage != NULL, error);
        const char *fault = misfit(&s, turn);
        if (status == GG_OK && fault)
            status = gg_fail(error, GG_E_FORMAT, "episode %s, turn %zu: %s; nothing was trained",
                             episode->id ? episode->id : "?", t, fault);
        if (status == GG_OK && turn->count && s.end == 0)
            s.logprobs = turn->logprobs != NULL;
        if (status == GG_OK)
            status = add_turn(&s, turn, advantage ? advantage[t] : 0, error);
    }
    if (status == GG_OK)
        status = close_sequence(&s, datums, version, advantage != NULL, error);
    free(s.places);
    while (status != GG_OK && datums->count > before)
        gg_datum_free(&datums->items[--datums->count]);
    return status;
}
