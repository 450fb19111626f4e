/* guessgym view: the plays of a run, in the terminal one at a time, in a pipe one after another. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/game.h"
#include "cli/term.h"
#include "cli/view_text.h"

#define TEXT_MAX  (16u << 20)
#define PATH_ROOM 4096
#define ROWS_ELSE 24
#define HELP      "n next, p back, space scroll, f filter, q quit"

/* A play of the journal: where it stands, and what filters ask. */
typedef struct entry {
    int64_t offset;
    size_t len;
    gg_outcome outcome;
    bool repaired;
} entry;

typedef struct viewer {
    gg_cli *cli;
    gg_run *run;
    gg_game *game;
    FILE *file;
    entry *entries;
    size_t count, room;
    int64_t offset; /* while reading the journal */
    size_t *shown;  /* places of the entries that fit the filter */
    size_t shown_count, at, top;
    int filter;
    bool color;
    gg_buf line, text;
} viewer;

static bool fits_all(const entry *e)
{
    (void)e;
    return true;
}
static bool fits_solved(const entry *e)
{
    return e->outcome == GG_SOLVED;
}
static bool fits_lost(const entry *e)
{
    return e->outcome == GG_LOST;
}
static bool fits_failed(const entry *e)
{
    return e->outcome == GG_FORFEITED || e->outcome == GG_TRUNCATED;
}
static bool fits_errored(const entry *e)
{
    return e->outcome == GG_ERRORED;
}
static bool fits_repaired(const entry *e)
{
    return e->repaired;
}

static const struct {
    const char *name;
    bool (*fits)(const entry *entry);
} filters[] = {
    {"all", fits_all},       {"solved", fits_solved},   {"lost", fits_lost},
    {"failed", fits_failed}, {"errored", fits_errored}, {"repaired", fits_repaired},
};
#define FILTERS ((int)(sizeof filters / sizeof *filters))

/* ---- reading ---- */

static bool is_repaired(const gg_episode *e)
{
    for (size_t t = 0; t < e->turn_count; t++)
        for (size_t c = 0; c < e->turns[t].call_count; c++)
            if (e->turns[t].calls[c].repair_count)
                return true;
    return false;
}

static bool wanted(const viewer *v, const gg_episode *e)
{
    const char *id = gg_opt_text(v->cli->opts, GG_OPT_VIEW_ID);
    return !id || strcmp(id, e->id) == 0;
}

static gg_status add_entry(viewer *v, const gg_episode *e, size_t len, gg_error *error)
{
    if (v->count == v->room) {
        size_t room = v->room ? 2 * v->room : 1024;
        entry *grown = realloc(v->entries, room * sizeof *grown);
        if (!grown)
            return gg_fail(error, GG_E_MEMORY, "out of memory while reading plays");
        v->entries = grown;
        v->room = room;
    }
    v->entries[v->count++] = (entry){v->offset, len, e->outcome, is_repaired(e)};
    return GG_OK;
}

/* A damaged line is passed over, as everywhere. */
static gg_status each_line(void *context, const char *line, size_t len, size_t number,
                           gg_error *error)
{
    viewer *v = context;
    gg_episode *episode = NULL;
    (void)number;
    gg_status status = gg_episode_read(line, len, GG_READ_PLAY, &episode, error);
    if (status == GG_OK && wanted(v, episode))
        status = add_entry(v, episode, len, error);
    gg_episode_free(episode);
    v->offset += (int64_t)len + 1;
    return status == GG_E_FORMAT ? GG_OK : status;
}

static gg_status open_all(viewer *v, gg_error *error)
{
    gg_buf path;

    gg_status status = gg_run_open_read(v->cli->args[0], &v->run, error);
    if (status == GG_OK)
        status = gg_cli_saved_game(v->run, &v->game, error);
    if (status == GG_OK)
        status = gg_run_each(v->run, GG_JOURNAL_EPISODES, each_line, v, error);
    if (status != GG_OK)
        return status;
    gg_buf_init(&path, PATH_ROOM);
    gg_buf_printf(&path, "%s/%s", v->cli->args[0], gg_journal_name(GG_JOURNAL_EPISODES));
    v->file = fopen(gg_buf_cstr(&path), "rb");
    if (!v->file && v->count)
        status = gg_fail(error, GG_E_IO, "cannot read %s: %s", gg_buf_cstr(&path), strerror(errno));
    gg_buf_free(&path);
    v->shown = calloc(v->count + 1, sizeof *v->shown);
    if (status == GG_OK && !v->shown)
        status = gg_fail(error, GG_E_MEMORY, "out of memory for a list of plays");
    return status;
}

/* The text of a play, into v->text. */
static gg_status read_play(viewer *v, const entry *e, int width, gg_error *error)
{
    gg_episode *episode = NULL;

    gg_buf_reset(&v->text);
    gg_buf_reset(&v->line);
    gg_buf_reserve(&v->line, e->len + 1);
    gg_status status = gg_buf_status(&v->line, "a record", error);
    if (status == GG_OK && (fseeko(v->file, (off_t)e->offset, SEEK_SET) != 0 ||
                            fread(v->line.data, 1, e->len, v->file) != e->len))
        status = gg_fail(error, GG_E_IO, "cannot read a record of %s again", v->cli->args[0]);
    if (status == GG_OK)
        status = gg_episode_read(v->line.data, e->len, GG_READ_PLAY, &episode, error);
    if (status == GG_OK)
        status = gg_view_text(v->game, episode, v->color, width, &v->text, error);
    gg_episode_free(episode);
    return status;
}

static void apply_filter(viewer *v)
{
    v->shown_count = v->at = v->top = 0;
    for (size_t i = 0; i < v->count; i++)
        if (filters[v->filter].fits(&v->entries[i]))
            v->shown[v->shown_count++] = i;
}

/* ---- in a pipe ---- */

static gg_status print_all(viewer *v, gg_error *error)
{
    gg_status status = GG_OK;
    for (size_t i = 0; i < v->shown_count && status == GG_OK; i++) {
        status = read_play(v, &v->entries[v->shown[i]], gg_term_width(stdout), error);
        gg_buf_char(&v->text, '\n');
        if (status == GG_OK)
            gg_print(&v->text);
    }
    return status;
}

/* ---- on a terminal ---- */

static int rows_of_terminal(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 4 ? size.ws_row
                                                                           : ROWS_ELSE;
}

static size_t count_lines(const gg_buf *text)
{
    size_t n = 0;
    for (size_t i = 0; i < text->len; i++)
        n += text->data[i] == '\n';
    return n;
}

static gg_status draw(viewer *v, gg_error *error)
{
    int rows = rows_of_terminal() - 2, width = gg_term_width(stdout);
    gg_status status = GG_OK;

    if (v->shown_count)
        status = read_play(v, &v->entries[v->shown[v->at]], width, error);
    else
        gg_buf_reset(&v->text);
    size_t lines = count_lines(&v->text), most = lines > (size_t)rows ? lines - (size_t)rows : 0;
    v->top = v->top > most ? most : v->top;
    const char *at = gg_buf_cstr(&v->text);
    for (size_t skip = v->top; skip && *at; skip--)
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : at + strlen(at);
    fputs("\x1b[H\x1b[2J", stdout);
    for (int row = 0; row < rows && *at; row++) {
        size_t len = strcspn(at, "\n");
        printf("%.*s\r\n", (int)len, at);
        at += len + (at[len] == '\n');
    }
    printf("\x1b[%d;1H%s%zu of %zu plays, %s%s%s   " HELP "%s", rows + 2, v->color ? "\x1b[7m" : "",
           v->shown_count ? v->at + 1 : 0, v->shown_count, filters[v->filter].name,
           v->color ? "\x1b[0m" : "", *at ? " (more)" : "", "");
    fflush(stdout);
    return status;
}

static bool handle(viewer *v, int key)
{
    size_t page = (size_t)rows_of_terminal() - 3;

    switch (key) {
    case 'q':
    case 3:
    case 4:
    case EOF:
        return false;
    case 'n':
    case 'j':
    case '\r':
    case '\n':
        v->at += v->at + 1 < v->shown_count;
        v->top = 0;
        break;
    case 'p':
    case 'k':
        v->at -= v->at > 0;
        v->top = 0;
        break;
    case 'g':
        v->at = v->top = 0;
        break;
    case 'G':
        v->at = v->shown_count ? v->shown_count - 1 : 0;
        v->top = 0;
        break;
    case ' ':
        v->top += page;
        break;
    case 'b':
        v->top -= v->top > page ? page : v->top;
        break;
    case 'f':
        v->filter = (v->filter + 1) % FILTERS;
        apply_filter(v);
        break;
    default:
        break;
    }
    return true;
}

/* Arrow keys come as three bytes. */
static int read_key(void)
{
    int key = getchar();
    if (key != 27)
        return key;
    if (getchar() != '[')
        return 0;
    key = getchar();
    return key == 'A' || key == 'D' ? 'p' : key == 'B' || key == 'C' ? 'n' : 0;
}

static gg_status browse(viewer *v, gg_error *error)
{
    struct termios before, raw;
    gg_status status = GG_OK;

    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return print_all(v, error);
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    setvbuf(stdin, NULL, _IONBF, 0);
    do
        status = draw(v, error);
    while (status == GG_OK && handle(v, read_key()));
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    fputs("\r\n", stdout);
    return status;
}

gg_exit gg_cmd_view(gg_cli *cli)
{
    const char *filter = gg_opt_text(cli->opts, GG_OPT_VIEW_FILTER);
    viewer v = {.cli = cli, .color = gg_term_color(cli, stdout)};
    gg_error error = {0};

    gg_buf_init(&v.line, GG_LINE_MAX);
    gg_buf_init(&v.text, TEXT_MAX);
    while (v.filter + 1 < FILTERS && strcmp(filters[v.filter].name, filter) != 0)
        v.filter++;
    gg_status status = open_all(&v, &error);
    if (status == GG_OK) {
        apply_filter(&v);
        status = gg_term_is_tty(stdout) && gg_term_is_tty(stdin) ? browse(&v, &error)
                                                                 : print_all(&v, &error);
    }
    if (status == GG_OK && !v.shown_count)
        gg_complain("no play of %s fits", cli->args[0]);
    if (v.file)
        fclose(v.file);
    free(v.entries);
    free(v.shown);
    gg_buf_free(&v.line);
    gg_buf_free(&v.text);
    gg_game_close(v.game);
    gg_run_close(v.run);
    return status == GG_OK ? GG_EXIT_OK : gg_give_up(GG_STARTING, &error);
}
