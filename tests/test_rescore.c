/* Saved plays under other rewards (report/rescore.h), and distributions (report/values.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "core/rng.h"
#include "report/rescore.h"
#include "report/values.h"
#include "tests/alloc.h"
#include "tests/play.h"

#define SEED 20261130

static void assert_near(double got, double want, double slack, const char *what)
{
    if (!(fabs(got - want) <= slack))
        fail_msg("%s: %.12g, want %.12g", what, got, want);
}

/* Order of arrival T H H H H H T T T T T H of six tortoises and six hares: U = 25 of 36 for the
 * hares, 11 for the tortoises (the worked example of the Mann-Whitney U test in the English
 * Wikipedia, after Aesop). Earlier = a higher number here. */
static void the_tortoise_and_the_hare(void **state)
{
    gg_values values;
    gg_error error = {0};
    double strictly = 0;
    (void)state;
    assert_int_equal(gg_values_open(&values, &error), GG_OK);
    const char *order = "THHHHHTTTTTH";
    for (int i = 0; order[i]; i++)
        gg_values_add(&values, 12 - i, order[i] == 'H' ? 0 : 1);
    assert_near(gg_values_above(&values, 0, 1, &strictly), 25.0 / 36, 1e-15, "hares above");
    assert_near(strictly, 25.0 / 36, 1e-15, "without ties");
    assert_near(gg_values_above(&values, 1, 0, NULL), 11.0 / 36, 1e-15, "tortoises above");
    assert_true(isnan(gg_values_above(&values, 0, 2, NULL)));
    gg_values_close(&values);
}

static void many_values_stay_near(void **state)
{
    static const struct {
        size_t plays, different;
        bool merged;
        double slack;
    } rows[] = {
        {3000, 5, false, 1e-12},
        {3000, 100000, false, 1e-12},
        {60000, 300, false, 1e-12},
        {60000, 1000000, true, 0.001},
    };
    (void)state;
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        gg_rng rng;
        gg_values values;
        gg_error error = {0};
        size_t n = rows[row].plays;
        double *x = calloc(n, sizeof *x), above = 0, pairs = 0;
        assert_non_null(x);
        gg_rng_seed(&rng, SEED + row);
        assert_int_equal(gg_values_open(&values, &error), GG_OK);
        for (size_t i = 0; i < n; i++) { /* class 0 is drawn higher */
            x[i] = (double)gg_rng_below(&rng, rows[row].different);
            x[i] = i % 3 ? x[i] : 2 * x[i];
            gg_values_add(&values, x[i], i % 3 ? 1 : 0);
        }
        for (size_t i = 0; i < n; i += 3) /* a third of the pairs is exact enough to compare with */
            for (size_t j = 1; j<n; j += n> 5000 ? 29 : 1)
                if (j % 3) {
                    above += x[i] > x[j] ? 1 : x[i] == x[j] ? 0.5 : 0;
                    pairs++;
                }
        double slack = n > 5000 ? 0.01 : rows[row].slack;
        assert_near(gg_values_above(&values, 0, 1, NULL), above / pairs, slack, "share");
        assert_int_equal(values.merged, rows[row].merged);
        assert_true(values.count <= 2 * GG_VALUES_MOST);
        gg_values_close(&values);
        free(x);
    }
}

/* Plays of the word game. Hidden word brave; a play is its guesses, then how it ended if the game
 * did not say. */
typedef struct saved {
    int64_t step, group, sample;
    const char *guesses; /* blank-separated */
    gg_outcome outcome;  /* of a play that the game has not ended */
} saved;

static void make(play *p, const saved *s)
{
    char words[128], id[64], *rest = words;
    snprintf(words, sizeof words, "%s", s->guesses);
    play_start(p, "brave");
    for (char *word = words; *word; word = rest) {
        rest = word + strcspn(word, " ");
        if (*rest)
            *rest++ = '\0';
        play_guess(p, word);
    }
    gg_episode *e = p->episode;
    snprintf(id, sizeof id, "s%lld-g%lld-%lld", (long long)s->step, (long long)s->group,
             (long long)s->sample);
    e->id = gg_episode_string(e, id, strlen(id));
    e->step = s->step;
    e->group = s->group;
    e->sample = s->sample;
    if (e->outcome == GG_UNPLAYED)
        e->outcome = s->outcome;
}

#define FIVE "crane slate moist pound fudge"

static const saved plays[] = {
    /* group 0: one solved late, one lost */
    {0, 0, 0, FIVE " brave", 0},
    {0, 1, 1, FIVE " vivid", 0},
    /* group 1: both lost, differently; the second member of group 0 comes in between */
    {0, 0, 1, FIVE " grave", 0},
    {0, 1, 0, "crane crane crane crane crane crane", 0},
    /* group 2: given up after a good guess; never played */
    {0, 2, 0, "grave", GG_FORFEITED},
    {0, 2, 1, "?", GG_TRUNCATED},
    /* group 3: both solved at once */
    {0, 3, 0, "brave", 0},
    {0, 3, 1, "brave", 0},
    /* group 4: an errored member; group 5: a member is missing */
    {0, 4, 0, "brave", 0},
    {0, 4, 1, "crane", GG_ERRORED},
    {0, 5, 0, "brave", 0},
};

/* greens pays a lost play for closeness more than speed pays a slow solve. */
static const char *const asked[] = {"solve", "speed=1,greens=0.5", "moves=0.1,repeats=-0.3",
                                    "calls=0.1", "greens=1"};
enum { SOLVE, CLOSE, MOVES, CALLS, GREENS, ASKED };

typedef struct lab {
    play p;
    gg_reward *rewards[ASKED];
    gg_rescore *rescore;
    gg_rescore_figures f;
} lab;

static gg_status lab_open(lab *l, size_t group_size)
{
    gg_error error = {0};
    gg_status status = GG_OK;
    for (size_t i = 0; i < ASKED && status == GG_OK; i++)
        status = gg_reward_parse(l->p.game, asked[i], &l->rewards[i], &error);
    if (status == GG_OK)
        status = gg_rescore_new(l->p.game, (const gg_reward *const *)l->rewards, ASKED, group_size,
                                &l->rescore, &error);
    return status;
}

static void lab_close(lab *l)
{
    gg_rescore_free(l->rescore);
    l->rescore = NULL;
    for (size_t i = 0; i < ASKED; i++) {
        gg_reward_free(l->rewards[i]);
        l->rewards[i] = NULL;
    }
}

static void lab_run(lab *l, size_t group_size)
{
    gg_error error = {0};
    play_open(&l->p, "guess", NULL);
    assert_int_equal(lab_open(l, group_size), GG_OK);
    for (size_t i = 0; i < sizeof plays / sizeof *plays; i++) {
        make(&l->p, &plays[i]);
        if (gg_rescore_add(l->rescore, l->p.episode, &error) != GG_OK)
            fail_msg("play %zu: %s", i, error.text);
    }
    gg_rescore_finish(l->rescore, &l->f);
}

static void figures_by_hand(void **state)
{
    lab l = {0};
    (void)state;
    lab_run(&l, 2);
    assert_int_equal(l.f.plays, 10);
    assert_int_equal(l.f.errored, 1);
    assert_int_equal(l.f.groups, 4);
    assert_int_equal(l.f.refused, 1);
    assert_int_equal(l.f.incomplete, 1);
    assert_int_equal(l.f.silent_by_outcome, 3); /* groups 1, 2, 3 */
    assert_int_equal(l.f.unsolved_groups, 2);
    assert_int_equal(l.f.repeated_calls, 5);
    assert_int_equal(l.f.refused_calls, 1);

    const gg_rescore_tally *t = l.f.tally[SOLVE]; /* 5 of 10 solved */
    assert_near(t->mean, 0.5, 1e-12, "mean");
    assert_near(t->spread, 0.5, 1e-12, "spread");
    assert_near(t->rank_correlation, 1, 1e-12, "rank correlation");
    assert_int_equal(t->silent_groups, 3);
    assert_int_equal(t->unsolved_signal, 0);
    /* group 0: +1 and -1 */
    assert_int_equal(t->advantages[5], 1);
    assert_int_equal(t->advantages[9], 1);

    t = l.f.tally[CLOSE];
    /* solved: 0 + 0.5 with guess 6, 1.5 at once, four times. Lost: grave 0.4; the two of group 1
     * 0.3 (crane: r, a, e). Given up 0.4, cut 0. */
    assert_near(t->mean, (0.5 + 4 * 1.5 + 0.4 + 0.3 + 0.3 + 0.4) / 10, 1e-12, "mean");
    assert_int_equal(t->silent_groups, 2); /* 1 and 3 */
    lab_close(&l);
    play_close(&l.p);
}

static const gg_hole *hole_of(const lab *l, size_t reward, gg_hole_kind kind)
{
    static gg_hole hole;
    return gg_rescore_hole(&l->f, reward, kind, &hole) ? &hole : NULL;
}

static void holes_by_hand(void **state)
{
    static const struct {
        size_t reward;
        gg_hole_kind kind;
        int64_t count, of;
        const char *example, *part, *says;
    } rows[] = {
        {CLOSE, GG_HOLE_FORFEIT_BEATS_PLAY, 0, 0, "s0-g2-0", "", "given up earned 0.4"},
        {CLOSE, GG_HOLE_UNSOLVED_SIGNAL, 1, 2, "s0-g2-0", "", "1 of 2 groups"},
        {MOVES, GG_HOLE_LOSS_BEATS_SOLVE, 0, 4, "s0-g0-1", "", "a lost play earned 0.6"},
        /* crane again: 0.1 for the move, 0.3 off */
        {MOVES, GG_HOLE_REPETITION, 5, 5, "s0-g1-0", "moves", "-0.2 a call"},
        {CALLS, GG_HOLE_REPETITION, 5, 5, "s0-g1-0", "calls", "up to 0.1 for one"},
        {CALLS, GG_HOLE_REFUSED, 1, 1, "s0-g2-1", "calls", "+0.1 a call"},
    };
    lab l = {0};
    size_t found = 0;
    (void)state;
    lab_run(&l, 2);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const gg_hole *hole = hole_of(&l, rows[i].reward, rows[i].kind);
        if (!hole)
            fail_msg("%s has no %s", asked[rows[i].reward], gg_hole_name(rows[i].kind));
        assert_int_equal(hole->count, rows[i].count);
        assert_int_equal(hole->of, rows[i].of);
        assert_string_equal(hole->example[0], rows[i].example);
        assert_string_equal(hole->part, rows[i].part);
        if (!strstr(hole->says, rows[i].says))
            fail_msg("no \"%s\" in \"%s\"", rows[i].says, hole->says);
    }
    for (int kind = 0; kind < GG_HOLE_COUNT; kind++) {
        assert_null(hole_of(&l, SOLVE, (gg_hole_kind)kind));
        found += hole_of(&l, GREENS, (gg_hole_kind)kind) != NULL;
    }
    /* greens: a repeat adds nothing, no loss has all five; a forfeit with four of them pays */
    assert_int_equal(found, 2);
    assert_null(hole_of(&l, GREENS, GG_HOLE_REPETITION));
    lab_close(&l);
    play_close(&l.p);
}

static void json_is_whole(void **state)
{
    lab l = {0};
    gg_buf out;
    (void)state;
    lab_run(&l, 2);
    gg_buf_init(&out, 1 << 20);
    gg_rescore_write(&l.f, &out);
    assert_int_equal(out.status, GG_OK);
    static const char *const pieces[] = {
        "{\"plays\":10,\"errored\":1,\"damaged\":0,\"groups\":4,\"groups_incomplete\":1,",
        "\"rewards\":[{\"reward\":\"solve=1\",\"mean\":0.5,\"spread\":0.5,\"least\":0,\"most\":1,",
        "\"by_outcome\":{\"solved\":{\"plays\":5,\"mean\":1,\"least\":1,\"most\":1},",
        "{\"hole\":\"pays_for_repetition\",\"says\":",
        "\"part\":\"moves\",\"count\":5,\"of\":5,\"examples\":[\"s0-g1-0\"]}",
    };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        if (!strstr(out.data, pieces[i]))
            fail_msg("no %s in %s", pieces[i], out.data);
    gg_buf_free(&out);
    lab_close(&l);
    play_close(&l.p);
}

/* One play a task: no groups. A training's sample of plays: earlier steps are closed. */
static void groups_that_never_fill(void **state)
{
    lab l = {0};
    gg_error error = {0};
    (void)state;
    lab_run(&l, 1);
    assert_int_equal(l.f.groups + l.f.incomplete, 0);
    assert_null(hole_of(&l, CLOSE, GG_HOLE_UNSOLVED_SIGNAL));
    lab_close(&l);
    assert_int_equal(lab_open(&l, 8), GG_OK);
    for (int64_t step = 1; step <= 3; step++)
        for (int64_t group = 0; group < 3000; group++) {
            const saved one = {step, group, 0, "brave", 0};
            make(&l.p, &one);
            assert_int_equal(gg_rescore_add(l.rescore, l.p.episode, &error), GG_OK);
        }
    gg_rescore_finish(l.rescore, &l.f);
    assert_int_equal(l.f.incomplete, 9000);
    lab_close(&l);
    play_close(&l.p);
}

static gg_status rescore_once(void *context)
{
    lab *l = context;
    gg_error error = {0};
    gg_status status = lab_open(l, 2);
    if (status == GG_OK)
        status = gg_rescore_add(l->rescore, l->p.episode, &error);
    lab_close(l);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    lab l = {0};
    (void)state;
    play_open(&l.p, "guess", NULL);
    make(&l.p, &plays[3]);
    assert_true(alloc_each_fails(rescore_once, &l) > 0);
    play_close(&l.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tortoise_and_the_hare),
        cmocka_unit_test(many_values_stay_near),
        cmocka_unit_test(figures_by_hand),
        cmocka_unit_test(holes_by_hand),
        cmocka_unit_test(json_is_whole),
        cmocka_unit_test(groups_that_never_fill),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
