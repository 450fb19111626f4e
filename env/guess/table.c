#include "env/guess/table.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gg_table {
    const gg_words *words;
    atomic_size_t bytes;
    _Atomic(gg_row *) rows[]; /* [allowed], NULL until made */
};

static size_t pattern_count(int length)
{
    size_t n = 1;
    for (int i = 0; i < length; i++)
        n *= 3;
    return n;
}

static size_t row_bytes(size_t answers, size_t classes)
{
    return sizeof(gg_row) + classes * sizeof(gg_marks) + (classes + 1) * sizeof(uint32_t) +
           2 * answers * sizeof(uint16_t);
}

/* Marks every answer and numbers the patterns met; class_of[answer] and marks[class] are filled.
 * `known` maps a pattern to its class + 1. */
static size_t classify(const gg_words *words, const char *guess, uint32_t *known,
                       uint16_t *class_of, gg_marks *marks)
{
    size_t answers = gg_words_answer_count(words), classes = 0;
    int length = gg_words_length(words);
    for (size_t i = 0; i < answers; i++) {
        gg_marks m = gg_mark(guess, gg_words_answer(words, i), length);
        if (!known[m]) {
            marks[classes] = m;
            known[m] = (uint32_t)++classes;
        }
        class_of[i] = (uint16_t)(known[m] - 1);
    }
    return classes;
}

/* Counting sort by class. */
static void sort_classes(gg_row *row, size_t answers)
{
    for (size_t i = 0; i < answers; i++)
        row->from[row->class_of[i] + 1]++;
    for (size_t c = 0; c < row->class_count; c++)
        row->from[c + 1] += row->from[c];
    /* from[c] serves as the place of the class's next answer and ends as from[c + 1]; then every
     * entry is moved back by one. */
    for (size_t i = 0; i < answers; i++)
        row->sorted[row->from[row->class_of[i]]++] = (uint16_t)i;
    memmove(row->from + 1, row->from, row->class_count * sizeof *row->from);
    row->from[0] = 0;
}

/* Shannon entropy of the pattern, were every answer equally likely. */
static void write_entropy(gg_row *row, size_t answers)
{
    double bits = 0;
    for (size_t c = 0; c < row->class_count; c++) {
        double p = (double)(row->from[c + 1] - row->from[c]) / (double)answers;
        bits -= p * log2(p);
    }
    snprintf(row->entropy, sizeof row->entropy, "%.6f", bits > 0 ? bits : 0.0);
}

static gg_row *assemble(size_t answers, size_t classes, const uint16_t *class_of,
                        const gg_marks *marks)
{
    gg_row *row = calloc(1, row_bytes(answers, classes));
    if (!row)
        return NULL;
    row->class_count = classes;
    row->marks = (gg_marks *)(row + 1);
    row->from = (uint32_t *)(row->marks + classes);
    row->class_of = (uint16_t *)(row->from + classes + 1);
    row->sorted = row->class_of + answers;
    memcpy(row->marks, marks, classes * sizeof *marks);
    memcpy(row->class_of, class_of, answers * sizeof *class_of);
    sort_classes(row, answers);
    write_entropy(row, answers);
    return row;
}

gg_row *gg_row_make(const gg_words *words, const char *guess)
{
    size_t answers = gg_words_answer_count(words);
    size_t patterns = pattern_count(gg_words_length(words));
    uint32_t *known = calloc(patterns, sizeof *known);
    uint16_t *class_of = malloc(answers * sizeof *class_of);
    gg_marks *marks = malloc((answers < patterns ? answers : patterns) * sizeof *marks);
    gg_row *row = NULL;
    if (known && class_of && marks) {
        size_t classes = classify(words, guess, known, class_of, marks);
        row = assemble(answers, classes, class_of, marks);
    }
    free(known);
    free(class_of);
    free(marks);
    return row;
}

int gg_row_class(const gg_row *row, gg_marks marks)
{
    for (size_t c = 0; c < row->class_count; c++)
        if (row->marks[c] == marks)
            return (int)c;
    return -1;
}

gg_table *gg_table_new(const gg_words *words)
{
    size_t rows = gg_words_allowed_count(words);
    gg_table *table = calloc(1, sizeof *table + rows * sizeof table->rows[0]);
    if (table)
        table->words = words;
    return table;
}

void gg_table_free(gg_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < gg_words_allowed_count(table->words); i++)
        free(atomic_load(&table->rows[i]));
    free(table);
}

static const gg_row *make_kept(gg_table *table, int allowed)
{
    if (atomic_load(&table->bytes) >= GG_TABLE_BYTES_MAX)
        return NULL;
    gg_row *row = gg_row_make(table->words, gg_words_allowed(table->words, (size_t)allowed));
    if (!row)
        return NULL;
    gg_row *other = NULL;
    if (!atomic_compare_exchange_strong(&table->rows[allowed], &other, row)) {
        free(row);
        return other;
    }
    atomic_fetch_add(&table->bytes,
                     row_bytes(gg_words_answer_count(table->words), row->class_count));
    return row;
}

const gg_row *gg_table_row(gg_table *table, int allowed)
{
    const gg_row *row = atomic_load_explicit(&table->rows[allowed], memory_order_acquire);
    return row ? row : make_kept(table, allowed);
}
