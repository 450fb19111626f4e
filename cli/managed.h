/* The managed service's control plane, as a command talks to it: loop, signals, keys, signature. */
#ifndef GG_CLI_MANAGED_H
#define GG_CLI_MANAGED_H

#include "cli/command.h"
#include "net/signing.h"
#include "train/job.h"

#define GG_MANAGED_CONTROL  "https://api.sagemaker.%s.amazonaws.com"
#define GG_MANAGED_SESSIONS "https://training-session-runtime.sagemaker.%s.api.aws"

typedef struct gg_managed {
    uv_loop_t loop;
    uv_signal_t interrupt, terminate;
    gg_http *http;
    gg_credentials *credentials;
    gg_signing *signing; /* NULL = requests are not signed */
    gg_endpoint *control;
    bool given_up; /* a signal came */
    gg_remote_job_client client;
} gg_managed;

/* The region that requests are signed for: always one for the managed service; for a service of the
 * user's own only where the environment has keys, else NULL. */
const char *gg_managed_region(const gg_cli *cli);
/* --service-url, else the host of --region. Requests to --service-url are signed when the
 * environment has keys; those to the service always. The struct must not move. */
gg_status gg_managed_open(gg_cli *cli, gg_managed *out, gg_error *error);
/* The keys that requests are signed with; waits for them. They hold until the loop runs again.
 * *out is NULL where nothing is signed. */
gg_status gg_managed_keys(gg_managed *managed, gg_aws_keys *keys, const gg_aws_keys **out,
                          gg_error *error);
/* Also after an open that failed. */
void gg_managed_close(gg_managed *managed);

#endif
