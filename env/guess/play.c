/* One guess: from a call's arguments to marks, knowledge and the answers still open. */
#include "env/guess/game.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "env/guess/texts.h"

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The code point at p, -1 where the bytes are not UTF-8. Overlong forms need no care here: the
 * value is only shown. */
static long code_point(const char *p, size_t left)
{
    unsigned char first = (unsigned char)*p;
    if (first < 0x80)
        return first;
    size_t n = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || left < n)
        return -1;
    long code = first & (0x7f >> n);
    for (size_t i = 1; i < n; i++) {
        if (((unsigned char)p[i] & 0xc0) != 0x80)
            return -1;
        code = code << 6 | ((unsigned char)p[i] & 0x3f);
    }
    return code;
}

gg_flaw gg_guess_normalise(const char *text, size_t len, int length, char word[GG_WORD_MAX + 1],
                           long *detail)
{
    while (len && is_blank(text[len - 1]))
        len--;
    while (len && is_blank(*text)) {
        text++;
        len--;
    }
    *detail = (long)len;
    if (!len)
        return GG_FLAW_EMPTY;
    for (size_t i = 0; i < len; i++) {
        char c = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
        if (c < 'a' || c > 'z') {
            *detail = code_point(text + i, len - i);
            return GG_FLAW_CHARACTER;
        }
        if (i < (size_t)length)
            word[i] = c;
    }
    if (len != (size_t)length)
        return GG_FLAW_LENGTH;
    word[length] = '\0';
    return GG_FLAW_NONE;
}

/* Finds the argument. JSON null counts as missing, as an absent one does. */
static gg_flaw read_argument(gg_play *play, const char *arguments)
{
    gg_json_reader r = gg_json_reader_make(arguments, strlen(arguments));
    gg_json_name name;
    gg_buf_reset(&play->argument);
    if (!gg_read_object(&r))
        return GG_FLAW_TYPE;
    while (gg_read_name(&r, &name)) {
        if (!gg_name_is(name, T_ARGUMENT)) {
            gg_read_skip(&r);
            continue;
        }
        if (gg_read_null(&r))
            return GG_FLAW_MISSING;
        return gg_read_string(&r, &play->argument) ? GG_FLAW_NONE : GG_FLAW_TYPE;
    }
    return GG_FLAW_MISSING;
}

static gg_flaw read_guess(gg_play *play, const char *tool, const char *arguments,
                          char word[GG_WORD_MAX + 1], long *detail)
{
    *detail = 0;
    if (strcmp(tool, T_TOOL_NAME) != 0)
        return GG_FLAW_TOOL;
    gg_flaw flaw = read_argument(play, arguments);
    if (play->argument.status == GG_E_LIMIT) {
        *detail = GG_ARGUMENT_MAX + 1;
        return GG_FLAW_LENGTH;
    }
    if (flaw != GG_FLAW_NONE)
        return flaw;
    return gg_guess_normalise(gg_buf_cstr(&play->argument), play->argument.len,
                              play->env->config.length, word, detail);
}

static bool guessed_before(const gg_play *play, const char *word)
{
    for (int i = 0; i < play->count; i++)
        if (memcmp(play->guessed[i].word, word, (size_t)play->env->config.length) == 0)
            return true;
    return false;
}

/* True when the rules in force refuse the word; says so. */
static bool refuse(gg_play *play, gg_guess_step *step, gg_result *result)
{
    const gg_guess_config *config = &play->env->config;
    if (config->reject && !step->listed) {
        gg_guess_say_unlisted(play, result->text);
        gg_guess_fact_refused(play, "unlisted", step, result->facts);
        return true;
    }
    if (config->hard && (step->use.greens_dropped || step->use.missing)) {
        gg_guess_say_hard(play, &step->use, result->text);
        gg_guess_fact_refused(play, "hard", step, result->facts);
        return true;
    }
    return false;
}

static gg_status play_word(gg_play *play, gg_guess_step *step, int allowed, gg_result *result,
                           gg_error *error)
{
    const gg_env *env = play->env;
    step->first = play->count == 0;
    if (step->first && !gg_fits_entropy(env->fits, step->word, allowed, &step->entropy))
        return gg_fail(error, GG_E_MEMORY, "out of memory while playing a guess");
    step->repeat = guessed_before(play, step->word);
    step->marks = gg_mark(step->word, play->hidden, env->config.length);
    step->solved = memcmp(step->word, play->hidden, (size_t)env->config.length) == 0;
    gg_known_learn(&play->known, step->word, step->marks, &step->use);
    memcpy(play->guessed[play->count++].word, step->word, (size_t)env->config.length + 1);
    play->over = step->solved || play->count == env->config.guesses;
    result->status = GG_CALL_VALID;
    result->moved = true;
    result->done = play->over;
    result->outcome = step->solved ? GG_SOLVED : play->over ? GG_LOST : GG_UNPLAYED;
    step->before = play->open_count;
    step->after = play->open_count = gg_fits_narrow(env->fits, step->word, step->marks, play->open);
    gg_guess_say_step(play, step, result->text);
    gg_guess_fact_step(play, step, result->facts);
    return GG_OK;
}

static gg_status answer_call(gg_play *play, const char *tool, const char *arguments,
                             gg_result *result, gg_error *error)
{
    char word[GG_WORD_MAX + 1];
    long detail;
    gg_flaw flaw = read_guess(play, tool, arguments, word, &detail);
    if (play->argument.status == GG_E_MEMORY)
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading a call's arguments");
    if (flaw != GG_FLAW_NONE) {
        gg_guess_say_flaw(play, flaw, detail, result->text);
        gg_guess_fact_flaw(flaw, result->facts);
        return GG_OK;
    }
    int allowed = gg_words_find_allowed(play->env->words, word);
    gg_guess_step step = {.word = word, .listed = allowed >= 0};
    gg_known_judge(&play->known, word, &step.use);
    return refuse(play, &step, result) ? GG_OK : play_word(play, &step, allowed, result, error);
}

gg_status gg_guess_call(gg_play *play, const char *tool, const char *arguments, gg_result *result,
                        gg_error *error)
{
    result->status = GG_CALL_INVALID;
    result->moved = result->done = false;
    result->outcome = GG_UNPLAYED;
    gg_status status = GG_OK;
    if (play->over) {
        result->status = GG_CALL_OVER;
        gg_buf_str(result->text, T_OVER);
        gg_buf_str(result->facts, "{}");
    } else {
        status = answer_call(play, tool, arguments, result, error);
    }
    if (status == GG_OK)
        status = gg_buf_status(result->text, "a tool result", error);
    if (status == GG_OK)
        status = gg_buf_status(result->facts, "a call's facts", error);
    return status;
}
