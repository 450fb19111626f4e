/*
 * An index: a folder with everything that the search tools need, and its building.
 *
 *   index.json    what it was built from: the corpus's digest, documents, embedding, finished?
 *   documents.db  documents and full-text index (store.h)
 *   features.bin  document counts of the embedding's features (embed.h)
 *   vectors.bin   one float32 row a document (vectors.h)
 *   NAME.jsonl    tasks, where judgments were given (judged.h)
 *
 * An opened index is immutable and shared by threads; the last answers are kept, as many plays of
 * one question ask the same.
 */
#ifndef GG_ENV_SEARCH_INDEX_H
#define GG_ENV_SEARCH_INDEX_H

#include "env/search/remote.h"
#include "env/search/store.h"
#include "env/search/vectors.h"

#define GG_INDEX_HITS_MAX 100 /* most results of one search */

typedef enum gg_search_kind { GG_SEARCH_WORDS, GG_SEARCH_VECTORS } gg_search_kind;

typedef struct gg_index gg_index;

/* Refuses a folder that is no finished index of this version. */
gg_status gg_index_open(const char *dir, gg_index **out, gg_error *error);
void gg_index_close(gg_index *index); /* NULL is fine */
size_t gg_index_documents(const gg_index *index);
/* In how many documents a lower-case word stands, or a little more. */
size_t gg_index_having(const gg_index *index, const char *word, size_t len);

/* The k (to GG_INDEX_HITS_MAX) best documents for a question, best first. Word search takes the
 * question's words, any of them, those left out that stand in more than a quarter of all documents
 * while others are there. */
gg_status gg_index_search(gg_index *index, gg_search_kind kind, const char *query, size_t len,
                          size_t k, gg_hit *out, size_t *count, gg_error *error);
gg_status gg_index_read(gg_index *index, int64_t row, gg_document *out, gg_error *error);
gg_status gg_index_find(gg_index *index, const char *id, size_t len, int64_t *row, gg_error *error);

/* Building. */

/* Told now and then: a stage's name and how far it is. */
typedef void (*gg_index_progress_fn)(void *context, const char *stage, size_t done, size_t total);

typedef struct gg_index_plan {
    const char *const *corpus; /* files */
    size_t corpus_count;
    const char *dir;
    const gg_remote *remote; /* who embeds; NULL: the built-in embedding. Its dims are not looked at
                              */
    gg_index_progress_fn progress; /* or NULL */
    void *context;
} gg_index_plan;

typedef struct gg_index_built {
    size_t documents;
    size_t kept; /* documents that an earlier, interrupted building had stored already */
    bool had_all;
    char corpus[GG_DIGEST_HEX];
} gg_index_built;

/* Builds the index or goes on with one that was interrupted. A folder that holds the index of
 * another corpus or embedding is GG_E_CONFIG and left as it was (the server's address alone may
 * change); GG_E_LOCKED while another process builds. */
gg_status gg_index_build(const gg_index_plan *plan, gg_index_built *out, gg_error *error);

#endif
