/*
 * The function between a multi-turn RL job and an agent server of your own: the job invokes it once
 * a rollout, it posts the rollout to AGENT_URL/rollout and says whether the agent took it.
 *
 * A custom runtime: it asks the platform for events (AWS_LAMBDA_RUNTIME_API) one at a time. Event
 * and answer are the job's: {"prompt", "metadata"{"jobArn","rolloutId",...}, "inferenceParams"?}
 * in,
 * {} or {"errorType","errorMessage"} out. An event may come as a JSON string in `body`.
 *
 * Environment: AGENT_URL, such as http://agent.internal; AGENT_TIMEOUT_SECONDS (120).
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <curl/curl.h>

#define MAX_EVENT       (8u << 20) /* the platform's own limit is 6 MB */
#define MAX_REPLY       (64u << 10)
#define CONNECT_SECONDS 5L
#define DEFAULT_SECONDS 120L

typedef struct bytes {
    char *at;
    size_t len, max;
} bytes;

/* What goes back to the job; type NULL = taken. */
typedef struct answer {
    const char *type;
    char text[512];
} answer;

static size_t collect(char *data, size_t size, size_t count, void *into)
{
    bytes *b = into;
    size_t n = size * count;
    if (n > b->max - b->len)
        return 0; /* stops the transfer */
    char *grown = realloc(b->at, b->len + n + 1);
    if (!grown)
        return 0;
    b->at = grown;
    memcpy(b->at + b->len, data, n);
    b->len += n;
    b->at[b->len] = '\0';
    return n;
}

static answer refuse(const char *type, const char *text)
{
    answer a = {.type = type};
    snprintf(a.text, sizeof a.text, "%s", text);
    return a;
}

static bool is_text(const cJSON *object, const char *name)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(value) &&
           value->valuestring[strspn(value->valuestring, " \t\r\n")] != '\0';
}

/* The event itself, or what its `body` holds. Takes `event`; NULL when that is no JSON. */
static cJSON *unwrap(cJSON *event)
{
    const cJSON *body = cJSON_GetObjectItemCaseSensitive(event, "body");
    if (!cJSON_IsString(body))
        return event;
    cJSON *inner = cJSON_Parse(body->valuestring);
    cJSON_Delete(event);
    return inner;
}

static answer check(const cJSON *event)
{
    const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(event, "metadata");
    if (!cJSON_IsObject(event))
        return refuse("ValidationError", "the event is not a JSON object");
    if (!is_text(event, "prompt"))
        return refuse("ValidationError", "the event has no prompt");
    if (!is_text(metadata, "jobArn") || !is_text(metadata, "rolloutId"))
        return refuse("ValidationError", "the event's metadata lacks jobArn or rolloutId");
    return (answer){.type = NULL};
}

static answer judge(CURLcode code, long status)
{
    answer a = {.type = "InternalServerError"};
    if (code != CURLE_OK)
        snprintf(a.text, sizeof a.text, "the agent server did not answer: %s",
                 curl_easy_strerror(code));
    else if (status / 100 == 2)
        a.type = NULL;
    else {
        if (status == 400 || status == 413 || status == 422)
            a.type = "ValidationError";
        else if (status == 401 || status == 403)
            a.type = "AccessDenied";
        snprintf(a.text, sizeof a.text, "the agent server answered with status %ld", status);
    }
    return a;
}

/* Posts `body` as JSON. */
static CURLcode post(CURL *curl, const char *url, const char *body, long seconds, long *status)
{
    bytes reply = {.max = MAX_REPLY};
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    if (!headers)
        return CURLE_OUT_OF_MEMORY;
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, seconds);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status);
    curl_slist_free_all(headers);
    free(reply.at);
    return code;
}

static answer forward(CURL *curl, const char *agent, long seconds, const char *text)
{
    cJSON *event = unwrap(cJSON_Parse(text));
    answer a = check(event);
    char *body = a.type ? NULL : cJSON_PrintUnformatted(event);
    cJSON_Delete(event);
    if (a.type)
        return a;
    char url[2048];
    long status = 0;
    size_t slash = agent[0] && agent[strlen(agent) - 1] == '/';
    snprintf(url, sizeof url, "%.*s/rollout", (int)(strlen(agent) - slash), agent);
    if (body) {
        CURLcode code = post(curl, url, body, seconds, &status);
        a = judge(code, status);
    } else {
        a = refuse("InternalServerError", "out of memory");
    }
    free(body);
    return a;
}

static char *write_answer(const answer *a)
{
    cJSON *object = cJSON_CreateObject();
    if (a->type) {
        cJSON_AddStringToObject(object, "errorType", a->type);
        cJSON_AddStringToObject(object, "errorMessage", a->text);
    }
    char *text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    return text;
}

/* Waits for an event, as long as it takes; id is its request id. */
static CURLcode next_event(CURL *curl, const char *runtime, bytes *event, char *id, size_t size)
{
    char url[512];
    struct curl_header *header;
    snprintf(url, sizeof url, "http://%s/2018-06-01/runtime/invocation/next", runtime);
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, event);
    CURLcode code = curl_easy_perform(curl);
    if (code != CURLE_OK)
        return code;
    if (curl_easy_header(curl, "Lambda-Runtime-Aws-Request-Id", 0, CURLH_HEADER, -1, &header) !=
        CURLHE_OK)
        return CURLE_WEIRD_SERVER_REPLY;
    snprintf(id, size, "%s", header->value);
    return CURLE_OK;
}

static CURLcode serve_one(CURL *curl, const char *runtime, const char *agent, long seconds)
{
    bytes event = {.max = MAX_EVENT};
    char id[128], url[768];
    CURLcode code = next_event(curl, runtime, &event, id, sizeof id);
    if (code == CURLE_OK) {
        answer a = forward(curl, agent, seconds, event.at ? event.at : "");
        char *text = write_answer(&a);
        long status = 0;
        if (a.type)
            fprintf(stderr, "rollout not taken: %s: %s\n", a.type, a.text);
        snprintf(url, sizeof url, "http://%s/2018-06-01/runtime/invocation/%s/response", runtime,
                 id);
        code = text ? post(curl, url, text, DEFAULT_SECONDS, &status) : CURLE_OUT_OF_MEMORY;
        free(text);
    }
    free(event.at);
    return code;
}

int main(void)
{
    const char *runtime = getenv("AWS_LAMBDA_RUNTIME_API"), *agent = getenv("AGENT_URL");
    const char *wait = getenv("AGENT_TIMEOUT_SECONDS");
    long seconds = wait ? strtol(wait, NULL, 10) : DEFAULT_SECONDS;
    if (!runtime || !agent || seconds <= 0) {
        fprintf(
            stderr,
            "forwarder: set AGENT_URL, such as http://agent.internal, and AGENT_TIMEOUT_SECONDS "
            "above 0; it runs where AWS_LAMBDA_RUNTIME_API is set\n");
        return 2;
    }
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return 1;
    CURL *curl = curl_easy_init();
    CURLcode code = curl ? CURLE_OK : CURLE_OUT_OF_MEMORY;
    while (code == CURLE_OK)
        code = serve_one(curl, runtime, agent, seconds);
    fprintf(stderr, "forwarder: the platform does not answer: %s\n", curl_easy_strerror(code));
    curl_easy_cleanup(curl);
    return 1;
}
