#include "agent/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "core/file.h"
#include "core/json.h"

/* One file being read. */
typedef struct loader {
    const gg_game *game;
    const char *path;
    gg_tasks *out;
    size_t room;
    size_t line; /* number of the line in hand, from 1 */
    gg_buf identity;
} loader;

static gg_status no_memory(const loader *l, gg_error *error)
{
    return gg_fail(error, GG_E_MEMORY, "out of memory while reading %s", l->path);
}

static const char *keep(loader *l, const char *text)
{
    return gg_pool_copy(&l->out->strings, text, strlen(text));
}

static gg_task *push(loader *l)
{
    gg_tasks *tasks = l->out;
    if (tasks->count == l->room) {
        size_t room = l->room ? l->room * 2 : 256;
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

/* What a row means: its own id where it has one, and the prompt string. */
typedef struct row {
    const char *prompt, *id;
    char number[24];
} row;

/* Strings of a task are its own, so that the file's bytes can go. */
static gg_status add_task(loader *l, const row *r, const char *bytes, size_t len, gg_error *error)
{
    gg_task *task = push(l);
    if (!task)
        return no_memory(l, error);
    task->id = keep(l, r->id);
    task->prompt = keep(l, r->prompt);
    if (!task->id || !task->prompt)
        return no_memory(l, error);
    gg_sha256_hex(bytes, len, task->digest);
    gg_buf_reset(&l->identity);
    gg_status status = l->game->api->identity(l->game->env, task->prompt, &l->identity, error);
    if (status == GG_OK)
        status = gg_buf_status(&l->identity, "a task's identity", error);
    if (status != GG_OK)
        return error->status == GG_E_MEMORY
                   ? status
                   : gg_fail_prefix(error, "%s line %zu", l->path, l->line);
    gg_sha256_hex(gg_buf_cstr(&l->identity), l->identity.len, task->key);
    return GG_OK;
}

static gg_status bad_row(const loader *l, gg_error *error, const char *what)
{
    return gg_fail(error, GG_E_CONFIG, "%s line %zu: %s", l->path, l->line, what);
}

/* {"prompt": "...", "id": ...}: an id may also stand inside the prompt, where only the environment
 * looks. */
static gg_status add_object(loader *l, const char *bytes, size_t len, gg_error *error)
{
    cJSON *object;
    gg_status status = gg_json_parse(bytes, len, &object, error);
    if (status == GG_E_MEMORY)
        return status;
    if (status != GG_OK || !cJSON_IsObject(object)) {
        cJSON_Delete(object);
        return bad_row(l, error,
                       "not a JSON object; every row is one JSON object with a \"prompt\" "
                       "string, or the file is a plain list");
    }
    row r = {.prompt = gg_json_text(object, "prompt"), .id = gg_json_text(object, "id")};
    int64_t number;
    if (!r.id) {
        gg_buf text = {.data = r.number, .room = sizeof r.number, .maximum = sizeof r.number - 1};
        gg_buf_int(&text, gg_json_int(object, "id", &number) ? number : (int64_t)l->line - 1);
        r.id = r.number;
    }
    status = r.prompt ? add_task(l, &r, bytes, len, error)
                      : bad_row(l, error, "the row has no \"prompt\" string");
    cJSON_Delete(object);
    return status;
}

static gg_status add_plain(loader *l, const char *bytes, size_t len, gg_error *error)
{
    row r = {.id = r.number};
    gg_buf text = {.data = r.number, .room = sizeof r.number, .maximum = sizeof r.number - 1};
    if (memchr(bytes, '\0', len))
        return bad_row(l, error, "a NUL byte; the file is not text");
    if (bytes[len - 1] == '\r')
        return bad_row(l, error, "the line ends in CR LF; remove the CRs (tr -d '\\r')");
    gg_buf_int(&text, (int64_t)l->line - 1);
    char *prompt = strndup(bytes, len);
    if (!prompt)
        return no_memory(l, error);
    r.prompt = prompt;
    gg_status status = add_task(l, &r, bytes, len, error);
    free(prompt);
    return status;
}

static gg_status add_lines(loader *l, const char *text, size_t len, gg_error *error)
{
    const char *end = text + len;
    bool objects = *text == '{';
    gg_status status = GG_OK;
    while (text < end && status == GG_OK) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((newline ? newline : end) - text);
        l->line++;
        if (n == 0 || (n == 1 && *text == '\r'))
            return bad_row(l, error, "the line is empty");
        if (objects)
            status = add_object(l, text, n - (text[n - 1] == '\r'), error);
        else
            status = add_plain(l, text, n, error);
        text += n + 1;
    }
    return status;
}

/* A task's place in the order of keys. */
typedef struct keyed {
    const char *key;
    size_t index;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static keyed *sort_keys(const gg_tasks *tasks)
{
    keyed *keys = malloc(tasks->count * sizeof *keys);
    for (size_t i = 0; keys && i < tasks->count; i++)
        keys[i] = (keyed){tasks->items[i].key, i};
    if (keys)
        qsort(keys, tasks->count, sizeof *keys, by_key);
    return keys;
}

static gg_status check_unique(const loader *l, gg_error *error)
{
    keyed *keys = sort_keys(l->out);
    gg_status status = GG_OK;
    if (!keys)
        return no_memory(l, error);
    for (size_t i = 1; i < l->out->count && status == GG_OK; i++)
        if (strcmp(keys[i - 1].key, keys[i].key) == 0)
            status = gg_fail(error, GG_E_CONFIG,
                             "%s line %zu: the same task as line %zu; a task may stand in a list "
                             "once",
                             l->path, keys[i].index + 1, keys[i - 1].index + 1);
    free(keys);
    return status;
}

static gg_status identify(gg_tasks *tasks, gg_error *error)
{
    const char **keys = malloc(tasks->count * sizeof(const char *));
    if (!keys)
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading %s", tasks->path);
    for (size_t i = 0; i < tasks->count; i++)
        keys[i] = tasks->items[i].key;
    gg_list_identity(keys, tasks->count, tasks->identity);
    free(keys);
    return GG_OK;
}

static gg_status read_tasks(loader *l, gg_error *error)
{
    gg_buf text;
    gg_buf_init(&text, GG_FILE_MAX);
    gg_status status = gg_file_read(l->path, &text, error);
    if (status == GG_OK && text.len == 0)
        status =
            gg_fail(error, GG_E_CONFIG, "%s is empty; it should hold one task a line", l->path);
    if (status == GG_OK && strncmp(text.data, "\xef\xbb\xbf", 3) == 0)
        status = gg_fail(error, GG_E_CONFIG,
                         "%s begins with a byte order mark; save it as plain UTF-8", l->path);
    if (status == GG_OK)
        status = add_lines(l, text.data, text.len, error);
    gg_buf_free(&text);
    if (status == GG_OK)
        status = check_unique(l, error);
    return status == GG_OK ? identify(l->out, error) : status;
}

gg_status gg_tasks_load(const gg_game *game, const char *path, gg_tasks *out, gg_error *error)
{
    loader l = {.game = game, .path = path, .out = out};
    *out = (gg_tasks){0};
    gg_buf_init(&l.identity, GG_FILE_MAX);
    out->path = keep(&l, path);
    gg_status status = out->path ? read_tasks(&l, error) : no_memory(&l, error);
    gg_buf_free(&l.identity);
    if (status != GG_OK)
        gg_tasks_free(out);
    return status;
}

void gg_tasks_free(gg_tasks *tasks)
{
    if (!tasks)
        return;
    free(tasks->items);
    gg_pool_free(&tasks->strings);
    *tasks = (gg_tasks){0};
}

gg_status gg_tasks_keep(gg_tasks *tasks, size_t count, gg_error *error)
{
    if (count >= tasks->count)
        return GG_OK;
    tasks->count = count;
    return identify(tasks, error);
}

gg_status gg_tasks_disjoint(const gg_tasks *rows, const gg_tasks *held_out, gg_error *error)
{
    keyed *keys = held_out->count ? sort_keys(held_out) : NULL;
    gg_status status = GG_OK;
    if (held_out->count && !keys)
        return gg_fail(error, GG_E_MEMORY, "out of memory while comparing lists");
    for (size_t i = 0; i < rows->count && held_out->count && status == GG_OK; i++) {
        keyed wanted = {rows->items[i].key, 0};
        size_t low = 0, high = held_out->count;
        while (low < high) { /* the first key that is not less */
            size_t middle = (low + high) / 2;
            if (strcmp(keys[middle].key, wanted.key) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < held_out->count && strcmp(keys[low].key, wanted.key) == 0)
            status = gg_fail(error, GG_E_CONFIG,
                             "%s line %zu is also in the held-out list (%s line %zu); training on "
                             "it would spoil the measurement",
                             rows->path, i + 1, held_out->path, keys[low].index + 1);
    }
    free(keys);
    return status;
}
