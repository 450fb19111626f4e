#include "tests/counter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/json.h"

struct gg_play {
    const gg_env *env;
    int target, sum, moves;
    bool over;
    _Atomic int busy;
};

static const char tools_json[] =
    "[{\"type\":\"function\",\"function\":{\"name\":\"add\",\"description\":\"Adds n.\","
    "\"parameters\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},"
    "\"required\":[\"n\"]}}},{\"type\":\"function\",\"function\":{\"name\":\"peek\"}},"
    "{\"type\":\"function\",\"function\":{\"name\":\"break\"}}]";

static void info(const gg_env *env, gg_env_info *out)
{
    *out = (gg_env_info){.name = "counter",
                         .task_noun = "number",
                         .move_noun = "step",
                         .measure_name = "solved",
                         .default_reward = "solve",
                         .max_calls = COUNTER_CALLS,
                         .max_turns = COUNTER_TURNS,
                         .may_block = env->may_block};
}

static const char *tools(const gg_env *env)
{
    (void)env;
    return tools_json;
}

static gg_status identity(const gg_env *env, const char *prompt, gg_buf *out, gg_error *error)
{
    char *end;
    long target = strtol(prompt, &end, 10);
    (void)env;
    if (end == prompt || *end || target < 1 || target > 99)
        return gg_fail(error, GG_E_CONFIG, "\"%s\" is not a number from 1 to 99", prompt);
    gg_buf_int(out, target);
    return GG_OK;
}

static gg_status start(const gg_env *env, const char *prompt, uint64_t seed, gg_play **out,
                       gg_error *error)
{
    gg_buf text;
    (void)seed;
    gg_buf_init(&text, 64);
    gg_status status = identity(env, prompt, &text, error);
    *out = status == GG_OK ? calloc(1, sizeof **out) : NULL;
    if (status == GG_OK && !*out)
        status = gg_fail(error, GG_E_MEMORY, "out of memory");
    if (*out) {
        (*out)->target = (int)strtol(gg_buf_cstr(&text), NULL, 10);
        (*out)->env = env;
        env->counts->playing++;
    }
    gg_buf_free(&text);
    return status;
}

static gg_status system_prompt(const gg_play *play, gg_buf *out, gg_error *error)
{
    (void)play;
    (void)error;
    gg_buf_str(out, "Reach the number.");
    return GG_OK;
}

static gg_status opening(const gg_play *play, gg_buf *out, gg_error *error)
{
    (void)play;
    (void)error;
    gg_buf_str(out, "Begin.");
    return GG_OK;
}

static void add(gg_play *play, int64_t n, gg_result *result)
{
    play->sum += (int)n;
    play->moves++;
    result->moved = true;
    result->status = GG_CALL_VALID;
    result->done = play->over = play->sum >= play->target || play->moves == COUNTER_MOVES;
    result->outcome = play->sum == play->target ? GG_SOLVED : GG_LOST;
    gg_buf_printf(result->text, "sum %d", play->sum);
    gg_buf_printf(result->facts, "{\"n\":%d}", (int)n);
}

static void run(gg_play *play, const char *tool, const char *arguments, gg_result *result)
{
    gg_json_reader r = gg_json_reader_make(arguments, strlen(arguments));
    gg_json_name name;
    int64_t n = 0;
    bool found = false;
    if (play->over) {
        result->status = GG_CALL_OVER;
        gg_buf_str(result->text, "The game is over.");
        return;
    }
    if (strcmp(tool, "peek") == 0) {
        result->status = GG_CALL_VALID;
        gg_buf_printf(result->text, "sum %d", play->sum);
        return;
    }
    gg_read_object(&r);
    while (gg_read_name(&r, &name)) {
        if (gg_name_is(name, "n"))
            found = gg_read_int(&r, &n) && n > 0 && n < 100;
        else
            gg_read_skip(&r);
    }
    if (found) {
        add(play, n, result);
        return;
    }
    result->status = GG_CALL_INVALID;
    gg_buf_str(result->text, "n must be a whole number from 1 to 99.");
}

static gg_status call(gg_play *play, const char *tool, const char *arguments, gg_result *result,
                      gg_error *error)
{
    if (play->busy++)
        play->env->counts->overlapping++;
    if (play->env->sleep_ms)
        nanosleep(&(struct timespec){0, play->env->sleep_ms * 1000000L}, NULL);
    gg_status status = GG_OK;
    if (strcmp(tool, "break") == 0)
        status = gg_fail(error, GG_E_IO, "the disk is gone");
    else
        run(play, tool, arguments, result);
    play->busy--;
    return status;
}

static gg_status text(gg_play *play, const char *reply, bool *taken, gg_result *result,
                      gg_error *error)
{
    int n;
    char rest;
    (void)error;
    *taken = sscanf(reply, "add %d%c", &n, &rest) == 1 && n > 0 && n < 100;
    if (*taken)
        add(play, n, result);
    return GG_OK;
}

static gg_status answer(const gg_play *play, gg_buf *out, gg_error *error)
{
    (void)error;
    gg_buf_int(out, play->target);
    return GG_OK;
}

static void finish(gg_play *play)
{
    if (!play)
        return;
    play->env->counts->playing--;
    free(play);
}

static double measure(const gg_env *env, const gg_episode *episode)
{
    (void)env;
    return episode->outcome == GG_SOLVED;
}

static void parts(const gg_env *env, const gg_episode *episode, gg_part_fn each, void *context)
{
    (void)env;
    (void)episode;
    (void)each;
    (void)context;
}

static void labels(const gg_env *env, const gg_episode *episode, gg_label_fn each, void *context)
{
    (void)env;
    each(context, "first", episode->moves ? "moved" : "did not move");
}

static const gg_env_api api = {
    .abi = GG_ENV_ABI,
    .name = "counter",
    .info = info,
    .tools = tools,
    .identity = identity,
    .start = start,
    .system_prompt = system_prompt,
    .opening = opening,
    .call = call,
    .text = text,
    .answer = answer,
    .finish = finish,
    .measure = measure,
    .parts = parts,
    .labels = labels,
};

gg_game counter_game(gg_env *env)
{
    gg_game game = {.api = &api, .env = env};
    env->counts = &env->own;
    info(env, &game.info);
    return game;
}
