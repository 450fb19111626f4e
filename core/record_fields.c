#include "core/record_fields.h"

#define TEXT(s, json, member)                                                                      \
    {                                                                                              \
        .name = (json), .kind = GG_FIELD_TEXT, .at = offsetof(s, member)                           \
    }
#define VALUE(s, json, what, member)                                                               \
    {                                                                                              \
        .name = (json), .kind = GG_FIELD_##what, .at = offsetof(s, member)                         \
    }
#define OPTIONAL(s, json, member)                                                                  \
    {                                                                                              \
        .name = (json), .kind = GG_FIELD_TEXT, .at = offsetof(s, member), .optional = true         \
    }
#define JSON(s, json, member, otherwise)                                                           \
    {                                                                                              \
        .name = (json), .kind = GG_FIELD_JSON, .at = offsetof(s, member), .fallback = (otherwise)  \
    }
#define ARRAY(s, json, what, member, counter)                                                      \
    {                                                                                              \
        .name = (json), .kind = GG_FIELD_##what, .at = offsetof(s, member),                        \
        .count_at = offsetof(s, counter)                                                           \
    }
#define LIST(s, json, member, counter, type, table)                                                \
    {                                                                                              \
        .name = (json), .kind = GG_FIELD_LIST, .at = offsetof(s, member),                          \
        .count_at = offsetof(s, counter), .size = sizeof(type), .fields = (table)                  \
    }
#define GROUP(json, table)                                                                         \
    {                                                                                              \
        .name = (json), .kind = GG_FIELD_GROUP, .fields = (table)                                  \
    }
#define END                                                                                        \
    {                                                                                              \
        .name = NULL                                                                               \
    }

static const gg_field call_fields[] = {
    TEXT(gg_call, "id", id),
    TEXT(gg_call, "name", name),
    TEXT(gg_call, "arguments_raw", arguments_raw),
    VALUE(gg_call, "status", STATUS, status),
    ARRAY(gg_call, "repairs", STRINGS, repairs, repair_count),
    TEXT(gg_call, "result", result),
    JSON(gg_call, "facts", facts, "{}"),
    END,
};

static const gg_field usage_fields[] = {
    VALUE(gg_turn, "prompt", COUNT, usage.prompt),
    VALUE(gg_turn, "completion", COUNT, usage.completion),
    VALUE(gg_turn, "reasoning", COUNT, usage.reasoning),
    VALUE(gg_turn, "cached", COUNT, usage.cached),
    END,
};

static const gg_field attempt_fields[] = {
    VALUE(gg_attempt, "status", SHORT, status),
    TEXT(gg_attempt, "reason", reason),
    VALUE(gg_attempt, "wait_ms", INT, wait_ms),
    END,
};

static const gg_field turn_fields[] = {
    VALUE(gg_turn, "index", SHORT, index),
    TEXT(gg_turn, "finish_reason", finish_reason),
    LIST(gg_turn, "calls", calls, call_count, gg_call, call_fields),
    TEXT(gg_turn, "reasoning", reasoning),
    GROUP("usage", usage_fields),
    LIST(gg_turn, "attempts", attempts, attempt_count, gg_attempt, attempt_fields),
    VALUE(gg_turn, "latency_ms", INT, latency_ms),
    END,
};

static const gg_field task_fields[] = {
    TEXT(gg_episode, "id", task_id),
    TEXT(gg_episode, "digest", task_digest),
    TEXT(gg_episode, "key", task_key),
    END,
};

static const gg_field policy_fields[] = {
    TEXT(gg_episode, "endpoint", policy.endpoint),
    TEXT(gg_episode, "model", policy.model),
    TEXT(gg_episode, "reasoning_effort", policy.reasoning_effort),
    VALUE(gg_episode, "temperature", NUMBER, policy.temperature),
    VALUE(gg_episode, "top_p", NUMBER, policy.top_p),
    VALUE(gg_episode, "max_tokens", COUNT, policy.max_tokens),
    VALUE(gg_episode, "weight_version_first", COUNT, policy.weight_version_first),
    VALUE(gg_episode, "weight_version_last", COUNT, policy.weight_version_last),
    END,
};

static const gg_field measure_fields[] = {
    TEXT(gg_episode, "name", measure.name),
    VALUE(gg_episode, "value", NUMBER, measure.value),
    END,
};

static const gg_field reward_fields[] = {
    VALUE(gg_episode, "total", NUMBER, reward),
    ARRAY(gg_episode, "parts", PARTS, parts, part_count),
    VALUE(gg_episode, "by_turn", BY_TURN, reward_by_turn),
    END,
};

const gg_field gg_episode_fields[] = {
    {.name = "schema", .kind = GG_FIELD_SCHEMA},
    TEXT(gg_episode, "id", id),
    TEXT(gg_episode, "env", env),
    VALUE(gg_episode, "step", INT, step),
    VALUE(gg_episode, "group", INT, group),
    VALUE(gg_episode, "sample", INT, sample),
    GROUP("task", task_fields),
    JSON(gg_episode, "answer", answer, "null"),
    VALUE(gg_episode, "seed", SEED, seed),
    GROUP("policy", policy_fields),
    VALUE(gg_episode, "outcome", OUTCOME, outcome),
    VALUE(gg_episode, "stop", STOP, stop),
    OPTIONAL(gg_episode, "error", error),
    VALUE(gg_episode, "moves", INT, moves),
    GROUP("measure", measure_fields),
    ARRAY(gg_episode, "labels", LABELS, labels, label_count),
    GROUP("reward", reward_fields),
    {.name = "constrained",
     .kind = GG_FIELD_BOOL,
     .at = offsetof(gg_episode, constrained),
     .optional = true},
    VALUE(gg_episode, "trainable", BOOL, trainable),
    OPTIONAL(gg_episode, "untrainable_reason", untrainable_reason),
    LIST(gg_episode, "turns", turns, turn_count, gg_turn, turn_fields),
    TEXT(gg_episode, "started", started),
    VALUE(gg_episode, "duration_ms", INT, duration_ms),
    JSON(gg_episode, "messages", messages, "[]"),
    END,
};
