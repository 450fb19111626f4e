#include "service/store_inside.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/file.h"
#include "service/names.h"

#define FILE_SCHEME "file://"
#define PATH_BYTES  4096
#define DEPTH_MAX   32

/* ---- opening ---- */

static char *copy(const char *text, bool *fine)
{
    char *out = text ? strdup(text) : NULL;
    *fine = *fine && (out || !text);
    return out;
}

gg_status gg_store_open(const gg_store_options *options, gg_store **out, gg_error *error)
{
    bool fine = true;
    gg_store *store = calloc(1, sizeof *store);
    *out = NULL;
    if (!store)
        return gg_fail(error, GG_E_MEMORY, "out of memory for the object store");
    store->root = copy(options->root, &fine);
    store->endpoint = copy(options->endpoint, &fine);
    store->region = copy(options->region, &fine);
    store->key_id = copy(options->key_id, &fine);
    store->secret = copy(options->secret, &fine);
    store->token = copy(options->token, &fine);
    size_t len = store->endpoint ? strlen(store->endpoint) : 0;
    while (len && store->endpoint[len - 1] == '/')
        store->endpoint[--len] = '\0';
    if (fine) {
        *out = store;
        return GG_OK;
    }
    gg_store_close(store);
    return gg_fail(error, GG_E_MEMORY, "out of memory for the object store");
}

void gg_store_close(gg_store *store)
{
    if (!store)
        return;
    free(store->root);
    free(store->endpoint);
    free(store->region);
    free(store->key_id);
    free(store->secret);
    free(store->token);
    free(store);
}

/* ---- addresses ---- */

static bool is_file(const char *uri)
{
    return uri && strncmp(uri, FILE_SCHEME, strlen(FILE_SCHEME)) == 0;
}

bool gg_store_is_uri(const char *uri)
{
    return is_file(uri) ? uri[strlen(FILE_SCHEME)] == '/' && strlen(uri) < GG_STORE_URI_MAX
                        : gg_text_is(uri, GG_TEXT_S3_URI);
}

/* The file behind an address that lies in the file system. */
static gg_status local_path(const gg_store *store, const char *uri, gg_buf *path, gg_error *error)
{
    gg_buf_init(path, PATH_BYTES);
    if (!is_file(uri))
        return gg_s3_local(store->root, uri, path, error);
    if (uri[strlen(FILE_SCHEME)] != '/')
        return gg_fail(error, GG_E_ARGUMENT, "%.200s is no address of a file; write file:///PATH",
                       uri);
    gg_buf_str(path, uri + strlen(FILE_SCHEME));
    return gg_buf_status(path, "a path", error);
}

static bool is_remote(const gg_store *store, const char *uri)
{
    return store->endpoint && !is_file(uri);
}

static gg_status check(const char *uri, gg_error *error)
{
    return gg_store_is_uri(uri)
               ? GG_OK
               : gg_fail(error, GG_E_ARGUMENT, "%.200s is neither s3://BUCKET/KEY nor file:///PATH",
                         uri ? uri : "(none)");
}

/* ---- reading and writing ---- */

gg_status gg_store_read(const gg_store *store, const char *uri, gg_buf *out, gg_error *error)
{
    gg_buf path = {0};
    gg_status status = check(uri, error);
    if (status == GG_OK && is_remote(store, uri))
        return gg_s3_get(store, uri, out, error);
    if (status == GG_OK)
        status = local_path(store, uri, &path, error);
    if (status == GG_OK)
        status = gg_file_read(path.data, out, error);
    gg_buf_free(&path);
    return status;
}

static gg_status write_local(const gg_store *store, const char *uri, const char *bytes, size_t len,
                             gg_error *error)
{
    gg_buf path;
    gg_status status = local_path(store, uri, &path, error);
    char *slash = status == GG_OK ? strrchr(path.data, '/') : NULL;
    if (slash && slash != path.data) {
        *slash = '\0';
        status = gg_dir_make(path.data, error);
        *slash = '/';
    }
    if (status == GG_OK)
        status = gg_file_write(path.data, bytes, len, error);
    gg_buf_free(&path);
    return status;
}

gg_status gg_store_write(const gg_store *store, const char *uri, const char *bytes, size_t len,
                         gg_error *error)
{
    gg_status status = check(uri, error);
    if (status != GG_OK)
        return status;
    return is_remote(store, uri) ? gg_s3_put(store, uri, bytes, len, error)
                                 : write_local(store, uri, bytes, len, error);
}

/* ---- finding ---- */

gg_status gg_store_push(gg_store_list *list, const char *uri, gg_error *error)
{
    if (list->count == GG_STORE_LISTED)
        return gg_fail(error, GG_E_LIMIT, "more than %d objects lie there; name fewer",
                       GG_STORE_LISTED);
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 16;
        char **uris = realloc(list->uris, room * sizeof *uris);
        if (!uris)
            return gg_fail(error, GG_E_MEMORY, "out of memory for a list of objects");
        list->uris = uris;
        list->room = room;
    }
    char *text = strdup(uri);
    if (!text)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a list of objects");
    list->uris[list->count++] = text;
    return GG_OK;
}

void gg_store_list_free(gg_store_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->uris[i]);
    free(list->uris);
    *list = (gg_store_list){0};
}

static gg_status walk(const char *folder, const char *uri, int depth, gg_store_list *out,
                      gg_error *error);

static gg_status walk_one(const char *folder, const char *uri, const char *name, int depth,
                          gg_store_list *out, gg_error *error)
{
    char path[PATH_BYTES], address[PATH_BYTES];
    struct stat info;
    size_t len = strlen(uri);
    const char *slash = len && uri[len - 1] == '/' ? "" : "/";
    bool fits =
        (size_t)snprintf(path, sizeof path, "%s/%s", folder, name) < sizeof path &&
        (size_t)snprintf(address, sizeof address, "%s%s%s", uri, slash, name) < sizeof address;
    if (!fits || name[0] == '.' || stat(path, &info) != 0)
        return GG_OK;
    if (S_ISDIR(info.st_mode))
        return depth < DEPTH_MAX ? walk(path, address, depth + 1, out, error) : GG_OK;
    return S_ISREG(info.st_mode) ? gg_store_push(out, address, error) : GG_OK;
}

static gg_status walk(const char *folder, const char *uri, int depth, gg_store_list *out,
                      gg_error *error)
{
    struct dirent *entry;
    gg_status status = GG_OK;
    DIR *dir = opendir(folder);
    if (!dir)
        return errno == ENOENT || errno == ENOTDIR
                   ? GG_OK
                   : gg_fail(error, GG_E_IO, "cannot read %s: %s", folder, strerror(errno));
    while (status == GG_OK && (entry = readdir(dir)))
        status = walk_one(folder, uri, entry->d_name, depth, out, error);
    closedir(dir);
    return status;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static gg_status find_local(const gg_store *store, const char *prefix, gg_store_list *out,
                            gg_error *error)
{
    gg_buf path;
    struct stat info;
    gg_status status = local_path(store, prefix, &path, error);
    if (status == GG_OK && stat(path.data, &info) == 0 && S_ISREG(info.st_mode))
        status = gg_store_push(out, prefix, error);
    else if (status == GG_OK)
        status = walk(path.data, prefix, 0, out, error);
    gg_buf_free(&path);
    return status;
}

gg_status gg_store_find(const gg_store *store, const char *prefix, gg_store_list *out,
                        gg_error *error)
{
    *out = (gg_store_list){0};
    gg_status status = check(prefix, error);
    if (status == GG_OK)
        status = is_remote(store, prefix) ? gg_s3_find(store, prefix, out, error)
                                          : find_local(store, prefix, out, error);
    if (status != GG_OK)
        gg_store_list_free(out);
    else if (out->count)
        qsort(out->uris, out->count, sizeof *out->uris, by_text);
    return status;
}
