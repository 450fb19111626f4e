#include "env/search/about.h"

#include <string.h>

#include "core/file.h"
#include "core/json.h"
#include "env/search/embed.h"

#define ABOUT_MAX 65536
#define MULTIPLE  16

size_t gg_about_row(const gg_about *about)
{
    size_t dims = about->by_remote ? about->remote.dims : GG_EMBED_DIMS;
    return (dims + MULTIPLE - 1) / MULTIPLE * MULTIPLE;
}

gg_status gg_about_write(const char *path, const gg_about *about, gg_error *error)
{
    gg_buf text;
    gg_buf_init(&text, ABOUT_MAX);
    gg_buf_printf(&text,
                  "{\"schema\":\"%s\",\"corpus\":\"%s\",\"documents\":%zu,\"embedding\":\"%s\","
                  "\"dimensions\":%zu,",
                  GG_INDEX_SCHEMA, about->corpus, about->documents,
                  about->by_remote ? GG_REMOTE_NAME : GG_EMBED_NAME,
                  about->by_remote ? about->remote.dims : (size_t)GG_EMBED_DIMS);
    if (about->by_remote) {
        gg_buf_str(&text, "\"url\":");
        gg_buf_json_str(&text, about->remote.url);
        gg_buf_printf(&text, ",\"bytes\":%zu,\"model\":", about->remote.bytes);
        gg_buf_json_str(&text, about->remote.model);
        gg_buf_char(&text, ',');
    }
    gg_buf_printf(&text, "\"finished\":%s}\n", about->finished ? "true" : "false");
    gg_status status = gg_buf_status(&text, "index.json", error);
    if (status == GG_OK)
        status = gg_file_write(path, gg_buf_cstr(&text), text.len, error);
    gg_buf_free(&text);
    return status;
}

static gg_status read_remote(const cJSON *root, gg_about *out)
{
    const char *url = gg_json_text(root, "url"), *model = gg_json_text(root, "model");
    int64_t dims = 0, bytes = 0;
    if (!url || !model || !gg_json_int(root, "bytes", &bytes) || bytes < 0 ||
        !gg_json_int(root, "dimensions", &dims) || dims < 1 || dims > GG_REMOTE_DIMS_MAX)
        return GG_E_FORMAT;
    gg_status status = gg_remote_make(url, model, (size_t)bytes, &out->remote, NULL);
    out->remote.dims = (size_t)dims;
    return status;
}

static gg_status take(const cJSON *root, gg_about *out)
{
    const char *schema = gg_json_text(root, "schema"), *corpus = gg_json_text(root, "corpus");
    const char *embedding = gg_json_text(root, "embedding");
    int64_t count = 0;
    *out = (gg_about){.finished = false};
    if (!schema || strcmp(schema, GG_INDEX_SCHEMA) != 0 || !embedding || !corpus ||
        strlen(corpus) >= sizeof out->corpus || !gg_json_int(root, "documents", &count) ||
        count < 1)
        return GG_E_FORMAT;
    memcpy(out->corpus, corpus, strlen(corpus) + 1);
    out->documents = (size_t)count;
    gg_json_bool(root, "finished", &out->finished);
    out->by_remote = strcmp(embedding, GG_REMOTE_NAME) == 0;
    if (out->by_remote)
        return read_remote(root, out);
    return strcmp(embedding, GG_EMBED_NAME) == 0 ? GG_OK : GG_E_FORMAT;
}

gg_status gg_about_read(const char *path, gg_about *out, gg_error *error)
{
    gg_buf text;
    cJSON *root = NULL;
    gg_buf_init(&text, ABOUT_MAX);
    gg_status status = gg_file_read(path, &text, error);
    if (status == GG_E_IO)
        status = gg_fail(error, GG_E_CONFIG,
                         "there is no index at %s; make one with guessgym index", path);
    if (status == GG_OK)
        status = gg_json_parse(gg_buf_cstr(&text), text.len, &root, error);
    if (status == GG_OK && take(root, out) != GG_OK)
        status = gg_fail(error, GG_E_CONFIG,
                         "%s is not of this version; build the index again with guessgym index, in "
                         "another folder",
                         path);
    cJSON_Delete(root);
    gg_buf_free(&text);
    return status;
}
