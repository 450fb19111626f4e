/* Marks a second, and whole steps of the word game a second (feedback text and all facts), on one
 * core. Prints one JSON object. Each figure is also given at ten times the work, to show that cost
 * grows linearly. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/rng.h"
#include "env/env.h"
#include "env/guess/guess.h"

#define ROUNDS   5
#define SEED     1
#define MARKS    5000000L
#define GAMES    10000L
#define GUESSES  6
#define ROW_ROOM 96

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void stop_on(gg_status status, const gg_error *error)
{
    if (status == GG_OK)
        return;
    fprintf(stderr, "bench_env: %s\n", error->text);
    exit(1);
}

static double round_of_marks(const gg_words *words, long count)
{
    size_t answers = gg_words_answer_count(words), allowed = gg_words_allowed_count(words);
    long sum = 0;
    double start = seconds();
    for (long n = 0; n < count;) {
        const char *guess = gg_words_allowed(words, (size_t)(n * 7) % allowed);
        for (size_t a = 0; a < answers && n < count; a++, n++)
            sum += gg_mark(guess, gg_words_answer(words, a), 5);
    }
    double spent = seconds() - start;
    fprintf(stderr, "sum of patterns %ld\n", sum); /* so that no compiler drops the work */
    return (double)count / spent;
}

typedef struct steps {
    const gg_game *game;
    const gg_words *words;
    char (*rows)[ROW_ROOM]; /* a dataset row an answer */
    gg_buf text, facts;
    gg_rng rng;
    long played;
    size_t bytes;
} steps;

/* Guesses at random, half of them answers, as an untrained player's are. */
static void play_game(steps *s)
{
    char arguments[64];
    gg_play *play;
    gg_error error = {0};
    size_t answers = gg_words_answer_count(s->words), allowed = gg_words_allowed_count(s->words);
    const char *row = s->rows[gg_rng_below(&s->rng, answers)];
    stop_on(s->game->api->start(s->game->env, row, 1, &play, &error), &error);
    for (int g = 0; g < GUESSES; g++) {
        gg_result result = {.text = &s->text, .facts = &s->facts};
        const char *word = g % 2 ? gg_words_answer(s->words, gg_rng_below(&s->rng, answers))
                                 : gg_words_allowed(s->words, gg_rng_below(&s->rng, allowed));
        memcpy(arguments, "{\"guess\":\"", 10);
        memcpy(arguments + 10, word, 5);
        memcpy(arguments + 15, "\"}", 3);
        gg_buf_reset(&s->text);
        gg_buf_reset(&s->facts);
        stop_on(s->game->api->call(play, "guess_word", arguments, &result, &error), &error);
        s->bytes += s->text.len + s->facts.len;
        s->played++;
        if (result.done)
            break;
    }
    s->game->api->finish(play);
}

static double round_of_steps(steps *s, long games)
{
    s->played = 0;
    gg_rng_seed(&s->rng, SEED);
    double start = seconds();
    for (long n = 0; n < games; n++)
        play_game(s);
    return (double)s->played / (seconds() - start);
}

/* The best of some rounds: other work on the machine only ever slows one down. */
static double marks_a_second(const gg_words *words, long count)
{
    double best = 0;
    for (int i = 0; i < ROUNDS; i++)
        best = fmax(best, round_of_marks(words, count));
    return best;
}

static double steps_a_second(steps *s, long games)
{
    double best = 0;
    for (int i = 0; i < ROUNDS; i++)
        best = fmax(best, round_of_steps(s, games));
    return best;
}

/* Every word as an opening once, so that the entropy of each is known before the clock starts. */
static double build_tables(steps *s)
{
    double start = seconds();
    for (size_t i = 0; i < gg_words_allowed_count(s->words); i++) {
        char arguments[64];
        gg_play *play;
        gg_error error = {0};
        gg_result result = {.text = &s->text, .facts = &s->facts};
        snprintf(arguments, sizeof arguments, "{\"guess\":\"%s\"}", gg_words_allowed(s->words, i));
        gg_buf_reset(&s->text);
        gg_buf_reset(&s->facts);
        stop_on(s->game->api->start(s->game->env, "crane", 1, &play, &error), &error);
        stop_on(s->game->api->call(play, "guess_word", arguments, &result, &error), &error);
        s->game->api->finish(play);
    }
    return seconds() - start;
}

static void make_rows(steps *s)
{
    size_t answers = gg_words_answer_count(s->words);
    s->rows = calloc(answers, sizeof *s->rows);
    for (size_t i = 0; s->rows && i < answers; i++)
        snprintf(s->rows[i], sizeof s->rows[i],
                 "{\"prompt\":\"Guess the 5-letter word\",\"answer\":\"%s\",\"id\":\"w_%04zu\"}",
                 gg_words_answer(s->words, i), i);
    if (!s->rows)
        exit(1);
}

int main(void)
{
    gg_game *game;
    gg_words *words;
    gg_error error = {0};
    stop_on(gg_game_open("guess", NULL, &game, &error), &error);
    stop_on(gg_words_load(NULL, NULL, 5, &words, &error), &error);
    steps s = {.game = game, .words = words};
    gg_buf_init(&s.text, 1 << 16);
    gg_buf_init(&s.facts, 1 << 16);
    double marks = marks_a_second(words, MARKS), marks_10 = marks_a_second(words, 10 * MARKS);
    make_rows(&s);
    double build = build_tables(&s);
    double rate = steps_a_second(&s, GAMES), rate_10 = steps_a_second(&s, 10 * GAMES);
    printf("{\"bench\":\"env\",\"marks_per_s\":%.0f,\"marks_per_s_10x\":%.0f,\"steps_per_s\":%.0f,"
           "\"steps_per_s_10x\":%.0f,\"tables_s\":%.3f}\n",
           marks, marks_10, rate, rate_10, build);
    free(s.rows);
    gg_buf_free(&s.text);
    gg_buf_free(&s.facts);
    gg_words_free(words);
    gg_game_close(game);
    return 0;
}
