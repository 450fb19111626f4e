/*
 * `serve policy`: one policy with one set of weights behind an OpenAI-compatible address.
 *
 * Routes: POST /v1/chat/completions, GET /v1/models, GET /health. Threads: answers on the server's
 * threads.
 */
#ifndef GG_SERVICE_POLICY_SERVER_H
#define GG_SERVICE_POLICY_SERVER_H

#include "net/server.h"
#include "policy/policy.h"

typedef struct gg_policy_server gg_policy_server;

typedef struct gg_policy_server_options {
    const char *listen;   /* as gg_server_options.listen */
    const char *policy;   /* name, as gg_policy_open */
    const char *settings; /* the game's, JSON or NULL */
    const char *adapter;  /* path of an adapter file, or NULL = base weights */
    uint64_t seed;        /* for requests without one */
    unsigned threads;     /* 0 = 1 */
} gg_policy_server_options;

gg_status gg_policy_server_start(const gg_policy_server_options *options, gg_policy_server **out,
                                 gg_error *error);
void gg_policy_server_stop(gg_policy_server *server);
/* Base URL for clients: "http://127.0.0.1:PORT/v1". */
const char *gg_policy_server_url(const gg_policy_server *server);

#endif
