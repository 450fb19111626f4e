/*
 * A corpus: JSON lines in BEIR's layout, {"_id", "title", "text"}, in one or more files. The files
 * are mapped into memory, so their size does not matter.
 *
 * Threads: one at a time.
 */
#ifndef GG_ENV_SEARCH_CORPUS_H
#define GG_ENV_SEARCH_CORPUS_H

#include <stdbool.h>
#include <stddef.h>

#include <guessgym/buf.h>

#include "core/digest.h"

#define GG_DOCUMENT_ID_MAX 256         /* bytes of a document's id */
#define GG_DOCUMENT_MAX    (16u << 20) /* bytes of a document's text */

/* A file's bytes, read only. */
typedef struct gg_mapped {
    const char *bytes; /* not NULL once mapped, for an empty file too */
    size_t len;
} gg_mapped;

gg_status gg_map_file(const char *path, gg_mapped *out, gg_error *error);
void gg_unmap_file(gg_mapped *mapped); /* zeroed is fine */

typedef struct gg_document {
    gg_buf id, title, text;
} gg_document;

void gg_document_init(gg_document *document);
void gg_document_free(gg_document *document);

typedef struct gg_corpus {
    const char *const *paths; /* the caller's */
    gg_mapped *files;
    size_t file_count;
    size_t document_count;      /* lines that are not blank */
    char digest[GG_DIGEST_HEX]; /* of all files' bytes, in their order */
} gg_corpus;

gg_status gg_corpus_open(const char *const *paths, size_t count, gg_corpus *out, gg_error *error);
void gg_corpus_close(gg_corpus *corpus);

/* Gets each document in turn, with its number from 0. Anything but GG_OK ends the walk. */
typedef gg_status (*gg_document_fn)(void *context, const gg_document *document, size_t number,
                                    gg_error *error);
/* Passes over the first `skip` documents. What is no document is GG_E_FORMAT, and so is told what
 * `each` refuses: with file and line. */
gg_status gg_corpus_each(const gg_corpus *corpus, size_t skip, gg_document_fn each, void *context,
                         gg_error *error);

#endif
