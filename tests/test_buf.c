/* The bounded buffer: limits, failed allocations, JSON strings, numbers. */
#include <guessgym/buf.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/json.h"
#include "core/rng.h"
#include "tests/alloc.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void growth(void **state)
{
    (void)state;
    gg_buf buf;
    gg_buf_init(&buf, 1000);
    assert_string_equal(gg_buf_cstr(&buf), "");
    for (int i = 0; i < 1000; i++)
        gg_buf_char(&buf, (char)('a' + i % 26));
    assert_int_equal(buf.len, 1000);
    assert_int_equal(strlen(buf.data), 1000);
    gg_buf_truncate(&buf, 2000);
    assert_int_equal(buf.len, 1000);
    gg_buf_truncate(&buf, 3);
    assert_string_equal(gg_buf_cstr(&buf), "abc");
    char *kept = buf.data;
    gg_buf_reset(&buf);
    assert_string_equal(gg_buf_cstr(&buf), "");
    gg_buf_printf(&buf, "%d-%s", 7, "x");
    assert_ptr_equal(buf.data, kept);
    char *taken = gg_buf_take(&buf);
    assert_string_equal(taken, "7-x");
    assert_null(buf.data);
    free(taken);
    taken = gg_buf_take(&buf);
    assert_string_equal(taken, "");
    free(taken);
    gg_buf_free(&buf);
    gg_buf_free(&buf);
    gg_buf_free(NULL);
}

static void room_alone_is_an_empty_string(void **state)
{
    (void)state;
    gg_buf buf;
    gg_buf_init(&buf, 1000);
    gg_buf_reserve(&buf, 0);
    assert_string_equal(gg_buf_cstr(&buf), "");
    gg_buf_str(&buf, "ab");
    gg_buf_reserve(&buf, 900);
    assert_string_equal(gg_buf_cstr(&buf), "ab");
    gg_buf_free(&buf);
}

static void limit(void **state)
{
    (void)state;
    gg_buf buf;
    gg_error error;
    gg_buf_init(&buf, 4);
    gg_buf_str(&buf, "abcd");
    assert_int_equal(gg_buf_status(&buf, "a list", &error), GG_OK);
    gg_buf_char(&buf, 'e');
    assert_int_equal(gg_buf_status(&buf, "a list", &error), GG_E_LIMIT);
    assert_string_equal(error.text, "a list would be larger than 4 bytes");
    gg_buf_str(&buf, "");
    gg_buf_printf(&buf, "x");
    gg_buf_json_str(&buf, "x");
    assert_string_equal(gg_buf_cstr(&buf), "abcd");
    assert_null(gg_buf_take(&buf));
    gg_buf_init(&buf, 4);
    gg_buf_reserve(&buf, SIZE_MAX);
    assert_int_equal(buf.status, GG_E_LIMIT);
    gg_buf_reset(&buf);
    gg_buf_add(&buf, "ab", 2);
    assert_string_equal(gg_buf_cstr(&buf), "ab");
    gg_buf_free(&buf);
}

static gg_status append_much(void *context)
{
    gg_buf buf;
    (void)context;
    gg_buf_init(&buf, 1 << 20);
    for (int i = 0; i < 500; i++)
        gg_buf_printf(&buf, "line %d\n", i);
    gg_status status = gg_buf_status(&buf, "lines", NULL);
    char *taken = gg_buf_take(&buf);
    if ((taken != NULL) != (status == GG_OK))
        status = GG_E_STATE;
    free(taken);
    gg_buf_free(&buf);
    return status;
}

static void allocation_failures(void **state)
{
    (void)state;
    assert_true(alloc_each_fails(append_much, NULL) >= 5);
}

static void whole_numbers(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        const char *text;
    } rows[] = {{0, "0"},
                {-1, "-1"},
                {10, "10"},
                {INT64_MAX, "9223372036854775807"},
                {INT64_MIN, "-9223372036854775808"}};
    gg_buf buf;
    gg_buf_init(&buf, 100);
    for (size_t i = 0; i < COUNT(rows); i++) {
        gg_buf_reset(&buf);
        gg_buf_int(&buf, rows[i].value);
        assert_string_equal(buf.data, rows[i].text);
    }
    gg_buf_free(&buf);
}

static void doubles(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-2.5, "-2.5"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1e15, "1e+15"},
        {999999999999999, "999999999999999"},
        {1e-7, "1e-07"},
        {NAN, "null"},
        {INFINITY, "null"},
        {-INFINITY, "null"},
        {9007199254740991.0, "9007199254740991"},
        {5e-324, "4.94065645841247e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
    };
    gg_buf buf;
    gg_buf_init(&buf, 100);
    for (size_t i = 0; i < COUNT(rows); i++) {
        gg_buf_reset(&buf);
        gg_buf_double(&buf, rows[i].value);
        assert_string_equal(buf.data, rows[i].text);
    }
    gg_buf_free(&buf);
}

#define LOST "\xef\xbf\xbd" /* U+FFFD */

static void json_strings(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *text;
    } rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"\"\\/", "\\\"\\\\/"},
        {"\b\f\n\r\t\x01\x1f\x7f", "\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xc2\x80\xc2\x85\xc2\x9f\xc2\xa0", "\\u0080\\u0085\\u009f\xc2\xa0"},
        {"\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa",
         "\xe2\x80\xa7\\u2028\\u2029\xe2\x80\xaa"},
        {"\xff", LOST},
        {"\xc0\xaf", LOST LOST},          /* overlong */
        {"\xed\xa0\x80", LOST LOST LOST}, /* a surrogate, written as UTF-8 */
        {"\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80"},
        {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
        {"\xf4\x90\x80\x80", LOST LOST LOST LOST}, /* beyond U+10FFFF */
        {"a\xe2\x82", "a" LOST LOST},              /* cut */
        {"\x80z", LOST "z"},
    };
    gg_buf buf;
    gg_buf_init(&buf, 1000);
    for (size_t i = 0; i < COUNT(rows); i++) {
        gg_buf_reset(&buf);
        gg_buf_json_part(&buf, rows[i].bytes, strlen(rows[i].bytes));
        assert_string_equal(gg_buf_cstr(&buf), rows[i].text);
    }
    gg_buf_reset(&buf);
    gg_buf_json(&buf, "a\0b", 3);
    assert_string_equal(buf.data, "\"a\\u0000b\"");
    gg_buf_reset(&buf);
    gg_buf_json_str(&buf, NULL);
    assert_string_equal(buf.data, "null");
    gg_buf_free(&buf);
}

/* Any bytes become one line of valid JSON, which reads back as themselves where they were UTF-8. */
static void any_bytes(void **state)
{
    (void)state;
    const uint64_t seed = 23;
    gg_rng rng;
    gg_buf buf, back;
    gg_rng_seed(&rng, seed);
    gg_buf_init(&buf, 10000);
    gg_buf_init(&back, 10000);
    for (int round = 0; round < 3000; round++) {
        char bytes[40];
        size_t len = (size_t)gg_rng_below(&rng, sizeof bytes);
        bool ascii = true;
        for (size_t i = 0; i < len; i++) {
            bytes[i] = (char)gg_rng_below(&rng, round % 2 ? 128 : 256);
            ascii = ascii && bytes[i] > 0;
        }
        gg_buf_reset(&buf);
        gg_buf_reset(&back);
        gg_buf_json(&buf, bytes, len);
        gg_json_reader r = gg_json_reader_make(buf.data, buf.len);
        if (!gg_read_string(&r, &back) || !gg_read_end(&r) || strchr(buf.data, '\n'))
            fail_msg("seed %ju, round %d: %s", (uintmax_t)seed, round, buf.data);
        if (ascii && (back.len != len || memcmp(back.data, bytes, len) != 0))
            fail_msg("seed %ju, round %d: %s", (uintmax_t)seed, round, buf.data);
    }
    gg_buf_free(&buf);
    gg_buf_free(&back);
}

static void long_errors(void **state)
{
    (void)state;
    gg_error error;
    char text[2 * GG_ERROR_TEXT];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(gg_fail(&error, GG_E_IO, "%s", text), GG_E_IO);
    assert_int_equal(strlen(error.text), GG_ERROR_TEXT - 1);
    assert_string_equal(error.text + GG_ERROR_TEXT - 5, "x...");
    assert_int_equal(gg_fail_prefix(&error, "file"), GG_E_IO);
    assert_memory_equal(error.text, "file: xx", 8);
    assert_string_equal(error.text + GG_ERROR_TEXT - 4, "...");
    assert_int_equal(gg_fail(NULL, GG_E_IO, "x"), GG_E_IO);
    assert_string_equal(gg_status_name(GG_E_LOCKED), "locked");
    assert_string_equal(gg_status_name((gg_status)99), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growth),        cmocka_unit_test(room_alone_is_an_empty_string),
        cmocka_unit_test(limit),         cmocka_unit_test(allocation_failures),
        cmocka_unit_test(whole_numbers), cmocka_unit_test(doubles),
        cmocka_unit_test(json_strings),  cmocka_unit_test(any_bytes),
        cmocka_unit_test(long_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
