/*
 * The local stand-in for the cloud: the managed training-session API on an embedded policy.
 *
 * Spoken on one address: the control plane (AWS JSON 1.1, POST /), the runtime
 * (/v1/training-sessions/...), the pass-through to a session's model (/training-sessions/NAME/...),
 * an OpenAI base URL for each session (/training-sessions/NAME/v1) and GET /health, which answers
 * 200 once everything is ready.
 *
 * Model packages are files: s3://BUCKET/KEY is S3_ROOT/BUCKET/KEY. With a state folder, sessions
 * and packages are known after a restart; a session that was running then is Failed, since its
 * training state lived in memory: open a new one and load the last saved state.
 *
 * Threads: start, stop and the calls below from any one thread; requests are answered on the
 * server's threads, operations run on one thread a session.
 */
#ifndef GG_SERVICE_SERVICE_H
#define GG_SERVICE_SERVICE_H

#include <stdint.h>

#include <guessgym/error.h>

#define GG_SERVICE_ACCOUNT "123456789012"
#define GG_SERVICE_REGION  "us-west-2" /* where a request names none */
#define GG_SERVICE_SEED    42
#define GG_SERVICE_MODEL   "letters"
#define GG_SERVICE_ARN_MAX 2048

typedef struct gg_service gg_service;

/* One line for a log, without its newline; called from any thread. */
typedef void (*gg_service_log)(void *context, const char *line);

typedef struct gg_service_options {
    const char *listen;      /* as gg_server_options.listen */
    const char *state_dir;   /* sessions and packages; NULL = forgotten at the end */
    const char *s3_root;     /* NULL = STATE_DIR/s3, without a state folder a temporary one that is
                                removed at the end */
    const char *s3_endpoint; /* s3:// lies at this S3 endpoint instead, path style; its keys are
                                those of the environment (AWS_ACCESS_KEY_ID ...) */
    const char *account;     /* 12 digits; NULL = GG_SERVICE_ACCOUNT */
    const char
        *agent_url;     /* jobs' rollouts are played at AGENT_URL/invocations; NULL = jobs fail */
    double rollout_tps; /* rollouts that a job begins a second; 0 = no limit */
    int64_t reward_wait_ms; /* see gg_job_site; 0 = GG_JOB_REWARD_WAIT_MS */
    /* Whose signatures and tokens are good; NULL = they are not verified. */
    const char *key_id, *secret, *token;
    const char *model;    /* the embedded policy that stands for every model that is not here; NULL
                             = GG_SERVICE_MODEL */
    const char *settings; /* the environment's, for gg_policy_open: JSON or NULL */
    uint64_t seed;        /* of samples that name none; 0 = GG_SERVICE_SEED */
    unsigned threads;     /* of the server; 0 = 2 */
    int64_t gap_ms;       /* how long a missing number may block a session; 0 = ten minutes */
    gg_service_log log;   /* NULL = nothing is logged */
    void *log_context;
} gg_service_options;

/* Returns once requests are answered. */
gg_status gg_service_start(const gg_service_options *options, gg_service **out, gg_error *error);
/* Ends all work: what is queued is skipped, the operation in hand is finished. NULL is fine. */
void gg_service_stop(gg_service *service);
/* "http://127.0.0.1:43211" */
const char *gg_service_url(const gg_service *service);
/* The folder behind s3://, as resolved. */
const char *gg_service_s3_root(const gg_service *service);

/* Makes a model package in `group` from an adapter file, as if a session had saved it: what
 * `train --adapter FILE` starts from. */
gg_status gg_service_add_adapter(gg_service *service, const char *group, const char *path,
                                 char arn[GG_SERVICE_ARN_MAX + 1], gg_error *error);

#endif
