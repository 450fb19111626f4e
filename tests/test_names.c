/* Names, ARNs and S3 addresses: examples, and the hand-written checks against their own patterns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/rng.h"
#include "service/names.h"

#define KINDS 9
#define TEXT  96

#define X63 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff123"
#define SM  "arn:aws:sagemaker:us-west-2:"

static const struct {
    gg_text_kind kind;
    const char *text;
    bool good;
} rows[] = {
    {GG_TEXT_NAME, "a", true},
    {GG_TEXT_NAME, "a--b", true},
    {GG_TEXT_NAME, X63, true},
    {GG_TEXT_NAME, X63 "4", false},
    {GG_TEXT_NAME, "", false},
    {GG_TEXT_NAME, NULL, false},
    {GG_TEXT_NAME, "-a", false},
    {GG_TEXT_NAME, "a-", false},
    {GG_TEXT_NAME, "a_b", false},
    {GG_TEXT_PATH_NAME, "-a-", true},
    {GG_TEXT_PATH_NAME, X63 "4", true},
    {GG_TEXT_PATH_NAME, X63 "45", false},
    {GG_TEXT_PATH_NAME, "a/b", false},
    {GG_TEXT_CLIENT_TOKEN, "0b8c2b9e-5a0e-4c62-9a5c-0a1b2c3d4e5f", true},
    {GG_TEXT_CLIENT_TOKEN, "a b", false},
    {GG_TEXT_HUB_MODEL_ARN, SM "aws:hub-content/SageMakerPublicHub/Model/letters", true},
    {GG_TEXT_HUB_MODEL_ARN, SM "123456789012:hub-content/my-hub/Model/x.y-z/1.0.12", true},
    {GG_TEXT_HUB_MODEL_ARN, SM "aws:hub-content/Hub/Model/letters/1.0", false},
    {GG_TEXT_HUB_MODEL_ARN, SM "aws:hub-content/Hub/Notebook/letters", false},
    {GG_TEXT_HUB_MODEL_ARN, SM "12345678901:hub-content/Hub/Model/letters", false},
    {GG_TEXT_ROLE_ARN, "arn:aws:iam::123456789012:role/service-role/A_b+c=,.@d", true},
    {GG_TEXT_ROLE_ARN, "arn:aws-cn:iam::123456789012:role/x", true},
    {GG_TEXT_ROLE_ARN, "arn:aws:iam::123456789012:user/x", false},
    {GG_TEXT_ROLE_ARN, "arn:aws:iam::123456789012:role/a b", false},
    {GG_TEXT_GROUP_ARN, SM "123456789012:model-package-group/demo", true},
    {GG_TEXT_GROUP_ARN, SM "123456789012:model-package-group/demo/1", false},
    {GG_TEXT_PACKAGE_ARN, SM "123456789012:model-package/demo/1", true},
    {GG_TEXT_PACKAGE_ARN, SM "123456789012:model-package/demo/01", false},
    {GG_TEXT_PACKAGE_ARN, SM "123456789012:model-package/demo/1234567890", false},
    {GG_TEXT_PACKAGE_ARN, SM "123456789012:model-package/demo", false},
    {GG_TEXT_PACKAGE_ARN, "arn:aws:s3:us-west-2:123456789012:model-package/demo/1", false},
    {GG_TEXT_S3_URI, "s3://demo-bucket", true},
    {GG_TEXT_S3_URI, "s3://demo.bucket/a b/\xc3\xa9", true},
    {GG_TEXT_S3_URI, "s3://ab", false},
    {GG_TEXT_S3_URI, "s3://Demo/x", false},
    {GG_TEXT_S3_URI, "s3://demo-/x", false},
    {GG_TEXT_S3_URI, "s3:/demo/x", false},
    {GG_TEXT_S3_URI, "s3://demo/a\nb", false},
};

static void examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (gg_text_is(rows[i].text, rows[i].kind) != rows[i].good)
            fail_msg("row %zu: %s", i, rows[i].text);
}

/* Good texts with a few characters changed, put in or left out: ours (PCRE2) and the C library's
 * regular expressions agree on the same patterns. */
static void patterns_mean_the_same_elsewhere(void **state)
{
    (void)state;
    static const char odd[] = "-_./:@ aZ09s3\n\x7f";
    const uint64_t seed = 11;
    gg_rng rng;
    regex_t patterns[KINDS];
    size_t good = 0;
    printf("seed %llu\n", (unsigned long long)seed);
    gg_rng_seed(&rng, seed);
    for (int k = 0; k < KINDS; k++) {
        char whole[512];
        snprintf(whole, sizeof whole, "^(%s)$", gg_text_pattern((gg_text_kind)k));
        assert_int_equal(regcomp(&patterns[k], whole, REG_EXTENDED | REG_NOSUB), 0);
    }
    for (int round = 0; round < 60000; round++) {
        const char *from = rows[gg_rng_below(&rng, sizeof rows / sizeof *rows)].text;
        char text[TEXT];
        if (!from || strlen(from) > 60)
            continue;
        snprintf(text, sizeof text, "%s", from);
        for (uint64_t n = gg_rng_below(&rng, 3); n > 0 && *text; n--) {
            size_t len = strlen(text), at = gg_rng_below(&rng, len);
            char c = odd[gg_rng_below(&rng, sizeof odd - 1)];
            switch (gg_rng_below(&rng, 3)) {
            case 0:
                text[at] = c;
                break;
            case 1:
                memmove(text + at + 1, text + at, len - at + 1);
                text[at] = c;
                break;
            default:
                memmove(text + at, text + at + 1, len - at);
            }
        }
        for (int k = 0; k < KINDS; k++) {
            size_t len = strlen(text);
            /* Lengths are no part of the patterns. */
            if (len == 0 || (k == GG_TEXT_ROLE_ARN && len < 20) ||
                (k == GG_TEXT_S3_URI && len < 8) || (k == GG_TEXT_NAME_PART && len > 63))
                continue;
            bool want = regexec(&patterns[k], text, 0, NULL, 0) == 0;
            good += want;
            if (gg_text_is(text, (gg_text_kind)k) != want)
                fail_msg("kind %d, \"%s\": want %d", k, text, want);
        }
    }
    assert_true(good > 1000);
    for (int k = 0; k < KINDS; k++)
        regfree(&patterns[k]);
}

static void parts(void **state)
{
    (void)state;
    char a[GG_NAME_MAX + 1], b[32];
    int64_t version;
    assert_true(gg_arn_region(SM "aws:hub-content/H/Model/m", b, sizeof b));
    assert_string_equal(b, "us-west-2");
    assert_true(gg_hub_model(SM "aws:hub-content/H/Model/m.x/1.2.3", a, sizeof a, b, sizeof b));
    assert_string_equal(a, "m.x");
    assert_string_equal(b, "1.2.3");
    assert_true(gg_hub_model(SM "aws:hub-content/H/Model/m", a, sizeof a, b, sizeof b));
    assert_string_equal(b, "");
    assert_true(gg_group_of_arn(SM "123456789012:model-package-group/demo", a, sizeof a));
    assert_string_equal(a, "demo");
    assert_true(gg_package_parts(SM "123456789012:model-package/demo/12", a, sizeof a, &version));
    assert_string_equal(a, "demo");
    assert_int_equal(version, 12);
    assert_false(gg_group_of_arn(SM "123456789012:model-package-group/" X63 "4", a, sizeof a));
}

static void s3_addresses_stay_below_the_root(void **state)
{
    (void)state;
    static const struct {
        const char *uri, *path; /* path NULL = refused */
    } table[] = {
        {"s3://bucket/key/file", "/root/bucket/key/file"},
        {"s3://bucket", "/root/bucket"},
        {"s3://bucket/a/..b/...", "/root/bucket/a/..b/..."},
        {"s3://bucket/../x", NULL},
        {"s3://bucket/a/..", NULL},
        {"s3://bucket/./x", NULL},
        {"s3://../x", NULL},
        {"s3://...", NULL},
        {"/etc/passwd", NULL},
        {"s3://bucket//../x", NULL},
        {NULL, NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        gg_buf path;
        gg_error error;
        gg_buf_init(&path, 4096);
        gg_status status = gg_s3_local("/root", table[i].uri, &path, &error);
        assert_int_equal(status, table[i].path ? GG_OK : GG_E_ARGUMENT);
        if (table[i].path)
            assert_string_equal(path.data, table[i].path);
        gg_buf_free(&path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples),
        cmocka_unit_test(patterns_mean_the_same_elsewhere),
        cmocka_unit_test(parts),
        cmocka_unit_test(s3_addresses_stay_below_the_root),
    };
    return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
