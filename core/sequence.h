/*
 * The token record of an episode while it is played: what each turn's prompt adds to the sequence
 * before it, what was sampled, and whether the sequence stayed append-only.
 */
#ifndef GG_CORE_SEQUENCE_H
#define GG_CORE_SEQUENCE_H

#include <guessgym/record.h>

/* One turn's tokens as an endpoint told them; borrowed. */
typedef struct gg_sequence_turn {
    const int32_t *prompt_ids;
    size_t prompt_count;
    const int32_t *ids;
    const double *logprobs; /* one an id, or NULL */
    size_t count;
} gg_sequence_turn;

/* Adds the tokens of the episode's newest turn; turns before it that have no entry get an empty
 * one. `tokens` NULL (or without ids) = the turn has none; ids without prompt ids stand behind the
 * sequence as it is known. *forked tells whether its prompt departed from the sequence before it.
 */
gg_status gg_sequence_add(gg_episode *episode, const gg_sequence_turn *tokens, bool *forked,
                          gg_error *error);

#endif
