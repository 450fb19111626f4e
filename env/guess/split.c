#include "env/guess/guess.h"

#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "core/rng.h"
#include "env/guess/texts.h"

#define ROWS_MAX   (1u << 28) /* bytes of one file */
#define PROMPT_MAX 512

void gg_splits_free(gg_split *splits, size_t count)
{
    for (size_t i = 0; i < count; i++)
        gg_buf_free(&splits[i].rows);
}

/* One dataset row: a `prompt` column that holds a JSON text. */
static void add_row(gg_split *split, gg_buf *prompt, size_t number, const char *word)
{
    gg_buf_reset(prompt);
    gg_buf_printf(prompt,
                  "{\"prompt\":\"" T_OPENING_OPEN "%zu" T_OPENING_CLOSE
                  "\",\"answer\":\"%s\",\"id\":\"guess_%s_%04zu\"}",
                  strlen(word), word, split->name, number);
    gg_buf_str(&split->rows, "{\"prompt\":");
    gg_buf_json(&split->rows, gg_buf_cstr(prompt), prompt->len);
    gg_buf_str(&split->rows, "}\n");
}

static gg_status add_rows(const gg_words *words, const uint32_t *picks, gg_split *split,
                          gg_error *error)
{
    gg_buf prompt;
    gg_buf_init(&prompt, PROMPT_MAX);
    gg_buf_init(&split->rows, ROWS_MAX);
    for (size_t i = 0; i < split->count; i++)
        add_row(split, &prompt, i, gg_words_answer(words, picks[i]));
    gg_status status = gg_buf_status(&prompt, "a row's prompt", error);
    if (status == GG_OK)
        status = gg_buf_status(&split->rows, "the rows of a split", error);
    gg_buf_free(&prompt);
    return status;
}

/* The list's identity: over the keys of its words, as for any list of tasks. */
static gg_status identify(const gg_words *words, const uint32_t *picks, gg_split *split,
                          gg_error *error)
{
    char(*keys)[GG_DIGEST_HEX] = calloc(split->count + 1, sizeof *keys);
    const char **list = calloc(split->count + 1, sizeof *list);
    bool made = keys && list;
    for (size_t i = 0; made && i < split->count; i++) {
        const char *word = gg_words_answer(words, picks[i]);
        gg_sha256_hex(word, strlen(word), keys[i]);
        list[i] = keys[i];
    }
    if (made)
        gg_list_identity(list, split->count, split->identity);
    free(list);
    free(keys);
    return made ? GG_OK : gg_fail(error, GG_E_MEMORY, "out of memory while drawing a split");
}

/* Indexes of all answers in an order that the seed alone decides. */
static uint32_t *draw(size_t count, uint64_t seed)
{
    uint32_t *order = malloc(count * sizeof *order);
    gg_rng rng;
    if (!order)
        return NULL;
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    gg_rng_seed(&rng, gg_derive_seed(seed, "split", 0));
    gg_rng_shuffle(&rng, order, count);
    return order;
}

static gg_status check_sizes(size_t have, const gg_split *splits, size_t count, gg_error *error)
{
    size_t left = have;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (splits[i].count > left)
            return gg_fail(error, GG_E_CONFIG,
                           "the splits ask for more words than the list of answers has (%zu); "
                           "\"%s\" with %zu does not fit any more",
                           have, splits[i].name, splits[i].count);
        left -= splits[i].count;
        any = any || splits[i].count;
    }
    return any ? GG_OK : gg_fail(error, GG_E_CONFIG, "the splits ask for no words at all");
}

gg_status gg_words_split(const gg_words *words, uint64_t seed, gg_split *splits, size_t count,
                         gg_error *error)
{
    size_t have = gg_words_answer_count(words), from = 0;
    gg_status status = check_sizes(have, splits, count, error);
    if (status != GG_OK)
        return status;
    uint32_t *order = draw(have, seed);
    if (!order)
        return gg_fail(error, GG_E_MEMORY, "out of memory while drawing a split");
    for (size_t i = 0; i < count && status == GG_OK; i++) {
        status = add_rows(words, order + from, &splits[i], error);
        if (status == GG_OK)
            status = identify(words, order + from, &splits[i], error);
        from += splits[i].count;
    }
    free(order);
    if (status != GG_OK)
        gg_splits_free(splits, count);
    return status;
}
