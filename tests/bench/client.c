/*
 * Our client (net/endpoint) sending the same bodies as `bare`: what a request costs, and what one
 * in flight holds in memory.
 *
 *     client URL REQUESTS [IN_FLIGHT [BODIES_FILE]]
 *
 * Prints a JSON object. kb_in_flight is the growth of resident memory from before the first request
 * to the moment when all of the first IN_FLIGHT have been sent, a request.
 */
#include "net/endpoint.h"
#include "tests/bench/bench.h"

#define SETTLE_S 0.5 /* until then the requests are on the wire */

typedef struct run {
    gg_endpoint *endpoint;
    char **bodies;
    size_t body_count;
    long started, wanted, done, failed;
    long before_kb, full_kb;
} run;

static void ask(run *r);

static void on_done(void *context, const gg_post_result *result)
{
    run *r = context;
    r->done++;
    if (result->outcome != GG_RETRY_OK && r->failed++ == 0)
        fprintf(stderr, "client: %s\n", result->message);
    if (r->started < r->wanted)
        ask(r);
}

static void ask(run *r)
{
    const char *body = r->bodies[(size_t)r->started++ % r->body_count];
    gg_post *post;
    gg_error error = {0};
    gg_post_request request = {
        .path = "/chat/completions", .body = body, .len = strlen(body), .deadline_ms = INT64_MAX};
    if (gg_endpoint_send(r->endpoint, &request, on_done, r, &post, &error) == GG_OK)
        return;
    fprintf(stderr, "client: %s\n", error.text);
    exit(1);
}

static void on_settled(uv_timer_t *timer)
{
    run *r = timer->data;
    r->full_kb = bench_rss_kb();
    uv_close((uv_handle_t *)timer, NULL);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: client URL REQUESTS [IN_FLIGHT [BODIES_FILE]]\n");
        return 2;
    }
    long in_flight = argc > 3 ? strtol(argv[3], NULL, 10) : 64;
    run r = {.wanted = strtol(argv[2], NULL, 10)};
    r.bodies = bench_bodies(argc > 4 ? argv[4] : NULL, &r.body_count);
    static const char *const headers[] = {
        "Authorization: Bearer sk-0123456789abcdef0123456789abcdef", NULL};
    uv_loop_t loop;
    uv_timer_t settled;
    gg_http *http;
    gg_error error = {0};
    gg_endpoint_options options = {
        .base_url = argv[1], .headers = headers, .in_flight_max = (size_t)in_flight};
    bench_stop_unless(uv_loop_init(&loop) == 0, "making a loop");
    if (gg_http_new(&loop, &http, &error) != GG_OK ||
        gg_endpoint_new(http, &options, &r.endpoint, &error) != GG_OK) {
        fprintf(stderr, "client: %s\n", error.text);
        return 1;
    }
    uv_timer_init(&loop, &settled);
    settled.data = &r;
    r.before_kb = bench_rss_kb();
    double wall = bench_wall(), cpu = bench_cpu_us();
    while (r.started < in_flight && r.started < r.wanted)
        ask(&r);
    uv_timer_start(&settled, on_settled, (uint64_t)(SETTLE_S * 1e3), 0);
    while (r.done < r.wanted && uv_run(&loop, UV_RUN_ONCE))
        continue;
    wall = bench_wall() - wall;
    cpu = bench_cpu_us() - cpu;
    if (!r.full_kb)
        on_settled(&settled);
    printf("{\"requests\":%ld,\"in_flight\":%ld,\"failed\":%ld,\"cpu_us\":%.2f,\"per_s\":%.0f,"
           "\"kb_in_flight\":%.1f}\n",
           r.done, in_flight, r.failed, cpu / (double)r.done, (double)r.done / wall,
           (double)(r.full_kb - r.before_kb) / (double)in_flight);
    gg_endpoint_free(r.endpoint);
    gg_http_free(http);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return r.failed || r.done != r.wanted;
}
