/*
 * A whole environment in one file: a lock with dials from 0 to 9.
 *
 * The player turns all dials at once and is told of each whether it stands too low, too high or
 * right. The lock opens when all are right; after a few turns it jams. That is all of the game (see
 * turn_dials); the rest of the file is what every environment has to bring.
 *
 * It uses the installed headers alone. The program that loads it exports the gg_ functions.
 */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <guessgym/env.h>

#define DIALS_MAX 6
#define TURNS_MAX 20
#define TOOL      "turn_dials"

struct gg_env {
    int dials, turns; /* options */
    char tools[2048];
    char tasks[3][4096]; /* paths of the lists that ship, "" where one is not there */
};

static const gg_env_api api; /* the table, at the end of this file */

struct gg_play {
    const gg_env *env;
    int code[DIALS_MAX]; /* the secret */
    int used;            /* turns made */
    bool over;
};

static const gg_env_option options[] = {
    {"dials", GG_OPTION_INT, "3", NULL, "dials of the lock, 1 to 6"},
    {"turns", GG_OPTION_INT, "4", NULL, "turns before the lock jams, 1 to 20"},
};

static const gg_part_info part_table[] = {
    {"right_dials", "share of the dials that were right in the best turn"},
    {"quick", "opened with turn n of N: (N - n) / N; else 0"},
};

/* ---- the rules -------------------------------------------------------------------------- */

/* Sets `signs` to '<' (too low), '>' (too high) or '=' a dial; returns how many are right. */
static int compare_dials(const gg_play *play, const int *setting, char *signs)
{
    int right = 0;
    for (int i = 0; i < play->env->dials; i++) {
        signs[i] = setting[i] < play->code[i] ? '<' : setting[i] > play->code[i] ? '>' : '=';
        right += signs[i] == '=';
    }
    return right;
}

static void turn_dials(gg_play *play, const int *setting, gg_result *result)
{
    char signs[DIALS_MAX + 1] = "", shown[DIALS_MAX + 1] = "";
    int dials = play->env->dials, right = compare_dials(play, setting, signs);
    bool open = right == dials;
    play->used++;
    play->over = open || play->used == play->env->turns;
    result->status = GG_CALL_VALID;
    result->moved = true;
    result->done = play->over;
    result->outcome = open ? GG_SOLVED : play->over ? GG_LOST : GG_UNPLAYED;
    for (int i = 0; i < dials; i++) {
        const char *word = signs[i] == '<' ? "too low" : signs[i] == '>' ? "too high" : "right";
        gg_buf_printf(result->text, "Dial %d at %d: %s.\n", i + 1, setting[i], word);
        shown[i] = (char)('0' + setting[i]);
    }
    if (open)
        gg_buf_str(result->text, "The lock is open.");
    else if (play->over)
        gg_buf_str(result->text, "The lock is jammed. The game is over.");
    else
        gg_buf_printf(result->text, "Turns left: %d", play->env->turns - play->used);
    gg_buf_printf(result->facts, "{\"setting\":\"%s\",\"signs\":\"%s\",\"right\":%d}", shown, signs,
                  right);
}

/* ---- opening ---------------------------------------------------------------------------- */

static void write_tools(gg_env *env)
{
    size_t room = sizeof env->tools;
    int len = snprintf(env->tools, room,
                       "[{\"type\":\"function\",\"function\":{\"name\":\"" TOOL
                       "\",\"description\":\"Sets every dial of the lock.\",\"parameters\":"
                       "{\"type\":\"object\",\"properties\":{");
    for (int i = 1; i <= env->dials; i++)
        len += snprintf(env->tools + len, room - (size_t)len,
                        "%s\"dial%d\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":9}",
                        i > 1 ? "," : "", i);
    len += snprintf(env->tools + len, room - (size_t)len, "},\"required\":[");
    for (int i = 1; i <= env->dials; i++)
        len += snprintf(env->tools + len, room - (size_t)len, "%s\"dial%d\"", i > 1 ? "," : "", i);
    snprintf(env->tools + len, room - (size_t)len, "]}}}]");
}

/* Tasks ship as files beside the plug-in, wherever that is. */
static const struct list {
    const char *split, *file;
} lists[] = {{"test", "tasks.txt"}, {"train", "train.txt"}, {"val", "val.txt"}};

static void find_tasks(gg_env *env)
{
    Dl_info where;
    if (!dladdr(&api, &where) || !where.dli_fname)
        return;
    const char *slash = strrchr(where.dli_fname, '/');
    int folder = slash ? (int)(slash - where.dli_fname) + 1 : 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        int len = snprintf(env->tasks[i], sizeof env->tasks[i], "%.*s%s", folder, where.dli_fname,
                           lists[i].file);
        if (len < 0 || len >= (int)sizeof env->tasks[i] || access(env->tasks[i], R_OK) != 0)
            env->tasks[i][0] = '\0';
    }
}

static gg_status open_lock(const char *config, gg_env **out, gg_error *error)
{
    double dials = 0, turns = 0;
    *out = NULL;
    /* The config is a flat JSON object, checked against the table of options. */
    gg_fact_number(config, "dials", &dials);
    gg_fact_number(config, "turns", &turns);
    if (dials < 1 || dials > DIALS_MAX || turns < 1 || turns > TURNS_MAX)
        return gg_fail(error, GG_E_CONFIG, "dials must be 1 to %d and turns 1 to %d", DIALS_MAX,
                       TURNS_MAX);
    gg_env *env = calloc(1, sizeof *env);
    if (!env)
        return gg_fail(error, GG_E_MEMORY, "out of memory while opening the lock");
    env->dials = (int)dials;
    env->turns = (int)turns;
    write_tools(env);
    find_tasks(env);
    *out = env;
    return GG_OK;
}

static void close_lock(gg_env *env)
{
    free(env);
}

static void info(const gg_env *env, gg_env_info *out)
{
    *out = (gg_env_info){
        .name = "lock",
        .task_noun = "code",
        .move_noun = "turn",
        .measure_name = "opened",
        .default_policy = "chooser", /* plays whatever takes enums and small whole numbers */
        .default_reward = "solve",
        .max_calls = 2 * env->turns,
        .max_turns = 2 * env->turns + 2,
        .may_block = false,
    };
}

static const char *tools(const gg_env *env)
{
    return env->tools;
}

static const char *default_tasks(const gg_env *env, const char *split)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(split, lists[i].split) == 0)
            return env->tasks[i][0] ? env->tasks[i] : NULL;
    return NULL;
}

/* ---- a play ----------------------------------------------------------------------------- */

/* A task is a code such as 416, bare or as the `answer` of a JSON object. */
static gg_status read_code(const gg_env *env, const char *prompt, char code[DIALS_MAX + 1],
                           gg_error *error)
{
    char text[DIALS_MAX + 2] = "";
    const char *start = prompt + strspn(prompt, " \t");
    if (*start != '{')
        snprintf(text, sizeof text, "%.*s", (int)strcspn(start, " \t\r\n"), start);
    else if (!gg_fact_text(start, "answer", text, sizeof text))
        text[0] = '\0';
    if (strlen(text) != (size_t)env->dials || strspn(text, "0123456789") != strlen(text))
        return gg_fail(error, GG_E_CONFIG, "\"%.40s\" is no code of %d digits", prompt, env->dials);
    memcpy(code, text, (size_t)env->dials + 1);
    return GG_OK;
}

static gg_status identity(const gg_env *env, const char *prompt, gg_buf *out, gg_error *error)
{
    char code[DIALS_MAX + 1];
    gg_status status = read_code(env, prompt, code, error);
    if (status != GG_OK)
        return status;
    gg_buf_str(out, code);
    return gg_buf_status(out, "a code's identity", error);
}

static gg_status start(const gg_env *env, const char *prompt, uint64_t seed, gg_play **out,
                       gg_error *error)
{
    char code[DIALS_MAX + 1];
    (void)seed; /* no chance in this game */
    *out = NULL;
    gg_status status = read_code(env, prompt, code, error);
    if (status != GG_OK)
        return status;
    gg_play *play = calloc(1, sizeof *play);
    if (!play)
        return gg_fail(error, GG_E_MEMORY, "out of memory while starting a play");
    play->env = env;
    for (int i = 0; i < env->dials; i++)
        play->code[i] = code[i] - '0';
    *out = play;
    return GG_OK;
}

static gg_status system_prompt(const gg_play *play, gg_buf *out, gg_error *error)
{
    gg_buf_printf(out,
                  "Open a lock with %d dials, each from 0 to 9, in at most %d turns. Call " TOOL
                  " with a number for every dial; you are told of each whether it is too low, too "
                  "high or right. Anything else is refused and uses no turn. Call the tool at once "
                  "and without explanations.",
                  play->env->dials, play->env->turns);
    return gg_buf_status(out, "the system prompt", error);
}

static gg_status opening(const gg_play *play, gg_buf *out, gg_error *error)
{
    (void)play;
    gg_buf_str(out, "Open the lock.");
    return gg_buf_status(out, "the opening message", error);
}

static gg_status answer(const gg_play *play, gg_buf *out, gg_error *error)
{
    gg_buf_char(out, '"');
    for (int i = 0; i < play->env->dials; i++)
        gg_buf_char(out, (char)('0' + play->code[i]));
    gg_buf_char(out, '"');
    return gg_buf_status(out, "the answer", error);
}

static void finish(gg_play *play)
{
    free(play);
}

/* Reads dial1, dial2 ...; false when one is missing or not a whole number from 0 to 9. */
static bool read_setting(const gg_play *play, const char *arguments, int *setting)
{
    for (int i = 0; i < play->env->dials; i++) {
        char name[16];
        double value;
        snprintf(name, sizeof name, "dial%d", i + 1);
        if (!gg_fact_number(arguments, name, &value) || value < 0 || value > 9 ||
            value != (int)value)
            return false;
        setting[i] = (int)value;
    }
    return true;
}

static gg_status call(gg_play *play, const char *tool, const char *arguments, gg_result *result,
                      gg_error *error)
{
    int setting[DIALS_MAX];
    result->status = GG_CALL_INVALID;
    result->moved = result->done = false;
    result->outcome = GG_UNPLAYED;
    if (play->over) {
        result->status = GG_CALL_OVER;
        gg_buf_str(result->text, "The game is over.");
        gg_buf_str(result->facts, "{}");
    } else if (strcmp(tool, TOOL) != 0 || !read_setting(play, arguments, setting)) {
        gg_buf_printf(result->text,
                      "Refused, no turn was used. Call " TOOL
                      " with dial1 to dial%d, each a whole number from 0 to 9.",
                      play->env->dials);
        gg_buf_str(result->facts, "{\"refused\":true}");
    } else {
        turn_dials(play, setting, result);
    }
    gg_status status = gg_buf_status(result->text, "a tool result", error);
    return status == GG_OK ? gg_buf_status(result->facts, "a call's facts", error) : status;
}

/* ---- pure functions of a record --------------------------------------------------------- */

static double measure(const gg_env *env, const gg_episode *episode)
{
    (void)env;
    return episode->outcome == GG_SOLVED;
}

static void parts(const gg_env *env, const gg_episode *episode, gg_part_fn each, void *context)
{
    double best = 0, right;
    for (size_t t = 0; t < episode->turn_count; t++)
        for (size_t c = 0; c < episode->turns[t].call_count; c++)
            if (gg_fact_number(episode->turns[t].calls[c].facts, "right", &right) && right > best)
                best = right;
    each(context, "right_dials", best / env->dials);
    each(context, "quick",
         episode->outcome == GG_SOLVED ? (double)(env->turns - episode->moves) / env->turns : 0);
}

static void labels(const gg_env *env, const gg_episode *episode, gg_label_fn each, void *context)
{
    char setting[DIALS_MAX + 1];
    (void)env;
    for (size_t t = 0; t < episode->turn_count; t++)
        for (size_t c = 0; c < episode->turns[t].call_count; c++)
            if (gg_fact_text(episode->turns[t].calls[c].facts, "setting", setting,
                             sizeof setting)) {
                each(context, "opening", setting);
                return;
            }
}

/* One line a turn. What comes from the record is shown only where it is digits and signs, so
 * nothing needs escaping but the signs in HTML. */
static gg_status render(const gg_env *env, const gg_episode *episode, gg_render_style style,
                        gg_buf *out, gg_error *error)
{
    char setting[DIALS_MAX + 1], signs[DIALS_MAX + 1];
    bool html = style == GG_RENDER_HTML;
    (void)env;
    gg_buf_str(out, html ? "<pre>" : "");
    for (size_t t = 0; t < episode->turn_count; t++)
        for (size_t c = 0; c < episode->turns[t].call_count; c++) {
            const char *facts = episode->turns[t].calls[c].facts;
            if (!gg_fact_text(facts, "setting", setting, sizeof setting) ||
                !gg_fact_text(facts, "signs", signs, sizeof signs))
                continue;
            for (int i = 0; setting[i] >= '0' && setting[i] <= '9' && signs[i]; i++)
                gg_buf_printf(out, "%c%s ", setting[i],
                              signs[i] == '='   ? "="
                              : signs[i] == '<' ? "+"
                                                : "-");
            gg_buf_char(out, '\n');
        }
    gg_buf_str(out, episode->outcome == GG_SOLVED ? "open\n" : "closed\n");
    gg_buf_str(out, html ? "</pre>\n" : "");
    return gg_buf_status(out, "a board", error);
}

/* ---- the table -------------------------------------------------------------------------- */

static const gg_env_api api = {
    .abi = GG_ENV_ABI,
    .name = "lock",
    .summary = "open a lock by turning its dials",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .part_table = part_table,
    .part_count = sizeof part_table / sizeof *part_table,
    .open = open_lock,
    .close = close_lock,
    .info = info,
    .tools = tools,
    .default_tasks = default_tasks,
    .identity = identity,
    .start = start,
    .system_prompt = system_prompt,
    .opening = opening,
    .call = call,
    .text = NULL, /* a reply without a call is never a move */
    .answer = answer,
    .finish = finish,
    .measure = measure,
    .parts = parts,
    .labels = labels,
    .render = render,
};

/* What the program looks for. */
GG_API const gg_env_api *gg_env_plugin(void);

const gg_env_api *gg_env_plugin(void)
{
    return &api;
}
