/* Options in JSON: --config FILE and run.json. */
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

#include "cli/option_store.h"
#include "core/json.h"
#include "core/near.h"

#define KEY_ROOM   96
#define WHERE_ROOM 512
#define VALUE_MAX  (1u << 16)

/* What run.json holds besides options. */
static const char *const bookkeeping[] = {
    "schema",   "version",       "command", "started",        "list",
    "val_list", "held_out_list", "game",    "adapter_sha256", "system_prompt_text"};

static bool is_bookkeeping(const char *key)
{
    for (size_t i = 0; i < sizeof bookkeeping / sizeof *bookkeeping; i++)
        if (strcmp(key, bookkeeping[i]) == 0)
            return true;
    return false;
}

static void swap_char(char *text, char from, char to)
{
    for (; *text; text++)
        if (*text == from)
            *text = to;
}

/* This command's option of that key, else any command's; GG_OPT_COUNT when none has it. */
static gg_opt_id find_key(gg_cmd_id command, const char *key)
{
    char name[KEY_ROOM];

    snprintf(name, sizeof name, "%s", key);
    swap_char(name, '_', '-');
    gg_opt_id id = gg_opt_named(command, name, strlen(name));
    for (int other = 0; id == GG_OPT_COUNT && other < GG_CMD_COUNT; other++)
        id = gg_opt_named((gg_cmd_id)other, name, strlen(name));
    return id;
}

static gg_status unknown_key(const char *key, const char *where, gg_error *error)
{
    char names[GG_OPT_COUNT][KEY_ROOM];
    const char *list[GG_OPT_COUNT];

    for (int id = 0; id < GG_OPT_COUNT; id++) {
        snprintf(names[id], KEY_ROOM, "%s", gg_opt_row((gg_opt_id)id)->name);
        swap_char(names[id], '-', '_');
        list[id] = names[id];
    }
    const char *near = gg_near_miss(key, list, GG_OPT_COUNT);
    return gg_fail(error, GG_E_CONFIG,
                   near ? "%s: unknown key \"%s\"; did you mean \"%s\"?" : "%s: unknown key \"%s\"",
                   where, key, near);
}

/* A scalar as the text a user would have typed; false for anything else. */
static bool scalar_text(const cJSON *value, gg_buf *out)
{
    if (cJSON_IsString(value))
        gg_buf_str(out, value->valuestring);
    else if (cJSON_IsBool(value))
        gg_buf_str(out, cJSON_IsTrue(value) ? "true" : "false");
    else if (cJSON_IsNumber(value))
        gg_buf_double(out, value->valuedouble);
    return !cJSON_IsArray(value) && !cJSON_IsObject(value);
}

static gg_status store_pairs(gg_opts *opts, gg_opt_id id, const cJSON *object, gg_source source,
                             const char *where, gg_buf *text, gg_error *error)
{
    const cJSON *member = NULL;
    gg_status status = GG_OK;

    if (!cJSON_IsObject(object))
        return gg_fail(error, GG_E_CONFIG, "%s should be an object of settings", where);
    cJSON_ArrayForEach(member, object)
    {
        gg_buf_reset(text);
        gg_buf_printf(text, "%s=", member->string);
        if (!scalar_text(member, text))
            return gg_fail(error, GG_E_CONFIG, "%s.%s is neither text nor number nor true or false",
                           where, member->string);
        if (status == GG_OK)
            status = gg_opt_store(opts, id, gg_buf_cstr(text), source, where, error);
    }
    return status;
}

static gg_status store_member(gg_opts *opts, const cJSON *member, gg_source source,
                              const char *where, gg_buf *text, gg_error *error)
{
    char place[WHERE_ROOM];

    if (cJSON_IsNull(member) || is_bookkeeping(member->string))
        return GG_OK;
    gg_opt_id id = find_key(opts->command, member->string);
    if (id == GG_OPT_COUNT)
        return unknown_key(member->string, where, error);
    snprintf(place, sizeof place, "%s: %s", where, member->string);
    if (gg_opt_row(id)->traits & GG_OPT_FLAG_ONLY)
        return gg_fail(error, GG_E_CONFIG, "%s works on the command line only", place);
    if (!gg_opt_taken_by(id, opts->command))
        return GG_OK;
    if (gg_opt_row(id)->type == GG_VALUE_PAIRS)
        return store_pairs(opts, id, member, source, place, text, error);
    gg_buf_reset(text);
    if (!scalar_text(member, text))
        return gg_fail(error, GG_E_CONFIG, "%s is neither text nor number nor true or false",
                       place);
    return gg_opt_store(opts, id, gg_buf_cstr(text), source, place, error);
}

gg_status gg_opts_read_json(gg_opts *opts, const char *text, size_t len, gg_source source,
                            const char *where, gg_error *error)
{
    cJSON *root = NULL;
    gg_buf value;

    gg_status status = gg_json_parse(text, len, &root, error);
    if (status != GG_OK)
        return gg_fail_prefix(error, "%s", where);
    const cJSON *options = gg_json_get(root, "config");
    if (!options)
        options = root;
    gg_buf_init(&value, VALUE_MAX);
    if (!cJSON_IsObject(options))
        status = gg_fail(error, GG_E_CONFIG, "%s should be a JSON object of options", where);
    const cJSON *member = NULL;
    cJSON_ArrayForEach(member, options)
    {
        if (status == GG_OK)
            status = store_member(opts, member, source, where, &value, error);
    }
    gg_buf_free(&value);
    cJSON_Delete(root);
    return status;
}

static void write_pair(gg_buf *out, bool *first, const char *name, const char *value)
{
    gg_buf_char(out, *first ? '{' : ',');
    gg_buf_json_str(out, name);
    gg_buf_char(out, ':');
    gg_buf_json_str(out, value);
    *first = false;
}

/* A short form that was set wins over the same --env-set key. */
static bool has_short_form(const gg_opts *opts, const char *key)
{
    gg_opt_id id = gg_opt_named(opts->command, key, strlen(key));
    return id != GG_OPT_COUNT && (gg_opt_row(id)->traits & GG_OPT_SETTING) && opts->values[id].text;
}

bool gg_opts_settings(const gg_opts *opts, gg_buf *out)
{
    bool first = true;

    for (size_t i = 0; i < opts->pair_count; i++)
        if (!has_short_form(opts, opts->pairs[i].key))
            write_pair(out, &first, opts->pairs[i].key, opts->pairs[i].value);
    for (int id = 0; id < GG_OPT_COUNT; id++)
        if ((gg_opt_row((gg_opt_id)id)->traits & GG_OPT_SETTING) && opts->values[id].text)
            write_pair(out, &first, gg_opt_row((gg_opt_id)id)->name, opts->values[id].text);
    if (!first)
        gg_buf_char(out, '}');
    return !first;
}

static void write_value(gg_buf *out, const gg_opt *row, const gg_opt_value *value)
{
    if (row->type == GG_VALUE_INT)
        gg_buf_int(out, value->integer);
    else if (row->type == GG_VALUE_REAL)
        gg_buf_double(out, value->real);
    else if (row->type == GG_VALUE_FLAG)
        gg_buf_str(out, value->flag ? "true" : "false");
    else
        gg_buf_json_str(out, value->text);
}

static bool is_in(gg_opt_id id, const gg_opt_id *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

void gg_opts_write_run(const gg_opts *opts, const gg_opt_id *but, size_t but_count, gg_buf *out)
{
    for (int id = 0; id < GG_OPT_COUNT; id++) {
        const gg_opt *row = gg_opt_row((gg_opt_id)id);
        char key[KEY_ROOM];
        snprintf(key, sizeof key, "%s", row->name);
        swap_char(key, '-', '_');
        if (!(row->traits & GG_OPT_OF_RUN) || !opts->values[id].text ||
            is_in((gg_opt_id)id, but, but_count))
            continue;
        gg_buf_printf(out, ",\"%s\":", key);
        write_value(out, row, &opts->values[id]);
    }
    bool first = true;
    if (opts->pair_count > 0)
        gg_buf_str(out, ",\"env_set\":");
    for (size_t i = 0; i < opts->pair_count; i++)
        write_pair(out, &first, opts->pairs[i].key, opts->pairs[i].value);
    if (opts->pair_count > 0)
        gg_buf_char(out, '}');
}
