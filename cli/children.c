#include "cli/children.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/file.h"

#define SELF           "/proc/self/exe"
#define LOG_MAX        (64u << 20)
#define LOG_MODE       0644
#define LINE_MAX_SHOWN 300
#define KILLED         128

extern char **environ;

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    (void)number;
    signals++;
}

static gg_status start(gg_child *child, gg_error *error)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    char *arguments[GG_CHILD_ARGUMENTS + 1] = {"guessgym"};

    for (size_t i = 0; i < GG_CHILD_ARGUMENTS && child->arguments[i]; i++)
        arguments[i + 1] = (char *)(size_t)child->arguments[i]; /* spawn does not write to them */
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, child->log,
                                     O_WRONLY | O_CREAT | O_TRUNC, LOG_MODE);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    pid_t pid = 0;
    int failed = posix_spawn(&pid, SELF, &files, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (failed)
        return gg_fail(error, GG_E_IO, "cannot start %s: %s", child->what, strerror(failed));
    child->pid = pid;
    child->started = true;
    return GG_OK;
}

static bool is_ready(const gg_child *children, const gg_child *child)
{
    return !child->started &&
           (child->after < 0 || (children[child->after].done && children[child->after].code == 0));
}

static gg_child *next_ready(gg_child *children, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_ready(children, &children[i]))
            return &children[i];
    return NULL;
}

static void hand_on(const gg_child *children, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (children[i].started && !children[i].done)
            kill(children[i].pid, SIGINT);
}

/* Waits for any child to end; NULL when a signal came instead. */
static gg_child *wait_for_one(gg_child *children, size_t count)
{
    int status = 0;
    pid_t pid = waitpid(-1, &status, 0);

    for (size_t i = 0; i < count && pid > 0; i++)
        if (children[i].started && !children[i].done && children[i].pid == pid) {
            children[i].done = true;
            children[i].code = WIFEXITED(status) ? WEXITSTATUS(status) : KILLED + WTERMSIG(status);
            return &children[i];
        }
    return NULL;
}

static gg_status failed(const gg_child *child, gg_error *error)
{
    gg_buf log;
    size_t end, start_of;

    gg_buf_init(&log, LOG_MAX);
    gg_file_read(child->log, &log, NULL);
    const char *text = gg_buf_cstr(&log);
    for (end = log.len; end > 0 && text[end - 1] == '\n'; end--)
        continue;
    for (start_of = end; start_of > 0 && text[start_of - 1] != '\n'; start_of--)
        continue;
    size_t len = end - start_of < LINE_MAX_SHOWN ? end - start_of : LINE_MAX_SHOWN;
    gg_fail(error, GG_E_STATE, "%s failed (exit code %d, log %s): %.*s", child->what, child->code,
            child->log, (int)len, text + start_of);
    gg_buf_free(&log);
    return GG_E_STATE;
}

static gg_status run_all(gg_child *children, size_t count, size_t jobs, gg_child_fn ended,
                         void *context, gg_error *error)
{
    size_t running = 0, done = 0;
    int handed = 0;
    gg_status status = GG_OK;
    gg_child *child;

    for (;;) {
        while (status == GG_OK && signals == 0 && running < jobs &&
               (child = next_ready(children, count))) {
            status = start(child, error);
            running += status == GG_OK;
        }
        if (running == 0)
            break;
        child = wait_for_one(children, count);
        for (; handed < signals; handed++)
            hand_on(children, count);
        if (!child)
            continue;
        running--;
        done += child->code == 0;
        if (child->code != 0 && status == GG_OK && signals == 0)
            status = failed(child, error);
        else if (child->code == 0)
            ended(context, child, done);
    }
    if (signals > 0)
        return gg_fail(error, GG_E_INTERRUPTED, "interrupted with %zu of %zu parts done", done,
                       count);
    return status;
}

gg_status gg_children_run(gg_child *children, size_t count, size_t jobs, gg_child_fn ended,
                          void *context, gg_error *error)
{
    struct sigaction ours = {.sa_handler = on_signal}, interrupt, terminate;

    signals = 0;
    sigaction(SIGINT, &ours, &interrupt);
    sigaction(SIGTERM, &ours, &terminate);
    gg_status status = run_all(children, count, jobs, ended, context, error);
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGTERM, &terminate, NULL);
    return status;
}
