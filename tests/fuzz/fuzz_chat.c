/* A chat reply's body. The same input is read twice, into a fresh and into a used struct. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static gg_reply used;
    static bool begun;
    gg_reply fresh;
    gg_buf message;
    char *text = fuzz_text(data, size);
    const gg_http_reply http = {.status = 200, .body = text, .len = size, .content_type = ""};
    if (!begun)
        gg_reply_init(&used);
    begun = true;
    gg_reply_init(&fresh);
    gg_buf_init(&message, 1u << 20);
    gg_retry_class class = gg_reply_judge(&fresh, &http, &message);
    must(gg_reply_judge(&used, &http, &message) == class);
    must(fresh.call_count == used.call_count && fresh.id_count == used.id_count);
    must(fresh.call_count <= GG_CALLS_MAX);
    must(class == GG_RETRY_OK || message.len > 0 || message.status != GG_OK);
    must(fresh.usage.prompt >= GG_TOKENS_UNKNOWN && fresh.usage.completion >= GG_TOKENS_UNKNOWN);
    for (size_t i = 0; i < fresh.id_count; i++)
        must(fresh.ids[i] == used.ids[i]);
    if (class == GG_RETRY_OK)
        fuzz_calls(&fresh);
    gg_reply_free(&fresh);
    gg_buf_free(&message);
    free(text);
    return 0;
}
