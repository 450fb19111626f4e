/*
 * What the marks have told so far, and how a guess stands to it.
 *
 * Every letter has a least and a most number of copies. A grey mark fixes the most: the word has
 * exactly as many copies as that guess had green or yellow ones. A letter is "yellow" while fewer
 * of its copies stand at known places than it has at least.
 */
#ifndef GG_ENV_GUESS_KNOWN_H
#define GG_ENV_GUESS_KNOWN_H

#include "env/guess/guess.h"

#define GG_LETTERS 26

typedef struct gg_known {
    int length;
    char green[GG_WORD_MAX];    /* the letter at a known place, 0 where it is open */
    uint8_t placed[GG_LETTERS]; /* known places of a letter */
    uint8_t least[GG_LETTERS];  /* copies it has at least */
    uint8_t most[GG_LETTERS];   /* copies it has at most, where its bit in `capped` is set */
    uint32_t tried;             /* bit 0 = a: guessed before */
    uint32_t yellow;            /* placed < least */
    uint32_t capped;            /* has had a grey mark */
} gg_known;

/* How one guess uses, and adds to, what was known before it. Letters are counted once each. */
typedef struct gg_use {
    int greens_kept, greens_dropped; /* known places with, without their letter */
    int yellows_kept,
        yellows_missing; /* yellow letters with at least, with fewer copies than known */
    int greys_used;      /* letters used more often than the marks allow */
    int new_letters;     /* letters not tried before */
    int new_greens;      /* places newly known */
    int new_yellows;     /* copies newly known whose place is open */
    uint32_t missing;    /* the letters of yellows_missing */
} gg_use;

void gg_known_init(gg_known *known, int length);
/* All of `use` but new_greens and new_yellows. */
void gg_known_judge(const gg_known *known, const char *guess, gg_use *use);
/* Adds a guess's marks and fills new_greens and new_yellows. */
void gg_known_learn(gg_known *known, const char *guess, gg_marks marks, gg_use *use);

#endif
