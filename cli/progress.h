/* The live line of a rollout on stderr: redrawn a few times a second, on a terminal only. */
#ifndef GG_CLI_PROGRESS_H
#define GG_CLI_PROGRESS_H

#include <uv.h>

#include "agent/live.h"
#include "cli/command.h"

typedef struct gg_progress {
    uv_timer_t timer;
    const gg_rollout *rollout;
    gg_rollout_state earlier, latest; /* snapshots, for rates of the last seconds */
    int64_t latest_ms;
    bool shown; /* there is a line to wipe */
    bool active;
    gg_buf line;
} gg_progress;

/* Does nothing where stderr is no terminal, or with --quiet. The loop must outlive the progress;
 * the timer does not keep it running. */
void gg_progress_start(gg_progress *progress, const gg_cli *cli, uv_loop_t *loop,
                       const gg_rollout *rollout);
/* Wipes the line, so that something else can be said; it comes back by itself. */
void gg_progress_wipe(gg_progress *progress);
/* Wipes the line and closes the timer (the caller lets the loop run once more). */
void gg_progress_stop(gg_progress *progress);

#endif
