#include "cli/managed.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define URL_ROOM      512
#define REHEARSED     "us-west-2" /* region of a signature where only an address is told */
#define SIGNED_AS     "sagemaker"
#define CALL_MS       60000
#define CALL_ATTEMPTS 8

static void on_signal(uv_signal_t *handle, int number)
{
    gg_managed *m = handle->data;
    (void)number;
    m->given_up = true;
}

static void listen_to(gg_managed *m, uv_signal_t *handle, int number)
{
    uv_signal_init(&m->loop, handle);
    handle->data = m;
    uv_signal_start(handle, on_signal, number);
    uv_unref((uv_handle_t *)handle);
}

static bool has_keys(void)
{
    static const char *const names[] = {"AWS_ACCESS_KEY_ID", "AWS_PROFILE",
                                        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                                        "AWS_CONTAINER_CREDENTIALS_FULL_URI"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return true;
    return false;
}

const char *gg_managed_region(const gg_cli *cli)
{
    const char *region = gg_opt_text(cli->opts, GG_OPT_REGION);

    if (gg_opt_text(cli->opts, GG_OPT_SERVICE_URL) && !has_keys())
        return NULL;
    return region ? region : REHEARSED;
}

static gg_status open_signing(gg_managed *m, const char *region, gg_error *error)
{
    const gg_credentials_options options = {.http = m->http};
    gg_status status = gg_credentials_new(&options, &m->credentials, error);
    return status == GG_OK ? gg_signing_new(m->credentials, region, SIGNED_AS, &m->signing, error)
                           : status;
}

static gg_status open_control(gg_managed *m, const char *url, gg_error *error)
{
    const gg_endpoint_options options = {.base_url = url,
                                         .timeout_ms = CALL_MS,
                                         .attempts_max = CALL_ATTEMPTS,
                                         .sign = m->signing ? gg_signing_sign : NULL,
                                         .sign_context = m->signing};
    gg_status status = gg_endpoint_new(m->http, &options, &m->control, error);
    if (status == GG_OK && m->signing)
        gg_signing_attach(m->signing, m->control);
    m->client = (gg_remote_job_client){&m->loop, m->control, &m->given_up};
    return status;
}

gg_status gg_managed_open(gg_cli *cli, gg_managed *m, gg_error *error)
{
    const char *given = gg_opt_text(cli->opts, GG_OPT_SERVICE_URL),
               *region = gg_opt_text(cli->opts, GG_OPT_REGION);
    char url[URL_ROOM];

    *m = (gg_managed){.given_up = false};
    uv_loop_init(&m->loop);
    listen_to(m, &m->interrupt, SIGINT);
    listen_to(m, &m->terminate, SIGTERM);
    if (!given && !region)
        return gg_fail(error, GG_E_CONFIG,
                       "no region is told: give --region or AWS_REGION, or --service-url for a "
                       "service of your own");
    snprintf(url, sizeof url, GG_MANAGED_CONTROL, region ? region : REHEARSED);
    gg_status status = gg_http_new(&m->loop, &m->http, error);
    const char *signed_for = gg_managed_region(cli);
    if (status == GG_OK && signed_for)
        status = open_signing(m, signed_for, error);
    return status == GG_OK ? open_control(m, given ? given : url, error) : status;
}

gg_status gg_managed_keys(gg_managed *m, gg_aws_keys *keys, const gg_aws_keys **out,
                          gg_error *error)
{
    gg_status status = GG_OK;

    *out = NULL;
    if (!m->credentials)
        return GG_OK;
    while ((status = gg_credentials_keys(m->credentials, keys, error)) == GG_E_STATE &&
           !m->given_up)
        uv_run(&m->loop, UV_RUN_ONCE);
    if (status == GG_OK)
        *out = keys;
    return status;
}

void gg_managed_close(gg_managed *m)
{
    gg_endpoint_free(m->control);
    gg_signing_free(m->signing);
    gg_credentials_free(m->credentials);
    gg_http_free(m->http);
    uv_close((uv_handle_t *)&m->interrupt, NULL);
    uv_close((uv_handle_t *)&m->terminate, NULL);
    uv_run(&m->loop, UV_RUN_DEFAULT);
    uv_loop_close(&m->loop);
}
