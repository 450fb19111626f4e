#include "report/mlflow_inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/digest.h"
#include "core/file.h"
#include "report/mlflow_span.h"
#include "report/summary_inside.h"

#define MS_OF_S  1000
#define LINK_API GG_MLFLOW_API "/traces/link-to-run"

/* ---- metrics of a training ---- */

static gg_status take_metrics(void *context, const char *line, size_t len, size_t number,
                              gg_error *error)
{
    gg_mlflow *m = context;
    cJSON *root = NULL;
    int64_t step = 0;
    double wall = 0;
    (void)number;
    if (gg_json_parse(line, len, &root, NULL) != GG_OK || !gg_json_int(root, "step", &step)) {
        cJSON_Delete(root);
        return GG_OK; /* a damaged line */
    }
    gg_status status = step > m->committed ? GG_NOT_YET : GG_OK;
    if (status == GG_OK && gg_json_number(root, "wall_s", &wall))
        m->wall_ms += llround(wall * MS_OF_S);
    int64_t at = m->entry->start_ms + m->wall_ms;
    if (status == GG_OK && step > m->entry->step) {
        status = gg_mlflow_numbers(&m->batch, "", root, at, step, error);
        if (status == GG_OK)
            status = gg_mlflow_batch_end(&m->batch, error);
        if (status == GG_OK)
            m->entry->step = step;
    }
    m->end_ms = at > m->end_ms ? at : m->end_ms;
    cJSON_Delete(root);
    return status;
}

/* The step that a training has committed. */
static void read_checkpoint(gg_mlflow *m)
{
    cJSON *root = NULL;
    gg_buf text;
    m->committed = INT64_MAX;
    gg_buf_init(&text, GG_FILE_MAX);
    gg_buf_reset(&m->path);
    gg_buf_printf(&m->path, "%s/checkpoint.json", gg_run_dir(m->run));
    if (access(gg_buf_cstr(&m->path), F_OK) == 0) {
        m->committed = -1;
        if (gg_file_read(gg_buf_cstr(&m->path), &text, NULL) == GG_OK &&
            gg_json_parse(gg_buf_cstr(&text), text.len, &root, NULL) == GG_OK)
            (void)gg_json_int(root, "step", &m->committed);
    }
    cJSON_Delete(root);
    gg_buf_free(&text);
}

/* ---- plays: curves and traces ---- */

static void count_play(gg_mlflow_tally *t, const gg_episode *e)
{
    t->plays++;
    t->by_outcome[e->outcome]++;
    int64_t end = gg_started_ms(e->started) + e->duration_ms;
    t->end_ms = end > t->end_ms ? end : t->end_ms;
    if (e->outcome == GG_ERRORED)
        return;
    t->reward += e->reward;
    t->moves += (double)e->moves;
    t->turns += (double)e->turn_count;
    for (size_t i = 0; i < e->turn_count; i++) {
        const gg_turn *turn = &e->turns[i];
        t->turn_count++;
        t->attempts += (int64_t)turn->attempt_count;
        t->calls += (int64_t)turn->call_count;
        for (size_t c = 0; c < turn->call_count; c++)
            t->invalid += turn->calls[c].status != GG_CALL_VALID;
        t->prompt += turn->usage.prompt > 0 ? (double)turn->usage.prompt : 0;
        t->response += turn->usage.completion > 0 ? (double)turn->usage.completion : 0;
    }
}

/* A point of the curves, under the names that the service has for plays. */
gg_status gg_mlflow_mark(gg_mlflow *m, gg_error *error)
{
    const gg_mlflow_tally *t = &m->tally;
    double good = (double)(t->plays - t->by_outcome[GG_ERRORED]);
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"solve_rate", (double)t->by_outcome[GG_SOLVED] / good},
        {"reward/mean", t->reward / good},
        {"reward/failed_rollouts", (double)t->by_outcome[GG_ERRORED]},
        {"turns/mean", t->turns / good},
        {"moves/mean", t->moves / good},
        {"tokens/prompt_mean", t->prompt / good},
        {"tokens/response_mean", t->response / good},
        {"calls/invalid_frac", (double)t->invalid / (double)t->calls},
        {"requests/retries", (double)(t->attempts - t->turn_count)},
    };
    gg_status status = GG_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && status == GG_OK; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s/%s", m->prefix, rows[i].name);
        status = gg_mlflow_metric(&m->batch, name, rows[i].value, t->end_ms, t->plays, error);
    }
    if (status == GG_OK)
        status = gg_mlflow_batch_end(&m->batch, error);
    if (status == GG_OK)
        m->entry->step = t->plays;
    return status;
}

/* Servers that do not know the header need to be told which run the traces are of; and only now do
 * the plays count as sent. */
static gg_status settle(gg_mlflow *m, gg_error *error)
{
    gg_mlflow_answer answer;
    gg_status status = GG_OK;
    if (m->link_count > 0) {
        gg_mlflow_link_body(m->entry->run_id, (const uint8_t(*)[16])m->links, m->link_count,
                            &m->body);
        status = gg_mlflow_post(m, LINK_API, &answer, error);
        status = status == GG_E_PROTOCOL ? GG_OK : status;
    }
    if (status != GG_OK)
        return status;
    m->link_count = 0;
    if (m->sent_plays > m->entry->plays) {
        m->entry->plays = m->sent_plays;
        memcpy(m->entry->last, m->sent_last, sizeof m->sent_last);
    }
    return GG_OK;
}

static gg_status send_trace(gg_mlflow *m, const char *line, size_t len, gg_error *error)
{
    char experiment[GG_MLFLOW_TEXT + 32], run[GG_MLFLOW_TEXT + 32];
    const char *const headers[] = {experiment, run, NULL};
    gg_mlflow_answer answer;
    gg_episode *e = NULL;
    gg_status status = gg_episode_read(line, len, GG_READ_ALL, &e, error);
    gg_buf_reset(&m->body);
    if (status == GG_OK)
        status = gg_mlflow_trace(e, m->entry->key, &m->body, error);
    if (status != GG_OK) {
        gg_episode_free(e);
        m->refused += status != GG_E_MEMORY;
        return status == GG_E_MEMORY ? status : GG_OK;
    }
    snprintf(experiment, sizeof experiment, "x-mlflow-experiment-id: %s", m->entry->experiment_id);
    snprintf(run, sizeof run, "x-mlflow-run-id: %s", m->entry->run_id);
    const gg_mlflow_request request = {.method = "POST",
                                       .path = "/v1/traces",
                                       .body = gg_buf_cstr(&m->body),
                                       .len = m->body.len,
                                       .type = "application/x-protobuf",
                                       .headers = headers};
    status = gg_mlflow_call(m->client, &request, &answer, error);
    gg_buf_reset(&m->body);
    if (status == GG_OK)
        gg_mlflow_trace_id(m->entry->key, e->id, m->links[m->link_count++]);
    else if (status == GG_E_PROTOCOL && (answer.status == 404 || answer.status == 501))
        m->no_traces = true;
    bool sent = status == GG_OK;
    bool refused = status == GG_E_PROTOCOL && answer.status != 401 && answer.status != 403;
    m->traces += sent;
    m->refused += refused && !m->no_traces;
    if (m->no_traces)
        snprintf(m->remark, sizeof m->remark,
                 "the server takes no traces over OTLP (MLflow from 3.6 on with a database does)");
    gg_episode_free(e);
    return refused ? GG_OK : status;
}

static gg_status take_play(void *context, const char *line, size_t len, size_t number,
                           gg_error *error)
{
    gg_mlflow *m = context;
    gg_episode *e = NULL;
    (void)number;
    gg_status status = gg_episode_read(line, len, GG_READ_PLAY, &e, NULL);
    if (status == GG_E_FORMAT) {
        m->lines++;
        return GG_OK;
    }
    if (status == GG_OK && m->training && e->step > m->committed)
        status = GG_NOT_YET;
    bool fresh = status == GG_OK && m->lines >= m->entry->plays;
    if (fresh && !m->no_traces && gg_mlflow_trace_draw(m->seed, e->id) < m->entry->share)
        status = send_trace(m, line, len, error);
    if (status == GG_OK) {
        count_play(&m->tally, e);
        if (!m->training && m->tally.plays % m->mark == 0 && m->tally.plays > m->entry->step)
            status = gg_mlflow_mark(m, error);
    }
    if (status == GG_OK && fresh && !m->no_traces) {
        m->sent_plays = m->lines + 1;
        gg_sha256_hex(line, len, m->sent_last);
    }
    m->lines += status == GG_OK;
    gg_episode_free(e);
    if (status == GG_OK && m->link_count == GG_MLFLOW_LINKS_MAX)
        status = settle(m, error);
    return status;
}

typedef struct check {
    const gg_mlflow_entry *entry;
    bool same;
} check;

static gg_status check_line(void *context, const char *line, size_t len, size_t number,
                            gg_error *error)
{
    check *c = context;
    char digest[GG_DIGEST_HEX];
    (void)error;
    if ((int64_t)number < c->entry->plays)
        return GG_OK;
    gg_sha256_hex(line, len, digest);
    c->same = strcmp(digest, c->entry->last) == 0;
    return GG_NOT_YET;
}

/* A resumed run may have lost its errored plays from the middle of the journal: then all traces are
 * sent again, each to its own place. */
void gg_mlflow_check_journal(gg_mlflow *m)
{
    check c = {.entry = m->entry};
    if (m->entry->plays > 0)
        (void)gg_run_each(m->run, GG_JOURNAL_EPISODES, check_line, &c, NULL);
    if (!c.same)
        m->entry->plays = 0;
}

void gg_mlflow_rewind(gg_mlflow *m)
{
    m->tally = (gg_mlflow_tally){0};
    m->metrics_at = m->plays_at = m->lines = m->wall_ms = m->sent_plays = 0;
    m->link_count = 0;
}

gg_status gg_mlflow_walk(gg_mlflow *m, gg_error *error)
{
    gg_status status = GG_OK;
    read_checkpoint(m);
    if (m->training)
        status =
            gg_run_each_from(m->run, GG_JOURNAL_METRICS, &m->metrics_at, take_metrics, m, error);
    if (status == GG_OK || status == GG_NOT_YET)
        status = gg_run_each_from(m->run, GG_JOURNAL_EPISODES, &m->plays_at, take_play, m, error);
    if (status == GG_NOT_YET)
        status = GG_OK;
    return status == GG_OK ? settle(m, error) : status;
}
