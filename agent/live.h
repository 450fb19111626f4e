/*
 * The live line: a run's state as one line of plain text. A pure function; where and whether it is
 * shown is the program's business.
 */
#ifndef GG_AGENT_LIVE_H
#define GG_AGENT_LIVE_H

#include "agent/rollout.h"

#define GG_LIVE_STUCK_MS 60000 /* no reply for so long, with requests out and no pause */
#define GG_LIVE_ETA_DONE 3     /* episodes before a time is predicted */

/* Appends, without a line end:
 *
 *   120/2048 6% | solved 61.2% [52.1, 69.5] | working | ETA 2m10s | 12.3 req/s | 1.2M tokens | 64
 * in flight, oldest s0-g12-3 14s
 *
 * In place of "working": "backing off, 41s more (rate, 64 waiting)", "stuck for 2m05s". What is not
 * known is left out. `earlier` is a snapshot from a few seconds ago, for the rate; NULL = the mean
 * since the start. The line is cut to `columns` (0 = no limit). */
void gg_live_line(const gg_rollout_state *state, const gg_rollout_state *earlier, size_t columns,
                  gg_buf *out);
/* "14s", "2m05s", "1h05m"; and "950", "1.2k", "3.4M". */
void gg_live_time(int64_t ms, gg_buf *out);
void gg_live_count(int64_t count, gg_buf *out);

#endif
