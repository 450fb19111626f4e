/* Two runs against each other (report/compare.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

#include <cmocka.h>

#include "report/compare.h"
#include "tests/alloc.h"
#include "tests/episode_make.h"

#define BEFORE "build/test/compare-before"
#define AFTER  "build/test/compare-after"

/* Writes a run folder: one play for each letter, "1" solved, "0" lost, "e" errored; groups of
 * `samples`. */
static void make_run(const char *dir, const char *config, const char *plays, int samples)
{
    char command[128];
    gg_run *run = NULL;
    gg_error error = {0};
    gg_buf line;

    snprintf(command, sizeof command, "rm -rf %s", dir);
    if (system(command) != 0)
        fail_msg("cannot remove %s", dir);
    if (gg_run_open(dir, config, false, &run, &error) != GG_OK)
        fail_msg("%s", error.text);
    gg_buf_init(&line, 1 << 20);
    for (int i = 0; plays[i]; i++) {
        bool solved = plays[i] == '1';
        const made_play play = {.group = i / samples,
                                .sample = i % samples,
                                .outcome = plays[i] == 'e' ? GG_ERRORED
                                           : solved        ? GG_SOLVED
                                                           : GG_LOST,
                                .measure = solved ? 0.75 : 0.25,
                                .reward = solved ? 2 : -2};
        if (plays[i] == '-')
            continue;
        gg_episode *e = make_episode(&play);
        gg_buf_reset(&line);
        assert_int_equal(gg_episode_write(e, &line, &error), GG_OK);
        assert_int_equal(gg_run_append(run, GG_JOURNAL_EPISODES, line.data, line.len, &error),
                         GG_OK);
        gg_episode_free(e);
    }
    gg_buf_free(&line);
    gg_run_close(run);
}

static gg_status compare(gg_compare_by by, bool common, gg_comparison *out, gg_error *error)
{
    const gg_compare_options options = {.by = by, .common = common, .seed = 42};
    gg_run *before = NULL, *after = NULL;

    assert_int_equal(gg_run_open_read(BEFORE, &before, error), GG_OK);
    assert_int_equal(gg_run_open_read(AFTER, &after, error), GG_OK);
    gg_status status = gg_compare_runs(before, after, &options, out, error);
    gg_run_close(before);
    gg_run_close(after);
    return status;
}

/* p-values: two-sided binomial of the discordant pairs, 2 * sum C(n, i) / 2^n; for means, the share
 * of the 2^n sign patterns that are at least as far from 0. */
static void verdict_table(void **state)
{
    static const struct {
        const char *before, *after;
        int samples;
        gg_compare_by by;
        size_t better, worse, same;
        double difference, p_value;
        const char *verdict;
    } rows[] = {
        /* 10 : 0 -> 2 / 1024 */
        {"0000000000", "1111111111", 1, GG_BY_SOLVED, 10, 0, 0, 1, 2.0 / 1024, "better"},
        {"1111111111", "0000000000", 1, GG_BY_SOLVED, 0, 10, 0, -1, 2.0 / 1024, "worse"},
        /* 8 : 2 of 12 -> 2 * (1 + 10 + 45) / 1024 */
        {"000000001101", "111111110001", 1, GG_BY_SOLVED, 8, 2, 2, 0.5, 112.0 / 1024, "better"},
        {"0101", "1010", 1, GG_BY_SOLVED, 2, 2, 0, 0, 1, "cannot tell"},
        {"0101", "0101", 1, GG_BY_SOLVED, 0, 0, 4, 0, 1, "cannot tell"},
        /* Not 0 or 1: signs. All three up by a half -> 2 of 8 patterns. */
        {"000", "111", 1, GG_BY_MEASURE, 3, 0, 0, 0.5, 0.25, "better"},
        {"000", "111", 1, GG_BY_REWARD, 3, 0, 0, 4, 0.25, "better"},
        /* Two plays a task: means 0, 1/2, 1 against 1/2, 1, 1 -> signs of (1/2, 1/2): 2 of 4. */
        {"000111", "011111", 2, GG_BY_SOLVED, 2, 0, 1, 1.0 / 3, 0.5, "cannot tell"},
    };
    gg_comparison c;
    gg_error error = {0};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make_run(BEFORE, "{}", rows[i].before, rows[i].samples);
        make_run(AFTER, "{}", rows[i].after, rows[i].samples);
        if (compare(rows[i].by, false, &c, &error) != GG_OK)
            fail_msg("row %zu: %s", i, error.text);
        bool right = c.better == rows[i].better && c.worse == rows[i].worse &&
                     c.same == rows[i].same && fabs(c.difference - rows[i].difference) < 1e-12 &&
                     fabs(c.p_value - rows[i].p_value) < 1e-12 &&
                     strcmp(c.verdict, rows[i].verdict) == 0;
        if (!right)
            fail_msg("row %zu: %zu %zu %zu, %g, p %g, %s", i, c.better, c.worse, c.same,
                     c.difference, c.p_value, c.verdict);
    }
}

/* An errored play is left out; a task that only errored on one side has no pair. */
static void errored_plays_are_left_out(void **state)
{
    gg_comparison c;
    gg_error error = {0};

    (void)state;
    make_run(BEFORE, "{}", "0e00", 2);
    make_run(AFTER, "{}", "11ee", 2);
    assert_int_equal(compare(GG_BY_SOLVED, false, &c, &error), GG_OK);
    assert_int_equal(c.pairs, 1);
    assert_int_equal(c.errored_before, 1);
    assert_int_equal(c.errored_after, 2);
    assert_int_equal(c.only_before + c.only_after, 0);
}

static void other_lists_are_refused(void **state)
{
    gg_comparison c;
    gg_error error = {0};

    (void)state;
    make_run(BEFORE, "{}", "0000-", 1);
    make_run(AFTER, "{}", "-1111", 1);
    assert_int_equal(compare(GG_BY_SOLVED, false, &c, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "3 in both, 1 only before, 1 only after"));
    assert_int_equal(compare(GG_BY_SOLVED, true, &c, &error), GG_OK);
    assert_int_equal(c.pairs, 3);
    assert_int_equal(c.only_before, 1);
    make_run(AFTER, "{}", "----1", 1);
    assert_int_equal(compare(GG_BY_SOLVED, true, &c, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "no task in common"));
}

static void other_settings_are_refused(void **state)
{
    static const struct {
        const char *before, *after;
        gg_compare_by by;
        const char *want; /* NULL = no objection */
    } rows[] = {
        {"{\"env\":\"a\"}", "{\"env\":\"b\"}", GG_BY_SOLVED, "config.env (a, b)"},
        {"{\"reward\":\"a\"}", "{\"reward\":\"b\"}", GG_BY_REWARD, "config.reward (a, b)"},
        {"{\"reward\":\"a\"}", "{\"reward\":\"b\"}", GG_BY_SOLVED, NULL},
        {"{\"reward\":\"a\"}", "{}", GG_BY_REWARD, NULL},
    };
    gg_comparison c;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_error error = {0};
        make_run(BEFORE, rows[i].before, "0011", 1);
        make_run(AFTER, rows[i].after, "0111", 1);
        gg_status status = compare(rows[i].by, false, &c, &error);
        if (rows[i].want ? !strstr(error.text, rows[i].want) : status != GG_OK)
            fail_msg("row %zu: \"%s\"", i, error.text);
    }
}

static void damaged_lines_are_counted(void **state)
{
    gg_comparison c;
    gg_error error = {0};

    (void)state;
    make_run(BEFORE, "{}", "0011", 1);
    make_run(AFTER, "{}", "0111", 1);
    if (system("echo '{\"schema\":1}' >>" AFTER "/episodes.jsonl") != 0)
        fail_msg("cannot write");
    assert_int_equal(compare(GG_BY_SOLVED, false, &c, &error), GG_OK);
    assert_int_equal(c.damaged, 1);
    assert_int_equal(c.pairs, 4);
}

static void json_has_the_promised_keys(void **state)
{
    static const char *const keys[] = {"pairs",           "better",  "worse",      "same",
                                       "before",          "after",   "difference", "difference_low",
                                       "difference_high", "p_value", "verdict"};
    gg_comparison c;
    gg_error error = {0};
    gg_buf out;

    (void)state;
    make_run(BEFORE, "{}", "0011", 1);
    make_run(AFTER, "{}", "0111", 1);
    assert_int_equal(compare(GG_BY_MEASURE, false, &c, &error), GG_OK);
    gg_buf_init(&out, 1 << 16);
    gg_comparison_write(&c, &out);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char quoted[64];
        snprintf(quoted, sizeof quoted, "\"%s\":", keys[i]);
        assert_non_null(strstr(gg_buf_cstr(&out), quoted));
    }
    gg_buf_free(&out);
}

static gg_status whole_comparison(void *context)
{
    const gg_compare_options options = {.by = GG_BY_MEASURE, .seed = 42};
    gg_run *before = NULL, *after = NULL;
    gg_comparison c;
    gg_error error = {0};
    gg_buf out;

    (void)context;
    gg_buf_init(&out, 1 << 16);
    gg_status status = gg_run_open_read(BEFORE, &before, &error);
    if (status == GG_OK)
        status = gg_run_open_read(AFTER, &after, &error);
    if (status == GG_OK)
        status = gg_compare_runs(before, after, &options, &c, &error);
    if (status == GG_OK) {
        gg_comparison_write(&c, &out);
        status = gg_buf_status(&out, "the comparison", &error);
    }
    gg_buf_free(&out);
    gg_run_close(before);
    gg_run_close(after);
    return status;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    make_run(BEFORE, "{\"env\":\"a\"}", "001100", 2);
    make_run(AFTER, "{\"env\":\"a\"}", "011101", 2);
    assert_true(alloc_each_fails(whole_comparison, NULL) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdict_table),
        cmocka_unit_test(errored_plays_are_left_out),
        cmocka_unit_test(other_lists_are_refused),
        cmocka_unit_test(other_settings_are_refused),
        cmocka_unit_test(damaged_lines_are_counted),
        cmocka_unit_test(json_has_the_promised_keys),
        cmocka_unit_test(short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
