#include "net/retry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Bodies follow the shapes that public servers document or were reported to send. */
static const struct {
    const char *what, *body;
    int status;
    gg_retry_class class;
    const char *message;
} ERRORS[] = {
    /* shapes of the text */
    {"openai",
     "{\"error\":{\"message\":\"m\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":"
     "null}}",
     400, GG_RETRY_REFUSED, "m"},
    {"vllm flat",
     "{\"object\":\"error\",\"message\":\"m\",\"type\":\"BadRequestError\",\"param\":null,\"code\":"
     "400}",
     400, GG_RETRY_REFUSED, "m"},
    {"tgi", "{\"error\":\"bad input\",\"error_type\":\"validation\"}", 422, GG_RETRY_REFUSED,
     "bad input"},
    {"aws small", "{\"message\":\"m\"}", 400, GG_RETRY_REFUSED, "m"},
    {"aws capital", "{\"Message\":\"m\"}", 400, GG_RETRY_REFUSED, "m"},
    {"detail", "{\"detail\":\"m\"}", 422, GG_RETRY_REFUSED, "m"},
    {"detail list", "{\"detail\":[{\"loc\":[\"body\"],\"msg\":\"m\"},{\"msg\":\"n\"}]}", 422,
     GG_RETRY_REFUSED, "m; n"},
    {"message list", "{\"message\":[\"m1\",\"m2\"],\"statusCode\":400}", 400, GG_RETRY_REFUSED,
     "m1; m2"},
    {"error null", "{\"error\":null,\"message\":\"m\"}", 400, GG_RETRY_REFUSED, "m"},
    {"error without text", "{\"error\":{\"code\":500}}", 500, GG_RETRY_SERVER,
     "{\"error\":{\"code\":500}}"},
    {"empty text falls through", "{\"error\":{\"message\":\"\"},\"detail\":\"d\"}", 400,
     GG_RETRY_REFUSED, "d"},
    {"capital Error is another key", "{\"Error\":\"x\",\"detail\":\"d\"}", 400, GG_RETRY_REFUSED,
     "d"},
    {"plain text", "  Failed to deserialize \n the body ", 422, GG_RETRY_REFUSED,
     "Failed to deserialize   the body"},
    {"empty", "", 500, GG_RETRY_SERVER, ""},
    {"web page", "<html><head><Title>502 Bad Gateway</title></head><body>x</body></html>", 502,
     GG_RETRY_SERVER, "a web page, \"502 Bad Gateway\""},
    {"page without title", "<html>502</html>", 502, GG_RETRY_SERVER, "<html>502</html>"},
    {"router",
     "{\"error\":{\"code\":502,\"message\":\"Provider returned "
     "error\",\"metadata\":{\"provider_name\":\"p\",\"raw\":\"oops\"}},\"user_id\":\"u\"}",
     502, GG_RETRY_SERVER, "Provider returned error: oops"},
    {"cut JSON", "{\"error\":{\"mess", 500, GG_RETRY_SERVER, "{\"error\":{\"mess"},
    {"array", "[1,2]", 500, GG_RETRY_SERVER, "[1,2]"},
    /* statuses */
    {"redirect", "", 302, GG_RETRY_STOP, ""},
    {"created", "x", 201, GG_RETRY_OK, ""},
    {"key", "{\"error\":{\"message\":\"m\"}}", 401, GG_RETRY_STOP, "m"},
    {"credit", "{\"error\":{\"message\":\"m\",\"code\":402}}", 402, GG_RETRY_STOP, "m"},
    {"forbidden", "m", 403, GG_RETRY_STOP, "m"},
    {"not found", "{\"detail\":\"Not Found\"}", 404, GG_RETRY_STOP, "Not Found"},
    {"method", "m", 405, GG_RETRY_STOP, "m"},
    {"timeout", "m", 408, GG_RETRY_TIMEOUT, "m"},
    {"lock", "m", 409, GG_RETRY_SERVER, "m"},
    {"gone", "m", 410, GG_RETRY_REFUSED, "m"},
    {"too large", "m", 413, GG_RETRY_CONTEXT, "m"},
    {"teapot", "m", 418, GG_RETRY_REFUSED, "m"},
    {"early", "m", 425, GG_RETRY_SERVER, "m"},
    {"internal", "m", 500, GG_RETRY_SERVER, "m"},
    {"not implemented", "m", 501, GG_RETRY_REFUSED, "m"},
    {"gateway", "m", 502, GG_RETRY_SERVER, "m"},
    {"busy", "m", 503, GG_RETRY_BUSY, "m"},
    {"gateway time", "m", 504, GG_RETRY_SERVER, "m"},
    {"cdn", "{\"message\":\"m\"}", 520, GG_RETRY_SERVER, "m"},
    {"cdn", "m", 524, GG_RETRY_SERVER, "m"},
    {"overloaded", "m", 529, GG_RETRY_BUSY, "m"},
    {"no status we know", "m", 799, GG_RETRY_SERVER, "m"},
    /* 429, two kinds */
    {"rate", "{\"error\":{\"message\":\"try again in 41.7s\",\"code\":\"429\"}}", 429,
     GG_RETRY_RATE, "try again in 41.7s"},
    {"rate by code",
     "{\"error\":{\"message\":\"m\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}", 429,
     GG_RETRY_RATE, "m"},
    {"litellm",
     "{\"error\":{\"message\":\"litellm.RateLimitError: "
     "m\",\"type\":null,\"param\":null,\"code\":\"429\"}}",
     429, GG_RETRY_RATE, "litellm.RateLimitError: m"},
    {"quota",
     "{\"error\":{\"type\":\"insufficient_quota\",\"code\":\"insufficient_quota\",\"message\":\"no "
     "credit\"}}",
     429, GG_RETRY_STOP, "no credit"},
    {"quota in type alone",
     "{\"error\":{\"type\":\"insufficient_quota\",\"code\":null,\"message\":\"m\"}}", 429,
     GG_RETRY_STOP, "m"},
    {"quota before rate",
     "{\"error\":{\"type\":\"insufficient_quota\",\"code\":\"rate_limit_exceeded\",\"message\":"
     "\"m\"}}",
     429, GG_RETRY_STOP, "m"},
    {"billing", "{\"error\":{\"code\":\"billing_hard_limit_reached\",\"message\":\"m\"}}", 429,
     GG_RETRY_STOP, "m"},
    {"quota in words",
     "{\"error\":{\"message\":\"You exceeded your current quota, please check your plan\"}}", 429,
     GG_RETRY_STOP, "You exceeded your current quota, please check your plan"},
    {"tgi overloaded", "{\"error\":\"Model is overloaded\",\"error_type\":\"overloaded\"}", 429,
     GG_RETRY_BUSY, "Model is overloaded"},
    /* AWS: the name counts, not the status */
    {"throttled", "{\"__type\":\"x#ThrottlingException\",\"message\":\"Rate exceeded\"}", 400,
     GG_RETRY_RATE, "Rate exceeded"},
    {"denied", "{\"__type\":\"AccessDeniedException\",\"message\":\"m\"}", 400, GG_RETRY_STOP, "m"},
    {"expired", "{\"__type\":\"ExpiredTokenException\",\"message\":\"m\"}", 403, GG_RETRY_STOP,
     "m"},
    {"validation", "{\"__type\":\"ValidationException\",\"message\":\"m\"}", 400, GG_RETRY_REFUSED,
     "m"},
    {"wrapped 503", "{\"Message\":\"m\",\"OriginalStatusCode\":503,\"OriginalMessage\":\"o\"}", 424,
     GG_RETRY_BUSY, "m"},
    {"wrapped 400", "{\"OriginalStatusCode\":400,\"OriginalMessage\":\"o\"}", 424, GG_RETRY_REFUSED,
     "o"},
    {"wrapped context",
     "{\"OriginalStatusCode\":400,\"OriginalMessage\":\"maximum context length is 8\"}", 424,
     GG_RETRY_CONTEXT, "maximum context length is 8"},
    {"unwrapped 424", "{\"error\":\"Generation failed\",\"error_type\":\"generation\"}", 424,
     GG_RETRY_SERVER, "Generation failed"},
    /* context overflow, many wordings */
    {"openai", "{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"m\"}}", 400,
     GG_RETRY_CONTEXT, "m"},
    {"vllm",
     "{\"error\":{\"message\":\"This model's maximum context length is 2048 "
     "tokens.\",\"code\":400}}",
     400, GG_RETRY_CONTEXT, "This model's maximum context length is 2048 tokens."},
    {"llama.cpp",
     "{\"error\":{\"code\":400,\"message\":\"m\",\"type\":\"exceed_context_size_error\",\"n_prompt_"
     "tokens\":9,\"n_ctx\":8}}",
     400, GG_RETRY_CONTEXT, "m"},
    {"llama.cpp as 500",
     "{\"error\":{\"code\":500,\"message\":\"Context size has been exceeded.\"}}", 500,
     GG_RETRY_CONTEXT, "Context size has been exceeded."},
    {"anthropic style", "{\"error\":{\"message\":\"prompt is too long: 9 tokens\"}}", 400,
     GG_RETRY_CONTEXT, "prompt is too long: 9 tokens"},
    {"tgi", "{\"error\":\"Input validation error: `inputs` must have less than 8 tokens\"}", 422,
     GG_RETRY_CONTEXT, "Input validation error: `inputs` must have less than 8 tokens"},
    {"max_tokens left", "{\"message\":\"max_tokens must be at least 1, got -3\"}", 400,
     GG_RETRY_CONTEXT, "max_tokens must be at least 1, got -3"},
    {"words under another status", "{\"message\":\"context length\"}", 403, GG_RETRY_STOP,
     "context length"},
    /* refused parameters are no overflow */
    {"parameter",
     "{\"error\":{\"param\":\"max_tokens\",\"code\":\"unsupported_parameter\",\"message\":\"use "
     "max_completion_tokens\"}}",
     400, GG_RETRY_REFUSED, "use max_completion_tokens"},
    {"max_tokens beyond the model",
     "{\"error\":{\"message\":\"max_tokens=100000 cannot be greater than max_model_len=2048.\","
     "\"type\":\"BadRequestError\",\"code\":400}}",
     400, GG_RETRY_REFUSED, "max_tokens=100000 cannot be greater than max_model_len=2048."},
    {"our own history",
     "{\"error\":{\"code\":500,\"message\":\"Failed to parse tool call arguments as JSON: x\","
     "\"type\":\"server_error\"}}",
     500, GG_RETRY_REFUSED, "Failed to parse tool call arguments as JSON: x"},
    /* starting up */
    {"llama.cpp loads",
     "{\"error\":{\"message\":\"Loading model\",\"type\":\"unavailable_error\",\"code\":503}}", 503,
     GG_RETRY_STARTING, "Loading model"},
};

static gg_http_reply reply_of(int status, const char *body)
{
    return (gg_http_reply){
        .status = status, .body = body, .len = strlen(body), .content_type = "", .detail = ""};
}

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++) {
        gg_buf message;
        gg_buf_init(&message, 4096);
        gg_http_reply reply = reply_of(ERRORS[i].status, ERRORS[i].body);
        gg_retry_class class = gg_retry_classify(&reply, &message);
        if (class != ERRORS[i].class || strcmp(gg_buf_cstr(&message), ERRORS[i].message) != 0)
            fail_msg("%s, %d: %s, \"%s\"", ERRORS[i].what, ERRORS[i].status,
                     gg_retry_class_name(class), gg_buf_cstr(&message));
        gg_buf_free(&message);
    }
}

static void test_transport(void **state)
{
    (void)state;
    static const struct {
        gg_transport transport;
        gg_retry_class class;
    } table[] = {
        {GG_TRANSPORT_RESOLVE, GG_RETRY_TRANSPORT}, {GG_TRANSPORT_CONNECT, GG_RETRY_TRANSPORT},
        {GG_TRANSPORT_TLS, GG_RETRY_TRANSPORT},     {GG_TRANSPORT_RESET, GG_RETRY_TRANSPORT},
        {GG_TRANSPORT_OTHER, GG_RETRY_TRANSPORT},   {GG_TRANSPORT_TIMEOUT, GG_RETRY_TIMEOUT},
        {GG_TRANSPORT_TOO_BIG, GG_RETRY_REFUSED},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        gg_buf message;
        gg_buf_init(&message, 4096);
        gg_http_reply reply = {.transport = table[i].transport, .body = "", .detail = "why"};
        assert_int_equal(gg_retry_classify(&reply, &message), table[i].class);
        assert_string_equal(message.data, "why");
        gg_buf_free(&message);
    }
}

/* An echoed input of 100 MB was reported: little of it is kept, and no character is cut. */
static void test_long_errors(void **state)
{
    (void)state;
    enum { LEN = 1 << 20 };
    static char body[LEN + 64];
    for (int form = 0; form < 2; form++) {
        size_t len = (size_t)snprintf(body, sizeof body, form ? "{\"detail\":\"x" : "x");
        while (len < (form ? GG_RETRY_BODY_MAX / 2 : LEN)) {
            body[len++] = '\xc3'; /* e with acute, after an odd byte */
            body[len++] = '\xa9';
        }
        snprintf(body + len, 3, "%s", form ? "\"}" : "");
        gg_buf message;
        gg_buf_init(&message, 4096);
        gg_http_reply reply = reply_of(422, body);
        assert_int_equal(gg_retry_classify(&reply, &message), GG_RETRY_REFUSED);
        assert_int_equal(message.status, GG_OK);
        assert_int_equal(message.len, (form ? GG_RETRY_TEXT_MAX : GG_RETRY_RAW_MAX) - 1);
        assert_memory_equal(message.data + message.len - 2, "\xc3\xa9", 2);
        gg_buf_free(&message);
    }
}

static void test_should_retry(void **state)
{
    (void)state;
    static const struct {
        const char *body, *should_retry;
        int status;
        gg_retry_class class;
    } table[] = {
        {"m", "false", 500, GG_RETRY_REFUSED},
        {"m", "false", 429, GG_RETRY_REFUSED},
        {"m", "true", 400, GG_RETRY_SERVER},
        {"m", "true", 401, GG_RETRY_SERVER},
        {"m", "true", 503, GG_RETRY_BUSY},
        {"m", "false", 400, GG_RETRY_REFUSED},
        {"m", "maybe", 500, GG_RETRY_SERVER},
        {"maximum context length", "true", 400, GG_RETRY_CONTEXT},
        {"m", "true", 200, GG_RETRY_OK},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        gg_buf message;
        gg_buf_init(&message, 4096);
        gg_http_reply reply = reply_of(table[i].status, table[i].body);
        reply.should_retry = table[i].should_retry;
        assert_int_equal(gg_retry_classify(&reply, &message), table[i].class);
        gg_buf_free(&message);
    }
}

static void test_error_type_header(void **state)
{
    (void)state;
    gg_buf message;
    gg_buf_init(&message, 4096);
    gg_http_reply reply = reply_of(400, "{\"message\":\"m\"}");
    reply.error_type = "ThrottlingException:http://internal.amazon.com/";
    assert_int_equal(gg_retry_classify(&reply, &message), GG_RETRY_RATE);
    gg_buf_free(&message);
}

static void test_durations(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } table[] = {
        {"1m6.5s", 66500},
        {"850ms", 850},
        {"41.7s", 41700},
        {"6m0s", 360000},
        {"20", 20000},
        {"0.5", 500},
        {"1h2m3s", 3723000},
        {"20 seconds", 20000},
        {"1 minute", 60000},
        {"2 minutes and", 120000},
        {"3S.", 3000},
        {"5 or later", 5000},
        {"7.", 7000},
        {"1d", 86400000},
        {"0", 0},
        {"", -1},
        {"-1", -1},
        {"soon", -1},
        {"s", -1},
        {"1e3", 1000},
        {"99999999999999999999", INT64_C(1000000000000)},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (gg_retry_duration(table[i].text) != table[i].ms)
            fail_msg("\"%s\": %lld", table[i].text, (long long)gg_retry_duration(table[i].text));
}

/* Now is Sunday, 6 November 1994, 08:49:37 GMT (the date of RFC 9110's examples). */
#define NOW_MS INT64_C(784111777000)

static void test_server_delay(void **state)
{
    (void)state;
    static const struct {
        const char *what, *after, *after_ms, *requests, *tokens, *text;
        int status;
        int64_t ms;
    } table[] = {
        {"nothing", NULL, NULL, NULL, NULL, "", 429, -1},
        {"seconds", "7", NULL, NULL, NULL, "", 503, 7000},
        {"fraction", "1.5", NULL, NULL, NULL, "", 429, 1500},
        {"zero is none", "0", NULL, NULL, NULL, "", 429, -1},
        {"negative is none", "-1", NULL, NULL, NULL, "", 429, -1},
        {"date", "Sun, 06 Nov 1994 08:49:57 GMT", NULL, NULL, NULL, "", 429, 20000},
        {"date, second form", "Sunday, 06-Nov-94 08:49:57 GMT", NULL, NULL, NULL, "", 429, 20000},
        {"date, third form", "Sun Nov  6 08:49:57 1994", NULL, NULL, NULL, "", 429, 20000},
        {"past date", "Sun, 06 Nov 1994 08:49:30 GMT", NULL, NULL, NULL, "", 429, -1},
        {"nonsense", "later", NULL, NULL, NULL, "", 429, -1},
        {"milliseconds first", "7", "250", NULL, NULL, "", 429, 250},
        {"bad milliseconds", "7", "-1", NULL, NULL, "", 429, 7000},
        {"long", "3600", NULL, NULL, NULL, "", 429, 3600000},
        {"in the text", NULL, NULL, NULL, NULL, "Limit reached. Please try again in 41.7s. Visit",
         429, 41700},
        {"in the text, ms", NULL, NULL, NULL, NULL, "Try again in 850ms", 429, 850},
        {"in the text, words", NULL, NULL, NULL, NULL, "please retry after 6 seconds", 429, 6000},
        {"header before text", "2", NULL, NULL, NULL, "try again in 9s", 429, 2000},
        {"resets", NULL, NULL, "1s", "6m0s", "", 429, 1000},
        {"resets, the other", NULL, NULL, "6m0s", "20ms", "", 429, 20},
        {"resets under 503", NULL, NULL, "1s", "1s", "", 503, -1},
        {"azure", NULL, NULL, "-1", "0", "", 429, -1},
        {"far reset is no order", NULL, NULL, "24h", NULL, "", 429, -1},
        {"text before resets", NULL, NULL, "1s", NULL, "try again in 5s", 429, 5000},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        gg_http_reply reply = reply_of(table[i].status, "");
        reply.retry_after = table[i].after;
        reply.retry_after_ms = table[i].after_ms;
        reply.reset_requests = table[i].requests;
        reply.reset_tokens = table[i].tokens;
        int64_t got = gg_retry_server_delay(&reply, table[i].text, NOW_MS);
        if (got != table[i].ms)
            fail_msg("%s: %lld", table[i].what, (long long)got);
    }
}

/* base * 2^attempt up to the cap, times the unit. */
static void test_delay(void **state)
{
    (void)state;
    static const struct {
        int attempt;
        double unit;
        int64_t ms;
    } table[] = {{0, 0, 0},       {0, 0.5, 250},    {1, 0.5, 500},
                 {2, 0.75, 1500}, {5, 0.5, 8000},   {6, 0.5, 15000},
                 {7, 0.5, 15000}, {40, 0.5, 15000}, {200, 0.9999, 29997}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(gg_retry_delay(table[i].attempt, table[i].unit), table[i].ms);
}

/* Same inputs, same jitter; any other input, another one; evenly spread. */
static void test_unit(void **state)
{
    (void)state;
    enum { N = 4000, BINS = 10 };
    double first = gg_retry_unit(42, "/chat", "body", 4, 0);
    assert_true(first == gg_retry_unit(42, "/chat", "body", 4, 0));
    assert_true(first != gg_retry_unit(43, "/chat", "body", 4, 0));
    assert_true(first != gg_retry_unit(42, "/chats", "body", 4, 0));
    assert_true(first != gg_retry_unit(42, "/chat", "bodY", 4, 0));
    assert_true(first != gg_retry_unit(42, "/chat", "body", 4, 1));
    assert_true(gg_retry_unit(42, "/x", NULL, 0, 0) >= 0);
    int bins[BINS] = {0};
    for (int i = 0; i < N; i++) {
        char body[32];
        int len = snprintf(body, sizeof body, "{\"seed\":%d}", i / 8);
        double unit = gg_retry_unit(1, "/chat", body, (size_t)len, i % 8);
        assert_true(unit >= 0 && unit < 1);
        bins[(int)(unit * BINS)]++;
    }
    /* 400 expected with a standard deviation of 19: five of them. */
    for (int i = 0; i < BINS; i++)
        assert_in_range(bins[i], 305, 495);
}

static void test_class_table(void **state)
{
    (void)state;
    static const char *const again = "transport timeout rate server bad_reply busy starting";
    static const char *const shared = "rate busy starting";
    for (gg_retry_class c = 0; c < GG_RETRY_CLASS_COUNT; c++) {
        const char *name = gg_retry_class_name(c);
        assert_true(strlen(name) > 0);
        assert_int_equal(gg_retry_again(c), strstr(again, name) != NULL);
        assert_int_equal(gg_retry_shared(c), strstr(shared, name) != NULL);
    }
    assert_string_equal(gg_retry_class_name(GG_RETRY_CLASS_COUNT), "unknown");
    assert_string_equal(gg_retry_advice(401), "check the API key");
    assert_string_equal(gg_retry_advice(503), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_transport),
        cmocka_unit_test(test_long_errors),
        cmocka_unit_test(test_should_retry),
        cmocka_unit_test(test_error_type_header),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_server_delay),
        cmocka_unit_test(test_delay),
        cmocka_unit_test(test_unit),
        cmocka_unit_test(test_class_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
