/* The live line (agent/live.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/live.h"

static void check(const gg_rollout_state *state, const gg_rollout_state *earlier, size_t columns,
                  const char *want)
{
    gg_buf line;
    gg_buf_init(&line, 4096);
    gg_live_line(state, earlier, columns, &line);
    assert_string_equal(gg_buf_cstr(&line), want);
    gg_buf_free(&line);
}

/* Wilson's interval of 45 in 90: 0.5 +- 1.96/2 * sqrt(90) / (90 + 1.96^2) = 0.5 +- 0.1012.
 * The line begins with HEAD and `want`. */
#define HEAD "100/400 25% | solved 50.0% [39.9, 60.1] | 10 errored"
static void check_mood(const gg_rollout_state *state, const char *want)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s | %s", HEAD, want);
    check(state, NULL, strlen(whole), whole);
}

/* Two minutes into a run: 100 of 400 done, 10 of them errored, 45 of the 90 others solved. */
static gg_rollout_state middle(void)
{
    gg_rollout_state s = {.ledger = {.planned = 400,
                                     .turns = 420,
                                     .prompt_tokens = 1000000,
                                     .completion_tokens = 234567,
                                     .reasoning_tokens = -1},
                          .in_flight = 64,
                          .done = 100,
                          .now_ms = 1120000,
                          .started_ms = 1000000,
                          .oldest_id = "s0-g12-3",
                          .oldest_ms = 14200,
                          .endpoint = {.in_flight = 64, .requests = 480, .last_reply_ms = 1119000}};
    s.ledger.by_outcome[GG_SOLVED] = 45;
    s.ledger.by_outcome[GG_LOST] = 45;
    s.ledger.by_outcome[GG_ERRORED] = 10;
    return s;
}

static void lines(void **state)
{
    gg_rollout_state s = middle(), earlier = middle();
    (void)state;
    check(&s, NULL, 0,
          HEAD
          " | working | ETA 6m00s | 4.0 req/s | 1.2M tokens | 64 in flight, oldest s0-g12-3 14s");
    earlier.now_ms -= 2000;
    earlier.endpoint.requests -= 25;
    check(&s, &earlier, 0,
          HEAD
          " | working | ETA 6m00s | 12.5 req/s | 1.2M tokens | 64 in flight, oldest s0-g12-3 14s");
    check(&s, NULL, 30, "100/400 25% | solved 50.0% [39");
    s.ledger.completion_tokens = -1; /* one reply did not say */
    check(&s, NULL, 0,
          HEAD " | working | ETA 6m00s | 4.0 req/s | 64 in flight, oldest s0-g12-3 14s");
}

static void moods(void **state)
{
    (void)state;
    gg_rollout_state s = middle();
    s.endpoint.paused_until_ms = s.now_ms + 41000;
    s.endpoint.pause_reason = "rate";
    s.endpoint.in_flight = 0;
    s.endpoint.backing_off = 60;
    s.endpoint.queued = 4;
    check_mood(&s, "backing off, 41s more (rate, 64 waiting) | ETA");
    s.endpoint.paused_until_ms = s.now_ms - 1; /* over */
    check_mood(&s, "backing off (64 waiting) | ETA");
    s = middle();
    s.endpoint.last_reply_ms = s.now_ms - GG_LIVE_STUCK_MS;
    check_mood(&s, "stuck for 1m00s | ETA");
    s.endpoint.last_reply_ms++;
    check_mood(&s, "working | ETA");
    s.endpoint.last_reply_ms = 0; /* never: counted from the start */
    check_mood(&s, "stuck for 2m00s | ETA");
}

static void beginnings(void **state)
{
    (void)state;
    gg_rollout_state s = {.ledger = {.planned = 400}, .now_ms = 5, .started_ms = 5};
    check(&s, NULL, 0, "0/400 0% | working | 0 in flight");
    s = (gg_rollout_state){.ledger = {.planned = 2}, .done = 2, .now_ms = 1005, .started_ms = 5};
    s.ledger.by_outcome[GG_ERRORED] = 2;
    check(&s, NULL, 0, "2/2 100% | 2 errored | working | 0.0 req/s | 0 tokens | 0 in flight");
    s = (gg_rollout_state){.now_ms = 5, .started_ms = 5};
    check(&s, NULL, 0, "0/0 | working | 0 in flight");
}

static void units(void **state)
{
    static const struct {
        int64_t value;
        const char *time, *count;
    } rows[] = {
        {0, "0s", "0"},
        {499, "0s", "499"},
        {999, "1s", "999"},
        {1000, "1s", "1.0k"},
        {59499, "59s", "59.5k"},
        {59500, "1m00s", "59.5k"},
        {999949, "16m40s", "999.9k"},
        {999950, "16m40s", "1.0M"},
        {3599500, "1h00m", "3.6M"},
        {360000000, "100h00m", "360.0M"},
        {1500000000, "416h40m", "1.5G"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_buf text;
        gg_buf_init(&text, 64);
        gg_live_time(rows[i].value, &text);
        assert_string_equal(gg_buf_cstr(&text), rows[i].time);
        gg_buf_reset(&text);
        gg_live_count(rows[i].value, &text);
        assert_string_equal(gg_buf_cstr(&text), rows[i].count);
        gg_buf_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),
        cmocka_unit_test(moods),
        cmocka_unit_test(beginnings),
        cmocka_unit_test(units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
