/* The adapter file: bit-exact, and refused where it does not belong. */
#include "policy/adapter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "alloc.h"
#include "core/file.h"
#include "core/rng.h"
#include "word_play.h"

#define ROOM (1u << 16)

static gg_policy *policy, *four_letters;

static int open_policies(void **state)
{
    (void)state;
    static const char *const list[] = {"able", "word", "zero"};
    char settings[256], *path = word_list_file(list, 3);
    if (!path)
        return -1;
    snprintf(settings, sizeof settings, "{\"length\":4,\"answers\":\"%s\",\"allowed\":\"%s\"}",
             path, path);
    bool opened = gg_policy_open("letters", NULL, &policy, NULL) == GG_OK &&
                  gg_policy_open("letters", settings, &four_letters, NULL) == GG_OK;
    remove(path);
    free(path);
    return opened ? 0 : -1;
}

static int close_policies(void **state)
{
    (void)state;
    gg_policy_close(policy);
    gg_policy_close(four_letters);
    return 0;
}

/* An adapter of random numbers, the awkward ones among them. */
static void random_adapter(gg_adapter *adapter, uint64_t seed)
{
    static const double awkward[] = {0.1, -0.0, 5e-324, 1.7976931348623157e308, 1e21, 1.0 / 3};
    gg_rng rng;
    gg_rng_seed(&rng, seed);
    assert_int_equal(gg_adapter_new(policy, adapter, NULL), GG_OK);
    for (size_t k = 0; k < adapter->weights.n; k++)
        adapter->weights.adapter[k] =
            k < sizeof awkward / sizeof *awkward ? awkward[k] : gg_rng_normal(&rng);
    adapter->weights.version = 100;
    adapter->alpha = 48;
}

static void test_round_trip(void **state)
{
    (void)state;
    gg_adapter adapter, back;
    gg_buf text, again;
    gg_error error = {0};
    random_adapter(&adapter, 1);
    gg_buf_init(&text, ROOM);
    gg_buf_init(&again, ROOM);
    assert_int_equal(gg_adapter_write(&adapter, policy, &text, NULL), GG_OK);
    assert_int_equal(text.data[text.len - 1], '\n');
    if (gg_adapter_parse(text.data, text.len, policy, &back, &error) != GG_OK)
        fail_msg("%s", error.text);
    assert_int_equal(back.weights.n, adapter.weights.n);
    assert_memory_equal(back.weights.adapter, adapter.weights.adapter,
                        adapter.weights.n * sizeof(double));
    assert_int_equal(back.weights.version, 100);
    assert_string_equal(back.policy, "letters");
    assert_true(back.rank == 32 && back.alpha == 48);
    assert_int_equal(gg_adapter_write(&back, policy, &again, NULL), GG_OK);
    assert_string_equal(gg_buf_cstr(&again), gg_buf_cstr(&text));
    gg_adapter_free(&adapter);
    gg_adapter_free(&back);
    gg_buf_free(&text);
    gg_buf_free(&again);
}

static void test_scale(void **state)
{
    (void)state;
    assert_true(gg_adapter_scale(32, 64) == 24); /* 12 x 64 / 32 */
    assert_true(gg_adapter_scale(16, 16) == 12);
}

/* A written adapter with one piece of text replaced by another. */
static void edited(const gg_policy *writer, const char *from, const char *to, gg_buf *out)
{
    gg_adapter adapter;
    gg_buf text;
    gg_buf_init(&text, ROOM);
    assert_int_equal(gg_adapter_new(writer, &adapter, NULL), GG_OK);
    assert_int_equal(gg_adapter_write(&adapter, writer, &text, NULL), GG_OK);
    const char *at = strstr(text.data, from);
    assert_non_null(at);
    gg_buf_add(out, text.data, (size_t)(at - text.data));
    gg_buf_str(out, to);
    gg_buf_str(out, at + strlen(from));
    gg_buf_free(&text);
    gg_adapter_free(&adapter);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
        gg_status status;
        const char *says;
    } cases[] = {
        {"adapter/1", "adapter/2", GG_E_FORMAT, "schema"},
        {"\"letters\"", "\"seeker\"", GG_E_CONFIG, "policy is \"seeker\", not \"letters\""},
        {"\"length\":5", "\"length\":6", GG_E_CONFIG, "length is 6, not 5"},
        {"\"lists\":\"", "\"lists\":\"0", GG_E_CONFIG, "word lists"},
        {"\"vocabulary\":", "\"vocabulary\":1", GG_E_CONFIG, "train again"},
        {"\"vocabulary\":", "\"no\":", GG_E_FORMAT, "vocabulary"},
        {"\"rank\":32", "\"rank\":0", GG_E_FORMAT, "rank"},
        {"\"alpha\":64", "\"alpha\":\"64\"", GG_E_FORMAT, "alpha"},
        {"\"version\":0", "\"version\":-1", GG_E_FORMAT, "version"},
        {"\"version\":0", "\"version\":0.5", GG_E_FORMAT, "version"},
        {"\"adapter\":[0,", "\"adapter\":[", GG_E_FORMAT, "137 numbers, not 138"},
        {"\"adapter\":[0,", "\"adapter\":[0,0,", GG_E_FORMAT, "139 numbers, not 138"},
        {"\"adapter\":[0,", "\"adapter\":[null,", GG_E_FORMAT, "adapter[0]"},
        {"\"adapter\":[0,", "\"adapter\":[1e999,", GG_E_FORMAT, "adapter[0]"},
        {"\"adapter\":[", "\"adapter\":{", GG_E_FORMAT, ""},
        {"]}\n", "]", GG_E_FORMAT, ""},
        {"]}\n", "]} x", GG_E_FORMAT, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gg_buf text;
        gg_adapter adapter;
        gg_error error = {0};
        gg_buf_init(&text, ROOM);
        edited(policy, cases[i].from, cases[i].to, &text);
        gg_status status = gg_adapter_parse(text.data, text.len, policy, &adapter, &error);
        if (status != cases[i].status || !strstr(error.text, cases[i].says))
            fail_msg("%s: status %d, \"%s\"", cases[i].to, (int)status, error.text);
        assert_null(adapter.weights.adapter);
        gg_buf_free(&text);
    }
}

static void test_other_lists_are_refused(void **state)
{
    (void)state;
    gg_buf text;
    gg_adapter adapter;
    gg_error error = {0};
    gg_buf_init(&text, ROOM);
    edited(four_letters, "]", "]", &text);
    assert_int_equal(gg_adapter_parse(text.data, text.len, policy, &adapter, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "length is 4, not 5"));
    gg_buf_free(&text);
}

static void test_baselines_take_none(void **state)
{
    (void)state;
    gg_policy *entropy;
    gg_adapter adapter;
    gg_error error = {0};
    assert_int_equal(gg_policy_open("entropy", NULL, &entropy, NULL), GG_OK);
    assert_int_equal(gg_adapter_parse("{}", 2, entropy, &adapter, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "entropy cannot be trained"));
    gg_policy_close(entropy);
}

static void test_files(void **state)
{
    (void)state;
    gg_adapter adapter;
    gg_error error = {0};
    gg_buf text;
    char *path = word_list_file(NULL, 0);
    gg_buf_init(&text, ROOM);
    assert_int_equal(gg_adapter_read("/nowhere/adapter.json", policy, &adapter, &error), GG_E_IO);
    assert_non_null(strstr(error.text, "/nowhere/adapter.json"));
    assert_int_equal(gg_adapter_read(path, policy, &adapter, &error), GG_E_FORMAT);
    assert_non_null(strstr(error.text, path));
    edited(policy, "\"version\":0", "\"version\":7", &text);
    assert_int_equal(gg_file_write(path, text.data, text.len, NULL), GG_OK);
    assert_int_equal(gg_adapter_read(path, policy, &adapter, NULL), GG_OK);
    assert_int_equal(adapter.weights.version, 7);
    gg_adapter_free(&adapter);
    gg_adapter_free(NULL);
    gg_buf_free(&text);
    remove(path);
    free(path);
}

static gg_status parse_once(void *context)
{
    const gg_buf *text = context;
    gg_adapter adapter;
    gg_status status = gg_adapter_parse(text->data, text->len, policy, &adapter, NULL);
    gg_adapter_free(&adapter);
    return status;
}

static void test_short_memory(void **state)
{
    (void)state;
    gg_buf text;
    gg_buf_init(&text, ROOM);
    edited(policy, "]", "]", &text);
    assert_true(alloc_each_fails(parse_once, &text) > 3);
    gg_buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_other_lists_are_refused),
        cmocka_unit_test(test_baselines_take_none),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_short_memory),
    };
    return cmocka_run_group_tests(tests, open_policies, close_policies);
}
