/*
 * One episode as a state machine: messages -> reply -> tool calls -> environment -> next.
 *
 * No I/O and no clock. The machine says what it wants; whoever drives it (agent/rollout.c, a test)
 * does it and hands back what came of it:
 *
 *     gg_actor_new(stage, planned, ..., &actor, &error);
 *     for (;;)
 *         switch (gg_actor_wants(actor)) {
 *         case GG_WANT_REPLY: gg_actor_request ... gg_actor_reply or gg_actor_failed
 *         case GG_WANT_CALL:  gg_actor_job, gg_job_run (any thread), gg_actor_did
 *         case GG_WANT_END:   gg_actor_finish gives the record
 *         }
 *
 * What it decides in what order: an error is an error; calls that are there are answered whatever
 * finish_reason says, unless the reply was cut, which fails them all and ends the episode as
 * truncated; a text is offered to the environment as a move; anything else is answered by a
 * reminder, of which an episode has a fixed number.
 *
 * Threads: stage and actors belong to one thread; only gg_job_run may run on another.
 */
#ifndef GG_AGENT_EPISODE_H
#define GG_AGENT_EPISODE_H

#include "agent/chat.h"
#include "env/env.h"
#include "env/reward/reward.h"

typedef struct gg_task {
    const char *id; /* row number or the row's own id */
    const char *prompt;
    char digest[65]; /* SHA-256 of the row's bytes */
    char key[65];    /* SHA-256 of the identity */
} gg_task;

/* One play to make. */
typedef struct gg_planned {
    const gg_task *task;
    int64_t step, group, sample;
} gg_planned;

/* What all episodes of a run share. Everything in the options must outlive the stage. */
typedef struct gg_stage gg_stage;
typedef struct gg_stage_options {
    const gg_game *game;
    const gg_reward *reward;
    const gg_ask *ask;
    const char *endpoint; /* as shown in records, without secrets */
    const char *id_prefix;
    uint64_t seed;          /* of the run */
    int64_t weight_version; /* where replies carry none; -1 = unknown */
} gg_stage_options;

/* GG_E_CONFIG for an effort, an extra body or tools that make no sense. */
gg_status gg_stage_new(const gg_stage_options *options, gg_stage **out, gg_error *error);
void gg_stage_free(gg_stage *stage);
/* For the episodes begun from now on. */
void gg_stage_set(gg_stage *stage, const char *id_prefix, int64_t weight_version);

typedef struct gg_actor gg_actor;

/* Begins a play. `started` is the wall clock's time for the record (RFC 3339). */
gg_status gg_actor_new(gg_stage *stage, const gg_planned *planned, const char *started,
                       gg_actor **out, gg_error *error);
void gg_actor_free(gg_actor *actor);

typedef enum gg_want { GG_WANT_REPLY, GG_WANT_CALL, GG_WANT_END } gg_want;
gg_want gg_actor_wants(const gg_actor *actor);

const char *gg_actor_id(const gg_actor *actor);
gg_outcome gg_actor_outcome(const gg_actor *actor); /* GG_UNPLAYED until GG_WANT_END */
gg_stop gg_actor_stop_reason(const gg_actor *actor);
size_t gg_actor_turns(const gg_actor *actor); /* so far, failed requests included */

/* GG_WANT_REPLY: appends the request's body. */
gg_status gg_actor_request(const gg_actor *actor, gg_buf *body, gg_error *error);
/* How a request went: all attempts, the last of which was used. */
typedef struct gg_exchange_log {
    const gg_attempt *attempts;
    size_t attempt_count;
    int64_t latency_ms;
} gg_exchange_log;
/* Only GG_E_MEMORY fails. */
gg_status gg_actor_reply(gg_actor *actor, const gg_reply *reply, const gg_exchange_log *log,
                         gg_error *error);
/* The request failed for good with this class. */
gg_status gg_actor_failed(gg_actor *actor, gg_retry_class why, const char *message,
                          const gg_exchange_log *log, gg_error *error);

/* One call into the environment. Pointers are the actor's, valid until gg_actor_did; who runs the
 * job on another thread sets result.text and result.facts to buffers of its own. */
typedef struct gg_job {
    const gg_game *game;
    gg_play *play;
    const char *tool;  /* NULL = `input` is a reply's text */
    const char *input; /* arguments, or the text */
    gg_result result;
    bool taken; /* of a text: the environment took it as a move */
    gg_status status;
    gg_error error;
} gg_job;

/* GG_WANT_CALL. The job's buffers are the stage's. */
void gg_actor_job(gg_actor *actor, gg_job *job);
void gg_job_run(gg_job *job);
gg_status gg_actor_did(gg_actor *actor, const gg_job *job, gg_error *error);

/* Ends the episode as errored: deadline, interrupted. While a job runs elsewhere the play goes to
 * the caller (gg_actor_release), who finishes it when the job is done. */
void gg_actor_abort(gg_actor *actor, gg_stop stop, const char *message);
gg_play *gg_actor_release(gg_actor *actor);

/* GG_WANT_END: judges the episode and hands over its record, which the caller frees. */
gg_status gg_actor_finish(gg_actor *actor, int64_t duration_ms, gg_episode **out, gg_error *error);

#endif
