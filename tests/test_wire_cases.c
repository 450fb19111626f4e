/* What servers really sent, in small, one row a case: the list of what a client must handle, and
 * the public reports behind it. Rows name the report where there is one. Failures of whole requests
 * are in test_retry.c and test_hostile.c, requests that a server would refuse in test_faults.c,
 * streams in test_sse.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/toolcall.h"

static const char TOOLS[] =
    "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"object\","
    "\"properties\":{\"a\":{\"type\":\"string\"}}}}}]";

#define R(kind) (1u << GG_REPAIR_##kind)
#define BAD     GG_RETRY_BAD_REPLY
/* One choice with this message; finish_reason "stop". */
#define SAYS(message) "{\"choices\":[{\"message\":" message ",\"finish_reason\":\"stop\"}]}"
#define CALL(function)                                                                             \
    SAYS("{\"content\":null,\"tool_calls\":[{\"id\":\"i\",\"type\":\"function\","                  \
         "\"function\":" function "}]}")
#define TEXT(content) SAYS("{\"role\":\"assistant\",\"content\":\"" content "\"}")

static const struct {
    const char *what, *body;
    gg_retry_class class;
    unsigned calls;
    uint32_t repairs;
    const char *arguments; /* of the first call; NULL = it must not run */
    const char *text;      /* without a call: what the environment is offered; NULL = any */
} rows[] = {
    {"a call under finish_reason stop", CALL("{\"name\":\"f\",\"arguments\":\"{}\"}"), 0, 1, 0,
     "{}", NULL},
    {"no call under tool_calls",
     "{\"choices\":[{\"finish_reason\":\"tool_calls\",\"message\":{\"content\":\"hi\","
     "\"tool_calls\":[]}}]}",
     0, 0, 0, NULL, "hi"},
    {"everything null",
     "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":null},"
     "\"finish_reason\":\"stop\"}],\"usage\":null}",
     0, 0, 0, NULL, ""},
    {"no content key", SAYS("{\"role\":\"assistant\"}"), 0, 0, 0, NULL, ""},
    {"details null",
     "{\"choices\":[{\"message\":{\"content\":\"t\"}}],\"usage\":{\"completion_tokens\":1,"
     "\"completion_tokens_details\":null,\"prompt_tokens_details\":null}}",
     0, 0, 0, NULL, "t"},
    {"no choices (verifiers PR#1537)", "{\"choices\":[]}", BAD, 0, 0, NULL, NULL},
    {"a choice that is null", "{\"choices\":[null]}", BAD, 0, 0, NULL, NULL},
    {"thoughts alone (verifiers PR#1537)", SAYS("{\"content\":null,\"reasoning_content\":\"hmm\"}"),
     0, 0, 0, NULL, ""},
    {"text before a tag",
     TEXT("ok <tool_call>{\\\"name\\\":\\\"f\\\",\\\"arguments\\\":{}}</tool_call>"), 0, 0, 0, NULL,
     NULL},
    {"two objects in one tag",
     TEXT("<tool_call>{\\\"name\\\":\\\"f\\\",\\\"arguments\\\":{}}\\n{\\\"name\\\":\\\"f\\\","
          "\\\"arguments\\\":{}}</tool_call>"),
     0, 2, R(TEXT_TAG), "{}", NULL},
    {"opening tag missing", TEXT("{\\\"name\\\":\\\"f\\\",\\\"arguments\\\":{}}</tool_call>"), 0, 1,
     R(TEXT_TAG), "{}", NULL},
    {"no arguments key in a bare object", TEXT("{\\\"name\\\":\\\"f\\\"}"), 0, 0, 0, NULL, NULL},
    {"a function tag with JSON", TEXT("<function=f>{\\\"a\\\":\\\"x\\\"}</function>"), 0, 1,
     R(TEXT_FUNCTION), "{\"a\":\"x\"}", NULL},
    {"arguments cut", CALL("{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\"}"), 0, 1, R(ARGS_BROKEN),
     NULL, NULL},
    {"arguments encoded twice (verifiers#562)",
     CALL("{\"name\":\"f\",\"arguments\":\"\\\"{\\\\\\\"a\\\\\\\":\\\\\\\"x\\\\\\\"}\\\"\"}"), 0, 1,
     R(ARGS_TWICE), "{\"a\":\"x\"}", NULL},
    {"arguments a list (miles#2689)", CALL("{\"name\":\"f\",\"arguments\":[\"x\"]}"), 0, 1,
     R(ARGS_BROKEN), NULL, NULL},
    {"arguments 5 (miles#2689)", CALL("{\"name\":\"f\",\"arguments\":5}"), 0, 1, R(ARGS_BROKEN),
     NULL, NULL},
    {"arguments true (miles#2689)", CALL("{\"name\":\"f\",\"arguments\":true}"), 0, 1,
     R(ARGS_BROKEN), NULL, NULL},
    {"arguments null (trl#4881)", CALL("{\"name\":\"f\",\"arguments\":null}"), 0, 1, R(ARGS_EMPTY),
     "{}", NULL},
    {"no arguments (trl#4881)", CALL("{\"name\":\"f\"}"), 0, 1, R(ARGS_EMPTY), "{}", NULL},
    {"marker in the name (vllm#32587)",
     CALL("{\"name\":\"f<|channel|>commentary\",\"arguments\":\"{}\"}"), 0, 1, R(NAME_MARKER), "{}",
     NULL},
    {"marker of another kind", CALL("{\"name\":\"f<|constrain|>json\",\"arguments\":\"{}\"}"), 0, 1,
     R(NAME_MARKER), "{}", NULL},
    {"no name but a marker",
     CALL("{\"name\":\"assistant<|channel|>analysis\",\"arguments\":\"{}\"}"), 0, 1,
     R(NAME_UNKNOWN), NULL, NULL},
    {"tool prefix", CALL("{\"name\":\"tool:f\",\"arguments\":\"{}\"}"), 0, 1, R(NAME_PREFIX), "{}",
     NULL},
    {"two prefixes", CALL("{\"name\":\"functions.functions.f\",\"arguments\":\"{}\"}"), 0, 1,
     R(NAME_UNKNOWN), NULL, NULL},
    {"markers around the end (TensorRT-LLM#9256)", TEXT("<|channel|>final<|message|>done"), 0, 0, 0,
     NULL, "done"},
    {"thoughts and answer in harmony",
     TEXT(
         "<|channel|>analysis<|message|>hmm<|end|><|start|>assistant<|channel|>final<|message|>go"),
     0, 0, 0, NULL, "go"},
    {"harmony without its markers", TEXT("analysisLet me see.assistantfinalgo"), 0, 0, 0, NULL,
     "go"},
    {"a call in harmony",
     TEXT("<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\\\"a\\\":\\\"x\\\"}"),
     0, 1, R(TEXT_HARMONY) | R(NAME_PREFIX), "{\"a\":\"x\"}", NULL},
    {"thoughts without an opener", TEXT("hmm</think>hello"), 0, 0, 0, NULL, "hello"},
    {"thoughts without an end", TEXT("<think>hmm"), 0, 0, 0, NULL, ""},
    {"refusal", SAYS("{\"content\":null,\"refusal\":\"no\"}"), 0, 0, 0, NULL, "no"},
    {"content in parts",
     SAYS("{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]}"),
     0, 0, 0, NULL, "ab"},
    {"a key in other case", SAYS("{\"Content\":\"no\",\"content\":\"yes\"}"), 0, 0, 0, NULL, "yes"},
    {"an error in a 200", "{\"error\":{\"code\":429,\"message\":\"m\"},\"choices\":null}",
     GG_RETRY_RATE, 0, 0, NULL, NULL},
    {"an error in a choice",
     "{\"choices\":[{\"error\":{\"code\":502,\"message\":\"m\"},\"message\":{\"content\":\"\"}}]}",
     GG_RETRY_SERVER, 0, 0, NULL, NULL},
    {"quota in a 200", "{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"m\"}}",
     GG_RETRY_STOP, 0, 0, NULL, NULL},
    {"error null", "{\"error\":null,\"choices\":[{\"message\":{\"content\":\"t\"}}]}", 0, 0, 0,
     NULL, "t"},
    {"blanks and a dot", "  \n .", BAD, 0, 0, NULL, NULL},
    {"cut body", "{\"choices\":[{\"mess", BAD, 0, 0, NULL, NULL},
    {"text behind the body", TEXT("t") " x", BAD, 0, 0, NULL, NULL},
    {"abort with text",
     "{\"choices\":[{\"finish_reason\":\"abort\",\"message\":{\"content\":\"t\"}}]}", 0, 0, 0, NULL,
     NULL},
    {"big numbers",
     "{\"id\":9007199254740993,\"created\":1.7e9,\"choices\":[{\"message\":{\"content\":\"t\"}}],"
     "\"usage\":{\"prompt_tokens\":12.0,\"completion_tokens\":3.0}}",
     0, 0, 0, NULL, "t"},
    {"a number that is none", "{\"choices\":[{\"message\":{\"content\":\"t\"}}],\"created\":NaN}",
     BAD, 0, 0, NULL, NULL},
    {"lone surrogate", TEXT("a\\ud800b"), 0, 0, 0, NULL,
     "a\xef\xbf\xbd"
     "b"},
    {"line separators (verifiers PR#1644)",
     TEXT("a\xe2\x80\xa8"
          "b\xc2\x85"
          "c"),
     0, 0, 0, NULL,
     "a\xe2\x80\xa8"
     "b\xc2\x85"
     "c"},
};

static bool never_used(void *context, const char *id)
{
    (void)context, (void)id;
    return false;
}

static void check_calls(size_t i, const gg_reply *reply, const gg_tools *tools)
{
    const gg_ids ids = {.used = never_used, .seed = 1};
    gg_found found;
    gg_error error;
    gg_found_init(&found);
    assert_int_equal(gg_find_calls(&found, reply, tools, &ids, true, &error), GG_OK);
    uint32_t repairs = found.count ? found.calls[0].repairs : 0;
    if (found.count != rows[i].calls || repairs != rows[i].repairs)
        fail_msg("%s: %zu calls, repairs %x, not %x", rows[i].what, found.count, repairs,
                 rows[i].repairs);
    if (found.count) {
        assert_int_equal(found.calls[0].fault == GG_FAULT_NONE, rows[i].arguments != NULL);
        if (rows[i].arguments)
            assert_string_equal(found.calls[0].arguments, rows[i].arguments);
    } else if (rows[i].text && (found.text_len != strlen(rows[i].text) ||
                                memcmp(found.text, rows[i].text, found.text_len) != 0)) {
        fail_msg("%s: \"%.*s\"", rows[i].what, (int)found.text_len, found.text);
    }
    gg_found_free(&found);
}

static void every_case_has_its_value(void **state)
{
    (void)state;
    gg_tools *tools;
    gg_reply reply;
    gg_buf message;
    gg_error error;
    gg_reply_init(&reply);
    gg_buf_init(&message, 1000);
    assert_int_equal(gg_tools_make(TOOLS, &tools, &error), GG_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        /* A copy without room to spare, so that reading past its end is seen. */
        size_t len = strlen(rows[i].body);
        char *copy = strdup(rows[i].body);
        gg_http_reply http = {.status = 200, .body = copy, .len = len, .content_type = ""};
        gg_buf_reset(&message);
        gg_retry_class class = gg_reply_judge(&reply, &http, &message);
        if (class != rows[i].class)
            fail_msg("%s: %s (%s)", rows[i].what, gg_retry_class_name(class),
                     gg_buf_cstr(&message));
        if (class == GG_RETRY_OK)
            check_calls(i, &reply, tools);
        free(copy);
    }
    gg_tools_free(tools);
    gg_reply_free(&reply);
    gg_buf_free(&message);
}

/* Log-probabilities as servers print the impossible, and entries without one (ART PR#467). */
static void numbers_survive(void **state)
{
    (void)state;
    static const char body[] =
        "{\"choices\":[{\"message\":{\"content\":\"t\"},\"token_ids\":[0,2147483647,5,6],"
        "\"logprobs\":{\"content\":[{\"token\":\"a\",\"logprob\":-9999.0,\"top_logprobs\":[{"
        "\"token\":"
        "\"z\",\"logprob\":-1}]},{\"token\":\"b\",\"logprob\":-3.4028235e+38},{\"token\":\"c\","
        "\"logprob\":null},{\"token\":\"d\"}]}}]}";
    gg_reply reply;
    gg_error error;
    gg_reply_init(&reply);
    assert_int_equal(gg_reply_read(&reply, body, strlen(body), &error), GG_OK);
    assert_int_equal(reply.id_count, 4);
    assert_int_equal(reply.ids[1], 2147483647);
    assert_int_equal(reply.logprob_count, 4);
    assert_true(reply.logprobs[0] == -9999.0);
    assert_true(reply.logprobs[1] == -3.4028235e+38);
    assert_true(isnan(reply.logprobs[2]) && isnan(reply.logprobs[3]));
    gg_reply_free(&reply);
}

/* Depth and size have their bounds. */
static void bombs_are_refused(void **state)
{
    (void)state;
    gg_reply reply;
    gg_error error;
    gg_buf body;
    gg_reply_init(&reply);
    gg_buf_init(&body, 64u << 20);
    gg_buf_str(&body, "{\"choices\":");
    for (int i = 0; i < 1000000; i++)
        gg_buf_char(&body, '[');
    assert_int_equal(gg_reply_read(&reply, body.data, body.len, &error), GG_E_FORMAT);
    gg_buf_reset(&body);
    gg_buf_str(&body, "{\"choices\":[{\"message\":{\"content\":\"");
    for (int i = 0; i < 17 << 10; i++)
        for (int k = 0; k < 16; k++)
            gg_buf_str(&body, "0123456789012345678901234567890123456789012345678901234567890123");
    gg_buf_str(&body, "\"}}]}");
    assert_true(body.len > GG_REPLY_STRING_MAX);
    assert_int_not_equal(gg_reply_read(&reply, body.data, body.len, &error), GG_OK);
    gg_buf_free(&body);
    gg_reply_free(&reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_has_its_value),
        cmocka_unit_test(numbers_survive),
        cmocka_unit_test(bombs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
