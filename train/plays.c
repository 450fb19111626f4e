#include "train/plays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"

#define LINE_MAX_BYTES (256u << 20)

gg_status gg_plays_init(gg_plays *plays, gg_run *run, gg_journal episodes, gg_journal tokens,
                        int64_t step, size_t groups, size_t group_size, gg_error *error)
{
    size_t count = groups * group_size;
    *plays = (gg_plays){.run = run,
                        .episodes = episodes,
                        .tokens = tokens,
                        .step = step,
                        .groups = groups,
                        .group_size = group_size};
    gg_buf_init(&plays->line, LINE_MAX_BYTES);
    plays->tasks = calloc(groups + 1, sizeof *plays->tasks);
    plays->items = calloc(count + 1, sizeof *plays->items);
    plays->plan = calloc(count + 1, sizeof *plays->plan);
    if (plays->tasks && plays->items && plays->plan)
        return GG_OK;
    gg_plays_free(plays);
    return gg_fail(error, GG_E_MEMORY, "out of memory for %zu plays", count);
}

void gg_plays_free(gg_plays *plays)
{
    if (!plays)
        return;
    for (size_t i = 0; plays->items && !plays->borrowed && i < plays->groups * plays->group_size;
         i++)
        gg_episode_free(plays->items[i]);
    free(plays->tasks);
    free(plays->items);
    free(plays->plan);
    gg_buf_free(&plays->line);
    *plays = (gg_plays){0};
}

/* The slot of (group, sample), NULL when there is none. */
static gg_episode **slot(const gg_plays *plays, int64_t group, int64_t sample)
{
    bool inside = group >= 0 && (size_t)group < plays->groups && sample >= 0 &&
                  (size_t)sample < plays->group_size;
    return inside ? &plays->items[(size_t)group * plays->group_size + (size_t)sample] : NULL;
}

static gg_status recover_episode(void *context, const char *line, size_t len, size_t number,
                                 gg_error *error)
{
    gg_plays *plays = context;
    gg_episode *episode = NULL;
    (void)number;
    /* A damaged line is a play that is not there: it is played again. */
    if (gg_episode_read(line, len, GG_READ_ALL, &episode, NULL) != GG_OK)
        return GG_OK;
    gg_episode **at = slot(plays, episode->group, episode->sample);
    if (episode->step != plays->step || !at || *at || episode->outcome == GG_ERRORED) {
        gg_episode_free(episode);
        return GG_OK;
    }
    const gg_task *task = plays->tasks[episode->group];
    if (strcmp(task->digest, episode->task_digest) != 0) {
        gg_status status = gg_fail(error, GG_E_CONFIG,
                                   "%s: episode %s was played with another task than the rows give "
                                   "now; the rows have changed",
                                   gg_run_dir(plays->run), episode->id);
        gg_episode_free(episode);
        return status;
    }
    *at = episode;
    return GG_OK;
}

static bool read_id(const char *line, size_t len, gg_buf *id)
{
    gg_json_reader reader = gg_json_reader_make(line, len);
    gg_json_name name;
    gg_buf_reset(id);
    if (!gg_read_object(&reader))
        return false;
    while (gg_read_name(&reader, &name)) {
        if (gg_name_is(name, "id"))
            return gg_read_string(&reader, id);
        gg_read_skip(&reader);
    }
    return false;
}

static gg_status recover_tokens(void *context, const char *line, size_t len, size_t number,
                                gg_error *error)
{
    gg_plays *plays = context;
    long long step, group, sample;
    (void)number;
    (void)error;
    if (!read_id(line, len, &plays->line) ||
        sscanf(gg_buf_cstr(&plays->line), "%*c%lld-g%lld-%lld", &step, &group, &sample) != 3 ||
        step != plays->step)
        return GG_OK;
    gg_episode **at = slot(plays, group, sample);
    if (at && *at)
        (void)gg_episode_read_tokens(*at, line, len, NULL); /* damaged: found out just below */
    return GG_OK;
}

/* A play whose tokens are lost cannot be trained on: it is played again. */
static void drop_tokenless(gg_plays *plays)
{
    for (size_t i = 0; i < plays->groups * plays->group_size; i++) {
        gg_episode *episode = plays->items[i];
        if (episode && episode->trainable && !episode->tokens) {
            gg_episode_free(episode);
            plays->items[i] = NULL;
        }
    }
}

gg_status gg_plays_recover(gg_plays *plays, gg_error *error)
{
    gg_status status = gg_run_each(plays->run, plays->episodes, recover_episode, plays, error);
    if (status == GG_OK)
        status = gg_run_each(plays->run, plays->tokens, recover_tokens, plays, error);
    if (status == GG_OK)
        drop_tokenless(plays);
    return status;
}

size_t gg_plays_plan(gg_plays *plays)
{
    size_t count = 0;
    for (size_t g = 0; g < plays->groups; g++)
        for (size_t k = 0; k < plays->group_size; k++)
            if (!plays->items[g * plays->group_size + k])
                plays->plan[count++] =
                    (gg_planned){plays->tasks[g], plays->step, (int64_t)g, (int64_t)k};
    return count;
}

gg_status gg_plays_take(void *context, size_t index, gg_episode *episode, gg_error *error)
{
    gg_plays *plays = context;
    gg_episode **at = slot(plays, episode->group, episode->sample);
    (void)index;
    if (!at || episode->outcome == GG_UNPLAYED) {
        gg_episode_free(episode);
        return GG_OK;
    }
    gg_episode_free(*at);
    *at = episode;
    if (plays->player) /* a session's address differs from one resumption to the next */
        episode->policy.endpoint = plays->player;
    return plays->unwritten ? GG_OK
                            : gg_run_append_episode(plays->run, plays->episodes, plays->tokens,
                                                    episode, &plays->line, error);
}

gg_status gg_plays_write_down(gg_plays *plays, gg_error *error)
{
    gg_status status = GG_OK;
    for (size_t i = 0; i < plays->groups * plays->group_size && status == GG_OK; i++)
        if (plays->items[i])
            status = gg_run_append_episode(plays->run, plays->episodes, plays->tokens,
                                           plays->items[i], &plays->line, error);
    plays->unwritten = false;
    return status;
}
