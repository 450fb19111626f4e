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

/* The policy that a fault script names (letters where it names none), behind that script; without
 * one, behind the shipped GG_HOSTILE_SCRIPT. */
#define GG_HOSTILE        "hostile"
#define GG_HOSTILE_SCRIPT "examples/faults/thirty-percent.faults"
#define GG_HOSTILE_POLICY "letters"

typedef struct gg_policy_server gg_policy_server;

typedef struct gg_policy_server_options {
    const char *listen;   /* as gg_server_options.listen */
    const char *policy;   /* name, as gg_policy_open; or GG_HOSTILE */
    const char *settings; /* the game's, JSON or NULL */
    const char *adapter;  /* path of an adapter file, or NULL = base weights */
    const char *faults;   /* path of a fault script, or NULL = none (GG_HOSTILE has one) */
    uint64_t seed;        /* for requests without one */
    unsigned threads;     /* 0 = 1 */
} gg_policy_server_options;

gg_status gg_policy_server_start(const gg_policy_server_options *options, gg_policy_server **out,
                                 gg_error *error);
void gg_policy_server_stop(gg_policy_server *server);
/* Base URL for clients: "http://127.0.0.1:PORT/v1". */
const char *gg_policy_server_url(const gg_policy_server *server);
/* The model's name in its replies: the policy's. */
const char *gg_policy_server_model(const gg_policy_server *server);

#endif
