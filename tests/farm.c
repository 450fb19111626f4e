#include "tests/farm.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/rng.h"
#include "net/server.h"

#define HELD_MAX 4096
#define HOLD_US  500

typedef struct held {
    gg_exchange *exchange;
    char *body;
    int number;
} held;

struct farm {
    gg_server *server;
    char url[128];
    farm_answer answer;
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    held items[HELD_MAX];
    size_t count;
    gg_exchange *silent[HELD_MAX]; /* never answered; dropped at the end */
    size_t silent_count;
    int peak, seen;
    bool stop;
};

static void take(void *context, gg_exchange *exchange, const gg_exchange_request *request)
{
    farm *f = context;
    pthread_mutex_lock(&f->lock);
    if (f->count == HELD_MAX)
        abort();
    f->items[f->count++] = (held){exchange, strdup(request->body), f->seen++};
    if ((int)(f->count + f->silent_count) > f->peak)
        f->peak = (int)(f->count + f->silent_count);
    pthread_mutex_unlock(&f->lock);
}

static void answer_one(farm *f, const held *item)
{
    static const char *const quickly[] = {"retry-after-ms: 1", NULL};
    cJSON *body = NULL;
    const cJSON *message;
    int64_t seed = 0;
    gg_buf reply;
    gg_buf_init(&reply, 1u << 20);
    if (gg_json_parse(item->body, strlen(item->body), &body, NULL) != GG_OK)
        abort();
    farm_request request = {.body = body, .text = item->body, .number = item->number};
    cJSON_ArrayForEach(message, gg_json_get(body, "messages")) request.tool_results +=
        strcmp(gg_json_text(message, "role"), "tool") == 0;
    gg_json_int(body, "seed", &seed);
    request.seed = (uint64_t)seed;
    int status = f->answer(f->context, &request, &reply);
    if (status > 0)
        gg_exchange_reply(item->exchange, status, "application/json",
                          status >= 500 || status == 429 ? quickly : NULL, gg_buf_cstr(&reply),
                          reply.len);
    else if (status < 0)
        gg_exchange_drop(item->exchange);
    else
        f->silent[f->silent_count++] = item->exchange;
    cJSON_Delete(body);
    gg_buf_free(&reply);
}

static void *run(void *context)
{
    farm *f = context;
    gg_rng rng;
    gg_rng_seed(&rng, 99);
    for (bool stop = false; !stop;) {
        usleep(HOLD_US);
        pthread_mutex_lock(&f->lock);
        /* Some of what is there stays for the next round. */
        for (size_t left = f->count / 3; f->count > left;) {
            size_t pick = gg_rng_below(&rng, f->count);
            held item = f->items[pick];
            f->items[pick] = f->items[--f->count];
            answer_one(f, &item);
            free(item.body);
        }
        stop = f->stop;
        pthread_mutex_unlock(&f->lock);
    }
    return NULL;
}

farm *farm_start(farm_answer answer, void *context)
{
    farm *f = calloc(1, sizeof *f);
    gg_error error;
    f->answer = answer;
    f->context = context;
    pthread_mutex_init(&f->lock, NULL);
    gg_server_options options = {.listen = ":0", .handler = take, .context = f};
    if (gg_server_start(&options, &f->server, &error) != GG_OK ||
        pthread_create(&f->thread, NULL, run, f) != 0)
        abort();
    gg_buf url = {.data = f->url, .room = sizeof f->url, .maximum = sizeof f->url - 1};
    gg_buf_printf(&url, "%s/v1", gg_server_url(f->server));
    return f;
}

void farm_stop(farm *f)
{
    pthread_mutex_lock(&f->lock);
    f->stop = true;
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    for (size_t i = 0; i < f->count; i++) {
        gg_exchange_drop(f->items[i].exchange);
        free(f->items[i].body);
    }
    for (size_t i = 0; i < f->silent_count; i++)
        gg_exchange_drop(f->silent[i]);
    gg_server_stop(f->server);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

const char *farm_url(const farm *f)
{
    return f->url;
}

/* The server may still be at work in its thread. */
static int locked(farm *f, const int *number)
{
    pthread_mutex_lock(&f->lock);
    int now = *number;
    pthread_mutex_unlock(&f->lock);
    return now;
}

int farm_peak(farm *f)
{
    return locked(f, &f->peak);
}

int farm_count(farm *f)
{
    return locked(f, &f->seen);
}

/* A token for a message: its content, for the assistant's (whose content names the reply). */
static int token_of(const char *text)
{
    unsigned hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return (int)(hash >> 1);
}

static void write_call(gg_buf *reply, gg_rng *rng, uint64_t kind)
{
    unsigned long long serial = gg_rng_below(rng, 1000000), n = 1 + gg_rng_below(rng, 9);
    switch (kind % 10) {
    case 0:
        gg_buf_printf(reply,
                      "{\"id\":null,\"function\":{\"name\":\"functions.add\",\"arguments\":"
                      "{\"n\":%llu}}}",
                      n);
        break;
    case 1:
        gg_buf_printf(reply,
                      "{\"id\":\"same\",\"function\":{\"name\":\"add\",\"arguments\":"
                      "\"{\\\"n\\\":%llu\"}}",
                      n);
        break;
    case 2:
        gg_buf_str(reply, "{\"id\":\"same\",\"function\":{\"name\":\"peek\"}}");
        break;
    default:
        gg_buf_printf(reply,
                      "{\"id\":\"call-%llu\",\"function\":{\"name\":\"add\",\"arguments\":"
                      "\"{\\\"n\\\":%llu}\"}}",
                      serial, n);
    }
}

int farm_counter(void *context, const farm_request *request, gg_buf *reply)
{
    const cJSON *message;
    gg_rng rng;
    (void)context;
    gg_rng_seed(&rng, request->seed);
    uint64_t kind = gg_rng_below(&rng, 12);
    unsigned long long name = gg_rng_below(&rng, 1000000);
    char content[64];
    gg_buf text = {.data = content, .room = sizeof content, .maximum = sizeof content - 1};
    gg_buf_printf(&text, kind == 11 ? "I wonder (%llu)." : "Move %llu.", name);
    gg_buf_str(reply, "{\"prompt_token_ids\":[");
    bool first = true;
    cJSON_ArrayForEach(message, gg_json_get(request->body, "messages"))
    {
        gg_buf_printf(reply, "%s%d", first ? "" : ",", token_of(gg_json_text(message, "content")));
        first = false;
    }
    gg_buf_printf(reply,
                  "],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":1},\"choices\":[{"
                  "\"token_ids\":[%d],\"logprobs\":{\"content\":[{\"logprob\":-0.5}]},"
                  "\"finish_reason\":\"stop\",\"message\":{\"content\":\"%s\"",
                  cJSON_GetArraySize(gg_json_get(request->body, "messages")), token_of(content),
                  content);
    if (kind != 11) {
        gg_buf_str(reply, ",\"tool_calls\":[");
        write_call(reply, &rng, kind);
        if (kind == 10) {
            gg_buf_char(reply, ',');
            write_call(reply, &rng, kind + 3);
        }
        gg_buf_char(reply, ']');
    }
    gg_buf_str(reply, "}}]}");
    return 200;
}
