#include "service/manners.h"

#include <ctype.h>
#include <string.h>

#define NAME_MAX_B 64
#define OPEN_MAX   256 /* calls of one message */

typedef struct check {
    gg_buf *why;
    int index;                  /* of the message */
    const char *open[OPEN_MAX]; /* ids that wait for their answer */
    size_t open_count;
    const char *role_before;
} check;

static bool bad(const check *c, const char *what)
{
    gg_buf_printf(c->why, "message %d: %s", c->index, what);
    return false;
}

static bool is_name(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_' && name[i] != '-')
            return false;
    return len > 0 && len <= NAME_MAX_B;
}

static bool holds_object(const char *text)
{
    cJSON *value = NULL;
    bool good = gg_json_parse(text, strlen(text), &value, NULL) == GG_OK && cJSON_IsObject(value);
    cJSON_Delete(value);
    return good;
}

static bool is_open(const check *c, const char *id)
{
    for (size_t i = 0; i < c->open_count; i++)
        if (c->open[i] && !strcmp(c->open[i], id))
            return true;
    return false;
}

static bool check_call(check *c, const cJSON *call)
{
    const char *id = gg_json_text(call, "id"), *type = gg_json_text(call, "type");
    const cJSON *function = gg_json_get(call, "function");
    const char *name = gg_json_text(function, "name");
    const char *arguments = gg_json_text(function, "arguments");
    if (!id || !*id)
        return bad(c, "a call without an id");
    if (is_open(c, id))
        return bad(c, "two calls with the same id");
    if (!type || strcmp(type, "function") != 0)
        return bad(c, "a call whose type is not \"function\"");
    if (!name || !is_name(name))
        return bad(c, "a call whose name is not 1 to 64 of [A-Za-z0-9_-]");
    if (!arguments || !holds_object(arguments))
        return bad(c, "a call whose arguments are not the text of a JSON object");
    if (c->open_count == OPEN_MAX)
        return bad(c, "too many calls");
    c->open[c->open_count++] = id;
    return true;
}

static bool check_assistant(check *c, const cJSON *message)
{
    const cJSON *calls = gg_json_get(message, "tool_calls"), *call;
    const char *content = gg_json_text(message, "content");
    if (cJSON_GetObjectItemCaseSensitive(message, "content") && !content)
        return bad(c, "content that is not text");
    if (calls && (!cJSON_IsArray(calls) || !calls->child))
        return bad(c, "tool_calls that is no list of calls");
    if (!calls && (!content || !*content))
        return bad(c, "an assistant message that says nothing and calls nothing");
    cJSON_ArrayForEach(call, calls) if (!check_call(c, call)) return false;
    return true;
}

static bool check_tool(check *c, const cJSON *message)
{
    const char *id = gg_json_text(message, "tool_call_id");
    if (!gg_json_text(message, "content"))
        return bad(c, "a tool result without text");
    for (size_t i = 0; id && i < c->open_count; i++)
        if (c->open[i] && !strcmp(c->open[i], id)) {
            c->open[i] = c->open[--c->open_count];
            return true;
        }
    return bad(c, "a tool result that answers no call of the message before");
}

static bool check_user(check *c, const cJSON *message)
{
    const char *content = gg_json_text(message, "content");
    if (!content || !*content)
        return bad(c, "a user message without text");
    if (c->role_before && !strcmp(c->role_before, "user"))
        return bad(c, "two user messages in a row");
    return true;
}

static bool check_system(check *c, const cJSON *message)
{
    if (c->index > 0)
        return bad(c, "a system message that is not the first");
    return gg_json_text(message, "content") ? true : bad(c, "a system message without text");
}

static bool check_message(check *c, const cJSON *message)
{
    static const struct {
        const char *role;
        bool (*check)(check *, const cJSON *);
    } roles[] = {{"system", check_system},
                 {"user", check_user},
                 {"assistant", check_assistant},
                 {"tool", check_tool}};
    const char *role = gg_json_text(message, "role");
    for (size_t i = 0; role && i < sizeof roles / sizeof *roles; i++) {
        if (strcmp(role, roles[i].role) != 0)
            continue;
        if (c->open_count > 0 && strcmp(role, "tool") != 0)
            return bad(c, "a call of the message before has no answer");
        bool good = roles[i].check(c, message);
        c->role_before = roles[i].role;
        return good;
    }
    return bad(c, "a role that is none of system, user, assistant, tool");
}

/* What must be left out rather than sent empty. */
static bool check_members(const cJSON *request, gg_buf *why)
{
    const cJSON *tools = gg_json_get(request, "tools"), *tool;
    const cJSON *item;
    if (cJSON_GetObjectItemCaseSensitive(request, "tools") &&
        (!cJSON_IsArray(tools) || !tools->child)) {
        gg_buf_str(why, "tools is there and empty");
        return false;
    }
    cJSON_ArrayForEach(tool, tools)
    {
        const char *name = gg_json_text(gg_json_get(tool, "function"), "name");
        if (!name || !is_name(name)) {
            gg_buf_str(why, "a tool whose name is not 1 to 64 of [A-Za-z0-9_-]");
            return false;
        }
    }
    cJSON_ArrayForEach(item, request) if (cJSON_IsNull(item))
    {
        gg_buf_printf(why, "%s is null; leave it out", item->string);
        return false;
    }
    if (gg_json_get(request, "max_tokens") && gg_json_get(request, "max_completion_tokens")) {
        gg_buf_str(why, "both max_tokens and max_completion_tokens");
        return false;
    }
    return true;
}

bool gg_manners_check(const cJSON *request, gg_buf *why)
{
    const cJSON *message;
    check c = {.why = why};
    if (!check_members(request, why))
        return false;
    cJSON_ArrayForEach(message, gg_json_get(request, "messages"))
    {
        if (!check_message(&c, message))
            return false;
        c.index++;
    }
    if (c.open_count > 0)
        return bad(&c, "the conversation ends with a call that has no answer");
    const char *last = c.role_before ? c.role_before : "";
    return strcmp(last, "user") == 0 || strcmp(last, "tool") == 0
               ? true
               : bad(&c, "the conversation does not end with the user or a tool");
}
