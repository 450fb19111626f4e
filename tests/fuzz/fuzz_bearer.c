/* What stands in an Authorization header: a bearer token, or a signature. No input is signed by a
 * secret that it cannot know. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "net/bearer.h"

#define NOON 1791633600

static const char *header(void *context, const char *name)
{
    (void)context;
    return strcmp(name, "host") == 0 ? "h" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    gg_sigv4_claim claim;
    gg_buf query;
    const gg_sigv4_received received = {
        .method = "POST", .path = text, .query = text, .header = header, .payload_hash = text};
    gg_buf_init(&query, GG_BEARER_MAX);
    if (gg_bearer_open(text, &query, &claim, NULL) == GG_OK)
        must(gg_bearer_check(query.data, &claim, "secret", NOON) != GG_SIGV4_GOOD);
    if (gg_sigv4_claim_header(text, "20261010T120000Z", &claim, NULL) == GG_OK) {
        must(claim.time_s == NOON && strlen(claim.signature) == 64);
        must(gg_sigv4_check(&received, &claim, "secret", NOON) != GG_SIGV4_GOOD);
    }
    if (gg_sigv4_claim_query(text, &claim, NULL) == GG_OK)
        must(gg_sigv4_check(&received, &claim, "secret", NOON) != GG_SIGV4_GOOD);
    gg_buf_free(&query);
    free(text);
    return 0;
}
