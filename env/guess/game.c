/* The word game's function table: opening with its options, and a play's beginning and end. */
#include "env/guess/game.h"

#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/json.h"

#define PATH_ROOM   4096
#define PROMPT_ROOM 16384

static const gg_env_option options[] = {
    {"length", GG_OPTION_INT, "5", NULL,
     "letters of a word, 3 to 12; other than 5 needs own lists"},
    {"guesses", GG_OPTION_INT, "6", NULL, "guesses an episode, 1 to 32; twice as many calls"},
    {"hard", GG_OPTION_BOOL, "false", NULL, "refuse a guess that ignores a known hint"},
    {"unlisted", GG_OPTION_TEXT, "play", "play|reject",
     "a guess that is not in the allowed list is played, or refused without using a guess"},
    {"answers", GG_OPTION_FILE, NULL, NULL, "words that can be hidden (default: the shipped list)"},
    {"allowed", GG_OPTION_FILE, NULL, NULL, "words that count as listed (default: shipped)"},
};

static const char *const split_names[] = {"train", "val", "test"};

/* A whole number within bounds; the registry has filled in defaults. */
static gg_status read_int(const cJSON *config, const char *name, int low, int high, int *out,
                          gg_error *error)
{
    int64_t value;
    if (!gg_json_int(config, name, &value) || value < low || value > high)
        return gg_fail(error, GG_E_CONFIG, "%s must be a whole number from %d to %d", name, low,
                       high);
    *out = (int)value;
    return GG_OK;
}

static gg_status read_config(const cJSON *config, gg_guess_config *out, gg_error *error)
{
    const char *unlisted = gg_json_text(config, "unlisted");
    gg_status status = read_int(config, "length", GG_WORD_MIN, GG_WORD_MAX, &out->length, error);
    if (status == GG_OK)
        status = read_int(config, "guesses", 1, GG_GUESSES_MAX, &out->guesses, error);
    if (status != GG_OK)
        return status;
    if (!gg_json_bool(config, "hard", &out->hard))
        out->hard = false;
    out->reject = unlisted && strcmp(unlisted, "reject") == 0;
    return GG_OK;
}

/* The splits were drawn from the shipped lists and hold for those alone. Where they are not
 * installed the game has no default tasks, which is no error. */
static gg_status find_splits(gg_env *env, gg_error *error)
{
    for (size_t i = 0; i < sizeof split_names / sizeof *split_names; i++) {
        gg_buf name;
        gg_buf_init(&name, PATH_ROOM);
        gg_buf_printf(&name, "wordlists/splits/%s.jsonl", split_names[i]);
        gg_status status = gg_data_path(gg_buf_cstr(&name), &env->splits[i], error);
        gg_buf_free(&name);
        if (status == GG_E_MEMORY)
            return status;
        if (status != GG_OK)
            gg_buf_reset(&env->splits[i]);
    }
    return GG_OK;
}

static gg_status fill(gg_env *env, const cJSON *config, gg_error *error)
{
    const char *answers = gg_json_text(config, "answers");
    const char *allowed = gg_json_text(config, "allowed");
    gg_status status = read_config(config, &env->config, error);
    if (status == GG_OK)
        status = gg_words_load(answers, allowed, env->config.length, &env->words, error);
    if (status == GG_OK && !answers)
        status = find_splits(env, error);
    if (status != GG_OK)
        return status;
    env->fits = gg_fits_new(env->words);
    if (!env->fits)
        return gg_fail(error, GG_E_MEMORY, "out of memory while opening the word game");
    gg_guess_write_system(env);
    gg_guess_write_tools(env);
    status = gg_buf_status(&env->system, "the system prompt", error);
    if (status == GG_OK)
        status = gg_buf_status(&env->opening, "the opening message", error);
    if (status == GG_OK)
        status = gg_buf_status(&env->tools, "the tool", error);
    return status;
}

static void close_env(gg_env *env)
{
    if (!env)
        return;
    gg_fits_free(env->fits);
    gg_words_free(env->words);
    gg_buf_free(&env->system);
    gg_buf_free(&env->opening);
    gg_buf_free(&env->tools);
    for (size_t i = 0; i < sizeof env->splits / sizeof *env->splits; i++)
        gg_buf_free(&env->splits[i]);
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
        return gg_fail(error, GG_E_MEMORY, "out of memory while opening the word game");
    }
    gg_buf_init(&env->system, PROMPT_ROOM);
    gg_buf_init(&env->opening, PROMPT_ROOM);
    gg_buf_init(&env->tools, PROMPT_ROOM);
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
    int calls = env->config.guesses * GG_CALLS_A_GUESS;
    *out = (gg_env_info){
        .name = "guess",
        .task_noun = "word",
        .move_noun = "guess",
        .measure_name = "solved",
        .default_policy = "letters",
        .default_reward = "solve",
        .max_calls = calls,
        .max_turns = calls + GG_SPARE_TURNS,
        .may_block = false,
    };
}

static const char *tools(const gg_env *env)
{
    return gg_buf_cstr(&env->tools);
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
    char word[GG_WORD_MAX + 1];
    gg_status status = gg_guess_read_task(env, prompt, word, NULL, error);
    if (status != GG_OK)
        return status;
    gg_buf_str(out, word);
    return gg_buf_status(out, "a word's identity", error);
}

static void finish(gg_play *play)
{
    if (!play)
        return;
    gg_buf_free(&play->argument);
    gg_buf_free(&play->opening);
    free(play);
}

/* The game has no chance in it: the seed changes nothing. */
static gg_status start(const gg_env *env, const char *prompt, uint64_t seed, gg_play **out,
                       gg_error *error)
{
    (void)seed;
    *out = NULL;
    gg_play *play = malloc(sizeof *play + gg_fits_width(env->fits) * sizeof play->open[0]);
    if (!play)
        return gg_fail(error, GG_E_MEMORY, "out of memory while starting a play");
    *play = (gg_play){.env = env, .open_count = gg_words_answer_count(env->words)};
    gg_fits_all(env->fits, play->open);
    gg_buf_init(&play->argument, GG_ARGUMENT_MAX);
    gg_buf_init(&play->opening, GG_OPENING_MAX);
    gg_known_init(&play->known, env->config.length);
    gg_status status = gg_guess_read_task(env, prompt, play->hidden, &play->opening, error);
    if (status == GG_OK) {
        gg_buf_reserve(&play->argument, GG_WORD_MAX);
        status = gg_buf_status(&play->argument, "a play", error);
    }
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
    const gg_buf *from = play->opening.len ? &play->opening : &play->env->opening;
    gg_buf_add(out, from->data, from->len);
    return gg_buf_status(out, "the opening message", error);
}

static gg_status answer(const gg_play *play, gg_buf *out, gg_error *error)
{
    gg_buf_json_str(out, play->hidden);
    return gg_buf_status(out, "the answer", error);
}

const gg_env_api gg_guess_env = {
    .abi = GG_ENV_ABI,
    .name = "guess",
    .summary = "find a hidden word; every guess is marked green, yellow or grey",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .part_table = gg_guess_part_table,
    .part_count = GG_GUESS_PARTS,
    .open = open_env,
    .close = close_env,
    .info = info,
    .tools = tools,
    .default_tasks = default_tasks,
    .identity = identity,
    .start = start,
    .system_prompt = system_prompt,
    .opening = opening,
    .call = gg_guess_call,
    .text = NULL,
    .answer = answer,
    .finish = finish,
    .measure = gg_guess_measure,
    .parts = gg_guess_parts,
    .labels = gg_guess_labels,
    .render = gg_guess_render,
};
