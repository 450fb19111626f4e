#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/json.h"

#define HISTORY_MAX (64u << 20)

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    must(text);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

const char *fuzz_file(const uint8_t *data, size_t size)
{
    static char path[64];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("fuzz", 0);
        must(fd >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    must(ftruncate(fd, 0) == 0);
    must(pwrite(fd, data, size, 0) == (ssize_t)size);
    return path;
}

static gg_tools *tools(void)
{
    static const char json[] =
        "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"object\","
        "\"properties\":{\"a\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"}}}}},"
        "{\"type\":\"function\",\"function\":{\"name\":\"look_up\"}}]";
    static gg_tools *made;
    gg_error error;
    if (!made)
        must(gg_tools_make(json, &made, &error) == GG_OK);
    return made;
}

static bool every_second(void *context, const char *id)
{
    size_t *asked = context;
    (void)id;
    return (*asked)++ % 2 == 1;
}

static void check_call(const gg_found_call *call, bool from_text)
{
    cJSON *object;
    must(call->name && call->raw_name && call->arguments && call->raw && call->id);
    must(gg_json_parse(call->arguments, strlen(call->arguments), &object, NULL) == GG_OK);
    must(cJSON_IsObject(object));
    cJSON_Delete(object);
    must(from_text == (*call->id == '\0'));
    must(strlen(call->id) <= GG_CALL_ID_MAX);
    if (call->fault == GG_FAULT_NONE)
        must(gg_tools_find(tools(), call->name, strlen(call->name)) == call->name);
}

static void check_history(const gg_reply *reply, const gg_found *found)
{
    const gg_said said = {reply->content, reply->content_len, reply->reasoning_field,
                          reply->reasoning};
    size_t count = found->from_text ? 0 : found->count;
    cJSON *list;
    gg_buf history, text;
    gg_buf_init(&history, HISTORY_MAX);
    gg_buf_init(&text, HISTORY_MAX);
    gg_buf_char(&history, '[');
    gg_history_said(&history, &said, count);
    for (size_t i = 0; i < count; i++)
        gg_history_call(&history, i, found->calls[i].id, found->calls[i].name,
                        found->calls[i].arguments);
    gg_history_said_end(&history, count);
    /* The bracket is no message, but keeps the comma right. */
    for (size_t i = 0; i < count; i++) {
        gg_buf_reset(&text);
        gg_fault_text(&found->calls[i], tools(), &text);
        gg_history_tool(&history, found->calls[i].id, gg_buf_cstr(&text));
    }
    gg_buf_char(&history, ']');
    must(history.status == GG_OK);
    char *comma = memchr(history.data, ',', history.len);
    must(comma && history.data[0] == '[');
    if (history.data[1] == ',')
        history.data[1] = ' ';
    must(gg_json_parse(history.data, history.len, &list, NULL) == GG_OK);
    must((size_t)cJSON_GetArraySize(list) == 1 + count);
    cJSON_Delete(list);
    gg_buf_free(&history);
    gg_buf_free(&text);
}

void fuzz_calls(const gg_reply *reply)
{
    gg_found found;
    gg_error error;
    size_t asked = 0;
    const gg_ids ids = {.used = every_second, .context = &asked, .seed = 7};
    gg_found_init(&found);
    must(gg_find_calls(&found, reply, tools(), &ids, true, &error) == GG_OK);
    for (size_t i = 0; i < found.count; i++)
        check_call(&found.calls[i], found.from_text);
    for (size_t i = 0; i < found.count; i++)
        for (size_t k = 0; k < i && !found.from_text; k++)
            must(strcmp(found.calls[i].id, found.calls[k].id) != 0);
    must(!found.text_len || found.text);
    check_history(reply, &found);
    gg_found_free(&found);
}
