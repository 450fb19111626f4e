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

#endif
