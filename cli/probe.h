/*
 * guessgym probe: one endpoint, asked a few times, and what there is to say of it.
 *
 * cli/probe.c asks (the request of a run first, then variations of it), cli/probe_look.c draws the
 * conclusions, cli/probe_tell.c tells them. Nothing is retried: what happens once is what is shown.
 */
#ifndef GG_CLI_PROBE_H
#define GG_CLI_PROBE_H

#include <cjson/cJSON.h>

#include "agent/toolcall.h"
#include "cli/base_url.h"
#include "cli/endpoint.h"
#include "env/reward/reward.h"

#define GG_PROBE_TEXT      400 /* bytes of one message that is shown */
#define GG_PROBE_DROP_ROOM 1024
#define GG_PROBE_FIELDS    6 /* refused fields that are left out, one after another */
#define GG_PROBE_ADVICE    12
#define GG_PROBE_MODELS    5   /* names shown of a list */
#define GG_PROBE_TOKENS    512 /* of the first reply, unless --max-tokens says */

/* One request and what came back. */
typedef struct gg_shot {
    bool made;
    char url[GG_BASE_URL_MAX];
    gg_transport transport;
    gg_retry_class outcome;
    int status;
    int64_t ms;
    size_t sent, received;       /* bytes */
    char type[64];               /* the content type */
    char message[GG_PROBE_TEXT]; /* what went wrong; "" = nothing */
    gg_buf body;                 /* of the reply */
} gg_shot;

typedef enum gg_finding { GG_FINDING_UNKNOWN, GG_FINDING_YES, GG_FINDING_NO } gg_finding;

typedef enum gg_feature_id {
    GG_FEATURE_TOOLS,
    GG_FEATURE_CALLS,
    GG_FEATURE_PARALLEL,
    GG_FEATURE_THOUGHTS,
    GG_FEATURE_EFFORT,
    GG_FEATURE_LOGPROBS,
    GG_FEATURE_TOKEN_IDS,
    GG_FEATURE_USAGE,
    GG_FEATURE_STREAM,
    GG_FEATURE_STREAM_USAGE,
    GG_FEATURE_COUNT
} gg_feature_id;

typedef struct gg_feature {
    gg_finding value;
    char detail[160];
} gg_feature;

/* A field that the endpoint refused. */
typedef struct gg_refused {
    const char *field, *flags; /* what leaves it out of a run's requests */
} gg_refused;

typedef struct gg_probe {
    gg_cli *cli;
    gg_game *game;
    gg_reward *reward;
    gg_player player;
    const char *given;     /* the address as the user wrote it; NULL = embedded */
    const char *url_fault; /* half a sentence; NULL = nothing is wrong with it */
    char mended[GG_BASE_URL_MAX];
    char models[GG_PROBE_TEXT]; /* names listed, comma between; "" = no list */
    int model_count;
    bool model_listed; /* the model asked for is in the list, or there is none */
    gg_ask ask;
    gg_refused refused[GG_PROBE_FIELDS];
    size_t refused_count;
    char drop[GG_PROBE_DROP_ROOM]; /* as gg_ask.drop */
    cJSON *body;                   /* of the request that `chat` is about */
    gg_shot list, chat, plain, stream, effort;
    gg_reply reply;       /* of `chat`, when its outcome is OK */
    gg_episode *episode;  /* the play's record after that reply, or NULL */
    int64_t plain_tokens; /* of the prompt without tools; GG_TOKENS_UNKNOWN */
    size_t chunks;        /* of the stream */
    bool stream_ended, stream_usage;
    gg_feature features[GG_FEATURE_COUNT];
    char advice[GG_PROBE_ADVICE][GG_PROBE_TEXT];
    size_t advice_count;
    gg_buf flags;           /* "--endpoint URL --model NAME ...", as for a shell */
    char schema_flag[4096]; /* an --extra-body that makes replies calls; "" = not needed */
} gg_probe;

/* Fills features, advice and flags. */
void gg_probe_look(gg_probe *probe);
/* The name of a feature in JSON, and for people. */
const char *gg_feature_key(gg_feature_id id);
const char *gg_feature_label(gg_feature_id id);

void gg_probe_tell(const gg_probe *probe, gg_buf *out);
void gg_probe_json(const gg_probe *probe, gg_buf *out);

#endif
