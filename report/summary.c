#include "report/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/summary_inside.h"

gg_status gg_summary_new(size_t tasks, size_t samples, gg_summary **out, gg_error *error)
{
    gg_summary *s = calloc(1, sizeof *s);

    *out = s;
    if (s) {
        s->tasks = tasks;
        s->samples = samples;
        s->plays = calloc(tasks * samples + 1, sizeof *s->plays);
    }
    if (s && s->plays)
        return GG_OK;
    gg_summary_free(s);
    *out = NULL;
    return gg_fail(error, GG_E_MEMORY, "out of memory for the figures of %zu plays",
                   tasks * samples);
}

void gg_summary_free(gg_summary *summary)
{
    if (!summary)
        return;
    for (size_t i = 0; i < summary->repair_count; i++)
        free((char *)summary->repairs[i].kind);
    free(summary->repairs);
    free(summary->plays);
    free(summary->histogram);
    free(summary->measure_name);
    free(summary);
}

/* The slot of (group, sample); NULL outside of the plan. */
static gg_summary_play *slot(const gg_summary *s, int64_t group, int64_t sample)
{
    bool inside =
        group >= 0 && (size_t)group < s->tasks && sample >= 0 && (size_t)sample < s->samples;
    return inside ? &s->plays[(size_t)group * s->samples + (size_t)sample] : NULL;
}

bool gg_summary_has(const gg_summary *summary, int64_t group, int64_t sample)
{
    const gg_summary_play *play = slot(summary, group, sample);
    return play && play->outcome != GG_UNPLAYED;
}

int64_t gg_started_ms(const char *text)
{
    struct tm at = {0};
    double seconds = 0;

    if (!text || sscanf(text, "%4d-%2d-%2dT%2d:%2d:%lfZ", &at.tm_year, &at.tm_mon, &at.tm_mday,
                        &at.tm_hour, &at.tm_min, &seconds) != 6)
        return 0;
    at.tm_year -= 1900;
    at.tm_mon -= 1;
    return (int64_t)timegm(&at) * 1000 + (int64_t)llround(seconds * 1000);
}

/* Adds a count that may be unknown; once unknown, always unknown. */
static void add_tokens(int64_t *sum, int64_t tokens)
{
    if (tokens == GG_TOKENS_UNKNOWN || *sum == GG_TOKENS_UNKNOWN)
        *sum = GG_TOKENS_UNKNOWN;
    else
        *sum += tokens;
}

static gg_status count_repair(gg_summary *s, const char *kind, gg_error *error)
{
    for (size_t i = 0; i < s->repair_count; i++)
        if (strcmp(s->repairs[i].kind, kind) == 0) {
            s->repairs[i].count++;
            return GG_OK;
        }
    gg_repair_count *repairs = realloc(s->repairs, (s->repair_count + 1) * sizeof *repairs);
    char *copy = strdup(kind);
    if (repairs)
        s->repairs = repairs;
    if (!repairs || !copy) {
        free(copy);
        return gg_fail(error, GG_E_MEMORY, "out of memory for the count of repairs");
    }
    repairs[s->repair_count++] = (gg_repair_count){.kind = copy, .count = 1};
    return GG_OK;
}

static gg_status add_turn(gg_summary *s, gg_summary_play *play, const gg_turn *turn,
                          gg_error *error)
{
    gg_status status = GG_OK;

    add_tokens(&play->prompt, turn->usage.prompt);
    add_tokens(&play->completion, turn->usage.completion);
    add_tokens(&play->reasoning, turn->usage.reasoning);
    for (size_t c = 0; c < turn->call_count; c++)
        for (size_t r = 0; r < turn->calls[c].repair_count && status == GG_OK; r++)
            status = count_repair(s, turn->calls[c].repairs[r], error);
    return status;
}

static gg_status keep_measure_name(gg_summary *s, const char *name, gg_error *error)
{
    if (s->measure_name || !name)
        return GG_OK;
    s->measure_name = strdup(name);
    return s->measure_name ? GG_OK : gg_fail(error, GG_E_MEMORY, "out of memory for a name");
}

gg_status gg_summary_add(gg_summary *summary, const gg_episode *episode, gg_error *error)
{
    gg_summary_play *play = slot(summary, episode->group, episode->sample);

    if (episode->outcome == GG_UNPLAYED)
        return GG_OK;
    if (!play || play->outcome != GG_UNPLAYED)
        return gg_fail(error, GG_E_FORMAT, "episode %s %s", episode->id,
                       play ? "is there twice" : "does not belong to this run's list");
    gg_status status = keep_measure_name(summary, episode->measure.name, error);
    for (size_t t = 0; t < episode->turn_count && status == GG_OK; t++)
        status = add_turn(summary, play, &episode->turns[t], error);
    if (status != GG_OK)
        return status;
    gg_health_add(&summary->health, episode);
    play->outcome = episode->outcome;
    play->turns = (int64_t)episode->turn_count;
    play->moves = episode->moves;
    play->measure = episode->measure.value;
    play->reward = episode->reward;
    play->start_ms = gg_started_ms(episode->started);
    play->end_ms = play->start_ms + episode->duration_ms;
    return GG_OK;
}

static gg_status read_episode(void *context, gg_episode *episode, gg_error *error)
{
    gg_status status = gg_summary_add(context, episode, error);

    gg_episode_free(episode);
    return status;
}

gg_status gg_summary_read(gg_summary *summary, const gg_run *run, gg_error *error)
{
    gg_damage damage; /* a damaged line is a play that was not made */

    return gg_run_each_episode(run, GG_JOURNAL_EPISODES, GG_READ_PLAY, read_episode, summary,
                               &damage, error);
}
