/* The search game's function table: opening with its options, and a play's beginning and end. */
#include "env/search/game.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/json.h"

#define PATH_ROOM   4096
#define PROMPT_ROOM 16384
#define TURNS_MAX   100
#define CALLS_MAX   1000

static const gg_env_option options[] = {
    {"index", GG_OPTION_FILE, NULL, NULL, "folder that guessgym index made"},
    {"turns", GG_OPTION_INT, "10", NULL, "replies an episode, 1 to 100"},
    {"calls", GG_OPTION_INT, "20", NULL, "tool calls an episode, 1 to 1000"},
    {"k", GG_OPTION_INT, "10", NULL, "documents a search shows when it does not say, 1 to 20"},
    {"solved_at", GG_OPTION_TEXT, "0.5", NULL, "nDCG@10 from which a question counts as solved"},
};

static const char *const split_names[] = {"train", "val", "test"};

static gg_status read_int(const cJSON *config, const char *name, int high, int *out,
                          gg_error *error)
{
    int64_t value;
    if (!gg_json_int(config, name, &value) || value < 1 || value > high)
        return gg_fail(error, GG_E_CONFIG, "%s must be a whole number from 1 to %d", name, high);
    *out = (int)value;
    return GG_OK;
}

static gg_status read_config(gg_env *env, const cJSON *config, gg_error *error)
{
    const char *solved_at = gg_json_text(config, "solved_at");
    char *end = NULL;
    gg_status status = read_int(config, "turns", TURNS_MAX, &env->turns, error);
    if (status == GG_OK)
        status = read_int(config, "calls", CALLS_MAX, &env->calls, error);
    if (status == GG_OK)
        status = read_int(config, "k", GG_K_MAX, &env->k, error);
    env->solved_at = solved_at ? strtod(solved_at, &end) : 0;
    if (status == GG_OK &&
        (!end || end == solved_at || *end || !(env->solved_at > 0) || env->solved_at > 1))
        status = gg_fail(error, GG_E_CONFIG, "solved_at must be a number above 0, at most 1");
    return status;
}

static void find_splits(gg_env *env)
{
    for (size_t i = 0; i < sizeof split_names / sizeof *split_names; i++) {
        gg_buf_printf(&env->splits[i], "%s/%s.jsonl", env->dir, split_names[i]);
        if (access(gg_buf_cstr(&env->splits[i]), R_OK) != 0)
            gg_buf_reset(&env->splits[i]);
    }
}

static gg_status fill(gg_env *env, const cJSON *config, gg_error *error)
{
    const char *dir = gg_json_text(config, "index");
    gg_status status = read_config(env, config, error);
    if (status == GG_OK && !dir)
        status = gg_fail(error, GG_E_CONFIG,
                         "the search game needs an index: make one with guessgym index, then give "
                         "--env-set index=DIR");
    if (status != GG_OK)
        return status;
    env->dir = strdup(dir);
    if (!env->dir)
        return gg_fail(error, GG_E_MEMORY, "out of memory while opening the search game");
    status = gg_index_open(dir, &env->index, error);
    if (status == GG_OK)
        status = gg_pages_new(env->index, &env->pages, error);
    find_splits(env);
    gg_buf_printf(&env->system, S_SYSTEM_ROLE "%d" S_SYSTEM_TURNS "%d" S_SYSTEM_CALLS, env->turns,
                  env->calls);
    return status == GG_OK ? gg_buf_status(&env->system, "the system prompt", error) : status;
}

static void close_env(gg_env *env)
{
    if (!env)
        return;
    gg_pages_free(env->pages);
    gg_index_close(env->index);
    gg_buf_free(&env->system);
    for (size_t i = 0; i < sizeof env->splits / sizeof *env->splits; i++)
        gg_buf_free(&env->splits[i]);
    free(env->dir);
    free(env);
}

static gg_status open_env(const char *config, gg_env **out, gg_error *error)
{
    cJSON *tree;
    *out = NULL;
    gg_status status = gg_json_parse(config, strlen(config), &tree, error);
    if (status != GG_OK)
        return status;
    gg_env *env = calloc(1, sizeof *env);
    if (!env) {
        cJSON_Delete(tree);
        return gg_fail(error, GG_E_MEMORY, "out of memory while opening the search game");
    }
    gg_buf_init(&env->system, PROMPT_ROOM);
    for (size_t i = 0; i < sizeof env->splits / sizeof *env->splits; i++)
        gg_buf_init(&env->splits[i], PATH_ROOM);
    status = fill(env, tree, error);
    cJSON_Delete(tree);
    if (status == GG_OK)
        *out = env;
    else
        close_env(env);
    return status;
}

static void info(const gg_env *env, gg_env_info *out)
{
    *out = (gg_env_info){
        .name = "search",
        .task_noun = "question",
        .move_noun = "search",
        .measure_name = "nDCG@10",
        .default_policy = "seeker",
        .default_reward = "ndcg",
        .max_calls = env->calls,
        .max_turns = env->turns,
        .may_block = true,
    };
}

static const char *tools(const gg_env *env)
{
    (void)env;
    return S_TOOLS;
}

static const char *default_tasks(const gg_env *env, const char *split)
{
    for (size_t i = 0; i < sizeof split_names / sizeof *split_names; i++)
        if (strcmp(split, split_names[i]) == 0 && env->splits[i].len)
            return gg_buf_cstr(&env->splits[i]);
    return NULL;
}

static gg_status identity(const gg_env *env, const char *prompt, gg_buf *out, gg_error *error)
{
    gg_question question;
    (void)env;
    gg_status status = gg_question_read(prompt, &question, error);
    if (status != GG_OK)
        return status;
    gg_buf_str(out, gg_buf_cstr(&question.id));
    gg_question_free(&question);
    return gg_buf_status(out, "a question's identity", error);
}

static void finish(gg_play *play)
{
    if (!play)
        return;
    gg_question_free(&play->question);
    gg_buf_free(&play->shown);
    gg_buf_free(&play->asked);
    gg_buf_free(&play->text);
    free(play);
}

/* The game has no chance in it: the seed changes nothing. */
static gg_status start(const gg_env *env, const char *prompt, uint64_t seed, gg_play **out,
                       gg_error *error)
{
    (void)seed;
    *out = NULL;
    gg_play *play = calloc(1, sizeof *play);
    if (!play)
        return gg_fail(error, GG_E_MEMORY, "out of memory while starting a play");
    play->env = env;
    gg_buf_init(&play->shown, GG_TEXT_ROOM);
    gg_buf_init(&play->asked, GG_TEXT_ROOM);
    gg_buf_init(&play->text, GG_TEXT_ROOM);
    gg_buf_char(&play->shown, '\n');
    gg_buf_char(&play->asked, '\n');
    gg_status status = gg_question_read(prompt, &play->question, error);
    if (status == GG_OK)
        *out = play;
    else
        finish(play);
    return status;
}

static gg_status system_prompt(const gg_play *play, gg_buf *out, gg_error *error)
{
    gg_buf_add(out, play->env->system.data, play->env->system.len);
    return gg_buf_status(out, "the system prompt", error);
}

static gg_status opening(const gg_play *play, gg_buf *out, gg_error *error)
{
    gg_buf_str(out, S_OPENING);
    gg_buf_add(out, play->question.text.data, play->question.text.len);
    return gg_buf_status(out, "the opening message", error);
}

static gg_status answer(const gg_play *play, gg_buf *out, gg_error *error)
{
    const gg_question *question = &play->question;
    const char *id = question->ids.data;
    for (size_t i = 0; i < question->judged; i++, id += strlen(id) + 1) {
        gg_buf_str(out, i ? ",{\"id\":" : "[{\"id\":");
        gg_buf_json_str(out, id);
        gg_buf_printf(out, ",\"grade\":%d}", question->grades[i]);
    }
    gg_buf_char(out, ']');
    return gg_buf_status(out, "the answer", error);
}

const gg_env_api gg_search_env = {
    .abi = GG_ENV_ABI,
    .name = "search",
    .summary = "search a collection by words and by vectors, and rank what answers a question",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .part_table = gg_search_part_table,
    .part_count = GG_SEARCH_PARTS,
    .open = open_env,
    .close = close_env,
    .info = info,
    .tools = tools,
    .default_tasks = default_tasks,
    .identity = identity,
    .start = start,
    .system_prompt = system_prompt,
    .opening = opening,
    .call = gg_search_call,
    .text = gg_search_text,
    .answer = answer,
    .finish = finish,
    .measure = gg_search_measure,
    .parts = gg_search_parts,
    .labels = gg_search_labels,
    .render = gg_search_render,
};
