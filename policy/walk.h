/*
 * The walk over a token sequence: all that a policy knows, it reads here, token by token.
 *
 * A walk follows the chat template's special tokens, learns the board from the marks in tool
 * messages, and knows at each place of a reply what the embedded policy would do there: write a
 * fixed token of the template, or draw a letter at a node of the tree of answers. Sampling,
 * log-probabilities and gradients all follow the same walk.
 *
 * Any ids are fine, also sequences that no policy of ours wrote: a reply that leaves the path is
 * off it until a call, thoughts or the closing token come.
 *
 * No allocation. The vocabulary and the tree are borrowed.
 */
#ifndef GG_POLICY_WALK_H
#define GG_POLICY_WALK_H

#include "policy/policy.h"
#include "policy/trie.h"
#include "policy/vocabulary.h"

#define GG_DRAFTS_LOW    1 /* and no thoughts: the draft is played */
#define GG_DRAFTS_MEDIUM 4
#define GG_DRAFTS_HIGH   16

typedef enum gg_next {
    GG_NEXT_GIVEN,  /* outside a reply: the policy says nothing about this token */
    GG_NEXT_FIXED,  /* the template's token, walk.due[walk.due_at] */
    GG_NEXT_LETTER, /* a letter below walk.node, for walk.place */
    GG_NEXT_NOTHING /* off the path: nothing the policy could write */
} gg_next;

/* Longest row of fixed tokens: a check, the end of the thoughts, and the whole call. */
#define GG_DUE_MAX (GG_WORD_MAX + 12)

typedef struct gg_walk {
    const gg_vocabulary *vocabulary;
    const gg_trie *trie;
    gg_effort effort;
    bool tool_offered;
    gg_board board;

    uint8_t part; /* of the template; enum in walk.c */
    uint8_t row_letters[GG_WORD_MAX], row_marks[GG_WORD_MAX];
    int row; /* marks read in a row */

    uint8_t stage, after; /* of a reply; enum in walk.c */
    int due_at, due_count;
    int32_t due[GG_DUE_MAX];
    int drafts;                /* finished in this reply */
    uint8_t word[GG_WORD_MAX]; /* the draft so far ... */
    int place;                 /* ... and its length */
    int32_t node;              /* where it leads, or GG_TRIE_NONE */
    int8_t used[GG_LETTERS];   /* copies of each letter in it */
} gg_walk;

void gg_walk_start(gg_walk *walk, const gg_vocabulary *vocabulary, const gg_trie *trie);
void gg_walk_put(gg_walk *walk, int32_t id);
gg_next gg_walk_next(const gg_walk *walk);

#endif
