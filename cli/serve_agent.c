/* guessgym serve agent: the agent at an address, for managed training jobs. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/serve.h"
#include "cli/game.h"
#include "cli/plan.h"
#include "cli/term.h"

#define ALLOW_MAX     64
#define ALLOW_ROOM    2048
#define MS_OF_SECONDS 1000
#define LOOK_NS       50000000 /* between looks at a server that drains */
#define HOST_PORT_END "; Ctrl-C stops it"

/* All that the server points to. */
typedef struct place {
    gg_game *game;
    gg_reward *reward;
    gg_buf system_prompt;
    char *allow[ALLOW_MAX + 1];
    gg_agent *agent;
} place;

static void log_line(void *context, const char *line)
{
    (void)context;
    gg_complain("%s", line);
}

static gg_ask ask_of(const gg_cli *cli, const place *p)
{
    const gg_opts *opts = cli->opts;
    gg_ask ask = GG_ASK_DEFAULTS;
    gg_switch echo = (gg_switch)gg_opt_choice(opts, GG_OPT_ECHO_REASONING);

    ask.effort = gg_opt_text(opts, GG_OPT_AGENT_EFFORT);
    ask.effort_in = (gg_effort_in)gg_opt_choice(opts, GG_OPT_EFFORT_IN);
    ask.effort_line = gg_opt_flag(opts, GG_OPT_PROMPT_HINT);
    ask.temperature = gg_opt_real(opts, GG_OPT_TEMPERATURE);
    ask.top_p = gg_opt_real(opts, GG_OPT_TOP_P);
    ask.max_tokens = gg_opt_int(opts, GG_OPT_MAX_TOKENS);
    ask.nudges = (int)gg_opt_int(opts, GG_OPT_NUDGES);
    ask.text_calls = gg_opt_choice(opts, GG_OPT_TEXT_CALLS) == 0;
    ask.stream = gg_opt_flag(opts, GG_OPT_STREAM);
    ask.system_prompt = p->system_prompt.len ? gg_buf_cstr(&p->system_prompt) : NULL;
    /* The service records the tokens itself, and draws the seeds; a trajectory stays one sequence
     * when what the model thought goes back to it. */
    ask.send_seed = false;
    ask.token_ids = 0;
    ask.echo_reasoning = echo == GG_AUTO ? GG_ON : echo;
    return ask;
}

static gg_status read_allowed(const gg_cli *cli, place *p, gg_error *error)
{
    char text[ALLOW_ROOM];

    for (size_t i = 0; gg_opt_item(cli->opts, GG_OPT_ALLOW_ENDPOINT, i, text, sizeof text); i++) {
        if (i == ALLOW_MAX)
            return gg_fail(error, GG_E_CONFIG, "--allow-endpoint is given more than %d times",
                           ALLOW_MAX);
        p->allow[i] = strdup(text);
        if (!p->allow[i])
            return gg_fail(error, GG_E_MEMORY, "out of memory for the allowed endpoints");
    }
    return GG_OK;
}

static gg_status open_place(const gg_cli *cli, place *p, gg_error *error)
{
    const gg_opts *opts = cli->opts;

    gg_status status = gg_plan_system_prompt(cli, &p->system_prompt, error);
    if (status == GG_OK)
        status = gg_cli_game(cli, gg_opt_text(opts, GG_OPT_ENV), &p->game, error);
    if (status == GG_OK)
        status = gg_cli_reward(cli, p->game, &p->reward, error);
    if (status == GG_OK)
        status = read_allowed(cli, p, error);
    if (status != GG_OK)
        return status;
    const gg_agent_options options = {
        .listen = gg_opt_text(opts, GG_OPT_LISTEN_AGENT),
        .errands = {.game = p->game,
                    .reward = p->reward,
                    .ask = ask_of(cli, p),
                    .runtime = {.region = gg_opt_text(opts, GG_OPT_REGION),
                                .endpoint = gg_opt_text(opts, GG_OPT_RUNTIME_ENDPOINT),
                                .allow = (const char *const *)p->allow,
                                .in_flight_max = (size_t)gg_opt_int(opts, GG_OPT_ROLLOUTS),
                                .attempts_max = (int)gg_opt_int(opts, GG_OPT_ATTEMPTS),
                                .timeout_ms =
                                    (int64_t)(gg_opt_real(opts, GG_OPT_TIMEOUT) * MS_OF_SECONDS),
                                .seed = (uint64_t)gg_opt_int(opts, GG_OPT_SEED)},
                    .budget_ms = (int64_t)(gg_opt_real(opts, GG_OPT_BUDGET) * MS_OF_SECONDS),
                    .seed = (uint64_t)gg_opt_int(opts, GG_OPT_SEED)},
        .rollouts_max = (size_t)gg_opt_int(opts, GG_OPT_ROLLOUTS),
        .early = gg_opt_choice(opts, GG_OPT_REPLY) == 0,
        .log = log_line,
    };
    return gg_agent_start(&options, &p->agent, error);
}

static void close_place(gg_cli *cli, place *p)
{
    bool clean = gg_agent_stop(p->agent);

    cli->hanging = !clean;
    if (clean) {
        gg_reward_free(p->reward);
        gg_game_close(p->game);
    }
    for (size_t i = 0; i < ALLOW_MAX; i++)
        free(p->allow[i]);
    gg_buf_free(&p->system_prompt);
}

/* The first signal lets what is in flight end, the second ends at once. */
static void drain(const gg_cli *cli, place *p, const sigset_t *set)
{
    static const struct timespec between = {.tv_nsec = LOOK_NS};
    gg_agent_counts counts;

    gg_agent_drain(p->agent);
    gg_agent_look(p->agent, &counts);
    if (counts.in_flight)
        gg_remark(cli, "%zu rollouts end first; again to stop at once", counts.in_flight);
    while (counts.in_flight) {
        if (sigtimedwait(set, NULL, &between) > 0)
            break;
        gg_agent_look(p->agent, &counts);
    }
    gg_remark(cli, "stopped after %lld rollouts: %lld skipped, %lld errored, %lld not reported",
              (long long)counts.taken, (long long)counts.skipped,
              (long long)counts.by_outcome[GG_ERRORED], (long long)counts.unreported);
}

static void tell(const gg_cli *cli, const place *p)
{
    puts(gg_agent_url(p->agent));
    fflush(stdout);
    gg_remark(cli, "the agent for %s at %s, reward %s" HOST_PORT_END, p->game->name,
              gg_agent_url(p->agent), gg_reward_text(p->reward));
    if (!gg_opt_text(cli->opts, GG_OPT_REGION))
        gg_complain("no region is set: rollouts whose request names none will fail; set --region "
                    "or AWS_REGION");
}

gg_exit gg_cmd_serve_agent(gg_cli *cli)
{
    place p = {.game = NULL};
    gg_exit code = GG_EXIT_OK;
    gg_error error = {0};
    sigset_t set;
    int signal_number = 0;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL); /* for the threads that follow, too */
    if (open_place(cli, &p, &error) == GG_OK) {
        tell(cli, &p);
        sigwait(&set, &signal_number);
        drain(cli, &p, &set);
    } else {
        code = gg_give_up(GG_STARTING, &error);
    }
    close_place(cli, &p);
    return code;
}
