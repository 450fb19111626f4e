/*
 * A word list as a tree of letters. Immutable once built.
 */
#ifndef GG_POLICY_TRIE_H
#define GG_POLICY_TRIE_H

#include "policy/board.h"

#define GG_TRIE_ROOT 0
#define GG_TRIE_NONE (-1)

typedef struct gg_trie_node {
    int32_t first;    /* its branches are branches[first] .. branches[first + count - 1] */
    int32_t count;    /* 0 at the end of a word */
    int32_t words;    /* words that go through here */
    double log_words; /* natural logarithm of `words` */
} gg_trie_node;

typedef struct gg_trie_branch {
    int32_t node;
    uint8_t letter; /* 0 = 'a' */
} gg_trie_branch;

typedef struct gg_trie {
    int length;
    gg_trie_node *nodes;
    gg_trie_branch *branches; /* of a node: in the order of the alphabet */
    size_t node_count;
    double frequency[GG_LETTERS]; /* words that hold the letter / those of the commonest letter */
} gg_trie;

/* From the answers of `words`, in whatever order they stand. */
gg_status gg_trie_init(gg_trie *trie, const gg_words *words, gg_error *error);
void gg_trie_free(gg_trie *trie);

/* The branch from `node` by `letter`, or NULL. */
const gg_trie_branch *gg_trie_branch_of(const gg_trie *trie, int32_t node, int letter);

#endif
