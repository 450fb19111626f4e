/* Token ids as servers give them, the text of the sampled tokens, and when sampling was free. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/chat.h"
#include "agent/sampled.h"
#include "agent/tokens.h"
#include "tests/alloc.h"

/* "1,2|3,4|-1,-0.5": prompt ids, ids, log-probabilities; NaN is "x". */
static void say_tokens(const gg_reply *reply, gg_buf *out)
{
    for (size_t i = 0; i < reply->prompt_count; i++)
        gg_buf_printf(out, "%s%d", i ? "," : "", reply->prompt_ids[i]);
    gg_buf_char(out, '|');
    for (size_t i = 0; i < reply->id_count; i++)
        gg_buf_printf(out, "%s%d", i ? "," : "", reply->ids[i]);
    gg_buf_char(out, '|');
    for (size_t i = 0; i < reply->logprob_count; i++) {
        gg_buf_str(out, i ? "," : "");
        if (isnan(reply->logprobs[i]))
            gg_buf_char(out, 'x');
        else
            gg_buf_double(out, reply->logprobs[i]);
    }
}

#define MESSAGE "\"message\":{\"content\":\"ab\"}"

static void every_form_of_ids_is_read(void **state)
{
    static const struct {
        const char *what, *body, *want;
    } rows[] = {
        {"vLLM",
         "{\"prompt_token_ids\":[1,2],\"choices\":[{" MESSAGE ",\"logprobs\":{\"content\":["
         "{\"token\":\"a\",\"logprob\":-1},{\"token\":\"b\",\"logprob\":-0.5}]},\"token_ids\":[3,4]"
         "}]}",
         "1,2|3,4|-1,-0.5"},
        {"vLLM, not asked for",
         "{\"prompt_token_ids\":null,\"choices\":[{" MESSAGE
         ",\"logprobs\":null,\"token_ids\":null}]}",
         "||"},
        {"vLLM, ids in the place of texts",
         "{\"choices\":[{" MESSAGE
         ",\"logprobs\":{\"content\":[{\"token\":\"token_id:3\",\"logprob\":"
         "-1,\"bytes\":[97]},{\"token\":\"token_id:4\",\"logprob\":-0.5,\"bytes\":[98]}]}}]}",
         "|3,4|-1,-0.5"},
        {"vLLM completions, both in the choice",
         "{\"choices\":[{\"text\":\"ab\",\"logprobs\":{\"token_logprobs\":[-1,-0.5]},\"token_ids\":"
         "[3,4],\"prompt_token_ids\":[1,2]}]}",
         "1,2|3,4|-1,-0.5"},
        {"SGLang, pairs in the choice",
         "{\"choices\":[{" MESSAGE ",\"prompt_token_ids\":[1,2],\"meta_info\":{\"weight_version\":"
         "\"7\",\"output_token_logprobs\":[[-1,3,\"a\"],[-0.5,4,null]]}}]}",
         "1,2|3,4|-1,-0.5"},
        {"SGLang, pairs at the root",
         "{\"meta_info\":{\"output_token_logprobs\":[[-1,3],[-0.5,4]]},\"choices\":[{" MESSAGE
         "}],\"prompt_token_ids\":[1,2]}",
         "1,2|3,4|-1,-0.5"},
        {"SGLang, output_ids alone",
         "{\"output_ids\":[3,4],\"choices\":[{" MESSAGE "}],\"prompt_token_ids\":[1,2]}",
         "1,2|3,4|"},
        {"SGLang, both: the logprobs of the list stand",
         "{\"choices\":[{" MESSAGE ",\"logprobs\":{\"content\":[{\"logprob\":-1},{\"logprob\":-2}]}"
         ",\"output_ids\":[3,4],\"meta_info\":{\"output_token_logprobs\":[[-1,3,null],[-2,4,null]]}"
         "}]}",
         "|3,4|-1,-2"},
        {"SGLang, a pair without an id",
         "{\"choices\":[{" MESSAGE
         ",\"meta_info\":{\"output_token_logprobs\":[[-1,3],[-0.5,null]]}}]}",
         "||"},
        {"SGLang, a logprob that is null",
         "{\"choices\":[{" MESSAGE
         ",\"meta_info\":{\"output_token_logprobs\":[[null,3],[-0.5,4]]}}]}",
         "|3,4|x,-0.5"},
        {"llama.cpp",
         "{\"choices\":[{" MESSAGE
         ",\"logprobs\":{\"content\":[{\"id\":3,\"token\":\"a\",\"bytes\":[97]"
         ",\"logprob\":-1,\"top_logprobs\":[{\"id\":9,\"token\":\"z\",\"logprob\":-7}]},{\"id\":4,"
         "\"token\":\"\",\"bytes\":[],\"logprob\":-0.5,\"top_logprobs\":[]}]}}]}",
         "|3,4|-1,-0.5"},
        {"llama.cpp, an entry without an id",
         "{\"choices\":[{" MESSAGE ",\"logprobs\":{\"content\":[{\"id\":3,\"token\":\"a\","
         "\"logprob\":-1},{\"token\":\"b\",\"logprob\":-0.5}]}}]}",
         "||-1,-0.5"},
        {"an id that is no int32",
         "{\"choices\":[{" MESSAGE ",\"logprobs\":{\"content\":[{\"id\":2147483648,\"logprob\":-1}]"
         "}}]}",
         "||-1"},
        {"a list of ids beats the entries' ids",
         "{\"choices\":[{" MESSAGE
         ",\"logprobs\":{\"content\":[{\"id\":8,\"logprob\":-1}]},\"token_ids\":[3,4]}]}",
         "|3,4|-1"},
    };
    gg_reply reply;
    gg_error error;
    gg_buf got;
    (void)state;
    gg_reply_init(&reply);
    gg_buf_init(&got, 4096);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_buf_reset(&got);
        if (gg_reply_read(&reply, rows[i].body, strlen(rows[i].body), &error) != GG_OK)
            fail_msg("%s: %s", rows[i].what, error.text);
        say_tokens(&reply, &got);
        if (strcmp(gg_buf_cstr(&got), rows[i].want) != 0)
            fail_msg("%s: %s, not %s", rows[i].what, gg_buf_cstr(&got), rows[i].want);
    }
    gg_reply_free(&reply);
    gg_buf_free(&got);
}

/* ---- the text of the tokens ---- */

#define SAYS(content, tokens)                                                                      \
    "{\"choices\":[{\"message\":{\"content\":\"" content "\"},\"logprobs\":{\"content\":[" tokens  \
    "]}}]}"
#define CALLS(before, name, arguments, tokens)                                                     \
    "{\"choices\":[{\"message\":{" before "\"tool_calls\":[{\"id\":\"c1\",\"function\":{"          \
    "\"name\":\"" name "\",\"arguments\":\"" arguments "\"}}]},\"logprobs\":{\"content\":[" tokens \
    "]}}]}"
#define T(text) "{\"token\":\"" text "\",\"logprob\":-1}"
#define HERMES(arguments)                                                                          \
    T("<tool_call>\\n{\\\"name\\\": \\\"f\\\", \\\"arguments\\\": " arguments                      \
      "}\\n</tool_call><|im_end|>")

static const struct {
    const char *what, *body;
    bool agrees;
} texts[] = {
    {"an empty token", SAYS("", T("")), true},
    {"the same", SAYS("ab", T("a") "," T("b")), true},
    {"a closing marker", SAYS("ab", T("a") "," T("b") "," T("<|im_end|>")), true},
    {"white space at the ends", SAYS("ab", T("\\n a") "," T("b ")), true},
    {"a fence is missing (llama.cpp with a schema)",
     SAYS("{}", T("```json\\n") "," T("{}") "," T("\\n```")), false},
    {"the end is missing", SAYS("a", T("a") "," T("b")), false},
    {"more than was sampled", SAYS("abc", T("a") "," T("b")), false},
    {"another text", SAYS("ax", T("a") "," T("b")), false},
    {"a raw call in the content stays what it is",
     SAYS("ok <tool_call>{}</tool_call>", T("ok <tool_call>{}") "," T("</tool_call><|im_end|>")),
     true},
    {"bytes before the token",
     SAYS("\\u00e9", "{\"bytes\":[195],\"token\":\"\\ufffd\"},"
                     "{\"bytes\":[169],\"token\":\"\\ufffd\"}"),
     true},
    {"bytes behind the token",
     SAYS("\\u00e9", "{\"token\":\"\\ufffd\",\"bytes\":[195]},"
                     "{\"token\":\"\\ufffd\",\"bytes\":[168]}"),
     false},
    {"part of a character, no bytes: not known", SAYS("\\u00e9", T("\\ufffd") "," T("\\ufffd")),
     true},
    {"a token without a text: not known", SAYS("zz", T("a") ",{\"logprob\":-1}"), true},
    {"ids in the place of texts: not known", SAYS("zz", T("token_id:7")), true},
    {"ids in the place of texts, with bytes",
     SAYS("zz", "{\"token\":\"token_id:7\",\"bytes\":[122,122]}"), true},
    {"thoughts",
     "{\"choices\":[{\"message\":{\"reasoning\":\"hm\",\"content\":\"ab\"},\"logprobs\":{"
     "\"content\":[" T("<think>hm</think>\\n") "," T("ab") "]}}]}",
     true},
    {"thoughts that were dropped", SAYS("ab", T("<think>hm</think>\\n") "," T("ab")), false},
    {"harmony",
     "{\"choices\":[{\"message\":{\"reasoning\":\"hm\",\"content\":\"ab\"},\"logprobs\":{"
     "\"content\":[" T("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final"
                       "<|message|>ab<|return|>") "]}}]}",
     true},
    {"a call in harmony",
     CALLS("\"reasoning\":\"hm\",", "f", "{\\\"a\\\": 1}",
           T("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary "
             "to=functions.f <|constrain|>json<|message|>{\\\"a\\\":1}<|call|>")),
     true},
    {"a call", CALLS("", "f", "{\\\"a\\\": \\\"x y\\\"}", HERMES("{\\\"a\\\":\\\"x y\\\"}")), true},
    {"a call, printed anew",
     CALLS("\"content\":null,", "f", "{\\\"a\\\":\\\"x\\\",\\\"n\\\":1.5}",
           HERMES("{ \\\"a\\\": \\\"x\\\", \\\"n\\\": 1.5 }")),
     true},
    {"a call by tags",
     CALLS("", "f", "{\\\"a\\\": \\\"x\\\"}",
           T("<function=f><parameter=a>x</parameter></function>")),
     true},
    {"a call by brackets, with its id",
     CALLS("", "f", "{\\\"a\\\":1}", T("[TOOL_CALLS]f[CALL_ID]c1[ARGS]{\\\"a\\\":1}</s>")), true},
    {"arguments before the name",
     CALLS("", "f", "{\\\"a\\\":1}", T("{\\\"arguments\\\":{\\\"a\\\":1},\\\"name\\\":\\\"f\\\"}")),
     true},
    {"a call with a value that was not sampled (vLLM mends cut calls)",
     CALLS("", "f", "{\\\"a\\\": \\\"y\\\"}", HERMES("{\\\"a\\\":\\\"x\\\"}")), false},
    {"a call with a name that was not sampled",
     CALLS("", "g", "{\\\"a\\\": 1}", HERMES("{\\\"a\\\":1}")), false},
    {"a value that was dropped", CALLS("", "f", "{}", HERMES("{\\\"a\\\":\\\"secret\\\"}")), false},
    {"prose before a call was dropped",
     CALLS("\"content\":null,", "f", "{}", T("Let me see.") "," HERMES("{}")), false},
    {"prose before a call was kept",
     CALLS("\"content\":\"Let me see.\",", "f", "{}", T("Let me see.") "," HERMES("{}")), true},
    {"escapes are not compared",
     CALLS("", "f", "{\\\"a\\\":\\\"\\\\u00e9\\\"}", HERMES("{\\\"a\\\":\\\"\\u00e9\\\"}")), false},
    {"no texts at all", "{\"choices\":[{\"message\":{\"content\":\"ab\"}}]}", true},
};

static void the_sampled_text_is_the_reply(void **state)
{
    gg_reply reply;
    gg_error error;
    bool agrees;
    (void)state;
    gg_reply_init(&reply);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (gg_reply_read(&reply, texts[i].body, strlen(texts[i].body), &error) != GG_OK)
            fail_msg("%s: %s", texts[i].what, error.text);
        assert_int_equal(gg_sampled_check(&reply, &agrees, &error), GG_OK);
        if (agrees != texts[i].agrees)
            fail_msg("%s: %s; tokens \"%s\"", texts[i].what, agrees ? "agrees" : "differs",
                     gg_buf_cstr(&reply.token_text));
    }
    gg_reply_free(&reply);
}

/* ---- constrained sampling ---- */

static void constraints_are_seen_in_the_body(void **state)
{
    static const char tools[] = "[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]";
    static const struct {
        const char *extra;
        bool constrained;
    } rows[] = {
        {NULL, false},
        {"{\"top_k\":20}", false},
        {"{\"tool_choice\":\"auto\"}", false},
        {"{\"tool_choice\":\"none\"}", false},
        {"{\"tool_choice\":null}", false},
        {"{\"tool_choice\":\"required\"}", true},
        {"{\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}}}", true},
        {"{\"response_format\":{\"type\":\"text\"}}", false},
        {"{\"response_format\":null}", false},
        {"{\"response_format\":{\"type\":\"json_object\"}}", true},
        {"{\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{}}}", true},
        {"{\"guided_json\":{}}", true},
        {"{\"guided_regex\":\"a\"}", true},
        {"{\"guided_decoding_backend\":null}", false},
        {"{\"structured_outputs\":{\"choice\":[\"a\"]}}", true},
        {"{\"grammar\":\"root ::= \\\"a\\\"\"}", true},
        {"{\"json_schema\":{}}", true},
        {"{\"regex\":\"a\"}", true},
        {"{\"ebnf\":\"root ::= \\\"a\\\"\"}", true},
        {"{\"format\":\"json\"}", true},
        {"{\"allowed_token_ids\":[1,2]}", true},
        {"{\"logit_bias\":{\"1\":-100}}", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_ask ask = GG_ASK_DEFAULTS;
        gg_frame frame;
        gg_error error;
        ask.extra_body = rows[i].extra;
        assert_int_equal(gg_frame_make(&frame, &ask, tools, &error), GG_OK);
        if (frame.constrained != rows[i].constrained)
            fail_msg("%s: %d", rows[i].extra, frame.constrained);
        gg_frame_free(&frame);
    }
    /* What is dropped from the body constrains nothing. */
    gg_ask ask = GG_ASK_DEFAULTS;
    gg_frame frame;
    gg_error error;
    ask.extra_body = "{\"tool_choice\":\"required\"}";
    ask.drop = "tool_choice";
    assert_int_equal(gg_frame_make(&frame, &ask, tools, &error), GG_OK);
    assert_false(frame.constrained);
    gg_frame_free(&frame);
}

/* ---- what may be trained on ---- */

static void reasons(void **state)
{
    static const struct {
        const char *what, *body;
        bool masked;
        const char *reason; /* NULL = trainable */
        bool imitable;
    } rows[] = {
        {"everything there",
         "{\"prompt_token_ids\":[1],\"usage\":{\"completion_tokens\":2},\"choices\":[{" MESSAGE
         ",\"token_ids\":[3,4],\"logprobs\":{\"content\":[" T("a") "," T("b") "]}}]}",
         false, NULL, true},
        {"masked sampling",
         "{\"prompt_token_ids\":[1],\"choices\":[{" MESSAGE ",\"token_ids\":[3,4],\"logprobs\":{"
         "\"content\":[" T("a") "," T("b") "]}}]}",
         true, "constrained_sampling", false},
        {"no log-probabilities",
         "{\"prompt_token_ids\":[1],\"choices\":[{" MESSAGE ",\"token_ids\":[3,4]}]}", false,
         "no_logprobs", true},
        {"one log-probability too few",
         "{\"prompt_token_ids\":[1],\"choices\":[{" MESSAGE ",\"token_ids\":[3,4],\"logprobs\":{"
         "\"content\":[" T("ab") "]}}]}",
         false, "logprobs_length", true},
        {"the closing token is not counted",
         "{\"prompt_token_ids\":[1],\"usage\":{\"completion_tokens\":1},\"choices\":[{" MESSAGE
         ",\"token_ids\":[3,4],\"logprobs\":{\"content\":[" T("a") "," T("b") "]}}]}",
         false, NULL, true},
        {"more was paid for than came",
         "{\"prompt_token_ids\":[1],\"usage\":{\"completion_tokens\":9},\"choices\":[{" MESSAGE
         ",\"token_ids\":[3,4],\"logprobs\":{\"content\":[" T("a") "," T("b") "]}}]}",
         false, "usage_length", false},
        {"another text",
         "{\"prompt_token_ids\":[1],\"choices\":[{" MESSAGE ",\"token_ids\":[3,4],\"logprobs\":{"
         "\"content\":[" T("a") "," T("z") "]}}]}",
         false, "text_differs", false},
        {"no prompt",
         "{\"choices\":[{" MESSAGE
         ",\"token_ids\":[3,4],\"logprobs\":{\"content\":[" T("a") "," T("b") "]}}]}",
         false, "no_prompt_ids", false},
        {"nothing", "{\"choices\":[{" MESSAGE "}]}", false, "no_token_ids", false},
    };
    gg_reply reply;
    gg_error error;
    bool forked;
    (void)state;
    gg_reply_init(&reply);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_episode *e = gg_episode_new();
        assert_non_null(e);
        assert_non_null(gg_episode_add_turn(e));
        assert_int_equal(gg_reply_read(&reply, rows[i].body, strlen(rows[i].body), &error), GG_OK);
        assert_int_equal(gg_tokens_record(e, &reply, &forked, &error), GG_OK);
        gg_tokens_settle(e, rows[i].masked, NULL);
        const char *reason = e->untrainable_reason ? e->untrainable_reason : "trainable";
        if (strcmp(reason, rows[i].reason ? rows[i].reason : "trainable") != 0)
            fail_msg("%s: %s", rows[i].what, reason);
        if (gg_tokens_imitable(e) != rows[i].imitable)
            fail_msg("%s: imitable or not", rows[i].what);
        gg_episode_free(e);
    }
    gg_reply_free(&reply);
}

static gg_status read_and_check(void *context)
{
    gg_reply reply;
    gg_error error;
    bool agrees;
    (void)context;
    gg_reply_init(&reply);
    gg_status status = GG_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && status == GG_OK; i++) {
        status = gg_reply_read(&reply, texts[i].body, strlen(texts[i].body), &error);
        if (status == GG_OK)
            status = gg_sampled_check(&reply, &agrees, &error);
    }
    gg_reply_free(&reply);
    return status;
}

static void memory_failures(void **state)
{
    (void)state;
    assert_true(alloc_each_fails(read_and_check, NULL) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_of_ids_is_read),
        cmocka_unit_test(the_sampled_text_is_the_reply),
        cmocka_unit_test(constraints_are_seen_in_the_body),
        cmocka_unit_test(reasons),
        cmocka_unit_test(memory_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
