#include "report/mlflow_inside.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/digest.h"
#include "core/file.h"

static gg_status read_file(gg_mlflow *m, const char *name, gg_buf *text, gg_error *error)
{
    struct stat info;
    gg_buf_reset(text);
    gg_buf_reset(&m->path);
    gg_buf_printf(&m->path, "%s/%s", gg_run_dir(m->run), name);
    if (stat(gg_buf_cstr(&m->path), &info) != 0)
        return GG_OK;
    if (info.st_size > GG_MLFLOW_FILE_MAX) {
        snprintf(m->remark, sizeof m->remark, "%s is larger than %u bytes and stays in the folder",
                 name, GG_MLFLOW_FILE_MAX);
        return GG_OK;
    }
    return gg_file_read(gg_buf_cstr(&m->path), text, error);
}

static gg_status upload(gg_mlflow *m, int index, gg_buf *text, gg_error *error)
{
    const char *name = GG_MLFLOW_FILES[index];
    char digest[GG_DIGEST_HEX];
    gg_mlflow_answer answer;
    gg_status status = read_file(m, name, text, error);
    if (status != GG_OK || text->len == 0)
        return status;
    gg_sha256_hex(text->data, text->len, digest);
    if (strcmp(digest, m->entry->files[index]) == 0)
        return GG_OK;
    gg_buf_reset(&m->path);
    if (!gg_mlflow_artifact_path(m->entry->artifact_uri, name, &m->path)) {
        snprintf(m->remark, sizeof m->remark,
                 "the server keeps its files elsewhere (%.60s): they stay in the folder",
                 m->entry->artifact_uri);
        return GG_OK;
    }
    const gg_mlflow_request request = {.method = "PUT",
                                       .path = gg_buf_cstr(&m->path),
                                       .body = text->data,
                                       .len = text->len,
                                       .type = "application/octet-stream"};
    status = gg_mlflow_call(m->client, &request, &answer, error);
    if (status != GG_OK)
        return status;
    m->files++;
    memcpy(m->entry->files[index], digest, sizeof digest);
    return gg_mlflow_save(m, error);
}

gg_status gg_mlflow_files(gg_mlflow *m, gg_error *error)
{
    gg_status status = GG_OK;
    gg_buf text;
    gg_buf_init(&text, GG_MLFLOW_FILE_MAX + 1);
    for (int i = 0; i < GG_MLFLOW_UPLOADS && status == GG_OK; i++)
        status = upload(m, i, &text, error);
    gg_buf_free(&text);
    return status;
}

gg_status gg_mlflow_summary(gg_mlflow *m, int64_t end_ms, const char **ended, gg_error *error)
{
    char digest[GG_DIGEST_HEX];
    cJSON *root = NULL;
    gg_buf text;
    int64_t unplayed = 0, step = 0, steps = 0;
    gg_buf_init(&text, GG_MLFLOW_FILE_MAX + 1);
    *ended = "KILLED";
    gg_status status = read_file(m, "summary.json", &text, error);
    if (status == GG_OK && text.len)
        status = gg_json_parse(text.data, text.len, &root, error);
    if (status == GG_OK && root) {
        gg_sha256_hex(text.data, text.len, digest);
        (void)gg_json_int(root, "unplayed", &unplayed);
        (void)gg_json_int(root, "steps", &step);
        (void)gg_json_int(gg_json_get(m->config, "config"), "steps", &steps);
        bool whole = m->training ? step >= steps || gg_json_text(root, "stopped") : unplayed == 0;
        *ended = whole ? "FINISHED" : "KILLED";
        if (strcmp(digest, m->entry->summary) != 0) {
            status = gg_mlflow_numbers(&m->batch, "summary", root, end_ms, 0, error);
            if (status == GG_OK)
                status = gg_mlflow_batch_end(&m->batch, error);
            if (status == GG_OK)
                memcpy(m->entry->summary, digest, sizeof digest);
        }
    }
    cJSON_Delete(root);
    gg_buf_free(&text);
    return status;
}
