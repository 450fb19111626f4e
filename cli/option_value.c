#include "cli/option_store.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/near.h"

#define CHOICES_MAX 32
#define CHOICE_ROOM 64

static bool is_one_of(const char *text, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, names[i]) == 0)
            return true;
    return false;
}

static gg_status check_flag(const char *text, const char *where, gg_opt_value *out, gg_error *error)
{
    static const char *const yes[] = {"true", "1", "yes", "on"};
    static const char *const no[] = {"false", "0", "no", "off"};

    out->flag = is_one_of(text, yes, sizeof yes / sizeof *yes);
    if (out->flag || is_one_of(text, no, sizeof no / sizeof *no))
        return GG_OK;
    return gg_fail(error, GG_E_CONFIG, "%s: \"%s\" is neither true nor false", where, text);
}

static gg_status check_int(const gg_opt *row, const char *text, const char *where,
                           gg_opt_value *out, gg_error *error)
{
    char *end = NULL;

    errno = 0;
    out->integer = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || (double)out->integer < row->low ||
        (double)out->integer > row->high)
        return gg_fail(error, GG_E_CONFIG, "%s: \"%s\" is not a whole number from %.0f to %.0f",
                       where, text, row->low, row->high);
    return GG_OK;
}

static gg_status check_real(const gg_opt *row, const char *text, const char *where,
                            gg_opt_value *out, gg_error *error)
{
    char *end = NULL;

    out->real = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(out->real) || out->real < row->low ||
        out->real > row->high)
        return gg_fail(error, GG_E_CONFIG, "%s: \"%s\" is not a number from %.12g to %.12g", where,
                       text, row->low, row->high);
    return GG_OK;
}

/* Cuts "a|b|c" into its names; the copy in `storage` is what they point to. */
static size_t split_choices(const char *choices, char *storage, size_t room, const char **names)
{
    size_t count = 0;

    snprintf(storage, room, "%s", choices);
    for (char *at = storage; at && count < CHOICES_MAX;) {
        char *bar = strchr(at, '|');
        if (bar)
            *bar++ = '\0';
        names[count++] = at;
        at = bar;
    }
    return count;
}

static gg_status check_choice(const gg_opt *row, const char *text, const char *where,
                              gg_error *error)
{
    char storage[CHOICES_MAX * CHOICE_ROOM];
    const char *names[CHOICES_MAX];
    size_t count = split_choices(row->choices, storage, sizeof storage, names);

    if (is_one_of(text, names, count))
        return GG_OK;
    const char *near = gg_near_miss(text, names, count);
    if (near)
        return gg_fail(error, GG_E_CONFIG, "%s: \"%s\" is unknown; did you mean \"%s\"?", where,
                       text, near);
    return gg_fail(error, GG_E_CONFIG, "%s: \"%s\" is not one of %s", where, text, row->choices);
}

/* A comma-separated list of choices, none empty, none twice. */
static gg_status check_many(const gg_opt *row, const char *text, const char *where, gg_error *error)
{
    const char *at = text;

    for (;;) {
        size_t len = strcspn(at, ",");
        char item[CHOICE_ROOM];
        snprintf(item, sizeof item, "%.*s", (int)len, at);
        gg_status status = check_choice(row, item, where, error);
        if (status != GG_OK)
            return status;
        for (const char *seen = text; seen < at; seen += strcspn(seen, ",") + 1)
            if (strcspn(seen, ",") == len && memcmp(seen, at, len) == 0)
                return gg_fail(error, GG_E_CONFIG, "%s: \"%s\" is named twice", where, item);
        if (at[len] == '\0')
            return GG_OK;
        at += len + 1;
    }
}

gg_status gg_opt_check(const gg_opt *row, const char *text, const char *where, gg_opt_value *out,
                       gg_error *error)
{
    switch (row->type) {
    case GG_VALUE_FLAG:
        return check_flag(text, where, out, error);
    case GG_VALUE_INT:
        return check_int(row, text, where, out, error);
    case GG_VALUE_REAL:
        return check_real(row, text, where, out, error);
    case GG_VALUE_MANY:
        return check_many(row, text, where, error);
    case GG_VALUE_PAIRS:
        if (!strchr(text, '=') || text[0] == '=')
            return gg_fail(error, GG_E_CONFIG, "%s: \"%s\" is not KEY=VALUE", where, text);
        return GG_OK;
    case GG_VALUE_TEXT:
        if (row->choices)
            return check_choice(row, text, where, error);
        break;
    case GG_VALUE_LIST:
    case GG_VALUE_FILE:
    case GG_VALUE_FOLDER:
        break;
    }
    if (!*text)
        return gg_fail(error, GG_E_CONFIG, "%s: the value is empty", where);
    return GG_OK;
}
