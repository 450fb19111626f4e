/* Reading a chat completions reply (agent/chat.h). */
#include "agent/reply_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"

#define COUNT_MAX 1e15 /* a larger token count is a mistake */

typedef gg_reply_reading reading;
typedef gg_reply_member member;

void gg_reply_init(gg_reply *reply)
{
    *reply = (gg_reply){0};
    gg_buf_init(&reply->scratch, GG_REPLY_STRING_MAX);
    gg_buf_init(&reply->token_text, GG_REPLY_STRING_MAX);
}

static void free_pairs(gg_reply_pairs *pairs)
{
    free(pairs->ids);
    free(pairs->logprobs);
}

void gg_reply_free(gg_reply *reply)
{
    free(reply->calls);
    free(reply->prompt_ids);
    free(reply->ids);
    free(reply->logprobs);
    free_pairs(&reply->entries);
    free_pairs(&reply->meta);
    gg_pool_free(&reply->pool);
    gg_buf_free(&reply->scratch);
    gg_buf_free(&reply->token_text);
    gg_reply_init(reply);
}

static void forget(gg_reply *reply)
{
    gg_pool_reset(&reply->pool);
    reply->content = reply->reasoning = "";
    reply->content_len = 0;
    reply->reasoning_field = reply->finish_reason = reply->error = NULL;
    reply->call_count = reply->calls_dropped = 0;
    reply->usage =
        (gg_usage){GG_TOKENS_UNKNOWN, GG_TOKENS_UNKNOWN, GG_TOKENS_UNKNOWN, GG_TOKENS_UNKNOWN};
    reply->weight_version = -1;
    reply->prompt_count = reply->id_count = reply->logprob_count = 0;
    reply->entries.count = reply->meta.count = 0;
    gg_buf_reset(&reply->token_text);
    reply->has_choice = reply->token_text_whole = false;
}

/* Reads an object by its table; any other value is passed over. */
void gg_reply_members(gg_reply_reading *in, const gg_reply_member *table, size_t count)
{
    gg_json_name name;
    if (gg_read_next(&in->r) != '{') {
        gg_read_skip(&in->r);
        return;
    }
    gg_read_object(&in->r);
    while (gg_read_name(&in->r, &name)) {
        size_t i = 0;
        while (i < count && !gg_name_is(name, table[i].name))
            i++;
        if (i == count) {
            gg_read_skip(&in->r);
            continue;
        }
        in->place = table[i].place;
        table[i].read(in);
    }
}

bool gg_reply_array(reading *in)
{
    if (gg_read_next(&in->r) == '[')
        return gg_read_array(&in->r);
    gg_read_skip(&in->r);
    return false;
}

static const char *keep(reading *in, const char *bytes, size_t len)
{
    const char *copy = gg_pool_copy(&in->reply->pool, bytes, len);
    if (!copy)
        in->r.failed = in->r.no_memory = true;
    return copy;
}

/* A non-empty string, or NULL for anything else. */
static const char *read_text(reading *in, size_t *len)
{
    gg_buf *scratch = &in->reply->scratch;
    *len = 0;
    if (gg_read_next(&in->r) != '"') {
        gg_read_skip(&in->r);
        return NULL;
    }
    gg_buf_reset(scratch);
    if (!gg_read_string(&in->r, scratch) || scratch->len == 0)
        return NULL;
    *len = scratch->len;
    return keep(in, scratch->data, scratch->len);
}

int64_t gg_reply_count(reading *in)
{
    gg_json_name raw;
    double value;
    if (!gg_read_raw(&in->r, &raw))
        return -1;
    if (raw.len > 2 && raw.bytes[0] == '"') {
        raw.bytes++;
        raw.len -= 2;
    }
    gg_json_reader inner = gg_json_reader_make(raw.bytes, raw.len);
    if (!gg_read_double(&inner, &value) || !gg_read_end(&inner) || value < 0 || value > COUNT_MAX)
        return -1;
    return (int64_t)value;
}

void gg_reply_count_into(reading *in)
{
    size_t place = in->place;
    int64_t value = gg_reply_count(in);
    memcpy((char *)in->reply + place, &value, sizeof value);
}

static void read_prompt_details(reading *in)
{
    static const member table[] = {COUNT_MEMBER("cached_tokens", usage.cached)};
    READ_MEMBERS(in, table);
}

static void read_completion_details(reading *in)
{
    static const member table[] = {COUNT_MEMBER("reasoning_tokens", usage.reasoning)};
    READ_MEMBERS(in, table);
}

static void read_usage(reading *in)
{
    static const member table[] = {
        COUNT_MEMBER("prompt_tokens", usage.prompt),
        COUNT_MEMBER("completion_tokens", usage.completion),
        {"prompt_tokens_details", read_prompt_details, 0},
        {"completion_tokens_details", read_completion_details, 0},
        COUNT_MEMBER("reasoning_tokens", usage.reasoning), /* SGLang */
    };
    READ_MEMBERS(in, table);
}

static void read_name(reading *in)
{
    size_t len;
    in->call->name = read_text(in, &len);
}

static void read_arguments(reading *in)
{
    gg_json_name raw;
    size_t len;
    char c = gg_read_next(&in->r);
    if (c == '"') {
        in->call->arguments = read_text(in, &len);
    } else if (c == 'n') {
        gg_read_skip(&in->r);
    } else if (gg_read_raw(&in->r, &raw)) {
        in->call->arguments = keep(in, raw.bytes, raw.len);
        in->call->bare = true;
    }
}

static void read_function(reading *in)
{
    static const member table[] = {{"name", read_name, 0}, {"arguments", read_arguments, 0}};
    READ_MEMBERS(in, table);
}

/* An id is text, though one server sends a number. */
static void read_id(reading *in)
{
    gg_json_name raw;
    size_t len;
    char c = gg_read_next(&in->r);
    if (c == '"')
        in->call->id = read_text(in, &len);
    else if (gg_read_raw(&in->r, &raw) && c >= '0' && c <= '9')
        in->call->id = keep(in, raw.bytes, raw.len);
}

static gg_reply_call *push_call(reading *in)
{
    gg_reply *reply = in->reply;
    if (reply->call_count == reply->call_room) {
        size_t room = reply->call_room ? reply->call_room * 2 : 8;
        gg_reply_call *grown = realloc(reply->calls, room * sizeof *grown);
        if (!grown) {
            in->r.failed = in->r.no_memory = true;
            return NULL;
        }
        reply->calls = grown;
        reply->call_room = room;
    }
    gg_reply_call *call = &reply->calls[reply->call_count++];
    *call = (gg_reply_call){0};
    return call;
}

static void read_calls(reading *in)
{
    static const member table[] = {{"id", read_id, 0}, {"function", read_function, 0}};
    if (!gg_reply_array(in))
        return;
    in->reply->call_count = 0;
    while (gg_read_element(&in->r)) {
        if (gg_read_next(&in->r) != '{' || in->reply->call_count == GG_CALLS_MAX) {
            in->reply->calls_dropped += gg_read_next(&in->r) == '{';
            gg_read_skip(&in->r);
            continue;
        }
        in->call = push_call(in);
        if (in->call)
            READ_MEMBERS(in, table);
    }
}

static void read_legacy_call(reading *in)
{
    in->call = &in->legacy;
    read_function(in);
}

static void read_part_text(reading *in)
{
    if (gg_read_next(&in->r) == '"')
        gg_read_string(&in->r, &in->reply->scratch);
    else
        gg_read_skip(&in->r);
}

/* Content as parts: the text parts, put together. */
static void read_parts(reading *in)
{
    static const member table[] = {{"text", read_part_text, 0}};
    gg_reply *reply = in->reply;
    gg_buf_reset(&reply->scratch);
    gg_read_array(&in->r);
    while (gg_read_element(&in->r))
        READ_MEMBERS(in, table);
    if (in->r.failed || reply->scratch.len == 0)
        return;
    reply->content_len = reply->scratch.len;
    reply->content = keep(in, reply->scratch.data, reply->scratch.len);
}

static void read_content(reading *in)
{
    size_t len;
    if (gg_read_next(&in->r) == '[') {
        read_parts(in);
        return;
    }
    const char *text = read_text(in, &len);
    if (text) {
        in->reply->content = text;
        in->reply->content_len = len;
    }
}

static void read_thoughts(reading *in, const char *field)
{
    size_t len;
    const char *text = read_text(in, &len);
    if (text) {
        in->reply->reasoning = text;
        in->reply->reasoning_field = field;
    }
}

static void read_reasoning(reading *in)
{
    read_thoughts(in, "reasoning");
}

static void read_reasoning_content(reading *in)
{
    read_thoughts(in, "reasoning_content");
}

static void read_refusal(reading *in)
{
    in->refusal = read_text(in, &in->refusal_len);
}

static void read_message(reading *in)
{
    static const member table[] = {
        {"content", read_content, 0},     {"tool_calls", read_calls, 0},
        {"reasoning", read_reasoning, 0}, {"reasoning_content", read_reasoning_content, 0},
        {"refusal", read_refusal, 0},     {"function_call", read_legacy_call, 0},
    };
    gg_reply *reply = in->reply;
    READ_MEMBERS(in, table);
    if (reply->content_len == 0 && in->refusal) {
        reply->content = in->refusal;
        reply->content_len = in->refusal_len;
    }
    if (reply->call_count == 0 && in->legacy.name && push_call(in)) {
        reply->calls[0] = in->legacy;
        reply->calls[0].legacy = true;
    }
}

static void read_finish(reading *in)
{
    size_t len;
    in->reply->finish_reason = read_text(in, &len);
}

static void read_error(reading *in)
{
    static const char *const nothing[] = {"null", "false", "\"\"", "{}", "0"};
    gg_json_name raw;
    if (!gg_read_raw(&in->r, &raw))
        return;
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (gg_name_is(raw, nothing[i]))
            return;
    in->reply->error = keep(in, raw.bytes, raw.len);
}

static void read_choices(reading *in)
{
    static const member table[] = {
        {"message", read_message, 0},       {"finish_reason", read_finish, 0},
        {"logprobs", gg_reply_logprobs, 0}, {"token_ids", gg_reply_ids, 0},
        {"output_ids", gg_reply_ids, 0},    {"prompt_token_ids", gg_reply_prompt_ids, 0},
        {"meta_info", gg_reply_meta, 0},    {"error", read_error, 0},
    };
    if (!gg_reply_array(in))
        return;
    while (gg_read_element(&in->r)) {
        if (in->reply->has_choice || gg_read_next(&in->r) != '{') {
            gg_read_skip(&in->r);
            continue;
        }
        in->reply->has_choice = true;
        READ_MEMBERS(in, table);
    }
}

static const member root[] = {
    {"choices", read_choices, 0},
    {"usage", read_usage, 0},
    {"prompt_token_ids", gg_reply_prompt_ids, 0},
    {"output_ids", gg_reply_ids, 0},
    COUNT_MEMBER("weight_version", weight_version),
    {"meta_info", gg_reply_meta, 0},
    {"error", read_error, 0},
};

gg_status gg_reply_read(gg_reply *reply, const char *body, size_t len, gg_error *error)
{
    forget(reply);
    reading in = {.r = gg_json_reader_make(body, len), .reply = reply};
    char first = gg_read_next(&in.r);
    if (first == '\0')
        return gg_fail(error, GG_E_FORMAT, "the reply is empty");
    READ_MEMBERS(&in, root);
    if (first != '{' || !gg_read_end(&in.r)) {
        size_t at = (size_t)(in.r.at - body);
        bool no_memory = in.r.no_memory || reply->scratch.status == GG_E_MEMORY;
        forget(reply);
        if (no_memory)
            return gg_fail(error, GG_E_MEMORY, "out of memory while reading a reply");
        return gg_fail(error, GG_E_FORMAT, "the reply is not a whole JSON object (byte %zu of %zu)",
                       at, len);
    }
    if (gg_reply_settle_ids(reply))
        return GG_OK;
    forget(reply);
    return gg_fail(error, GG_E_MEMORY, "out of memory while reading a reply");
}

bool gg_reply_cut(const gg_reply *reply)
{
    return reply->finish_reason && (strcmp(reply->finish_reason, "length") == 0 ||
                                    strcmp(reply->finish_reason, "max_tokens") == 0);
}
