/* guessgym serve: the embedded policy, or the training service, at an address. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "cli/term.h"
#include "service/policy_server.h"
#include "service/service.h"

#define SETTINGS_MAX (1u << 20)

/* Signals that end a server wait for sigwait; threads started from now on do not see them. */
static void block_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, set, NULL);
}

/* Tells the address (on stdout, for scripts that asked for any port) and serves until a signal. */
static gg_exit serve(const gg_cli *cli, const char *what, const char *url, const sigset_t *set)
{
    int signal_number = 0;

    puts(url);
    fflush(stdout);
    gg_remark(cli, "%s at %s; Ctrl-C stops it", what, url);
    sigwait(set, &signal_number);
    gg_remark(cli, "stopped");
    return GG_EXIT_OK;
}

static gg_status read_settings(const gg_cli *cli, gg_buf *out, gg_error *error)
{
    gg_buf_init(out, SETTINGS_MAX);
    gg_opts_settings(cli->opts, out);
    return gg_buf_status(out, "the settings", error);
}

gg_exit gg_cmd_serve_policy(gg_cli *cli)
{
    gg_policy_server *server = NULL;
    gg_exit code = GG_EXIT_OK;
    gg_error error = {0};
    gg_buf settings;
    sigset_t set;

    block_signals(&set);
    gg_status status = read_settings(cli, &settings, &error);
    const gg_policy_server_options options = {
        .listen = gg_opt_text(cli->opts, GG_OPT_LISTEN_POLICY),
        .policy = gg_opt_text(cli->opts, GG_OPT_POLICY),
        .settings = settings.len ? gg_buf_cstr(&settings) : NULL,
        .adapter = gg_opt_text(cli->opts, GG_OPT_ADAPTER),
        .faults = gg_opt_text(cli->opts, GG_OPT_FAULTS),
        .seed = (uint64_t)gg_opt_int(cli->opts, GG_OPT_SEED),
        .threads = (unsigned)gg_opt_int(cli->opts, GG_OPT_THREADS),
    };
    if (status == GG_OK)
        status = gg_policy_server_start(&options, &server, &error);
    if (status == GG_OK)
        code = serve(cli, "an embedded policy (no language model)", gg_policy_server_url(server),
                     &set);
    else
        code = gg_give_up(GG_STARTING, &error);
    gg_policy_server_stop(server);
    gg_buf_free(&settings);
    return code;
}

/* Called from any thread; one fprintf is one whole line. */
static void log_line(void *context, const char *line)
{
    gg_remark(context, "%s", line);
}

static const char *set_in_environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

gg_exit gg_cmd_serve_service(gg_cli *cli)
{
    gg_service *service = NULL;
    gg_exit code = GG_EXIT_OK;
    gg_error error = {0};
    gg_buf settings;
    sigset_t set;

    block_signals(&set);
    gg_status status = read_settings(cli, &settings, &error);
    const gg_service_options options = {
        .listen = gg_opt_text(cli->opts, GG_OPT_LISTEN_SERVICE),
        .state_dir = gg_opt_text(cli->opts, GG_OPT_STATE),
        .s3_root = gg_opt_text(cli->opts, GG_OPT_S3_ROOT),
        .s3_endpoint = gg_opt_text(cli->opts, GG_OPT_S3_ENDPOINT),
        .agent_url = gg_opt_text(cli->opts, GG_OPT_AGENT_URL),
        .rollout_tps = gg_opt_real(cli->opts, GG_OPT_ROLLOUT_TPS),
        .key_id = set_in_environment("AWS_ACCESS_KEY_ID"),
        .secret = set_in_environment("AWS_SECRET_ACCESS_KEY"),
        .token = set_in_environment("AWS_SESSION_TOKEN"),
        .account = gg_opt_text(cli->opts, GG_OPT_ACCOUNT),
        .model = gg_opt_text(cli->opts, GG_OPT_POLICY),
        .settings = settings.len ? gg_buf_cstr(&settings) : NULL,
        .seed = (uint64_t)gg_opt_int(cli->opts, GG_OPT_SEED),
        .threads = (unsigned)gg_opt_int(cli->opts, GG_OPT_THREADS),
        .log = log_line,
        .log_context = cli,
    };
    if (status == GG_OK)
        status = gg_service_start(&options, &service, &error);
    if (status == GG_OK) {
        gg_remark(cli, "s3:// is %s",
                  options.s3_endpoint ? options.s3_endpoint : gg_service_s3_root(service));
        code =
            serve(cli, "a local stand-in for the training service", gg_service_url(service), &set);
    } else {
        code = gg_give_up(GG_STARTING, &error);
    }
    gg_service_stop(service);
    gg_buf_free(&settings);
    return code;
}
