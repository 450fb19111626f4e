#include "env/search/page.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "env/search/embed.h"
#include "env/search/search.h"
#include "env/search/texts.h"

#define WORD_ROOM  64
#define WORDS_MAX  64 /* of a query that a snippet looks for */
#define LEAD       24 /* bytes before the word that is looked for */
#define CONTROL(c) ((unsigned char)(c) < 0x20 || (c) == 0x7f)
#define INSIDE(c)                                                                                  \
    (((unsigned char)(c)&0xc0) == 0x80) /* of a UTF-8 sequence, not its first byte                 \
                                         */
#define NOT_SHOWN SIZE_MAX

typedef struct kept {
    char *query, *text;
    size_t len, k, text_len, count;
    gg_search_kind kind;
} kept;

struct gg_pages {
    gg_index *index;
    pthread_mutex_t lock;
    kept slots[GG_PAGES_KEPT];
};

gg_status gg_pages_new(gg_index *index, gg_pages **out, gg_error *error)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return gg_fail(error, GG_E_MEMORY, "out of memory for pages of results");
    (*out)->index = index;
    pthread_mutex_init(&(*out)->lock, NULL);
    return GG_OK;
}

void gg_pages_free(gg_pages *pages)
{
    if (!pages)
        return;
    for (size_t i = 0; i < GG_PAGES_KEPT; i++) {
        free(pages->slots[i].query);
        free(pages->slots[i].text);
    }
    pthread_mutex_destroy(&pages->lock);
    free(pages);
}

/* ---- one page ---- */

/* The words of a query, and where each first stands in a text. */
typedef struct sought {
    char word[WORDS_MAX][WORD_ROOM];
    size_t len[WORDS_MAX], place[WORDS_MAX], having[WORDS_MAX], count;
} sought;

static void take_words(gg_index *index, const char *query, size_t len, sought *out)
{
    size_t at = 0, start, n;
    out->count = 0;
    while (out->count < WORDS_MAX &&
           (n = gg_next_word(query, len, &at, &start, out->word[out->count], WORD_ROOM)) > 0) {
        out->len[out->count] = n;
        out->having[out->count] = gg_index_having(index, out->word[out->count], n);
        out->count++;
    }
}

/* Where the snippet begins: a little before the rarest of the query's words, else at the start, as
 * with a text that fits whole. */
static size_t snippet_start(sought *s, const char *text, size_t len)
{
    char word[WORD_ROOM];
    size_t at = 0, start, n, best = s->count;
    if (len <= GG_SNIPPET_MAX)
        return 0;
    for (size_t i = 0; i < s->count; i++)
        s->place[i] = NOT_SHOWN;
    while ((n = gg_next_word(text, len, &at, &start, word, WORD_ROOM)) > 0)
        for (size_t i = 0; i < s->count; i++)
            if (s->place[i] == NOT_SHOWN && s->len[i] == n && memcmp(s->word[i], word, n) == 0)
                s->place[i] = start;
    for (size_t i = 0; i < s->count; i++)
        if (s->place[i] != NOT_SHOWN && (best == s->count || s->having[i] < s->having[best]))
            best = i;
    if (best == s->count || s->place[best] <= LEAD)
        return 0;
    size_t from = s->place[best] - LEAD;
    while (from < s->place[best] && text[from] != ' ')
        from++;
    return text[from] == ' ' ? from + 1 : from;
}

/* About `most` bytes on one line, ending at a word's end where there is one. */
static void add_line(const char *text, size_t len, size_t most, gg_buf *out)
{
    size_t end = len;
    if (len > most) {
        for (end = most; end > most / 2 && text[end] != ' ' && !CONTROL(text[end]); end--)
            ;
        if (end == most / 2)
            for (end = most; end > 0 && INSIDE(text[end]); end--)
                ;
    }
    for (size_t i = 0; i < end; i++) /* a bar parts the columns */
        gg_buf_char(out, CONTROL(text[i]) ? ' ' : text[i] == '|' ? '/' : text[i]);
    gg_buf_str(out, end < len ? " ..." : "");
}

static void add_document(sought *s, const gg_document *document, gg_buf *out)
{
    const char *text = document->text.len ? document->text.data : "";
    size_t len = document->text.len < GG_SNIPPET_LOOK ? document->text.len : GG_SNIPPET_LOOK,
           from = snippet_start(s, text, len);
    gg_buf_str(out, gg_buf_cstr(&document->id));
    gg_buf_str(out, S_COLUMN);
    add_line(document->title.len ? document->title.data : "", document->title.len, GG_TITLE_MAX,
             out);
    gg_buf_str(out, S_COLUMN);
    add_line(text + from, document->text.len - from, GG_SNIPPET_MAX, out);
    gg_buf_char(out, '\n');
}

static gg_status write_page(gg_index *index, const char *query, size_t len, const gg_hit *hits,
                            size_t count, gg_buf *out, gg_error *error)
{
    gg_document document;
    gg_status status = GG_OK;
    sought words;
    take_words(index, query, len, &words);
    if (count == 1)
        gg_buf_str(out, S_FOUND_ONE);
    else if (count)
        gg_buf_printf(out, "%zu" S_FOUND_MANY, count);
    else
        gg_buf_str(out, S_FOUND_NONE);
    gg_document_init(&document);
    for (size_t i = 0; i < count && status == GG_OK; i++) {
        status = gg_index_read(index, hits[i].row, &document, error);
        if (status == GG_OK)
            add_document(&words, &document, out);
    }
    gg_document_free(&document);
    return status == GG_OK ? gg_buf_status(out, "a page of results", error) : status;
}

/* ---- pages kept ---- */

static kept *slot_of(gg_pages *pages, const kept *asked)
{
    uint64_t h = 14695981039346656037u ^ (uint64_t)asked->kind ^ (uint64_t)asked->k << 8;
    for (size_t i = 0; i < asked->len; i++)
        h = (h ^ (unsigned char)asked->query[i]) * 1099511628211u;
    return &pages->slots[(h >> 32 ^ h) % GG_PAGES_KEPT];
}

static bool recall(gg_pages *pages, const kept *asked, gg_buf *out, size_t *count)
{
    pthread_mutex_lock(&pages->lock);
    const kept *slot = slot_of(pages, asked);
    bool same = slot->query && slot->kind == asked->kind && slot->k == asked->k &&
                slot->len == asked->len && memcmp(slot->query, asked->query, asked->len) == 0;
    if (same) {
        gg_buf_add(out, slot->text, slot->text_len);
        *count = slot->count;
    }
    pthread_mutex_unlock(&pages->lock);
    return same;
}

/* Without memory a page is not kept; it is for speed alone. */
static void keep(gg_pages *pages, const kept *asked, const char *text, size_t len, size_t count)
{
    kept fresh = *asked;
    fresh.query = malloc(asked->len + 1);
    fresh.text = malloc(len + 1);
    fresh.text_len = len;
    fresh.count = count;
    if (!fresh.query || !fresh.text) {
        free(fresh.query);
        free(fresh.text);
        return;
    }
    memcpy(fresh.query, asked->query, asked->len);
    memcpy(fresh.text, text, len);
    pthread_mutex_lock(&pages->lock);
    kept *slot = slot_of(pages, asked), old = *slot;
    *slot = fresh;
    pthread_mutex_unlock(&pages->lock);
    free(old.query);
    free(old.text);
}

gg_status gg_pages_search(gg_pages *pages, gg_search_kind kind, const char *query, size_t len,
                          size_t k, gg_buf *out, size_t *count, gg_error *error)
{
    const kept asked = {.query = (char *)(uintptr_t)query, .len = len, .k = k, .kind = kind};
    gg_hit hits[GG_INDEX_HITS_MAX];
    size_t from = out->len;
    if (recall(pages, &asked, out, count))
        return gg_buf_status(out, "a page of results", error);
    gg_status status = gg_index_search(pages->index, kind, query, len, k, hits, count, error);
    if (status == GG_OK)
        status = write_page(pages->index, query, len, hits, *count, out, error);
    if (status == GG_OK)
        keep(pages, &asked, out->data + from, out->len - from, *count);
    return status;
}

/* ---- reading ---- */

bool gg_page_next(const char *page, size_t len, size_t *at, gg_page_line *out)
{
    const size_t column = strlen(S_COLUMN);
    while (*at < len) {
        const char *line = page + *at, *end = memchr(line, '\n', len - *at);
        size_t line_len = end ? (size_t)(end - line) : len - *at;
        *at += line_len + (end != NULL);
        const char *one = memmem(line, line_len, S_COLUMN, column);
        if (!one || one == line)
            continue;
        size_t rest = line_len - (size_t)(one - line) - column;
        const char *two = memmem(one + column, rest, S_COLUMN, column);
        if (!two)
            continue;
        out->id = (gg_span){line, (size_t)(one - line)};
        out->title = (gg_span){one + column, (size_t)(two - one) - column};
        out->snippet = (gg_span){two + column, line_len - (size_t)(two - line) - column};
        return true;
    }
    return false;
}
