/*
 * Options: one table makes parsing, --help, the man page and the completion.
 *
 * A value comes from the first of: command line, environment (GUESSGYM_NAME), --config FILE (JSON
 * with run.json's keys), the folder that --resume goes on with, default. In JSON and in the
 * environment the dashes of a name are underscores.
 *
 * To add an option: an id here, a row in cli/option_table.c. To add a command: an id here, a row in
 * cli/command.c.
 *
 * Ownership: strings that the accessors return belong to the gg_opts. Threads: one at a time.
 */
#ifndef GG_CLI_OPTIONS_H
#define GG_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guessgym/buf.h>
#include <guessgym/error.h>

typedef enum gg_cmd_id {
    GG_CMD_PLAY,
    GG_CMD_EVAL,
    GG_CMD_ROLLOUT,
    GG_CMD_TRAIN,
    GG_CMD_COMPARE,
    GG_CMD_RESCORE,
    GG_CMD_SHAPE,
    GG_CMD_REPORT,
    GG_CMD_VIEW,
    GG_CMD_PREFLIGHT,
    GG_CMD_JOB_LIST,
    GG_CMD_JOB_DESCRIBE,
    GG_CMD_JOB_FOLLOW,
    GG_CMD_JOB_STOP,
    GG_CMD_MLFLOW_PUSH,
    GG_CMD_SERVE_POLICY,
    GG_CMD_SERVE_SERVICE,
    GG_CMD_SERVE_AGENT,
    GG_CMD_INDEX,
    GG_CMD_WORDS_SPLIT,
    GG_CMD_WORDS_CHECK,
    GG_CMD_MARK,
    GG_CMD_PROBE,
    GG_CMD_ENV_CHECK,
    GG_CMD_HELP,
    GG_CMD_VERSION,
    GG_CMD_COUNT
} gg_cmd_id;

typedef enum gg_opt_id {
    /* what is played */
    GG_OPT_ENV,
    GG_OPT_ENV_SET,
    GG_OPT_ANSWERS,
    GG_OPT_ALLOWED,
    GG_OPT_LENGTH,
    GG_OPT_GUESSES,
    GG_OPT_HARD,
    GG_OPT_UNLISTED,
    GG_OPT_TASKS,
    GG_OPT_LIMIT,
    GG_OPT_SAMPLES,
    GG_OPT_GROUP_SIZE,
    GG_OPT_SYSTEM_PROMPT,
    GG_OPT_REWARD,
    GG_OPT_ADVANTAGE,
    GG_OPT_SEED,
    GG_OPT_PLAY_SEED,
    /* who plays */
    GG_OPT_ENDPOINT,
    GG_OPT_MODEL,
    GG_OPT_ADAPTER,
    GG_OPT_FAULTS,
    GG_OPT_EFFORT,
    GG_OPT_EFFORT_IN,
    GG_OPT_TEMPERATURE,
    GG_OPT_TOP_P,
    GG_OPT_MAX_TOKENS,
    GG_OPT_SEND_SEED,
    GG_OPT_ECHO_REASONING,
    GG_OPT_TOKEN_IDS,
    GG_OPT_TRAIN_CONSTRAINED,
    GG_OPT_DROP_FIELD,
    GG_OPT_EXTRA_BODY,
    GG_OPT_MAX_TOKENS_FIELD,
    GG_OPT_STREAM,
    GG_OPT_TEXT_CALLS,
    GG_OPT_NUDGES,
    GG_OPT_API_KEY_FILE,
    /* how it runs */
    GG_OPT_CONCURRENCY,
    GG_OPT_ATTEMPTS,
    GG_OPT_TIMEOUT,
    GG_OPT_EPISODE_TIMEOUT,
    GG_OPT_RUN_TIMEOUT,
    GG_OPT_OUTPUT,
    GG_OPT_RESUME,
    GG_OPT_MAX_ERRORED,
    GG_OPT_MIN_SOLVE_RATE,
    GG_OPT_MLFLOW,
    GG_OPT_MLFLOW_EXPERIMENT,
    GG_OPT_MLFLOW_TRACES,
    /* train */
    GG_OPT_STEPS,
    GG_OPT_BATCH,
    GG_OPT_LOSS,
    GG_OPT_LEARNING_RATE,
    GG_OPT_CLIP_LOW,
    GG_OPT_CLIP_HIGH,
    GG_OPT_MAX_STALENESS,
    GG_OPT_VAL,
    GG_OPT_VAL_EVERY,
    GG_OPT_HELD_OUT,
    GG_OPT_FROM,
    GG_OPT_KEEP,
    GG_OPT_MAX_TOTAL_TOKENS,
    GG_OPT_MAX_COST,
    GG_OPT_PRICES,
    GG_OPT_PRICE_MODEL,
    GG_OPT_ON,
    GG_OPT_SERVICE_URL,
    /* jobs */
    GG_OPT_JOB_NAME,
    GG_OPT_BASE_MODEL,
    GG_OPT_AGENT,
    GG_OPT_ROLE,
    GG_OPT_JOB_OUTPUT,
    GG_OPT_PACKAGE_GROUP,
    GG_OPT_CHECKPOINT_GROUP,
    GG_OPT_MLFLOW_ARN,
    GG_OPT_START_PACKAGE,
    GG_OPT_ACCEPT_EULA,
    GG_OPT_EPOCHS,
    GG_OPT_HYPER,
    GG_OPT_JOB_BATCH,
    GG_OPT_JOB_CONCURRENCY,
    GG_OPT_TRUST,
    GG_OPT_PERMISSIONS,
    GG_OPT_AGENT_PERMISSIONS,
    GG_OPT_BASELINE,
    /* rescore, shape */
    GG_OPT_REWARDS,
    GG_OPT_SHAPED,
    GG_OPT_SHAPE_STEPS,
    GG_OPT_SHAPE_BATCH,
    GG_OPT_SEEDS,
    GG_OPT_JOBS,
    /* compare */
    GG_OPT_BY,
    GG_OPT_COMMON,
    /* report */
    GG_OPT_REPORT_FILE,
    GG_OPT_REPORT_PLAYS,
    GG_OPT_NO_PLOTS,
    GG_OPT_VIEW_FILTER,
    GG_OPT_VIEW_ID,
    /* serve */
    GG_OPT_POLICY,
    GG_OPT_LISTEN_POLICY,
    GG_OPT_LISTEN_SERVICE,
    GG_OPT_THREADS,
    GG_OPT_STATE,
    GG_OPT_S3_ROOT,
    GG_OPT_S3_ENDPOINT,
    GG_OPT_AGENT_URL,
    GG_OPT_ROLLOUT_TPS,
    GG_OPT_ACCOUNT,
    /* serve agent */
    GG_OPT_LISTEN_AGENT,
    GG_OPT_AGENT_EFFORT,
    GG_OPT_PROMPT_HINT,
    GG_OPT_REGION,
    GG_OPT_RUNTIME_ENDPOINT,
    GG_OPT_ALLOW_ENDPOINT,
    GG_OPT_BUDGET,
    GG_OPT_REPLY,
    GG_OPT_ROLLOUTS,
    /* index */
    GG_OPT_CORPUS,
    GG_OPT_QUERIES,
    GG_OPT_QRELS,
    GG_OPT_EMBED_URL,
    GG_OPT_EMBED_MODEL,
    GG_OPT_EMBED_BYTES,
    GG_OPT_INDEX_OUTPUT,
    /* words split */
    GG_OPT_TRAIN_ROWS,
    GG_OPT_VAL_ROWS,
    GG_OPT_TEST_ROWS,
    GG_OPT_SPLIT_OUTPUT,
    /* every command */
    GG_OPT_JSON,
    GG_OPT_QUIET,
    GG_OPT_NO_COLOR,
    GG_OPT_CONFIG,
    GG_OPT_HELP,
    GG_OPT_VERSION,
    GG_OPT_COUNT
} gg_opt_id;

typedef enum gg_opt_section {
    GG_SECTION_TASK,
    GG_SECTION_PLAYER,
    GG_SECTION_RUN,
    GG_SECTION_COMMON,
    GG_SECTION_COUNT
} gg_opt_section;

typedef enum gg_value_type {
    GG_VALUE_FLAG, /* --name, --no-name; true or false elsewhere */
    GG_VALUE_INT,
    GG_VALUE_REAL,
    GG_VALUE_TEXT, /* free text, or one of `choices` */
    GG_VALUE_MANY, /* several of `choices`, comma-separated */
    GG_VALUE_LIST, /* free text, may be given again; the texts stand one a line */
    GG_VALUE_FILE,
    GG_VALUE_FOLDER,
    GG_VALUE_PAIRS /* KEY=VALUE, may be repeated */
} gg_value_type;

enum {                     /* traits */
       GG_OPT_OF_RUN = 1,  /* decides what is played: kept in run.json, must not change on resume */
       GG_OPT_SETTING = 2, /* short form of an environment's setting of that name */
       GG_OPT_NEEDED = 4,  /* an error when absent */
       GG_OPT_FLAG_ONLY = 8 /* makes no sense in a file or in the environment */
};

typedef struct gg_opt {
    const char *name;
    const char *alias; /* second long name, or NULL */
    char letter;       /* short form, or 0 */
    gg_value_type type;
    const char *value;    /* placeholder in help: "N", "FILE" */
    const char *fallback; /* default as text; NULL = not set */
    const char *choices;  /* "a|b|c", or NULL */
    double low, high;     /* bounds of a number, both included */
    unsigned traits;
    gg_opt_section section;
    uint64_t commands;    /* bit of each gg_cmd_id that takes it */
    const char *variable; /* one more environment variable, or NULL */
    const char *help;
} gg_opt;

const gg_opt *gg_opt_row(gg_opt_id id);
/* The row that this command knows under a long name or letter; GG_OPT_COUNT when there is none. */
gg_opt_id gg_opt_named(gg_cmd_id command, const char *name, size_t len);
gg_opt_id gg_opt_lettered(gg_cmd_id command, char letter);
bool gg_opt_taken_by(gg_opt_id id, gg_cmd_id command);

typedef enum gg_source {
    GG_FROM_DEFAULT,
    GG_FROM_RUN, /* the folder being resumed */
    GG_FROM_CONFIG,
    GG_FROM_ENVIRONMENT,
    GG_FROM_FLAG
} gg_source;

typedef struct gg_opts gg_opts;

/* Parses the words after the command's name, then the environment and --config. `plain` gets what
 * is not an option (pointers into argv; room for argc). --help and --version stop the parsing of
 * everything else, so that they work whatever else is wrong. */
gg_status gg_opts_parse(gg_cmd_id command, int argc, char *const *argv, gg_opts **out,
                        const char **plain, size_t *plain_count, gg_error *error);
void gg_opts_free(gg_opts *opts);
/* Reads a JSON object of options (a config file's text, or run.json's) as a source below those
 * that were read before. Keys of other commands and run.json's own bookkeeping are passed over. */
gg_status gg_opts_read_json(gg_opts *opts, const char *text, size_t len, gg_source source,
                            const char *where, gg_error *error);

bool gg_opt_given(const gg_opts *opts, gg_opt_id id);       /* by more than its default */
const char *gg_opt_text(const gg_opts *opts, gg_opt_id id); /* NULL = not set */
int64_t gg_opt_int(const gg_opts *opts, gg_opt_id id);      /* 0 when not set */
double gg_opt_real(const gg_opts *opts, gg_opt_id id);      /* 0 when not set */
bool gg_opt_flag(const gg_opts *opts, gg_opt_id id);
/* Position of a value that is set among the choices of its option. */
int gg_opt_choice(const gg_opts *opts, gg_opt_id id);
/* The i-th of a GG_VALUE_MANY or GG_VALUE_LIST, copied into out; false past the last. */
bool gg_opt_item(const gg_opts *opts, gg_opt_id id, size_t index, char *out, size_t room);

/* The environment's settings as a JSON object: --env-set and the short forms, as text values; false
 * when there are none. */
bool gg_opts_settings(const gg_opts *opts, gg_buf *out);
/* Appends ,"name":value for every option that is kept in run.json and set, but for those of `but`,
 * which the caller writes as resolved. */
void gg_opts_write_run(const gg_opts *opts, const gg_opt_id *but, size_t but_count, gg_buf *out);

#endif
