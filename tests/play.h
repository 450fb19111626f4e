/* An opened environment, one play of it, and the episode record that grows with its calls. Every
 * failure fails the test. */
#ifndef GG_TESTS_PLAY_H
#define GG_TESTS_PLAY_H

#include <stdint.h>

#include "env/env.h"

typedef struct play {
    gg_game *game;
    gg_play *play;
    gg_episode *episode; /* turn 0 takes all calls */
    gg_buf text, facts;  /* of the last call */
    gg_result result;
} play;

/* `settings` is a JSON object or NULL. */
void play_open(play *p, const char *env, const char *settings);
/* A new play and record; ends the one before. */
void play_start(play *p, const char *prompt);
/* Calls a tool with these arguments, keeps what came back and adds it to the record. */
void play_call(play *p, const char *tool, const char *arguments);
/* The word game's tool with this word. */
void play_guess(play *p, const char *word);
void play_close(play *p);

/* A fact of the last call; fails the test when it is not there. */
double play_fact(const play *p, const char *name);

#endif
