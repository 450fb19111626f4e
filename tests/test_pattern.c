/* Patterns: the whole text, any bytes, bounded work. */
#include "core/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void fits_whole_texts(void **state)
{
    static const struct {
        const char *expression, *text;
        size_t len;
        bool fits;
    } rows[] = {
        {"[a-z]+", "abc", 3, true},
        {"[a-z]+", "abc1", 4, false},
        {"[a-z]+", "1abc", 4, false},
        {"[a-z]+", "abc\n", 4, false},
        {"[a-z]+", "", 0, false},
        {"a|ab", "ab", 2, true},
        {"a.c", "a\0c", 3, true},
        {"a.c",
         "a\xff"
         "c",
         3, true},
        {"[^a]+", "\xc3\xa9", 2, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_pattern *pattern;
        assert_int_equal(gg_pattern_compile(rows[i].expression, &pattern, NULL), GG_OK);
        if (gg_pattern_is(pattern, rows[i].text, rows[i].len) != rows[i].fits)
            fail_msg("row %zu: %s", i, rows[i].expression);
        gg_pattern_free(pattern);
    }
}

/* (a+)+b needs exponential work on a's without a b: the limit ends it, as no match. */
static void hostile_texts_end_soon(void **state)
{
    gg_pattern *pattern;
    char *text = malloc(5000);
    (void)state;
    assert_non_null(text);
    memset(text, 'a', 5000);
    assert_int_equal(gg_pattern_compile("(a+)+b", &pattern, NULL), GG_OK);
    assert_false(gg_pattern_is(pattern, text, 5000));
    gg_pattern_free(pattern);
    free(text);
}

static void faults_are_told(void **state)
{
    gg_pattern *pattern;
    gg_error error = {0};
    (void)state;
    assert_int_equal(gg_pattern_compile("[a-", &pattern, &error), GG_E_ARGUMENT);
    assert_null(pattern);
    assert_non_null(strstr(error.text, "[a-"));
    gg_pattern_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_whole_texts),
        cmocka_unit_test(hostile_texts_end_soon),
        cmocka_unit_test(faults_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
