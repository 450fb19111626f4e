/*
 * The environment contract.
 *
 * An environment is a game that a tool-calling model plays. Two objects:
 *
 *   gg_env   the opened game: lists, corpora, indexes. Opened once, immutable from then on, shared
 *            by all threads.
 *   gg_play  one episode's state. One thread at a time; never two calls at once. Its random
 * numbers, if it needs any, come from the seed it was started with: no clock, no rand(), no global
 * state, no I/O (an environment that says `may_block` may do I/O in call and text).
 *
 * A game is a table of functions, gg_env_api. Order of calls:
 *
 *   open -> info, tools, identity, ... (any thread, any time until close)
 *        -> start -> system_prompt, opening -> call | text ... -> answer -> finish
 *        -> close
 *
 * After the end (a result with `done`), call and text still answer: GG_CALL_OVER with a game-over
 * text and no effect. The last board stays readable until finish. The caller enforces max_calls and
 * max_turns. Invalid input from the model is an outcome (GG_CALL_INVALID), never an error: a
 * function returns an error only when memory or a file fails.
 *
 * Secrets: until the play is over, nothing it writes (system prompt, opening, result text, facts)
 * may tell the task's answer. `facts` and `answer` go into the record, which players never see.
 *
 * Ownership: strings that a function returns belong to the environment and live until close. Text
 * and facts are appended to buffers of the caller, so that a call allocates nothing once the
 * buffers have grown. Objects made by open and start are released by close and finish, both of
 * which take NULL.
 *
 * Plug-ins: a shared object that exports gg_env_plugin() is loaded with `--env ./my_env.so`. It is
 * compiled against these headers alone; the program exports the gg_ functions declared in them.
 * Compatibility: GG_ENV_ABI changes whenever this header changes in a way that a compiled plug-in
 * would notice. A plug-in with another number is refused with both numbers in the sentence.
 */
#ifndef GUESSGYM_ENV_H
#define GUESSGYM_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guessgym/buf.h>
#include <guessgym/error.h>
#include <guessgym/record.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GG_ENV_ABI 1u

typedef struct gg_env gg_env;   /* each environment defines its own */
typedef struct gg_play gg_play; /* likewise */

typedef enum gg_option_type {
    GG_OPTION_INT,
    GG_OPTION_BOOL,
    GG_OPTION_TEXT, /* free text or one of `choices` */
    GG_OPTION_FILE  /* a path; may not exist until open says so */
} gg_option_type;

/* One setting of an environment, given as `--env-set name=value`. */
typedef struct gg_env_option {
    const char *name;
    gg_option_type type;
    const char *fallback; /* value when not given, as text; NULL = none */
    const char *choices;  /* "play|reject", or NULL */
    const char *help;     /* one line */
} gg_env_option;

/* What the rest of the program needs to know of the opened environment. */
typedef struct gg_env_info {
    const char *name;           /* "guess" */
    const char *task_noun;      /* what a task is called: "word" */
    const char *move_noun;      /* what is counted as a move: "guess" */
    const char *measure_name;   /* the number in [0,1] that eval shows beside the solve rate */
    const char *default_policy; /* name after "builtin:", or NULL */
    const char *default_reward; /* a reward that gg_reward_parse understands */
    int max_calls;              /* tool calls an episode, invalid ones included */
    int max_turns;              /* replies an episode */
    bool may_block;             /* call and text run on a thread pool, not on the event loop */
} gg_env_info;

/* What a tool call, or a text taken as one, came to. The caller sets `text` and `facts` to emptied
 * buffers; everything else is written by the environment. */
typedef struct gg_result {
    gg_buf *text;  /* for the model, plain UTF-8 */
    gg_buf *facts; /* one flat JSON object for rewards and reports */
    gg_call_status status;
    bool moved;         /* counts as a move */
    bool done;          /* the episode is over */
    gg_outcome outcome; /* with done: GG_SOLVED, GG_LOST or GG_FORFEITED */
} gg_result;

typedef enum gg_render_style { GG_RENDER_PLAIN, GG_RENDER_ANSI, GG_RENDER_HTML } gg_render_style;

/* One named part that `parts` reports. Names that rewards know for every environment (solve,
 * measure, moves, ... see env/reward/reward.h) are not for an environment's own parts. */
typedef struct gg_part_info {
    const char *name;
    const char *help; /* one line */
} gg_part_info;

/* Receives named numbers or labels; `context` is the caller's. */
typedef void (*gg_part_fn)(void *context, const char *name, double value);
typedef void (*gg_label_fn)(void *context, const char *name, const char *value);

typedef struct gg_env_api {
    uint32_t abi; /* GG_ENV_ABI */
    const char *name;
    const char *summary; /* one line for --help */
    const gg_env_option *options;
    size_t option_count;
    const gg_part_info *part_table; /* every part, for --help and for checking a reward's names */
    size_t part_count;

    /* Opens with a JSON object of option values (strings, numbers, booleans); names that the table
     * lacks are refused before this is called, and absent ones are filled with their fallback. */
    gg_status (*open)(const char *config, gg_env **out, gg_error *error);
    void (*close)(gg_env *env);
    void (*info)(const gg_env *env, gg_env_info *out);
    /* JSON array of tools in the chat completions form. */
    const char *(*tools)(const gg_env *env);
    /* Path of the list that ships for `split` ("train", "val", "test"), NULL when there is none. */
    const char *(*default_tasks)(const gg_env *env, const char *split);

    /* Checks a task's prompt string (one dataset row's `prompt`, or one line of a plain list) and
     * appends its identity: two rows with one identity are the same task, however they are written.
     */
    gg_status (*identity)(const gg_env *env, const char *prompt, gg_buf *out, gg_error *error);

    gg_status (*start)(const gg_env *env, const char *prompt, uint64_t seed, gg_play **out,
                       gg_error *error);
    gg_status (*system_prompt)(const gg_play *play, gg_buf *out, gg_error *error);
    gg_status (*opening)(const gg_play *play, gg_buf *out, gg_error *error);
    /* Runs one tool call. `arguments` is a JSON object's text, already checked to be one. An
     * unknown tool or wrong argument is GG_CALL_INVALID with a text that says what is wanted. */
    gg_status (*call)(gg_play *play, const char *tool, const char *arguments, gg_result *result,
                      gg_error *error);
    /* Optional (NULL): a reply without a call may still be a move, such as a list of ids in prose.
     * *taken says whether it was; when false nothing was written or changed. */
    gg_status (*text)(gg_play *play, const char *reply, bool *taken, gg_result *result,
                      gg_error *error);
    /* The task's answer as JSON, for the record. */
    gg_status (*answer)(const gg_play *play, gg_buf *out, gg_error *error);
    void (*finish)(gg_play *play);

    /* Pure functions of a finished record of this environment: the same record, the same value. */
    double (*measure)(const gg_env *env, const gg_episode *episode);
    /* Reports each name of part_table exactly once, 0 where nothing happened. */
    void (*parts)(const gg_env *env, const gg_episode *episode, gg_part_fn each, void *context);
    void (*labels)(const gg_env *env, const gg_episode *episode, gg_label_fn each, void *context);
    /* The board, of an unfinished record too. */
    gg_status (*render)(const gg_env *env, const gg_episode *episode, gg_render_style style,
                        gg_buf *out, gg_error *error);
} gg_env_api;

/* The one symbol a plug-in exports. */
#define GG_ENV_PLUGIN_SYMBOL "gg_env_plugin"
typedef const gg_env_api *(*gg_env_plugin_fn)(void);

#ifdef __cplusplus
}
#endif
#endif
