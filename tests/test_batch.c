/* Batches: each epoch is one shuffle, nothing is drawn twice in it, resume draws the same. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "rl/batch.h"

static void draws_every_row_once_an_epoch(void **state)
{
    (void)state;
    /* 10 rows in batches of 3: 3 steps an epoch, one row left over each time. */
    for (int64_t epoch = 0; epoch < 20; epoch++) {
        int seen[10] = {0}, total = 0;
        for (int64_t k = 0; k < 3; k++) {
            uint32_t rows[3];
            int64_t step = epoch * 3 + k + 1;
            assert_int_equal(gg_batch_draw(10, 3, 7, step, rows, NULL), GG_OK);
            assert_int_equal(gg_batch_epoch(10, 3, step), epoch);
            for (int i = 0; i < 3; i++) {
                assert_true(rows[i] < 10);
                assert_int_equal(seen[rows[i]]++, 0);
                total++;
            }
        }
        assert_int_equal(total, 9);
    }
}

static void depends_on_seed_and_step_alone(void **state)
{
    uint32_t a[132], b[132], other[132], later[132];
    (void)state;
    assert_int_equal(gg_batch_draw(640, 132, 42, 9, a, NULL), GG_OK);
    assert_int_equal(gg_batch_draw(640, 132, 43, 9, other, NULL), GG_OK);
    assert_int_equal(gg_batch_draw(640, 132, 42, 10, later, NULL), GG_OK);
    assert_int_equal(gg_batch_draw(640, 132, 42, 9, b, NULL), GG_OK);
    assert_memory_equal(a, b, sizeof a);
    assert_memory_not_equal(a, other, sizeof a);
    assert_memory_not_equal(a, later, sizeof a);
}

static void refuses_what_cannot_be_drawn(void **state)
{
    static const struct {
        size_t rows, batch;
        int64_t step;
        gg_status status;
    } cases[] = {
        {131, 132, 1, GG_E_CONFIG}, {0, 1, 1, GG_E_CONFIG}, {5, 0, 1, GG_E_ARGUMENT},
        {5, 5, 0, GG_E_ARGUMENT},   {5, 5, 1, GG_OK},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t rows[132];
        gg_error error = {0};
        assert_int_equal(
            gg_batch_draw(cases[i].rows, cases[i].batch, 1, cases[i].step, rows, &error),
            cases[i].status);
        assert_int_equal(error.status, cases[i].status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_every_row_once_an_epoch),
        cmocka_unit_test(depends_on_seed_and_step_alone),
        cmocka_unit_test(refuses_what_cannot_be_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
