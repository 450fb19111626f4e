#include "report/mlflow_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "report/mlflow_span.h"

static gg_status send_batch(void *context, const char *body, size_t len, gg_error *error)
{
    gg_mlflow *m = context;
    gg_mlflow_answer answer;
    const gg_mlflow_request request = {
        .method = "POST", .path = GG_MLFLOW_API "/runs/log-batch", .body = body, .len = len};
    return gg_mlflow_call(m->client, &request, &answer, error);
}

/* ---- opening ---- */

static gg_status lock(gg_mlflow *m, const char *dir, gg_error *error)
{
    m->lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (m->lock < 0)
        return gg_fail(error, GG_E_IO, "cannot open %s: %s", dir, strerror(errno));
    if (flock(m->lock, LOCK_EX | LOCK_NB) == 0)
        return GG_OK;
    return gg_fail(error, GG_E_LOCKED, "%s is being pushed to MLflow by another process", dir);
}

static gg_status read_config(gg_mlflow *m, gg_error *error)
{
    const char *text = gg_run_config(m->run);
    gg_status status = gg_json_parse(text, strlen(text), &m->config, error);
    if (status != GG_OK)
        return status;
    const cJSON *config = gg_json_get(m->config, "config");
    const char *command = gg_json_text(config, "command");
    int64_t count = 0, samples = 1, seed = 0;
    (void)gg_json_int(gg_json_get(config, "list"), "count", &count);
    if (!gg_json_int(config, "group_size", &samples))
        (void)gg_json_int(config, "samples", &samples);
    (void)gg_json_int(config, "seed", &seed);
    m->training = command && strcmp(command, "train") == 0;
    m->prefix = command && strcmp(command, "rollout") == 0 ? "rollout" : "eval";
    m->seed = (uint64_t)seed;
    m->share = m->training || count * samples <= GG_MLFLOW_TRACES
                   ? 1
                   : (double)GG_MLFLOW_TRACES / (double)(count * samples);
    m->mark = count * samples / GG_MLFLOW_MARKS;
    m->mark = m->mark < 1 ? 1 : m->mark;
    return GG_OK;
}

static gg_status open_entry(gg_mlflow *m, const gg_mlflow_options *o, gg_error *error)
{
    gg_status status = gg_mlflow_state_read(m->run, &m->state, error);
    const char *url = o->url;
    if (status == GG_OK && !url && m->state.count == 0)
        return gg_fail(error, GG_E_CONFIG,
                       "%s was never pushed: name a server with --mlflow URL or "
                       "MLFLOW_TRACKING_URI",
                       gg_run_dir(m->run));
    if (!url)
        url = m->state.entries[0].url;
    if (status == GG_OK)
        status = gg_mlflow_client_new(url, &o->keys, &m->client, error);
    if (status == GG_OK)
        status = gg_mlflow_state_entry(&m->state, gg_mlflow_client_shown(m->client), o->experiment,
                                       GG_MLFLOW_EXPERIMENT, &m->entry, error);
    if (status != GG_OK)
        return status;
    bool fresh = !*m->entry->run_id && !m->entry->start_ms;
    double share = o->share >= 0 ? o->share : fresh ? m->share : m->entry->share;
    if (share > m->entry->share)
        m->entry->plays = 0; /* more of the plays that were passed over */
    m->entry->share = share;
    return GG_OK;
}

gg_status gg_mlflow_open(const char *dir, const gg_mlflow_options *options, gg_mlflow **out,
                         gg_error *error)
{
    gg_mlflow *m = calloc(1, sizeof *m);
    *out = NULL;
    if (!m)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a push to MLflow");
    m->lock = -1;
    gg_buf_init(&m->body, GG_TRACE_MAX);
    gg_buf_init(&m->path, GG_MLFLOW_PATH + GG_MLFLOW_TEXT * 4);
    gg_mlflow_batch_init(&m->batch, "", send_batch, m);
    gg_status status = gg_run_open_read(dir, &m->run, error);
    if (status == GG_OK)
        status = lock(m, dir, error);
    if (status == GG_OK)
        status = read_config(m, error);
    if (status == GG_OK)
        status = open_entry(m, options, error);
    if (status == GG_OK)
        gg_mlflow_check_journal(m);
    if (status == GG_OK)
        *out = m;
    else
        gg_mlflow_close(m);
    return status;
}

void gg_mlflow_close(gg_mlflow *m)
{
    if (!m)
        return;
    gg_mlflow_client_free(m->client);
    gg_mlflow_batch_free(&m->batch);
    gg_buf_free(&m->body);
    gg_buf_free(&m->path);
    cJSON_Delete(m->config);
    gg_run_close(m->run);
    if (m->lock >= 0)
        close(m->lock);
    free(m);
}

void gg_mlflow_until(gg_mlflow *m, uint64_t time_ns)
{
    gg_mlflow_client_until(m->client, time_ns);
}

/* ---- pushing ---- */

gg_status gg_mlflow_push(gg_mlflow *m, gg_error *error)
{
    gg_status status = gg_mlflow_begin(m, error);
    if (status == GG_OK)
        status = gg_mlflow_walk(m, error);
    if (status != GG_OK)
        gg_mlflow_rewind(m);
    gg_status saved = *m->entry->run_id ? gg_mlflow_save(m, status == GG_OK ? error : NULL) : GG_OK;
    return status == GG_OK ? saved : status;
}

gg_status gg_mlflow_finish(gg_mlflow *m, const char *ended, gg_error *error)
{
    gg_mlflow_answer answer;
    const char *told = NULL;
    gg_status status = gg_mlflow_push(m, error);
    int64_t end_ms = m->training ? m->end_ms : m->tally.end_ms;
    end_ms = end_ms > m->entry->start_ms ? end_ms : m->entry->start_ms;
    if (status == GG_OK && !m->training && m->tally.plays > m->entry->step)
        status = gg_mlflow_mark(m, error);
    if (status == GG_OK)
        status = gg_mlflow_summary(m, end_ms, &told, error);
    if (status == GG_OK)
        status = gg_mlflow_files(m, error);
    ended = ended ? ended : told;
    if (status == GG_OK && strcmp(m->entry->status, ended) != 0) {
        gg_mlflow_end_body(m->entry->run_id, ended, end_ms, &m->body);
        status = gg_mlflow_post(m, GG_MLFLOW_API "/runs/update", &answer, error);
        if (status == GG_OK)
            snprintf(m->entry->status, sizeof m->entry->status, "%s", ended);
    }
    gg_status saved = *m->entry->run_id ? gg_mlflow_save(m, status == GG_OK ? error : NULL) : GG_OK;
    return status == GG_OK ? saved : status;
}

void gg_mlflow_look(const gg_mlflow *m, gg_mlflow_sent *out)
{
    *out = (gg_mlflow_sent){.url = m->entry->url,
                            .experiment = m->entry->experiment,
                            .experiment_id = m->entry->experiment_id,
                            .run_id = m->entry->run_id,
                            .metrics = m->batch.metrics_sent,
                            .traces = m->traces,
                            .files = m->files,
                            .refused = m->refused,
                            .remark = m->remark};
}
