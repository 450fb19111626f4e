/* What two real servers sent (vLLM 0.32 and llama.cpp build 11549, a model of 135 million
 * parameters), in small: shapes, keys and odd values are theirs, texts and ids are ours. Their
 * streams are in test_sse.c. */
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

/* The frame of each server's replies: a choice's members, then what comes behind the choices. */
#define LLAMA(choice, usage)                                                                       \
    "{\"choices\":[{\"finish_reason\":" choice                                                     \
    "}],\"created\":1796074273,\"model\":\"m\",\"system_fingerprint\":\"b0-unknown\",\"object\":"  \
    "\"chat.completion\",\"usage\":{" usage ",\"prompt_tokens_details\":{\"cached_tokens\":3}},"   \
    "\"id\":\"chatcmpl-x\",\"timings\":{\"cache_n\":3,\"prompt_n\":1,\"prompt_ms\":13.63,"         \
    "\"predicted_per_second\":80.24311606652358}}"
#define VLLM(choice, usage, ids)                                                                   \
    "{\"id\":\"chatcmpl-x\",\"object\":\"chat.completion\",\"created\":1796072555,\"model\":"      \
    "\"m\",\"choices\":[{\"index\":0," choice                                                      \
    ",\"stop_reason\":null,\"routed_experts\":null}],\"service_tier\":null,"                       \
    "\"system_fingerprint\":\"vllm-0.32.0\",\"usage\":{" usage                                     \
    ",\"prompt_tokens_details\":null,\"completion_tokens_details\":null},\"prompt_logprobs\":"     \
    "null,\"prompt_token_ids\":" ids ",\"prompt_text\":null,\"kv_transfer_params\":null,"          \
    "\"metrics\":null}"
#define V_MESSAGE(content, calls)                                                                  \
    "\"message\":{\"role\":\"assistant\",\"content\":\"" content                                   \
    "\",\"refusal\":null,\"annotations\":null,\"audio\":null,\"function_call\":null" calls         \
    ",\"reasoning\":null}"
#define V_CALL(arguments)                                                                          \
    ",\"tool_calls\":[{\"id\":\"chatcmpl-tool-1\",\"type\":\"function\",\"function\":{\"name\":"   \
    "\"f\",\"arguments\":\"" arguments "\"}}]"
#define L_TOKEN(id, text, bytes, logprob)                                                          \
    "{\"id\":" id ",\"token\":\"" text "\",\"bytes\":[" bytes "],\"logprob\":" logprob             \
    ",\"top_logprobs\":[{\"id\":9,\"token\":\"#\",\"bytes\":[35],\"logprob\":-4.2}]}"
#define V_TOKEN(text, bytes, logprob)                                                              \
    "{\"token\":\"" text "\",\"logprob\":" logprob ",\"bytes\":[" bytes "],\"top_logprobs\":[]}"
#define END_TOKEN   V_TOKEN("<|im_end|>", "60,124,105,109,95,101,110,100,124,62", "-0.344")
#define ERROR(rest) "{\"error\":{" rest "}}"

static const struct {
    const char *what;
    int status;
    const char *body;
    gg_retry_class class;
    size_t calls, prompt, ids, logprobs;
    int64_t prompt_tokens, completion_tokens;
    bool cut;
    bool constrained;
    const char *reason; /* why it cannot be trained on; NULL = it can */
} rows[] = {
    {"llama.cpp: prose where a call was asked for", 200,
     LLAMA("\"length\",\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"You \"},"
           "\"logprobs\":{\"content\":[" L_TOKEN("2683", "You", "89,111,117",
                                                 "-1.7") "," L_TOKEN("216", " ", "32", "-0.5") "]}",
           "\"completion_tokens\":2,\"prompt_tokens\":203,\"total_tokens\":205"),
     GG_RETRY_OK, 0, 0, 2, 2, 203, 2, true, false, "no_prompt_ids"},
    {"llama.cpp: prose though a call was required", 200,
     LLAMA("\"length\",\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"You will\"}",
           "\"completion_tokens\":40,\"prompt_tokens\":203,\"total_tokens\":243"),
     GG_RETRY_OK, 0, 0, 0, 0, 203, 40, true, true, "no_token_ids"},
    {"llama.cpp: a schema; the fence is in the tokens alone, the last token is empty", 200,
     LLAMA("\"stop\",\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"{}\"},"
           "\"logprobs\":{\"content\":[" L_TOKEN("3725", "```", "96,96,96", "-2.9") "," L_TOKEN(
               "9", "json", "106,115,111,110",
               "-0.1") "," L_TOKEN("8", "{}", "123,125", "-0.7") "," L_TOKEN("2", "", "",
                                                                             "-1.65") "]}",
           "\"completion_tokens\":4,\"prompt_tokens\":203,\"total_tokens\":207"),
     GG_RETRY_OK, 0, 0, 4, 4, 203, 4, false, true, "no_prompt_ids"},
    {"llama.cpp: an effort that does not exist is taken", 200,
     LLAMA("\"length\",\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"You can\"}",
           "\"completion_tokens\":8,\"prompt_tokens\":203,\"total_tokens\":211"),
     GG_RETRY_OK, 0, 0, 0, 0, 203, 8, true, false, "no_token_ids"},
    {"llama.cpp: a grammar beside tools", 400,
     ERROR("\"code\":400,\"message\":\"Cannot use custom grammar constraints with tools.\","
           "\"type\":\"invalid_request_error\""),
     GG_RETRY_REFUSED, 0, 0, 0, 0, 0, 0, false, true, NULL},
    {"llama.cpp: too long", 400,
     ERROR("\"code\":400,\"message\":\"request (20209 tokens) exceeds the available context size "
           "(4096 tokens), try increasing it\",\"type\":\"exceed_context_size_error\","
           "\"n_prompt_tokens\":20209,\"n_ctx\":4096"),
     GG_RETRY_CONTEXT, 0, 0, 0, 0, 0, 0, false, false, NULL},
    {"llama.cpp: a history with calls; the model repeats the answer", 200,
     LLAMA("\"stop\",\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"<tool_response>"
           "\\nB B Y\"}",
           "\"completion_tokens\":12,\"prompt_tokens\":262,\"total_tokens\":274"),
     GG_RETRY_OK, 0, 0, 0, 0, 262, 12, false, false, "no_token_ids"},
    {"llama.cpp: broken arguments in the history: asking again never helps", 500,
     ERROR("\"code\":500,\"message\":\"Failed to parse tool call arguments as JSON: "
           "[json.exception.parse_error.101] parse error at line 1, column 10\",\"type\":"
           "\"server_error\""),
     GG_RETRY_REFUSED, 0, 0, 0, 0, 0, 0, false, false, NULL},
    {"llama.cpp: two choices; the first counts", 200,
     "{\"choices\":[{\"finish_reason\":\"length\",\"index\":0,\"message\":{\"content\":\"a\"}},"
     "{\"finish_reason\":\"stop\",\"index\":1,\"message\":{\"content\":\"b\",\"tool_calls\":[{}]}}]"
     ",\"usage\":{\"completion_tokens\":8,\"prompt_tokens\":203}}",
     GG_RETRY_OK, 0, 0, 0, 0, 203, 8, true, false, "no_token_ids"},
    {"llama.cpp: loading", 503,
     ERROR("\"message\":\"Loading model\",\"type\":\"unavailable_error\",\"code\":503"),
     GG_RETRY_STARTING, 0, 0, 0, 0, 0, 0, false, false, NULL},
    {"vLLM: a call that is none stays text; the closing token is among the ids", 200,
     VLLM(V_MESSAGE("Go:\\n<tool_call>\\n{\\\"name\\\": <f>}\\n</tool_call>",
                    "") ","
                        "\"logprobs\":{\"content\":[" V_TOKEN("Go", "71,111", "-1.99") "," V_TOKEN(
                            ":\\n<tool_call>\\n{\\\"name\\\": <f>}\\n</tool_call>",
                            "58,10,60,116,111,111,108,95,99,97,108,108,62,10,123,34,110,97,109,101,"
                            "34,58,32,60,"
                            "102,62,125,10,60,47,116,111,111,108,95,99,97,108,108,62",
                            "-1.4") "," END_TOKEN
                                    "]},\"finish_reason\":\"stop\",\"token_ids\":[5,6,2]",
          "\"prompt_tokens\":4,\"total_tokens\":7,\"completion_tokens\":3", "[1,9,8,7]"),
     GG_RETRY_OK, 0, 4, 3, 3, 4, 3, false, false, NULL},
    {"vLLM: required; content is empty, log-probabilities are of the masked tokens", 200,
     VLLM(V_MESSAGE("", V_CALL("{\\\"a\\\": \\\"x\\\"}")) ",\"logprobs\":{\"content\":[" V_TOKEN(
              "<tool_call>\\n", "60,116,111,111,108,95,99,97,108,108,62,10",
              "0.0") "," V_TOKEN("{\\\"name\\\": \\\"f\\\", \\\"arguments\\\": {\\\"a\\\": "
                                 "\\\"x\\\"}}",
                                 "123,34,110,97,109,101,34,58,34,102,34,44,34,97,114,103,117,109,"
                                 "101,110,116,115,34,58,123,34,97,34,58,34,120,34,125,125",
                                 "-0.008") "," END_TOKEN
                                           "]},\"finish_reason\":\"tool_calls\",\"token_ids\":[5,6,"
                                           "2]",
          "\"prompt_tokens\":4,\"total_tokens\":7,\"completion_tokens\":3", "[1,9,8,7]"),
     GG_RETRY_OK, 1, 4, 3, 3, 4, 3, false, true, "constrained_sampling"},
    {"vLLM: named; finish_reason stop beside a call, no log-probabilities", 200,
     VLLM(V_MESSAGE("", V_CALL("{\\\"a\\\": \\\"x\\\"}")) ",\"logprobs\":null,\"finish_reason\":"
                                                          "\"stop\",\"token_ids\":[5,6,2]",
          "\"prompt_tokens\":4,\"total_tokens\":7,\"completion_tokens\":3", "[1,9,8,7]"),
     GG_RETRY_OK, 1, 4, 3, 0, 4, 3, false, true, "no_logprobs"},
    {"vLLM: ids not asked for", 200,
     VLLM(V_MESSAGE("You", "") ",\"logprobs\":null,\"finish_reason\":\"length\",\"token_ids\":null",
          "\"prompt_tokens\":175,\"total_tokens\":183,\"completion_tokens\":8", "null"),
     GG_RETRY_OK, 0, 0, 0, 0, 175, 8, true, false, "no_token_ids"},
    {"vLLM: an effort that does not exist", 400,
     ERROR("\"message\":\"1 validation error:\\n  {'type': 'literal_error', 'loc': ('body', "
           "'reasoning_effort'), 'msg': \\\"Input should be 'none', 'minimal', 'low'\\\"}\","
           "\"type\":\"Bad Request\",\"param\":null,\"code\":400"),
     GG_RETRY_REFUSED, 0, 0, 0, 0, 0, 0, false, false, NULL},
    {"vLLM: three choices; the usage counts all of them", 200,
     "{\"choices\":[{\"index\":0," V_MESSAGE("a", "") ",\"logprobs\":{\"content\":[" V_TOKEN(
         "a", "97", "-3.9") "]},\"finish_reason\":\"length\",\"token_ids\":[5]},{\"index\":1,"
                            "\"token_ids\":[6,6]},{\"index\":2,\"token_ids\":[7,7]}],\"usage\":{"
                            "\"prompt_tokens\":2,\"completion_tokens\":5},\"prompt_token_ids\":[1,"
                            "2]}",
     GG_RETRY_OK, 0, 2, 1, 1, 2, 5, true, false, "usage_length"},
    {"vLLM: a model that does not exist", 404,
     ERROR("\"message\":\"The model `n` does not exist. Valid aliases: m.\",\"type\":"
           "\"NotFoundError\",\"param\":\"model\",\"code\":404"),
     GG_RETRY_STOP, 0, 0, 0, 0, 0, 0, false, false, NULL},
    {"vLLM: more tokens asked for than the context holds: no conversation is too long", 400,
     ERROR("\"message\":\"max_tokens=100000 cannot be greater than max_model_len=2048. Please "
           "request fewer output tokens. (parameter=max_tokens, value=100000)\",\"type\":"
           "\"BadRequestError\",\"param\":\"max_tokens\",\"code\":400"),
     GG_RETRY_REFUSED, 0, 0, 0, 0, 0, 0, false, false, NULL},
    {"vLLM: completions, both lists in the choice", 200,
     "{\"id\":\"cmpl-x\",\"object\":\"text_completion\",\"choices\":[{\"index\":0,\"text\":\"P.\","
     "\"logprobs\":{\"text_offset\":[0,1],\"token_logprobs\":[-0.26,-0.38],\"tokens\":[\"P\",\".\"]"
     ",\"top_logprobs\":[{\"P\":-0.26},{\".\":-0.38}]},\"finish_reason\":\"length\",\"token_ids\":["
     "70,30],\"prompt_logprobs\":null,\"prompt_token_ids\":[5,3]}],\"usage\":{\"prompt_tokens\":2,"
     "\"total_tokens\":4,\"completion_tokens\":2}}",
     GG_RETRY_OK, 0, 2, 2, 2, 2, 2, true, false, NULL},
    {"vLLM: ids in the place of texts, bytes beside them; log-probabilities of the prompt", 200,
     "{\"choices\":[{\"index\":0," V_MESSAGE("I'm", "") ",\"logprobs\":{\"content\":[{\"token\":"
                                                        "\"token_id:57\",\"logprob\":-1.9,"
                                                        "\"bytes\":[73],\"top_logprobs\":[]},{"
                                                        "\"token\":\"token_id:52\",\"logprob\":"
                                                        "-0.9,\"bytes\":[39,109]}]},\"finish_"
                                                        "reason\":\"length\",\"token_ids\":[57,52]"
                                                        "}],\"usage\":{\"prompt_tokens\":2,"
                                                        "\"completion_tokens\":2},\"prompt_"
                                                        "logprobs\":[null,{\"9\":{\"logprob\":-7.8,"
                                                        "\"rank\":133,\"decoded_token\":\"s\"}}],"
                                                        "\"prompt_token_ids\":[1,2]}",
     GG_RETRY_OK, 0, 2, 2, 2, 2, 2, true, false, NULL},
    {"vLLM: the tokenizer's answer is no reply", 200,
     "{\"count\":3,\"max_model_len\":2048,\"tokens\":[1,2,3],\"token_strs\":null}",
     GG_RETRY_BAD_REPLY, 0, 0, 0, 0, 0, 0, false, false, NULL},
    {"vLLM: a path that is switched off", 403,
     ERROR("\"message\":\"Scale-out endpoints are disabled.\",\"type\":\"PermissionDeniedError\","
           "\"param\":null,\"code\":403"),
     GG_RETRY_STOP, 0, 0, 0, 0, 0, 0, false, false, NULL},
};

static void check_record(size_t i, const gg_reply *reply)
{
    gg_error error;
    bool forked;
    gg_episode *e = gg_episode_new();
    assert_non_null(e);
    assert_non_null(gg_episode_add_turn(e));
    assert_int_equal(gg_tokens_record(e, reply, &forked, &error), GG_OK);
    gg_tokens_settle(e, rows[i].constrained, NULL);
    const char *reason = e->untrainable_reason ? e->untrainable_reason : "trainable";
    if (strcmp(reason, rows[i].reason ? rows[i].reason : "trainable") != 0)
        fail_msg("%s: %s", rows[i].what, reason);
    gg_episode_free(e);
}

static void every_reply_has_its_value(void **state)
{
    gg_reply reply;
    gg_buf message;
    (void)state;
    gg_reply_init(&reply);
    gg_buf_init(&message, 4096);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const gg_http_reply http = {.status = rows[i].status,
                                    .body = rows[i].body,
                                    .len = strlen(rows[i].body),
                                    .content_type = "application/json"};
        gg_buf_reset(&message);
        gg_retry_class class = rows[i].status == 200 ? gg_reply_judge(&reply, &http, &message)
                                                     : gg_retry_classify(&http, &message);
        if (class != rows[i].class)
            fail_msg("%s: %s: %s", rows[i].what, gg_retry_class_name(class), gg_buf_cstr(&message));
        if (class != GG_RETRY_OK)
            continue;
        if (reply.call_count != rows[i].calls || reply.prompt_count != rows[i].prompt ||
            reply.id_count != rows[i].ids || reply.logprob_count != rows[i].logprobs)
            fail_msg("%s: %zu calls, %zu prompt ids, %zu ids, %zu log-probabilities", rows[i].what,
                     reply.call_count, reply.prompt_count, reply.id_count, reply.logprob_count);
        if (reply.usage.prompt != rows[i].prompt_tokens ||
            reply.usage.completion != rows[i].completion_tokens ||
            gg_reply_cut(&reply) != rows[i].cut)
            fail_msg("%s: usage or finish_reason", rows[i].what);
        check_record(i, &reply);
    }
    gg_reply_free(&reply);
    gg_buf_free(&message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_reply_has_its_value)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
