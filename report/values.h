/*
 * A distribution of numbers by class, in bounded memory.
 *
 * Exact while there are at most GG_VALUES_MOST different numbers; beyond that neighbours are
 * merged, two by two, and count as equal. Threads: one at a time.
 */
#ifndef GG_REPORT_VALUES_H
#define GG_REPORT_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guessgym/error.h>

#define GG_VALUES_MOST    4096
#define GG_VALUES_CLASSES 3

typedef struct gg_values_cell {
    double value;
    int64_t count[GG_VALUES_CLASSES];
} gg_values_cell;

typedef struct gg_values {
    gg_values_cell *cells; /* room for 2 * GG_VALUES_MOST */
    size_t count;
    bool merged; /* no longer exact */
} gg_values;

gg_status gg_values_open(gg_values *values, gg_error *error);
void gg_values_close(gg_values *values);
void gg_values_add(gg_values *values, double value, int which);
/* Probability that a number of class `a` is above one of class `b`, ties counting half: the area
 * under the ROC curve (Mann and Whitney 1947; Hanley and McNeil 1982). *strictly gets the same
 * without ties. NaN when either class is empty. */
double gg_values_above(gg_values *values, int a, int b, double *strictly);

#endif
