/* Model packages as files: what survives, what a kill leaves, damage, short memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "service/packages.h"
#include "tests/alloc.h"
#include "tests/folder.h"

static gg_policy *policy;
static gg_store *store;
static char folder[FOLDER_PATH];

static int setup(void **state)
{
    (void)state;
    gg_error error = {0};
    folder_make(folder);
    const gg_store_options options = {.root = folder_path(folder, "s3")};
    if (gg_store_open(&options, &store, &error) == GG_OK &&
        gg_policy_open("letters", NULL, &policy, &error) == GG_OK)
        return 0;
    print_error("%s\n", error.text);
    return -1;
}

static int teardown(void **state)
{
    (void)state;
    gg_policy_close(policy);
    gg_store_close(store);
    folder_remove(folder);
    return 0;
}

static gg_status open_at(const char *name, gg_packages **out, gg_error *error)
{
    char state_dir[FOLDER_PATH];
    snprintf(state_dir, sizeof state_dir, "%s", folder_path(folder, name));
    return gg_packages_open(state_dir, store, out, error);
}

static gg_packages *open_packages(const char *name)
{
    gg_packages *p;
    gg_error error = {0};
    if (open_at(name, &p, &error) != GG_OK)
        fail_msg("%s", error.text);
    return p;
}

/* An adapter whose first number is `value`. */
static bool make_adapter(double value, gg_adapter *out)
{
    size_t n = gg_policy_weight_count(policy);
    *out = (gg_adapter){.rank = 32, .alpha = 64, .weights = {n, calloc(n, sizeof(double)), 3}};
    out->policy = strdup("letters");
    if (out->policy && out->weights.adapter) {
        out->weights.adapter[0] = value;
        return true;
    }
    gg_adapter_free(out);
    return false;
}

static gg_status save(gg_packages *p, const char *group, double value, const char *optimizer,
                      char arn[GG_PACKAGE_ARN_MAX + 1], gg_error *error)
{
    gg_adapter adapter;
    if (!make_adapter(value, &adapter))
        return gg_fail(error, GG_E_MEMORY, "no adapter");
    gg_package_save s = {.group = group,
                         .region = "eu-west-1",
                         .account = "123456789012",
                         .description = "it's \"one\"",
                         .base_id = "letters",
                         .base_version = "1.0.0",
                         .s3_path = "s3://bucket/out//",
                         .session = "session",
                         .policy = policy,
                         .adapter = &adapter,
                         .optimizer = optimizer,
                         .optimizer_len = optimizer ? strlen(optimizer) : 0};
    return gg_packages_save(p, &s, arn, error);
}

static void must_save(gg_packages *p, const char *group, double value, const char *optimizer,
                      char arn[GG_PACKAGE_ARN_MAX + 1])
{
    gg_error error = {0};
    if (save(p, group, value, optimizer, arn, &error) != GG_OK)
        fail_msg("%s", error.text);
}

static double value_of(gg_packages *p, const char *arn)
{
    gg_version *v;
    gg_error error = {0};
    if (gg_packages_version(p, policy, arn, &v, &error) != GG_OK)
        fail_msg("%s", error.text);
    double value = gg_version_adapter(v)->weights.adapter[0];
    assert_int_equal(gg_version_adapter(v)->weights.version, 3);
    assert_string_equal(gg_version_arn(v), arn);
    gg_version_release(v);
    return value;
}

static bool check_info(void *context, const gg_package_info *info)
{
    assert_string_equal(info->group, "first");
    assert_string_equal(info->description, "it's \"one\"");
    assert_string_equal(info->s3_uri, "s3://bucket/out/session/first-2/");
    assert_string_equal(info->base_id, "letters");
    assert_string_equal(info->base_version, "1.0.0");
    assert_int_equal(info->version, 2);
    assert_true(info->checkpoint);
    assert_true(info->created > 1.7e9);
    *(bool *)context = true;
    return true;
}

static bool count(void *context, const gg_package_info *info)
{
    (void)info;
    ++*(int *)context;
    return true;
}

static void packages_come_back(void **state)
{
    (void)state;
    char arn[4][GG_PACKAGE_ARN_MAX + 1];
    gg_buf optimizer;
    gg_error error;
    bool seen = false;
    gg_packages *p = open_packages("state");
    must_save(p, "first", 0.1, NULL, arn[0]);
    must_save(p, "first", 1.0 / 3, "{\"x\":1}", arn[1]);
    must_save(p, "second", -7, NULL, arn[2]);
    assert_string_equal(arn[1], "arn:aws:sagemaker:eu-west-1:123456789012:model-package/first/2");
    assert_true(value_of(p, arn[1]) == 1.0 / 3);
    assert_true(gg_packages_delete(p, arn[0]));
    assert_false(gg_packages_delete(p, arn[0]));
    gg_packages_close(p);

    p = open_packages("state");
    int all = 0, first = 0;
    gg_packages_each(p, NULL, count, &all);
    gg_packages_each(p, "first", count, &first);
    assert_int_equal(all, 2);
    assert_int_equal(first, 1);
    assert_true(gg_packages_look(p, arn[1], check_info, &seen) && seen);
    assert_false(gg_packages_has(p, arn[0]));
    assert_true(value_of(p, arn[1]) == 1.0 / 3 && value_of(p, arn[2]) == -7);
    gg_buf_init(&optimizer, 100);
    assert_int_equal(gg_packages_optimizer(p, arn[1], &optimizer, &error), GG_OK);
    assert_string_equal(optimizer.data, "{\"x\":1}");
    assert_int_equal(gg_packages_optimizer(p, arn[2], &optimizer, &error), GG_E_ARGUMENT);
    gg_buf_free(&optimizer);
    must_save(p, "first", 5, NULL, arn[3]);
    assert_string_equal(arn[3], "arn:aws:sagemaker:eu-west-1:123456789012:model-package/first/3");
    gg_packages_close(p);
}

static void more_versions_than_the_cache_holds(void **state)
{
    (void)state;
    char arn[3 * GG_VERSIONS_CACHED][GG_PACKAGE_ARN_MAX + 1];
    gg_packages *p = open_packages("many");
    gg_version *held;
    gg_error error;
    for (int i = 0; i < 3 * GG_VERSIONS_CACHED; i++)
        must_save(p, "many", i, NULL, arn[i]);
    assert_int_equal(gg_packages_version(p, policy, arn[0], &held, &error), GG_OK);
    for (int i = 3 * GG_VERSIONS_CACHED; i-- > 0;)
        assert_true(value_of(p, arn[i]) == i);
    assert_true(gg_packages_delete(p, arn[0]));
    gg_packages_close(p);
    assert_true(gg_version_adapter(held)->weights.adapter[0] == 0); /* ours until released */
    gg_version_release(held);
}

static void what_a_kill_leaves_is_passed_over(void **state)
{
    (void)state;
    char arn[GG_PACKAGE_ARN_MAX + 1];
    gg_packages *p = open_packages("killed");
    must_save(p, "whole", 1, NULL, arn);
    gg_packages_close(p);
    assert_int_equal(mkdir(folder_path(folder, "killed/packages/begun"), 0777), 0);
    folder_write(folder, "killed/packages/whole/2.json.123-0.tmp", "{\"vers", 6);
    folder_write(folder, "killed/packages/stray", "x", 1);
    assert_int_equal(mkdir(folder_path(folder, "killed/packages/a_b"), 0777), 0);
    remove(folder_path(folder, "killed/packages/stray"));
    p = open_packages("killed");
    int all = 0;
    gg_packages_each(p, NULL, count, &all);
    assert_int_equal(all, 1);
    gg_packages_close(p);
}

static void damage_is_named(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "{", "[]", "{\"version\":1}", "{\"arn\":\"x\"}"};
    static const char *const files[] = {"damaged/packages/whole/1.json",
                                        "damaged/packages/whole/group.json"};
    char arn[GG_PACKAGE_ARN_MAX + 1];
    for (size_t f = 0; f < 2; f++)
        for (size_t i = 0; i < sizeof texts / sizeof *texts - f;
             i++) { /* a group has an ARN alone */
            gg_error error = {0};
            gg_packages *p = open_packages("damaged");
            must_save(p, "whole", 1, NULL, arn);
            gg_packages_close(p);
            size_t len;
            char *good = folder_read(folder, files[f], &len);
            folder_write(folder, files[f], texts[i], strlen(texts[i]));
            assert_int_equal(open_at("damaged", &p, &error), GG_E_FORMAT);
            assert_null(p);
            if (!strstr(error.text, files[f]))
                fail_msg("%s", error.text);
            folder_write(folder, files[f], good, len);
            free(good);
        }
}

static void files_that_are_gone_or_foreign(void **state)
{
    (void)state;
    char arn[GG_PACKAGE_ARN_MAX + 1];
    gg_error error = {0};
    gg_version *v;
    gg_policy *other;
    gg_packages *p = open_packages("gone");
    must_save(p, "gone", 1, "{}", arn);
    /* From the cache another policy gets the same answer as from the file. */
    assert_int_equal(gg_policy_open("random", NULL, &other, &error), GG_OK);
    assert_int_not_equal(gg_packages_version(p, other, arn, &v, &error), GG_OK);
    assert_null(v);
    gg_packages_close(p);
    p = open_packages("gone");
    assert_int_not_equal(gg_packages_version(p, other, arn, &v, &error), GG_OK);
    gg_policy_close(other);
    remove(folder_path(folder, "s3/bucket/out/session/gone-1/adapter.json"));
    assert_int_equal(gg_packages_version(p, policy, arn, &v, &error), GG_E_IO);
    assert_non_null(strstr(error.text, "gone-1/adapter.json"));
    assert_int_equal(gg_packages_version(p, policy, "nonsense", &v, &error), GG_E_ARGUMENT);
    gg_packages_close(p);
}

static gg_status work(void *context)
{
    (void)context;
    gg_packages *p = NULL;
    gg_version *v = NULL;
    char arn[GG_PACKAGE_ARN_MAX + 1];
    gg_error error = {0};
    gg_status status = open_at("short", &p, &error);
    if (status == GG_OK)
        status = save(p, "short", 1, "{}", arn, &error);
    if (status == GG_OK)
        status = gg_packages_version(p, policy, arn, &v, &error);
    gg_version_release(v);
    gg_packages_close(p);
    return status;
}

static void short_of_memory(void **state)
{
    (void)state;
    assert_true(alloc_each_fails(work, NULL) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packages_come_back),
        cmocka_unit_test(more_versions_than_the_cache_holds),
        cmocka_unit_test(what_a_kill_leaves_is_passed_over),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(files_that_are_gone_or_foreign),
        cmocka_unit_test(short_of_memory),
    };
    return cmocka_run_group_tests_name("packages", tests, setup, teardown);
}
