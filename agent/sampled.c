#include "agent/sampled.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"

#define TEXT_MAX   (4u * GG_REPLY_STRING_MAX)
#define MARKER_MAX 48  /* bytes of a "<|...|>" */
#define HEADER_MAX 200 /* bytes between two markers of a harmony header */
#define WORD_MAX   64

/* ---- a text without white space and markers ---- */

static const char *const markers[] = {
    "<think>",
    "</think>",
    "<thinking>",
    "</thinking>",
    "<tool_call>",
    "</tool_call>",
    "[TOOL_CALLS]",
    "[/TOOL_CALLS]",
    "[ARGS]",
    "[CALL_ID]",
    "[THINK]",
    "[/THINK]",
    "<s>",
    "</s>",
    "<eos>",
    "<end_of_turn>",
    "<tool_calls>",
    "</tool_calls>",
    "[EOT]",
    "<seed:think>",
    "</seed:think>",
    "<function_call>",
    "</function_call>",
};
#define MARKER_COUNT (sizeof markers / sizeof *markers)

/* What opens and closes the markers that are made by a rule: "<|im_end|>", and the same with the
 * full-width bar. */
static const struct {
    const char *open, *close;
} brackets[] = {{"<|", "|>"}, {"<\xef\xbd\x9c", "\xef\xbd\x9c>"}};

static bool begins(const char *text, size_t len, const char *with)
{
    size_t n = strlen(with);
    return len >= n && memcmp(text, with, n) == 0;
}

static const char *find(const char *text, size_t len, const char *what, size_t limit)
{
    return memmem(text, len < limit ? len : limit, what, strlen(what));
}

/* Length of the marker that the text begins with; 0 = none. */
static size_t marker_length(const char *text, size_t len)
{
    for (size_t i = 0; i < MARKER_COUNT; i++)
        if (begins(text, len, markers[i]))
            return strlen(markers[i]);
    for (size_t i = 0; i < sizeof brackets / sizeof *brackets; i++) {
        if (!begins(text, len, brackets[i].open))
            continue;
        const char *end = find(text, len, brackets[i].close, MARKER_MAX);
        if (end)
            return (size_t)(end - text) + strlen(brackets[i].close);
    }
    return 0;
}

/* A harmony header, "<|channel|>commentary to=functions.f <|constrain|>json<|message|>": its words
 * are no text but for the recipient, which names a call. */
static size_t header_length(const char *text, size_t len, const char **to, size_t *to_len)
{
    bool start = begins(text, len, "<|start|>");
    *to_len = 0;
    if (!start && !begins(text, len, "<|channel|>"))
        return 0;
    const char *end = find(text, len, start ? "<|channel|>" : "<|message|>", HEADER_MAX);
    if (!end)
        end = start ? find(text, len, "<|message|>", HEADER_MAX) : NULL;
    if (!end)
        return 0;
    size_t n = (size_t)(end - text);
    const char *at = find(text, n, "to=", n);
    if (at) {
        *to = at + 3;
        while (*to + *to_len < end && !isspace((unsigned char)(*to)[*to_len]) &&
               (*to)[*to_len] != '<')
            ++*to_len;
    }
    return n;
}

static size_t blank_length(const char *text, size_t len)
{
    if (isspace((unsigned char)*text))
        return 1;
    return begins(text, len, "\xe2\x96\x81") ? 3 : 0; /* the blank of some vocabularies */
}

/* A marker leaves a line end behind, so that what stands around it does not become one word. */
static void squeeze(const char *text, size_t len, gg_buf *out)
{
    const char *to = NULL;
    for (size_t at = 0, skip, to_len; at < len; at += skip) {
        const char *rest = text + at;
        size_t left = len - at;
        skip = blank_length(rest, left);
        if (!skip && (*rest == '<' || *rest == '[')) {
            skip = header_length(rest, left, &to, &to_len);
            gg_buf_add(out, to, to_len);
            if (!skip)
                skip = marker_length(rest, left);
            if (skip)
                gg_buf_char(out, '\n');
        }
        if (!skip) {
            gg_buf_char(out, *rest);
            skip = 1;
        }
    }
}

/* ---- calls in what is left ---- */

/* The rest of a sampled text, and which of its bytes have been found in the calls. */
typedef struct rest {
    const char *text;
    size_t len;
    char *used;
    gg_buf piece; /* what is looked for */
} rest;

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c > 126;
}

/* Not found yet, and no part of a longer word. */
static bool is_free(const rest *r, size_t at, size_t len)
{
    bool opens = at == 0 || !is_word_byte(r->text[at]) || !is_word_byte(r->text[at - 1]);
    bool closes = at + len == r->len || !is_word_byte(r->text[at + len - 1]) ||
                  !is_word_byte(r->text[at + len]);
    return opens && closes && !memchr(r->used + at, 1, len);
}

/* Takes the first place at or behind *from where the piece stands; *from moves behind it. */
static bool take(rest *r, size_t *from)
{
    size_t n = r->piece.len;
    if (n == 0)
        return true;
    for (size_t at = *from; at + n <= r->len; at++) {
        const char *found = memmem(r->text + at, r->len - at, r->piece.data, n);
        if (!found)
            return false;
        at = (size_t)(found - r->text);
        if (is_free(r, at, n)) {
            memset(r->used + at, 1, n);
            *from = at + n;
            return true;
        }
    }
    return false;
}

static bool take_text(rest *r, const char *text, size_t len, size_t *from)
{
    gg_buf_reset(&r->piece);
    squeeze(text, len, &r->piece);
    return take(r, from);
}

/* Escapes may be written in several ways, so such a text need not be found. */
static bool has_escapes(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\\' || (unsigned char)text[i] > 126)
            return true;
    return false;
}

/* Keys and values of arguments, each as its text between the quotes. */
static bool take_values(rest *r, const char *json, size_t len, size_t *from)
{
    bool all = true;
    for (size_t at = 0; at < len && all;) {
        size_t n = 1;
        if (json[at] == '"') {
            while (at + n < len && json[at + n] != '"')
                n += json[at + n] == '\\' ? 2 : 1;
            n = at + n < len ? n : len - at;
            bool found = take_text(r, json + at + 1, n - 1, from);
            all = found || has_escapes(json + at + 1, n - 1);
            n++;
        } else if (isalnum((unsigned char)json[at]) || json[at] == '-') {
            while (at + n < len && (isalnum((unsigned char)json[at + n]) || json[at + n] == '.' ||
                                    json[at + n] == '-' || json[at + n] == '+'))
                n++;
            all = take_text(r, json + at, n, from);
        }
        at += n;
    }
    return all;
}

static bool take_call(rest *r, const gg_reply_call *call, size_t *from)
{
    size_t after_name = *from, after_values = *from;
    const char *name = call->name ? call->name : "", *arguments = call->arguments;
    if (!take_text(r, name, strlen(name), &after_name))
        return false;
    if (arguments && !take_values(r, arguments, strlen(arguments), &after_values))
        return false;
    if (call->id && !has_escapes(call->id, strlen(call->id))) {
        size_t anywhere = 0;
        (void)take_text(r, call->id, strlen(call->id), &anywhere);
    }
    *from = after_name > after_values ? after_name : after_values;
    return true;
}

/* The formats' own words, which may stand between names and values. */
static bool is_format_word(const char *text, size_t len)
{
    static const char *const known[] = {
        "name",           "arguments",     "parameters", "parameter", "function",
        "functions",      "function_call", "tool",       "tools",     "tool_call",
        "tool_calls",     "type",          "id",         "json",      "python",
        "default_api",    "commentary",    "assistant",  "invoke",    "string",
        "multi_tool_use", "print",         "true",       "false",     "null",
    };
    if (strspn(text, "0123456789") >= len)
        return true;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == len && memcmp(known[i], text, len) == 0)
            return true;
    return false;
}

/* Whether all that no call accounts for is punctuation and the words of formats. */
static bool only_format_left(const rest *r)
{
    for (size_t at = 0; at < r->len;) {
        size_t n = 0;
        while (at + n < r->len && !r->used[at + n] && is_word_byte(r->text[at + n]))
            n++;
        if (n && !is_format_word(r->text + at, n))
            return false;
        at += n ? n : 1;
    }
    return true;
}

static bool calls_agree(const gg_reply *reply, rest *r)
{
    size_t from = 0;
    for (size_t i = 0; i < reply->call_count; i++)
        if (!take_call(r, &reply->calls[i], &from))
            return false;
    return reply->calls_dropped > 0 || only_format_left(r);
}

static size_t skip_lines(const gg_buf *text, size_t at)
{
    while (at < text->len && text->data[at] == '\n')
        at++;
    return at;
}

static bool compare(const gg_reply *reply, const gg_buf *sampled, const gg_buf *said, rest *r)
{
    size_t at = skip_lines(sampled, 0);
    for (size_t i = skip_lines(said, 0); i < said->len; i = skip_lines(said, i + 1)) {
        if (at == sampled->len || sampled->data[at] != said->data[i])
            return false;
        at = skip_lines(sampled, at + 1);
    }
    r->text = gg_buf_cstr(sampled) + at;
    r->len = sampled->len - at;
    return reply->call_count ? calls_agree(reply, r) : r->len == 0;
}

gg_status gg_sampled_check(const gg_reply *reply, bool *agrees, gg_error *error)
{
    gg_buf sampled, said;
    *agrees = true;
    if (!reply->token_text_whole)
        return GG_OK;
    rest r = {.used = calloc(reply->token_text.len + 1, 1)};
    gg_buf_init(&sampled, TEXT_MAX);
    gg_buf_init(&said, TEXT_MAX);
    gg_buf_init(&r.piece, TEXT_MAX);
    squeeze(gg_buf_cstr(&reply->token_text), reply->token_text.len, &sampled);
    squeeze(reply->reasoning, strlen(reply->reasoning), &said);
    squeeze(reply->content, reply->content_len, &said);
    bool good = r.used && sampled.status == GG_OK && said.status == GG_OK;
    if (good)
        *agrees = compare(reply, &sampled, &said, &r);
    good = good && r.piece.status == GG_OK;
    free(r.used);
    gg_buf_free(&sampled);
    gg_buf_free(&said);
    gg_buf_free(&r.piece);
    return good ? GG_OK : gg_fail(error, GG_E_MEMORY, "out of memory for the text of a reply");
}
