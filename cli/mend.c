#include "cli/mend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <guessgym/record.h>

#include "cli/groups.h"
#include "core/json.h"

#define ID_MAX 256

/* What is there, by (group, sample). */
typedef struct found {
    size_t tasks, samples;
    bool *good;
    gg_mended mended;
} found;

static gg_status note_episode(void *context, gg_episode *episode, gg_error *error)
{
    found *f = context;
    bool inside = episode->group >= 0 && (size_t)episode->group < f->tasks &&
                  episode->sample >= 0 && (size_t)episode->sample < f->samples;

    (void)error;
    if (episode->outcome == GG_ERRORED)
        f->mended.errored++;
    else if (inside)
        f->good[(size_t)episode->group * f->samples + (size_t)episode->sample] = true;
    gg_episode_free(episode);
    return GG_OK;
}

/* Reads one member of a line; false when the line has none of that name. */
static bool find_member(const char *line, size_t len, const char *wanted, gg_json_name *value)
{
    gg_json_reader reader = gg_json_reader_make(line, len);
    gg_json_name name;

    if (!gg_read_object(&reader))
        return false;
    while (gg_read_name(&reader, &name)) {
        if (!gg_read_raw(&reader, value))
            return false;
        if (gg_name_is(name, wanted))
            return true;
    }
    return false;
}

static bool keep_episode(void *context, const char *line, size_t len)
{
    gg_episode *episode = NULL;

    (void)context;
    if (gg_episode_read(line, len, GG_READ_PLAY, &episode, NULL) != GG_OK)
        return false;
    bool keep = episode->outcome != GG_ERRORED;
    gg_episode_free(episode);
    return keep;
}

/* Ids are "s<step>-g<group>-<sample>". */
static bool keep_tokens(void *context, const char *line, size_t len)
{
    const found *f = context;
    gg_json_name id;
    long long group = -1, sample = -1;
    char text[ID_MAX];

    if (!find_member(line, len, "id", &id) || id.len >= sizeof text)
        return false;
    memcpy(text, id.bytes, id.len);
    text[id.len] = '\0';
    return sscanf(text, "\"s%*d-g%lld-%lld\"", &group, &sample) == 2 && group >= 0 &&
           (size_t)group < f->tasks && sample >= 0 && (size_t)sample < f->samples &&
           f->good[(size_t)group * f->samples + (size_t)sample];
}

/* Refused groups were refused for a member that is played again; and where the method looks at the
 * whole batch, one member changes every group. */
static bool keep_group(void *context, const char *line, size_t len)
{
    gg_json_name reason, method;
    char name[ID_MAX];
    gg_advantage known = GG_ADV_COUNT;

    (void)context;
    if (find_member(line, len, "refused_reason", &reason))
        return false;
    if (!find_member(line, len, "method", &method) || method.len < 2 || method.len > sizeof name)
        return false;
    memcpy(name, method.bytes + 1, method.len - 2); /* between the quotes */
    name[method.len - 2] = '\0';
    return gg_advantage_parse(name, &known, NULL) == GG_OK && !gg_group_log_is_batch(known);
}

/* Episodes go last: as long as one of them stands there, the next mending finds it. */
static gg_status drop(gg_run *run, found *f, gg_error *error)
{
    gg_status status = gg_run_keep(run, GG_JOURNAL_GROUPS, keep_group, f, error);

    if (status == GG_OK)
        status = gg_run_keep(run, GG_JOURNAL_TOKENS, keep_tokens, f, error);
    if (status == GG_OK)
        status = gg_run_keep(run, GG_JOURNAL_EPISODES, keep_episode, f, error);
    return status;
}

gg_status gg_mend_run(gg_run *run, size_t tasks, size_t samples, gg_mended *out, gg_error *error)
{
    found f = {.tasks = tasks, .samples = samples};
    gg_damage damage;

    *out = (gg_mended){0};
    f.good = calloc(tasks * samples + 1, sizeof *f.good);
    if (!f.good)
        return gg_fail(error, GG_E_MEMORY, "out of memory for %zu plays", tasks * samples);
    gg_status status = gg_run_each_episode(run, GG_JOURNAL_EPISODES, GG_READ_PLAY, note_episode, &f,
                                           &damage, error);
    if (status == GG_OK && damage.lines + f.mended.errored > 0)
        status = drop(run, &f, error);
    *out = f.mended;
    out->damaged = damage.lines;
    free(f.good);
    return status;
}
