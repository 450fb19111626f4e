#include "env/search/remote.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/json.h"
#include "net/retry.h"

#define BODY_MAX   (8u << 20)
#define KEY_MAX    8192
#define BACKOFF_MS 100
#define INSIDE(c)                                                                                  \
    (((unsigned char)(c)&0xc0) == 0x80) /* of a UTF-8 sequence, not its first byte                 \
                                         */

gg_status gg_remote_make(const char *url, const char *model, size_t bytes, gg_remote *out,
                         gg_error *error)
{
    *out = (gg_remote){.bytes = bytes};
    size_t len = strlen(url);
    while (len && url[len - 1] == '/')
        len--;
    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
        return gg_fail(error, GG_E_CONFIG,
                       "the embeddings' address has to begin with http:// or https://, not %.60s",
                       url);
    if (len >= sizeof out->url || !*model || strlen(model) >= sizeof out->model)
        return gg_fail(error, GG_E_CONFIG,
                       "the embeddings' address may have %d bytes, the model's name 1 to %d",
                       GG_REMOTE_URL_MAX - 1, GG_REMOTE_MODEL - 1);
    if (bytes < GG_REMOTE_TEXT_MIN || bytes > GG_REMOTE_TEXT)
        return gg_fail(error, GG_E_CONFIG, "of a text %d to %d bytes can be sent, not %zu",
                       GG_REMOTE_TEXT_MIN, GG_REMOTE_TEXT, bytes);
    memcpy(out->url, url, len);
    memcpy(out->model, model, strlen(model));
    return GG_OK;
}

/* ---- asking ---- */

static void write_body(const gg_remote *remote, const gg_text *texts, size_t count, size_t bytes,
                       gg_buf *out)
{
    gg_buf_str(out, "{\"model\":");
    gg_buf_json_str(out, remote->model);
    gg_buf_str(out, ",\"encoding_format\":\"float\",\"input\":[");
    for (size_t i = 0; i < count; i++) {
        size_t len = texts[i].len;
        if (len > bytes)
            for (len = bytes; len && INSIDE(texts[i].bytes[len]); len--)
                ;
        gg_buf_str(out, i ? "," : "");
        /* Servers refuse an empty text. */
        gg_buf_json(out, len ? texts[i].bytes : " ", len ? len : 1);
    }
    gg_buf_str(out, "]}");
}

static gg_status write_key(gg_buf *line, gg_error *error)
{
    const char *key = getenv("GUESSGYM_EMBED_API_KEY");
    for (const char *c = key ? key : ""; *c; c++)
        if (iscntrl((unsigned char)*c))
            return gg_fail(error, GG_E_CONFIG, "GUESSGYM_EMBED_API_KEY holds a control character");
    if (key && *key)
        gg_buf_printf(line, "Authorization: Bearer %s", key);
    return gg_buf_status(line, "the embeddings' key", error);
}

/* One attempt. *class is GG_RETRY_OK when `storage` holds a 200's body. */
static gg_status once(const gg_remote *remote, const gg_buf *body, const char *key, gg_buf *storage,
                      gg_retry_class *class, gg_buf *message, gg_error *error)
{
    char url[GG_REMOTE_URL_MAX + 16];
    const char *headers[] = {*key ? key : NULL, NULL};
    gg_http_reply reply;
    (void)snprintf(url, sizeof url, "%s/embeddings", remote->url);
    const gg_http_request request = {.method = "POST",
                                     .url = url,
                                     .headers = headers,
                                     .body = body->data,
                                     .body_len = body->len,
                                     .timeout_ms = GG_REMOTE_WAIT_MS};
    gg_buf_free(storage); /* the call begins it anew */
    gg_buf_reset(message);
    gg_status status = gg_http_call(&request, storage, &reply, error);
    if (status != GG_OK)
        return status;
    *class = gg_retry_classify(&reply, message);
    if (reply.transport != GG_TRANSPORT_OK)
        gg_buf_str(message, message->len ? "" : reply.detail);
    return GG_OK;
}

/* *too_long: the model cannot read as much as was sent. */
static gg_status ask(const gg_remote *remote, const gg_buf *body, gg_buf *storage, bool *too_long,
                     gg_error *error)
{
    gg_buf key, message;
    gg_retry_class class = GG_RETRY_OK;
    gg_buf_init(&key, KEY_MAX);
    gg_buf_init(&message, KEY_MAX);
    gg_status status = write_key(&key, error);
    for (int attempt = 0; status == GG_OK && attempt < GG_REMOTE_ATTEMPTS; attempt++) {
        if (attempt) {
            long ms = (long)BACKOFF_MS << attempt;
            nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
        }
        status = once(remote, body, gg_buf_cstr(&key), storage, &class, &message, error);
        if (class == GG_RETRY_OK || !gg_retry_again(class))
            break;
    }
    *too_long = status == GG_OK && class == GG_RETRY_CONTEXT;
    if (status == GG_OK && class != GG_RETRY_OK)
        status = gg_fail(error, GG_E_UNREACHABLE, "no embeddings from %.200s: %s, %.300s",
                         remote->url, gg_retry_class_name(class), gg_buf_cstr(&message));
    gg_buf_free(&key);
    gg_buf_free(&message);
    return status;
}

/* ---- reading ---- */

static bool read_vector(const cJSON *list, size_t dims, float *out)
{
    double square = 0;
    size_t at = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        double value = item->valuedouble;
        if (!cJSON_IsNumber(item) || !isfinite(value))
            return false;
        out[at++] = (float)value;
        square += value * value;
    }
    double factor = square > 0 && isfinite(square) ? 1 / sqrt(square) : 0;
    for (size_t i = 0; i < dims; i++)
        out[i] = (float)(out[i] * factor);
    return isfinite(square);
}

/* data[].embedding, each at its index. */
static bool read_vectors(const cJSON *data, size_t count, size_t row, size_t *dims, float *out)
{
    const cJSON *item;
    size_t at = 0, read = 0;
    bool seen[GG_REMOTE_BATCH] = {false};
    if (!cJSON_IsArray(data) || (size_t)cJSON_GetArraySize(data) != count)
        return false;
    cJSON_ArrayForEach(item, data)
    {
        int64_t place = (int64_t)at++;
        const cJSON *list = gg_json_get(item, "embedding");
        size_t len = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;
        gg_json_int(item, "index", &place);
        if (place < 0 || (size_t)place >= count || seen[place] || !len || len > row)
            return false;
        *dims = *dims ? *dims : len;
        if (len != *dims || !read_vector(list, len, out + (size_t)place * row))
            return false;
        seen[place] = true;
        read++;
    }
    return read == count;
}

static gg_status read_reply(const gg_remote *remote, const gg_buf *storage, size_t count,
                            size_t row, size_t *dims, float *out, gg_error *error)
{
    cJSON *root = NULL;
    gg_status status = gg_json_parse(storage->data, strlen(storage->data), &root, error);
    if (status == GG_E_MEMORY)
        return status;
    bool good = status == GG_OK && read_vectors(gg_json_get(root, "data"), count, row, dims, out);
    cJSON_Delete(root);
    if (good)
        return GG_OK;
    return gg_fail(error, GG_E_PROTOCOL,
                   "%.200s does not answer with %zu embeddings of one length (%zu numbers)",
                   remote->url, count, *dims);
}

/* One request, with up to `bytes` of each text. */
static gg_status embed(const gg_remote *remote, const gg_text *texts, size_t count, size_t bytes,
                       float *out, size_t row, size_t *dims, bool *too_long, gg_error *error)
{
    gg_buf body, storage;
    memset(out, 0, count * row * sizeof *out);
    gg_buf_init(&body, BODY_MAX);
    gg_buf_init(&storage, 0);
    write_body(remote, texts, count, bytes, &body);
    *too_long = false;
    gg_status status = gg_buf_status(&body, "a request for embeddings", error);
    if (status == GG_OK)
        status = ask(remote, &body, &storage, too_long, error);
    if (status == GG_OK)
        status = read_reply(remote, &storage, count, row, dims, out, error);
    gg_buf_free(&body);
    gg_buf_free(&storage);
    return status;
}

/* Half as much of the text, until the model can read it. */
static gg_status embed_shorter(const gg_remote *remote, const gg_text *text, float *out, size_t row,
                               size_t *dims, gg_error *error)
{
    bool too_long;
    gg_status status;
    size_t bytes = text->len < remote->bytes ? text->len : remote->bytes;
    do {
        status = embed(remote, text, 1, bytes, out, row, dims, &too_long, error);
        bytes /= 2;
    } while (too_long && bytes >= GG_REMOTE_TEXT_MIN);
    return status;
}

gg_status gg_remote_embed(const gg_remote *remote, const gg_text *texts, size_t count, float *out,
                          size_t row, size_t *dims, gg_error *error)
{
    size_t length = remote->dims;
    bool too_long;
    if (!count || count > GG_REMOTE_BATCH)
        return gg_fail(error, GG_E_ARGUMENT, "a request has 1 to %d texts", GG_REMOTE_BATCH);
    gg_status status =
        embed(remote, texts, count, remote->bytes, out, row, &length, &too_long, error);
    if (too_long) { /* each for itself: a vector must not depend on what went with its text */
        status = GG_OK;
        for (size_t i = 0; i < count && status == GG_OK; i++)
            status = embed_shorter(remote, texts + i, out + i * row, row, &length, error);
    }
    if (status == GG_OK && dims)
        *dims = length;
    return status;
}
