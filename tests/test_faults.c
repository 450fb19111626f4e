/* Fault scripts, what they decide, and the rules for requests (service/faults.h, manners.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/file.h"
#include "service/faults.h"
#include "service/manners.h"

static gg_faults *parse(const char *text)
{
    gg_faults *faults = NULL;
    gg_error error = {0};
    if (gg_faults_parse(text, strlen(text), "t.faults", &faults, &error) != GG_OK)
        fail_msg("%s", error.text);
    return faults;
}

static const struct {
    const char *text, *says;
} mistakes[] = {
    {"10% reset", "t.faults:1: neither a rule such as \"10% : reset\" nor a setting: \"10%\""},
    {"\n10% : reste", "t.faults:2: unknown trouble \"reste\"; did you mean \"reset\"?"},
    {"10% :", "t.faults:1: what happens is missing behind the colon"},
    {"tunr 2 : reset", "unknown condition \"tunr\"; did you mean \"turn\"?"},
    {"turn : reset", "a number is missing behind \"turn\""},
    {"turn 0 : reset", "neither N, N..M nor N.. (from 1): \"0\""},
    {"turn 5..3 : reset", "\"5..3\""},
    {"101% : reset", "not a share from 0% to 100%: \"101%\""},
    {"x% : reset", "not a share from 0% to 100%: \"x%\""},
    {"always : cut byte=3", "no setting \"byte\"; did you mean \"bytes\"?"},
    {"always : reset bytes=3", "this trouble has no setting \"bytes\""},
    {"always : cut bytes", "a value is missing behind \"bytes\""},
    {"always : cut bytes=-1", "not a fitting number: \"-1\""},
    {"always : status 99", "no setting \"99\""},
    {"always : status body=openia", "unknown form of an error body \"openia\"; did you mean "
                                    "\"openai\"?"},
    {"always : status header=\"X\"", "not a header \"Name: value\""},
    {"always : status message=\"a", "a quote is not closed"},
    {"sede 5", "did you mean \"seed\"?"},
    {"seed five", "no fitting value behind \"seed\""},
    {"in-a-row 0", "no fitting value behind \"in-a-row\""},
    {"60% : reset\n50% : quota", "add up to 110%"},
    {"60% : text\n50% : empty", "shares of model troubles add up to 110%"},
};

static void mistakes_are_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        gg_faults *faults = NULL;
        gg_error error = {0};
        const char *text = mistakes[i].text;
        assert_int_equal(gg_faults_parse(text, strlen(text), "t.faults", &faults, &error),
                         GG_E_CONFIG);
        assert_null(faults);
        if (!strstr(error.text, mistakes[i].says))
            fail_msg("\"%s\": says \"%s\", not \"%s\"", text, error.text, mistakes[i].says);
    }
}

/* The trouble that the n-th request with this body and turn meets, "-" for none. */
static const char *meets(gg_faults *faults, const char *body, int64_t turn, bool model)
{
    gg_verdict verdict = gg_faults_decide(faults, body, strlen(body), turn);
    const gg_rule *rule = model ? verdict.model : verdict.wire;
    return rule ? rule->trouble->name : "-";
}

static void conditions_hold(void **state)
{
    (void)state;
    gg_faults *f = parse("request 2..3 : reset # twice\n"
                         "turn 4.. : as-tag\n"
                         "attempt 3, turn 9 : never\n"
                         "every 5 : half times=1\n");
    assert_string_equal(meets(f, "a", 1, false), "-");
    assert_string_equal(meets(f, "b", 1, false), "reset");
    assert_string_equal(meets(f, "c", 1, false), "reset");
    assert_string_equal(meets(f, "d", 4, true), "as-tag");
    assert_string_equal(meets(f, "e", 3, false), "half");
    assert_string_equal(meets(f, "z", 9, false), "-");
    assert_string_equal(meets(f, "z", 9, false), "-");
    assert_string_equal(meets(f, "z", 9, false), "never");
    assert_string_equal(meets(f, "y", 3, true), "-");
    assert_string_equal(meets(f, "x", 3, false), "-"); /* the tenth: half has had its one hit */
    assert_int_equal(gg_faults_requests(f), 10);
    assert_int_equal(gg_faults_hits(f, GG_TROUBLE_TRANSPORT), 4);
    assert_int_equal(gg_faults_hits(f, GG_TROUBLE_MODEL), 3);
    gg_faults_free(f);
}

static void settings_are_read(void **state)
{
    (void)state;
    gg_faults *f = parse("policy entropy\nhistory ignore\n"
                         "always : status 429 body=tgi message=\"a # b: c\" retry-after=2 "
                         "header=\"X-A: b c\" times=7\n");
    const gg_rule *rule = gg_faults_decide(f, "a", 1, 1).wire;
    assert_string_equal(gg_faults_policy(f), "entropy");
    assert_false(gg_faults_checks(f));
    assert_int_equal(rule->status, 429);
    assert_string_equal(rule->form, "tgi");
    assert_string_equal(rule->message, "a # b: c");
    assert_int_equal(rule->header_count, 2);
    assert_string_equal(rule->headers[0], "retry-after: 2");
    assert_string_equal(rule->headers[1], "X-A: b c");
    assert_int_equal(rule->times, 7);
    gg_faults_free(f);
}

#define DRAWS 20000

/* Shares are met, the same in every order, and never more than three in a row on one request. */
static void shares_are_met(void **state)
{
    (void)state;
    static char first[DRAWS];
    const char *text = "20% : reset\n10% : half\n30% : text\n";
    gg_faults *f = parse(text), *g = parse(text);
    int hits = 0, model = 0;
    char body[16];
    for (int i = 0; i < DRAWS; i++) {
        snprintf(body, sizeof body, "%d", i);
        gg_verdict verdict = gg_faults_decide(f, body, strlen(body), 1);
        first[i] = verdict.wire ? verdict.wire->trouble->name[0] : '-';
        hits += verdict.wire != NULL;
        model += verdict.model != NULL;
    }
    /* 30 % and, of what is answered (70 %), 30 %: within five standard deviations. */
    assert_in_range(hits, DRAWS * 30 / 100 - 325, DRAWS * 30 / 100 + 325);
    assert_in_range(model, DRAWS * 21 / 100 - 290, DRAWS * 21 / 100 + 290);
    for (int i = DRAWS - 1; i >= 0; i--) {
        snprintf(body, sizeof body, "%d", i);
        gg_verdict verdict = gg_faults_decide(g, body, strlen(body), 1);
        assert_int_equal(verdict.wire ? verdict.wire->trouble->name[0] : '-', first[i]);
    }
    gg_faults_free(f);
    gg_faults_free(g);
}

static void rows_end(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *expect; /* r = reset, - = answered */
    } rows[] = {
        {"always : reset", "rrr-rrr-"},
        {"in-a-row 1\nalways : reset", "r-r-"},
        {"in-a-row any\nalways : reset", "rrrrrrrr"},
        {"attempt 4 : quota\nalways : reset", "rrrq-rrr"}, /* a stop is a stop */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_faults *f = parse(rows[i].text);
        for (const char *c = rows[i].expect; *c; c++)
            assert_int_equal(meets(f, "same", 1, false)[0], *c);
        gg_faults_free(f);
    }
}

/* What becomes of the reply does not depend on how often the request had to be sent. */
static void transport_changes_no_play(void **state)
{
    (void)state;
    gg_faults *clean = parse("40% : text\n"), *rough = parse("60% : reset\n40% : text\n");
    char body[16];
    for (int i = 0; i < 500; i++) {
        snprintf(body, sizeof body, "%d", i);
        const char *expect = meets(clean, body, 1, true);
        gg_verdict verdict;
        do
            verdict = gg_faults_decide(rough, body, strlen(body), 1);
        while (verdict.wire);
        assert_string_equal(verdict.model ? verdict.model->trouble->name : "-", expect);
    }
    gg_faults_free(clean);
    gg_faults_free(rough);
}

static void every_kind_is_documented(void **state)
{
    (void)state;
    const gg_trouble *trouble;
    const char *form;
    char quoted[64];
    gg_buf text;
    gg_error error;
    gg_buf_init(&text, 1u << 20);
    assert_int_equal(gg_file_read("docs/faults.md", &text, &error), GG_OK);
    for (size_t i = 0; (trouble = gg_trouble_at(i)); i++) {
        snprintf(quoted, sizeof quoted, "`%s%s", trouble->name,
                 strcmp(trouble->name, "status") ? "`" : " N`");
        if (!strstr(gg_buf_cstr(&text), quoted))
            fail_msg("docs/faults.md does not tell of %s", trouble->name);
    }
    for (size_t i = 0; (form = gg_error_form_at(i)); i++) {
        snprintf(quoted, sizeof quoted, "`%s`", form);
        if (!strstr(gg_buf_cstr(&text), quoted))
            fail_msg("docs/faults.md does not tell of the form %s", form);
    }
    gg_buf_free(&text);
}

static void shipped_scripts_are_good(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool transport, model, stop; /* the classes that it may show */
    } rows[] = {
        {"thirty-percent", true, false, false}, {"outage", true, false, false},
        {"busy", true, false, false},           {"small-model", false, true, false},
        {"long-context", false, true, false},   {"quota", false, false, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[128], body[16];
        gg_faults *f = NULL;
        gg_error error = {0};
        snprintf(path, sizeof path, "examples/faults/%s.faults", rows[i].name);
        if (gg_faults_load(path, &f, &error) != GG_OK)
            fail_msg("%s", error.text);
        for (int n = 0; n < 5000; n++) {
            snprintf(body, sizeof body, "%d", n);
            (void)gg_faults_decide(f, body, strlen(body), 4);
        }
        assert_int_equal(gg_faults_hits(f, GG_TROUBLE_TRANSPORT) > 0, rows[i].transport);
        assert_int_equal(gg_faults_hits(f, GG_TROUBLE_MODEL) > 0, rows[i].model);
        assert_int_equal(gg_faults_hits(f, GG_TROUBLE_STOP) > 0, rows[i].stop);
        gg_faults_free(f);
    }
}

/* ---- the rules for requests ---- */

#define SYSTEM  "{\"role\":\"system\",\"content\":\"s\"}"
#define USER    "{\"role\":\"user\",\"content\":\"u\"}"
#define SAYS(t) "{\"role\":\"assistant\",\"content\":\"" t "\"}"
#define CALL(id)                                                                                   \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}"
#define CALLS(c) "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[" c "]}"
#define TOOL(id) "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"r\"}"
#define WITH_ARGUMENTS(a)                                                                          \
    CALLS("{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":" a "}"  \
          "}")

static const struct {
    const char *messages, *says; /* "" = fine */
} manners[] = {
    {USER, ""},
    {SYSTEM "," USER, ""},
    {SYSTEM "," USER "," CALLS(CALL("a")) "," TOOL("a"), ""},
    {USER "," CALLS(CALL("a") "," CALL("b")) "," TOOL("b") "," TOOL("a") "," USER, ""},
    {USER "," SAYS("t") "," USER, ""},
    {"", "does not end with the user or a tool"},
    {SYSTEM, "does not end with the user or a tool"},
    {USER "," SAYS("t"), "does not end with the user or a tool"},
    {USER "," USER, "message 1: two user messages in a row"},
    {USER "," SYSTEM, "message 1: a system message that is not the first"},
    {USER "," CALLS(CALL("a")) "," USER, "message 2: a call of the message before has no answer"},
    {USER "," CALLS(CALL("a")), "ends with a call that has no answer"},
    {USER "," CALLS(CALL("a") "," CALL("b")) "," TOOL("a"), "ends with a call that has no answer"},
    {USER "," TOOL("a"), "message 1: a tool result that answers no call"},
    {USER "," CALLS(CALL("a")) "," TOOL("b"), "message 2: a tool result that answers no call"},
    {USER "," CALLS(CALL("a")) "," TOOL("a") "," TOOL("a"),
     "message 3: a tool result that answers"},
    {USER "," CALLS(CALL("")) "," TOOL(""), "a call without an id"},
    {USER "," CALLS(CALL("a") "," CALL("a")) "," TOOL("a"), "two calls with the same id"},
    {USER "," WITH_ARGUMENTS("\"{\"") "," TOOL("a"), "not the text of a JSON object"},
    {USER "," WITH_ARGUMENTS("\"[]\"") "," TOOL("a"), "not the text of a JSON object"},
    {USER "," WITH_ARGUMENTS("{}") "," TOOL("a"), "not the text of a JSON object"},
    {USER "," WITH_ARGUMENTS("\"\"") "," TOOL("a"), "not the text of a JSON object"},
    {USER "," SAYS("") "," USER, "says nothing and calls nothing"},
    {USER ",{\"role\":\"assistant\",\"content\":null}," USER, "content that is not text"},
    {USER "," CALLS("") "," USER, "tool_calls that is no list of calls"},
    {"{\"role\":\"user\",\"content\":\"\"}", "a user message without text"},
    {"{\"role\":\"developer\",\"content\":\"a\"}", "a role that is none of"},
};

static void check_request(const char *text, const char *says)
{
    cJSON *root = NULL;
    gg_buf why;
    gg_error error;
    gg_buf_init(&why, 1000);
    assert_int_equal(gg_json_parse(text, strlen(text), &root, &error), GG_OK);
    bool clean = gg_manners_check(root, &why);
    if (clean != !*says || !strstr(gg_buf_cstr(&why), says))
        fail_msg("%s: says \"%s\", not \"%s\"", text, gg_buf_cstr(&why), says);
    cJSON_Delete(root);
    gg_buf_free(&why);
}

static void manners_are_checked(void **state)
{
    (void)state;
    char text[2000];
    for (size_t i = 0; i < sizeof manners / sizeof *manners; i++) {
        snprintf(text, sizeof text, "{\"messages\":[%s]}", manners[i].messages);
        check_request(text, manners[i].says);
    }
    check_request("{\"tools\":[],\"messages\":[" USER "]}", "tools is there and empty");
    check_request("{\"tools\":[{\"function\":{\"name\":\"a.b\"}}],\"messages\":[" USER "]}",
                  "a tool whose name");
    check_request("{\"stop\":null,\"messages\":[" USER "]}", "stop is null");
    check_request("{\"max_tokens\":1,\"max_completion_tokens\":1,\"messages\":[" USER "]}", "both");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(conditions_hold),
        cmocka_unit_test(settings_are_read),
        cmocka_unit_test(shares_are_met),
        cmocka_unit_test(rows_end),
        cmocka_unit_test(transport_changes_no_play),
        cmocka_unit_test(every_kind_is_documented),
        cmocka_unit_test(shipped_scripts_are_good),
        cmocka_unit_test(manners_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
