/*
 * The documents and their full-text index: one SQLite file with FTS5.
 *
 * A writer fills it (one thread, one process); a reader is shared by threads and keeps a pool of
 * read-only connections, one a call at work.
 */
#ifndef GG_ENV_SEARCH_STORE_H
#define GG_ENV_SEARCH_STORE_H

#include "env/search/corpus.h"
#include "env/search/vectors.h"

/* Writing. */
typedef struct gg_docstore_writer gg_docstore_writer;

/* Creates the file or goes on with it; *count is how many documents it holds. */
gg_status gg_docstore_write_open(const char *path, gg_docstore_writer **out, size_t *count,
                                 gg_error *error);
/* Adds a document as the next row. What was added since the last commit is lost by a kill. An id
 * that is there already is GG_E_FORMAT. */
gg_status gg_docstore_add(gg_docstore_writer *writer, const gg_document *document, gg_error *error);
gg_status gg_docstore_commit(gg_docstore_writer *writer, gg_error *error);
/* Merges the full-text index into one piece, for speed. */
gg_status gg_docstore_optimise(gg_docstore_writer *writer, gg_error *error);
void gg_docstore_write_close(
    gg_docstore_writer *writer); /* NULL is fine; drops what was not committed */

/* Reading. */
typedef struct gg_docstore gg_docstore;

gg_status gg_docstore_open(const char *path, gg_docstore **out, gg_error *error);
void gg_docstore_close(gg_docstore *store); /* NULL is fine; no call is at work */

/* The k best documents for an FTS5 query by bm25(), best first, of equals the earlier row; scores
 * are above 0, higher is better. */
gg_status gg_docstore_match(gg_docstore *store, const char *query, size_t k, gg_hit *out,
                            size_t *count, gg_error *error);
/* The document of a row that exists. */
gg_status gg_docstore_read(gg_docstore *store, int64_t row, gg_document *out, gg_error *error);
/* The row of an id; 0 when there is no such document. */
gg_status gg_docstore_find(gg_docstore *store, const char *id, size_t len, int64_t *row,
                           gg_error *error);

#endif
