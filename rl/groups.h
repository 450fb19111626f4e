/*
 * From finished plays to groups with advantages.
 *
 * Plays come in (group, sample) order, group_size of them a group. A group with an errored, missing
 * or foreign member (another task's digest) is refused whole, with the reason; it has no advantages
 * and no signal.
 *
 * Ownership: gg_groups owns its arrays; the plays stay the caller's and must outlive it.
 */
#ifndef GG_RL_GROUPS_H
#define GG_RL_GROUPS_H

#include <guessgym/record.h>

#include "rl/advantage.h"
#include "rl/datum.h"

typedef struct gg_group {
    gg_episode *const *plays; /* `size` of them; NULL where one is missing */
    size_t size;
    const char *refused; /* reason, static text; NULL = closed */
    double **advantages; /* advantages[play][turn]; NULL when refused */
    bool reward_signal;  /* rewards differ */
    bool outcome_signal; /* some solved, some not */
} gg_group;

typedef struct gg_groups {
    gg_advantage method;
    gg_group *items;
    size_t count, refused, without_signal; /* without_signal: closed groups with equal rewards */
    double *values;                        /* storage of all advantages */
    double **rows;
} gg_groups;

gg_status gg_groups_build(gg_advantage method, gg_episode *const *plays, size_t groups,
                          size_t group_size, gg_groups *out, gg_error *error);
void gg_groups_free(gg_groups *groups);
/* Appends the training sequences of all closed groups in (group, sample) order; none of a play that
 * cannot teach anything: one that is not trainable or has no advantage. With `imitable`, of what is
 * to be imitated: solved plays that are trainable or that it takes. */
typedef bool (*gg_play_fn)(const gg_episode *play);
gg_status gg_groups_datums(const gg_groups *groups, gg_play_fn imitable, gg_datums *out,
                           gg_error *error);
/* One line of groups.jsonl, with its newline. */
void gg_group_write(const gg_groups *groups, size_t index, gg_buf *line);

#endif
