/* What the files of net/credentials.h share. */
#ifndef GG_NET_CREDENTIALS_INSIDE_H
#define GG_NET_CREDENTIALS_INSIDE_H

#include "net/credentials.h"

#define GG_NEVER INT64_MAX

/* Keys with their memory. */
typedef struct gg_key_set {
    char *id, *secret, *token;
    int64_t expires_s; /* GG_NEVER */
} gg_key_set;

void gg_key_set_free(gg_key_set *keys);

/* Where keys are fetched from. */
typedef enum gg_key_source {
    GG_KEYS_NONE,
    GG_KEYS_WEB,
    GG_KEYS_CONTAINER,
    GG_KEYS_INSTANCE,
    GG_KEYS_SOURCES
} gg_key_source;

struct gg_credentials {
    gg_credentials_options options;
    uv_timer_t timer; /* between tries */
    gg_key_set keys;  /* id NULL = none */
    int64_t version;
    bool stale; /* refused */
    gg_credentials_waiter *waiters;
    /* fetching */
    gg_key_source source;
    bool fetching;
    gg_transfer *transfer;
    int tries, step;
    gg_buf url, form, session, role;
    gg_error failure; /* of the last fetch */
    int64_t failed_ms;
    bool failed;
};

const char *gg_credentials_variable(const gg_credentials *credentials, const char *name);

/* The environment and the file: *found tells whether the source is there at all. */
gg_status gg_keys_from_environment(const gg_credentials *c, gg_key_set *out, bool *found,
                                   gg_error *error);
gg_status gg_keys_from_file(const gg_credentials *c, gg_key_set *out, bool *found, gg_error *error);
/* Whether the environment names a role and a token file for the security token service. */
bool gg_keys_by_web_identity(const gg_credentials *c);
/* Reads what the security token service answers, which is XML. */
gg_status gg_keys_from_xml(const char *text, gg_key_set *out, gg_error *error);
/* Reads what a container's endpoint or the instance's metadata answers. */
gg_status gg_keys_from_json(const char *text, size_t len, gg_key_set *out, gg_error *error);

/* Begins the fetch of c->source; it ends in gg_credentials_fetched, from the loop. */
void gg_credentials_fetch(gg_credentials *c);
void gg_credentials_fetched(gg_credentials *c, gg_status status, gg_key_set *keys, gg_error *error);
void gg_credentials_on_timer(uv_timer_t *timer);

#endif
