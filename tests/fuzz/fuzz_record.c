/* A journal's lines: an episode, and its tokens on the next line. What is read can be written, and
 * is then the same bytes for ever. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#define LINE_MAX_BYTES (64u << 20)

static void check_tokens(gg_episode *episode, const char *line, size_t len)
{
    gg_buf first, second;
    gg_error error;
    if (gg_episode_read_tokens(episode, line, len, &error) != GG_OK)
        return;
    gg_buf_init(&first, LINE_MAX_BYTES);
    gg_buf_init(&second, LINE_MAX_BYTES);
    must(gg_episode_write_tokens(episode, &first, &error) == GG_OK);
    if (first.len) {
        must(gg_episode_read_tokens(episode, first.data, first.len, &error) == GG_OK);
        must(gg_episode_write_tokens(episode, &second, &error) == GG_OK);
        must(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    }
    gg_buf_free(&first);
    gg_buf_free(&second);
}

static void check_again(const gg_episode *episode)
{
    gg_episode *again;
    gg_buf first, second;
    gg_error error;
    gg_buf_init(&first, LINE_MAX_BYTES);
    gg_buf_init(&second, LINE_MAX_BYTES);
    must(gg_episode_write(episode, &first, &error) == GG_OK);
    must(first.len && memchr(first.data, '\n', first.len) == first.data + first.len - 1);
    must(gg_episode_read(first.data, first.len, GG_READ_ALL, &again, &error) == GG_OK);
    must(gg_episode_write(again, &second, &error) == GG_OK);
    must(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    gg_episode_free(again);
    gg_buf_free(&first);
    gg_buf_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gg_episode *episode, *play;
    gg_error error;
    char *text = fuzz_text(data, size);
    char *newline = size ? memchr(text, '\n', size) : NULL;
    size_t len = newline ? (size_t)(newline - text) : size;
    if (gg_episode_read(text, len, GG_READ_PLAY, &play, &error) == GG_OK)
        gg_episode_free(play);
    if (gg_episode_read(text, len, GG_READ_ALL, &episode, &error) == GG_OK) {
        check_again(episode);
        if (newline)
            check_tokens(episode, newline + 1, size - len - 1);
        gg_episode_free(episode);
    } else {
        must(!episode && error.text[0]);
    }
    free(text);
    return 0;
}
