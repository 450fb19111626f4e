/* Training sequences of whole games of an embedded policy, played in memory. Failures fail the
 * test. */
#ifndef GG_TESTS_GAMES_H
#define GG_TESTS_GAMES_H

#include "policy/policy.h"
#include "rl/datum.h"

/* Plays `count` games at low effort, of hidden words drawn by the seed, and appends their datums.
 * Advantages are drawn by the seed too, one a game. */
void games_datums(const gg_policy *policy, const gg_weights *weights, double scale, size_t count,
                  uint64_t seed, gg_datums *out);

#endif
