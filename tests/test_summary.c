/* Figures of a run (report/summary.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

#include <cmocka.h>

#include "core/rng.h"
#include "report/summary.h"
#include "tests/alloc.h"
#include "tests/episode_make.h"

#define FOLDER "build/test/summary-run"

static const gg_summary_list list = {"some/list.jsonl", 4, "00ff"};

static void add(gg_summary *s, const made_play *play)
{
    gg_error error = {0};
    gg_episode *e = make_episode(play);
    if (gg_summary_add(s, e, &error) != GG_OK)
        fail_msg("%s", error.text);
    gg_episode_free(e);
}

static gg_figures figures_of(gg_summary *s)
{
    gg_figures f;
    gg_error error = {0};
    assert_int_equal(gg_summary_figures(s, &f, &error), GG_OK);
    return f;
}

static gg_summary *summary_of(size_t tasks, size_t samples, const made_play *plays, size_t count)
{
    gg_summary *s = NULL;
    gg_error error = {0};
    assert_int_equal(gg_summary_new(tasks, samples, &s, &error), GG_OK);
    for (size_t i = 0; i < count; i++)
        add(s, &plays[i]);
    return s;
}

#define NEAR(a, b, slack)                                                                          \
    do {                                                                                           \
        if (!(fabs((a) - (b)) <= (slack)))                                                         \
            fail_msg("%s is %.9g, should be %.9g", #a, (double)(a), (double)(b));                  \
    } while (0)

/* Worked by hand; Wilson's interval of 1 in 3 is 0.0615 to 0.7923 (R: prop.test(1, 3,
 * correct = FALSE)). */
static void one_play_a_task(void **state)
{
    static const made_play plays[] = {
        {.group = 0,
         .outcome = GG_SOLVED,
         .moves = 3,
         .measure = 1,
         .reward = 0.5,
         .prompt = 10,
         .completion = 4,
         .reasoning = 1,
         .turns = 3,
         .duration_ms = 2000,
         .repair = "quotes"},
        {.group = 1,
         .outcome = GG_LOST,
         .moves = 6,
         .reward = -0.25,
         .prompt = 10,
         .completion = 4,
         .reasoning = 1,
         .turns = 6,
         .duration_ms = 1000},
        {.group = 2,
         .outcome = GG_FORFEITED,
         .reward = -1,
         .prompt = 5,
         .completion = 9,
         .reasoning = 0,
         .turns = 1,
         .repair = "quotes"},
        {.group = 3,
         .outcome = GG_ERRORED,
         .moves = 2,
         .prompt = 1,
         .completion = 1,
         .reasoning = 1,
         .turns = 2,
         .repair = "fence"},
    };
    gg_summary *s = summary_of(5, 1, plays, 4);
    gg_figures f = figures_of(s);

    (void)state;
    assert_int_equal(f.planned, 5);
    assert_int_equal(f.by_outcome[GG_UNPLAYED], 1);
    NEAR(f.solve_rate, 1.0 / 3, 1e-12);
    NEAR(f.solve_interval.low, 0.0615, 5e-5);
    NEAR(f.solve_interval.high, 0.7923, 5e-5);
    NEAR(f.solve_rate_pessimistic, 0.25, 1e-12);
    NEAR(f.failure_rate, 1.0 / 3, 1e-12);
    NEAR(f.mean_moves, 3, 1e-12);
    NEAR(f.mean_turns, 10.0 / 3, 1e-12);
    NEAR(f.reward_mean, -0.25, 1e-12);
    assert_int_equal(f.prompt_tokens, 97); /* 30 + 60 + 5 + 2: what errored was paid for too */
    assert_int_equal(f.completion_tokens, 47);
    NEAR(f.tokens_per_turn, 47.0 / 12, 1e-12);
    NEAR(f.wall_s, 2, 1e-12); /* they began together */
    assert_int_equal(f.move_count, 7);
    assert_int_equal(f.move_histogram[6], 1);
    assert_int_equal(f.solved_by_moves[3], 1);
    assert_int_equal(f.solved_by_moves[6], 0);
    assert_int_equal(f.repair_count, 2);
    assert_string_equal(f.repairs[0].kind, "fence");
    assert_int_equal(f.repairs[1].count, 2);
    gg_summary_free(s);
}

static void nothing_played_has_no_rates(void **state)
{
    gg_summary *s = summary_of(2, 1, NULL, 0);
    gg_figures f = figures_of(s);
    gg_buf out;

    (void)state;
    gg_buf_init(&out, 1 << 16);
    gg_figures_write(&f, &list, false, &out);
    assert_non_null(strstr(gg_buf_cstr(&out), "\"solve_rate\":null,\"solve_rate_low\":null"));
    assert_non_null(strstr(gg_buf_cstr(&out), "\"unplayed\":2"));
    assert_non_null(strstr(gg_buf_cstr(&out), "\"mean_moves\":null"));
    gg_buf_free(&out);
    gg_summary_free(s);
}

/* One reply that did not say makes the sum unknown: null, never 0. */
static void unknown_tokens_stay_unknown(void **state)
{
    static const made_play plays[] = {
        {.group = 0,
         .outcome = GG_SOLVED,
         .prompt = 3,
         .completion = 2,
         .reasoning = -1,
         .turns = 1},
        {.group = 1,
         .outcome = GG_SOLVED,
         .prompt = -1,
         .completion = 2,
         .reasoning = 5,
         .turns = 1},
    };
    gg_summary *s = summary_of(2, 1, plays, 2);
    gg_figures f = figures_of(s);
    gg_buf out;

    (void)state;
    gg_buf_init(&out, 1 << 16);
    gg_figures_write(&f, &list, false, &out);
    assert_non_null(strstr(gg_buf_cstr(&out),
                           "\"tokens\":{\"prompt\":null,\"completion\":4,\"reasoning\":null}"));
    gg_buf_free(&out);
    gg_summary_free(s);
}

static void busy_time_leaves_pauses_out(void **state)
{
    static const made_play plays[] = {
        {.group = 0,
         .outcome = GG_LOST,
         .started = "2026-02-28T23:59:59.500Z",
         .duration_ms = 1000},
        {.group = 1,
         .outcome = GG_LOST,
         .started = "2026-03-01T00:00:00.000Z",
         .duration_ms = 250}, /* inside the first */
        {.group = 2, .outcome = GG_LOST, .started = "2026-03-02T10:00:00Z", .duration_ms = 3000},
        {.group = 3, .outcome = GG_LOST, .started = "2026-03-02T10:00:02Z", .duration_ms = 3000},
    };
    gg_summary *s = summary_of(4, 1, plays, 4);

    (void)state;
    NEAR(figures_of(s).wall_s, 1 + 5, 1e-9);
    gg_summary_free(s);
}

/* Several plays a task: the tasks are what is drawn again. Two tasks, one always solved, one never:
 * a drawn mean is 0, 1/2 or 1 with 1/4, 1/2, 1/4, so the interval is all of [0, 1]. */
static void several_plays_a_task(void **state)
{
    made_play plays[8];

    (void)state;
    for (int i = 0; i < 8; i++)
        plays[i] = (made_play){.group = i / 4,
                               .sample = i % 4,
                               .outcome = i < 4 ? GG_SOLVED : GG_LOST,
                               .measure = i < 4};
    gg_summary *s = summary_of(2, 4, plays, 8);
    gg_figures f = figures_of(s);
    NEAR(f.solve_rate, 0.5, 0);
    NEAR(f.solve_interval.low, 0, 0);
    NEAR(f.solve_interval.high, 1, 0);
    assert_int_equal(f.groups, 2);
    assert_int_equal(f.groups_without_signal, 2);
    gg_summary_free(s);
    /* All solved: no width to draw from; Wilson's of 2 in 2 tasks is 0.3424 to 1. */
    for (int i = 4; i < 8; i++)
        plays[i].outcome = GG_SOLVED;
    s = summary_of(2, 4, plays, 8);
    f = figures_of(s);
    NEAR(f.solve_interval.low, 0.3424, 5e-5);
    NEAR(f.solve_interval.high, 1, 0);
    gg_summary_free(s);
}

static void groups_with_and_without_signal(void **state)
{
    static const made_play plays[] = {
        {.group = 0, .sample = 0, .outcome = GG_SOLVED, .reward = 1},
        {.group = 0, .sample = 1, .outcome = GG_LOST, .reward = 0},
        {.group = 1, .sample = 0, .outcome = GG_LOST, .reward = 0.5},
        {.group = 1, .sample = 1, .outcome = GG_FORFEITED, .reward = 0.5},
        {.group = 2, .sample = 0, .outcome = GG_LOST, .reward = 0},
        {.group = 2, .sample = 1, .outcome = GG_ERRORED, .reward = 1},
        {.group = 3, .sample = 0, .outcome = GG_LOST, .reward = 0},
    };
    gg_summary *s = summary_of(4, 2, plays, 7);
    gg_figures f = figures_of(s);

    (void)state;
    assert_int_equal(f.groups, 2);
    assert_int_equal(f.groups_refused, 1);
    assert_int_equal(f.groups_without_signal, 1);
    gg_summary_free(s);
}

static void foreign_plays_are_refused(void **state)
{
    static const made_play rows[] = {
        {.group = 0, .sample = 0, .outcome = GG_LOST}, /* twice */
        {.group = 2, .sample = 0, .outcome = GG_LOST},
        {.group = 0, .sample = 1, .outcome = GG_LOST},
        {.group = -1, .sample = 0, .outcome = GG_LOST},
    };
    gg_summary *s = summary_of(2, 1, rows, 1);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_error error = {0};
        gg_episode *e = make_episode(&rows[i]);
        assert_int_equal(gg_summary_add(s, e, &error), GG_E_FORMAT);
        assert_non_null(strstr(error.text, e->id));
        gg_episode_free(e);
    }
    gg_summary_free(s);
}

#define TASKS   13
#define SAMPLES 3

static void random_plays(gg_rng *rng, made_play plays[TASKS * SAMPLES])
{
    for (int i = 0; i < TASKS * SAMPLES; i++)
        plays[i] = (made_play){.group = i / SAMPLES,
                               .sample = i % SAMPLES,
                               .outcome = (gg_outcome)(1 + gg_rng_below(rng, 5)),
                               .moves = (int64_t)gg_rng_below(rng, 7),
                               .measure = gg_rng_unit(rng),
                               .reward = gg_rng_normal(rng),
                               .prompt = (int64_t)gg_rng_below(rng, 1000),
                               .completion = 7,
                               .reasoning = 0,
                               .turns = 2,
                               .duration_ms = (int64_t)gg_rng_below(rng, 5000)};
}

static void write_out(gg_summary *s, gg_buf *out)
{
    gg_figures f = figures_of(s);
    gg_buf_reset(out);
    gg_figures_write(&f, &list, true, out);
}

/* The order in which plays end does not change a byte. */
static void order_does_not_matter(void **state)
{
    made_play plays[TASKS * SAMPLES];
    uint32_t order[TASKS * SAMPLES];
    gg_buf first, other;
    gg_rng rng;

    (void)state;
    gg_buf_init(&first, 1 << 16);
    gg_buf_init(&other, 1 << 16);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        gg_rng_seed(&rng, seed);
        random_plays(&rng, plays);
        gg_summary *s = summary_of(TASKS, SAMPLES, plays, TASKS * SAMPLES);
        write_out(s, &first);
        gg_summary_free(s);
        for (uint32_t i = 0; i < TASKS * SAMPLES; i++)
            order[i] = i;
        gg_rng_shuffle(&rng, order, TASKS * SAMPLES);
        s = summary_of(TASKS, SAMPLES, NULL, 0);
        for (size_t i = 0; i < TASKS * SAMPLES; i++)
            add(s, &plays[order[i]]);
        write_out(s, &other);
        gg_summary_free(s);
        if (strcmp(gg_buf_cstr(&first), gg_buf_cstr(&other)) != 0)
            fail_msg("seed %llu:\n%s\n%s", (unsigned long long)seed, gg_buf_cstr(&first),
                     gg_buf_cstr(&other));
    }
    gg_buf_free(&first);
    gg_buf_free(&other);
}

static void read_back(gg_buf *out)
{
    gg_run *run = NULL;
    gg_error error = {0};
    gg_summary *s = summary_of(TASKS, SAMPLES, NULL, 0);

    assert_int_equal(gg_run_open_read(FOLDER, &run, &error), GG_OK);
    if (gg_summary_read(s, run, &error) != GG_OK)
        fail_msg("%s", error.text);
    write_out(s, out);
    gg_run_close(run);
    gg_summary_free(s);
}

/* The journal alone gives the figures of the run, to the byte. */
static void journal_gives_the_same(void **state)
{
    made_play plays[TASKS * SAMPLES];
    gg_run *run = NULL;
    gg_error error = {0};
    gg_buf live, later, line;
    gg_rng rng;

    (void)state;
    if (system("rm -rf " FOLDER) != 0)
        fail_msg("cannot remove " FOLDER);
    gg_buf_init(&live, 1 << 16);
    gg_buf_init(&later, 1 << 16);
    gg_buf_init(&line, 1 << 20);
    gg_rng_seed(&rng, 9);
    random_plays(&rng, plays);
    gg_summary *s = summary_of(TASKS, SAMPLES, plays, TASKS * SAMPLES);
    write_out(s, &live);
    gg_summary_free(s);
    if (gg_run_open(FOLDER, "{}", false, &run, &error) != GG_OK)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < TASKS * SAMPLES; i++) {
        gg_episode *e = make_episode(&plays[i]);
        gg_buf_reset(&line);
        assert_int_equal(gg_episode_write(e, &line, &error), GG_OK);
        assert_int_equal(gg_run_append(run, GG_JOURNAL_EPISODES, line.data, line.len, &error),
                         GG_OK);
        gg_episode_free(e);
    }
    gg_run_close(run);
    read_back(&later);
    assert_string_equal(gg_buf_cstr(&live), gg_buf_cstr(&later));
    gg_buf_free(&live);
    gg_buf_free(&later);
    gg_buf_free(&line);
}

static gg_episode *ready[TASKS * SAMPLES];

static gg_status all_of_it(void *context)
{
    gg_summary *s = NULL;
    gg_figures f;
    gg_error error = {0};
    gg_buf out;

    (void)context;
    gg_buf_init(&out, 1 << 16);
    gg_status status = gg_summary_new(TASKS, SAMPLES, &s, &error);
    for (size_t i = 0; i < TASKS * SAMPLES && status == GG_OK; i++)
        status = gg_summary_add(s, ready[i], &error);
    if (status == GG_OK)
        status = gg_summary_figures(s, &f, &error);
    if (status == GG_OK) {
        gg_figures_write(&f, &list, true, &out);
        status = gg_buf_status(&out, "the summary", &error);
    }
    gg_buf_free(&out);
    gg_summary_free(s);
    return status;
}

static void short_memory_is_told(void **state)
{
    made_play plays[TASKS * SAMPLES];
    gg_rng rng;

    (void)state;
    gg_rng_seed(&rng, 3);
    random_plays(&rng, plays);
    for (size_t i = 0; i < TASKS * SAMPLES; i++) {
        plays[i].repair = i % 2 ? "quotes" : "fence";
        ready[i] = make_episode(&plays[i]);
    }
    assert_true(alloc_each_fails(all_of_it, NULL) > 5);
    for (size_t i = 0; i < TASKS * SAMPLES; i++)
        gg_episode_free(ready[i]);
}

/* Two tasks of four plays: 2 of 4 solved; 3 of the 3 that count. By hand from the subsets. */
static void pass_k(void **state)
{
    static const struct {
        int64_t k;
        double any, all;
    } rows[] = {
        {1, (0.5 + 1) / 2, (0.5 + 1) / 2},
        {2, (5.0 / 6 + 1) / 2, (1.0 / 6 + 1) / 2},
        {4, 1, 0}, /* the second task has too few */
    };
    made_play plays[8] = {{0}};
    (void)state;
    for (int i = 0; i < 8; i++)
        plays[i] = (made_play){.group = i / 4,
                               .sample = i % 4,
                               .outcome = i == 7             ? GG_ERRORED
                                          : i == 0 || i == 3 ? GG_LOST
                                                             : GG_SOLVED};
    gg_summary *s = summary_of(2, 4, plays, 8);
    gg_figures f = figures_of(s);
    assert_int_equal(f.pass_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(f.pass[i].k, rows[i].k);
        NEAR(f.pass[i].any, rows[i].any, 1e-12);
        NEAR(f.pass[i].all, rows[i].all, 1e-12);
    }
    gg_summary_free(s);
    /* One play a task: nothing is said of k > 1. */
    s = summary_of(2, 1, plays, 1);
    assert_int_equal(figures_of(s).pass_count, 0);
    gg_summary_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_play_a_task),
        cmocka_unit_test(nothing_played_has_no_rates),
        cmocka_unit_test(unknown_tokens_stay_unknown),
        cmocka_unit_test(busy_time_leaves_pauses_out),
        cmocka_unit_test(several_plays_a_task),
        cmocka_unit_test(groups_with_and_without_signal),
        cmocka_unit_test(foreign_plays_are_refused),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(journal_gives_the_same),
        cmocka_unit_test(pass_k),
        cmocka_unit_test(short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
