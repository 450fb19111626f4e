/* Streamed replies, put together (agent/stream.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/chat.h"
#include "agent/stream.h"

#define OPEN "{\"object\":\"chat.completion\""
#define CHOICE(message)                                                                            \
    OPEN ",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\"" message "}"
#define DELTA(inner) "data: {\"choices\":[{\"index\":0,\"delta\":{" inner "}}]}\n\n"
#define CALL(inner)  DELTA("\"tool_calls\":[{" inner "}]")
#define FINISH(word) "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"" word "\"}]}\n\n"
#define DONE         "data: [DONE]\n\n"
#define STOP         ",\"finish_reason\":\"stop\"}]}"
#define ONE(id, args)                                                                              \
    "{\"type\":\"function\",\"id\":\"" id                                                          \
    "\",\"function\":{\"type\":\"function\",\"name\":\"f\",\"arguments\":\"" args "\"}}"
#define CALLS(inner) CHOICE(",\"tool_calls\":[" inner "]") "}]}"

/* Facts of servers and gateways, as their trackers and sources have them. NULL = the stream is no
 * reply. */
static const struct {
    const char *name, *body, *want;
} streams[] = {
    {"text in pieces", DELTA("\"content\":\"a\"") DELTA("\"content\":\"b\"") FINISH("stop") DONE,
     CHOICE(",\"content\":\"ab\"") STOP},
    {"no [DONE]", DELTA("\"content\":\"a\"") FINISH("stop"), CHOICE(",\"content\":\"a\"") STOP},
    {"[DONE] alone, without a blank line", DELTA("\"content\":\"a\"") "data: [DONE]",
     CHOICE(",\"content\":\"a\"") "}]}"},
    {"neither: cut", DELTA("\"content\":\"a\""), NULL},
    {"half a chunk", DELTA("\"content\":\"a\"") "data: {\"choices\":[{\"del", NULL},
    {"half a chunk with an end", "data: {\"choices\":[\n\n" DONE, NULL},
    {"comments, retry, id", ": OPENROUTER PROCESSING\n\nretry: 3\nid: 7\n: ping\n\n" FINISH("stop"),
     CHOICE("") STOP},
    {"a mark at the start, no blank behind the colon",
     "\xef\xbb\xbf"
     "data:{\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}",
     CHOICE(",\"content\":\"x\"") STOP},
    {"data over several lines",
     "data: {\"choices\":\ndata: [{\"delta\":{},\ndata: "
     "\"finish_reason\":\"stop\"}]}\n\n",
     CHOICE("") STOP},
    {"no blank line between events",
     "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\ndata: "
     "{\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n" DONE,
     CHOICE(",\"content\":\"ab\"") "}]}"},
    {"chunks without data:",
     "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n"
     "{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n",
     CHOICE(",\"content\":\"a\"") STOP},
    {"usage behind empty choices, null before",
     "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":null}\n\n"
     "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3}}\n\n" DONE,
     CHOICE("") ",\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3}}"},
    {"the finish twice", FINISH("tool_calls") FINISH("stop"),
     CHOICE("") ",\"finish_reason\":\"tool_calls\"}]}"},
    {"other choices",
     "data: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"index\":1}]}\n\n" FINISH("stop"),
     CHOICE("") STOP},
    {"characters cut between chunks and by escapes",
     DELTA("\"content\":\"\xc3\xa9\"") DELTA("\"content\":\"\\u00e9\\n\"") DONE,
     CHOICE(",\"content\":\"\xc3\xa9\xc3\xa9\\n\"") "}]}"},
    {"reasoning", DELTA("\"reasoning\":\"a\"") DELTA("\"reasoning\":\"b\"") DONE,
     CHOICE(",\"reasoning\":\"ab\"") "}]}"},
    {"reasoning_content, null content",
     DELTA("\"content\":null,\"reasoning_content\":\"a\"") DELTA("\"content\":\"c\"") DONE,
     CHOICE(",\"content\":\"c\",\"reasoning_content\":\"a\"") "}]}"},
    {"the thoughts in both fields", DELTA("\"reasoning\":\"a\",\"reasoning_content\":\"a\"") DONE,
     CHOICE(",\"reasoning\":\"a\"") "}]}"},
    {"content as parts", DELTA("\"content\":[{\"type\":\"text\",\"text\":\"a\"}]") DONE,
     CHOICE(",\"content\":\"a\"") "}]}"},
    {"a whole message in the last chunk, said again",
     DELTA("\"content\":\"a\"") "data: {\"choices\":[{\"message\":{\"content\":\"a\"}}]}\n\n" DONE,
     CHOICE(",\"content\":\"a\"") "}]}"},
    {"a whole message in one chunk",
     "data: {\"choices\":[{\"message\":{\"content\":\"a\"}}]}\n\n" DONE,
     CHOICE(",\"content\":\"a\"") "}]}"},
    /* calls */
    {"arguments in fragments, names null",
     CALL("\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}")
         CALL("\"index\":0,\"id\":null,\"function\":{\"name\":null,\"arguments\":\"{\\\"g\\\":\"}")
             CALL("\"index\":0,\"function\":{\"arguments\":\"1}\"}") DONE,
     CALLS(ONE("a", "{\\\"g\\\":1}"))},
    {"id and name in every chunk",
     CALL("\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}")
         CALL("\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"}\"}") DONE,
     CALLS(ONE("a", "{}"))},
    {"the id comes later",
     CALL("\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{\"}")
         CALL("\"index\":0,\"id\":\"a\",\"function\":{\"arguments\":\"}\"}") DONE,
     CALLS(ONE("a", "{}"))},
    {"two calls, in turn",
     CALL("\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}")
         CALL("\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"f\",\"arguments\":\"[\"}")
             CALL("\"index\":0,\"function\":{\"arguments\":\"}\"}")
                 CALL("\"index\":1,\"function\":{\"arguments\":\"]\"}") DONE,
     CALLS(ONE("a", "{}") "," ONE("b", "[]"))},
    {"one index for all, another id",
     CALL("\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}")
         CALL("\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}")
             CALL("\"index\":0,\"function\":{\"arguments\":\"}\"}") DONE,
     CALLS(ONE("a", "{}") "," ONE("b", "{}"))},
    {"no index: a new id is a new call, none goes on",
     CALL("\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}")
         CALL("\"function\":{\"arguments\":\"}\"}")
             CALL("\"id\":\"b\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}") DONE,
     CALLS(ONE("a", "{}") "," ONE("b", "{}"))},
    {"no index, no id: a second name behind whole arguments",
     CALL("\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}")
         CALL("\"function\":{\"name\":\"f\",\"arguments\":\"[]\"}") DONE,
     CALLS("{\"type\":\"function\",\"function\":{\"type\":\"function\",\"name\":\"f\","
           "\"arguments\":\"{}\"}},{\"type\":\"function\",\"function\":{\"type\":\"function\","
           "\"name\":\"f\",\"arguments\":\"[]\"}}")},
    {"arguments as an object",
     CALL("\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\","
          "\"arguments\":{\"g\":1}}") DONE,
     CALLS("{\"type\":\"function\",\"id\":\"a\",\"function\":{\"type\":\"function\",\"name\":\"f\","
           "\"arguments\":{\"g\":1}}}")},
    {"the old form",
     DELTA("\"function_call\":{\"name\":\"f\",\"arguments\":\"{\"}")
         DELTA("\"function_call\":{\"arguments\":\"}\"}") DONE,
     CHOICE(
         ",\"function_call\":{\"type\":\"function\",\"name\":\"f\",\"arguments\":\"{}\"}") "}]}"},
    /* tokens */
    {"ids and log-probabilities, digits kept",
     "data: {\"prompt_token_ids\":[1,2],\"choices\":[{\"delta\":{\"content\":\"a\"},\"logprobs\":"
     "{\"content\":[{\"token\":\"a\",\"logprob\":-0.12345678901234567}]},\"token_ids\":[3]}]}\n\n"
     "data: "
     "{\"choices\":[{\"delta\":{},\"logprobs\":{\"content\":[{\"token\":\"\",\"logprob\":-1}]},"
     "\"token_ids\":[4],\"finish_reason\":\"stop\"}]}\n\n" DONE,
     CHOICE(",\"content\":\"a\"") ",\"finish_reason\":\"stop\",\"logprobs\":{\"refusal\":null,"
                                  "\"content\":[{\"token\":\"a\",\"logprob\":-0.12345678901234567},"
                                  "{\"token\":\"\",\"logprob\":"
                                  "-1}]},\"token_ids\":[3,4]}],\"prompt_token_ids\":[1,2]}"},
    /* errors in the middle */
    {"an error object", DELTA("\"content\":\"a\"") "data: {\"error\":{\"code\":429}}\n\n" DONE,
     "{\"error\":{\"code\":429}}"},
    {"event: error with a sentence", "event: error\ndata: out of luck\n\n",
     "{\"error\":\"out of luck\"}"},
    {"event: error with an object", "event: error\ndata: {\"error\":{\"message\":\"m\"}}\n\n",
     "{\"error\":{\"message\":\"m\"}}"},
    {"error as a field", "error: {\"code\":500,\"message\":\"m\"}\n\n",
     "{\"error\":{\"code\":500,\"message\":\"m\"}}"},
    {"error: null is none",
     "data: {\"error\":null,\"choices\":[{\"delta\":{},\"finish_reason\":"
     "\"stop\"}]}\n\n",
     CHOICE("") STOP},
    {"nothing", "", NULL},
    {"no choice at all", DONE, OPEN "}"},
};

static void check(const char *name, const char *body, const char *want)
{
    gg_buf out;
    gg_error error;
    gg_buf_init(&out, 1u << 20);
    gg_status status = gg_stream_merge(body, strlen(body), &out, &error);
    if (status != (want ? GG_OK : GG_E_FORMAT))
        fail_msg("%s: %s", name, status == GG_OK ? gg_buf_cstr(&out) : error.text);
    if (want && strcmp(gg_buf_cstr(&out), want) != 0)
        fail_msg("%s:\n%s\nnot\n%s", name, gg_buf_cstr(&out), want);
    gg_buf_free(&out);
}

static void every_stream(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        check(streams[i].name, streams[i].body, streams[i].want);
}

/* The same lines, ended as other systems do. */
static void every_end_of_line(void **state)
{
    static const char *const ends[] = {"\r", "\r\n"};
    (void)state;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        for (size_t k = 0; k < 2; k++) {
            gg_buf body;
            gg_buf_init(&body, 1u << 20);
            for (const char *at = streams[i].body; *at; at++)
                *at == '\n' ? gg_buf_str(&body, ends[k]) : gg_buf_char(&body, *at);
            check(streams[i].name, gg_buf_cstr(&body), streams[i].want);
            gg_buf_free(&body);
        }
    }
}

/* Whatever is cut off, what is left is a reply, an error, or told to be none. */
static void cut_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        size_t whole = strlen(streams[i].body);
        for (size_t len = 0; len < whole; len++) {
            gg_buf out;
            gg_error error;
            gg_reply reply;
            char *cut = malloc(len + 1); /* its own block, so that a read past it shows */
            assert_non_null(cut);
            memcpy(cut, streams[i].body, len);
            gg_buf_init(&out, 1u << 20);
            gg_reply_init(&reply);
            gg_status status = gg_stream_merge(cut, len, &out, &error);
            assert_true(status == GG_OK || status == GG_E_FORMAT);
            if (status == GG_OK)
                assert_int_equal(gg_reply_read(&reply, gg_buf_cstr(&out), out.len, &error), GG_OK);
            gg_reply_free(&reply);
            gg_buf_free(&out);
            free(cut);
        }
    }
}

static void the_judge_knows_a_stream(void **state)
{
    static const struct {
        const char *type, *body;
        gg_retry_class want;
    } rows[] = {
        {"text/event-stream", DELTA("\"content\":\"a\"") DONE, GG_RETRY_OK},
        {"application/json", DELTA("\"content\":\"a\"") DONE, GG_RETRY_OK},
        {"text/event-stream; charset=utf-8", "{\"choices\":[{\"message\":{\"content\":\"a\"}}]}",
         GG_RETRY_OK}, /* asked for a stream, answered in one piece */
        {"text/event-stream", "{\"choices\":[{\"delta\":{}}]}\n" DONE, GG_RETRY_OK},
        {"text/event-stream", DELTA("\"content\":\"a\""), GG_RETRY_BAD_REPLY},
        {"text/event-stream", "", GG_RETRY_BAD_REPLY},
        {"text/event-stream", DONE, GG_RETRY_BAD_REPLY},
        {"text/event-stream", "data: {\"error\":{\"code\":429,\"message\":\"slow down\"}}\n\n",
         GG_RETRY_RATE},
        {"text/event-stream",
         "data: {\"error\":{\"code\":400,\"message\":\"maximum context length is 8\"}}\n\n",
         GG_RETRY_CONTEXT},
        {"application/json", "{\"choices\":[{\"mess", GG_RETRY_BAD_REPLY},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const gg_http_reply http = {.status = 200,
                                    .body = rows[i].body,
                                    .len = strlen(rows[i].body),
                                    .content_type = rows[i].type};
        gg_reply reply;
        gg_buf message;
        gg_reply_init(&reply);
        gg_buf_init(&message, 4096);
        gg_retry_class class = gg_reply_judge(&reply, &http, &message);
        if (class != rows[i].want)
            fail_msg("row %zu: %s (%s)", i, gg_retry_class_name(class), gg_buf_cstr(&message));
        gg_reply_free(&reply);
        gg_buf_free(&message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stream),
        cmocka_unit_test(every_end_of_line),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(the_judge_knows_a_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
