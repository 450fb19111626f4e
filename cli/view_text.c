#include "cli/view_text.h"

#include <math.h>
#include <string.h>

#define INDENT    4
#define BOARD_MAX (1u << 20)
#define DIM       "\x1b[2m"
#define BOLD      "\x1b[1m"
#define PLAIN     "\x1b[0m"

typedef struct page {
    gg_buf *out;
    bool color;
    int width;
} page;

static void paint(page *p, const char *code)
{
    if (p->color)
        gg_buf_str(p->out, code);
}

/* Columns of a text, one a code point: good enough for wrapping. */
static size_t columns(const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

/* Controls could drive the terminal. C1 controls come as c2 80 .. c2 9f. */
static void add_clean(page *p, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        bool c1 = c == 0xc2 && i + 1 < len && (unsigned char)text[i + 1] < 0xa0;
        if (c1)
            i++;
        gg_buf_char(p->out, c < 0x20 || c == 0x7f || c1 ? ' ' : (char)c);
    }
}

/* As many bytes of a word as fit; at least one character. */
static size_t fitting(const char *word, size_t len, size_t room)
{
    size_t n = 0, used = 0;
    while (n < len) {
        size_t next = n + 1;
        while (next < len && ((unsigned char)word[next] & 0xc0) == 0x80)
            next++;
        if (used == room && used)
            break;
        used++;
        n = next;
    }
    return n;
}

/* Wraps one line at word ends, indented. */
static void add_line(page *p, const char *line, size_t len)
{
    size_t room = (size_t)(p->width - INDENT), used = 0;
    gg_buf_printf(p->out, "%*s", INDENT, "");
    while (len) {
        size_t blanks = 0, word = 0;
        while (blanks < len && line[blanks] == ' ')
            blanks++;
        while (blanks + word < len && line[blanks + word] != ' ')
            word++;
        size_t wide = columns(line + blanks, word);
        if (used && used + blanks + wide > room) {
            gg_buf_printf(p->out, "\n%*s", INDENT, "");
            used = 0;
            line += blanks;
            len -= blanks;
            blanks = 0;
        }
        size_t take =
            wide > room ? blanks + fitting(line + blanks, word, room - used) : blanks + word;
        add_clean(p, line, take);
        used += columns(line, take);
        line += take;
        len -= take;
    }
    gg_buf_char(p->out, '\n');
}

static void add_text(page *p, const char *text)
{
    while (text && *text) {
        size_t len = strcspn(text, "\n");
        add_line(p, text, len);
        text += len + (text[len] == '\n');
    }
}

static void add_call(page *p, const gg_call *call)
{
    gg_buf line;
    gg_buf_init(&line, BOARD_MAX);
    gg_buf_printf(&line, "%s %s", call->name ? call->name : "(no name)",
                  call->arguments_raw ? call->arguments_raw : "");
    if (call->status != GG_CALL_VALID)
        gg_buf_printf(&line, " (%s)", gg_call_status_name(call->status));
    for (size_t i = 0; i < call->repair_count; i++)
        gg_buf_printf(&line, " [repaired: %s]", call->repairs[i]);
    paint(p, BOLD);
    add_text(p, gg_buf_cstr(&line));
    paint(p, PLAIN);
    add_text(p, call->result);
    gg_buf_free(&line);
}

static void add_turn(page *p, const gg_turn *turn)
{
    paint(p, DIM);
    gg_buf_printf(p->out, "turn %d", turn->index + 1);
    if (turn->usage.completion >= 0)
        gg_buf_printf(p->out, ", %lld tokens", (long long)turn->usage.completion);
    gg_buf_printf(p->out, ", %lld ms\n", (long long)turn->latency_ms);
    add_text(p, turn->reasoning);
    paint(p, PLAIN);
    for (size_t c = 0; c < turn->call_count; c++)
        add_call(p, &turn->calls[c]);
}

static void add_head(page *p, const gg_episode *e)
{
    paint(p, BOLD);
    add_clean(p, e->id, strlen(e->id));
    paint(p, PLAIN);
    gg_buf_printf(p->out, "  %s, stopped: %s, reward %.4g", gg_outcome_name(e->outcome),
                  gg_stop_name(e->stop), e->reward);
    if (e->measure.name && !isnan(e->measure.value))
        gg_buf_printf(p->out, ", %s %.4g", e->measure.name, e->measure.value);
    gg_buf_char(p->out, '\n');
    for (size_t i = 0; i < e->part_count; i++)
        gg_buf_printf(p->out, "%s%s %.4g", i ? ", " : "parts: ", e->parts[i].name,
                      e->parts[i].value);
    gg_buf_str(p->out, e->part_count ? "\n" : "");
    if (e->error)
        add_text(p, e->error);
}

gg_status gg_view_text(const gg_game *game, const gg_episode *episode, bool color, int width,
                       gg_buf *out, gg_error *error)
{
    page p = {out, color, width < 3 * INDENT ? 3 * INDENT : width};
    add_head(&p, episode);
    gg_status status =
        game->api->render(game->env, episode, color ? GG_RENDER_ANSI : GG_RENDER_PLAIN, out, error);
    for (size_t t = 0; t < episode->turn_count && status == GG_OK; t++)
        add_turn(&p, &episode->turns[t]);
    return status == GG_OK ? gg_buf_status(out, "a play", error) : status;
}
