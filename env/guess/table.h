/*
 * Rows: for one guess, the answers sorted by the marks they give.
 *
 * A step must tell how many answers still fit. Marking thousands of words each time would cost
 * more than everything else together, so a guess's row is computed once and kept. The first guess
 * then only picks a slice of its row, and every later one compares two bytes an answer still open.
 *
 * Threads: a table may be shared; a row that two threads make at once is made twice and kept once.
 */
#ifndef GG_ENV_GUESS_TABLE_H
#define GG_ENV_GUESS_TABLE_H

#include "env/guess/guess.h"

/* All rows of the shipped lists fit; beyond it rows are made for one call and thrown away. */
#define GG_TABLE_BYTES_MAX (192u << 20)
#define GG_ENTROPY_ROOM    16

/* Answers with one pattern form a class; classes are numbered in order of their first answer. */
typedef struct gg_row {
    size_t class_count;
    char entropy[GG_ENTROPY_ROOM]; /* of the classes, in bits, as JSON */
    gg_marks *marks;               /* [class] */
    uint32_t *from;                /* [class + 1]: where the class starts in `sorted` */
    uint16_t *class_of;            /* [answer] */
    uint16_t *sorted;              /* answers by class, ascending inside one */
} gg_row;

/* One allocation; the caller frees it with free(). NULL when memory is short. */
gg_row *gg_row_make(const gg_words *words, const char *guess);
/* The class with these marks, or -1. */
int gg_row_class(const gg_row *row, gg_marks marks);

typedef struct gg_table gg_table;
/* Keeps `words`, which must outlive it. NULL when memory is short. */
gg_table *gg_table_new(const gg_words *words);
void gg_table_free(gg_table *table);
/* The row of an allowed word, made on first use; NULL when the table is full or memory is short. It
 * lives as long as the table. */
const gg_row *gg_table_row(gg_table *table, int allowed);

#endif
