/* What is said to an MLflow server, byte for byte (report/mlflow_body.h, mlflow_span.h), what a
 * folder remembers of it (mlflow_state.h), and a push to a server of ours that counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <pthread.h>

#include <cmocka.h>

#include "net/server.h"
#include "report/mlflow.h"
#include "report/mlflow_body.h"
#include "report/mlflow_span.h"
#include "report/mlflow_state.h"
#include "tests/episode_make.h"
#include "tests/folder.h"

#define ROOM   (1u << 20)
#define BODIES 8

/* ---- bodies ---- */

typedef struct sent {
    char *bodies[BODIES];
    size_t count;
    gg_status answer;
} sent;

static gg_status keep_body(void *context, const char *body, size_t len, gg_error *error)
{
    sent *s = context;
    assert_int_equal(strlen(body), len);
    assert_true(s->count < BODIES);
    s->bodies[s->count++] = strdup(body);
    return s->answer == GG_OK ? GG_OK : gg_fail(error, s->answer, "no");
}

static void forget(sent *s)
{
    for (size_t i = 0; i < s->count; i++)
        free(s->bodies[i]);
    *s = (sent){0};
}

/* Keys by MLflow's validate_param_and_metric_name and path_not_unique: posixpath.normpath of the
 * name must be the name. */
static void keys_and_values(void **state)
{
    static const struct {
        const char *key, *want;
    } rows[] = {
        {"rollout/reward/mean", "rollout/reward/mean"},
        {"a b.c-d_e", "a b.c-d_e"},
        {"a:b\"c\\d\n", "a_b_c_d_"},
        {"/a//b/", "_a/_b_"},
        {"../x", "_./x"},
        {"a/./b", "a/_/b"},
        {"a..b", "a._b"},
        {"\xc3\xa9", "__"},
        {"", "_"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sent s = {0};
        char want[256];
        gg_mlflow_batch b;
        gg_mlflow_batch_init(&b, "r", keep_body, &s);
        assert_int_equal(gg_mlflow_metric(&b, rows[i].key, 0.5, 7, 3, NULL), GG_OK);
        assert_int_equal(gg_mlflow_batch_end(&b, NULL), GG_OK);
        snprintf(want, sizeof want,
                 "{\"run_id\":\"r\",\"metrics\":[{\"key\":\"%s\",\"value\":0.5,\"timestamp\":7,"
                 "\"step\":3}]}",
                 rows[i].want);
        assert_string_equal(s.bodies[0], want);
        assert_int_equal(s.count, 1);
        forget(&s);
        gg_mlflow_batch_free(&b);
    }
}

static cJSON *parse(const char *text)
{
    cJSON *json = NULL;
    assert_int_equal(gg_json_parse(text, strlen(text), &json, NULL), GG_OK);
    return json;
}

static void whole_batches(void **state)
{
    sent s = {0};
    gg_mlflow_batch b;
    cJSON *line =
        parse("{\"step\":4,\"a\":{\"b\":1,\"c\":null,\"step\":2},\"d\":\"text\",\"e\":[1],"
              "\"f\":true,\"g\":-0.25}");
    cJSON *run = parse("{\"schema\":\"x\",\"version\":\"9\",\"config\":{\"seed\":42,\"hard\":false,"
                       "\"game\":{\"length\":5},\"t\":[1,2],\"p\":\"a \\\"b\\\"\\n\"}}");
    (void)state;
    gg_mlflow_batch_init(&b, "run\"1", keep_body, &s);
    assert_int_equal(gg_mlflow_batch_end(&b, NULL), GG_OK); /* nothing to say */
    assert_int_equal(s.count, 0);
    assert_int_equal(gg_mlflow_numbers(&b, "", line, 1000, 4, NULL), GG_OK);
    assert_int_equal(gg_mlflow_metric(&b, "n", NAN, 1, 1, NULL), GG_OK);
    assert_int_equal(gg_mlflow_metric(&b, "i", INFINITY, 1, 1, NULL), GG_OK);
    assert_int_equal(gg_mlflow_config(&b, run, NULL), GG_OK);
    assert_int_equal(gg_mlflow_tag(&b, "k", "v", NULL), GG_OK);
    assert_int_equal(gg_mlflow_batch_end(&b, NULL), GG_OK);
    assert_string_equal(
        s.bodies[0],
        "{\"run_id\":\"run\\\"1\",\"metrics\":["
        "{\"key\":\"a/b\",\"value\":1,\"timestamp\":1000,\"step\":4},"
        "{\"key\":\"a/step\",\"value\":2,\"timestamp\":1000,\"step\":4},"
        "{\"key\":\"g\",\"value\":-0.25,\"timestamp\":1000,\"step\":4}],"
        "\"params\":[{\"key\":\"version\",\"value\":\"9\"},{\"key\":\"seed\",\"value\":\"42\"},"
        "{\"key\":\"hard\",\"value\":\"false\"},{\"key\":\"game.length\",\"value\":\"5\"},"
        "{\"key\":\"t\",\"value\":\"[1,2]\"},{\"key\":\"p\",\"value\":\"a \\\"b\\\"\\n\"}],"
        "\"tags\":[{\"key\":\"k\",\"value\":\"v\"}]}");
    assert_int_equal(b.metrics_sent, 3);
    forget(&s);
    cJSON_Delete(line);
    cJSON_Delete(run);
    gg_mlflow_batch_free(&b);
}

/* A batch is handed out before it passes a limit of the server. */
static void limits(void **state)
{
    sent s = {0};
    gg_mlflow_batch b;
    char name[32], *large = malloc(GG_MLFLOW_PARAM_BYTES + 100);
    (void)state;
    gg_mlflow_batch_init(&b, "r", keep_body, &s);
    for (int i = 0; i < 2 * GG_MLFLOW_METRICS_MAX + 1; i++) {
        snprintf(name, sizeof name, "m%d", i);
        assert_int_equal(gg_mlflow_metric(&b, name, i, 0, 0, NULL), GG_OK);
    }
    assert_int_equal(s.count, 2);
    assert_int_equal(gg_mlflow_batch_end(&b, NULL), GG_OK);
    assert_int_equal(s.count, 3);
    assert_int_equal(b.metrics_sent, 2 * GG_MLFLOW_METRICS_MAX + 1);
    cJSON *first = parse(s.bodies[0]);
    assert_int_equal(cJSON_GetArraySize(gg_json_get(first, "metrics")), GG_MLFLOW_METRICS_MAX);
    cJSON_Delete(first);
    forget(&s);
    /* Two-byte characters: cut between them, within the limit. */
    for (int i = 0; i < GG_MLFLOW_PARAM_BYTES + 98; i++)
        large[i] = i % 2 ? '\xa9' : '\xc3';
    large[GG_MLFLOW_PARAM_BYTES + 98] = '\0';
    for (int i = 0; i <= GG_MLFLOW_PARAMS_MAX; i++)
        assert_int_equal(gg_mlflow_param(&b, "p", large, NULL), GG_OK);
    assert_int_equal(s.count, 1);
    first = parse(s.bodies[0]);
    const char *value = gg_json_text(gg_json_path(first, "params.0"), "value");
    assert_int_equal(strlen(value), GG_MLFLOW_PARAM_BYTES - 1); /* 5,996 bytes and the dots */
    assert_string_equal(value + strlen(value) - 5, "\xc3\xa9...");
    cJSON_Delete(first);
    s.answer = GG_E_UNREACHABLE;
    assert_int_equal(gg_mlflow_batch_end(&b, NULL), GG_E_UNREACHABLE);
    assert_int_equal(gg_mlflow_batch_end(&b, NULL), GG_OK);
    forget(&s);
    free(large);
    gg_mlflow_batch_free(&b);
}

static void single_bodies(void **state)
{
    static const uint8_t ids[2][16] = {{0x01, 0xab}, {0xff}};
    gg_buf out;
    (void)state;
    gg_buf_init(&out, ROOM);
#define SAYS(call, want)                                                                           \
    do {                                                                                           \
        gg_buf_reset(&out);                                                                        \
        call;                                                                                      \
        assert_string_equal(gg_buf_cstr(&out), want);                                              \
    } while (0)
    SAYS(gg_mlflow_experiment_body("a\"b", &out), "{\"name\":\"a\\\"b\"}");
    SAYS(gg_mlflow_experiment_path("a b/\xc3\xa9&c", &out),
         "/api/2.0/mlflow/experiments/get-by-name?experiment_name=a%20b%2F%C3%A9%26c");
    SAYS(gg_mlflow_search_body("7", "00ff", &out), "{\"experiment_ids\":[\"7\"],\"filter\":\"tags.`"
                                                   "guessgym.key` = '00ff'\",\"max_results\":1}");
    SAYS(gg_mlflow_run_body("7", "name", "00ff", 123, &out),
         "{\"experiment_id\":\"7\",\"run_name\":\"name\",\"start_time\":123,\"tags\":["
         "{\"key\":\"guessgym.key\",\"value\":\"00ff\"},"
         "{\"key\":\"mlflow.source.name\",\"value\":\"guessgym\"},"
         "{\"key\":\"mlflow.source.type\",\"value\":\"LOCAL\"}]}");
    SAYS(gg_mlflow_end_body("r", "KILLED", 9, &out),
         "{\"run_id\":\"r\",\"status\":\"KILLED\",\"end_time\":9}");
    SAYS(gg_mlflow_link_body("r", ids, 2, &out),
         "{\"trace_ids\":[\"tr-01ab0000000000000000000000000000\","
         "\"tr-ff000000000000000000000000000000\"],\"run_id\":\"r\"}");
    cJSON *config = parse("{\"tasks\":\"my.jsonl\",\"list\":{\"count\":3,\"identity\":"
                          "\"0123456789012345678901234567890123456789\"}}");
    SAYS(assert_true(gg_mlflow_dataset_body("r", config, &out)),
         "{\"run_id\":\"r\",\"datasets\":[{\"tags\":[],\"dataset\":{\"name\":\"my.jsonl\","
         "\"digest\":"
         "\"012345678901234567890123456789012345\",\"source_type\":\"local\",\"source\":\"{}\","
         "\"profile\":\"{\\\"num_rows\\\":3}\"}}]}");
    cJSON_Delete(config);
    config = parse("{}");
    assert_false(gg_mlflow_dataset_body("r", config, &out));
    cJSON_Delete(config);
    static const struct {
        const char *uri, *want;
    } rows[] = {
        {"mlflow-artifacts:/1/ab/artifacts",
         "/api/2.0/mlflow-artifacts/artifacts/1/ab/artifacts/run.json"},
        {"mlflow-artifacts://host:5000/1/ab/artifacts",
         "/api/2.0/mlflow-artifacts/artifacts/1/ab/artifacts/run.json"},
        {"mlflow-artifacts://host", NULL},
        {"s3://bucket/1/ab", NULL},
        {"/srv/mlruns/1", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_buf_reset(&out);
        assert_int_equal(gg_mlflow_artifact_path(rows[i].uri, "run.json", &out),
                         rows[i].want != NULL);
        if (rows[i].want)
            assert_string_equal(out.data, rows[i].want);
    }
    gg_buf_free(&out);
}

/* ---- traces ---- */

/* A reader of protobuf of its own: prints "field:value" for numbers, "field{...}" for messages
 * whose path is listed, "field=text" for the rest. */
static uint64_t varint(const uint8_t **at)
{
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}

/* The message type that a field of a message holds; 0 = bytes or text. Types: 1 request, 2
 * resource spans, 3 resource, 4 scope spans, 5 scope, 6 span, 7 pair, 8 value, 9 event, 10 status.
 */
static int type_of(int message, int field)
{
    static const int rows[][3] = {{1, 1, 2},  {2, 1, 3}, {2, 2, 4},  {3, 1, 7},
                                  {4, 1, 5},  {4, 2, 6}, {6, 9, 7},  {7, 2, 8},
                                  {6, 11, 9}, {9, 3, 7}, {6, 15, 10}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i][0] == message && rows[i][1] == field)
            return rows[i][2];
    return 0;
}

static void read_message(const uint8_t *at, const uint8_t *end, int message, gg_buf *out)
{
    while (at < end) {
        uint64_t tag = varint(&at);
        int field = (int)(tag >> 3), wire = (int)(tag & 7);
        if (wire == 0) {
            gg_buf_printf(out, "%d:%llu ", field, (unsigned long long)varint(&at));
        } else if (wire == 1) {
            uint64_t value;
            memcpy(&value, at, 8);
            at += 8;
            double real;
            memcpy(&real, &value, 8);
            if (message == 8)
                gg_buf_printf(out, "%d:%g ", field, real);
            else
                gg_buf_printf(out, "%d:%llu ", field, (unsigned long long)value);
        } else {
            assert_int_equal(wire, 2);
            size_t len = (size_t)varint(&at);
            assert_true(at + len <= end);
            int inner = type_of(message, field);
            if (inner) {
                gg_buf_printf(out, "%d{", field);
                read_message(at, at + len, inner, out);
                gg_buf_str(out, "} ");
            } else if (message == 6 && field <= 4) {
                gg_buf_printf(out, "%d#", field);
                for (size_t i = 0; i < len; i++)
                    gg_buf_printf(out, "%02x", at[i]);
                gg_buf_char(out, ' ');
            } else {
                gg_buf_printf(out, "%d=", field);
                gg_buf_add(out, at, len);
                gg_buf_char(out, ' ');
            }
            at += len;
        }
    }
    assert_ptr_equal(at, end);
}

/* One play of one turn with one call, by hand. */
static gg_episode *small_play(const char *hostile)
{
    gg_episode *e = gg_episode_new();
    e->id = "s0-g3-1";
    e->env = "game";
    e->group = 3;
    e->sample = 1;
    e->task_id = "3";
    e->task_digest = e->task_key = "00";
    e->answer = "\"abc\"";
    e->seed = 5;
    e->policy.model = "m";
    e->outcome = GG_SOLVED;
    e->stop = GG_STOP_DONE;
    e->moves = 1;
    e->measure = (gg_named){"solved", 1};
    e->reward = 0.5;
    e->started = "2026-11-30T22:13:04.250Z";
    e->duration_ms = 40;
    gg_turn *turn = gg_episode_add_turn(e);
    turn->finish_reason = "tool_calls";
    turn->reasoning = hostile;
    turn->usage = (gg_usage){10, 4, GG_TOKENS_UNKNOWN, GG_TOKENS_UNKNOWN};
    turn->latency_ms = 20;
    gg_attempt *attempt =
        gg_episode_push(e, &turn->attempts, &turn->attempt_count, sizeof *attempt);
    *attempt = (gg_attempt){503, "busy", 5};
    attempt = gg_episode_push(e, &turn->attempts, &turn->attempt_count, sizeof *attempt);
    *attempt = (gg_attempt){200, "ok", 0};
    gg_call *call = gg_episode_push(e, &turn->calls, &turn->call_count, sizeof *call);
    *call = (gg_call){.id = "c1",
                      .name = "tool",
                      .arguments_raw = hostile ? hostile : "{\"x\":1}",
                      .result = hostile ? hostile : "fine",
                      .facts = "{\"n\":2}"};
    e->messages =
        "[{\"role\":\"user\",\"content\":\"go\"},{\"role\":\"assistant\",\"content\":\"x\"},"
        "{\"role\":\"tool\",\"content\":\"fine\"}]";
    return e;
}

/* Ids by sha256sum: of "k|s0-g3-1" the trace's, of "k|s0-g3-1|-1|-1", "|0|-1", "|0|0" the spans'.
 * 1796076784250 ms is the play's begin, by Python's datetime. */
static void a_trace_byte_for_byte(void **state)
{
    gg_episode *e = small_play(NULL);
    gg_buf out, text;
    (void)state;
    gg_buf_init(&out, ROOM);
    gg_buf_init(&text, ROOM);
    assert_int_equal(gg_mlflow_trace(e, "k", &out, NULL), GG_OK);
    read_message((const uint8_t *)out.data, (const uint8_t *)out.data + out.len, 1, &text);
    assert_string_equal(
        gg_buf_cstr(&text),
        "1{1{1{1=service.name 2{1=guessgym } } } 2{1{1=guessgym 2=0.1.0 }"
        " 2{1#ae9d422090e6ba1a59f348f8d73c3665 2#872dc8154c1858f3"
        " 5=game s0-g3-1 6:1 7:1796076784250000000 8:1796076784290000000"
        " 9{1=mlflow.spanType 2{1=AGENT } }"
        " 9{1=gen_ai.operation.name 2{1=invoke_agent } }"
        " 9{1=gen_ai.agent.name 2{1=guessgym } }"
        " 9{1=gen_ai.request.model 2{1=m } }"
        " 9{1=mlflow.spanInputs "
        "2{1={\"task\":\"3\",\"messages\":[{\"role\":\"user\",\"content\":\"go\"}]} } }"
        " 9{1=mlflow.spanOutputs "
        "2{1={\"outcome\":\"solved\",\"stop\":\"done\",\"answer\":\"abc\",\"moves\":1,\"reward\":{"
        "\"total\":0.5,\"parts\":{}}} } }"
        " 9{1=mlflow.traceTag.episode 2{1=s0-g3-1 } }"
        " 9{1=mlflow.traceTag.task 2{1=3 } }"
        " 9{1=mlflow.traceTag.outcome 2{1=solved } }"
        " 9{1=mlflow.traceTag.stop 2{1=done } }"
        " 9{1=mlflow.traceTag.reward 2{1=0.5 } }"
        " 9{1=guessgym.step 2{3:0 } }"
        " 9{1=guessgym.group 2{3:3 } }"
        " 9{1=guessgym.sample 2{3:1 } }"
        " 9{1=guessgym.seed 2{3:5 } }"
        " 9{1=guessgym.reward 2{4:0.5 } }"
        " 9{1=guessgym.measure 2{4:1 } }"
        " 15{3:1 } }"
        " 2{1#ae9d422090e6ba1a59f348f8d73c3665 2#ce532627eafc8843 4#872dc8154c1858f3"
        " 5=turn 1 6:3 7:1796076784250000000 8:1796076784275000000"
        " 9{1=mlflow.spanType 2{1=CHAT_MODEL } }"
        " 9{1=gen_ai.operation.name 2{1=chat } }"
        " 9{1=gen_ai.request.model 2{1=m } }"
        " 9{1=gen_ai.response.finish_reasons 2{1=tool_calls } }"
        " 9{1=mlflow.spanInputs 2{1={\"messages\":[{\"role\":\"user\",\"content\":\"go\"}]} } }"
        " 9{1=mlflow.spanOutputs "
        "2{1={\"choices\":[{\"index\":0,\"finish_reason\":\"tool_calls\",\"message\":{\"role\":"
        "\"assistant\",\"content\":\"x\"}}]} } }"
        " 9{1=gen_ai.usage.input_tokens 2{3:10 } }"
        " 9{1=gen_ai.usage.output_tokens 2{3:4 } }"
        " 9{1=mlflow.chat.tokenUsage "
        "2{1={\"input_tokens\":10,\"output_tokens\":4,\"total_tokens\":14} } }"
        " 9{1=guessgym.latency_ms 2{3:20 } }"
        " 11{1:1796076784250000000 2=retry 3{1=http.response.status_code 2{3:503 } } 3{1=reason "
        "2{1=busy } } 3{1=wait_ms 2{3:5 } } }"
        " 15{3:1 } }"
        " 2{1#ae9d422090e6ba1a59f348f8d73c3665 2#70daa1ae1db23cb7 4#ce532627eafc8843"
        " 5=tool 6:1 7:1796076784275000000 8:1796076784275000000"
        " 9{1=mlflow.spanType 2{1=TOOL } }"
        " 9{1=gen_ai.operation.name 2{1=execute_tool } }"
        " 9{1=gen_ai.tool.name 2{1=tool } }"
        " 9{1=gen_ai.tool.call.id 2{1=c1 } }"
        " 9{1=mlflow.spanInputs 2{1={\"x\":1} } }"
        " 9{1=mlflow.spanOutputs 2{1=\"fine\" } }"
        " 9{1=guessgym.call.status 2{1=valid } }"
        " 9{1=guessgym.call.facts 2{1={\"n\":2} } }"
        " 15{3:1 } } } } ");
    gg_buf_free(&out);
    gg_buf_free(&text);
    gg_episode_free(e);
}

/* Text that no protobuf string may hold, or that tries to break out, stays one attribute. */
static void hostile_text(void **state)
{
    static const char *const rows[] = {
        "<script>alert(1)</script>",
        "\xff\xfe broken",
        "\xed\xa0\x80",
        "\"}],\"x\":[{\"",
        "{\"x\":",
        "\x01\x02\x7f\n\t",
        "",
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_episode *e = small_play(rows[i]);
        gg_buf out, text;
        gg_buf_init(&out, ROOM);
        gg_buf_init(&text, ROOM);
        assert_int_equal(gg_mlflow_trace(e, rows[i], &out, NULL), GG_OK);
        read_message((const uint8_t *)out.data, (const uint8_t *)out.data + out.len, 1, &text);
        /* Every byte is valid UTF-8: JSON's cleaning changes nothing but its own escapes. */
        gg_buf json;
        gg_buf_init(&json, ROOM);
        gg_buf_json(&json, text.data, text.len);
        gg_json_reader reader = gg_json_reader_make(json.data, json.len);
        gg_buf_reset(&out);
        assert_true(gg_read_string(&reader, &out));
        assert_int_equal(out.len, text.len);
        assert_memory_equal(out.data, text.data, text.len);
        gg_buf_free(&json);
        gg_buf_free(&out);
        gg_buf_free(&text);
        gg_episode_free(e);
    }
}

static void messages_that_are_none(void **state)
{
    gg_episode *e = small_play(NULL);
    gg_error error = {0};
    gg_buf out;
    (void)state;
    gg_buf_init(&out, ROOM);
    e->messages = NULL; /* read without them */
    assert_int_equal(gg_mlflow_trace(e, "k", &out, &error), GG_OK);
    e->messages = "[";
    assert_int_equal(gg_mlflow_trace(e, "k", &out, &error), GG_E_FORMAT);
    e->messages = "{}";
    assert_int_equal(gg_mlflow_trace(e, "k", &out, &error), GG_OK);
    gg_buf_free(&out);
    gg_episode_free(e);
}

/* The draw depends on seed and id alone, and is even: of 20,000 draws a share of 0.1 takes 2,000,
 * with a standard deviation of 42. */
static void draws(void **state)
{
    int taken = 0;
    char id[32];
    (void)state;
    for (int i = 0; i < 20000; i++) {
        snprintf(id, sizeof id, "s0-g%d-0", i);
        double draw = gg_mlflow_trace_draw(42, id);
        assert_true(draw >= 0 && draw < 1);
        taken += draw < 0.1;
    }
    assert_in_range(taken, 2000 - 5 * 42, 2000 + 5 * 42);
    assert_true(gg_mlflow_trace_draw(42, "s0-g1-0") == gg_mlflow_trace_draw(42, "s0-g1-0"));
    assert_true(gg_mlflow_trace_draw(42, "s0-g1-0") != gg_mlflow_trace_draw(43, "s0-g1-0"));
}

/* ---- a push ---- */

/* A server that answers as MLflow does, counts, and fails from one request on. */
typedef struct counter {
    pthread_mutex_t lock;
    int requests, creates, metrics, traces, files, ends;
    int fail_from, fail_status; /* 0 = never */
    bool authorized;
} counter;

static void answer(void *context, gg_exchange *x, const gg_exchange_request *r)
{
    counter *c = context;
    const char *auth = gg_exchange_header(x, "Authorization");
    pthread_mutex_lock(&c->lock);
    int number = ++c->requests;
    int status = c->fail_from && number >= c->fail_from ? c->fail_status : 200;
    const char *reply = "{}";
    bool good = status == 200;
    c->authorized = auth && strcmp(auth, "Basic dTpwdw==") == 0; /* "u:pw" */
    if (!good)
        reply = "{\"error_code\":\"INTERNAL_ERROR\",\"message\":\"dTpwdw== is broken\"}";
    else if (strstr(r->path, "get-by-name"))
        status = 404, reply = "{\"error_code\":\"RESOURCE_DOES_NOT_EXIST\",\"message\":\"none\"}";
    else if (strstr(r->path, "experiments/create"))
        reply = "{\"experiment_id\":\"7\"}";
    else if (strstr(r->path, "runs/create"))
        c->creates++, reply = "{\"run\":{\"info\":{\"run_id\":\"r1\",\"artifact_uri\":"
                              "\"mlflow-artifacts:/7/r1/artifacts\"}}}";
    else if (strstr(r->path, "log-batch"))
        c->metrics += strstr(r->body, "\"metrics\"") != NULL;
    else if (strcmp(r->path, "/v1/traces") == 0)
        c->traces++;
    else if (strcmp(r->method, "PUT") == 0)
        c->files++;
    else if (strstr(r->path, "runs/update"))
        c->ends++;
    pthread_mutex_unlock(&c->lock);
    gg_exchange_reply_json(x, status, reply);
}

static void make_run(const char *dir, size_t plays)
{
    gg_error error = {0};
    gg_run *run = NULL;
    gg_buf line;
    gg_buf_init(&line, ROOM);
    if (gg_run_open(dir,
                    "{\"command\":\"eval\",\"seed\":1,\"samples\":1,\"list\":{\"count\":3,"
                    "\"identity\":\"ab\"}}",
                    false, &run, &error) != GG_OK)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < plays; i++) {
        made_play play = {.group = (int64_t)i,
                          .outcome = i ? GG_LOST : GG_SOLVED,
                          .moves = 2,
                          .turns = 2,
                          .prompt = 5,
                          .completion = 3,
                          .started = "2026-11-30T22:13:04.250Z",
                          .duration_ms = 10};
        gg_episode *e = make_episode(&play);
        gg_buf_reset(&line);
        assert_int_equal(gg_episode_write(e, &line, &error), GG_OK);
        assert_int_equal(gg_run_append(run, GG_JOURNAL_EPISODES, line.data, line.len, &error),
                         GG_OK);
        gg_episode_free(e);
    }
    static const char summary[] = "{\"planned\":3,\"unplayed\":0,\"solve_rate\":0.25}\n";
    assert_int_equal(gg_run_write_file(run, "summary.json", summary, strlen(summary), &error),
                     GG_OK);
    gg_run_close(run);
    gg_buf_free(&line);
}

static gg_status push(const char *dir, const char *url, gg_mlflow_sent *out, gg_error *error)
{
    const gg_mlflow_options options = {
        .url = url, .share = -1, .keys = {.user = "u", .password = "pw"}};
    gg_mlflow *m = NULL;
    gg_status status = gg_mlflow_open(dir, &options, &m, error);
    assert_int_equal(status, GG_OK);
    status = gg_mlflow_finish(m, NULL, error);
    gg_mlflow_look(m, out);
    out->remark = out->url = out->run_id = out->experiment = out->experiment_id = NULL;
    gg_mlflow_close(m);
    return status;
}

/* Wherever the server fails, a later push completes the run, and one more adds nothing. */
static void pushed_through_failures(void **state)
{
    char dir[FOLDER_PATH];
    (void)state;
    for (int from = 0; from < 14; from++) {
        counter c = {.lock = PTHREAD_MUTEX_INITIALIZER, .fail_from = from, .fail_status = 500};
        gg_server *server = NULL;
        gg_error error = {0};
        gg_mlflow_sent told;
        const gg_server_options options = {.listen = ":0", .handler = answer, .context = &c};
        assert_int_equal(gg_server_start(&options, &server, &error), GG_OK);
        folder_make(dir);
        make_run(dir, 3);
        gg_status status = push(dir, gg_server_url(server), &told, &error);
        if (from > 0 && status != GG_OK) {
            assert_int_equal(status, GG_E_UNREACHABLE);
            assert_non_null(strstr(error.text, "HTTP 500 INTERNAL_ERROR"));
            assert_null(strstr(error.text, "dTpwdw==")); /* a key that the server repeats */
            c.fail_from = 0;
            assert_int_equal(push(dir, gg_server_url(server), &told, &error), GG_OK);
        }
        assert_int_equal(c.creates, 1);
        assert_int_equal(c.files, 2);
        assert_int_equal(c.ends, 1);
        assert_true(c.authorized);
        assert_true(c.traces >= 3 && c.traces <= 6); /* sent again, each to its own place */
        int before = c.requests;
        assert_int_equal(push(dir, gg_server_url(server), &told, &error), GG_OK);
        assert_int_equal(c.requests, before);
        assert_int_equal(told.metrics + told.traces + told.files, 0);
        gg_server_stop(server);
        folder_remove(dir);
    }
}

static void refused_and_unable(void **state)
{
    static const struct {
        int status;
        gg_status want;
    } rows[] = {{400, GG_E_PROTOCOL}, {401, GG_E_PROTOCOL}, {503, GG_E_UNREACHABLE}};
    char dir[FOLDER_PATH];
    gg_mlflow *m = NULL;
    gg_error error = {0};
    gg_mlflow_sent told;
    (void)state;
    folder_make(dir);
    make_run(dir, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        counter c = {
            .lock = PTHREAD_MUTEX_INITIALIZER, .fail_from = 1, .fail_status = rows[i].status};
        gg_server *server = NULL;
        const gg_server_options options = {.listen = ":0", .handler = answer, .context = &c};
        assert_int_equal(gg_server_start(&options, &server, &error), GG_OK);
        assert_int_equal(push(dir, gg_server_url(server), &told, &error), rows[i].want);
        assert_int_equal(c.requests, rows[i].want == GG_E_PROTOCOL ? 1 : GG_MLFLOW_ATTEMPTS);
        gg_server_stop(server);
    }
    /* The same folder twice, and addresses that are none. */
    const gg_mlflow_options good = {.url = "http://127.0.0.1:1", .share = 1};
    const gg_mlflow_options bad = {.url = "ftp://x", .share = 1};
    gg_mlflow *second = NULL;
    assert_int_equal(gg_mlflow_open(dir, &bad, &m, &error), GG_E_CONFIG);
    assert_int_equal(gg_mlflow_open(dir, &good, &m, &error), GG_OK);
    assert_int_equal(gg_mlflow_open(dir, &good, &second, &error), GG_E_LOCKED);
    gg_mlflow_until(m, 0); /* no time is left */
    assert_int_equal(gg_mlflow_push(m, &error), GG_E_LIMIT);
    gg_mlflow_close(m);
    folder_write(dir, GG_MLFLOW_FILE, "{}", 2);
    assert_int_equal(gg_mlflow_open(dir, &good, &m, &error), GG_E_FORMAT);
    folder_remove(dir);
}

static void never_pushed(void **state)
{
    char dir[FOLDER_PATH];
    gg_mlflow *m = NULL;
    gg_error error = {0};
    const gg_mlflow_options options = {.share = -1};
    (void)state;
    folder_make(dir);
    make_run(dir, 1);
    assert_int_equal(gg_mlflow_open(dir, &options, &m, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "--mlflow URL"));
    assert_int_equal(gg_mlflow_open("/nonexistent", &options, &m, &error), GG_E_CONFIG);
    folder_remove(dir);
}

static void state_goes_round(void **state)
{
    char dir[FOLDER_PATH];
    gg_run *run = NULL;
    gg_error error = {0};
    gg_mlflow_state *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    gg_mlflow_entry *first, *second, *again;
    (void)state;
    folder_make(dir);
    make_run(dir, 1);
    assert_int_equal(gg_run_open_read(dir, &run, &error), GG_OK);
    assert_int_equal(gg_mlflow_state_read(run, a, &error), GG_OK);
    assert_int_equal(a->count, 0);
    assert_int_equal(gg_mlflow_state_entry(a, "http://a", NULL, "fall", &first, &error), GG_OK);
    assert_int_equal(gg_mlflow_state_entry(a, "http://a", "other", "fall", &second, &error), GG_OK);
    assert_int_equal(gg_mlflow_state_entry(a, "http://a", NULL, "fall", &again, &error), GG_OK);
    assert_ptr_equal(first, again);
    assert_string_equal(first->experiment, "fall");
    assert_string_not_equal(first->key, second->key);
    first->config = true;
    first->share = 0.25;
    first->step = 9;
    first->plays = 11;
    first->start_ms = 1234567890123;
    memcpy(first->files[1], "abc", 4);
    memcpy(first->run_id, "r\"1", 4);
    assert_int_equal(gg_mlflow_state_write(run, a, &error), GG_OK);
    assert_int_equal(gg_mlflow_state_read(run, b, &error), GG_OK);
    assert_memory_equal(a, b, sizeof *a);
    gg_run_close(run);
    free(a);
    free(b);
    folder_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_and_values),
        cmocka_unit_test(whole_batches),
        cmocka_unit_test(limits),
        cmocka_unit_test(single_bodies),
        cmocka_unit_test(a_trace_byte_for_byte),
        cmocka_unit_test(hostile_text),
        cmocka_unit_test(messages_that_are_none),
        cmocka_unit_test(draws),
        cmocka_unit_test(pushed_through_failures),
        cmocka_unit_test(refused_and_unable),
        cmocka_unit_test(never_pushed),
        cmocka_unit_test(state_goes_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
