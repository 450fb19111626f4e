/* One rollout for the managed service, against a runtime of a few lines: what is played, what is
 * reported, what is answered; with an environment that blocks; with memory that fails. */
#include "agent/errand.h"
#include "net/bearer.h"
#include "net/server.h"
#include "tests/alloc.h"
#include "tests/counter.h"
#include "tests/folder.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#define ARN    "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/j"
#define SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

/* ------------------------------------------------------------------ the runtime */

static struct runtime {
    pthread_mutex_t lock;
    gg_server *server;
    int fail_first;        /* chat requests answered 500 first; -1 = all */
    int complete_status;   /* 0 = 200 */
    const char *complaint; /* its body */
    int chats, completes, rewards, strangers;
    char complete[1024], reward[1024];
} runtime;

static const char add_three[] = "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":"
                                "null,\"tool_calls\":[{\"id\":\"c\",\"type\":"
                                "\"function\",\"function\":{\"name\":\"add\",\"arguments\":\"{"
                                "\\\"n\\\": 3}\"}}]},\"finish_reason\":\"tool_calls\"}]}";

/* The token is ours, and the job's ARN is in the header. */
static bool is_known(const gg_exchange *exchange)
{
    const char *given = gg_exchange_header(exchange, "authorization");
    const char *arn = gg_exchange_header(exchange, "x-amzn-sagemaker-job-arn");
    gg_sigv4_claim claim;
    gg_buf query;
    gg_buf_init(&query, GG_BEARER_MAX);
    bool known = given && arn && strcmp(arn, ARN) == 0 && strncmp(given, "Bearer ", 7) == 0 &&
                 gg_bearer_open(given + 7, &query, &claim, NULL) == GG_OK &&
                 gg_bearer_check(query.data, &claim, SECRET, (int64_t)time(NULL)) == GG_SIGV4_GOOD;
    gg_buf_free(&query);
    return known;
}

static void answer(void *context, gg_exchange *exchange, const gg_exchange_request *request)
{
    (void)context;
    pthread_mutex_lock(&runtime.lock);
    runtime.strangers += !is_known(exchange);
    if (strcmp(request->path, "/v1/chat/completions") == 0) {
        bool fails = runtime.fail_first < 0 || runtime.chats < runtime.fail_first;
        runtime.chats++;
        gg_exchange_reply_json(exchange, fails ? 500 : 200,
                               fails ? "{\"Message\":\"no\"}" : add_three);
    } else if (strcmp(request->path, "/complete-rollout") == 0) {
        runtime.completes++;
        snprintf(runtime.complete, sizeof runtime.complete, "%s", request->body);
        gg_exchange_reply_json(exchange, runtime.complete_status ? runtime.complete_status : 200,
                               runtime.complaint ? runtime.complaint : "{}");
    } else {
        runtime.rewards++;
        snprintf(runtime.reward, sizeof runtime.reward, "%s", request->body);
        gg_exchange_reply_json(exchange, 200, "{}");
    }
    pthread_mutex_unlock(&runtime.lock);
}

static void runtime_start(void)
{
    gg_error error;
    const gg_server_options options = {.listen = ":0", .handler = answer};
    runtime = (struct runtime){.server = NULL};
    pthread_mutex_init(&runtime.lock, NULL);
    assert_int_equal(gg_server_start(&options, &runtime.server, &error), GG_OK);
}

static void runtime_stop(void)
{
    gg_server_stop(runtime.server);
    pthread_mutex_destroy(&runtime.lock);
}

/* ------------------------------------------------------------------ the agent */

static const char *variable(const char *name)
{
    return strcmp(name, "AWS_ACCESS_KEY_ID") == 0       ? "AKIDEXAMPLE"
           : strcmp(name, "AWS_SECRET_ACCESS_KEY") == 0 ? SECRET
                                                        : NULL;
}

typedef struct seen {
    int count, status;
    bool skipped, reported, played;
    gg_outcome outcome;
    char json[1024], problem[GG_ERROR_TEXT];
} seen;

static void note(void *context, const gg_errand_report *report)
{
    seen *s = context;
    s->count++;
    s->status = report->status;
    s->skipped = report->skipped;
    s->reported = report->reported;
    s->played = report->played;
    s->outcome = report->outcome;
    snprintf(s->json, sizeof s->json, "%s", report->json);
    snprintf(s->problem, sizeof s->problem, "%s", report->problem);
}

typedef struct world {
    uv_loop_t loop;
    gg_game game;
    gg_reward *reward;
    gg_errands *all;
} world;

static gg_status open_world(world *w, gg_env *env, const char *reward, const char *region,
                            int64_t budget_ms, gg_error *error)
{
    w->all = NULL;
    w->reward = NULL;
    w->game = counter_game(env);
    gg_status status = gg_reward_parse(&w->game, reward, &w->reward, error);
    gg_errands_options options = {.game = &w->game,
                                  .reward = w->reward,
                                  .ask = GG_ASK_DEFAULTS,
                                  .runtime = {.region = region,
                                              .endpoint = gg_server_url(runtime.server),
                                              .attempts_max = 2,
                                              .credentials = {.variable = variable}},
                                  .budget_ms = budget_ms,
                                  .seed = 42};
    if (uv_loop_init(&w->loop) != 0)
        return gg_fail(error, GG_E_MEMORY, "no loop");
    return status == GG_OK ? gg_errands_new(&w->loop, &options, &w->all, error) : status;
}

static void close_world(world *w)
{
    gg_errands_free(w->all);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    gg_reward_free(w->reward);
}

static gg_status begin(world *w, const char *id, const char *prompt, seen *s, gg_error *error)
{
    gg_invocation invocation;
    char body[512];
    *s = (seen){0};
    snprintf(body, sizeof body,
             "{\"prompt\":\"%s\",\"metadata\":{\"jobArn\":\"" ARN "\",\"rolloutId\":\"%s\"}}",
             prompt, id);
    gg_status status = gg_invocation_read(body, strlen(body), &invocation, error);
    if (status != GG_OK) {
        gg_invocation_free(&invocation);
        return status;
    }
    return gg_errand_begin(w->all, &invocation, note, s, error);
}

static void run_until(world *w, const seen *s)
{
    while (!s->count)
        if (!uv_run(&w->loop, UV_RUN_ONCE) && !s->count)
            fail_msg("the errand waits for nothing");
}

static void errands(void **state)
{
    (void)state;
    char dir[FOLDER_PATH], script[FOLDER_PATH];
    static const char list[] =
        "function reward(e) local t = {} for i = 1, #e.turns do t[i] = i / 2 end return t end";
    folder_make(dir);
    folder_write(dir, "list.lua", list, sizeof list - 1);
    snprintf(script, sizeof script, "%s", folder_path(dir, "list.lua"));
    const struct {
        const char *what, *prompt, *reward, *region;
        int fail_first, complete_status;
        const char *complaint;
        bool blocks;
        int status;
        bool skipped, reported;
        gg_outcome outcome;
        int chats, rewards;
        const char *json, *sent; /* parts of the answer, and of what was reported */
    } rows[] = {
        {"solved", "9", "solve", "r", 0, 0, NULL, false, 200, false, true, GG_SOLVED, 3, 1,
         "\"reward\":1,", "\"Rewards\":[1],"},
        {"on the thread pool", "9", "solve", "r", 0, 0, NULL, true, 200, false, true, GG_SOLVED, 3,
         1, "\"turns\":3", "\"Rewards\":[1],"},
        {"lost", "8", "solve", "r", 0, 0, NULL, false, 200, false, true, GG_LOST, 3, 1,
         "\"outcome\":\"lost\"", "\"Rewards\":[0],"},
        {"one reward a turn", "9", script, "r", 0, 0, NULL, false, 200, false, true, GG_SOLVED, 3,
         1, "\"reward\":[0.5,1,1.5]", "\"Rewards\":[0.5,1,1.5],"},
        {"a retry", "9", "solve", "r", 1, 0, NULL, false, 200, false, true, GG_SOLVED, 4, 1,
         "\"tries\":1", "\"Rewards\":[1],"},
        {"a second try", "9", "solve", "r", 2, 0, NULL, false, 200, false, true, GG_SOLVED, 5, 1,
         "\"tries\":2", "\"Rewards\":[1],"},
        {"no third", "9", "solve", "r", -1, 0, NULL, false, 200, false, true, GG_ERRORED, 4, 1,
         "\"error\":\"the play erred", "\"Rewards\":[0],"},
        {"a prompt that the game refuses", "0", "solve", "r", 0, 0, NULL, false, 400, false, true,
         GG_ERRORED, 0, 1, "ValidationError", "\"Rewards\":[0],"},
        {"no region", "9", "solve", NULL, 0, 0, NULL, false, 500, false, false, GG_ERRORED, 0, 0,
         "no region to sign for", ""},
        {"ended elsewhere", "9", "solve", "r", 0, 400, "{\"Message\":\"not in valid status\"}",
         false, 200, true, false, GG_SOLVED, 3, 0, "\"status\":\"skipped\"", ""},
        {"unknown at the end", "9", "solve", "r", 0, 404, "{}", false, 200, true, false, GG_SOLVED,
         3, 0, "\"status\":\"skipped\"", ""},
        {"refused at the end", "9", "solve", "r", 0, 400, "{\"Message\":\"Could not find job\"}",
         false, 200, false, false, GG_SOLVED, 3, 0, "\"reported\":false", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        counter_counts counts = {0};
        gg_env env = {.may_block = rows[i].blocks, .counts = &counts};
        gg_error error = {0};
        world w;
        seen s;
        runtime_start();
        runtime.fail_first = rows[i].fail_first;
        runtime.complete_status = rows[i].complete_status;
        runtime.complaint = rows[i].complaint;
        assert_int_equal(open_world(&w, &env, rows[i].reward, rows[i].region, 60000, &error),
                         GG_OK);
        assert_int_equal(begin(&w, "r-1", rows[i].prompt, &s, &error), GG_OK);
        assert_int_equal(s.count, 0);
        assert_int_equal(gg_errands_count(w.all), 1);
        run_until(&w, &s);
        assert_int_equal(gg_errands_count(w.all), 0);
        bool fits = s.status == rows[i].status && s.skipped == rows[i].skipped &&
                    s.reported == rows[i].reported && s.outcome == rows[i].outcome &&
                    runtime.chats == rows[i].chats && runtime.rewards == rows[i].rewards &&
                    strstr(s.json, rows[i].json) && strstr(runtime.reward, rows[i].sent);
        if (!fits)
            fail_msg("%s: %d %s (%d chats, %d rewards %s)", rows[i].what, s.status, s.json,
                     runtime.chats, runtime.rewards, runtime.reward);
        assert_int_equal(runtime.strangers, 0);
        if (runtime.completes)
            assert_non_null(strstr(runtime.complete,
                                   "\"JobArn\":\"" ARN
                                   "\",\"TrajectoryId\":\"r-1\",\"Status\":\"ready\""));
        close_world(&w);
        assert_int_equal(counts.playing, 0);
        assert_int_equal(counts.overlapping, 0);
        runtime_stop();
    }
    folder_remove(dir);
}

/* A call of the environment goes on past the budget: the reward is reported all the same. */
static void blocked(void **state)
{
    (void)state;
    counter_counts counts = {0};
    gg_env env = {.may_block = true, .sleep_ms = 900, .counts = &counts};
    gg_error error = {0};
    world w;
    seen s;
    runtime_start();
    assert_int_equal(open_world(&w, &env, "solve", "r", 100, &error), GG_OK);
    assert_int_equal(begin(&w, "r-1", "9", &s, &error), GG_OK);
    run_until(&w, &s);
    assert_int_equal(s.status, 200);
    assert_int_equal(s.outcome, GG_ERRORED);
    assert_true(s.reported && s.played);
    assert_non_null(strstr(s.json, "\"stop\":\"deadline\""));
    assert_non_null(strstr(runtime.reward, "\"Rewards\":[0],"));
    assert_int_equal(gg_errands_hanging(w.all), 1);
    close_world(&w); /* waits for the call */
    assert_int_equal(counts.playing, 0);
    runtime_stop();
}

/* The same trajectory again while it is played, and two at once; then the end of all in the middle.
 */
static void crowd(void **state)
{
    (void)state;
    counter_counts counts = {0};
    gg_env env = {.counts = &counts};
    gg_error error = {0};
    world w;
    seen first, again, other;
    runtime_start();
    assert_int_equal(open_world(&w, &env, "solve", "r", 60000, &error), GG_OK);
    assert_int_equal(begin(&w, "r-1", "9", &first, &error), GG_OK);
    assert_int_equal(begin(&w, "r-1", "9", &again, &error), GG_OK);
    assert_int_equal(begin(&w, "r-2", "9", &other, &error), GG_OK);
    assert_int_equal(gg_errands_count(w.all), 3);
    run_until(&w, &again);
    run_until(&w, &first);
    run_until(&w, &other);
    assert_true(again.skipped && !first.skipped && !other.skipped);
    assert_true(first.reported && other.reported);
    assert_int_equal(runtime.completes, 2);
    assert_int_equal(begin(&w, "r-3", "9", &first, &error), GG_OK);
    while (runtime.chats < 7)
        uv_run(&w.loop, UV_RUN_ONCE);
    close_world(&w);
    assert_int_equal(first.count, 0);
    assert_int_equal(counts.playing, 0);
    runtime_stop();
}

static gg_status whole_errand(void *context)
{
    counter_counts counts = {0};
    gg_env env = {.counts = &counts};
    gg_error error = {0};
    world w;
    seen s = {0};
    (void)context;
    gg_status status = open_world(&w, &env, "solve", "r", 5000, &error);
    if (status == GG_OK)
        status = begin(&w, "r-1", "9", &s, &error);
    if (status == GG_OK)
        run_until(&w, &s);
    assert_int_equal(s.count, status == GG_OK);
    close_world(&w);
    assert_int_equal(counts.playing, 0);
    return status;
}

static void no_memory(void **state)
{
    (void)state;
    runtime_start();
    assert_true(alloc_each_fails(whole_errand, NULL) > 100);
    runtime_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errands),
        cmocka_unit_test(blocked),
        cmocka_unit_test(crowd),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
