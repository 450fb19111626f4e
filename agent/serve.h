/*
 * The agent as an HTTP server, as the managed service and its forwarders call it:
 *
 *   POST /invocations, POST /rollout   plays one rollout (agent/invocation.h) and answers
 *   GET  /ping     {"status":"Healthy"|"HealthyBusy","time_of_last_update":N}; the time changes
 *                  only with the status, since a moving one defeats the platform's idle timeout
 *   GET  /health   {"status":"ok"}; 503 while the server drains
 *
 * An answer comes when the rollout is over (late), or at once (early): then the calls to the
 * runtime alone tell how it went. Errors are {"errorType","errorMessage"}: 400 for a body that is
 * no invocation, 403 for an endpoint that may not have the token, 404, 405, 413, 429 when all
 * places are taken, 500 for a rollout that could be neither played nor reported, 503 while
 * draining.
 *
 * Threads: start, drain and stop from one thread; the server has its own, all rollouts run on one
 * loop. `log` is called from any of them, one whole line at a time.
 */
#ifndef GG_AGENT_SERVE_H
#define GG_AGENT_SERVE_H

#include "agent/errand.h"

#define GG_AGENT_BODY_MAX  (8u << 20)
#define GG_AGENT_ROLLOUTS  256 /* in flight */
#define GG_AGENT_BUDGET_MS 420000
#define GG_AGENT_IDLE_S    60 /* a connection that says nothing is closed */

typedef struct gg_agent gg_agent;

typedef struct gg_agent_options {
    const char *listen;
    gg_errands_options errands;
    size_t rollouts_max; /* 0 = GG_AGENT_ROLLOUTS */
    bool early;
    void (*log)(void *context, const char *line); /* or NULL */
    void *log_context;
} gg_agent_options;

typedef struct gg_agent_counts {
    size_t in_flight;
    int64_t taken, skipped, unreported, by_outcome[GG_OUTCOME_COUNT];
} gg_agent_counts;

/* What the options point to must outlive the server. */
gg_status gg_agent_start(const gg_agent_options *options, gg_agent **out, gg_error *error);
const char *gg_agent_url(const gg_agent *agent);
/* Takes no more rollouts; those in flight go on. */
void gg_agent_drain(gg_agent *agent);
void gg_agent_look(gg_agent *agent, gg_agent_counts *out);
/* Ends what is in flight without a report and joins the threads. False when a call of a blocking
 * environment still runs, so that the game must stay open. NULL is fine (true). */
bool gg_agent_stop(gg_agent *agent);

#endif
