#include <guessgym/error.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    [GG_OK] = "ok",
    [GG_E_MEMORY] = "out of memory",
    [GG_E_ARGUMENT] = "bad argument",
    [GG_E_CONFIG] = "bad configuration",
    [GG_E_IO] = "input/output failed",
    [GG_E_FORMAT] = "bad format",
    [GG_E_LIMIT] = "limit reached",
    [GG_E_LOCKED] = "locked",
    [GG_E_UNREACHABLE] = "unreachable",
    [GG_E_PROTOCOL] = "bad protocol",
    [GG_E_STATE] = "wrong state",
    [GG_E_INTERRUPTED] = "interrupted",
};

const char *gg_status_name(gg_status status)
{
    size_t i = (size_t)status;
    return i < sizeof names / sizeof *names ? names[i] : "unknown status";
}

/* Formats into text and marks a cut sentence, so that a reader knows there was more. */
static void fill(char *text, size_t room, const char *format, va_list list)
{
    int len = vsnprintf(text, room, format, list);
    if (len >= (int)room)
        memcpy(text + room - 4, "...", 4);
}

gg_status gg_fail(gg_error *error, gg_status status, const char *format, ...)
{
    if (error) {
        va_list list;
        va_start(list, format);
        error->status = status;
        fill(error->text, sizeof error->text, format, list);
        va_end(list);
    }
    return status;
}

gg_status gg_fail_prefix(gg_error *error, const char *format, ...)
{
    char prefix[GG_ERROR_TEXT];
    char rest[GG_ERROR_TEXT];
    va_list list;

    if (!error)
        return GG_E_ARGUMENT;
    va_start(list, format);
    fill(prefix, sizeof prefix, format, list);
    va_end(list);
    memcpy(rest, error->text, sizeof rest);
    return gg_fail(error, error->status, "%s: %s", prefix, rest);
}
