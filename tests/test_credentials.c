/* Where keys come from, that one fetch serves all, and tokens made from them. The container's
 * endpoint and the metadata service are a scripted server. */
#include "net/server.h"
#include "net/tokens.h"
#include "tests/folder.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#define NOON 1791633600 /* 2026-10-10T12:00:00Z */

/* ------------------------------------------------------------------ surroundings */

#define VARIABLES 12
static const char *variables[VARIABLES][2]; /* name, value */
static int64_t now_s = NOON;

static const char *variable(const char *name)
{
    for (size_t i = 0; i < VARIABLES && variables[i][0]; i++)
        if (strcmp(variables[i][0], name) == 0)
            return variables[i][1];
    return NULL;
}

static int64_t clock_s(void)
{
    return now_s;
}

/* A server that knows paths; `served` counts requests of credentials. */
static struct cloud {
    pthread_mutex_t lock;
    gg_server *server;
    const char *keys;  /* body of the keys; NULL = 500 */
    const char *later; /* takes its place after the first; NULL = stays */
    int failures;      /* 500 so often first */
    const char *role;  /* NULL = 404 */
    const char *token; /* the session or authorization that is wanted; NULL = none */
    int served, agents;
    const char *refused; /* bearer requests with this token are 403; "" = all; NULL = none */
    char bearer[2048];   /* the last one */
} cloud;

static void answer_keys(gg_exchange *exchange, const char *header)
{
    const char *given = gg_exchange_header(exchange, header);
    cloud.served++;
    if (cloud.token && (!given || strcmp(given, cloud.token) != 0))
        gg_exchange_reply_json(exchange, 401, "{}");
    else if (cloud.failures-- > 0 || !cloud.keys)
        gg_exchange_reply_json(exchange, 500, "{\"SecretAccessKey\":\"do-not-show\"}");
    else
        gg_exchange_reply_json(exchange, 200, cloud.keys);
    if (cloud.later) {
        cloud.keys = cloud.later;
        cloud.later = NULL;
    }
}

static void answer_bearer(gg_exchange *exchange)
{
    const char *given = gg_exchange_header(exchange, "authorization");
    bool first = cloud.agents++ == 0;
    snprintf(cloud.bearer, sizeof cloud.bearer, "%s", given ? given : "");
    bool refused = cloud.refused && (!*cloud.refused || (first && !cloud.refused[1]));
    gg_exchange_reply_json(exchange, refused ? 403 : 200,
                           "{\"Message\":\"Authentication failed\"}");
}

static void handle(void *context, gg_exchange *exchange, const gg_exchange_request *request)
{
    (void)context;
    pthread_mutex_lock(&cloud.lock);
    if (strcmp(request->path, "/sts") == 0) {
        bool good =
            strcmp(request->body, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&"
                                  "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr&"
                                  "RoleSessionName=guessgym&WebIdentityToken=a.b-c_%3D") == 0;
        gg_exchange_reply(exchange, good ? 200 : 403, "text/xml", NULL, good ? cloud.keys : "",
                          good ? strlen(cloud.keys) : 0);
        cloud.served++;
    } else if (strcmp(request->path, "/chat") == 0)
        answer_bearer(exchange);
    else if (strcmp(request->path, "/creds") == 0)
        answer_keys(exchange, "Authorization");
    else if (strcmp(request->path, "/latest/api/token") == 0 && *request->method == 'P' &&
             gg_exchange_header(exchange, "X-aws-ec2-metadata-token-ttl-seconds"))
        gg_exchange_reply(exchange, 200, "text/plain", NULL, "SESSION", 7);
    else if (strcmp(request->path, "/latest/meta-data/iam/security-credentials/") == 0)
        gg_exchange_reply(exchange, cloud.role ? 200 : 404, "text/plain", NULL,
                          cloud.role ? cloud.role : "", cloud.role ? strlen(cloud.role) : 0);
    else if (strcmp(request->path, "/latest/meta-data/iam/security-credentials/my-role") == 0)
        answer_keys(exchange, "X-aws-ec2-metadata-token");
    else
        gg_exchange_reply_json(exchange, 404, "{}");
    pthread_mutex_unlock(&cloud.lock);
}

typedef struct world {
    uv_loop_t loop;
    gg_http *http;
    gg_credentials *credentials;
    char url[128], full[256];
} world;

static void begin(world *w)
{
    gg_error error = {0};
    gg_server_options server = {.listen = ":0", .handler = handle};
    cloud = (struct cloud){.server = NULL};
    pthread_mutex_init(&cloud.lock, NULL);
    assert_int_equal(gg_server_start(&server, &cloud.server, &error), GG_OK);
    snprintf(w->url, sizeof w->url, "%s", gg_server_url(cloud.server));
    snprintf(w->full, sizeof w->full, "%s/creds", w->url);
    assert_int_equal(uv_loop_init(&w->loop), 0);
    assert_int_equal(gg_http_new(&w->loop, &w->http, &error), GG_OK);
    gg_credentials_options options = {w->http, variable, clock_s, w->url};
    assert_int_equal(gg_credentials_new(&options, &w->credentials, &error), GG_OK);
    memset(variables, 0, sizeof variables);
    now_s = NOON;
}

static void set(const char *name, const char *value)
{
    size_t i = 0;
    while (variables[i][0] && strcmp(variables[i][0], name) != 0)
        assert_true(++i < VARIABLES);
    variables[i][0] = name;
    variables[i][1] = value;
}

static void finish(world *w)
{
    gg_credentials_free(w->credentials);
    gg_http_free(w->http);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    gg_server_stop(cloud.server);
    pthread_mutex_destroy(&cloud.lock);
}

static void on_ready(gg_credentials_waiter *waiter)
{
    (void)waiter;
}

/* Asks until there is an answer; returns its status. */
static gg_status ask(world *w, gg_aws_keys *keys, gg_error *error)
{
    gg_credentials_waiter waiter = {.ready = on_ready};
    *error = (gg_error){0};
    gg_status status = gg_credentials_keys(w->credentials, keys, error);
    if (status != GG_E_STATE)
        return status;
    gg_credentials_wait(w->credentials, &waiter);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_false(waiter.waits);
    return gg_credentials_keys(w->credentials, keys, error);
}

/* ------------------------------------------------------------------ environment and file */

static const char FILE_TEXT[] = "# a comment\r\n[default]\r\naws_access_key_id = DEFAULT\r\n"
                                "aws_secret_access_key=sd=/+\r\n\r\n[ work ]\n"
                                "  aws_access_key_id=WORK\n;aws_session_token=no\n"
                                "aws_secret_access_key =  sw \naws_session_token = tw\n"
                                "[half]\naws_access_key_id = HALF\n"
                                "[bad]\naws_access_key_id = A B\naws_secret_access_key = s\n";

static void local_sources(void **state)
{
    (void)state;
    static const struct {
        const char *id, *secret, *token, *profile, *file;
        gg_status status;
        const char *id_out, *secret_out, *token_out; /* or a part of the sentence in id_out */
    } rows[] = {
        {"A", "s", NULL, NULL, NULL, GG_OK, "A", "s", NULL},
        {"A", "s", "t", "work", "creds", GG_OK, "A", "s", "t"},
        {"A", NULL, NULL, NULL, "creds", GG_E_CONFIG, "the environment gives no secret", NULL,
         NULL},
        {NULL, "s", NULL, NULL, "creds", GG_E_CONFIG, "the environment gives no access key id",
         NULL, NULL},
        {"A\r\nX: y", "s", NULL, NULL, NULL, GG_E_CONFIG, "no key has", NULL, NULL},
        {NULL, NULL, NULL, NULL, "creds", GG_OK, "DEFAULT", "sd=/+", NULL},
        {NULL, NULL, NULL, "work", "creds", GG_OK, "WORK", "sw", "tw"},
        {NULL, NULL, NULL, "half", "creds", GG_E_CONFIG, "gives no secret", NULL, NULL},
        {NULL, NULL, NULL, "bad", "creds", GG_E_CONFIG, "no key has", NULL, NULL},
        {NULL, NULL, NULL, "none", "creds", GG_E_CONFIG, "AWS_PROFILE is none", NULL, NULL},
        {NULL, NULL, NULL, "work", "absent", GG_E_CONFIG, "AWS_PROFILE is work", NULL, NULL},
        {NULL, NULL, NULL, NULL, "absent", GG_E_CONFIG, "there are no AWS credentials", NULL, NULL},
    };
    char dir[FOLDER_PATH];
    folder_make(dir);
    folder_write(dir, "creds", FILE_TEXT, sizeof FILE_TEXT - 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world w;
        gg_aws_keys keys;
        gg_error error;
        begin(&w);
        set("AWS_EC2_METADATA_DISABLED", "true");
        set("AWS_ACCESS_KEY_ID", rows[i].id);
        set("AWS_SECRET_ACCESS_KEY", rows[i].secret);
        set("AWS_SESSION_TOKEN", rows[i].token);
        set("AWS_PROFILE", rows[i].profile);
        set("AWS_SHARED_CREDENTIALS_FILE", rows[i].file ? folder_path(dir, rows[i].file) : NULL);
        assert_int_equal(ask(&w, &keys, &error), rows[i].status);
        if (rows[i].status == GG_OK) {
            assert_string_equal(keys.id, rows[i].id_out);
            assert_string_equal(keys.secret, rows[i].secret_out);
            assert_string_equal(keys.token ? keys.token : "-",
                                rows[i].token_out ? rows[i].token_out : "-");
        } else {
            assert_non_null(strstr(error.text, rows[i].id_out));
        }
        finish(&w);
    }
    folder_remove(dir);
}

/* ------------------------------------------------------------------ fetched keys */

#define KEYS(id, until)                                                                            \
    "{\"AccessKeyId\":\"" id "\",\"SecretAccessKey\":\"ssss\",\"Token\":\"tttt\",\"Expiration\":"  \
    "\"" until "\",\"Code\":\"Success\"}"
#define LATE "2026-10-10T18:00:00Z"

static void fetched_sources(void **state)
{
    (void)state;
    static const struct {
        const char *what, *relative, *full, *wanted, *role, *keys;
        int failures;
        gg_status status;
        const char *id; /* or a part of the sentence */
        int served;
    } rows[] = {
        {"relative", "/creds", NULL, NULL, NULL, KEYS("C", LATE), 0, GG_OK, "C", 1},
        {"relative, second try", "/creds", NULL, NULL, NULL, KEYS("C", LATE), 1, GG_OK, "C", 2},
        {"relative, gives up", "/creds", NULL, NULL, NULL, KEYS("C", LATE), 9, GG_E_UNREACHABLE,
         "HTTP 500", 3},
        {"full, loopback", NULL, "own", NULL, NULL, KEYS("C", LATE), 0, GG_OK, "C", 1},
        {"full, with a token", NULL, "own", "Basic abc", NULL, KEYS("C", LATE), 0, GG_OK, "C", 1},
        {"full, elsewhere", NULL, "http://example.com/creds", NULL, NULL, NULL, 0, GG_E_CONFIG,
         "in the clear", 0},
        {"full, loopback as user", NULL, "http://127.0.0.1@example.com/", NULL, NULL, NULL, 0,
         GG_E_CONFIG, "in the clear", 0},
        {"full, no scheme", NULL, "ftp://127.0.0.1/", NULL, NULL, NULL, 0, GG_E_CONFIG,
         "in the clear", 0},
        {"no JSON", "/creds", NULL, NULL, NULL, "do-not-show", 0, GG_E_PROTOCOL, "no JSON", 3},
        {"no key", "/creds", NULL, NULL, NULL, "{\"Token\":\"do-not-show\"}", 0, GG_E_CONFIG,
         "no access key id", 1},
        {"no time", "/creds", NULL, NULL, NULL, KEYS("C", "soon"), 0, GG_E_PROTOCOL, "no time", 3},
        {"instance", NULL, NULL, "SESSION", "my-role", KEYS("I", LATE), 0, GG_OK, "I", 1},
        {"instance, two lines", NULL, NULL, "SESSION", "my-role\nother", KEYS("I", LATE), 0, GG_OK,
         "I", 1},
        {"instance without a role", NULL, NULL, NULL, NULL, NULL, 0, GG_E_UNREACHABLE,
         "has no role", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world w;
        gg_aws_keys keys;
        gg_error error;
        begin(&w);
        bool instance = !rows[i].relative && !rows[i].full;
        set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", rows[i].relative);
        set("AWS_CONTAINER_CREDENTIALS_FULL_URI",
            rows[i].full && strcmp(rows[i].full, "own") == 0 ? w.full : rows[i].full);
        set("AWS_CONTAINER_AUTHORIZATION_TOKEN", instance ? NULL : rows[i].wanted);
        set("AWS_EC2_METADATA_SERVICE_ENDPOINT", w.url);
        cloud.keys = rows[i].keys;
        cloud.failures = rows[i].failures;
        cloud.role = rows[i].role;
        cloud.token = rows[i].wanted;
        gg_status status = ask(&w, &keys, &error);
        if (status != rows[i].status)
            fail_msg("%s: %s", rows[i].what, error.text);
        if (status == GG_OK)
            assert_string_equal(keys.id, rows[i].id);
        else if (!strstr(error.text, rows[i].id))
            fail_msg("%s: %s", rows[i].what, error.text);
        assert_null(strstr(error.text, "do-not-show"));
        assert_int_equal(cloud.served, rows[i].served);
        finish(&w);
    }
}

#define XML(keys)                                                                                  \
    "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>" keys       \
    "</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"

static void web_identity(void **state)
{
    (void)state;
    static const char good[] =
        XML("<AccessKeyId>W</AccessKeyId>\n<SecretAccessKey>s+/=</SecretAccessKey>"
            "<SessionToken>t//==</SessionToken><Expiration>" LATE "</Expiration>");
    static const struct {
        const char *file, *keys;
        gg_status status;
        const char *id; /* or a part of the sentence */
        int served;
    } rows[] = {
        {"token", good, GG_OK, "W", 1},
        {"absent", good, GG_E_IO, "absent", 0},
        {"other", good, GG_E_UNREACHABLE, "HTTP 403", 3},
        {"token", XML("<AccessKeyId>W</AccessKeyId>"), GG_E_CONFIG, "no secret access key", 1},
        {"token", XML("<AccessKeyId>W</AccessKeyId><SecretAccessKey>do-not-show</SecretAccessKey>"),
         GG_E_PROTOCOL, "without an end", 3},
    };
    char dir[FOLDER_PATH];
    folder_make(dir);
    folder_write(dir, "token", "a.b-c_=\n", 8);
    folder_write(dir, "other", "x", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world w;
        gg_aws_keys keys;
        gg_error error;
        char sts[160];
        begin(&w);
        snprintf(sts, sizeof sts, "%s/sts", w.url);
        set("AWS_WEB_IDENTITY_TOKEN_FILE", folder_path(dir, rows[i].file));
        set("AWS_ROLE_ARN", "arn:aws:iam::1:role/r");
        set("AWS_ENDPOINT_URL_STS", sts);
        set("AWS_PROFILE", "passed over");
        cloud.keys = rows[i].keys;
        gg_status status = ask(&w, &keys, &error);
        if (status != rows[i].status)
            fail_msg("row %zu: %s", i, error.text);
        if (status == GG_OK) {
            assert_string_equal(keys.id, rows[i].id);
            assert_string_equal(keys.secret, "s+/=");
            assert_string_equal(keys.token, "t//==");
        } else {
            assert_non_null(strstr(error.text, rows[i].id));
        }
        assert_null(strstr(error.text, "do-not-show"));
        assert_int_equal(cloud.served, rows[i].served);
        finish(&w);
    }
    folder_remove(dir);
}

/* Before the end they are renewed behind the user's back, at the end they are waited for. */
static void renewal(void **state)
{
    (void)state;
    world w;
    gg_aws_keys keys;
    gg_error error;
    begin(&w);
    set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/creds");
    cloud.keys = KEYS("FIRST", "2026-10-10T13:00:00Z");
    cloud.later = KEYS("SECOND", LATE);
    assert_int_equal(ask(&w, &keys, &error), GG_OK);
    int64_t version = gg_credentials_version(w.credentials);
    now_s = NOON + 3600 - GG_CREDENTIALS_AHEAD_S;
    assert_int_equal(ask(&w, &keys, &error), GG_OK);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(cloud.served, 1); /* not yet */
    now_s++;
    assert_int_equal(gg_credentials_keys(w.credentials, &keys, &error), GG_OK);
    assert_string_equal(keys.id, "FIRST");
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(cloud.served, 2);
    assert_int_equal(gg_credentials_keys(w.credentials, &keys, &error), GG_OK);
    assert_string_equal(keys.id, "SECOND");
    assert_true(gg_credentials_version(w.credentials) > version);
    now_s = NOON + 6 * 3600 - GG_CREDENTIALS_LAST_S; /* too late to use them */
    assert_int_equal(gg_credentials_keys(w.credentials, &keys, &error), GG_E_STATE);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    gg_credentials_forget(w.credentials);
    assert_int_equal(gg_credentials_keys(w.credentials, &keys, &error), GG_E_STATE);
    assert_int_equal(gg_credentials_keys(w.credentials, &keys, &error), GG_E_STATE);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(cloud.served, 4);
    finish(&w);
}

/* ------------------------------------------------------------------ tokens */

#define POSTS 96

typedef struct tally {
    int good, stopped;
    char message[512];
} tally;

static void count(void *context, const gg_post_result *result)
{
    tally *t = context;
    t->good += result->outcome == GG_RETRY_OK;
    t->stopped += result->outcome == GG_RETRY_STOP;
    snprintf(t->message, sizeof t->message, "%s", result->message);
}

static void post_many(gg_endpoint *endpoint, int posts, tally *t)
{
    gg_error error;
    gg_post *post;
    const gg_post_request request = {.path = "/chat", .body = "{}", .len = 2};
    for (int i = 0; i < posts; i++)
        assert_int_equal(gg_endpoint_send(endpoint, &request, count, t, &post, &error), GG_OK);
}

static void one_fetch(void **state)
{
    (void)state;
    static const struct {
        const char *refused; /* "" = every bearer, "1" = the first */
        int failures, second_s;
        int served, good, requests;
        const char *message;
    } rows[] = {
        {NULL, 0, 0, 1, 2 * POSTS, 2 * POSTS, ""},
        {NULL, 0, GG_TOKEN_KEEP_S - 1, 1, 2 * POSTS, 2 * POSTS, ""},
        {NULL, 9, 0, 3, 0, 0, "HTTP 500"},
        {"1", 0, 0, 1, 2 * POSTS, 2 * POSTS + 1, ""}, /* a fresh token: another's refusal */
        {"", 0, 0, 1, 0, 4 * POSTS, "Authentication failed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world w;
        tally t = {0};
        gg_error error;
        gg_signer *signer;
        gg_endpoint *endpoint;
        begin(&w);
        set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/creds");
        cloud.keys = KEYS("C", LATE);
        cloud.failures = rows[i].failures;
        cloud.refused = rows[i].refused;
        gg_tokens *tokens = gg_tokens_new(w.credentials);
        assert_int_equal(gg_signer_new(tokens, "us-west-2", &signer, &error), GG_OK);
        gg_endpoint_options options = {
            .base_url = w.url, .sign = gg_signer_sign, .sign_context = signer, .in_flight_max = 32};
        assert_int_equal(gg_endpoint_new(w.http, &options, &endpoint, &error), GG_OK);
        gg_signer_attach(signer, endpoint);
        post_many(endpoint, POSTS, &t);
        uv_run(&w.loop, UV_RUN_DEFAULT);
        now_s += rows[i].second_s;
        if (rows[i].good || rows[i].refused)
            post_many(endpoint, POSTS, &t);
        uv_run(&w.loop, UV_RUN_DEFAULT);
        assert_int_equal(t.good, rows[i].good);
        assert_int_equal(cloud.served, rows[i].served);
        assert_int_equal(cloud.agents, rows[i].requests);
        assert_non_null(strstr(t.message, rows[i].message));
        assert_null(strstr(t.message, GG_BEARER_PREFIX));
        gg_signer_free(signer);
        gg_endpoint_free(endpoint);
        gg_tokens_free(tokens);
        finish(&w);
    }
}

static void note_outcome(void *context, const gg_post_result *result)
{
    *(gg_retry_class *)context = result->outcome;
}

/* A listener that never answers. */
static int silent_listener(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

/* A request whose credentials do not come ends at its deadline, not later. */
static void held_deadline(void **state)
{
    (void)state;
    world w;
    gg_error error;
    gg_signer *signer;
    gg_endpoint *endpoint;
    gg_post *post;
    gg_retry_class outcome = GG_RETRY_OK;
    begin(&w);
    int port, silent = silent_listener(&port);
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/creds", port);
    set("AWS_CONTAINER_CREDENTIALS_FULL_URI", url);
    gg_tokens *tokens = gg_tokens_new(w.credentials);
    assert_int_equal(gg_signer_new(tokens, "us-west-2", &signer, &error), GG_OK);
    gg_endpoint_options options = {
        .base_url = w.url, .sign = gg_signer_sign, .sign_context = signer};
    assert_int_equal(gg_endpoint_new(w.http, &options, &endpoint, &error), GG_OK);
    gg_signer_attach(signer, endpoint);
    const gg_post_request request = {
        .path = "/chat", .body = "{}", .len = 2, .deadline_ms = (int64_t)uv_now(&w.loop) + 50};
    assert_int_equal(gg_endpoint_send(endpoint, &request, note_outcome, &outcome, &post, &error),
                     GG_OK);
    while (outcome == GG_RETRY_OK)
        uv_run(&w.loop, UV_RUN_ONCE);
    assert_int_equal(outcome, GG_RETRY_DEADLINE);
    assert_int_equal(cloud.agents, 0);
    gg_signer_free(signer);
    gg_endpoint_free(endpoint);
    gg_tokens_free(tokens);
    close(silent);
    finish(&w);
}

/* A token is kept for a while; one that is refused when it is old takes new keys with it. */
static void token_life(void **state)
{
    (void)state;
    world w;
    tally t = {0};
    gg_error error;
    gg_signer *signer;
    gg_endpoint *endpoint;
    char first[sizeof cloud.bearer];
    begin(&w);
    set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/creds");
    cloud.keys = KEYS("FIRST", LATE);
    cloud.later = KEYS("SECOND", LATE);
    gg_tokens *tokens = gg_tokens_new(w.credentials);
    assert_int_equal(gg_signer_new(tokens, "us-west-2", &signer, &error), GG_OK);
    gg_endpoint_options options = {
        .base_url = w.url, .sign = gg_signer_sign, .sign_context = signer};
    assert_int_equal(gg_endpoint_new(w.http, &options, &endpoint, &error), GG_OK);
    gg_signer_attach(signer, endpoint);
    post_many(endpoint, 1, &t);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    memcpy(first, cloud.bearer, sizeof first);
    now_s += GG_TOKEN_KEEP_S; /* another token from the same keys */
    post_many(endpoint, 1, &t);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_string_not_equal(first, cloud.bearer);
    assert_int_equal(cloud.served, 1);
    now_s += 10;
    cloud.agents = 0;
    cloud.refused = "1";
    post_many(endpoint, 1, &t);
    uv_run(&w.loop, UV_RUN_DEFAULT);
    assert_int_equal(cloud.served, 2);
    assert_int_equal(t.good, 3);
    gg_buf query;
    gg_sigv4_claim claim;
    gg_buf_init(&query, GG_BEARER_MAX);
    assert_int_equal(gg_bearer_open(cloud.bearer + strlen("Bearer "), &query, &claim, &error),
                     GG_OK);
    assert_string_equal(claim.key_id, "SECOND");
    assert_string_equal(claim.region, "us-west-2");
    assert_int_equal(claim.expires_s, GG_TOKEN_EXPIRES_S);
    assert_int_equal(gg_bearer_check(query.data, &claim, "ssss", now_s), GG_SIGV4_GOOD);
    gg_buf_free(&query);
    gg_signer_free(signer);
    gg_endpoint_free(endpoint);
    gg_tokens_free(tokens);
    finish(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_sources), cmocka_unit_test(fetched_sources),
        cmocka_unit_test(web_identity),  cmocka_unit_test(renewal),
        cmocka_unit_test(one_fetch),     cmocka_unit_test(token_life),
        cmocka_unit_test(held_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
