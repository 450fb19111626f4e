/* Signing and checking: published examples, damage to every part, and (given a file) what botocore
 * signed. */
#include "core/file.h"
#include "core/json.h"
#include "net/bearer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <cmocka.h>

#define EMPTY  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

/* ------------------------------------------------------------------ published examples */

typedef struct example {
    const char *source, *id, *region, *service, *stamp;
    gg_sigv4_request request;
    gg_sigv4_header headers[4];
    const char *signed_headers, *signature;
} example;

static const example examples[] = {
    {"AWS test suite, get-vanilla", "AKIDEXAMPLE", "us-east-1", "service", "20150830T123600Z",
     .request = {"GET", "/", NULL, NULL, 1, EMPTY, false},
     .headers = {{"Host", "example.amazonaws.com"}}, .signed_headers = "host;x-amz-date",
     .signature = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
    {"IAM ListUsers, the general reference's example", "AKIDEXAMPLE", "us-east-1", "iam",
     "20150830T123600Z",
     .request = {"GET", "/", "Action=ListUsers&Version=2010-05-08", NULL, 2, EMPTY, false},
     .headers = {{"Host", "iam.amazonaws.com"},
                 {"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}},
     .signed_headers = "content-type;host;x-amz-date",
     .signature = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"},
};

static const char *list_header(void *context, const char *name)
{
    const gg_sigv4_header *rows = context;
    for (; rows->name; rows++)
        if (strcasecmp(rows->name, name) == 0)
            return rows->value;
    return NULL;
}

/* "Name: value\n" lines taken apart in place, behind the headers there are. */
static void take_lines(char *lines, gg_sigv4_header *rows)
{
    while (rows->name)
        rows++;
    for (char *at = lines; *at; rows++) {
        char *colon = strchr(at, ':'), *end = strchr(at, '\n');
        assert_non_null(colon);
        assert_non_null(end);
        *colon = *end = '\0';
        *rows = (gg_sigv4_header){at, colon + 2};
        at = end + 1;
    }
    *rows = (gg_sigv4_header){NULL, NULL};
}

static void published(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const example *e = &examples[i];
        const gg_aws_keys keys = {e->id, SECRET, NULL};
        gg_sigv4_scope scope = {e->region, e->service, 0};
        gg_sigv4_request request = e->request;
        gg_sigv4_claim claim;
        gg_sigv4_header rows[16] = {{0}};
        gg_error error;
        gg_buf lines;
        gg_buf_init(&lines, 4096);
        assert_true(gg_sigv4_time(e->stamp, &scope.time_s));
        request.headers = e->headers;
        assert_int_equal(gg_sigv4_sign(&keys, &scope, &request, &lines, &error), GG_OK);
        memcpy(rows, e->headers, sizeof e->headers);
        take_lines(lines.data, rows);
        assert_int_equal(gg_sigv4_claim_header(list_header(rows, "authorization"),
                                               list_header(rows, "x-amz-date"), &claim, &error),
                         GG_OK);
        assert_string_equal(claim.signature, e->signature);
        assert_string_equal(claim.signed_headers, e->signed_headers);
        assert_string_equal(claim.key_id, e->id);
        assert_string_equal(claim.region, e->region);
        assert_string_equal(claim.service, e->service);
        assert_int_equal(claim.time_s, scope.time_s);
        gg_buf_free(&lines);
    }
}

/* The S3 reference's examples: a ranged read by header, the same object by query. */
static void published_s3(void **state)
{
    (void)state;
    const gg_aws_keys keys = {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                              NULL};
    gg_sigv4_scope scope = {"us-east-1", "s3", 0};
    const gg_sigv4_header headers[] = {{"Range", "bytes=0-9"},
                                       {"Host", "examplebucket.s3.amazonaws.com"}};
    gg_sigv4_request request = {"GET", "/test.txt", NULL, headers, 2, EMPTY, true};
    gg_error error;
    gg_buf text;
    gg_buf_init(&text, 4096);
    assert_true(gg_sigv4_time("20130524T000000Z", &scope.time_s));
    assert_int_equal(gg_sigv4_sign(&keys, &scope, &request, &text, &error), GG_OK);
    assert_non_null(strstr(text.data,
                           "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature="
                           "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41\n"));
    assert_non_null(strstr(text.data, "X-Amz-Content-Sha256: " EMPTY "\n"));
    gg_buf_reset(&text);
    request.headers++;
    request.header_count = 1;
    request.payload_hash = GG_SIGV4_UNSIGNED;
    assert_int_equal(gg_sigv4_presign(&keys, &scope, &request, 86400, &text, &error), GG_OK);
    assert_non_null(strstr(
        text.data,
        "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"));
    gg_buf_free(&text);
}

/* ------------------------------------------------------------------ bearer tokens */

#define NOON 1791633600 /* 2026-10-10T12:00:00Z */

/* Made with botocore's signer at that time, for us-west-2 and 12 hours. */
static const struct token_row {
    gg_aws_keys keys;
    const char *signature;
} token_rows[] = {
    {{"AKIDEXAMPLE", SECRET, NULL},
     "47893904a773b8a8d55c2f1654c88d0c5693ab6d422e665e4514bb18b59e67a6"},
    {{"ASIDEXAMPLE", SECRET, "FQoSESSION/TOKEN+abc=="},
     "b1291b2e719f0906e4bdabf58b8cde25ff258470c14e4a5af20b6435491a5063"},
};

static void tokens(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof token_rows / sizeof *token_rows; i++) {
        gg_sigv4_claim claim;
        gg_error error;
        gg_buf token, query, session;
        gg_buf_init(&token, GG_BEARER_MAX);
        gg_buf_init(&query, GG_BEARER_MAX);
        gg_buf_init(&session, GG_BEARER_MAX);
        assert_int_equal(
            gg_bearer_make(&token_rows[i].keys, "us-west-2", NOON, 43200, &token, &error), GG_OK);
        assert_memory_equal(token.data, GG_BEARER_PREFIX, strlen(GG_BEARER_PREFIX));
        assert_int_equal(gg_bearer_open(token.data, &query, &claim, &error), GG_OK);
        assert_string_equal(claim.signature, token_rows[i].signature);
        assert_int_equal(claim.expires_s, 43200);
        const char *session_token = token_rows[i].keys.token;
        assert_int_equal(gg_sigv4_query_value(query.data, "X-Amz-Security-Token", &session),
                         session_token != NULL);
        assert_string_equal(gg_buf_cstr(&session), session_token ? session_token : "");
        static const struct {
            int64_t now;
            const char *secret;
            gg_sigv4_verdict verdict;
        } checks[] = {
            {NOON, SECRET, GG_SIGV4_GOOD},
            {NOON + 43200, SECRET, GG_SIGV4_GOOD},
            {NOON + 43201, SECRET, GG_SIGV4_EXPIRED},
            {NOON - GG_SIGV4_SKEW_S, SECRET, GG_SIGV4_GOOD},
            {NOON - GG_SIGV4_SKEW_S - 1, SECRET, GG_SIGV4_EARLY},
            {NOON, "another", GG_SIGV4_MISMATCH},
        };
        for (size_t k = 0; k < sizeof checks / sizeof *checks; k++)
            assert_int_equal(gg_bearer_check(query.data, &claim, checks[k].secret, checks[k].now),
                             checks[k].verdict);
        gg_buf_free(&token);
        gg_buf_free(&query);
        gg_buf_free(&session);
    }
}

/* Any character changed makes another token or none, never a good one. */
static void damaged_tokens(void **state)
{
    (void)state;
    gg_sigv4_claim claim;
    gg_error error;
    gg_buf token, query;
    gg_buf_init(&token, GG_BEARER_MAX);
    gg_buf_init(&query, GG_BEARER_MAX);
    assert_int_equal(gg_bearer_make(&token_rows[1].keys, "us-west-2", NOON, 300, &token, &error),
                     GG_OK);
    for (size_t i = 0; i < token.len; i++) {
        char kept = token.data[i];
        for (const char *c = "A/=%\n"; *c; c++) {
            token.data[i] = *c;
            bool opened = gg_bearer_open(token.data, &query, &claim, &error) == GG_OK;
            if (*c != kept && opened)
                assert_int_not_equal(gg_bearer_check(query.data, &claim, SECRET, NOON),
                                     GG_SIGV4_GOOD);
        }
        token.data[i] = '\0'; /* every prefix */
        assert_int_equal(gg_bearer_open(token.data, &query, &claim, &error), GG_E_FORMAT);
        token.data[i] = kept;
    }
    assert_int_equal(gg_bearer_open(token.data, &query, &claim, &error), GG_OK);
    assert_int_equal(gg_bearer_check(query.data, &claim, SECRET, NOON), GG_SIGV4_GOOD);
    assert_int_equal(gg_bearer_open(NULL, &query, &claim, &error), GG_E_FORMAT);
    assert_int_equal(gg_bearer_open("sagemaker-api-key-====", &query, &claim, &error), GG_E_FORMAT);
    gg_buf_free(&token);
    gg_buf_free(&query);
}

/* ------------------------------------------------------------------ what is refused */

static void wrong_arguments(void **state)
{
    (void)state;
    static const gg_sigv4_header host = {"Host", "h"},
                                 twice[] = {{"Host", "h"}, {"x-amz-DATE", "now"}};
    static const struct {
        const char *what;
        gg_aws_keys keys;
        gg_sigv4_request request;
        int64_t time_s, expires_s;
        gg_status sign, presign;
    } rows[] = {
        {"all is well",
         {"i", "s", NULL},
         {"GET", "/", NULL, &host, 1, EMPTY, false},
         1,
         1,
         GG_OK,
         GG_OK},
        {"no id",
         {"", "s", NULL},
         {"GET", "/", NULL, &host, 1, EMPTY, false},
         1,
         1,
         GG_E_CONFIG,
         GG_E_CONFIG},
        {"no secret",
         {"i", NULL, NULL},
         {"GET", "/", NULL, &host, 1, EMPTY, false},
         1,
         1,
         GG_E_CONFIG,
         GG_E_CONFIG},
        {"no host",
         {"i", "s", NULL},
         {"GET", "/", NULL, NULL, 0, EMPTY, false},
         1,
         1,
         GG_E_ARGUMENT,
         GG_E_ARGUMENT},
        {"date given",
         {"i", "s", NULL},
         {"GET", "/", NULL, twice, 2, EMPTY, false},
         1,
         1,
         GG_E_ARGUMENT,
         GG_OK},
        {"before 1970",
         {"i", "s", NULL},
         {"GET", "/", NULL, &host, 1, EMPTY, false},
         -1,
         1,
         GG_E_ARGUMENT,
         GG_E_ARGUMENT},
        {"for ever",
         {"i", "s", NULL},
         {"GET", "/", NULL, &host, 1, EMPTY, false},
         1,
         604801,
         GG_OK,
         GG_E_ARGUMENT},
        {"for no time",
         {"i", "s", NULL},
         {"GET", "/", NULL, &host, 1, EMPTY, false},
         1,
         0,
         GG_OK,
         GG_E_ARGUMENT},
        {"too many headers",
         {"i", "s", NULL},
         {"GET", "/", NULL, &host, 65, EMPTY, false},
         1,
         1,
         GG_E_LIMIT,
         GG_E_LIMIT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_sigv4_scope scope = {"r", "s", rows[i].time_s};
        gg_buf out;
        gg_buf_init(&out, 4096);
        assert_int_equal(gg_sigv4_sign(&rows[i].keys, &scope, &rows[i].request, &out, NULL),
                         rows[i].sign);
        gg_buf_reset(&out);
        assert_int_equal(gg_sigv4_presign(&rows[i].keys, &scope, &rows[i].request,
                                          rows[i].expires_s, &out, NULL),
                         rows[i].presign);
        gg_buf_free(&out);
    }
}

#define SIG  "47893904a773b8a8d55c2f1654c88d0c5693ab6d422e665e4514bb18b59e67a6"
#define CRED "AK/20261010/us-west-2/sagemaker/aws4_request"

static void claims(void **state)
{
    (void)state;
    static const struct {
        const char *authorization, *date;
        gg_status status;
    } rows[] = {
        {"AWS4-HMAC-SHA256 Credential=" CRED ", SignedHeaders=host, Signature=" SIG,
         "20261010T120000Z", GG_OK},
        {"AWS4-HMAC-SHA256 Credential=" CRED ",SignedHeaders=host,Signature=" SIG,
         "20261010T120000Z", GG_OK},
        {"AWS4-HMAC-SHA256 Signature=" SIG ", SignedHeaders=host;x-a , Credential=" CRED,
         "20261010T120000Z", GG_OK},
        {NULL, "20261010T120000Z", GG_E_FORMAT},
        {"", "20261010T120000Z", GG_E_FORMAT},
        {"Bearer x", "20261010T120000Z", GG_E_FORMAT},
        {"AWS4-HMAC-SHA256", "20261010T120000Z", GG_E_FORMAT},
        {"AWS4-HMAC-SHA256X Credential=" CRED ", SignedHeaders=host, Signature=" SIG,
         "20261010T120000Z", GG_E_FORMAT},
        {"AWS4-HMAC-SHA256 Credential=" CRED ", Signature=" SIG, "20261010T120000Z", GG_E_FORMAT},
        {"AWS4-HMAC-SHA256 Credential=" CRED ", SignedHeaders=, Signature=" SIG, "20261010T120000Z",
         GG_E_FORMAT},
        {"AWS4-HMAC-SHA256 Credential=" CRED ", SignedHeaders=host, Signature=" SIG "0",
         "20261010T120000Z", GG_E_FORMAT},
        {"AWS4-HMAC-SHA256 Credential=" CRED ", SignedHeaders=host, Signature=abc",
         "20261010T120000Z", GG_E_FORMAT},
        {"AWS4-HMAC-SHA256 Credential=AK/20261010/us-west-2/sagemaker, SignedHeaders=host, "
         "Signature=" SIG,
         "20261010T120000Z", GG_E_FORMAT},
        {"AWS4-HMAC-SHA256 Credential=AK/202610100/us-west-2/sagemaker/aws4_request, "
         "SignedHeaders=host, Signature=" SIG,
         "20261010T120000Z", GG_E_FORMAT},
        {"AWS4-HMAC-SHA256 Credential=" CRED "/, SignedHeaders=host, Signature=" SIG,
         "20261010T120000Z", GG_E_FORMAT},
        {"AWS4-HMAC-SHA256 Credential=" CRED ", SignedHeaders=host, Signature=" SIG, NULL,
         GG_E_FORMAT},
        {"AWS4-HMAC-SHA256 Credential=" CRED ", SignedHeaders=host, Signature=" SIG, "20261010",
         GG_E_FORMAT},
        {"AWS4-HMAC-SHA256 Credential=" CRED ", SignedHeaders=host, Signature=" SIG,
         "20260231T120000Z", GG_E_FORMAT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_sigv4_claim claim;
        gg_error error = {0};
        assert_int_equal(gg_sigv4_claim_header(rows[i].authorization, rows[i].date, &claim, &error),
                         rows[i].status);
        assert_null(strstr(error.text, SIG));
    }
}

/* A signed request of which one thing is changed. */
static void changed_requests(void **state)
{
    (void)state;
    const gg_aws_keys keys = {"AK", SECRET, "T/T"};
    const gg_sigv4_scope scope = {"us-west-2", "sagemaker", NOON};
    const gg_sigv4_header headers[] = {{"Host", "h:80"}, {"X-Amz-Target", "SageMaker.CreateJob"}};
    const gg_sigv4_request request = {"POST", "/a/b", "x=1&y=2", headers, 2, EMPTY, false};
    static const struct {
        const char *method, *path, *query, *host, *target, *hash;
        int64_t now;
        gg_sigv4_verdict verdict;
    } rows[] = {
        {"POST", "/a/b", "x=1&y=2", "h:80", "SageMaker.CreateJob", EMPTY, NOON, GG_SIGV4_GOOD},
        {"POST", "/a/b", "y=2&x=1", "h:80", "SageMaker.CreateJob", EMPTY, NOON, GG_SIGV4_GOOD},
        {"POST", "/a//./b", "x=%31&&y=2", " h:80 ", "SageMaker.CreateJob", EMPTY, NOON + 900,
         GG_SIGV4_GOOD},
        {"PUT", "/a/b", "x=1&y=2", "h:80", "SageMaker.CreateJob", EMPTY, NOON, GG_SIGV4_MISMATCH},
        {"POST", "/a/c", "x=1&y=2", "h:80", "SageMaker.CreateJob", EMPTY, NOON, GG_SIGV4_MISMATCH},
        {"POST", "/a/b/", "x=1&y=2", "h:80", "SageMaker.CreateJob", EMPTY, NOON, GG_SIGV4_MISMATCH},
        {"POST", "/a/b", "x=1&y=3", "h:80", "SageMaker.CreateJob", EMPTY, NOON, GG_SIGV4_MISMATCH},
        {"POST", "/a/b", NULL, "h:80", "SageMaker.CreateJob", EMPTY, NOON, GG_SIGV4_MISMATCH},
        {"POST", "/a/b", "x=1&y=2", "h:81", "SageMaker.CreateJob", EMPTY, NOON, GG_SIGV4_MISMATCH},
        {"POST", "/a/b", "x=1&y=2", "h:80", "SageMaker.StopJob", EMPTY, NOON, GG_SIGV4_MISMATCH},
        {"POST", "/a/b", "x=1&y=2", "h:80", NULL, EMPTY, NOON, GG_SIGV4_UNFIT},
        {"POST", "/a/b", "x=1&y=2", "h:80", "SageMaker.CreateJob", GG_SIGV4_UNSIGNED, NOON,
         GG_SIGV4_MISMATCH},
        {"POST", "/a/b", "x=1&y=2", "h:80", "SageMaker.CreateJob", EMPTY, NOON + 901,
         GG_SIGV4_EXPIRED},
        {"POST", "/a/b", "x=1&y=2", "h:80", "SageMaker.CreateJob", EMPTY, NOON - 901,
         GG_SIGV4_EARLY},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_sigv4_header got[16] = {{"Host", rows[i].host}};
        gg_sigv4_claim claim;
        gg_buf lines;
        gg_buf_init(&lines, 4096);
        if (rows[i].target)
            got[1] = (gg_sigv4_header){"X-Amz-Target", rows[i].target};
        assert_int_equal(gg_sigv4_sign(&keys, &scope, &request, &lines, NULL), GG_OK);
        take_lines(lines.data, got);
        assert_int_equal(gg_sigv4_claim_header(list_header(got, "authorization"),
                                               list_header(got, "x-amz-date"), &claim, NULL),
                         GG_OK);
        const gg_sigv4_received received = {
            rows[i].method, rows[i].path, rows[i].query, list_header, got, rows[i].hash, false};
        assert_int_equal(gg_sigv4_check(&received, &claim, SECRET, rows[i].now), rows[i].verdict);
        memcpy(claim.day, "20261011", 9);
        assert_int_equal(gg_sigv4_check(&received, &claim, SECRET, rows[i].now), GG_SIGV4_UNFIT);
        gg_buf_free(&lines);
    }
}

/* ------------------------------------------------------------------ botocore's */

/* One line of the file: a request, and what botocore made of it. */
static void check_case(const cJSON *row)
{
    gg_sigv4_header headers[32] = {{0}};
    size_t count = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, gg_json_get(row, "headers"))
    {
        assert_true(count < 24);
        headers[count++] = (gg_sigv4_header){cJSON_GetArrayItem(item, 0)->valuestring,
                                             cJSON_GetArrayItem(item, 1)->valuestring};
    }
    bool s3 = false;
    assert_true(gg_json_bool(row, "s3", &s3));
    const gg_aws_keys keys = {gg_json_text(row, "id"), gg_json_text(row, "secret"),
                              gg_json_text(row, "token")};
    gg_sigv4_scope scope = {gg_json_text(row, "region"), gg_json_text(row, "service"), 0};
    const gg_sigv4_request request = {gg_json_text(row, "method"),
                                      gg_json_text(row, "path"),
                                      gg_json_text(row, "query"),
                                      headers,
                                      count,
                                      gg_json_text(row, "payload_hash"),
                                      s3};
    const char *presigned = gg_json_text(row, "presigned");
    gg_error error = {0};
    gg_buf text;
    gg_buf_init(&text, 1u << 20);
    assert_true(gg_sigv4_time(gg_json_text(row, "stamp"), &scope.time_s));
    assert_int_equal(gg_sigv4_presign(&keys, &scope, &request, 900, &text, &error), GG_OK);
    if (presigned)
        assert_string_equal(text.data, presigned);
    gg_buf_reset(&text);
    assert_int_equal(gg_sigv4_sign(&keys, &scope, &request, &text, &error), GG_OK);
    take_lines(text.data, headers);
    assert_string_equal(list_header(headers, "authorization"), gg_json_text(row, "authorization"));

    gg_sigv4_claim claim;
    gg_sigv4_received received = {request.method,
                                  request.path,
                                  request.query,
                                  list_header,
                                  headers,
                                  request.payload_hash,
                                  s3};
    assert_int_equal(gg_sigv4_claim_header(gg_json_text(row, "authorization"),
                                           gg_json_text(row, "stamp"), &claim, &error),
                     GG_OK);
    assert_int_equal(gg_sigv4_check(&received, &claim, keys.secret, scope.time_s), GG_SIGV4_GOOD);
    if (presigned) {
        received.query = presigned;
        assert_int_equal(gg_sigv4_claim_query(presigned, &claim, &error), GG_OK);
        assert_int_equal(gg_sigv4_check(&received, &claim, keys.secret, scope.time_s),
                         GG_SIGV4_GOOD);
    }
    gg_buf_free(&text);
}

static const char *case_file;

static void botocore(void **state)
{
    (void)state;
    size_t count = 0;
    gg_buf file;
    if (!case_file)
        skip();
    gg_buf_init(&file, GG_FILE_MAX);
    assert_int_equal(gg_file_read(case_file, &file, NULL), GG_OK);
    for (char *at = file.data; at && *at; count++) {
        size_t len = strcspn(at, "\n");
        cJSON *row;
        assert_int_equal(gg_json_parse(at, len, &row, NULL), GG_OK);
        check_case(row);
        cJSON_Delete(row);
        at += len + (at[len] == '\n');
    }
    print_message("%zu requests signed by botocore\n", count);
    assert_true(count > 0);
    gg_buf_free(&file);
}

int main(int argc, char **argv)
{
    case_file = argc > 1 ? argv[1] : NULL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published),        cmocka_unit_test(published_s3),
        cmocka_unit_test(tokens),           cmocka_unit_test(damaged_tokens),
        cmocka_unit_test(wrong_arguments),  cmocka_unit_test(claims),
        cmocka_unit_test(changed_requests), cmocka_unit_test(botocore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
