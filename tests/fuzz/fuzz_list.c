/* A file of the user's: as a list of what can be hidden, as one of what can be played, and as a
 * dataset. A list that is taken holds what its rules say. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "agent/tasks.h"
#include "env/guess/guess.h"

static void check_lists(const char *path)
{
    gg_words *words;
    gg_error error = {0};
    if (gg_words_load(path, path, 5, &words, &error) != GG_OK) {
        must(error.text[0]);
        return;
    }
    must(gg_words_answer_count(words) > 0);
    for (size_t i = 0; i < gg_words_answer_count(words); i++) {
        const char *word = gg_words_answer(words, i);
        must(strspn(word, "abcdefghijklmnopqrstuvwxyz") == 5 && !word[5]);
        must(gg_words_find_answer(words, word) == (int)i);
        must(gg_words_find_allowed(words, word) >= 0);
    }
    gg_words_free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static gg_game *game;
    gg_tasks tasks;
    gg_error error = {0};
    const char *path = fuzz_file(data, size);
    if (!game)
        must(gg_game_open("guess", NULL, &game, &error) == GG_OK);
    check_lists(path);
    if (gg_tasks_load(game, path, &tasks, &error) == GG_OK) {
        must(tasks.count > 0 && strlen(tasks.identity) == 64);
        for (size_t i = 0; i < tasks.count; i++)
            must(tasks.items[i].prompt && strlen(tasks.items[i].key) == 64);
        gg_tasks_free(&tasks);
    } else {
        must(error.text[0]);
    }
    return 0;
}
