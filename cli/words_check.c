/* guessgym words check: are these lists and datasets sound, which are they, and do they overlap? */
#include <stdlib.h>
#include <string.h>

#include "cli/game.h"
#include "cli/term.h"

#define GAME       "guess"
#define LINE_MAX_B (1u << 20)

typedef struct checked {
    gg_words *words;
    gg_tasks *files;
    size_t count;
    size_t shared; /* tasks that two files have in common */
} checked;

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Number of keys in both. */
static gg_status overlap(const gg_tasks *a, const gg_tasks *b, size_t *shared, gg_error *error)
{
    const char **keys = calloc(a->count + b->count + 1, sizeof(char *));
    size_t count = 0;

    if (!keys)
        return gg_fail(error, GG_E_MEMORY, "out of memory for %zu keys", a->count + b->count);
    for (size_t i = 0; i < a->count; i++)
        keys[count++] = a->items[i].key;
    for (size_t i = 0; i < b->count; i++)
        keys[count++] = b->items[i].key;
    qsort(keys, count, sizeof(char *), by_text);
    *shared = 0;
    for (size_t i = 1; i < count; i++) /* no file has a key twice */
        *shared += strcmp(keys[i], keys[i - 1]) == 0;
    free(keys);
    return GG_OK;
}

static gg_status load_files(const gg_cli *cli, const gg_game *game, checked *c, gg_error *error)
{
    static const char *const splits[] = {"train", "val", "test"};
    size_t wanted = cli->arg_count ? cli->arg_count : sizeof splits / sizeof *splits;
    gg_status status = GG_OK;

    c->files = calloc(wanted, sizeof *c->files);
    if (!c->files)
        return gg_fail(error, GG_E_MEMORY, "out of memory for %zu files", wanted);
    for (size_t i = 0; i < wanted && status == GG_OK; i++) {
        const char *path =
            cli->arg_count ? cli->args[i] : game->api->default_tasks(game->env, splits[i]);
        if (path)
            status = gg_tasks_load(game, path, &c->files[c->count], error);
        c->count += path && status == GG_OK;
    }
    return status;
}

static void print_text(const checked *c)
{
    printf("%7zu words of %d letters can be hidden, %zu can be guessed\n",
           gg_words_answer_count(c->words), gg_words_length(c->words),
           gg_words_allowed_count(c->words));
    printf("        digest   %s\n", gg_words_digest(c->words));
    for (size_t i = 0; i < c->count; i++)
        printf("%7zu tasks in %s\n        identity %s\n", c->files[i].count, c->files[i].path,
               c->files[i].identity);
}

static void print_json(const checked *c)
{
    gg_buf line;

    gg_buf_init(&line, LINE_MAX_B);
    gg_buf_printf(&line,
                  "{\"length\":%d,\"answers\":%zu,\"allowed\":%zu,\"digest\":\"%s\",\"files\":[",
                  gg_words_length(c->words), gg_words_answer_count(c->words),
                  gg_words_allowed_count(c->words), gg_words_digest(c->words));
    for (size_t i = 0; i < c->count; i++) {
        gg_buf_str(&line, i ? ",{\"file\":" : "{\"file\":");
        gg_buf_json_str(&line, c->files[i].path);
        gg_buf_printf(&line, ",\"count\":%zu,\"identity\":\"%s\"}", c->files[i].count,
                      c->files[i].identity);
    }
    gg_buf_printf(&line, "],\"shared\":%zu}\n", c->shared);
    gg_print(&line);
    gg_buf_free(&line);
}

/* Every pair of files; names those that overlap. */
static gg_status compare_files(checked *c, gg_error *error)
{
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = i + 1; k < c->count; k++) {
            size_t shared = 0;
            gg_status status = overlap(&c->files[i], &c->files[k], &shared, error);
            if (status != GG_OK)
                return status;
            if (shared > 0)
                gg_complain("%s and %s share %zu tasks", c->files[i].path, c->files[k].path,
                            shared);
            c->shared += shared;
        }
    return GG_OK;
}

gg_exit gg_cmd_words_check(gg_cli *cli)
{
    checked c = {0};
    gg_game *game = NULL;
    gg_error error = {0};

    gg_status status = gg_cli_words(cli, &c.words, &error);
    if (status == GG_OK)
        status = gg_cli_game(cli, GAME, &game, &error);
    if (status == GG_OK)
        status = load_files(cli, game, &c, &error);
    if (status == GG_OK)
        status = compare_files(&c, &error);
    if (status == GG_OK && gg_opt_flag(cli->opts, GG_OPT_JSON))
        print_json(&c);
    else if (status == GG_OK)
        print_text(&c);
    for (size_t i = 0; i < c.count; i++)
        gg_tasks_free(&c.files[i]);
    free(c.files);
    gg_game_close(game);
    gg_words_free(c.words);
    if (status != GG_OK)
        return gg_give_up(GG_STARTING, &error);
    return c.shared ? GG_EXIT_USAGE : GG_EXIT_OK;
}
