/* A chat reply's body. The same input is read twice, into a fresh and into a used struct. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "agent/tokens.h"

/* One turn's token record, as an episode would keep it. */
static void check_tokens(const gg_reply *reply)
{
    gg_error error;
    bool forked;
    gg_episode *e = gg_episode_new();
    must(e && gg_episode_add_turn(e));
    must(gg_tokens_record(e, reply, &forked, &error) == GG_OK && !forked);
    gg_tokens_settle(e, false, NULL);
    must(e->trainable == !e->untrainable_reason);
    if (e->trainable)
        must(e->tokens && e->tokens[0].logprobs && e->tokens[0].prompt_count &&
             e->tokens[0].count == reply->id_count && reply->logprob_count == reply->id_count);
    for (size_t i = 0; e->tokens && i < e->tokens[0].count; i++)
        must(e->tokens[0].ids[i] == reply->ids[i]);
    gg_episode_free(e);
}

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
    if (class == GG_RETRY_OK) {
        fuzz_calls(&fresh);
        check_tokens(&fresh);
    }
    gg_reply_free(&fresh);
    gg_buf_free(&message);
    free(text);
    return 0;
}
