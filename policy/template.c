#include "policy/template.h"

#include <stdlib.h>
#include <string.h>

/*
 * The history comes back whole with every request, and building trees of it was a tenth of a
 * training's work. It is read where it stands instead: an object's members are picked as slices of
 * the text, and strings are decoded into one buffer on their way to the tokenizer.
 */

typedef struct writer {
    const gg_tokenizer *tokenizer;
    gg_ids *out;
    gg_error *error;
    gg_buf text; /* the string read last */
    int index;   /* of the message, for error sentences */
} writer;

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Reads a value and gives the named members of the object that it is, as they stand; null is as
 * good as absent: bytes NULL. A value that is no object has none. */
static void pick(gg_json_reader *r, const char *const *names, size_t count, gg_json_name *members)
{
    gg_json_name name, value;
    memset(members, 0, count * sizeof *members);
    if (gg_read_next(r) != '{') {
        gg_read_skip(r);
        return;
    }
    gg_read_object(r);
    while (gg_read_name(r, &name) && gg_read_raw(r, &value))
        for (size_t i = 0; i < count; i++)
            if (!members[i].bytes && *value.bytes != 'n' && gg_name_is(name, names[i]))
                members[i] = value;
}

static void pick_in(gg_json_name object, const char *const *names, size_t count,
                    gg_json_name *members)
{
    gg_json_reader r = gg_json_reader_make(object.bytes ? object.bytes : "null",
                                           object.bytes ? object.len : strlen("null"));
    pick(&r, names, count, members);
}

static gg_json_name pick_function(gg_json_reader *r)
{
    static const char *const names[] = {"function"};
    gg_json_name function;
    pick(r, names, 1, &function);
    return function;
}

static bool is_string(gg_json_name value)
{
    return value.bytes && *value.bytes == '"';
}

static bool is_array(gg_json_name value)
{
    return value.bytes && *value.bytes == '[';
}

/* The text of a string; NULL for any other value. Good until the next one. */
static const char *text_in(writer *w, gg_json_name value)
{
    if (!is_string(value))
        return NULL;
    gg_json_reader r = gg_json_reader_make(value.bytes, value.len);
    gg_buf_reset(&w->text);
    return gg_read_string(&r, &w->text) ? gg_buf_cstr(&w->text) : NULL;
}

/* A value that is no string adds nothing. */
static void put_text(writer *w, gg_json_name value)
{
    const char *text = text_in(w, value);
    if (text)
        gg_tokenizer_encode(w->tokenizer, text, w->text.len, w->out);
}

static gg_status put_part(writer *w, gg_json_reader *r, int index)
{
    static const char *const names[] = {"type", "text"};
    gg_json_name members[COUNT(names)];
    pick(r, names, COUNT(names), members);
    const char *type = text_in(w, members[0]);
    if (!is_string(members[1]) || (type && strcmp(type, "text") != 0))
        return gg_fail(w->error, GG_E_ARGUMENT,
                       "messages[%d].content[%d] is not a text part; this policy reads text only",
                       w->index, index);
    put_text(w, members[1]);
    return GG_OK;
}

/* A string, nothing, or an array of text parts. */
static gg_status put_content(writer *w, gg_json_name content)
{
    gg_status status = GG_OK;
    if (!content.bytes || is_string(content)) {
        put_text(w, content);
        return GG_OK;
    }
    if (!is_array(content))
        return gg_fail(w->error, GG_E_ARGUMENT,
                       "messages[%d].content must be a string or an array of text parts", w->index);
    gg_json_reader r = gg_json_reader_make(content.bytes, content.len);
    gg_read_array(&r);
    for (int index = 0; status == GG_OK && gg_read_element(&r); index++)
        status = put_part(w, &r, index);
    return status;
}

static gg_status put_call(writer *w, gg_json_reader *r)
{
    static const char *const names[] = {"name", "arguments"};
    gg_json_name members[COUNT(names)];
    pick_in(pick_function(r), names, COUNT(names), members);
    if (!is_string(members[0]) || !is_string(members[1]))
        return gg_fail(w->error, GG_E_ARGUMENT,
                       "messages[%d].tool_calls: every call needs function.name and "
                       "function.arguments, both strings",
                       w->index);
    gg_ids_push(w->out, GG_TOKEN_CALL);
    put_text(w, members[0]);
    gg_ids_push(w->out, GG_TOKEN_ARGUMENTS);
    put_text(w, members[1]);
    return GG_OK;
}

static gg_status put_calls(writer *w, gg_json_name calls)
{
    gg_status status = GG_OK;
    if (!calls.bytes)
        return GG_OK;
    if (!is_array(calls))
        return gg_fail(w->error, GG_E_ARGUMENT, "messages[%d].tool_calls must be an array",
                       w->index);
    gg_json_reader r = gg_json_reader_make(calls.bytes, calls.len);
    gg_read_array(&r);
    while (status == GG_OK && gg_read_element(&r))
        status = put_call(w, &r);
    return status;
}

static const char *const message_names[] = {"role", "content", "reasoning_content", "reasoning",
                                            "tool_calls"};
enum { ROLE, CONTENT, REASONING_CONTENT, REASONING, TOOL_CALLS };

static gg_status put_assistant(writer *w, const gg_json_name *message)
{
    const char *thoughts = text_in(w, message[REASONING_CONTENT]);
    if (!thoughts || !*thoughts)
        thoughts = text_in(w, message[REASONING]);
    if (thoughts && *thoughts) {
        gg_ids_push(w->out, GG_TOKEN_THINK);
        gg_tokenizer_encode(w->tokenizer, thoughts, w->text.len, w->out);
        gg_ids_push(w->out, GG_TOKEN_THOUGHT);
    }
    gg_status status = put_content(w, message[CONTENT]);
    return status == GG_OK ? put_calls(w, message[TOOL_CALLS]) : status;
}

static const struct role {
    const char *name;
    int32_t token;
} roles[] = {
    {"system", GG_TOKEN_SYSTEM},       {"developer", GG_TOKEN_SYSTEM}, {"user", GG_TOKEN_USER},
    {"assistant", GG_TOKEN_ASSISTANT}, {"tool", GG_TOKEN_TOOL},
};

static const struct role *find_role(const char *name)
{
    for (size_t i = 0; name && i < COUNT(roles); i++)
        if (strcmp(roles[i].name, name) == 0)
            return &roles[i];
    return NULL;
}

static gg_status put_message(writer *w, gg_json_reader *r)
{
    gg_json_name message[COUNT(message_names)];
    pick(r, message_names, COUNT(message_names), message);
    const struct role *role = find_role(text_in(w, message[ROLE]));
    if (!role)
        return gg_fail(w->error, GG_E_ARGUMENT,
                       "messages[%d].role must be system, developer, user, assistant or tool",
                       w->index);
    gg_ids_push(w->out, role->token);
    gg_status status = role->token == GG_TOKEN_ASSISTANT ? put_assistant(w, message)
                                                         : put_content(w, message[CONTENT]);
    gg_ids_push(w->out, GG_TOKEN_END);
    return status;
}

static gg_status put_messages(writer *w, gg_json_name messages)
{
    static const char wanted[] = "messages must be an array with at least one message";
    if (!is_array(messages))
        return gg_fail(w->error, GG_E_ARGUMENT, wanted);
    gg_json_reader r = gg_json_reader_make(messages.bytes, messages.len);
    gg_read_array(&r);
    for (; gg_read_element(&r); w->index++) {
        gg_status status = put_message(w, &r);
        if (status != GG_OK)
            return status;
        if (w->out->count > GG_TEMPLATE_TOKENS_MAX)
            return gg_fail(w->error, GG_E_LIMIT, "the prompt is longer than %u tokens",
                           GG_TEMPLATE_TOKENS_MAX);
    }
    return w->index && !r.failed ? GG_OK : gg_fail(w->error, GG_E_ARGUMENT, wanted);
}

static gg_status put_tools(writer *w, gg_json_name tools, bool schemas)
{
    static const char *const names[] = {"name", "parameters"};
    gg_json_name function[COUNT(names)];
    int index = 0;
    if (!is_array(tools))
        return GG_OK;
    gg_json_reader r = gg_json_reader_make(tools.bytes, tools.len);
    gg_read_array(&r);
    for (; gg_read_element(&r); index++) {
        pick_in(pick_function(&r), names, COUNT(names), function);
        if (!is_string(function[0]))
            return gg_fail(w->error, GG_E_ARGUMENT, "tools[%d].function.name is missing", index);
        gg_ids_push(w->out, GG_TOKEN_TOOLS);
        put_text(w, function[0]);
        if (!schemas || !function[1].bytes)
            continue;
        gg_ids_push(w->out, GG_TOKEN_ARGUMENTS);
        gg_tokenizer_encode(w->tokenizer, function[1].bytes, function[1].len, w->out);
    }
    if (index)
        gg_ids_push(w->out, GG_TOKEN_END);
    return GG_OK;
}

gg_status gg_template_prompt(const gg_tokenizer *tokenizer, gg_json_name messages,
                             gg_json_name tools, bool schemas, gg_effort effort, gg_ids *out,
                             gg_error *error)
{
    writer w = {.tokenizer = tokenizer, .out = out, .error = error};
    gg_buf_init(&w.text, messages.len + tools.len);
    gg_buf_reserve(&w.text, w.text.maximum); /* no string is longer than its JSON text */
    gg_status status = gg_buf_status(&w.text, "a prompt", error);
    gg_ids_push(out, GG_TOKEN_LOW + (int32_t)effort);
    if (status == GG_OK)
        status = put_tools(&w, tools, schemas);
    if (status == GG_OK)
        status = put_messages(&w, messages);
    gg_ids_push(out, GG_TOKEN_ASSISTANT);
    if (status == GG_OK && out->failed)
        status =
            gg_fail(error, GG_E_MEMORY, "not enough memory for a prompt of %zu tokens", out->count);
    gg_buf_free(&w.text);
    return status;
}

/* A stretch of reply ids. */
typedef struct stretch {
    size_t from, to;
} stretch;

/* Where things stand in a reply; from = to where they are missing. */
typedef struct pieces {
    stretch name, arguments;
    bool call_complete;
} pieces;

static char *text_of(const gg_tokenizer *t, const int32_t *ids, stretch s)
{
    size_t len = 0, piece;
    for (size_t i = s.from; i < s.to; i++) {
        gg_tokenizer_text(t, ids[i], &piece);
        len += piece;
    }
    char *text = malloc(len + 1), *at = text;
    for (size_t i = s.from; text && i < s.to; i++) {
        const char *bytes = gg_tokenizer_text(t, ids[i], &piece);
        memcpy(at, bytes, piece);
        at += piece;
    }
    if (text)
        *at = '\0';
    return text;
}

/* First index from `at` on whose id is a special token, or the end. */
static size_t text_end(const gg_policy_reply *reply, size_t at)
{
    while (at < reply->count &&
           (reply->ids[at] < GG_TOKEN_BYTES || reply->ids[at] >= GG_TOKEN_PHRASES))
        at++;
    return at;
}

static void add_text(const gg_tokenizer *t, const gg_policy_reply *reply, stretch s, gg_buf *out)
{
    for (size_t i = s.from; i < s.to; i++) {
        size_t len;
        const char *text = gg_tokenizer_text(t, reply->ids[i], &len);
        gg_buf_add(out, text, len);
    }
}

static bool ends_object(const gg_tokenizer *t, const gg_policy_reply *reply, stretch s)
{
    size_t len = 0;
    const char *text = s.to > s.from ? gg_tokenizer_text(t, reply->ids[s.to - 1], &len) : NULL;
    return len > 0 && text[len - 1] == '}';
}

static void split(const gg_tokenizer *t, gg_policy_reply *reply, pieces *found)
{
    int32_t opener = GG_TOKEN_ASSISTANT;
    *found = (pieces){0};
    for (size_t at = 0; at <= reply->count;) {
        stretch s = {at, text_end(reply, at)};
        if (opener == GG_TOKEN_THINK) {
            add_text(t, reply, s, &reply->reasoning);
            reply->reasoning_tokens += (int64_t)(s.to - s.from) + 1 + (s.to < reply->count);
        } else if (opener == GG_TOKEN_CALL && found->name.to == 0) {
            found->name = s;
        } else if (opener == GG_TOKEN_ARGUMENTS && found->arguments.to == 0) {
            found->arguments = s;
            found->call_complete = s.to < reply->count || ends_object(t, reply, s);
        } else if (opener != GG_TOKEN_CALL && opener != GG_TOKEN_ARGUMENTS) {
            add_text(t, reply, s, &reply->content);
        }
        if (s.to < reply->count)
            opener = reply->ids[s.to];
        at = s.to + 1;
    }
}

gg_status gg_template_parse(const gg_tokenizer *t, gg_policy_reply *reply, gg_error *error)
{
    pieces found;
    split(t, reply, &found);
    if (found.call_complete) {
        reply->call.name = text_of(t, reply->ids, found.name);
        reply->call.arguments = text_of(t, reply->ids, found.arguments);
        if (!reply->call.name || !reply->call.arguments)
            return gg_fail(error, GG_E_MEMORY, "not enough memory for a reply");
        if (strcmp(reply->finish_reason, "stop") == 0)
            reply->finish_reason = "tool_calls";
    }
    gg_status status = gg_buf_status(&reply->reasoning, "the reply's reasoning", error);
    return status == GG_OK ? gg_buf_status(&reply->content, "the reply's content", error) : status;
}
