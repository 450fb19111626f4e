/* A training's figures from its metrics.jsonl, by hand. */
#include "report/training.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/folder.h"

static const char lines[] =
    "{\"step\":0,\"weight_version\":0,\"plays\":0,\"ledger\":{\"planned\":0},\"tokens\":{"
    "\"prefill\":0,\"sample\":0,"
    "\"train\":0},\"wall_s\":1.5,\"cost_usd\":0,\"val/solve_rate\":0.25}\n"
    "{\"step\":1,\"weight_version\":1,\"plays\":4,\"ledger\":{\"planned\":4,\"solved\":1,\"lost\":"
    "2,\"errored\":1},"
    "\"tokens\":{\"prefill\":100,\"sample\":20,\"train\":60},\"wall_s\":2,\"cost_usd\":0.5,"
    "\"rollout/solve_rate\":0.3,"
    "\"training/num_groups\":2,\"analysis/zero_adv_groups\":1,\"analysis/"
    "refused_groups\":1,\"training/stale_datums\":3}\n"
    "{\"step\":2,\"weight_version\":2,\"plays\":4,\"ledger\":{\"planned\":4,\"solved\":3,"
    "\"forfeited\":1},"
    "\"tokens\":{\"prefill\":110,\"sample\":30,\"train\":70},\"wall_s\":2.5,\"cost_usd\":1.25,"
    "\"rollout/solve_rate\":0.75,"
    "\"val/solve_rate\":0.5,\"training/num_groups\":2,\"analysis/zero_adv_groups\":0}\n";

static gg_training_figures read(const char *text)
{
    gg_training_figures figures;
    gg_run *run;
    gg_error error = {0};
    char dir[FOLDER_PATH];
    folder_make(dir);
    assert_int_equal(gg_run_open(dir, "{}", false, &run, &error), GG_OK);
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, "\n") + 1;
        assert_int_equal(gg_run_append(run, GG_JOURNAL_METRICS, at, len, &error), GG_OK);
        at += len;
    }
    if (gg_training_read(run, &figures, &error) != GG_OK)
        fail_msg("%s", error.text);
    gg_run_close(run);
    folder_remove(dir);
    return figures;
}

static void sums_and_ends(void **state)
{
    (void)state;
    gg_training_figures f = read(lines);
    assert_true(f.steps == 2 && f.plays == 8 && f.weight_version == 2 && f.planned == 8);
    assert_true(f.by_outcome[GG_SOLVED] == 4 && f.by_outcome[GG_LOST] == 2);
    assert_true(f.by_outcome[GG_FORFEITED] == 1 && f.by_outcome[GG_ERRORED] == 1);
    assert_true(f.prefill == 210 && f.sample == 50 && f.train == 130);
    assert_true(f.groups == 4 && f.groups_without_signal == 1 && f.groups_refused == 1 &&
                f.stale_datums == 3);
    assert_float_equal(f.first_solve_rate, 0.3, 0);
    assert_float_equal(f.last_solve_rate, 0.75, 0);
    assert_float_equal(f.val_before, 0.25, 0);
    assert_float_equal(f.val_after, 0.5, 0);
    assert_true(f.val_before_step == 0 && f.val_after_step == 2);
    assert_float_equal(f.cost_usd, 1.25, 0);
    assert_float_equal(f.wall_s, 6, 0);
}

/* One step whose replies did not say makes the sum unknown, never smaller. */
static void unknown_tokens_stay_unknown(void **state)
{
    (void)state;
    gg_training_figures f = read("{\"step\":1,\"plays\":1,\"ledger\":{},\"tokens\":{\"prefill\":"
                                 "null,\"sample\":5,\"train\":0},"
                                 "\"wall_s\":1,\"cost_usd\":null}\n");
    assert_int_equal(f.prefill, GG_TOKENS_UNKNOWN);
    assert_int_equal(f.sample, 5);
    assert_true(isnan(f.cost_usd) && isnan(f.val_before));
}

static void writes_its_json(void **state)
{
    (void)state;
    const gg_summary_list list = {"rows.jsonl", 2, "abc"};
    gg_training_figures f = read(lines);
    gg_buf out;
    gg_buf_init(&out, 1 << 16);
    gg_training_write(&f, &list, "d/adapter.json", NULL, &out);
    assert_string_equal(gg_buf_cstr(&out),
                        "{\"command\":\"train\",\"steps\":2,\"plays\":8,\"weight_version\":2,"
                        "\"planned\":8,\"solved\":4,\"lost\":2,"
                        "\"forfeited\":1,\"truncated\":0,\"errored\":1,\"first_solve_rate\":0.3,"
                        "\"last_solve_rate\":0.75,"
                        "\"val_before\":0.25,\"val_after\":0.5,\"groups\":4,\"groups_without_"
                        "signal\":1,\"groups_refused\":1,"
                        "\"stale_datums\":3,\"tokens\":{\"prefill\":210,\"sample\":50,\"train\":"
                        "130},\"cost_usd\":1.25,\"wall_s\":6,"
                        "\"list\":{\"name\":\"rows.jsonl\",\"count\":2,\"identity\":\"abc\"},"
                        "\"warnings\":[],\"adapter\":\"d/adapter.json\",\"stopped\":null}");
    gg_buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_ends),
        cmocka_unit_test(unknown_tokens_stay_unknown),
        cmocka_unit_test(writes_its_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
