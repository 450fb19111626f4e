/*
 * Datasets: task rows from a file (JSON lines with a `prompt` column, or a plain list, one task a
 * line).
 */
#ifndef GG_AGENT_TASKS_H
#define GG_AGENT_TASKS_H

#include "agent/rollout.h"

typedef struct gg_tasks {
    gg_task *items;
    size_t count;
    char identity[65]; /* SHA-256 of the sorted keys */
    const char *path;
    gg_pool strings; /* ids, prompts and the path, where gg_tasks_load made them */
} gg_tasks;

/* Refuses an empty file, a duplicated key, a bad row - with file and line. */
gg_status gg_tasks_load(const gg_game *game, const char *path, gg_tasks *out, gg_error *error);
void gg_tasks_free(gg_tasks *tasks);
/* Keeps the first `count` rows, as if the file held no more. No effect when there are fewer. */
gg_status gg_tasks_keep(gg_tasks *tasks, size_t count, gg_error *error);
/* Refuses when any key of `rows` is in `held_out`; names the first by file and line, never by its
 * answer. */
gg_status gg_tasks_disjoint(const gg_tasks *rows, const gg_tasks *held_out, gg_error *error);

#endif
