/* The one-shot SHA256() of OpenSSL 3 fetches and allocates at every call and may fail; the older
 * three-step form does neither, which is what a digest that cannot fail needs. */
#define OPENSSL_API_COMPAT 0x10100000L

#include "core/digest.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

void gg_sha256(const void *bytes, size_t len, uint8_t out[32])
{
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, bytes, len);
    SHA256_Final(out, &context);
}

static void to_hex(const uint8_t digest[32], char out[GG_DIGEST_HEX])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < 32; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[64] = '\0';
}

void gg_sha256_hex(const void *bytes, size_t len, char out[GG_DIGEST_HEX])
{
    uint8_t digest[32];
    gg_sha256(bytes, len, digest);
    to_hex(digest, out);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void gg_list_identity(const char **keys, size_t count, char out[GG_DIGEST_HEX])
{
    uint8_t digest[32];
    SHA256_CTX context;
    SHA256_Init(&context);
    if (count)
        qsort(keys, count, sizeof *keys, by_bytes);
    for (size_t i = 0; i < count; i++) {
        SHA256_Update(&context, keys[i], strlen(keys[i]));
        SHA256_Update(&context, "\n", 1);
    }
    SHA256_Final(digest, &context);
    to_hex(digest, out);
}
