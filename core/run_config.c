#include "core/run_inside.h"
#include "core/file.h"
#include "core/json.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NAME      "run.json"
#define KEYS_MAX  4096 /* bytes of the list of changed keys; the sentence is shorter still */
#define VALUE_MAX 60   /* bytes shown of one value */

gg_status gg_run_read_config(gg_run *run, gg_error *error)
{
    gg_buf path;
    gg_buf_reset(&run->config);
    gg_status status = gg_run_path(run, NAME, &path, error);
    if (status == GG_OK && !(access(path.data, F_OK) != 0 && errno == ENOENT))
        status = gg_file_read(path.data, &run->config, error);
    gg_buf_free(&path);
    return status;
}

/* The member "config" of run.json or of nothing. */
static gg_status parse_config(const gg_run *run, cJSON **root, const cJSON **config,
                              gg_error *error)
{
    gg_status status = gg_json_parse(gg_buf_cstr(&run->config), run->config.len, root, error);
    if (status != GG_OK) {
        gg_fail_prefix(error, "%s/" NAME, run->dir);
        return status;
    }
    *config = gg_json_get(*root, "config");
    if (cJSON_IsObject(*config))
        return GG_OK;
    cJSON_Delete(*root);
    *root = NULL;
    return gg_fail(error, GG_E_FORMAT, "%s/" NAME " has no object \"config\"", run->dir);
}

gg_status gg_run_write_config(gg_run *run, const char *config, gg_error *error)
{
    gg_buf_reset(&run->config);
    gg_buf_str(&run->config,
               "{\"schema\":\"" GG_RUN_SCHEMA "\",\"version\":\"" GG_VERSION "\",\"config\":");
    if (config[strspn(config, " \t\r\n")] != '{' ||
        !gg_buf_json_text(&run->config, config, strlen(config)))
        return gg_fail(error, GG_E_ARGUMENT, "the configuration of a run must be a JSON object");
    gg_buf_str(&run->config, "}\n");
    gg_status status = gg_buf_status(&run->config, "a run's configuration", error);
    if (status != GG_OK)
        return status;
    return gg_run_write_file(run, NAME, run->config.data, run->config.len, error);
}

static void add_value(gg_buf *keys, const cJSON *value)
{
    gg_buf text;
    gg_buf_init(&text, GG_FILE_MAX);
    if (value)
        gg_buf_cjson(&text, value);
    else
        gg_buf_str(&text, "not given");
    gg_buf_add(keys, gg_buf_cstr(&text), text.len > VALUE_MAX ? VALUE_MAX : text.len);
    if (text.len > VALUE_MAX)
        gg_buf_str(keys, "...");
    gg_buf_free(&text);
}

static void add_key(gg_buf *keys, const char *path, const cJSON *was, const cJSON *now)
{
    if (keys->len)
        gg_buf_str(keys, ", ");
    gg_buf_printf(keys, "%s (was ", path);
    add_value(keys, was);
    gg_buf_str(keys, ", now ");
    add_value(keys, now);
    gg_buf_char(keys, ')');
}

static void compare(gg_buf *keys, gg_buf *path, const cJSON *was, const cJSON *now);

/* The members of one object against those of another; those found in both only when `both`. */
static void compare_members(gg_buf *keys, gg_buf *path, const cJSON *of, const cJSON *with,
                            bool both)
{
    for (const cJSON *member = of->child; member; member = member->next) {
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(with, member->string);
        size_t start = path->len;
        gg_buf_printf(path, start ? ".%s" : "%s", member->string);
        if (both)
            compare(keys, path, member, other);
        else if (!other)
            compare(keys, path, NULL, member);
        gg_buf_truncate(path, start);
    }
}

/* Absent and null are the same. */
static void compare(gg_buf *keys, gg_buf *path, const cJSON *was, const cJSON *now)
{
    if (cJSON_IsNull(was))
        was = NULL;
    if (cJSON_IsNull(now))
        now = NULL;
    if (was && now && cJSON_IsObject(was) && cJSON_IsObject(now)) {
        compare_members(keys, path, was, now, true);
        compare_members(keys, path, now, was, false);
    } else if ((was || now) && !(was && now && cJSON_Compare(was, now, true))) {
        add_key(keys, gg_buf_cstr(path), was, now);
    }
}

gg_status gg_run_same_config(const gg_run *run, const char *config, gg_error *error)
{
    cJSON *root, *now = NULL;
    const cJSON *was;
    gg_buf keys, path;
    gg_status status = parse_config(run, &root, &was, error);
    if (status != GG_OK)
        return status;
    gg_buf_init(&keys, KEYS_MAX);
    gg_buf_init(&path, KEYS_MAX);
    status = gg_json_parse(config, strlen(config), &now, error);
    if (status == GG_OK) {
        compare(&keys, &path, was, now);
        if (keys.status == GG_E_MEMORY || path.status == GG_E_MEMORY)
            status = gg_fail(error, GG_E_MEMORY, "out of memory while reading a configuration");
        else if (keys.len)
            status = gg_fail(error, GG_E_CONFIG,
                             "the configuration of %s has changed, so it cannot be resumed: %s",
                             run->dir, keys.data);
    }
    cJSON_Delete(root);
    cJSON_Delete(now);
    gg_buf_free(&keys);
    gg_buf_free(&path);
    return status;
}
