/* SHA-256 against FIPS 180-4's examples, and the identity of a list. */
#include "core/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void vectors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hex;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char hex[GG_DIGEST_HEX];
        uint8_t raw[32];
        gg_sha256_hex(rows[i].text, strlen(rows[i].text), hex);
        assert_string_equal(hex, rows[i].hex);
        gg_sha256(rows[i].text, strlen(rows[i].text), raw);
        char first[3] = {hex[0], hex[1], '\0'};
        assert_int_equal(raw[0], strtol(first, NULL, 16));
    }
}

static void identity(void **state)
{
    (void)state;
    const char *keys[] = {"zebra", "abacus"};
    char hex[GG_DIGEST_HEX];
    gg_list_identity(keys, 2, hex); /* printf 'abacus\nzebra\n' | sha256sum */
    assert_string_equal(hex, "4d33723298cd757a868352651efb3fab6ec68dbc64257a92bb59df3239a974cf");
    assert_string_equal(keys[0], "abacus");
    gg_list_identity(keys, 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(vectors), cmocka_unit_test(identity)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
