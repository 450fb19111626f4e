#include "cli/groups.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "rl/groups.h"

#define LINE_MAX_B (64u << 20)

struct gg_group_log {
    gg_run *run;
    gg_advantage method;
    bool whole_batch;
    size_t groups, size;
    gg_episode **plays; /* groups * size; NULL = not in yet, or written and let go */
    size_t *have;       /* plays of each group that came in */
    bool *written;
    size_t whole; /* groups whose plays are all in */
    gg_buf line;
};

bool gg_group_log_is_batch(gg_advantage method)
{
    return method == GG_ADV_GPG || method == GG_ADV_REINFORCE_PP ||
           method == GG_ADV_REINFORCE_PP_BASELINE;
}

gg_status gg_group_log_new(gg_run *run, gg_advantage method, size_t groups, size_t size,
                           gg_group_log **out, gg_error *error)
{
    gg_group_log *log = *out = calloc(1, sizeof *log);

    if (log) {
        *log = (gg_group_log){.run = run,
                              .method = method,
                              .whole_batch = gg_group_log_is_batch(method),
                              .groups = groups,
                              .size = size};
        gg_buf_init(&log->line, LINE_MAX_B);
        log->plays = calloc(groups * size + 1, sizeof(gg_episode *));
        log->have = calloc(groups + 1, sizeof *log->have);
        log->written = calloc(groups + 1, sizeof *log->written);
    }
    if (log && log->plays && log->have && log->written)
        return GG_OK;
    gg_group_log_free(log);
    *out = NULL;
    return gg_fail(error, GG_E_MEMORY, "out of memory for %zu groups", groups);
}

void gg_group_log_free(gg_group_log *log)
{
    if (!log)
        return;
    for (size_t i = 0; log->plays && i < log->groups * log->size; i++)
        gg_episode_free(log->plays[i]);
    free(log->plays);
    free(log->have);
    free(log->written);
    gg_buf_free(&log->line);
    free(log);
}

/* `"group":N` of a line; -1 when there is none. */
static int64_t group_of(const char *line, size_t len)
{
    gg_json_reader reader = gg_json_reader_make(line, len);
    gg_json_name name;
    int64_t group = -1;

    if (gg_read_object(&reader))
        while (gg_read_name(&reader, &name)) {
            if (gg_name_is(name, "group"))
                return gg_read_int(&reader, &group) ? group : -1;
            gg_read_skip(&reader);
        }
    return -1;
}

static gg_status recover_line(void *context, const char *line, size_t len, size_t number,
                              gg_error *error)
{
    gg_group_log *log = context;
    int64_t group = group_of(line, len);

    (void)number;
    (void)error;
    if (group >= 0 && (size_t)group < log->groups)
        log->written[group] = true;
    return GG_OK;
}

gg_status gg_group_log_recover(gg_group_log *log, gg_error *error)
{
    return gg_run_each(log->run, GG_JOURNAL_GROUPS, recover_line, log, error);
}

static bool copy_turns(gg_episode *to, const gg_episode *from)
{
    to->turn_count = from->turn_count;
    to->turns = gg_episode_alloc(to, (from->turn_count + 1) * sizeof *to->turns);
    to->tokens = gg_episode_alloc(to, (from->turn_count + 1) * sizeof *to->tokens);
    if (!to->turns || !to->tokens)
        return false;
    memset(to->turns, 0, (from->turn_count + 1) * sizeof *to->turns);
    memset(to->tokens, 0, (from->turn_count + 1) * sizeof *to->tokens);
    for (size_t t = 0; t < from->turn_count; t++)
        if (from->turns[t].usage.completion > 0)
            to->tokens[t].count = (size_t)from->turns[t].usage.completion;
    return true;
}

/* What advantages are made from: rewards, numbers of turns and tokens, outcome, task. */
static gg_episode *slim(const gg_episode *from)
{
    gg_episode *to = gg_episode_new();

    if (!to)
        return NULL;
    to->id = gg_episode_string(to, from->id, strlen(from->id));
    to->task_digest = gg_episode_string(to, from->task_digest, strlen(from->task_digest));
    to->task_key = gg_episode_string(to, from->task_key, strlen(from->task_key));
    to->step = from->step;
    to->group = from->group;
    to->sample = from->sample;
    to->outcome = from->outcome;
    to->reward = from->reward;
    bool whole = copy_turns(to, from);
    if (from->reward_by_turn) {
        size_t bytes = from->turn_count * sizeof *to->reward_by_turn;
        to->reward_by_turn = gg_episode_alloc(to, bytes + sizeof *to->reward_by_turn);
        if (to->reward_by_turn)
            memcpy(to->reward_by_turn, from->reward_by_turn, bytes);
        whole = whole && to->reward_by_turn;
    }
    if (whole && to->id && to->task_digest && to->task_key)
        return to;
    gg_episode_free(to);
    return NULL;
}

/* Writes the lines of `count` groups from `first` on that are not written yet. */
static gg_status write_groups(gg_group_log *log, size_t first, size_t count, gg_error *error)
{
    gg_groups built = {0};
    gg_episode **plays = log->plays + first * log->size;

    gg_status status = gg_groups_build(log->method, plays, count, log->size, &built, error);
    for (size_t g = 0; g < count && status == GG_OK; g++) {
        if (log->written[first + g])
            continue;
        gg_buf_reset(&log->line);
        gg_group_write(&built, g, &log->line);
        status = gg_buf_status(&log->line, "a group's line", error);
        if (status == GG_OK)
            status = gg_run_append(log->run, GG_JOURNAL_GROUPS, gg_buf_cstr(&log->line),
                                   log->line.len, error);
        log->written[first + g] = status == GG_OK;
    }
    gg_groups_free(&built);
    for (size_t i = 0; i < count * log->size; i++) {
        gg_episode_free(plays[i]);
        plays[i] = NULL;
    }
    return status;
}

gg_status gg_group_log_add(gg_group_log *log, const gg_episode *episode, gg_error *error)
{
    size_t group = (size_t)episode->group;
    gg_episode **at = &log->plays[group * log->size + (size_t)episode->sample];

    if (!log->whole_batch && log->written[group])
        return GG_OK;
    *at = slim(episode);
    if (!*at)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a group");
    if (++log->have[group] < log->size)
        return GG_OK;
    log->whole++;
    if (!log->whole_batch)
        return write_groups(log, group, 1, error);
    return log->whole == log->groups ? write_groups(log, 0, log->groups, error) : GG_OK;
}
