/*
 * What the marks tell about the hidden word: what every policy knows of a game.
 *
 * A word agrees with the board exactly when it would have got the same marks in every guess learned
 * so far (tests/test_letters.c compares with gg_mark). Places count from 0, letters from 0 = 'a'.
 */
#ifndef GG_POLICY_BOARD_H
#define GG_POLICY_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "env/guess/guess.h"

#define GG_LETTERS 26

enum gg_mark_value { GG_MARK_GREY, GG_MARK_YELLOW, GG_MARK_GREEN };

typedef struct gg_board {
    int length;
    int guesses;                 /* learned */
    bool over;                   /* solved, or told that the game is over */
    int8_t green[GG_WORD_MAX];   /* letter known to stand at a place, or -1 */
    uint32_t wrong[GG_WORD_MAX]; /* bit set of letters known not to stand at a place */
    int8_t least[GG_LETTERS], most[GG_LETTERS]; /* bounds of the number of copies */
    uint32_t needed;                            /* bit set of letters of which `least` is above 0 */
    uint32_t tried;                             /* bit set of letters that stood in a guess */
} gg_board;

void gg_board_init(gg_board *board, int length);
/* `letters` and `marks` hold `length` values each. */
void gg_board_learn(gg_board *board, const uint8_t *letters, const uint8_t *marks);

typedef enum gg_clash {
    GG_CLASH_NONE,    /* the word agrees with the board */
    GG_CLASH_GREEN,   /* the known letter of a place is missing from it */
    GG_CLASH_WRONG,   /* the letter is known not to stand at that place */
    GG_CLASH_OFTEN,   /* more copies of the letter than there can be */
    GG_CLASH_MISSING, /* fewer copies of the letter than there must be */
    GG_CLASH_COUNT
} gg_clash;

/* The first clash of a word (letters 0-25), by kind in the order above, then by place or letter.
 * `letter` and `place` say where (place -1 for the last two kinds); NULL is allowed for both. */
gg_clash gg_board_clash(const gg_board *board, const uint8_t *letters, int *letter, int *place);

#endif
