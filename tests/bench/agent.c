/*
 * The whole agent loop over a canned server: what a request costs beside `bare` with the same
 * bodies, and what an episode in flight holds in memory.
 *
 *     agent URL EPISODES [IN_FLIGHT]
 *
 * Prints a JSON object. The canned reply plays one wrong word for ever, so an episode is as many
 * requests as the game allows. kb_in_flight is the growth of resident memory from before the first
 * episode to the highest point, an episode in flight: with a slow server and as many in flight as
 * there are, all of them are in their last turns then.
 */
#include "agent/rollout.h"
#include "tests/bench/bench.h"

typedef struct run {
    long bytes;
    gg_buf line;
} run;

/* As the program does: the record is written out, then thrown away. */
static gg_status take(void *context, size_t index, gg_episode *episode, gg_error *error)
{
    run *r = context;
    (void)index;
    gg_buf_reset(&r->line);
    gg_status status = gg_episode_write(episode, &r->line, error);
    if (status == GG_OK)
        status = gg_episode_write_tokens(episode, &r->line, error);
    r->bytes += (long)r->line.len;
    gg_episode_free(episode);
    return status;
}

static void stop_on(gg_status status, const gg_error *error)
{
    if (status == GG_OK)
        return;
    fprintf(stderr, "agent: %s\n", error->text);
    exit(1);
}

/* Words that the reply's "crane" does not solve. */
static gg_planned *plan(size_t count)
{
    static gg_task tasks[] = {{.id = "0", .prompt = "stood", .digest = "d", .key = "k"},
                              {.id = "1", .prompt = "fully", .digest = "e", .key = "l"}};
    gg_planned *all = malloc(count * sizeof *all);
    bench_stop_unless(all != NULL, "planning");
    for (size_t i = 0; i < count; i++)
        all[i] = (gg_planned){&tasks[i % 2], 0, (int64_t)i, 0};
    return all;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: agent URL EPISODES [IN_FLIGHT]\n");
        return 2;
    }
    size_t count = strtoul(argv[2], NULL, 10);
    size_t in_flight = argc > 3 ? strtoul(argv[3], NULL, 10) : 64;
    run r = {0};
    gg_error error;
    uv_loop_t loop;
    struct rusage usage;
    gg_http *http;
    gg_game *game;
    gg_reward *reward;
    gg_endpoint *endpoint;
    gg_rollout *rollout;
    gg_ask ask = GG_ASK_DEFAULTS;
    gg_endpoint_options to = {.base_url = argv[1], .in_flight_max = in_flight};
    gg_buf_init(&r.line, 64u << 20);
    bench_stop_unless(uv_loop_init(&loop) == 0, "making a loop");
    stop_on(gg_http_new(&loop, &http, &error), &error);
    stop_on(gg_endpoint_new(http, &to, &endpoint, &error), &error);
    stop_on(gg_game_open("guess", NULL, &game, &error), &error);
    stop_on(gg_reward_parse(game, "solve", &reward, &error), &error);
    gg_rollout_options options = {.game = game,
                                  .reward = reward,
                                  .endpoint = endpoint,
                                  .ask = &ask,
                                  .seed = 42,
                                  .concurrency = in_flight,
                                  .weight_version = -1,
                                  .id_prefix = "s"};
    stop_on(gg_rollout_new(&loop, &options, &rollout, &error), &error);
    gg_planned *all = plan(count);
    long before_kb = bench_rss_kb();
    double wall = bench_wall(), cpu = bench_cpu_us();
    stop_on(gg_rollout_play(rollout, all, count, take, &r, &error), &error);
    wall = bench_wall() - wall;
    cpu = bench_cpu_us() - cpu;
    getrusage(RUSAGE_SELF, &usage);
    gg_rollout_state look;
    gg_rollout_look(rollout, &look);
    printf("{\"episodes\":%zu,\"in_flight\":%zu,\"requests\":%lld,\"cpu_us\":%.2f,\"per_s\":%.0f,"
           "\"kb_in_flight\":%.1f,\"record_bytes\":%ld}\n",
           count, in_flight, (long long)look.endpoint.requests,
           cpu / (double)look.endpoint.requests, (double)look.endpoint.requests / wall,
           (double)(usage.ru_maxrss - before_kb) / (double)in_flight, r.bytes / (long)count);
    gg_rollout_free(rollout);
    gg_endpoint_free(endpoint);
    gg_http_free(http);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    gg_reward_free(reward);
    gg_game_close(game);
    gg_buf_free(&r.line);
    free(all);
    return 0;
}
