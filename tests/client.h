/* A small HTTP client for tests of servers: one request, its status and its body as JSON. */
#ifndef GG_TESTS_CLIENT_H
#define GG_TESTS_CLIENT_H

#include "core/json.h"

typedef struct answer {
    int status;
    cJSON *json;      /* NULL when the body is no JSON */
    char *body;       /* as it came */
    char *error_type; /* x-amzn-ErrorType, or NULL */
} answer;

/* POST, or GET with body NULL. `headers` are "Name: value" lines, NULL-terminated, or NULL. A
 * request that gets no reply fails the test. */
answer client_call(const char *base, const char *path, const char *body,
                   const char *const *headers);
/* The control plane: POST / with X-Amz-Target. */
answer client_control(const char *base, const char *operation, const char *body);
void answer_free(answer *a);
/* Fails the test unless the status is this one. */
void answer_expect(const answer *a, int status);
/* The text at a path such as "a.0.b"; fails the test when there is none. */
const char *answer_text(const answer *a, const char *path);
double answer_number(const answer *a, const char *path);

#endif
