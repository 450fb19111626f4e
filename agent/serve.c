#include "agent/serve.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "net/server.h"

/* A rollout on its way to the loop, and until its answer. */
typedef struct order {
    struct order *before, *after; /* in the queue (`after` alone), or among those held */
    gg_agent *agent;
    gg_invocation invocation;
    gg_exchange *exchange; /* NULL = answered already */
} order;

typedef struct order_list {
    order *first, *last;
} order_list;

struct gg_agent {
    gg_agent_options options;
    gg_server *server;
    pthread_t thread;
    uv_loop_t loop;
    uv_async_t wake;
    gg_errands *errands;
    order *held; /* by the loop's thread alone: on their way through the errands */
    pthread_mutex_t lock;
    /* under the lock */
    order_list queue;
    gg_agent_counts counts;
    bool draining, stopping, hanging;
    bool busy;
    int64_t changed_s; /* of the ping's status */
};

static void log_line(const gg_agent *agent, const char *id, const char *text)
{
    char line[GG_ERROR_TEXT + GG_INVOCATION_NAME_MAX + 32];
    if (!agent->options.log || !*text)
        return;
    snprintf(line, sizeof line, "rollout %s: %s", id, text);
    agent->options.log(agent->options.log_context, line);
}

/* ------------------------------------------------------------------ lists */

static void queue_add(order_list *queue, order *o)
{
    o->after = NULL;
    *(queue->last ? &queue->last->after : &queue->first) = o;
    queue->last = o;
}

static void held_add(order **held, order *o)
{
    o->before = NULL;
    o->after = *held;
    if (o->after)
        o->after->before = o;
    *held = o;
}

static void held_take(order **held, order *o)
{
    *(o->before ? &o->before->after : held) = o->after;
    if (o->after)
        o->after->before = o->before;
}

static void free_order(order *o)
{
    gg_invocation_free(&o->invocation);
    free(o);
}

/* ------------------------------------------------------------------ answers of our own */

static void refuse(gg_exchange *exchange, int status, const char *type, const char *text)
{
    static const char *const later[] = {"Retry-After: 1", NULL};
    gg_buf json;
    gg_buf_init(&json, 4096);
    gg_buf_printf(&json, "{\"errorType\":\"%s\",\"errorMessage\":", type);
    gg_buf_json_str(&json, text);
    gg_buf_char(&json, '}');
    bool comes_back = status == 429 || status == 503;
    gg_exchange_reply(exchange, status, "application/json", comes_back ? later : NULL,
                      gg_buf_cstr(&json), json.len);
    gg_buf_free(&json);
}

/* Under the lock: the status of the ping changes when the first rollout comes or the last goes. */
static void note_busy(gg_agent *agent)
{
    bool busy = agent->counts.in_flight > 0;
    if (busy == agent->busy && agent->changed_s)
        return;
    agent->busy = busy;
    agent->changed_s = (int64_t)time(NULL);
}

static void ping(gg_agent *agent, gg_exchange *exchange)
{
    char json[96];
    pthread_mutex_lock(&agent->lock);
    snprintf(json, sizeof json, "{\"status\":\"%s\",\"time_of_last_update\":%lld}",
             agent->busy ? "HealthyBusy" : "Healthy", (long long)agent->changed_s);
    pthread_mutex_unlock(&agent->lock);
    gg_exchange_reply_json(exchange, 200, json);
}

static void health(gg_agent *agent, gg_exchange *exchange)
{
    pthread_mutex_lock(&agent->lock);
    bool draining = agent->draining;
    pthread_mutex_unlock(&agent->lock);
    gg_exchange_reply_json(exchange, draining ? 503 : 200,
                           draining ? "{\"status\":\"stopping\"}" : "{\"status\":\"ok\"}");
}

/* ------------------------------------------------------------------ the loop's side */

/* Answers, counts and frees. */
static void settle(order *o, const gg_errand_report *report)
{
    gg_agent *agent = o->agent;
    log_line(agent, report->id, report->problem);
    if (o->exchange)
        gg_exchange_reply_json(o->exchange, report->status, report->json);
    pthread_mutex_lock(&agent->lock);
    agent->counts.in_flight--;
    if (report->skipped)
        agent->counts.skipped++;
    else
        agent->counts.by_outcome[report->outcome]++;
    agent->counts.unreported += !report->skipped && !report->reported;
    note_busy(agent);
    pthread_mutex_unlock(&agent->lock);
    free_order(o);
}

static void finished(void *context, const gg_errand_report *report)
{
    order *o = context;
    held_take(&o->agent->held, o);
    settle(o, report);
}

static void begin(gg_agent *agent, order *o)
{
    gg_error error;
    if (gg_errand_begin(agent->errands, &o->invocation, finished, o, &error) == GG_OK) {
        held_add(&agent->held, o);
        return;
    }
    const gg_errand_report report = {
        .id = "?",
        .status = 500,
        .json = "{\"errorType\":\"InternalServerError\",\"errorMessage\":\"out of memory\"}",
        .problem = error.text,
        .outcome = GG_ERRORED};
    settle(o, &report);
}

static void stop_loop(gg_agent *agent)
{
    agent->hanging = gg_errands_hanging(agent->errands) > 0;
    gg_errands_free(agent->errands);
    uv_close((uv_handle_t *)&agent->wake, NULL);
}

static void on_wake(uv_async_t *async)
{
    gg_agent *agent = async->data;
    pthread_mutex_lock(&agent->lock);
    order *first = agent->queue.first;
    agent->queue = (order_list){NULL, NULL};
    bool stopping = agent->stopping;
    pthread_mutex_unlock(&agent->lock);
    for (order *o = first, *next; o; o = next) {
        next = o->after;
        if (stopping)
            held_add(&agent->held, o);
        else
            begin(agent, o);
    }
    if (stopping)
        stop_loop(agent);
}

static void *run_loop(void *context)
{
    gg_agent *agent = context;
    uv_run(&agent->loop, UV_RUN_DEFAULT);
    return NULL;
}

/* ------------------------------------------------------------------ the server's side */

/* Takes a place for the rollout; says why not. */
static bool admit(gg_agent *agent, gg_exchange *exchange)
{
    pthread_mutex_lock(&agent->lock);
    bool draining = agent->draining;
    bool full = agent->counts.in_flight >= agent->options.rollouts_max;
    if (!draining && !full) {
        agent->counts.in_flight++;
        agent->counts.taken++;
        note_busy(agent);
    }
    pthread_mutex_unlock(&agent->lock);
    if (draining)
        refuse(exchange, 503, "InternalServerError", "the agent is stopping");
    else if (full)
        refuse(exchange, 429, "Throttling", "all places for rollouts are taken; try again");
    return !draining && !full;
}

static void hand_over(gg_agent *agent, order *o)
{
    pthread_mutex_lock(&agent->lock);
    queue_add(&agent->queue, o);
    if (!agent->stopping) /* else the loop has gone, and gg_agent_stop sees to it */
        uv_async_send(&agent->wake);
    pthread_mutex_unlock(&agent->lock);
}

static void answer_early(order *o)
{
    gg_buf json;
    gg_buf_init(&json, 4096);
    gg_buf_str(&json, "{\"status\":\"accepted\",\"rolloutId\":");
    gg_buf_json_str(&json, o->invocation.rollout_id);
    gg_buf_char(&json, '}');
    gg_exchange_reply_json(o->exchange, 200, gg_buf_cstr(&json));
    o->exchange = NULL;
    gg_buf_free(&json);
}

static void invoke(gg_agent *agent, gg_exchange *exchange, const gg_exchange_request *request)
{
    gg_error error = {0};
    order *o = calloc(1, sizeof *o);
    if (!o) {
        refuse(exchange, 500, "InternalServerError", "out of memory");
        return;
    }
    gg_status status = gg_invocation_read(request->body, request->body_len, &o->invocation, &error);
    if (status != GG_OK) {
        bool bad = status == GG_E_FORMAT;
        refuse(exchange, bad ? 400 : 500, bad ? "ValidationError" : "InternalServerError",
               error.text);
        free_order(o);
        return;
    }
    if (!admit(agent, exchange)) {
        free_order(o);
        return;
    }
    o->agent = agent;
    o->exchange = exchange;
    if (agent->options.early)
        answer_early(o);
    hand_over(agent, o);
}

static void handle(void *context, gg_exchange *exchange, const gg_exchange_request *request)
{
    static const struct {
        const char *method, *path;
    } routes[] = {
        {"POST", "/invocations"}, {"POST", "/rollout"}, {"GET", "/ping"}, {"GET", "/health"}};
    static const char *const allow_post[] = {"Allow: POST", NULL};
    static const char *const allow_get[] = {"Allow: GET", NULL};
    gg_agent *agent = context;
    size_t route = 0;
    while (route < 4 && strcmp(routes[route].path, request->path) != 0)
        route++;
    if (route == 4) {
        refuse(exchange, 404, "ValidationError",
               "there are POST /invocations, POST /rollout, GET /ping and GET /health");
    } else if (strcmp(routes[route].method, request->method) != 0) {
        static const char text[] =
            "{\"errorType\":\"ValidationError\",\"errorMessage\":\"another method is expected\"}";
        gg_exchange_reply(exchange, 405, "application/json", route < 2 ? allow_post : allow_get,
                          text, sizeof text - 1);
    } else if (route < 2) {
        invoke(agent, exchange, request);
    } else if (route == 2) {
        ping(agent, exchange);
    } else {
        health(agent, exchange);
    }
}

/* ------------------------------------------------------------------ starting and stopping */

static gg_status start_loop(gg_agent *agent, gg_error *error)
{
    if (uv_loop_init(&agent->loop) != 0)
        return gg_fail(error, GG_E_MEMORY, "cannot make an event loop");
    gg_status status =
        gg_errands_new(&agent->loop, &agent->options.errands, &agent->errands, error);
    if (status == GG_OK) {
        uv_async_init(&agent->loop, &agent->wake, on_wake);
        agent->wake.data = agent;
        if (pthread_create(&agent->thread, NULL, run_loop, agent) == 0)
            return GG_OK;
        status = gg_fail(error, GG_E_MEMORY, "cannot start the agent's thread");
        stop_loop(agent);
    }
    uv_run(&agent->loop, UV_RUN_DEFAULT);
    uv_loop_close(&agent->loop);
    return status;
}

static void end_loop(gg_agent *agent)
{
    pthread_mutex_lock(&agent->lock);
    agent->stopping = agent->draining = true;
    uv_async_send(&agent->wake);
    pthread_mutex_unlock(&agent->lock);
    pthread_join(agent->thread, NULL);
    uv_loop_close(&agent->loop);
}

gg_status gg_agent_start(const gg_agent_options *options, gg_agent **out, gg_error *error)
{
    *out = NULL;
    gg_agent *agent = calloc(1, sizeof *agent);
    if (!agent)
        return gg_fail(error, GG_E_MEMORY, "out of memory for the agent");
    agent->options = *options;
    if (!agent->options.rollouts_max)
        agent->options.rollouts_max = GG_AGENT_ROLLOUTS;
    pthread_mutex_init(&agent->lock, NULL);
    note_busy(agent);
    gg_status status = start_loop(agent, error);
    if (status == GG_OK) {
        const gg_server_options server = {.listen = options->listen,
                                          .body_max = GG_AGENT_BODY_MAX,
                                          .idle_s = GG_AGENT_IDLE_S,
                                          .handler = handle,
                                          .context = agent};
        status = gg_server_start(&server, &agent->server, error);
        if (status != GG_OK)
            end_loop(agent);
    }
    if (status != GG_OK) {
        pthread_mutex_destroy(&agent->lock);
        free(agent);
        return status;
    }
    *out = agent;
    return GG_OK;
}

const char *gg_agent_url(const gg_agent *agent)
{
    return gg_server_url(agent->server);
}

void gg_agent_drain(gg_agent *agent)
{
    pthread_mutex_lock(&agent->lock);
    agent->draining = true;
    pthread_mutex_unlock(&agent->lock);
}

void gg_agent_look(gg_agent *agent, gg_agent_counts *out)
{
    pthread_mutex_lock(&agent->lock);
    *out = agent->counts;
    pthread_mutex_unlock(&agent->lock);
}

/* What the loop has left behind: their exchanges hear that the server stops. */
static void drop_orders(order *first)
{
    for (order *o = first, *next; o; o = next) {
        next = o->after;
        if (o->exchange)
            refuse(o->exchange, 503, "InternalServerError", "the agent is stopping");
        free_order(o);
    }
}

bool gg_agent_stop(gg_agent *agent)
{
    if (!agent)
        return true;
    end_loop(agent);
    drop_orders(agent->held);
    gg_server_stop(agent->server);
    drop_orders(agent->queue.first); /* came between the loop's end and the server's */
    bool clean = !agent->hanging;
    pthread_mutex_destroy(&agent->lock);
    free(agent);
    return clean;
}
