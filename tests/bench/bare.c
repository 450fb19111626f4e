/*
 * The least that a C client of a chat endpoint costs: libcurl's multi interface, one easy handle a
 * transfer, cJSON for the reply. The yardstick for our own client and agent loop.
 *
 *     bare URL REQUESTS [IN_FLIGHT [BODIES_FILE]]
 *
 * Prints a JSON object.
 */
#include "tests/bench/bench.h"

#include <cjson/cJSON.h>
#include <curl/curl.h>

typedef struct transfer {
    CURL *easy;
    char *reply;
    size_t len, room;
} transfer;

typedef struct bare {
    CURLM *multi;
    char **bodies;
    size_t body_count;
    long started, wanted, done, calls, failed;
} bare;

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
    transfer *t = context;
    size_t more = size * count;
    if (t->len + more + 1 > t->room) {
        t->room = 2 * (t->len + more + 1);
        t->reply = realloc(t->reply, t->room);
        if (!t->reply)
            return 0;
    }
    memcpy(t->reply + t->len, bytes, more);
    t->len += more;
    t->reply[t->len] = '\0';
    return more;
}

static void start(bare *b, transfer *t)
{
    const char *body = b->bodies[(size_t)b->started++ % b->body_count];
    t->len = 0;
    curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
    curl_multi_add_handle(b->multi, t->easy);
}

/* Reads what a tool-calling client needs: the call's name and its arguments. */
static int read_reply(const transfer *t)
{
    cJSON *root = cJSON_ParseWithLength(t->reply, t->len);
    const cJSON *choices = cJSON_GetObjectItemCaseSensitive(root, "choices");
    const cJSON *message =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(choices, 0), "message");
    const cJSON *calls = cJSON_GetObjectItemCaseSensitive(message, "tool_calls");
    const cJSON *function =
        cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(calls, 0), "function");
    const char *text =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(function, "arguments"));
    cJSON *arguments = text ? cJSON_Parse(text) : NULL;
    int good = cJSON_IsObject(arguments);
    cJSON_Delete(arguments);
    cJSON_Delete(root);
    return good;
}

static void drain(bare *b)
{
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(b->multi, &left));) {
        transfer *t;
        long status = 0;
        CURL *easy = m->easy_handle;
        CURLcode code = m->data.result;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &t);
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        curl_multi_remove_handle(b->multi, easy);
        b->done++;
        if (code != CURLE_OK || status != 200)
            b->failed++;
        else
            b->calls += read_reply(t);
        if (b->started < b->wanted)
            start(b, t);
    }
}

static CURL *make_easy(transfer *t, const char *url, const struct curl_slist *headers)
{
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
    return easy;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: bare URL REQUESTS [IN_FLIGHT [BODIES_FILE]]\n");
        return 2;
    }
    long in_flight = argc > 3 ? strtol(argv[3], NULL, 10) : 64;
    bare b = {.wanted = strtol(argv[2], NULL, 10)};
    b.bodies = bench_bodies(argc > 4 ? argv[4] : NULL, &b.body_count);
    curl_global_init(CURL_GLOBAL_ALL);
    b.multi = curl_multi_init();
    curl_multi_setopt(b.multi, CURLMOPT_MAXCONNECTS, in_flight);
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers =
        curl_slist_append(headers, "Authorization: Bearer sk-0123456789abcdef0123456789abcdef");
    transfer *transfers = calloc((size_t)in_flight, sizeof *transfers);
    bench_stop_unless(transfers != NULL, "allocating");
    double wall = bench_wall(), cpu = bench_cpu_us();
    for (long i = 0; i < in_flight && b.started < b.wanted; i++) {
        transfers[i].easy = make_easy(&transfers[i], argv[1], headers);
        start(&b, &transfers[i]);
    }
    while (b.done < b.wanted) {
        int running;
        curl_multi_perform(b.multi, &running);
        drain(&b);
        if (running)
            curl_multi_poll(b.multi, NULL, 0, 1000, NULL);
    }
    wall = bench_wall() - wall;
    cpu = bench_cpu_us() - cpu;
    printf("{\"requests\":%ld,\"in_flight\":%ld,\"calls\":%ld,\"failed\":%ld,\"cpu_us\":%.2f,"
           "\"per_s\":%.0f}\n",
           b.done, in_flight, b.calls, b.failed, cpu / (double)b.done, (double)b.done / wall);
    for (long i = 0; i < in_flight; i++) {
        curl_easy_cleanup(transfers[i].easy);
        free(transfers[i].reply);
    }
    free(transfers);
    curl_multi_cleanup(b.multi);
    curl_slist_free_all(headers);
    return b.failed || b.calls != b.done;
}
