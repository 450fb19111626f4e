/*
 * The episode record: one play of one task, complete.
 *
 * Rewards, statistics, reports, advantages and training sequences are all computed from records,
 * so every one of them can be computed again without sampling again. On disk it is one JSON object
 * a line, schema "guessgym.episode/1" (docs/records.md); in memory it is this struct.
 *
 * Ownership: a gg_episode owns everything it points to, through one arena; gg_episode_free releases
 * all. Strings are NUL-terminated UTF-8; a NULL string means "absent". Values that come as "any
 * JSON" are kept as JSON text. Threads: one at a time.
 */
#ifndef GUESSGYM_RECORD_H
#define GUESSGYM_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guessgym/buf.h>
#include <guessgym/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GG_RECORD_SCHEMA "guessgym.episode/1"

/* How an episode ended: exactly one of these. */
typedef enum gg_outcome {
    GG_UNPLAYED = 0, /* not over (or never begun: an interrupted run) */
    GG_SOLVED,
    GG_LOST,      /* the moves are used up */
    GG_FORFEITED, /* the player stopped playing, or ran into the call or turn cap */
    GG_TRUNCATED, /* token limit or context full */
    GG_ERRORED,   /* infrastructure or deadline; never the player's fault */
    GG_OUTCOME_COUNT
} gg_outcome;

/* Why it ended. */
typedef enum gg_stop {
    GG_STOP_NONE = 0,
    GG_STOP_DONE,
    GG_STOP_CALL_CAP,
    GG_STOP_TURN_CAP,
    GG_STOP_NO_CALL,
    GG_STOP_TOKEN_LIMIT,
    GG_STOP_CONTEXT,
    GG_STOP_DEADLINE,
    GG_STOP_TRANSPORT,
    GG_STOP_REFUSED,
    GG_STOP_INTERRUPTED,
    GG_STOP_COUNT
} gg_stop;

/* What the environment said of a call. */
typedef enum gg_call_status {
    GG_CALL_VALID = 0,
    GG_CALL_INVALID, /* told to the player; no move was made */
    GG_CALL_OVER,    /* the episode had already ended */
    GG_CALL_FAILED,  /* the call never reached the environment: cut off, unknown tool, bad arguments
                      */
    GG_CALL_STATUS_COUNT
} gg_call_status;

/* The names used in records: "solved", "call_cap", "valid" ... Static storage. The parsers return
 * the last value + 1 (the COUNT) for an unknown name. */
GG_API const char *gg_outcome_name(gg_outcome outcome);
GG_API const char *gg_stop_name(gg_stop stop);
GG_API const char *gg_call_status_name(gg_call_status status);
GG_API gg_outcome gg_outcome_parse(const char *name);
GG_API gg_stop gg_stop_parse(const char *name);
GG_API gg_call_status gg_call_status_parse(const char *name);

typedef struct gg_call {
    const char *id;
    const char *name;
    const char *arguments_raw; /* as the model wrote them, untouched */
    gg_call_status status;
    const char **repairs; /* kinds of repair, as in agent/toolcall.h */
    size_t repair_count;
    const char *result; /* the text the player got */
    const char *facts;  /* JSON object of the environment, "{}" when there is none */
} gg_call;

#define GG_TOKENS_UNKNOWN (-1)

typedef struct gg_usage { /* GG_TOKENS_UNKNOWN (null in JSON) where the endpoint did not say */
    int64_t prompt, completion, reasoning, cached;
} gg_usage;

typedef struct gg_attempt {
    int status;         /* HTTP status, 0 when no reply came */
    const char *reason; /* retry class, as in net/retry.h; "ok" for the one that was used */
    int64_t wait_ms;    /* waited after it */
} gg_attempt;

typedef struct gg_turn {
    int index;
    const char *finish_reason;
    gg_call *calls;
    size_t call_count;
    const char *reasoning;
    gg_usage usage;
    gg_attempt *attempts;
    size_t attempt_count;
    int64_t latency_ms; /* of the attempt that was used */
} gg_turn;

/* Token record of one turn (tokens.jsonl). */
typedef struct gg_turn_tokens {
    int64_t prompt_from; /* position in the sequence at which prompt_ids start; 0 = whole prompt */
    int64_t fork_at;     /* first position at which this prompt differs from the sequence before it;
                            holds only after turn 0 and where prompt_from is 0 */
    const int32_t *prompt_ids;
    size_t prompt_count;
    const int32_t *ids;     /* sampled, the closing token included */
    const double *logprobs; /* one an id; NULL when the endpoint gave none */
    size_t count;
} gg_turn_tokens;

typedef struct gg_named {
    const char *name;
    double value;
} gg_named;

typedef struct gg_label {
    const char *name;
    const char *value;
} gg_label;

typedef struct gg_policy_info {
    const char *endpoint; /* without secrets */
    const char *model;
    const char *reasoning_effort;                      /* NULL when not sent */
    double temperature, top_p;                         /* NaN (null in JSON) when not sent */
    int64_t max_tokens;                                /* -1 (null) when not sent */
    int64_t weight_version_first, weight_version_last; /* -1 (null) when unknown */
} gg_policy_info;

typedef struct gg_arena gg_arena;

typedef struct gg_episode {
    gg_arena *arena; /* owns every pointer below */
    const char *id;  /* s<step>-g<group>-<sample> */
    const char *env;
    int64_t step, group, sample;
    const char *task_id, *task_digest, *task_key; /* the last two 64 hex digits */
    const char *answer;                           /* any JSON; secret until the end */
    uint64_t seed;                                /* < 2^53 */
    gg_policy_info policy;
    gg_outcome outcome;
    gg_stop stop;
    const char *error; /* what went wrong, for a person; NULL = nothing did */
    int64_t moves;
    gg_named measure;
    gg_label *labels;
    size_t label_count;
    double reward;
    gg_named *parts;
    size_t part_count;
    double *reward_by_turn; /* one a turn, or NULL */
    bool constrained; /* sampling was held to a form; left out of the record when it was not */
    bool trainable;
    const char *untrainable_reason;
    gg_turn *turns;
    size_t turn_count;
    gg_turn_tokens *tokens; /* turn_count of them, or NULL; not part of the episode's own line */
    const char *started;    /* RFC 3339, UTC */
    int64_t duration_ms;
    const char *messages; /* JSON array, as sent, final state; NULL when not read */
    bool partial;         /* read without its messages: it cannot be written again */
} gg_episode;

/* An episode with an arena, all zero but what is unknown at first (NaN, -1: see above); NULL when
 * memory is short. */
GG_API gg_episode *gg_episode_new(void);
GG_API void gg_episode_free(gg_episode *episode); /* NULL is fine */

/* Memory that lives as long as the episode. NULL when memory is short. */
GG_API void *gg_episode_alloc(gg_episode *episode, size_t bytes);
GG_API const char *gg_episode_string(gg_episode *episode, const char *text, size_t len);
/* Grows an arena array by one zeroed element and returns that element (NULL when memory is short):
 *   gg_call *call = gg_episode_push(e, &turn->calls, &turn->call_count, sizeof *call);
 * The array moves when it grows, and may only ever have been grown by this function. */
GG_API void *gg_episode_push(gg_episode *episode, void *array, size_t *count, size_t element);
/* The next turn: index set, usage unknown. Turns before it may move. */
GG_API gg_turn *gg_episode_add_turn(gg_episode *episode);

/* Appends the record as one JSON line with its newline; keys in the order of the schema, messages
 * last. Text that should be JSON (answer, facts, messages) is checked and put on one line; a NULL
 * stands for null, {} and []. On failure nothing is appended. */
GG_API gg_status gg_episode_write(const gg_episode *episode, gg_buf *line, gg_error *error);
/* Appends the token record's line; nothing when there are no tokens. */
GG_API gg_status gg_episode_write_tokens(const gg_episode *episode, gg_buf *line, gg_error *error);

typedef enum gg_read_depth {
    GG_READ_PLAY, /* stop before messages: all that rewards, statistics and advantages need */
    GG_READ_ALL
} gg_read_depth;

/* Reads one line (without or with its newline). A fresh episode in *out, NULL on failure. Unknown
 * keys are passed over; a schema of another name or number is GG_E_FORMAT, and so is a line that is
 * not a whole record. With GG_READ_PLAY damage inside the messages goes unseen. */
GG_API gg_status gg_episode_read(const char *line, size_t len, gg_read_depth depth,
                                 gg_episode **out, gg_error *error);
/* Reads a token line into an episode whose id and number of turns must match. */
GG_API gg_status gg_episode_read_tokens(gg_episode *episode, const char *line, size_t len,
                                        gg_error *error);

/* Facts: reads one member of a JSON object without building a tree. False, and the output left as
 * it was, when it is absent or of another type (gg_fact_text: also when it does not fit with its
 * NUL). Numbers: true and false read as 1 and 0. NULL facts have no members. */
GG_API bool gg_fact_number(const char *facts, const char *name, double *value);
GG_API bool gg_fact_text(const char *facts, const char *name, char *out, size_t room);

#ifdef __cplusplus
}
#endif
#endif
