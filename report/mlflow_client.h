/*
 * Requests to an MLflow server, one after the other, on a private loop: meant for a thread of its
 * own. A request is tried GG_MLFLOW_ATTEMPTS times while the server does not answer or says that it
 * is busy; all that is sent may be sent twice.
 *
 * Threads: one at a time, but for gg_mlflow_client_until.
 */
#ifndef GG_REPORT_MLFLOW_CLIENT_H
#define GG_REPORT_MLFLOW_CLIENT_H

#include "core/json.h"

#define GG_MLFLOW_ATTEMPTS   3
#define GG_MLFLOW_PAUSE_MS   300 /* between attempts, times their number */
#define GG_MLFLOW_TIMEOUT_MS 10000
#define GG_MLFLOW_REPLY_MAX  (4u << 20)

/* From the environment, never from the command line. */
typedef struct gg_mlflow_keys {
    const char *token, *user, *password; /* NULL = none */
} gg_mlflow_keys;

typedef struct gg_mlflow_client gg_mlflow_client;

/* GG_E_CONFIG for what is no http(s) address. */
gg_status gg_mlflow_client_new(const char *url, const gg_mlflow_keys *keys, gg_mlflow_client **out,
                               gg_error *error);
void gg_mlflow_client_free(gg_mlflow_client *client); /* NULL is fine */
/* The address without secrets and without a slash at its end. */
const char *gg_mlflow_client_shown(const gg_mlflow_client *client);
/* From any thread: after this time (uv_hrtime, ns) nothing more is sent, and what is on its way is
 * given up. */
void gg_mlflow_client_until(gg_mlflow_client *client, uint64_t time_ns);

typedef struct gg_mlflow_request {
    const char *method, *path; /* path and query behind the address */
    const char *body;          /* NULL = none */
    size_t len;
    const char *type;           /* NULL = application/json */
    const char *const *headers; /* more "Name: value" lines, NULL-terminated, or NULL */
} gg_mlflow_request;

/* What the server said to the last request. */
typedef struct gg_mlflow_answer {
    int status;       /* HTTP; 0 = nothing came */
    const char *code; /* MLflow's error code, "" when there is none; until the next request */
    cJSON *json;      /* the body when it is JSON; until the next request; else NULL */
} gg_mlflow_answer;

/* GG_E_UNREACHABLE: no answer, or busy, to the last attempt. GG_E_PROTOCOL: refused (the answer
 * says how). The sentence names the server, and no secret. */
gg_status gg_mlflow_call(gg_mlflow_client *client, const gg_mlflow_request *request,
                         gg_mlflow_answer *answer, gg_error *error);

#endif
