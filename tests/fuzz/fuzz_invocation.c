/* The body of POST /invocations. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "agent/invocation.h"

/* What goes into a header line holds no line break. */
static bool is_line(const char *text, size_t most)
{
    return text && *text && strlen(text) <= most && !strpbrk(text, "\r\n ");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gg_invocation in;
    gg_error error = {0};
    char *text = fuzz_text(data, size);
    gg_status status = gg_invocation_read(text, size, &in, &error);
    if (status == GG_OK) {
        must(in.prompt && *in.prompt);
        must(is_line(in.job_arn, GG_INVOCATION_NAME_MAX));
        must(is_line(in.rollout_id, GG_INVOCATION_NAME_MAX));
        must(!in.region || gg_region_valid(in.region));
        must(!in.endpoint || is_line(in.endpoint, size));
        must(!(in.temperature < 0) && !(in.top_p <= 0) && !(in.top_p > 1) && in.max_tokens != 0);
    } else {
        must(status == GG_E_FORMAT && *error.text);
    }
    gg_invocation_free(&in);
    free(text);
    return 0;
}
