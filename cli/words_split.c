/* guessgym words split: disjoint datasets, drawn from the answers without replacement. */
#include "cli/game.h"
#include "cli/term.h"
#include "core/file.h"

#define PATH_ROOM 4096

static const struct {
    const char *name;
    gg_opt_id option;
} kinds[] = {{"train", GG_OPT_TRAIN_ROWS}, {"val", GG_OPT_VAL_ROWS}, {"test", GG_OPT_TEST_ROWS}};

#define KINDS (sizeof kinds / sizeof *kinds)

static gg_status write_files(const char *dir, const gg_split *splits, gg_error *error)
{
    gg_status status = gg_dir_make(dir, error);

    for (size_t i = 0; i < KINDS && status == GG_OK; i++) {
        gg_buf path;
        gg_buf_init(&path, PATH_ROOM);
        gg_buf_printf(&path, "%s/%s.jsonl", dir, splits[i].name);
        status = gg_buf_status(&path, "a path", error);
        if (status == GG_OK)
            status = gg_file_write(gg_buf_cstr(&path), gg_buf_cstr(&splits[i].rows),
                                   splits[i].rows.len, error);
        gg_buf_free(&path);
    }
    return status;
}

static void print_splits(const gg_split *splits, bool json)
{
    for (size_t i = 0; i < KINDS; i++)
        if (json)
            printf("%s\"%s\":{\"file\":\"%s.jsonl\",\"count\":%zu,\"identity\":\"%s\"}",
                   i ? "," : "{", splits[i].name, splits[i].name, splits[i].count,
                   splits[i].identity);
        else
            printf("%-5s  %6zu words  identity %s\n", splits[i].name, splits[i].count,
                   splits[i].identity);
    if (json)
        puts("}");
}

gg_exit gg_cmd_words_split(gg_cli *cli)
{
    gg_split splits[KINDS] = {0};
    gg_words *words = NULL;
    gg_error error = {0};

    for (size_t i = 0; i < KINDS; i++)
        splits[i] = (gg_split){.name = kinds[i].name,
                               .count = (size_t)gg_opt_int(cli->opts, kinds[i].option)};
    gg_status status = gg_cli_words(cli, &words, &error);
    if (status == GG_OK)
        status = gg_words_split(words, (uint64_t)gg_opt_int(cli->opts, GG_OPT_SEED), splits, KINDS,
                                &error);
    if (status == GG_OK)
        status = write_files(gg_opt_text(cli->opts, GG_OPT_SPLIT_OUTPUT), splits, &error);
    if (status == GG_OK)
        print_splits(splits, gg_opt_flag(cli->opts, GG_OPT_JSON));
    gg_splits_free(splits, KINDS);
    gg_words_free(words);
    return status == GG_OK ? GG_EXIT_OK : gg_give_up(GG_STARTING, &error);
}
