/*
 * The retrieval game: a player searches an index by words and by vectors and submits a ranking,
 * which is scored by nDCG@10.
 */
#ifndef GG_ENV_SEARCH_SEARCH_H
#define GG_ENV_SEARCH_SEARCH_H

#include <guessgym/env.h>

extern const gg_env_api gg_search_env;

/* A text within another, not terminated. */
typedef struct gg_span {
    const char *at;
    size_t len;
} gg_span;

/* One line of a page of results: "ID | TITLE | SNIPPET". */
typedef struct gg_page_line {
    gg_span id, title, snippet;
} gg_page_line;

/* The next document of a page at or after *at, which moves behind it; false when there is none. A
 * pure function, for players that read pages. */
bool gg_page_next(const char *page, size_t len, size_t *at, gg_page_line *out);

#endif
