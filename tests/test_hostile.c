/* Every trouble of `builtin:hostile` against what the client makes of it: the class of a failure,
 * or the calls found in the reply and what was repaired. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/toolcall.h"
#include "service/trouble.h"

#define ARGUMENTS "{\"a\":\"plugh\"}"
static const char CLEAN[] =
    "{\"id\":\"x\",\"object\":\"chat.completion\",\"prompt_token_ids\":[7,8],\"choices\":[{"
    "\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":"
    "\"call-1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":"
    "\"{\\\"a\\\":\\\"plugh\\\"}\"}}]},\"logprobs\":{\"content\":[{\"token\":\"p\",\"logprob\":-0."
    "5},"
    "{\"token\":\"q\",\"logprob\":-0.25}]},\"token_ids\":[1,2],\"finish_reason\":\"tool_calls\"}],"
    "\"usage\":{\"prompt_tokens\":2,\"completion_tokens\":2}}";
static const char TOOLS[] =
    "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"object\","
    "\"properties\":{\"a\":{\"type\":\"string\"}}}}}]";

#define R(kind) (1u << GG_REPAIR_##kind)
#define SAME    ARGUMENTS

static const struct {
    const char *kind;
    size_t calls;
    uint32_t repairs; /* of the first call */
    gg_fault fault;
    const char *arguments; /* as they are run; NULL = no call to run */
    const char *text;      /* what the environment is offered when there is no call; NULL = any */
} replies[] = {
    {"text", 0, 0, 0, NULL, "Let me think about it a little more before I decide."},
    {"empty", 0, 0, 0, NULL, ""},
    {"nothing", 0, 0, 0, NULL, ""},
    {"thoughts", 0, 0, 0, NULL, ""},
    {"thoughts-in-text", 0, 0, 0, NULL, "hello"},
    {"final-channel", 0, 0, 0, NULL, "Let me think about it a little more before I decide."},
    {"unicode", 0, 0, 0, NULL,
     "a\xe2\x80\xa8"
     "b\xc2\x85"
     "c\xf0\x9f\x98\x80 \xef\xbf\xbd \xef\xbf\xbd end"},
    {"finish-without-call", 0, 0, 0, NULL, NULL},
    {"finish-stop", 1, 0, GG_FAULT_NONE, SAME, NULL},
    {"finish-null", 1, 0, GG_FAULT_NONE, SAME, NULL},
    {"finish-odd", 1, 0, GG_FAULT_NONE, SAME, NULL},
    {"length", 1, R(CUT) | R(ARGS_BROKEN), GG_FAULT_CUT, NULL, NULL},
    {"length-text", 0, 0, 0, NULL, NULL},
    {"args-cut", 1, R(ARGS_BROKEN), GG_FAULT_BAD_ARGUMENTS, NULL, NULL},
    {"args-twice", 1, R(ARGS_TWICE), GG_FAULT_NONE, SAME, NULL},
    {"args-object", 1, R(ARGS_OBJECT), GG_FAULT_NONE, SAME, NULL},
    {"args-list", 1, R(ARGS_BROKEN), GG_FAULT_BAD_ARGUMENTS, NULL, NULL},
    {"args-number", 1, R(ARGS_BROKEN), GG_FAULT_BAD_ARGUMENTS, NULL, NULL},
    {"args-true", 1, R(ARGS_BROKEN), GG_FAULT_BAD_ARGUMENTS, NULL, NULL},
    {"args-empty", 1, R(ARGS_EMPTY), GG_FAULT_NONE, "{}", NULL},
    {"args-null", 1, R(ARGS_EMPTY), GG_FAULT_NONE, "{}", NULL},
    {"args-missing", 1, R(ARGS_EMPTY), GG_FAULT_NONE, "{}", NULL},
    {"args-glued", 2, R(ARGS_GLUED), GG_FAULT_NONE, SAME, NULL},
    {"args-tail", 1, R(ARGS_BROKEN), GG_FAULT_BAD_ARGUMENTS, NULL, NULL},
    {"args-quotes", 1, R(ARGS_BROKEN), GG_FAULT_BAD_ARGUMENTS, NULL, NULL},
    {"id-null", 1, R(ID_MADE), GG_FAULT_NONE, SAME, NULL},
    {"id-missing", 1, R(ID_MADE), GG_FAULT_NONE, SAME, NULL},
    {"id-empty", 1, R(ID_MADE), GG_FAULT_NONE, SAME, NULL},
    {"id-zero", 1, 0, GG_FAULT_NONE, SAME, NULL}, /* repeated in the next turn only */
    {"id-number", 1, 0, GG_FAULT_NONE, SAME, NULL},
    {"id-long", 1, R(ID_MADE), GG_FAULT_NONE, SAME, NULL},
    {"name-marker", 1, R(NAME_MARKER), GG_FAULT_NONE, SAME, NULL},
    {"name-prefix", 1, R(NAME_PREFIX), GG_FAULT_NONE, SAME, NULL},
    {"name-space", 1, R(NAME_SPACE), GG_FAULT_NONE, SAME, NULL},
    {"name-unknown", 1, R(NAME_UNKNOWN), GG_FAULT_UNKNOWN_TOOL, NULL, NULL},
    {"name-empty", 1, R(NAME_UNKNOWN), GG_FAULT_UNKNOWN_TOOL, NULL, NULL},
    {"name-case", 1, R(NAME_UNKNOWN), GG_FAULT_UNKNOWN_TOOL, NULL, NULL}, /* nothing fuzzy */
    {"same-ids", 2, 0, GG_FAULT_NONE, SAME, NULL},
    {"three-calls", 3, 0, GG_FAULT_NONE, SAME, NULL},
    {"legacy", 1, R(LEGACY) | R(ID_MADE), GG_FAULT_NONE, SAME, NULL},
    {"as-tag", 1, R(TEXT_TAG), GG_FAULT_NONE, SAME, NULL},
    {"as-open-tag", 1, R(TEXT_TAG), GG_FAULT_NONE, SAME, NULL},
    {"as-tag-after-thoughts", 1, R(TEXT_TAG) | R(THOUGHTS), GG_FAULT_NONE, SAME, NULL},
    {"as-function", 1, R(TEXT_FUNCTION), GG_FAULT_NONE, SAME, NULL},
    {"as-fence", 1, R(TEXT_FENCE), GG_FAULT_NONE, SAME, NULL},
    {"as-python", 1, R(TEXT_PYTHON), GG_FAULT_NONE, SAME, NULL},
    {"as-pythonic", 1, R(TEXT_PYTHONIC), GG_FAULT_NONE, SAME, NULL},
    {"as-bracket", 1, R(TEXT_BRACKET), GG_FAULT_NONE, SAME, NULL},
    {"as-bracket-args", 1, R(TEXT_BRACKET), GG_FAULT_NONE, SAME, NULL},
    {"as-harmony", 1, R(TEXT_HARMONY) | R(NAME_PREFIX), GG_FAULT_NONE, SAME, NULL},
    {"as-section", 1, R(TEXT_SECTION) | R(NAME_PREFIX), GG_FAULT_NONE, SAME, NULL},
    {"as-object", 1, R(TEXT_OBJECT), GG_FAULT_NONE, SAME, NULL},
    {"in-prose", 0, 0, 0, NULL, NULL},
    {"in-thoughts", 0, 0, 0, NULL, "Not yet."},
    {"value-upper", 1, 0, GG_FAULT_NONE, "{\"a\":\"PLUGH\"}", NULL},
    {"value-space", 1, 0, GG_FAULT_NONE, "{\"a\":\"  plugh \\n\"}", NULL},
    {"value-accent", 1, 0, GG_FAULT_NONE, "{\"a\":\"plug\xc3\xa9\"}", NULL},
    {"value-wide", 1, 0, GG_FAULT_NONE, "{\"a\":\"plug\xef\xbd\x81\"}", NULL},
    {"value-zero-width", 1, 0, GG_FAULT_NONE, "{\"a\":\"plugh\xe2\x80\x8b\"}", NULL},
    {"value-short", 1, 0, GG_FAULT_NONE, "{\"a\":\"plug\"}", NULL},
    {"value-long", 1, 0, GG_FAULT_NONE, "{\"a\":\"plughs\"}", NULL},
    {"value-empty", 1, 0, GG_FAULT_NONE, "{\"a\":\"\"}", NULL},
    {"value-number", 1, 0, GG_FAULT_NONE, "{\"a\":5}", NULL},
    {"usage-missing", 1, 0, GG_FAULT_NONE, SAME, NULL},
    {"usage-null", 1, 0, GG_FAULT_NONE, SAME, NULL},
    {"usage-odd", 1, 0, GG_FAULT_NONE, SAME, NULL},
    {"front-dropped", 1, 0, GG_FAULT_NONE, SAME, NULL},
    {"logprobs-missing", 1, 0, GG_FAULT_NONE, SAME, NULL},
    {"logprobs-null", 1, 0, GG_FAULT_NONE, SAME, NULL},
    {"logprobs-short", 1, 0, GG_FAULT_NONE, SAME, NULL},
    {"ids-missing", 1, 0, GG_FAULT_NONE, SAME, NULL},
};

/* What stands beside the calls in a mangled reply; -1 = not said. */
static const struct {
    const char *kind;
    int64_t prompt, completion;
    size_t ids, logprobs;
} beside[] = {
    {"finish-stop", 2, 2, 2, 2},   {"usage-missing", -1, -1, 2, 2},
    {"usage-null", -1, -1, 2, 2},  {"usage-odd", 12, 3, 2, 2},
    {"front-dropped", 5, 2, 2, 2}, {"logprobs-missing", 2, 2, 2, 0},
    {"logprobs-null", 2, 2, 2, 2}, {"logprobs-short", 2, 2, 2, 1},
    {"ids-missing", 2, 2, 0, 2},   {"nothing", -1, -1, 2, 2},
};

static const struct {
    const char *kind;
    gg_retry_class class;
} failures[] = {
    {"loading", GG_RETRY_STARTING},         {"gateway", GG_RETRY_SERVER},
    {"unwrapped", GG_RETRY_BUSY},           {"throttled", GG_RETRY_RATE},
    {"try-again", GG_RETRY_RATE},           {"html", GG_RETRY_BAD_REPLY},
    {"blank", GG_RETRY_BAD_REPLY},          {"empty-body", GG_RETRY_BAD_REPLY},
    {"error-200", GG_RETRY_SERVER},         {"no-choices", GG_RETRY_BAD_REPLY},
    {"null-choices", GG_RETRY_BAD_REPLY},   {"not-a-number", GG_RETRY_BAD_REPLY},
    {"aborted", GG_RETRY_BAD_REPLY},        {"finish-error", GG_RETRY_BAD_REPLY},
    {"context", GG_RETRY_CONTEXT},          {"context-vllm", GG_RETRY_CONTEXT},
    {"context-llamacpp", GG_RETRY_CONTEXT}, {"context-tgi", GG_RETRY_CONTEXT},
    {"context-500", GG_RETRY_CONTEXT},      {"parser-500", GG_RETRY_SERVER},
    {"refused", GG_RETRY_REFUSED},          {"quota", GG_RETRY_STOP},
    {"unauthorized", GG_RETRY_STOP},        {"payment", GG_RETRY_STOP},
    {"forbidden", GG_RETRY_STOP},           {"not-found", GG_RETRY_STOP},
    {"model-gone", GG_RETRY_STOP},
};

static const gg_trouble *kind_of(const char *name)
{
    const char *near;
    const gg_trouble *trouble = gg_trouble_find(name, &near);
    if (!trouble)
        fail_msg("no trouble %s", name);
    return trouble;
}

/* The reply as the client gets it. */
static gg_retry_class read_mangled(const gg_trouble *trouble, gg_reply *reply)
{
    cJSON *root = NULL;
    gg_buf body, message;
    gg_error error;
    gg_buf_init(&body, 1u << 20);
    gg_buf_init(&message, 1000);
    assert_int_equal(gg_json_parse(CLEAN, strlen(CLEAN), &root, &error), GG_OK);
    assert_true(trouble->mangle(root, trouble->body));
    gg_buf_cjson(&body, root);
    gg_http_reply http = {.status = 200, .body = gg_buf_cstr(&body), .len = body.len};
    gg_retry_class class = gg_reply_judge(reply, &http, &message);
    if (class != GG_RETRY_OK)
        fail_msg("%s: %s", trouble->name, gg_buf_cstr(&message));
    cJSON_Delete(root);
    gg_buf_free(&body);
    gg_buf_free(&message);
    return class;
}

static bool never_used(void *context, const char *id)
{
    (void)context, (void)id;
    return false;
}

static void check_reply(size_t i, const gg_reply *reply, const gg_tools *tools)
{
    const char *kind = replies[i].kind;
    gg_found found;
    gg_error error;
    const gg_ids ids = {.used = never_used, .seed = 1};
    gg_found_init(&found);
    assert_int_equal(gg_find_calls(&found, reply, tools, &ids, true, &error), GG_OK);
    if (found.count != replies[i].calls)
        fail_msg("%s: %zu calls", kind, found.count);
    if (found.count > 0) {
        const gg_found_call *call = &found.calls[0];
        if (call->repairs != replies[i].repairs || call->fault != replies[i].fault)
            fail_msg("%s: repairs %x (not %x), fault %d", kind, call->repairs, replies[i].repairs,
                     call->fault);
        if (replies[i].arguments)
            assert_string_equal(call->arguments, replies[i].arguments);
        assert_int_equal(found.from_text, strncmp(kind, "as-", 3) == 0);
    } else if (replies[i].text) {
        assert_int_equal(found.text_len, strlen(replies[i].text));
        assert_memory_equal(found.text, replies[i].text, found.text_len);
    }
    gg_found_free(&found);
}

static void every_reply_is_read(void **state)
{
    (void)state;
    gg_tools *tools;
    gg_reply reply;
    gg_error error;
    gg_reply_init(&reply);
    assert_int_equal(gg_tools_make(TOOLS, &tools, &error), GG_OK);
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        read_mangled(kind_of(replies[i].kind), &reply);
        check_reply(i, &reply, tools);
        assert_int_equal(gg_reply_cut(&reply), strncmp(replies[i].kind, "length", 6) == 0);
    }
    gg_tools_free(tools);
    gg_reply_free(&reply);
}

static void what_stands_beside_is_read(void **state)
{
    (void)state;
    gg_reply reply;
    gg_reply_init(&reply);
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        read_mangled(kind_of(beside[i].kind), &reply);
        if (reply.usage.prompt != beside[i].prompt ||
            reply.usage.completion != beside[i].completion || reply.id_count != beside[i].ids ||
            reply.logprob_count != beside[i].logprobs)
            fail_msg("%s: %lld %lld %zu %zu", beside[i].kind, (long long)reply.usage.prompt,
                     (long long)reply.usage.completion, reply.id_count, reply.logprob_count);
    }
    gg_reply_free(&reply);
}

static void every_failure_has_its_class(void **state)
{
    (void)state;
    gg_reply reply;
    gg_buf message;
    gg_reply_init(&reply);
    gg_buf_init(&message, 2000);
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        const gg_trouble *t = kind_of(failures[i].kind);
        gg_http_reply http = {.status = t->status,
                              .body = t->body,
                              .len = strlen(t->body),
                              .content_type = t->content_type,
                              .detail = ""};
        gg_buf_reset(&message);
        gg_retry_class class = gg_retry_classify(&http, &message);
        if (class == GG_RETRY_OK)
            class = gg_reply_judge(&reply, &http, &message);
        if (class != failures[i].class)
            fail_msg("%s: %s (%s)", t->name, gg_retry_class_name(class), gg_buf_cstr(&message));
        assert_true(message.len > 0);
    }
    gg_reply_free(&reply);
    gg_buf_free(&message);
}

/* Every form of an error body gives its message, and a 503 is busy in all of them. */
static void every_error_form_is_read(void **state)
{
    (void)state;
    const char *form;
    gg_buf body, message;
    gg_buf_init(&body, 1000);
    gg_buf_init(&message, 1000);
    for (size_t i = 0; (form = gg_error_form_at(i)); i++) {
        const char *type;
        gg_buf_reset(&body);
        gg_buf_reset(&message);
        gg_error_form_write(form, 503, "all slots are in use", &body, &type);
        gg_http_reply http = {.status = 503,
                              .body = gg_buf_cstr(&body),
                              .len = body.len,
                              .content_type = type ? type : "",
                              .detail = ""};
        assert_int_equal(gg_retry_classify(&http, &message), GG_RETRY_BUSY);
        bool told = strcmp(form, "html") != 0 && strcmp(form, "none") != 0;
        if (told && !strstr(gg_buf_cstr(&message), "all slots are in use"))
            fail_msg("%s: \"%s\"", form, gg_buf_cstr(&message));
    }
    gg_buf_free(&body);
    gg_buf_free(&message);
}

/* No kind is left out of the tables above. */
static void the_tables_are_whole(void **state)
{
    (void)state;
    const gg_trouble *t;
    for (size_t i = 0; (t = gg_trouble_at(i)); i++) {
        bool listed = t->way != GG_WAY_CANNED && t->way != GG_WAY_MANGLE;
        for (size_t k = 0; k < sizeof replies / sizeof *replies; k++)
            listed = listed || !strcmp(replies[k].kind, t->name);
        for (size_t k = 0; k < sizeof failures / sizeof *failures; k++)
            listed = listed || !strcmp(failures[k].kind, t->name);
        if (!listed)
            fail_msg("%s is not in the tables", t->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_reply_is_read),         cmocka_unit_test(what_stands_beside_is_read),
        cmocka_unit_test(every_failure_has_its_class), cmocka_unit_test(every_error_form_is_read),
        cmocka_unit_test(the_tables_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
