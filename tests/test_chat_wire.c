/* The OpenAI wire over an embedded policy: what is refused, what a reply holds, streamed or whole.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/chat.h"

#define TOOLS                                                                                      \
    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"guess_word\",\"parameters\":{"     \
    "\"type\":\"object\","                                                                         \
    "\"properties\":{\"guess\":{\"type\":\"string\"}}}}}]"
#define MESSAGES "\"messages\":[{\"role\":\"user\",\"content\":\"Guess the 5-letter word\"}]"

typedef struct wire {
    gg_policy *policy;
    gg_chat_model model;
    gg_chat_reply reply;
} wire;

static int setup(void **state)
{
    wire *w = calloc(1, sizeof *w);
    assert_non_null(w);
    assert_int_equal(gg_policy_open("letters", NULL, &w->policy, NULL), GG_OK);
    w->model = (gg_chat_model){.policy = w->policy, .name = "letters"};
    gg_chat_reply_init(&w->reply);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    wire *w = *state;
    gg_chat_reply_free(&w->reply);
    gg_policy_close(w->policy);
    free(w);
    return 0;
}

static cJSON *ask(wire *w, const char *body, int status)
{
    cJSON *root = NULL;
    gg_chat_answer(&w->model, body, strlen(body), 99, &w->reply);
    if (w->reply.status != status)
        fail_msg("%s: %d, %s", body, w->reply.status, gg_buf_cstr(&w->reply.body));
    assert_int_equal(gg_json_parse(w->reply.body.data, w->reply.body.len, &root, NULL), GG_OK);
    return root;
}

static void refusals_name_the_parameter(void **state)
{
    static const struct {
        const char *body, *param;
    } cases[] = {
        {"", NULL},
        {"{", NULL},
        {"[]", NULL},
        {"{}", "messages"},
        {"{\"messages\":[]}", "messages"},
        {"{\"messages\":\"hi\"}", "messages"},
        {"{" MESSAGES ",\"tools\":[]}", "tools"},
        {"{" MESSAGES ",\"temperature\":2.5}", "temperature"},
        {"{" MESSAGES ",\"temperature\":\"hot\"}", "temperature"},
        {"{" MESSAGES ",\"top_p\":-0.1}", "top_p"},
        {"{" MESSAGES ",\"max_tokens\":0}", "max_tokens"},
        {"{" MESSAGES ",\"max_tokens\":1.5}", "max_tokens"},
        {"{" MESSAGES ",\"max_completion_tokens\":-1}", "max_completion_tokens"},
        {"{" MESSAGES ",\"n\":17}", "n"},
        {"{" MESSAGES ",\"seed\":-1}", "seed"},
        {"{" MESSAGES ",\"top_logprobs\":5}", "top_logprobs"},
        {"{" MESSAGES ",\"stop\":[\"x\"]}", "stop"},
        {"{" MESSAGES ",\"response_format\":{\"type\":\"json_object\"}}", "response_format"},
        {"{" MESSAGES ",\"reasoning_effort\":\"extreme\"}", "reasoning_effort"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cJSON *root = ask(*state, cases[i].body, 400);
        const char *param = gg_json_text(gg_json_get(root, "error"), "param");
        assert_non_null(gg_json_text(gg_json_get(root, "error"), "message"));
        if (cases[i].param)
            assert_string_equal(param, cases[i].param);
        else
            assert_null(param);
        cJSON_Delete(root);
    }
}

/* What clients send without meaning anything by it. */
static void neutral_values_pass(void **state)
{
    static const char *const extras[] = {
        "\"stop\":null",          "\"stop\":[]",
        "\"presence_penalty\":0", "\"response_format\":{\"type\":\"text\"}",
        "\"logit_bias\":{}",      "\"top_logprobs\":0",
        "\"unknown_field\":true", "\"seed\":null"};
    for (size_t i = 0; i < sizeof extras / sizeof *extras; i++) {
        char body[512];
        snprintf(body, sizeof body, "{" MESSAGES "," TOOLS ",%s}", extras[i]);
        cJSON_Delete(ask(*state, body, 200));
    }
}

static void a_reply_is_whole(void **state)
{
    wire *w = *state;
    cJSON *root =
        ask(w,
            "{" MESSAGES "," TOOLS
            ",\"seed\":7,\"reasoning_effort\":\"low\",\"logprobs\":true,\"return_token_ids\":true}",
            200);
    const cJSON *choice = gg_json_path(root, "choices.0");
    const cJSON *ids = gg_json_get(choice, "token_ids"),
                *content = gg_json_path(choice, "logprobs.content");
    int64_t prompt, completion, version = -1;
    assert_string_equal(gg_json_text(root, "object"), "chat.completion");
    assert_string_equal(gg_json_text(choice, "finish_reason"), "tool_calls");
    assert_string_equal(gg_json_text(gg_json_path(choice, "message.tool_calls.0.function"), "name"),
                        "guess_word");
    assert_true(gg_json_int(root, "weight_version", &version) && version == 0);
    assert_true(gg_json_int(gg_json_get(root, "usage"), "prompt_tokens", &prompt));
    assert_true(gg_json_int(gg_json_get(root, "usage"), "completion_tokens", &completion));
    assert_int_equal(cJSON_GetArraySize(ids), completion);
    assert_int_equal(cJSON_GetArraySize(content), completion);
    assert_int_equal(cJSON_GetArraySize(gg_json_get(root, "prompt_token_ids")), prompt);
    assert_int_equal(w->reply.prompt_tokens, prompt);
    assert_int_equal(w->reply.completion_tokens, completion);
    /* The pieces of text are those of the ids. */
    const cJSON *id = ids->child, *entry;
    cJSON_ArrayForEach(entry, content)
    {
        gg_buf text;
        int32_t one = (int32_t)id->valuedouble;
        gg_buf_init(&text, 4096);
        assert_int_equal(gg_policy_detokenize(w->policy, &one, 1, &text, NULL), GG_OK);
        assert_string_equal(gg_json_text(entry, "token"), gg_buf_cstr(&text));
        gg_buf_free(&text);
        id = id->next;
    }
    cJSON_Delete(root);
}

static void ids_and_logprobs_only_on_request(void **state)
{
    cJSON *root = ask(*state, "{" MESSAGES "," TOOLS ",\"seed\":7}", 200);
    assert_null(gg_json_get(root, "prompt_token_ids"));
    assert_null(gg_json_path(root, "choices.0.token_ids"));
    assert_null(gg_json_path(root, "choices.0.logprobs"));
    cJSON_Delete(root);
}

/* Same seed, same reply; choice 0 of several is the reply of n = 1. */
static void seeds_decide(void **state)
{
    wire *w = *state;
    cJSON *one = ask(w, "{" MESSAGES "," TOOLS ",\"seed\":7}", 200);
    cJSON *many = ask(w, "{" MESSAGES "," TOOLS ",\"seed\":7,\"n\":8}", 200);
    cJSON *unseeded = ask(w, "{" MESSAGES "," TOOLS "}", 200);
    const cJSON *fallback =
        gg_json_path(unseeded, "choices.0.message.tool_calls.0.function.arguments");
    const char *first =
        gg_json_path(one, "choices.0.message.tool_calls.0.function.arguments")->valuestring;
    const cJSON *choice;
    int different = 0, index = 0;
    cJSON_ArrayForEach(choice, gg_json_get(many, "choices"))
    {
        int64_t at;
        const char *text =
            gg_json_path(choice, "message.tool_calls.0.function.arguments")->valuestring;
        assert_true(gg_json_int(choice, "index", &at) && at == index);
        if (index++ == 0)
            assert_string_equal(text, first);
        different += strcmp(text, first) != 0;
    }
    assert_int_equal(index, 8);
    assert_true(different >= 4);
    cJSON *again = ask(w, "{" MESSAGES "," TOOLS ",\"seed\":99}", 200);
    assert_string_equal(
        gg_json_path(again, "choices.0.message.tool_calls.0.function.arguments")->valuestring,
        fallback->valuestring);
    cJSON_Delete(again);
    cJSON_Delete(unseeded);
    cJSON_Delete(many);
    cJSON_Delete(one);
}

/* Merges the chunks of choice 0 as a client does. */
static void a_stream_says_the_same(void **state)
{
    wire *w = *state;
    const char *ask_whole = "{" MESSAGES "," TOOLS ",\"seed\":3,\"reasoning_effort\":\"high\"}";
    const char *ask_stream =
        "{" MESSAGES "," TOOLS ",\"seed\":3,\"reasoning_effort\":\"high\",\"stream\":true,\"stream_"
        "options\":{\"include_usage\":true}}";
    cJSON *whole = ask(w, ask_whole, 200);
    gg_buf reasoning, arguments;
    const char *finish = NULL;
    bool done = false, usage = false;
    gg_buf_init(&reasoning, 1 << 20);
    gg_buf_init(&arguments, 1 << 20);
    gg_chat_answer(&w->model, ask_stream, strlen(ask_stream), 1, &w->reply);
    assert_string_equal(w->reply.content_type, "text/event-stream");
    for (char *at = w->reply.body.data; *at;) {
        char *end = strstr(at, "\n\n");
        cJSON *chunk = NULL;
        assert_non_null(end);
        assert_false(done);
        assert_memory_equal(at, "data: ", 6);
        *end = '\0';
        if (!strcmp(at + 6, "[DONE]")) {
            done = true;
        } else {
            assert_int_equal(gg_json_parse(at + 6, strlen(at + 6), &chunk, NULL), GG_OK);
            const cJSON *choice = gg_json_path(chunk, "choices.0");
            const char *text = gg_json_text(gg_json_get(choice, "delta"), "reasoning");
            const cJSON *call = gg_json_path(choice, "delta.tool_calls.0.function.arguments");
            gg_buf_str(&reasoning, text ? text : "");
            gg_buf_str(&arguments, call ? call->valuestring : "");
            if (gg_json_text(choice, "finish_reason"))
                finish = "seen";
            usage = usage || (!choice && gg_json_get(chunk, "usage"));
        }
        cJSON_Delete(chunk);
        at = end + 2;
    }
    assert_true(done && usage);
    assert_non_null(finish);
    assert_string_equal(gg_buf_cstr(&reasoning),
                        gg_json_path(whole, "choices.0.message.reasoning")->valuestring);
    assert_string_equal(
        gg_buf_cstr(&arguments),
        gg_json_path(whole, "choices.0.message.tool_calls.0.function.arguments")->valuestring);
    gg_buf_free(&reasoning);
    gg_buf_free(&arguments);
    cJSON_Delete(whole);
}

static void tool_choice_none_means_no_call(void **state)
{
    cJSON *root = ask(*state, "{" MESSAGES "," TOOLS ",\"tool_choice\":\"none\"}", 200);
    assert_null(gg_json_path(root, "choices.0.message.tool_calls"));
    assert_string_equal(gg_json_text(gg_json_path(root, "choices.0"), "finish_reason"), "stop");
    cJSON_Delete(root);
}

static void models_are_listed(void **state)
{
    const char *const names[] = {"letters", "a\"b"};
    gg_buf out;
    cJSON *root = NULL;
    (void)state;
    gg_buf_init(&out, 4096);
    gg_chat_models(names, 2, &out);
    assert_int_equal(gg_json_parse(out.data, out.len, &root, NULL), GG_OK);
    assert_string_equal(gg_json_text(gg_json_path(root, "data.1"), "id"), "a\"b");
    cJSON_Delete(root);
    gg_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_name_the_parameter),
        cmocka_unit_test(neutral_values_pass),
        cmocka_unit_test(a_reply_is_whole),
        cmocka_unit_test(ids_and_logprobs_only_on_request),
        cmocka_unit_test(seeds_decide),
        cmocka_unit_test(a_stream_says_the_same),
        cmocka_unit_test(tool_choice_none_means_no_call),
        cmocka_unit_test(models_are_listed),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
