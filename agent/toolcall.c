#include "agent/toolcall.h"

#include <stdlib.h>
#include <string.h>

#include "agent/cursor.h"
#include "core/json.h"
#include "core/json_escape.h"
#include "core/rng.h"

_Static_assert(GG_REPAIR_COUNT <= 32, "repairs are kept as bits of 32");

const char *gg_repair_name(gg_repair repair)
{
    static const char *const names[GG_REPAIR_COUNT] = {
        [GG_REPAIR_NAME_SPACE] = "name_space",
        [GG_REPAIR_NAME_MARKER] = "name_marker",
        [GG_REPAIR_NAME_PREFIX] = "name_prefix",
        [GG_REPAIR_ARGS_EMPTY] = "args_empty",
        [GG_REPAIR_ARGS_OBJECT] = "args_object",
        [GG_REPAIR_ARGS_TWICE] = "args_twice",
        [GG_REPAIR_ARGS_GLUED] = "args_glued",
        [GG_REPAIR_ID_MADE] = "id_made",
        [GG_REPAIR_ID_REPEATED] = "id_repeated",
        [GG_REPAIR_LEGACY] = "legacy",
        [GG_REPAIR_DROPPED] = "dropped",
        [GG_REPAIR_THOUGHTS] = "thoughts_in_text",
        [GG_REPAIR_TEXT_TAG] = "text_tag",
        [GG_REPAIR_TEXT_FUNCTION] = "text_function",
        [GG_REPAIR_TEXT_FENCE] = "text_fence",
        [GG_REPAIR_TEXT_PYTHON] = "text_python",
        [GG_REPAIR_TEXT_PYTHONIC] = "text_pythonic",
        [GG_REPAIR_TEXT_BRACKET] = "text_bracket",
        [GG_REPAIR_TEXT_HARMONY] = "text_harmony",
        [GG_REPAIR_TEXT_SECTION] = "text_section",
        [GG_REPAIR_TEXT_OBJECT] = "text_object",
        [GG_REPAIR_TEXT_MOVE] = "text_move",
        [GG_REPAIR_ARGS_BROKEN] = "args_broken",
        [GG_REPAIR_NAME_UNKNOWN] = "name_unknown",
        [GG_REPAIR_CUT] = "cut",
    };
    return (unsigned)repair < GG_REPAIR_COUNT ? names[repair] : "unknown";
}

void gg_found_init(gg_found *found)
{
    *found = (gg_found){.text = ""};
}

void gg_found_free(gg_found *found)
{
    free(found->calls);
    gg_pool_free(&found->pool);
    gg_found_init(found);
}

/* ------------------------------------------------------------------ rung 2 */

/* What models and servers put before a tool's name. */
static const char *const prefixes[] = {"functions.", "function.", "functions:", "tools.",
                                       "tool.",      "tools:",    "tool:",      "default_api."};

static const char *fix_name(const gg_tools *tools, const char *name, uint32_t *repairs)
{
    const char *start = name, *end = name + strlen(name);
    uint32_t done = 0;
    const char *marker = strstr(start, "<|");
    if (marker) {
        end = marker;
        done |= GG_REPAIR_BIT(GG_REPAIR_NAME_MARKER);
    }
    const char *first = start, *last = end;
    while (first < last && gg_is_space(*first))
        first++;
    while (last > first && gg_is_space(last[-1]))
        last--;
    if (first != start || last != end)
        done |= GG_REPAIR_BIT(GG_REPAIR_NAME_SPACE);
    const char *known = gg_tools_find(tools, first, (size_t)(last - first));
    for (size_t i = 0; !known && i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t n = strlen(prefixes[i]);
        if ((size_t)(last - first) <= n || memcmp(first, prefixes[i], n) != 0)
            continue;
        known = gg_tools_find(tools, first + n, (size_t)(last - first) - n);
        if (known)
            done |= GG_REPAIR_BIT(GG_REPAIR_NAME_PREFIX);
    }
    if (known)
        *repairs |= done;
    return known;
}

/* A name that every endpoint takes back in a history. */
static const char *safe_name(gg_found *found, const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    size_t len = strnlen(name, GG_CALL_NAME_MAX);
    char *copy = gg_pool_copy(&found->pool, len ? name : "unknown", len ? len : 7);
    for (char *c = copy; c && *c; c++)
        if (!strchr(allowed, *c))
            *c = '_';
    return copy;
}

/* ------------------------------------------------------------------ rung 3 */

/* The length of the JSON object at the start of a text, white space around it included; 0 when
 * there is none. */
static size_t object_length(const char *text, size_t len)
{
    gg_json_reader r = gg_json_reader_make(text, len);
    gg_json_name raw;
    if (!gg_read_raw(&r, &raw) || raw.bytes[0] != '{')
        return 0;
    while (r.at < r.end && gg_is_space(*r.at))
        r.at++;
    return (size_t)(r.at - text);
}

static bool is_null(const char *text)
{
    while (gg_is_space(*text))
        text++;
    if (strncmp(text, "null", 4) == 0)
        text += 4;
    while (gg_is_space(*text))
        text++;
    return *text == '\0';
}

/* The text inside a JSON string that holds an object, or NULL. */
static const char *decode_twice(gg_found *found, const char *text)
{
    gg_buf inner;
    gg_json_reader r = gg_json_reader_make(text, strlen(text));
    const char *copy = NULL;
    while (gg_is_space(*text))
        text++;
    if (*text != '"')
        return NULL;
    gg_buf_init(&inner, GG_REPLY_STRING_MAX);
    if (gg_read_string(&r, &inner) && gg_read_end(&r) &&
        object_length(inner.data, inner.len) == inner.len && inner.len)
        copy = gg_pool_copy(&found->pool, inner.data, inner.len);
    gg_buf_free(&inner);
    return copy;
}

/* Lone surrogates and NULs in escapes are no text; sent back they poison the conversation. */
static const char *mend_escapes(gg_found *found, const char *text)
{
    static const char replacement[4] = {'f', 'f', 'f', 'd'}; /* U+FFFD */
    if (!strstr(text, "\\u"))
        return text;
    size_t len = strlen(text);
    char *copy = gg_pool_copy(&found->pool, text, len);
    if (!copy)
        return NULL;
    for (char *p = copy, *end = copy + len; p < end;) {
        int unit = gg_json_escape(p, end);
        if (*p != '\\') {
            p++;
        } else if (unit < 0) {
            p += 2;
        } else if (gg_json_is_high(unit) && gg_json_is_low(gg_json_escape(p + 6, end))) {
            p += 12;
        } else {
            if (gg_json_is_lost(unit))
                memcpy(p + 2, replacement, sizeof replacement);
            p += 6;
        }
    }
    return copy;
}

static gg_found_call *push(gg_found *found)
{
    if (found->count == found->room) {
        size_t room = found->room ? found->room * 2 : 8;
        gg_found_call *grown = realloc(found->calls, room * sizeof *grown);
        if (!grown) {
            found->status = GG_E_MEMORY;
            return NULL;
        }
        found->calls = grown;
        found->room = room;
    }
    gg_found_call *call = &found->calls[found->count++];
    *call = (gg_found_call){0};
    return call;
}

/* How many objects a text is made of; 0 when anything else is in it. */
static size_t count_objects(const char *text, size_t len)
{
    size_t count = 0;
    while (len) {
        size_t n = object_length(text, len);
        if (!n)
            return 0;
        text += n;
        len -= n;
        count++;
    }
    return count;
}

/* Appends one call for each of the objects in `text`. */
static void add_objects(gg_found *found, const gg_found_call *form, const char *text, size_t count)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < count; i++) {
        size_t n = count == 1 ? len : object_length(text, len);
        gg_found_call *call = found->count < GG_CALLS_MAX ? push(found) : NULL;
        if (!call) {
            if (found->count)
                found->calls[found->count - 1].repairs |= GG_REPAIR_BIT(GG_REPAIR_DROPPED);
            return;
        }
        *call = *form;
        if (i) /* the id answers the first one */
            call->id = NULL;
        const char *one = count == 1 ? text : gg_pool_copy(&found->pool, text, n);
        call->arguments = one ? mend_escapes(found, one) : NULL;
        if (!call->arguments)
            found->status = GG_E_MEMORY;
        text += n;
        len -= n;
    }
}

void gg_found_add(gg_found *found, const gg_reply_call *given, const gg_tools *tools,
                  uint32_t repairs)
{
    const char *text = given->arguments;
    gg_found_call call = {
        .id = given->id,
        .raw_name = given->name ? given->name : "",
        .raw = text ? text : "",
        .repairs = repairs | (given->legacy ? GG_REPAIR_BIT(GG_REPAIR_LEGACY) : 0),
    };
    call.name = fix_name(tools, call.raw_name, &call.repairs);
    if (!call.name) {
        call.fault = GG_FAULT_UNKNOWN_TOOL;
        call.repairs |= GG_REPAIR_BIT(GG_REPAIR_NAME_UNKNOWN);
        call.name = safe_name(found, call.raw_name);
        if (!call.name)
            found->status = GG_E_MEMORY;
    }
    if (!text || is_null(text)) {
        call.repairs |= GG_REPAIR_BIT(GG_REPAIR_ARGS_EMPTY);
        text = "{}";
    } else if (given->bare && *text == '{') {
        call.repairs |= GG_REPAIR_BIT(GG_REPAIR_ARGS_OBJECT);
    }
    const char *inner = decode_twice(found, text);
    if (inner) {
        call.repairs |= GG_REPAIR_BIT(GG_REPAIR_ARGS_TWICE);
        text = inner;
    }
    size_t count = count_objects(text, strlen(text));
    if (count > 1)
        call.repairs |= GG_REPAIR_BIT(GG_REPAIR_ARGS_GLUED);
    if (count == 0) {
        call.repairs |= GG_REPAIR_BIT(GG_REPAIR_ARGS_BROKEN);
        if (call.fault == GG_FAULT_NONE)
            call.fault = GG_FAULT_BAD_ARGUMENTS;
        text = "{}";
        count = 1;
    }
    add_objects(found, &call, text, count);
}

/* ------------------------------------------------------------------ ids */

void gg_make_id(uint64_t seed, int64_t serial, char out[GG_MADE_ID])
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    uint64_t value = gg_derive_seed(seed, "call", serial);
    for (int i = 0; i < GG_MADE_ID - 1; i++) {
        out[i] = digits[value % (sizeof digits - 1)];
        value /= sizeof digits - 1;
    }
    out[GG_MADE_ID - 1] = '\0';
}

static bool is_taken(const gg_found *found, size_t before, const gg_ids *ids, const char *id)
{
    for (size_t i = 0; i < before; i++)
        if (strcmp(found->calls[i].id, id) == 0)
            return true;
    return ids->used && ids->used(ids->context, id);
}

static void settle_ids(gg_found *found, const gg_ids *ids)
{
    int64_t serial = ids->serial;
    for (size_t i = 0; i < found->count; i++) {
        gg_found_call *call = &found->calls[i];
        bool given = call->id && strlen(call->id) <= GG_CALL_ID_MAX;
        if (given && !is_taken(found, i, ids, call->id))
            continue;
        call->repairs |= GG_REPAIR_BIT(given ? GG_REPAIR_ID_REPEATED : GG_REPAIR_ID_MADE);
        char made[GG_MADE_ID];
        do {
            gg_make_id(ids->seed, serial++, made);
        } while (is_taken(found, i, ids, made));
        call->id = gg_pool_copy(&found->pool, made, GG_MADE_ID - 1);
        if (!call->id) {
            call->id = "";
            found->status = GG_E_MEMORY;
        }
    }
}

/* ------------------------------------------------------------------ the ladder */

static void find_structured(gg_found *found, const gg_reply *reply, const gg_tools *tools)
{
    for (size_t i = 0; i < reply->call_count; i++)
        gg_found_add(found, &reply->calls[i], tools, 0);
    if (reply->calls_dropped && found->count)
        found->calls[found->count - 1].repairs |= GG_REPAIR_BIT(GG_REPAIR_DROPPED);
    if (!gg_reply_cut(reply))
        return;
    /* Arguments that were cut can still be JSON by chance, so none of them is run. */
    for (size_t i = 0; i < found->count; i++) {
        found->calls[i].fault = GG_FAULT_CUT;
        found->calls[i].repairs |= GG_REPAIR_BIT(GG_REPAIR_CUT);
    }
}

/* A wrapper counts only when everything in it can be run. */
static void find_in_text(gg_found *found, const gg_tools *tools)
{
    gg_find_text_calls(found, found->text, found->text_len, tools);
    for (size_t i = 0; i < found->count; i++)
        if (found->calls[i].fault != GG_FAULT_NONE)
            found->count = 0;
    found->from_text = found->count > 0;
    for (size_t i = 0; i < found->count; i++) {
        found->calls[i].id = "";
        if (found->thoughts)
            found->calls[i].repairs |= GG_REPAIR_BIT(GG_REPAIR_THOUGHTS);
    }
}

gg_status gg_find_calls(gg_found *found, const gg_reply *reply, const gg_tools *tools,
                        const gg_ids *ids, bool text_calls, gg_error *error)
{
    gg_pool_reset(&found->pool);
    found->count = 0;
    found->from_text = false;
    found->status = GG_OK;
    found->thoughts =
        gg_skip_thoughts(reply->content, reply->content_len, &found->text, &found->text_len);
    if (reply->call_count) {
        find_structured(found, reply, tools);
        if (found->status == GG_OK)
            settle_ids(found, ids);
    } else if (text_calls && !gg_reply_cut(reply)) {
        find_in_text(found, tools);
    }
    if (found->status != GG_OK)
        return gg_fail(error, found->status, "out of memory while reading tool calls");
    return GG_OK;
}

void gg_fault_text(const gg_found_call *call, const gg_tools *tools, gg_buf *out)
{
    switch (call->fault) {
    case GG_FAULT_UNKNOWN_TOOL:
        gg_buf_printf(out,
                      "There is no tool named \"%s\". Nothing was done. Call one of: ", call->name);
        gg_tools_list(tools, out);
        gg_buf_char(out, '.');
        break;
    case GG_FAULT_BAD_ARGUMENTS:
        gg_buf_printf(out,
                      "The arguments of this call to %s are not a valid JSON object. Nothing was "
                      "done. Call it again with a JSON object.",
                      call->name);
        break;
    case GG_FAULT_CUT:
        gg_buf_str(out, "The reply was cut by the token limit, so this call was not run.");
        break;
    case GG_FAULT_NONE:
        break;
    }
}
