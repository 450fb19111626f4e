#include "cli/term.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 80
#define WIDTH_MIN     40
#define LINE_ROOM     8192

static bool is_set(const char *variable)
{
    const char *text = getenv(variable);
    return text && *text;
}

bool gg_term_is_tty(FILE *stream)
{
    return isatty(fileno(stream)) == 1;
}

bool gg_term_color(const gg_cli *cli, FILE *stream)
{
    const char *term = getenv("TERM");

    if (is_set("NO_COLOR") || gg_opt_flag(cli->opts, GG_OPT_NO_COLOR))
        return false;
    if (is_set("FORCE_COLOR"))
        return true;
    return gg_term_is_tty(stream) && term && strcmp(term, "dumb") != 0;
}

int gg_term_width(FILE *stream)
{
    struct winsize size = {0};
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;

    if (width <= 0 && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width <= 0 || width > 10000)
        return WIDTH_DEFAULT;
    return width < WIDTH_MIN ? WIDTH_MIN : (int)width;
}

/* One fwrite a line, so that lines of several threads do not mix. */
static void say(const char *format, va_list list)
{
    char line[LINE_ROOM];
    int used = snprintf(line, sizeof line, GG_PROGRAM ": ");
    int more = vsnprintf(line + used, sizeof line - (size_t)used - 1, format, list);

    used += more < (int)sizeof line - used - 1 ? more : (int)sizeof line - used - 2;
    line[used++] = '\n';
    fwrite(line, 1, (size_t)used, stderr);
}

void gg_complain(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say(format, list);
    va_end(list);
}

void gg_remark(const gg_cli *cli, const char *format, ...)
{
    va_list list;

    if (gg_opt_flag(cli->opts, GG_OPT_QUIET))
        return;
    va_start(list, format);
    say(format, list);
    va_end(list);
}

gg_exit gg_give_up(gg_phase phase, const gg_error *error)
{
    gg_complain("%s", error->text);
    return gg_exit_code(error->status, phase);
}

void gg_print(const gg_buf *text)
{
    fwrite(gg_buf_cstr(text), 1, text->len, stdout);
}

/* Whether stdout is a pipe whose reader went away. */
static bool reader_is_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

gg_exit gg_close_stdout(gg_exit code)
{
    bool failed = ferror(stdout) != 0, gone = reader_is_gone();

    errno = 0;
    if (fclose(stdout) != 0)
        failed = true;
    if (!failed)
        return code;
    /* A reader that went away (`| head`) knows why; anything else must be told. */
    if (!gone)
        gg_complain("cannot write the result to stdout: %s",
                    errno ? strerror(errno) : "a write failed earlier");
    return code == GG_EXIT_OK ? GG_EXIT_INTERNAL : code;
}

static bool is_plain(const char *word)
{
    return *word &&
           word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "-_./:=,@%+")] == '\0';
}

void gg_quote_command(gg_buf *out, int argc, char *const *argv)
{
    for (int i = 0; i < argc; i++) {
        if (i > 0)
            gg_buf_char(out, ' ');
        if (is_plain(argv[i])) {
            gg_buf_str(out, argv[i]);
            continue;
        }
        gg_buf_char(out, '\'');
        for (const char *c = argv[i]; *c; c++)
            if (*c == '\'')
                gg_buf_str(out, "'\\''");
            else
                gg_buf_char(out, *c);
        gg_buf_char(out, '\'');
    }
}
