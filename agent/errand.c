#include "agent/errand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/drive.h"
#include "core/digest.h"
#include "core/json.h"

#define ANSWER_MAX (1u << 20)
#define TICK_MS    200 /* how exactly the deadline of a blocking call is kept */

typedef struct errand errand;

struct errand {
    gg_drive drive; /* first */
    gg_errands *all;
    errand *before, *after;
    gg_invocation invocation;
    gg_trajectory trajectory;
    gg_ask ask;
    gg_task task;
    gg_stage *stage;
    gg_runtime_link *link;
    gg_post *post; /* a report on its way */
    gg_episode *episode;
    gg_errand_done done;
    void *context;
    char job_line[GG_RUNTIME_LINE_ROOM], id_line[GG_RUNTIME_LINE_ROOM];
    const char *headers[3];
    int tries;
    int64_t begun_ms;
    bool heard;    /* some reply was good */
    bool may_mend; /* the last failure was one that passes */
    bool skip, reported;
    gg_error problem; /* the first that matters */
    int status;
};

struct gg_errands {
    gg_driver driver; /* first */
    gg_errands_options options;
    gg_http *http;
    gg_runtime *runtime;
    errand *first;
    size_t count;
    errand *ended; /* to be told on the next turn of the loop, linked by `after` */
    uv_timer_t tick;
};

static void on_tick(uv_timer_t *timer);

static int64_t now(const gg_errands *all)
{
    return (int64_t)uv_now(all->driver.loop);
}

/* The first problem is the one worth telling. */
static void note(errand *e, const gg_error *error)
{
    if (e->problem.status == GG_OK)
        e->problem = *error;
}

static void note_text(errand *e, const char *what, const char *text)
{
    if (e->problem.status == GG_OK)
        gg_fail(&e->problem, GG_E_UNREACHABLE, "%s%s%s", what, *text ? ": " : "", text);
}

/* ------------------------------------------------------------------ the answer */

static void add_rewards(gg_buf *json, const gg_episode *episode)
{
    if (episode && episode->reward_by_turn && episode->turn_count)
        gg_buf_doubles(json, episode->reward_by_turn, episode->turn_count);
    else
        gg_buf_double(json, episode ? episode->reward : 0);
}

static void write_done(const errand *e, gg_buf *json)
{
    const gg_episode *episode = e->episode;
    gg_buf_str(json, "{\"status\":\"completed\",\"rolloutId\":");
    gg_buf_json_str(json, e->trajectory.id);
    gg_buf_str(json, ",\"reward\":");
    add_rewards(json, episode);
    gg_buf_printf(json, ",\"reported\":%s,\"outcome\":\"%s\",\"stop\":\"%s\"",
                  e->reported ? "true" : "false", gg_outcome_name(episode->outcome),
                  gg_stop_name(episode->stop));
    gg_buf_printf(json, ",\"turns\":%zu,\"moves\":%lld,\"tries\":%d,\"duration_ms\":%lld",
                  episode->turn_count, (long long)episode->moves, e->tries,
                  (long long)(now(e->all) - e->begun_ms));
    if (episode->measure.name) {
        gg_buf_str(json, ",\"measure\":{\"name\":");
        gg_buf_json_str(json, episode->measure.name);
        gg_buf_str(json, ",\"value\":");
        gg_buf_double(json, episode->measure.value);
        gg_buf_char(json, '}');
    }
    if (*e->problem.text) {
        gg_buf_str(json, ",\"error\":");
        gg_buf_json_str(json, e->problem.text);
    }
    gg_buf_char(json, '}');
}

static void write_skipped(const errand *e, gg_buf *json)
{
    gg_buf_str(json, "{\"status\":\"skipped\",\"rolloutId\":");
    gg_buf_json_str(json, e->trajectory.id);
    gg_buf_str(json, ",\"reason\":");
    gg_buf_json_str(json, e->problem.text);
    gg_buf_char(json, '}');
}

static void write_failed(const errand *e, gg_buf *json)
{
    const char *type = e->status == 400   ? "ValidationError"
                       : e->status == 403 ? "AccessDenied"
                                          : "InternalServerError";
    gg_buf_printf(json, "{\"errorType\":\"%s\",\"errorMessage\":", type);
    gg_buf_json_str(json, e->problem.text);
    gg_buf_str(json, ",\"rolloutId\":");
    gg_buf_json_str(json, e->trajectory.id);
    gg_buf_char(json, '}');
}

static double total(const gg_episode *episode)
{
    double sum = episode ? episode->reward : 0;
    if (episode && episode->reward_by_turn) {
        sum = 0;
        for (size_t i = 0; i < episode->turn_count; i++)
            sum += episode->reward_by_turn[i];
    }
    return sum;
}

/* Where nothing was played and nothing reported, the caller must hear of it. */
static int status_of(const errand *e)
{
    if (e->skip || (e->episode && (e->reported || e->heard)))
        return 200;
    return e->status ? e->status : 500;
}

static void tell(errand *e)
{
    gg_buf json;
    gg_buf_init(&json, ANSWER_MAX);
    e->status = status_of(e);
    if (e->skip)
        write_skipped(e, &json);
    else if (e->status == 200)
        write_done(e, &json);
    else
        write_failed(e, &json);
    const gg_errand_report report = {.id = e->trajectory.id,
                                     .status = json.status == GG_OK ? e->status : 500,
                                     .json = json.status == GG_OK ? gg_buf_cstr(&json) : "{}",
                                     .problem = e->problem.text,
                                     .played = e->heard,
                                     .skipped = e->skip,
                                     .reported = e->reported,
                                     .outcome = e->episode ? e->episode->outcome : GG_ERRORED,
                                     .reward = total(e->episode)};
    e->done(e->context, &report);
    gg_buf_free(&json);
}

/* ------------------------------------------------------------------ life */

static void free_errand(errand *e)
{
    if (e->post)
        gg_post_cancel(e->post);
    if (e->drive.actor) {
        gg_drive_stop(&e->drive);
        gg_actor_free(e->drive.actor);
    }
    gg_stage_free(e->stage);
    gg_episode_free(e->episode);
    gg_runtime_close(e->link);
    gg_invocation_free(&e->invocation);
    free(e);
}

static void unlink_errand(errand *e)
{
    *(e->before ? &e->before->after : &e->all->first) = e->after;
    if (e->after)
        e->after->before = e->before;
}

static void wake(gg_errands *all)
{
    uv_timer_start(&all->tick, on_tick, 0, TICK_MS);
}

/* Its last act is left to the loop: whoever called us may still be at work on it. */
static void conclude(errand *e)
{
    gg_errands *all = e->all;
    unlink_errand(e);
    e->after = all->ended;
    all->ended = e;
    wake(all);
}

static void tell_ended(gg_errands *all)
{
    errand *e;
    while ((e = all->ended)) {
        all->ended = e->after;
        all->count--;
        tell(e);
        free_errand(e);
    }
}

/* ------------------------------------------------------------------ reporting */

static void rewarded(void *context, const gg_post_result *result)
{
    errand *e = context;
    e->post = NULL;
    e->reported = result->outcome == GG_RETRY_OK;
    if (!e->reported)
        note_text(e, "the reward could not be reported", result->message);
    conclude(e);
}

static gg_status send_reward(errand *e, gg_error *error)
{
    const gg_episode *episode = e->episode;
    double one = episode ? episode->reward : 0;
    bool list = episode && episode->reward_by_turn && episode->turn_count;
    return gg_runtime_reward(e->link, &e->trajectory, list ? episode->reward_by_turn : &one,
                             list ? episode->turn_count : 1, now(e->all) + GG_ERRAND_REPORT_MS,
                             rewarded, e, &e->post, error);
}

static void completed(void *context, const gg_post_result *result)
{
    errand *e = context;
    gg_error error;
    e->post = NULL;
    if (result->outcome == GG_RETRY_OK) {
        if (send_reward(e, &error) == GG_OK)
            return;
        note(e, &error);
    } else if (gg_runtime_is_over(result)) {
        e->skip = true;
        note_text(e, "the trajectory is not open", result->message);
    } else {
        note_text(e, "the rollout could not be completed", result->message);
    }
    conclude(e);
}

/* Whatever happened, the runtime hears of it. */
static void report(errand *e)
{
    gg_error error;
    if (!e->skip && e->link &&
        gg_runtime_complete(e->link, &e->trajectory, now(e->all) + GG_ERRAND_REPORT_MS, completed,
                            e, &e->post, &error) == GG_OK)
        return;
    if (!e->skip && e->link)
        note(e, &error);
    conclude(e);
}

/* ------------------------------------------------------------------ playing */

static gg_status begin_play(errand *e, gg_error *error)
{
    gg_planned planned = {.task = &e->task};
    char hex[GG_DIGEST_HEX], started[GG_STARTED_ROOM];
    /* 52 bits of the id: the same trajectory, the same play. */
    gg_sha256_hex(e->trajectory.id, strlen(e->trajectory.id), hex);
    hex[13] = '\0';
    planned.group = (int64_t)strtoll(hex, NULL, 16);
    gg_drive_clock(started);
    e->tries++;
    return gg_actor_new(e->stage, &planned, started, &e->drive.actor, error);
}

static bool plays_again(const errand *e)
{
    return gg_actor_outcome(e->drive.actor) == GG_ERRORED && !e->heard && e->may_mend && !e->skip &&
           e->tries < GG_ERRAND_TRIES && now(e->all) < e->drive.deadline_ms;
}

static void over(gg_drive *drive)
{
    errand *e = (errand *)drive;
    gg_error error;
    if (plays_again(e)) {
        gg_actor_free(drive->actor);
        drive->actor = NULL;
        if (begin_play(e, &error) == GG_OK) {
            gg_drive_step(drive);
            return;
        }
        note(e, &error);
        report(e);
        return;
    }
    if (gg_actor_finish(drive->actor, now(e->all) - e->begun_ms, &e->episode, &error) != GG_OK)
        note(e, &error);
    else if (e->episode->outcome == GG_ERRORED && e->episode->error)
        note_text(e, "the play erred", e->episode->error);
    report(e);
}

static void heard(gg_drive *drive, const gg_post_result *result)
{
    errand *e = (errand *)drive;
    bool good = result->outcome == GG_RETRY_OK;
    int status = result->reply->status;
    e->heard = e->heard || good;
    e->may_mend = gg_retry_again(result->outcome) ||
                  (result->outcome == GG_RETRY_STOP &&
                   ((!status && result->reply->transport != GG_TRANSPORT_OTHER) || status >= 500));
    if (!good && gg_runtime_is_over(result)) {
        e->skip = true;
        note_text(e, "the trajectory is not open", result->message);
    }
}

static bool goes_on(const gg_drive *drive)
{
    (void)drive;
    return true;
}

static void broken(gg_drive *drive, const gg_error *error)
{
    errand *e = (errand *)drive;
    note(e, error);
    report(e);
}

static void after(gg_driver *driver)
{
    (void)driver;
}

/* ------------------------------------------------------------------ beginning */

static void fill_ask(errand *e)
{
    const gg_invocation *in = &e->invocation;
    e->ask = e->all->options.ask;
    e->ask.path = GG_RUNTIME_CHAT;
    e->ask.headers = e->headers;
    e->ask.episode_ms = e->all->options.budget_ms;
    if (!isnan(in->temperature))
        e->ask.temperature = in->temperature;
    if (!isnan(in->top_p))
        e->ask.top_p = in->top_p;
    if (in->max_tokens > 0)
        e->ask.max_tokens = in->max_tokens;
}

static gg_status fill_task(errand *e, gg_error *error)
{
    const gg_game *game = e->all->options.game;
    gg_buf identity;
    e->task.id = e->trajectory.id;
    e->task.prompt = e->invocation.prompt;
    gg_sha256_hex(e->task.prompt, strlen(e->task.prompt), e->task.digest);
    gg_buf_init(&identity, GG_HISTORY_MAX);
    gg_status status = game->api->identity(game->env, e->task.prompt, &identity, error);
    if (status == GG_OK)
        status = gg_buf_status(&identity, "a task's identity", error);
    if (status == GG_OK)
        gg_sha256_hex(gg_buf_cstr(&identity), identity.len, e->task.key);
    gg_buf_free(&identity);
    return status;
}

/* The rest of what can be wrong with an invocation; sets the status to answer. */
static gg_status prepare(errand *e, gg_error *error)
{
    const gg_errands_options *o = &e->all->options;
    gg_status status = gg_runtime_open(e->all->runtime, e->invocation.endpoint,
                                       e->invocation.region, &e->link, error);
    if (status != GG_OK) {
        e->status = status == GG_E_ARGUMENT ? 403 : 500;
        return status;
    }
    fill_ask(e);
    e->drive = (gg_drive){.driver = &e->all->driver,
                          .endpoint = gg_runtime_endpoint(e->link),
                          .path = e->ask.path,
                          .headers = e->headers,
                          .deadline_ms = e->begun_ms + o->budget_ms};
    const gg_stage_options stage = {.game = o->game,
                                    .reward = o->reward,
                                    .ask = &e->ask,
                                    .endpoint = gg_endpoint_shown(e->drive.endpoint),
                                    .id_prefix = "s",
                                    .seed = o->seed,
                                    .weight_version = -1};
    status = gg_stage_new(&stage, &e->stage, error);
    if (status == GG_OK)
        status = fill_task(e, error);
    if (status == GG_OK)
        status = begin_play(e, error);
    if (status != GG_OK && status != GG_E_MEMORY)
        e->status = 400;
    return status;
}

static bool in_hand(const gg_errands *all, const gg_trajectory *trajectory)
{
    for (const errand *e = all->first; e; e = e->after)
        if (strcmp(e->trajectory.id, trajectory->id) == 0 &&
            strcmp(e->trajectory.job_arn, trajectory->job_arn) == 0)
            return true;
    return false;
}

static void take_in(gg_errands *all, errand *e)
{
    e->after = all->first;
    if (e->after)
        e->after->before = e;
    all->first = e;
    all->count++;
    if (all->driver.blocks && !uv_is_active((uv_handle_t *)&all->tick))
        uv_timer_start(&all->tick, on_tick, TICK_MS, TICK_MS);
}

gg_status gg_errand_begin(gg_errands *all, gg_invocation *invocation, gg_errand_done done,
                          void *context, gg_error *error)
{
    errand *e = calloc(1, sizeof *e);
    if (!e) {
        gg_invocation_free(invocation);
        return gg_fail(error, GG_E_MEMORY, "out of memory for a rollout");
    }
    uv_update_time(all->driver.loop);
    e->all = all;
    e->invocation = *invocation;
    *invocation = (gg_invocation){.prompt = NULL};
    e->trajectory = (gg_trajectory){e->invocation.job_arn, e->invocation.rollout_id};
    e->done = done;
    e->context = context;
    e->begun_ms = now(all);
    gg_runtime_headers(&e->trajectory, e->job_line, e->id_line);
    e->headers[0] = e->job_line;
    e->headers[1] = e->id_line;
    bool twice = in_hand(all, &e->trajectory);
    take_in(all, e);
    if (twice) { /* sent again while it is played: the first one reports */
        e->skip = true;
        note_text(e, "the trajectory is being played already", "");
        conclude(e);
    } else if (prepare(e, error) == GG_OK) {
        gg_drive_step(&e->drive);
    } else {
        note(e, error);
        report(e);
    }
    return GG_OK;
}

/* ------------------------------------------------------------------ all of them */

static void on_tick(uv_timer_t *timer)
{
    gg_errands *all = timer->data;
    tell_ended(all);
    for (errand *e = all->first, *next; all->driver.blocks && e; e = next) {
        next = e->after;
        if (gg_drive_overdue(&e->drive))
            over(&e->drive);
    }
    tell_ended(all);
    if (!all->first || !all->driver.blocks)
        uv_timer_stop(timer);
}

gg_status gg_errands_new(uv_loop_t *loop, const gg_errands_options *options, gg_errands **out,
                         gg_error *error)
{
    *out = NULL;
    gg_errands *all = calloc(1, sizeof *all);
    if (!all)
        return gg_fail(error, GG_E_MEMORY, "out of memory");
    all->options = *options;
    gg_status status = gg_http_new(loop, &all->http, error);
    all->options.runtime.http = all->http;
    if (status == GG_OK)
        status = gg_runtime_new(&all->options.runtime, &all->runtime, error);
    if (status != GG_OK) {
        gg_http_free(all->http);
        free(all);
        return status;
    }
    gg_driver_init(&all->driver, loop, options->game);
    all->driver.heard = heard;
    all->driver.goes_on = goes_on;
    all->driver.over = over;
    all->driver.broken = broken;
    all->driver.after = after;
    uv_timer_init(loop, &all->tick);
    all->tick.data = all;
    *out = all;
    return GG_OK;
}

static void on_closed(uv_handle_t *handle)
{
    gg_errands *all = handle->data;
    gg_driver_free(&all->driver);
    free(all);
}

void gg_errands_free(gg_errands *all)
{
    if (!all)
        return;
    for (errand *e = all->first, *next; e; e = next) {
        next = e->after;
        free_errand(e);
    }
    for (errand *e = all->ended, *next; e; e = next) {
        next = e->after;
        free_errand(e);
    }
    gg_runtime_free(all->runtime);
    gg_http_free(all->http);
    uv_close((uv_handle_t *)&all->tick, on_closed);
}

size_t gg_errands_count(const gg_errands *all)
{
    return all->count;
}

size_t gg_errands_hanging(const gg_errands *all)
{
    return gg_offload_count(&all->driver.behind);
}
