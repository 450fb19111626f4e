#include "policy/chooser_schema.h"

#include <string.h>

void gg_chooser_schema_init(gg_chooser_schema *s)
{
    gg_buf_init(&s->text, GG_CHOOSER_TEXT_MAX);
    s->tool_count = s->value_count = 0;
}

void gg_chooser_schema_free(gg_chooser_schema *s)
{
    gg_buf_free(&s->text);
}

const char *gg_chooser_text(const gg_chooser_schema *s, gg_chooser_slice slice)
{
    return gg_buf_cstr(&s->text) + slice.at;
}

static gg_chooser_slice slice_from(const gg_chooser_schema *s, size_t at)
{
    return (gg_chooser_slice){(uint32_t)at, (uint32_t)(s->text.len - at)};
}

/* Which argument is read, for error sentences. */
typedef struct place {
    const char *tool, *argument;
} place;

static gg_status refuse(const place *at, const char *why, gg_error *error)
{
    return gg_fail(error, GG_E_ARGUMENT,
                   "chooser cannot play the tool %.60s: its argument %.60s %s", at->tool,
                   at->argument, why);
}

static bool has_room(const gg_chooser_schema *s, const gg_chooser_argument *a)
{
    return a->count < GG_CHOOSER_VALUES && s->value_count < GG_CHOOSER_TOTAL;
}

static void end_value(gg_chooser_schema *s, gg_chooser_argument *a, size_t from)
{
    s->values[s->value_count++] = slice_from(s, from);
    a->count++;
}

static bool is_scalar(const cJSON *value)
{
    return cJSON_IsString(value) || cJSON_IsNumber(value) || cJSON_IsBool(value);
}

static const char too_many[] = "has too many values; an argument may have 128, all of them 2048";

/* Reasons are sentences for refuse(); NULL = read. */
static const char *read_enum(gg_chooser_schema *s, const cJSON *list, gg_chooser_argument *a)
{
    for (const cJSON *value = list->child; value; value = value->next) {
        if (!is_scalar(value))
            return "has an enum with values other than texts, numbers and booleans";
        if (!has_room(s, a))
            return too_many;
        size_t from = s->text.len;
        gg_buf_cjson(&s->text, value);
        end_value(s, a, from);
    }
    return a->count ? NULL : "has an empty enum";
}

static const char *read_range(gg_chooser_schema *s, const cJSON *schema, gg_chooser_argument *a)
{
    int64_t low, high;
    if (!gg_json_int(schema, "minimum", &low) || !gg_json_int(schema, "maximum", &high))
        return "is a whole number without minimum and maximum";
    if (low > high)
        return "has a minimum above its maximum";
    if (high - low >= GG_CHOOSER_VALUES)
        return too_many;
    for (int64_t value = low; value <= high; value++) {
        if (!has_room(s, a))
            return too_many;
        size_t from = s->text.len;
        gg_buf_int(&s->text, value);
        end_value(s, a, from);
    }
    return NULL;
}

static const char *read_bool(gg_chooser_schema *s, gg_chooser_argument *a)
{
    static const char *const names[] = {"false", "true"};
    for (size_t i = 0; i < 2; i++) {
        if (!has_room(s, a))
            return too_many;
        size_t from = s->text.len;
        gg_buf_str(&s->text, names[i]);
        end_value(s, a, from);
    }
    return NULL;
}

static const char *read_values(gg_chooser_schema *s, const cJSON *schema, gg_chooser_argument *a)
{
    const cJSON *list = gg_json_get(schema, "enum"), *only = gg_json_get(schema, "const");
    const char *type = gg_json_text(schema, "type");
    if (cJSON_IsArray(list))
        return read_enum(s, list, a);
    if (only && is_scalar(only)) {
        size_t from = s->text.len;
        if (!has_room(s, a))
            return too_many;
        gg_buf_cjson(&s->text, only);
        end_value(s, a, from);
        return NULL;
    }
    if (type && strcmp(type, "boolean") == 0)
        return read_bool(s, a);
    if (type && strcmp(type, "integer") == 0)
        return read_range(s, schema, a);
    return "is neither an enum, a boolean nor a whole number with minimum and maximum";
}

static bool is_required(const cJSON *schema, const char *name)
{
    const cJSON *list = gg_json_get(schema, "required");
    for (const cJSON *item = cJSON_IsArray(list) ? list->child : NULL; item; item = item->next)
        if (cJSON_IsString(item) && strcmp(item->valuestring, name) == 0)
            return true;
    return false;
}

static gg_status add_argument(gg_chooser_schema *s, gg_chooser_tool *tool, const cJSON *schema,
                              const cJSON *property, const place *at, gg_error *error)
{
    bool required = is_required(schema, at->argument);
    size_t from = s->text.len, values = s->value_count;
    const char *why = "is one too many; a tool may have 16";
    if (tool->argument_count < GG_CHOOSER_ARGUMENTS) {
        gg_chooser_argument *a = &tool->arguments[tool->argument_count];
        gg_buf_json_str(&s->text, at->argument);
        *a = (gg_chooser_argument){.name = slice_from(s, from), .first = (uint32_t)values};
        why = read_values(s, property, a);
    }
    if (!why) {
        tool->argument_count++;
        return GG_OK;
    }
    gg_buf_truncate(&s->text, from);
    s->value_count = values;
    return required ? refuse(at, why, error) : GG_OK;
}

static gg_status add_arguments(gg_chooser_schema *s, gg_chooser_tool *tool, const cJSON *schema,
                               const char *name, gg_error *error)
{
    gg_status status = GG_OK;
    const cJSON *properties = gg_json_get(schema, "properties"),
                *required = gg_json_get(schema, "required");
    const cJSON *property = cJSON_IsObject(properties) ? properties->child : NULL;
    for (; status == GG_OK && property; property = property->next) {
        const place at = {name, property->string};
        status = add_argument(s, tool, schema, property, &at, error);
    }
    const cJSON *item = cJSON_IsArray(required) ? required->child : NULL;
    for (; status == GG_OK && item; item = item->next) {
        const place at = {name, cJSON_IsString(item) ? item->valuestring : "?"};
        if (!gg_json_get(properties, at.argument))
            status = refuse(&at, "is required but not described", error);
    }
    return status;
}

gg_status gg_chooser_schema_add(gg_chooser_schema *s, const char *name, const char *parameters,
                                size_t len, gg_error *error)
{
    cJSON *schema = NULL;
    gg_status status = GG_OK;
    if (s->tool_count == GG_CHOOSER_TOOLS)
        return gg_fail(error, GG_E_ARGUMENT, "chooser can choose among %d tools, there are more",
                       GG_CHOOSER_TOOLS);
    gg_chooser_tool *tool = &s->tools[s->tool_count];
    size_t from = s->text.len;
    gg_buf_str(&s->text, name);
    *tool = (gg_chooser_tool){.name = slice_from(s, from)};
    if (len && gg_json_parse(parameters, len, &schema, NULL) != GG_OK)
        return gg_fail(error, GG_E_ARGUMENT,
                       "chooser cannot play the tool %.60s: its parameters are no JSON", name);
    if (schema)
        status = add_arguments(s, tool, schema, name, error);
    cJSON_Delete(schema);
    if (status == GG_OK)
        status = gg_buf_status(&s->text, "the tools' names and values", error);
    s->tool_count += status == GG_OK;
    return status;
}
