#include "policy/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_IDS   256
#define PHRASES_MAX (1u << 18) /* a vocabulary stays small: ids travel in every reply */
#define NO_NODE     (-1)
#define NO_ID       (-1)
#define BYTE_VALUES 256

static const char *const special_texts[] = {
    "<|low|>",  "<|medium|>",    "<|high|>", "<|tools|>", "<|system|>",
    "<|user|>", "<|assistant|>", "<|tool|>", "<|think|>", "<|/think|>",
    "<|call|>", "<|arguments|>", "<|end|>",
};

typedef struct phrase {
    char *text;
    size_t len;
    int32_t id;
} phrase;

/* A node of a radix tree over the phrases: what its branch adds, then where the next byte leads. */
typedef struct node {
    const char *label; /* inside a phrase's text */
    size_t len;
    int32_t id;       /* of the phrase that ends here, or NO_ID */
    int32_t children; /* first entry in `branches`, for the byte `low` */
    int low, high;    /* bytes that go on; low > high: none */
} node;

struct gg_tokenizer {
    phrase *phrases; /* in order of ids */
    size_t count;
    phrase *sorted; /* by text; shares the texts */
    node *nodes;
    size_t node_count;
    int32_t *branches;
    size_t branch_count, branch_room;
    int32_t roots[BYTE_VALUES];
    bool letter[BYTE_VALUES]; /* ASCII letters, bytes of longer UTF-8 characters, perhaps digits */
    char bytes[BYTE_VALUES][2];
};

void gg_ids_reserve(gg_ids *ids, size_t more)
{
    if (ids->failed || more <= ids->room - ids->count)
        return;
    size_t room = ids->room ? ids->room : FIRST_IDS;
    while (room - ids->count < more && room < SIZE_MAX / 2 / sizeof *ids->data)
        room *= 2;
    int32_t *data = room - ids->count < more ? NULL : realloc(ids->data, room * sizeof *data);
    if (!data) {
        ids->failed = true;
        return;
    }
    ids->data = data;
    ids->room = room;
}

void gg_ids_push(gg_ids *ids, int32_t id)
{
    gg_ids_reserve(ids, 1);
    if (!ids->failed)
        ids->data[ids->count++] = id;
}

void gg_ids_free(gg_ids *ids)
{
    if (!ids)
        return;
    free(ids->data);
    *ids = (gg_ids){0};
}

static bool is_lower(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Anything but a row of plain words: that could stand in a query. */
static bool usable_beside_words(const char *text)
{
    size_t at = *text == ' ';
    size_t run = at;
    while (is_lower(text[run]))
        run++;
    if (!text[run])
        return run > at;
    while (is_lower(text[run]) || text[run] == ' ')
        run++;
    return text[run] != '\0';
}

static bool usable_beside_letters(const char *text)
{
    size_t run = 0;
    while (text[run] >= 'a' && text[run] <= 'z')
        run++;
    if (run > 0)
        return text[run] == '_' || text[run] == ' ';
    return text[0] && text[1];
}

static int by_text(const void *a, const void *b)
{
    const phrase *x = a, *y = b;
    size_t n = x->len < y->len ? x->len : y->len;
    int order = memcmp(x->text, y->text, n);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Equal texts in the order in which they were given: `id` is that place. */
static int by_text_and_place(const void *a, const void *b)
{
    const phrase *x = a, *y = b;
    int order = by_text(x, y);
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

static int by_place(const void *a, const void *b)
{
    const phrase *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Leaves the first of each text in t->phrases, in the order given. */
static void drop_repeats(gg_tokenizer *t)
{
    size_t kept = 0;
    qsort(t->phrases, t->count, sizeof *t->phrases, by_text_and_place);
    for (size_t i = 0; i < t->count; i++) {
        if (kept && by_text(&t->phrases[kept - 1], &t->phrases[i]) == 0)
            free(t->phrases[i].text);
        else
            t->phrases[kept++] = t->phrases[i];
    }
    t->count = kept;
    qsort(t->phrases, t->count, sizeof *t->phrases, by_place);
}

static bool copy_phrases(gg_tokenizer *t, gg_tokenizer_kind kind, const char *const *texts,
                         size_t count)
{
    bool (*usable)(const char *) =
        kind == GG_TOKENIZER_WORDS ? usable_beside_words : usable_beside_letters;
    t->phrases = calloc(count + 1, sizeof *t->phrases);
    t->sorted = calloc(count + 1, sizeof *t->sorted);
    /* A radix tree has at most one branching node a phrase beside the phrase's own. */
    t->nodes = calloc(2 * count + 1, sizeof *t->nodes);
    if (!t->phrases || !t->sorted || !t->nodes)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(texts[i]);
        if (!usable(texts[i]))
            continue;
        char *text = malloc(len + 1);
        if (!text)
            return false;
        memcpy(text, texts[i], len + 1);
        t->phrases[t->count++] = (phrase){text, len, (int32_t)i};
    }
    drop_repeats(t);
    for (size_t i = 0; i < t->count; i++)
        t->phrases[i].id = GG_TOKEN_PHRASES + (int32_t)i;
    memcpy(t->sorted, t->phrases, t->count * sizeof *t->sorted);
    qsort(t->sorted, t->count, sizeof *t->sorted, by_text);
    return true;
}

/* Room for `n` more branches, all leading nowhere. */
static int32_t add_branches(gg_tokenizer *t, size_t n)
{
    if (t->branch_room - t->branch_count < n) {
        size_t room = 2 * t->branch_room + n;
        int32_t *more = realloc(t->branches, room * sizeof *more);
        if (!more)
            return NO_NODE;
        t->branches = more;
        t->branch_room = room;
    }
    int32_t first = (int32_t)t->branch_count;
    for (size_t i = 0; i < n; i++)
        t->branches[t->branch_count++] = NO_NODE;
    return first;
}

static size_t common_prefix(const phrase *a, const phrase *b, size_t from)
{
    size_t at = from;
    while (at < a->len && at < b->len && a->text[at] == b->text[at])
        at++;
    return at;
}

static int byte_at(const phrase *p, size_t at)
{
    return (unsigned char)p->text[at];
}

/* Builds the node of sorted[first..last), which agree up to `depth` at least; its index in *out. */
static bool build_node(gg_tokenizer *t, size_t first, size_t last, size_t depth, int32_t *out)
{
    const phrase *s = t->sorted;
    size_t end = common_prefix(&s[first], &s[last - 1], depth);
    int32_t index = (int32_t)t->node_count++;
    node *n = &t->nodes[index];
    *n = (node){.label = s[first].text + depth, .len = end - depth, .id = NO_ID, .low = 1};
    *out = index;
    if (s[first].len == end)
        n->id = s[first++].id;
    if (first == last)
        return true;
    n->low = byte_at(&s[first], end);
    n->high = byte_at(&s[last - 1], end);
    n->children = add_branches(t, (size_t)(n->high - n->low) + 1);
    if (n->children == NO_NODE)
        return false;
    while (first < last) {
        size_t next = first + 1;
        int byte = byte_at(&s[first], end);
        while (next < last && byte_at(&s[next], end) == byte)
            next++;
        int32_t child;
        if (!build_node(t, first, next, end, &child))
            return false;
        t->branches[n->children + byte - n->low] = child;
        first = next;
    }
    return true;
}

static bool build_tree(gg_tokenizer *t)
{
    for (int i = 0; i < BYTE_VALUES; i++)
        t->roots[i] = NO_NODE;
    for (size_t first = 0, last; first < t->count; first = last) {
        int byte = byte_at(&t->sorted[first], 0);
        for (last = first + 1; last < t->count && byte_at(&t->sorted[last], 0) == byte;)
            last++;
        if (!build_node(t, first, last, 0, &t->roots[byte]))
            return false;
    }
    return true;
}

gg_status gg_tokenizer_new(gg_tokenizer_kind kind, const char *const *phrases, size_t count,
                           gg_tokenizer **out, gg_error *error)
{
    *out = NULL;
    if (count > PHRASES_MAX)
        return gg_fail(error, GG_E_LIMIT, "a tokenizer takes at most %u phrases, not %zu",
                       PHRASES_MAX, count);
    gg_tokenizer *t = calloc(1, sizeof *t);
    if (!t)
        return gg_fail(error, GG_E_MEMORY, "not enough memory for the tokenizer");
    for (int b = 0; b < BYTE_VALUES; b++) {
        t->bytes[b][0] = (char)b;
        t->letter[b] = (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || b >= 0x80 ||
                       (kind == GG_TOKENIZER_WORDS && b >= '0' && b <= '9');
    }
    if (!copy_phrases(t, kind, phrases, count) || !build_tree(t)) {
        gg_tokenizer_free(t);
        return gg_fail(error, GG_E_MEMORY, "not enough memory for the tokenizer");
    }
    *out = t;
    return GG_OK;
}

void gg_tokenizer_free(gg_tokenizer *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->count; i++)
        free(t->phrases[i].text);
    free(t->phrases);
    free(t->sorted);
    free(t->nodes);
    free(t->branches);
    free(t);
}

int32_t gg_tokenizer_size(const gg_tokenizer *t)
{
    return GG_TOKEN_PHRASES + (int32_t)t->count;
}

int32_t gg_tokenizer_find(const gg_tokenizer *t, const char *text)
{
    const phrase wanted = {(char *)(uintptr_t)text, strlen(text), NO_ID};
    const phrase *found = bsearch(&wanted, t->sorted, t->count, sizeof *t->sorted, by_text);
    return found ? found->id : NO_ID;
}

const char *gg_tokenizer_text(const gg_tokenizer *t, int32_t id, size_t *len)
{
    if (id < 0 || id >= gg_tokenizer_size(t))
        return NULL;
    if (id < GG_TOKEN_BYTES) {
        *len = 1;
        return t->bytes[id];
    }
    if (id < GG_TOKEN_PHRASES) {
        *len = strlen(special_texts[id - GG_TOKEN_BYTES]);
        return special_texts[id - GG_TOKEN_BYTES];
    }
    *len = t->phrases[id - GG_TOKEN_PHRASES].len;
    return t->phrases[id - GG_TOKEN_PHRASES].text;
}

/* The longest phrase at text[at]; its length in *used. */
static int32_t longest(const gg_tokenizer *t, const char *text, size_t len, size_t at, size_t *used)
{
    int32_t best = NO_ID;
    size_t from = at;
    int32_t index = t->roots[(unsigned char)text[at]];
    while (index != NO_NODE) {
        const node *n = &t->nodes[index];
        if (n->len > len - at || memcmp(n->label, text + at, n->len) != 0)
            break;
        at += n->len;
        bool cuts = at < len && t->letter[(unsigned char)text[at]] &&
                    t->letter[(unsigned char)text[at - 1]];
        if (n->id != NO_ID && !cuts) {
            best = n->id;
            *used = at - from;
        }
        int byte = at < len ? (unsigned char)text[at] : -1;
        index =
            byte >= n->low && byte <= n->high ? t->branches[n->children + byte - n->low] : NO_NODE;
    }
    return best;
}

void gg_tokenizer_encode(const gg_tokenizer *t, const char *text, size_t len, gg_ids *out)
{
    gg_ids_reserve(out, len); /* never more ids than bytes */
    if (out->failed)
        return;
    int32_t *to = out->data + out->count;
    bool in_letters = false;
    for (size_t at = 0; at < len;) {
        unsigned char byte = (unsigned char)text[at];
        size_t used = 1;
        int32_t id = in_letters && t->letter[byte] ? NO_ID : longest(t, text, len, at, &used);
        *to++ = id == NO_ID ? byte : id;
        at += used;
        in_letters = t->letter[(unsigned char)text[at - 1]];
    }
    out->count = (size_t)(to - out->data);
}

gg_status gg_tokenizer_decode(const gg_tokenizer *t, const int32_t *ids, size_t count, gg_buf *out,
                              gg_error *error)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = 0;
        const char *text = gg_tokenizer_text(t, ids[i], &len);
        if (!text)
            return gg_fail(error, GG_E_ARGUMENT,
                           "token %zu is %d, outside the vocabulary of %d ids", i, (int)ids[i],
                           (int)gg_tokenizer_size(t));
        gg_buf_add(out, text, len);
    }
    return gg_buf_status(out, "the text of the tokens", error);
}
