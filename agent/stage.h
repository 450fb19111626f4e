/* Inside of agent/episode.h: the stage and the actor, for the files that make up the machine. */
#ifndef GG_AGENT_STAGE_H
#define GG_AGENT_STAGE_H

#include "agent/episode.h"
#include "agent/toolcall.h"

struct gg_stage {
    gg_stage_options options;
    gg_frame frame;
    gg_tools *tools;
    gg_found found;            /* of the reply in hand */
    gg_buf text, facts, notes; /* reused: a job's result, and texts in the making */
};

/* A call of the newest turn, to be answered. */
typedef struct gg_pending {
    const char *arguments; /* in the episode's arena */
    gg_fault fault;
} gg_pending;

struct gg_actor {
    gg_stage *stage;
    gg_episode *episode;
    gg_play *play;
    gg_buf history;
    size_t history_kept; /* up to the last whole message */
    gg_want want;
    gg_pending *pending; /* one a call of the newest turn */
    size_t pending_count, next;
    const char *text;  /* a text offered to the environment, in the arena */
    bool from_text;    /* results go back in one user message */
    bool forked;       /* the template does not keep what was said */
    bool constrained;  /* see gg_frame */
    bool shortened;    /* the endpoint dropped the front of the conversation */
    int calls, nudges; /* so far */
    int64_t made_ids;
    int64_t tokens, last_prompt;
};

/* agent/episode_record.c: what goes into the record. All strings are copied into its arena. */
gg_status gg_actor_no_memory(gg_error *error);
const char *gg_actor_keep(gg_actor *actor, const char *text, size_t len); /* NULL: no memory */
gg_turn *gg_actor_turn(gg_actor *actor);                                  /* the newest one */
/* Begins a turn; `reply` NULL = it got none. */
gg_status gg_actor_add_turn(gg_actor *actor, const gg_reply *reply, const gg_exchange_log *log,
                            gg_error *error);
/* Weight version and token counts. */
gg_status gg_actor_note_reply(gg_actor *actor, const gg_reply *reply, gg_error *error);
/* The calls that were found, in the record and as work to do. */
gg_status gg_actor_keep_calls(gg_actor *actor, gg_error *error);
bool gg_actor_set_repairs(gg_actor *actor, gg_call *call, uint32_t repairs);

#endif
