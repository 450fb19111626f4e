/* A structured call: id, name and arguments as the endpoint gave them, parted by line ends; what
 * begins with '=' are arguments that were no string. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#define CALLS 3

static char *cut_line(char **at)
{
    char *line = *at, *end = line ? strchr(line, '\n') : NULL;
    if (end)
        *end = '\0';
    *at = end ? end + 1 : NULL;
    return line && *line ? line : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gg_reply_call calls[CALLS];
    gg_reply reply;
    char *text = fuzz_text(data, size), *at = text;
    gg_reply_init(&reply);
    reply.content = reply.reasoning = "";
    do {
        gg_reply_call *call = &calls[reply.call_count++];
        *call = (gg_reply_call){.id = cut_line(&at), .name = cut_line(&at)};
        const char *arguments = reply.call_count == CALLS ? at : cut_line(&at);
        call->bare = arguments && *arguments == '=';
        call->arguments = arguments && call->bare ? arguments + 1 : arguments;
    } while (at && reply.call_count < CALLS);
    reply.calls = calls;
    fuzz_calls(&reply);
    reply.calls = NULL;
    gg_reply_free(&reply);
    free(text);
    return 0;
}
