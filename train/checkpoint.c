#include "train/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"

#define SCHEMA "guessgym.checkpoint/1"
#define NAME   "checkpoint.json"

static bool copy_text(const cJSON *root, const char *name, char *out, size_t room)
{
    const char *text = gg_json_text(root, name);
    size_t len = text ? strlen(text) : room;
    if (len >= room)
        return false;
    memcpy(out, text, len + 1);
    return true;
}

static bool parse(const cJSON *root, gg_checkpoint *out)
{
    const char *schema = gg_json_text(root, "schema");
    const cJSON *sizes = gg_json_get(root, "sizes");
    bool ok =
        schema && !strcmp(schema, SCHEMA) && cJSON_GetArraySize(sizes) == GG_JOURNAL_COUNT &&
        gg_json_int(root, "step", &out->step) && gg_json_int(root, "sessions", &out->sessions) &&
        gg_json_int(root, "prefill", &out->prefill) && gg_json_int(root, "sample", &out->sample) &&
        gg_json_int(root, "train", &out->train) &&
        copy_text(root, "session", out->session, sizeof out->session) &&
        copy_text(root, "weights_arn", out->weights_arn, sizeof out->weights_arn) &&
        copy_text(root, "state_arn", out->state_arn, sizeof out->state_arn);
    const cJSON *size;
    size_t i = 0;
    cJSON_ArrayForEach(size, sizes) if (i < GG_JOURNAL_COUNT) out->sizes[i++] =
        (int64_t)size->valuedouble;
    return ok;
}

gg_status gg_checkpoint_read(const gg_run *run, gg_checkpoint *out, bool *found, gg_error *error)
{
    gg_buf path, text;
    cJSON *root = NULL;
    *out = (gg_checkpoint){0};
    gg_buf_init(&path, GG_FILE_MAX);
    gg_buf_init(&text, GG_FILE_MAX);
    gg_buf_printf(&path, "%s/%s", gg_run_dir(run), NAME);
    gg_status status = gg_buf_status(&path, "a path", error);
    *found = status == GG_OK && access(path.data, F_OK) == 0;
    if (*found)
        status = gg_file_read(path.data, &text, error);
    if (*found && status == GG_OK)
        status = gg_json_parse(gg_buf_cstr(&text), text.len, &root, error);
    if (root && !parse(root, out))
        status = gg_fail(error, GG_E_FORMAT,
                         "%s is not a checkpoint of this program (schema " SCHEMA ")", path.data);
    if (status != GG_OK)
        *out = (gg_checkpoint){0};
    cJSON_Delete(root);
    gg_buf_free(&path);
    gg_buf_free(&text);
    return status;
}

gg_status gg_checkpoint_write(const gg_run *run, const gg_checkpoint *c, gg_error *error)
{
    gg_buf out;
    gg_buf_init(&out, GG_FILE_MAX);
    gg_buf_printf(&out,
                  "{\"schema\":\"" SCHEMA
                  "\",\"step\":%lld,\"sessions\":%lld,\"session\":\"%s\",\"weights_arn\":",
                  (long long)c->step, (long long)c->sessions, c->session);
    gg_buf_json_str(&out, c->weights_arn);
    gg_buf_str(&out, ",\"state_arn\":");
    gg_buf_json_str(&out, c->state_arn);
    gg_buf_printf(&out, ",\"prefill\":%lld,\"sample\":%lld,\"train\":%lld,\"sizes\":[",
                  (long long)c->prefill, (long long)c->sample, (long long)c->train);
    for (int i = 0; i < GG_JOURNAL_COUNT; i++)
        gg_buf_printf(&out, "%s%lld", i ? "," : "", (long long)c->sizes[i]);
    gg_buf_str(&out, "]}\n");
    gg_status status = gg_buf_status(&out, NAME, error);
    if (status == GG_OK)
        status = gg_run_write_file(run, NAME, out.data, out.len, error);
    gg_buf_free(&out);
    return status;
}
