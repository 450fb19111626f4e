/* Trouble that changes a reply: what models and servers really send instead of a clean call. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "service/trouble.h"

#define TEXT_MAX (1u << 20)
#define LONG_ID  1500
#define PROSE    "Let me think about it a little more before I decide."

/* ---- the parts of a reply ---- */

static cJSON *member(cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static cJSON *choice_of(cJSON *reply)
{
    return cJSON_GetArrayItem(member(reply, "choices"), 0);
}

static cJSON *message_of(cJSON *reply)
{
    return member(choice_of(reply), "message");
}

static cJSON *call_of(cJSON *reply)
{
    return cJSON_GetArrayItem(member(message_of(reply), "tool_calls"), 0);
}

static cJSON *function_of(cJSON *reply)
{
    return member(call_of(reply), "function");
}

static const char *name_of(cJSON *reply)
{
    return cJSON_GetStringValue(member(function_of(reply), "name"));
}

static const char *arguments_of(cJSON *reply)
{
    return cJSON_GetStringValue(member(function_of(reply), "arguments"));
}

/* Sets a member, whether it was there or not; takes `value`. */
static bool set(cJSON *object, const char *name, cJSON *value)
{
    if (!object || !value) {
        cJSON_Delete(value);
        return false;
    }
    /* `name` may be the old member's own. */
    return member(object, name) ? cJSON_ReplaceItemInObjectCaseSensitive(object, name, value)
                                : cJSON_AddItemToObject(object, name, value);
}

static bool set_text(cJSON *object, const char *name, const char *text)
{
    return set(object, name, cJSON_CreateString(text));
}

static bool set_finish(cJSON *reply, const char *reason)
{
    return set_text(choice_of(reply), "finish_reason", reason);
}

static bool set_arguments(cJSON *reply, const gg_buf *text)
{
    return set_text(function_of(reply), "arguments", gg_buf_cstr(text));
}

/* ---- templates ---- */

/* What stands for what in a kind's text. */
typedef struct parts {
    cJSON *arguments; /* parsed */
    const char *name, *raw;
    const char *key, *value; /* of the first argument, where that is text; else "" */
} parts;

/* False when the reply has no call with arguments. */
static bool take_apart(cJSON *reply, parts *out)
{
    *out = (parts){.name = name_of(reply), .raw = arguments_of(reply), .key = "", .value = ""};
    if (!out->name || !out->raw ||
        gg_json_parse(out->raw, strlen(out->raw), &out->arguments, NULL) != GG_OK)
        return false;
    const cJSON *first = out->arguments->child;
    if (first && first->string && cJSON_IsString(first)) {
        out->key = first->string;
        out->value = first->valuestring;
    }
    return true;
}

static void add_upper(gg_buf *out, const char *value)
{
    for (; *value; value++)
        gg_buf_char(out, (char)toupper((unsigned char)*value));
}

/* %n the name, %a the arguments, %k the first argument's name, %v its value, %V in capitals, %w
 * without its last character. */
static void fill(const char *text, const parts *p, gg_buf *out)
{
    size_t len = strlen(p->value);
    for (; *text; text++) {
        if (*text != '%') {
            gg_buf_char(out, *text);
            continue;
        }
        switch (*++text) {
        case 'n':
            gg_buf_str(out, p->name);
            break;
        case 'a':
            gg_buf_str(out, p->raw);
            break;
        case 'k':
            gg_buf_str(out, p->key);
            break;
        case 'v':
            gg_buf_str(out, p->value);
            break;
        case 'V':
            add_upper(out, p->value);
            break;
        default:
            gg_buf_add(out, p->value, len ? len - 1 : 0);
        }
    }
}

/* Sets what `put` sets to the text, filled in. */
static bool put_filled(cJSON *reply, const char *text,
                       bool (*put)(cJSON *reply, const parts *p, const char *filled))
{
    parts p;
    gg_buf filled;
    if (!take_apart(reply, &p))
        return false;
    gg_buf_init(&filled, TEXT_MAX);
    fill(text, &p, &filled);
    bool done = put(reply, &p, gg_buf_cstr(&filled));
    gg_buf_free(&filled);
    cJSON_Delete(p.arguments);
    return done;
}

static bool put_content(cJSON *reply, const parts *p, const char *filled)
{
    (void)p;
    cJSON_DeleteItemFromObjectCaseSensitive(message_of(reply), "tool_calls");
    return set_text(message_of(reply), "content", filled) && set_finish(reply, "stop");
}

static bool put_arguments(cJSON *reply, const parts *p, const char *filled)
{
    (void)p;
    return set_text(function_of(reply), "arguments", filled);
}

static bool put_name(cJSON *reply, const parts *p, const char *filled)
{
    (void)p;
    return set_text(function_of(reply), "name", filled);
}

static bool put_value(cJSON *reply, const parts *p, const char *filled)
{
    gg_buf out;
    gg_buf_init(&out, TEXT_MAX);
    bool done = set_text(p->arguments, p->key, filled);
    gg_buf_cjson(&out, p->arguments);
    done = done && set_arguments(reply, &out);
    gg_buf_free(&out);
    return done;
}

static bool say_call(cJSON *reply, const char *text)
{
    return put_filled(reply, text, put_content);
}

static bool args_as(cJSON *reply, const char *text)
{
    return put_filled(reply, text, put_arguments);
}

static bool rename_call(cJSON *reply, const char *text)
{
    return put_filled(reply, text, put_name);
}

static bool value_as(cJSON *reply, const char *text)
{
    return put_filled(reply, text, put_value);
}

static bool set_id(cJSON *reply, const char *text)
{
    return set_text(call_of(reply), "id", text);
}

/* ---- no call, or one that finish_reason does not tell of ---- */

static bool say(cJSON *reply, cJSON *content, const char *finish)
{
    cJSON_DeleteItemFromObjectCaseSensitive(message_of(reply), "tool_calls");
    return set(message_of(reply), "content", content) && set_finish(reply, finish);
}

static bool say_text(cJSON *reply, const char *text)
{
    return say(reply, cJSON_CreateString(text), "stop");
}

static bool empty(cJSON *reply, const char *unused)
{
    (void)unused;
    cJSON_DeleteItemFromObjectCaseSensitive(message_of(reply), "reasoning");
    return say(reply, cJSON_CreateString(""), "stop");
}

static bool nothing(cJSON *reply, const char *unused)
{
    (void)unused;
    cJSON_DeleteItemFromObjectCaseSensitive(message_of(reply), "reasoning");
    return say(reply, cJSON_CreateNull(), "stop") &&
           set(message_of(reply), "tool_calls", cJSON_CreateNull()) &&
           set(reply, "usage", cJSON_CreateNull());
}

static bool thoughts(cJSON *reply, const char *unused)
{
    (void)unused;
    return say(reply, cJSON_CreateNull(), "stop") &&
           set_text(message_of(reply), "reasoning_content", PROSE);
}

/* What breaks line readers, and an escape that is no character. */
static bool unicode(cJSON *reply, const char *unused)
{
    (void)unused;
    return say(reply,
               cJSON_CreateRaw("\"a\xe2\x80\xa8"
                               "b\xc2\x85"
                               "c\xf0\x9f\x98\x80 \\ud800 \\u0000 end\""),
               "stop");
}

static bool finish_without_call(cJSON *reply, const char *unused)
{
    (void)unused;
    return say(reply, cJSON_CreateString(PROSE), "tool_calls") &&
           set(message_of(reply), "tool_calls", cJSON_CreateArray());
}

static bool finish_null(cJSON *reply, const char *unused)
{
    (void)unused;
    return set(choice_of(reply), "finish_reason", cJSON_CreateNull());
}

/* Half of the arguments. */
static bool args_cut(cJSON *reply, const char *unused)
{
    (void)unused;
    gg_buf half;
    const char *arguments = arguments_of(reply);
    if (!arguments)
        return false;
    gg_buf_init(&half, TEXT_MAX);
    gg_buf_add(&half, arguments, strlen(arguments) - strlen(arguments) / 3 - 1);
    bool done = set_arguments(reply, &half);
    gg_buf_free(&half);
    return done;
}

static bool length(cJSON *reply, const char *unused)
{
    return args_cut(reply, unused) && set_finish(reply, "length");
}

static bool length_text(cJSON *reply, const char *unused)
{
    (void)unused;
    return say(reply, cJSON_CreateString("I think that the best"), "length");
}

/* ---- arguments ---- */

static bool args_twice(cJSON *reply, const char *unused)
{
    (void)unused;
    gg_buf encoded;
    if (!arguments_of(reply))
        return false;
    gg_buf_init(&encoded, TEXT_MAX);
    gg_buf_json_str(&encoded, arguments_of(reply));
    bool done = set_arguments(reply, &encoded);
    gg_buf_free(&encoded);
    return done;
}

static bool args_object(cJSON *reply, const char *unused)
{
    (void)unused;
    cJSON *parsed = NULL;
    const char *arguments = arguments_of(reply);
    if (!arguments || gg_json_parse(arguments, strlen(arguments), &parsed, NULL) != GG_OK)
        return false;
    return set(function_of(reply), "arguments", parsed);
}

static bool args_null(cJSON *reply, const char *unused)
{
    (void)unused;
    return set(function_of(reply), "arguments", cJSON_CreateNull());
}

static bool args_missing(cJSON *reply, const char *unused)
{
    (void)unused;
    cJSON_DeleteItemFromObjectCaseSensitive(function_of(reply), "arguments");
    return function_of(reply) != NULL;
}

static bool args_quotes(cJSON *reply, const char *unused)
{
    (void)unused;
    gg_buf out;
    const char *arguments = arguments_of(reply);
    if (!arguments)
        return false;
    gg_buf_init(&out, TEXT_MAX);
    for (; *arguments; arguments++)
        gg_buf_char(&out, *arguments == '"' ? '\'' : *arguments);
    bool done = set_arguments(reply, &out);
    gg_buf_free(&out);
    return done;
}

/* ---- ids ---- */

static bool id_null(cJSON *reply, const char *unused)
{
    (void)unused;
    return set(call_of(reply), "id", cJSON_CreateNull());
}

static bool id_missing(cJSON *reply, const char *unused)
{
    (void)unused;
    cJSON_DeleteItemFromObjectCaseSensitive(call_of(reply), "id");
    return call_of(reply) != NULL;
}

static bool id_number(cJSON *reply, const char *unused)
{
    (void)unused;
    return set(call_of(reply), "id", cJSON_CreateNumber(7));
}

static bool id_long(cJSON *reply, const char *unused)
{
    (void)unused;
    char id[LONG_ID + 1];
    memset(id, 'x', LONG_ID);
    id[LONG_ID] = '\0';
    return set_text(call_of(reply), "id", id);
}

/* ---- names ---- */

static bool name_case(cJSON *reply, const char *unused)
{
    (void)unused;
    char name[128];
    if (!name_of(reply))
        return false;
    snprintf(name, sizeof name, "%s", name_of(reply));
    for (char *p = name; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return set_text(function_of(reply), "name", name);
}

/* ---- several calls ---- */

static bool repeat_call(cJSON *reply, int copies)
{
    cJSON *calls = member(message_of(reply), "tool_calls");
    for (int i = 0; i < copies; i++)
        if (!call_of(reply) || !cJSON_AddItemToArray(calls, cJSON_Duplicate(call_of(reply), true)))
            return false;
    return true;
}

static bool same_ids(cJSON *reply, const char *unused)
{
    (void)unused;
    return repeat_call(reply, 1);
}

static bool three_calls(cJSON *reply, const char *unused)
{
    static const char *const ids[] = {"call-a", "call-b", "call-c"};
    (void)unused;
    bool done = repeat_call(reply, 2);
    for (int i = 0; done && i < 3; i++)
        done =
            set_text(cJSON_GetArrayItem(member(message_of(reply), "tool_calls"), i), "id", ids[i]);
    return done;
}

static bool legacy(cJSON *reply, const char *unused)
{
    (void)unused;
    cJSON *function = cJSON_Duplicate(function_of(reply), true);
    cJSON_DeleteItemFromObjectCaseSensitive(message_of(reply), "tool_calls");
    return set(message_of(reply), "function_call", function) && set_finish(reply, "function_call");
}

static bool value_number(cJSON *reply, const char *unused)
{
    (void)unused;
    cJSON *parsed = NULL;
    const char *arguments = arguments_of(reply);
    gg_buf out;
    if (!arguments || gg_json_parse(arguments, strlen(arguments), &parsed, NULL) != GG_OK)
        return false;
    gg_buf_init(&out, TEXT_MAX);
    bool done = parsed->child && set(parsed, parsed->child->string, cJSON_CreateNumber(5));
    gg_buf_cjson(&out, parsed);
    done = done && set_arguments(reply, &out);
    gg_buf_free(&out);
    cJSON_Delete(parsed);
    return done;
}

/* ---- what stands beside the message ---- */

static bool usage_missing(cJSON *reply, const char *unused)
{
    (void)unused;
    cJSON_DeleteItemFromObjectCaseSensitive(reply, "usage");
    return true;
}

static bool usage_null(cJSON *reply, const char *unused)
{
    (void)unused;
    return set(reply, "usage", cJSON_CreateNull());
}

static bool usage_doubles(cJSON *reply, const char *unused)
{
    (void)unused;
    return set(reply, "usage",
               cJSON_CreateRaw("{\"prompt_tokens\":12.0,\"completion_tokens\":\"3\","
                               "\"completion_tokens_details\":null}")) &&
           set(reply, "created", cJSON_CreateRaw("1.7e9")) &&
           set_text(message_of(reply), "Content", "not the content");
}

/* The front of the conversation was dropped: the prompt is as long as ever. */
static bool front_dropped(cJSON *reply, const char *unused)
{
    (void)unused;
    cJSON_DeleteItemFromObjectCaseSensitive(reply, "prompt_token_ids");
    return set(member(reply, "usage"), "prompt_tokens", cJSON_CreateNumber(5));
}

static bool logprobs_missing(cJSON *reply, const char *unused)
{
    (void)unused;
    return set(choice_of(reply), "logprobs", cJSON_CreateNull());
}

static bool logprobs_null(cJSON *reply, const char *unused)
{
    (void)unused;
    cJSON *entries = member(member(choice_of(reply), "logprobs"), "content");
    cJSON *last = cJSON_GetArrayItem(entries, cJSON_GetArraySize(entries) - 1);
    return set(last, "logprob", cJSON_CreateNull());
}

static bool logprobs_short(cJSON *reply, const char *unused)
{
    (void)unused;
    cJSON *entries = member(member(choice_of(reply), "logprobs"), "content");
    if (cJSON_GetArraySize(entries) == 0)
        return false;
    cJSON_DeleteItemFromArray(entries, 0);
    return true;
}

static bool ids_missing(cJSON *reply, const char *unused)
{
    (void)unused;
    cJSON_DeleteItemFromObjectCaseSensitive(reply, "prompt_token_ids");
    cJSON_DeleteItemFromObjectCaseSensitive(choice_of(reply), "token_ids");
    return true;
}

#define KIND(name, function, text)                                                                 \
    {                                                                                              \
        name, GG_TROUBLE_MODEL, GG_WAY_MANGLE, 0, true, 0, NULL, text, function                    \
    }
const gg_trouble gg_manglers[] = {
    KIND("text", say_text, PROSE),
    KIND("empty", empty, NULL),
    KIND("nothing", nothing, NULL),
    KIND("thoughts", thoughts, NULL),
    KIND("thoughts-in-text", say_text, "hmm, let me see</think>hello"),
    KIND("final-channel", say_text, "<|channel|>final<|message|>" PROSE),
    KIND("unicode", unicode, NULL),
    KIND("finish-without-call", finish_without_call, NULL),
    KIND("finish-stop", set_finish, "stop"),
    KIND("finish-null", finish_null, NULL),
    KIND("finish-odd", set_finish, "MALFORMED_FUNCTION_CALL"),
    KIND("length", length, NULL),
    KIND("length-text", length_text, NULL),
    KIND("args-cut", args_cut, NULL),
    KIND("args-twice", args_twice, NULL),
    KIND("args-object", args_object, NULL),
    KIND("args-list", args_as, "[%a]"),
    KIND("args-number", args_as, "5"),
    KIND("args-true", args_as, "true"),
    KIND("args-empty", args_as, ""),
    KIND("args-null", args_null, NULL),
    KIND("args-missing", args_missing, NULL),
    KIND("args-glued", args_as, "%a%a"),
    KIND("args-tail", args_as, "%a That is my choice."),
    KIND("args-quotes", args_quotes, NULL),
    KIND("id-null", id_null, NULL),
    KIND("id-missing", id_missing, NULL),
    KIND("id-empty", set_id, ""),
    KIND("id-zero", set_id, "0"),
    KIND("id-number", id_number, NULL),
    KIND("id-long", id_long, NULL),
    KIND("name-marker", rename_call, "%n<|channel|>commentary"),
    KIND("name-prefix", rename_call, "functions.%n"),
    KIND("name-space", rename_call, " %n\n"),
    KIND("name-unknown", rename_call, "shell.exec"),
    KIND("name-empty", rename_call, ""),
    KIND("name-case", name_case, NULL),
    KIND("same-ids", same_ids, NULL),
    KIND("three-calls", three_calls, NULL),
    KIND("legacy", legacy, NULL),
    KIND("as-tag", say_call, "<tool_call>\n{\"name\": \"%n\", \"arguments\": %a}\n</tool_call>"),
    KIND("as-open-tag", say_call, "<tool_call>\n{\"name\": \"%n\", \"arguments\": %a}\n"),
    KIND("as-tag-after-thoughts", say_call,
         "I wonder.</think>\n\n<tool_call>\n{\"name\": \"%n\", \"arguments\": %a}\n</tool_call>"),
    KIND("as-function", say_call, "<function=%n>\n<parameter=%k>\n%v\n</parameter>\n</function>"),
    KIND("as-fence", say_call, "```json\n{\"name\": \"%n\", \"arguments\": %a}\n```"),
    KIND("as-python", say_call, "<|python_tag|>{\"name\": \"%n\", \"parameters\": %a}"),
    KIND("as-pythonic", say_call, "[%n(%k=\"%v\")]"),
    KIND("as-bracket", say_call, "[TOOL_CALLS][{\"name\": \"%n\", \"arguments\": %a}]"),
    KIND("as-bracket-args", say_call, "[TOOL_CALLS]%n[ARGS]%a"),
    KIND("as-harmony", say_call, "commentary to=functions.%n json%a"),
    KIND("as-section", say_call,
         "<|tool_calls_section_begin|><|tool_call_begin|>functions.%n:0"
         "<|tool_call_argument_begin|>%a<|tool_call_end|><|tool_calls_section_end|>"),
    KIND("as-object", say_call, "{\"name\": \"%n\", \"arguments\": %a}"),
    KIND("in-prose", say_call, "I could say {\"name\": \"%n\", \"arguments\": %a} but I will not."),
    KIND("in-thoughts", say_call,
         "<think><tool_call>{\"name\": \"%n\", \"arguments\": %a}</tool_call></think>Not yet."),
    KIND("value-upper", value_as, "%V"),
    KIND("value-space", value_as, "  %v \n"),
    KIND("value-accent", value_as, "%w\xc3\xa9"),
    KIND("value-wide", value_as, "%w\xef\xbd\x81"),
    KIND("value-zero-width", value_as, "%v\xe2\x80\x8b"),
    KIND("value-short", value_as, "%w"),
    KIND("value-long", value_as, "%vs"),
    KIND("value-empty", value_as, ""),
    KIND("value-number", value_number, NULL),
    KIND("usage-missing", usage_missing, NULL),
    KIND("usage-null", usage_null, NULL),
    KIND("usage-odd", usage_doubles, NULL),
    KIND("front-dropped", front_dropped, NULL),
    KIND("logprobs-missing", logprobs_missing, NULL),
    KIND("logprobs-null", logprobs_null, NULL),
    KIND("logprobs-short", logprobs_short, NULL),
    KIND("ids-missing", ids_missing, NULL),
};
const size_t gg_mangler_count = sizeof gg_manglers / sizeof *gg_manglers;
