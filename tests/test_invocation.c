/* What is asked of the agent, in every spelling and damaged; and which addresses may have the
 * token. */
#include "agent/invocation.h"
#include "agent/runtime.h"
#include "net/origin.h"
#include "tests/alloc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ------------------------------------------------------------------ invocations */

#define META "\"metadata\":{\"jobArn\":\"J\",\"rolloutId\":\"R\"}"

static void spellings(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        const char *prompt, *arn, *id, *endpoint, *region;
        double temperature, top_p; /* below 0 = not given */
        int64_t max_tokens;
    } rows[] = {
        /* the guide's request, and what the service sends */
        {"{\"prompt\":\"p\"," META
         ",\"inferenceParams\":{\"temperature\":1.0,\"topP\":0.9,\"maxTokens\":2048}}",
         "p", "J", "R", NULL, NULL, 1, 0.9, 2048},
        {"{\"prompt\":\"p\",\"metadata\":{\"jobArn\":\"J\",\"rolloutId\":\"R\",\"endpoint\":"
         "\"https://e\",\"region\":\"us-west-2\"}}",
         "p", "J", "R", "https://e", "us-west-2", -1, -1, -1},
        /* the SDK's */
        {"{\"prompt\":\"p\",\"metadata\":{\"job_arn\":\"J\",\"trajectory_id\":\"R\"},\"inference_"
         "params\":{\"top_p\":1,\"max_tokens\":5}}",
         "p", "J", "R", NULL, NULL, -1, 1, 5},
        {"{\"prompt\":\"p\",\"metadata\":{\"job_arn\":\"J\",\"trajectoryId\":\"R\"}}", "p", "J",
         "R", NULL, NULL, -1, -1, -1},
        {"{\"instance\":{\"prompt\":\"p\",\"x\":1}," META "}", "p", "J", "R", NULL, NULL, -1, -1,
         -1},
        {"{\"instance\":{\"answer\":[1, 2]}," META "}", "{\"answer\":[1,2]}", "J", "R", NULL, NULL,
         -1, -1, -1},
        {"{\"instance\":\"p\"," META ",\"model_name\":\"m\",\"modelEndpoint\":\"https://e\"}", "p",
         "J", "R", "https://e", NULL, -1, -1, -1},
        /* a Lambda event */
        {"{\"body\":\"{\\\"prompt\\\":\\\"p\\\",\\\"metadata\\\":{\\\"jobArn\\\":\\\"J\\\","
         "\\\"rolloutId\\\":\\\"R\\\"}}\",\"headers\":{}}",
         "p", "J", "R", NULL, NULL, -1, -1, -1},
        /* null is absent, empty is absent where it may be */
        {"{\"prompt\":\"p\",\"instance\":null,\"inferenceParams\":null,\"metadata\":{\"jobArn\":"
         "\"J\",\"rolloutId\":\"R\",\"endpoint\":\"\",\"region\":null}}",
         "p", "J", "R", NULL, NULL, -1, -1, -1},
        {"{\"prompt\":\"p\"," META
         ",\"inferenceParams\":{\"temperature\":0,\"topP\":null,\"maxTokens\":1}}",
         "p", "J", "R", NULL, NULL, 0, -1, 1},
        /* a prompt is whatever it is */
        {"{\"prompt\":\"{\\\"answer\\\":\\\"\\u732b\\\"}\"," META "}",
         "{\"answer\":\"\xe7\x8c\xab\"}", "J", "R", NULL, NULL, -1, -1, -1},
        {"{\"prompt\":\"p\",\"jobArn\":\"J\",\"rolloutId\":\"R\"}", "p", "J", "R", NULL, NULL, -1,
         -1, -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_invocation in;
        gg_error error = {0};
        if (gg_invocation_read(rows[i].body, strlen(rows[i].body), &in, &error) != GG_OK)
            fail_msg("row %zu: %s", i, error.text);
        assert_string_equal(in.prompt, rows[i].prompt);
        assert_string_equal(in.job_arn, rows[i].arn);
        assert_string_equal(in.rollout_id, rows[i].id);
        assert_string_equal(in.endpoint ? in.endpoint : "-",
                            rows[i].endpoint ? rows[i].endpoint : "-");
        assert_string_equal(in.region ? in.region : "-", rows[i].region ? rows[i].region : "-");
        assert_true(rows[i].temperature < 0 ? isnan(in.temperature)
                                            : in.temperature == rows[i].temperature);
        assert_true(rows[i].top_p < 0 ? isnan(in.top_p) : in.top_p == rows[i].top_p);
        assert_int_equal(in.max_tokens, rows[i].max_tokens);
        gg_invocation_free(&in);
    }
}

/* Every prefix of a good body is refused, and so is every body with one byte changed into a quote,
 * or it is still an invocation; nothing is leaked either way. */
static void damaged(void **state)
{
    (void)state;
    static const char good[] = "{\"prompt\":\"p\"," META ",\"inferenceParams\":{\"topP\":0.9}}";
    for (size_t i = 0; i < sizeof good - 1; i++) {
        gg_invocation in;
        gg_error error = {0};
        char copy[sizeof good];
        assert_int_equal(gg_invocation_read(good, i, &in, &error), GG_E_FORMAT);
        assert_true(*error.text);
        gg_invocation_free(&in);
        memcpy(copy, good, sizeof good);
        copy[i] = '"';
        gg_status status = gg_invocation_read(copy, sizeof good - 1, &in, &error);
        assert_true(status == GG_E_FORMAT ||
                    (status == GG_OK && in.prompt && in.job_arn && in.rollout_id));
        gg_invocation_free(&in);
    }
}

static gg_status read_once(void *context)
{
    static const char body[] =
        "{\"instance\":{\"a\":1},\"metadata\":{\"jobArn\":\"J\",\"rolloutId\":\"R\","
        "\"endpoint\":\"https://e\",\"region\":\"r\"}}";
    gg_invocation in;
    gg_error error;
    (void)context;
    gg_status status = gg_invocation_read(body, sizeof body - 1, &in, &error);
    gg_invocation_free(&in);
    return status;
}

static void no_memory(void **state)
{
    (void)state;
    assert_true(alloc_each_fails(read_once, NULL) > 10);
}

/* ------------------------------------------------------------------ addresses */

static void origins(void **state)
{
    (void)state;
    static const struct {
        const char *url, *base; /* NULL = refused */
    } rows[] = {
        {"https://Example.COM", "https://example.com"},
        {"https://example.com:443/", "https://example.com"},
        {"http://example.com:80/a/b/", "http://example.com/a/b"},
        {"http://127.0.0.1:8070", "http://127.0.0.1:8070"},
        {"http://[::1]:8070/x", "http://[::1]:8070/x"},
        {"http://2130706433:1/", "http://127.0.0.1:1"}, /* as the client reads it */
        {"", NULL},
        {"example.com", NULL},
        {"ftp://example.com", NULL},
        {"http://", NULL},
        {"http://user@example.com", NULL},
        {"http://user:key@example.com", NULL},
        {"http://example.com?x", NULL},
        {"http://example.com#x", NULL},
        {"http://example.com:0", NULL},
        {"http://example.com:99999", NULL},
        {"http://example.com:8x", NULL},
        {"http://exa mple.com", NULL},
        {"http://example.com\\@evil.com", NULL},
        {"http://example.com\r\nX: y", NULL},
        {"http://ex%61mple.com%2eevil.com@x", NULL},
        {"http://caf\xc3\xa9.com", NULL},
        {"http://example.com/\"", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_origin origin;
        gg_error error = {0};
        gg_buf base;
        gg_buf_init(&base, 4096);
        gg_status status = gg_origin_parse(rows[i].url, &origin, &base, &error);
        if ((status == GG_OK) != (rows[i].base != NULL))
            fail_msg("%s: %s", rows[i].url, status == GG_OK ? base.data : error.text);
        if (rows[i].base)
            assert_string_equal(base.data, rows[i].base);
        else
            assert_null(strstr(error.text, "key"));
        gg_buf_free(&base);
    }
}

static void token_rule(void **state)
{
    (void)state;
    static const char *const allow[] = {"http://10.0.0.5:9000/path", "trusted.example",
                                        "near.example:81", NULL};
    static const struct {
        const char *endpoint, *region;
        gg_status status;
        const char *shown; /* where it goes, or a part of the sentence */
    } rows[] = {
        {NULL, NULL, GG_OK, "http://127.0.0.1:8070"}, /* the configured one */
        {NULL, "us-east-1", GG_OK, "http://127.0.0.1:8070"},
        {"http://127.0.0.1:8070/v1/", NULL, GG_OK, "http://127.0.0.1:8070"},
        {"http://127.0.0.1:8071", NULL, GG_E_ARGUMENT, "--allow-endpoint"},
        {"https://127.0.0.1:8070", NULL, GG_E_ARGUMENT, "--allow-endpoint"},
        {"https://job-runtime.sagemaker.us-west-2.api.aws", NULL, GG_OK,
         "https://job-runtime.sagemaker.us-west-2.api.aws"},
        {"https://job-runtime.sagemaker.eu-central-1.api.aws/", NULL, GG_OK,
         "https://job-runtime.sagemaker.eu-central-1.api.aws"},
        {"https://job-runtime.sagemaker-fips.us-east-1.api.aws", NULL, GG_OK,
         "https://job-runtime.sagemaker-fips.us-east-1.api.aws"},
        {"https://job-runtime.sagemaker.cn-north-1.api.amazonwebservices.com.cn", NULL, GG_OK,
         "https://job-runtime.sagemaker.cn-north-1.api.amazonwebservices.com.cn"},
        {"http://job-runtime.sagemaker.us-west-2.api.aws", NULL, GG_E_ARGUMENT,
         "none of the service's own hosts"},
        {"https://job-runtime.sagemaker.us-west-2.api.aws:444", NULL, GG_E_ARGUMENT, "own hosts"},
        {"https://job-runtime.sagemaker..api.aws", NULL, GG_E_ARGUMENT, NULL},
        {"https://job-runtime.sagemaker.api.aws", NULL, GG_E_ARGUMENT, "own hosts"},
        {"https://job-runtime.sagemaker.a.b.api.aws", NULL, GG_E_ARGUMENT, "own hosts"},
        {"https://xjob-runtime.sagemaker.us-west-2.api.aws", NULL, GG_E_ARGUMENT, "own hosts"},
        {"https://job-runtime.sagemaker.us-west-2.api.aws.evil.com", NULL, GG_E_ARGUMENT,
         "own hosts"},
        {"http://10.0.0.5:9000", NULL, GG_OK, "http://10.0.0.5:9000"},
        {"http://10.0.0.5:9001", NULL, GG_E_ARGUMENT, "own hosts"},
        {"https://trusted.example:7777/x/v1", NULL, GG_OK, "https://trusted.example:7777/x"},
        {"http://sub.trusted.example", NULL, GG_E_ARGUMENT, "own hosts"},
        {"https://near.example:81", NULL, GG_OK, "https://near.example:81"},
        {"https://near.example", NULL, GG_E_ARGUMENT, "own hosts"},
        {"nonsense", NULL, GG_E_ARGUMENT, "not like https://HOST"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uv_loop_t loop;
        gg_error error = {0};
        gg_runtime *runtime;
        gg_runtime_link *link, *again;
        gg_http *http;
        uv_loop_init(&loop);
        assert_int_equal(gg_http_new(&loop, &http, &error), GG_OK);
        const gg_runtime_options options = {.http = http,
                                            .region = "us-west-2",
                                            .endpoint = "http://127.0.0.1:8070",
                                            .allow = allow};
        assert_int_equal(gg_runtime_new(&options, &runtime, &error), GG_OK);
        gg_status status =
            gg_runtime_open(runtime, rows[i].endpoint, rows[i].region, &link, &error);
        if (status != rows[i].status)
            fail_msg("%s: %s", rows[i].endpoint, error.text);
        if (status == GG_OK) {
            assert_string_equal(gg_endpoint_shown(gg_runtime_endpoint(link)), rows[i].shown);
            assert_int_equal(
                gg_runtime_open(runtime, rows[i].endpoint, rows[i].region, &again, &error), GG_OK);
            assert_ptr_equal(link, again);
        } else if (rows[i].shown) {
            assert_non_null(strstr(error.text, rows[i].shown));
        }
        gg_runtime_free(runtime);
        gg_http_free(http);
        uv_run(&loop, UV_RUN_DEFAULT);
        uv_loop_close(&loop);
    }
}

static void own_hosts(void **state)
{
    (void)state;
    static const struct {
        const char *region, *shown; /* NULL = no region */
    } rows[] = {
        {"us-west-2", "https://job-runtime.sagemaker.us-west-2.api.aws"},
        {"us-gov-west-1", "https://job-runtime.sagemaker.us-gov-west-1.api.aws"},
        {"cn-north-1", "https://job-runtime.sagemaker.cn-north-1.api.amazonwebservices.com.cn"},
        {NULL, NULL},
    };
    uv_loop_t loop;
    gg_error error = {0};
    gg_runtime *runtime;
    gg_runtime_link *link;
    gg_http *http;
    uv_loop_init(&loop);
    assert_int_equal(gg_http_new(&loop, &http, &error), GG_OK);
    const gg_runtime_options options = {.http = http};
    assert_int_equal(gg_runtime_new(&options, &runtime, &error), GG_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_status status = gg_runtime_open(runtime, NULL, rows[i].region, &link, &error);
        assert_int_equal(status, rows[i].region ? GG_OK : GG_E_CONFIG);
        if (rows[i].region)
            assert_string_equal(gg_endpoint_shown(gg_runtime_endpoint(link)), rows[i].shown);
        else
            assert_non_null(strstr(error.text, "AWS_REGION"));
    }
    gg_runtime_free(runtime);
    gg_http_free(http);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
}

/* More addresses than are kept: those nobody uses go, those in use are too many. */
static void many_links(void **state)
{
    (void)state;
    static const char *const allow[] = {"127.0.0.1", NULL};
    uv_loop_t loop;
    gg_error error = {0};
    gg_runtime *runtime;
    gg_runtime_link *link;
    gg_http *http;
    uv_loop_init(&loop);
    assert_int_equal(gg_http_new(&loop, &http, &error), GG_OK);
    const gg_runtime_options options = {.http = http, .region = "r", .allow = allow};
    assert_int_equal(gg_runtime_new(&options, &runtime, &error), GG_OK);
    for (int held = 0; held < 2; held++)
        for (int i = 0; i < 2 * GG_RUNTIME_LINKS; i++) {
            char url[64];
            snprintf(url, sizeof url, "http://127.0.0.1:%d", 1000 + 1000 * held + i);
            gg_status status = gg_runtime_open(runtime, url, NULL, &link, &error);
            assert_int_equal(status, held && i >= GG_RUNTIME_LINKS ? GG_E_LIMIT : GG_OK);
            if (!held)
                gg_runtime_close(link);
            else
                uv_run(&loop, UV_RUN_NOWAIT);
        }
    gg_runtime_free(runtime);
    gg_http_free(http);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spellings),  cmocka_unit_test(damaged),    cmocka_unit_test(no_memory),
        cmocka_unit_test(origins),    cmocka_unit_test(token_rule), cmocka_unit_test(own_hosts),
        cmocka_unit_test(many_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
