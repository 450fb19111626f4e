/* Base addresses as people type them (litellm#8350, cline#240, open-webui#16749). */
#include "cli/base_url.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct {
    const char *given, *first, *fault, *second;
} rows[] = {
    {"http://h:8000/v1", "http://h:8000/v1", NULL, "http://h:8000"},
    {"http://h:8000/v1/", "http://h:8000/v1", NULL, "http://h:8000"},
    {"http://h:8000//v1", "http://h:8000/v1", NULL, "http://h:8000"},
    {"http://h:8000/v1//", "http://h:8000/v1", NULL, "http://h:8000"},
    {"http://h:8000", "http://h:8000", NULL, "http://h:8000/v1"},
    {"http://h:8000/", "http://h:8000", NULL, "http://h:8000/v1"},
    {"http://h/v1/v1", "http://h/v1", "/v1 stands in it twice", "http://h"},
    {"http://h/v1/chat/completions", "http://h/v1",
     "it names one call; wanted is what stands before it", "http://h"},
    {"http://h/v1/chat/completions/", "http://h/v1",
     "it names one call; wanted is what stands before it", "http://h"},
    {"http://h/v1/models", "http://h/v1", "it names one call; wanted is what stands before it",
     "http://h"},
    {"http://h/v1/v1/chat/completions", "http://h/v1", "/v1 stands in it twice", "http://h"},
    {"127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1", "it has no scheme", "http://127.0.0.1:8000"},
    {"localhost", "http://localhost", "it has no scheme", "http://localhost/v1"},
    {"api.example.com/v1", "https://api.example.com/v1", "it has no scheme",
     "https://api.example.com"},
    {"https://h/api/v1?key=1", "https://h/api/v1?key=1", NULL, "https://h/api?key=1"},
    {"https://h/openai", "https://h/openai", NULL, "https://h/openai/v1"},
    {"https://h/x?v=1#top", "https://h/x?v=1", NULL, "https://h/x/v1?v=1"},
    {"", "http://", "it has no scheme", "http:///v1"},
};

static void tries_in_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_base_url tries[GG_BASE_URL_TRIES];
        size_t count = gg_base_url_tries(rows[i].given, tries);
        assert_true(count >= 2);
        if (strcmp(tries[0].url, rows[i].first) != 0 || strcmp(tries[1].url, rows[i].second) != 0)
            fail_msg("%s: %s, then %s", rows[i].given, tries[0].url, tries[1].url);
        if (!rows[i].fault)
            assert_null(tries[0].fault);
        else
            assert_string_equal(tries[0].fault, rows[i].fault);
        for (size_t k = 1; k < count; k++)
            assert_non_null(tries[k].fault);
    }
}

static void long_addresses(void **state)
{
    (void)state;
    static char text[2 * GG_BASE_URL_MAX];
    gg_base_url tries[GG_BASE_URL_TRIES];
    for (size_t len = 1; len < sizeof text - 1; len += 7) {
        memset(text, 'a', len);
        text[len] = '\0';
        size_t count = gg_base_url_tries(text, tries);
        assert_true(count <= GG_BASE_URL_TRIES);
        assert_int_equal(count == 0, len >= GG_BASE_URL_MAX - 16);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tries_in_order),
        cmocka_unit_test(long_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
