/* A run folder after a crash: the input is episodes.jsonl, and behind a NUL tokens.jsonl. Opening
 * it mends it; opened again, nothing is left to mend. */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/run.h"

static char folder[] = "/tmp/fuzz-journal-XXXXXX";

static void remove_folder(void)
{
    static const char *const names[] = {"run.json", "episodes.jsonl", "tokens.jsonl", ".lock"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

static void write_file(const char *name, const char *bytes, size_t len)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    must(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
    close(fd);
}

typedef struct tally {
    size_t episodes, broken;
} tally;

static gg_status count(void *context, gg_episode *episode, gg_error *error)
{
    (void)error;
    ((tally *)context)->episodes++;
    gg_episode_free(episode);
    return GG_OK;
}

static tally open_and_count(void)
{
    tally out = {0};
    gg_run *run;
    gg_error error = {0};
    gg_damage damage = {0};
    gg_status status = gg_run_open(folder, "{}", true, &run, &error);
    if (status != GG_OK) {
        must(error.text[0]);
        return (tally){(size_t)-1, 0};
    }
    must(gg_run_each_episode(run, GG_JOURNAL_EPISODES, GG_READ_PLAY, count, &out, &damage,
                             &error) == GG_OK);
    out.broken = damage.lines;
    gg_run_close(run);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char config[] =
        "{\"schema\":\"guessgym.run/1\",\"version\":\"0\",\"config\":{}}\n";
    static bool begun;
    char *text = fuzz_text(data, size);
    size_t len = strlen(text);
    if (!begun) {
        must(mkdtemp(folder));
        atexit(remove_folder);
    }
    begun = true;
    write_file("run.json", config, sizeof config - 1);
    write_file("episodes.jsonl", text, len);
    write_file("tokens.jsonl", text + len + (len < size), size - len - (len < size));
    tally first = open_and_count(), second = open_and_count();
    must(first.episodes == second.episodes && first.broken == second.broken);
    free(text);
    return 0;
}
