#include "agent/live.h"

#include "core/stats.h"

void gg_live_time(int64_t ms, gg_buf *out)
{
    int64_t s = ms < 0 ? 0 : (ms + 500) / 1000;
    if (s < 60)
        gg_buf_printf(out, "%llds", (long long)s);
    else if (s < 3600)
        gg_buf_printf(out, "%lldm%02llds", (long long)(s / 60), (long long)(s % 60));
    else
        gg_buf_printf(out, "%lldh%02lldm", (long long)(s / 3600), (long long)(s / 60 % 60));
}

void gg_live_count(int64_t count, gg_buf *out)
{
    static const struct {
        int64_t from;
        double unit;
        const char *sign;
    } rows[] = {{999950000, 1e9, "G"}, {999950, 1e6, "M"}, {1000, 1e3, "k"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (count < rows[i].from)
            continue;
        gg_buf_printf(out, "%.1f%s", (double)count / rows[i].unit, rows[i].sign);
        return;
    }
    gg_buf_int(out, count);
}

static void add_solved(const gg_rollout_state *state, gg_buf *out)
{
    const gg_ledger *ledger = &state->ledger;
    int64_t errored = ledger->by_outcome[GG_ERRORED];
    int64_t counted = (int64_t)state->done - errored, solved = ledger->by_outcome[GG_SOLVED];
    if (counted > 0) {
        gg_interval range = gg_wilson(solved, counted);
        gg_buf_printf(out, " | solved %.1f%% [%.1f, %.1f]", 100 * (double)solved / (double)counted,
                      100 * range.low, 100 * range.high);
    }
    if (errored)
        gg_buf_printf(out, " | %lld errored", (long long)errored);
}

/* Working, told to wait, or waiting for a reply that does not come. */
static void add_mood(const gg_rollout_state *state, gg_buf *out)
{
    const gg_endpoint_state *endpoint = &state->endpoint;
    size_t waiting = endpoint->backing_off + endpoint->queued;
    int64_t heard =
        endpoint->last_reply_ms > state->started_ms ? endpoint->last_reply_ms : state->started_ms;
    if (endpoint->paused_until_ms > state->now_ms) {
        gg_buf_str(out, " | backing off, ");
        gg_live_time(endpoint->paused_until_ms - state->now_ms, out);
        gg_buf_printf(out, " more (%s, %zu waiting)",
                      endpoint->pause_reason ? endpoint->pause_reason : "asked to", waiting);
    } else if (endpoint->in_flight == 0 && endpoint->backing_off) {
        gg_buf_printf(out, " | backing off (%zu waiting)", waiting);
    } else if (endpoint->in_flight && state->now_ms - heard >= GG_LIVE_STUCK_MS) {
        gg_buf_str(out, " | stuck for ");
        gg_live_time(state->now_ms - heard, out);
    } else {
        gg_buf_str(out, " | working");
    }
}

static void add_eta(const gg_rollout_state *state, gg_buf *out)
{
    int64_t left = state->ledger.planned - (int64_t)state->done;
    if (state->done < GG_LIVE_ETA_DONE || left <= 0)
        return;
    double each = (double)(state->now_ms - state->started_ms) / (double)state->done;
    gg_buf_str(out, " | ETA ");
    gg_live_time((int64_t)(each * (double)left), out);
}

static void add_rate(const gg_rollout_state *state, const gg_rollout_state *earlier, gg_buf *out)
{
    int64_t from = earlier ? earlier->now_ms : state->started_ms;
    int64_t requests = state->endpoint.requests - (earlier ? earlier->endpoint.requests : 0);
    if (state->now_ms > from && requests >= 0)
        gg_buf_printf(out, " | %.1f req/s",
                      1000 * (double)requests / (double)(state->now_ms - from));
}

static void add_tokens(const gg_rollout_state *state, gg_buf *out)
{
    const gg_ledger *ledger = &state->ledger;
    if (state->done == 0 || ledger->prompt_tokens == GG_TOKENS_UNKNOWN ||
        ledger->completion_tokens == GG_TOKENS_UNKNOWN)
        return;
    gg_buf_str(out, " | ");
    gg_live_count(ledger->prompt_tokens + ledger->completion_tokens, out);
    gg_buf_str(out, " tokens");
}

void gg_live_line(const gg_rollout_state *state, const gg_rollout_state *earlier, size_t columns,
                  gg_buf *out)
{
    size_t start = out->len;
    int64_t planned = state->ledger.planned;
    gg_buf_printf(out, "%zu/%lld", state->done, (long long)planned);
    if (planned > 0)
        gg_buf_printf(out, " %d%%", (int)(100 * (int64_t)state->done / planned));
    add_solved(state, out);
    add_mood(state, out);
    add_eta(state, out);
    add_rate(state, earlier, out);
    add_tokens(state, out);
    gg_buf_printf(out, " | %zu in flight", state->in_flight);
    if (state->oldest_id) {
        gg_buf_printf(out, ", oldest %s ", state->oldest_id);
        gg_live_time(state->oldest_ms, out);
    }
    if (columns && out->len - start > columns)
        gg_buf_truncate(out, start + columns);
}
