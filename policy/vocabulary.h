/*
 * The vocabulary of the embedded policies: the tokenizer with the word game's phrases and our own,
 * and what each token means to a reader of the board.
 *
 * Ids: bytes, special tokens, our own phrases (vocabulary.c), then the game's phrases in the order
 * of gg_guess_phrases. Immutable and shared by threads.
 */
#ifndef GG_POLICY_VOCABULARY_H
#define GG_POLICY_VOCABULARY_H

#include "policy/board.h"
#include "policy/tokenizer.h"

typedef enum gg_meaning {
    GG_MEANS_NOTHING, /* any other text */
    GG_MEANS_MARK,    /* a letter and its mark: " s=grey" */
    GG_MEANS_OVER,    /* the game's text says that it is over */
    GG_MEANS_TOOL     /* the name of the tool that plays a guess */
} gg_meaning;

typedef struct gg_token {
    uint8_t meaning, letter, mark;
} gg_token;

typedef struct gg_vocabulary {
    gg_tokenizer *tokenizer;
    int32_t size;
    gg_token *tokens;            /* one an id */
    int32_t tool, open, close;   /* guess_word  {"guess":"  "} */
    int32_t over, no_tool;       /* replies without a call */
    int32_t subject[GG_LETTERS]; /* ": E" */
    int32_t fits;                /* ": fits" */
    /* What is wrong with the subject, by clash and place; [1] ends the line. Clashes without a
     * place stand at place 0. */
    int32_t clash[GG_CLASH_COUNT][GG_WORD_MAX][2];
} gg_vocabulary;

gg_status gg_vocabulary_init(gg_vocabulary *vocabulary, gg_error *error);
void gg_vocabulary_free(gg_vocabulary *vocabulary);

#endif
