/* Groups: closed, refused, with and without signal, and their line in groups.jsonl. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "rl/groups.h"

#define SIZE 4

/* One letter a play: S solved, L lost, F forfeited, T truncated, E errored, U unplayed, x of
 * another task, - missing. */
static gg_outcome outcome_of(char letter)
{
    static const char letters[] = "USLFTE";
    const char *at = strchr(letters, letter);
    return at ? (gg_outcome)(at - letters) : GG_LOST;
}

static gg_episode *make_play(char letter, int64_t group, int64_t sample, double reward)
{
    char id[32];
    if (letter == '-')
        return NULL;
    gg_episode *e = gg_episode_new();
    assert_non_null(e);
    snprintf(id, sizeof id, "s3-g%d-%d", (int)group, (int)sample);
    e->id = gg_episode_string(e, id, strlen(id));
    e->step = 3;
    e->group = group;
    e->sample = sample;
    e->task_digest = letter == 'x' ? "other" : "digest";
    e->task_key = "key";
    e->outcome = outcome_of(letter);
    e->reward = reward;
    for (int t = 0; t < 2; t++)
        assert_non_null(gg_episode_push(e, &e->turns, &e->turn_count, sizeof *e->turns));
    return e;
}

static const struct row {
    const char *plays;
    double rewards[SIZE];
    const char *refused; /* a part of the reason, NULL = closed */
    bool reward_signal, outcome_signal;
    double advantages[SIZE]; /* group_based: (r - mean) / population deviation, by hand */
} rows[] = {
    {"SLLL",
     {1, 0, 0, 0},
     NULL,
     true,
     true,
     {1.7320508075688772, -0.57735026918962576, -0.57735026918962576, -0.57735026918962576}},
    {"SSLL", {1, 1, 0, 0}, NULL, true, true, {1, 1, -1, -1}},
    {"LLLL", {0, 0, 0, 0}, NULL, false, false, {0, 0, 0, 0}},
    {"LLLL", {0.1, 0.1, 0.1, 0.1}, NULL, false, false, {0, 0, 0, 0}},
    /* Signal by reward but not by outcome: the shaping tells four lost games apart. */
    {"LLLL", {0.5, 0, 0.5, 0}, NULL, true, false, {1, -1, 1, -1}},
    {"SFTL", {1, 0, 0, 1}, NULL, true, true, {1, -1, -1, 1}},
    {"SLEL", {1, 0, 0, 0}, "errored", false, false, {0}},
    {"SLUL", {1, 0, 0, 0}, "not played", false, false, {0}},
    {"SL-L", {1, 0, 0, 0}, "not played", false, false, {0}},
    {"SLLx", {1, 0, 0, 0}, "different tasks", false, false, {0}},
};

static void builds_groups(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_episode *plays[SIZE];
        gg_groups groups;
        for (int k = 0; k < SIZE; k++)
            plays[k] = make_play(rows[i].plays[k], 0, k, rows[i].rewards[k]);
        assert_int_equal(gg_groups_build(GG_ADV_GROUP_BASED, plays, 1, SIZE, &groups, NULL), GG_OK);
        const gg_group *group = &groups.items[0];
        assert_int_equal(groups.refused, rows[i].refused != NULL);
        assert_int_equal(group->reward_signal, rows[i].reward_signal);
        assert_int_equal(group->outcome_signal, rows[i].outcome_signal);
        assert_int_equal(groups.without_signal, !rows[i].refused && !rows[i].reward_signal);
        if (rows[i].refused) {
            assert_non_null(strstr(group->refused, rows[i].refused));
            assert_null(group->advantages);
        }
        for (int k = 0; k < SIZE && !rows[i].refused; k++)
            for (int t = 0; t < 2; t++)
                assert_float_equal(group->advantages[k][t], rows[i].advantages[k], 1e-12);
        gg_groups_free(&groups);
        for (int k = 0; k < SIZE; k++)
            gg_episode_free(plays[k]);
    }
}

/* A refused group neither shifts nor dilutes its neighbours. */
static void a_refused_group_leaves_its_neighbours_alone(void **state)
{
    gg_episode *plays[3 * SIZE];
    gg_groups groups;
    (void)state;
    for (int g = 0; g < 3; g++)
        for (int k = 0; k < SIZE; k++)
            plays[g * SIZE + k] = make_play(g == 1 && k == 2 ? 'E'
                                            : k < 2          ? 'S'
                                                             : 'L',
                                            g, k, k < 2);
    assert_int_equal(gg_groups_build(GG_ADV_GROUP_BASED, plays, 3, SIZE, &groups, NULL), GG_OK);
    assert_int_equal(groups.refused, 1);
    for (int g = 0; g < 3; g += 2)
        for (int k = 0; k < SIZE; k++)
            assert_float_equal(groups.items[g].advantages[k][1], k < 2 ? 1 : -1, 0);
    gg_groups_free(&groups);
    for (int i = 0; i < 3 * SIZE; i++)
        gg_episode_free(plays[i]);
}

static void check_line(const char *plays_text, const char *wanted)
{
    gg_episode *plays[SIZE];
    gg_groups groups;
    gg_buf line;
    for (int k = 0; k < SIZE; k++)
        plays[k] = make_play(plays_text[k], 5, k, k < 2);
    assert_int_equal(gg_groups_build(GG_ADV_GROUP_BASED, plays, 1, SIZE, &groups, NULL), GG_OK);
    gg_buf_init(&line, 4096);
    gg_group_write(&groups, 0, &line);
    assert_string_equal(gg_buf_cstr(&line), wanted);
    gg_buf_free(&line);
    gg_groups_free(&groups);
    for (int k = 0; k < SIZE; k++)
        gg_episode_free(plays[k]);
}

static void writes_its_line(void **state)
{
    (void)state;
    check_line(
        "SSLL",
        "{\"group\":5,\"step\":3,\"task_key\":\"key\",\"episode_ids\":[\"s3-g5-0\",\"s3-g5-1\","
        "\"s3-g5-2\","
        "\"s3-g5-3\"],\"rewards\":[1,1,0,0],\"advantages\":[1,1,-1,-1],\"method\":\"group_based\","
        "\"signal\":{\"reward\":true,\"outcome\":true}}\n");
    check_line("S-LL", "{\"group\":5,\"step\":3,\"task_key\":\"key\",\"episode_ids\":[\"s3-g5-0\","
                       "null,\"s3-g5-2\",\"s3-g5-3\"],"
                       "\"rewards\":[1,null,0,0],\"advantages\":[],\"method\":\"group_based\","
                       "\"signal\":{\"reward\":false,"
                       "\"outcome\":false},\"refused_reason\":\"a member was not played\"}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_groups),
        cmocka_unit_test(a_refused_group_leaves_its_neighbours_alone),
        cmocka_unit_test(writes_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
