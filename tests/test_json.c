/* JSON access, writing of exact numbers, and the streaming reader. */
#include "core/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/rng.h"
#include "tests/alloc.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void parse_table(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        gg_status status;
        const char *printed; /* of the tree, when parsed */
    } rows[] = {
        {"{\"a\":[1,2.5,null,true,\"x\"]}", GG_OK, "{\"a\":[1,2.5,null,true,\"x\"]}"},
        {" [ ] \n", GG_OK, "[]"},
        {"3", GG_OK, "3"},
        {"\"s\"", GG_OK, "\"s\""},
        {"null", GG_OK, "null"},
        {"", GG_E_FORMAT, NULL},
        {"   ", GG_E_FORMAT, NULL},
        {"{\"a\":1", GG_E_FORMAT, NULL},
        {"{\"a\":1}}", GG_E_FORMAT, NULL},
        {"{\"a\":1} x", GG_E_FORMAT, NULL},
        {"{} {}", GG_E_FORMAT, NULL},
        {"1.2.3", GG_E_FORMAT, NULL},
        {"NaN", GG_E_FORMAT, NULL},
        {"{\"a\":NaN}", GG_E_FORMAT, NULL},
        {"{'a':1}", GG_E_FORMAT, NULL},
        {"\"\\", GG_E_FORMAT, NULL},
        {"\"\\u12", GG_E_FORMAT, NULL},
        {"\"\\u12G4\"", GG_E_FORMAT, NULL},
        {"{\"a\":\"x\\ud800y\"}", GG_OK, "{\"a\":\"x\xef\xbf\xbdy\"}"},
        {"\"\\ud800\"", GG_OK, "\"\xef\xbf\xbd\""},
        {"\"\\udc00\\ud800\"", GG_OK, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\"\\ud83d\\ude00\"", GG_OK, "\"\xf0\x9f\x98\x80\""},
        {"\"\\ud800\\ud83d\\ude00\"", GG_OK, "\"\xef\xbf\xbd\xf0\x9f\x98\x80\""},
        {"\"a\\u0000b\"", GG_OK,
         "\"a\xef\xbf\xbd"
         "b\""},
        {"\"\\\\ud800\"", GG_OK, "\"\\\\ud800\""},
        {"9007199254740991", GG_OK, "9007199254740991"},
        {"0.1", GG_OK, "0.1"},
        {"\"\\u2028\\u0085\"", GG_OK, "\"\\u2028\\u0085\""},
        {"\"[[[[\"", GG_OK, "\"[[[[\""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        cJSON *tree;
        gg_error error = {0};
        gg_buf buf;
        gg_buf_init(&buf, 4096);
        gg_status status = gg_json_parse(rows[i].text, strlen(rows[i].text), &tree, &error);
        if (status != rows[i].status)
            fail_msg("row %zu: %s: status %d (%s)", i, rows[i].text, status, error.text);
        if (rows[i].printed) {
            gg_buf_cjson(&buf, tree);
            assert_string_equal(gg_buf_cstr(&buf), rows[i].printed);
        } else {
            assert_null(tree);
            assert_true(error.text[0] != '\0');
        }
        cJSON_Delete(tree);
        gg_buf_free(&buf);
    }
}

/* Bytes without a NUL, in an allocation behind which the sanitizer watches. */
static char *exact_copy(const char *text, size_t len)
{
    char *bytes = malloc(len ? len : 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < len; i++)
        bytes[i] = text[i];
    return bytes;
}

/* The bytes need no NUL behind them: each text stands in an exact allocation. */
static void parse_exact_allocation(void **state)
{
    (void)state;
    static const char *const texts[] = {"12",      "[1,2]", "\"ab\"", "{\"a\":tru",
                                        "\"\\u00", "-",     "tr"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        size_t len = strlen(texts[i]);
        char *bytes = exact_copy(texts[i], len);
        cJSON *tree;
        gg_status status = gg_json_parse(bytes, len, &tree, NULL);
        assert_int_equal(status, i < 3 ? GG_OK : GG_E_FORMAT);
        gg_json_reader r = gg_json_reader_make(bytes, len);
        assert_int_equal(gg_read_skip(&r) && gg_read_end(&r), i < 3);
        cJSON_Delete(tree);
        free(bytes);
    }
}

static void depth_limit(void **state)
{
    (void)state;
    char text[4 * GG_JSON_DEPTH_MAX];
    for (int depth = GG_JSON_DEPTH_MAX - 1; depth <= GG_JSON_DEPTH_MAX + 1; depth++) {
        size_t n = (size_t)depth;
        memset(text, '[', n);
        memset(text + n, ']', n);
        cJSON *tree;
        gg_error error;
        gg_status status = gg_json_parse(text, 2 * n, &tree, &error);
        assert_int_equal(status, depth > GG_JSON_DEPTH_MAX ? GG_E_FORMAT : GG_OK);
        gg_json_reader r = gg_json_reader_make(text, 2 * n);
        assert_int_equal(gg_read_skip(&r), depth <= GG_JSON_DEPTH_MAX);
        cJSON_Delete(tree);
    }
}

static void glued_values(void **state)
{
    (void)state;
    const char *text = "{\"a\":1}{\"a\":2} [3]tail";
    static const char *const want[] = {"{\"a\":1}", "{\"a\":2}", "[3]"};
    for (size_t i = 0; i < COUNT(want); i++) {
        cJSON *tree;
        size_t used;
        gg_buf buf;
        gg_buf_init(&buf, 100);
        assert_int_equal(gg_json_parse_first(text, strlen(text), &tree, &used, NULL), GG_OK);
        gg_buf_cjson(&buf, tree);
        assert_string_equal(gg_buf_cstr(&buf), want[i]);
        cJSON_Delete(tree);
        gg_buf_free(&buf);
        text += used;
    }
    assert_string_equal(text, "tail");
}

static void getters(void **state)
{
    (void)state;
    const char *text = "{\"Content\":\"no\",\"content\":\"yes\",\"n\":3,\"f\":2.5,\"big\":1e300,"
                       "\"t\":true,\"none\":null,\"deep\":{\"list\":[10,{\"x\":7}]},\"s\":\"5\"}";
    cJSON *tree;
    double number = 0;
    int64_t whole = 0;
    bool flag = false;
    assert_int_equal(gg_json_parse(text, strlen(text), &tree, NULL), GG_OK);
    assert_string_equal(gg_json_text(tree, "content"), "yes");
    assert_null(gg_json_text(tree, "CONTENT"));
    assert_null(gg_json_text(tree, "n"));
    assert_null(gg_json_get(tree, "none"));
    assert_null(gg_json_get(NULL, "none"));
    assert_true(gg_json_number(tree, "f", &number) && number == 2.5);
    assert_false(gg_json_number(tree, "s", &number));
    assert_true(gg_json_int(tree, "n", &whole) && whole == 3);
    assert_false(gg_json_int(tree, "f", &whole));
    assert_false(gg_json_int(tree, "big", &whole));
    assert_true(gg_json_bool(tree, "t", &flag) && flag);
    assert_false(gg_json_bool(tree, "n", &flag));
    assert_int_equal(gg_json_path(tree, "deep.list.1.x")->valueint, 7);
    assert_int_equal(gg_json_path(tree, "deep.list.0")->valueint, 10);
    assert_ptr_equal(gg_json_path(tree, ""), tree);
    assert_null(gg_json_path(tree, "deep.list.2"));
    assert_null(gg_json_path(tree, "deep.list.x"));
    assert_null(gg_json_path(tree, "deep.lis"));
    assert_null(gg_json_path(tree, "none"));
    cJSON_Delete(tree);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The writer's text reads back as the same bits, by strtod, by cJSON and by the reader. */
static void doubles_are_exact(void **state)
{
    (void)state;
    const uint64_t seed = 20260101;
    gg_rng rng;
    gg_rng_seed(&rng, seed);
    gg_buf buf;
    gg_buf_init(&buf, 100);
    static const double fixed[] = {0.0,
                                   -0.0,
                                   1e22,
                                   1e23,
                                   5e-324,
                                   2.2250738585072014e-308,
                                   1.7976931348623157e308,
                                   0.1,
                                   -1.0 / 3,
                                   9007199254740993.0,
                                   123456789012345678.0,
                                   1e15,
                                   -1e15,
                                   999999999999999.9};
    for (size_t i = 0; i < 20000; i++) {
        double value;
        uint64_t bits = gg_rng_next(&rng);
        memcpy(&value, &bits, sizeof value);
        if (i % 2)
            value = -log(1 - gg_rng_unit(&rng));
        if (i < COUNT(fixed))
            value = fixed[i];
        if (!isfinite(value))
            continue;
        gg_buf_reset(&buf);
        gg_buf_double(&buf, value);
        double read = 0;
        gg_json_reader r = gg_json_reader_make(buf.data, buf.len);
        cJSON *tree;
        if (!gg_read_double(&r, &read) || !gg_read_end(&r) || bits_of(read) != bits_of(value))
            fail_msg("seed %ju: %s read as %.17g", (uintmax_t)seed, buf.data, read);
        assert_int_equal(gg_json_parse(buf.data, buf.len, &tree, NULL), GG_OK);
        assert_memory_equal(&tree->valuedouble, &value, sizeof value);
        cJSON_Delete(tree);
    }
    gg_buf_free(&buf);
}

static void number_grammar(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good, whole;
        double value;
    } rows[] = {
        {"0", true, true, 0},
        {"-0", true, true, 0},
        {"12", true, true, 12},
        {"-7", true, true, -7},
        {"1.5", true, false, 1.5},
        {"1e3", true, true, 1000},
        {"1E+2", true, true, 100},
        {"15e-1", true, false, 1.5},
        {"2.0", true, true, 2},
        {"0e999", true, true, 0},
        {"01", false, false, 0},
        {"+1", false, false, 0},
        {"1.", false, false, 0},
        {".5", false, false, 0},
        {"1e", false, false, 0},
        {"-", false, false, 0},
        {"1e400", false, false, 0},
        {"NaN", false, false, 0},
        {"Infinity", false, false, 0},
        {"0x10", false, false, 0},
        {"1e-400", true, true, 0},
        {"9223372036854775807", true, true, 9223372036854775807.0},
        {"9223372036854775808", true, false, 9223372036854775808.0},
        {"123456789012345678901234567890123456789012345678901234567890123", true, false,
         1.2345678901234568e62},
        {"1234567890123456789012345678901234567890123456789012345678901234", false, false, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        gg_json_reader r = gg_json_reader_make(rows[i].text, strlen(rows[i].text));
        double value = -1;
        bool good = gg_read_double(&r, &value) && gg_read_end(&r);
        if (good != rows[i].good || (good && value != rows[i].value))
            fail_msg("%s: %d %.17g", rows[i].text, good, value);
        int64_t whole;
        r = gg_json_reader_make(rows[i].text, strlen(rows[i].text));
        if ((gg_read_int(&r, &whole) && gg_read_end(&r)) != rows[i].whole)
            fail_msg("%s as a whole number", rows[i].text);
    }
}

static void reader_walks(void **state)
{
    (void)state;
    const char *text =
        " { \"id\" : \"a\\nb\\u00e9\\ud83d\\ude00\\ud800\" , \"skip\":{\"a\":[1,{}]},"
        "\"ids\":[1,-2,3],\"p\":[0.5,null,-1e-3],\"e\":[],\"b\":[true,false],"
        "\"raw\": {\"x\" : [1]} ,\"n\":null,\"o\":{} } ";
    gg_json_reader r = gg_json_reader_make(text, strlen(text));
    gg_json_name name, raw = {0};
    gg_buf buf;
    int32_t *ids = NULL;
    double *p = NULL;
    size_t id_count = 0, id_room = 0, p_count = 0, p_room = 0, empties = 0;
    bool flags[2] = {false, true}, null_seen = false;
    gg_buf_init(&buf, 100);
    assert_true(gg_read_object(&r));
    while (gg_read_name(&r, &name)) {
        if (gg_name_is(name, "id"))
            gg_read_string(&r, &buf);
        else if (gg_name_is(name, "ids"))
            gg_read_int32s(&r, &ids, &id_count, &id_room);
        else if (gg_name_is(name, "p"))
            gg_read_doubles(&r, &p, &p_count, &p_room);
        else if (gg_name_is(name, "raw"))
            gg_read_raw(&r, &raw);
        else if (gg_name_is(name, "n"))
            null_seen = gg_read_null(&r);
        else if (gg_name_is(name, "e"))
            for (gg_read_array(&r); gg_read_element(&r); empties++)
                gg_read_skip(&r);
        else if (gg_name_is(name, "b")) {
            gg_read_array(&r);
            for (size_t i = 0; gg_read_element(&r) && i < 2; i++)
                gg_read_bool(&r, &flags[i]);
        } else
            gg_read_skip(&r);
    }
    assert_true(gg_read_end(&r));
    assert_false(r.failed);
    assert_string_equal(buf.data, "a\nb\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd");
    assert_int_equal(id_count, 3);
    assert_true(ids && ids[1] == -2);
    assert_int_equal(p_count, 3);
    assert_true(p && p[0] == 0.5 && isnan(p[1]) && p[2] == -1e-3);
    assert_int_equal(empties, 0);
    assert_true(flags[0] && !flags[1] && null_seen);
    assert_int_equal(raw.len, strlen("{\"x\" : [1]}"));
    gg_buf_free(&buf);
    free(ids);
    free(p);
}

/* Every proper prefix and a damaged byte at every place: never accepted as whole, never read past.
 */
static void reader_refuses_damage(void **state)
{
    (void)state;
    const char *text = "{\"a\":[1,2.5e1,\"x\\u12ab\\n\"],\"b\":{\"c\":null,\"d\":false}}";
    size_t len = strlen(text);
    for (size_t cut = 0; cut <= len; cut++) {
        char *bytes = exact_copy(text, cut);
        gg_json_reader r = gg_json_reader_make(bytes, cut);
        assert_int_equal(gg_read_skip(&r) && gg_read_end(&r), cut == len);
        cJSON *tree;
        assert_int_equal(gg_json_parse(bytes, cut, &tree, NULL), cut == len ? GG_OK : GG_E_FORMAT);
        cJSON_Delete(tree);
        free(bytes);
    }
    static const char *const bad[] = {"[1 2]",      "[1,]",  "[,1]",      "{\"a\" 1}", "{\"a\":}",
                                      "{\"a\":1,}", "{1:2}", "[1}",       "{\"a\":1]", "\"a\nb\"",
                                      "\"\\x\"",    "nul",   "truefalse", "[1],",      "\"a\tb\""};
    for (size_t i = 0; i < COUNT(bad); i++) {
        gg_json_reader r = gg_json_reader_make(bad[i], strlen(bad[i]));
        if (gg_read_skip(&r) && gg_read_end(&r))
            fail_msg("accepted: %s", bad[i]);
        assert_true(r.failed);
        assert_false(gg_read_skip(&r));
    }
}

static void arrays_written(void **state)
{
    (void)state;
    gg_buf buf;
    gg_buf_init(&buf, 1000);
    gg_buf_ints(&buf, (const int32_t[]){1, -2, INT32_MIN, INT32_MAX}, 4);
    assert_string_equal(buf.data, "[1,-2,-2147483648,2147483647]");
    gg_buf_reset(&buf);
    gg_buf_doubles(&buf, (const double[]){0.1, 0.1, 0.1, 0, -0.0, NAN, NAN, INFINITY, 2}, 9);
    assert_string_equal(buf.data, "[0.1,0.1,0.1,0,-0,null,null,null,2]");
    gg_buf_reset(&buf);
    gg_buf_doubles(&buf, NULL, 0);
    assert_string_equal(buf.data, "[]");
    gg_buf_free(&buf);

    gg_buf_init(&buf, 10);
    gg_buf_doubles(&buf, (const double[]){0.25, 0.25, 0.25, 0.25}, 4);
    gg_error error;
    assert_int_equal(gg_buf_status(&buf, "numbers", &error), GG_E_LIMIT);
    gg_buf_free(&buf);
}

/* Seeded damage to a valid text: what the strict reader takes, the tree parser takes too, and the
 * tree's own text is taken again; nothing reads past its end (each text is an exact allocation). */
static void damaged_texts(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":[1,-2.5e3,true,null,\"x\\u00e9\\ud83d\\ude00\\n\"],"
                               "\"b\":{\"c\":[[],{}],\"d\":\"\"},\"e\":0.1}";
    static const char spare[] = "\"\\{}[]:,0123456789eE+-.tfnu \n";
    const uint64_t seed = 41;
    gg_rng rng;
    size_t taken = 0;
    gg_rng_seed(&rng, seed);
    for (int round = 0; round < 20000; round++) {
        size_t len = strlen(text);
        char *bytes = exact_copy(text, len);
        for (uint64_t changes = 1 + gg_rng_below(&rng, 3); changes; changes--)
            bytes[gg_rng_below(&rng, len)] = spare[gg_rng_below(&rng, sizeof spare - 1)];
        gg_json_reader r = gg_json_reader_make(bytes, len);
        if (gg_read_skip(&r) && gg_read_end(&r)) {
            cJSON *tree;
            gg_buf buf;
            taken++;
            gg_buf_init(&buf, 1000);
            if (gg_json_parse(bytes, len, &tree, NULL) != GG_OK)
                fail_msg("seed %ju, round %d: %.*s", (uintmax_t)seed, round, (int)len, bytes);
            gg_buf_cjson(&buf, tree);
            r = gg_json_reader_make(buf.data, buf.len);
            if (!gg_read_skip(&r) || !gg_read_end(&r))
                fail_msg("seed %ju, round %d: %s", (uintmax_t)seed, round, buf.data);
            cJSON_Delete(tree);
            gg_buf_free(&buf);
        }
        free(bytes);
    }
    assert_true(taken > 500);
}

static gg_status parse_and_print(void *context)
{
    cJSON *tree;
    gg_buf buf;
    gg_status status = gg_json_parse(context, strlen(context), &tree, NULL);
    gg_buf_init(&buf, 1000);
    if (status == GG_OK) {
        gg_buf_cjson(&buf, tree);
        status = gg_buf_status(&buf, "JSON", NULL);
    }
    cJSON_Delete(tree);
    gg_buf_free(&buf);
    return status;
}

static gg_status read_arrays(void *context)
{
    gg_json_reader r = gg_json_reader_make(context, strlen(context));
    int32_t *ids = NULL;
    double *numbers = NULL;
    size_t id_count, id_room = 0, number_count, number_room = 0;
    gg_buf text;
    gg_buf_init(&text, 100);
    bool good = gg_read_array(&r) && gg_read_element(&r) &&
                gg_read_int32s(&r, &ids, &id_count, &id_room) && gg_read_element(&r) &&
                gg_read_doubles(&r, &numbers, &number_count, &number_room) && gg_read_element(&r) &&
                gg_read_string(&r, &text) && !gg_read_element(&r) && gg_read_end(&r);
    free(ids);
    free(numbers);
    gg_buf_free(&text);
    return good ? GG_OK : r.no_memory ? GG_E_MEMORY : GG_E_FORMAT;
}

static void allocation_failures(void **state)
{
    (void)state;
    assert_true(alloc_each_fails(parse_and_print, "{\"a\":[1,\"\\ud800\",{\"b\":null}]}") > 8);
    assert_int_equal(alloc_each_fails(read_arrays, "[[1,2],[0.5],\"x\\n\"]"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse_table),
        cmocka_unit_test(parse_exact_allocation),
        cmocka_unit_test(depth_limit),
        cmocka_unit_test(glued_values),
        cmocka_unit_test(getters),
        cmocka_unit_test(doubles_are_exact),
        cmocka_unit_test(number_grammar),
        cmocka_unit_test(reader_walks),
        cmocka_unit_test(reader_refuses_damage),
        cmocka_unit_test(arrays_written),
        cmocka_unit_test(damaged_texts),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
