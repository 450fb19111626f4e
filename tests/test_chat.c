/* The chat codec (agent/chat.h): request bodies, histories, replies. The inputs are our own, in the
 * shapes that vLLM, SGLang, llama.cpp, Ollama, TGI and gateways send. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/chat.h"
#include "core/json.h"
#include "tests/alloc.h"

static const char tools[] = "[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]";
#define TOOLS "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]"
#define CORE  "\"model\":\"m\",\"max_tokens\":64,\"temperature\":1,\"top_p\":1"
#define TAIL  ",\"messages\":[],\"seed\":5}"

static gg_ask ask(void)
{
    gg_ask a = GG_ASK_DEFAULTS;
    a.model = "m";
    a.max_tokens = 64;
    a.token_ids = 0;
    return a;
}

static void check_body(const gg_ask *a, const char *offered, const char *want)
{
    gg_frame frame;
    gg_error error = {0};
    gg_buf history, body;
    gg_buf_init(&history, 1u << 16);
    gg_buf_init(&body, 1u << 16);
    if (gg_frame_make(&frame, a, offered, &error) != GG_OK)
        fail_msg("%s", error.text);
    gg_frame_body(&frame, &history, 5, &body);
    assert_string_equal(gg_buf_cstr(&body), want);
    gg_frame_free(&frame);
    gg_buf_free(&body);
    gg_buf_free(&history);
}

static void bodies(void **state)
{
    gg_ask a = ask();
    (void)state;
    check_body(&a, tools, "{" CORE "," TOOLS TAIL);
    check_body(&a, "[]", "{" CORE TAIL); /* an empty list is a 400 on vLLM */
    a.token_ids = GG_IDS_LOGPROBS | GG_IDS_VLLM;
    check_body(&a, tools, "{" CORE ",\"logprobs\":true,\"return_token_ids\":true," TOOLS TAIL);
    a = ask();
    a.send_seed = false;
    check_body(&a, tools, "{" CORE "," TOOLS ",\"messages\":[]}");
    a = ask();
    a.max_tokens_key = "max_completion_tokens";
    check_body(&a, "[]",
               "{\"model\":\"m\",\"max_completion_tokens\":64,\"temperature\":1,\"top_p\":1" TAIL);
    a = ask();
    a.drop = "top_p\nseed";
    check_body(&a, "[]", "{\"model\":\"m\",\"max_tokens\":64,\"temperature\":1,\"messages\":[]}");
    a = ask();
    a.extra_body = "{\"temperature\":0.5,\"top_k\":20}";
    check_body(
        &a, "[]",
        "{\"model\":\"m\",\"max_tokens\":64,\"top_p\":1,\"temperature\":0.5,\"top_k\":20" TAIL);
    a.extra_body = "{\"seed\":9}"; /* not sent twice */
    check_body(&a, "[]", "{" CORE ",\"seed\":9,\"messages\":[]}");
    a = ask();
    a.temperature = 0.7;
    a.top_p = 0.95;
    check_body(&a, "[]",
               "{\"model\":\"m\",\"max_tokens\":64,\"temperature\":0.7,\"top_p\":0.95" TAIL);
}

static void effort_places(void **state)
{
    static const struct {
        const char *place, *effort, *want;
    } rows[] = {
        {"top", "low", "{" CORE ",\"reasoning_effort\":\"low\"" TAIL},
        {"reasoning-object", "high", "{" CORE ",\"reasoning\":{\"effort\":\"high\"}" TAIL},
        {"template-kwargs", "medium",
         "{" CORE ",\"chat_template_kwargs\":{\"reasoning_effort\":\"medium\",\"enable_thinking\":"
         "true}" TAIL},
        {"template-kwargs", "none",
         "{" CORE ",\"chat_template_kwargs\":{\"reasoning_effort\":\"none\",\"enable_thinking\":"
         "false}" TAIL},
        {"system-line", "low", "{" CORE TAIL},
        {"off", "low", "{" CORE TAIL},
        {"top", NULL, "{" CORE TAIL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_ask a = ask();
        a.effort = rows[i].effort;
        assert_true(gg_effort_in_parse(rows[i].place, &a.effort_in));
        check_body(&a, "[]", rows[i].want);
    }
    gg_effort_in place;
    assert_false(gg_effort_in_parse("bottom", &place));
    assert_true(gg_effort_known("xhigh"));
    assert_false(gg_effort_known("banana"));
    assert_false(gg_effort_known(""));
}

static void bad_extras(void **state)
{
    static const char *const rows[] = {"[1]", "{\"a\":", "5", "{\"messages\":[]}"};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_ask a = ask();
        gg_frame frame;
        gg_error error = {0};
        a.extra_body = rows[i];
        assert_int_equal(gg_frame_make(&frame, &a, tools, &error), GG_E_CONFIG);
        assert_true(strlen(error.text) > 0);
        gg_frame_free(&frame);
    }
}

static void constrained_sampling(void **state)
{
    static const struct {
        const char *extra;
        bool want;
    } rows[] = {
        {NULL, false},
        {"{\"top_k\":3}", false},
        {"{\"tool_choice\":\"auto\"}", false},
        {"{\"tool_choice\":\"none\"}", false},
        {"{\"tool_choice\":null}", false},
        {"{\"tool_choice\":\"required\"}", true},
        {"{\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}}}", true},
        {"{\"response_format\":{\"type\":\"json_object\"}}", true},
        {"{\"guided_regex\":\"a\"}", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_ask a = ask();
        gg_frame frame;
        gg_error error;
        a.extra_body = rows[i].extra;
        assert_int_equal(gg_frame_make(&frame, &a, tools, &error), GG_OK);
        assert_int_equal(frame.constrained, rows[i].want);
        gg_frame_free(&frame);
    }
}

static void histories(void **state)
{
    gg_buf h;
    (void)state;
    gg_buf_init(&h, 1u << 16);
    gg_history_system(&h, "s \"1\"", NULL);
    gg_history_user(&h, "u\xff\n");
    gg_history_said(&h, &(gg_said){"hi", 2, "reasoning", "hm"}, 2);
    gg_history_call(&h, 0, "i1", "f", "{\"a\":1}");
    gg_history_call(&h, 1, "i2", "g", "{}");
    gg_history_said_end(&h, 2);
    gg_history_tool(&h, "i1", "r1");
    gg_history_tool(&h, "i2", "r2");
    assert_string_equal(
        gg_buf_cstr(&h),
        "{\"role\":\"system\",\"content\":\"s \\\"1\\\"\"},"
        "{\"role\":\"user\",\"content\":\"u\xef\xbf\xbd\\n\"},"
        "{\"role\":\"assistant\",\"content\":\"hi\",\"reasoning\":\"hm\",\"tool_calls\":["
        "{\"id\":\"i1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{"
        "\\\"a\\\":1}\"}},"
        "{\"id\":\"i2\",\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]}"
        ","
        "{\"role\":\"tool\",\"content\":\"r1\",\"tool_call_id\":\"i1\"},"
        "{\"role\":\"tool\",\"content\":\"r2\",\"tool_call_id\":\"i2\"}");
    gg_buf_reset(&h);
    gg_history_system(&h, "s", "Reasoning: low");
    assert_string_equal(gg_buf_cstr(&h),
                        "{\"role\":\"system\",\"content\":\"s\\n\\nReasoning: low\"}");
    gg_buf_free(&h);
}

/* An empty assistant message makes servers refuse every request that follows. */
static void said(void **state)
{
    static const struct {
        const char *content, *field, *reasoning;
        size_t calls;
        const char *want;
    } rows[] = {
        {"", NULL, "", 0, "\"" GG_EMPTY_REPLY "\""},
        {"", NULL, "hm", 0, "\"" GG_EMPTY_REPLY "\""},
        {"", "reasoning_content", "", 0, "\"" GG_EMPTY_REPLY "\""},
        {"", "reasoning_content", "hm", 0, "\"\",\"reasoning_content\":\"hm\""},
        {"", NULL, "", 1, "\"\",\"tool_calls\":["},
        {"x", NULL, "hm", 0, "\"x\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_buf h;
        gg_buf_init(&h, 1u << 16);
        gg_history_said(
            &h,
            &(gg_said){rows[i].content, strlen(rows[i].content), rows[i].field, rows[i].reasoning},
            rows[i].calls);
        assert_string_equal(h.data + strlen("{\"role\":\"assistant\",\"content\":"), rows[i].want);
        gg_buf_free(&h);
    }
}

/* Puts a reply into one line. */
static void describe(const gg_reply *r, gg_buf *out)
{
    gg_buf_printf(out, "[%s]", r->content);
    if (r->reasoning_field)
        gg_buf_printf(out, " %s=[%s]", r->reasoning_field, r->reasoning);
    gg_buf_printf(out, " %s", r->finish_reason ? r->finish_reason : "-");
    for (size_t i = 0; i < r->call_count; i++)
        gg_buf_printf(out, " %s:%s(%s)%s", r->calls[i].id ? r->calls[i].id : "-",
                      r->calls[i].name ? r->calls[i].name : "-",
                      r->calls[i].arguments ? r->calls[i].arguments : "-",
                      r->calls[i].legacy ? " legacy" : "");
}

static void messages(void **state)
{
    static const struct {
        const char *choice, *want;
    } rows[] = {
        {"{\"message\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":null},\"finish_"
         "reason\":\"stop\"}",
         "[] stop"},
        {"{\"message\":{\"role\":\"assistant\"},\"finish_reason\":null}", "[] -"},
        {"{\"finish_reason\":\"\"}", "[] -"},
        {"{\"message\":{\"content\":\"\"}}", "[] -"},
        {"{\"message\":null}", "[] -"},
        {"{\"message\":{\"content\":\"a\\u00e9\\ud800\"}}", "[a\xc3\xa9\xef\xbf\xbd] -"},
        {"{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image\"},"
         "{\"type\":\"text\",\"text\":\"b\"}]}}",
         "[ab] -"},
        {"{\"message\":{\"content\":null,\"refusal\":\"no\"}}", "[no] -"},
        {"{\"message\":{\"content\":\"yes\",\"refusal\":\"no\"}}", "[yes] -"},
        {"{\"message\":{\"content\":null,\"reasoning\":\"hm\"}}", "[] reasoning=[hm] -"},
        {"{\"message\":{\"reasoning_content\":\"hm\",\"reasoning\":null,\"content\":\"x\"}}",
         "[x] reasoning_content=[hm] -"},
        {"{\"message\":{\"Content\":\"no\",\"content\":\"x\"}}", "[x] -"},
        {"{\"message\":{\"content\":\"x\",\"Content\":\"no\"}}", "[x] -"},
        {"{\"message\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":"
         "\"{}\"}},"
         "{\"id\":null,\"function\":{\"name\":null}},{\"function\":null},null,7]}}",
         "[] - a:f({}) -:-(-) -:-(-)"},
        {"{\"message\":{\"tool_calls\":[{\"id\":12,\"function\":{\"arguments\":{\"a\": "
         "1},\"name\":\"f\"}}]}}",
         "[] - 12:f({\"a\": 1})"},
        {"{\"message\":{\"function_call\":{\"name\":\"f\",\"arguments\":\"{}\"}}}",
         "[] - -:f({}) legacy"},
        {"{\"message\":{\"function_call\":null,\"tool_calls\":[]}}", "[] -"},
    };
    gg_reply reply;
    gg_buf body, got;
    (void)state;
    gg_reply_init(&reply);
    gg_buf_init(&body, 1u << 16);
    gg_buf_init(&got, 1u << 16);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_error error;
        gg_buf_reset(&body);
        gg_buf_reset(&got);
        gg_buf_printf(&body,
                      "{\"id\":\"x\",\"choices\":[%s,{\"message\":{\"content\":\"second\"}}]}",
                      rows[i].choice);
        assert_int_equal(gg_reply_read(&reply, body.data, body.len, &error), GG_OK);
        describe(&reply, &got);
        if (strcmp(got.data, rows[i].want) != 0)
            fail_msg("%s\n  got  %s\n  want %s", rows[i].choice, got.data, rows[i].want);
    }
    gg_buf_free(&got);
    gg_buf_free(&body);
    gg_reply_free(&reply);
}

static void usage(void **state)
{
    static const struct {
        const char *root;
        gg_usage want;
        int64_t version;
    } rows[] = {
        {"", {-1, -1, -1, -1}, -1},
        {"\"usage\":null,", {-1, -1, -1, -1}, -1},
        {"\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":3,\"completion_tokens_details\":"
         "null,"
         "\"prompt_tokens_details\":null},",
         {12, 3, -1, -1},
         -1},
        {"\"usage\":{\"prompt_tokens\":12.0,\"completion_tokens\":0,\"completion_tokens_details\":"
         "{\"reasoning_tokens\":2},\"prompt_tokens_details\":{\"cached_tokens\":7}},",
         {12, 0, 2, 7},
         -1},
        {"\"usage\":{\"prompt_tokens\":null,\"completion_tokens\":-4,\"reasoning_tokens\":9},",
         {-1, -1, 9, -1},
         -1}, /* SGLang */
        {"\"weight_version\":4,", {-1, -1, -1, -1}, 4},
        {"\"weight_version\":null,", {-1, -1, -1, -1}, -1},
        {"\"meta_info\":{\"id\":\"r\",\"weight_version\":\"11\"},", {-1, -1, -1, -1}, 11},
        {"\"meta_info\":{\"weight_version\":\"default\"},", {-1, -1, -1, -1}, -1},
    };
    gg_reply reply;
    (void)state;
    gg_reply_init(&reply);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[1024];
        gg_error error;
        snprintf(body, sizeof body, "{%s\"created\":1.7e9,\"choices\":[{\"message\":{}}]}",
                 rows[i].root);
        assert_int_equal(gg_reply_read(&reply, body, strlen(body), &error), GG_OK);
        assert_int_equal(reply.usage.prompt, rows[i].want.prompt);
        assert_int_equal(reply.usage.completion, rows[i].want.completion);
        assert_int_equal(reply.usage.reasoning, rows[i].want.reasoning);
        assert_int_equal(reply.usage.cached, rows[i].want.cached);
        assert_int_equal(reply.weight_version, rows[i].version);
    }
    gg_reply_free(&reply);
}

static void token_ids(void **state)
{
    static const char body[] = "{\"prompt_token_ids\":[1,2,3],\"choices\":[{\"token_ids\":[4,5,"
                               "2147483647],\"logprobs\":{\"content\":["
                               "{\"token\":\"a\",\"logprob\":-0.25,\"bytes\":[97],\"top_logprobs\":"
                               "[{\"token\":\"a\",\"logprob\":-0.5}]},"
                               "{\"token\":\"b\",\"logprob\":null},{\"token\":\"\",\"logprob\":-3."
                               "4e38}]},\"message\":{}}]}";
    static const char none[] =
        "{\"prompt_token_ids\":null,\"choices\":[{\"token_ids\":null,\"logprobs\":null,"
        "\"message\":{\"content\":\"x\"}}]}";
    static const char inside[] =
        "{\"choices\":[{\"prompt_token_ids\":[9],\"token_ids\":[8],\"logprobs\":"
        "{\"token_logprobs\":[null,-1],\"content\":null},\"message\":{}}]}";
    gg_reply reply;
    gg_error error;
    (void)state;
    gg_reply_init(&reply);
    assert_int_equal(gg_reply_read(&reply, body, strlen(body), &error), GG_OK);
    assert_int_equal(reply.prompt_count, 3);
    assert_int_equal(reply.prompt_ids[2], 3);
    assert_int_equal(reply.id_count, 3);
    assert_int_equal(reply.ids[2], 2147483647);
    assert_int_equal(reply.logprob_count, 3);
    assert_true(reply.logprobs[0] == -0.25);
    assert_true(isnan(reply.logprobs[1]));
    assert_true(reply.logprobs[2] == -3.4e38);
    assert_int_equal(gg_reply_read(&reply, none, strlen(none), &error), GG_OK);
    assert_int_equal(reply.prompt_count + reply.id_count + reply.logprob_count, 0);
    assert_int_equal(gg_reply_read(&reply, inside, strlen(inside), &error), GG_OK);
    assert_int_equal(reply.prompt_ids[0], 9);
    assert_int_equal(reply.ids[0], 8);
    assert_int_equal(reply.logprob_count, 2);
    gg_reply_free(&reply);
}

/* Every beginning of a good body is refused, never taken for a shorter reply. */
static void cut_bodies(void **state)
{
    static const char body[] =
        "{\"choices\":[{\"message\":{\"content\":\"a\\u00e9\",\"tool_calls\":[{\"id\":\"x\","
        "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"stop\","
        "\"token_ids\":[1,2]}],\"usage\":{\"prompt_tokens\":1}}";
    gg_reply reply;
    gg_error error;
    (void)state;
    gg_reply_init(&reply);
    for (size_t len = 0; len < sizeof body - 1; len++) {
        char cut[sizeof body]; /* own bytes, so that the sanitizer sees a read past them */
        memcpy(cut, body, len);
        assert_int_equal(gg_reply_read(&reply, cut, len, &error), GG_E_FORMAT);
        assert_int_equal(reply.call_count, 0);
    }
    assert_int_equal(gg_reply_read(&reply, body, sizeof body - 1, &error), GG_OK);
    gg_reply_free(&reply);
}

static void judged(void **state)
{
    static const struct {
        const char *body;
        gg_retry_class want;
        const char *message; /* part of it; NULL = empty */
    } rows[] = {
        {"{\"choices\":[{\"message\":{\"content\":\"x\"}}]}", GG_RETRY_OK, NULL},
        {"{\"error\":null,\"choices\":[{\"message\":{\"content\":\"x\"}}]}", GG_RETRY_OK, NULL},
        {"{\"choices\":[{\"message\":{\"content\":null}}]}", GG_RETRY_OK, NULL},
        {"", GG_RETRY_BAD_REPLY, "empty"},
        {" \n . ", GG_RETRY_BAD_REPLY, "JSON"},
        {"<html>502</html>", GG_RETRY_BAD_REPLY, "JSON"},
        {"[]", GG_RETRY_BAD_REPLY, "JSON"},
        {"{\"choices\":[{\"mess", GG_RETRY_BAD_REPLY, "JSON"},
        {"{\"choices\":[{\"logprobs\":{\"content\":[{\"logprob\":NaN}]}}]}", GG_RETRY_BAD_REPLY,
         "JSON"},
        {"{\"choices\":[]}", GG_RETRY_BAD_REPLY, "no choice"},
        {"{\"choices\":null}", GG_RETRY_BAD_REPLY, "no choice"},
        {"{\"object\":\"list\",\"data\":[]}", GG_RETRY_BAD_REPLY, "no choice"},
        {"{\"error\":{\"code\":429,\"message\":\"slow\"},\"choices\":null}", GG_RETRY_RATE, "slow"},
        {"{\"error\":{\"code\":\"429\",\"message\":\"slow\"}}", GG_RETRY_RATE, "slow"},
        {"{\"error\":{\"code\":502,\"message\":\"bad gateway\"}}", GG_RETRY_SERVER, "bad gateway"},
        {"{\"error\":{\"message\":\"m\"}}", GG_RETRY_SERVER, "m"},
        {"{\"error\":\"busy\"}", GG_RETRY_SERVER, "busy"},
        {"{\"error\":{\"code\":429,\"type\":\"insufficient_quota\",\"message\":\"no credit\"}}",
         GG_RETRY_STOP, "no credit"},
        {"{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"maximum context "
         "length\"}}",
         GG_RETRY_CONTEXT, "maximum context length"},
        {"{\"choices\":[{\"error\":{\"code\":502,\"message\":\"inner\"},\"message\":{}}]}",
         GG_RETRY_SERVER, "inner"},
        {"{\"choices\":[{\"finish_reason\":\"error\",\"message\":{\"content\":\"x\"}}]}",
         GG_RETRY_BAD_REPLY, "broke"},
        {"{\"choices\":[{\"finish_reason\":\"abort\",\"message\":{\"content\":\"\"}}]}",
         GG_RETRY_BAD_REPLY, "broke"},
        {"{\"choices\":[{\"finish_reason\":\"abort\",\"message\":{\"content\":\"x\"}}]}",
         GG_RETRY_OK, NULL},
    };
    gg_reply reply;
    gg_buf message;
    (void)state;
    gg_reply_init(&reply);
    gg_buf_init(&message, 1u << 16);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_http_reply http = {.transport = GG_TRANSPORT_OK,
                              .status = 200,
                              .body = rows[i].body,
                              .len = strlen(rows[i].body),
                              .content_type = "application/json",
                              .detail = ""};
        gg_buf_reset(&message);
        gg_retry_class got = gg_reply_judge(&reply, &http, &message);
        const char *text = gg_buf_cstr(&message);
        if (got != rows[i].want || (rows[i].message ? !strstr(text, rows[i].message) : *text))
            fail_msg("%s is %s: %s", rows[i].body, gg_retry_class_name(got), text);
    }
    gg_buf_free(&message);
    gg_reply_free(&reply);
}

static void limits(void **state)
{
    gg_reply reply;
    gg_error error;
    gg_buf body;
    (void)state;
    gg_reply_init(&reply);
    gg_buf_init(&body, 1u << 24);
    gg_buf_str(&body, "{\"choices\":[{\"message\":{\"tool_calls\":[{}");
    for (int i = 0; i < GG_CALLS_MAX + 9; i++)
        gg_buf_str(&body, ",{}");
    gg_buf_str(&body, "]}}]}");
    assert_int_equal(gg_reply_read(&reply, body.data, body.len, &error), GG_OK);
    assert_int_equal(reply.call_count, GG_CALLS_MAX);
    assert_int_equal(reply.calls_dropped, 10);
    gg_buf_reset(&body);
    gg_buf_str(&body, "{\"x\":");
    for (int i = 0; i < 100000; i++)
        gg_buf_char(&body, '[');
    assert_int_equal(gg_reply_read(&reply, body.data, body.len, &error), GG_E_FORMAT);
    gg_buf_free(&body);
    gg_reply_free(&reply);
}

/* Strings of one reply stay while it is read, however large; a huge one is not kept for good. */
static void pool(void **state)
{
    gg_pool p = {0};
    (void)state;
    for (int round = 0; round < 3; round++) {
        char *a = gg_pool_copy(&p, "abc", 3);
        char *big = gg_pool_room(&p, 100000);
        memset(big, 'x', 100000);
        char *b = gg_pool_copy(&p, "", 0);
        assert_string_equal(a, "abc");
        assert_string_equal(b, "");
        assert_int_equal(strlen(big), 100000);
        gg_pool_reset(&p);
    }
    gg_pool_free(&p);
}

static gg_status build_and_read(void *context)
{
    gg_ask a = ask();
    gg_frame frame;
    gg_reply reply;
    gg_error error;
    (void)context;
    a.effort = "low";
    a.effort_in = GG_EFFORT_TEMPLATE_KWARGS;
    a.extra_body = "{\"top_k\":3}";
    a.token_ids = GG_IDS_LOGPROBS | GG_IDS_VLLM | GG_IDS_SGLANG;
    gg_status status = gg_frame_make(&frame, &a, tools, &error);
    gg_frame_free(&frame);
    if (status != GG_OK)
        return status;
    static const char body[] =
        "{\"prompt_token_ids\":[1],\"choices\":[{\"token_ids\":[2],\"logprobs\":{\"content\":"
        "[{\"logprob\":-1}]},\"message\":{\"content\":\"x\",\"tool_calls\":[{\"id\":\"a\","
        "\"function\":{\"name\":\"f\",\"arguments\":{}}}]}}]}";
    gg_reply_init(&reply);
    status = gg_reply_read(&reply, body, strlen(body), &error);
    gg_reply_free(&reply);
    return status;
}

static void memory_failures(void **state)
{
    (void)state;
    assert_true(alloc_each_fails(build_and_read, NULL) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies),     cmocka_unit_test(effort_places),
        cmocka_unit_test(bad_extras), cmocka_unit_test(constrained_sampling),
        cmocka_unit_test(histories),  cmocka_unit_test(said),
        cmocka_unit_test(messages),   cmocka_unit_test(usage),
        cmocka_unit_test(token_ids),  cmocka_unit_test(cut_bodies),
        cmocka_unit_test(judged),     cmocka_unit_test(limits),
        cmocka_unit_test(pool),       cmocka_unit_test(memory_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
