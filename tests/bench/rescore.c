/*
 * Computes a reward anew for every episode of a saved run, as fast as one core can.
 *
 *     rescore RUN REWARD [ROUNDS]
 *
 * Prints a JSON object; the rate is that of the best round.
 */
#include "core/run.h"
#include "env/reward/reward.h"
#include "tests/bench/bench.h"

typedef struct scoring {
    const gg_game *game;
    const gg_reward *reward;
    long episodes;
    double sum;
} scoring;

static gg_status score(void *context, gg_episode *episode, gg_error *error)
{
    scoring *s = context;
    gg_status status = gg_reward_score(s->reward, s->game, episode, error);
    s->sum += episode->reward;
    s->episodes++;
    gg_episode_free(episode);
    return status;
}

static void stop_on(gg_status status, const gg_error *error)
{
    if (status == GG_OK)
        return;
    fprintf(stderr, "rescore: %s\n", error->text);
    exit(1);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: rescore RUN REWARD [ROUNDS]\n");
        return 2;
    }
    int rounds = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 3;
    double best = 0;
    gg_error error = {0};
    gg_game *game;
    gg_reward *reward;
    gg_run *run;
    gg_damage damage;
    scoring s;
    stop_on(gg_game_open("guess", NULL, &game, &error), &error);
    stop_on(gg_reward_parse(game, argv[2], &reward, &error), &error);
    stop_on(gg_run_open_read(argv[1], &run, &error), &error);
    for (int i = 0; i < rounds; i++) {
        s = (scoring){.game = game, .reward = reward};
        double cpu = bench_cpu_us();
        stop_on(
            gg_run_each_episode(run, GG_JOURNAL_EPISODES, GG_READ_PLAY, score, &s, &damage, &error),
            &error);
        double rate = 1e6 * (double)s.episodes / (bench_cpu_us() - cpu);
        best = rate > best ? rate : best;
    }
    printf("{\"episodes\":%ld,\"damaged\":%zu,\"per_s\":%.0f,\"mean\":%.4f}\n", s.episodes,
           damage.lines, best, s.sum / (double)s.episodes);
    gg_run_close(run);
    gg_reward_free(reward);
    gg_game_close(game);
    return damage.lines != 0;
}
