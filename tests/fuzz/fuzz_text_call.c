/* A reply's text, in which a call may be found. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gg_reply reply;
    const char *rest;
    size_t rest_len;
    char *text = fuzz_text(data, size);
    gg_reply_init(&reply);
    reply.reasoning = "";
    reply.content = text;
    reply.content_len = strlen(text);
    gg_skip_thoughts(text, reply.content_len, &rest, &rest_len);
    must(rest >= text && rest + rest_len <= text + reply.content_len);
    fuzz_calls(&reply);
    gg_reply_free(&reply);
    free(text);
    return 0;
}
