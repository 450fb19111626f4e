#include "agent/chat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"

static const char *const efforts[] = {"none", "minimal", "low", "medium", "high", "xhigh", "max"};
static const char *const places[] = {
    [GG_EFFORT_TOP] = "top",
    [GG_EFFORT_REASONING_OBJECT] = "reasoning-object",
    [GG_EFFORT_TEMPLATE_KWARGS] = "template-kwargs",
    [GG_EFFORT_SYSTEM_LINE] = "system-line",
    [GG_EFFORT_OFF] = "off",
};
#define NAME_ROOM    128 /* bytes of a field that is not sent */
#define COUNT(table) (sizeof(table) / sizeof *(table))

bool gg_effort_known(const char *text)
{
    for (size_t i = 0; i < COUNT(efforts); i++)
        if (strcmp(text, efforts[i]) == 0)
            return true;
    return false;
}

bool gg_effort_in_parse(const char *text, gg_effort_in *out)
{
    for (size_t i = 0; i < COUNT(places); i++) {
        if (strcmp(text, places[i]) == 0) {
            *out = (gg_effort_in)i;
            return true;
        }
    }
    return false;
}

const char *gg_effort_choices(void)
{
    return "none|minimal|low|medium|high|xhigh|max";
}

const char *gg_effort_in_choices(void)
{
    return "top|reasoning-object|template-kwargs|system-line|off";
}

/* Replaces a member, or adds it. False when memory is short; `value` is taken either way. */
static bool put(cJSON *object, const char *name, cJSON *value)
{
    if (!value)
        return false;
    cJSON_DeleteItemFromObjectCaseSensitive(object, name);
    if (cJSON_AddItemToObject(object, name, value))
        return true;
    cJSON_Delete(value);
    return false;
}

static bool put_effort(cJSON *body, const gg_ask *ask)
{
    cJSON *inner;
    if (!ask->effort)
        return true;
    switch (ask->effort_in) {
    case GG_EFFORT_TOP:
        return put(body, "reasoning_effort", cJSON_CreateString(ask->effort));
    case GG_EFFORT_REASONING_OBJECT:
        inner = cJSON_AddObjectToObject(body, "reasoning");
        return inner && put(inner, "effort", cJSON_CreateString(ask->effort));
    case GG_EFFORT_TEMPLATE_KWARGS:
        inner = cJSON_AddObjectToObject(body, "chat_template_kwargs");
        return inner && put(inner, "reasoning_effort", cJSON_CreateString(ask->effort)) &&
               put(inner, "enable_thinking", cJSON_CreateBool(strcmp(ask->effort, "none") != 0));
    case GG_EFFORT_SYSTEM_LINE: /* written with the system prompt */
    case GG_EFFORT_OFF:
        break;
    }
    return true;
}

static bool put_sampling(cJSON *body, const gg_ask *ask)
{
    bool done = put(body, ask->max_tokens_key, cJSON_CreateNumber((double)ask->max_tokens)) &&
                put(body, "temperature", cJSON_CreateNumber(ask->temperature)) &&
                put(body, "top_p", cJSON_CreateNumber(ask->top_p)) && put_effort(body, ask);
    static const struct {
        unsigned bit;
        const char *key;
    } forms[] = {{GG_IDS_LOGPROBS, "logprobs"},
                 {GG_IDS_VLLM, "return_token_ids"},
                 {GG_IDS_SGLANG, "return_prompt_token_ids"},
                 {GG_IDS_SGLANG, "return_meta_info"}};
    for (size_t i = 0; done && i < COUNT(forms); i++)
        if (ask->token_ids & forms[i].bit)
            done = put(body, forms[i].key, cJSON_CreateTrue());
    return done;
}

/* Without include_usage a stream does not count its tokens. */
static bool put_stream(cJSON *body, const gg_ask *ask)
{
    if (!ask->stream)
        return true;
    cJSON *options = cJSON_AddObjectToObject(body, "stream_options");
    return options && put(options, "include_usage", cJSON_CreateTrue()) &&
           put(body, "stream", cJSON_CreateTrue());
}

static gg_status put_tools(cJSON *body, const char *tools, gg_error *error)
{
    cJSON *list;
    gg_status status = gg_json_parse(tools, strlen(tools), &list, error);
    if (status != GG_OK) {
        gg_fail_prefix(error, "the environment's tools");
        return status;
    }
    /* An empty list is refused by some servers; left out, it means the same. */
    if (cJSON_GetArraySize(list) == 0) {
        cJSON_Delete(list);
        return GG_OK;
    }
    return put(body, "tools", list) ? GG_OK : gg_fail(error, GG_E_MEMORY, "out of memory");
}

static gg_status merge_extra(cJSON *body, const char *text, gg_error *error)
{
    cJSON *extra;
    gg_status status = gg_json_parse(text, strlen(text), &extra, error);
    if (status == GG_E_MEMORY)
        return status;
    if (status != GG_OK || !cJSON_IsObject(extra)) {
        cJSON_Delete(extra);
        return gg_fail(error, GG_E_CONFIG,
                       "the extra request body must be a JSON object such as {\"top_k\": 20}");
    }
    if (cJSON_GetObjectItemCaseSensitive(extra, "messages")) {
        cJSON_Delete(extra);
        return gg_fail(error, GG_E_CONFIG, "the extra request body cannot replace \"messages\"");
    }
    while (extra->child && status == GG_OK) {
        cJSON *item = cJSON_DetachItemViaPointer(extra, extra->child);
        char *name = item->string;
        item->string = NULL;
        if (!put(body, name, item))
            status = gg_fail(error, GG_E_MEMORY, "out of memory");
        cJSON_free(name);
    }
    cJSON_Delete(extra);
    return status;
}

/* {"type": "text"} holds nothing to a form. */
static bool is_free_format(const cJSON *format)
{
    const char *type = gg_json_text(format, "type");
    return !format || (type && strcmp(type, "text") == 0);
}

/* Whether the body holds the sampling to a form, in the words of OpenAI, vLLM, SGLang, llama.cpp,
 * TGI and Ollama; a mask over the tokens is one too. */
static bool is_constrained(const cJSON *body)
{
    static const char *const keys[] = {
        "structured_outputs", "grammar", "json_schema",       "regex",     "ebnf",
        "structural_tag",     "format",  "allowed_token_ids", "bad_words", "logit_bias",
    };
    for (size_t i = 0; i < COUNT(keys); i++)
        if (gg_json_get(body, keys[i]))
            return true;
    const cJSON *item;
    cJSON_ArrayForEach(item, body)
    {
        if (strncmp(item->string, "guided_", 7) == 0 && !cJSON_IsNull(item))
            return true;
    }
    if (!is_free_format(gg_json_get(body, "response_format")))
        return true;
    const cJSON *choice = gg_json_get(body, "tool_choice");
    const char *text = cJSON_GetStringValue(choice);
    return choice && !(text && (strcmp(text, "auto") == 0 || strcmp(text, "none") == 0));
}

/* The next name of a list, one a line; *at moves behind it. */
static bool next_name(const char **at, char out[NAME_ROOM])
{
    size_t len = *at ? strcspn(*at, "\n") : 0;
    if (!len)
        return false;
    snprintf(out, NAME_ROOM, "%.*s", (int)len, *at);
    *at += len + ((*at)[len] == '\n');
    return true;
}

static bool is_dropped(const gg_ask *ask, const char *name)
{
    char dropped[NAME_ROOM];
    for (const char *at = ask->drop; next_name(&at, dropped);)
        if (strcmp(dropped, name) == 0)
            return true;
    return false;
}

static gg_status fill(cJSON *body, const gg_ask *ask, const char *tools, gg_error *error)
{
    if ((ask->model && !put(body, "model", cJSON_CreateString(ask->model))) ||
        !put_sampling(body, ask) || !put_stream(body, ask))
        return gg_fail(error, GG_E_MEMORY, "out of memory");
    gg_status status = put_tools(body, tools, error);
    if (status == GG_OK && ask->extra_body)
        status = merge_extra(body, ask->extra_body, error);
    char dropped[NAME_ROOM];
    for (const char *at = ask->drop; next_name(&at, dropped);)
        cJSON_DeleteItemFromObjectCaseSensitive(body, dropped);
    return status;
}

gg_status gg_frame_make(gg_frame *frame, const gg_ask *ask, const char *tools, gg_error *error)
{
    *frame = (gg_frame){0};
    gg_buf_init(&frame->head, GG_REQUEST_MAX);
    cJSON *body = cJSON_CreateObject();
    if (!body)
        return gg_fail(error, GG_E_MEMORY, "out of memory");
    gg_status status = fill(body, ask, tools, error);
    if (status == GG_OK) {
        frame->constrained = is_constrained(body);
        frame->seed = ask->send_seed && !is_dropped(ask, "seed") &&
                      !cJSON_GetObjectItemCaseSensitive(body, "seed");
        gg_buf_cjson(&frame->head, body);
        gg_buf_truncate(&frame->head, frame->head.len - 1); /* the closing brace */
        gg_buf_str(&frame->head, body->child ? ",\"messages\":[" : "\"messages\":[");
        status = gg_buf_status(&frame->head, "the request", error);
    }
    cJSON_Delete(body);
    return status;
}

void gg_frame_free(gg_frame *frame)
{
    gg_buf_free(&frame->head);
}

void gg_frame_body(const gg_frame *frame, const gg_buf *history, uint64_t seed, gg_buf *body)
{
    gg_buf_reserve(body, frame->head.len + history->len + 64);
    gg_buf_add(body, frame->head.data, frame->head.len);
    gg_buf_add(body, history->data, history->len);
    gg_buf_char(body, ']');
    if (frame->seed) {
        gg_buf_str(body, ",\"seed\":");
        gg_buf_int(body, (int64_t)seed); /* below 2^53 */
    }
    gg_buf_char(body, '}');
}

static void begin(gg_buf *history, const char *role)
{
    if (history->len)
        gg_buf_char(history, ',');
    gg_buf_str(history, "{\"role\":\"");
    gg_buf_str(history, role);
    gg_buf_str(history, "\",\"content\":");
}

void gg_history_system(gg_buf *history, const char *text, const char *line)
{
    begin(history, "system");
    gg_buf_json_str(history, text);
    if (line) {
        gg_buf_truncate(history, history->len - 1); /* the closing quote */
        gg_buf_str(history, "\\n\\n");
        size_t at = history->len;
        gg_buf_json_str(history, line);
        if (history->status == GG_OK) { /* the line's own opening quote */
            memmove(history->data + at, history->data + at + 1, history->len - at);
            history->len--;
        }
    }
    gg_buf_char(history, '}');
}

void gg_history_user(gg_buf *history, const char *text)
{
    begin(history, "user");
    gg_buf_json_str(history, text);
    gg_buf_char(history, '}');
}

void gg_history_tool(gg_buf *history, const char *id, const char *text)
{
    begin(history, "tool");
    gg_buf_json_str(history, text);
    gg_buf_str(history, ",\"tool_call_id\":");
    gg_buf_json_str(history, id);
    gg_buf_char(history, '}');
}

void gg_history_said(gg_buf *history, const gg_said *said, size_t call_count)
{
    bool thoughts = said->field && *said->reasoning;
    begin(history, "assistant");
    if (said->content_len || call_count || thoughts)
        gg_buf_json(history, said->content, said->content_len);
    else
        gg_buf_json_str(history, GG_EMPTY_REPLY);
    if (thoughts) {
        gg_buf_str(history, ",\"");
        gg_buf_str(history, said->field);
        gg_buf_str(history, "\":");
        gg_buf_json_str(history, said->reasoning);
    }
    if (call_count)
        gg_buf_str(history, ",\"tool_calls\":[");
}

void gg_history_call(gg_buf *history, size_t index, const char *id, const char *name,
                     const char *arguments)
{
    if (index)
        gg_buf_char(history, ',');
    gg_buf_str(history, "{\"id\":");
    gg_buf_json_str(history, id);
    gg_buf_str(history, ",\"type\":\"function\",\"function\":{\"name\":");
    gg_buf_json_str(history, name);
    gg_buf_str(history, ",\"arguments\":");
    gg_buf_json_str(history, arguments);
    gg_buf_str(history, "}}");
}

void gg_history_said_end(gg_buf *history, size_t call_count)
{
    gg_buf_str(history, call_count ? "]}" : "}");
}
