/* A place in a text that is read from front to back. */
#ifndef GG_AGENT_CURSOR_H
#define GG_AGENT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <guessgym/buf.h>

typedef struct gg_cursor {
    const char *at, *end;
} gg_cursor;

static inline bool gg_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline void gg_skip_space(gg_cursor *c)
{
    while (c->at < c->end && gg_is_space(*c->at))
        c->at++;
}

/* Passes over `mark` if it is next, white space before it included. */
static inline bool gg_take(gg_cursor *c, const char *mark)
{
    size_t n = strlen(mark);
    const char *start = c->at;
    gg_skip_space(c);
    if ((size_t)(c->end - c->at) >= n && memcmp(c->at, mark, n) == 0) {
        c->at += n;
        return true;
    }
    c->at = start;
    return false;
}

/* A Python literal (strings, numbers, True, False, None, lists, tuples, dictionaries with text
 * keys), appended as JSON. False, with rubbish appended, for anything else. */
bool gg_take_literal(gg_cursor *c, gg_buf *out);

#endif
