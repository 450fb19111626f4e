/* The plays of a saved run as training rows: `train --from RUN`. */
#ifndef GG_CLI_TRAIN_FROM_H
#define GG_CLI_TRAIN_FROM_H

#include "agent/tasks.h"
#include "core/run.h"

typedef struct gg_saved_plays {
    gg_tasks rows;      /* one a group of the run; no prompts */
    gg_episode **plays; /* rows.count * samples, with their tokens */
    size_t samples;
} gg_saved_plays;

/* Groups that are not whole are left out; none left is GG_E_CONFIG. */
gg_status gg_saved_plays_read(const char *dir, gg_saved_plays *out, gg_error *error);
void gg_saved_plays_free(gg_saved_plays *saved);

#endif
