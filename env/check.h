/*
 * Conformance: walks an environment through its contract and reports each rule as kept or broken.
 * This is what `guessgym env-check` runs, and what any environment's own test can call.
 */
#ifndef GG_ENV_CHECK_H
#define GG_ENV_CHECK_H

#include "env/env.h"

/* One line a rule: `rule` is a short name, `detail` says what was seen when broken (else ""). */
typedef void (*gg_check_fn)(void *context, const char *rule, bool kept, const char *detail);

/* Plays `tasks` (prompt strings; NULL = the shipped ones) with seeded hostile and sane input.
 * *broken counts the rules that do not hold. */
gg_status gg_env_check(const gg_game *game, const char *const *tasks, size_t task_count,
                       uint64_t seed, gg_check_fn each, void *context, size_t *broken,
                       gg_error *error);

#endif
