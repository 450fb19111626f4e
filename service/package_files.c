#include "service/package_files.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/json.h"

#define FOLDER     "packages"
#define GROUP_FILE "group.json"
#define SUFFIX     ".json"

void gg_package_free(gg_package *package)
{
    if (!package)
        return;
    free(package->description);
    free(package->s3_uri);
    free(package->base_id);
    free(package->base_version);
    free(package);
}

/* NULL stays NULL; *fine becomes false when memory is short. */
static char *copy(const char *text, bool *fine)
{
    char *out = text ? strdup(text) : NULL;
    *fine = *fine && (out || !text);
    return out;
}

gg_package *gg_package_new(const gg_package_save *save, int64_t version, double created)
{
    bool fine = true;
    gg_package *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    snprintf(k->group, sizeof k->group, "%s", save->group);
    snprintf(k->arn, sizeof k->arn, "arn:aws:sagemaker:%s:%s:model-package/%s/%" PRId64,
             save->region, save->account, save->group, version);
    k->version = version;
    k->created = created;
    k->checkpoint = save->optimizer != NULL;
    k->description = copy(save->description, &fine);
    k->base_id = copy(save->base_id ? save->base_id : "", &fine);
    k->base_version = copy(save->base_version ? save->base_version : "", &fine);
    if (fine)
        return k;
    gg_package_free(k);
    return NULL;
}

gg_status gg_package_set_uri(gg_package *package, const char *path, const char *session,
                             gg_error *error)
{
    gg_buf uri;
    size_t len = strlen(path);
    gg_buf_init(&uri, 2 * GG_S3_PATH_MAX);
    while (len && path[len - 1] == '/')
        len--;
    gg_buf_add(&uri, path, len);
    gg_buf_printf(&uri, "/%s/%s-%" PRId64 "/", session, package->group, package->version);
    gg_status status = gg_buf_status(&uri, "a model package's S3 address", error);
    if (status == GG_OK && !(package->s3_uri = gg_buf_take(&uri)))
        status = gg_fail(error, GG_E_MEMORY, "out of memory for a model package");
    gg_buf_free(&uri);
    return status;
}

/* ---- in the store ---- */

static gg_status write_object(const gg_store *store, const gg_package *package, const char *name,
                              const char *text, size_t len, gg_error *error)
{
    gg_buf uri;
    gg_buf_init(&uri, 3 * GG_S3_PATH_MAX);
    gg_buf_printf(&uri, "%s%s", package->s3_uri, name);
    gg_status status = gg_buf_status(&uri, "an address", error);
    if (status == GG_OK)
        status = gg_store_write(store, uri.data, text, len, error);
    gg_buf_free(&uri);
    return status;
}

gg_status gg_package_files_write(const gg_store *store, const gg_package *package,
                                 const gg_package_save *save, gg_error *error)
{
    gg_buf text;
    gg_buf_init(&text, GG_PACKAGE_FILE_MAX);
    gg_status status = gg_adapter_write(save->adapter, save->policy, &text, error);
    if (status == GG_OK)
        status = write_object(store, package, GG_ADAPTER_FILE, text.data, text.len, error);
    if (status == GG_OK && save->optimizer)
        status = write_object(store, package, GG_OPTIMIZER_FILE, save->optimizer,
                              save->optimizer_len, error);
    gg_buf_free(&text);
    return status;
}

/* ---- in the state folder ---- */

static gg_status group_folder(const char *state_dir, const char *group, gg_buf *out,
                              gg_error *error)
{
    gg_buf_init(out, strlen(state_dir) + 2 * GG_NAME_MAX + sizeof FOLDER + 8);
    gg_buf_printf(out, "%s/" FOLDER "/%s/", state_dir, group);
    return gg_buf_status(out, "a path", error);
}

static gg_status write_beside(const gg_buf *folder, const char *name, const char *text, size_t len,
                              gg_error *error)
{
    gg_buf path;
    gg_buf_init(&path, folder->len + 64);
    gg_buf_add(&path, folder->data, folder->len);
    gg_buf_str(&path, name);
    gg_status status = gg_buf_status(&path, "a path", error);
    if (status == GG_OK)
        status = gg_file_write(path.data, text, len, error);
    gg_buf_free(&path);
    return status;
}

static gg_status write_in_group(const char *state_dir, const char *group, const char *name,
                                const gg_buf *text, gg_error *error)
{
    gg_buf folder;
    gg_status status = group_folder(state_dir, group, &folder, error);
    if (status == GG_OK)
        status = gg_dir_make(folder.data, error);
    if (status == GG_OK)
        status = gg_buf_status(text, name, error);
    if (status == GG_OK)
        status = write_beside(&folder, name, text->data, text->len, error);
    gg_buf_free(&folder);
    return status;
}

gg_status gg_group_file_write(const char *state_dir, const char *name, const char *arn,
                              const char *description, double created, gg_error *error)
{
    gg_buf text;
    gg_buf_init(&text, GG_PACKAGE_FILE_MAX);
    gg_buf_str(&text, "{\"name\":");
    gg_buf_json_str(&text, name);
    gg_buf_str(&text, ",\"arn\":");
    gg_buf_json_str(&text, arn);
    gg_buf_str(&text, ",\"description\":");
    gg_buf_json_str(&text, description);
    gg_buf_str(&text, ",\"created\":");
    gg_buf_double(&text, created);
    gg_buf_str(&text, "}\n");
    gg_status status = write_in_group(state_dir, name, GROUP_FILE, &text, error);
    gg_buf_free(&text);
    return status;
}

static void package_name(const gg_package *package, char out[32])
{
    snprintf(out, 32, "%" PRId64 SUFFIX, package->version);
}

gg_status gg_package_file_write(const char *state_dir, const gg_package *k, gg_error *error)
{
    const char *const texts[][2] = {{"arn", k->arn},
                                    {"description", k->description},
                                    {"s3_uri", k->s3_uri},
                                    {"base_id", k->base_id},
                                    {"base_version", k->base_version}};
    gg_buf text;
    char name[32];
    gg_buf_init(&text, GG_PACKAGE_FILE_MAX);
    gg_buf_printf(&text, "{\"version\":%" PRId64 ",\"checkpoint\":%s,\"created\":", k->version,
                  k->checkpoint ? "true" : "false");
    gg_buf_double(&text, k->created);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        gg_buf_printf(&text, ",\"%s\":", texts[i][0]);
        gg_buf_json_str(&text, texts[i][1]);
    }
    gg_buf_str(&text, "}\n");
    package_name(k, name);
    gg_status status = write_in_group(state_dir, k->group, name, &text, error);
    gg_buf_free(&text);
    return status;
}

void gg_package_file_remove(const char *state_dir, const gg_package *package)
{
    gg_buf path;
    char name[32];
    package_name(package, name);
    if (group_folder(state_dir, package->group, &path, NULL) == GG_OK) {
        path.maximum += sizeof name;
        gg_buf_str(&path, name);
        if (path.status == GG_OK)
            unlink(path.data);
    }
    gg_buf_free(&path);
}

/* ---- reading ---- */

static gg_status read_json(const char *folder, const char *name, cJSON **out, gg_error *error)
{
    gg_buf path, text;
    gg_buf_init(&path, strlen(folder) + strlen(name) + 2);
    gg_buf_init(&text, GG_PACKAGE_FILE_MAX);
    gg_buf_printf(&path, "%s/%s", folder, name);
    gg_status status = gg_buf_status(&path, "a path", error);
    if (status == GG_OK)
        status = gg_file_read(path.data, &text, error);
    if (status == GG_OK)
        status = gg_json_parse(gg_buf_cstr(&text), text.len, out, error);
    if (status == GG_E_FORMAT)
        status = gg_fail(error, GG_E_FORMAT, "%s is damaged; remove it and what belongs to it",
                         path.data);
    gg_buf_free(&path);
    gg_buf_free(&text);
    return status;
}

static gg_status read_group(const char *folder, const char *name, const gg_package_reader *reader,
                            gg_error *error)
{
    cJSON *root = NULL;
    double created = 0;
    gg_status status = read_json(folder, GROUP_FILE, &root, error);
    if (status != GG_OK)
        return status;
    const char *arn = gg_json_text(root, "arn");
    gg_json_number(root, "created", &created);
    if (arn)
        status = reader->group(reader->context, name, arn, gg_json_text(root, "description"),
                               created, error);
    else
        status = gg_fail(error, GG_E_FORMAT, "%s/" GROUP_FILE " is damaged", folder);
    cJSON_Delete(root);
    return status;
}

static gg_status package_of(const cJSON *root, const char *group, gg_package **out, gg_error *error)
{
    bool memory = true;
    const char *arn = gg_json_text(root, "arn");
    gg_package *k = *out = calloc(1, sizeof *k);
    if (!k)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a model package");
    snprintf(k->arn, sizeof k->arn, "%.*s", GG_PACKAGE_ARN_MAX, arn ? arn : "");
    snprintf(k->group, sizeof k->group, "%.*s", GG_NAME_MAX, group);
    k->description = copy(gg_json_text(root, "description"), &memory);
    k->s3_uri = copy(gg_json_text(root, "s3_uri"), &memory);
    k->base_id = copy(gg_json_text(root, "base_id"), &memory);
    k->base_version = copy(gg_json_text(root, "base_version"), &memory);
    if (memory && arn && k->s3_uri && k->base_id && k->base_version &&
        gg_json_int(root, "version", &k->version) &&
        gg_json_bool(root, "checkpoint", &k->checkpoint) &&
        gg_json_number(root, "created", &k->created))
        return GG_OK;
    gg_package_free(k);
    return memory ? gg_fail(error, GG_E_FORMAT, "damaged; remove it")
                  : gg_fail(error, GG_E_MEMORY, "out of memory for a model package");
}

static gg_status read_package(const char *folder, const char *group, const char *name,
                              const gg_package_reader *reader, gg_error *error)
{
    cJSON *root = NULL;
    gg_status status = read_json(folder, name, &root, error);
    if (status != GG_OK)
        return status;
    gg_package *package;
    status = package_of(root, group, &package, error);
    cJSON_Delete(root);
    return status == GG_OK ? reader->package(reader->context, package, error)
                           : gg_fail_prefix(error, "%s/%s", folder, name);
}

static bool is_package_file(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    return digits > 0 && strcmp(name + digits, SUFFIX) == 0;
}

static gg_status read_group_folder(const char *root, const char *name,
                                   const gg_package_reader *reader, gg_error *error)
{
    gg_buf folder, file;
    struct dirent *entry;
    gg_buf_init(&folder, strlen(root) + strlen(name) + 2);
    gg_buf_init(&file, folder.maximum + sizeof GROUP_FILE + 2);
    gg_buf_printf(&folder, "%s/%s", root, name);
    gg_buf_printf(&file, "%s/%s/" GROUP_FILE, root, name);
    gg_status status = gg_buf_status(&folder, "a path", error);
    if (status == GG_OK)
        status = gg_buf_status(&file, "a path", error);
    /* The group's file is written before any package's: without it the folder is what a kill left.
     */
    bool whole = status == GG_OK && access(file.data, F_OK) == 0;
    if (whole)
        status = read_group(folder.data, name, reader, error);
    DIR *dir = whole && status == GG_OK ? opendir(folder.data) : NULL;
    while (dir && status == GG_OK && (entry = readdir(dir)))
        if (is_package_file(entry->d_name))
            status = read_package(folder.data, name, entry->d_name, reader, error);
    if (dir)
        closedir(dir);
    gg_buf_free(&folder);
    gg_buf_free(&file);
    return status;
}

gg_status gg_package_files_read(const char *state_dir, const gg_package_reader *reader,
                                gg_error *error)
{
    gg_buf root;
    struct dirent *entry;
    gg_buf_init(&root, strlen(state_dir) + sizeof FOLDER + 2);
    gg_buf_printf(&root, "%s/" FOLDER, state_dir);
    gg_status status = gg_buf_status(&root, "a path", error);
    DIR *dir = status == GG_OK ? opendir(root.data) : NULL;
    if (status == GG_OK && !dir && errno != ENOENT)
        status = gg_fail(error, GG_E_IO, "cannot read %s: %s", root.data, strerror(errno));
    while (dir && status == GG_OK && (entry = readdir(dir)))
        if (gg_text_is(entry->d_name, GG_TEXT_NAME))
            status = read_group_folder(root.data, entry->d_name, reader, error);
    if (dir)
        closedir(dir);
    gg_buf_free(&root);
    return status;
}
