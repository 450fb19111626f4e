/*
 * What plays tell of the endpoint's health: counts over records, and the warnings that follow from
 * them. Sums only, so that order does not matter. Threads: no shared state.
 */
#ifndef GG_CORE_HEALTH_H
#define GG_CORE_HEALTH_H

#include <guessgym/record.h>

#include "core/json.h"

#define GG_HEALTH_REASONS 16
#define GG_HEALTH_REASON  32 /* bytes of one, with its NUL */

typedef struct gg_health {
    int64_t plays;     /* over; the errored do not count, here and below */
    int64_t truncated; /* plays that ended by a token limit or a full context */
    int64_t stalled;   /* plays in which a prompt was not longer than the one before it */
    int64_t replies;
    int64_t repairs;     /* of calls, all kinds */
    int64_t no_usage;    /* replies that did not say prompt and completion tokens */
    int64_t untrainable; /* plays */
    struct {
        char name[GG_HEALTH_REASON];
        int64_t plays;
    } reasons[GG_HEALTH_REASONS]; /* of the untrainable; further kinds are only counted */
} gg_health;

void gg_health_add(gg_health *health, const gg_episode *episode);
/* {"plays":...}; reading adds to what is there; NULL adds nothing. */
void gg_health_write(const gg_health *health, gg_buf *out);
void gg_health_read(gg_health *health, const cJSON *json);

#define GG_WARNINGS_MAX 5
typedef struct gg_warning {
    const char *kind; /* "truncated", "repairs", "prompt_stalled", "usage_missing", "untrainable" */
    int64_t count, of; /* plays, or replies */
    char text[320];    /* with its percentage */
} gg_warning;

#define GG_HEALTH_REPAIRS 0.05 /* repairs a reply: more is told */
/* How many there are. `training`: untrainable plays matter. */
size_t gg_health_warnings(const gg_health *health, bool training, gg_warning out[GG_WARNINGS_MAX]);
/* [{"kind":...,"count":...,"of":...,"text":...}] */
void gg_warnings_write(const gg_warning *warnings, size_t count, gg_buf *out);

#endif
