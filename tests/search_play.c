#include "tests/search_play.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/corpus_make.h"

static char folder[FOLDER_PATH];

int search_make(void **state)
{
    (void)state;
    folder_make(folder);
    corpus_index(folder);
    return 0;
}

int search_drop(void **state)
{
    (void)state;
    folder_remove(folder);
    return 0;
}

const char *search_path(const char *name)
{
    return folder_path(folder, name);
}

const char *search_settings(const char *more)
{
    static char text[FOLDER_PATH + 256];
    (void)snprintf(text, sizeof text, "{\"index\":\"%s\"%s}", folder_path(folder, "index"), more);
    return text;
}

void search_open(play *p)
{
    play_open(p, "search", search_settings(""));
    play_start(p, TASK(ANSWER));
}

void search_ask(play *p, const char *tool, const char *query)
{
    gg_buf arguments;
    gg_buf_init(&arguments, SEARCH_TEXT_ROOM);
    gg_buf_str(&arguments, "{\"query\":");
    gg_buf_json_str(&arguments, query);
    gg_buf_char(&arguments, '}');
    play_call(p, tool, gg_buf_cstr(&arguments));
    gg_buf_free(&arguments);
}

void search_near(double got, double want)
{
    if (!(fabs(got - want) < 1e-6))
        fail_msg("%.9g, not %.9g", got, want);
}
