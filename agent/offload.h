/*
 * Calls of a blocking environment, run on libuv's thread pool.
 *
 * A call owns all that its thread touches but the play and the game. A call that goes on too long
 * cannot be interrupted; it is left behind, with its play, and cleans up when it comes back.
 *
 * Threads: the loop's thread, but for the job itself.
 */
#ifndef GG_AGENT_OFFLOAD_H
#define GG_AGENT_OFFLOAD_H

#include <uv.h>

#include "agent/episode.h"

typedef struct gg_offload gg_offload;

/* Calls left behind that have not come back. Zeroed = none. */
typedef struct gg_offload_list {
    gg_offload *first;
} gg_offload_list;

typedef void (*gg_offload_done)(void *context, const gg_job *job);

/* Copies the job's texts and gives it buffers of its own. `done` is called on the loop. */
gg_status gg_offload_start(uv_loop_t *loop, const gg_job *job, gg_offload_done done, void *context,
                           gg_offload **out, gg_error *error);
/* No callback; the job's play, which is the offload's from now on, is finished when the call comes
 * back. */
void gg_offload_leave(gg_offload *offload, gg_offload_list *behind);
size_t gg_offload_count(const gg_offload_list *behind);
/* The list goes away before its calls come back. */
void gg_offload_forget(gg_offload_list *behind);

#endif
