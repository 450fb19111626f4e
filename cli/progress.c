#include "cli/progress.h"

#include "cli/term.h"

#define FIRST_MS    100
#define EVERY_MS    250
#define SNAPSHOT_MS 5000
#define LINE_ROOM   4096
#define ECHO_ROOM   3 /* for the ^C that a terminal echoes */

/* Keeps one snapshot that is five to ten seconds old. */
static void keep_snapshot(gg_progress *p, const gg_rollout_state *now)
{
    if (p->latest_ms != 0 && now->now_ms - p->latest_ms < SNAPSHOT_MS)
        return;
    p->earlier = p->latest;
    p->latest = *now;
    p->latest_ms = now->now_ms;
}

static void draw(uv_timer_t *timer)
{
    gg_progress *p = timer->data;
    gg_rollout_state state;

    gg_rollout_look(p->rollout, &state);
    gg_buf_reset(&p->line);
    gg_live_line(&state, p->earlier.now_ms ? &p->earlier : NULL,
                 (size_t)(gg_term_width(stderr) - ECHO_ROOM), &p->line);
    keep_snapshot(p, &state);
    fprintf(stderr, "\r%s\x1b[K", gg_buf_cstr(&p->line));
    fflush(stderr);
    p->shown = true;
}

void gg_progress_start(gg_progress *progress, const gg_cli *cli, uv_loop_t *loop,
                       const gg_rollout *rollout)
{
    *progress =
        (gg_progress){.rollout = rollout,
                      .active = gg_term_is_tty(stderr) && !gg_opt_flag(cli->opts, GG_OPT_QUIET)};
    if (!progress->active)
        return;
    gg_buf_init(&progress->line, LINE_ROOM);
    uv_timer_init(loop, &progress->timer);
    progress->timer.data = progress;
    uv_timer_start(&progress->timer, draw, FIRST_MS, EVERY_MS);
    uv_unref((uv_handle_t *)&progress->timer);
}

void gg_progress_wipe(gg_progress *progress)
{
    if (progress->shown)
        fputs("\r\x1b[K", stderr);
    progress->shown = false;
}

void gg_progress_stop(gg_progress *progress)
{
    if (!progress->active)
        return;
    gg_progress_wipe(progress);
    uv_close((uv_handle_t *)&progress->timer, NULL);
    gg_buf_free(&progress->line);
    progress->active = false;
}
