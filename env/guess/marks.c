#include "env/guess/guess.h"

/* 3^place; the last digit of a pattern is the first letter. */
static const gg_marks power[GG_WORD_MAX] = {1,   3,    9,    27,    81,    243,
                                            729, 2187, 6561, 19683, 59049, 177147};

/* Inlined below with a constant length, so that both loops unroll. */
static inline gg_marks mark(const char *guess, const char *answer, int length)
{
    /* Copies of each letter that no green has used. 'a' & 31 is 1, 'z' & 31 is 26. */
    uint8_t left[32] = {0};
    gg_marks marks = 0;
    for (int i = 0; i < length; i++) {
        int same = guess[i] == answer[i];
        marks += power[i] * 2 * same;
        left[answer[i] & 31] = (uint8_t)(left[answer[i] & 31] + !same);
    }
    /* No branches: whether letters match is as good as random, so a jump would be mispredicted. */
    for (int i = 0; i < length; i++) {
        uint8_t *copies = &left[guess[i] & 31];
        int yellow = (guess[i] != answer[i]) & (*copies > 0);
        *copies = (uint8_t)(*copies - yellow);
        marks += power[i] * yellow;
    }
    return marks;
}

gg_marks gg_mark(const char *guess, const char *answer, int length)
{
    return length == 5 ? mark(guess, answer, 5) : mark(guess, answer, length);
}

char gg_mark_letter(gg_marks marks, int place)
{
    return "BYG"[marks / power[place] % 3];
}
