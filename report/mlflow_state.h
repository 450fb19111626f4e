/*
 * DIR/mlflow.json: what of a run folder is on which MLflow server. It is replaced whole, and it is
 * what a later push goes on from. One entry for each server and experiment.
 */
#ifndef GG_REPORT_MLFLOW_STATE_H
#define GG_REPORT_MLFLOW_STATE_H

#include "core/run.h"

#define GG_MLFLOW_FILE    "mlflow.json"
#define GG_MLFLOW_SCHEMA  "guessgym.mlflow/1"
#define GG_MLFLOW_TEXT    512 /* room of an address, an id, a name */
#define GG_MLFLOW_SERVERS 16
#define GG_MLFLOW_UPLOADS 4

/* The files that are put beside the run, and in what state they were. */
extern const char *const GG_MLFLOW_FILES[GG_MLFLOW_UPLOADS];

typedef struct gg_mlflow_entry {
    char url[GG_MLFLOW_TEXT]; /* without secrets */
    char experiment[GG_MLFLOW_TEXT];
    char key[33]; /* of this folder on this server: 32 hex digits */
    char experiment_id[GG_MLFLOW_TEXT], run_id[GG_MLFLOW_TEXT], artifact_uri[GG_MLFLOW_TEXT];
    char status[16]; /* RUNNING, FINISHED, KILLED, FAILED; "" = not begun */
    int64_t start_ms;
    bool config;   /* params and list are there */
    double share;  /* of the plays that have traces */
    int64_t step;  /* the last one whose metrics are there; -1 = none */
    int64_t plays; /* lines of episodes.jsonl whose traces are there */
    char last[65]; /* digest of the last of them */
    int64_t traces, refused;
    char files[GG_MLFLOW_UPLOADS][65]; /* digests; "" = not there */
    char summary[65];
} gg_mlflow_entry;

typedef struct gg_mlflow_state {
    gg_mlflow_entry entries[GG_MLFLOW_SERVERS];
    size_t count;
} gg_mlflow_state;

/* An empty state when there is no file. */
gg_status gg_mlflow_state_read(const gg_run *run, gg_mlflow_state *out, gg_error *error);
gg_status gg_mlflow_state_write(const gg_run *run, const gg_mlflow_state *state, gg_error *error);
/* The entry of a server (and experiment, when not NULL), made with a fresh key when there is none.
 * `experiment` NULL with no entry means `fallback`. */
gg_status gg_mlflow_state_entry(gg_mlflow_state *state, const char *url, const char *experiment,
                                const char *fallback, gg_mlflow_entry **out, gg_error *error);

#endif
