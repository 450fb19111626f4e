#include "report/values.h"

#include <math.h>
#include <stdlib.h>

#define ROOM ((size_t)2 * GG_VALUES_MOST)

gg_status gg_values_open(gg_values *values, gg_error *error)
{
    *values = (gg_values){.cells = calloc(ROOM, sizeof *values->cells)};
    return values->cells ? GG_OK : gg_fail(error, GG_E_MEMORY, "out of memory for a distribution");
}

void gg_values_close(gg_values *values)
{
    free(values->cells);
    *values = (gg_values){0};
}

static int by_value(const void *a, const void *b)
{
    double x = ((const gg_values_cell *)a)->value, y = ((const gg_values_cell *)b)->value;
    return (x > y) - (x < y);
}

static void join(gg_values_cell *into, const gg_values_cell *from)
{
    for (int i = 0; i < GG_VALUES_CLASSES; i++)
        into->count[i] += from->count[i];
}

/* Sorts and joins cells of one value. */
static void settle(gg_values *values)
{
    size_t kept = 0;
    if (values->count)
        qsort(values->cells, values->count, sizeof *values->cells, by_value);
    for (size_t i = 0; i < values->count; i++) {
        if (kept && values->cells[kept - 1].value == values->cells[i].value)
            join(&values->cells[kept - 1], &values->cells[i]);
        else
            values->cells[kept++] = values->cells[i];
    }
    values->count = kept;
}

static void halve(gg_values *values)
{
    size_t kept = 0;
    for (size_t i = 0; i < values->count; i += 2) {
        gg_values_cell cell = values->cells[i];
        if (i + 1 < values->count)
            join(&cell, &values->cells[i + 1]);
        values->cells[kept++] = cell;
    }
    values->count = kept;
    values->merged = true;
}

void gg_values_add(gg_values *values, double value, int which)
{
    if (values->count == ROOM) {
        settle(values);
        if (values->count > GG_VALUES_MOST)
            halve(values);
    }
    gg_values_cell *cell = &values->cells[values->count++];
    *cell = (gg_values_cell){.value = value};
    cell->count[which] = 1;
}

double gg_values_above(gg_values *values, int a, int b, double *strictly)
{
    double below = 0, above = 0, ties = 0, of_a = 0;
    settle(values);
    for (size_t i = 0; i < values->count; i++) {
        double x = (double)values->cells[i].count[a], y = (double)values->cells[i].count[b];
        above += x * below;
        ties += x * y;
        below += y;
        of_a += x;
    }
    double pairs = of_a * below;
    if (strictly)
        *strictly = pairs > 0 ? above / pairs : NAN;
    return pairs > 0 ? (above + ties / 2) / pairs : NAN;
}
