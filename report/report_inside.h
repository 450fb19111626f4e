/* What the files of the report share. */
#ifndef GG_REPORT_REPORT_INSIDE_H
#define GG_REPORT_REPORT_INSIDE_H

#include "core/digest.h"
#include "report/compare.h"
#include "report/report.h"
#include "report/summary.h"
#include "report/training.h"

#define GG_REPORT_LABELS 4096 /* label values that are told apart */

/* Plays of one task, by run. */
typedef struct gg_report_task {
    char key[GG_DIGEST_HEX];
    char *id, *answer; /* the answer where it is a text, else "" */
    int64_t plays[GG_REPORT_RUNS], solved[GG_REPORT_RUNS];
    double measure[GG_REPORT_RUNS]; /* sum */
    bool flipped;                   /* the mean measure differs between the runs */
} gg_report_task;

/* Plays of one value of one label, by run. */
typedef struct gg_report_label {
    char *name, *value;
    int64_t plays[GG_REPORT_RUNS], solved[GG_REPORT_RUNS];
    double reward[GG_REPORT_RUNS]; /* sum */
} gg_report_label;

/* One of the runs. */
typedef struct gg_report_run {
    bool trained;        /* a training: its figures are over all steps, its plays those it kept */
    gg_summary *summary; /* else */
    gg_figures figures;
    gg_training_figures training;
    int64_t plays, by_stop[GG_STOP_COUNT];
} gg_report_run;

typedef struct gg_report {
    const gg_report_options *o;
    size_t run_count;
    gg_report_task *tasks;
    size_t task_count, task_room;
    uint32_t *task_slots; /* hash table: place + 1 */
    size_t slot_count;
    gg_report_label *labels;
    size_t label_count, label_room;
    gg_report_run runs[GG_REPORT_RUNS];
    char *measure;          /* its name */
    int64_t flagged, total; /* plays that are shown in any case; all */
    gg_comparison comparison;
    bool compared;
    gg_report_write_fn write;
    void *context;
    gg_buf out; /* being filled; handed on when it is large */
} gg_report;

/* report_collect.c */
gg_status gg_report_collect(gg_report *report, gg_error *error);
void gg_report_free(gg_report *report);
/* Place of a task, or of a label's value; SIZE_MAX when it is not there. */
size_t gg_report_task_at(const gg_report *report, const char *key);
size_t gg_report_label_at(const gg_report *report, const char *name, const char *value);
bool gg_report_repaired(const gg_episode *episode);

/* report.c: hands on what is in `out` when it is large, or in any case. */
gg_status gg_report_flush(gg_report *report, bool all, gg_error *error);
void gg_report_base64(gg_buf *out, const uint8_t *bytes, size_t len);
/* Text as HTML. */
void gg_report_text(gg_buf *out, const char *text);

/* Each appends its section. */
void gg_report_headline(gg_report *report);
void gg_report_tables(gg_report *report);
gg_status gg_report_curves(gg_report *report, gg_error *error);
gg_status gg_report_plays(gg_report *report, gg_error *error);

/* report_plot.c: lines over steps as SVG, by gnuplot. False when that did not work. */
typedef struct gg_curve {
    const char *title;
    double *x, *y;
    size_t count;
} gg_curve;
bool gg_plot_curves(const gg_curve *curves, size_t count, const char *y_title, gg_buf *svg);

/* assets.c */
extern const char gg_report_css[], gg_report_js[];

#endif
