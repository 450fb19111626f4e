/* The board of a record, finished or not. A record may come from anywhere, so nothing of it is
 * shown unescaped. */
#include "env/guess/game.h"

#include <string.h>

#define SHOWN_MAX 60 /* bytes of a call's arguments that the board quotes */

/* How a style writes the board. `cell` takes a mark and a letter. */
typedef struct board_style {
    const char *open, *close;
    const char *row_open, *row_close;
    const char *cell[4]; /* grey, yellow, green, not filled yet: text before the letter */
    const char *cell_close;
    const char *note_open, *note_close;
    bool letters_mark; /* the marks stand behind the word, as nothing else shows them */
    bool html;
} board_style;

#define CELL(mark, color)                                                                          \
    "<span class=\"gg-cell\" data-mark=\"" mark                                                    \
    "\" style=\"display:inline-block;width:1.6em;line-height:1.6em;margin:1px;"                    \
    "text-align:center;font-weight:bold;color:#fff;background:" color "\">"

static const board_style styles[] = {
    [GG_RENDER_PLAIN] = {.open = "",
                         .close = "",
                         .row_open = "",
                         .row_close = "\n",
                         .cell = {"", "", "", ""},
                         .cell_close = "",
                         .note_open = "",
                         .note_close = "\n",
                         .letters_mark = true},
    [GG_RENDER_ANSI] = {.open = "",
                        .close = "",
                        .row_open = "",
                        .row_close = "\n",
                        .cell = {"\x1b[97;100m ", "\x1b[30;43m ", "\x1b[30;42m ", "\x1b[2m "},
                        .cell_close = " \x1b[0m",
                        .note_open = "\x1b[2m",
                        .note_close = "\x1b[0m\n"},
    [GG_RENDER_HTML] = {.open = "<div class=\"gg-board\">\n",
                        .close = "</div>\n",
                        .row_open = "<div>",
                        .row_close = "</div>\n",
                        .cell = {CELL("grey", "#6b6f72"), CELL("yellow", "#8a6d10"),
                                 CELL("green", "#3f7d43"), CELL("blank", "#c8cbcd")},
                        .cell_close = "</span>",
                        .note_open = "<div><small>",
                        .note_close = "</small></div>\n",
                        .html = true},
};

static void add_escaped(gg_buf *out, const board_style *s, const char *text, size_t len)
{
    static const char *const entities[128] = {
        ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;", ['\''] = "&#39;"};
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        /* Controls could drive the terminal, and bytes beyond ASCII may be cut off in the middle.
         */
        if (c < 0x20 || c >= 0x7f)
            gg_buf_char(out, '?');
        else if (s->html && entities[c])
            gg_buf_str(out, entities[c]);
        else
            gg_buf_char(out, (char)c);
    }
}

/* A grey letter of which another copy is marked is no letter that the word lacks: the board says
 * so, as nothing else in it does. */
static void add_repeats(gg_buf *out, const board_style *s, const char *word, const char *marks)
{
    bool said[26] = {false};
    for (size_t i = 0; word[i]; i++)
        for (size_t k = 0; word[k] && marks[i] == 'B'; k++) {
            bool other = word[k] == word[i] && marks[k] != 'B' && !said[word[i] - 'a'];
            if (!other)
                continue;
            said[word[i] - 'a'] = true;
            gg_buf_printf(out, s->html ? " <small>no further %c</small>" : "  no further %c",
                          word[i] - 'a' + 'A');
        }
}

/* The colours once more, in words, for those who do not see them. */
static void open_row(gg_buf *out, const board_style *s, const char *word, const char *marks)
{
    if (!s->html) {
        gg_buf_str(out, s->row_open);
        return;
    }
    gg_buf_printf(out, "<div role=\"img\" aria-label=\"%s:", word);
    for (size_t i = 0; word[i]; i++)
        gg_buf_printf(out, " %s", marks[i] == 'G' ? "green" : marks[i] == 'Y' ? "yellow" : "grey");
    gg_buf_str(out, "\">");
}

static void add_guess(gg_buf *out, const board_style *s, const char *word, const char *marks)
{
    open_row(out, s, word, marks);
    for (size_t i = 0; word[i]; i++) {
        gg_buf_str(out, s->cell[marks[i] == 'G' ? 2 : marks[i] == 'Y' ? 1 : 0]);
        gg_buf_char(out, (char)(word[i] - 'a' + 'A'));
        gg_buf_str(out, s->cell_close);
    }
    if (s->letters_mark)
        gg_buf_printf(out, "  %s", marks);
    add_repeats(out, s, word, marks);
    gg_buf_str(out, s->row_close);
}

/* A call that was not played: what came, shortened, and that it did not count. */
static void add_other(gg_buf *out, const board_style *s, const gg_call *call)
{
    const char *text = call->arguments_raw ? call->arguments_raw : "";
    size_t len = strlen(text), shown = len < SHOWN_MAX ? len : SHOWN_MAX;
    gg_buf_str(out, s->note_open);
    gg_buf_str(out, call->status == GG_CALL_OVER ? "after the end: " : "not played: ");
    add_escaped(out, s, text, shown);
    gg_buf_str(out, len > shown ? "..." : "");
    gg_buf_str(out, s->note_close);
}

/* The rows still to be played. */
static void add_blanks(gg_buf *out, const board_style *s, const gg_guess_config *game, int played)
{
    for (int row = played; row < game->guesses; row++) {
        gg_buf_str(out, s->row_open);
        for (int i = 0; i < game->length; i++)
            gg_buf_printf(out, "%s_%s", s->cell[3], s->cell_close);
        gg_buf_str(out, s->row_close);
    }
}

static void add_end(gg_buf *out, const board_style *s, const gg_episode *episode)
{
    gg_buf_str(out, s->note_open);
    if (episode->outcome == GG_SOLVED) {
        gg_buf_printf(out, "solved with guess %lld", (long long)episode->moves);
    } else {
        gg_buf_str(out, gg_outcome_name(episode->outcome));
        if (episode->answer) {
            gg_buf_str(out, ", the word was ");
            add_escaped(out, s, episode->answer, strlen(episode->answer));
        }
    }
    gg_buf_str(out, s->note_close);
}

gg_status gg_guess_render(const gg_env *env, const gg_episode *episode, gg_render_style style,
                          gg_buf *out, gg_error *error)
{
    char word[GG_WORD_MAX + 1], marks[GG_WORD_MAX + 1];
    const board_style *s = &styles[style];
    int played = 0;
    gg_buf_str(out, s->open);
    for (size_t t = 0; t < episode->turn_count; t++)
        for (size_t c = 0; c < episode->turns[t].call_count; c++) {
            const gg_call *call = &episode->turns[t].calls[c];
            if (gg_guess_played(env, call, word, marks)) {
                add_guess(out, s, word, marks);
                played++;
            } else
                add_other(out, s, call);
        }
    if (episode->outcome == GG_UNPLAYED)
        add_blanks(out, s, &env->config, played);
    else
        add_end(out, s, episode);
    gg_buf_str(out, s->close);
    return gg_buf_status(out, "a board", error);
}
