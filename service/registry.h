/*
 * The training sessions of a service, by name, and their files STATE/sessions/NAME.json.
 *
 * Threads: any.
 */
#ifndef GG_SERVICE_REGISTRY_H
#define GG_SERVICE_REGISTRY_H

#include "service/hosted.h"

#define GG_SESSIONS_RUNNING_MAX 64 /* each has a thread */

typedef struct gg_registry gg_registry;

/* `state_dir` may be NULL. What an earlier process left is known as ended: a session that was
 * running has Failed. */
gg_status gg_registry_open(const char *state_dir, gg_registry **out, gg_error *error);
/* Stops what runs and writes all states down. NULL is fine. */
void gg_registry_close(gg_registry *registry);

typedef enum gg_registry_answer {
    GG_REGISTRY_OK,
    GG_REGISTRY_TAKEN, /* the name is in use */
    GG_REGISTRY_FULL,  /* too many sessions run */
    GG_REGISTRY_BROKEN
} gg_registry_answer;

/* Makes a session and starts it. */
gg_registry_answer gg_registry_add(gg_registry *registry, const gg_hosted_options *options,
                                   gg_error *error);
/* Kept; NULL when there is none. */
gg_hosted *gg_registry_find(gg_registry *registry, const char *name);
/* Writes a session's state down. */
void gg_registry_save(gg_registry *registry, gg_hosted *session);
/* Forgets a session and its file. */
void gg_registry_remove(gg_registry *registry, const char *name);
/* Newest first, with serials that fall; from serial < `below`. False from `each` ends the walk.
 * `each` must not call back in here. */
typedef bool (*gg_session_fn)(void *context, gg_hosted *session, int64_t serial);
void gg_registry_each(gg_registry *registry, int64_t below, gg_session_fn each, void *context);

#endif
