/*
 * From an episode's token record to training sequences.
 *
 * One datum is one whole token sequence up to the last sampled token: input = ids[0..n-2],
 * target_tokens = ids[1..n-1]; weights, logprobs and advantages have the same length n-1, follow
 * the target and are zero elsewhere. A sequence that is not append-only (a later prompt does not
 * begin with the earlier prompt + samples) is split at the fork, never glued.
 */
#ifndef GG_RL_DATUM_H
#define GG_RL_DATUM_H

#include <guessgym/record.h>

#include "core/json.h"
#include "rl/advantage.h"

#define GG_DATUMS_PER_OPERATION 1024
#define GG_OPERATION_BYTES      10000000 /* by the SDK's estimate: 10 a token and a tensor element */

typedef struct gg_datum {
    size_t n; /* length of every array */
    int32_t *input, *target;
    double *weights, *logprobs, *advantages;
    int64_t weight_version; /* of the sampled tokens; for the staleness bound */
} gg_datum;

typedef struct gg_datums {
    gg_datum *items;
    size_t count, room;
} gg_datums;

void gg_datums_free(gg_datums *datums);
/* Appends the episode's sequences. `advantage` has one value a turn. Lengths and alignment are
 * checked. */
gg_status gg_datums_add(gg_datums *datums, const gg_episode *episode, const double *advantage,
                        gg_error *error);
/* The SDK's estimate of a datum's bytes. */
size_t gg_datum_estimate(const gg_datum *datum);
/* Wire form, one element of datumList: {"modelInput":{"chunks":[...]},"lossFnInputs":{...}}. */
void gg_datum_write(const gg_datum *datum, gg_buf *out);
/* Reads one element of datumList; checks lengths and keys. `required` is a loss's key set
 * (rl/loss.h). */
gg_status gg_datum_read(gg_json_reader *reader, gg_datum *out, gg_error *error);
void gg_datum_free(gg_datum *datum);

#endif
