/*
 * One word game between an embedded policy and the environment, in memory: the messages as an agent
 * would send them, no wire between.
 */
#ifndef GG_TESTS_WORD_PLAY_H
#define GG_TESTS_WORD_PLAY_H

#include "core/json.h"
#include "env/env.h"
#include "policy/board.h"
#include "policy/policy.h"

typedef struct word_play {
    const gg_game *game;
    gg_play *play;
    gg_buf messages; /* a JSON array */
    const char *tools;
    gg_buf text, facts;
    int turns;
    bool done, solved;
} word_play;

/* False when anything failed. */
bool word_play_start(word_play *p, const gg_game *game, const char *word);
/* Appends the reply as an assistant message (thoughts included when `echo`), runs its call and
 * appends the result. */
bool word_play_answer(word_play *p, const gg_policy_reply *reply, bool echo);
void word_play_end(word_play *p);
/* The request for the next reply, at temperature 1. It points into the play. */
gg_policy_request word_play_request(const word_play *p, gg_effort effort, uint64_t seed);

/* Letters 0-25 of a word. */
void word_letters(const char *word, uint8_t *out);
/* Tells a board what a guess would have got. */
void board_learn(gg_board *board, const char *guess, const char *hidden);

/* Writes a list of words, one a line, to a fresh temporary file; the caller frees the path and
 * unlinks the file. */
char *word_list_file(const char *const *words, size_t count);

#endif
