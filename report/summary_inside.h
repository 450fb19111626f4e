/* Inside of gg_summary, shared by summary.c (taking plays in) and figures.c (computing). */
#ifndef GG_REPORT_SUMMARY_INSIDE_H
#define GG_REPORT_SUMMARY_INSIDE_H

#include "report/summary.h"

typedef struct gg_summary_play { /* GG_UNPLAYED = nothing was taken in here */
    gg_outcome outcome;
    int64_t turns, moves;
    double measure, reward;
    int64_t prompt, completion, reasoning; /* tokens, GG_TOKENS_UNKNOWN */
    int64_t start_ms, end_ms;
} gg_summary_play;

struct gg_summary {
    size_t tasks, samples;
    gg_summary_play *plays; /* in (group, sample) order */
    char *measure_name;
    gg_repair_count *repairs;
    size_t repair_count;
    gg_health health;
    int64_t *histogram; /* storage of the last gg_figures */
};

/* Milliseconds since 1970 of "2026-11-30T22:13:04.123Z"; 0 when it is no such time. */
int64_t gg_started_ms(const char *text);

#endif
