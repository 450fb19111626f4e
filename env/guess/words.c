#include "env/guess/guess.h"

#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "core/file.h"

#define SHIPPED_LENGTH 5
#define LETTER_BITS    5
#define PATH_ROOM      4096
#define WORD_SHOWN     40 /* bytes of a bad line that an error sentence quotes */

/* One list, words `length` bytes and a NUL each. */
typedef struct list {
    char *bytes;
    size_t count;
} list;

/* A word as a number, its letters in LETTER_BITS each from 1 to 26; 0 marks a free slot. */
typedef struct slot {
    uint64_t key;
    int32_t answer, allowed; /* index in each list, -1 when it is not there */
} slot;

struct gg_words {
    int length;
    list answers, allowed;
    slot *slots; /* open addressing, at most half full */
    size_t mask;
    char digest[GG_DIGEST_HEX];
};

/* Where the loader stands, for its error sentences. */
typedef struct source {
    const char *path;
    size_t line;
    int length;
} source;

static uint64_t word_key(const char *word, int length)
{
    uint64_t key = 0;
    for (int i = 0; i < length; i++) {
        if (word[i] < 'a' || word[i] > 'z')
            return 0;
        key = key << LETTER_BITS | (uint64_t)(word[i] - 'a' + 1);
    }
    return key;
}

static slot *find_slot(const gg_words *words, uint64_t key)
{
    size_t at = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & words->mask;
    while (words->slots[at].key && words->slots[at].key != key)
        at = (at + 1) & words->mask;
    return &words->slots[at];
}

static int find(const gg_words *words, const char *word, bool answer)
{
    uint64_t key = word_key(word, words->length);
    if (!key)
        return -1;
    const slot *s = find_slot(words, key);
    if (!s->key)
        return -1;
    return answer ? s->answer : s->allowed;
}

/* A line as it may be shown: printable ASCII, anything else as '?'. */
static const char *shown(const char *line, size_t len, char out[WORD_SHOWN + 4])
{
    size_t n = len < WORD_SHOWN ? len : WORD_SHOWN;
    for (size_t i = 0; i < n; i++)
        out[i] = line[i] >= 0x20 && line[i] < 0x7f ? line[i] : '?';
    memcpy(out + n, len > n ? "..." : "", len > n ? 4 : 1);
    return out;
}

static gg_status bad_line(const source *at, const char *line, size_t len, const char *what,
                          gg_error *error)
{
    char text[WORD_SHOWN + 4];
    return gg_fail(error, GG_E_CONFIG, "%s line %zu: \"%s\" %s", at->path, at->line,
                   shown(line, len, text), what);
}

static gg_status check_line(const source *at, const char *line, size_t len, gg_error *error)
{
    if (len && line[len - 1] == '\r')
        return bad_line(at, line, len - 1, "ends with CR LF; store the list with LF line ends",
                        error);
    if (!len)
        return gg_fail(error, GG_E_CONFIG,
                       "%s line %zu is empty; a list has one word a line and no empty lines",
                       at->path, at->line);
    for (size_t i = 0; i < len; i++) {
        if (line[i] >= 'a' && line[i] <= 'z')
            continue;
        if (line[i] >= 'A' && line[i] <= 'Z')
            return bad_line(at, line, len, "has a capital letter; write words in lower case",
                            error);
        if (line[i] & 0x80)
            return bad_line(at, line, len, "has a character that is not ASCII; only a-z may stand",
                            error);
        return bad_line(at, line, len, "has a character that is not a letter a-z", error);
    }
    if (len != (size_t)at->length) {
        char text[WORD_SHOWN + 4];
        return gg_fail(error, GG_E_CONFIG,
                       "%s line %zu: \"%s\" has %zu letters, but the game's words have %d",
                       at->path, at->line, shown(line, len, text), len, at->length);
    }
    return GG_OK;
}

static gg_status split_lines(const gg_buf *text, source *at, list *out, gg_error *error)
{
    size_t stride = (size_t)at->length + 1;
    const char *p = gg_buf_cstr(text), *end = p + text->len;
    out->bytes = malloc(text->len + stride);
    if (!out->bytes)
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading %s", at->path);
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        size_t len = (size_t)((stop ? stop : end) - p);
        at->line++;
        gg_status status = check_line(at, p, len, error);
        if (status != GG_OK)
            return status;
        char *word = out->bytes + out->count++ * stride;
        memcpy(word, p, len);
        word[len] = '\0';
        p += len + 1;
    }
    if (!out->count)
        return gg_fail(error, GG_E_CONFIG, "%s has no words; a list has one word a line", at->path);
    return GG_OK;
}

static gg_status read_list(const char *path, int length, list *out, gg_error *error)
{
    source at = {.path = path, .length = length};
    gg_buf text;
    gg_buf_init(&text, GG_FILE_MAX);
    gg_status status = gg_file_read(path, &text, error);
    if (status == GG_OK)
        status = split_lines(&text, &at, out, error);
    gg_buf_free(&text);
    return status;
}

static gg_status make_slots(gg_words *words, gg_error *error)
{
    size_t size = 16;
    while (size < 2 * words->allowed.count)
        size *= 2;
    words->slots = calloc(size, sizeof *words->slots);
    words->mask = size - 1;
    if (!words->slots)
        return gg_fail(error, GG_E_MEMORY, "out of memory while indexing the lists");
    return GG_OK;
}

static gg_status index_allowed(gg_words *words, const char *path, gg_error *error)
{
    for (size_t i = 0; i < words->allowed.count; i++) {
        const char *word = gg_words_allowed(words, i);
        uint64_t key = word_key(word, words->length);
        slot *s = find_slot(words, key);
        if (s->key)
            return gg_fail(error, GG_E_CONFIG, "%s line %zu: \"%s\" stands in line %d already",
                           path, i + 1, word, s->allowed + 1);
        *s = (slot){.key = key, .answer = -1, .allowed = (int32_t)i};
    }
    return GG_OK;
}

/* Lists that were given the wrong way round: every allowed word is an answer, and not conversely.
 */
static bool lists_swapped(const gg_words *words)
{
    if (words->allowed.count >= words->answers.count)
        return false;
    size_t met = 0;
    for (size_t i = 0; i < words->answers.count; i++)
        met += gg_words_find_allowed(words, gg_words_answer(words, i)) >= 0;
    return met >= words->allowed.count;
}

static gg_status index_answers(gg_words *words, const char *path, const char *allowed_path,
                               gg_error *error)
{
    for (size_t i = 0; i < words->answers.count; i++) {
        const char *word = gg_words_answer(words, i);
        slot *s = find_slot(words, word_key(word, words->length));
        if (!s->key && lists_swapped(words))
            return gg_fail(error, GG_E_CONFIG,
                           "the lists are swapped: %s, given as the answers, holds all of %s, "
                           "given as the allowed words, and more",
                           path, allowed_path);
        if (!s->key)
            return gg_fail(error, GG_E_CONFIG,
                           "%s line %zu: the answer \"%s\" is missing from the allowed words in "
                           "%s; add it there",
                           path, i + 1, word, allowed_path);
        if (s->answer >= 0)
            return gg_fail(error, GG_E_CONFIG, "%s line %zu: \"%s\" stands in line %d already",
                           path, i + 1, word, s->answer + 1);
        s->answer = (int32_t)i;
    }
    return GG_OK;
}

static gg_status digest_lists(gg_words *words, gg_error *error)
{
    size_t stride = (size_t)words->length + 1;
    gg_buf both;
    gg_buf_init(&both, 2 * (size_t)GG_FILE_MAX + 64);
    gg_buf_printf(&both, "guessgym.words/1 %d %zu\n", words->length, words->answers.count);
    gg_buf_add(&both, words->answers.bytes, words->answers.count * stride);
    gg_buf_add(&both, words->allowed.bytes, words->allowed.count * stride);
    gg_status status = gg_buf_status(&both, "the lists' digest", error);
    if (status == GG_OK)
        gg_sha256_hex(both.data, both.len, words->digest);
    gg_buf_free(&both);
    return status;
}

static gg_status check_counts(const gg_words *words, const char *answers, const char *allowed,
                              gg_error *error)
{
    if (words->answers.count > GG_ANSWERS_MAX)
        return gg_fail(error, GG_E_LIMIT, "%s has %zu words; at most %d answers are taken", answers,
                       words->answers.count, GG_ANSWERS_MAX);
    if (words->allowed.count > GG_ALLOWED_MAX)
        return gg_fail(error, GG_E_LIMIT, "%s has %zu words; at most %d allowed words are taken",
                       allowed, words->allowed.count, GG_ALLOWED_MAX);
    return GG_OK;
}

static gg_status load_pair(gg_words *words, const char *answers, const char *allowed,
                           gg_error *error)
{
    gg_status status = read_list(answers, words->length, &words->answers, error);
    if (status == GG_OK)
        status = read_list(allowed, words->length, &words->allowed, error);
    if (status == GG_OK)
        status = check_counts(words, answers, allowed, error);
    if (status == GG_OK)
        status = make_slots(words, error);
    if (status == GG_OK)
        status = index_allowed(words, allowed, error);
    if (status == GG_OK)
        status = index_answers(words, answers, allowed, error);
    if (status == GG_OK)
        status = digest_lists(words, error);
    return status;
}

static gg_status list_path(const char *given, const char *shipped, int length, gg_buf *path,
                           gg_error *error)
{
    if (given) {
        gg_buf_str(path, given);
        return gg_buf_status(path, "a path", error);
    }
    if (length != SHIPPED_LENGTH)
        return gg_fail(error, GG_E_CONFIG,
                       "the shipped lists have words of %d letters; for %d letters give two lists "
                       "of your own (--answers FILE --allowed FILE; `wordlists/build.sh --length "
                       "%d -o DIR` makes a pair)",
                       SHIPPED_LENGTH, length, length);
    return gg_data_path(shipped, path, error);
}

gg_status gg_words_load(const char *answers_path, const char *allowed_path, int length,
                        gg_words **out, gg_error *error)
{
    *out = NULL;
    if (length < GG_WORD_MIN || length > GG_WORD_MAX)
        return gg_fail(error, GG_E_CONFIG, "words have %d to %d letters, not %d", GG_WORD_MIN,
                       GG_WORD_MAX, length);
    gg_words *words = calloc(1, sizeof *words);
    if (!words)
        return gg_fail(error, GG_E_MEMORY, "out of memory while loading the lists");
    words->length = length;
    gg_buf answers, allowed;
    gg_buf_init(&answers, PATH_ROOM);
    gg_buf_init(&allowed, PATH_ROOM);
    gg_status status = list_path(answers_path, "wordlists/answers.txt", length, &answers, error);
    if (status == GG_OK)
        status = list_path(allowed_path, "wordlists/allowed.txt", length, &allowed, error);
    if (status == GG_OK)
        status = load_pair(words, gg_buf_cstr(&answers), gg_buf_cstr(&allowed), error);
    gg_buf_free(&answers);
    gg_buf_free(&allowed);
    if (status == GG_OK)
        *out = words;
    else
        gg_words_free(words);
    return status;
}

void gg_words_free(gg_words *words)
{
    if (!words)
        return;
    free(words->answers.bytes);
    free(words->allowed.bytes);
    free(words->slots);
    free(words);
}

int gg_words_length(const gg_words *words)
{
    return words->length;
}

size_t gg_words_answer_count(const gg_words *words)
{
    return words->answers.count;
}

size_t gg_words_allowed_count(const gg_words *words)
{
    return words->allowed.count;
}

const char *gg_words_answer(const gg_words *words, size_t index)
{
    return words->answers.bytes + index * ((size_t)words->length + 1);
}

const char *gg_words_allowed(const gg_words *words, size_t index)
{
    return words->allowed.bytes + index * ((size_t)words->length + 1);
}

int gg_words_find_answer(const gg_words *words, const char *word)
{
    return find(words, word, true);
}

int gg_words_find_allowed(const gg_words *words, const char *word)
{
    return find(words, word, false);
}

const char *gg_words_digest(const gg_words *words)
{
    return words->digest;
}
