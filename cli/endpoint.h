/*
 * Who plays: from --endpoint, --model, --adapter and the key to an address to ask.
 *
 * `builtin:NAME` starts the embedded policy on a loopback port, on threads of this program; the
 * agent talks to it over HTTP as to any other server. An address is asked for its models first: one
 * that cannot be reached is told at once, and a single model needs no --model.
 */
#ifndef GG_CLI_ENDPOINT_H
#define GG_CLI_ENDPOINT_H

#include "cli/command.h"
#include "env/env.h"
#include "service/policy_server.h"

typedef struct gg_player {
    gg_policy_server *server; /* NULL for an address of the user's */
    char *url;                /* base URL to ask */
    char *shown;              /* as records name it: "builtin:letters", or the address */
    char *model;
    char owner[32];          /* who serves it, as its list of models says: "vllm"; "" = not said */
    char *authorization;     /* header line, or NULL */
    const char *headers[2];  /* of every request, NULL-terminated */
    char adapter_sha256[65]; /* "" = none */
} gg_player;

/* Starts or finds the endpoint. Threads: the caller's; the server has its own. */
gg_status gg_player_open(const gg_cli *cli, const gg_game *game, gg_player *out, gg_error *error);
/* An address and its key alone: nothing is asked, no model is chosen. */
gg_status gg_player_address(const gg_cli *cli, const char *url, gg_player *out, gg_error *error);
void gg_player_close(gg_player *player);

#endif
