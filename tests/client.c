#include "tests/client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "net/http.h"

#define URL_MAX 1024

answer client_call(const char *base, const char *path, const char *body, const char *const *headers)
{
    char url[URL_MAX];
    gg_buf storage;
    gg_http_reply reply;
    gg_error error = {0};
    answer a = {0};
    snprintf(url, sizeof url, "%s%s", base, path);
    gg_http_request request = {.method = body ? "POST" : "GET",
                               .url = url,
                               .headers = headers,
                               .body = body,
                               .body_len = body ? strlen(body) : 0};
    gg_buf_init(&storage, GG_HTTP_REPLY_MAX);
    if (gg_http_call(&request, &storage, &reply, &error) != GG_OK)
        fail_msg("%s: %s", url, error.text);
    if (reply.transport != GG_TRANSPORT_OK)
        fail_msg("%s: %s", url, reply.detail);
    a.status = reply.status;
    a.body = strndup(reply.body ? reply.body : "", reply.len);
    a.error_type = reply.error_type ? strdup(reply.error_type) : NULL;
    if (gg_json_parse(a.body, reply.len, &a.json, &error) != GG_OK)
        a.json = NULL;
    gg_buf_free(&storage);
    return a;
}

answer client_control(const char *base, const char *operation, const char *body)
{
    char target[96];
    const char *const headers[] = {target, "Content-Type: application/x-amz-json-1.1", NULL};
    snprintf(target, sizeof target, "X-Amz-Target: SageMaker.%s", operation);
    return client_call(base, "/", body, headers);
}

void answer_free(answer *a)
{
    cJSON_Delete(a->json);
    free(a->body);
    free(a->error_type);
    *a = (answer){0};
}

void answer_expect(const answer *a, int status)
{
    if (a->status != status)
        fail_msg("status %d, want %d: %.1000s", a->status, status, a->body);
}

const char *answer_text(const answer *a, const char *path)
{
    const cJSON *item = gg_json_path(a->json, path);
    if (!cJSON_IsString(item))
        fail_msg("no text at %s: %.1000s", path, a->body);
    return item->valuestring;
}

double answer_number(const answer *a, const char *path)
{
    const cJSON *item = gg_json_path(a->json, path);
    if (!cJSON_IsNumber(item))
        fail_msg("no number at %s: %.1000s", path, a->body);
    return item->valuedouble;
}
