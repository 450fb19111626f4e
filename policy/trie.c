#include "policy/trie.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Words sorted[first..last) agree in their first `depth` letters. */
typedef struct span {
    size_t first, last;
    int depth;
} span;

/* Nodes are made level by level, so that the branches of one node lie together: the children of
 * node n are branches[first..], and their nodes follow in the same order. */
typedef struct builder {
    gg_trie *trie;
    const char **sorted;
    span *spans; /* of each node made so far */
    size_t branch_count;
} builder;

static int by_letters(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int letter_at(const builder *b, size_t word, int place)
{
    return b->sorted[word][place] - 'a';
}

static void add_branch(builder *b, gg_trie_node *node, span s)
{
    gg_trie *t = b->trie;
    int letter = letter_at(b, s.first, s.depth - 1);
    size_t index = t->node_count++;
    b->spans[index] = s;
    t->nodes[index] = (gg_trie_node){.words = (int32_t)(s.last - s.first),
                                     .log_words = log((double)(s.last - s.first))};
    t->branches[b->branch_count++] = (gg_trie_branch){(int32_t)index, (uint8_t)letter};
    node->count++;
}

static void grow(builder *b, size_t index)
{
    span s = b->spans[index];
    gg_trie_node *node = &b->trie->nodes[index];
    node->first = (int32_t)b->branch_count;
    if (s.depth == b->trie->length)
        return;
    for (size_t first = s.first, last; first < s.last; first = last) {
        int letter = letter_at(b, first, s.depth);
        for (last = first + 1; last < s.last && letter_at(b, last, s.depth) == letter;)
            last++;
        add_branch(b, node, (span){first, last, s.depth + 1});
    }
}

static void count_frequencies(gg_trie *trie, const gg_words *words)
{
    double most = 1;
    for (size_t w = 0; w < gg_words_answer_count(words); w++) {
        uint32_t seen = 0;
        for (int i = 0; i < trie->length; i++)
            seen |= 1u << (gg_words_answer(words, w)[i] - 'a');
        for (; seen; seen &= seen - 1)
            trie->frequency[__builtin_ctz(seen)] += 1;
    }
    for (int c = 0; c < GG_LETTERS; c++)
        most = fmax(most, trie->frequency[c]);
    for (int c = 0; c < GG_LETTERS; c++)
        trie->frequency[c] /= most;
}

gg_status gg_trie_init(gg_trie *trie, const gg_words *words, gg_error *error)
{
    *trie = (gg_trie){.length = gg_words_length(words)};
    size_t count = gg_words_answer_count(words);
    size_t room = count * (size_t)trie->length + 1;
    builder b = {.trie = trie,
                 .sorted = calloc(count, sizeof *b.sorted),
                 .spans = calloc(room, sizeof *b.spans)};
    trie->nodes = calloc(room, sizeof *trie->nodes);
    trie->branches = calloc(room, sizeof *trie->branches);
    if (!b.sorted || !b.spans || !trie->nodes || !trie->branches) {
        free(b.sorted);
        free(b.spans);
        gg_trie_free(trie);
        return gg_fail(error, GG_E_MEMORY, "not enough memory for the tree of %zu answers", count);
    }
    for (size_t w = 0; w < count; w++)
        b.sorted[w] = gg_words_answer(words, w);
    qsort(b.sorted, count, sizeof *b.sorted, by_letters);
    b.spans[GG_TRIE_ROOT] = (span){0, count, 0};
    trie->nodes[GG_TRIE_ROOT].words = (int32_t)count;
    trie->nodes[GG_TRIE_ROOT].log_words = log((double)count);
    trie->node_count = 1;
    for (size_t index = 0; index < trie->node_count; index++)
        grow(&b, index);
    free(b.sorted);
    free(b.spans);
    count_frequencies(trie, words);
    return GG_OK;
}

void gg_trie_free(gg_trie *trie)
{
    free(trie->nodes);
    free(trie->branches);
    *trie = (gg_trie){0};
}

const gg_trie_branch *gg_trie_branch_of(const gg_trie *trie, int32_t node, int letter)
{
    const gg_trie_node *n = &trie->nodes[node];
    const gg_trie_branch *end = trie->branches + n->first + n->count;
    for (const gg_trie_branch *b = end - n->count; b < end; b++)
        if (b->letter == letter)
            return b;
    return NULL;
}
