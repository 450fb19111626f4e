/*
 * A page of results as the player sees it, and the pages kept: many plays of one question ask the
 * same, and every page costs a look at each of its documents.
 *
 * Threads: shared by all; a page is copied out under a lock.
 */
#ifndef GG_ENV_SEARCH_PAGE_H
#define GG_ENV_SEARCH_PAGE_H

#include "env/search/index.h"

#define GG_PAGES_KEPT   16384
#define GG_SNIPPET_MAX  100 /* bytes of a snippet, about */
#define GG_TITLE_MAX    80
#define GG_PAGE_MAX     (64u << 10)
#define GG_SNIPPET_LOOK (64u << 10) /* bytes of a document that a snippet is taken from */

typedef struct gg_pages gg_pages;

gg_status gg_pages_new(gg_index *index, gg_pages **out, gg_error *error);
void gg_pages_free(gg_pages *pages); /* NULL is fine; before the index */

/* Appends the page of a search; *count is its number of documents. */
gg_status gg_pages_search(gg_pages *pages, gg_search_kind kind, const char *query, size_t len,
                          size_t k, gg_buf *out, size_t *count, gg_error *error);

#endif
