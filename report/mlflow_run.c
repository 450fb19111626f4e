#include "report/mlflow_inside.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "report/summary_inside.h"

#define MS_OF_S  1000
#define NS_OF_MS 1000000

/* ---- requests ---- */

gg_status gg_mlflow_post(gg_mlflow *m, const char *path, gg_mlflow_answer *answer, gg_error *error)
{
    gg_status status = gg_buf_status(&m->body, "a request to MLflow", error);
    *answer = (gg_mlflow_answer){.code = ""};
    const gg_mlflow_request request = {
        .method = "POST", .path = path, .body = gg_buf_cstr(&m->body), .len = m->body.len};
    if (status == GG_OK)
        status = gg_mlflow_call(m->client, &request, answer, error);
    gg_buf_reset(&m->body);
    return status;
}

gg_status gg_mlflow_save(gg_mlflow *m, gg_error *error)
{
    return gg_mlflow_state_write(m->run, &m->state, error);
}

/* Copies a text of an answer; GG_E_PROTOCOL when it is not there or does not fit. */
static gg_status keep(gg_mlflow *m, const cJSON *json, const char *path, char *out, gg_error *error)
{
    const cJSON *item = gg_json_path(json, path);
    if (cJSON_IsString(item) &&
        (size_t)snprintf(out, GG_MLFLOW_TEXT, "%s", item->valuestring) < GG_MLFLOW_TEXT)
        return GG_OK;
    *out = '\0';
    return gg_fail(error, GG_E_PROTOCOL, "MLflow at %s: the answer has no text %s", m->entry->url,
                   path);
}

/* ---- experiment and run ---- */

static gg_status look_up(gg_mlflow *m, bool *found, gg_error *error)
{
    gg_mlflow_answer answer;
    gg_buf_reset(&m->path);
    gg_mlflow_experiment_path(m->entry->experiment, &m->path);
    const gg_mlflow_request request = {.method = "GET", .path = gg_buf_cstr(&m->path)};
    gg_status status = gg_mlflow_call(m->client, &request, &answer, error);
    *found = status == GG_OK;
    if (status == GG_E_PROTOCOL && strcmp(answer.code, "RESOURCE_DOES_NOT_EXIST") == 0)
        return GG_OK;
    if (status != GG_OK)
        return status;
    const cJSON *stage = gg_json_path(answer.json, "experiment.lifecycle_stage");
    if (cJSON_IsString(stage) && strcmp(stage->valuestring, "active") != 0)
        return gg_fail(error, GG_E_CONFIG,
                       "MLflow at %s: the experiment \"%s\" is deleted; restore it or name another",
                       m->entry->url, m->entry->experiment);
    return keep(m, answer.json, "experiment.experiment_id", m->entry->experiment_id, error);
}

static gg_status find_experiment(gg_mlflow *m, gg_error *error)
{
    gg_mlflow_answer answer;
    bool found;
    gg_status status = look_up(m, &found, error);
    if (status != GG_OK || found)
        return status;
    gg_mlflow_experiment_body(m->entry->experiment, &m->body);
    status = gg_mlflow_post(m, GG_MLFLOW_API "/experiments/create", &answer, error);
    if (status == GG_OK)
        return keep(m, answer.json, "experiment_id", m->entry->experiment_id, error);
    if (strcmp(answer.code, "RESOURCE_ALREADY_EXISTS") == 0) /* somebody was faster */
        status = look_up(m, &found, error);
    return status;
}

static gg_status first_started(void *context, const char *line, size_t len, size_t number,
                               gg_error *error)
{
    int64_t *ms = context;
    gg_episode *e = NULL;
    (void)number;
    (void)error;
    if (gg_episode_read(line, len, GG_READ_PLAY, &e, NULL) == GG_OK)
        *ms = gg_started_ms(e->started);
    gg_episode_free(e);
    return GG_NOT_YET;
}

/* The first play's begin, else now. */
static int64_t start_time(const gg_mlflow *m)
{
    int64_t ms = 0;
    struct timespec now;
    (void)gg_run_each(m->run, GG_JOURNAL_EPISODES, first_started, &ms, NULL);
    clock_gettime(CLOCK_REALTIME, &now);
    return ms > 0 ? ms : (int64_t)now.tv_sec * MS_OF_S + now.tv_nsec / NS_OF_MS;
}

static const char *folder_name(const gg_mlflow *m, char out[GG_MLFLOW_PATH])
{
    snprintf(out, GG_MLFLOW_PATH, "%s", gg_run_dir(m->run));
    size_t len = strlen(out);
    while (len > 1 && out[len - 1] == '/')
        out[--len] = '\0';
    const char *slash = strrchr(out, '/');
    return slash && slash[1] ? slash + 1 : out;
}

/* A run that was made while its answer got lost carries our key. */
static gg_status find_run(gg_mlflow *m, gg_error *error)
{
    char name[GG_MLFLOW_PATH];
    gg_mlflow_answer answer;
    gg_mlflow_entry *e = m->entry;
    gg_mlflow_search_body(e->experiment_id, e->key, &m->body);
    gg_status status = gg_mlflow_post(m, GG_MLFLOW_API "/runs/search", &answer, error);
    const char *run = "runs.0.info.run_id", *uri = "runs.0.info.artifact_uri";
    if (status == GG_OK && !gg_json_path(answer.json, run)) {
        gg_mlflow_run_body(e->experiment_id, folder_name(m, name), e->key, e->start_ms, &m->body);
        status = gg_mlflow_post(m, GG_MLFLOW_API "/runs/create", &answer, error);
        run = "run.info.run_id";
        uri = "run.info.artifact_uri";
    }
    if (status == GG_OK)
        status = keep(m, answer.json, uri, e->artifact_uri, error);
    if (status == GG_OK)
        status = keep(m, answer.json, run, e->run_id, error);
    return status;
}

static gg_status send_config(gg_mlflow *m, gg_error *error)
{
    gg_mlflow_answer answer;
    gg_error refused;
    gg_status status = gg_mlflow_config(&m->batch, m->config, error);
    if (status == GG_OK)
        status = gg_mlflow_batch_end(&m->batch, error);
    const cJSON *config = gg_json_get(m->config, "config");
    if (status == GG_OK && gg_mlflow_dataset_body(m->entry->run_id, config, &m->body)) {
        status = gg_mlflow_post(m, GG_MLFLOW_API "/runs/log-inputs", &answer, &refused);
        if (status == GG_E_PROTOCOL) { /* the params hold the list as well */
            snprintf(m->remark, sizeof m->remark, "%.250s", refused.text);
            status = GG_OK;
        } else if (status != GG_OK && error) {
            *error = refused;
        }
    }
    m->entry->config = status == GG_OK;
    return status;
}

gg_status gg_mlflow_begin(gg_mlflow *m, gg_error *error)
{
    gg_mlflow_entry *e = m->entry;
    gg_status status = GG_OK;
    if (!*e->run_id) {
        if (!e->start_ms)
            e->start_ms = start_time(m);
        status = gg_mlflow_save(m, error); /* the key stands on the disk before a run carries it */
        if (status == GG_OK)
            status = find_experiment(m, error);
        if (status == GG_OK)
            status = find_run(m, error);
        if (status == GG_OK)
            status = gg_mlflow_save(m, error);
    }
    m->batch.run_id = e->run_id;
    if (status == GG_OK && !e->config) {
        status = send_config(m, error);
        if (status == GG_OK)
            status = gg_mlflow_save(m, error);
    }
    return status;
}
