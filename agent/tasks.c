#include "agent/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "core/file.h"
#include "core/json.h"

#define IDENTITY_MAX (1u << 20)
#define NUMBER_ROOM  24

/* Where the loader stands. */
typedef struct loader {
    const gg_game *game;
    gg_tasks *tasks;
    size_t line, room;
    gg_buf identity;
} loader;

static gg_status out_of_memory(const loader *l, gg_error *error)
{
    return gg_fail(error, GG_E_MEMORY, "out of memory while reading %s", l->tasks->path);
}

static gg_task *new_task(loader *l)
{
    gg_tasks *tasks = l->tasks;

    if (tasks->count == l->room) {
        size_t room = l->room ? 2 * l->room : 256;
        gg_task *items = realloc(tasks->items, room * sizeof *items);
        if (!items)
            return NULL;
        tasks->items = items;
        l->room = room;
    }
    gg_task *task = &tasks->items[tasks->count++];
    *task = (gg_task){0};
    return task;
}

/* A member as text: a string's contents, any other value's JSON. NULL when absent or null. */
static char *member_text(const cJSON *row, const char *name)
{
    const cJSON *value = gg_json_get(row, name);
    gg_buf text;

    if (!value)
        return NULL;
    if (cJSON_IsString(value))
        return strdup(value->valuestring);
    gg_buf_init(&text, GG_FILE_MAX);
    gg_buf_cjson(&text, value);
    return gg_buf_take(&text);
}

static gg_status read_row(loader *l, const char *line, size_t len, char **prompt, char **id,
                          gg_error *error)
{
    cJSON *row = NULL;
    gg_status status = gg_json_parse(line, len, &row, error);

    if (status != GG_OK)
        return status;
    *prompt = member_text(row, "prompt");
    *id = member_text(row, "id");
    bool there = gg_json_get(row, "prompt") != NULL;
    cJSON_Delete(row);
    if (there && !*prompt)
        return out_of_memory(l, error);
    return there ? GG_OK : gg_fail(error, GG_E_CONFIG, "a row needs a column `prompt`");
}

static gg_status read_line(loader *l, const char *line, size_t len, gg_error *error)
{
    char number[NUMBER_ROOM], *prompt = NULL, *id = NULL;
    gg_task *task = new_task(l);
    gg_status status = GG_OK;

    if (!task)
        return out_of_memory(l, error);
    if (memchr(line, '\0', len))
        return gg_fail(error, GG_E_CONFIG, "the line holds a NUL byte");
    if (*line == '{')
        status = read_row(l, line, len, &prompt, &id, error);
    else
        prompt = strndup(line, len);
    if (!id) {
        gg_buf text;
        gg_buf_init(&text, NUMBER_ROOM);
        gg_buf_int(&text, (int64_t)l->line);
        memcpy(number, gg_buf_cstr(&text), text.len + 1);
        gg_buf_free(&text);
        id = strdup(number);
    }
    task->prompt = prompt;
    task->id = id;
    if (status != GG_OK)
        return status;
    if (!prompt || !id)
        return out_of_memory(l, error);
    gg_sha256_hex(line, len, task->digest);
    gg_buf_reset(&l->identity);
    status = l->game->api->identity(l->game->env, prompt, &l->identity, error);
    if (status == GG_OK)
        gg_sha256_hex(gg_buf_cstr(&l->identity), l->identity.len, task->key);
    return status;
}

static gg_status read_lines(loader *l, const gg_buf *text, gg_error *error)
{
    const char *at = gg_buf_cstr(text), *end = at + text->len;

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((stop ? stop : end) - at);
        gg_status status = GG_OK;
        l->line++;
        if (len > 0 && at[len - 1] == '\r')
            status = gg_fail(error, GG_E_CONFIG,
                             "the line ends with CR LF; store the file with LF line ends");
        else if (len == 0)
            status = gg_fail(error, GG_E_CONFIG, "the line is empty; one task a line");
        else
            status = read_line(l, at, len, error);
        if (status != GG_OK) {
            gg_fail_prefix(error, "%s line %zu", l->tasks->path, l->line);
            return status;
        }
        at += len + 1;
    }
    return l->tasks->count
               ? GG_OK
               : gg_fail(error, GG_E_CONFIG, "%s has no tasks; one a line", l->tasks->path);
}

static int by_key(const void *a, const void *b)
{
    const gg_task *x = *(gg_task *const *)a, *y = *(gg_task *const *)b;
    int order = strcmp(x->key, y->key);
    return order ? order : (x > y) - (x < y);
}

/* Tasks in the order of their keys; the caller frees. */
static const gg_task **sorted(const gg_tasks *tasks)
{
    const gg_task **list = calloc(tasks->count + 1, sizeof(gg_task *));

    for (size_t i = 0; list && i < tasks->count; i++)
        list[i] = &tasks->items[i];
    if (list)
        qsort(list, tasks->count, sizeof(gg_task *), by_key);
    return list;
}

/* Refuses a key that is there twice, and computes the list's identity. */
static gg_status identify(loader *l, gg_error *error)
{
    gg_tasks *tasks = l->tasks;
    const gg_task **list = sorted(tasks);
    const char **keys = calloc(tasks->count + 1, sizeof(char *));
    gg_status status = list && keys ? GG_OK : out_of_memory(l, error);

    for (size_t i = 0; status == GG_OK && i < tasks->count; i++) {
        keys[i] = list[i]->key;
        if (i > 0 && strcmp(list[i]->key, list[i - 1]->key) == 0)
            status = gg_fail(error, GG_E_CONFIG, "%s line %zu is the task of line %zu again",
                             tasks->path, (size_t)(list[i] - tasks->items) + 1,
                             (size_t)(list[i - 1] - tasks->items) + 1);
    }
    if (status == GG_OK)
        gg_list_identity(keys, tasks->count, tasks->identity);
    free(list);
    free(keys);
    return status;
}

gg_status gg_tasks_load(const gg_game *game, const char *path, gg_tasks *out, gg_error *error)
{
    loader l = {.game = game, .tasks = out};
    gg_buf text;

    *out = (gg_tasks){.path = strdup(path)};
    if (!out->path)
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading %s", path);
    gg_buf_init(&text, GG_FILE_MAX);
    gg_buf_init(&l.identity, IDENTITY_MAX);
    gg_status status = gg_file_read(path, &text, error);
    if (status == GG_OK)
        status = read_lines(&l, &text, error);
    if (status == GG_OK)
        status = identify(&l, error);
    gg_buf_free(&text);
    gg_buf_free(&l.identity);
    if (status != GG_OK)
        gg_tasks_free(out);
    return status;
}

void gg_tasks_free(gg_tasks *tasks)
{
    if (!tasks)
        return;
    for (size_t i = 0; i < tasks->count; i++) {
        free((char *)tasks->items[i].prompt);
        free((char *)tasks->items[i].id);
    }
    free(tasks->items);
    free(tasks->path);
    *tasks = (gg_tasks){0};
}

gg_status gg_tasks_disjoint(const gg_tasks *rows, const gg_tasks *held_out, gg_error *error)
{
    const gg_task **list = sorted(held_out);
    gg_status status = list ? GG_OK : gg_fail(error, GG_E_MEMORY, "out of memory for a list");

    for (size_t i = 0; status == GG_OK && i < rows->count; i++) {
        const gg_task *task = &rows->items[i];
        size_t low = 0, high = held_out->count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (strcmp(list[middle]->key, task->key) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < held_out->count && strcmp(list[low]->key, task->key) == 0)
            status = gg_fail(error, GG_E_CONFIG,
                             "%s line %zu is held out: it is line %zu of %s; take it out of one of "
                             "them",
                             rows->path, i + 1, (size_t)(list[low] - held_out->items) + 1,
                             held_out->path);
    }
    free(list);
    return status;
}
