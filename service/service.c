#include "service/service.h"

#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "service/inside.h"

#define THREADS      2
#define LOG_LINE     512
#define OPEN_FOLDERS 16

void gg_service_say(const gg_service *service, const char *format, ...)
{
    char line[LOG_LINE];
    va_list list;
    if (!service->log)
        return;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    service->log(service->log_context, line);
}

gg_status gg_service_policy(gg_service *service, const char *name, const gg_policy **out,
                            gg_error *error)
{
    gg_status status = GG_OK;
    *out = NULL;
    pthread_mutex_lock(&service->lock);
    for (size_t i = 0; i < service->policy_count && !*out; i++)
        if (strcmp(gg_policy_name(service->policies[i]), name) == 0)
            *out = service->policies[i];
    if (!*out && service->policy_count == GG_POLICIES_MAX)
        status = gg_fail(error, GG_E_LIMIT, "more than %d models are in use", GG_POLICIES_MAX);
    if (!*out && status == GG_OK) {
        gg_policy *policy = NULL;
        status = gg_policy_open(name, service->settings, &policy, error);
        if (status == GG_OK)
            *out = service->policies[service->policy_count++] = policy;
    }
    pthread_mutex_unlock(&service->lock);
    return status;
}

const char *gg_choose_policy(gg_service *service, const char *who, const char *base_id,
                             const gg_policy **out, gg_error *error)
{
    const char *const *names = gg_policy_names(), *standing = service->model;
    while (*names && strcmp(*names, base_id) != 0)
        names++;
    if (!*names)
        gg_service_say(service,
                       "%s: the model %s is not here; the embedded policy %s stands for it", who,
                       base_id, standing);
    if (gg_service_policy(service, *names ? *names : standing, out, error) != GG_OK)
        return GG_INTERNAL;
    return gg_policy_trainable(*out)
               ? NULL
               : gg_control_fail(error, GG_VALIDATION, "the model %s cannot be trained; use %s",
                                 base_id, standing);
}

/* As above, for a job that an earlier process left. */
static gg_status left_policy(void *context, const char *base_id, const gg_policy **out,
                             gg_error *error)
{
    const char *type = gg_choose_policy(context, "a job of an earlier start", base_id, out, error);
    return type ? GG_E_CONFIG : GG_OK; /* the sentence is there */
}

static void handle(void *context, gg_exchange *exchange, const gg_exchange_request *http)
{
    gg_request request = {.service = context, .exchange = exchange, .http = http};
    if (gg_request_admit(&request))
        gg_route(&request);
}

/* ---- starting ---- */

static bool copy(char **out, const char *text)
{
    *out = text ? strdup(text) : NULL;
    return *out || !text;
}

static gg_status temporary_root(gg_service *service, gg_error *error)
{
    const char *folder = getenv("TMPDIR");
    gg_buf path;
    gg_buf_init(&path, GG_S3_PATH_MAX);
    gg_buf_printf(&path, "%s/guessgym-s3-XXXXXX", folder && *folder ? folder : "/tmp");
    service->s3_root = gg_buf_take(&path);
    if (!service->s3_root || !mkdtemp(service->s3_root))
        return gg_fail(error, GG_E_IO, "cannot make a temporary folder for model packages: %s",
                       strerror(errno));
    service->own_root = true;
    return GG_OK;
}

static gg_status settle_root(gg_service *service, const gg_service_options *options,
                             gg_error *error)
{
    gg_buf path;
    if (!options->s3_root && !service->state_dir)
        return temporary_root(service, error);
    gg_buf_init(&path, 2 * GG_S3_PATH_MAX);
    if (options->s3_root)
        gg_buf_str(&path, options->s3_root);
    else
        gg_buf_printf(&path, "%s/s3", service->state_dir);
    gg_status status = gg_buf_status(&path, "the S3 folder's path", error);
    if (status == GG_OK)
        status = gg_dir_make(path.data, error);
    if (status == GG_OK && !(service->s3_root = gg_buf_take(&path)))
        status = gg_fail(error, GG_E_MEMORY, "out of memory starting the service");
    gg_buf_free(&path);
    return status;
}

/* The keys and the region that AWS programs find in their environment. */
static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static gg_status open_store(gg_service *service, const gg_service_options *options, gg_error *error)
{
    const char *region = setting("AWS_REGION");
    const gg_store_options store = {.root = service->s3_root,
                                    .endpoint = options->s3_endpoint,
                                    .region = region ? region : GG_SERVICE_REGION,
                                    .key_id = setting("AWS_ACCESS_KEY_ID"),
                                    .secret = setting("AWS_SECRET_ACCESS_KEY"),
                                    .token = setting("AWS_SESSION_TOKEN")};
    return gg_store_open(&store, &service->store, error);
}

static gg_status check_options(const gg_service_options *options, gg_error *error)
{
    const char *account = options->account;
    if (account && (strlen(account) != 12 || strspn(account, "0123456789") != 12))
        return gg_fail(error, GG_E_CONFIG, "the account must be 12 digits, not \"%s\"", account);
    return GG_OK;
}

static gg_status open_jobs(gg_service *service, const gg_service_options *options, gg_error *error)
{
    if (options->rollout_tps < 0)
        return gg_fail(error, GG_E_CONFIG, "the rollouts a second cannot be negative");
    service->site =
        (gg_job_site){.store = service->store,
                      .packages = service->packages,
                      .agent_url = service->agent_url,
                      .state_dir = service->state_dir,
                      .account = service->account,
                      .seed = service->seed,
                      .rollout_tps = options->rollout_tps,
                      .reward_wait_ms = options->reward_wait_ms > 0 ? options->reward_wait_ms
                                                                    : GG_JOB_REWARD_WAIT_MS,
                      .log = service->log,
                      .log_context = service->log_context};
    return gg_jobs_open(&service->site, left_policy, service, &service->jobs, error);
}

static gg_status prepare(gg_service *service, const gg_service_options *options, gg_error *error)
{
    gg_status status = check_options(options, error);
    if (status != GG_OK)
        return status;
    service->seed = options->seed ? options->seed : GG_SERVICE_SEED;
    service->gap_ms = options->gap_ms;
    service->log = options->log;
    service->log_context = options->log_context;
    if (!copy(&service->account, options->account ? options->account : GG_SERVICE_ACCOUNT) ||
        !copy(&service->model, options->model ? options->model : GG_SERVICE_MODEL) ||
        !copy(&service->settings, options->settings) ||
        !copy(&service->agent_url, options->agent_url) ||
        !copy(&service->state_dir, options->state_dir))
        return gg_fail(error, GG_E_MEMORY, "out of memory starting the service");
    status = gg_auth_open(options->key_id, options->secret, options->token, &service->auth, error);
    if (status == GG_OK && service->state_dir)
        status = gg_dir_make(service->state_dir, error);
    if (status == GG_OK)
        status = settle_root(service, options, error);
    if (status == GG_OK)
        status = open_store(service, options, error);
    if (status == GG_OK)
        status = gg_packages_open(service->state_dir, service->store, &service->packages, error);
    if (status == GG_OK)
        status = gg_registry_open(service->state_dir, &service->sessions, error);
    /* Opened now: wrong settings should be told at the start, not to the first client. */
    const gg_policy *policy;
    if (status == GG_OK && !gg_policy_name_trainable(service->model))
        status = gg_fail(error, GG_E_CONFIG, "the policy %s cannot be trained", service->model);
    if (status == GG_OK)
        status = gg_service_policy(service, service->model, &policy, error);
    return status == GG_OK ? open_jobs(service, options, error) : status;
}

/* Once the address is known, which the agent is told. */
static gg_status go_on(gg_service *service, gg_error *error)
{
    service->site.endpoint_url = gg_server_url(service->http);
    if (!gg_auth_verifies(service->auth))
        gg_service_say(service, "no keys are set: signatures and tokens are not verified");
    return gg_jobs_resume(service->jobs, error);
}

gg_status gg_service_start(const gg_service_options *options, gg_service **out, gg_error *error)
{
    gg_service *service = calloc(1, sizeof *service);
    *out = NULL;
    if (!service)
        return gg_fail(error, GG_E_MEMORY, "out of memory starting the service");
    pthread_mutex_init(&service->lock, NULL);
    atomic_init(&service->requests, 0);
    gg_status status = prepare(service, options, error);
    if (status == GG_OK) {
        gg_server_options http = {.listen = options->listen,
                                  .threads = options->threads ? options->threads : THREADS,
                                  .handler = handle,
                                  .context = service};
        status = gg_server_start(&http, &service->http, error);
    }
    if (status == GG_OK)
        status = go_on(service, error);
    if (status == GG_OK)
        *out = service;
    else
        gg_service_stop(service);
    return status;
}

/* ---- stopping ---- */

static int remove_one(const char *path, const struct stat *what, int kind, struct FTW *where)
{
    (void)what, (void)kind, (void)where;
    return remove(path);
}

void gg_service_stop(gg_service *service)
{
    if (!service)
        return;
    /* The server first: no handler may find the sessions gone. What a session still answers after
     * that is thrown away. */
    gg_jobs_suspend(service->jobs);
    gg_server_stop(service->http);
    gg_jobs_close(service->jobs);
    gg_auth_close(service->auth);
    gg_registry_close(service->sessions);
    gg_packages_close(service->packages);
    gg_store_close(service->store);
    for (size_t i = 0; i < service->policy_count; i++)
        gg_policy_close(service->policies[i]);
    if (service->own_root)
        nftw(service->s3_root, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    free(service->state_dir);
    free(service->s3_root);
    free(service->account);
    free(service->model);
    free(service->agent_url);
    free(service->settings);
    pthread_mutex_destroy(&service->lock);
    free(service);
}

const char *gg_service_url(const gg_service *service)
{
    return gg_server_url(service->http);
}

const char *gg_service_s3_root(const gg_service *service)
{
    return service->s3_root;
}

gg_status gg_service_add_adapter(gg_service *service, const char *group, const char *path,
                                 char arn[GG_SERVICE_ARN_MAX + 1], gg_error *error)
{
    const gg_policy *policy;
    gg_adapter adapter;
    char made[GG_PACKAGE_ARN_MAX + 1];
    if (!gg_text_is(group, GG_TEXT_NAME))
        return gg_fail(error, GG_E_ARGUMENT, "\"%s\" is no name for a model package group", group);
    gg_status status = gg_service_policy(service, service->model, &policy, error);
    if (status == GG_OK)
        status = gg_adapter_read(path, policy, &adapter, error);
    if (status != GG_OK)
        return status;
    gg_package_save save = {.group = group,
                            .region = GG_SERVICE_REGION,
                            .account = service->account,
                            .base_id = service->model,
                            .s3_path = "s3://guessgym/imported",
                            .session = "imported",
                            .policy = policy,
                            .adapter = &adapter};
    status = gg_packages_save(service->packages, &save, made, error);
    if (status == GG_OK)
        snprintf(arn, GG_SERVICE_ARN_MAX + 1, "%s", made);
    return status;
}
