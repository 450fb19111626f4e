/*
 * What is said to an MLflow server (REST, /api/2.0/mlflow), as JSON text. Pure functions; the
 * fields are those of MLflow's service.proto, the limits those of its mlflow/utils/validation.py.
 *
 * Keys are made fit for MLflow (letters, digits, "_-. /"), values are cut at its limits, and a
 * number that is none is left out. Threads: one at a time.
 */
#ifndef GG_REPORT_MLFLOW_BODY_H
#define GG_REPORT_MLFLOW_BODY_H

#include "core/json.h"

#define GG_MLFLOW_METRICS_MAX 500 /* a request; the server takes 1,000 items in all */
#define GG_MLFLOW_PARAMS_MAX  100
#define GG_MLFLOW_TAGS_MAX    100
#define GG_MLFLOW_BATCH_MAX   (900u << 10) /* bytes; the server takes 1 MB */
#define GG_MLFLOW_KEY_MAX     250
#define GG_MLFLOW_PARAM_BYTES 6000
#define GG_MLFLOW_TAG_BYTES   5000
#define GG_MLFLOW_LINKS_MAX   100
#define GG_MLFLOW_DIGEST_MAX  36

/* Sends one body of runs/log-batch. */
typedef gg_status (*gg_mlflow_flush)(void *context, const char *body, size_t len, gg_error *error);

/* Gathers metrics, params and tags, and hands out a body whenever a limit is near. */
typedef struct gg_mlflow_batch {
    const char *run_id; /* borrowed */
    gg_mlflow_flush flush;
    void *context;
    gg_buf metrics, params, tags, body;
    size_t metric_count, param_count, tag_count;
    int64_t metrics_sent; /* handed out so far */
} gg_mlflow_batch;

void gg_mlflow_batch_init(gg_mlflow_batch *batch, const char *run_id, gg_mlflow_flush flush,
                          void *context);
void gg_mlflow_batch_free(gg_mlflow_batch *batch);
/* Hands out what is left, if anything is. */
gg_status gg_mlflow_batch_end(gg_mlflow_batch *batch, gg_error *error);

gg_status gg_mlflow_metric(gg_mlflow_batch *batch, const char *key, double value,
                           int64_t timestamp_ms, int64_t step, gg_error *error);
gg_status gg_mlflow_param(gg_mlflow_batch *batch, const char *key, const char *value,
                          gg_error *error);
gg_status gg_mlflow_tag(gg_mlflow_batch *batch, const char *key, const char *value,
                        gg_error *error);
/* Every number of an object as a metric, "a/b" for nested ones, behind `prefix`; "step" is not one.
 */
gg_status gg_mlflow_numbers(gg_mlflow_batch *batch, const char *prefix, const cJSON *object,
                            int64_t timestamp_ms, int64_t step, gg_error *error);
/* Every member of run.json's configuration as a param, "a.b" for nested ones, and the version. */
gg_status gg_mlflow_config(gg_mlflow_batch *batch, const cJSON *run_json, gg_error *error);

void gg_mlflow_experiment_body(const char *name, gg_buf *out);
/* Path and query of experiments/get-by-name. */
void gg_mlflow_experiment_path(const char *name, gg_buf *out);
/* `key` is the folder's own, by which a run is found whose id was lost. */
void gg_mlflow_search_body(const char *experiment_id, const char *key, gg_buf *out);
void gg_mlflow_run_body(const char *experiment_id, const char *name, const char *key,
                        int64_t start_ms, gg_buf *out);
void gg_mlflow_end_body(const char *run_id, const char *status, int64_t end_ms, gg_buf *out);
/* The list that was played as a dataset; false when the configuration names none. */
bool gg_mlflow_dataset_body(const char *run_id, const cJSON *config, gg_buf *out);
/* traces/link-to-run, of at most GG_MLFLOW_LINKS_MAX traces. */
void gg_mlflow_link_body(const char *run_id, const uint8_t (*trace_ids)[16], size_t count,
                         gg_buf *out);
/* Where a file of the run is put: path behind the server's address; false when its artefacts do
 * not go through the server ("s3://...", a path). */
bool gg_mlflow_artifact_path(const char *artifact_uri, const char *name, gg_buf *out);

#endif
