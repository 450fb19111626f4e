#include "report/mlflow_span.h"

#include <stdio.h>
#include <string.h>

#include "core/digest.h"
#include "core/json.h"
#include "core/rng.h"
#include "report/summary_inside.h"

#define SPAN_ID     8
#define NS_OF_MS    1000000
#define VARINT_MOST 10
#define NAME_ROOM   128
#define SEED_RANGE  9007199254740992.0 /* 2^53 */
#define KIND_INSIDE 1
#define KIND_CLIENT 3
#define STATUS_OK   1
#define STATUS_BAD  2

/* Field numbers. */
enum { REQUEST_RESOURCE_SPANS = 1 };
enum { RESOURCE_SPANS_RESOURCE = 1, RESOURCE_SPANS_SCOPE_SPANS = 2, RESOURCE_ATTRIBUTES = 1 };
enum { SCOPE_SPANS_SCOPE = 1, SCOPE_SPANS_SPAN = 2, SCOPE_NAME = 1, SCOPE_VERSION = 2 };
enum {
    SPAN_TRACE_ID = 1,
    SPAN_SPAN_ID = 2,
    SPAN_PARENT = 4,
    SPAN_NAME = 5,
    SPAN_KIND = 6,
    SPAN_START = 7,
    SPAN_END = 8,
    SPAN_ATTRIBUTES = 9,
    SPAN_EVENTS = 11,
    SPAN_STATUS = 15
};
enum { EVENT_TIME = 1, EVENT_NAME = 2, EVENT_ATTRIBUTES = 3 };
enum { STATUS_MESSAGE = 2, STATUS_CODE = 3 };
enum { PAIR_KEY = 1, PAIR_VALUE = 2 };
enum { VALUE_STRING = 1, VALUE_INT = 3, VALUE_DOUBLE = 4 };
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

/* ---- protobuf ---- */

static size_t varint(uint64_t value, uint8_t out[VARINT_MOST])
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        out[n++] = (uint8_t)(value | 0x80);
    out[n++] = (uint8_t)value;
    return n;
}

static void put_varint(gg_buf *out, uint64_t value)
{
    uint8_t bytes[VARINT_MOST];
    gg_buf_add(out, bytes, varint(value, bytes));
}

static void put_tag(gg_buf *out, int field, int wire)
{
    put_varint(out, (uint64_t)field << 3 | (uint64_t)wire);
}

static void put_bytes(gg_buf *out, int field, const void *bytes, size_t len)
{
    put_tag(out, field, WIRE_BYTES);
    put_varint(out, len);
    gg_buf_add(out, bytes, len);
}

static void put_number(gg_buf *out, int field, uint64_t value)
{
    put_tag(out, field, WIRE_VARINT);
    put_varint(out, value);
}

static void put_fixed(gg_buf *out, int field, uint64_t value)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    put_tag(out, field, WIRE_FIXED64);
    gg_buf_add(out, bytes, sizeof bytes);
}

/* A message within: its length is put in front once it is known. */
static size_t open_message(gg_buf *out, int field)
{
    put_tag(out, field, WIRE_BYTES);
    return out->len;
}

static void close_message(gg_buf *out, size_t start)
{
    uint8_t bytes[VARINT_MOST];
    size_t len = out->len - start, n = varint(len, bytes);
    gg_buf_add(out, bytes, n);
    if (out->status != GG_OK)
        return;
    memmove(out->data + start + n, out->data + start, len);
    memcpy(out->data + start, bytes, n);
}

/* Strings of protobuf are UTF-8, or the whole request is refused: the text goes through JSON's
 * cleaning and back where it is not plain. */
static void put_string(gg_buf *out, int field, const char *text)
{
    size_t len = strlen(text), plain = 0;
    while (plain < len && (unsigned char)text[plain] < 0x80)
        plain++;
    if (plain == len) {
        put_bytes(out, field, text, len);
        return;
    }
    gg_buf json, clean;
    gg_buf_init(&json, GG_TRACE_MAX);
    gg_buf_init(&clean, GG_TRACE_MAX);
    gg_buf_json(&json, text, len);
    gg_json_reader reader = gg_json_reader_make(gg_buf_cstr(&json), json.len);
    if (gg_read_string(&reader, &clean))
        put_bytes(out, field, gg_buf_cstr(&clean), clean.len);
    else
        out->status = GG_E_MEMORY;
    gg_buf_free(&json);
    gg_buf_free(&clean);
}

/* ---- attributes: KeyValue ---- */

static size_t open_pair(gg_buf *out, int field, const char *key, size_t *value)
{
    size_t start = open_message(out, field);
    put_string(out, PAIR_KEY, key);
    *value = open_message(out, PAIR_VALUE);
    return start;
}

static void close_pair(gg_buf *out, size_t pair, size_t value)
{
    close_message(out, value);
    close_message(out, pair);
}

static void pair_text(gg_buf *out, int field, const char *key, const char *text)
{
    size_t value;
    if (!text)
        return;
    size_t pair = open_pair(out, field, key, &value);
    put_string(out, VALUE_STRING, text);
    close_pair(out, pair, value);
}

static void pair_int(gg_buf *out, int field, const char *key, int64_t number)
{
    size_t value;
    size_t pair = open_pair(out, field, key, &value);
    put_number(out, VALUE_INT, (uint64_t)number);
    close_pair(out, pair, value);
}

static void pair_double(gg_buf *out, int field, const char *key, double number)
{
    size_t value;
    uint64_t bits;
    size_t pair = open_pair(out, field, key, &value);
    memcpy(&bits, &number, sizeof bits);
    put_fixed(out, VALUE_DOUBLE, bits);
    close_pair(out, pair, value);
}

static void text(gg_buf *out, const char *key, const char *value)
{
    pair_text(out, SPAN_ATTRIBUTES, key, value);
}

static void known(gg_buf *out, const char *key, int64_t value) /* left out when unknown */
{
    if (value != GG_TOKENS_UNKNOWN)
        pair_int(out, SPAN_ATTRIBUTES, key, value);
}

/* ---- spans ---- */

/* A play being written. */
typedef struct trace {
    const gg_episode *e;
    uint8_t id[GG_TRACE_ID];
    const char *key;
    gg_buf *out;
    gg_buf json;           /* scratch */
    const cJSON *message;  /* the next of the play's messages */
    int64_t at_ns, end_ns; /* where the next turn begins; where the play ends */
} trace;

/* Of the play (turn and call -1), of a turn, of a call. */
static void span_id(const trace *t, long turn, long call, uint8_t out[SPAN_ID])
{
    uint8_t digest[32];
    gg_buf name;
    gg_buf_init(&name, GG_TRACE_MAX);
    gg_buf_printf(&name, "%s|%s|%ld|%ld", t->key, t->e->id, turn, call);
    gg_sha256(gg_buf_cstr(&name), name.len, digest);
    memcpy(out, digest, SPAN_ID);
    gg_buf_free(&name);
}

typedef struct span {
    long turn, call;
    const char *name;
    int kind;
    int64_t start_ns, end_ns;
} span;

static size_t open_span(trace *t, const span *s)
{
    uint8_t id[SPAN_ID];
    size_t start = open_message(t->out, SCOPE_SPANS_SPAN);
    put_bytes(t->out, SPAN_TRACE_ID, t->id, sizeof t->id);
    span_id(t, s->turn, s->call, id);
    put_bytes(t->out, SPAN_SPAN_ID, id, sizeof id);
    if (s->turn >= 0) {
        span_id(t, s->call >= 0 ? s->turn : -1, -1, id);
        put_bytes(t->out, SPAN_PARENT, id, sizeof id);
    }
    put_string(t->out, SPAN_NAME, s->name);
    put_number(t->out, SPAN_KIND, (uint64_t)s->kind);
    put_fixed(t->out, SPAN_START, (uint64_t)s->start_ns);
    put_fixed(t->out, SPAN_END, (uint64_t)s->end_ns);
    return start;
}

static void close_span(trace *t, size_t start, int code, const char *message)
{
    size_t status = open_message(t->out, SPAN_STATUS);
    if (message)
        put_string(t->out, STATUS_MESSAGE, message);
    put_number(t->out, STATUS_CODE, (uint64_t)code);
    close_message(t->out, status);
    close_message(t->out, start);
}

/* An attribute whose JSON text stands in the scratch buffer. */
static void scratch_attribute(trace *t, const char *key)
{
    text(t->out, key, gg_buf_cstr(&t->json));
    if (t->json.status != GG_OK)
        t->out->status = t->json.status;
    gg_buf_reset(&t->json);
}

static bool is_reply(const cJSON *message)
{
    const char *role = gg_json_text(message, "role");
    return role && strcmp(role, "assistant") == 0;
}

/* What the player was told before its next reply. */
static void write_inputs(trace *t)
{
    gg_buf_str(&t->json, "{\"messages\":[");
    for (bool first = true; t->message && !is_reply(t->message); t->message = t->message->next) {
        gg_buf_str(&t->json, first ? "" : ",");
        gg_buf_cjson(&t->json, t->message);
        first = false;
    }
    gg_buf_str(&t->json, "]}");
    scratch_attribute(t, "mlflow.spanInputs");
}

static void write_reply(trace *t, const gg_turn *turn)
{
    gg_buf_str(&t->json, "{\"choices\":[{\"index\":0,\"finish_reason\":");
    gg_buf_json_str(&t->json, turn->finish_reason);
    gg_buf_str(&t->json, ",\"message\":");
    if (t->message) {
        gg_buf_cjson(&t->json, t->message);
        t->message = t->message->next;
    } else {
        gg_buf_str(&t->json, "null");
    }
    gg_buf_str(&t->json, "}]}");
    scratch_attribute(t, "mlflow.spanOutputs");
}

static void write_usage(trace *t, const gg_usage *usage)
{
    known(t->out, "gen_ai.usage.input_tokens", usage->prompt);
    known(t->out, "gen_ai.usage.output_tokens", usage->completion);
    known(t->out, "guessgym.reasoning_tokens", usage->reasoning);
    known(t->out, "guessgym.cached_tokens", usage->cached);
    if (usage->prompt == GG_TOKENS_UNKNOWN || usage->completion == GG_TOKENS_UNKNOWN)
        return;
    const int64_t total = usage->prompt + usage->completion;
    gg_buf_printf(&t->json, "{\"input_tokens\":%lld,\"output_tokens\":%lld,\"total_tokens\":%lld}",
                  (long long)usage->prompt, (long long)usage->completion, (long long)total);
    scratch_attribute(t, "mlflow.chat.tokenUsage");
}

/* Attempts that failed, as events. */
static void write_attempts(trace *t, const gg_turn *turn)
{
    int64_t waited = 0;
    for (size_t i = 0; i < turn->attempt_count; i++) {
        const gg_attempt *a = &turn->attempts[i];
        if (a->reason && strcmp(a->reason, "ok") == 0)
            continue;
        size_t start = open_message(t->out, SPAN_EVENTS);
        put_fixed(t->out, EVENT_TIME, (uint64_t)(t->at_ns + waited * NS_OF_MS));
        put_string(t->out, EVENT_NAME, "retry");
        pair_int(t->out, EVENT_ATTRIBUTES, "http.response.status_code", a->status);
        pair_text(t->out, EVENT_ATTRIBUTES, "reason", a->reason);
        pair_int(t->out, EVENT_ATTRIBUTES, "wait_ms", a->wait_ms);
        close_message(t->out, start);
        waited += a->wait_ms;
    }
}

static int64_t attempts_ms(const gg_turn *turn)
{
    int64_t ms = turn->latency_ms;
    for (size_t i = 0; i < turn->attempt_count; i++)
        ms += turn->attempts[i].wait_ms;
    return ms;
}

static void write_call(trace *t, const gg_turn *turn, size_t index, int64_t at_ns)
{
    const gg_call *call = &turn->calls[index];
    const span s = {.turn = turn->index,
                    .call = (long)index,
                    .name = call->name && *call->name ? call->name : "call",
                    .kind = KIND_INSIDE,
                    .start_ns = at_ns,
                    .end_ns = at_ns};
    size_t start = open_span(t, &s);
    text(t->out, "mlflow.spanType", "TOOL");
    text(t->out, "gen_ai.operation.name", "execute_tool");
    text(t->out, "gen_ai.tool.name", call->name);
    text(t->out, "gen_ai.tool.call.id", call->id);
    if (call->arguments_raw &&
        !gg_buf_json_text(&t->json, call->arguments_raw, strlen(call->arguments_raw)))
        gg_buf_json_str(&t->json, call->arguments_raw);
    scratch_attribute(t, "mlflow.spanInputs");
    gg_buf_json_str(&t->json, call->result);
    scratch_attribute(t, "mlflow.spanOutputs");
    text(t->out, "guessgym.call.status", gg_call_status_name(call->status));
    text(t->out, "guessgym.call.facts", call->facts);
    for (size_t r = 0; r < call->repair_count; r++)
        gg_buf_printf(&t->json, "%s%s", r ? "," : "", call->repairs[r]);
    if (call->repair_count)
        scratch_attribute(t, "guessgym.call.repairs");
    close_span(t, start, STATUS_OK, NULL);
}

static void write_turn(trace *t, const gg_turn *turn)
{
    char name[NAME_ROOM];
    int64_t end = t->at_ns + attempts_ms(turn) * NS_OF_MS;
    end = end < t->end_ns ? end : t->end_ns;
    bool answered = turn->finish_reason != NULL;
    snprintf(name, sizeof name, "turn %d", turn->index + 1);
    const span s = {.turn = turn->index,
                    .call = -1,
                    .name = name,
                    .kind = KIND_CLIENT,
                    .start_ns = t->at_ns,
                    .end_ns = end};
    size_t start = open_span(t, &s);
    text(t->out, "mlflow.spanType", "CHAT_MODEL");
    text(t->out, "gen_ai.operation.name", "chat");
    text(t->out, "gen_ai.request.model", t->e->policy.model);
    text(t->out, "gen_ai.response.finish_reasons", turn->finish_reason);
    write_inputs(t);
    write_reply(t, turn);
    write_usage(t, &turn->usage);
    text(t->out, "guessgym.reasoning", turn->reasoning);
    if (t->e->reward_by_turn)
        pair_double(t->out, SPAN_ATTRIBUTES, "guessgym.reward", t->e->reward_by_turn[turn->index]);
    pair_int(t->out, SPAN_ATTRIBUTES, "guessgym.latency_ms", turn->latency_ms);
    write_attempts(t, turn);
    close_span(t, start, answered ? STATUS_OK : STATUS_BAD, answered ? NULL : "no reply");
    t->at_ns = end;
    for (size_t c = 0; c < turn->call_count; c++)
        write_call(t, turn, c, end);
}

static void write_root_json(trace *t)
{
    const gg_episode *e = t->e;
    gg_buf_str(&t->json, "{\"task\":");
    gg_buf_json_str(&t->json, e->task_id);
    gg_buf_str(&t->json, ",\"messages\":[");
    const cJSON *message = t->message;
    for (bool first = true; message && !is_reply(message); message = message->next) {
        gg_buf_str(&t->json, first ? "" : ",");
        gg_buf_cjson(&t->json, message);
        first = false;
    }
    gg_buf_str(&t->json, "]}");
    scratch_attribute(t, "mlflow.spanInputs");

    gg_buf_printf(&t->json,
                  "{\"outcome\":\"%s\",\"stop\":\"%s\",\"answer\":", gg_outcome_name(e->outcome),
                  gg_stop_name(e->stop));
    if (!e->answer || !gg_buf_json_text(&t->json, e->answer, strlen(e->answer)))
        gg_buf_str(&t->json, "null");
    gg_buf_printf(&t->json, ",\"moves\":%lld,\"reward\":{\"total\":", (long long)e->moves);
    gg_buf_double(&t->json, e->reward);
    gg_buf_str(&t->json, ",\"parts\":{");
    for (size_t i = 0; i < e->part_count; i++) {
        gg_buf_str(&t->json, i ? "," : "");
        gg_buf_json_str(&t->json, e->parts[i].name);
        gg_buf_char(&t->json, ':');
        gg_buf_double(&t->json, e->parts[i].value);
    }
    gg_buf_str(&t->json, "}}}");
    scratch_attribute(t, "mlflow.spanOutputs");
}

/* Tags of the trace, which MLflow can filter by. */
static void write_tags(trace *t)
{
    const gg_episode *e = t->e;
    char key[NAME_ROOM], number[NAME_ROOM];
    text(t->out, "mlflow.traceTag.episode", e->id);
    text(t->out, "mlflow.traceTag.task", e->task_id);
    text(t->out, "mlflow.traceTag.outcome", gg_outcome_name(e->outcome));
    text(t->out, "mlflow.traceTag.stop", gg_stop_name(e->stop));
    snprintf(number, sizeof number, "%.15g", e->reward);
    text(t->out, "mlflow.traceTag.reward", number);
    for (size_t i = 0; i < e->label_count; i++) {
        snprintf(key, sizeof key, "mlflow.traceTag.%s", e->labels[i].name);
        text(t->out, key, e->labels[i].value);
    }
}

static void write_play(trace *t)
{
    const gg_episode *e = t->e;
    char name[NAME_ROOM];
    snprintf(name, sizeof name, "%s %s", e->env, e->id);
    const span s = {.turn = -1,
                    .call = -1,
                    .name = name,
                    .kind = KIND_INSIDE,
                    .start_ns = t->at_ns,
                    .end_ns = t->end_ns};
    size_t start = open_span(t, &s);
    text(t->out, "mlflow.spanType", "AGENT");
    text(t->out, "gen_ai.operation.name", "invoke_agent");
    text(t->out, "gen_ai.agent.name", "guessgym");
    text(t->out, "gen_ai.request.model", e->policy.model);
    write_root_json(t);
    write_tags(t);
    pair_int(t->out, SPAN_ATTRIBUTES, "guessgym.step", e->step);
    pair_int(t->out, SPAN_ATTRIBUTES, "guessgym.group", e->group);
    pair_int(t->out, SPAN_ATTRIBUTES, "guessgym.sample", e->sample);
    pair_int(t->out, SPAN_ATTRIBUTES, "guessgym.seed", (int64_t)e->seed);
    pair_double(t->out, SPAN_ATTRIBUTES, "guessgym.reward", e->reward);
    if (e->measure.name)
        pair_double(t->out, SPAN_ATTRIBUTES, "guessgym.measure", e->measure.value);
    text(t->out, "guessgym.reasoning_effort", e->policy.reasoning_effort);
    bool bad = e->outcome == GG_ERRORED;
    close_span(t, start, bad ? STATUS_BAD : STATUS_OK, bad ? e->error : NULL);
}

static void write_request(trace *t)
{
    gg_buf *out = t->out;
    size_t spans = open_message(out, REQUEST_RESOURCE_SPANS);
    size_t resource = open_message(out, RESOURCE_SPANS_RESOURCE);
    pair_text(out, RESOURCE_ATTRIBUTES, "service.name", "guessgym");
    close_message(out, resource);
    size_t scoped = open_message(out, RESOURCE_SPANS_SCOPE_SPANS);
    size_t scope = open_message(out, SCOPE_SPANS_SCOPE);
    put_string(out, SCOPE_NAME, "guessgym");
    put_string(out, SCOPE_VERSION, GG_VERSION);
    close_message(out, scope);
    write_play(t);
    for (size_t i = 0; i < t->e->turn_count; i++)
        write_turn(t, &t->e->turns[i]);
    close_message(out, scoped);
    close_message(out, spans);
}

void gg_mlflow_trace_id(const char *key, const char *episode_id, uint8_t out[GG_TRACE_ID])
{
    uint8_t digest[32];
    gg_buf name;
    gg_buf_init(&name, GG_TRACE_MAX);
    gg_buf_printf(&name, "%s|%s", key, episode_id);
    gg_sha256(gg_buf_cstr(&name), name.len, digest);
    memcpy(out, digest, GG_TRACE_ID);
    gg_buf_free(&name);
}

double gg_mlflow_trace_draw(uint64_t seed, const char *episode_id)
{
    char purpose[GG_PURPOSE_MAX];
    snprintf(purpose, sizeof purpose, "trace %s", episode_id);
    return (double)gg_derive_seed(seed, purpose, 0) / SEED_RANGE;
}

gg_status gg_mlflow_trace(const gg_episode *episode, const char *key, gg_buf *out, gg_error *error)
{
    trace t = {.e = episode, .key = key, .out = out};
    cJSON *messages = NULL;
    gg_status status = GG_OK;
    if (episode->messages)
        status = gg_json_parse(episode->messages, strlen(episode->messages), &messages, error);
    if (status != GG_OK)
        return status;
    t.message = cJSON_IsArray(messages) ? messages->child : NULL;
    t.at_ns = gg_started_ms(episode->started) * NS_OF_MS;
    t.end_ns = t.at_ns + (episode->duration_ms > 0 ? episode->duration_ms : 0) * NS_OF_MS;
    gg_mlflow_trace_id(key, episode->id, t.id);
    gg_buf_init(&t.json, GG_TRACE_MAX);
    write_request(&t);
    gg_buf_free(&t.json);
    cJSON_Delete(messages);
    return gg_buf_status(out, "a trace", error);
}
