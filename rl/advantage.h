/*
 * Advantages of groups of episodes. Pure functions.
 *
 * A group is the plays of one task. R is a play's reward, R_t its return from turn t on (the sum of
 * its rewards by turn from t to the end; the reward itself when there are none by turn).
 *
 *   group_based           (R - mean) / std of the group. Shao et al. 2024 (GRPO), arXiv 2402.03300.
 *   group_based_per_turn  the same on R_t, turn by turn, over the plays that reached turn t.
 *   rloo                  R - mean of the others. Ahmadian et al. 2024, arXiv 2402.14740.
 *   grpo_passk            (best - second best) / std for the best play, 0 for all others.
 *                         arXiv 2503.19595.
 *   monte_carlo           R_t, no baseline.
 *   opo                   R - sum(length x R) / sum(length) of the group. arXiv 2505.23585.
 *   gpg                   (R - mean) x plays / plays with a reward other than 0, counted over the
 *                         batch. arXiv 2504.02546.
 *   reinforce_pp          R_t, whitened over the batch's sampled tokens. Hu 2025, arXiv 2501.03262.
 *   reinforce_pp_baseline R - mean of the group, whitened over the sampled tokens of the groups
 * that have unequal rewards. Same paper.
 *
 * The formulas are those of verl (verl/trainer/ppo/core_algos.py, where reinforce_plus_plus is the
 * paper's spelling) with three changes: every std is the population's; nothing is added to it,
 * since equality is tested on values and never on a std; and where a formula subtracts or compares
 * within the group, a group of equal rewards - a group of one too - gets exactly 0.
 */
#ifndef GG_RL_ADVANTAGE_H
#define GG_RL_ADVANTAGE_H

#include <stdbool.h>
#include <stddef.h>

#include <guessgym/error.h>

/* Rewards whose spread is at most this share of the largest magnitude are equal: sums of the same
 * parts in another order differ by rounding alone. */
#define GG_EQUAL_REWARDS 1e-12

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
/* GG_E_ARGUMENT with the list of names when there is no such method. */
gg_status gg_advantage_parse(const char *name, gg_advantage *out, gg_error *error);

/* True when all values are equal in the sense of GG_EQUAL_REWARDS; true for none and for one. */
bool gg_rewards_equal(const double *values, size_t count);

/* One play as the formulas see it. */
typedef struct gg_play_return {
    double reward;
    const double *by_turn; /* turn_count rewards, or NULL */
    size_t turn_count;
    size_t tokens;             /* sampled tokens: opo and the whitening weigh by them */
    const size_t *turn_tokens; /* the same a turn; NULL = spread evenly over the turns */
} gg_play_return;

/* A batch is `groups` groups, plays[first[g]] .. plays[first[g+1]-1]; `first` has groups+1 entries.
 * Writes one advantage a turn into out[play][turn] (the same value for all turns of a play unless
 * the method uses R_t) and into signal[g] whether any of the group's is not 0. gpg, reinforce_pp
 * and reinforce_pp_baseline look at the whole batch. A reward that is not finite is GG_E_ARGUMENT
 * and names the play. */
gg_status gg_advantages(gg_advantage method, const gg_play_return *plays, const size_t *first,
                        size_t groups, double *const *out, bool *signal, gg_error *error);

#endif
