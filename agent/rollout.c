#include "agent/rollout.h"
#include "agent/offload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct slot slot;

/* A planned episode that has been begun. */
struct slot {
    gg_rollout *rollout;
    slot *before, *after; /* in the order they were begun */
    size_t index;         /* in the plan */
    gg_actor *actor;
    gg_post *post;                          /* a request on its way */
    gg_offload *call;                       /* one on the thread pool */
    int plays;                              /* begun so far */
    int64_t begun_ms, play_ms, deadline_ms; /* uv_now clock */
    int64_t replies_before;                 /* of the whole rollout, when this was begun */
};

typedef enum stopping { GO_ON, DRAIN, ABANDON } stopping;

struct gg_rollout {
    uv_loop_t *loop;
    gg_rollout_options options;
    gg_stage *stage;
    gg_reply reply; /* of the request whose callback runs */
    gg_buf body;
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
    gg_offload_list behind;
};

static void fill(gg_rollout *r);
static void step(slot *s);

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
    gg_reply_init(&r->reply);
    gg_buf_init(&r->body, GG_REQUEST_MAX);
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
    gg_offload_forget(&r->behind);
    gg_stage_free(r->stage);
    gg_reply_free(&r->reply);
    gg_buf_free(&r->body);
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
    return gg_offload_count(&r->behind);
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

static void leave_call(slot *s)
{
    (void)gg_actor_release(s->actor); /* the call keeps it */
    gg_offload_leave(s->call, &s->rollout->behind);
    s->call = NULL;
}

static void free_slot(slot *s)
{
    if (s->post)
        gg_post_cancel(s->post);
    if (s->call)
        leave_call(s);
    gg_actor_free(s->actor);
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
    gg_status status = gg_actor_finish(s->actor, now(r) - s->play_ms, &episode, &error);
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
    struct timespec wall;
    struct tm utc;
    char day[32], started[64];
    clock_gettime(CLOCK_REALTIME, &wall);
    gmtime_r(&wall.tv_sec, &utc);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(started, sizeof started, "%s.%03ldZ", day, wall.tv_nsec / 1000000);
    s->plays++;
    s->play_ms = now(r);
    return gg_actor_new(r->stage, &r->plan[s->index], started, &s->actor, error);
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
    gg_stop stop = gg_actor_stop_reason(s->actor);
    bool hopeless =
        stop == GG_STOP_DEADLINE || (stop == GG_STOP_REFUSED && gg_actor_turns(s->actor) <= 1);
    return !hopeless && begins_more(r) && s->plays <= GG_PLAY_AGAIN && now(r) < s->deadline_ms;
}

static void end_episode(slot *s)
{
    gg_rollout *r = s->rollout;
    gg_error error;
    if (gg_actor_outcome(s->actor) != GG_ERRORED) {
        hand_over(s);
        return;
    }
    if (plays_again(s)) {
        gg_actor_free(s->actor);
        s->actor = NULL;
        r->ledger.replayed++;
        gg_status status = begin_play(s, &error);
        if (status == GG_OK)
            step(s);
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

static gg_retry_class judge(void *context, const gg_http_reply *reply, gg_buf *message)
{
    slot *s = context;
    return gg_reply_judge(&s->rollout->reply, reply, message);
}

/* What a failed request says about the run as a whole. */
static void note_failure(slot *s, const gg_post_result *result)
{
    gg_rollout *r = s->rollout;
    snprintf(r->last_failure, sizeof r->last_failure, "%s", result->message);
    if (result->outcome == GG_RETRY_STOP)
        halt_endpoint(r, "will not serve this run", result->message);
    /* A first request that does not fit into the context is as hopeless as one that is refused. */
    bool refused = result->outcome == GG_RETRY_REFUSED || result->outcome == GG_RETRY_CONTEXT;
    if (!refused || r->replies || gg_actor_turns(s->actor))
        return;
    if (++r->refused >= GG_REFUSED_STOP)
        halt_endpoint(r, "refuses every request", result->message);
}

static void done(void *context, const gg_post_result *result)
{
    slot *s = context;
    gg_rollout *r = s->rollout;
    gg_error error;
    gg_status status;
    gg_exchange_log log = {result->attempts, result->attempt_count,
                           result->reply ? result->reply->elapsed_ms : 0};
    s->post = NULL;
    if (result->outcome == GG_RETRY_OK) {
        r->replies++;
        status = gg_actor_reply(s->actor, &r->reply, &log, &error);
    } else {
        note_failure(s, result);
        status = gg_actor_failed(s->actor, result->outcome, result->message, &log, &error);
    }
    if (status != GG_OK)
        halt(r, &error);
    else if (!must_abandon(r))
        step(s);
    fill(r);
}

static gg_status ask_for_reply(slot *s, gg_error *error)
{
    gg_rollout *r = s->rollout;
    gg_buf_reset(&r->body);
    gg_status status = gg_actor_request(s->actor, &r->body, error);
    if (status != GG_OK)
        return status;
    gg_post_request request = {.path = r->options.ask->path,
                               .body = r->body.data,
                               .len = r->body.len,
                               .headers = r->options.ask->headers,
                               .deadline_ms = s->deadline_ms,
                               .accept = judge};
    return gg_endpoint_send(r->options.endpoint, &request, done, s, &s->post, error);
}

/* ------------------------------------------------------------------ blocking calls */

static void call_done(void *context, const gg_job *job)
{
    slot *s = context;
    gg_rollout *r = s->rollout;
    gg_error error;
    s->call = NULL;
    gg_status status = gg_actor_did(s->actor, job, &error);
    if (status != GG_OK)
        halt(r, &error);
    else if (!must_abandon(r))
        step(s);
    fill(r);
}

static gg_status call_elsewhere(slot *s, gg_error *error)
{
    gg_job job;
    gg_actor_job(s->actor, &job);
    return gg_offload_start(s->rollout->loop, &job, call_done, s, &s->call, error);
}

/* A call that blocks past its episode's deadline cannot be interrupted, only left behind. */
static void check_deadlines(gg_rollout *r)
{
    for (slot *s = r->first, *after; s; s = after) {
        after = s->after;
        if (!s->call || now(r) < s->deadline_ms)
            continue;
        leave_call(s);
        gg_actor_abort(s->actor, GG_STOP_DEADLINE,
                       "a call of the environment went on past the episode's deadline");
        end_episode(s);
    }
}

/* ------------------------------------------------------------------ the machine's turn */

static gg_status call_here(slot *s, gg_error *error)
{
    gg_job job;
    gg_actor_job(s->actor, &job);
    gg_job_run(&job);
    return gg_actor_did(s->actor, &job, error);
}

/* Does what the episode wants until it has to wait for something or is over. */
static void step(slot *s)
{
    gg_rollout *r = s->rollout;
    gg_error error;
    gg_status status = GG_OK;
    while (status == GG_OK) {
        switch (gg_actor_wants(s->actor)) {
        case GG_WANT_END:
            end_episode(s);
            return;
        case GG_WANT_REPLY:
            status = ask_for_reply(s, &error);
            if (status == GG_OK)
                return;
            break;
        case GG_WANT_CALL:
            if (r->options.game->info.may_block) {
                status = call_elsewhere(s, &error);
                if (status == GG_OK)
                    return;
            } else {
                status = call_here(s, &error);
            }
            break;
        }
    }
    halt(r, &error);
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
    s->deadline_ms = s->begun_ms + r->options.ask->episode_ms;
    gg_status status = begin_play(s, &error);
    if (status == GG_OK)
        step(s);
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
    if (r->first && r->first->actor) {
        out->oldest_id = gg_actor_id(r->first->actor);
        out->oldest_ms = now(r) - r->first->begun_ms;
    }
    gg_endpoint_look(r->options.endpoint, &out->endpoint);
}
