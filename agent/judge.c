/* Whether a 2xx reply is one (agent/chat.h). */
#include "agent/chat.h"
#include "agent/stream.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"

/* The status that an error object names in its code, as a number or as digits. */
static int error_status(const char *error)
{
    cJSON *object;
    int64_t code = -1;
    if (gg_json_parse(error, strlen(error), &object, NULL) != GG_OK)
        return 502;
    const char *digits = gg_json_text(object, "code");
    if (digits)
        code = strtol(digits, NULL, 10);
    else
        (void)gg_json_int(object, "code", &code);
    cJSON_Delete(object);
    return code >= 400 && code <= 599 ? (int)code : 502;
}

/* An error inside a 200 is classed as if it had come with the status its code names. */
static gg_retry_class judge_error(gg_reply *reply, const gg_http_reply *http, gg_buf *message)
{
    gg_http_reply as_said = *http;
    gg_buf *body = &reply->scratch;
    gg_buf_reset(body);
    gg_buf_str(body, "{\"error\":");
    gg_buf_str(body, reply->error);
    gg_buf_char(body, '}');
    if (body->status != GG_OK)
        return GG_RETRY_BAD_REPLY;
    as_said.status = error_status(reply->error);
    as_said.body = body->data;
    as_said.len = body->len;
    gg_retry_class class = gg_retry_classify(&as_said, message);
    return class == GG_RETRY_OK ? GG_RETRY_BAD_REPLY : class;
}

static gg_status read_stream(gg_reply *reply, const gg_http_reply *http, gg_error *error)
{
    gg_buf merged;
    gg_buf_init(&merged, GG_HTTP_REPLY_MAX);
    gg_status status = gg_stream_merge(http->body, http->len, &merged, error);
    if (status == GG_OK)
        status = gg_reply_read(reply, gg_buf_cstr(&merged), merged.len, error);
    else
        (void)gg_reply_read(reply, "", 0, NULL); /* what was read before must not stay */
    gg_buf_free(&merged);
    return status;
}

/* By what came, not by what was asked for: servers that cannot stream answer in one piece. */
static gg_status read_body(gg_reply *reply, const gg_http_reply *http, gg_error *error)
{
    static const char type[] = "text/event-stream";
    if (gg_stream_is(http->body, http->len))
        return read_stream(reply, http, error);
    gg_status status = gg_reply_read(reply, http->body, http->len, error);
    if (status == GG_OK || http->len == 0 ||
        strncmp(http->content_type, type, sizeof type - 1) != 0)
        return status;
    return read_stream(reply, http, error);
}

gg_retry_class gg_reply_judge(gg_reply *reply, const gg_http_reply *http, gg_buf *message)
{
    gg_error error;
    if (read_body(reply, http, &error) != GG_OK) {
        gg_buf_str(message, error.text);
        return GG_RETRY_BAD_REPLY;
    }
    if (reply->error)
        return judge_error(reply, http, message);
    if (!reply->has_choice) {
        gg_buf_str(message, "the reply has no choice");
        return GG_RETRY_BAD_REPLY;
    }
    const char *finish = reply->finish_reason ? reply->finish_reason : "";
    bool empty = reply->content_len == 0 && reply->call_count == 0;
    if (strcmp(finish, "error") == 0 || (strcmp(finish, "abort") == 0 && empty)) {
        gg_buf_printf(message, "the endpoint broke the reply off (finish_reason %s)", finish);
        return GG_RETRY_BAD_REPLY;
    }
    return GG_RETRY_OK;
}
