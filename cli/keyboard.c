#include "cli/keyboard.h"

#include <string.h>

#define WORD_ROOM 16

typedef enum letter_state { UNTRIED, OUT, PRESENT, PLACED, STATE_COUNT } letter_state;

typedef struct letters {
    letter_state state[26];
    bool any;
} letters;

static void add_call(letters *l, const gg_call *call)
{
    char word[WORD_ROOM], marks[WORD_ROOM];

    if (!call->facts || !gg_fact_text(call->facts, "guess", word, sizeof word) ||
        !gg_fact_text(call->facts, "marks", marks, sizeof marks))
        return;
    for (size_t i = 0; word[i] >= 'a' && word[i] <= 'z' && marks[i]; i++) {
        letter_state state = marks[i] == 'G' ? PLACED : marks[i] == 'Y' ? PRESENT : OUT;
        letter_state *known = &l->state[word[i] - 'a'];
        if (state > *known)
            *known = state;
        l->any = true;
    }
}

static void add_key(gg_buf *out, char letter, letter_state state, bool color)
{
    /* The board's colours (env/guess/render.c); letters that are out fade away. */
    static const char *const open[STATE_COUNT] = {"", "\x1b[2;90m", "\x1b[30;43m", "\x1b[30;42m"};
    char capital = (char)(letter - 'a' + 'A');

    if (color)
        gg_buf_printf(out, " %s%c\x1b[0m", open[state], capital);
    else
        gg_buf_printf(out, " %c", state == UNTRIED ? letter : state == OUT ? ' ' : capital);
}

void gg_keyboard(const gg_episode *episode, bool color, gg_buf *out)
{
    static const char *const rows[] = {"qwertyuiop", "asdfghjkl", "zxcvbnm"};
    letters l = {0};

    for (size_t t = 0; t < episode->turn_count; t++)
        for (size_t c = 0; c < episode->turns[t].call_count; c++)
            add_call(&l, &episode->turns[t].calls[c]);
    for (size_t r = 0; l.any && r < sizeof rows / sizeof *rows; r++) {
        gg_buf_printf(out, "%*s", (int)r, "");
        for (const char *c = rows[r]; *c; c++)
            add_key(out, *c, l.state[*c - 'a'], color);
        gg_buf_char(out, '\n');
    }
}
