/*
 * The managed runtime as an agent sees it: a model behind `ADDRESS/v1/chat/completions`, and two
 * calls that end a rollout, /complete-rollout and /update-reward. All carry a bearer token.
 *
 * The token goes only to the regional hosts of the service, to the host that the configuration
 * names, and to those it allows; another address in a request is refused before anything is sent.
 *
 * Threads: the loop's thread.
 */
#ifndef GG_AGENT_RUNTIME_H
#define GG_AGENT_RUNTIME_H

#include "net/credentials.h"
#include "net/endpoint.h"

#define GG_RUNTIME_CHAT  "/v1/chat/completions"
#define GG_RUNTIME_LINKS 64 /* addresses kept at a time */

typedef struct gg_runtime gg_runtime;
typedef struct gg_runtime_link gg_runtime_link; /* one address in one region */

typedef struct gg_runtime_options {
    gg_http *http;
    const char *region;   /* where a rollout names none; NULL = such a rollout fails */
    const char *endpoint; /* where a rollout names none; NULL = the regional host */
    const char *const
        *allow; /* further addresses, or HOST or HOST:PORT; NULL-terminated, or NULL */
    size_t in_flight_max;
    int attempts_max;                   /* 0 = GG_RETRY_ATTEMPTS */
    int64_t timeout_ms;                 /* of one attempt; 0 = GG_HTTP_TIMEOUT_MS */
    uint64_t seed;                      /* of the back-off's jitter */
    gg_credentials_options credentials; /* http is filled in */
} gg_runtime_options;

/* GG_E_CONFIG for a region or an address that makes no sense. Everything is copied. */
gg_status gg_runtime_new(const gg_runtime_options *options, gg_runtime **out, gg_error *error);
/* All links have been let go of. The caller lets the loop run once more. NULL is fine. */
void gg_runtime_free(gg_runtime *runtime);

/* The address to use for a rollout that names these (NULL = it names none). GG_E_CONFIG: there is
 * no region; GG_E_ARGUMENT: the address may not have the token; GG_E_LIMIT: too many at once. */
gg_status gg_runtime_open(gg_runtime *runtime, const char *endpoint, const char *region,
                          gg_runtime_link **out, gg_error *error);
void gg_runtime_close(gg_runtime_link *link); /* NULL is fine */
gg_endpoint *gg_runtime_endpoint(const gg_runtime_link *link);

typedef struct gg_trajectory {
    const char *job_arn, *id;
} gg_trajectory;

/* The two header lines of every call. */
#define GG_RUNTIME_LINE_ROOM 320
void gg_runtime_headers(const gg_trajectory *trajectory, char job[GG_RUNTIME_LINE_ROOM],
                        char id[GG_RUNTIME_LINE_ROOM]);

/* Seals the trajectory ("ready"); then gives its rewards, one or one a turn. The job's ARN goes in
 * the header and in the body, since clients are known to send it in either; the idempotency token
 * is made from the trajectory's name, so that a second sending is the same call. */
gg_status gg_runtime_complete(const gg_runtime_link *link, const gg_trajectory *trajectory,
                              int64_t deadline_ms, gg_post_done done, void *context, gg_post **out,
                              gg_error *error);
gg_status gg_runtime_reward(const gg_runtime_link *link, const gg_trajectory *trajectory,
                            const double *rewards, size_t count, int64_t deadline_ms,
                            gg_post_done done, void *context, gg_post **out, gg_error *error);
/* A failure that says that the trajectory has ended already or is not known: nothing is left to do
 * for it. */
bool gg_runtime_is_over(const gg_post_result *result);

#endif
