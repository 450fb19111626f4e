#include "report/mlflow_state.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/file.h"
#include "core/json.h"

#define STATE_MAX (1u << 20)

const char *const GG_MLFLOW_FILES[GG_MLFLOW_UPLOADS] = {"run.json", "summary.json", "adapter.json",
                                                        "report.html"};

/* The texts of an entry, by name. */
static const struct {
    const char *name;
    size_t at, room;
} TEXTS[] = {
#define TEXT(member)                                                                               \
    {                                                                                              \
#member, offsetof(gg_mlflow_entry, member), sizeof((gg_mlflow_entry *)NULL)->member        \
    }
    TEXT(url),          TEXT(experiment), TEXT(key),  TEXT(experiment_id), TEXT(run_id),
    TEXT(artifact_uri), TEXT(status),     TEXT(last), TEXT(summary),
};
static const struct {
    const char *name;
    size_t at;
} NUMBERS[] = {
#define NUMBER(member)                                                                             \
    {                                                                                              \
#member, offsetof(gg_mlflow_entry, member)                                                 \
    }
    NUMBER(start_ms),
    NUMBER(step),
    NUMBER(plays),
};
#define COUNT(table) (sizeof(table) / sizeof *(table))

static bool take_text(const cJSON *object, const char *name, char *out, size_t room)
{
    const char *value = gg_json_text(object, name);
    return !value || (size_t)snprintf(out, room, "%s", value) < room;
}

static bool read_entry(const cJSON *from, gg_mlflow_entry *e)
{
    bool good = cJSON_IsObject(from);
    *e = (gg_mlflow_entry){.step = -1};
    for (size_t i = 0; i < COUNT(TEXTS); i++)
        good = good && take_text(from, TEXTS[i].name, (char *)e + TEXTS[i].at, TEXTS[i].room);
    for (size_t i = 0; good && i < COUNT(NUMBERS); i++) {
        int64_t value;
        if (gg_json_int(from, NUMBERS[i].name, &value))
            memcpy((char *)e + NUMBERS[i].at, &value, sizeof value);
    }
    (void)gg_json_bool(from, "config", &e->config);
    (void)gg_json_number(from, "share", &e->share);
    const cJSON *files = gg_json_get(from, "files");
    for (int i = 0; i < GG_MLFLOW_UPLOADS; i++)
        good = good && take_text(files, GG_MLFLOW_FILES[i], e->files[i], sizeof e->files[i]);
    return good && *e->url && *e->key;
}

static gg_status read_text(const char *dir, const char *text, size_t len, gg_mlflow_state *out,
                           gg_error *error)
{
    cJSON *root = NULL;
    const cJSON *item;
    gg_status status = gg_json_parse(text, len, &root, error);
    const char *schema = gg_json_text(root, "schema");
    bool good = status == GG_OK && schema && strcmp(schema, GG_MLFLOW_SCHEMA) == 0;
    cJSON_ArrayForEach(item, gg_json_get(root, "servers")) good =
        good && out->count < GG_MLFLOW_SERVERS && read_entry(item, &out->entries[out->count++]);
    cJSON_Delete(root);
    if (good)
        return GG_OK;
    return gg_fail(error, GG_E_FORMAT,
                   "%s/" GG_MLFLOW_FILE " is damaged; remove it to push the run as a new one", dir);
}

gg_status gg_mlflow_state_read(const gg_run *run, gg_mlflow_state *out, gg_error *error)
{
    gg_buf path, text;
    gg_status status = GG_OK;
    out->count = 0;
    gg_buf_init(&path, STATE_MAX);
    gg_buf_init(&text, STATE_MAX);
    gg_buf_printf(&path, "%s/" GG_MLFLOW_FILE, gg_run_dir(run));
    if (access(gg_buf_cstr(&path), F_OK) == 0) {
        status = gg_file_read(gg_buf_cstr(&path), &text, error);
        if (status == GG_OK)
            status = read_text(gg_run_dir(run), gg_buf_cstr(&text), text.len, out, error);
    }
    gg_buf_free(&path);
    gg_buf_free(&text);
    return status;
}

static void write_entry(const gg_mlflow_entry *e, gg_buf *out)
{
    gg_buf_char(out, '{');
    for (size_t i = 0; i < COUNT(TEXTS); i++) {
        gg_buf_printf(out, "\"%s\":", TEXTS[i].name);
        gg_buf_json_str(out, (const char *)e + TEXTS[i].at);
        gg_buf_char(out, ',');
    }
    for (size_t i = 0; i < COUNT(NUMBERS); i++) {
        int64_t value;
        memcpy(&value, (const char *)e + NUMBERS[i].at, sizeof value);
        gg_buf_printf(out, "\"%s\":%lld,", NUMBERS[i].name, (long long)value);
    }
    gg_buf_printf(out, "\"config\":%s,\"share\":", e->config ? "true" : "false");
    gg_buf_double(out, e->share);
    gg_buf_str(out, ",\"files\":{");
    for (int i = 0; i < GG_MLFLOW_UPLOADS; i++)
        gg_buf_printf(out, "%s\"%s\":\"%s\"", i ? "," : "", GG_MLFLOW_FILES[i], e->files[i]);
    gg_buf_str(out, "}}");
}

gg_status gg_mlflow_state_write(const gg_run *run, const gg_mlflow_state *state, gg_error *error)
{
    gg_buf text;
    gg_buf_init(&text, STATE_MAX);
    gg_buf_str(&text, "{\"schema\":\"" GG_MLFLOW_SCHEMA "\",\"servers\":[");
    for (size_t i = 0; i < state->count; i++) {
        gg_buf_str(&text, i ? "," : "");
        write_entry(&state->entries[i], &text);
    }
    gg_buf_str(&text, "]}\n");
    gg_status status = gg_buf_status(&text, GG_MLFLOW_FILE, error);
    if (status == GG_OK)
        status = gg_run_write_file(run, GG_MLFLOW_FILE, text.data, text.len, error);
    gg_buf_free(&text);
    return status;
}

/* The key must differ between folders, so it is no function of the seed; nothing that is played
 * depends on it. */
static gg_status draw_key(char key[33], gg_error *error)
{
    uint8_t bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return gg_fail(error, GG_E_IO, "cannot draw a random key for MLflow");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(key + 2 * i, 3, "%02x", bytes[i]);
    return GG_OK;
}

gg_status gg_mlflow_state_entry(gg_mlflow_state *state, const char *url, const char *experiment,
                                const char *fallback, gg_mlflow_entry **out, gg_error *error)
{
    for (size_t i = 0; i < state->count; i++) {
        gg_mlflow_entry *e = &state->entries[i];
        if (strcmp(e->url, url) == 0 && (!experiment || strcmp(e->experiment, experiment) == 0)) {
            *out = e;
            return GG_OK;
        }
    }
    if (!experiment)
        experiment = fallback;
    if (state->count == GG_MLFLOW_SERVERS)
        return gg_fail(error, GG_E_LIMIT, "a run folder can be pushed to %d servers at most",
                       GG_MLFLOW_SERVERS);
    if (strlen(url) >= GG_MLFLOW_TEXT || strlen(experiment) >= GG_MLFLOW_TEXT)
        return gg_fail(error, GG_E_CONFIG,
                       "an MLflow address or experiment is longer than %d bytes",
                       GG_MLFLOW_TEXT - 1);
    gg_mlflow_entry *e = &state->entries[state->count];
    *e = (gg_mlflow_entry){.step = -1};
    snprintf(e->url, sizeof e->url, "%s", url);
    snprintf(e->experiment, sizeof e->experiment, "%s", experiment);
    gg_status status = draw_key(e->key, error);
    state->count += status == GG_OK;
    *out = e;
    return status;
}
