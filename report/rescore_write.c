/* Holes as sentences, figures as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/rescore.h"

static const char *const names[GG_HOLE_COUNT] = {
    [GG_HOLE_LOSS_BEATS_SOLVE] = "loss_beats_solve",
    [GG_HOLE_FORFEIT_BEATS_PLAY] = "forfeit_beats_play",
    [GG_HOLE_UNSOLVED_SIGNAL] = "unsolved_group_has_signal",
    [GG_HOLE_REPETITION] = "pays_for_repetition",
    [GG_HOLE_REFUSED] = "pays_for_refused_calls",
};

const char *gg_hole_name(gg_hole_kind kind)
{
    return names[kind];
}

static bool loss_beats_solve(const gg_rescore_tally *t, const gg_rescore_figures *f, gg_hole *out)
{
    const gg_rescore_example *lost = &t->most_by[GG_LOST], *solved = &t->least_by[GG_SOLVED];
    if (!*lost->id || !*solved->id || !(lost->reward > solved->reward))
        return false;
    *out = (gg_hole){t->inverted_groups, f->groups, {lost->id, solved->id}, "", ""};
    snprintf(
        out->says, sizeof out->says,
        "a lost play earned %.4g, a solved one %.4g; the lost one earns more in %.2g %% of such "
        "pairs",
        lost->reward, solved->reward, 100 * t->loss_above);
    return true;
}

static bool forfeit_beats_play(const gg_rescore_tally *t, gg_hole *out)
{
    const gg_rescore_example *cut = &t->most_by[GG_FORFEITED], *lost = &t->least_by[GG_LOST];
    const gg_rescore_example *truncated = &t->most_by[GG_TRUNCATED];
    if (!*cut->id || (*truncated->id && truncated->reward > cut->reward))
        cut = truncated;
    if (!*cut->id || !*lost->id || !(cut->reward > lost->reward))
        return false;
    *out = (gg_hole){0, 0, {cut->id, lost->id}, "", ""};
    snprintf(out->says, sizeof out->says,
             "a play that was %s earned %.4g, one that was played to its end and lost %.4g; giving "
             "up earns more in %.2g %% of such pairs",
             cut == truncated ? "cut by a token limit" : "given up", cut->reward, lost->reward,
             100 * t->forfeit_above);
    return true;
}

static bool unsolved_signal(const gg_rescore_tally *t, const gg_rescore_figures *f, gg_hole *out)
{
    if (t->unsolved_signal == 0)
        return false;
    *out = (gg_hole){t->unsolved_signal, f->unsolved_groups, {t->unsolved_example}, "", ""};
    snprintf(out->says, sizeof out->says,
             "%lld of %lld groups without a solved play still give signal: a training learns from "
             "them which losses are paid better",
             (long long)t->unsolved_signal, (long long)f->unsolved_groups);
    return true;
}

/* The part that pays most in all, NULL when none does. */
static const gg_rescore_part *best_paid(const gg_rescore_part *parts, size_t count)
{
    const gg_rescore_part *best = NULL;
    for (size_t i = 1; i < count; i++)
        if (parts[i].paid > 0 && (!best || parts[i].sum > best->sum))
            best = &parts[i];
    return best;
}

static bool pays_for(const gg_rescore_part *parts, size_t count, const char *what, gg_hole *out)
{
    const gg_rescore_part *part = best_paid(parts, count), *said = part;
    if (!part || part->unweighted) /* of a script only the reward tells what was paid */
        said = count > 0 && parts[0].paid > 0 ? &parts[0] : NULL;
    if (!said)
        return false;
    *out = (gg_hole){said->paid, said->calls, {said->most.id}, "", ""};
    snprintf(out->part, sizeof out->part, "%s", part ? part->name : said->name);
    bool by_part = part && part == said;
    snprintf(out->says, sizeof out->says,
             "%s%s paid for %lld of %lld %s calls, up to %.4g for one%s%s%s; all of the reward "
             "together %+.4g a call",
             by_part ? "part " : "the ", said->name, (long long)said->paid, (long long)said->calls,
             what, said->most.reward, part && !by_part ? " (part " : "",
             part && !by_part ? part->name : "", part && !by_part ? " grew)" : "",
             parts[0].sum / (double)parts[0].calls);
    return true;
}

bool gg_rescore_hole(const gg_rescore_figures *f, size_t reward, gg_hole_kind kind, gg_hole *out)
{
    const gg_rescore_tally *t = f->tally[reward];
    switch (kind) {
    case GG_HOLE_LOSS_BEATS_SOLVE:
        return loss_beats_solve(t, f, out);
    case GG_HOLE_FORFEIT_BEATS_PLAY:
        return forfeit_beats_play(t, out);
    case GG_HOLE_UNSOLVED_SIGNAL:
        return unsolved_signal(t, f, out);
    case GG_HOLE_REPETITION:
        return pays_for(t->repeated, t->repeated_count, "repeated", out);
    case GG_HOLE_REFUSED:
        return pays_for(t->refused, t->refused_count, "refused", out);
    case GG_HOLE_COUNT:
        break;
    }
    return false;
}

/* JSON. */

static void member_int(gg_buf *out, const char *name, int64_t value)
{
    gg_buf_printf(out, "%s\"%s\":%lld", out->data[out->len - 1] == '{' ? "" : ",", name,
                  (long long)value);
}

static void member_real(gg_buf *out, const char *name, double value)
{
    gg_buf_printf(out, "%s\"%s\":", out->data[out->len - 1] == '{' ? "" : ",", name);
    gg_buf_double(out, value);
}

static void write_outcomes(const gg_rescore_tally *t, gg_buf *out)
{
    bool first = true;
    gg_buf_str(out, ",\"by_outcome\":{");
    for (int o = GG_SOLVED; o < GG_OUTCOME_COUNT; o++) {
        if (t->by_outcome[o] == 0)
            continue;
        gg_buf_printf(out, "%s\"%s\":{\"plays\":%lld", first ? "" : ",",
                      gg_outcome_name((gg_outcome)o), (long long)t->by_outcome[o]);
        first = false;
        member_real(out, "mean", t->sum_by_outcome[o] / (double)t->by_outcome[o]);
        member_real(out, "least", t->least_by[o].reward);
        member_real(out, "most", t->most_by[o].reward);
        gg_buf_char(out, '}');
    }
    gg_buf_char(out, '}');
}

static void write_advantages(const gg_rescore_tally *t, gg_buf *out)
{
    gg_buf_str(out, ",\"advantages\":{\"from\":-3.5,\"width\":0.5,\"plays\":[");
    for (int i = 0; i < GG_RESCORE_BINS; i++)
        gg_buf_printf(out, "%s%lld", i ? "," : "", (long long)t->advantages[i]);
    gg_buf_str(out, "]}");
}

static void write_hole(const gg_hole *hole, gg_hole_kind kind, gg_buf *out)
{
    gg_buf_printf(out, "{\"hole\":\"%s\",\"says\":", gg_hole_name(kind));
    gg_buf_json_str(out, hole->says);
    if (*hole->part) {
        gg_buf_str(out, ",\"part\":");
        gg_buf_json_str(out, hole->part);
    }
    if (hole->of > 0)
        gg_buf_printf(out, ",\"count\":%lld,\"of\":%lld", (long long)hole->count,
                      (long long)hole->of);
    gg_buf_str(out, ",\"examples\":[");
    for (int i = 0; i < 2 && hole->example[i]; i++) {
        gg_buf_str(out, i ? "," : "");
        gg_buf_json_str(out, hole->example[i]);
    }
    gg_buf_str(out, "]}");
}

static void write_reward(const gg_rescore_figures *f, size_t i, gg_buf *out)
{
    const gg_rescore_tally *t = f->tally[i];
    gg_hole hole;
    bool first = true;
    gg_buf_str(out, "{\"reward\":");
    gg_buf_json_str(out, gg_reward_text(f->reward[i]));
    member_real(out, "mean", t->plays ? t->mean : NAN);
    member_real(out, "spread", t->spread);
    member_real(out, "least", t->plays ? t->least.reward : NAN);
    member_real(out, "most", t->plays ? t->most.reward : NAN);
    write_outcomes(t, out);
    member_real(out, "rank_correlation", t->rank_correlation);
    gg_buf_printf(out, ",\"exact\":%s", t->exact ? "true" : "false");
    member_int(out, "groups_without_signal", t->silent_groups);
    member_int(out, "unsolved_groups_with_signal", t->unsolved_signal);
    member_int(out, "inverted_groups", t->inverted_groups);
    write_advantages(t, out);
    gg_buf_str(out, ",\"holes\":[");
    for (int k = 0; k < GG_HOLE_COUNT; k++)
        if (gg_rescore_hole(f, i, (gg_hole_kind)k, &hole)) {
            gg_buf_str(out, first ? "" : ",");
            write_hole(&hole, (gg_hole_kind)k, out);
            first = false;
        }
    gg_buf_str(out, "]}");
}

void gg_rescore_write(const gg_rescore_figures *f, gg_buf *out)
{
    gg_buf_str(out, "{");
    member_int(out, "plays", f->plays);
    member_int(out, "errored", f->errored);
    member_int(out, "damaged", f->damaged);
    member_int(out, "groups", f->groups);
    member_int(out, "groups_incomplete", f->incomplete);
    member_int(out, "groups_refused", f->refused);
    member_int(out, "groups_without_outcome_signal", f->silent_by_outcome);
    member_int(out, "groups_unsolved", f->unsolved_groups);
    member_int(out, "repeated_calls", f->repeated_calls);
    member_int(out, "refused_calls", f->refused_calls);
    gg_buf_str(out, ",\"rewards\":[");
    for (size_t i = 0; i < f->rewards; i++) {
        gg_buf_str(out, i ? "," : "");
        write_reward(f, i, out);
    }
    gg_buf_str(out, "]}");
}
