/* From options to a run: how to ask, where to write, and what run.json says of it. */
#ifndef GG_CLI_PLAN_H
#define GG_CLI_PLAN_H

#include "agent/tasks.h"
#include "cli/endpoint.h"
#include "core/price.h"

/* How to ask. `effort` NULL = not sent. Pointers go into the options and `system_prompt`. */
gg_ask gg_plan_ask(const gg_cli *cli, const gg_player *player, const char *effort,
                   const char *system_prompt);
/* Text of --system-prompt FILE; empty when there is none. */
gg_status gg_plan_system_prompt(const gg_cli *cli, gg_buf *out, gg_error *error);

/* Everything resolved, as run.json keeps it. */
typedef struct gg_plan_facts {
    const gg_game *game;
    const gg_reward *reward;
    const gg_tasks *tasks;
    const gg_player *player;
    const char *effort;             /* NULL = not sent */
    const char *system_prompt;      /* NULL = the game's own */
    const gg_tasks *val, *held_out; /* of a training; NULL = none */
} gg_plan_facts;
void gg_plan_config(const gg_cli *cli, const gg_plan_facts *facts, gg_buf *out);

/* The folder of --output, else a new name under runs/. */
void gg_plan_folder(const gg_cli *cli, const gg_player *player, gg_buf *out);
/* --prices and --price-model. */
gg_status gg_plan_price(const gg_cli *cli, gg_price *out, gg_error *error);
/* With --resume: takes what the command line leaves out from the folder's run.json (or its first
 * effort's). */
gg_status gg_plan_resume(const gg_cli *cli, gg_error *error);

#endif
