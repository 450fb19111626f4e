/* The episode record: written, read back, refused when damaged, at every allocation failure. */
#include <guessgym/record.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/json.h"
#include "core/rng.h"
#include "tests/alloc.h"

#define COUNT(a)  (sizeof(a) / sizeof *(a))
#define LINE_MAX_ (1u << 20)

/* One of every kind of value, and text that is hard to keep on one line. */
static const char full_line[] =
    "{\"schema\":\"guessgym.episode/1\",\"id\":\"s0-g3-1\",\"env\":\"toy\",\"step\":0,\"group\":3,"
    "\"sample\":1,\"task\":{\"id\":\"t1\",\"digest\":\"d\",\"key\":\"k\"},\"answer\":{\"x\":[1]},"
    "\"seed\":9007199254740991,\"policy\":{\"endpoint\":\"http://h/v1\",\"model\":\"m\","
    "\"reasoning_effort\":null,\"temperature\":0.1,\"top_p\":null,\"max_tokens\":null,"
    "\"weight_version_first\":0,\"weight_version_last\":null},\"outcome\":\"forfeited\","
    "\"stop\":\"no_call\",\"moves\":2,\"measure\":{\"name\":\"solved\",\"value\":0},"
    "\"labels\":{\"opening\":\"cr\\u2028ne\",\"q\\\"\":null},\"reward\":{\"total\":"
    "0.30000000000000004,\"parts\":{\"a\":0.1,\"b\":0.2},\"by_turn\":[0.1,0.2]},\"trainable\":"
    "false,"
    "\"untrainable_reason\":\"no ids\",\"turns\":[{\"index\":0,\"finish_reason\":\"tool_calls\","
    "\"calls\":[{\"id\":\"c1\",\"name\":\"play\",\"arguments_raw\":\"{\\\"x\\\": \\\"\\u0085\\\"\","
    "\"status\":\"valid\",\"repairs\":[\"fence\",\"comma\"],\"result\":\"line\\nline "
    "\xf0\x9f\x98\x80\","
    "\"facts\":{\"n\":1.5,\"ok\":true}},{\"id\":null,\"name\":\"play\",\"arguments_raw\":\"\","
    "\"status\":\"failed\",\"repairs\":[],\"result\":null,\"facts\":{}}],\"reasoning\":\"so\","
    "\"usage\":{\"prompt\":10,\"completion\":0,\"reasoning\":null,\"cached\":null},"
    "\"attempts\":[{\"status\":429,\"reason\":\"throttled\",\"wait_ms\":250},{\"status\":200,"
    "\"reason\":\"ok\",\"wait_ms\":0}],\"latency_ms\":12},{\"index\":1,\"finish_reason\":null,"
    "\"calls\":[],\"reasoning\":null,\"usage\":{\"prompt\":null,\"completion\":null,\"reasoning\":"
    "null,\"cached\":null},\"attempts\":[],\"latency_ms\":0}],\"started\":\"2026-01-02T03:04:05Z\","
    "\"duration_ms\":99,\"messages\":[{\"role\":\"user\",\"content\":\"\xc3\xa9 \\u2029\"}]}\n";

static gg_episode *read_line(const char *line, gg_read_depth depth)
{
    gg_episode *e;
    gg_error error = {0};
    if (gg_episode_read(line, strlen(line), depth, &e, &error) != GG_OK)
        fail_msg("%s", error.text);
    return e;
}

static void names(void **state)
{
    (void)state;
    assert_string_equal(gg_outcome_name(GG_TRUNCATED), "truncated");
    assert_string_equal(gg_stop_name(GG_STOP_CALL_CAP), "call_cap");
    assert_string_equal(gg_call_status_name(GG_CALL_OVER), "over");
    for (int i = 0; i < GG_OUTCOME_COUNT; i++)
        assert_int_equal(gg_outcome_parse(gg_outcome_name((gg_outcome)i)), i);
    for (int i = 0; i < GG_STOP_COUNT; i++)
        assert_int_equal(gg_stop_parse(gg_stop_name((gg_stop)i)), i);
    for (int i = 0; i < GG_CALL_STATUS_COUNT; i++)
        assert_int_equal(gg_call_status_parse(gg_call_status_name((gg_call_status)i)), i);
    assert_int_equal(gg_outcome_parse("won"), GG_OUTCOME_COUNT);
    assert_int_equal(gg_stop_parse(NULL), GG_STOP_COUNT);
    assert_int_equal(gg_call_status_parse(""), GG_CALL_STATUS_COUNT);
}

/* The values of the line, member by member: the table of fields is not trusted to check itself. */
static void values_of_a_line(void **state)
{
    (void)state;
    gg_episode *e = read_line(full_line, GG_READ_ALL);
    assert_string_equal(e->id, "s0-g3-1");
    assert_string_equal(e->env, "toy");
    assert_true(e->step == 0 && e->group == 3 && e->sample == 1);
    assert_string_equal(e->task_id, "t1");
    assert_string_equal(e->task_digest, "d");
    assert_string_equal(e->task_key, "k");
    assert_string_equal(e->answer, "{\"x\":[1]}");
    assert_true(e->seed == 9007199254740991u);
    assert_string_equal(e->policy.endpoint, "http://h/v1");
    assert_string_equal(e->policy.model, "m");
    assert_null(e->policy.reasoning_effort);
    assert_true(e->policy.temperature == 0.1 && isnan(e->policy.top_p));
    assert_true(e->policy.max_tokens == -1 && e->policy.weight_version_first == 0);
    assert_true(e->policy.weight_version_last == -1);
    assert_true(e->outcome == GG_FORFEITED && e->stop == GG_STOP_NO_CALL && e->moves == 2);
    assert_string_equal(e->measure.name, "solved");
    assert_true(e->measure.value == 0);
    assert_int_equal(e->label_count, 2);
    assert_string_equal(e->labels[0].value, "cr\xe2\x80\xa8ne");
    assert_string_equal(e->labels[1].name, "q\"");
    assert_null(e->labels[1].value);
    assert_true(e->reward == 0.1 + 0.2);
    assert_int_equal(e->part_count, 2);
    assert_string_equal(e->parts[1].name, "b");
    assert_true(e->parts[1].value == 0.2 && e->reward_by_turn[0] == 0.1);
    assert_false(e->trainable);
    assert_string_equal(e->untrainable_reason, "no ids");
    assert_int_equal(e->turn_count, 2);
    const gg_turn *turn = &e->turns[0];
    assert_string_equal(turn->finish_reason, "tool_calls");
    assert_int_equal(turn->call_count, 2);
    assert_string_equal(turn->calls[0].id, "c1");
    assert_string_equal(turn->calls[0].name, "play");
    assert_string_equal(turn->calls[0].arguments_raw, "{\"x\": \"\xc2\x85\"");
    assert_int_equal(turn->calls[0].status, GG_CALL_VALID);
    assert_int_equal(turn->calls[0].repair_count, 2);
    assert_string_equal(turn->calls[0].repairs[1], "comma");
    assert_string_equal(turn->calls[0].result, "line\nline \xf0\x9f\x98\x80");
    assert_string_equal(turn->calls[0].facts, "{\"n\":1.5,\"ok\":true}");
    assert_null(turn->calls[1].id);
    assert_int_equal(turn->calls[1].status, GG_CALL_FAILED);
    assert_string_equal(turn->reasoning, "so");
    assert_true(turn->usage.prompt == 10 && turn->usage.completion == 0);
    assert_true(turn->usage.reasoning == GG_TOKENS_UNKNOWN);
    assert_int_equal(turn->attempt_count, 2);
    assert_int_equal(turn->attempts[0].status, 429);
    assert_string_equal(turn->attempts[0].reason, "throttled");
    assert_true(turn->attempts[0].wait_ms == 250 && turn->latency_ms == 12);
    assert_int_equal(e->turns[1].index, 1);
    assert_string_equal(e->started, "2026-01-02T03:04:05Z");
    assert_true(e->duration_ms == 99);
    assert_string_equal(e->messages, "[{\"role\":\"user\",\"content\":\"\xc3\xa9 \\u2029\"}]");
    assert_false(e->partial);
    gg_episode_free(e);
}

static void same_bytes_again(void **state)
{
    (void)state;
    gg_buf line;
    gg_error error;
    gg_buf_init(&line, LINE_MAX_);
    gg_episode *e = read_line(full_line, GG_READ_ALL);
    assert_int_equal(gg_episode_write(e, &line, &error), GG_OK);
    assert_string_equal(line.data, full_line);
    gg_episode_free(e);

    /* Without the messages it must not be written: they would be lost. */
    e = read_line(full_line, GG_READ_PLAY);
    assert_null(e->messages);
    assert_int_equal(e->turn_count, 2);
    assert_int_equal(gg_episode_write(e, &line, &error), GG_E_STATE);
    assert_string_equal(line.data, full_line);
    gg_episode_free(e);
    gg_buf_free(&line);
}

static void a_new_episode(void **state)
{
    (void)state;
    static const char want[] =
        "{\"schema\":\"guessgym.episode/1\",\"id\":\"a\",\"env\":\"toy\",\"step\":0,\"group\":0,"
        "\"sample\":0,\"task\":{\"id\":null,\"digest\":null,\"key\":null},\"answer\":null,\"seed\":"
        "0,"
        "\"policy\":{\"endpoint\":null,\"model\":null,\"reasoning_effort\":null,\"temperature\":"
        "null,"
        "\"top_p\":null,\"max_tokens\":null,\"weight_version_first\":null,\"weight_version_last\":"
        "null},\"outcome\":\"unplayed\",\"stop\":\"none\",\"moves\":0,\"measure\":{\"name\":null,"
        "\"value\":0},\"labels\":{},\"reward\":{\"total\":0,\"parts\":{}},\"trainable\":false,"
        "\"turns\":[{\"index\":0,\"finish_reason\":null,\"calls\":[{\"id\":null,\"name\":null,"
        "\"arguments_raw\":null,\"status\":\"valid\",\"repairs\":[],\"result\":null,\"facts\":{}}],"
        "\"reasoning\":null,\"usage\":{\"prompt\":null,\"completion\":null,\"reasoning\":null,"
        "\"cached\":null},\"attempts\":[],\"latency_ms\":0}],\"started\":null,\"duration_ms\":0,"
        "\"messages\":[]}\n";
    gg_buf line;
    gg_error error;
    gg_buf_init(&line, LINE_MAX_);
    gg_episode *e = gg_episode_new();
    assert_non_null(e);
    assert_int_equal(gg_episode_write(e, &line, &error), GG_E_ARGUMENT);
    e->id = "a";
    e->env = "toy";
    gg_turn *turn = gg_episode_add_turn(e);
    assert_non_null(gg_episode_push(e, &turn->calls, &turn->call_count, sizeof(gg_call)));
    assert_int_equal(gg_episode_write(e, &line, &error), GG_OK);
    assert_string_equal(line.data, want);
    e->seed = UINT64_C(1) << 53;
    assert_int_equal(gg_episode_write(e, &line, &error), GG_E_ARGUMENT);
    gg_episode_free(e);
    gg_episode_free(NULL);
    gg_buf_free(&line);
}

/* JSON that an environment or agent made: pretty-printed is put on one line, broken is told. */
static void foreign_json(void **state)
{
    (void)state;
    static const struct {
        const char *facts, *in_line; /* NULL = refused */
    } rows[] = {
        {"{\n  \"a\": 1\n}", "\"facts\":{   \"a\": 1 }"},
        {"{\"a\":\"\xe2\x80\xa8\"}", "\"facts\":{\"a\":\"\\u2028\"}"},
        {"{\"a\":\"\xff\"}", "\"facts\":{\"a\":\"\xef\xbf\xbd\"}"},
        {"{\"a\":\"\xc3\xa9\"}", "\"facts\":{\"a\":\"\xc3\xa9\"}"},
        {"{\"a\":1", NULL},
        {"", NULL},
        {"{} {}", NULL},
    };
    gg_buf line;
    gg_error error;
    gg_buf_init(&line, LINE_MAX_);
    gg_episode *e = gg_episode_new();
    e->id = "a";
    e->env = "toy";
    gg_turn *turn = gg_episode_add_turn(e);
    gg_call *call = gg_episode_push(e, &turn->calls, &turn->call_count, sizeof *call);
    for (size_t i = 0; i < COUNT(rows); i++) {
        call->facts = rows[i].facts;
        gg_buf_reset(&line);
        gg_status status = gg_episode_write(e, &line, &error);
        assert_int_equal(status, rows[i].in_line ? GG_OK : GG_E_FORMAT);
        if (rows[i].in_line) {
            assert_non_null(strstr(line.data, rows[i].in_line));
            assert_ptr_equal(strchr(line.data, '\n'), line.data + line.len - 1);
        } else {
            assert_non_null(strstr(error.text, "facts"));
            assert_int_equal(line.len, 0);
        }
    }
    gg_episode_free(e);
    gg_buf_free(&line);
}

/* Cut at every byte, with the wanted depth: never taken for a record. */
static void cut_lines(void **state)
{
    (void)state;
    size_t len = strlen(full_line) - 1;
    for (size_t cut = 0; cut <= len; cut++) {
        char *bytes = malloc(cut + 1);
        assert_non_null(bytes);
        memcpy(bytes, full_line, cut);
        for (gg_read_depth depth = GG_READ_PLAY; depth <= GG_READ_ALL; depth++) {
            gg_episode *e;
            gg_error error = {0};
            gg_status status = gg_episode_read(bytes, cut, depth, &e, &error);
            /* A cut right behind an inner '}' of the messages is all that goes unseen. */
            bool unseen = depth == GG_READ_PLAY && cut > len - 3 && cut && bytes[cut - 1] == '}';
            if (status != (cut == len || unseen ? GG_OK : GG_E_FORMAT))
                fail_msg("cut at %zu of %zu: %s", cut, len, error.text);
            gg_episode_free(e);
        }
        free(bytes);
    }
}

static void refused_lines(void **state)
{
    (void)state;
    static const struct {
        const char *line, *says;
    } rows[] = {
        {"{}", "schema"},
        {"[]", "byte 0"},
        {"", "byte 0"},
        {"null", "byte 0"},
        {"{\"schema\":\"guessgym.episode/2\"}", "guessgym.episode/1"},
        {"{\"schema\":7}", "guessgym.episode/1"},
        {"{\"schema\":\"guessgym.episode/1\",\"env\":\"e\",\"turns\":[]}", "\"id\""},
        {"{\"schema\":\"guessgym.episode/1\",\"id\":\"i\",\"turns\":[]}", "\"env\""},
        {"{\"schema\":\"guessgym.episode/1\",\"id\":\"i\",\"env\":\"e\"}", "\"turns\""},
        {"{\"schema\":\"guessgym.episode/1\",\"id\":7}", "\"id\""},
        {"{\"schema\":\"guessgym.episode/1\",\"outcome\":\"won\"}", "\"outcome\""},
        {"{\"schema\":\"guessgym.episode/1\",\"seed\":9007199254740992}", "\"seed\""},
        {"{\"schema\":\"guessgym.episode/1\",\"seed\":-1}", "\"seed\""},
        {"{\"schema\":\"guessgym.episode/1\",\"turns\":[{\"index\":2147483648}]}", "\"index\""},
        {"{\"schema\":\"guessgym.episode/1\",\"turns\":[{\"usage\":{\"prompt\":-3}}]}",
         "\"prompt\""},
        {"{\"schema\":\"guessgym.episode/1\",\"turns\":{}}", "\"turns\""},
        {"{\"schema\":\"guessgym.episode/1\",\"id\":\"i\",\"env\":\"e\",\"turns\":[],\"reward\":"
         "{\"by_turn\":[1]}}",
         "1 rewards by turn for 0 turns"},
        {"{\"schema\":\"guessgym.episode/1\",\"id\":\"i\",\"env\":\"e\",\"turns\":[]} x", "byte"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        gg_episode *e;
        gg_error error = {0};
        gg_status status =
            gg_episode_read(rows[i].line, strlen(rows[i].line), GG_READ_ALL, &e, &error);
        assert_null(e);
        if (status != GG_E_FORMAT || !strstr(error.text, rows[i].says))
            fail_msg("row %zu: %d %s", i, status, error.text);
    }
}

/* Unknown keys, another order, messages first: read all the same. */
static void other_writers(void **state)
{
    (void)state;
    static const char line[] =
        "{ \"messages\":[1],\"new\":{\"a\":[{}]},\"turns\":[{\"new\":1,\"latency_ms\":5,\"calls\":"
        "[]}],\"env\":\"e\",\"id\":\"i\",\"outcome\":\"solved\",\"schema\":\"guessgym.episode/1\" "
        "} \r\n";
    gg_episode *e = read_line(line, GG_READ_PLAY);
    assert_int_equal(e->outcome, GG_SOLVED);
    assert_true(e->turns[0].latency_ms == 5);
    assert_null(e->messages);
    gg_episode_free(e);
    e = read_line(line, GG_READ_ALL);
    assert_string_equal(e->messages, "[1]");
    gg_episode_free(e);
}

static void push_grows(void **state)
{
    (void)state;
    gg_episode *e = gg_episode_new();
    uint32_t *items = NULL;
    size_t count = 0;
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t *item = gg_episode_push(e, &items, &count, sizeof *item);
        assert_non_null(item);
        assert_int_equal(*item, 0);
        *item = i;
        assert_int_equal((uintptr_t)gg_episode_alloc(e, i % 7) % _Alignof(max_align_t), 0);
        static const char *const pieces[] = {"", "a", "ab", "abc"};
        assert_string_equal(gg_episode_string(e, "abc", i % 4), pieces[i % 4]);
    }
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(items[i], i);
    assert_null(gg_episode_alloc(e, SIZE_MAX));
    assert_null(gg_episode_string(e, "", SIZE_MAX));
    gg_episode_free(e);
}

static const char token_line[] =
    "{\"id\":\"s0-g3-1\",\"turns\":[{\"prompt_ids_from\":0,\"prompt_ids\":[1,2,3],\"ids\":[4,5],"
    "\"logprobs\":[-0.1,0]},{\"prompt_ids_from\":5,\"prompt_ids\":[],\"ids\":[6],\"logprobs\":null}"
    "]}"
    "\n";

static void tokens(void **state)
{
    (void)state;
    gg_buf line;
    gg_error error;
    gg_buf_init(&line, LINE_MAX_);
    gg_episode *e = read_line(full_line, GG_READ_PLAY);
    assert_int_equal(gg_episode_write_tokens(e, &line, &error), GG_OK);
    assert_int_equal(line.len, 0);
    assert_int_equal(gg_episode_read_tokens(e, token_line, strlen(token_line), &error), GG_OK);
    assert_true(e->tokens[0].prompt_count == 3 && e->tokens[0].count == 2);
    assert_true(e->tokens[0].ids[1] == 5 && e->tokens[0].logprobs[0] == -0.1);
    assert_true(e->tokens[1].prompt_from == 5 && e->tokens[1].ids[0] == 6);
    assert_null(e->tokens[1].logprobs);
    assert_int_equal(gg_episode_write_tokens(e, &line, &error), GG_OK);
    assert_string_equal(line.data, token_line);

    static const char forked[] =
        "{\"id\":\"s0-g3-1\",\"turns\":[{\"prompt_ids_from\":0,\"prompt_ids\":[1],\"ids\":[2],"
        "\"logprobs\":null},{\"prompt_ids_from\":0,\"fork_at\":1,\"prompt_ids\":[1,3],\"ids\":[4],"
        "\"logprobs\":null}]}\n";
    gg_buf_reset(&line);
    assert_int_equal(gg_episode_read_tokens(e, forked, strlen(forked), &error), GG_OK);
    assert_int_equal(e->tokens[1].fork_at, 1);
    assert_int_equal(gg_episode_write_tokens(e, &line, &error), GG_OK);
    assert_string_equal(line.data, forked);

    static const char *const bad[] = {
        "{\"id\":\"s0-g3-2\",\"turns\":[{},{}]}",
        "{\"id\":\"s0-g3-1\",\"turns\":[{}]}",
        "{\"id\":\"s0-g3-1\",\"turns\":[{},{},{}]}",
        "{\"id\":\"s0-g3-1\"}",
        "{\"turns\":[{},{}]}",
        "{\"id\":\"s0-g3-1\",\"turns\":[{\"ids\":[1],\"logprobs\":[]},{}]}",
        "{\"id\":\"s0-g3-1\",\"turns\":[{\"ids\":[2147483648]},{}]}",
        "{\"id\":\"s0-g3-1\",\"turns\":[{\"prompt_ids_from\":-1},{}]}",
        "{\"id\":\"s0-g3-1\",\"turns\":[{},{}]",
    };
    const gg_turn_tokens *before = e->tokens;
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (gg_episode_read_tokens(e, bad[i], strlen(bad[i]), &error) != GG_E_FORMAT)
            fail_msg("accepted: %s", bad[i]);
        assert_non_null(strstr(error.text, "s0-g3-1"));
        assert_ptr_equal(e->tokens, before);
    }
    gg_episode_free(e);
    gg_buf_free(&line);
}

/* Random log-probabilities come back as the same bits. */
static void logprobs_are_exact(void **state)
{
    (void)state;
    enum { N = 500 };
    const uint64_t seed = 7;
    int32_t ids[N];
    double logprobs[N];
    gg_rng rng;
    gg_rng_seed(&rng, seed);
    for (size_t i = 0; i < N; i++) {
        ids[i] = (int32_t)gg_rng_below(&rng, INT32_MAX);
        logprobs[i] = i % 3 ? log(gg_rng_unit(&rng)) : 0;
    }
    gg_episode *e = gg_episode_new();
    gg_turn_tokens written = {.ids = ids, .logprobs = logprobs, .count = N};
    gg_buf line;
    gg_error error;
    gg_buf_init(&line, LINE_MAX_);
    e->id = "a";
    gg_episode_add_turn(e);
    e->tokens = &written;
    assert_int_equal(gg_episode_write_tokens(e, &line, &error), GG_OK);
    e->tokens = NULL;
    assert_int_equal(gg_episode_read_tokens(e, line.data, line.len, &error), GG_OK);
    assert_memory_equal(e->tokens->logprobs, logprobs, sizeof logprobs);
    assert_memory_equal(e->tokens->ids, ids, sizeof ids);
    gg_episode_free(e);
    gg_buf_free(&line);
}

static void facts(void **state)
{
    (void)state;
    const char *text = "{\"marks\":\"GY\",\"n\":-2.5,\"t\":true,\"f\":false,\"z\":null,"
                       "\"list\":[{\"n\":9}],\"esc\":\"a\\n\\u00e9\",\"last\":3}";
    static const struct {
        const char *name;
        bool number;
        double value;
        const char *string;
    } rows[] = {
        {"marks", false, 0, "GY"},
        {"n", true, -2.5, NULL},
        {"t", true, 1, NULL},
        {"f", true, 0, NULL},
        {"z", false, 0, NULL},
        {"list", false, 0, NULL},
        {"esc", false, 0, "a\n\xc3\xa9"},
        {"last", true, 3, NULL},
        {"none", false, 0, NULL},
        {"mark", false, 0, NULL},
        {"", false, 0, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        double value = 77;
        char out[5] = "same";
        assert_int_equal(gg_fact_number(text, rows[i].name, &value), rows[i].number);
        assert_true(value == (rows[i].number ? rows[i].value : 77));
        assert_int_equal(gg_fact_text(text, rows[i].name, out, sizeof out), rows[i].string != NULL);
        assert_string_equal(out, rows[i].string ? rows[i].string : "same");
    }
    char small[2];
    double value;
    assert_false(gg_fact_text(text, "marks", small, sizeof small));
    assert_false(gg_fact_text(text, "esc", small, sizeof small));
    assert_false(gg_fact_text(text, "marks", small, 0));
    assert_false(gg_fact_number(NULL, "n", &value));
    assert_false(gg_fact_number("[1]", "n", &value));
    assert_false(gg_fact_number("{\"n\":", "n", &value));
}

static gg_status copy_a_record(void *context)
{
    gg_episode *e;
    gg_buf line;
    gg_error error;
    (void)context;
    gg_status status = gg_episode_read(full_line, strlen(full_line), GG_READ_ALL, &e, &error);
    if (status != GG_OK)
        return status;
    gg_buf_init(&line, LINE_MAX_);
    status = gg_episode_read_tokens(e, token_line, strlen(token_line), &error);
    if (status == GG_OK)
        status = gg_episode_write(e, &line, &error);
    if (status == GG_OK)
        status = gg_episode_write_tokens(e, &line, &error);
    if (status == GG_OK)
        assert_int_equal(line.len, strlen(full_line) + strlen(token_line));
    gg_episode_free(e);
    gg_buf_free(&line);
    return status;
}

static gg_status build_a_record(void *context)
{
    (void)context;
    gg_episode *e = gg_episode_new();
    gg_status status = e ? GG_OK : GG_E_MEMORY;
    for (int i = 0; i < 200 && status == GG_OK; i++) {
        gg_turn *turn = gg_episode_add_turn(e);
        if (!turn || !gg_episode_push(e, &turn->calls, &turn->call_count, sizeof(gg_call)) ||
            !gg_episode_string(e, "text", 4))
            status = GG_E_MEMORY;
    }
    gg_episode_free(e);
    return status;
}

static void allocation_failures(void **state)
{
    (void)state;
    assert_true(alloc_each_fails(copy_a_record, NULL) > 5);
    assert_true(alloc_each_fails(build_a_record, NULL) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(values_of_a_line),
        cmocka_unit_test(same_bytes_again),
        cmocka_unit_test(a_new_episode),
        cmocka_unit_test(foreign_json),
        cmocka_unit_test(cut_lines),
        cmocka_unit_test(refused_lines),
        cmocka_unit_test(other_writers),
        cmocka_unit_test(push_grows),
        cmocka_unit_test(tokens),
        cmocka_unit_test(logprobs_are_exact),
        cmocka_unit_test(facts),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
