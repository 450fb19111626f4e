#include "tests/games.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/rng.h"
#include "env/guess/guess.h"
#include "tests/word_play.h"

#define TURNS_MAX 24

typedef struct tokens {
    gg_turn_tokens turns[TURNS_MAX];
    size_t count;
    int64_t length; /* of the sequence so far */
} tokens;

static void *copy(const void *from, size_t bytes)
{
    void *out = malloc(bytes + 1);
    assert_non_null(out);
    if (bytes)
        memcpy(out, from, bytes);
    return out;
}

/* Thoughts come back in the history, so that each prompt begins with the sequence before it. */
static void add_turn(tokens *t, const gg_policy_reply *reply)
{
    assert_true(t->count < TURNS_MAX && reply->prompt_count > (size_t)t->length);
    size_t more = reply->prompt_count - (size_t)t->length;
    t->turns[t->count++] =
        (gg_turn_tokens){.prompt_from = t->length,
                         .prompt_ids = copy(reply->prompt_ids + t->length, more * sizeof(int32_t)),
                         .prompt_count = more,
                         .ids = copy(reply->ids, reply->count * sizeof(int32_t)),
                         .logprobs = copy(reply->logprobs, reply->count * sizeof(double)),
                         .count = reply->count};
    t->length = (int64_t)(reply->prompt_count + reply->count);
}

static void play_one(const gg_policy *policy, const gg_weights *weights, double scale,
                     const gg_game *game, const char *word, uint64_t seed, tokens *t)
{
    word_play p;
    gg_policy_reply reply;
    gg_error error = {0};
    gg_policy_reply_init(&reply);
    assert_true(word_play_start(&p, game, word));
    while (!p.done && t->count < TURNS_MAX) {
        gg_policy_request request =
            word_play_request(&p, GG_EFFORT_LOW, gg_request_seed(seed, 0, 0, 0, (int64_t)t->count));
        if (gg_policy_reply_to(policy, weights, scale, &request, &reply, &error) != GG_OK)
            fail_msg("%s", error.text);
        add_turn(t, &reply);
        assert_true(word_play_answer(&p, &reply, true));
    }
    word_play_end(&p);
    gg_policy_reply_free(&reply);
}

static void free_tokens(tokens *t)
{
    for (size_t i = 0; i < t->count; i++) {
        free((void *)(uintptr_t)t->turns[i].prompt_ids);
        free((void *)(uintptr_t)t->turns[i].ids);
        free((void *)(uintptr_t)t->turns[i].logprobs);
    }
}

void games_datums(const gg_policy *policy, const gg_weights *weights, double scale, size_t count,
                  uint64_t seed, gg_datums *out)
{
    gg_game *game;
    gg_words *words;
    gg_rng rng;
    gg_error error = {0};
    gg_rng_seed(&rng, seed);
    if (gg_game_open("guess", NULL, &game, &error) != GG_OK ||
        gg_words_load(NULL, NULL, 5, &words, &error) != GG_OK)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < count; i++) {
        tokens t = {0};
        double advantages[TURNS_MAX];
        const char *word = gg_words_answer(words, gg_rng_below(&rng, gg_words_answer_count(words)));
        double advantage = gg_rng_normal(&rng);
        play_one(policy, weights, scale, game, word, gg_rng_next(&rng) >> 11, &t);
        for (size_t k = 0; k < TURNS_MAX; k++)
            advantages[k] = advantage;
        gg_episode episode = {.id = "game", .turn_count = t.count, .tokens = t.turns};
        if (gg_datums_add(out, &episode, advantages, &error) != GG_OK)
            fail_msg("%s", error.text);
        free_tokens(&t);
    }
    gg_words_free(words);
    gg_game_close(game);
}
