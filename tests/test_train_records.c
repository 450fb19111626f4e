/* A step's figures, its checkpoint and its plays in the run folder. Values computed by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "train/checkpoint.h"
#include "rl/metrics.h"
#include "train/plays.h"

#define DIGEST "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* A play with one turn a completion length; a negative usage is unknown. */
static gg_episode *make_play(int64_t group, int64_t sample, gg_outcome outcome, double reward,
                             const int64_t *completions, size_t turns)
{
    char id[32];
    gg_episode *e = gg_episode_new();
    assert_non_null(e);
    snprintf(id, sizeof id, "s1-g%d-%d", (int)group, (int)sample);
    e->id = gg_episode_string(e, id, strlen(id));
    e->env = "env";
    e->step = 1;
    e->group = group;
    e->sample = sample;
    e->task_id = "t";
    e->task_digest = e->task_key = DIGEST;
    e->answer = "\"x\"";
    e->measure.name = "solved";
    e->policy.endpoint = "http://h/v1";
    e->policy.model = "m";
    e->outcome = outcome;
    e->stop = GG_STOP_DONE;
    e->reward = reward;
    e->started = "2026-01-01T00:00:00Z";
    e->messages = "[]";
    for (size_t t = 0; t < turns; t++) {
        gg_turn *turn = gg_episode_push(e, &e->turns, &e->turn_count, sizeof *turn);
        assert_non_null(turn);
        turn->index = (int)t;
        turn->usage = (gg_usage){10, completions[t], GG_TOKENS_UNKNOWN, GG_TOKENS_UNKNOWN};
    }
    return e;
}

static void figures_of_plays(void **state)
{
    static const int64_t short_turns[] = {4}, long_turns[] = {2, 3, 5};
    static const struct {
        const char *name;
        double value;
    } wanted[] = {
        {"rollout/reward/mean", 0.5},
        {"rollout/reward/std", 0.5},
        {"rollout/reward/min", 0},
        {"rollout/reward/max", 1},
        {"rollout/reward/zero_frac", 0.5},
        {"rollout/turns/mean", 2},
        {"rollout/turns/min", 1},
        {"rollout/turns/max", 3},
        {"rollout/tokens/prompt_mean", 20},
        {"rollout/tokens/response_mean", 7},
        {"rollout/tokens/response_std", 3},
        {"rollout/tokens/response_min", 4},
        {"rollout/tokens/response_max", 10},
        {"rollout/logprob/zero_count", 0},
    };
    gg_episode *plays[4] = {make_play(0, 0, GG_SOLVED, 1, short_turns, 1),
                            make_play(0, 1, GG_LOST, 0, long_turns, 3),
                            make_play(0, 2, GG_ERRORED, 9, long_turns, 3), NULL};
    gg_metrics metrics = {0};
    (void)state;
    gg_metrics_plays(&metrics, "rollout/", plays, 4);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_float_equal(gg_metrics_get(&metrics, wanted[i].name), wanted[i].value, 1e-12);
    assert_true(isnan(gg_metrics_get(&metrics, "rollout/logprob/nz_mean")));
    assert_true(isnan(gg_metrics_get(&metrics, "no such name")));
    gg_metrics_free(&metrics);
    for (int i = 0; i < 4; i++)
        gg_episode_free(plays[i]);
}

static void ledger_and_tokens(void **state)
{
    static const int64_t turns[] = {2, 3}, silent[] = {GG_TOKENS_UNKNOWN};
    gg_episode *plays[4] = {make_play(0, 0, GG_SOLVED, 1, turns, 2),
                            make_play(0, 1, GG_ERRORED, 0, turns, 1), NULL,
                            make_play(0, 3, GG_LOST, 0, silent, 1)};
    gg_step_count count = {0};
    gg_buf out;
    (void)state;
    gg_step_count_plays(&count, plays, 3);
    assert_int_equal(count.planned, 3);
    assert_int_equal(count.prefill, 30);
    assert_int_equal(count.sample, 7);
    gg_buf_init(&out, 4096);
    gg_step_count_write(&count, &out);
    assert_string_equal(gg_buf_cstr(&out),
                        "\"ledger\":{\"planned\":3,\"unplayed\":1,\"solved\":1,\"lost\":0,"
                        "\"forfeited\":0,\"truncated\":0,"
                        "\"errored\":1},\"tokens\":{\"prefill\":30,\"sample\":7,\"train\":0},"
                        "\"health\":{\"plays\":1,\"truncated\":0,\"stalled\":1,\"replies\":2,"
                        "\"repairs\":0,\"no_usage\":0,\"untrainable\":1,\"reasons\":{"
                        "\"unknown\":1}}");
    /* One reply that did not say makes the sum unknown, never smaller. */
    gg_step_count_plays(&count, plays + 3, 1);
    assert_int_equal(count.sample, GG_TOKENS_UNKNOWN);
    gg_buf_free(&out);
    for (int i = 0; i < 4; i++)
        gg_episode_free(plays[i]);
}

/* ---- the folder ---- */

typedef struct folder {
    char dir[64];
    gg_run *run;
} folder;

static void open_folder(folder *f, bool resume)
{
    assert_int_equal(gg_run_open(f->dir, "{}", resume, &f->run, NULL), GG_OK);
}

static int setup(void **state)
{
    folder *f = calloc(1, sizeof *f);
    assert_non_null(f);
    snprintf(f->dir, sizeof f->dir, "%s", "/tmp/gg-train-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    open_folder(f, false);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    folder *f = *state;
    char command[128];
    gg_run_close(f->run);
    snprintf(command, sizeof command, "rm -rf %s", f->dir);
    int failed = system(command);
    free(f);
    return failed;
}

static void a_checkpoint_reads_back(void **state)
{
    folder *f = *state;
    gg_checkpoint a = {.step = 7,
                       .sessions = 2,
                       .session = "0123abcd",
                       .prefill = 5,
                       .sample = GG_TOKENS_UNKNOWN,
                       .train = 9},
                  b;
    bool found = true;
    assert_int_equal(gg_checkpoint_read(f->run, &b, &found, NULL), GG_OK);
    assert_false(found);
    snprintf(a.weights_arn, sizeof a.weights_arn, "%s",
             "arn:aws:sagemaker:us-west-2:123456789012:model-package/g/1");
    snprintf(a.state_arn, sizeof a.state_arn, "%s",
             "arn:aws:sagemaker:us-west-2:123456789012:model-package/g/2");
    for (int i = 0; i < GG_JOURNAL_COUNT; i++)
        a.sizes[i] = 100 + i;
    assert_int_equal(gg_checkpoint_write(f->run, &a, NULL), GG_OK);
    assert_int_equal(gg_checkpoint_read(f->run, &b, &found, NULL), GG_OK);
    assert_true(found);
    assert_true(a.step == b.step && a.sessions == b.sessions);
    assert_true(a.prefill == b.prefill && a.sample == b.sample && a.train == b.train);
    assert_string_equal(a.session, b.session);
    assert_string_equal(a.weights_arn, b.weights_arn);
    assert_string_equal(a.state_arn, b.state_arn);
    assert_memory_equal(a.sizes, b.sizes, sizeof a.sizes);
}

static void a_foreign_checkpoint_is_refused(void **state)
{
    static const char *const texts[] = {"{}", "[]", "{\"schema\":\"guessgym.checkpoint/2\"}",
                                        "{\"schema\":", ""};
    folder *f = *state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        gg_checkpoint c;
        bool found;
        gg_error error = {0};
        assert_int_equal(
            gg_run_write_file(f->run, "checkpoint.json", texts[i], strlen(texts[i]), NULL), GG_OK);
        assert_int_equal(gg_checkpoint_read(f->run, &c, &found, &error), GG_E_FORMAT);
        assert_true(strlen(error.text) > 0);
    }
}

static void plays_are_found_again(void **state)
{
    static const int64_t turns[] = {2};
    folder *f = *state;
    gg_task task = {.id = "t", .prompt = "p", .digest = DIGEST, .key = DIGEST}, other = task;
    gg_plays plays;
    gg_error error = {0};
    other.digest[0] = 'b';
    assert_int_equal(
        gg_plays_init(&plays, f->run, GG_JOURNAL_STEP, GG_JOURNAL_STEP_TOKENS, 1, 2, 2, NULL),
        GG_OK);
    plays.tasks[0] = plays.tasks[1] = &task;
    assert_int_equal(gg_plays_plan(&plays), 4);
    assert_int_equal(gg_plays_take(&plays, 0, make_play(1, 0, GG_SOLVED, 1, turns, 1), NULL),
                     GG_OK);
    assert_int_equal(gg_plays_take(&plays, 1, make_play(0, 1, GG_ERRORED, 0, turns, 1), NULL),
                     GG_OK);
    gg_plays_free(&plays);

    /* A new process: the solved play stands, the errored one is to be played again. */
    gg_run_close(f->run);
    open_folder(f, true);
    assert_int_equal(
        gg_plays_init(&plays, f->run, GG_JOURNAL_STEP, GG_JOURNAL_STEP_TOKENS, 1, 2, 2, NULL),
        GG_OK);
    plays.tasks[0] = plays.tasks[1] = &task;
    assert_int_equal(gg_plays_recover(&plays, NULL), GG_OK);
    assert_int_equal(gg_plays_plan(&plays), 3);
    assert_non_null(plays.items[2]);
    assert_float_equal(plays.items[2]->reward, 1, 0);
    gg_plays_free(&plays);

    /* Another step's plays are not taken for this one's. */
    assert_int_equal(
        gg_plays_init(&plays, f->run, GG_JOURNAL_STEP, GG_JOURNAL_STEP_TOKENS, 2, 2, 2, NULL),
        GG_OK);
    plays.tasks[0] = plays.tasks[1] = &task;
    assert_int_equal(gg_plays_recover(&plays, NULL), GG_OK);
    assert_int_equal(gg_plays_plan(&plays), 4);
    gg_plays_free(&plays);

    /* Changed rows are refused. */
    assert_int_equal(
        gg_plays_init(&plays, f->run, GG_JOURNAL_STEP, GG_JOURNAL_STEP_TOKENS, 1, 2, 2, NULL),
        GG_OK);
    plays.tasks[0] = &task;
    plays.tasks[1] = &other;
    assert_int_equal(gg_plays_recover(&plays, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "s1-g1-0"));
    gg_plays_free(&plays);
}

static void unwritten_plays_are_written_down_later(void **state)
{
    static const int64_t turns[] = {2};
    folder *f = *state;
    gg_task task = {.id = "t", .prompt = "p", .digest = DIGEST, .key = DIGEST};
    gg_plays plays;
    int64_t size;
    assert_int_equal(
        gg_plays_init(&plays, f->run, GG_JOURNAL_STEP, GG_JOURNAL_STEP_TOKENS, 1, 1, 2, NULL),
        GG_OK);
    plays.tasks[0] = &task;
    plays.unwritten = true;
    assert_int_equal(gg_plays_take(&plays, 0, make_play(0, 1, GG_LOST, 0, turns, 1), NULL), GG_OK);
    assert_int_equal(gg_run_size(f->run, GG_JOURNAL_STEP, &size, NULL), GG_OK);
    assert_int_equal(size, 0);
    assert_int_equal(gg_plays_write_down(&plays, NULL), GG_OK);
    assert_int_equal(gg_run_size(f->run, GG_JOURNAL_STEP, &size, NULL), GG_OK);
    assert_true(size > 0);
    gg_plays_free(&plays);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_plays),
        cmocka_unit_test(ledger_and_tokens),
        cmocka_unit_test_setup_teardown(a_checkpoint_reads_back, setup, teardown),
        cmocka_unit_test_setup_teardown(a_foreign_checkpoint_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(plays_are_found_again, setup, teardown),
        cmocka_unit_test_setup_teardown(unwritten_plays_are_written_down_later, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
