/* What the word game tells the player. Every piece comes from texts.h. */
#include "env/guess/game.h"

#include <stdio.h>
#include <string.h>

#include "env/guess/texts.h"

/* Longest feedback: 32 words of 12 letters, 12 marks, 26 letters in either list, the headings. */
#define SAY_ROOM 2048

/* Feedback is put together on the stack and appended once: a play says it a million times a
 * second. PUT takes a literal, so that its length is known to the compiler. */
#define PUT(p, literal) (memcpy((p), (literal), sizeof(literal) - 1), (p) + sizeof(literal) - 1)

static char *put_number(char *p, int n)
{
    if (n >= 100)
        *p++ = (char)('0' + n / 100);
    if (n >= 10)
        *p++ = (char)('0' + n / 10 % 10);
    *p++ = (char)('0' + n % 10);
    return p;
}

static char *put_item(char *p, char letter)
{
    *p++ = ' ';
    *p++ = letter;
    return p;
}

static char *put_marks(char *p, const char *word, gg_marks marks, int length)
{
    for (int i = 0; i < length; i++, marks /= 3) {
        p = put_item(p, word[i]);
        switch (marks % 3) {
        case 2:
            p = PUT(p, T_GREEN);
            break;
        case 1:
            p = PUT(p, T_YELLOW);
            break;
        default:
            p = PUT(p, T_GREY);
        }
    }
    return p;
}

static char *put_places(char *p, const gg_known *known)
{
    if (!memchr(known->green, 0, (size_t)known->length))
        return PUT(p, T_ALL_PLACES);
    for (int i = 0; i < known->length; i++)
        p = put_item(p, known->green[i] ? known->green[i] : '_');
    return p;
}

static char *put_least(char *p, const gg_known *known, uint32_t letters)
{
    for (uint32_t left = letters; left; left &= left - 1) {
        int letter = __builtin_ctz(left);
        p = put_item(p, (char)('a' + letter));
        p = PUT(p, T_AT_LEAST);
        p = put_number(p, known->least[letter]);
    }
    return letters ? p : PUT(p, T_NOTHING);
}

static char *put_letters(char *p, uint32_t letters)
{
    for (uint32_t left = letters; left; left &= left - 1)
        p = put_item(p, (char)('a' + __builtin_ctz(left)));
    return letters ? p : PUT(p, T_NOTHING);
}

static char *put_left(char *p, const gg_play *play)
{
    p = PUT(p, T_KNOWN_LEFT);
    return put_number(p, play->env->config.guesses - play->count);
}

static char *put_knowledge(char *p, const gg_play *play)
{
    const gg_known *known = &play->known;
    p = PUT(p, T_KNOWN_PLACES);
    p = put_places(p, known);
    p = PUT(p, T_KNOWN_YELLOW);
    p = put_least(p, known, known->yellow);
    p = PUT(p, T_KNOWN_GREY);
    p = put_letters(p, known->capped);
    p = PUT(p, T_KNOWN_WORDS);
    for (int i = 0; i < play->count; i++) {
        *p++ = ' ';
        memcpy(p, play->guessed[i].word, (size_t)known->length);
        p += known->length;
    }
    return put_left(p, play);
}

void gg_guess_say_step(const gg_play *play, const gg_guess_step *step, gg_buf *text)
{
    char said[SAY_ROOM], *p = said;
    int length = play->env->config.length;
    if (step->repeat)
        p = PUT(p, T_REPEATED);
    if (!step->listed)
        p = PUT(p, T_UNLISTED);
    p = PUT(p, T_GUESS_OPEN);
    p = put_number(p, play->count);
    p = PUT(p, T_GUESS_CLOSE);
    p = put_marks(p, step->word, step->marks, length);
    if (step->solved) {
        p = PUT(p, T_SOLVED);
    } else if (play->over) {
        p = PUT(p, T_LOST_OPEN);
        memcpy(p, play->hidden, (size_t)length);
        p = PUT(p + length, T_LOST_CLOSE);
    } else {
        p = put_knowledge(p, play);
    }
    gg_buf_add(text, said, (size_t)(p - said));
}

/* A refusal ends with what is still wanted and left. */
static void say_wanted(const gg_play *play, gg_buf *text)
{
    char said[32];
    gg_buf_str(text, T_BAD_WANTED);
    gg_buf_int(text, play->env->config.length);
    gg_buf_str(text, T_BAD_CLOSE);
    gg_buf_add(text, said, (size_t)(put_left(said, play) - said));
}

static void say_character(long code, gg_buf *text)
{
    if (code < 0) {
        gg_buf_str(text, T_BAD_BYTES);
        return;
    }
    gg_buf_str(text, T_BAD_CHAR);
    if (code > 0x20 && code < 0x7f)
        gg_buf_printf(text, "'%c'", (char)code);
    else
        gg_buf_printf(text, "U+%04lX", (unsigned long)code);
    gg_buf_str(text, T_BAD_STOP);
}

static void say_length(long letters, gg_buf *text)
{
    if (letters > GG_ARGUMENT_MAX) {
        gg_buf_str(text, T_BAD_LONG);
        return;
    }
    gg_buf_str(text, T_BAD_LENGTH);
    gg_buf_int(text, letters);
    gg_buf_str(text, T_BAD_STOP);
}

void gg_guess_say_flaw(const gg_play *play, gg_flaw flaw, long detail, gg_buf *text)
{
    static const char *const plain[GG_FLAW_COUNT] = {
        [GG_FLAW_TOOL] = T_BAD_TOOL,
        [GG_FLAW_MISSING] = T_BAD_MISSING,
        [GG_FLAW_TYPE] = T_BAD_TYPE,
        [GG_FLAW_EMPTY] = T_BAD_EMPTY,
    };
    gg_buf_str(text, T_BAD_OPEN);
    if (flaw == GG_FLAW_CHARACTER)
        say_character(detail, text);
    else if (flaw == GG_FLAW_LENGTH)
        say_length(detail, text);
    else
        gg_buf_str(text, plain[flaw]);
    say_wanted(play, text);
}

void gg_guess_say_unlisted(const gg_play *play, gg_buf *text)
{
    char said[SAY_ROOM];
    char *p = put_left(PUT(said, T_NOT_LISTED), play);
    gg_buf_add(text, said, (size_t)(p - said));
}

void gg_guess_say_hard(const gg_play *play, const gg_use *use, gg_buf *text)
{
    char said[SAY_ROOM], *p = said;
    if (use->greens_dropped)
        p = put_places(PUT(p, T_HARD_GREEN), &play->known);
    else
        p = put_least(PUT(p, T_HARD_YELLOW), &play->known, use->missing);
    p = put_left(PUT(p, T_HARD_CLOSE), play);
    gg_buf_add(text, said, (size_t)(p - said));
}

void gg_guess_write_system(gg_env *env)
{
    const gg_guess_config *c = &env->config;
    gg_buf *out = &env->system;
    gg_buf_printf(out, T_SYSTEM_ROLE "%d" T_SYSTEM_TRIES "%d" T_SYSTEM_TOOL "%d" T_SYSTEM_MARKS,
                  c->length, c->guesses, c->length);
    gg_buf_str(out, c->reject ? T_SYSTEM_REJECT : T_SYSTEM_PLAY);
    gg_buf_str(out, T_SYSTEM_REPEAT);
    if (c->hard)
        gg_buf_str(out, T_SYSTEM_HARD);
    gg_buf_printf(out, T_SYSTEM_MALFORMED "%d" T_SYSTEM_CALLS "%d" T_SYSTEM_ADVICE, c->length,
                  c->guesses * GG_CALLS_A_GUESS);
    gg_buf_printf(&env->opening, T_OPENING_OPEN "%d" T_OPENING_CLOSE, c->length);
}

void gg_guess_write_tools(gg_env *env)
{
    gg_buf_printf(&env->tools, T_TOOL_OPEN "%d" T_TOOL_CLOSE, env->config.length);
}
