#include "agent/rollout.h"
#include "agent/drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct slot slot;

/* A planned episode that has been begun. */
struct slot {
    gg_drive drive; /* first */
    gg_rollout *rollout;
    slot *before, *after;      /* in the order they were begun */
    size_t index;              /* in the plan */
    int plays;                 /* begun so far */
    int64_t begun_ms, play_ms; /* uv_now clock */
    int64_t replies_before;    /* of the whole rollout, when this was begun */
};

typedef enum stopping { GO_ON, DRAIN, ABANDON } stopping;

struct gg_rollout {
    gg_driver driver; /* first */
    uv_loop_t *loop;
    gg_rollout_options options;
    gg_stage *stage;
    gg_ledger ledger;
    const gg_planned *plan;
    size_t count, next, done, in_flight;
    gg_episode_fn each;
    void *context;
    slot *first, *last;
    stopping stopping; /* what the user asked for */
    bool halted;       /* the run cannot go on: `error` says why */
    gg_error error;
    char last_failure[GG_ERROR_TEXT];
    int64_t started_ms, limit_ms; /* uv_now clock; limit 0 = none */
    int64_t replies;              /* good ones, over all plays */
    int refused;                  /* first requests refused while no reply was ever good */
    int dead;                     /* episodes in a row that failed while nobody got a reply */
};

static void fill(gg_rollout *r);
static void heard(gg_drive *drive, const gg_post_result *result);
static bool goes_on(const gg_drive *drive);
static void end_episode(gg_drive *drive);
static void broken(gg_drive *drive, const gg_error *error);
static void after(gg_driver *driver);

static int64_t now(const gg_rollout *r)
{
    return (int64_t)uv_now(r->loop);
}

gg_status gg_rollout_new(uv_loop_t *loop, const gg_rollout_options *options, gg_rollout **out,
                         gg_error *error)
{
    *out = NULL;
    if (options->concurrency == 0)
        return gg_fail(error, GG_E_CONFIG, "concurrency must be at least 1");
    gg_rollout *r = calloc(1, sizeof *r);
    if (!r)
        return gg_fail(error, GG_E_MEMORY, "out of memory");
    r->loop = loop;
    r->options = *options;
    gg_driver_init(&r->driver, loop, options->game);
    r->driver.heard = heard;
    r->driver.goes_on = goes_on;
    r->driver.over = end_episode;
    r->driver.broken = broken;
    r->driver.after = after;
    gg_stage_options stage = {.game = options->game,
                              .reward = options->reward,
                              .ask = options->ask,
                              .endpoint = gg_endpoint_shown(options->endpoint),
                              .id_prefix = options->id_prefix,
                              .seed = options->seed,
                              .weight_version = options->weight_version};
    gg_status status = gg_stage_new(&stage, &r->stage, error);
    if (status != GG_OK) {
        gg_rollout_free(r);
        return status;
    }
    *out = r;
    return GG_OK;
}

void gg_rollout_free(gg_rollout *r)
{
    if (!r)
        return;
    gg_driver_free(&r->driver);
    gg_stage_free(r->stage);
    free(r);
}

void gg_rollout_set(gg_rollout *r, const char *id_prefix, int64_t weight_version)
{
    gg_stage_set(r->stage, id_prefix, weight_version);
}

const gg_ledger *gg_rollout_ledger(const gg_rollout *r)
{
    return &r->ledger;
}

size_t gg_rollout_hanging(const gg_rollout *r)
{
    return gg_offload_count(&r->driver.behind);
}

/* ------------------------------------------------------------------ stopping */

/* Ends the run with what `error` says; the first reason stays. */
static void halt(gg_rollout *r, const gg_error *error)
{
    if (!r->halted)
        r->error = *error;
    r->halted = true;
}

static void halt_endpoint(gg_rollout *r, const char *what, const char *message)
{
    gg_error error;
    gg_fail(&error, GG_E_UNREACHABLE, "%s %s%s%s", gg_endpoint_shown(r->options.endpoint), what,
            *message ? ": " : "", message);
    halt(r, &error);
}

/* Nothing goes on: what is in flight is thrown away. */
static bool must_abandon(const gg_rollout *r)
{
    return r->halted || r->stopping == ABANDON;
}

static bool begins_more(const gg_rollout *r)
{
    return !r->halted && r->stopping == GO_ON;
}

void gg_rollout_stop(gg_rollout *r)
{
    if (r->stopping < ABANDON)
        r->stopping++;
}

/* ------------------------------------------------------------------ slots */

static void unlink_slot(slot *s)
{
    gg_rollout *r = s->rollout;
    if (s->before)
        s->before->after = s->after;
    else
        r->first = s->after;
    if (s->after)
        s->after->before = s->before;
    else
        r->last = s->before;
    r->in_flight--;
}

static void free_slot(slot *s)
{
    gg_drive_stop(&s->drive);
    gg_actor_free(s->drive.actor);
    unlink_slot(s);
    free(s);
}

static void abandon(gg_rollout *r)
{
    for (slot *s = r->first, *after; s; s = after) {
        after = s->after;
        free_slot(s);
    }
}

/* ------------------------------------------------------------------ the end of an episode */

/* Hands a finished episode over and frees its slot. */
static void hand_over(slot *s)
{
    gg_rollout *r = s->rollout;
    gg_episode *episode;
    gg_error error;
    gg_status status = gg_actor_finish(s->drive.actor, now(r) - s->play_ms, &episode, &error);
    size_t index = s->index;
    free_slot(s);
    if (status == GG_OK) {
        gg_ledger_add(&r->ledger, episode);
        r->done++;
        status = r->each(r->context, index, episode, &error);
    }
    if (status != GG_OK)
        halt(r, &error);
}

static gg_status begin_play(slot *s, gg_error *error)
{
    gg_rollout *r = s->rollout;
    char started[GG_STARTED_ROOM];
    gg_drive_clock(started);
    s->plays++;
    s->play_ms = now(r);
    return gg_actor_new(r->stage, &r->plan[s->index], started, &s->drive.actor, error);
}

/* The endpoint answers nobody: several episodes failed one after the other, each over all its
 * plays, and no request at all succeeded meanwhile. */
static void note_dead(slot *s)
{
    gg_rollout *r = s->rollout;
    r->dead = s->replies_before == r->replies ? r->dead + 1 : 0;
    if (r->dead >= GG_DEAD_STOP)
        halt_endpoint(r, "answers no request any more", r->last_failure);
}

/* Whether an errored episode gets another play. */
static bool plays_again(const slot *s)
{
    const gg_rollout *r = s->rollout;
    gg_stop stop = gg_actor_stop_reason(s->drive.actor);
    bool hopeless = stop == GG_STOP_DEADLINE ||
                    (stop == GG_STOP_REFUSED && gg_actor_turns(s->drive.actor) <= 1);
    return !hopeless && begins_more(r) && s->plays <= GG_PLAY_AGAIN &&
           now(r) < s->drive.deadline_ms;
}

static void end_episode(gg_drive *drive)
{
    slot *s = (slot *)drive;
    gg_rollout *r = s->rollout;
    gg_error error;
    if (gg_actor_outcome(s->drive.actor) != GG_ERRORED) {
        hand_over(s);
        return;
    }
    if (plays_again(s)) {
        gg_actor_free(s->drive.actor);
        s->drive.actor = NULL;
        r->ledger.replayed++;
        gg_status status = begin_play(s, &error);
        if (status == GG_OK)
            gg_drive_step(drive);
        else
            halt(r, &error);
        return;
    }
    note_dead(s);
    /* A drained run leaves it unplayed, so that the next one gives it its other plays. */
    if (begins_more(r))
        hand_over(s);
    else
        free_slot(s);
}

/* ------------------------------------------------------------------ requests */

/* What a failed request says about the run as a whole. */
static void note_failure(slot *s, const gg_post_result *result)
{
    gg_rollout *r = s->rollout;
    snprintf(r->last_failure, sizeof r->last_failure, "%s", result->message);
    if (result->outcome == GG_RETRY_STOP)
        halt_endpoint(r, "will not serve this run", result->message);
    /* A first request that does not fit into the context is as hopeless as one that is refused. */
    bool refused = result->outcome == GG_RETRY_REFUSED || result->outcome == GG_RETRY_CONTEXT;
    if (!refused || r->replies || gg_actor_turns(s->drive.actor))
        return;
    if (++r->refused >= GG_REFUSED_STOP)
        halt_endpoint(r, "refuses every request", result->message);
}

static void heard(gg_drive *drive, const gg_post_result *result)
{
    slot *s = (slot *)drive;
    if (result->outcome == GG_RETRY_OK)
        s->rollout->replies++;
    else
        note_failure(s, result);
}

static bool goes_on(const gg_drive *drive)
{
    return !must_abandon(((const slot *)drive)->rollout);
}

static void broken(gg_drive *drive, const gg_error *error)
{
    halt(((slot *)drive)->rollout, error);
}

static void after(gg_driver *driver)
{
    fill((gg_rollout *)driver);
}

static void check_deadlines(gg_rollout *r)
{
    for (slot *s = r->first, *next; s; s = next) {
        next = s->after;
        if (gg_drive_overdue(&s->drive))
            end_episode(&s->drive);
    }
}

static void start(gg_rollout *r)
{
    gg_error error;
    slot *s = calloc(1, sizeof *s);
    if (!s) {
        gg_fail(&error, GG_E_MEMORY, "out of memory for an episode");
        halt(r, &error);
        return;
    }
    s->rollout = r;
    s->drive = (gg_drive){.driver = &r->driver,
                          .endpoint = r->options.endpoint,
                          .path = r->options.ask->path,
                          .headers = r->options.ask->headers};
    s->index = r->next++;
    s->before = r->last;
    if (r->last)
        r->last->after = s;
    else
        r->first = s;
    r->last = s;
    r->in_flight++;
    s->begun_ms = now(r);
    s->replies_before = r->replies;
    s->drive.deadline_ms = s->begun_ms + r->options.ask->episode_ms;
    gg_status status = begin_play(s, &error);
    if (status == GG_OK)
        gg_drive_step(&s->drive);
    else
        halt(r, &error);
}

/* Begins planned episodes up to the limit. */
static void fill(gg_rollout *r)
{
    while (begins_more(r) && r->next < r->count && r->in_flight < r->options.concurrency)
        start(r);
}

/* ------------------------------------------------------------------ a play */

static void on_tick(uv_timer_t *timer)
{
    gg_rollout *r = timer->data;
    gg_error error;
    check_deadlines(r);
    fill(r);
    if (r->limit_ms && now(r) >= r->limit_ms) {
        gg_fail(&error, GG_E_INTERRUPTED, "the run's time limit of %lld s is reached",
                (long long)(r->options.run_ms / 1000));
        halt(r, &error);
    }
}

static void free_timer(uv_handle_t *timer)
{
    free(timer);
}

/* The loop's own iterations wake us for all but time limits. */
static gg_status start_tick(gg_rollout *r, uv_timer_t **out, gg_error *error)
{
    *out = NULL;
    if (!r->options.game->info.may_block && !r->limit_ms)
        return GG_OK;
    uv_timer_t *timer = malloc(sizeof *timer);
    if (!timer || uv_timer_init(r->loop, timer) != 0) {
        free(timer);
        return gg_fail(error, GG_E_MEMORY, "out of memory for a timer");
    }
    timer->data = r;
    uv_timer_start(timer, on_tick, GG_TICK_MS, GG_TICK_MS);
    *out = timer;
    return GG_OK;
}

/* Nothing ever worked: a list of errored episodes would hide that, and so would one of truncated
 * ones (a token limit above what the model takes is refused as a context that is full). */
static void check_any_reply(gg_rollout *r)
{
    int64_t failed = r->ledger.by_outcome[GG_ERRORED] + r->ledger.by_outcome[GG_TRUNCATED];
    if (!r->halted && !r->replies && r->count && failed == (int64_t)r->count)
        halt_endpoint(r, "answered no request", r->last_failure);
}

static void begin(gg_rollout *r, const gg_planned *plan, size_t count, gg_episode_fn each,
                  void *context)
{
    uv_update_time(r->loop);
    r->plan = plan;
    r->count = count;
    r->next = r->done = 0;
    r->each = each;
    r->context = context;
    r->halted = false;
    r->dead = 0;
    r->ledger = (gg_ledger){.planned = (int64_t)count};
    r->started_ms = now(r);
    r->limit_ms = r->options.run_ms ? r->started_ms + r->options.run_ms : 0;
}

static void run(gg_rollout *r)
{
    gg_error error;
    fill(r);
    while (r->in_flight && !must_abandon(r)) {
        if (uv_run(r->loop, UV_RUN_ONCE) || !r->in_flight)
            continue;
        gg_fail(&error, GG_E_STATE, "%zu episodes wait for nothing", r->in_flight);
        halt(r, &error);
    }
    abandon(r);
}

gg_status gg_rollout_play(gg_rollout *r, const gg_planned *plan, size_t count, gg_episode_fn each,
                          void *context, gg_error *error)
{
    uv_timer_t *timer;
    begin(r, plan, count, each, context);
    gg_status status = start_tick(r, &timer, error);
    if (status != GG_OK)
        return status;
    run(r);
    if (timer) {
        uv_close((uv_handle_t *)timer, free_timer);
        uv_run(r->loop, UV_RUN_NOWAIT);
    }
    r->ledger.by_outcome[GG_UNPLAYED] = (int64_t)(count - r->done);
    check_any_reply(r);
    if (r->halted) {
        *error = r->error;
        return error->status;
    }
    if (r->done < count)
        return gg_fail(error, GG_E_INTERRUPTED, "interrupted with %zu of %zu episodes played",
                       r->done, count);
    return GG_OK;
}

void gg_rollout_look(const gg_rollout *r, gg_rollout_state *out)
{
    *out = (gg_rollout_state){.ledger = r->ledger,
                              .in_flight = r->in_flight,
                              .done = r->done,
                              .now_ms = now(r),
                              .started_ms = r->started_ms};
    if (r->first && r->first->drive.actor) {
        out->oldest_id = gg_actor_id(r->first->drive.actor);
        out->oldest_ms = now(r) - r->first->begun_ms;
    }
    gg_endpoint_look(r->options.endpoint, &out->endpoint);
}
