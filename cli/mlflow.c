/* guessgym mlflow-push, and logging to MLflow beside a run. */
#include "cli/mlflow.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <uv.h>

#include "cli/term.h"
#include "report/mlflow.h"

#define OUTPUT_MAX (1u << 20)
#define NS_OF_S    1000000000ull
#define NS_OF_MS   1000000l
#define MS_OF_S    1000

struct gg_mlflow_live {
    const gg_cli *cli;
    gg_mlflow *push;
    char *dir;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool over;
    gg_status how;
    bool warned;
};

/* ---- from the options ---- */

static bool is_address(const char *url)
{
    return strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
}

gg_status gg_mlflow_address(const gg_cli *cli, const char **url, gg_error *error)
{
    const char *variable = getenv("MLFLOW_TRACKING_URI");

    *url = gg_opt_text(cli->opts, GG_OPT_MLFLOW);
    if (*url && !is_address(*url))
        return gg_fail(error, GG_E_CONFIG, "--mlflow: not like http://HOST:PORT or https://HOST");
    if (*url || !variable || !*variable)
        return GG_OK;
    if (is_address(variable))
        *url = variable;
    else
        gg_remark(cli, "MLFLOW_TRACKING_URI is no http(s) address: nothing is logged to MLflow");
    return GG_OK;
}

static gg_mlflow_options push_options(const gg_cli *cli, const char *url)
{
    return (gg_mlflow_options){
        .url = url,
        .experiment = gg_opt_text(cli->opts, GG_OPT_MLFLOW_EXPERIMENT),
        .share = gg_opt_given(cli->opts, GG_OPT_MLFLOW_TRACES)
                     ? gg_opt_real(cli->opts, GG_OPT_MLFLOW_TRACES)
                     : -1,
        .keys = {.token = getenv("MLFLOW_TRACKING_TOKEN"),
                 .user = getenv("MLFLOW_TRACKING_USERNAME"),
                 .password = getenv("MLFLOW_TRACKING_PASSWORD")},
    };
}

/* ---- beside a run ---- */

static void warn(gg_mlflow_live *live, const gg_error *error)
{
    gg_buf command;
    const char *argv[] = {"mlflow-push", live->dir};

    if (live->warned)
        return;
    pthread_mutex_lock(&live->lock);
    live->warned = true;
    pthread_mutex_unlock(&live->lock);
    gg_buf_init(&command, OUTPUT_MAX);
    for (size_t i = 0; i < sizeof argv / sizeof *argv; i++) {
        gg_buf_char(&command, ' ');
        gg_quote_command(&command, 1, (char *const[]){(char *)argv[i]});
    }
    if (gg_term_is_tty(stderr))
        fputs("\r\x1b[K", stderr);
    gg_complain("warning: %s; the run goes on, and what is missing can be pushed later: " GG_PROGRAM
                "%s",
                error->text, gg_buf_cstr(&command));
    gg_buf_free(&command);
}

/* Waits for the end, or for the next look at the folder; true when the run is over. */
static bool wait_over(gg_mlflow_live *live)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += GG_MLFLOW_EVERY_MS % MS_OF_S * NS_OF_MS;
    until.tv_sec += GG_MLFLOW_EVERY_MS / MS_OF_S;
    pthread_mutex_lock(&live->lock);
    /* After a failure the server is asked once more, at the end. */
    while (!live->over && live->warned)
        pthread_cond_wait(&live->wake, &live->lock);
    if (!live->over)
        pthread_cond_timedwait(&live->wake, &live->lock, &until);
    bool over = live->over;
    pthread_mutex_unlock(&live->lock);
    return over;
}

static void *work(void *context)
{
    gg_mlflow_live *live = context;
    gg_error error = {0};

    do {
        if (gg_mlflow_push(live->push, &error) != GG_OK)
            warn(live, &error);
    } while (!wait_over(live));
    const char *ended = live->how == GG_OK              ? "FINISHED"
                        : live->how == GG_E_INTERRUPTED ? "KILLED"
                                                        : "FAILED";
    if (gg_mlflow_finish(live->push, ended, &error) != GG_OK)
        warn(live, &error);
    return NULL;
}

/* Signals are the run's business. */
static int start_thread(gg_mlflow_live *live)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int failed = pthread_create(&live->thread, NULL, work, live);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static void free_live(gg_mlflow_live *live)
{
    gg_mlflow_close(live->push);
    pthread_mutex_destroy(&live->lock);
    pthread_cond_destroy(&live->wake);
    free(live->dir);
    free(live);
}

gg_status gg_mlflow_start(const gg_cli *cli, const char *dir, gg_mlflow_live **out, gg_error *error)
{
    const char *url;
    gg_error later = {0};

    *out = NULL;
    gg_status status = gg_mlflow_address(cli, &url, error);
    if (status != GG_OK || !url)
        return status;
    gg_mlflow_live *live = calloc(1, sizeof *live);
    if (!live)
        return gg_fail(error, GG_E_MEMORY, "out of memory for MLflow");
    const gg_mlflow_options options = push_options(cli, url);
    live->cli = cli;
    pthread_mutex_init(&live->lock, NULL);
    pthread_cond_init(&live->wake, NULL);
    live->dir = strdup(dir);
    status = live->dir ? gg_mlflow_open(dir, &options, &live->push, &later) : GG_E_MEMORY;
    if (status == GG_OK && start_thread(live) != 0)
        status = gg_fail(&later, GG_E_MEMORY, "cannot start a thread for MLflow");
    if (status == GG_OK) {
        *out = live;
        return GG_OK;
    }
    if (live->dir)
        warn(live, &later);
    free_live(live);
    return GG_OK;
}

void gg_mlflow_stop(gg_mlflow_live *live, gg_status how)
{
    gg_mlflow_sent sent;

    if (!live)
        return;
    pthread_mutex_lock(&live->lock);
    gg_mlflow_until(live->push,
                    uv_hrtime() + (live->warned ? GG_MLFLOW_LAST_S : GG_MLFLOW_END_S) * NS_OF_S);
    live->over = true;
    live->how = how;
    pthread_cond_signal(&live->wake);
    pthread_mutex_unlock(&live->lock);
    pthread_join(live->thread, NULL);
    gg_mlflow_look(live->push, &sent);
    if (sent.refused > 0)
        gg_complain("warning: MLflow refused %lld traces", (long long)sent.refused);
    if (*sent.remark)
        gg_complain("warning: MLflow at %s: %s", sent.url, sent.remark);
    if (!live->warned)
        gg_remark(live->cli, "logged to %s/#/experiments/%s/runs/%s", sent.url, sent.experiment_id,
                  sent.run_id);
    free_live(live);
}

/* ---- the command ---- */

static void tell(const gg_cli *cli, const char *dir, const gg_mlflow_sent *sent, bool first,
                 gg_buf *out)
{
    if (!gg_opt_flag(cli->opts, GG_OPT_JSON)) {
        gg_buf_printf(
            out, "%s: sent %lld metrics, %lld traces, %lld files\n%s/#/experiments/%s/runs/%s\n",
            dir, (long long)sent->metrics, (long long)sent->traces, (long long)sent->files,
            sent->url, sent->experiment_id, sent->run_id);
        return;
    }
    gg_buf_str(out, first ? "[{\"run\":" : ",{\"run\":");
    gg_buf_json_str(out, dir);
    gg_buf_str(out, ",\"url\":");
    gg_buf_json_str(out, sent->url);
    gg_buf_str(out, ",\"experiment\":");
    gg_buf_json_str(out, sent->experiment);
    gg_buf_str(out, ",\"experiment_id\":");
    gg_buf_json_str(out, sent->experiment_id);
    gg_buf_str(out, ",\"run_id\":");
    gg_buf_json_str(out, sent->run_id);
    gg_buf_printf(out, ",\"metrics\":%lld,\"traces\":%lld,\"files\":%lld,\"refused\":%lld}",
                  (long long)sent->metrics, (long long)sent->traces, (long long)sent->files,
                  (long long)sent->refused);
}

static gg_status push_one(const gg_cli *cli, const char *url, size_t index, gg_buf *out,
                          gg_error *error)
{
    const gg_mlflow_options options = push_options(cli, url);
    const char *dir = cli->args[index];
    gg_mlflow_sent sent;
    gg_mlflow *push = NULL;

    gg_status status = gg_mlflow_open(dir, &options, &push, error);
    if (status != GG_OK)
        return status;
    status = gg_mlflow_finish(push, NULL, error);
    gg_mlflow_look(push, &sent);
    if (status == GG_OK)
        tell(cli, dir, &sent, index == 0, out);
    if (sent.refused > 0)
        gg_complain("warning: %s: MLflow refused %lld traces", dir, (long long)sent.refused);
    if (*sent.remark)
        gg_complain("warning: %s: %s", dir, sent.remark);
    gg_mlflow_close(push);
    return status;
}

gg_exit gg_cmd_mlflow_push(gg_cli *cli)
{
    gg_error error = {0};
    const char *url;
    gg_buf out;

    gg_buf_init(&out, OUTPUT_MAX);
    gg_status status = gg_mlflow_address(cli, &url, &error);
    for (size_t i = 0; i < cli->arg_count && status == GG_OK; i++)
        status = push_one(cli, url, i, &out, &error);
    if (status == GG_OK && gg_opt_flag(cli->opts, GG_OPT_JSON))
        gg_buf_str(&out, "]\n");
    if (status == GG_OK)
        gg_print(&out);
    gg_buf_free(&out);
    return status == GG_OK ? GG_EXIT_OK : gg_give_up(GG_STARTING, &error);
}
