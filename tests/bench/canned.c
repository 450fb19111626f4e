/*
 * A server that gives the same chat reply to every POST, for measuring clients.
 *
 *     canned [-l HOST:PORT] [-r REPLY_FILE] [-b BODIES_FILE] [-d DELAY_MS] [-t THREADS]
 *
 * Prints its address on the first line. -b keeps the bodies it gets, one a line. -d holds each
 * reply back. At the end of its input it prints a JSON object of what it served and stops.
 */
#include "net/server.h"
#include "tests/bench/bench.h"

#include <pthread.h>

#define REPLY_MAX (16u << 20)

typedef struct late {
    struct late *next;
    gg_exchange *exchange;
    double due;
} late;

typedef struct canned {
    char *reply;
    size_t len;
    FILE *bodies;
    double delay_s;
    pthread_mutex_t lock;
    late *first, **last;
    long served, waiting, peak;
    int over;
} canned;

static void answer(canned *c, gg_exchange *exchange)
{
    gg_exchange_reply(exchange, 200, "application/json", NULL, c->reply, c->len);
}

static void on_exchange(void *context, gg_exchange *exchange, const gg_exchange_request *request)
{
    canned *c = context;
    late *l = c->delay_s > 0 ? malloc(sizeof *l) : NULL;
    pthread_mutex_lock(&c->lock);
    c->served++;
    if (c->bodies)
        fprintf(c->bodies, "%s\n", request->body);
    if (l) {
        *l = (late){.exchange = exchange, .due = bench_wall() + c->delay_s};
        *c->last = l;
        c->last = &l->next;
        c->waiting++;
        c->peak = c->waiting > c->peak ? c->waiting : c->peak;
    }
    pthread_mutex_unlock(&c->lock);
    if (!l)
        answer(c, exchange);
}

/* The next reply that is due; the delay is the same for all, so the first came first. */
static late *take_due(canned *c)
{
    pthread_mutex_lock(&c->lock);
    late *l = c->first;
    if (l && (l->due <= bench_wall() || c->over)) {
        c->first = l->next;
        if (!c->first)
            c->last = &c->first;
        c->waiting--;
    } else
        l = NULL;
    pthread_mutex_unlock(&c->lock);
    return l;
}

static void *answer_late(void *context)
{
    canned *c = context;
    while (!c->over) {
        for (late *l; (l = take_due(c));) {
            answer(c, l->exchange);
            free(l);
        }
        usleep(1000);
    }
    return NULL;
}

static void read_reply(canned *c, const char *path)
{
    static const char REPLY[] =
        "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"created\":1700000000,\"model\":"
        "\"m\","
        "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_"
        "calls\":"
        "[{\"id\":\"call00001\",\"type\":\"function\",\"function\":{\"name\":\"guess_word\","
        "\"arguments\":\"{\\\"guess\\\":\\\"crane\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}],"
        "\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":20,\"total_tokens\":120}}";
    c->reply = strdup(REPLY);
    c->len = sizeof REPLY - 1;
    FILE *f = path ? fopen(path, "r") : NULL;
    bench_stop_unless(!path || f, "opening the reply");
    if (!f)
        return;
    free(c->reply);
    c->reply = malloc(REPLY_MAX);
    c->len = fread(c->reply, 1, REPLY_MAX, f);
    fclose(f);
}

int main(int argc, char **argv)
{
    canned c = {.reply = NULL};
    gg_server_options options = {.listen = ":0", .handler = on_exchange, .context = &c};
    const char *reply = NULL;
    for (int o; (o = getopt(argc, argv, "l:r:b:d:t:")) != -1;) {
        options.listen = o == 'l' ? optarg : options.listen;
        options.threads = o == 't' ? (unsigned)strtoul(optarg, NULL, 10) : options.threads;
        reply = o == 'r' ? optarg : reply;
        c.bodies = o == 'b' ? fopen(optarg, "w") : c.bodies;
        c.delay_s = o == 'd' ? strtod(optarg, NULL) / 1e3 : c.delay_s;
    }
    read_reply(&c, reply);
    c.last = &c.first;
    pthread_mutex_init(&c.lock, NULL);
    gg_server *server;
    gg_error error = {0};
    if (gg_server_start(&options, &server, &error) != GG_OK) {
        fprintf(stderr, "canned: %s\n", error.text);
        return 1;
    }
    pthread_t thread;
    bench_stop_unless(pthread_create(&thread, NULL, answer_late, &c) == 0, "starting a thread");
    printf("%s\n", gg_server_url(server));
    fflush(stdout);
    while (getchar() != EOF)
        continue;
    double cpu = bench_cpu_us();
    gg_server_stop(server);
    c.over = 1;
    pthread_join(thread, NULL);
    if (c.bodies)
        fclose(c.bodies);
    printf("{\"served\":%ld,\"cpu_us\":%.2f,\"peak_waiting\":%ld}\n", c.served,
           c.served ? cpu / (double)c.served : 0, c.peak);
    return 0;
}
