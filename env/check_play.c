/* Rules about plays. */
#include "env/check_rules.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define THREADS    4
#define MANY       200 /* plays begun and ended to look for leaks */
#define LEAK_BYTES 16  /* a play: less is the allocator's own */
#define SMALL_TEXT 4   /* bytes of a buffer that nothing fits */
#define PREFIX     "kept"

static const char *first_task(const gg_checker *c)
{
    return c->tasks[0];
}

/* As many calls as an episode may have, and some more. */
static size_t script_length(const gg_checker *c)
{
    size_t calls = (size_t)c->game->info.max_calls + 2;
    return calls < GG_CHECK_CALLS_MAX ? calls : GG_CHECK_CALLS_MAX;
}

/* Texts of every task are there; what stood in the buffer stays. */
static void check_texts(gg_checker *c)
{
    const gg_env_api *api = c->game->api;
    for (size_t i = 0; i < c->task_count && i < GG_CHECK_TASKS; i++) {
        gg_error error = {0};
        gg_play *play = NULL;
        gg_buf out;
        if (!gg_check_ok(c, api->start(c->game->env, c->tasks[i], c->seed, &play, &error), &error,
                         "start"))
            return;
        gg_buf_init(&out, GG_CHECK_TEXT_MAX);
        gg_buf_str(&out, PREFIX);
        if (gg_check_ok(c, api->system_prompt(play, &out, &error), &error, "system_prompt") &&
            gg_check_ok(c, api->opening(play, &out, &error), &error, "opening")) {
            if (strncmp(gg_buf_cstr(&out), PREFIX, strlen(PREFIX)) != 0)
                gg_check_broke(c,
                               "system_prompt or opening emptied the buffer it should append to");
            else if (out.len == strlen(PREFIX))
                gg_check_broke(c, "task %zu has neither a system prompt nor an opening", i + 1);
        }
        gg_buf_free(&out);
        api->finish(play);
    }
}

/* Plays a sane script on every task; the log's own checks do the rest. */
static void check_results(gg_checker *c)
{
    for (size_t i = 0; i < c->task_count && i < GG_CHECK_TASKS; i++) {
        gg_script script;
        gg_log log;
        gg_script_sane(c, &script, script_length(c));
        gg_log_play(c, c->tasks[i], c->seed, &script, &log);
        gg_log_free(&log);
        gg_script_free(&script);
    }
}

static void check_hostile(gg_checker *c)
{
    gg_script script;
    gg_log log;
    gg_script_hostile(c, &script);
    gg_log_play(c, first_task(c), c->seed, &script, &log);
    for (size_t i = 0; log.episode && i < 2 && i < log.episode->turns[0].call_count; i++)
        if (log.episode->turns[0].calls[i].status != GG_CALL_INVALID)
            gg_check_broke(c, "a call of an unknown tool is %s, not invalid",
                           gg_call_status_name(log.episode->turns[0].calls[i].status));
    gg_log_free(&log);
    gg_script_free(&script);
}

static void check_same_seed(gg_checker *c)
{
    for (size_t i = 0; i < c->task_count && i < GG_CHECK_TASKS; i++) {
        gg_script script;
        gg_log a, b;
        gg_script_sane(c, &script, script_length(c));
        gg_log_play(c, c->tasks[i], c->seed + i, &script, &a);
        gg_log_play(c, c->tasks[i], c->seed + i, &script, &b);
        gg_log_compare(c, &a, &b, "with the same seed");
        gg_log_free(&a);
        gg_log_free(&b);
        gg_script_free(&script);
    }
}

/* Calls of two plays in turn: neither may notice the other. */
static void play_in_turn(gg_checker *c, const gg_script *script, gg_buf *out)
{
    const gg_env_api *api = c->game->api;
    gg_play *plays[2] = {NULL, NULL};
    gg_error error = {0};
    gg_buf text, facts;
    gg_buf_init(&text, GG_CHECK_TEXT_MAX);
    gg_buf_init(&facts, GG_CHECK_TEXT_MAX);
    for (size_t i = 0; i < 2; i++)
        if (!gg_check_ok(c,
                         api->start(c->game->env, c->tasks[i * (c->task_count > 1)], c->seed,
                                    &plays[i], &error),
                         &error, "start"))
            plays[i] = NULL;
    for (size_t n = 0; n < script->count && plays[0] && plays[1]; n++)
        for (size_t i = 0; i < 2; i++) {
            gg_result result = {.text = &text, .facts = &facts};
            gg_buf_reset(&text);
            gg_buf_reset(&facts);
            /* The second play makes the calls in the opposite order. */
            size_t k = i ? script->count - 1 - n : n;
            api->call(plays[i], script->calls[k].tool, script->calls[k].arguments, &result, &error);
            if (i == 0)
                gg_buf_printf(out, "%s\n", gg_buf_cstr(&text));
        }
    for (size_t i = 0; i < 2; i++)
        if (plays[i])
            api->finish(plays[i]);
    gg_buf_free(&text);
    gg_buf_free(&facts);
}

static void check_apart(gg_checker *c)
{
    gg_script script;
    gg_log alone;
    gg_buf texts;
    gg_buf_init(&texts, GG_CHECK_TEXT_MAX);
    gg_script_sane(c, &script, script_length(c));
    gg_log_play(c, first_task(c), c->seed, &script, &alone);
    play_in_turn(c, &script, &texts);
    /* The log's texts begin with prompt and opening; results end both. */
    const char *all = gg_buf_cstr(&alone.texts);
    if (alone.texts.len < texts.len ||
        strcmp(all + alone.texts.len - texts.len, gg_buf_cstr(&texts)) != 0)
        gg_check_broke(c, "a play says something else when another play is made in between");
    gg_buf_free(&texts);
    gg_log_free(&alone);
    gg_script_free(&script);
}

/* Threads share the environment, each with a play of its own. */
typedef struct worker {
    gg_checker checker; /* its own: nothing of the run is shared but the environment */
    const gg_script *script;
    gg_log log;
    pthread_t thread;
    bool started;
} worker;

static void *work(void *context)
{
    worker *w = context;
    gg_log_play(&w->checker, w->checker.tasks[0], w->checker.seed, w->script, &w->log);
    return NULL;
}

static void check_threads(gg_checker *c)
{
    worker workers[THREADS];
    gg_script script;
    gg_log alone;
    gg_script_sane(c, &script, script_length(c));
    gg_log_play(c, first_task(c), c->seed, &script, &alone);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){.checker = *c, .script = &script};
        gg_buf_init(&workers[i].checker.detail, GG_CHECK_TEXT_MAX);
        workers[i].started = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
    }
    for (size_t i = 0; i < THREADS; i++) {
        if (!workers[i].started)
            continue;
        pthread_join(workers[i].thread, NULL);
        gg_log_compare(c, &alone, &workers[i].log, "on another thread");
        gg_log_free(&workers[i].log);
        gg_buf_free(&workers[i].checker.detail);
    }
    gg_log_free(&alone);
    gg_script_free(&script);
}

/* After the end every call answers GG_CALL_OVER; the log checks that, here the end must be seen. */
static void check_over(gg_checker *c)
{
    size_t seen = 0;
    for (size_t i = 0; i < c->task_count && i < GG_CHECK_TASKS; i++) {
        gg_script script;
        gg_log log;
        gg_script_sane(c, &script, GG_CHECK_CALLS_MAX);
        gg_log_play(c, c->tasks[i], c->seed, &script, &log);
        seen += log.calls_after_end;
        gg_log_free(&log);
        gg_script_free(&script);
    }
    if (!seen)
        gg_check_note(c, "not tried: no random play came to its end");
}

/* A reply that is no move leaves everything as it was. */
static void check_text(gg_checker *c)
{
    const gg_env_api *api = c->game->api;
    gg_error error = {0};
    gg_play *play = NULL;
    gg_buf text, facts;
    if (!api->text)
        return;
    if (!gg_check_ok(c, api->start(c->game->env, first_task(c), c->seed, &play, &error), &error,
                     "start"))
        return;
    gg_buf_init(&text, GG_CHECK_TEXT_MAX);
    gg_buf_init(&facts, GG_CHECK_TEXT_MAX);
    static const char *const replies[] = {"", " ", "I am not sure what to do.", "\xff\x01%s%n",
                                          "{\"a\":[1,2"};
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        bool taken = false;
        gg_result result = {.text = &text, .facts = &facts};
        gg_buf_reset(&text);
        gg_buf_reset(&facts);
        if (gg_check_ok(c, api->text(play, replies[i], &taken, &result, &error), &error, "text") &&
            !taken && (text.len || facts.len))
            gg_check_broke(c, "text did not take a reply but wrote something");
    }
    gg_buf_free(&text);
    gg_buf_free(&facts);
    api->finish(play);
}

/* A buffer that is too small must be told by an error. */
static void check_small_buffers(gg_checker *c)
{
    const gg_env_api *api = c->game->api;
    gg_script script;
    gg_error error = {0};
    gg_play *play = NULL;
    gg_buf text, facts;
    gg_script_sane(c, &script, 1);
    gg_buf_init(&text, SMALL_TEXT);
    gg_buf_init(&facts, SMALL_TEXT);
    if (script.count &&
        gg_check_ok(c, api->start(c->game->env, first_task(c), c->seed, &play, &error), &error,
                    "start")) {
        gg_result result = {.text = &text, .facts = &facts};
        gg_status status =
            api->call(play, script.calls[0].tool, script.calls[0].arguments, &result, &error);
        if (status == GG_OK && (text.status != GG_OK || facts.status != GG_OK))
            gg_check_broke(c, "call returned success although its text did not fit the buffer");
        gg_buf_reset(&text);
        status = api->system_prompt(play, &text, &error);
        if (status == GG_OK && text.status != GG_OK)
            gg_check_broke(c, "system_prompt returned success although it did not fit the buffer");
        api->finish(play);
    }
    gg_buf_free(&text);
    gg_buf_free(&facts);
    gg_script_free(&script);
}

/* Memory in use grows with every play when something is not freed. Where the allocator tells
 * nothing (address sanitizer) its own leak report does. */
static void check_leaks(gg_checker *c)
{
    size_t used[3];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++) {
            gg_error error = {0};
            gg_play *play = NULL;
            if (!gg_check_ok(
                    c, c->game->api->start(c->game->env, first_task(c), (uint64_t)i, &play, &error),
                    &error, "start"))
                return;
            c->game->api->finish(play);
        }
        struct mallinfo2 info = mallinfo2();
        used[round] = info.uordblks + info.hblkhd;
    }
    /* Twice in a row: a cache that is filled once is no leak. */
    if (used[1] > used[0] + MANY * LEAK_BYTES && used[2] > used[1] + MANY * LEAK_BYTES)
        gg_check_broke(c, "memory grows by %zu bytes a play", (used[2] - used[1]) / MANY);
}

const gg_rule gg_rules_play[] = {
    {"texts", check_texts},
    {"results", check_results},
    {"invalid-input", check_hostile},
    {"same-seed", check_same_seed},
    {"plays-apart", check_apart},
    {"threads", check_threads},
    {"after-the-end", check_over},
    {"text-replies", check_text},
    {"small-buffers", check_small_buffers},
    {"leaks", check_leaks},
    {NULL, NULL},
};
