/* The baselines of the search game: what they call after what they read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policy/policy.h"
#include "tests/search_play.h"

#define PAGE_ONE "3 documents:\\nA | One | x\\nB | Two | x\\nC | Three | x\\n"
#define PAGE_TWO "3 documents:\\nC | Three | y\\nA | One | y\\nD | Four | y\\n"
#define ASKED                                                                                      \
    "{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":\"Question: what?\"}"
#define CALLED                                                                                     \
    ",{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"c\",\"type\":"            \
    "\"function\",\"function\":{\"name\":\"bm25_search\",\"arguments\":\"{\\\"query\\\":"          \
    "\\\"what?\\\"}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\""
#define FOUND(page) CALLED page "\"}"

static void baselines_reply(void **state)
{
    static const struct {
        const char *policy, *messages, *tool, *arguments; /* tool NULL: text */
    } rows[] = {
        {"bm25", ASKED, "bm25_search", "{\"query\":\"what?\",\"k\":20}"},
        {"vector", ASKED, "vector_search", "{\"query\":\"what?\",\"k\":20}"},
        {"hybrid", ASKED, "bm25_search", "{\"query\":\"what?\",\"k\":20}"},
        {"bm25", ASKED FOUND(PAGE_ONE), "submit_ranking", RANK("\"A\",\"B\",\"C\"")},
        {"vector", ASKED FOUND(PAGE_TWO), "submit_ranking", RANK("\"C\",\"A\",\"D\"")},
        {"hybrid", ASKED FOUND(PAGE_ONE), "vector_search", "{\"query\":\"what?\",\"k\":20}"},
        /* 1/61 + 1/62, 1/63 + 1/61, 1/62, 1/63 */
        {"hybrid", ASKED FOUND(PAGE_ONE) FOUND(PAGE_TWO), "submit_ranking",
         RANK("\"A\",\"C\",\"B\",\"D\"")},
        {"hybrid", ASKED FOUND("No document found.\\n") FOUND(PAGE_TWO), "submit_ranking",
         RANK("\"C\",\"A\",\"D\"")},
        {"bm25", ASKED FOUND("No document found.\\n"), NULL, "No document was found."},
        /* a reply that is no page (an error's text) is not searched for ids, and is asked again */
        {"bm25", ASKED FOUND("The server is busy."), "bm25_search",
         "{\"query\":\"what?\",\"k\":20}"},
        {"bm25", "{\"role\":\"system\",\"content\":\"s\"}", NULL, "No document was found."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_policy *policy;
        gg_policy_reply reply;
        gg_error error = {0};
        char messages[4096];
        (void)snprintf(messages, sizeof messages, "[%s]", rows[i].messages);
        if (gg_policy_open(rows[i].policy, NULL, &policy, &error) != GG_OK)
            fail_msg("%s", error.text);
        assert_false(gg_policy_trainable(policy));
        gg_policy_reply_init(&reply);
        const gg_policy_request request = {.messages = {messages, strlen(messages)},
                                           .temperature = 1,
                                           .top_p = 1,
                                           .max_tokens = 4096};
        if (gg_policy_reply_to(policy, NULL, 1, &request, &reply, &error) != GG_OK)
            fail_msg("row %zu: %s", i, error.text);
        if (rows[i].tool) {
            assert_non_null(reply.call.name);
            assert_string_equal(reply.call.name, rows[i].tool);
            assert_string_equal(reply.call.arguments, rows[i].arguments);
        } else {
            assert_null(reply.call.name);
            assert_string_equal(gg_buf_cstr(&reply.content), rows[i].arguments);
        }
        gg_policy_reply_free(&reply);
        gg_policy_close(policy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(baselines_reply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
