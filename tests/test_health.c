/* What plays tell of an endpoint's health, and the warnings that follow. */
#include "core/health.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/json.h"
#include "tests/episode_make.h"

#define NONE GG_TOKENS_UNKNOWN

/* One play whose prompts have these lengths; a 0 ends the list. */
static gg_episode *play(gg_outcome outcome, const int64_t *prompts, const char *repair,
                        const char *reason)
{
    made_play made = {.outcome = outcome,
                      .completion = 1,
                      .reasoning = NONE,
                      .repair = repair,
                      .started = "2026-01-02T03:04:05Z"};
    while (prompts[made.turns])
        made.turns++;
    gg_episode *e = make_episode(&made);
    for (int i = 0; i < made.turns; i++)
        e->turns[i].usage.prompt = prompts[i];
    e->trainable = !reason;
    e->untrainable_reason = reason;
    return e;
}

static const struct {
    const char *what;
    gg_outcome outcome;
    int64_t prompts[4];
    const char *repair, *reason;
    const char *warnings; /* kinds, each with a blank before */
} rows[] = {
    {"all is well", GG_SOLVED, {10, 20, 30}, NULL, NULL, ""},
    {"truncated", GG_TRUNCATED, {10, 20}, NULL, NULL, " truncated"},
    {"repaired", GG_LOST, {10, 20}, "text_tag", NULL, " repairs"},
    {"the prompt fell", GG_LOST, {10, 30, 20}, NULL, NULL, " prompt_stalled"},
    {"the prompt stood", GG_LOST, {10, 30, 30}, NULL, NULL, " prompt_stalled"},
    {"no usage", GG_LOST, {NONE, NONE}, NULL, NULL, " usage_missing"},
    {"usage now and then", GG_LOST, {20, NONE, 10}, NULL, NULL, " usage_missing"},
    {"untrainable", GG_LOST, {10}, NULL, "no_logprobs", " untrainable"},
    {"errored plays do not count", GG_ERRORED, {10, NONE, 5}, "text_tag", "errored", ""},
};

static void kinds_of_warnings(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_health h = {0};
        gg_warning list[GG_WARNINGS_MAX];
        char got[200] = "";
        gg_episode *e = play(rows[i].outcome, rows[i].prompts, rows[i].repair, rows[i].reason);
        gg_health_add(&h, e);
        gg_episode_free(e);
        size_t count = gg_health_warnings(&h, true, list);
        for (size_t k = 0; k < count; k++)
            snprintf(got + strlen(got), sizeof got - strlen(got), " %s", list[k].kind);
        if (strcmp(got, rows[i].warnings) != 0)
            fail_msg("%s:%s", rows[i].what, got);
        /* Without a training, untrainable plays are no news. */
        assert_int_equal(gg_health_warnings(&h, false, list) + (rows[i].reason && h.plays), count);
    }
}

static void percentages(void **state)
{
    (void)state;
    const gg_health h = {.plays = 128,
                         .truncated = 3,
                         .replies = 400,
                         .repairs = 20,
                         .no_usage = 1,
                         .untrainable = 64,
                         .reasons = {{"no_logprobs", 4}, {"text_differs", 60}}};
    gg_warning list[GG_WARNINGS_MAX];
    gg_buf out;
    /* 20 repairs in 400 replies are 5 %: not more. */
    assert_int_equal(gg_health_warnings(&h, true, list), 3);
    assert_string_equal(list[0].text,
                        "3 of 128 episodes (2.3 %) were cut short by the token limit of a reply "
                        "(--max-tokens) or a full context");
    assert_string_equal(list[1].text, "1 of 400 replies (0.2 %) came without token counts: tokens "
                                      "and costs are not known");
    assert_string_equal(list[2].text,
                        "64 of 128 episodes (50.0 %) cannot be trained on, most often "
                        "because of text_differs");
    gg_buf_init(&out, 4096);
    gg_warnings_write(list, 1, &out);
    assert_string_equal(gg_buf_cstr(&out),
                        "[{\"kind\":\"truncated\",\"count\":3,\"of\":128,\"text\":\"3 of 128 "
                        "episodes (2.3 %) were cut short by the token limit of a reply "
                        "(--max-tokens) or a full context\"}]");
    gg_buf_free(&out);
}

/* Written and read twice, every count is doubled. */
static void sums_survive_a_file(void **state)
{
    (void)state;
    gg_health h = {0}, twice = {0};
    gg_buf out, again;
    cJSON *json;
    gg_buf_init(&out, 4096);
    gg_buf_init(&again, 4096);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_episode *e = play(rows[i].outcome, rows[i].prompts, rows[i].repair, rows[i].reason);
        gg_health_add(&h, e);
        gg_episode_free(e);
    }
    gg_health_write(&h, &out);
    assert_int_equal(gg_json_parse(out.data, out.len, &json, NULL), GG_OK);
    gg_health_read(&twice, json);
    gg_health_write(&twice, &again);
    assert_string_equal(gg_buf_cstr(&again), gg_buf_cstr(&out));
    gg_health_read(&twice, json);
    gg_health_read(&twice, NULL);
    assert_int_equal(twice.plays, 2 * h.plays);
    assert_int_equal(twice.reasons[0].plays, 2 * h.reasons[0].plays);
    cJSON_Delete(json);
    gg_buf_free(&out);
    gg_buf_free(&again);
}

/* More kinds of reasons than there is room for are counted, and named no more. */
static void many_reasons(void **state)
{
    (void)state;
    static const int64_t prompts[] = {10, 0};
    gg_health h = {0};
    for (int i = 0; i < 2 * GG_HEALTH_REASONS; i++) {
        char reason[80];
        snprintf(reason, sizeof reason, "%d is a reason with a name that is much too long", i);
        gg_episode *e = play(GG_LOST, prompts, NULL, reason);
        gg_health_add(&h, e);
        gg_episode_free(e);
    }
    assert_int_equal(h.untrainable, 2 * GG_HEALTH_REASONS);
    for (int i = 0; i < GG_HEALTH_REASONS; i++)
        assert_int_equal(h.reasons[i].plays, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_of_warnings),
        cmocka_unit_test(percentages),
        cmocka_unit_test(sums_survive_a_file),
        cmocka_unit_test(many_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
