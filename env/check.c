#include "env/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "env/check_rules.h"

#define DETAIL_MAX 1024

void gg_check_note(gg_checker *c, const char *format, ...)
{
    char text[DETAIL_MAX];
    va_list list;
    if (c->detail.len)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    gg_buf_str(&c->detail, text);
}

void gg_check_broke(gg_checker *c, const char *format, ...)
{
    char text[DETAIL_MAX];
    va_list list;
    if (c->broken)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    gg_buf_reset(&c->detail);
    gg_buf_str(&c->detail, text);
    c->broken = true;
}

bool gg_check_ok(gg_checker *c, gg_status status, const gg_error *error, const char *function)
{
    if (status == GG_OK)
        return true;
    gg_check_broke(c, "%s failed: %s", function,
                   error->text[0] ? error->text : "and left no sentence in its error");
    return false;
}

/* Tasks: the caller's, else the first of the list that ships with the environment. */

typedef struct task_list {
    char *items[GG_CHECK_TASKS];
    size_t count;
} task_list;

/* A line of a list: a dataset row's `prompt`, or the line itself. */
static char *task_of_line(const char *line, size_t len)
{
    cJSON *row = NULL;
    char *task = NULL;
    if (*line == '{' && gg_json_parse(line, len, &row, NULL) == GG_OK) {
        const char *prompt = gg_json_text(row, "prompt");
        if (prompt)
            task = strdup(prompt);
    }
    cJSON_Delete(row);
    return task ? task : strndup(line, len);
}

static gg_status read_tasks(const gg_game *game, task_list *list, gg_error *error)
{
    const char *path = game->api->default_tasks(game->env, "test");
    gg_buf text;
    if (!path)
        return gg_fail(error, GG_E_CONFIG,
                       "environment %s ships no tasks; give some (--tasks FILE)", game->info.name);
    gg_buf_init(&text, GG_FILE_MAX);
    gg_status status = gg_file_read(path, &text, error);
    const char *p = gg_buf_cstr(&text);
    while (status == GG_OK && *p && list->count < GG_CHECK_TASKS) {
        size_t len = strcspn(p, "\n");
        if (len && !(list->items[list->count++] = task_of_line(p, len)))
            status = gg_fail(error, GG_E_MEMORY, "out of memory while reading %s", path);
        p += len + (p[len] == '\n');
    }
    gg_buf_free(&text);
    if (status == GG_OK && !list->count)
        status = gg_fail(error, GG_E_CONFIG, "%s has no tasks", path);
    return status;
}

/* Rules are run in this order; a table ends with a NULL name. */
static const gg_rule *const tables[] = {gg_rules_table, gg_rules_play, gg_rules_secret,
                                        gg_rules_record};

static gg_status run(gg_checker *c, gg_check_fn each, void *context, size_t *broken,
                     gg_error *error)
{
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const gg_rule *rule = tables[t]; rule->name; rule++) {
            gg_buf_reset(&c->detail);
            c->broken = false;
            gg_rng_seed(&c->rng, gg_derive_seed(c->seed, rule->name, 0));
            rule->check(c);
            if (c->failure.status != GG_OK) {
                if (error)
                    *error = c->failure;
                return c->failure.status;
            }
            each(context, rule->name, !c->broken, gg_buf_cstr(&c->detail));
            *broken += c->broken;
        }
    return GG_OK;
}

gg_status gg_env_check(const gg_game *game, const char *const *tasks, size_t task_count,
                       uint64_t seed, gg_check_fn each, void *context, size_t *broken,
                       gg_error *error)
{
    task_list list = {.count = 0};
    gg_checker c = {.game = game, .tasks = tasks, .task_count = task_count, .seed = seed};
    gg_status status = GG_OK;
    *broken = 0;
    if (!tasks || !task_count) {
        status = read_tasks(game, &list, error);
        c.tasks = (const char *const *)list.items;
        c.task_count = list.count;
    }
    gg_buf_init(&c.detail, DETAIL_MAX);
    const char *tools = game->api->tools(game->env);
    if (!tools || gg_json_parse(tools, strlen(tools), &c.tools, NULL) != GG_OK)
        c.tools = NULL;
    if (status == GG_OK)
        status = run(&c, each, context, broken, error);
    cJSON_Delete(c.tools);
    gg_buf_free(&c.detail);
    for (size_t i = 0; i < list.count; i++)
        free(list.items[i]);
    return status;
}
