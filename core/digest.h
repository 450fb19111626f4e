/* SHA-256 (libcrypto) as lower-case hex. */
#ifndef GG_CORE_DIGEST_H
#define GG_CORE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define GG_DIGEST_HEX 65 /* 64 digits and a NUL */

void gg_sha256(const void *bytes, size_t len, uint8_t out[32]);
void gg_sha256_hex(const void *bytes, size_t len, char out[GG_DIGEST_HEX]);
/* Identity of a list: SHA-256 of its sorted keys, one a line with '\n'. Sorts `keys` in place. */
void gg_list_identity(const char **keys, size_t count, char out[GG_DIGEST_HEX]);

#endif
