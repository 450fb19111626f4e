/*
 * Plays a list to its end and keeps everything: what eval and rollout have in common.
 *
 * Opens the run folder, finds what is already played, plays the rest, and writes every play down as
 * it ends: tokens, then the episode, then (with a method) its group. Ctrl-C drains; a second one
 * drops what is in flight. Whatever way it ends, the figures so far are computed and written to
 * summary.json.
 */
#ifndef GG_CLI_COLLECT_H
#define GG_CLI_COLLECT_H

#include "agent/tasks.h"
#include "cli/command.h"
#include "cli/endpoint.h"
#include "report/summary.h"
#include "rl/advantage.h"

typedef struct gg_collect_plan {
    gg_cli *cli;
    const gg_game *game;
    const gg_reward *reward;
    const gg_tasks *tasks;
    const char *list_name; /* as the summary names it */
    const gg_player *player;
    const gg_ask *ask;
    size_t samples;             /* plays of each task */
    const gg_advantage *method; /* NULL = no groups */
    const char *dir;
    const char *config; /* run.json's */
    bool resume;
} gg_collect_plan;

typedef struct gg_collected {
    gg_summary *summary;
    gg_figures figures; /* pointers into summary */
} gg_collected;

/* GG_OK when everything planned is played; GG_E_INTERRUPTED, GG_E_UNREACHABLE and the like with the
 * figures so far; summary is NULL when nothing could be begun. */
gg_status gg_collect(const gg_collect_plan *plan, gg_collected *out, gg_error *error);
void gg_collected_free(gg_collected *collected);

#endif
