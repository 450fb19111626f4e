/*
 * A run folder on an MLflow server: experiment and run, params, metrics by step, files, and a trace
 * for a share of the plays. Made from the folder alone, so a run that is going on, one that has
 * ended, and one whose server was away are pushed by the same code.
 *
 * The folder is the queue: a push goes on behind what mlflow.json says is there, so no memory grows
 * while a server is away, and a push that is repeated adds nothing. What a training has not
 * committed yet (checkpoint.json) is left for later.
 *
 * Timestamps come from the records: a metric that is sent twice is the same metric to MLflow, and a
 * trace that is sent twice takes its own place.
 *
 * Threads: one at a time, but for gg_mlflow_until.
 */
#ifndef GG_REPORT_MLFLOW_H
#define GG_REPORT_MLFLOW_H

#include "report/mlflow_client.h"

#define GG_MLFLOW_EXPERIMENT "guessgym"
#define GG_MLFLOW_TRACES     1000 /* where no share is named, about so many of an eval or a rollout */
#define GG_MLFLOW_MARKS      50   /* points of a curve of an eval or a rollout */
#define GG_MLFLOW_FILE_MAX   (64u << 20) /* larger files stay in the folder */

typedef struct gg_mlflow_options {
    const char *url;        /* NULL = the first server of mlflow.json */
    const char *experiment; /* NULL = as in mlflow.json, else GG_MLFLOW_EXPERIMENT */
    double share;           /* of the plays to trace, 0 to 1; below 0 = as in mlflow.json, else by
                   GG_MLFLOW_TRACES */
    gg_mlflow_keys keys;
} gg_mlflow_options;

typedef struct gg_mlflow gg_mlflow;

/* GG_E_CONFIG: no address, or none that can be; nothing is sent yet. GG_E_LOCKED: another push of
 * this folder is under way. */
gg_status gg_mlflow_open(const char *dir, const gg_mlflow_options *options, gg_mlflow **out,
                         gg_error *error);
void gg_mlflow_close(gg_mlflow *mlflow); /* NULL is fine */
/* Sends what is new. After a failure the next call goes on from there. */
gg_status gg_mlflow_push(gg_mlflow *mlflow, gg_error *error);
/* The same, then files, the summary and the run's end; `status` FINISHED, KILLED or FAILED, NULL =
 * as the folder tells. */
gg_status gg_mlflow_finish(gg_mlflow *mlflow, const char *status, gg_error *error);
/* From any thread; as gg_mlflow_client_until. */
void gg_mlflow_until(gg_mlflow *mlflow, uint64_t time_ns);

/* What this object has sent, and where it lies. */
typedef struct gg_mlflow_sent {
    const char *url, *experiment, *experiment_id, *run_id; /* "" = not known yet */
    int64_t metrics, traces, files;
    int64_t refused;    /* traces that the server did not take */
    const char *remark; /* what else a person should know; "" = nothing */
} gg_mlflow_sent;
void gg_mlflow_look(const gg_mlflow *mlflow, gg_mlflow_sent *out);

#endif
