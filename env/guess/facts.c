/* What the record keeps of a call: one flat JSON object. The names are read by score.c, by reward
 * scripts and by reports; docs/word-game.md lists them. */
#include "env/guess/game.h"

#include <string.h>

#define FACTS_ROOM 640 /* every name once, every number at its longest */

#define PUT(p, literal) (memcpy((p), (literal), sizeof(literal) - 1), (p) + sizeof(literal) - 1)
/* `,"name":value` */
#define PUT_NUMBER(p, name, value) put_number(PUT((p), ",\"" name "\":"), (unsigned)(value))
#define PUT_FLAG(p, name, value)   put_flag(PUT((p), ",\"" name "\":"), (value))

static char *put_number(char *p, unsigned n)
{
    char digits[12], *at = digits + sizeof digits;
    do {
        *--at = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    size_t len = (size_t)(digits + sizeof digits - at);
    memcpy(p, at, len);
    return p + len;
}

static char *put_flag(char *p, bool value)
{
    return value ? PUT(p, "true") : PUT(p, "false");
}

/* Millionths of a bit as a decimal number. */
static char *put_bits(char *p, uint32_t millionths)
{
    p = put_number(p, millionths / GG_ENTROPY_UNIT);
    *p++ = '.';
    for (uint32_t rest = millionths % GG_ENTROPY_UNIT, unit = GG_ENTROPY_UNIT / 10; unit;
         unit /= 10)
        *p++ = (char)('0' + rest / unit % 10);
    return p;
}

static char *put_word(char *p, const gg_play *play, const gg_guess_step *step)
{
    size_t length = (size_t)play->env->config.length;
    p = PUT(p, "{\"guess\":\"");
    memcpy(p, step->word, length);
    return PUT(p + length, "\"");
}

static char *put_use(char *p, const gg_use *use)
{
    p = PUT_NUMBER(p, "greens_kept", use->greens_kept);
    p = PUT_NUMBER(p, "greens_dropped", use->greens_dropped);
    p = PUT_NUMBER(p, "yellows_kept", use->yellows_kept);
    p = PUT_NUMBER(p, "yellows_missing", use->yellows_missing);
    p = PUT_NUMBER(p, "greys_used", use->greys_used);
    return PUT_NUMBER(p, "new_letters", use->new_letters);
}

void gg_guess_fact_step(const gg_play *play, const gg_guess_step *step, gg_buf *facts)
{
    char made[FACTS_ROOM], *p = put_word(made, play, step);
    p = PUT(p, ",\"marks\":\"");
    gg_marks marks = step->marks;
    for (int i = 0; i < play->env->config.length; i++, marks /= 3)
        *p++ = "BYG"[marks % 3];
    p = PUT(p, "\"");
    p = PUT_NUMBER(p, "number", play->count);
    p = PUT_FLAG(p, "listed", step->listed);
    p = PUT_FLAG(p, "repeat", step->repeat);
    p = put_use(p, &step->use);
    p = PUT_NUMBER(p, "new_greens", step->use.new_greens);
    p = PUT_NUMBER(p, "new_yellows", step->use.new_yellows);
    p = PUT_NUMBER(p, "candidates_before", step->before);
    p = PUT_NUMBER(p, "candidates_after", step->after);
    if (step->first)
        p = put_bits(PUT(p, ",\"entropy_bits\":"), step->entropy);
    p = PUT(p, "}");
    gg_buf_add(facts, made, (size_t)(p - made));
}

void gg_guess_fact_flaw(gg_flaw flaw, gg_buf *facts)
{
    static const char *const names[GG_FLAW_COUNT] = {
        [GG_FLAW_NONE] = "none",     [GG_FLAW_TOOL] = "tool",   [GG_FLAW_MISSING] = "missing",
        [GG_FLAW_TYPE] = "type",     [GG_FLAW_EMPTY] = "empty", [GG_FLAW_CHARACTER] = "character",
        [GG_FLAW_LENGTH] = "length",
    };
    gg_buf_printf(facts, "{\"malformed\":\"%s\"}", names[flaw]);
}

void gg_guess_fact_refused(const gg_play *play, const char *why, const gg_guess_step *step,
                           gg_buf *facts)
{
    char made[FACTS_ROOM], *p = put_word(made, play, step);
    p = PUT_FLAG(p, "listed", step->listed);
    p = put_use(p, &step->use);
    gg_buf_add(facts, made, (size_t)(p - made));
    gg_buf_printf(facts, ",\"refused\":\"%s\"}", why);
}
