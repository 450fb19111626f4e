/* What single calls were worth. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/rescore_inside.h"

typedef struct place {
    size_t turn, call;
} place;

static const char *skip_blanks(const char *p)
{
    while (*p == ' ' || (*p >= '\t' && *p <= '\r'))
        p++;
    return p;
}

static char folded(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The same but for blanks and capitals. */
static bool same_text(const char *a, const char *b)
{
    for (;; a++, b++) {
        a = skip_blanks(a);
        b = skip_blanks(b);
        if (folded(*a) != folded(*b))
            return false;
        if (!*a)
            return true;
    }
}

static bool same_call(const gg_call *a, const gg_call *b)
{
    return a->name && b->name && a->arguments_raw && b->arguments_raw &&
           strcmp(a->name, b->name) == 0 && same_text(a->arguments_raw, b->arguments_raw);
}

static bool was_made_before(const gg_episode *e, place at)
{
    const gg_call *call = &e->turns[at.turn].calls[at.call];
    for (size_t t = 0; t <= at.turn; t++)
        for (size_t c = 0; c < e->turns[t].call_count && (t < at.turn || c < at.call); c++)
            if (same_call(&e->turns[t].calls[c], call))
                return true;
    return false;
}

static bool is_refused(const gg_call *call)
{
    return call->status == GG_CALL_INVALID || call->status == GG_CALL_FAILED;
}

/* The record up to the call, with it or without, as a lost play. `turns` is the caller's copy. A
 * turn whose only call is left out is left out too. */
static void cut(gg_episode *e, place at, bool with, gg_turn *turns)
{
    memcpy(turns, e->turns, (at.turn + 1) * sizeof *turns);
    turns[at.turn].call_count = at.call + (with ? 1 : 0);
    e->turns = turns;
    e->turn_count = at.turn + (with || at.call > 0 ? 1 : 0);
    e->outcome = GG_LOST;
    e->stop = GG_STOP_DONE;
    e->moves = 0;
    for (size_t t = 0; t < e->turn_count; t++)
        for (size_t c = 0; c < turns[t].call_count; c++)
            e->moves += turns[t].calls[c].status == GG_CALL_VALID;
}

/* What a record earned; the parts live as long as the episode. */
typedef struct earned {
    double reward;
    const gg_named *parts;
    size_t part_count;
} earned;

/* Scores the episode cut at the call, and makes it whole again. False when the reward failed: a
 * script need not bear a record that is cut. */
static bool score_cut(gg_rescore *r, size_t i, gg_episode *e, place at, bool with, gg_turn *turns,
                      earned *out)
{
    gg_episode whole = *e;
    cut(e, at, with, turns);
    bool good = gg_reward_score(r->rewards[i], r->game, e, NULL) == GG_OK;
    *out = (earned){e->reward, e->parts, e->part_count};
    whole.arena = e->arena; /* it may have grown */
    *e = whole;
    return good;
}

static gg_rescore_part *find_part(gg_rescore_part *parts, size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(parts[i].name, name) == 0)
            return &parts[i];
    if (*count == GG_RESCORE_PARTS)
        return NULL;
    snprintf(parts[*count].name, GG_RESCORE_NAME, "%s", name);
    return &parts[(*count)++];
}

static void add_worth(gg_rescore_part *part, const gg_episode *e, double worth)
{
    if (!part)
        return;
    part->calls++;
    part->paid += worth > 0;
    part->sum += worth;
    bool first =
        worth == part->most.reward && *part->most.id && strverscmp(e->id, part->most.id) < 0;
    if (worth > part->most.reward || first) {
        snprintf(part->most.id, sizeof part->most.id, "%s", e->id);
        part->most.reward = worth;
    }
}

static double part_of(const earned *of, const char *name)
{
    for (size_t i = 0; i < of->part_count; i++)
        if (strcmp(of->parts[i].name, name) == 0)
            return of->parts[i].value;
    return 0;
}

static void judge(gg_rescore *r, size_t i, const gg_episode *e, const earned *with,
                  const earned *without, bool repeated)
{
    gg_rescore_tally *t = &r->tally[i];
    gg_rescore_part *parts = repeated ? t->repeated : t->refused;
    size_t *count = repeated ? &t->repeated_count : &t->refused_count;
    add_worth(find_part(parts, count, "reward"), e, with->reward - without->reward);
    for (size_t p = 0; p < with->part_count; p++) {
        const char *name = with->parts[p].name;
        double weight = gg_reward_weight(r->rewards[i], name);
        double grew = with->parts[p].value - part_of(without, name);
        gg_rescore_part *part = weight != 0 ? find_part(parts, count, name) : NULL;
        add_worth(part, e, isnan(weight) ? grew : weight * grew);
        if (part)
            part->unweighted = isnan(weight);
    }
}

static gg_status look_at(gg_rescore *r, gg_episode *e, place at, bool repeated, gg_error *error)
{
    gg_turn *turns = calloc(at.turn + 1, sizeof *turns);
    if (!turns)
        return gg_fail(error, GG_E_MEMORY, "out of memory while looking at a call");
    for (size_t i = 0; i < r->count; i++) {
        earned with, without;
        if (score_cut(r, i, e, at, true, turns, &with) &&
            score_cut(r, i, e, at, false, turns, &without))
            judge(r, i, e, &with, &without, repeated);
    }
    free(turns);
    return GG_OK;
}

gg_status gg_rescore_calls(gg_rescore *r, gg_episode *e, gg_error *error)
{
    gg_status status = GG_OK;
    for (size_t t = 0; t < e->turn_count; t++)
        for (size_t c = 0; c < e->turns[t].call_count && status == GG_OK; c++) {
            const gg_call *call = &e->turns[t].calls[c];
            const place at = {t, c};
            bool repeated = call->status == GG_CALL_VALID && was_made_before(e, at);
            if (repeated || is_refused(call))
                status = look_at(r, e, at, repeated, error);
            r->figures.repeated_calls += repeated;
            r->figures.refused_calls += is_refused(call);
        }
    return status;
}
