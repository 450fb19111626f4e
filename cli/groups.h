/*
 * groups.jsonl of a rollout: a group is written once, when its last play is in.
 *
 * Methods that look at the whole batch (gpg, reinforce_pp, reinforce_pp_baseline) take the list as
 * the batch: their groups are written when all are whole. Of a play only what the formulas need is
 * kept; its number of sampled tokens is the endpoint's count of completion tokens.
 */
#ifndef GG_CLI_GROUPS_H
#define GG_CLI_GROUPS_H

#include <stdbool.h>

#include <guessgym/record.h>

#include "core/run.h"
#include "rl/advantage.h"

typedef struct gg_group_log gg_group_log;

/* The method looks at the whole batch: one group played again changes all of them. */
bool gg_group_log_is_batch(gg_advantage method);

gg_status gg_group_log_new(gg_run *run, gg_advantage method, size_t groups, size_t size,
                           gg_group_log **out, gg_error *error);
void gg_group_log_free(gg_group_log *log); /* NULL is fine */
/* Which groups are written already. Before the first gg_group_log_add. */
gg_status gg_group_log_recover(gg_group_log *log, gg_error *error);
gg_status gg_group_log_add(gg_group_log *log, const gg_episode *episode, gg_error *error);

#endif
