/* guessgym words split: disjoint datasets, drawn from the answers without replacement. */
#include <stdio.h>

#include "cli/game.h"
#include "cli/term.h"
#include "core/file.h"

#define PATH_MAX_TEXT 4096

static gg_status write_split(const char *dir, const gg_split *s, gg_error *error)
{
    char path[PATH_MAX_TEXT];

    snprintf(path, sizeof path, "%s/%s.jsonl", dir, s->name);
    return gg_file_write(path, gg_buf_cstr(&s->rows), s->rows.len, error);
}

static gg_status write_splits(const char *dir, const gg_split *splits, size_t n, gg_error *error)
{
    gg_status status = gg_dir_make(dir, error);

    for (size_t i = 0; i < n && status == GG_OK; i++)
        status = write_split(dir, &splits[i], error);
    return status;
}

static void print_splits(const gg_split *splits, size_t n, bool json)
{
    for (size_t i = 0; i < n && json; i++)
        printf("%s\"%s\":{\"file\":\"%s.jsonl\",\"count\":%zu,\"identity\":\"%s\"}", i ? "," : "{",
               splits[i].name, splits[i].name, splits[i].count, splits[i].identity);
    if (json)
        puts("}");
    for (size_t i = 0; i < n && !json; i++)
        printf("%-5s  %5zu words  identity %s\n", splits[i].name, splits[i].count,
               splits[i].identity);
}

gg_exit gg_cmd_words_split(gg_cli *cli)
{
    gg_split splits[] = {
        {.name = "train", .count = (size_t)gg_opt_int(cli->opts, GG_OPT_TRAIN_ROWS)},
        {.name = "val", .count = (size_t)gg_opt_int(cli->opts, GG_OPT_VAL_ROWS)},
        {.name = "test", .count = (size_t)gg_opt_int(cli->opts, GG_OPT_TEST_ROWS)}};
    size_t n = sizeof splits / sizeof *splits;
    gg_error error = {0};
    gg_words *words = NULL;

    gg_status status = gg_cli_words(cli, &words, &error);
    if (status == GG_OK)
        status =
            gg_words_split(words, (uint64_t)gg_opt_int(cli->opts, GG_OPT_SEED), splits, n, &error);
    if (status == GG_OK)
        status = write_splits(gg_opt_text(cli->opts, GG_OPT_SPLIT_OUTPUT), splits, n, &error);
    gg_words_free(words);
    if (status == GG_OK)
        print_splits(splits, n, gg_opt_flag(cli->opts, GG_OPT_JSON));
    gg_splits_free(splits, n);
    return status == GG_OK ? GG_EXIT_OK : gg_give_up(GG_STARTING, &error);
}
