/* Curves as SVG, drawn by a gnuplot of our own. It gets numbers and our own titles alone. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/clock.h"
#include "report/report_inside.h"

#define PLOT_MAX     (4u << 20)
#define PLOT_MS      10000
#define GNUPLOT      "gnuplot"
#define READ_AT_ONCE 65536

extern char **environ;

static void write_script(const gg_curve *curves, size_t count, const char *y_title, gg_buf *out)
{
    static const char *const colors[] = {"#5089c2", "#d07f2e", "#8b9298", "#4f9a55"};
    gg_buf_printf(out,
                  "set terminal svg size 620,270 dynamic font 'sans-serif,13'\n"
                  "set border 3 lc rgb '#8b9298'\nset tics nomirror\nset grid ytics lc rgb "
                  "'#8b9298' lw 0.3\nset key outside top horizontal\nset xlabel 'step'\nset ylabel "
                  "'%s'\nset yrange [*:*]\n",
                  y_title);
    for (size_t c = 0; c < count; c++) {
        gg_buf_printf(out, "$d%zu << EOD\n", c);
        for (size_t i = 0; i < curves[c].count; i++)
            if (isfinite(curves[c].y[i]))
                gg_buf_printf(out, "%.10g %.10g\n", curves[c].x[i], curves[c].y[i]);
        gg_buf_str(out, "EOD\n");
    }
    gg_buf_str(out, "plot ");
    for (size_t c = 0; c < count; c++)
        gg_buf_printf(
            out, "%s$d%zu using 1:2 with linespoints pt 7 ps 0.4 lw 1.8 lc rgb '%s' title '%s'",
            c ? ", " : "", c, colors[c % (sizeof colors / sizeof *colors)], curves[c].title);
    gg_buf_char(out, '\n');
}

/* Starts it with pipes at both ends; -1 when there is none. */
static pid_t start(int *to, int *from)
{
    int in[2], out[2];
    pid_t child = -1;
    posix_spawn_file_actions_t actions;
    char *const arguments[] = {GNUPLOT, "-", NULL};
    if (pipe2(in, O_CLOEXEC) != 0)
        return -1;
    if (pipe2(out, O_CLOEXEC) != 0) {
        close(in[0]);
        close(in[1]);
        return -1;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&child, GNUPLOT, &actions, NULL, arguments, environ) != 0)
        child = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    *to = in[1];
    *from = out[0];
    if (child < 0) {
        close(*to);
        close(*from);
    }
    return child;
}

/* Writes all of it and closes; a child that dies is seen when its output ends. */
static bool feed(int to, const gg_buf *script)
{
    size_t done = 0;
    while (done < script->len) {
        ssize_t n = write(to, script->data + done, script->len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    close(to);
    return done == script->len;
}

static bool drain(int from, gg_buf *svg)
{
    char bytes[READ_AT_ONCE];
    int64_t deadline = gg_clock_now() + PLOT_MS;
    for (;;) {
        struct pollfd waits = {.fd = from, .events = POLLIN};
        int64_t left = deadline - gg_clock_now();
        if (left <= 0 || poll(&waits, 1, (int)left) < 0)
            return false;
        if (!waits.revents)
            continue;
        ssize_t n = read(from, bytes, sizeof bytes);
        if (n <= 0)
            return n == 0;
        gg_buf_add(svg, bytes, (size_t)n);
    }
}

bool gg_plot_curves(const gg_curve *curves, size_t count, const char *y_title, gg_buf *svg)
{
    int to = -1, from = -1, state = -1;
    size_t begun = svg->len;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    gg_buf script, drawn;
    gg_buf_init(&script, PLOT_MAX);
    gg_buf_init(&drawn, PLOT_MAX);
    write_script(curves, count, y_title, &script);
    sigaction(SIGPIPE, &ignore, &before);
    pid_t child = script.status == GG_OK ? start(&to, &from) : -1;
    bool fine = child > 0 && feed(to, &script);
    if (child > 0) {
        fine = drain(from, &drawn) && fine;
        close(from);
        if (!fine)
            kill(child, SIGKILL);
        while (waitpid(child, &state, 0) < 0 && errno == EINTR)
            ;
    }
    sigaction(SIGPIPE, &before, NULL);
    const char *svg_at = strstr(gg_buf_cstr(&drawn), "<svg");
    fine = fine && state == 0 && svg_at && drawn.status == GG_OK;
    if (fine)
        gg_buf_str(svg, svg_at);
    gg_buf_free(&script);
    gg_buf_free(&drawn);
    return fine && svg->len > begun;
}
