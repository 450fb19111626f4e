#include "report/mlflow_body.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define VALUE_MAX    (64u << 10)
#define ARTIFACTS    "mlflow-artifacts:/"
#define ARTIFACT_API "/api/2.0/mlflow-artifacts/artifacts/"

/* ---- the batch ---- */

void gg_mlflow_batch_init(gg_mlflow_batch *batch, const char *run_id, gg_mlflow_flush flush,
                          void *context)
{
    *batch = (gg_mlflow_batch){.run_id = run_id, .flush = flush, .context = context};
    gg_buf_init(&batch->metrics, GG_MLFLOW_BATCH_MAX);
    gg_buf_init(&batch->params, GG_MLFLOW_BATCH_MAX);
    gg_buf_init(&batch->tags, GG_MLFLOW_BATCH_MAX);
    gg_buf_init(&batch->body, 2 * GG_MLFLOW_BATCH_MAX);
}

void gg_mlflow_batch_free(gg_mlflow_batch *batch)
{
    gg_buf_free(&batch->metrics);
    gg_buf_free(&batch->params);
    gg_buf_free(&batch->tags);
    gg_buf_free(&batch->body);
}

static void add_list(gg_buf *out, const char *name, const gg_buf *items)
{
    if (items->len == 0)
        return;
    gg_buf_printf(out, ",\"%s\":[", name);
    gg_buf_add(out, items->data, items->len);
    gg_buf_char(out, ']');
}

gg_status gg_mlflow_batch_end(gg_mlflow_batch *b, gg_error *error)
{
    if (b->metric_count + b->param_count + b->tag_count == 0)
        return GG_OK;
    gg_buf_reset(&b->body);
    gg_buf_str(&b->body, "{\"run_id\":");
    gg_buf_json_str(&b->body, b->run_id);
    add_list(&b->body, "metrics", &b->metrics);
    add_list(&b->body, "params", &b->params);
    add_list(&b->body, "tags", &b->tags);
    gg_buf_char(&b->body, '}');
    gg_status status = gg_buf_status(&b->metrics, "metrics", error);
    if (status == GG_OK)
        status = gg_buf_status(&b->params, "params", error);
    if (status == GG_OK)
        status = gg_buf_status(&b->tags, "tags", error);
    if (status == GG_OK)
        status = gg_buf_status(&b->body, "a request to MLflow", error);
    if (status == GG_OK)
        status = b->flush(b->context, b->body.data, b->body.len, error);
    if (status == GG_OK)
        b->metrics_sent += (int64_t)b->metric_count;
    gg_buf_reset(&b->metrics);
    gg_buf_reset(&b->params);
    gg_buf_reset(&b->tags);
    b->metric_count = b->param_count = b->tag_count = 0;
    return status;
}

/* One more item of at most `bytes` is to be added. */
static gg_status make_room(gg_mlflow_batch *b, size_t bytes, gg_error *error)
{
    size_t used = b->metrics.len + b->params.len + b->tags.len;
    bool full = b->metric_count == GG_MLFLOW_METRICS_MAX ||
                b->param_count == GG_MLFLOW_PARAMS_MAX || b->tag_count == GG_MLFLOW_TAGS_MAX ||
                used + bytes > GG_MLFLOW_BATCH_MAX;
    return full ? gg_mlflow_batch_end(b, error) : GG_OK;
}

/* MLflow wants a path that is already in its shortest form. */
static void add_key(gg_buf *out, const char *key)
{
    size_t len = strnlen(key, GG_MLFLOW_KEY_MAX);
    char last = '/';
    gg_buf_char(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)key[i];
        bool known = c < 0x80 && (isalnum(c) || strchr("_-. /", c));
        bool inside = c != '/' || (last != '/' && i + 1 < len);
        char made = known && inside && (c != '.' || (last != '/' && last != '.')) ? (char)c : '_';
        gg_buf_char(out, made);
        last = made;
    }
    gg_buf_str(out, len ? "\"" : "_\"");
}

/* Cut between characters. */
static void add_value(gg_buf *out, const char *value, size_t most)
{
    size_t len = strlen(value);
    if (len > most) {
        len = most - strlen("...");
        while (len > 0 && ((unsigned char)value[len] & 0xc0) == 0x80)
            len--;
    }
    gg_buf_char(out, '"');
    gg_buf_json_part(out, value, len);
    gg_buf_str(out, value[len] ? "...\"" : "\"");
}

gg_status gg_mlflow_metric(gg_mlflow_batch *b, const char *key, double value, int64_t timestamp_ms,
                           int64_t step, gg_error *error)
{
    if (!isfinite(value))
        return GG_OK;
    gg_status status = make_room(b, GG_MLFLOW_KEY_MAX * 2, error);
    if (b->metric_count++ > 0)
        gg_buf_char(&b->metrics, ',');
    gg_buf_str(&b->metrics, "{\"key\":");
    add_key(&b->metrics, key);
    gg_buf_str(&b->metrics, ",\"value\":");
    gg_buf_double(&b->metrics, value);
    gg_buf_printf(&b->metrics, ",\"timestamp\":%lld,\"step\":%lld}", (long long)timestamp_ms,
                  (long long)step);
    return status;
}

static void add_pair(gg_buf *out, size_t *count, const char *key, const char *value, size_t most)
{
    if ((*count)++ > 0)
        gg_buf_char(out, ',');
    gg_buf_str(out, "{\"key\":");
    add_key(out, key);
    gg_buf_str(out, ",\"value\":");
    add_value(out, value, most);
    gg_buf_char(out, '}');
}

gg_status gg_mlflow_param(gg_mlflow_batch *b, const char *key, const char *value, gg_error *error)
{
    gg_status status = make_room(b, VALUE_MAX, error);
    add_pair(&b->params, &b->param_count, key, value, GG_MLFLOW_PARAM_BYTES);
    return status;
}

gg_status gg_mlflow_tag(gg_mlflow_batch *b, const char *key, const char *value, gg_error *error)
{
    gg_status status = make_room(b, VALUE_MAX, error);
    add_pair(&b->tags, &b->tag_count, key, value, GG_MLFLOW_TAG_BYTES);
    return status;
}

/* ---- objects, flat ---- */

static gg_status add_number(gg_mlflow_batch *b, gg_buf *path, const cJSON *item,
                            const int64_t when[2], gg_error *error)
{
    gg_status status = GG_OK;
    if (cJSON_IsNumber(item))
        return gg_mlflow_metric(b, gg_buf_cstr(path), item->valuedouble, when[0], when[1], error);
    for (const cJSON *child = cJSON_IsObject(item) ? item->child : NULL; child && status == GG_OK;
         child = child->next) {
        size_t len = path->len;
        if (len == 0 && strcmp(child->string, "step") == 0)
            continue;
        gg_buf_printf(path, len ? "/%s" : "%s", child->string);
        status = add_number(b, path, child, when, error);
        gg_buf_truncate(path, len);
    }
    return status;
}

gg_status gg_mlflow_numbers(gg_mlflow_batch *b, const char *prefix, const cJSON *object,
                            int64_t timestamp_ms, int64_t step, gg_error *error)
{
    const int64_t when[2] = {timestamp_ms, step};
    gg_buf path;
    gg_buf_init(&path, VALUE_MAX);
    gg_buf_str(&path, prefix);
    gg_status status = add_number(b, &path, object, when, error);
    if (status == GG_OK)
        status = gg_buf_status(&path, "a metric's name", error);
    gg_buf_free(&path);
    return status;
}

static gg_status add_param(gg_mlflow_batch *b, gg_buf *path, const cJSON *item, gg_error *error)
{
    gg_status status = GG_OK;
    gg_buf text;
    if (cJSON_IsString(item))
        return gg_mlflow_param(b, gg_buf_cstr(path), item->valuestring, error);
    if (!cJSON_IsObject(item)) {
        gg_buf_init(&text, GG_MLFLOW_BATCH_MAX);
        gg_buf_cjson(&text, item);
        status = gg_mlflow_param(b, gg_buf_cstr(path), gg_buf_cstr(&text), error);
        gg_buf_free(&text);
        return status;
    }
    for (const cJSON *child = item->child; child && status == GG_OK; child = child->next) {
        size_t len = path->len;
        gg_buf_printf(path, len ? ".%s" : "%s", child->string);
        status = add_param(b, path, child, error);
        gg_buf_truncate(path, len);
    }
    return status;
}

gg_status gg_mlflow_config(gg_mlflow_batch *b, const cJSON *run_json, gg_error *error)
{
    const char *version = gg_json_text(run_json, "version");
    const cJSON *config = gg_json_get(run_json, "config");
    gg_status status = version ? gg_mlflow_param(b, "version", version, error) : GG_OK;
    gg_buf path;
    gg_buf_init(&path, VALUE_MAX);
    if (status == GG_OK && cJSON_IsObject(config))
        status = add_param(b, &path, config, error);
    if (status == GG_OK)
        status = gg_buf_status(&path, "a param's name", error);
    gg_buf_free(&path);
    return status;
}

/* ---- whole bodies ---- */

void gg_mlflow_experiment_body(const char *name, gg_buf *out)
{
    gg_buf_str(out, "{\"name\":");
    gg_buf_json_str(out, name);
    gg_buf_char(out, '}');
}

static void add_escaped(gg_buf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x80 && (isalnum(c) || strchr("-._~", c)))
            gg_buf_char(out, (char)c);
        else
            gg_buf_printf(out, "%%%02X", c);
    }
}

void gg_mlflow_experiment_path(const char *name, gg_buf *out)
{
    gg_buf_str(out, "/api/2.0/mlflow/experiments/get-by-name?experiment_name=");
    add_escaped(out, name);
}

void gg_mlflow_search_body(const char *experiment_id, const char *key, gg_buf *out)
{
    gg_buf_str(out, "{\"experiment_ids\":[");
    gg_buf_json_str(out, experiment_id);
    gg_buf_printf(out, "],\"filter\":\"tags.`guessgym.key` = '%s'\",\"max_results\":1}", key);
}

static void add_tag(gg_buf *out, const char *key, const char *value, bool first)
{
    gg_buf_printf(out, "%s{\"key\":\"%s\",\"value\":", first ? "" : ",", key);
    add_value(out, value, GG_MLFLOW_TAG_BYTES);
    gg_buf_char(out, '}');
}

void gg_mlflow_run_body(const char *experiment_id, const char *name, const char *key,
                        int64_t start_ms, gg_buf *out)
{
    gg_buf_str(out, "{\"experiment_id\":");
    gg_buf_json_str(out, experiment_id);
    gg_buf_str(out, ",\"run_name\":");
    add_value(out, name, GG_MLFLOW_KEY_MAX);
    gg_buf_printf(out, ",\"start_time\":%lld,\"tags\":[", (long long)start_ms);
    add_tag(out, "guessgym.key", key, true);
    add_tag(out, "mlflow.source.name", "guessgym", false);
    add_tag(out, "mlflow.source.type", "LOCAL", false);
    gg_buf_str(out, "]}");
}

void gg_mlflow_end_body(const char *run_id, const char *status, int64_t end_ms, gg_buf *out)
{
    gg_buf_str(out, "{\"run_id\":");
    gg_buf_json_str(out, run_id);
    gg_buf_printf(out, ",\"status\":\"%s\",\"end_time\":%lld}", status, (long long)end_ms);
}

bool gg_mlflow_dataset_body(const char *run_id, const cJSON *config, gg_buf *out)
{
    const cJSON *list = gg_json_get(config, "list");
    const char *identity = gg_json_text(list, "identity"), *tasks = gg_json_text(config, "tasks");
    int64_t count = 0;
    if (!identity)
        return false;
    (void)gg_json_int(list, "count", &count);
    gg_buf_str(out, "{\"run_id\":");
    gg_buf_json_str(out, run_id);
    gg_buf_str(out, ",\"datasets\":[{\"tags\":[],\"dataset\":{\"name\":");
    add_value(out, tasks ? tasks : "shipped", GG_MLFLOW_KEY_MAX);
    gg_buf_str(out, ",\"digest\":");
    gg_buf_json(out, identity, strnlen(identity, GG_MLFLOW_DIGEST_MAX));
    gg_buf_str(out, ",\"source_type\":\"local\",\"source\":\"{}\",\"profile\":");
    gg_buf_printf(out, "\"{\\\"num_rows\\\":%lld}\"}}]}", (long long)count);
    return true;
}

void gg_mlflow_link_body(const char *run_id, const uint8_t (*trace_ids)[16], size_t count,
                         gg_buf *out)
{
    gg_buf_str(out, "{\"trace_ids\":[");
    for (size_t t = 0; t < count; t++) {
        gg_buf_str(out, t ? ",\"tr-" : "\"tr-");
        for (int i = 0; i < 16; i++)
            gg_buf_printf(out, "%02x", trace_ids[t][i]);
        gg_buf_char(out, '"');
    }
    gg_buf_str(out, "],\"run_id\":");
    gg_buf_json_str(out, run_id);
    gg_buf_char(out, '}');
}

bool gg_mlflow_artifact_path(const char *artifact_uri, const char *name, gg_buf *out)
{
    if (strncmp(artifact_uri, ARTIFACTS, strlen(ARTIFACTS)) != 0)
        return false;
    const char *at = artifact_uri + strlen(ARTIFACTS);
    if (*at == '/') { /* mlflow-artifacts://HOST/PATH */
        at = strchr(at + 1, '/');
        if (!at)
            return false;
        at++;
    }
    gg_buf_str(out, ARTIFACT_API);
    gg_buf_str(out, at);
    gg_buf_char(out, '/');
    add_escaped(out, name);
    return true;
}
