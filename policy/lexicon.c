#include "policy/lexicon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FORM_ROOM   (GG_LEXICON_WORD_MAX + 2) /* a blank, the word, the end */
#define FIRST_SLOTS 4096
#define TEXT_BLOCK  (1u << 16)
#define STEM_LEAST  4 /* letters of a word whose final s is passed over */

/* Texts with a count each, found by hash. Texts stay where they are. */
typedef struct entry {
    const char *text;
    uint32_t count;
    uint32_t seen; /* number of the document that counted last */
} entry;

typedef struct block {
    struct block *next;
    size_t used;
    char bytes[TEXT_BLOCK];
} block;

typedef struct table {
    entry *entries;
    size_t count, room;
    uint32_t *slots; /* index + 1 of an entry, 0 = free */
    size_t slot_count;
    block *blocks;
    bool failed;
} table;

static uint64_t hash(const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return h ^ h >> 32;
}

static uint32_t *slot_of(const table *t, const char *text)
{
    size_t at = (size_t)hash(text) & (t->slot_count - 1);
    while (t->slots[at] && strcmp(t->entries[t->slots[at] - 1].text, text) != 0)
        at = (at + 1) & (t->slot_count - 1);
    return &t->slots[at];
}

static bool grow(table *t)
{
    size_t count = t->slot_count ? 2 * t->slot_count : FIRST_SLOTS;
    uint32_t *slots = calloc(count, sizeof *slots);
    entry *entries = slots ? realloc(t->entries, count / 2 * sizeof *entries) : NULL;
    if (!entries) {
        free(slots);
        return false;
    }
    free(t->slots);
    t->slots = slots;
    t->slot_count = count;
    t->entries = entries;
    t->room = count / 2;
    for (size_t i = 0; i < t->count; i++)
        *slot_of(t, t->entries[i].text) = (uint32_t)i + 1;
    return true;
}

static const char *keep_text(table *t, const char *text)
{
    size_t len = strlen(text) + 1;
    if (!t->blocks || TEXT_BLOCK - t->blocks->used < len) {
        block *b = malloc(sizeof *b);
        if (!b)
            return NULL;
        b->next = t->blocks;
        b->used = 0;
        t->blocks = b;
    }
    char *at = t->blocks->bytes + t->blocks->used;
    memcpy(at, text, len);
    t->blocks->used += len;
    return at;
}

/* The entry of a text, made where it is missing; NULL and `failed` when memory is short. */
static entry *put(table *t, const char *text)
{
    if (t->failed || (t->count == t->room && !grow(t))) {
        t->failed = true;
        return NULL;
    }
    uint32_t *slot = slot_of(t, text);
    if (*slot)
        return &t->entries[*slot - 1];
    const char *kept = keep_text(t, text);
    if (!kept) {
        t->failed = true;
        return NULL;
    }
    t->entries[t->count] = (entry){.text = kept};
    *slot = (uint32_t)++t->count;
    return &t->entries[t->count - 1];
}

static const entry *get(const table *t, const char *text)
{
    uint32_t at = t->slot_count ? *slot_of(t, text) : 0;
    return at ? &t->entries[at - 1] : NULL;
}

static void table_free(table *t)
{
    while (t->blocks) {
        block *next = t->blocks->next;
        free(t->blocks);
        t->blocks = next;
    }
    free(t->entries);
    free(t->slots);
}

/* ---- words ---- */

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

static void lower(char *text)
{
    for (; *text; text++)
        if (*text >= 'A' && *text <= 'Z')
            *text = (char)(*text - 'A' + 'a');
}

/* The key's text of a form: without blank, in lower case, without a final s. */
static void key_text(const char *form, char out[FORM_ROOM])
{
    size_t len = strlen(form += *form == ' ');
    memcpy(out, form, len + 1);
    lower(out);
    if (len >= STEM_LEAST && out[len - 1] == 's' && out[len - 2] != 's')
        out[len - 1] = '\0';
}

typedef struct scan {
    table forms; /* as written */
    table keys;  /* counted once a document */
    uint32_t document;
} scan;

static void add_form(scan *s, const char *form)
{
    char key[FORM_ROOM];
    entry *e = put(&s->forms, form);
    if (e)
        e->count++;
    key_text(form, key);
    e = put(&s->keys, key);
    if (e && e->seen != s->document) {
        e->seen = s->document;
        e->count++;
    }
}

static void add_text(scan *s, const gg_buf *text)
{
    char form[FORM_ROOM];
    const char *bytes = text->data;
    for (size_t at = 0; at < text->len; at++) {
        size_t from = at;
        if (!in_word(bytes[at]))
            continue;
        while (at < text->len && in_word(bytes[at]))
            at++;
        size_t blank = from > 0 && bytes[from - 1] == ' ';
        if (at - from > GG_LEXICON_WORD_MAX)
            continue;
        memcpy(form, bytes + from - blank, at - from + blank);
        form[at - from + blank] = '\0';
        add_form(s, form);
    }
}

static gg_status scan_index(scan *s, gg_index *index, gg_error *error)
{
    size_t documents = gg_index_documents(index);
    size_t step = (documents + GG_LEXICON_SCANNED - 1) / GG_LEXICON_SCANNED;
    gg_document document;
    gg_status status = GG_OK;
    gg_document_init(&document);
    for (size_t row = 1; status == GG_OK && row <= documents; row += step) {
        s->document++;
        status = gg_index_read(index, (int64_t)row, &document, error);
        if (status != GG_OK)
            break;
        add_text(s, &document.id);
        add_text(s, &document.title);
        add_text(s, &document.text);
    }
    gg_document_free(&document);
    if (status == GG_OK && (s->forms.failed || s->keys.failed))
        status = gg_fail(error, GG_E_MEMORY, "not enough memory for the words of an index");
    return status;
}

/* The smallest count that leaves at most GG_LEXICON_FORMS_MAX forms. */
static uint32_t least_count(const table *forms)
{
    size_t left = forms->count;
    uint32_t least = 0;
    while (left > GG_LEXICON_FORMS_MAX) {
        least++;
        left = 0;
        for (size_t i = 0; i < forms->count; i++)
            left += forms->entries[i].count > least;
    }
    return least;
}

static void form_of(const char *form, bool blank, char out[FORM_ROOM + 1])
{
    out[0] = ' ';
    size_t len = strlen(form += *form == ' ');
    memcpy(out + blank, form, len + 1);
    lower(out);
}

/* Both lower-case forms of every form that is kept, so that a query can be written with them. */
static void add_lower(table *forms, uint32_t least)
{
    char text[FORM_ROOM + 1];
    for (size_t i = 0, count = forms->count; i < count && !forms->failed; i++) {
        if (forms->entries[i].count <= least)
            continue;
        for (int blank = 0; blank < 2; blank++) {
            form_of(forms->entries[i].text, blank, text);
            entry *e = put(forms, text);
            if (e && e->count <= least)
                e->count = least + 1;
        }
    }
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void set_lexeme(gg_lexicon *l, const scan *s, int32_t id, const char *form)
{
    char text[FORM_ROOM + 1];
    gg_lexeme *x = &l->lexemes[id];
    key_text(form, text);
    const entry *key = get(&s->keys, text);
    if (!key)
        return;
    x->key = (int32_t)(key - s->keys.entries);
    form_of(form, false, text);
    x->plain = gg_tokenizer_find(l->tokenizer, text);
    form_of(form, true, text);
    x->spaced = gg_tokenizer_find(l->tokenizer, text);
    if (x->plain < 0 || x->spaced < 0)
        x->key = GG_LEXICON_KEY_NONE;
}

static bool fill(gg_lexicon *l, const scan *s)
{
    double documents = s->document;
    l->size = gg_tokenizer_size(l->tokenizer);
    l->key_count = s->keys.count;
    l->lexemes = calloc((size_t)l->size, sizeof *l->lexemes);
    l->rarity = calloc(l->key_count + 1, sizeof *l->rarity);
    if (!l->lexemes || !l->rarity)
        return false;
    for (size_t k = 0; k < l->key_count; k++)
        l->rarity[k] = log((documents + 1) / (s->keys.entries[k].count + 1.0)) / log(documents + 1);
    for (int32_t id = 0; id < l->size; id++) {
        l->lexemes[id].key = GG_LEXICON_KEY_NONE;
        size_t len;
        const char *text = gg_tokenizer_text(l->tokenizer, id, &len);
        if (id >= GG_TOKEN_PHRASES && len > 0 && in_word(text[len - 1]) && len < FORM_ROOM)
            set_lexeme(l, s, id, text);
    }
    return true;
}

static gg_status make_tokenizer(gg_lexicon *l, const table *forms, uint32_t least,
                                const char *const *phrases, size_t count, gg_error *error)
{
    const char **all = malloc((count + forms->count + 1) * sizeof *all);
    size_t n = count;
    if (!all)
        return gg_fail(error, GG_E_MEMORY, "not enough memory for the words of an index");
    memcpy(all, phrases, count * sizeof *all);
    for (size_t i = 0; i < forms->count; i++)
        if (forms->entries[i].count > least)
            all[n++] = forms->entries[i].text;
    qsort(all + count, n - count, sizeof *all, by_bytes);
    gg_status status = gg_tokenizer_new(GG_TOKENIZER_WORDS, all, n, &l->tokenizer, error);
    free(all);
    return status;
}

gg_status gg_lexicon_init(gg_lexicon *l, gg_index *index, const char *const *phrases, size_t count,
                          gg_error *error)
{
    scan s = {.document = 0};
    *l = (gg_lexicon){0};
    gg_status status = scan_index(&s, index, error);
    if (status == GG_OK) {
        uint32_t least = least_count(&s.forms);
        add_lower(&s.forms, least);
        status = make_tokenizer(l, &s.forms, least, phrases, count, error);
    }
    if (status == GG_OK && !fill(l, &s))
        status = gg_fail(error, GG_E_MEMORY, "not enough memory for the words of an index");
    table_free(&s.forms);
    table_free(&s.keys);
    if (status != GG_OK)
        gg_lexicon_free(l);
    return status;
}

void gg_lexicon_free(gg_lexicon *l)
{
    gg_tokenizer_free(l->tokenizer);
    free(l->lexemes);
    free(l->rarity);
    *l = (gg_lexicon){0};
}
