/* The tools of an environment, and thoughts inside content (agent/toolcall.h). */
#include "agent/toolcall.h"

#include <stdlib.h>
#include <string.h>

#include "agent/cursor.h"
#include "core/json.h"

struct gg_tools {
    cJSON *list;
    size_t count;
    struct tool {
        const char *name; /* inside `list`, as the function is */
        const cJSON *function;
    } * tools;
};

void gg_tools_free(gg_tools *tools)
{
    if (!tools)
        return;
    cJSON_Delete(tools->list);
    free(tools->tools);
    free(tools);
}

static gg_status index_functions(gg_tools *tools, gg_error *error)
{
    int size = cJSON_GetArraySize(tools->list);
    tools->tools = calloc((size_t)size + 1, sizeof *tools->tools);
    if (!tools->tools)
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading tools");
    const cJSON *tool;
    cJSON_ArrayForEach(tool, tools->list)
    {
        const cJSON *function = gg_json_get(tool, "function");
        const char *name = gg_json_text(function, "name");
        if (!name)
            return gg_fail(error, GG_E_CONFIG, "tool %zu of the environment has no function.name",
                           tools->count);
        tools->tools[tools->count++] = (struct tool){name, function};
    }
    return GG_OK;
}

gg_status gg_tools_make(const char *json, gg_tools **out, gg_error *error)
{
    gg_tools *tools = calloc(1, sizeof *tools);
    *out = NULL;
    if (!tools)
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading tools");
    gg_status status = gg_json_parse(json, strlen(json), &tools->list, error);
    if (status == GG_OK)
        status = index_functions(tools, error);
    if (status != GG_OK) {
        gg_tools_free(tools);
        return status;
    }
    *out = tools;
    return GG_OK;
}

size_t gg_tools_count(const gg_tools *tools)
{
    return tools->count;
}

const char *gg_tools_name(const gg_tools *tools, size_t index)
{
    return tools->tools[index].name;
}

void gg_tools_list(const gg_tools *tools, gg_buf *out)
{
    for (size_t i = 0; i < tools->count; i++) {
        gg_buf_str(out, i ? ", " : "");
        gg_buf_str(out, gg_tools_name(tools, i));
    }
}

const char *gg_tools_find(const gg_tools *tools, const char *name, size_t len)
{
    for (size_t i = 0; i < tools->count; i++) {
        const char *known = gg_tools_name(tools, i);
        if (strlen(known) == len && memcmp(known, name, len) == 0)
            return known;
    }
    return NULL;
}

bool gg_tools_is_text(const gg_tools *tools, const char *tool, const char *parameter, size_t len)
{
    for (size_t i = 0; i < tools->count; i++) {
        if (strcmp(gg_tools_name(tools, i), tool) != 0)
            continue;
        const cJSON *properties = gg_json_path(tools->tools[i].function, "parameters.properties");
        const cJSON *property;
        cJSON_ArrayForEach(property, properties)
        {
            const char *type = gg_json_text(property, "type");
            if (type && strlen(property->string) == len &&
                memcmp(property->string, parameter, len) == 0)
                return strcmp(type, "string") == 0;
        }
    }
    return true;
}

/* ------------------------------------------------------------------ thoughts */

static const char *last_of(const char *text, size_t len, const char *mark)
{
    size_t n = strlen(mark);
    const char *found = NULL, *at = text;
    while ((at = memmem(at, len - (size_t)(at - text), mark, n)) != NULL) {
        found = at;
        at += n;
    }
    return found;
}

static bool starts_with(const char *text, size_t len, const char *mark)
{
    size_t n = strlen(mark);
    return len >= n && memcmp(text, mark, n) == 0;
}

static void trim(const char **text, size_t *len)
{
    while (*len && gg_is_space(**text)) {
        (*text)++;
        (*len)--;
    }
    while (*len && gg_is_space((*text)[*len - 1]))
        (*len)--;
}

/* Cuts at the end of the last block of a kind (of the first, where the closer ends other things
 * too). Chat templates often write the opener themselves, so a reply may begin inside its thoughts;
 * without a closer all of it is thoughts. */
static bool skip_block(const char **text, size_t *len, const char *open, const char *close,
                       bool open_needed)
{
    bool opened = starts_with(*text, *len, open);
    if (!opened && open_needed)
        return false;
    const char *end =
        open_needed ? memmem(*text, *len, close, strlen(close)) : last_of(*text, *len, close);
    if (!end && !opened)
        return false;
    const char *rest = end ? end + strlen(close) : *text + *len;
    *len -= (size_t)(rest - *text);
    *text = rest;
    return true;
}

/* gpt-oss's channels with their markers stripped run together: "analysis...assistantfinal...". */
static bool skip_bare_channels(const char **text, size_t *len)
{
    static const struct {
        const char *mark;
        size_t keep; /* bytes at the mark's end that belong to what follows */
    } ends[] = {{"assistantfinal", 0}, {"assistantcommentary to=", sizeof "commentary to=" - 1}};
    if (!starts_with(*text, *len, "analysis"))
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const char *at = memmem(*text, *len, ends[i].mark, strlen(ends[i].mark));
        if (!at)
            continue;
        const char *rest = at + strlen(ends[i].mark) - ends[i].keep;
        *len -= (size_t)(rest - *text);
        *text = rest;
        return true;
    }
    return false;
}

static void skip_markers(const char **text, size_t *len)
{
    static const char *const before[] = {"<|start|>assistant", "<|channel|>final<|message|>"};
    static const char *const after[] = {"<|end|>", "<|return|>", "<|im_end|>", "<|eot_id|>"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        size_t n = strlen(before[i]);
        if (!starts_with(*text, *len, before[i]))
            continue;
        *text += n;
        *len -= n;
    }
    for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
        size_t n = strlen(after[i]);
        if (*len < n || memcmp(*text + *len - n, after[i], n) != 0)
            continue;
        *len -= n;
    }
}

bool gg_skip_thoughts(const char *text, size_t len, const char **rest, size_t *rest_len)
{
    static const struct {
        const char *open, *close;
        bool open_needed;
    } blocks[] = {
        {"<think>", "</think>", false},
        {"<thinking>", "</thinking>", false},
        {"<seed:think>", "</seed:think>", false},
        {"[THINK]", "[/THINK]", false},
        {"<|channel|>analysis<|message|>", "<|end|>", true},
    };
    bool any = false;
    trim(&text, &len);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        any |= skip_block(&text, &len, blocks[i].open, blocks[i].close, blocks[i].open_needed);
    any |= skip_bare_channels(&text, &len);
    trim(&text, &len);
    skip_markers(&text, &len);
    trim(&text, &len);
    *rest = text;
    *rest_len = len;
    return any;
}
