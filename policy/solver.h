/*
 * The baselines: solvers that use the marks fully and learn nothing.
 *
 *   random      any allowed word
 *   consistent  a random answer that agrees with all marks
 *   entropy, buckets, expected, minimax
 *               greedy over all allowed words, by how the answers still possible would split into
 *               groups of equal marks: largest entropy, most groups, smallest expected group,
 *               smallest largest group. Ties: a still-possible answer first, then file order. With
 *               one or two answers left, the first. Exact: equal scores are found equal.
 *
 * When no answer agrees with the marks (a word outside the list is hidden), the first allowed word
 * that does is played, else the first answer.
 *
 * Threads: a solver is shared; its cache is behind a lock and changes speed only.
 */
#ifndef GG_POLICY_SOLVER_H
#define GG_POLICY_SOLVER_H

#include "policy/board.h"

typedef enum gg_baseline {
    GG_BASELINE_RANDOM,
    GG_BASELINE_CONSISTENT,
    GG_BASELINE_ENTROPY,
    GG_BASELINE_BUCKETS,
    GG_BASELINE_EXPECTED,
    GG_BASELINE_MINIMAX
} gg_baseline;

#define GG_SOLVER_CACHE 65536 /* boards remembered */

typedef struct gg_solver gg_solver;

/* `words` is borrowed. */
gg_status gg_solver_new(const gg_words *words, gg_baseline kind, gg_solver **out, gg_error *error);
void gg_solver_free(gg_solver *solver);
/* The word to play (borrowed from the lists). `seed` matters to the first two alone. */
gg_status gg_solver_pick(gg_solver *solver, const gg_board *board, uint64_t seed, const char **word,
                         gg_error *error);

#endif
