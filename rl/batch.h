/*
 * Which tasks a training step plays. Each epoch is one shuffle of all rows by the seed; a step
 * takes the next `batch` of it; the rest that fills no batch is dropped until the next epoch. A
 * pure function of its arguments, so a resumed training and a job draw the same batches.
 */
#ifndef GG_RL_BATCH_H
#define GG_RL_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include <guessgym/error.h>

/* Writes `batch` row numbers of step `step` (from 1) into `out`. Fewer rows than one batch is
 * GG_E_CONFIG. */
gg_status gg_batch_draw(size_t rows, size_t batch, uint64_t seed, int64_t step, uint32_t *out,
                        gg_error *error);
/* Epoch of a step, from 0. */
int64_t gg_batch_epoch(size_t rows, size_t batch, int64_t step);

#endif
