#include "policy/template.h"

#include <stdlib.h>
#include <string.h>

typedef struct writer {
    const gg_tokenizer *tokenizer;
    gg_ids *out;
    gg_error *error;
    int index; /* of the message, for error sentences */
} writer;

static void put_text(writer *w, const char *text)
{
    if (text)
        gg_tokenizer_encode(w->tokenizer, text, strlen(text), w->out);
}

static gg_status put_part(writer *w, const cJSON *part, int index)
{
    const char *type = gg_json_text(part, "type");
    const char *text = gg_json_text(part, "text");
    if (!text || (type && strcmp(type, "text") != 0))
        return gg_fail(w->error, GG_E_ARGUMENT,
                       "messages[%d].content[%d] is not a text part; this policy reads text only",
                       w->index, index);
    put_text(w, text);
    return GG_OK;
}

/* A string, nothing, or an array of text parts. */
static gg_status put_content(writer *w, const cJSON *content)
{
    if (!content)
        return GG_OK;
    if (cJSON_IsString(content)) {
        put_text(w, content->valuestring);
        return GG_OK;
    }
    if (!cJSON_IsArray(content))
        return gg_fail(w->error, GG_E_ARGUMENT,
                       "messages[%d].content must be a string or an array of text parts", w->index);
    int index = 0;
    for (const cJSON *part = content->child; part; part = part->next) {
        gg_status status = put_part(w, part, index++);
        if (status != GG_OK)
            return status;
    }
    return GG_OK;
}

static gg_status put_call(writer *w, const cJSON *call)
{
    const cJSON *function = gg_json_get(call, "function");
    const char *name = gg_json_text(function, "name");
    const char *arguments = gg_json_text(function, "arguments");
    if (!name || !arguments)
        return gg_fail(w->error, GG_E_ARGUMENT,
                       "messages[%d].tool_calls: every call needs function.name and "
                       "function.arguments, both strings",
                       w->index);
    gg_ids_push(w->out, GG_TOKEN_CALL);
    put_text(w, name);
    gg_ids_push(w->out, GG_TOKEN_ARGUMENTS);
    put_text(w, arguments);
    return GG_OK;
}

static gg_status put_assistant(writer *w, const cJSON *message)
{
    const char *thoughts = gg_json_text(message, "reasoning_content");
    if (!thoughts || !*thoughts)
        thoughts = gg_json_text(message, "reasoning");
    if (thoughts && *thoughts) {
        gg_ids_push(w->out, GG_TOKEN_THINK);
        put_text(w, thoughts);
        gg_ids_push(w->out, GG_TOKEN_THOUGHT);
    }
    gg_status status = put_content(w, gg_json_get(message, "content"));
    const cJSON *calls = gg_json_get(message, "tool_calls");
    if (status == GG_OK && calls && !cJSON_IsArray(calls))
        return gg_fail(w->error, GG_E_ARGUMENT, "messages[%d].tool_calls must be an array",
                       w->index);
    for (const cJSON *call = calls ? calls->child : NULL; status == GG_OK && call;
         call = call->next)
        status = put_call(w, call);
    return status;
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
    for (size_t i = 0; name && i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i].name, name) == 0)
            return &roles[i];
    return NULL;
}

static gg_status put_message(writer *w, const cJSON *message)
{
    const struct role *role = find_role(gg_json_text(message, "role"));
    if (!role)
        return gg_fail(w->error, GG_E_ARGUMENT,
                       "messages[%d].role must be system, developer, user, assistant or tool",
                       w->index);
    gg_ids_push(w->out, role->token);
    gg_status status = role->token == GG_TOKEN_ASSISTANT
                           ? put_assistant(w, message)
                           : put_content(w, gg_json_get(message, "content"));
    gg_ids_push(w->out, GG_TOKEN_END);
    return status;
}

static gg_status put_tools(writer *w, const cJSON *tools)
{
    if (!tools || !tools->child)
        return GG_OK;
    int index = 0;
    for (const cJSON *tool = tools->child; tool; tool = tool->next, index++) {
        const char *name = gg_json_text(gg_json_get(tool, "function"), "name");
        if (!name)
            return gg_fail(w->error, GG_E_ARGUMENT, "tools[%d].function.name is missing", index);
        gg_ids_push(w->out, GG_TOKEN_TOOLS);
        put_text(w, name);
    }
    gg_ids_push(w->out, GG_TOKEN_END);
    return GG_OK;
}

gg_status gg_template_prompt(const gg_vocabulary *vocabulary, const cJSON *messages,
                             const cJSON *tools, gg_effort effort, gg_ids *out, gg_error *error)
{
    writer w = {.tokenizer = vocabulary->tokenizer, .out = out, .error = error};
    if (!cJSON_IsArray(messages) || !messages->child)
        return gg_fail(error, GG_E_ARGUMENT, "messages must be an array with at least one message");
    gg_ids_push(out, GG_TOKEN_LOW + (int32_t)effort);
    gg_status status = put_tools(&w, tools);
    for (const cJSON *m = messages->child; status == GG_OK && m; m = m->next, w.index++) {
        status = put_message(&w, m);
        if (status == GG_OK && out->count > GG_TEMPLATE_TOKENS_MAX)
            status = gg_fail(error, GG_E_LIMIT, "the prompt is longer than %u tokens",
                             GG_TEMPLATE_TOKENS_MAX);
    }
    gg_ids_push(out, GG_TOKEN_ASSISTANT);
    if (status == GG_OK && out->failed)
        status =
            gg_fail(error, GG_E_MEMORY, "not enough memory for a prompt of %zu tokens", out->count);
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

static void split(const gg_vocabulary *v, gg_policy_reply *reply, pieces *found)
{
    int32_t opener = GG_TOKEN_ASSISTANT;
    *found = (pieces){0};
    for (size_t at = 0; at <= reply->count;) {
        stretch s = {at, text_end(reply, at)};
        if (opener == GG_TOKEN_THINK) {
            add_text(v->tokenizer, reply, s, &reply->reasoning);
            reply->reasoning_tokens += (int64_t)(s.to - s.from) + 1 + (s.to < reply->count);
        } else if (opener == GG_TOKEN_CALL && found->name.to == 0) {
            found->name = s;
        } else if (opener == GG_TOKEN_ARGUMENTS && found->arguments.to == 0) {
            found->arguments = s;
            found->call_complete =
                s.to < reply->count || (s.to > s.from && reply->ids[s.to - 1] == v->close);
        } else if (opener != GG_TOKEN_CALL && opener != GG_TOKEN_ARGUMENTS) {
            add_text(v->tokenizer, reply, s, &reply->content);
        }
        if (s.to < reply->count)
            opener = reply->ids[s.to];
        at = s.to + 1;
    }
}

gg_status gg_template_parse(const gg_vocabulary *v, gg_policy_reply *reply, gg_error *error)
{
    pieces found;
    split(v, reply, &found);
    if (found.call_complete) {
        reply->call.name = text_of(v->tokenizer, reply->ids, found.name);
        reply->call.arguments = text_of(v->tokenizer, reply->ids, found.arguments);
        if (!reply->call.name || !reply->call.arguments)
            return gg_fail(error, GG_E_MEMORY, "not enough memory for a reply");
        if (strcmp(reply->finish_reason, "stop") == 0)
            reply->finish_reason = "tool_calls";
    }
    gg_status status = gg_buf_status(&reply->reasoning, "the reply's reasoning", error);
    return status == GG_OK ? gg_buf_status(&reply->content, "the reply's content", error) : status;
}
