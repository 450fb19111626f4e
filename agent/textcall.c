/*
 * Rung 4 of the ladder (agent/toolcall.h): a reply without structured calls whose whole text is one
 * known wrapper around calls. Each wrapper is one function in a table; it must consume the whole
 * text, white space aside, or it does not apply.
 */
#include "agent/toolcall.h"

#include <string.h>

#include "agent/cursor.h"
#include "core/json.h"

#define ARGUMENTS_MAX (1u << 20)

typedef struct scan {
    gg_cursor in;
    gg_found *found;
    const gg_tools *tools;
    gg_repair kind;
} scan;

static void skip_space(scan *s)
{
    gg_skip_space(&s->in);
}

static bool take(scan *s, const char *mark)
{
    return gg_take(&s->in, mark);
}

static bool take_any(scan *s, const char *const *marks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (take(s, marks[i]))
            return true;
    return false;
}
#define TAKE_ANY(s, marks) take_any(s, marks, sizeof(marks) / sizeof *(marks))

static bool at_end(scan *s)
{
    skip_space(s);
    return s->in.at == s->in.end;
}

/* Everything up to `mark`, which is passed over. */
static bool take_until(scan *s, const char *mark, gg_json_name *inside)
{
    const char *found = memmem(s->in.at, (size_t)(s->in.end - s->in.at), mark, strlen(mark));
    if (!found)
        return false;
    *inside = (gg_json_name){.bytes = s->in.at, .len = (size_t)(found - s->in.at)};
    s->in.at = found + strlen(mark);
    return true;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static bool take_name(scan *s, gg_json_name *name)
{
    skip_space(s);
    const char *start = s->in.at;
    while (s->in.at < s->in.end && is_name_char(*s->in.at))
        s->in.at++;
    *name = (gg_json_name){.bytes = start, .len = (size_t)(s->in.at - start)};
    return name->len > 0;
}

/* Back to where `before` was, with the calls found since taken back. */
static bool undo(scan *s, const scan *before, size_t had)
{
    *s = *before;
    s->found->count = had;
    return false;
}

/* Appends a call. `arguments` NULL = none were given. */
static bool emit(scan *s, gg_json_name name, const char *arguments, size_t len)
{
    gg_reply_call call = {.name = gg_pool_copy(&s->found->pool, name.bytes, name.len)};
    if (arguments)
        call.arguments = gg_pool_copy(&s->found->pool, arguments, len);
    if (!call.name || (arguments && !call.arguments)) {
        s->found->status = GG_E_MEMORY;
        return false;
    }
    gg_found_add(s->found, &call, s->tools, GG_REPAIR_BIT(s->kind));
    return true;
}

/* ------------------------------------------------------------------ JSON objects */

typedef struct object {
    gg_buf name, text; /* text: arguments that came as a string */
    gg_json_name arguments;
    bool has_arguments;
} object;

static bool read_value(gg_json_reader *r, object *o)
{
    if (!gg_read_raw(r, &o->arguments))
        return false;
    o->has_arguments = true;
    if (o->arguments.bytes[0] != '"')
        return true;
    gg_json_reader inner = gg_json_reader_make(o->arguments.bytes, o->arguments.len);
    gg_buf_reset(&o->text);
    if (!gg_read_string(&inner, &o->text))
        return false;
    o->arguments = (gg_json_name){.bytes = gg_buf_cstr(&o->text), .len = o->text.len};
    return true;
}

/* A call's members and no others. */
static bool read_call_object(gg_json_reader *r, object *o)
{
    gg_json_name name;
    if (!gg_read_object(r))
        return false;
    while (gg_read_name(r, &name)) {
        if (gg_name_is(name, "name")) {
            gg_buf_reset(&o->name);
            gg_read_string(r, &o->name);
        } else if (gg_name_is(name, "arguments") || gg_name_is(name, "parameters")) {
            read_value(r, o);
        } else if (gg_name_is(name, "type") || gg_name_is(name, "id")) {
            gg_read_skip(r);
        } else {
            return false;
        }
    }
    return !r->failed && o->name.len;
}

/* {"name": "f", "arguments": {...}} */
static bool take_object(scan *s, bool needs_arguments)
{
    object o = {.has_arguments = false};
    gg_json_reader r = gg_json_reader_make(s->in.at, (size_t)(s->in.end - s->in.at));
    gg_buf_init(&o.name, GG_REPLY_STRING_MAX);
    gg_buf_init(&o.text, GG_REPLY_STRING_MAX);
    bool done = read_call_object(&r, &o) && (o.has_arguments || !needs_arguments);
    if (done) {
        gg_json_name name = {.bytes = o.name.data, .len = o.name.len};
        done = emit(s, name, o.has_arguments ? o.arguments.bytes : NULL, o.arguments.len);
        s->in.at = r.at;
    }
    gg_buf_free(&o.name);
    gg_buf_free(&o.text);
    return done;
}

/* One or more objects, white space or ';' between, or an array of them. */
static bool take_objects(scan *s, bool needs_arguments)
{
    const scan before = *s;
    size_t had = s->found->count, count = 0;
    bool array = take(s, "[");
    while (take_object(s, needs_arguments)) {
        count++;
        if (array && !take(s, ","))
            break;
        if (!array)
            (void)take(s, ";");
    }
    return (count && (!array || take(s, "]"))) || undo(s, &before, had);
}

/* ------------------------------------------------------------------ <function=f> */

static bool write_parameter(scan *s, gg_json_name tool, gg_json_name name, gg_json_name value,
                            gg_buf *out)
{
    const char *known = gg_tools_find(s->tools, tool.bytes, tool.len);
    /* The template puts a line end on both sides of a value. */
    if (value.len && value.bytes[0] == '\n') {
        value.bytes++;
        value.len--;
    }
    if (value.len && value.bytes[value.len - 1] == '\n')
        value.len--;
    gg_buf_json(out, name.bytes, name.len);
    gg_buf_char(out, ':');
    gg_json_reader r = gg_json_reader_make(value.bytes, value.len);
    if (known && !gg_tools_is_text(s->tools, known, name.bytes, name.len) && gg_read_skip(&r) &&
        gg_read_end(&r))
        gg_buf_add(out, value.bytes, value.len);
    else
        gg_buf_json(out, value.bytes, value.len);
    return out->status == GG_OK;
}

static bool take_parameters(scan *s, gg_json_name tool, gg_buf *out)
{
    gg_json_name name, value;
    bool first = true;
    gg_buf_char(out, '{');
    while (take(s, "<parameter=")) {
        if (!take_until(s, ">", &name) || !take_until(s, "</parameter>", &value))
            return false;
        if (!first)
            gg_buf_char(out, ',');
        first = false;
        if (!write_parameter(s, tool, name, value, out))
            return false;
    }
    gg_buf_char(out, '}');
    return out->status == GG_OK;
}

/* <function=f><parameter=a>1</parameter></function>, or a JSON object inside. */
static bool take_function(scan *s)
{
    gg_json_name tool, inside;
    gg_buf arguments;
    if (!take(s, "<function=") || !take_until(s, ">", &tool))
        return false;
    skip_space(s);
    if (s->in.at < s->in.end && *s->in.at == '{')
        return take_until(s, "</function>", &inside) && emit(s, tool, inside.bytes, inside.len);
    gg_buf_init(&arguments, ARGUMENTS_MAX);
    bool done = take_parameters(s, tool, &arguments) && take(s, "</function>") &&
                emit(s, tool, arguments.data, arguments.len);
    gg_buf_free(&arguments);
    return done;
}

/* ------------------------------------------------------------------ f(a=1) */

static bool take_keywords(scan *s, gg_buf *out)
{
    gg_json_name name;
    bool first = true;
    gg_buf_char(out, '{');
    while (!take(s, ")")) {
        if (!first && !take(s, ","))
            return false;
        if (!take_name(s, &name) || !take(s, "="))
            return false;
        if (!first)
            gg_buf_char(out, ',');
        first = false;
        gg_buf_json(out, name.bytes, name.len);
        gg_buf_char(out, ':');
        if (!gg_take_literal(&s->in, out))
            return false;
    }
    gg_buf_char(out, '}');
    return out->status == GG_OK;
}

static bool take_pythonic(scan *s)
{
    const scan before = *s;
    size_t had = s->found->count;
    gg_json_name name;
    gg_buf arguments;
    gg_buf_init(&arguments, ARGUMENTS_MAX);
    bool done = take_name(s, &name) && take(s, "(") && take_keywords(s, &arguments) &&
                emit(s, name, arguments.data, arguments.len);
    gg_buf_free(&arguments);
    return done || undo(s, &before, had);
}

static bool take_pythonic_list(scan *s)
{
    const scan before = *s;
    size_t had = s->found->count;
    bool done = take(s, "[");
    do {
        done = done && take_pythonic(s);
    } while (done && take(s, ","));
    return (done && take(s, "]")) || undo(s, &before, had);
}

/* ------------------------------------------------------------------ wrappers */

/* Opening or closing tag may be missing, as templates and stop rules eat them; not both. */
static bool wrap_tag(scan *s)
{
    static const char *const opens[] = {"<tool_call>", "<|tool_call|>"};
    static const char *const closes[] = {"</tool_call>", "<|/tool_call|>"};
    bool tagged = false, any = false;
    while (!at_end(s)) {
        if (TAKE_ANY(s, opens) || TAKE_ANY(s, closes))
            tagged = true;
        else if (take_objects(s, false) || take_function(s))
            any = true;
        else
            return false;
    }
    return tagged && any;
}

static bool wrap_function(scan *s)
{
    do {
        if (!take_function(s))
            return false;
    } while (!at_end(s));
    return true;
}

static bool wrap_fence(scan *s)
{
    static const char *const data[] = {"json", "tool_calls", "tool_call", "tool"};
    static const char *const code[] = {"tool_code", "python"};
    if (!take(s, "```"))
        return false;
    if (TAKE_ANY(s, code)) {
        if (!take_pythonic(s) && !take_pythonic_list(s))
            return false;
    } else {
        (void)TAKE_ANY(s, data);
        if (!take_objects(s, true))
            return false;
    }
    return take(s, "```");
}

static bool wrap_python(scan *s)
{
    static const char *const opens[] = {"<|python_tag|>", "<|python_start|>"};
    static const char *const closes[] = {"<|python_end|>", "<|eom_id|>", "<|eot_id|>"};
    if (!TAKE_ANY(s, opens))
        return false;
    if (!take_objects(s, false) && !take_pythonic_list(s) && !take_pythonic(s))
        return false;
    while (TAKE_ANY(s, closes))
        continue;
    return true;
}

/* The JSON object that is next, as its bytes. */
static bool take_raw_object(scan *s, gg_json_name *raw)
{
    gg_json_reader r = gg_json_reader_make(s->in.at, (size_t)(s->in.end - s->in.at));
    if (!gg_read_raw(&r, raw) || raw->bytes[0] != '{')
        return false;
    s->in.at = r.at;
    return true;
}

/* [TOOL_CALLS][{...}], or [TOOL_CALLS]f[ARGS]{...} with or without [CALL_ID]x. */
static bool wrap_bracket(scan *s)
{
    gg_json_name name, id, arguments;
    if (!take(s, "[TOOL_CALLS]"))
        return false;
    if (take_objects(s, false))
        return true;
    do {
        if (!take_name(s, &name))
            return false;
        if (take(s, "[CALL_ID]") && !take_name(s, &id))
            return false;
        if (!take(s, "[ARGS]") || !take_raw_object(s, &arguments) ||
            !emit(s, name, arguments.bytes, arguments.len))
            return false;
    } while (take(s, "[TOOL_CALLS]") || !at_end(s));
    return true;
}

/* gpt-oss's own form, with its markers or after a server has stripped them. */
static bool wrap_harmony(scan *s)
{
    static const char *const before[] = {"<|start|>assistant", "<|start|>", "<|channel|>",
                                         "commentary"};
    static const char *const between[] = {"<|channel|>", "commentary", "<|constrain|>",
                                          "json",        "code",       "<|message|>"};
    gg_json_name name, arguments;
    while (TAKE_ANY(s, before))
        continue;
    if (!take(s, "to=") || !take_name(s, &name))
        return false;
    while (TAKE_ANY(s, between))
        continue;
    if (!take_raw_object(s, &arguments) || !emit(s, name, arguments.bytes, arguments.len))
        return false;
    (void)take(s, "<|call|>");
    return true;
}

/* Kimi's form: names carry a running index. */
static bool wrap_section(scan *s)
{
    gg_json_name name, index, arguments;
    bool any = false;
    (void)take(s, "<|tool_calls_section_begin|>");
    while (take(s, "<|tool_call_begin|>")) {
        if (!take_name(s, &name) || (take(s, ":") && !take_name(s, &index)) ||
            !take(s, "<|tool_call_argument_begin|>") || !take_raw_object(s, &arguments) ||
            !take(s, "<|tool_call_end|>") || !emit(s, name, arguments.bytes, arguments.len))
            return false;
        any = true;
    }
    (void)take(s, "<|tool_calls_section_end|>");
    return any;
}

static bool wrap_object(scan *s)
{
    return take_objects(s, true);
}

static const struct {
    gg_repair kind;
    bool (*wrap)(scan *s);
} wrappers[] = {
    {GG_REPAIR_TEXT_TAG, wrap_tag},
    {GG_REPAIR_TEXT_FUNCTION, wrap_function},
    {GG_REPAIR_TEXT_FENCE, wrap_fence},
    {GG_REPAIR_TEXT_PYTHON, wrap_python},
    {GG_REPAIR_TEXT_PYTHONIC, take_pythonic_list},
    {GG_REPAIR_TEXT_BRACKET, wrap_bracket},
    {GG_REPAIR_TEXT_HARMONY, wrap_harmony},
    {GG_REPAIR_TEXT_SECTION, wrap_section},
    {GG_REPAIR_TEXT_OBJECT, wrap_object},
};

/* Prose begins with a letter, and no wrapper but two does: spares most replies the whole table. */
static bool may_be_call(const char *text, size_t len)
{
    static const char *const starts[] = {"commentary", "to=", "{", "[", "<", "`"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        size_t n = strlen(starts[i]);
        if (len >= n && memcmp(text, starts[i], n) == 0)
            return true;
    }
    return false;
}

void gg_find_text_calls(gg_found *found, const char *text, size_t len, const gg_tools *tools)
{
    if (!may_be_call(text, len))
        return;
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
        scan s = {{text, text + len}, found, tools, wrappers[i].kind};
        size_t before = found->count;
        if (wrappers[i].wrap(&s) && at_end(&s) && found->status == GG_OK)
            return;
        found->count = before;
        if (found->status != GG_OK)
            return;
    }
}
