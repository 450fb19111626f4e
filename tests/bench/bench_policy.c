/* What a reply and a trained sequence of the embedded policy cost, and what it solves untrained.
 * Prints one JSON object. Each time is also given at ten times the work, to show that cost grows
 * linearly. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/rng.h"
#include "policy/policy.h"
#include "tests/word_play.h"

#define SEED      1
#define GAMES     200 /* whose requests and sequences are measured */
#define ROUNDS    10
#define REQUESTS  (GAMES * 12)
#define WORD_ROOM 16

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void stop_unless(bool fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "bench_policy: %s failed\n", what);
    exit(1);
}

/* The requests of many games, and each game's whole sequence. */
typedef struct games {
    gg_policy_request asked[REQUESTS];
    size_t requests;
    int32_t *ids[GAMES];
    double *wanted[GAMES]; /* 1 where the next token was sampled */
    size_t counts[GAMES];
    size_t tokens, sampled;
    int solved;
} games;

/* Adds what a reply's prompt brings, then the reply. */
static void keep_ids(games *g, size_t game, const gg_policy_reply *reply)
{
    size_t from = g->counts[game], prompt = reply->prompt_count, all = prompt + reply->count;
    g->ids[game] = realloc(g->ids[game], all * sizeof **g->ids);
    g->wanted[game] = realloc(g->wanted[game], all * sizeof **g->wanted);
    stop_unless(g->ids[game] && g->wanted[game] && prompt >= from, "keeping a sequence");
    for (size_t i = from; i < all; i++) {
        g->ids[game][i] = i < prompt ? reply->prompt_ids[i] : reply->ids[i - prompt];
        if (i > 0)
            g->wanted[game][i - 1] = i >= prompt;
    }
    g->counts[game] = all;
    g->sampled += reply->count;
}

static void play_game(games *g, size_t index, const gg_policy *policy, const gg_game *game,
                      const char *word, gg_effort effort)
{
    word_play p;
    gg_policy_reply reply;
    gg_policy_reply_init(&reply);
    stop_unless(word_play_start(&p, game, word), "starting a game");
    while (!p.done && g->requests < REQUESTS) {
        gg_policy_request request =
            word_play_request(&p, effort, gg_derive_seed(SEED, word, p.turns));
        stop_unless(gg_policy_reply_to(policy, NULL, 0, &request, &reply, NULL) == GG_OK,
                    "a reply");
        request.messages.bytes = strndup(request.messages.bytes, request.messages.len);
        g->asked[g->requests++] = request;
        keep_ids(g, index, &reply);
        stop_unless(word_play_answer(&p, &reply, true), "a call");
    }
    g->tokens += g->counts[index];
    g->solved += p.solved;
    word_play_end(&p);
    gg_policy_reply_free(&reply);
}

static void play_games(games *g, const gg_policy *policy, const gg_game *game,
                       char (*words)[WORD_ROOM], size_t count, gg_effort effort)
{
    memset(g, 0, sizeof *g);
    for (size_t i = 0; i < GAMES; i++)
        play_game(g, i, policy, game, words[i * count / GAMES], effort);
}

static void free_games(games *g)
{
    for (size_t i = 0; i < g->requests; i++)
        free((char *)(uintptr_t)g->asked[i].messages.bytes);
    for (size_t i = 0; i < GAMES; i++) {
        free(g->ids[i]);
        free(g->wanted[i]);
    }
}

static double us_per_reply(const games *g, const gg_policy *policy, int rounds)
{
    size_t n = gg_policy_weight_count(policy);
    gg_weights weights = {.n = n, .adapter = calloc(n + 1, sizeof(double))};
    gg_policy_reply reply;
    gg_policy_reply_init(&reply);
    stop_unless(weights.adapter, "memory");
    double start = seconds();
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < g->requests; i++) {
            gg_policy_request request = g->asked[i];
            request.seed = (uint64_t)round;
            stop_unless(gg_policy_reply_to(policy, n ? &weights : NULL, 24, &request, &reply,
                                           NULL) == GG_OK,
                        "a reply");
        }
    }
    double spent = seconds() - start;
    gg_policy_reply_free(&reply);
    free(weights.adapter);
    return 1e6 * spent / ((double)g->requests * rounds);
}

/* Log-probabilities, then the gradient, as a forward-backward operation asks for them. */
static double us_per_sequence(const games *g, const gg_policy *policy, int rounds)
{
    size_t n = gg_policy_weight_count(policy), longest = 0;
    for (size_t i = 0; i < GAMES; i++)
        longest = g->counts[i] > longest ? g->counts[i] : longest;
    double *gradient = calloc(n, sizeof *gradient), *out = calloc(longest, sizeof *out);
    stop_unless(gradient && out, "memory");
    double start = seconds();
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < GAMES; i++) {
            const int32_t *ids = g->ids[i];
            size_t count = g->counts[i] - 1;
            gg_status status =
                gg_policy_logprobs(policy, NULL, 24, ids, ids + 1, count, g->wanted[i], out, NULL);
            if (status == GG_OK)
                status = gg_policy_gradient(policy, NULL, 24, ids, ids + 1, count, g->wanted[i],
                                            gradient, NULL);
            stop_unless(status == GG_OK, "a gradient");
        }
    }
    double spent = seconds() - start;
    free(gradient);
    free(out);
    return 1e6 * spent / ((double)GAMES * rounds);
}

static size_t read_words(const gg_game *game, char (*words)[WORD_ROOM], size_t room)
{
    const char *path = game->api->default_tasks(game->env, "test");
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[1024];
    size_t count = 0;
    stop_unless(file != NULL, "reading the test split");
    while (count < room && fgets(line, sizeof line, file)) {
        gg_buf key;
        gg_buf_init(&key, WORD_ROOM);
        cJSON *row = cJSON_Parse(line);
        const char *prompt = gg_json_text(row, "prompt");
        stop_unless(prompt && game->api->identity(game->env, prompt, &key, NULL) == GG_OK,
                    "reading a row");
        snprintf(words[count++], WORD_ROOM, "%s", gg_buf_cstr(&key));
        cJSON_Delete(row);
        gg_buf_free(&key);
    }
    fclose(file);
    return count;
}

static void measure(const gg_game *game, const char *name, const char *effort_name,
                    char (*words)[WORD_ROOM], size_t count, const char *separator)
{
    static games g;
    gg_policy *policy;
    gg_effort effort;
    gg_error error;
    stop_unless(gg_policy_open(name, NULL, &policy, &error) == GG_OK, name);
    stop_unless(gg_effort_parse(effort_name, &effort, &error) == GG_OK, effort_name);
    play_games(&g, policy, game, words, count, effort);
    printf("%s\n  \"%s_%s\": {\"solved\": %.3f, \"turns\": %.2f, \"tokens_per_game\": %.1f, "
           "\"sampled_per_game\": %.1f, \"us_per_reply\": %.2f, \"us_per_reply_10x\": %.2f",
           separator, name, effort_name, (double)g.solved / GAMES, (double)g.requests / GAMES,
           (double)g.tokens / GAMES, (double)g.sampled / GAMES, us_per_reply(&g, policy, ROUNDS),
           us_per_reply(&g, policy, 10 * ROUNDS));
    if (gg_policy_trainable(policy))
        printf(", \"us_per_sequence\": %.2f, \"us_per_sequence_10x\": %.2f",
               us_per_sequence(&g, policy, ROUNDS), us_per_sequence(&g, policy, 10 * ROUNDS));
    printf("}");
    free_games(&g);
    gg_policy_close(policy);
}

int main(void)
{
    static char words[4096][WORD_ROOM];
    gg_game *game;
    gg_error error = {0};
    if (gg_game_open("guess", NULL, &game, &error) != GG_OK) {
        fprintf(stderr, "bench_policy: %s\n", error.text);
        return 1;
    }
    size_t count = read_words(game, words, sizeof words / sizeof *words);
    printf("{\"games\": %d,", GAMES);
    measure(game, "letters", "low", words, count, "");
    measure(game, "letters", "medium", words, count, ",");
    measure(game, "letters", "high", words, count, ",");
    measure(game, "consistent", "low", words, count, ",");
    measure(game, "entropy", "low", words, count, ",");
    printf("\n}\n");
    gg_game_close(game);
    return 0;
}
