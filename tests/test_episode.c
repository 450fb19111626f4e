/* The episode as a state machine (agent/episode.h), driven by scripted replies without any I/O. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/episode.h"
#include "core/json.h"
#include "core/rng.h"
#include "tests/alloc.h"
#include "tests/counter.h"

#define ADD(id, n)                                                                                 \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\"add\",\"arguments\":\"{\\"  \
    "\"n\\\":" n "}\"}}"
#define PEEK "{\"id\":\"p\",\"function\":{\"name\":\"peek\"}}"
#define CALLS(list)                                                                                \
    "{\"message\":{\"content\":\"\",\"tool_calls\":[" list "]},\"finish_reason\":\"stop\"}"
#define TEXT(text)  "{\"message\":{\"content\":\"" text "\"},\"finish_reason\":\"stop\"}"
#define CUT(inside) "{\"message\":{" inside "},\"finish_reason\":\"length\"}"
#define FAIL(class) "!" #class

typedef struct world {
    gg_env env;
    gg_game game;
    gg_reward *reward;
    gg_ask ask;
    gg_stage *stage;
    gg_task task;
} world;

static gg_status open_world(world *w, const gg_ask *ask, const char *prompt, gg_error *error)
{
    memset(w, 0, sizeof *w);
    w->game = counter_game(&w->env);
    w->ask = *ask;
    w->task = (gg_task){.id = "7", .prompt = prompt, .digest = "d", .key = "k"};
    gg_status status = gg_reward_parse(&w->game, "solve", &w->reward, error);
    if (status != GG_OK)
        return status;
    gg_stage_options options = {.game = &w->game,
                                .reward = w->reward,
                                .ask = &w->ask,
                                .endpoint = "http://test",
                                .id_prefix = "s",
                                .seed = 42,
                                .weight_version = 3};
    return gg_stage_new(&options, &w->stage, error);
}

static void close_world(world *w)
{
    gg_stage_free(w->stage);
    gg_reward_free(w->reward);
}

static gg_ask plain(void)
{
    gg_ask ask = GG_ASK_DEFAULTS;
    ask.model = "m";
    ask.token_ids = 0;
    return ask;
}

/* The class that "!rate" names. */
static gg_retry_class class_of(const char *name)
{
    static const struct {
        const char *name;
        gg_retry_class class;
    } rows[] = {{"context", GG_RETRY_CONTEXT},
                {"server", GG_RETRY_SERVER},
                {"refused", GG_RETRY_REFUSED},
                {"deadline", GG_RETRY_DEADLINE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].class;
    return GG_RETRY_TRANSPORT;
}

/* Plays one reply: the choice's JSON, a whole body when it begins with "{{", or a failure. */
static gg_status feed(gg_actor *actor, gg_reply *reply, const char *script, gg_error *error)
{
    static const gg_attempt good[] = {{503, "server", 10}, {200, "ok", 0}};
    static const gg_attempt bad[] = {{503, "server", 0}};
    if (*script == '!')
        return gg_actor_failed(actor, class_of(script + 1), "it broke",
                               &(gg_exchange_log){bad, 1, 5}, error);
    gg_buf body;
    gg_buf_init(&body, 1u << 20);
    if (strncmp(script, "{{", 2) == 0)
        gg_buf_str(&body, script + 1);
    else
        gg_buf_printf(&body, "{\"choices\":[%s]}", script);
    gg_status status = gg_buf_status(&body, "body", error);
    if (status == GG_OK)
        status = gg_reply_read(reply, body.data, body.len, error);
    if (status == GG_OK)
        status = gg_actor_reply(actor, reply, &(gg_exchange_log){good, 2, 5}, error);
    gg_buf_free(&body);
    return status;
}

/* Checks what every endpoint wants of a conversation (facts on histories: no two user messages in a
 * row, every call answered next, known ids only, arguments that are JSON objects). */
static void check_history(const char *body)
{
    cJSON *root;
    gg_error error;
    assert_int_equal(gg_json_parse(body, strlen(body), &root, &error), GG_OK);
    const cJSON *message;
    char before[16] = "", open[32][32];
    size_t open_count = 0;
    cJSON_ArrayForEach(message, gg_json_get(root, "messages"))
    {
        const char *role = gg_json_text(message, "role");
        const char *id = gg_json_text(message, "tool_call_id");
        assert_false(strcmp(role, "user") == 0 && strcmp(before, "user") == 0);
        assert_true(strcmp(role, "system") != 0 || before[0] == '\0');
        if (strcmp(role, "tool") == 0) {
            size_t at = 0;
            while (at < open_count && strcmp(open[at], id) != 0)
                at++;
            assert_true(at < open_count);
            memmove(open[at], open[--open_count], sizeof *open);
        } else {
            assert_int_equal(open_count, 0);
        }
        const cJSON *calls = gg_json_get(message, "tool_calls"), *call;
        assert_true(!calls || cJSON_GetArraySize(calls) > 0);
        cJSON_ArrayForEach(call, calls)
        {
            const char *arguments = cJSON_GetStringValue(gg_json_path(call, "function.arguments"));
            cJSON *parsed;
            assert_int_equal(gg_json_parse(arguments, strlen(arguments), &parsed, &error), GG_OK);
            assert_true(cJSON_IsObject(parsed));
            cJSON_Delete(parsed);
            snprintf(open[open_count++], sizeof *open, "%s", gg_json_text(call, "id"));
        }
        if (strcmp(role, "assistant") == 0 && !calls)
            assert_true(gg_json_text(message, "content")[0] != '\0' ||
                        gg_json_text(message, "reasoning"));
        snprintf(before, sizeof before, "%s", role);
    }
    assert_int_equal(open_count, 0);
    cJSON_Delete(root);
}

/* Plays a script to the end; the last body sent goes into `sent` when it is not NULL. */
static gg_status play(world *w, const char *const *script, gg_buf *sent, gg_episode **out,
                      gg_error *error)
{
    gg_planned planned = {&w->task, 1, 2, 3};
    gg_actor *actor;
    gg_reply reply;
    gg_buf body;
    gg_reply_init(&reply);
    gg_buf_init(&body, 1u << 20);
    *out = NULL;
    gg_status status = gg_actor_new(w->stage, &planned, "2026-01-01T00:00:00.000Z", &actor, error);
    while (status == GG_OK && gg_actor_wants(actor) != GG_WANT_END) {
        if (gg_actor_wants(actor) == GG_WANT_REPLY) {
            gg_buf_reset(&body);
            status = gg_actor_request(actor, &body, error);
            if (status == GG_OK && sent) {
                check_history(body.data);
                gg_buf_reset(sent);
                gg_buf_str(sent, body.data);
            }
            if (!*script)
                fail_msg("the script ended before the episode");
            if (status == GG_OK)
                status = feed(actor, &reply, *script++, error);
        } else {
            gg_job job;
            gg_actor_job(actor, &job);
            gg_job_run(&job);
            status = gg_actor_did(actor, &job, error);
        }
    }
    if (status == GG_OK)
        status = gg_actor_finish(actor, 77, out, error);
    gg_actor_free(actor);
    gg_buf_free(&body);
    gg_reply_free(&reply);
    return status;
}

/* "solved done moves 2 | add:valid[repairs] ... / next turn" */
static void describe(const gg_episode *e, gg_buf *out)
{
    gg_buf_printf(out, "%s %s %lld", gg_outcome_name(e->outcome), gg_stop_name(e->stop),
                  (long long)e->moves);
    for (size_t t = 0; t < e->turn_count; t++) {
        gg_buf_str(out, t ? " /" : " |");
        for (size_t c = 0; c < e->turns[t].call_count; c++) {
            const gg_call *call = &e->turns[t].calls[c];
            gg_buf_printf(out, " %s:%s", call->name ? call->name : "-",
                          gg_call_status_name(call->status));
            for (size_t k = 0; k < call->repair_count; k++)
                gg_buf_printf(out, "%s%s", k ? "," : "=", call->repairs[k]);
        }
    }
}

static void check_play(const gg_ask *ask, const char *prompt, const char *const *script,
                       const char *want, const char *why)
{
    world w;
    gg_error error = {0};
    gg_episode *e = NULL;
    gg_buf got, sent, line;
    gg_buf_init(&got, 1u << 16);
    gg_buf_init(&sent, 1u << 20);
    gg_buf_init(&line, 1u << 20);
    gg_status status = open_world(&w, ask, prompt, &error);
    if (status == GG_OK)
        status = play(&w, script, &sent, &e, &error);
    if (status != GG_OK || !e) {
        fail_msg("%s: %s", why, error.text);
        return; /* not reached; for the static analyser */
    }
    describe(e, &got);
    if (strcmp(got.data, want) != 0)
        fail_msg("%s\n  got  %s\n  want %s", why, got.data, want);
    /* Every record can be written, and its messages are whole. */
    assert_int_equal(gg_episode_write(e, &line, &error), GG_OK);
    gg_episode_free(e);
    assert_int_equal(w.env.own.playing, 0);
    close_world(&w);
    gg_buf_free(&got);
    gg_buf_free(&sent);
    gg_buf_free(&line);
}

static void plays(void **state)
{
    static const struct {
        const char *prompt;
        const char *script[10];
        const char *want, *why;
    } rows[] = {
        {"5",
         {CALLS(ADD("a", "2")), CALLS(ADD("b", "3"))},
         "solved done 2 | add:valid / add:valid",
         "plain"},
        {"5", {CALLS(ADD("a", "9"))}, "lost done 1 | add:valid", "past the number"},
        {"5",
         {CALLS(ADD("a", "2") "," ADD("b", "3") "," ADD("c", "1"))},
         "solved done 2 | add:valid add:valid add:over",
         "three calls in a reply; the last after the end"},
        {"5",
         {CALLS(ADD("a", "500")), CALLS(ADD("b", "5"))},
         "solved done 1 | add:invalid / add:valid",
         "invalid input costs no move"},
        {"5",
         {TEXT("hello"), TEXT("hm"), TEXT("no")},
         "forfeited no_call 0 | / /",
         "two reminders"},
        {"5",
         {TEXT("hello"), CALLS(ADD("a", "5"))},
         "solved done 1 | / add:valid",
         "a reminder helped"},
        {"5", {TEXT(""), CALLS(ADD("a", "5"))}, "solved done 1 | / add:valid", "an empty reply"},
        {"5", {TEXT("add 5")}, "solved done 1 | -:valid=text_move", "a text that is a move"},
        {"5",
         {TEXT("<think>add 5</think>add 2"), TEXT("add 3")},
         "solved done 2 | -:valid=text_move / -:valid=text_move",
         "not the one in the thoughts"},
        {"5",
         {TEXT("{\\\"name\\\":\\\"add\\\",\\\"arguments\\\":{\\\"n\\\":2}}"), CALLS(ADD("a", "3"))},
         "solved done 2 | add:valid=text_object / add:valid",
         "a call as text"},
        {"5", {CUT("\"content\":\"let me th\"")}, "truncated token_limit 0 |", "cut in prose"},
        {"5",
         {CUT("\"tool_calls\":[" ADD("a", "5") "]")},
         "truncated token_limit 0 | add:failed=cut",
         "cut in a call: it is not run"},
        {"5",
         {CUT("\"content\":null,\"reasoning\":\"hmm\"")},
         "truncated token_limit 0 |",
         "cut in thoughts"},
        {"9",
         {CALLS("{\"id\":\"a\",\"function\":{\"name\":\"jump\",\"arguments\":\"{}\"}}"),
          CALLS(ADD("b", "9"))},
         "solved done 1 | jump:failed=name_unknown / add:valid",
         "no such tool"},
        {"9",
         {CALLS("{\"id\":\"a\",\"function\":{\"name\":\"add\",\"arguments\":\"{\\\"n\\\":\"}}"),
          CALLS(ADD("b", "9"))},
         "solved done 1 | add:failed=args_broken / add:valid",
         "broken arguments"},
        {"9",
         {CALLS(ADD("a", "1") "," ADD("a", "1")), CALLS(ADD("a", "7"))},
         "solved done 3 | add:valid add:valid=id_repeated / add:valid=id_repeated",
         "ids repeat"},
        {"9",
         {CALLS(PEEK), CALLS(PEEK), CALLS(PEEK), CALLS(PEEK), CALLS(PEEK), CALLS(PEEK),
          CALLS(PEEK)},
         "forfeited turn_cap 0 | peek:valid=args_empty / peek:valid=args_empty,id_repeated / "
         "peek:valid=args_empty,id_repeated / peek:valid=args_empty,id_repeated / "
         "peek:valid=args_empty,id_repeated / peek:valid=args_empty,id_repeated / "
         "peek:valid=args_empty,id_repeated",
         "the turn cap"},
        {"90",
         {CALLS(ADD("a", "1") "," ADD("b", "500") "," ADD("c", "500") "," ADD("d", "500")),
          CALLS(ADD("e", "1") "," ADD("f", "1") "," ADD("g", "1") "," ADD("h", "500") "," ADD(
              "i", "1"))},
         "forfeited call_cap 4 | add:valid add:invalid add:invalid add:invalid / add:valid "
         "add:valid "
         "add:valid add:invalid add:failed",
         "the call cap: the ninth is not run"},
        {"5", {FAIL(context)}, "truncated context 0 |", "the context is full"},
        {"5", {CALLS(ADD("a", "2")), FAIL(context)}, "truncated context 1 | add:valid /", "later"},
        {"5", {FAIL(server)}, "errored transport 0 |", "the server"},
        {"5", {FAIL(refused)}, "errored refused 0 |", "a refused request"},
        {"5", {FAIL(deadline)}, "errored deadline 0 |", "the deadline"},
        {"5",
         {CALLS("{\"id\":\"a\",\"function\":{\"name\":\"break\"}}")},
         "errored transport 0 | break:failed=args_empty",
         "the environment fails"},
        {"5",
         {"{\"message\":{\"content\":null,\"tool_calls\":null},\"finish_reason\":\"tool_calls\"}",
          CALLS(ADD("a", "5"))},
         "solved done 1 | / add:valid",
         "finish_reason says calls, there are none"},
        {"5",
         {"{\"message\":{\"content\":null,\"reasoning\":\"add 5\"},\"finish_reason\":\"stop\"}",
          CALLS(ADD("a", "5"))},
         "solved done 1 | / add:valid",
         "thoughts only"},
    };
    gg_ask ask = plain();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_play(&ask, rows[i].prompt, rows[i].script, rows[i].want, rows[i].why);
}

/* Whatever is said, the conversation stays one that every endpoint takes, and the episode ends
 * within the caps. */
static void any_replies(void **state)
{
    static const char *const choices[] = {
        CALLS(ADD("a", "2")),
        CALLS(ADD("b", "900")),
        CALLS(ADD("c", "1") "," ADD("c", "1") "," PEEK),
        CALLS("{\"function\":{\"name\":\"add\",\"arguments\":\"{\\\"n\\\":1}{\\\"n\\\":2}\"}}"),
        CALLS("{\"id\":\"\",\"function\":{\"name\":\"a b<|x\",\"arguments\":\"{\\\"n\\\":\"}}"),
        CALLS("{\"id\":\"d\",\"function\":{\"name\":\"add\",\"arguments\":[1]}}"),
        CALLS("{}"),
        TEXT("hello"),
        TEXT(""),
        TEXT("add 1"),
        TEXT("add 1\\nadd 2"),
        TEXT("[add(n=1), peek()]"),
        TEXT("</think>"),
        "{\"message\":{\"content\":null,\"reasoning\":\"hm\"}}",
        "{\"message\":{\"content\":\"\\ud800\"}}",
        "{}",
    };
    const uint64_t seed = 4711;
    gg_rng rng;
    gg_ask ask = plain();
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    gg_rng_seed(&rng, seed);
    for (int round = 0; round < 500; round++) {
        const char *script[COUNTER_TURNS + 1] = {NULL};
        world w;
        gg_error error;
        gg_episode *e;
        gg_buf sent, line;
        gg_buf_init(&sent, 1u << 20);
        gg_buf_init(&line, 1u << 20);
        for (int t = 0; t < COUNTER_TURNS; t++)
            script[t] = choices[gg_rng_below(&rng, sizeof choices / sizeof *choices)];
        ask.echo_reasoning = round % 2 ? GG_ON : GG_OFF;
        assert_int_equal(open_world(&w, &ask, "30", &error), GG_OK);
        assert_int_equal(play(&w, script, &sent, &e, &error), GG_OK);
        assert_true(e->outcome != GG_UNPLAYED && e->outcome != GG_ERRORED);
        assert_true(e->turn_count <= COUNTER_TURNS);
        int64_t moved = 0;
        for (size_t t = 0; t < e->turn_count; t++)
            for (size_t c = 0; c < e->turns[t].call_count; c++) {
                double n;
                assert_non_null(e->turns[t].calls[c].result);
                moved += gg_fact_number(e->turns[t].calls[c].facts, "n", &n);
            }
        assert_int_equal(moved, e->moves);
        assert_int_equal(gg_episode_write(e, &line, &error), GG_OK);
        gg_episode_free(e);
        close_world(&w);
        gg_buf_free(&sent);
        gg_buf_free(&line);
    }
}

static void nudges_are_an_option(void **state)
{
    static const char *const script[] = {TEXT("a"), TEXT("b"), TEXT("c"), TEXT("d"), NULL};
    gg_ask ask = plain();
    (void)state;
    ask.nudges = 0;
    check_play(&ask, "5", script, "forfeited no_call 0 |", "none");
    ask.nudges = 3;
    check_play(&ask, "5", script, "forfeited no_call 0 | / / /", "three");
}

/* What the second request says, word for word. */
static void conversation(void **state)
{
    static const char *const script[] = {
        "{\"message\":{\"content\":\"I add.\",\"reasoning\":\"hm\",\"tool_calls\":[" ADD(
            "x1", "2") ","
                       "{\"id\":\"x1\",\"function\":{\"name\":\"functions.add\",\"arguments\":{"
                       "\"n\": 1}}}]}}",
        CALLS(ADD("x3", "2")), NULL};
    world w;
    gg_error error;
    gg_episode *e;
    gg_buf sent;
    gg_ask ask = plain();
    (void)state;
    ask.effort = "low";
    ask.effort_in = GG_EFFORT_SYSTEM_LINE;
    gg_buf_init(&sent, 1u << 20);
    assert_int_equal(open_world(&w, &ask, "5", &error), GG_OK);
    assert_int_equal(play(&w, script, &sent, &e, &error), GG_OK);
    char want[4096];
    snprintf(
        want, sizeof want,
        "\"messages\":[{\"role\":\"system\",\"content\":\"Reach the number.\\n\\nReasoning: low\"},"
        "{\"role\":\"user\",\"content\":\"Begin.\"},"
        "{\"role\":\"assistant\",\"content\":\"I add.\",\"tool_calls\":["
        "{\"id\":\"x1\",\"type\":\"function\",\"function\":{\"name\":\"add\",\"arguments\":\"{"
        "\\\"n\\\":2}\"}},"
        "{\"id\":\"%s\",\"type\":\"function\",\"function\":{\"name\":\"add\",\"arguments\":\"{"
        "\\\"n\\\": 1}\"}}]},"
        "{\"role\":\"tool\",\"content\":\"sum 2\",\"tool_call_id\":\"x1\"},"
        "{\"role\":\"tool\",\"content\":\"sum 3\",\"tool_call_id\":\"%s\"}],\"seed\":%llu}",
        e->turns[0].calls[1].id, e->turns[0].calls[1].id,
        (unsigned long long)gg_request_seed(42, 1, 2, 3, 1));
    assert_non_null(strstr(sent.data, want));
    assert_int_equal(strlen(e->turns[0].calls[1].id), 9);
    gg_episode_free(e);
    close_world(&w);
    gg_buf_free(&sent);
}

/* What the record says of one episode. */
static void record(void **state)
{
    static const char *const script[] = {
        "{{\"weight_version\":4,\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":4},"
        "\"choices\":"
        "[{\"finish_reason\":\"tool_calls\",\"message\":{\"reasoning_content\":\"hm\",\"tool_"
        "calls\":[" ADD("a", "2") "]}}]}",
        "{{\"weight_version\":5,\"choices\":[{\"message\":{\"content\":\"add 3\"}}]}", NULL};
    world w;
    gg_error error;
    gg_episode *e;
    gg_ask ask = plain();
    (void)state;
    ask.effort = "high";
    assert_int_equal(open_world(&w, &ask, "5", &error), GG_OK);
    assert_int_equal(play(&w, script, NULL, &e, &error), GG_OK);
    assert_string_equal(e->id, "s1-g2-3");
    assert_string_equal(e->env, "counter");
    assert_string_equal(e->answer, "5");
    assert_string_equal(e->task_id, "7");
    assert_string_equal(e->task_key, "k");
    assert_string_equal(e->policy.endpoint, "http://test");
    assert_string_equal(e->policy.reasoning_effort, "high");
    assert_int_equal(e->policy.weight_version_first, 4);
    assert_int_equal(e->policy.weight_version_last, 5);
    assert_int_equal(e->seed, gg_request_seed(42, 1, 2, 3, -1));
    assert_int_equal(e->duration_ms, 77);
    assert_true(e->reward == 1 && e->measure.value == 1);
    assert_string_equal(e->labels[0].value, "moved");
    assert_string_equal(e->turns[0].reasoning, "hm");
    assert_string_equal(e->turns[0].finish_reason, "tool_calls");
    assert_int_equal(e->turns[0].usage.completion, 4);
    assert_int_equal(e->turns[0].usage.cached, GG_TOKENS_UNKNOWN);
    assert_int_equal(e->turns[1].usage.prompt, GG_TOKENS_UNKNOWN);
    assert_int_equal(e->turns[0].attempt_count, 2);
    assert_string_equal(e->turns[0].attempts[0].reason, "server");
    assert_int_equal(e->turns[0].latency_ms, 5);
    assert_string_equal(e->turns[0].calls[0].facts, "{\"n\":2}");
    assert_string_equal(e->turns[0].calls[0].arguments_raw, "{\"n\":2}");
    assert_string_equal(e->turns[1].calls[0].facts, "{\"n\":3,\"from_text\":true}");
    assert_null(e->turns[1].calls[0].id);
    assert_false(e->trainable);
    assert_string_equal(e->untrainable_reason, "no_token_ids");
    assert_null(e->tokens);
    assert_null(e->error);
    gg_episode_free(e);
    close_world(&w);
}

/* A reply with ids that adds 1; `prompt` and `sampled` are JSON lists. */
#define IDS(prompt, sampled, logprobs)                                                             \
    "{{\"prompt_token_ids\":[" prompt "],\"choices\":[{\"token_ids\":[" sampled                    \
    "],\"logprobs\":{\"token_logprobs\":[" logprobs                                                \
    "]},\"message\":{\"reasoning\":\"hm\",\"tool_calls\":[" ADD("a", "1") "]}}]}"

static void token_records(void **state)
{
    static const struct {
        const char *script[3]; /* the third ends the episode where there is one */
        const char *want;      /* prompt_from/fork_at:prompt:ids of each turn */
        const char *reason;    /* NULL = trainable */
        const char *why;
    } rows[] = {
        {{IDS("1,2", "3,4", "-1,-2"), IDS("1,2,3,4,5", "6", "-1")},
         "0/0:1,2:3,4 4/0:5:6",
         NULL,
         "the second prompt continues the first"},
        {{IDS("1,2", "3,4", "-1,-2"), IDS("1,2,3,4", "6", "-1")},
         "0/0:1,2:3,4 4/0::6",
         NULL,
         "nothing between"},
        {{IDS("1,2", "3,4", "-1,-2"), IDS("1,2,3,9,5", "6", "-1")},
         "0/0:1,2:3,4 0/3:1,2,3,9,5:6",
         NULL,
         "another token where one was sampled"},
        {{IDS("1,2", "3,4", "-1,-2"), IDS("1,2,3", "6", "-1")},
         "0/0:1,2:3,4 0/3:1,2,3:6",
         NULL,
         "the end is missing"},
        {{IDS("1,2", "3,4", "-1,-2"), IDS("7,2,3,4", "6", "-1")},
         "0/0:1,2:3,4 0/0:7,2,3,4:6",
         NULL,
         "from the first token on"},
        {{IDS("1,2", "3,4", "-1,-2"), IDS("8", "6", "-1"), IDS("8,6,7", "5", "-3")},
         "0/0:1,2:3,4 0/0:8:6 2/0:7:5",
         NULL,
         "goes on after a fork"},
        {{IDS("1,2", "3,4", ""), IDS("1,2,3,4", "6", "")},
         "0/0:1,2:3,4 4/0::6",
         "no_logprobs",
         "ids alone"},
        {{IDS("1,2", "3,4", "-1"), IDS("1,2,3,4", "6", "-1")},
         "0/0:1,2:3,4 4/0::6",
         "logprobs_length",
         "one too few"},
        {{IDS("1,2", "3,4", "-1,null"), IDS("1,2,3,4", "6", "-1")},
         "0/0:1,2:3,4 4/0::6",
         "logprobs_null",
         "a null"},
        {{IDS("1,2", "3,4", "-1,-2"), CALLS(ADD("a", "1"))},
         "0/0:1,2:3,4 4/0::",
         "token_ids_missing",
         "a reply without"},
        {{CALLS(ADD("a", "1")), IDS("1,2", "3,4", "-1,-2")},
         "0/0:: 0/0:1,2:3,4",
         "token_ids_missing",
         "the first without"},
        {{IDS("", "3,4", "-1,-2"), IDS("", "5", "-1")},
         "0/0::3,4 2/0::5",
         "no_prompt_ids",
         "no prompt ids"},
        {{IDS("1,2", "3,4", "-1,-2"), FAIL(context)},
         "0/0:1,2:3,4 4/0::",
         NULL,
         "context full later"},
        {{IDS("1,2", "3,4", "-1,-2"), FAIL(server)}, "0/0:1,2:3,4 4/0::", "errored", "errored"},
        {{FAIL(context)}, "", "nothing_sampled", "context full at once"},
    };
    gg_ask ask = plain();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world w;
        gg_error error;
        gg_episode *e;
        gg_buf got;
        gg_buf_init(&got, 1u << 16);
        const char *script[] = {rows[i].script[0], rows[i].script[1], rows[i].script[2], NULL};
        size_t replies = rows[i].script[2] ? 3 : 2;
        assert_int_equal(open_world(&w, &ask, replies == 3 ? "3" : "2", &error), GG_OK);
        assert_int_equal(play(&w, script, NULL, &e, &error), GG_OK);
        for (size_t t = 0; e->tokens && t < e->turn_count; t++) {
            const gg_turn_tokens *k = &e->tokens[t];
            gg_buf_printf(&got, "%s%lld/%lld:", t ? " " : "", (long long)k->prompt_from,
                          (long long)k->fork_at);
            for (size_t n = 0; n < k->prompt_count; n++)
                gg_buf_printf(&got, "%s%d", n ? "," : "", k->prompt_ids[n]);
            gg_buf_char(&got, ':');
            for (size_t n = 0; n < k->count; n++)
                gg_buf_printf(&got, "%s%d", n ? "," : "", k->ids[n]);
        }
        if (strcmp(gg_buf_cstr(&got), rows[i].want) != 0)
            fail_msg("%s: got %s", rows[i].why, gg_buf_cstr(&got));
        assert_int_equal(e->trainable, rows[i].reason == NULL);
        if (rows[i].reason)
            assert_string_equal(e->untrainable_reason, rows[i].reason);
        gg_episode_free(e);
        close_world(&w);
        gg_buf_free(&got);
    }
}

static void constrained_replies_are_not_trained_on(void **state)
{
    static const char *const script[] = {IDS("1,2", "3,4", "-1,-2"), NULL};
    world w;
    gg_error error;
    gg_episode *e;
    gg_ask ask = plain();
    (void)state;
    ask.extra_body = "{\"tool_choice\":\"required\"}";
    assert_int_equal(open_world(&w, &ask, "1", &error), GG_OK);
    assert_int_equal(play(&w, script, NULL, &e, &error), GG_OK);
    assert_false(e->trainable);
    assert_string_equal(e->untrainable_reason, "constrained_sampling");
    gg_episode_free(e);
    close_world(&w);
}

/* Whether thoughts are in the second and in the third request. */
static void echoed_thoughts(void **state)
{
    static const char with_text[] =
        "{\"message\":{\"content\":\"\",\"reasoning\":\"hm\",\"tool_calls\":[" ADD("a", "1") "]}}";
    static const struct {
        const char *first, *second;
        gg_switch echo;
        int want; /* assistant messages with thoughts in the third request */
        const char *why;
    } rows[] = {
        {IDS("1", "2", "-1"), IDS("1,2", "3", "-1"), GG_OFF, 0, "off"},
        {with_text, with_text, GG_ON, 2, "on"},
        {with_text, with_text, GG_AUTO, 0, "auto, no ids"},
        {IDS("1", "2", "-1"), IDS("1,2", "3", "-1"), GG_AUTO, 2, "auto, the template keeps them"},
        {IDS("1", "2", "-1"), IDS("1,9", "3", "-1"), GG_AUTO, 1, "auto, it does not"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *script[] = {rows[i].first, rows[i].second, with_text, NULL};
        world w;
        gg_error error;
        gg_episode *e;
        gg_buf sent;
        gg_ask ask = plain();
        ask.echo_reasoning = rows[i].echo;
        gg_buf_init(&sent, 1u << 20);
        assert_int_equal(open_world(&w, &ask, "3", &error), GG_OK);
        assert_int_equal(play(&w, script, &sent, &e, &error), GG_OK);
        int count = 0;
        for (const char *p = sent.data; (p = strstr(p, "\"reasoning\":\"hm\"")); p++)
            count++;
        if (count != rows[i].want)
            fail_msg("%s: %d", rows[i].why, count);
        gg_episode_free(e);
        close_world(&w);
        gg_buf_free(&sent);
    }
}

/* Ollama drops the front of a conversation that is too long and answers 200. */
static void a_shortened_context_is_noticed(void **state)
{
    static const char *const script[] = {
        "{{\"usage\":{\"prompt_tokens\":500},\"choices\":[" CALLS(ADD("a", "1")) "]}",
        "{{\"usage\":{\"prompt_tokens\":300},\"choices\":[" CALLS(ADD("b", "1")) "]}", NULL};
    world w;
    gg_error error;
    gg_episode *e;
    gg_ask ask = plain();
    (void)state;
    assert_int_equal(open_world(&w, &ask, "2", &error), GG_OK);
    assert_int_equal(play(&w, script, NULL, &e, &error), GG_OK);
    assert_int_equal(e->outcome, GG_SOLVED);
    assert_string_equal(e->untrainable_reason, "context_shortened");
    assert_non_null(strstr(e->error, "500"));
    gg_episode_free(e);
    close_world(&w);
}

static void abort_and_release(void **state)
{
    world w;
    gg_error error;
    gg_actor *actor;
    gg_episode *e;
    gg_reply reply;
    gg_ask ask = plain();
    (void)state;
    gg_reply_init(&reply);
    assert_int_equal(open_world(&w, &ask, "5", &error), GG_OK);
    gg_planned planned = {&w.task, 0, 0, 0};
    assert_int_equal(gg_actor_new(w.stage, &planned, "2026-01-01T00:00:00Z", &actor, &error),
                     GG_OK);
    assert_int_equal(feed(actor, &reply, CALLS(ADD("a", "2") "," ADD("b", "2")), &error), GG_OK);
    assert_int_equal(gg_actor_wants(actor), GG_WANT_CALL);
    gg_play *left = gg_actor_release(actor);
    gg_actor_abort(actor, GG_STOP_DEADLINE, "too late");
    assert_int_equal(gg_actor_wants(actor), GG_WANT_END);
    assert_int_equal(gg_actor_finish(actor, 1, &e, &error), GG_OK);
    assert_int_equal(e->outcome, GG_ERRORED);
    assert_int_equal(e->stop, GG_STOP_DEADLINE);
    assert_string_equal(e->error, "too late");
    /* The turn that was not finished is not among the messages: its calls have no answers. */
    assert_null(strstr(e->messages, "assistant"));
    gg_episode_free(e);
    gg_actor_free(actor);
    assert_int_equal(w.env.own.playing, 1);
    w.game.api->finish(left);
    close_world(&w);
    gg_reply_free(&reply);
}

static void bad_settings(void **state)
{
    static const struct {
        const char *effort;
        double temperature, top_p;
        int64_t max_tokens;
    } rows[] = {
        {"banana", 1, 1, 8}, {NULL, -1, 1, 8}, {NULL, 1, 0, 8}, {NULL, 1, 1.5, 8}, {NULL, 1, 1, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world w;
        gg_error error = {0};
        gg_ask ask = plain();
        ask.effort = rows[i].effort;
        ask.temperature = rows[i].temperature;
        ask.top_p = rows[i].top_p;
        ask.max_tokens = rows[i].max_tokens;
        assert_int_equal(open_world(&w, &ask, "5", &error), GG_E_CONFIG);
        assert_true(error.text[0] != '\0');
        close_world(&w);
    }
}

static gg_status whole_play(void *context)
{
    static const char *const script[] = {
        IDS("1,2", "3,4", "-1,-2"), TEXT("hm"),
        CALLS("{\"function\":{\"name\":\"x y\",\"arguments\":\"{\"}}"), TEXT("add 1"), NULL};
    world w;
    gg_error error;
    gg_episode *e = NULL;
    gg_ask ask = plain();
    (void)context;
    gg_status status = open_world(&w, &ask, "2", &error);
    if (status == GG_OK)
        status = play(&w, script, NULL, &e, &error);
    gg_episode_free(e);
    close_world(&w);
    return status;
}

static void memory_failures(void **state)
{
    (void)state;
    assert_true(alloc_each_fails(whole_play, NULL) > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plays),
        cmocka_unit_test(any_replies),
        cmocka_unit_test(nudges_are_an_option),
        cmocka_unit_test(conversation),
        cmocka_unit_test(record),
        cmocka_unit_test(token_records),
        cmocka_unit_test(constrained_replies_are_not_trained_on),
        cmocka_unit_test(echoed_thoughts),
        cmocka_unit_test(a_shortened_context_is_noticed),
        cmocka_unit_test(abort_and_release),
        cmocka_unit_test(bad_settings),
        cmocka_unit_test(memory_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
