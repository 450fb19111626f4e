#include "env/search/index.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "env/search/about.h"
#include "env/search/embed.h"

#define PATH_ROOM    4096
#define WORDS_MAX    64    /* different words of a question that are searched for */
#define WORD_ROOM    64    /* bytes of a word */
#define MATCH_ROOM   16384 /* bytes of the query in FTS5's language */
#define COMMON_SHARE 4     /* a word in more than 1/4 of the documents tells nothing */
#define CACHE_SLOTS  4096
#define CACHE_QUERY  4096 /* longer questions are not kept */

/* One kept answer. */
typedef struct kept {
    char *query;
    size_t len, k, count;
    gg_search_kind kind;
    gg_hit *hits;
} kept;

struct gg_index {
    gg_about about;
    gg_docstore *store;
    gg_features *features;
    gg_vectors vectors;
    pthread_mutex_t lock; /* of the kept answers */
    kept slots[CACHE_SLOTS];
};

static gg_status add_path(const char *dir, const char *name, gg_buf *out, gg_error *error)
{
    gg_buf_reset(out);
    gg_buf_printf(out, "%s/%s", dir, name);
    return gg_buf_status(out, "an index's path", error);
}

/* Opening. */

static gg_status read_about(const char *path, gg_about *out, gg_error *error)
{
    gg_status status = gg_about_read(path, out, error);
    if (status == GG_OK && !out->finished)
        status = gg_fail(error, GG_E_CONFIG,
                         "%s says that the index is not finished; give the same guessgym index "
                         "command again to go on with it",
                         path);
    return status;
}

static gg_status open_parts(gg_index *index, const char *dir, gg_error *error)
{
    gg_buf path;
    gg_buf_init(&path, PATH_ROOM);
    gg_status status = add_path(dir, "index.json", &path, error);
    if (status == GG_OK)
        status = read_about(gg_buf_cstr(&path), &index->about, error);
    if (status == GG_OK)
        status = add_path(dir, "documents.db", &path, error);
    if (status == GG_OK)
        status = gg_docstore_open(gg_buf_cstr(&path), &index->store, error);
    if (status == GG_OK)
        status = add_path(dir, "features.bin", &path, error);
    if (status == GG_OK)
        status = gg_features_read(gg_buf_cstr(&path), &index->features, error);
    if (status == GG_OK)
        status = add_path(dir, "vectors.bin", &path, error);
    if (status == GG_OK)
        status = gg_vectors_open(gg_buf_cstr(&path), index->about.documents,
                                 gg_about_row(&index->about), &index->vectors, error);
    gg_buf_free(&path);
    return status;
}

gg_status gg_index_open(const char *dir, gg_index **out, gg_error *error)
{
    *out = NULL;
    gg_index *index = calloc(1, sizeof *index);
    if (!index)
        return gg_fail(error, GG_E_MEMORY, "out of memory for the index %s", dir);
    pthread_mutex_init(&index->lock, NULL);
    gg_status status = open_parts(index, dir, error);
    if (status == GG_OK)
        *out = index;
    else
        gg_index_close(index);
    return status;
}

void gg_index_close(gg_index *index)
{
    if (!index)
        return;
    for (size_t i = 0; i < CACHE_SLOTS; i++) {
        free(index->slots[i].query);
        free(index->slots[i].hits);
    }
    gg_vectors_close(&index->vectors);
    gg_features_free(index->features);
    gg_docstore_close(index->store);
    pthread_mutex_destroy(&index->lock);
    free(index);
}

size_t gg_index_documents(const gg_index *index)
{
    return index->about.documents;
}

size_t gg_index_having(const gg_index *index, const char *word, size_t len)
{
    return gg_features_having(index->features, word, len);
}

/* Kept answers. */

static kept *slot_of(gg_index *index, gg_search_kind kind, const char *query, size_t len, size_t k)
{
    uint64_t h = 14695981039346656037u ^ (uint64_t)kind ^ (uint64_t)k << 8;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)query[i]) * 1099511628211u;
    return &index->slots[(h >> 32 ^ h) % CACHE_SLOTS];
}

static bool recall(gg_index *index, const kept *asked, gg_hit *out, size_t *count)
{
    pthread_mutex_lock(&index->lock);
    const kept *slot = slot_of(index, asked->kind, asked->query, asked->len, asked->k);
    bool same = slot->query && slot->kind == asked->kind && slot->k == asked->k &&
                slot->len == asked->len && memcmp(slot->query, asked->query, asked->len) == 0;
    if (same) {
        *count = slot->count;
        memcpy(out, slot->hits, slot->count * sizeof *out);
    }
    pthread_mutex_unlock(&index->lock);
    return same;
}

/* Keeping is for speed alone: without memory it is left out. */
static void keep(gg_index *index, const kept *asked, const gg_hit *hits, size_t count)
{
    char *query = malloc(asked->len + 1);
    gg_hit *copy = malloc((count + 1) * sizeof *copy);
    if (!query || !copy || asked->len > CACHE_QUERY) {
        free(query);
        free(copy);
        return;
    }
    memcpy(query, asked->query, asked->len);
    memcpy(copy, hits, count * sizeof *copy);
    pthread_mutex_lock(&index->lock);
    kept *slot = slot_of(index, asked->kind, asked->query, asked->len, asked->k);
    free(slot->query);
    free(slot->hits);
    *slot = *asked;
    slot->query = query;
    slot->hits = copy;
    slot->count = count;
    pthread_mutex_unlock(&index->lock);
}

/* Searching. */

typedef struct word_list {
    char word[WORDS_MAX][WORD_ROOM];
    size_t len[WORDS_MAX], count;
} word_list;

static void add_word(word_list *list, const char *word, size_t len)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->len[i] == len && memcmp(list->word[i], word, len) == 0)
            return;
    if (list->count == WORDS_MAX)
        return;
    memcpy(list->word[list->count], word, len);
    list->len[list->count++] = len;
}

/* The question in FTS5's language: "one" OR "two". Words hold no quotes, so nothing of it can be
 * taken for an operator. */
static void write_match(const gg_index *index, const char *query, size_t len, gg_buf *out)
{
    char word[WORD_ROOM];
    size_t at = 0, start, n, limit = index->about.documents / COMMON_SHARE;
    word_list all = {.count = 0};
    bool rare = false;
    while ((n = gg_next_word(query, len, &at, &start, word, WORD_ROOM)) > 0)
        add_word(&all, word, n);
    for (size_t i = 0; i < all.count; i++)
        rare = rare || gg_features_having(index->features, all.word[i], all.len[i]) <= limit;
    for (size_t i = 0; i < all.count; i++) {
        if (rare && gg_features_having(index->features, all.word[i], all.len[i]) > limit)
            continue;
        gg_buf_str(out, out->len ? " OR \"" : "\"");
        gg_buf_add(out, all.word[i], all.len[i]);
        gg_buf_char(out, '"');
    }
}

static gg_status search_words(gg_index *index, const char *query, size_t len, size_t k, gg_hit *out,
                              size_t *count, gg_error *error)
{
    gg_buf match;
    gg_buf_init(&match, MATCH_ROOM);
    write_match(index, query, len, &match);
    gg_status status = gg_buf_status(&match, "a query", error);
    if (status == GG_OK && match.len)
        status = gg_docstore_match(index->store, gg_buf_cstr(&match), k, out, count, error);
    gg_buf_free(&match);
    return status;
}

static gg_status search_vectors(const gg_index *index, const char *query, size_t len, size_t k,
                                gg_hit *out, size_t *count, gg_error *error)
{
    _Static_assert(GG_REMOTE_DIMS_MAX % 16 == 0, "a row of the longest embedding fits");
    float vector[GG_REMOTE_DIMS_MAX];
    const gg_text text = {query, len};
    gg_status status = index->about.by_remote
                           ? gg_remote_embed(&index->about.remote, &text, 1, vector,
                                             gg_about_row(&index->about), NULL, error)
                           : gg_embed(index->features, query, len, "", 0, vector, error);
    if (status == GG_OK)
        *count = gg_vectors_nearest(&index->vectors, vector, k, out);
    return status;
}

gg_status gg_index_search(gg_index *index, gg_search_kind kind, const char *query, size_t len,
                          size_t k, gg_hit *out, size_t *count, gg_error *error)
{
    kept asked = {.query = (char *)(uintptr_t)query, .len = len, .k = k, .kind = kind};
    gg_status status = GG_OK;
    *count = 0;
    if (k == 0 || k > GG_INDEX_HITS_MAX)
        return gg_fail(error, GG_E_ARGUMENT, "a search has 1 to %d results", GG_INDEX_HITS_MAX);
    if (recall(index, &asked, out, count))
        return GG_OK;
    status = kind == GG_SEARCH_WORDS ? search_words(index, query, len, k, out, count, error)
                                     : search_vectors(index, query, len, k, out, count, error);
    if (status == GG_OK)
        keep(index, &asked, out, *count);
    return status;
}

gg_status gg_index_read(gg_index *index, int64_t row, gg_document *out, gg_error *error)
{
    return gg_docstore_read(index->store, row, out, error);
}

gg_status gg_index_find(gg_index *index, const char *id, size_t len, int64_t *row, gg_error *error)
{
    return gg_docstore_find(index->store, id, len, row, error);
}
