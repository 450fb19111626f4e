/* The ladder of tool-call repairs (agent/toolcall.h). Every row is a small input of a kind seen in
 * public reports; what it must become is written beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/toolcall.h"
#include "core/rng.h"
#include "tests/alloc.h"

static const char tools_json[] =
    "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"object\","
    "\"properties\":{\"a\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"},"
    "\"l\":{\"type\":\"array\"}}}}},{\"type\":\"function\",\"function\":{\"name\":\"get_b\"}}]";

static bool is_used(void *context, const char *id)
{
    return strcmp(id, context) == 0;
}

/* Puts what was found into one line: name arguments {repairs} and !fault, '|' between calls; a call
 * from text begins with '~'. */
static void describe(const gg_found *found, gg_buf *out)
{
    static const char *const faults[] = {"", " !unknown", " !arguments", " !cut"};
    for (size_t i = 0; i < found->count; i++) {
        const gg_found_call *call = &found->calls[i];
        gg_buf_str(out, i ? " | " : "");
        gg_buf_str(out, found->from_text ? "~" : "");
        gg_buf_printf(out, "%s %s", call->name, call->arguments);
        const char *before = " {";
        for (int k = 0; k < GG_REPAIR_COUNT; k++) {
            if (!(call->repairs >> k & 1))
                continue;
            gg_buf_printf(out, "%s%s", before, gg_repair_name((gg_repair)k));
            before = ",";
        }
        gg_buf_str(out, *before == ',' ? "}" : "");
        gg_buf_str(out, faults[call->fault]);
    }
}

/* What is found in a reply whose first choice is `choice`. */
static gg_status look(const char *choice, bool text_calls, gg_buf *out, char *ids, size_t room)
{
    gg_reply reply;
    gg_found found;
    gg_tools *tools = NULL;
    gg_error error;
    char used[] = "used";
    gg_ids how = {is_used, used, 7, 0};
    gg_buf body;
    gg_buf_init(&body, 1u << 20);
    gg_buf_printf(&body, "{\"choices\":[%s]}", choice);
    gg_reply_init(&reply);
    gg_found_init(&found);
    gg_status status = gg_tools_make(tools_json, &tools, &error);
    if (status == GG_OK)
        status = gg_buf_status(&body, "body", &error);
    if (status == GG_OK)
        status = gg_reply_read(&reply, body.data, body.len, &error);
    if (status == GG_OK)
        status = gg_find_calls(&found, &reply, tools, &how, text_calls, &error);
    if (status == GG_OK)
        describe(&found, out);
    for (size_t i = 0; status == GG_OK && ids && i < found.count; i++) {
        size_t len = strlen(ids);
        snprintf(ids + len, room - len, "%s%s", i ? " " : "", found.calls[i].id);
    }
    gg_found_free(&found);
    gg_reply_free(&reply);
    gg_tools_free(tools);
    gg_buf_free(&body);
    return status;
}

static void check(const char *choice, const char *want, const char *why)
{
    gg_buf got;
    gg_buf_init(&got, 1u << 16);
    gg_status status = look(choice, true, &got, NULL, 0);
    if (status != GG_OK || strcmp(gg_buf_cstr(&got), want) != 0)
        fail_msg("%s\n  input %s\n  got   %s\n  want  %s", why, choice, gg_buf_cstr(&got), want);
    gg_buf_free(&got);
}

static void structured_calls(void **state)
{
    static const struct {
        const char *function, *want, *why;
    } rows[] = {
        {"\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\\\"x\\\"}\"", "f {\"a\":\"x\"}",
         "as it should be"},
        {"\"name\":\" f\\n\",\"arguments\":\"{}\"", "f {} {name_space}", "white space"},
        {"\"name\":\"f<|channel|>commentary\",\"arguments\":\"{}\"", "f {} {name_marker}",
         "gpt-oss"},
        {"\"name\":\"functions.f\",\"arguments\":\"{}\"", "f {} {name_prefix}", "gpt-oss"},
        {"\"name\":\"tool:get_b\",\"arguments\":\"{}\"", "get_b {} {name_prefix}", "a prefix"},
        {"\"name\":\"functions.f<|constrain|>json\",\"arguments\":\"{}\"",
         "f {} {name_marker,name_prefix}", "both"},
        {"\"name\":\"F\",\"arguments\":\"{}\"", "F {} {name_unknown} !unknown",
         "wrong case: not fuzzy"},
        {"\"name\":\"get-b\",\"arguments\":\"{}\"", "get-b {} {name_unknown} !unknown",
         "not fuzzy"},
        {"\"name\":\"functions.functions.f\",\"arguments\":\"{}\"",
         "functions_functions_f {} {name_unknown} !unknown", "one prefix only; safe in a history"},
        {"\"name\":null,\"arguments\":\"{}\"", "unknown {} {name_unknown} !unknown", "no name"},
        {"\"name\":\"f\",\"arguments\":\"\"", "f {} {args_empty}", "empty text"},
        {"\"name\":\"f\",\"arguments\":null", "f {} {args_empty}", "null"},
        {"\"name\":\"f\",\"arguments\":\"null\"", "f {} {args_empty}", "the text null"},
        {"\"name\":\"f\"", "f {} {args_empty}", "no key"},
        {"\"name\":\"f\",\"arguments\":{\"a\":1}", "f {\"a\":1} {args_object}", "an object"},
        {"\"name\":\"f\",\"arguments\":\"\\\"{\\\\\\\"a\\\\\\\":1}\\\"\"",
         "f {\"a\":1} {args_twice}", "encoded twice"},
        {"\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}{\\\"a\\\":2}\"",
         "f {\"a\":1} {args_glued,id_made} | f {\"a\":2} {args_glued,id_made}",
         "two calls, one index"},
        {"\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}{\\\"a\\\":\"",
         "f {} {args_broken} !arguments", "glued, the second incomplete: none is run"},
        {"\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\"", "f {} {args_broken} !arguments", "cut"},
        {"\"name\":\"f\",\"arguments\":\"{'a':1}\"", "f {} {args_broken} !arguments",
         "single quotes"},
        {"\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1} ok\"", "f {} {args_broken} !arguments",
         "text after it"},
        {"\"name\":\"f\",\"arguments\":\"[]\"", "f {} {args_broken} !arguments", "a list"},
        {"\"name\":\"f\",\"arguments\":[\"x\"]", "f {} {args_broken} !arguments",
         "a list, not as text"},
        {"\"name\":\"f\",\"arguments\":\"5\"", "f {} {args_broken} !arguments", "a number"},
        {"\"name\":\"f\",\"arguments\":true", "f {} {args_broken} !arguments", "a truth value"},
        {"\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\\\"\\\\ud800\\\"}\"", "f {\"a\":\"\\ufffd\"}",
         "a lone surrogate poisons a history"},
        {"\"name\":\"f\",\"arguments\":\"{\\\"a\\\":\\\"\\\\ud83d\\\\ude00\\\\u0041\\\"}\"",
         "f {\"a\":\"\\ud83d\\ude00\\u0041\"}", "a pair stays"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char choice[512], want[512];
        snprintf(choice, sizeof choice,
                 "{\"message\":{\"tool_calls\":[{\"id\":\"i%zu\",\"function\":{%s}}]}}", i,
                 rows[i].function);
        /* The first of glued calls keeps the id. */
        snprintf(want, sizeof want, "%s", rows[i].want);
        char *first = strstr(want, "{args_glued,id_made} |");
        if (first)
            memmove(first + 11, first + 19, strlen(first + 19) + 1);
        check(choice, want, rows[i].why);
    }
}

static void calls_in_text(void **state)
{
    static const struct {
        const char *content, *want, *why;
    } rows[] = {
        {"<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"x\"}}</tool_call>",
         "~f {\"a\":\"x\"} {text_tag}", "Hermes"},
        {"{\"name\":\"f\",\"arguments\":{}}</tool_call>", "~f {} {text_tag}",
         "opening tag missing"},
        {"<tool_call>\n{\"name\":\"f\",\"arguments\":{}}", "~f {} {text_tag}",
         "closing tag missing"},
        {"<tool_call>{\"name\":\"f\",\"arguments\":{}}\n{\"name\":\"get_b\",\"arguments\":{}}</"
         "tool_call>",
         "~f {} {text_tag} | ~get_b {} {text_tag}", "two objects in one tag"},
        {"<tool_call>{\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}</tool_call>",
         "~f {\"a\":1} {text_tag}", "arguments as text"},
        {"ok <tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>", "", "prose before it"},
        {"<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call> done", "", "prose after it"},
        {"<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":", "", "not whole"},
        {"<tool_call>{\"name\":\"h\",\"arguments\":{}}</tool_call>", "", "no such tool"},
        {"<think>{\"name\":\"f\",\"arguments\":{}}</think>", "", "inside thoughts"},
        {"<think><tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>", "",
         "thoughts not closed"},
        {"hmm</think><tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>",
         "~f {} {thoughts_in_text,text_tag}", "after thoughts"},
        {"{\"name\":\"f\",\"arguments\":{}}</think>hello", "", "inside thoughts, no opener"},
        {"```json\n{\"name\":\"f\",\"arguments\":{\"a\":1}}\n```", "~f {\"a\":1} {text_fence}",
         "a fence"},
        {"```\n[{\"name\":\"f\",\"parameters\":{}}]\n```", "~f {} {text_fence}",
         "a list in a fence"},
        {"```tool_code\nf(a='x')\n```", "~f {\"a\":\"x\"} {text_fence}", "Gemma"},
        {"```python\nprint(f(a=1))\n```", "", "code that is no call"},
        {"<|python_tag|>{\"name\":\"f\",\"parameters\":{\"a\":1}}<|eom_id|>",
         "~f {\"a\":1} {text_python}", "Llama 3"},
        {"<|python_start|>[f(a=1)]<|python_end|>", "~f {\"a\":1} {text_python}", "Llama 4"},
        {"[f(a=\"x\", n=2), get_b()]",
         "~f {\"a\":\"x\",\"n\":2} {text_pythonic} | ~get_b {} {text_pythonic}", "pythonic"},
        {"[f(l=['p', \"q\"], a=None, n=True)]",
         "~f {\"l\":[\"p\",\"q\"],\"a\":null,\"n\":true} {text_pythonic}", "literals"},
        {"[f(1)]", "", "a place without a name"},
        {"[f(a=1", "", "not whole"},
        {"[TOOL_CALLS][{\"name\":\"f\",\"arguments\":{\"a\":1}}]", "~f {\"a\":1} {text_bracket}",
         "Mistral"},
        {"[TOOL_CALLS]f[ARGS]{\"a\":1}[TOOL_CALLS]get_b[CALL_ID]abc[ARGS]{}",
         "~f {\"a\":1} {text_bracket} | ~get_b {} {text_bracket}", "Mistral, newer"},
        {"<function=f><parameter=a>1</parameter></function>", "~f {\"a\":\"1\"} {text_function}",
         "Qwen3-Coder: a is declared as text"},
        {"<function=f>\n<parameter=a>\nx "
         "y\n</parameter>\n<parameter=n>\n3\n</parameter>\n</function>",
         "~f {\"a\":\"x y\",\"n\":3} {text_function}", "types as declared"},
        {"<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</tool_call>",
         "~f {\"a\":\"x\"} {text_tag}", "the same in a tag"},
        {"<function=get_b>{}</function>", "~get_b {} {text_function}", "an object inside"},
        {"commentary to=functions.f json{\"a\":1}", "~f {\"a\":1} {name_prefix,text_harmony}",
         "gpt-oss, markers stripped"},
        {"<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"a\":1}<|call|>",
         "~f {\"a\":1} {name_prefix,text_harmony}", "gpt-oss"},
        {"<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{}",
         "~f {} {name_prefix,text_harmony}", "gpt-oss, the other order"},
        {"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=f json"
         "<|message|>{}<|call|>",
         "~f {} {thoughts_in_text,text_harmony}", "after an analysis"},
        {"analysisWe call f.assistantcommentary to=functions.f json{}",
         "~f {} {name_prefix,thoughts_in_text,text_harmony}", "after a stripped analysis"},
        {"<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>"
         "{\"a\":1}<|tool_call_end|><|tool_calls_section_end|>",
         "~f {\"a\":1} {name_prefix,text_section}", "Kimi"},
        {"{\"name\":\"f\",\"arguments\":{\"a\":1}}", "~f {\"a\":1} {text_object}", "a bare object"},
        {" {\"type\":\"function\",\"name\":\"f\",\"parameters\":{\"a\":1}} ",
         "~f {\"a\":1} {text_object}", "with a type"},
        {"{\"name\":\"f\",\"arguments\":{}}\n{\"name\":\"get_b\",\"arguments\":{}}",
         "~f {} {text_object} | ~get_b {} {text_object}", "two of them"},
        {"{\"name\":\"f\"}", "", "without arguments: may be data"},
        {"{\"name\":\"f\",\"arguments\":{},\"why\":1}", "", "another key: is data"},
        {"{\"name\":\"f\",\"arguments\":[1]}", "", "arguments are no object"},
        {"f", "", "a name alone"},
        {"", "", "nothing"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_buf choice;
        gg_buf_init(&choice, 1u << 16);
        gg_buf_str(&choice, "{\"finish_reason\":\"stop\",\"message\":{\"content\":");
        gg_buf_json_str(&choice, rows[i].content);
        gg_buf_str(&choice, "}}");
        check(choice.data, rows[i].want, rows[i].why);
        gg_buf_free(&choice);
    }
}

static void whole_replies(void **state)
{
    static const struct {
        const char *choice, *want, *why;
    } rows[] = {
        {"{\"finish_reason\":\"stop\",\"message\":{\"content\":\"\",\"tool_calls\":[{\"id\":\"a\","
         "\"type\":"
         "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}",
         "f {}", "stop with a call"},
        {"{\"finish_reason\":\"tool_calls\",\"message\":{\"content\":\"hi\",\"tool_calls\":[]}}",
         "", "tool_calls without one"},
        {"{\"finish_reason\":\"length\",\"message\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{"
         "\"name\":"
         "\"f\",\"arguments\":\"{\\\"a\\\":1}\"}},{\"id\":\"b\",\"function\":{\"name\":\"f\","
         "\"arguments\":"
         "\"{\\\"a\\\":\\\"ab\"}}]}}",
         "f {\"a\":1} {cut} !cut | f {} {args_broken,cut} !cut", "cut: all of them fail"},
        {"{\"finish_reason\":\"length\",\"message\":{\"content\":\"{\\\"name\\\":\\\"f\\\","
         "\\\"arguments\\\":{}}\"}}",
         "", "cut: nothing from text"},
        {"{\"message\":{\"function_call\":{\"name\":\"f\",\"arguments\":\"{}\"}}}",
         "f {} {id_made,legacy}", "the old form"},
        {"{\"message\":{\"content\":\"{\\\"name\\\":\\\"get_b\\\",\\\"arguments\\\":{}}\",\"tool_"
         "calls\":"
         "[{\"id\":\"a\",\"function\":{\"name\":\"f\"}}]}}",
         "f {} {args_empty}", "structured calls win"},
        {"{\"message\":{\"reasoning\":\"{\\\"name\\\":\\\"f\\\",\\\"arguments\\\":{}}\","
         "\"content\":null}}",
         "", "thoughts in their own field"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(rows[i].choice, rows[i].want, rows[i].why);
}

static void text_calls_can_be_off(void **state)
{
    gg_buf got;
    (void)state;
    gg_buf_init(&got, 1u << 16);
    assert_int_equal(
        look("{\"message\":{\"content\":\"{\\\"name\\\":\\\"f\\\",\\\"arguments\\\":{}}\"}}", false,
             &got, NULL, 0),
        GG_OK);
    assert_string_equal(gg_buf_cstr(&got), "");
    gg_buf_free(&got);
}

static void ids(void **state)
{
    static const struct {
        const char *first, *second, *want;
    } rows[] = {
        {"\"x\"", "\"y\"", "x y"},                         /* echoed verbatim */
        {"\"functions.f:0\"", "\"0\"", "functions.f:0 0"}, /* whatever they look like */
        {"\"x\"", "\"x\"", "x made0"},                     /* equal in one message */
        {"\"used\"", "\"y\"", "made0 y"},                  /* used in an earlier turn */
        {"null", "\"\"", "made0 made1"},                   /* none */
        {"7", "\"y\"", "7 y"},                             /* a number */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char choice[256], got[256] = "", want[256] = "", made[2][GG_MADE_ID];
        gg_buf line;
        gg_buf_init(&line, 4096);
        for (int k = 0; k < 2; k++)
            gg_make_id(7, k, made[k]);
        snprintf(choice, sizeof choice,
                 "{\"message\":{\"tool_calls\":[{\"id\":%s,\"function\":{\"name\":\"f\"}},"
                 "{\"id\":%s,\"function\":{\"name\":\"f\"}}]}}",
                 rows[i].first, rows[i].second);
        assert_int_equal(look(choice, true, &line, got, sizeof got), GG_OK);
        for (const char *p = rows[i].want; *p;) {
            size_t len = strcspn(p, " ");
            bool is_made = strncmp(p, "made", 4) == 0;
            snprintf(want + strlen(want), sizeof want - strlen(want), "%.*s%s",
                     is_made ? GG_MADE_ID - 1 : (int)len, is_made ? made[p[4] - '0'] : p,
                     p[len] ? " " : "");
            p += len + (p[len] == ' ');
        }
        assert_string_equal(got, want);
        gg_buf_free(&line);
    }
}

static void made_ids(void **state)
{
    char a[GG_MADE_ID], b[GG_MADE_ID];
    (void)state;
    gg_make_id(1, 0, a);
    gg_make_id(1, 0, b);
    assert_string_equal(a, b);
    assert_int_equal(strlen(a), 9);
    assert_int_equal(strspn(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
                     9);
    gg_make_id(1, 1, b);
    assert_string_not_equal(a, b);
    gg_make_id(2, 0, b);
    assert_string_not_equal(a, b);
}

static void thoughts(void **state)
{
    static const struct {
        const char *text, *rest;
        bool had;
    } rows[] = {
        {"hello", "hello", false},
        {"  hello\n", "hello", false},
        {"<think>a</think>hello", "hello", true},
        {"hmm</think>hello", "hello", true},
        {"hmm</think>more</think>hello", "hello", true},
        {"<think>only", "", true},
        {"[THINK]a[/THINK] hello", "hello", true},
        {"analysis of this", "analysis of this", false},
        {"analysisLet me see.assistantfinalhello", "hello", true},
        {"<|channel|>final<|message|>hello<|return|>", "hello", false},
        {"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|"
         "end|>",
         "b", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *rest;
        size_t len;
        bool had = gg_skip_thoughts(rows[i].text, strlen(rows[i].text), &rest, &len);
        if (had != rows[i].had || len != strlen(rows[i].rest) ||
            memcmp(rest, rows[i].rest, len) != 0)
            fail_msg("%s gives '%.*s'", rows[i].text, (int)len, rest);
    }
}

/* Whatever the text: no crash, and what is found names a known tool and a JSON object. */
static void any_text(void **state)
{
    static const char *const pieces[] = {
        "<tool_call>",
        "</tool_call>",
        "{\"name\":\"f\",\"arguments\":",
        "{}",
        "}",
        "[",
        "]",
        "f(",
        ")",
        "a=",
        "'x'",
        "\"",
        "```json\n",
        "```",
        "<|python_tag|>",
        "[TOOL_CALLS]",
        "[ARGS]",
        "f",
        "<function=f>",
        "</function>",
        "<parameter=a>",
        "</parameter>",
        "commentary to=",
        "<|message|>",
        "</think>",
        "<think>",
        "<|tool_call_begin|>",
        "<|tool_call_argument_begin|>",
        "<|tool_call_end|>",
        "\\",
        ",",
        " ",
        "analysis",
        "assistantfinal",
        "get_b",
        ":0",
    };
    const uint64_t seed = 20260;
    gg_rng rng;
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    gg_rng_seed(&rng, seed);
    for (int round = 0; round < 20000; round++) {
        gg_buf choice, got;
        gg_buf_init(&choice, 1u << 16);
        gg_buf_init(&got, 1u << 16);
        char text[512] = "";
        for (uint64_t n = 1 + gg_rng_below(&rng, 10); n > 0; n--)
            strncat(text, pieces[gg_rng_below(&rng, sizeof pieces / sizeof *pieces)],
                    sizeof text - strlen(text) - 1);
        gg_buf_str(&choice, "{\"message\":{\"content\":");
        gg_buf_json_str(&choice, text);
        gg_buf_str(&choice, "}}");
        assert_int_equal(look(choice.data, true, &got, NULL, 0), GG_OK);
        if (got.len && strncmp(got.data, "~f {", 4) != 0 && strncmp(got.data, "~get_b {", 8) != 0)
            fail_msg("round %d: %s gives %s", round, text, got.data);
        gg_buf_free(&choice);
        gg_buf_free(&got);
    }
}

static gg_status once(void *context)
{
    gg_buf got;
    gg_buf_init(&got, 1u << 16);
    gg_status status = look(context, true, &got, NULL, 0);
    gg_buf_free(&got);
    return status;
}

static void memory_failures(void **state)
{
    static char structured[] =
        "{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"h\",\"arguments\":\"{\\\"a\\\":1}"
        "{\\\"a\\\":\\\"\\\\ud800\\\"}\"}},{\"function\":{\"name\":\"f\",\"arguments\":"
        "\"\\\"{}\\\"\"}}]}}";
    static char text[] = "{\"message\":{\"content\":\"[f(a='x', l=[1]), get_b()]\"}}";
    (void)state;
    assert_true(alloc_each_fails(once, structured) > 5);
    assert_true(alloc_each_fails(once, text) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structured_calls),
        cmocka_unit_test(calls_in_text),
        cmocka_unit_test(whole_replies),
        cmocka_unit_test(text_calls_can_be_off),
        cmocka_unit_test(ids),
        cmocka_unit_test(made_ids),
        cmocka_unit_test(thoughts),
        cmocka_unit_test(any_text),
        cmocka_unit_test(memory_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
