#include "cli/train_from.h"

#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "core/json.h"

/* What is read before it is known how many groups and samples there are. */
typedef struct heap {
    gg_episode **items;
    size_t count, room;
    int64_t groups, samples;
    gg_buf id;
} heap;

static gg_status keep(heap *h, gg_episode *episode, gg_error *error)
{
    if (h->count == h->room) {
        size_t room = h->room ? h->room * 2 : 256;
        gg_episode **items = realloc(h->items, room * sizeof *items);
        if (!items) {
            gg_episode_free(episode);
            return gg_fail(error, GG_E_MEMORY, "out of memory reading saved plays");
        }
        h->items = items;
        h->room = room;
    }
    h->items[h->count++] = episode;
    if (episode->group >= h->groups)
        h->groups = episode->group + 1;
    if (episode->sample >= h->samples)
        h->samples = episode->sample + 1;
    return GG_OK;
}

static gg_status read_episode(void *context, const char *line, size_t len, size_t number,
                              gg_error *error)
{
    gg_episode *episode = NULL;
    gg_status status = gg_episode_read(line, len, GG_READ_PLAY, &episode, error);
    if (status != GG_OK) {
        gg_fail_prefix(error, "episodes.jsonl, line %zu", number);
        return status;
    }
    if (episode->step != 0 || episode->group < 0 || episode->sample < 0) {
        status = gg_fail(error, GG_E_CONFIG,
                         "episode %s is a training's; --from takes a run of rollout or eval",
                         episode->id);
        gg_episode_free(episode);
        return status;
    }
    return keep(context, episode, error);
}

static int by_id(const void *a, const void *b)
{
    return strcmp((*(gg_episode *const *)a)->id, (*(gg_episode *const *)b)->id);
}

static int id_of(const void *key, const void *b)
{
    return strcmp(key, (*(gg_episode *const *)b)->id);
}

static gg_status read_tokens(void *context, const char *line, size_t len, size_t number,
                             gg_error *error)
{
    heap *h = context;
    gg_json_reader reader = gg_json_reader_make(line, len);
    gg_json_name name;
    (void)number;
    gg_buf_reset(&h->id);
    if (!gg_read_object(&reader) || !gg_read_name(&reader, &name) || !gg_name_is(name, "id") ||
        !gg_read_string(&reader, &h->id))
        return gg_fail(error, GG_E_FORMAT, "tokens.jsonl, line %zu: does not begin with an id",
                       number);
    gg_episode **at = bsearch(gg_buf_cstr(&h->id), h->items, h->count, sizeof *h->items, id_of);
    return at ? gg_episode_read_tokens(*at, line, len, error) : GG_OK;
}

/* Puts the plays into their places; a play of a place that is taken is dropped. */
static void place(heap *h, gg_saved_plays *out)
{
    for (size_t i = 0; i < h->count; i++) {
        gg_episode **at =
            &out->plays[(size_t)h->items[i]->group * out->samples + (size_t)h->items[i]->sample];
        if (*at)
            gg_episode_free(h->items[i]);
        else
            *at = h->items[i];
    }
    h->count = 0;
}

static bool is_whole(const gg_saved_plays *s, size_t group)
{
    for (size_t k = 0; k < s->samples; k++)
        if (!s->plays[group * s->samples + k])
            return false;
    return true;
}

/* Moves the whole groups together and frees the rest. */
static void drop_parts(gg_saved_plays *s, size_t groups)
{
    for (size_t g = 0; g < groups; g++) {
        gg_episode **from = s->plays + g * s->samples, **to = s->plays + s->rows.count * s->samples;
        if (is_whole(s, g)) {
            memmove(to, from, s->samples * sizeof *from);
            s->rows.count++;
            continue;
        }
        for (size_t k = 0; k < s->samples; k++)
            gg_episode_free(from[k]);
    }
}

static gg_status make_rows(gg_saved_plays *s, const char *dir, gg_error *error)
{
    const char **keys = calloc(s->rows.count + 1, sizeof *keys);
    s->rows.items = calloc(s->rows.count + 1, sizeof *s->rows.items);
    s->rows.path = gg_pool_copy(&s->rows.strings, dir, strlen(dir));
    if (!keys || !s->rows.items || !s->rows.path) {
        free(keys);
        return gg_fail(error, GG_E_MEMORY, "out of memory for %zu rows", s->rows.count);
    }
    for (size_t g = 0; g < s->rows.count; g++) {
        const gg_episode *play = s->plays[g * s->samples];
        gg_task *task = &s->rows.items[g];
        snprintf(task->digest, sizeof task->digest, "%s", play->task_digest);
        snprintf(task->key, sizeof task->key, "%s", play->task_key);
        keys[g] = task->key;
    }
    gg_list_identity(keys, s->rows.count, s->rows.identity);
    free(keys);
    return GG_OK;
}

static gg_status arrange(heap *h, const char *dir, gg_saved_plays *out, gg_error *error)
{
    out->samples = (size_t)h->samples;
    out->plays = calloc((size_t)h->groups * out->samples + 1, sizeof *out->plays);
    if (!out->plays)
        return gg_fail(error, GG_E_MEMORY, "out of memory for %zu saved plays", h->count);
    place(h, out);
    drop_parts(out, (size_t)h->groups);
    if (out->rows.count == 0)
        return gg_fail(error, GG_E_CONFIG, "%s holds no whole group of plays to train on", dir);
    return make_rows(out, dir, error);
}

gg_status gg_saved_plays_read(const char *dir, gg_saved_plays *out, gg_error *error)
{
    heap h = {0};
    gg_run *run = NULL;
    *out = (gg_saved_plays){0};
    gg_buf_init(&h.id, GG_LINE_MAX);
    gg_status status = gg_run_open_read(dir, &run, error);
    if (status == GG_OK)
        status = gg_run_each(run, GG_JOURNAL_EPISODES, read_episode, &h, error);
    if (status == GG_OK && h.count)
        qsort(h.items, h.count, sizeof *h.items, by_id);
    if (status == GG_OK)
        status = gg_run_each(run, GG_JOURNAL_TOKENS, read_tokens, &h, error);
    if (status == GG_OK)
        status = arrange(&h, dir, out, error);
    for (size_t i = 0; i < h.count; i++)
        gg_episode_free(h.items[i]);
    free(h.items);
    gg_buf_free(&h.id);
    gg_run_close(run);
    if (status != GG_OK)
        gg_saved_plays_free(out);
    return status;
}

void gg_saved_plays_free(gg_saved_plays *saved)
{
    if (!saved)
        return;
    for (size_t i = 0; saved->plays && i < saved->rows.count * saved->samples; i++)
        gg_episode_free(saved->plays[i]);
    free(saved->plays);
    gg_tasks_free(&saved->rows);
    *saved = (gg_saved_plays){0};
}
