/*
 * Advantages of one group of episodes. Pure functions; each formula's source stands with its name.
 *
 * A group is the G plays of one task. Equality of rewards is tested on values, never on a standard
 * deviation: a group of equal rewards has no signal and its advantages are exactly 0.
 */
#ifndef GG_RL_ADVANTAGE_H
#define GG_RL_ADVANTAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <guessgym/error.h>

/* Names as the managed service spells them; "grpo" is another name of group_based. */
typedef enum gg_advantage {
    GG_ADV_GROUP_BASED = 0,
    GG_ADV_GROUP_BASED_PER_TURN,
    GG_ADV_RLOO,
    GG_ADV_GRPO_PASSK,
    GG_ADV_MONTE_CARLO,
    GG_ADV_OPO,
    GG_ADV_GPG,
    GG_ADV_REINFORCE_PP,
    GG_ADV_REINFORCE_PP_BASELINE,
    GG_ADV_COUNT
} gg_advantage;

const char *gg_advantage_name(gg_advantage method);
gg_status gg_advantage_parse(const char *name, gg_advantage *out, gg_error *error);

/* One play as the formulas see it. */
typedef struct gg_play_return {
    double reward;
    const double *by_turn; /* turn_count rewards, or NULL */
    size_t turn_count;
    size_t tokens; /* sampled tokens: opo weighs by length */
} gg_play_return;

/* A batch is `groups` groups, plays[first[g]] .. plays[first[g+1]-1]; `first` has groups+1 entries.
 * Writes one advantage a turn into out[play][turn] (the same value for all turns of a play unless
 * the method is per turn) and signal[g]. gpg, reinforce_pp and reinforce_pp_baseline look at the
 * whole batch. */
gg_status gg_advantages(gg_advantage method, const gg_play_return *plays, const size_t *first,
                        size_t groups, double *const *out, bool *signal, gg_error *error);

#endif
