/* Dataset rows: a JSON object with `prompt`, `answer` and `id` as text, or a bare word. */
#include "env/guess/game.h"

#include <string.h>

#include "core/json.h"

#define FIELD_MAX 256 /* bytes of `answer` and `id` */
#define ROW_SHOWN 80  /* bytes of a row that an error sentence quotes */

typedef struct row {
    gg_buf answer, id;
} row;

/* Names a row: its id, else its beginning, so that it can be found in the file. */
static const char *row_name(const row *r, const char *prompt, gg_buf *out)
{
    if (r->id.len) {
        gg_buf_json(out, r->id.data, r->id.len);
    } else {
        size_t len = strlen(prompt);
        gg_buf_json(out, prompt, len < ROW_SHOWN ? len : ROW_SHOWN);
    }
    return gg_buf_cstr(out);
}

static bool read_field(gg_json_reader *r, gg_buf *out)
{
    gg_buf_reset(out);
    return gg_read_null(r) || gg_read_string(r, out);
}

/* Walks the object. An inner prompt that is not text is passed over: only the answer matters. */
static bool read_object(const char *prompt, row *into, gg_buf *opening)
{
    gg_json_reader r = gg_json_reader_make(prompt, strlen(prompt));
    gg_json_name name;
    if (!gg_read_object(&r))
        return false;
    while (gg_read_name(&r, &name)) {
        if (gg_name_is(name, "answer")) {
            read_field(&r, &into->answer);
        } else if (gg_name_is(name, "id")) {
            gg_json_name slice;
            gg_buf_reset(&into->id);
            bool text = gg_read_raw(&r, &slice) && *slice.bytes == '"';
            if (!r.failed)
                gg_buf_add(&into->id, slice.bytes + text, slice.len - 2 * text);
        } else if (gg_name_is(name, "prompt") && opening) {
            read_field(&r, opening);
        } else {
            gg_read_skip(&r);
        }
    }
    return gg_read_end(&r);
}

static gg_status bad_row(const row *r, const char *prompt, const char *what, gg_error *error)
{
    gg_buf name;
    gg_buf_init(&name, 8 * FIELD_MAX);
    gg_status status = gg_fail(error, GG_E_CONFIG, "row %s %s", row_name(r, prompt, &name), what);
    gg_buf_free(&name);
    return status;
}

static gg_status check_word(const gg_env *env, const row *r, const char *prompt,
                            char word[GG_WORD_MAX + 1], gg_error *error)
{
    long detail;
    gg_buf name;
    gg_status status = GG_OK;
    gg_flaw flaw = gg_guess_normalise(gg_buf_cstr(&r->answer), r->answer.len, env->config.length,
                                      word, &detail);
    gg_buf_init(&name, 8 * FIELD_MAX);
    if (flaw != GG_FLAW_NONE)
        status = gg_fail(error, GG_E_CONFIG,
                         "row %s: its answer is not a word of %d letters a-z, as this game needs",
                         row_name(r, prompt, &name), env->config.length);
    else if (gg_words_find_allowed(env->words, word) < 0)
        status = gg_fail(error, GG_E_CONFIG,
                         "row %s: its answer \"%s\" is not among the allowed words, so nobody "
                         "could guess it; add it to the list given as `allowed`",
                         row_name(r, prompt, &name), word);
    gg_buf_free(&name);
    return status;
}

static gg_status read_row(const gg_env *env, const char *prompt, row *r, char word[GG_WORD_MAX + 1],
                          gg_buf *opening, gg_error *error)
{
    const char *start = prompt + strspn(prompt, " \t\r\n");
    bool bare = *start != '{', whole = bare || read_object(start, r, opening);
    if (bare)
        gg_buf_str(&r->answer, start);
    if (r->answer.status == GG_E_MEMORY || r->id.status == GG_E_MEMORY ||
        (opening && opening->status == GG_E_MEMORY))
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading a row");
    if (!whole)
        return bad_row(r, prompt, "is not a JSON object with a text `answer`", error);
    if (!r->answer.len)
        return bad_row(r, prompt,
                       "has no `answer`; a row is a JSON object with prompt, answer "
                       "and id, or a bare word",
                       error);
    return check_word(env, r, prompt, word, error);
}

gg_status gg_guess_read_task(const gg_env *env, const char *prompt, char word[GG_WORD_MAX + 1],
                             gg_buf *opening, gg_error *error)
{
    row r = {0};
    gg_buf_init(&r.answer, FIELD_MAX);
    gg_buf_init(&r.id, FIELD_MAX);
    gg_status status = read_row(env, prompt, &r, word, opening, error);
    gg_buf_free(&r.answer);
    gg_buf_free(&r.id);
    return status;
}
