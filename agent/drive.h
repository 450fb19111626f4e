/*
 * Driving one episode: sends the actor's requests, runs its calls, and tells whoever owns it what
 * came of them. Shared by runs (agent/rollout.c) and by the agent's server (agent/invoke.c).
 *
 * Threads: the loop's thread.
 */
#ifndef GG_AGENT_DRIVE_H
#define GG_AGENT_DRIVE_H

#include "agent/episode.h"
#include "agent/offload.h"
#include "net/endpoint.h"

typedef struct gg_driver gg_driver;
typedef struct gg_drive gg_drive;

/* One episode; part of the owner's own struct, zeroed before use. */
struct gg_drive {
    gg_driver *driver;
    gg_actor *actor;
    gg_endpoint *endpoint;
    const char *path;
    const char *const *headers; /* of every request; or NULL */
    int64_t deadline_ms;        /* uv_now's clock */
    gg_post *post;              /* a request on its way */
    gg_offload *call;           /* a call on the thread pool */
};

/* What all episodes of an owner share. */
struct gg_driver {
    uv_loop_t *loop;
    bool blocks;    /* calls go to the thread pool */
    gg_reply reply; /* of the request whose callback runs */
    gg_buf body;    /* of the request in the making */
    gg_offload_list behind;
    /* A request has ended; the actor hears of it next. */
    void (*heard)(gg_drive *drive, const gg_post_result *result);
    /* Whether the episode goes on now that something came of a request or a call. */
    bool (*goes_on)(const gg_drive *drive);
    /* The episode wants its end. The drive may go. */
    void (*over)(gg_drive *drive);
    /* Something of ours failed (memory). The drive may go. */
    void (*broken)(gg_drive *drive, const gg_error *error);
    /* After each of these, when the loop called us. */
    void (*after)(gg_driver *driver);
};

void gg_driver_init(gg_driver *driver, uv_loop_t *loop, const gg_game *game);
void gg_driver_free(gg_driver *driver);

/* Does what the actor wants until it has to wait for something or is over. */
void gg_drive_step(gg_drive *drive);
/* Cancels what is on its way; a call is left behind, with its play. The actor stays. */
void gg_drive_stop(gg_drive *drive);
/* A call that blocks past the deadline cannot be interrupted, only left behind; the episode then
 * wants its end, which the caller sees to. False when there is no such call. */
bool gg_drive_overdue(gg_drive *drive);
/* The wall clock's time as a record has it (RFC 3339, UTC). */
#define GG_STARTED_ROOM 64
void gg_drive_clock(char out[GG_STARTED_ROOM]);

#endif
