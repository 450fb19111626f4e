/*
 * Playing many episodes: groups x samples against one policy endpoint, on one event loop.
 *
 * A plan says what to play; every planned episode ends in exactly one outcome and is handed over
 * once, complete (judged, rewarded). An errored member is played again with the same seed, at most
 * GG_PLAY_AGAIN times and within its deadline; not when the endpoint refused its very first
 * request. The episodes do not depend on concurrency or arrival order.
 *
 * The run stops, once and with a clear text, when the endpoint says that it will never serve it
 * (quota, key, address), when it refuses GG_REFUSED_STOP first requests (too long ones included)
 * and accepts none, when it lets GG_DEAD_STOP episodes in a row fail and answers nobody meanwhile,
 * and when at the end not one request had succeeded. What is not finished then is unplayed, so that
 * a resumed run plays it.
 *
 * Threads: the loop's thread; `each` is called on it.
 */
#ifndef GG_AGENT_ROLLOUT_H
#define GG_AGENT_ROLLOUT_H

#include <uv.h>

#include "agent/episode.h"
#include "env/env.h"
#include "env/reward/reward.h"
#include "net/endpoint.h"

#define GG_PLAY_AGAIN   3
#define GG_REFUSED_STOP 3
#define GG_DEAD_STOP    3
#define GG_TICK_MS      200 /* how exactly run_ms and the deadline of a blocking call are kept */

typedef struct gg_ledger {
    int64_t planned, by_outcome[GG_OUTCOME_COUNT];
    int64_t replayed; /* errored members played again */
    int64_t turns, moves;
    int64_t prompt_tokens, completion_tokens, reasoning_tokens; /* -1 once any reply did not say */
} gg_ledger;

typedef struct gg_rollout gg_rollout;

/* Called once for each planned episode. The callee owns the episode. A status other than GG_OK ends
 * the run (a full disk). */
typedef gg_status (*gg_episode_fn)(void *context, size_t index, gg_episode *episode,
                                   gg_error *error);

typedef struct gg_rollout_options {
    const gg_game *game;
    const gg_reward *reward;
    gg_endpoint *endpoint;
    const gg_ask *ask;
    uint64_t seed; /* of the run */
    size_t concurrency;
    int64_t weight_version; /* the submitter's own count where replies carry none; -1 = unknown */
    const char *id_prefix;  /* "s" or "v" */
    int64_t run_ms;         /* time limit of one gg_rollout_play; 0 = none */
} gg_rollout_options;

gg_status gg_rollout_new(uv_loop_t *loop, const gg_rollout_options *options, gg_rollout **out,
                         gg_error *error);
void gg_rollout_free(gg_rollout *rollout);
/* Before a play: the letter of its episodes' ids and the weight version to assume, as in the
 * options. */
void gg_rollout_set(gg_rollout *rollout, const char *id_prefix, int64_t weight_version);
/* Plays the plan to its end (or until stopped) and returns; runs the loop meanwhile.
 * GG_E_INTERRUPTED after gg_rollout_stop, GG_E_UNREACHABLE when the endpoint stops the run. The
 * plan is read during the call only. May be called again. */
gg_status gg_rollout_play(gg_rollout *rollout, const gg_planned *plan, size_t count,
                          gg_episode_fn each, void *context, gg_error *error);
/* From a signal handler on the loop: first call drains (no new episodes), second call abandons what
 * is in flight. Later plays return at once. */
void gg_rollout_stop(gg_rollout *rollout);
/* Of the play that runs, or ran last. `planned` is the sum of by_outcome once it has ended; plays
 * that were not begun or abandoned are unplayed. */
const gg_ledger *gg_rollout_ledger(const gg_rollout *rollout);
/* Calls of a blocking environment that were given up and still run on the thread pool. While there
 * are any, the game must not be closed (and exit would wait for them). */
size_t gg_rollout_hanging(const gg_rollout *rollout);

/* Counts one finished episode in. Outcomes, turns, moves and tokens only. */
void gg_ledger_add(gg_ledger *ledger, const gg_episode *episode);

/* Snapshot for the live line (agent/live.h draws it). */
typedef struct gg_rollout_state {
    gg_ledger ledger;
    size_t in_flight, done;
    int64_t now_ms, started_ms; /* uv_now clock */
    const char *oldest_id;
    int64_t oldest_ms; /* age */
    gg_endpoint_state endpoint;
} gg_rollout_state;
void gg_rollout_look(const gg_rollout *rollout, gg_rollout_state *out);

#endif
