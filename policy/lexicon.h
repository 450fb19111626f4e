/*
 * The words of a search index, as a tokenizer: what the seeker knows of a language.
 *
 * Each word that stands in the documents' ids, titles and texts is a token, as it is written there,
 * with and without a blank before it; so is its lower-case form. From the same pass come the counts
 * that say how rare a word is. Of relevance nothing is known here.
 *
 * A word is a run of letters, digits and bytes beyond ASCII. A key stands for words that differ in
 * case or a final s.
 *
 * Ids: bytes, special tokens, our own phrases and the environment's, then the words, sorted.
 * Immutable and shared by threads.
 */
#ifndef GG_POLICY_LEXICON_H
#define GG_POLICY_LEXICON_H

#include "env/search/index.h"
#include "policy/tokenizer.h"

#define GG_LEXICON_WORD_MAX  40         /* bytes of a word; longer ones are spelled */
#define GG_LEXICON_FORMS_MAX (1u << 16) /* as written; beyond it the rarest are spelled */
#define GG_LEXICON_SCANNED   (1u << 17) /* documents that are read; of more, every nth */
#define GG_LEXICON_KEY_NONE  (-1)

/* What a token is as a word. */
typedef struct gg_lexeme {
    int32_t key;           /* GG_LEXICON_KEY_NONE: no word */
    int32_t plain, spaced; /* ids of its lower-case form, without and with a blank before it */
} gg_lexeme;

typedef struct gg_lexicon {
    gg_tokenizer *tokenizer;
    gg_lexeme *lexemes; /* one an id */
    int32_t size;       /* ids */
    double *rarity;     /* of a key: ln((documents + 1) / (documents with it + 1)) / ln(documents +
                           1), 0 to 1 */
    size_t key_count;
} gg_lexicon;

/* `phrases` are the fixed ones, in the order of their ids. */
gg_status gg_lexicon_init(gg_lexicon *lexicon, gg_index *index, const char *const *phrases,
                          size_t count, gg_error *error);
void gg_lexicon_free(gg_lexicon *lexicon);

#endif
