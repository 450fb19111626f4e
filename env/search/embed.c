#include "env/search/embed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"

#define WORD_ROOM 64 /* bytes of a word that count */
#define MAGIC     "ggfeat1"

struct gg_features {
    uint32_t documents;
    uint32_t having[GG_EMBED_SLOTS];
};

typedef struct file_head {
    char magic[8];
    uint32_t documents, slots;
} file_head;

/* A text's features: hash, and whether it is a word's in the lowest bit. */
typedef struct feature_list {
    uint64_t *items;
    size_t count, room;
    bool failed;
} feature_list;

/* FNV-1a, then the finishing steps of splitmix64, as FNV's high bits are poor on short texts. */
static uint64_t hash(const char *bytes, size_t len, bool word)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)bytes[i]) * 1099511628211u;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return ((h ^ h >> 31) & ~(uint64_t)1) | word;
}

static bool is_word(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c >= 0x80;
}

size_t gg_next_word(const char *text, size_t len, size_t *at, size_t *start, char *word,
                    size_t room)
{
    size_t n = 0;
    while (*at < len && !is_word((unsigned char)text[*at]))
        ++*at;
    *start = *at;
    for (; *at < len && is_word((unsigned char)text[*at]); ++*at) {
        char c = text[*at];
        if (n < room)
            word[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return n;
}

static void push(feature_list *list, uint64_t feature)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 1024;
        uint64_t *items = list->failed ? NULL : realloc(list->items, room * sizeof *items);
        if (!items) {
            list->failed = true;
            return;
        }
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = feature;
}

static void add_text(feature_list *list, const char *text, size_t len)
{
    char word[WORD_ROOM + 2];
    size_t at = 0, start, n;
    len = len < GG_EMBED_BYTES ? len : GG_EMBED_BYTES;
    while ((n = gg_next_word(text, len, &at, &start, word + 1, WORD_ROOM)) > 0) {
        push(list, hash(word + 1, n, true));
        word[0] = word[n + 1] = ' ';
        for (size_t i = 0; i + 3 <= n + 2; i++)
            push(list, hash(word + i, 3, false));
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* All features of both texts, sorted. */
static gg_status collect(feature_list *list, const char *title, size_t title_len, const char *text,
                         size_t text_len, gg_error *error)
{
    add_text(list, title, title_len);
    add_text(list, text, text_len);
    if (list->failed)
        return gg_fail(error, GG_E_MEMORY, "out of memory for the features of a text");
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, by_value);
    return GG_OK;
}

/* How often the feature at `at` stands in the sorted list. */
static size_t run_length(const feature_list *list, size_t at)
{
    size_t end = at + 1;
    while (end < list->count && list->items[end] == list->items[at])
        end++;
    return end - at;
}

static size_t slot_of(uint64_t feature)
{
    return (size_t)(feature >> 40) % GG_EMBED_SLOTS;
}

gg_features *gg_features_new(void)
{
    return calloc(1, sizeof(gg_features));
}

void gg_features_free(gg_features *features)
{
    free(features);
}

gg_status gg_features_count(gg_features *f, const char *title, size_t title_len, const char *text,
                            size_t text_len, gg_error *error)
{
    feature_list list = {0};
    gg_status status = collect(&list, title, title_len, text, text_len, error);
    for (size_t i = 0; status == GG_OK && i < list.count; i += run_length(&list, i))
        f->having[slot_of(list.items[i])]++;
    f->documents += status == GG_OK;
    free(list.items);
    return status;
}

size_t gg_features_documents(const gg_features *features)
{
    return features->documents;
}

size_t gg_features_having(const gg_features *features, const char *word, size_t len)
{
    return features->having[slot_of(hash(word, len, true))];
}

gg_status gg_features_write(const gg_features *f, const char *path, gg_error *error)
{
    gg_buf bytes;
    file_head head = {.magic = MAGIC, .documents = f->documents, .slots = GG_EMBED_SLOTS};
    gg_buf_init(&bytes, sizeof head + sizeof f->having);
    gg_buf_add(&bytes, &head, sizeof head);
    gg_buf_add(&bytes, f->having, sizeof f->having);
    gg_status status = gg_buf_status(&bytes, "a feature file", error);
    if (status == GG_OK)
        status = gg_file_write(path, bytes.data, bytes.len, error);
    gg_buf_free(&bytes);
    return status;
}

gg_status gg_features_read(const char *path, gg_features **out, gg_error *error)
{
    gg_buf bytes;
    file_head head;
    *out = NULL;
    gg_buf_init(&bytes, GG_FILE_MAX);
    gg_status status = gg_file_read(path, &bytes, error);
    if (status == GG_OK && bytes.len != sizeof head + sizeof(*out)->having)
        status = gg_fail(error, GG_E_FORMAT, "%s is not a feature file of this version", path);
    if (status == GG_OK) {
        memcpy(&head, bytes.data, sizeof head);
        if (memcmp(head.magic, MAGIC, sizeof head.magic) != 0 || head.slots != GG_EMBED_SLOTS)
            status = gg_fail(error, GG_E_FORMAT, "%s is not a feature file of this version", path);
    }
    if (status == GG_OK && !(*out = gg_features_new()))
        status = gg_fail(error, GG_E_MEMORY, "out of memory for %s", path);
    if (status == GG_OK) {
        (*out)->documents = head.documents;
        memcpy((*out)->having, bytes.data + sizeof head, sizeof(*out)->having);
    }
    gg_buf_free(&bytes);
    return status;
}

static void scale(const double *sum, float *out)
{
    double square = 0;
    for (size_t i = 0; i < GG_EMBED_DIMS; i++)
        square += sum[i] * sum[i];
    double factor = square > 0 ? 1 / sqrt(square) : 0;
    for (size_t i = 0; i < GG_EMBED_DIMS; i++)
        out[i] = (float)(sum[i] * factor);
}

gg_status gg_embed(const gg_features *f, const char *title, size_t title_len, const char *text,
                   size_t text_len, float out[GG_EMBED_DIMS], gg_error *error)
{
    double sum[GG_EMBED_DIMS] = {0};
    feature_list list = {0};
    gg_status status = collect(&list, title, title_len, text, text_len, error);
    for (size_t i = 0; status == GG_OK && i < list.count;) {
        uint64_t feature = list.items[i];
        size_t count = run_length(&list, i);
        uint32_t having = f->having[slot_of(feature)];
        double idf = having ? log((f->documents + 1.0) / (having + 1.0)) : 0;
        double weight = (1 + log((double)count)) * fmax(idf, 0) * (feature & 1 ? GG_EMBED_WORD : 1);
        sum[(feature >> 8) % GG_EMBED_DIMS] += feature & 2 ? weight : -weight;
        i += count;
    }
    free(list.items);
    if (status == GG_OK)
        scale(sum, out);
    return status;
}
