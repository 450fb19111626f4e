/* Signatures and tokens at the local service: good, forged, expired, of others, of another region.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "net/bearer.h"
#include "service/service.h"
#include "tests/client.h"

#define ID      "AKIDEXAMPLE"
#define SECRET  "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define SESSION "FQoSESSION/TOKEN+abc=="
#define HOUR    3600
#define BAD     "Authentication failed: Please make sure your API Key is valid"
#define LINES   8

static gg_service *start(const char *token)
{
    gg_service *service;
    gg_error error = {0};
    const gg_service_options options = {
        .listen = ":0", .key_id = ID, .secret = SECRET, .token = token};
    if (gg_service_start(&options, &service, &error) != GG_OK)
        fail_msg("%s", error.text);
    return service;
}

/* ---- signed requests ---- */

typedef struct signer {
    gg_aws_keys keys;
    int64_t late_s; /* how long ago it was signed */
    const char *signed_body, *sent_body;
} signer;

/* ListJobs, signed so. */
static answer call_signed(const gg_service *service, const signer *s)
{
    const char *url = gg_service_url(service), *headers[LINES + 3];
    char hash[GG_DIGEST_HEX];
    gg_buf lines;
    gg_error error = {0};
    size_t count = 0;
    gg_buf_init(&lines, 1u << 16);
    gg_sha256_hex(s->signed_body, strlen(s->signed_body), hash);
    const gg_sigv4_header signed_headers[] = {{"Host", url + strlen("http://")},
                                              {"X-Amz-Target", "SageMaker.ListJobs"}};
    const gg_sigv4_scope scope = {"us-west-2", "sagemaker", (int64_t)time(NULL) - s->late_s};
    const gg_sigv4_request request = {
        .method = "POST", .headers = signed_headers, .header_count = 2, .payload_hash = hash};
    if (gg_sigv4_sign(&s->keys, &scope, &request, &lines, &error) != GG_OK)
        fail_msg("%s", error.text);
    for (char *at = lines.data; at && *at && count < LINES;) {
        char *end = strchr(at, '\n');
        headers[count++] = at;
        if (end)
            *end++ = '\0';
        at = end;
    }
    headers[count++] = "X-Amz-Target: SageMaker.ListJobs";
    headers[count++] = "Content-Type: application/x-amz-json-1.1";
    headers[count] = NULL;
    answer a = client_call(url, "/", s->sent_body, headers);
    gg_buf_free(&lines);
    return a;
}

static void expect(answer a, int status, const char *type, const char *part, size_t row)
{
    if (a.status != status || (type && (!a.error_type || strcmp(a.error_type, type) != 0)) ||
        (part && !strstr(a.body, part)))
        fail_msg("row %zu: %d %s %s", row, a.status, a.error_type ? a.error_type : "", a.body);
    answer_free(&a);
}

#define JOBS "{\"JobCategory\":\"AgentRFT\"}"

static void signatures(void **state)
{
    (void)state;
    gg_service *service = start(NULL);
    static const struct {
        signer signer;
        int status;
        const char *type;
    } rows[] = {
        {{{ID, SECRET, NULL}, 0, JOBS, JOBS}, 200, NULL},
        {{{ID, SECRET, NULL}, 600, JOBS, JOBS}, 200, NULL}, /* clocks may differ a little */
        {{{ID, SECRET, NULL}, HOUR, JOBS, JOBS}, 403, "InvalidSignatureException"},
        {{{ID, SECRET, NULL}, -HOUR, JOBS, JOBS}, 403, "InvalidSignatureException"},
        {{{ID, "another", NULL}, 0, JOBS, JOBS}, 403, "InvalidSignatureException"},
        {{{"AKIDOTHER", SECRET, NULL}, 0, JOBS, JOBS}, 403, "UnrecognizedClientException"},
        {{{ID, SECRET, NULL}, 0, "{}", JOBS}, 403, "InvalidSignatureException"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect(call_signed(service, &rows[i].signer), rows[i].status, rows[i].type, NULL, i);
    expect(client_control(gg_service_url(service), "ListJobs", JOBS), 403,
           "MissingAuthenticationTokenException", "Missing Authentication Token", 100);
    expect(client_call(gg_service_url(service), "/health", NULL, NULL), 200, NULL, "ok", 101);
    gg_service_stop(service);
}

static void temporary_keys(void **state)
{
    (void)state;
    gg_service *service = start(SESSION);
    static const struct {
        const char *token;
        int status;
    } rows[] = {{SESSION, 200}, {"another", 403}, {NULL, 403}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const signer s = {{ID, SECRET, rows[i].token}, 0, JOBS, JOBS};
        expect(call_signed(service, &s), rows[i].status, NULL, NULL, i);
    }
    gg_service_stop(service);
}

/* ---- tokens ---- */

static answer call_bearer(const gg_service *service, const char *token)
{
    char authorization[GG_BEARER_MAX + 64];
    const char *const headers[] = {
        authorization,
        "X-Amzn-SageMaker-Job-Arn: arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/none",
        "X-Amzn-SageMaker-Trajectory-Id: t", NULL};
    snprintf(authorization, sizeof authorization, "Authorization: Bearer %s", token);
    return client_call(gg_service_url(service), "/v1/chat/completions", "{}", headers);
}

/* Whoever is let in hears that there is no such job. */
static void tokens(void **state)
{
    (void)state;
    gg_service *service = start(NULL);
    static const struct {
        gg_aws_keys keys;
        const char *region;
        int64_t late_s, expires_s;
        bool forged;
        int status;
        const char *part;
    } rows[] = {
        {{ID, SECRET, NULL}, "us-west-2", 0, 43200, false, 400, "Could not find job"},
        {{ID, SECRET, NULL}, "us-west-2", 0, 43200, false, 400, "Could not find job"},
        {{ID, SECRET, NULL}, "us-west-2", 11 * HOUR, 43200, false, 400, "Could not find job"},
        {{ID, SECRET, NULL}, "us-west-2", 13 * HOUR, 43200, false, 403, BAD},
        {{ID, SECRET, NULL}, "us-west-2", 10, 1, false, 403, BAD},
        {{ID, SECRET, NULL}, "us-east-1", 0, 43200, false, 403, BAD},
        {{ID, "another", NULL}, "us-west-2", 0, 43200, false, 403, BAD},
        {{"AKIDOTHER", SECRET, NULL}, "us-west-2", 0, 43200, false, 403, BAD},
        {{ID, SECRET, NULL}, "us-west-2", 0, 43200, true, 403, BAD},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_buf token;
        gg_error error = {0};
        gg_buf_init(&token, GG_BEARER_MAX);
        if (gg_bearer_make(&rows[i].keys, rows[i].region, (int64_t)time(NULL) - rows[i].late_s,
                           rows[i].expires_s, &token, &error) != GG_OK)
            fail_msg("%s", error.text);
        if (rows[i].forged) /* in the signature, near the end */
            token.data[token.len - 24] = token.data[token.len - 24] == 'a' ? 'b' : 'a';
        expect(call_bearer(service, token.data), rows[i].status, NULL, rows[i].part, i);
        gg_buf_free(&token);
    }
    static const char *const junk[] = {"", "x", "sagemaker-api-key-", "sagemaker-api-key-!!!!",
                                       "sagemaker-api-key-eHh4"};
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++)
        expect(call_bearer(service, junk[i]), 403, NULL, NULL, i);
    gg_service_stop(service);
}

static void without_keys_nothing_is_verified(void **state)
{
    (void)state;
    gg_service *service;
    gg_error error = {0};
    const gg_service_options options = {.listen = ":0"};
    assert_int_equal(gg_service_start(&options, &service, &error), GG_OK);
    const signer stranger = {{"AKIDOTHER", "another", NULL}, HOUR, "{}", JOBS};
    expect(call_signed(service, &stranger), 200, NULL, NULL, 0);
    expect(call_bearer(service, "anything"), 400, NULL, "Could not find job", 1);
    expect(client_control(gg_service_url(service), "ListJobs", JOBS), 200, NULL, NULL, 2);
    gg_service_stop(service);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signatures),
        cmocka_unit_test(temporary_keys),
        cmocka_unit_test(tokens),
        cmocka_unit_test(without_keys_nothing_is_verified),
    };
    return cmocka_run_group_tests_name("auth", tests, NULL, NULL);
}
