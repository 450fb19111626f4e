/*
 * From an episode's token record to training sequences.
 *
 * One datum is one whole token sequence up to the last sampled token: input = ids[0..n-2],
 * target_tokens = ids[1..n-1]; weights, logprobs and advantages have the same length n-1, follow
 * the target and are zero elsewhere. A sequence that is not append-only (a later prompt does not
 * begin with the earlier prompt + samples) is split at the fork, never glued.
 *
 * Threads: one at a time. Ownership: a gg_datum owns its arrays.
 */
#ifndef GG_RL_DATUM_H
#define GG_RL_DATUM_H

#include <guessgym/record.h>

#include "core/json.h"

#define GG_DATUMS_PER_OPERATION 1024
#define GG_OPERATION_BYTES      10000000 /* by the SDK's estimate: 10 a token and a tensor element */
#define GG_SEQUENCE_MAX         65536    /* tokens of one sequence */

/* The tensors a datum may carry on the wire. `ref_log_prob` and `temperature` are accepted and
 * passed over: no loss of rl/loss.h has a use for them. */
#define GG_TENSOR_TARGET     1u
#define GG_TENSOR_WEIGHTS    2u
#define GG_TENSOR_LOGPROBS   4u
#define GG_TENSOR_ADVANTAGES 8u

typedef struct gg_datum {
    size_t n; /* length of input, and of every tensor unless `fault` is set */
    int32_t *input, *target;
    double *weights, *logprobs, *advantages; /* like `target`, NULL when not there */
    /* A tensor that cannot be used, as half a sentence, static: of another length than the input,
     * or with an element that is no number. NULL = fine. Such a datum is accepted and the operation
     * that uses it fails. */
    const char *fault;
    int64_t weight_version; /* of the first sampled tokens; for the staleness bound; -1 = unknown */
} gg_datum;

typedef struct gg_datums {
    gg_datum *items;
    size_t count, room;
} gg_datums;

void gg_datums_free(gg_datums *datums); /* the items too; the struct is the caller's */
void gg_datum_free(gg_datum *datum);
/* A zeroed element at the end; NULL when memory is short. */
gg_datum *gg_datums_push(gg_datums *datums);

/* Appends the episode's sequences: none when no token was sampled. `advantage` has one value a
 * turn; NULL gives datums without advantages. Where the record has no logprobs, the datum has none
 * either and fits cross_entropy only. GG_E_FORMAT, naming episode and turn, when the record's
 * lengths or positions do not fit together. */
gg_status gg_datums_add(gg_datums *datums, const gg_episode *episode, const double *advantage,
                        gg_error *error);

/* GG_TENSOR_ bits of what the datum carries. */
unsigned gg_datum_tensors(const gg_datum *datum);
/* The wire's name of one bit: "target_tokens" ... */
const char *gg_tensor_name(unsigned bit);
/* The SDK's estimate of a datum's bytes. */
size_t gg_datum_estimate(const gg_datum *datum);

/* Wire form, one element of datumList: {"modelInput":{"chunks":[...]},"lossFnInputs":{...}}. */
void gg_datum_write(const gg_datum *datum, gg_buf *out);
/* Reads one element of datumList into a zeroed datum. GG_E_FORMAT for what is no datum: broken
 * JSON, no chunk, an unknown tensor or dtype. A tensor of a wrong length is told by `fault`. On
 * failure the datum is left empty. */
gg_status gg_datum_read(gg_json_reader *reader, gg_datum *out, gg_error *error);

#endif
