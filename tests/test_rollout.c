/* Many episodes against an endpoint on loopback (agent/rollout.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/rollout.h"
#include "core/rng.h"
#include "tests/counter.h"
#include "tests/farm.h"

#define PLAN_MAX 512

typedef struct world {
    uv_loop_t loop;
    gg_http *http;
    gg_endpoint *endpoint;
    gg_env env;
    gg_game game;
    gg_reward *reward;
    gg_ask ask;
    gg_rollout_options options;
    gg_rollout *rollout;
    farm *farm;
    gg_task tasks[64];
    char prompts[64][8];
    gg_planned plan[PLAN_MAX];
    size_t count;
    /* What came out. */
    gg_episode *episodes[PLAN_MAX];
    size_t handed;
    int attempts_max;    /* 0 = the default */
    size_t stop_after;   /* gg_rollout_stop once so many are done; 0 = never */
    size_t refuse_after; /* `each` fails once so many are done; 0 = never */
} world;

/* A world with `tasks` x `samples` planned; options may be changed before open_rollout. */
static void open_world(world *w, farm_answer answer, void *context, size_t tasks, size_t samples)
{
    gg_ask ask = GG_ASK_DEFAULTS;
    gg_error error;
    memset(w, 0, sizeof *w);
    assert_int_equal(uv_loop_init(&w->loop), 0);
    assert_int_equal(gg_http_new(&w->loop, &w->http, &error), GG_OK);
    w->game = counter_game(&w->env);
    assert_int_equal(gg_reward_parse(&w->game, "solve", &w->reward, &error), GG_OK);
    w->ask = ask;
    w->farm = farm_start(answer, context);
    for (size_t t = 0; t < tasks; t++) {
        snprintf(w->prompts[t], sizeof w->prompts[t], "%zu", 8 + t);
        w->tasks[t] =
            (gg_task){.id = w->prompts[t], .prompt = w->prompts[t], .digest = "d", .key = "k"};
        for (size_t s = 0; s < samples; s++)
            w->plan[w->count++] = (gg_planned){&w->tasks[t], 0, (int64_t)t, (int64_t)s};
    }
    w->options = (gg_rollout_options){.game = &w->game,
                                      .reward = w->reward,
                                      .ask = &w->ask,
                                      .seed = 42,
                                      .concurrency = 16,
                                      .weight_version = -1,
                                      .id_prefix = "s"};
}

static void open_rollout(world *w)
{
    gg_error error = {0};
    gg_endpoint_options to = {.base_url = farm_url(w->farm),
                              .in_flight_max = 256,
                              .attempts_max = w->attempts_max,
                              .seed = 1};
    if (gg_endpoint_new(w->http, &to, &w->endpoint, &error) != GG_OK)
        fail_msg("%s", error.text);
    w->options.endpoint = w->endpoint;
    if (gg_rollout_new(&w->loop, &w->options, &w->rollout, &error) != GG_OK)
        fail_msg("%s", error.text);
}

static gg_status take(void *context, size_t index, gg_episode *episode, gg_error *error)
{
    world *w = context;
    assert_true(index < w->count);
    assert_null(w->episodes[index]);
    w->episodes[index] = episode;
    w->handed++;
    if (w->handed == w->stop_after)
        gg_rollout_stop(w->rollout);
    if (w->handed == w->refuse_after)
        return gg_fail(error, GG_E_IO, "the disk is full");
    return GG_OK;
}

static gg_status play(world *w, gg_error *error)
{
    *error = (gg_error){0};
    return gg_rollout_play(w->rollout, w->plan, w->count, take, w, error);
}

static void close_world(world *w)
{
    farm_stop(w->farm);
    gg_rollout_free(w->rollout);
    gg_endpoint_free(w->endpoint);
    gg_http_free(w->http);
    uv_run(&w->loop, UV_RUN_DEFAULT); /* calls left behind come back */
    assert_int_equal(uv_loop_close(&w->loop), 0);
    assert_int_equal(w->env.own.playing, 0);
    assert_int_equal(w->env.own.overlapping, 0);
    for (size_t i = 0; i < w->count; i++)
        gg_episode_free(w->episodes[i]);
    gg_reward_free(w->reward);
}

/* Ledger: everything planned is somewhere, and it says what the episodes say. */
static void check_ledger(const world *w)
{
    const gg_ledger *ledger = gg_rollout_ledger(w->rollout);
    gg_ledger again = {.planned = (int64_t)w->count, .replayed = ledger->replayed};
    for (size_t i = 0; i < w->count; i++) {
        if (w->episodes[i])
            gg_ledger_add(&again, w->episodes[i]);
        else
            again.by_outcome[GG_UNPLAYED]++;
    }
    assert_memory_equal(ledger, &again, sizeof again);
    int64_t sum = 0;
    for (int k = 0; k < GG_OUTCOME_COUNT; k++)
        sum += ledger->by_outcome[k];
    assert_int_equal(sum, ledger->planned);
}

/* All records, in the order of the plan, without what depends on time. */
static void write_all(const world *w, bool attempts, gg_buf *out)
{
    gg_error error;
    for (size_t i = 0; i < w->count; i++) {
        gg_episode *e = w->episodes[i];
        assert_non_null(e);
        e->started = "";
        e->duration_ms = 0;
        e->policy.endpoint = ""; /* the port */
        for (size_t t = 0; t < e->turn_count; t++) {
            e->turns[t].latency_ms = 0;
            if (!attempts)
                e->turns[t].attempt_count = 0;
        }
        assert_int_equal(gg_episode_write(e, out, &error), GG_OK);
        assert_int_equal(gg_episode_write_tokens(e, out, &error), GG_OK);
    }
}

/* Same seed, whatever the concurrency and the order of the answers: the same episodes, byte for
 * byte. */
static void concurrency_changes_nothing(void **state)
{
    static const size_t rows[] = {1, 7, 64};
    gg_buf lines[3];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        static world w;
        gg_error error;
        gg_buf_init(&lines[i], 64u << 20);
        open_world(&w, farm_counter, NULL, 30, 4);
        w.options.concurrency = rows[i];
        open_rollout(&w);
        assert_int_equal(play(&w, &error), GG_OK);
        assert_int_equal(w.handed, w.count);
        check_ledger(&w);
        assert_true(farm_peak(w.farm) <= (int)rows[i]);
        write_all(&w, true, &lines[i]);
        /* Not all alike: the player does draw. */
        const gg_ledger *ledger = gg_rollout_ledger(w.rollout);
        assert_true(ledger->by_outcome[GG_SOLVED] > 5 && ledger->by_outcome[GG_LOST] > 5);
        for (size_t k = 0; k < w.count; k++)
            assert_true(w.episodes[k]->trainable);
        close_world(&w);
    }
    assert_string_equal(lines[0].data, lines[1].data);
    assert_string_equal(lines[0].data, lines[2].data);
    for (size_t i = 0; i < 3; i++)
        gg_buf_free(&lines[i]);
}

static void concurrency_is_used(void **state)
{
    static world w;
    gg_error error;
    (void)state;
    open_world(&w, farm_counter, NULL, 32, 4);
    w.options.concurrency = 32;
    open_rollout(&w);
    assert_int_equal(play(&w, &error), GG_OK);
    assert_true(farm_peak(w.farm) > 16 && farm_peak(w.farm) <= 32);
    close_world(&w);
}

/* A blocking environment's calls run elsewhere, never two of one play, with the same records. */
static void blocking_changes_nothing(void **state)
{
    gg_buf lines[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        static world w;
        gg_error error;
        gg_buf_init(&lines[i], 64u << 20);
        open_world(&w, farm_counter, NULL, 20, 4);
        w.env.may_block = i == 1;
        w.env.sleep_ms = i;
        w.game = counter_game(&w.env);
        open_rollout(&w);
        assert_int_equal(play(&w, &error), GG_OK);
        write_all(&w, true, &lines[i]);
        close_world(&w);
    }
    assert_string_equal(lines[0].data, lines[1].data);
    gg_buf_free(&lines[0]);
    gg_buf_free(&lines[1]);
}

/* A third of all requests fails once before it is answered. */
typedef struct flaky {
    uint64_t failed[4096];
    size_t count;
} flaky;

static int flaky_answer(void *context, const farm_request *request, gg_buf *reply)
{
    flaky *f = context;
    bool hit = request->seed % 3 == 0;
    for (size_t i = 0; i < f->count; i++)
        hit = hit && f->failed[i] != request->seed;
    if (!hit || f->count == 4096)
        return farm_counter(NULL, request, reply);
    f->failed[f->count++] = request->seed;
    if (request->seed % 2) {
        gg_buf_str(reply, "{\"choices\":[{\"mess"); /* a body cut short, with 200 */
        return 200;
    }
    gg_buf_str(reply, "{\"error\":{\"message\":\"busy\"}}");
    return 503;
}

static void faults_change_only_the_attempts(void **state)
{
    gg_buf lines[2];
    (void)state;
    for (int i = 0; i < 2; i++) {
        static world w;
        static flaky faults;
        gg_error error;
        faults.count = 0;
        gg_buf_init(&lines[i], 64u << 20);
        open_world(&w, i ? flaky_answer : farm_counter, &faults, 6, 2);
        open_rollout(&w);
        assert_int_equal(play(&w, &error), GG_OK);
        size_t retried = 0;
        for (size_t k = 0; k < w.count; k++)
            for (size_t t = 0; t < w.episodes[k]->turn_count; t++)
                retried += w.episodes[k]->turns[t].attempt_count == 2;
        assert_true(i == 0 ? retried == 0 : retried > 5 && retried == faults.count);
        assert_int_equal(gg_rollout_ledger(w.rollout)->by_outcome[GG_ERRORED], 0);
        write_all(&w, false, &lines[i]);
        close_world(&w);
    }
    assert_string_equal(lines[0].data, lines[1].data);
    gg_buf_free(&lines[0]);
    gg_buf_free(&lines[1]);
}

/* Refuses the requests of one episode after its first turn, `left` times. */
typedef struct poison {
    int left;
    uint64_t first_seed;
} poison;

static int poison_answer(void *context, const farm_request *request, gg_buf *reply)
{
    poison *p = context;
    const cJSON *messages = gg_json_get(request->body, "messages");
    if (request->seed == p->first_seed) {
        gg_buf_str(reply, "{\"choices\":[{\"message\":{\"content\":\"poison\"}}]}");
        return 200;
    }
    const char *said = gg_json_text(cJSON_GetArrayItem(messages, 2), "content");
    if (said && strcmp(said, "poison") == 0 && p->left-- > 0) {
        gg_buf_str(reply, "{\"error\":{\"message\":\"cannot parse the history\"}}");
        return 400;
    }
    return farm_counter(NULL, request, reply);
}

static void errored_members_are_played_again(void **state)
{
    static const struct {
        int refusals;
        int64_t replayed, errored;
    } rows[] = {
        {1, 1, 0}, {GG_PLAY_AGAIN, GG_PLAY_AGAIN, 0}, {GG_PLAY_AGAIN + 1, GG_PLAY_AGAIN, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static world w;
        gg_error error;
        poison p = {rows[i].refusals, gg_request_seed(42, 0, 3, 1, 0)};
        open_world(&w, poison_answer, &p, 6, 2);
        open_rollout(&w);
        assert_int_equal(play(&w, &error), GG_OK);
        check_ledger(&w);
        const gg_ledger *ledger = gg_rollout_ledger(w.rollout);
        assert_int_equal(ledger->replayed, rows[i].replayed);
        assert_int_equal(ledger->by_outcome[GG_ERRORED], rows[i].errored);
        const gg_episode *e = w.episodes[3 * 2 + 1];
        assert_string_equal(e->id, "s0-g3-1");
        if (rows[i].errored) {
            assert_int_equal(e->stop, GG_STOP_REFUSED);
            assert_non_null(strstr(e->error, "cannot parse the history"));
            assert_string_equal(e->turns[1].attempts[0].reason,
                                gg_retry_class_name(GG_RETRY_REFUSED));
        }
        close_world(&w);
    }
}

static int says(void *context, const farm_request *request, gg_buf *reply)
{
    static const struct {
        const char *body;
        int status;
    } rows[] = {
        {"{\"error\":{\"message\":\"wrong key\"}}", 401},
        {"{\"error\":{\"type\":\"insufficient_quota\",\"code\":\"insufficient_quota\",\"message\":"
         "\"no credit\"}}",
         429},
        {"{\"error\":{\"param\":\"top_p\",\"code\":\"unsupported_parameter\",\"message\":\"top_p "
         "is not supported\"}}",
         400},
    };
    int row = *(const int *)context;
    (void)request;
    gg_buf_str(reply, rows[row].body);
    return rows[row].status;
}

static void a_hopeless_endpoint_stops_the_run(void **state)
{
    static const char *const wanted[] = {"wrong key", "no credit", "top_p is not supported"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        static world w;
        gg_error error;
        open_world(&w, says, &i, 50, 4);
        w.options.concurrency = 4;
        open_rollout(&w);
        assert_int_equal(play(&w, &error), GG_E_UNREACHABLE);
        if (!strstr(error.text, wanted[i]) || !strstr(error.text, "127.0.0.1"))
            fail_msg("%s", error.text);
        check_ledger(&w);
        assert_true(farm_count(w.farm) <= 12); /* not once for each of 200 */
        assert_true(gg_rollout_ledger(w.rollout)->by_outcome[GG_UNPLAYED] >= 190);
        close_world(&w);
    }
}

static void a_short_plan_that_never_worked_is_unreachable(void **state)
{
    static world w;
    gg_error error;
    int refused = 2;
    (void)state;
    open_world(&w, says, &refused, 1, 1);
    open_rollout(&w);
    assert_int_equal(play(&w, &error), GG_E_UNREACHABLE);
    assert_non_null(strstr(error.text, "top_p"));
    assert_int_equal(w.handed, 1);
    assert_int_equal(w.episodes[0]->outcome, GG_ERRORED);
    close_world(&w);
}

/* "max_tokens=9 cannot be greater than max_model_len=8", says vLLM to every request. */
static int limit_too_high(void *context, const farm_request *request, gg_buf *reply)
{
    (void)context;
    (void)request;
    gg_buf_str(reply, "{\"error\":{\"message\":\"max_tokens=9 cannot be greater than "
                      "max_model_len=8\",\"code\":400}}");
    return 400;
}

static void a_context_that_is_full_at_once_for_all_is_no_result(void **state)
{
    static world w;
    gg_error error;
    (void)state;
    open_world(&w, limit_too_high, NULL, 5, 2);
    open_rollout(&w);
    assert_int_equal(play(&w, &error), GG_E_UNREACHABLE);
    assert_non_null(strstr(error.text, "max_model_len"));
    close_world(&w);
}

static int too_long(void *context, const farm_request *request, gg_buf *reply)
{
    if (request->tool_results < 2)
        return farm_counter(context, request, reply);
    gg_buf_str(reply, "{\"error\":{\"message\":\"This model's maximum context length is 8\"}}");
    return 400;
}

static void a_full_context_is_an_outcome(void **state)
{
    static world w;
    gg_error error;
    (void)state;
    open_world(&w, too_long, NULL, 20, 1);
    open_rollout(&w);
    assert_int_equal(play(&w, &error), GG_OK);
    check_ledger(&w);
    const gg_ledger *ledger = gg_rollout_ledger(w.rollout);
    assert_true(ledger->by_outcome[GG_TRUNCATED] > 5);
    assert_int_equal(ledger->by_outcome[GG_ERRORED] + ledger->replayed, 0);
    close_world(&w);
}

/* Every reply of the first tasks is rubbish of another kind; the others must not notice. */
static int rubbish(void *context, const farm_request *request, gg_buf *reply)
{
    static const char *const rows[] = {
        "{\"choices\":[{\"message\":{\"content\":\"\\ud800\"}}]}",
        "{\"choices\":[{\"message\":{\"tool_calls\":[{}]}}]}",
        "{\"choices\":[{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"add\"}}]}}]}",
        "{\"choices\":[{\"finish_reason\":7,\"message\":[]}],\"usage\":\"none\"}",
        "{\"choices\":[{\"message\":{\"content\":{\"a\":1}}}],\"usage\":{\"prompt_tokens\":\"x\"}}",
        "{\"choices\":[7]}",
    };
    uint64_t kind = request->seed % 7;
    if (kind < sizeof rows / sizeof *rows) {
        gg_buf_str(reply, rows[kind]);
        return 200;
    }
    return farm_counter(context, request, reply);
}

static void one_bad_player_hurts_no_other(void **state)
{
    static world w;
    gg_error error;
    (void)state;
    open_world(&w, rubbish, NULL, 30, 2);
    w.attempts_max = 2;
    open_rollout(&w);
    gg_status status = play(&w, &error);
    if (status != GG_OK)
        fail_msg("%s", error.text);
    assert_int_equal(w.handed, w.count);
    check_ledger(&w);
    close_world(&w);
}

static void stopping_drains(void **state)
{
    static world w;
    gg_error error;
    (void)state;
    open_world(&w, farm_counter, NULL, 50, 2);
    w.options.concurrency = 8;
    w.stop_after = 10;
    open_rollout(&w);
    assert_int_equal(play(&w, &error), GG_E_INTERRUPTED);
    assert_true(w.handed >= 10 && w.handed <= 10 + 8);
    check_ledger(&w);
    w.stop_after = 0;
    assert_int_equal(play(&w, &error), GG_E_INTERRUPTED); /* later plays do not begin */
    close_world(&w);
}

static int silent(void *context, const farm_request *request, gg_buf *reply)
{
    const int64_t *group = context; /* -1 = all */
    for (int64_t s = 0; s < 2 && *group >= 0; s++)
        if (request->seed == gg_request_seed(42, 0, *group, s, 0))
            return 0;
    return *group < 0 ? 0 : farm_counter(NULL, request, reply);
}

static void stop_twice(uv_timer_t *timer)
{
    gg_rollout_stop(timer->data);
    gg_rollout_stop(timer->data);
    uv_close((uv_handle_t *)timer, NULL);
}

static void stopping_twice_abandons(void **state)
{
    static world w;
    gg_error error;
    int64_t all = -1;
    uv_timer_t timer;
    (void)state;
    open_world(&w, silent, &all, 10, 2);
    open_rollout(&w);
    uv_timer_init(&w.loop, &timer);
    timer.data = w.rollout;
    uv_timer_start(&timer, stop_twice, 100, 0);
    assert_int_equal(play(&w, &error), GG_E_INTERRUPTED);
    assert_int_equal(w.handed, 0);
    assert_int_equal(w.env.own.playing, 0);
    check_ledger(&w);
    close_world(&w);
}

static void deadlines(void **state)
{
    static world w;
    gg_error error;
    int64_t group = 4;
    (void)state;
    open_world(&w, silent, &group, 10, 2);
    w.ask.episode_ms = 1500;
    open_rollout(&w);
    assert_int_equal(play(&w, &error), GG_OK);
    check_ledger(&w);
    for (size_t i = 0; i < w.count; i++) {
        bool quiet = w.plan[i].group == 4;
        assert_int_equal(w.episodes[i]->outcome == GG_ERRORED, quiet);
        if (quiet)
            assert_int_equal(w.episodes[i]->stop, GG_STOP_DEADLINE);
    }
    assert_int_equal(gg_rollout_ledger(w.rollout)->replayed, 0);
    close_world(&w);
}

static void a_run_has_a_limit(void **state)
{
    static world w;
    gg_error error;
    int64_t all = -1;
    (void)state;
    open_world(&w, silent, &all, 10, 2);
    w.options.run_ms = 300;
    open_rollout(&w);
    assert_int_equal(play(&w, &error), GG_E_INTERRUPTED);
    assert_non_null(strstr(error.text, "time limit"));
    assert_int_equal(gg_rollout_ledger(w.rollout)->by_outcome[GG_UNPLAYED], 20);
    check_ledger(&w);
    close_world(&w);
}

static void a_call_that_hangs_is_left_behind(void **state)
{
    static world w;
    gg_error error;
    (void)state;
    open_world(&w, farm_counter, NULL, 1, 2);
    w.env.may_block = true;
    w.env.sleep_ms = 900;
    w.game = counter_game(&w.env);
    w.ask.episode_ms = 300;
    open_rollout(&w);
    /* The endpoint did answer, so this is a result, not an unreachable endpoint. */
    assert_int_equal(play(&w, &error), GG_OK);
    assert_int_equal(w.handed, 2);
    assert_int_equal(w.episodes[0]->stop, GG_STOP_DEADLINE);
    assert_true(gg_rollout_hanging(w.rollout) > 0);
    while (gg_rollout_hanging(w.rollout))
        uv_run(&w.loop, UV_RUN_ONCE);
    close_world(&w);
}

static void a_full_disk_ends_the_run(void **state)
{
    static world w;
    gg_error error;
    (void)state;
    open_world(&w, farm_counter, NULL, 30, 2);
    w.refuse_after = 3;
    open_rollout(&w);
    assert_int_equal(play(&w, &error), GG_E_IO);
    assert_string_equal(error.text, "the disk is full");
    assert_int_equal(w.handed, 3);
    close_world(&w);
}

static void prefix_and_version_can_be_set(void **state)
{
    static world w;
    gg_error error;
    (void)state;
    open_world(&w, farm_counter, NULL, 1, 1);
    open_rollout(&w);
    gg_rollout_set(w.rollout, "v", 12);
    assert_int_equal(play(&w, &error), GG_OK);
    assert_string_equal(w.episodes[0]->id, "v0-g0-0");
    assert_int_equal(w.episodes[0]->policy.weight_version_first, 12);
    gg_rollout_state look;
    gg_rollout_look(w.rollout, &look);
    assert_int_equal(look.done, 1);
    assert_int_equal(look.in_flight, 0);
    assert_null(look.oldest_id);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(concurrency_changes_nothing),
        cmocka_unit_test(concurrency_is_used),
        cmocka_unit_test(blocking_changes_nothing),
        cmocka_unit_test(faults_change_only_the_attempts),
        cmocka_unit_test(errored_members_are_played_again),
        cmocka_unit_test(a_hopeless_endpoint_stops_the_run),
        cmocka_unit_test(a_short_plan_that_never_worked_is_unreachable),
        cmocka_unit_test(a_context_that_is_full_at_once_for_all_is_no_result),
        cmocka_unit_test(a_full_context_is_an_outcome),
        cmocka_unit_test(one_bad_player_hurts_no_other),
        cmocka_unit_test(stopping_drains),
        cmocka_unit_test(stopping_twice_abandons),
        cmocka_unit_test(deadlines),
        cmocka_unit_test(a_run_has_a_limit),
        cmocka_unit_test(a_call_that_hangs_is_left_behind),
        cmocka_unit_test(a_full_disk_ends_the_run),
        cmocka_unit_test(prefix_and_version_can_be_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
