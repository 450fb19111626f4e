/* The engine: losses and gradient of whole games, sums that no cut changes, state that comes back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "service/engine.h"
#include "tests/alloc.h"
#include "tests/games.h"

#define GAMES 24
#define SEED  20260802

static gg_policy *policy;
static gg_datums games;

static int open_all(void **state)
{
    (void)state;
    gg_error error = {0};
    if (gg_policy_open("letters", NULL, &policy, &error) != GG_OK) {
        print_error("%s\n", error.text);
        return -1;
    }
    print_message("seed %d\n", SEED);
    games_datums(policy, NULL, 0, GAMES, SEED, &games);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    gg_datums_free(&games);
    gg_policy_close(policy);
    return 0;
}

static gg_engine *engine(void)
{
    gg_engine *e;
    gg_error error = {0};
    if (gg_engine_new(policy, 32, 64, &e, &error) != GG_OK)
        fail_msg("%s", error.text);
    return e;
}

static gg_engine_batch batch_of(const gg_datum *datums, size_t count, bool backward)
{
    return (gg_engine_batch){GG_LOSS_PPO, GG_LOSS_DEFAULTS, datums, count, backward, NULL};
}

static gg_engine_sums forward(gg_engine *e, const gg_engine_batch *batch)
{
    gg_engine_sums sums;
    gg_error error = {0};
    if (gg_engine_forward(e, batch, &sums, &error) != GG_OK)
        fail_msg("%s", error.text);
    return sums;
}

static gg_engine_moved step(gg_engine *e, const gg_adam_config *config)
{
    gg_engine_moved moved;
    gg_error error = {0};
    if (gg_engine_step(e, config, &moved, &error) != GG_OK)
        fail_msg("%s", error.text);
    return moved;
}

/* The adapter's numbers; the caller frees. */
static double *weights_of(const gg_engine *e, size_t *n)
{
    gg_adapter adapter;
    gg_error error = {0};
    if (gg_engine_snapshot(e, &adapter, &error) != GG_OK)
        fail_msg("%s", error.text);
    double *copy = malloc(adapter.weights.n * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, adapter.weights.adapter, adapter.weights.n * sizeof *copy);
    *n = adapter.weights.n;
    gg_adapter_free(&adapter);
    return copy;
}

static void load(gg_engine *e, const double *values, size_t n)
{
    gg_error error = {0};
    gg_adapter adapter = {.rank = 32, .alpha = 64, .weights = {n, (double *)(uintptr_t)values, 0}};
    if (gg_engine_load(e, &adapter, NULL, 0, &error) != GG_OK)
        fail_msg("%s", error.text);
}

/* Fresh samples score as they were recorded: ratio 1, so the loss is the mean of -A. */
static void on_policy_the_ratio_is_one(void **state)
{
    (void)state;
    double want = 0, weight = 0;
    int64_t tokens = 0;
    gg_engine *e = engine();
    for (size_t i = 0; i < games.count; i++) {
        tokens += (int64_t)games.items[i].n;
        for (size_t k = 0; k < games.items[i].n; k++) {
            want -= games.items[i].weights[k] * games.items[i].advantages[k];
            weight += games.items[i].weights[k];
        }
    }
    for (int loss = GG_LOSS_IMPORTANCE_SAMPLING; loss <= GG_LOSS_PPO; loss++) {
        gg_engine_batch batch = batch_of(games.items, games.count, false);
        batch.loss = (gg_loss)loss;
        gg_engine_sums sums = forward(e, &batch);
        assert_int_equal(games.count, GAMES);
        assert_true(fabs(sums.loss - want) < 1e-9 && sums.weight == weight);
        assert_true(fabs(sums.kl) < 1e-9 && sums.clipped == 0);
        assert_int_equal(sums.tokens, tokens);
        assert_int_equal(sums.scored, (int64_t)weight);
        assert_int_equal(sums.unreachable, 0);
    }
    gg_engine_free(e);
}

static void forward_alone_accumulates_nothing(void **state)
{
    (void)state;
    size_t n;
    gg_engine *e = engine();
    gg_adam_config config = GG_ADAM_DEFAULTS;
    gg_engine_batch batch = batch_of(games.items, games.count, false);
    assert_true(forward(e, &batch).gradient_norm == 0);
    gg_engine_moved moved = step(e, &config);
    assert_true(moved.gradient_norm == 0 && moved.weight == 0 && moved.version == 1);
    double *values = weights_of(e, &n);
    for (size_t i = 0; i < n; i++)
        assert_true(values[i] == 0);
    free(values);
    gg_engine_free(e);
}

static void logprobs_come_back(void **state)
{
    (void)state;
    gg_engine *e = engine();
    double *rows[GAMES];
    for (size_t i = 0; i < GAMES; i++)
        rows[i] = calloc(games.items[i].n, sizeof(double));
    gg_engine_batch batch = batch_of(games.items, GAMES, false);
    batch.logprobs = rows;
    forward(e, &batch);
    for (size_t i = 0; i < GAMES; i++) {
        for (size_t k = 0; k < games.items[i].n; k++)
            assert_true(fabs(rows[i][k] - games.items[i].logprobs[k]) < 1e-12);
        free(rows[i]);
    }
    gg_engine_free(e);
}

/* With both betas 0 a step is lr x g / (|g| + eps): the mean gradient can be read off it, and is
 * compared with central differences of the mean loss. */
static void gradient_is_the_difference_quotient(void **state)
{
    (void)state;
    const double h = 1e-5;
    const gg_adam_config probe = {0.01, 0, 0, 0.01, 0, 0};
    size_t n;
    gg_engine *e = engine();
    double *start = weights_of(e, &n);
    /* Away from the base, so that ratios differ from 1 and some are clipped. */
    for (size_t i = 0; i < n; i++)
        start[i] = 0.01 * sin((double)i);
    for (int loss = 0; loss < GG_LOSS_CISPO; loss++) { /* cispo's is no gradient of its loss */
        gg_engine_batch batch = batch_of(games.items, games.count, true);
        batch.loss = (gg_loss)loss;
        load(e, start, n);
        double weight = forward(e, &batch).weight;
        step(e, &probe);
        double *moved = weights_of(e, &n);
        batch.backward = false;
        for (size_t i = 0; i < n; i += 7) {
            double x = (start[i] - moved[i]) / probe.learning_rate;
            double gradient = x * probe.eps / (1 - fabs(x));
            double keep = start[i];
            start[i] = keep + h;
            load(e, start, n);
            double up = forward(e, &batch).loss;
            start[i] = keep - h;
            load(e, start, n);
            double down = forward(e, &batch).loss;
            start[i] = keep;
            double quotient = (up - down) / (2 * h) / weight;
            if (fabs(quotient - gradient) > 2e-4 * (1 + fabs(gradient)))
                fail_msg("%s, weight %zu: %.9g against %.9g", gg_loss_name((gg_loss)loss), i,
                         gradient, quotient);
        }
        free(moved);
    }
    free(start);
    gg_engine_free(e);
}

/* Three steps over the same games, cut into pieces of `piece` datums. */
static double *train_in_pieces(size_t piece, size_t *n)
{
    gg_adam_config config = GG_ADAM_DEFAULTS;
    gg_engine *e = engine();
    for (int s = 0; s < 3; s++) {
        for (size_t first = 0; first < games.count; first += piece) {
            size_t count = games.count - first < piece ? games.count - first : piece;
            gg_engine_batch batch = batch_of(games.items + first, count, true);
            forward(e, &batch);
        }
        step(e, &config);
    }
    double *values = weights_of(e, n);
    gg_engine_free(e);
    return values;
}

static void no_cut_changes_a_bit(void **state)
{
    (void)state;
    size_t n, m;
    double *whole = train_in_pieces(GAMES, &n);
    static const size_t pieces[] = {1, 7, GAMES - 1};
    for (size_t i = 0; i < 3; i++) {
        double *cut = train_in_pieces(pieces[i], &m);
        assert_int_equal(n, m);
        assert_memory_equal(whole, cut, n * sizeof *whole);
        free(cut);
    }
    assert_true(whole[0] != 0);
    free(whole);
}

/* First place of a datum whose target was sampled and is a letter with a choice. */
static size_t letter_place(const gg_datum *d)
{
    size_t i = 0;
    while (i < d->n && !(d->weights[i] == 1 && d->logprobs[i] < 0))
        i++;
    assert_true(i < d->n);
    return i;
}

static void a_target_it_cannot_write_weighs_nothing(void **state)
{
    (void)state;
    size_t n, m;
    gg_adam_config config = GG_ADAM_DEFAULTS;
    gg_datum *d = &games.items[0];
    size_t at = letter_place(d);
    int32_t target = d->target[at];
    gg_engine_batch batch = batch_of(d, 1, true);

    gg_engine *a = engine();
    d->target[at] = ' ';
    gg_engine_sums sums = forward(a, &batch);
    d->target[at] = target;
    assert_int_equal(sums.unreachable, 1);
    step(a, &config);

    gg_engine *b = engine();
    d->weights[at] = 0;
    gg_engine_sums same = forward(b, &batch);
    d->weights[at] = 1;
    assert_int_equal(same.unreachable, 0);
    assert_true(sums.weight == same.weight && sums.loss == same.loss);
    step(b, &config);

    double *x = weights_of(a, &n), *y = weights_of(b, &m);
    assert_memory_equal(x, y, n * sizeof *x);
    free(x);
    free(y);
    gg_engine_free(a);
    gg_engine_free(b);
}

static void a_bad_datum_changes_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *error;
        int kind;
    } rows[] = {{"datum 2: logprobs has another length", 0},
                {"datum 2: ppo needs advantages", 1},
                {"datum 2, place 3: token 2147483647", 2},
                {"datum 2, place 3: token -1", 3},
                {"datum 2, place 3: a weight is negative", 4}};
    gg_adam_config config = GG_ADAM_DEFAULTS;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n;
        gg_error error = {0};
        gg_engine_sums sums;
        gg_datum *d = &games.items[2], keep = *d;
        int32_t input = d->input[3], target = d->target[3];
        double weight = d->weights[3];
        gg_engine *e = engine();
        d->fault = rows[i].kind == 0 ? "logprobs has another length than modelInput" : NULL;
        if (rows[i].kind == 1)
            d->advantages = NULL;
        if (rows[i].kind == 2)
            d->target[3] = INT32_MAX;
        if (rows[i].kind == 3)
            d->input[3] = -1;
        if (rows[i].kind == 4)
            d->weights[3] = -1;
        gg_engine_batch batch = batch_of(games.items, 4, true);
        assert_int_equal(gg_engine_forward(e, &batch, &sums, &error), GG_E_FORMAT);
        *d = keep;
        d->input[3] = input;
        d->target[3] = target;
        d->weights[3] = weight;
        if (!strstr(error.text, rows[i].error))
            fail_msg("%s", error.text);
        assert_true(step(e, &config).weight == 0);
        double *values = weights_of(e, &n);
        assert_true(values[0] == 0);
        free(values);
        gg_engine_free(e);
    }
}

static void saved_state_goes_on_bit_for_bit(void **state)
{
    (void)state;
    size_t n, m;
    gg_adam_config config = GG_ADAM_DEFAULTS;
    gg_engine_batch batch = batch_of(games.items, games.count, true);
    gg_engine *a = engine(), *b = engine(), *fresh = engine();
    gg_adapter adapter, read;
    gg_buf text, optimizer;
    gg_error error = {0};
    gg_buf_init(&text, 1 << 20);
    gg_buf_init(&optimizer, 1 << 20);
    for (int i = 0; i < 3; i++) {
        forward(a, &batch);
        step(a, &config);
    }
    assert_int_equal(gg_engine_snapshot(a, &adapter, &error), GG_OK);
    assert_int_equal(gg_adapter_write(&adapter, policy, &text, &error), GG_OK);
    assert_int_equal(gg_engine_write_optimizer(a, &optimizer, &error), GG_OK);
    assert_int_equal(gg_adapter_parse(text.data, text.len, policy, &read, &error), GG_OK);
    assert_int_equal(gg_engine_load(b, &read, optimizer.data, optimizer.len, &error), GG_OK);
    assert_int_equal(gg_engine_load(fresh, &read, NULL, 0, &error), GG_OK);
    gg_engine *all[] = {a, b, fresh};
    for (size_t i = 0; i < 3; i++) {
        forward(all[i], &batch);
        assert_int_equal(step(all[i], &config).version, 4);
    }
    double *x = weights_of(a, &n), *y = weights_of(b, &m), *z = weights_of(fresh, &m);
    assert_memory_equal(x, y, n * sizeof *x);
    assert_memory_not_equal(x, z, n * sizeof *x); /* the optimiser's state matters */
    free(x);
    free(y);
    free(z);
    gg_adapter_free(&adapter);
    gg_adapter_free(&read);
    gg_buf_free(&text);
    gg_buf_free(&optimizer);
    for (size_t i = 0; i < 3; i++)
        gg_engine_free(all[i]);
}

static void what_does_not_fit_is_not_loaded(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "{}",
        "{\"schema\":\"guessgym.optimizer/2\",\"steps\":1,\"m\":[],\"v\":[]}",
        "{\"schema\":\"guessgym.optimizer/1\",\"steps\":1,\"m\":[0],\"v\":[0]}",
        "{\"schema\":\"guessgym.optimizer/1\",\"steps\":-1,\"m\":[0],\"v\":[0]",
    };
    gg_engine *e = engine();
    gg_error error = {0};
    size_t n;
    double *zero = weights_of(e, &n);
    gg_adapter adapter = {.rank = 32, .alpha = 64, .weights = {n, zero, 7}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(gg_engine_load(e, &adapter, bad[i], strlen(bad[i]), &error), GG_E_FORMAT);
    adapter.alpha = 32;
    assert_int_equal(gg_engine_load(e, &adapter, NULL, 0, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "rank 32 and alpha 32"));
    adapter.alpha = 64;
    assert_int_equal(gg_engine_load(e, &adapter, NULL, 0, &error), GG_OK);
    free(zero);
    gg_engine_free(e);
}

/* Cross-entropy on the games' own moves makes them likelier, step by step. */
static void a_loss_falls(void **state)
{
    (void)state;
    gg_adam_config config = GG_ADAM_DEFAULTS;
    gg_engine *e = engine();
    gg_engine_batch batch = batch_of(games.items, games.count, true);
    batch.loss = GG_LOSS_CROSS_ENTROPY;
    double before = forward(e, &batch).loss;
    for (int i = 0; i < 10; i++) {
        step(e, &config);
        double after = forward(e, &batch).loss;
        assert_true(after < before);
        before = after;
    }
    gg_engine_free(e);
}

static void a_baseline_is_not_trained(void **state)
{
    (void)state;
    gg_policy *baseline;
    gg_engine *e;
    gg_error error = {0};
    assert_int_equal(gg_policy_open("random", NULL, &baseline, &error), GG_OK);
    assert_int_equal(gg_engine_new(baseline, 32, 64, &e, &error), GG_E_CONFIG);
    assert_null(e);
    assert_non_null(strstr(error.text, "random cannot be trained"));
    gg_policy_close(baseline);
}

static gg_status use(void *context)
{
    (void)context;
    gg_engine *e = NULL;
    gg_error error = {0};
    gg_engine_sums sums;
    gg_adapter adapter = {0};
    gg_buf text;
    gg_buf_init(&text, 1 << 20);
    gg_engine_batch batch = batch_of(games.items, 2, true);
    gg_status status = gg_engine_new(policy, 32, 64, &e, &error);
    if (status == GG_OK)
        status = gg_engine_forward(e, &batch, &sums, &error);
    if (status == GG_OK)
        status = gg_engine_snapshot(e, &adapter, &error);
    if (status == GG_OK)
        status = gg_engine_write_optimizer(e, &text, &error);
    if (status == GG_OK)
        status = gg_engine_load(e, &adapter, text.data, text.len, &error);
    gg_adapter_free(&adapter);
    gg_buf_free(&text);
    gg_engine_free(e);
    return status;
}

static void short_of_memory(void **state)
{
    (void)state;
    assert_true(alloc_each_fails(use, NULL) >= 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_policy_the_ratio_is_one),
        cmocka_unit_test(forward_alone_accumulates_nothing),
        cmocka_unit_test(logprobs_come_back),
        cmocka_unit_test(gradient_is_the_difference_quotient),
        cmocka_unit_test(no_cut_changes_a_bit),
        cmocka_unit_test(a_target_it_cannot_write_weighs_nothing),
        cmocka_unit_test(a_bad_datum_changes_nothing),
        cmocka_unit_test(saved_state_goes_on_bit_for_bit),
        cmocka_unit_test(what_does_not_fit_is_not_loaded),
        cmocka_unit_test(a_loss_falls),
        cmocka_unit_test(a_baseline_is_not_trained),
        cmocka_unit_test(short_of_memory),
    };
    return cmocka_run_group_tests_name("engine", tests, open_all, close_all);
}
