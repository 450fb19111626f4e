/* Inside of a push: mlflow.c (opening, the order of things), mlflow_run.c (experiment, run,
 * params), mlflow_walk.c (metrics, curves, traces), mlflow_files.c (files, summary). */
#ifndef GG_REPORT_MLFLOW_INSIDE_H
#define GG_REPORT_MLFLOW_INSIDE_H

#include "report/mlflow.h"
#include "report/mlflow_body.h"
#include "report/mlflow_state.h"

#define GG_MLFLOW_API  "/api/2.0/mlflow"
#define GG_MLFLOW_PATH 4096       /* room of a path */
#define GG_NOT_YET     GG_E_STATE /* a line that is not to be read yet ends a walk */

/* Running figures of an eval or a rollout. */
typedef struct gg_mlflow_tally {
    int64_t plays, by_outcome[GG_OUTCOME_COUNT];
    double reward, turns, moves, prompt, response;
    int64_t calls, invalid, attempts, turn_count;
    int64_t end_ms; /* of the play that ended last */
} gg_mlflow_tally;

struct gg_mlflow {
    gg_run *run;
    int lock;
    gg_mlflow_client *client;
    gg_mlflow_state state;
    gg_mlflow_entry *entry;
    cJSON *config; /* run.json */
    bool training;
    const char *prefix; /* of an eval's metrics */
    uint64_t seed;
    double share; /* where none is named */
    int64_t mark; /* plays between two points */
    gg_mlflow_tally tally;
    int64_t metrics_at, plays_at; /* offsets in the journals */
    int64_t lines;                /* of episodes.jsonl seen */
    int64_t committed;            /* step of checkpoint.json; INT64_MAX without one */
    int64_t wall_ms, end_ms;      /* of the metrics sent last */
    /* Traces that are not linked to the run yet, and up to which play all are sent. */
    uint8_t links[GG_MLFLOW_LINKS_MAX][16];
    size_t link_count;
    int64_t sent_plays;
    char sent_last[65];
    bool no_traces; /* the server takes none */
    gg_mlflow_batch batch;
    gg_buf body, path;
    int64_t traces, files, refused;
    char remark[256];
};

/* Sends m->body, which is empty afterwards. */
gg_status gg_mlflow_post(gg_mlflow *m, const char *path, gg_mlflow_answer *answer, gg_error *error);
gg_status gg_mlflow_save(gg_mlflow *m, gg_error *error);
/* Experiment, run, params and list, unless they are there. */
gg_status gg_mlflow_begin(gg_mlflow *m, gg_error *error);
/* What the journals hold behind where the last walk ended. */
gg_status gg_mlflow_walk(gg_mlflow *m, gg_error *error);
/* The next walk begins at the front again: after a failure. */
void gg_mlflow_rewind(gg_mlflow *m);
/* A point of an eval's curves, where it stands now. */
gg_status gg_mlflow_mark(gg_mlflow *m, gg_error *error);
/* Traces that are there count only while the journal still begins with their plays. */
void gg_mlflow_check_journal(gg_mlflow *m);
gg_status gg_mlflow_files(gg_mlflow *m, gg_error *error);
/* summary.json's numbers; *ended is how the run ended as far as it says. */
gg_status gg_mlflow_summary(gg_mlflow *m, int64_t end_ms, const char **ended, gg_error *error);

#endif
