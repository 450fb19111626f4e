/* guessgym words split: disjoint datasets, drawn from the answers without replacement. */
#include <stdlib.h>
#include <string.h>

#include "cli/game.h"
#include "cli/term.h"
#include "core/digest.h"
#include "core/file.h"
#include "core/rng.h"

#define SPLIT_MAX     (1u << 28) /* bytes of one file */
#define PROMPT_MAX    512
#define PATH_MAX_TEXT 4096

typedef struct split {
    const char *name;
    gg_opt_id option;
    size_t count;
    char identity[GG_DIGEST_HEX];
} split;

/* One dataset row: a `prompt` column that holds a JSON string. */
static void write_row(gg_buf *out, const char *split_name, size_t number, const char *word)
{
    char prompt[PROMPT_MAX];
    int len = snprintf(prompt, sizeof prompt,
                       "{\"prompt\":\"Guess the %zu-letter word\",\"answer\":\"%s\","
                       "\"id\":\"guess_%s_%04zu\"}",
                       strlen(word), word, split_name, number);

    gg_buf_str(out, "{\"prompt\":");
    gg_buf_json(out, prompt, (size_t)len);
    gg_buf_str(out, "}\n");
}

/* The identity of a list of words: SHA-256 of the sorted SHA-256s of its words. */
static gg_status identify(const gg_words *words, const uint32_t *picks, split *s, gg_error *error)
{
    char(*keys)[GG_DIGEST_HEX] = calloc(s->count + 1, sizeof *keys);
    const char **list = calloc(s->count + 1, sizeof *list);

    for (size_t i = 0; keys && list && i < s->count; i++) {
        const char *word = gg_words_answer(words, picks[i]);
        gg_sha256_hex(word, strlen(word), keys[i]);
        list[i] = keys[i];
    }
    if (keys && list)
        gg_list_identity(list, s->count, s->identity);
    free(list);
    free(keys);
    return keys && list ? GG_OK : gg_fail(error, GG_E_MEMORY, "out of memory for the split");
}

static gg_status write_split(const gg_words *words, const uint32_t *picks, const char *dir,
                             split *s, gg_error *error)
{
    char path[PATH_MAX_TEXT];
    gg_buf rows;

    gg_buf_init(&rows, SPLIT_MAX);
    for (size_t i = 0; i < s->count; i++)
        write_row(&rows, s->name, i, gg_words_answer(words, picks[i]));
    snprintf(path, sizeof path, "%s/%s.jsonl", dir, s->name);
    gg_status status = gg_buf_status(&rows, path, error);
    if (status == GG_OK)
        status = gg_file_write(path, gg_buf_cstr(&rows), rows.len, error);
    if (status == GG_OK)
        status = identify(words, picks, s, error);
    gg_buf_free(&rows);
    return status;
}

/* Answers in an order that the seed alone decides. */
static uint32_t *draw(const gg_words *words, uint64_t seed)
{
    size_t count = gg_words_answer_count(words);
    uint32_t *order = calloc(count, sizeof *order);
    gg_rng rng;

    for (size_t i = 0; order && i < count; i++)
        order[i] = (uint32_t)i;
    gg_rng_seed(&rng, gg_derive_seed(seed, "split", 0));
    if (order)
        gg_rng_shuffle(&rng, order, count);
    return order;
}

static gg_status split_words(const gg_words *words, const gg_cli *cli, split *splits, size_t n,
                             gg_error *error)
{
    const char *dir = gg_opt_text(cli->opts, GG_OPT_SPLIT_OUTPUT);
    size_t have = gg_words_answer_count(words), wanted = 0, from = 0;

    for (size_t i = 0; i < n; i++)
        wanted += splits[i].count = (size_t)gg_opt_int(cli->opts, splits[i].option);
    if (wanted > have || wanted == 0)
        return gg_fail(error, GG_E_CONFIG,
                       "--train, --val and --test ask for %zu words in all; the list has %zu",
                       wanted, have);
    uint32_t *order = draw(words, (uint64_t)gg_opt_int(cli->opts, GG_OPT_SEED));
    gg_status status =
        order ? gg_dir_make(dir, error) : gg_fail(error, GG_E_MEMORY, "out of memory");
    for (size_t i = 0; i < n && status == GG_OK; i++) {
        status = write_split(words, order + from, dir, &splits[i], error);
        from += splits[i].count;
    }
    free(order);
    return status;
}

static void print_splits(const split *splits, size_t n, bool json)
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
    split splits[] = {{.name = "train", .option = GG_OPT_TRAIN_ROWS},
                      {.name = "val", .option = GG_OPT_VAL_ROWS},
                      {.name = "test", .option = GG_OPT_TEST_ROWS}};
    size_t n = sizeof splits / sizeof *splits;
    gg_error error = {0};
    gg_words *words = NULL;

    gg_status status = gg_cli_words(cli, &words, &error);
    if (status == GG_OK)
        status = split_words(words, cli, splits, n, &error);
    gg_words_free(words);
    if (status != GG_OK)
        return gg_give_up(GG_STARTING, &error);
    print_splits(splits, n, gg_opt_flag(cli->opts, GG_OPT_JSON));
    return GG_EXIT_OK;
}
