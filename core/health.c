#include "core/health.h"

#include <stdio.h>
#include <string.h>

#define PERCENT 100.0

/* An attempt that was used; records made by hand have none. */
static bool has_reply(const gg_turn *turn)
{
    if (!turn->attempt_count)
        return true;
    const char *reason = turn->attempts[turn->attempt_count - 1].reason;
    return reason && strcmp(reason, "ok") == 0;
}

static void add_reason(gg_health *h, const char *reason, int64_t plays)
{
    for (size_t i = 0; i < GG_HEALTH_REASONS; i++) {
        if (!*h->reasons[i].name)
            snprintf(h->reasons[i].name, sizeof h->reasons[i].name, "%s", reason);
        if (strncmp(h->reasons[i].name, reason, GG_HEALTH_REASON - 1) == 0) {
            h->reasons[i].plays += plays;
            return;
        }
    }
}

/* A conversation only grows; a prompt that does not has lost its front. */
static bool is_stalled(const gg_episode *e)
{
    int64_t before = GG_TOKENS_UNKNOWN;
    for (size_t t = 0; t < e->turn_count; t++) {
        int64_t now = e->turns[t].usage.prompt;
        if (before > 0 && now > 0 && now <= before)
            return true;
        before = now;
    }
    return false;
}

void gg_health_add(gg_health *h, const gg_episode *e)
{
    if (e->outcome == GG_UNPLAYED || e->outcome == GG_ERRORED)
        return;
    h->plays++;
    h->truncated += e->outcome == GG_TRUNCATED;
    h->stalled += is_stalled(e);
    for (size_t t = 0; t < e->turn_count; t++) {
        const gg_turn *turn = &e->turns[t];
        bool reply = has_reply(turn);
        h->replies += reply;
        h->no_usage += reply && (turn->usage.prompt == GG_TOKENS_UNKNOWN ||
                                 turn->usage.completion == GG_TOKENS_UNKNOWN);
        for (size_t c = 0; c < turn->call_count; c++)
            h->repairs += (int64_t)turn->calls[c].repair_count;
    }
    if (e->trainable)
        return;
    h->untrainable++;
    add_reason(h, e->untrainable_reason ? e->untrainable_reason : "unknown", 1);
}

/* ---- as JSON ---- */

static const struct {
    const char *name;
    size_t at;
} counts[] = {
    {"plays", offsetof(gg_health, plays)},
    {"truncated", offsetof(gg_health, truncated)},
    {"stalled", offsetof(gg_health, stalled)},
    {"replies", offsetof(gg_health, replies)},
    {"repairs", offsetof(gg_health, repairs)},
    {"no_usage", offsetof(gg_health, no_usage)},
    {"untrainable", offsetof(gg_health, untrainable)},
};
#define COUNTS (sizeof counts / sizeof *counts)

static int64_t *count_at(gg_health *h, size_t i)
{
    return (int64_t *)(void *)((char *)h + counts[i].at);
}

void gg_health_write(const gg_health *health, gg_buf *out)
{
    gg_health h = *health;
    for (size_t i = 0; i < COUNTS; i++)
        gg_buf_printf(out, "%s\"%s\":%lld", i ? "," : "{", counts[i].name,
                      (long long)*count_at(&h, i));
    gg_buf_str(out, ",\"reasons\":{");
    for (size_t i = 0; i < GG_HEALTH_REASONS && *h.reasons[i].name; i++) {
        gg_buf_str(out, i ? "," : "");
        gg_buf_json_str(out, h.reasons[i].name);
        gg_buf_printf(out, ":%lld", (long long)h.reasons[i].plays);
    }
    gg_buf_str(out, "}}");
}

void gg_health_read(gg_health *h, const cJSON *json)
{
    const cJSON *reason;
    for (size_t i = 0; i < COUNTS; i++) {
        int64_t value = 0;
        if (gg_json_int(json, counts[i].name, &value))
            *count_at(h, i) += value;
    }
    cJSON_ArrayForEach(reason, gg_json_get(json, "reasons"))
    {
        if (cJSON_IsNumber(reason))
            add_reason(h, reason->string, (int64_t)reason->valuedouble);
    }
}

/* ---- warnings ---- */

/* "3 of 128 episodes (2.3 %) were cut short ..." */
static const struct {
    const char *kind, *between, *noun, *tail;
} texts[GG_WARNINGS_MAX] = {
    {"truncated", "of", "episodes",
     " were cut short by the token limit of a reply (--max-tokens) or a full context"},
    {"repairs", "repairs of tool calls in", "replies", ""},
    {"prompt_stalled", "of", "episodes",
     ": the prompt stopped growing though the conversation went on; the endpoint may drop its "
     "front silently, because its context is too small"},
    {"usage_missing", "of", "replies",
     " came without token counts: tokens and costs are not known"},
    {"untrainable", "of", "episodes", " cannot be trained on, most often because of "},
};

static size_t most_frequent(const gg_health *h)
{
    size_t most = 0;
    for (size_t i = 1; i < GG_HEALTH_REASONS; i++)
        if (h->reasons[i].plays > h->reasons[most].plays)
            most = i;
    return most;
}

static void say(const gg_health *h, size_t row, int64_t count, int64_t of, gg_warning *out)
{
    double share = of > 0 ? PERCENT * (double)count / (double)of : 0;
    bool reason = strcmp(texts[row].kind, "untrainable") == 0;
    *out = (gg_warning){.kind = texts[row].kind, .count = count, .of = of};
    snprintf(out->text, sizeof out->text, "%lld %s %lld %s (%.1f %%)%s%s", (long long)count,
             texts[row].between, (long long)of, texts[row].noun, share, texts[row].tail,
             reason ? h->reasons[most_frequent(h)].name : "");
}

size_t gg_health_warnings(const gg_health *h, bool training, gg_warning out[GG_WARNINGS_MAX])
{
    const struct {
        bool told;
        int64_t count, of;
    } rows[GG_WARNINGS_MAX] = {
        {h->truncated > 0, h->truncated, h->plays},
        {(double)h->repairs > GG_HEALTH_REPAIRS * (double)h->replies, h->repairs, h->replies},
        {h->stalled > 0, h->stalled, h->plays},
        {h->no_usage > 0, h->no_usage, h->replies},
        {training && h->untrainable > 0, h->untrainable, h->plays},
    };
    size_t count = 0;
    for (size_t i = 0; i < GG_WARNINGS_MAX; i++)
        if (rows[i].told)
            say(h, i, rows[i].count, rows[i].of, &out[count++]);
    return count;
}

void gg_warnings_write(const gg_warning *warnings, size_t count, gg_buf *out)
{
    gg_buf_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        gg_buf_printf(out, "%s{\"kind\":\"%s\",\"count\":%lld,\"of\":%lld,\"text\":", i ? "," : "",
                      warnings[i].kind, (long long)warnings[i].count, (long long)warnings[i].of);
        gg_buf_json_str(out, warnings[i].text);
        gg_buf_char(out, '}');
    }
    gg_buf_char(out, ']');
}
