/* Price tables: the shipped rows, a file over them, files that are wrong. */
#include "core/price.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/alloc.h"
#include "tests/folder.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static char dir[FOLDER_PATH];

static int make_dir(void **state)
{
    (void)state;
    folder_make(dir);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    folder_remove(dir);
    return 0;
}

static void shipped(void **state)
{
    (void)state;
    gg_price price;
    gg_error error = {0};
    assert_int_equal(gg_price_find(GG_PRICE_MODEL, &price, &error), GG_OK);
    assert_string_equal(price.date, GG_PRICES_DATE);
    /* A published evaluation: 197,217 prefill and 34,617 sample tokens. */
    assert_true(fabs(gg_price_cost(&price, 197217, 34617, 0) - (0.02366604 + 0.0103851)) < 1e-12);
    assert_true(fabs(gg_price_cost(&price, 0, 0, 1000000) - 0.36) < 1e-15);
    assert_true(gg_price_cost(&price, 0, 0, 0) == 0);
    assert_int_equal(gg_price_find("nobody", &price, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "'nobody'"));
    assert_non_null(strstr(error.text, GG_PRICE_MODEL));
}

static const char good[] =
    "{\"mine\":{\"prefill\":1,\"sample\":2.5,\"train\":0,\"date\":\"2030-01-01\"},"
    "\"Mine\":{\"prefill\":4,\"sample\":4,\"train\":4}}";

static void a_file(void **state)
{
    (void)state;
    gg_price price;
    gg_error error = {0};
    folder_write(dir, "prices.json", good, strlen(good));
    if (gg_price_read(folder_path(dir, "prices.json"), "mine", &price, &error) != GG_OK)
        fail_msg("%s", error.text);
    assert_string_equal(price.model, "mine");
    assert_string_equal(price.date, "2030-01-01");
    assert_true(gg_price_cost(&price, 2000000, 2000000, 7) == 7);
    assert_int_equal(gg_price_read(folder_path(dir, "prices.json"), "Mine", &price, &error), GG_OK);
    assert_string_equal(price.date, "");
    assert_true(price.train == 4);
}

static void wrong_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"{", "prices.json"},
        {"[]", "no prices of model 'm'"},
        {"{\"M\":{\"prefill\":1,\"sample\":1,\"train\":1}}", "no prices of model 'm'"},
        {"{\"m\":3}", "prefill, sample and train"},
        {"{\"m\":{\"prefill\":1,\"sample\":1}}", "prefill, sample and train"},
        {"{\"m\":{\"prefill\":1,\"sample\":1,\"train\":-1}}", "none negative"},
        {"{\"m\":{\"prefill\":1,\"sample\":1,\"train\":\"1\"}}", "prefill, sample and train"},
        {"{\"m\":{\"prefill\":1,\"sample\":1,\"train\":1e999}}", "prefill, sample and train"},
        {"{\"m\":{\"prefill\":1,\"sample\":1,\"train\":1,\"date\":\"0123456789012345\"}}", "date"},
    };
    gg_price price;
    for (size_t i = 0; i < COUNT(rows); i++) {
        gg_error error = {0};
        folder_write(dir, "prices.json", rows[i].text, strlen(rows[i].text));
        gg_status status = gg_price_read(folder_path(dir, "prices.json"), "m", &price, &error);
        if (status == GG_OK || !strstr(error.text, rows[i].says))
            fail_msg("row %zu: %d %s", i, status, error.text);
    }
    assert_int_equal(gg_price_read(folder_path(dir, "none.json"), "m", &price, NULL), GG_E_IO);
}

static gg_status read_prices(void *path)
{
    gg_price price;
    return gg_price_read(path, "mine", &price, NULL);
}

static void allocation_failures(void **state)
{
    (void)state;
    char path[2 * FOLDER_PATH];
    folder_write(dir, "prices.json", good, strlen(good));
    memcpy(path, folder_path(dir, "prices.json"), sizeof path);
    assert_true(alloc_each_fails(read_prices, path) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped),
        cmocka_unit_test_setup_teardown(a_file, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(wrong_files, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(allocation_failures, make_dir, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
