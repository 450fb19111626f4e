#include "agent/stream.h"

#include <string.h>

#include "agent/chat.h"
#include "core/json.h"
#include "net/http.h"

#define NO_INDEX   (-1)
#define NAMES_MAX  4096 /* bytes of an id or a name */
#define MERGED_MAX GG_HTTP_REPLY_MAX

typedef struct stream_call {
    int64_t index;
    gg_buf id, name, arguments;
    bool bare; /* arguments came as a value, not as text */
} stream_call;

typedef struct merging {
    gg_json_reader r;
    const char *body;
    gg_buf event; /* data lines of the event being read */
    bool event_error;
    gg_buf content, reasoning, refusal;
    const char *reasoning_field;
    stream_call calls[GG_CALLS_MAX + 1]; /* the last: function_call */
    size_t call_count;
    gg_buf logprobs, token_logprobs, ids, prompt_ids; /* elements, comma between */
    gg_buf finish, usage, version, meta, error;       /* JSON values */
    gg_buf id, name, arguments;                       /* of the fragment being read */
    int64_t index;
    bool bare, has_choice, done;
} merging;

typedef struct stream_member {
    const char *name;
    void (*read)(merging *m);
} stream_member;

static void members(merging *m, const stream_member *table, size_t count)
{
    gg_json_name name;
    if (gg_read_next(&m->r) != '{') {
        gg_read_skip(&m->r);
        return;
    }
    gg_read_object(&m->r);
    while (gg_read_name(&m->r, &name)) {
        size_t i = 0;
        while (i < count && !gg_name_is(name, table[i].name))
            i++;
        if (i < count)
            table[i].read(m);
        else
            gg_read_skip(&m->r);
    }
}
#define MEMBERS(m, table) members(m, table, sizeof(table) / sizeof *(table))

/* ---- values ---- */

/* Appends a string's text; any other value is passed over. */
static bool add_text(merging *m, gg_buf *to)
{
    if (gg_read_next(&m->r) == '"')
        return gg_read_string(&m->r, to);
    gg_read_skip(&m->r);
    return false;
}

/* Keeps a value in place of the one before, unless it is null. */
static void keep_value(merging *m, gg_buf *to)
{
    gg_json_name raw;
    if (gg_read_next(&m->r) == 'n') {
        gg_read_skip(&m->r);
    } else if (gg_read_raw(&m->r, &raw)) {
        gg_buf_reset(to);
        gg_buf_add(to, raw.bytes, raw.len);
    }
}

static void add_elements(merging *m, gg_buf *to)
{
    gg_json_name raw;
    if (gg_read_next(&m->r) != '[') {
        gg_read_skip(&m->r);
        return;
    }
    gg_read_array(&m->r);
    while (gg_read_element(&m->r)) {
        if (!gg_read_raw(&m->r, &raw))
            return;
        if (to->len)
            gg_buf_char(to, ',');
        gg_buf_add(to, raw.bytes, raw.len);
    }
}

/* ---- calls ---- */

static void begin_call(stream_call *call)
{
    call->index = NO_INDEX;
    call->bare = false;
    gg_buf_init(&call->id, NAMES_MAX);
    gg_buf_init(&call->name, NAMES_MAX);
    gg_buf_init(&call->arguments, GG_REPLY_STRING_MAX);
}

static bool same(const gg_buf *a, const gg_buf *b)
{
    return a->len == b->len && memcmp(gg_buf_cstr(a), gg_buf_cstr(b), a->len) == 0;
}

static bool is_whole(const gg_buf *text)
{
    gg_json_reader r = gg_json_reader_make(gg_buf_cstr(text), text->len);
    return text->len && gg_read_skip(&r) && gg_read_end(&r);
}

/* Whether the fragment begins another call than this one, whose index it has or which came last. */
static bool is_another(const merging *m, const stream_call *call)
{
    if (m->id.len && call->id.len)
        return !same(&m->id, &call->id);
    if (!m->name.len || !call->name.len)
        return false;
    return !same(&m->name, &call->name) || is_whole(&call->arguments);
}

static stream_call *find_call(merging *m)
{
    for (size_t i = m->call_count; i > 0; i--) {
        stream_call *call = &m->calls[i - 1];
        bool candidate = m->index == NO_INDEX
                             ? i == m->call_count || (m->id.len && same(&m->id, &call->id))
                             : m->index == call->index;
        if (candidate && !is_another(m, call))
            return call;
    }
    return NULL;
}

static void add_fragment(merging *m, stream_call *call)
{
    if (!call->id.len)
        gg_buf_add(&call->id, gg_buf_cstr(&m->id), m->id.len);
    if (!call->name.len)
        gg_buf_add(&call->name, gg_buf_cstr(&m->name), m->name.len);
    if (m->arguments.len) {
        call->bare = m->bare && !call->arguments.len;
        gg_buf_add(&call->arguments, gg_buf_cstr(&m->arguments), m->arguments.len);
    }
}

static void read_index(merging *m)
{
    int64_t index;
    if (gg_read_next(&m->r) == 'n' || gg_read_next(&m->r) == '"')
        gg_read_skip(&m->r);
    else if (gg_read_int(&m->r, &index) && index >= 0)
        m->index = index;
}

static void read_id(merging *m)
{
    gg_json_name raw;
    char c = gg_read_next(&m->r);
    if (c == '"')
        gg_read_string(&m->r, &m->id);
    else if (gg_read_raw(&m->r, &raw) && c >= '0' && c <= '9')
        gg_buf_add(&m->id, raw.bytes, raw.len);
}

static void read_name(merging *m)
{
    add_text(m, &m->name);
}

static void read_arguments(merging *m)
{
    m->bare = gg_read_next(&m->r) != '"';
    if (m->bare)
        keep_value(m, &m->arguments);
    else
        gg_read_string(&m->r, &m->arguments);
}

static void read_function(merging *m)
{
    static const stream_member table[] = {{"name", read_name}, {"arguments", read_arguments}};
    MEMBERS(m, table);
}

static void begin_fragment(merging *m)
{
    gg_buf_reset(&m->id);
    gg_buf_reset(&m->name);
    gg_buf_reset(&m->arguments);
    m->index = NO_INDEX;
    m->bare = false;
}

static void read_calls(merging *m)
{
    static const stream_member table[] = {
        {"index", read_index}, {"id", read_id}, {"function", read_function}};
    if (gg_read_next(&m->r) != '[') {
        gg_read_skip(&m->r);
        return;
    }
    gg_read_array(&m->r);
    while (gg_read_element(&m->r)) {
        begin_fragment(m);
        MEMBERS(m, table);
        stream_call *call = find_call(m);
        if (!call && m->call_count < GG_CALLS_MAX) {
            call = &m->calls[m->call_count++];
            call->index = m->index;
        }
        if (call)
            add_fragment(m, call);
    }
}

static void read_legacy(merging *m)
{
    begin_fragment(m);
    read_function(m);
    add_fragment(m, &m->calls[GG_CALLS_MAX]);
}

/* ---- chunks ---- */

static void read_part_text(merging *m)
{
    add_text(m, &m->content);
}

static void read_content(merging *m)
{
    static const stream_member table[] = {{"text", read_part_text}};
    if (gg_read_next(&m->r) != '[') {
        add_text(m, &m->content);
        return;
    }
    gg_read_array(&m->r);
    while (gg_read_element(&m->r))
        MEMBERS(m, table);
}

/* Servers that send both fields send the same text in both. */
static void read_thoughts(merging *m, const char *field)
{
    if (m->reasoning_field && strcmp(m->reasoning_field, field) != 0)
        gg_read_skip(&m->r);
    else if (add_text(m, &m->reasoning) && m->reasoning.len)
        m->reasoning_field = field;
}

static void read_reasoning(merging *m)
{
    read_thoughts(m, "reasoning");
}

static void read_reasoning_content(merging *m)
{
    read_thoughts(m, "reasoning_content");
}

static void read_refusal(merging *m)
{
    add_text(m, &m->refusal);
}

static void read_delta(merging *m)
{
    static const stream_member table[] = {
        {"content", read_content},     {"tool_calls", read_calls},
        {"reasoning", read_reasoning}, {"reasoning_content", read_reasoning_content},
        {"refusal", read_refusal},     {"function_call", read_legacy},
    };
    MEMBERS(m, table);
}

/* A whole message in a chunk: some gateways stream in one piece, others say it all again last. */
static void read_message(merging *m)
{
    bool begun = m->content.len || m->reasoning.len || m->call_count;
    if (begun)
        gg_read_skip(&m->r);
    else
        read_delta(m);
}

static void read_finish(merging *m)
{
    if (m->finish.len)
        gg_read_skip(&m->r);
    else
        add_text(m, &m->finish);
}

static void read_logprobs_content(merging *m)
{
    add_elements(m, &m->logprobs);
}

static void read_token_logprobs(merging *m)
{
    add_elements(m, &m->token_logprobs);
}

static void read_logprobs(merging *m)
{
    static const stream_member table[] = {{"content", read_logprobs_content},
                                          {"token_logprobs", read_token_logprobs}};
    MEMBERS(m, table);
}

static void read_ids(merging *m)
{
    add_elements(m, &m->ids);
}

static void read_prompt_ids(merging *m)
{
    if (m->prompt_ids.len)
        gg_read_skip(&m->r);
    else
        add_elements(m, &m->prompt_ids);
}

static void read_usage(merging *m)
{
    keep_value(m, &m->usage);
}

static void read_version(merging *m)
{
    keep_value(m, &m->version);
}

static void read_meta(merging *m)
{
    keep_value(m, &m->meta);
}

static void read_error(merging *m)
{
    if (m->error.len)
        gg_read_skip(&m->r);
    else
        keep_value(m, &m->error);
}

/* The index of a choice stands anywhere in it: looked up before the choice is read. */
static bool is_first_choice(gg_json_reader ahead)
{
    gg_json_name name;
    int64_t index = 0;
    if (gg_read_next(&ahead) != '{')
        return false;
    gg_read_object(&ahead);
    while (gg_read_name(&ahead, &name)) {
        char c = gg_read_next(&ahead);
        if (gg_name_is(name, "index") && c != 'n' && c != '"')
            gg_read_int(&ahead, &index);
        else
            gg_read_skip(&ahead);
    }
    return index == 0;
}

static void read_choices(merging *m)
{
    static const stream_member table[] = {
        {"delta", read_delta},       {"message", read_message},
        {"logprobs", read_logprobs}, {"finish_reason", read_finish},
        {"token_ids", read_ids},     {"prompt_token_ids", read_prompt_ids},
        {"meta_info", read_meta},    {"error", read_error},
    };
    if (gg_read_next(&m->r) != '[') {
        gg_read_skip(&m->r);
        return;
    }
    gg_read_array(&m->r);
    while (gg_read_element(&m->r)) {
        if (!is_first_choice(m->r)) {
            gg_read_skip(&m->r);
            continue;
        }
        m->has_choice = true;
        MEMBERS(m, table);
    }
}

static void read_chunk(merging *m)
{
    static const stream_member table[] = {
        {"choices", read_choices}, {"usage", read_usage},
        {"error", read_error},     {"prompt_token_ids", read_prompt_ids},
        {"meta_info", read_meta},  {"weight_version", read_version},
    };
    MEMBERS(m, table);
}

/* ---- events ---- */

/* `event: error`, or a field of that name, with an object, its inside, or a sentence. */
static void take_error(merging *m)
{
    m->r = gg_json_reader_make(gg_buf_cstr(&m->event), m->event.len);
    if (is_whole(&m->event))
        read_chunk(m);
    if (m->error.len)
        return;
    if (is_whole(&m->event))
        gg_buf_add(&m->error, gg_buf_cstr(&m->event), m->event.len);
    else
        gg_buf_json(&m->error, gg_buf_cstr(&m->event), m->event.len);
}

static bool dispatch(merging *m)
{
    static const char end[] = "[DONE]";
    const char *data = gg_buf_cstr(&m->event);
    bool whole = true;
    if (m->event.len >= sizeof end - 1 && memcmp(data, end, sizeof end - 1) == 0) {
        m->done = true;
    } else if (m->event.len && m->event_error) {
        take_error(m);
    } else if (data[strspn(data, " \t\r\n")]) {
        m->r = gg_json_reader_make(data, m->event.len);
        read_chunk(m);
        whole = gg_read_end(&m->r) && !m->r.failed;
    }
    gg_buf_reset(&m->event);
    m->event_error = false;
    return whole;
}

/* The value of a line's field; NULL when the line has another one. One blank belongs to the colon.
 */
static const char *field_of(const char *line, size_t len, const char *name, size_t *value_len)
{
    size_t name_len = strlen(name);
    if (len < name_len + 1 || memcmp(line, name, name_len) != 0 || line[name_len] != ':')
        return NULL;
    size_t skip = name_len + 1;
    skip += skip < len && line[skip] == ' ';
    *value_len = len - skip;
    return line + skip;
}

static bool add_line(merging *m, const char *value, size_t len)
{
    bool whole = true;
    /* Events without a blank line between them. */
    if (m->event.len && is_whole(&m->event))
        whole = dispatch(m);
    if (m->event.len)
        gg_buf_char(&m->event, '\n');
    gg_buf_add(&m->event, value, len);
    return whole;
}

static bool read_line(merging *m, const char *line, size_t len)
{
    const char *value;
    size_t value_len;
    if (len == 0)
        return dispatch(m);
    if ((value = field_of(line, len, "data", &value_len)))
        return add_line(m, value, value_len);
    if (*line == '{') /* a chunk without its field's name */
        return add_line(m, line, len);
    if ((value = field_of(line, len, "event", &value_len))) {
        m->event_error = value_len == 5 && memcmp(value, "error", 5) == 0;
    } else if ((value = field_of(line, len, "error", &value_len))) {
        m->event_error = true;
        return add_line(m, value, value_len);
    }
    return true;
}

static bool read_lines(merging *m, const char *body, size_t len)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t at = len >= 3 && memcmp(body, mark, 3) == 0 ? 3 : 0;
    while (at < len && !m->done && !m->error.len) {
        size_t end = at;
        while (end < len && body[end] != '\n' && body[end] != '\r')
            end++;
        m->body = body + at;
        if (!read_line(m, body + at, end - at))
            return false;
        at = end + 1 + (end + 1 < len && body[end] == '\r' && body[end + 1] == '\n');
    }
    return m->done || m->error.len || dispatch(m);
}

bool gg_stream_is(const char *body, size_t len)
{
    static const char *const starts[] = {"data:", "event:", "error:", "retry:", "id:", ":"};
    static const char mark[] = "\xef\xbb\xbf";
    if (len >= 3 && memcmp(body, mark, 3) == 0) {
        body += 3;
        len -= 3;
    }
    for (; len && (*body == '\n' || *body == '\r'); body++)
        len--;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (len >= strlen(starts[i]) && memcmp(body, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* ---- the object ---- */

static void write_value(gg_buf *out, const char *name, const gg_buf *value)
{
    if (value->len)
        gg_buf_printf(out, ",\"%s\":", name);
    gg_buf_add(out, gg_buf_cstr(value), value->len);
}

static void write_list(gg_buf *out, const char *name, const gg_buf *elements)
{
    if (!elements->len)
        return;
    gg_buf_printf(out, ",\"%s\":[", name);
    gg_buf_add(out, gg_buf_cstr(elements), elements->len);
    gg_buf_char(out, ']');
}

static void write_text(gg_buf *out, const char *name, const gg_buf *text)
{
    if (!text->len)
        return;
    gg_buf_printf(out, ",\"%s\":", name);
    gg_buf_json(out, gg_buf_cstr(text), text->len);
}

static void write_function(gg_buf *out, const stream_call *call)
{
    gg_buf_str(out, "{\"type\":\"function\"");
    write_text(out, "name", &call->name);
    if (call->bare)
        write_value(out, "arguments", &call->arguments);
    else
        write_text(out, "arguments", &call->arguments);
    gg_buf_char(out, '}');
}

static void write_message(gg_buf *out, const merging *m)
{
    const stream_call *legacy = &m->calls[GG_CALLS_MAX];
    gg_buf_str(out, "{\"role\":\"assistant\"");
    write_text(out, "content", &m->content);
    if (m->reasoning_field)
        write_text(out, m->reasoning_field, &m->reasoning);
    write_text(out, "refusal", &m->refusal);
    for (size_t i = 0; i < m->call_count; i++) {
        gg_buf_str(out, i ? ",{\"type\":\"function\"" : ",\"tool_calls\":[{\"type\":\"function\"");
        write_text(out, "id", &m->calls[i].id);
        gg_buf_str(out, ",\"function\":");
        write_function(out, &m->calls[i]);
        gg_buf_str(out, i + 1 == m->call_count ? "}]" : "}");
    }
    if (legacy->name.len) {
        gg_buf_str(out, ",\"function_call\":");
        write_function(out, legacy);
    }
    gg_buf_char(out, '}');
}

static void write_choice(gg_buf *out, const merging *m)
{
    gg_buf_str(out, ",\"choices\":[{\"index\":0,\"message\":");
    write_message(out, m);
    write_text(out, "finish_reason", &m->finish);
    if (m->logprobs.len || m->token_logprobs.len) {
        gg_buf_str(out, ",\"logprobs\":{\"refusal\":null");
        write_list(out, "content", &m->logprobs);
        write_list(out, "token_logprobs", &m->token_logprobs);
        gg_buf_char(out, '}');
    }
    write_list(out, "token_ids", &m->ids);
    gg_buf_str(out, "}]");
}

static void write_object(gg_buf *out, const merging *m)
{
    if (m->error.len) {
        gg_buf_str(out, "{\"error\":");
        gg_buf_add(out, gg_buf_cstr(&m->error), m->error.len);
        gg_buf_char(out, '}');
        return;
    }
    gg_buf_str(out, "{\"object\":\"chat.completion\"");
    if (m->has_choice)
        write_choice(out, m);
    write_list(out, "prompt_token_ids", &m->prompt_ids);
    write_value(out, "usage", &m->usage);
    write_value(out, "meta_info", &m->meta);
    write_value(out, "weight_version", &m->version);
    gg_buf_char(out, '}');
}

/* ---- the whole ---- */

/* Every buffer of a merge but those of calls. */
#define BUFFERS 15
static void list_buffers(merging *m, gg_buf *list[BUFFERS])
{
    gg_buf *const all[BUFFERS] = {
        &m->event, &m->content, &m->reasoning, &m->refusal, &m->logprobs,
        &m->ids,   &m->usage,   &m->finish,    &m->version, &m->prompt_ids,
        &m->error, &m->meta,    &m->id,        &m->name,    &m->token_logprobs,
    };
    memcpy(list, all, sizeof all);
}

static gg_status buffers_status(merging *m, gg_error *error)
{
    gg_buf *list[BUFFERS];
    gg_status status = gg_buf_status(&m->arguments, "a streamed reply", error);
    list_buffers(m, list);
    for (size_t i = 0; i < BUFFERS && status == GG_OK; i++)
        status = gg_buf_status(list[i], "a streamed reply", error);
    for (size_t i = 0; i <= GG_CALLS_MAX && status == GG_OK; i++)
        status = gg_buf_status(&m->calls[i].arguments, "a streamed call", error);
    return status;
}

static void begin(merging *m)
{
    gg_buf *list[BUFFERS];
    memset(m, 0, sizeof *m);
    list_buffers(m, list);
    for (size_t i = 0; i < BUFFERS; i++)
        gg_buf_init(list[i], GG_REPLY_STRING_MAX);
    gg_buf_init(&m->arguments, GG_REPLY_STRING_MAX);
    gg_buf_init(&m->event, MERGED_MAX);
    gg_buf_init(&m->logprobs, MERGED_MAX);
    for (size_t i = 0; i <= GG_CALLS_MAX; i++)
        begin_call(&m->calls[i]);
}

static void end(merging *m)
{
    gg_buf *list[BUFFERS];
    list_buffers(m, list);
    for (size_t i = 0; i < BUFFERS; i++)
        gg_buf_free(list[i]);
    gg_buf_free(&m->arguments);
    for (size_t i = 0; i <= GG_CALLS_MAX; i++) {
        gg_buf_free(&m->calls[i].id);
        gg_buf_free(&m->calls[i].name);
        gg_buf_free(&m->calls[i].arguments);
    }
}

gg_status gg_stream_merge(const char *body, size_t len, gg_buf *out, gg_error *error)
{
    merging m;
    begin(&m);
    bool whole = read_lines(&m, body, len);
    gg_status status = buffers_status(&m, error);
    if (status == GG_OK && !whole)
        status =
            gg_fail(error, GG_E_FORMAT, "the stream has a chunk that is not JSON (byte %zu of %zu)",
                    (size_t)(m.body - body), len);
    else if (status == GG_OK && !m.done && !m.finish.len && !m.error.len)
        status = gg_fail(error, GG_E_FORMAT,
                         "the stream broke off after %zu bytes, with neither a finish_reason nor "
                         "[DONE]",
                         len);
    if (status == GG_OK) {
        write_object(out, &m);
        status = gg_buf_status(out, "a streamed reply", error);
    }
    end(&m);
    return status;
}
