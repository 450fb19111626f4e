/*
 * Has the agent play: one POST /invocations a rollout, so many a second and so many at a time, with
 * a deadline, tried again when it fails.
 *
 * A rollout is over when its reward has come, whatever the reply says; the reply only tells of
 * failures early, and that nothing more will come. A rollout fails when the agent says so
 * (CompleteRollout failed, an error reply), when it cannot be reached, when the time is up, and
 * when nothing is heard of it for `reward_wait_ms` after a reply that was not a mere receipt.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/http.h"
#include "service/job_inside.h"

#define BODY_MAX      (GG_ROW_MAX + (1u << 20)) /* escapes may double a prompt: refused then */
#define REPLY_MAX     (1u << 20)
#define TICK_MS       100
#define RETRY_BASE_MS 500
#define RETRY_CAP_MS  8000
#define WHY_MAX       256
#define TRIES_MAX     1000 /* those that do not count, too */

/* A try on its way. */
typedef struct gg_flight {
    gg_drive *drive;
    gg_window *window;
    size_t slot;
    gg_transfer *transfer; /* NULL = the reply is there */
    bool settled;          /* its try is over; the reply may still be on its way */
    bool receipt;          /* the reply said that the work goes on */
    int64_t began_ms, replied_ms;
    char id[96];
    gg_buf body;
    struct gg_flight *before, *after;
} gg_flight;

struct gg_drive {
    gg_job *job;
    gg_http *http;
    uv_timer_t timer;
    char *url;
    gg_flight *flights;
    size_t active;   /* flights that are not settled */
    double next_ms;  /* when the next rollout may begin */
    gg_ended *taken; /* handed over by the runtime operations */
    size_t taken_count, taken_room;
    char fatal[GG_JOB_REASON_MAX];
};

static gg_trajectory *of(const gg_flight *f)
{
    return &f->window->slots[f->slot];
}

/* ---- opening ---- */

static void on_wake(uv_async_t *handle)
{
    (void)handle; /* the loop turns: that is all */
}

static void on_timer(uv_timer_t *handle)
{
    (void)handle;
}

gg_status gg_drive_open(gg_job *job, gg_drive **out, gg_error *error)
{
    gg_drive *d = calloc(1, sizeof *d);
    const char *agent = job->o.site->agent_url;
    *out = NULL;
    if (!d)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a job");
    d->job = job;
    size_t len = strlen(agent);
    while (len && agent[len - 1] == '/')
        len--;
    d->url = malloc(len + sizeof "/invocations");
    if (d->url)
        snprintf(d->url, len + sizeof "/invocations", "%.*s/invocations", (int)len, agent);
    gg_status status = d->url ? gg_http_new(&job->loop, &d->http, error)
                              : gg_fail(error, GG_E_MEMORY, "out of memory for a job");
    if (status != GG_OK) {
        free(d->url);
        free(d);
        return status;
    }
    uv_timer_init(&job->loop, &d->timer);
    uv_async_init(&job->loop, &job->wake, on_wake);
    pthread_mutex_lock(&job->lock);
    job->awake = true;
    pthread_mutex_unlock(&job->lock);
    *out = d;
    return GG_OK;
}

static void flight_free(gg_flight *f)
{
    if (f->before)
        f->before->after = f->after;
    else
        f->drive->flights = f->after;
    if (f->after)
        f->after->before = f->before;
    gg_buf_free(&f->body);
    free(f);
}

void gg_drive_close(gg_drive *d)
{
    if (!d)
        return;
    pthread_mutex_lock(&d->job->lock);
    d->job->awake = false;
    d->job->ended_count = 0;
    pthread_mutex_unlock(&d->job->lock);
    for (gg_flight *f = d->flights, *next; f; f = next) {
        next = f->after;
        if (f->transfer)
            gg_http_cancel(f->transfer);
        gg_buf_free(&f->body);
        free(f);
    }
    gg_http_free(d->http);
    uv_close((uv_handle_t *)&d->timer, NULL);
    uv_close((uv_handle_t *)&d->job->wake, NULL);
    uv_run(&d->job->loop, UV_RUN_DEFAULT);
    free(d->taken);
    free(d->url);
    free(d);
}

/* ---- the end of a try ---- */

static void settle(gg_flight *f)
{
    f->settled = true;
    f->drive->active--;
    of(f)->flight = NULL;
    if (!f->transfer)
        flight_free(f);
}

static int64_t retry_pause(int try)
{
    int64_t pause = RETRY_BASE_MS;
    for (int i = 0; i < try && pause < RETRY_CAP_MS; i++)
        pause *= 2;
    return pause < RETRY_CAP_MS ? pause : RETRY_CAP_MS;
}

/* Failures after which the managed service has been seen to fail the whole job. */
static bool kills(const gg_flight *f, bool agents_fault)
{
    return agents_fault && f->window->kind != 'e';
}

static void drop(gg_flight *f, const char *why, bool agents_fault)
{
    gg_drive *d = f->drive;
    gg_trajectory *t = of(f);
    t->state = GG_TRAJECTORY_DROPPED;
    if (t->episode)
        t->episode->outcome = GG_ERRORED;
    f->window->over++;
    f->window->dropped++;
    if (kills(f, agents_fault) && !d->fatal[0])
        snprintf(d->fatal, sizeof d->fatal, "%s (trajectory %s, tried %d times)", why, f->id,
                 t->try + 1);
}

/* Whose fault it is that a try came to nothing. */
typedef enum fault {
    AGENTS, /* it was there, and did not do its part */
    SOMEBODYS,
    NOBODYS /* it had no room: the try does not count */
} fault;

static void fail_try(gg_flight *f, const char *why, fault whose)
{
    gg_drive *d = f->drive;
    gg_job *job = d->job;
    gg_trajectory *t = of(f);
    bool again = false, over = false;
    pthread_mutex_lock(&job->lock);
    over = t->state == GG_TRAJECTORY_REWARDED; /* the reward came after all: it waits in `ended` */
    if (!over) {
        t->failures += whose != NOBODYS;
        again = t->failures <= job->config.hyper.retries && t->try < TRIES_MAX;
        if (t->state == GG_TRAJECTORY_FAILED)
            t->failed_try = t->try;
        if (again) {
            t->state = GG_TRAJECTORY_WAITING;
            t->retry_ms = gg_job_ticks() + retry_pause(t->try);
            f->window->again[f->window->again_count++] = f->slot;
        } else {
            drop(f, why, whose == AGENTS);
        }
    }
    pthread_mutex_unlock(&job->lock);
    if (over)
        return;
    gg_job_say(job, "trajectory %s: %s; %s", f->id, why,
               again ? "it is tried again" : "it is given up");
    settle(f);
}

/* ---- replies ---- */

static bool says(const cJSON *body, const char *name, const char *const *values)
{
    const char *text = gg_json_text(body, name);
    for (; text && *values; values++)
        if (strcmp(text, *values) == 0)
            return true;
    return false;
}

/* Why a reply is a failure; "" when it is none. */
static void judge(gg_flight *f, const gg_http_reply *reply, char why[WHY_MAX])
{
    static const char *const receipts[] = {"accepted", "in_progress", NULL};
    cJSON *body = NULL;
    gg_error error;
    *why = '\0';
    if (reply->transport != GG_TRANSPORT_OK)
        snprintf(why, WHY_MAX, "the agent cannot be reached: %s", reply->detail);
    else if (reply->status / 100 != 2)
        snprintf(why, WHY_MAX, "the agent answered HTTP %d: %.150s", reply->status, reply->body);
    if (*why || gg_json_parse(reply->body, reply->len, &body, &error) != GG_OK)
        return;
    const char *kind = gg_json_text(body, "errorType"), *text = gg_json_text(body, "errorMessage");
    if (!text)
        text = gg_json_text(body, "error");
    if (kind)
        snprintf(why, WHY_MAX, "the agent answered %.60s: %.150s", kind, text ? text : "");
    f->receipt = says(body, "status", receipts);
    cJSON_Delete(body);
}

static void on_reply(void *context, const gg_http_reply *reply)
{
    gg_flight *f = context;
    char why[WHY_MAX];
    f->transfer = NULL;
    if (f->settled) {
        flight_free(f);
        return;
    }
    f->replied_ms = gg_job_ticks();
    judge(f, reply, why);
    bool full = reply->transport == GG_TRANSPORT_OK && reply->status == 429;
    if (*why)
        fail_try(f, why, full ? NOBODYS : SOMEBODYS);
}

/* ---- starting ---- */

static void write_body(const gg_flight *f, gg_buf *out)
{
    const gg_job *job = f->drive->job;
    const gg_window *w = f->window;
    gg_buf_str(out, "{\"prompt\":");
    gg_buf_json_str(out, w->prompts[w->rows[f->slot / w->group_size]]);
    gg_buf_str(out, ",\"metadata\":{\"jobArn\":");
    gg_buf_json_str(out, job->o.arn);
    gg_buf_printf(out, ",\"rolloutId\":\"%s\",\"endpoint\":", f->id);
    gg_buf_json_str(out, job->o.site->endpoint_url);
    gg_buf_str(out, ",\"region\":");
    gg_buf_json_str(out, job->o.region);
    gg_buf_str(out, "},\"inferenceParams\":{\"temperature\":");
    gg_buf_double(out, w->temperature);
    gg_buf_str(out, ",\"topP\":");
    gg_buf_double(out, w->top_p);
    gg_buf_printf(out, ",\"maxTokens\":%" PRId64 "}}", job->config.hyper.max_tokens);
}

static gg_status post(gg_flight *f, gg_error *error)
{
    char session[256];
    const char *const headers[] = {"Content-Type: application/json", "Accept: application/json",
                                   session, NULL};
    /* Session ids have 33 characters at least. */
    snprintf(session, sizeof session,
             "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id: guessgym-%0*d-%s", 20, 0, f->id);
    const gg_http_request request = {.method = "POST",
                                     .url = f->drive->url,
                                     .headers = headers,
                                     .body = f->body.data,
                                     .body_len = f->body.len,
                                     .timeout_ms = f->drive->job->config.hyper.timeout_s * 1000,
                                     .reply_max = REPLY_MAX};
    return gg_http_send(f->drive->http, &request, on_reply, f, &f->transfer, error);
}

static gg_status begin(gg_drive *d, gg_window *window, size_t slot, gg_error *error)
{
    gg_job *job = d->job;
    gg_flight *f = calloc(1, sizeof *f);
    if (!f)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a rollout");
    *f = (gg_flight){.drive = d, .window = window, .slot = slot, .began_ms = gg_job_ticks()};
    gg_buf_init(&f->body, BODY_MAX);
    pthread_mutex_lock(&job->lock);
    bool open = gg_trajectory_open(window, slot, f->began_ms);
    gg_trajectory_place place = {.start = job->info.starts,
                                 .kind = window->kind,
                                 .step = window->step,
                                 .group = (int64_t)(slot / window->group_size),
                                 .sample = (int64_t)(slot % window->group_size),
                                 .try = window->slots[slot].try};
    pthread_mutex_unlock(&job->lock);
    gg_trajectory_name(&place, f->id);
    write_body(f, &f->body);
    gg_status status = open ? gg_buf_status(&f->body, "a rollout's request", error)
                            : gg_fail(error, GG_E_MEMORY, "out of memory for a rollout");
    if (status == GG_OK)
        status = post(f, error);
    f->after = d->flights;
    if (f->after)
        f->after->before = f;
    d->flights = f;
    if (status != GG_OK) {
        flight_free(f);
        return status;
    }
    d->active++;
    window->slots[slot].flight = f;
    return GG_OK;
}

/* A slot to be tried (again) now. */
static bool next_slot(gg_job *job, gg_window **window, size_t *slot)
{
    int64_t now = gg_job_ticks();
    for (gg_window *w = job->windows; w; w = w->after) {
        *window = w;
        for (size_t i = 0; i < w->again_count; i++)
            if (w->slots[w->again[i]].retry_ms <= now) {
                *slot = w->again[i];
                w->again[i] = w->again[--w->again_count];
                return true;
            }
        if (w->begun < w->count) {
            *slot = w->begun++;
            return true;
        }
    }
    return false;
}

/* Begins what may be begun now. */
static gg_status begin_some(gg_drive *d, gg_error *error)
{
    gg_job *job = d->job;
    double tps = job->o.site->rollout_tps, now = (double)gg_job_ticks();
    gg_status status = GG_OK;
    while (status == GG_OK && d->active < (size_t)job->config.hyper.concurrency) {
        gg_window *window;
        size_t slot;
        if (tps > 0 && d->next_ms > now)
            break;
        pthread_mutex_lock(&job->lock);
        bool found = next_slot(job, &window, &slot);
        pthread_mutex_unlock(&job->lock);
        if (!found)
            break;
        status = begin(d, window, slot, error);
        if (tps > 0)
            d->next_ms = (d->next_ms < now - 1000 ? now : d->next_ms) + 1000 / tps;
    }
    return status;
}

/* ---- what has ended ---- */

static void take_ended(gg_drive *d)
{
    gg_job *job = d->job;
    pthread_mutex_lock(&job->lock);
    gg_ended *swap = d->taken;
    size_t room = d->taken_room;
    d->taken = job->ended;
    d->taken_count = job->ended_count;
    d->taken_room = job->ended_room;
    job->ended = swap;
    job->ended_room = room;
    job->ended_count = 0;
    for (size_t i = 0; i < d->taken_count; i++) {
        const gg_trajectory *t = &d->taken[i].window->slots[d->taken[i].slot];
        d->taken[i].window->over += t->try == d->taken[i].try && t->state == GG_TRAJECTORY_REWARDED;
    }
    pthread_mutex_unlock(&job->lock);
    for (size_t i = 0; i < d->taken_count; i++) {
        gg_flight *f = d->taken[i].window->slots[d->taken[i].slot].flight;
        /* A try that an error reply has ended meanwhile needs no second end. */
        if (!f || of(f)->try != d->taken[i].try)
            continue;
        if (of(f)->state == GG_TRAJECTORY_FAILED)
            fail_try(f, "The agent signaled that the trajectory failed", AGENTS);
        else
            settle(f);
    }
}

/* Why a try is to be given up now; NULL while it may go on. */
static const char *overdue(const gg_flight *f, int64_t now, bool *agents_fault)
{
    const gg_job *job = f->drive->job;
    const gg_trajectory *t = of(f);
    int64_t quiet_since = t->touched_ms > f->replied_ms ? t->touched_ms : f->replied_ms;
    bool late = now - f->began_ms > job->config.hyper.timeout_s * 1000;
    bool quiet = f->replied_ms && !f->receipt && now - quiet_since > job->o.site->reward_wait_ms;
    *agents_fault = true;
    if (!late && !quiet)
        return NULL;
    if (t->episode->turn_count == 0 && !f->transfer)
        return "No sampling requests were received for this rollout";
    if (t->state == GG_TRAJECTORY_READY)
        return "The rollout completed but no reward was received in time";
    *agents_fault = false;
    return late ? "The rollout did not end within rollout_timeout"
                : "The agent answered, and never completed the rollout";
}

static void check_deadlines(gg_drive *d)
{
    int64_t now = gg_job_ticks();
    for (gg_flight *f = d->flights, *next; f; f = next) {
        bool agents_fault;
        next = f->after;
        if (f->settled)
            continue;
        pthread_mutex_lock(&d->job->lock);
        const char *why =
            of(f)->state == GG_TRAJECTORY_REWARDED || of(f)->state == GG_TRAJECTORY_FAILED
                ? NULL
                : overdue(f, now, &agents_fault);
        pthread_mutex_unlock(&d->job->lock);
        if (!why)
            continue;
        if (f->transfer)
            gg_http_cancel(f->transfer);
        f->transfer = NULL;
        fail_try(f, why, agents_fault ? AGENTS : SOMEBODYS);
    }
}

/* ---- playing ---- */

static gg_status wanted_end(gg_job *job, gg_error *error)
{
    int64_t worked = job->seconds_before + (gg_job_ticks() - job->began_ms) / 1000;
    gg_status status = GG_OK;
    pthread_mutex_lock(&job->lock);
    job->overtime = job->overtime || (double)worked >= job->config.max_runtime_s;
    if (job->stop || job->suspend || job->overtime)
        status = gg_fail(error, GG_E_INTERRUPTED, "the job is to end");
    pthread_mutex_unlock(&job->lock);
    return status;
}

static void set_timer(gg_drive *d)
{
    double now = (double)gg_job_ticks(), wait = TICK_MS;
    bool paced = d->job->o.site->rollout_tps > 0 &&
                 d->active < (size_t)d->job->config.hyper.concurrency && d->next_ms - now < wait;
    if (paced)
        wait = d->next_ms > now ? d->next_ms - now : 1;
    uv_timer_start(&d->timer, on_timer, (uint64_t)wait + 1, 0);
}

gg_status gg_drive_play(gg_drive *d, const gg_window *window, gg_error *error)
{
    gg_job *job = d->job;
    int64_t checked = 0;
    for (;;) {
        take_ended(d);
        int64_t now = gg_job_ticks();
        if (now - checked >= TICK_MS) {
            check_deadlines(d);
            checked = now;
        }
        if (d->fatal[0])
            return gg_fail(error, GG_E_PROTOCOL, "%s", d->fatal);
        gg_status status = wanted_end(job, error);
        if (status != GG_OK || window->over == window->count)
            return status;
        status = begin_some(d, error);
        if (status != GG_OK)
            return status;
        set_timer(d);
        uv_run(&job->loop, UV_RUN_ONCE);
    }
}
