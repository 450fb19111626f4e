/*
 * The reward of the published word-game tutorial for multi-turn reinforcement learning, computed
 * from a record (aws-samples/sample-multi-turn-rl-wordle, README "The Reinforcement Learning
 * Strategy", and its predecessor charbull/wordle-lora-rl).
 *
 * Every guess earns and is charged points; what it is charged for is judged by what was known
 * before it, by that tutorial's own rules of knowledge, which are simpler than the game's: a letter
 * with one known place asks nothing more, and grey is a letter only when no copy of it was green
 * or yellow in that guess. The points, divided by 150 and cut to -1 .. 1, move the reward within
 * what the outcome decides:
 *
 *     solved with guess n of N   1.05 + 0.5 (N - n) / (N - 1) + 0.04 s
 *     not solved                 -0.5 + 0.15 s
 *     not one guess played       -1.5
 *
 * So a faster solve beats a slower one, any solve (1.01 and more) any other end, and playing (-0.65
 * and more) not playing. With more than 6 guesses 0.04 becomes 0.2 / (N - 1), which keeps that
 * order; a game of one guess has no slower solve. Refused guesses (--hard, --unlisted reject),
 * which the tutorial does not have, are charged for the hints they ignore and for being unlisted,
 * and earn nothing.
 */
#ifndef GG_ENV_GUESS_TUTORIAL_H
#define GG_ENV_GUESS_TUTORIAL_H

#include "core/json.h"
#include "env/guess/game.h"

/* What one call's facts say of its guess. */
typedef struct gg_guess_facts {
    char word[GG_WORD_MAX + 1], marks[GG_WORD_MAX + 1];
    bool has_word, has_marks, unlisted, repeat, malformed, from_text;
    double entropy;
} gg_guess_facts;

/* Takes one member of the facts in; those it does not know, or of a wrong type, change nothing. */
void gg_guess_read_fact(gg_json_name name, gg_json_name value, int length, gg_guess_facts *out);

/* The book that is kept over a game: zeroed, `length` set. */
typedef struct gg_tutorial_book {
    int length, guesses;
    char green[GG_WORD_MAX];       /* 0 = not known */
    uint8_t yellow[GG_LETTERS];    /* least copies; 0 = not yellow */
    uint16_t not_here[GG_LETTERS]; /* places at which the letter was yellow */
    uint32_t placed, grey, tried;  /* letters */
    size_t open;                   /* answers that fit, once counted */
    bool counted;
    double bonus, charges;
} gg_tutorial_book;

typedef struct gg_tutorial {
    double bonus, charges, points; /* points = bonus - charges */
    double reward;
} gg_tutorial;

void gg_tutorial_add(gg_tutorial_book *book, const gg_fits *fits, const gg_guess_facts *facts);
void gg_tutorial_end(const gg_tutorial_book *book, bool solved, int guesses, gg_tutorial *out);
/* The reward alone: `played` guesses of `guesses`. */
double gg_tutorial_reward(double points, bool solved, int played, int guesses);

#endif
