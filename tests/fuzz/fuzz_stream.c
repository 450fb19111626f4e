/* A chat reply's body as a stream. The same input is read twice, into a fresh and into a used
 * struct; what is put together is always one JSON object. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "agent/chat.h"
#include "agent/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static gg_reply used;
    static bool begun;
    gg_reply fresh;
    gg_buf message, merged;
    gg_error error;
    char *text = fuzz_text(data, size);
    const gg_http_reply http = {
        .status = 200, .body = text, .len = size, .content_type = "text/event-stream"};
    if (!begun)
        gg_reply_init(&used);
    begun = true;
    gg_reply_init(&fresh);
    gg_buf_init(&message, 1u << 20);
    gg_buf_init(&merged, 1u << 26);
    gg_status status = gg_stream_merge(text, size, &merged, &error);
    must(status == GG_OK || status == GG_E_FORMAT || status == GG_E_LIMIT);
    if (status == GG_OK)
        must(gg_reply_read(&fresh, gg_buf_cstr(&merged), merged.len, &error) == GG_OK);
    gg_retry_class class = gg_reply_judge(&fresh, &http, &message);
    must(gg_reply_judge(&used, &http, &message) == class);
    must(fresh.call_count == used.call_count && fresh.id_count == used.id_count);
    must(fresh.call_count <= GG_CALLS_MAX);
    must(class == GG_RETRY_OK || message.len > 0 || message.status != GG_OK);
    if (class == GG_RETRY_OK)
        fuzz_calls(&fresh);
    gg_reply_free(&fresh);
    gg_buf_free(&message);
    gg_buf_free(&merged);
    free(text);
    return 0;
}
