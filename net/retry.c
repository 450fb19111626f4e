#include "net/retry.h"
#include "core/json.h"

#include <curl/curl.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#define DURATION_MAX_MS INT64_C(1000000000000)

/* ---- tables ---- */

static const struct {
    const char *name;
    bool again, shared;
} CLASSES[GG_RETRY_CLASS_COUNT] = {
    [GG_RETRY_OK] = {"ok", false, false},
    [GG_RETRY_TRANSPORT] = {"transport", true, false},
    [GG_RETRY_TIMEOUT] = {"timeout", true, false},
    [GG_RETRY_RATE] = {"rate", true, true},
    [GG_RETRY_SERVER] = {"server", true, false},
    [GG_RETRY_BAD_REPLY] = {"bad_reply", true, false},
    [GG_RETRY_CONTEXT] = {"context", false, false},
    [GG_RETRY_REFUSED] = {"refused", false, false},
    [GG_RETRY_STOP] = {"stop", false, false},
    [GG_RETRY_DEADLINE] = {"deadline", false, false},
    [GG_RETRY_BUSY] = {"busy", true, true},
    [GG_RETRY_STARTING] = {"starting", true, true},
};

/* The first row that a status falls into. */
static const struct {
    int from, to;
    gg_retry_class class;
    const char *advice;
} STATUSES[] = {
    {200, 299, GG_RETRY_OK, ""},
    {300, 399, GG_RETRY_STOP, "give the address it redirects to"},
    {401, 401, GG_RETRY_STOP, "check the API key"},
    {402, 402, GG_RETRY_STOP, "the account has no credit left"},
    {403, 403, GG_RETRY_STOP,
     "check the key's permissions, and for signed requests the region and the clock"},
    {404, 404, GG_RETRY_STOP, "check the model's name and the base URL"},
    {405, 405, GG_RETRY_STOP, "check the base URL"},
    {407, 407, GG_RETRY_STOP, "the proxy wants a login"},
    {408, 408, GG_RETRY_TIMEOUT, ""},
    {409, 409, GG_RETRY_SERVER, ""},
    {413, 413, GG_RETRY_CONTEXT, ""}, /* a proxy's body limit, or tokens a minute */
    {424, 425, GG_RETRY_SERVER, ""},
    {429, 429, GG_RETRY_RATE, ""},
    {400, 499, GG_RETRY_REFUSED, ""},
    {501, 501, GG_RETRY_REFUSED, ""},
    {503, 503, GG_RETRY_BUSY, ""},
    {505, 505, GG_RETRY_REFUSED, ""},
    {529, 529, GG_RETRY_BUSY, ""},
    {500, 599, GG_RETRY_SERVER, ""},
};

/* Names in error.code, error.type, error_type, __type, code and x-amzn-errortype. They say more
 * than the status; the first row that any of them matches counts. */
static const struct {
    const char *name;
    gg_retry_class class;
} CODES[] = {
    {"insufficient_quota", GG_RETRY_STOP},
    {"insufficient_user_quota", GG_RETRY_STOP},
    {"insufficient_balance", GG_RETRY_STOP},
    {"insufficient_credits", GG_RETRY_STOP},
    {"billing_hard_limit_reached", GG_RETRY_STOP},
    {"billing_not_active", GG_RETRY_STOP},
    {"billing_error", GG_RETRY_STOP},
    {"spend_limit_reached", GG_RETRY_STOP},
    {"access_terminated", GG_RETRY_STOP},
    {"ServiceQuotaExceededException", GG_RETRY_STOP},
    {"invalid_api_key", GG_RETRY_STOP},
    {"model_not_found", GG_RETRY_STOP},
    {"AccessDeniedException", GG_RETRY_STOP},
    {"AccessDenied", GG_RETRY_STOP},
    {"UnrecognizedClientException", GG_RETRY_STOP},
    {"InvalidClientTokenId", GG_RETRY_STOP},
    {"InvalidSignatureException", GG_RETRY_STOP},
    {"SignatureDoesNotMatch", GG_RETRY_STOP},
    {"IncompleteSignatureException", GG_RETRY_STOP},
    {"MissingAuthenticationTokenException", GG_RETRY_STOP},
    {"ExpiredTokenException", GG_RETRY_STOP},
    {"ExpiredToken", GG_RETRY_STOP},
    {"context_length_exceeded", GG_RETRY_CONTEXT},
    {"exceed_context_size_error", GG_RETRY_CONTEXT},
    {"rate_limit_exceeded", GG_RETRY_RATE},
    {"slow_down", GG_RETRY_RATE},
    {"ThrottlingException", GG_RETRY_RATE},
    {"Throttling", GG_RETRY_RATE},
    {"TooManyRequestsException", GG_RETRY_RATE},
    {"RequestLimitExceeded", GG_RETRY_RATE},
    {"ModelNotReadyException", GG_RETRY_STARTING},
    {"ModelTimeoutException", GG_RETRY_TIMEOUT},
    {"ServiceUnavailableException", GG_RETRY_BUSY},
    {"overloaded", GG_RETRY_BUSY},
    {"overloaded_error", GG_RETRY_BUSY},
    {"InternalServerException", GG_RETRY_SERVER},
    {"InternalFailure", GG_RETRY_SERVER},
};

/* Wordings, lower case, with the statuses under which they count (0 ends the list). */
#define CONTEXT_STATUSES                                                                           \
    {                                                                                              \
        400, 413, 422, 424, 500                                                                    \
    }
#define QUOTA_STATUSES                                                                             \
    {                                                                                              \
        400, 403, 429                                                                              \
    }
static const struct {
    const char *phrase;
    int statuses[6];
    gg_retry_class class;
} PHRASES[] = {
    /* What no waiting and no shorter conversation mends, though it sounds like an overflow. */
    {"cannot be greater than max_model_len", {400}, GG_RETRY_REFUSED},
    {"failed to parse tool call arguments", {500}, GG_RETRY_REFUSED},
    /* A trajectory of the managed runtime that has ended stays ended. */
    {"cannot transition trajectory", {400, 409}, GG_RETRY_REFUSED},
    {"not in valid status", {400, 409}, GG_RETRY_REFUSED},
    {"maximum context length", CONTEXT_STATUSES, GG_RETRY_CONTEXT},
    {"context length", CONTEXT_STATUSES, GG_RETRY_CONTEXT},
    {"context size", CONTEXT_STATUSES, GG_RETRY_CONTEXT},
    {"context window", CONTEXT_STATUSES, GG_RETRY_CONTEXT},
    {"maximum model length", CONTEXT_STATUSES, GG_RETRY_CONTEXT},
    {"max_model_len", CONTEXT_STATUSES, GG_RETRY_CONTEXT},
    {"prompt is too long", CONTEXT_STATUSES, GG_RETRY_CONTEXT},
    {"prompt_too_long", CONTEXT_STATUSES, GG_RETRY_CONTEXT},
    {"input is too long", CONTEXT_STATUSES, GG_RETRY_CONTEXT},
    {"too many tokens", CONTEXT_STATUSES, GG_RETRY_CONTEXT},
    {"exceeds the configured limit", CONTEXT_STATUSES, GG_RETRY_CONTEXT},
    {"exceed the configured limit", CONTEXT_STATUSES, GG_RETRY_CONTEXT},
    {"max_tokens must be at least 1", CONTEXT_STATUSES, GG_RETRY_CONTEXT},
    {"`inputs` must have less than", CONTEXT_STATUSES, GG_RETRY_CONTEXT},
    {"exceeded your current quota", QUOTA_STATUSES, GG_RETRY_STOP},
    {"insufficient balance", QUOTA_STATUSES, GG_RETRY_STOP},
    {"insufficient credit", QUOTA_STATUSES, GG_RETRY_STOP},
    {"out of credit", QUOTA_STATUSES, GG_RETRY_STOP},
    {"credit balance is too low", QUOTA_STATUSES, GG_RETRY_STOP},
    {"billing details", QUOTA_STATUSES, GG_RETRY_STOP},
    {"spend limit", QUOTA_STATUSES, GG_RETRY_STOP},
    {"loading model", {503}, GG_RETRY_STARTING},
    {"model is loading", {503}, GG_RETRY_STARTING},
    {"currently loading", {503}, GG_RETRY_STARTING},
    {"model is not ready", {503}, GG_RETRY_STARTING},
};

/* Where an error's text stands, best first. A list is joined; an object's "msg" is taken. */
static const char *const TEXTS[] = {"error.message", "error",  "message",
                                    "Message",       "detail", "OriginalMessage"};
/* Where its name stands. */
static const char *const NAMES[] = {"error.code", "error.type", "error_type", "__type", "code"};

static const struct {
    const char *unit;
    double ms;
} UNITS[] = {
    {"", 1000},         {"ms", 1},          {"millisecond", 1}, {"milliseconds", 1},
    {"s", 1000},        {"sec", 1000},      {"secs", 1000},     {"second", 1000},
    {"seconds", 1000},  {"m", 60000},       {"min", 60000},     {"mins", 60000},
    {"minute", 60000},  {"minutes", 60000}, {"h", 3600000},     {"hour", 3600000},
    {"hours", 3600000}, {"d", 86400000},    {"day", 86400000},  {"days", 86400000},
};

/* What stands before a delay in an error's text, lower case. */
static const char *const DELAY_WORDS[] = {"try again in ", "retry after ", "retry in ",
                                          "try again after ", "please wait "};

const char *gg_retry_class_name(gg_retry_class c)
{
    return c < GG_RETRY_CLASS_COUNT ? CLASSES[c].name : "unknown";
}

bool gg_retry_again(gg_retry_class c)
{
    return c < GG_RETRY_CLASS_COUNT && CLASSES[c].again;
}

bool gg_retry_shared(gg_retry_class c)
{
    return c < GG_RETRY_CLASS_COUNT && CLASSES[c].shared;
}

static size_t status_row(int status)
{
    size_t row = 0;
    while (row + 1 < sizeof STATUSES / sizeof *STATUSES &&
           (status < STATUSES[row].from || status > STATUSES[row].to))
        row++;
    return row; /* the last one, "server error", for what is no status at all */
}

const char *gg_retry_advice(int status)
{
    return STATUSES[status_row(status)].advice;
}

/* ---- the error's text ---- */

/* Appends at most `room` bytes on one line; control characters become blanks, and no character is
 * cut in the middle. */
static void add_line(gg_buf *message, const char *text, size_t len, size_t room)
{
    while (len && isspace((unsigned char)*text))
        text++, len--;
    if (len > room) {
        len = room;
        while (len && ((unsigned char)text[len] & 0xC0) == 0x80)
            len--;
    }
    while (len && isspace((unsigned char)text[len - 1]))
        len--;
    for (size_t i = 0; i < len; i++)
        gg_buf_char(message, (unsigned char)text[i] < ' ' ? ' ' : text[i]);
}

/* The text of a value: a string, a list of such, an object's "msg" or "message". */
static void add_value(gg_buf *message, const cJSON *value)
{
    if (cJSON_IsString(value))
        add_line(message, value->valuestring, strlen(value->valuestring), GG_RETRY_TEXT_MAX);
    if (cJSON_IsObject(value) && gg_json_text(value, "msg"))
        add_value(message, gg_json_get(value, "msg"));
    if (!cJSON_IsArray(value))
        return;
    const cJSON *item;
    size_t start = message->len;
    cJSON_ArrayForEach(item, value)
    {
        if (message->len > start)
            gg_buf_str(message, "; ");
        add_value(message, item);
        if (message->len - start > GG_RETRY_TEXT_MAX)
            return;
    }
}

/* A gateway's page: its title says it all. */
static void add_raw(gg_buf *message, const char *body, size_t len)
{
    const char *title = len && *body == '<' ? strcasestr(body, "<title>") : NULL;
    if (!title) {
        add_line(message, body, len, GG_RETRY_RAW_MAX);
        return;
    }
    title += strlen("<title>");
    gg_buf_str(message, "a web page, \"");
    add_line(message, title, strcspn(title, "<"), GG_RETRY_RAW_MAX);
    gg_buf_char(message, '"');
}

static void add_text(const cJSON *root, const gg_http_reply *reply, gg_buf *message)
{
    size_t start = message->len;
    for (size_t i = 0; root && i < sizeof TEXTS / sizeof *TEXTS && message->len == start; i++)
        add_value(message, gg_json_path(root, TEXTS[i]));
    /* A router names itself in the message and the true cause here. */
    const cJSON *cause = root ? gg_json_path(root, "error.metadata.raw") : NULL;
    if (cause && message->len > start && cJSON_IsString(cause)) {
        gg_buf_str(message, ": ");
        add_value(message, cause);
    }
    if (message->len == start)
        add_raw(message, reply->body, reply->len);
}

/* ---- the class ---- */

/* "com.amazon#ThrottlingException" and "ThrottlingException:http://..." mean the same. */
static bool names(const char *said, const char *name)
{
    const char *hash = strchr(said, '#');
    said = hash ? hash + 1 : said;
    size_t len = strcspn(said, ":");
    return len == strlen(name) && strncasecmp(said, name, len) == 0;
}

static bool by_code(const cJSON *root, const gg_http_reply *reply, gg_retry_class *class)
{
    const char *said[sizeof NAMES / sizeof *NAMES + 1] = {reply->error_type};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        const cJSON *value = root ? gg_json_path(root, NAMES[i]) : NULL;
        said[i + 1] = cJSON_GetStringValue(value);
    }
    for (size_t row = 0; row < sizeof CODES / sizeof *CODES; row++)
        for (size_t i = 0; i < sizeof said / sizeof *said; i++)
            if (said[i] && names(said[i], CODES[row].name)) {
                *class = CODES[row].class;
                return true;
            }
    return false;
}

static bool by_phrase(int status, const char *message, gg_retry_class *class)
{
    for (size_t row = 0; row < sizeof PHRASES / sizeof *PHRASES; row++) {
        const int *s = PHRASES[row].statuses;
        while (*s && *s != status)
            s++;
        if (*s && strcasestr(message, PHRASES[row].phrase)) {
            *class = PHRASES[row].class;
            return true;
        }
    }
    return false;
}

/* A container's failure comes wrapped in a 424 that names the inner status. */
static int inner_status(const cJSON *root, int status)
{
    double inner;
    if (status == 424 && root && gg_json_number(root, "OriginalStatusCode", &inner) &&
        inner >= 400 && inner <= 599)
        return (int)inner;
    return status;
}

static gg_retry_class overrule(const gg_http_reply *reply, gg_retry_class class)
{
    if (!reply->should_retry || class == GG_RETRY_CONTEXT)
        return class;
    if (strcasecmp(reply->should_retry, "true") == 0 && !gg_retry_again(class))
        return GG_RETRY_SERVER;
    if (strcasecmp(reply->should_retry, "false") == 0 && gg_retry_again(class))
        return GG_RETRY_REFUSED;
    return class;
}

static gg_retry_class classify_error(const cJSON *root, const gg_http_reply *reply, gg_buf *message)
{
    size_t start = message->len;
    int status = inner_status(root, reply->status);
    gg_retry_class class = STATUSES[status_row(status)].class;
    add_text(root, reply, message);
    if (!by_code(root, reply, &class))
        by_phrase(status, gg_buf_cstr(message) + start, &class);
    return overrule(reply, class);
}

gg_retry_class gg_retry_classify(const gg_http_reply *reply, gg_buf *message)
{
    if (reply->transport != GG_TRANSPORT_OK) {
        gg_buf_str(message, reply->detail);
        return reply->transport == GG_TRANSPORT_TIMEOUT   ? GG_RETRY_TIMEOUT
               : reply->transport == GG_TRANSPORT_TOO_BIG ? GG_RETRY_REFUSED
                                                          : GG_RETRY_TRANSPORT;
    }
    if (STATUSES[status_row(reply->status)].class == GG_RETRY_OK)
        return GG_RETRY_OK;
    cJSON *root = NULL;
    if (reply->len <= GG_RETRY_BODY_MAX)
        (void)gg_json_parse(reply->body, reply->len, &root, NULL);
    gg_retry_class class = classify_error(root, reply, message);
    cJSON_Delete(root);
    return class;
}

/* ---- delays ---- */

/* A number without sign or exponent; 0 characters when there is none. */
static size_t read_number(const char *text, double *out)
{
    const char *p = text;
    double scale = 1;
    *out = 0;
    for (; isdigit((unsigned char)*p) && *out < 1e12; p++)
        *out = *out * 10 + (*p - '0');
    if (p > text && *p == '.' && isdigit((unsigned char)p[1]))
        for (p++; isdigit((unsigned char)*p); p++)
            *out += (*p - '0') * (scale /= 10);
    return (size_t)(p - text);
}

static bool read_unit(const char **text, double *ms)
{
    size_t len = 0;
    while (isalpha((unsigned char)(*text)[len]))
        len++;
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
        if (strlen(UNITS[i].unit) == len && strncasecmp(*text, UNITS[i].unit, len) == 0) {
            *text += len;
            *ms = UNITS[i].ms;
            return true;
        }
    return false;
}

int64_t gg_retry_duration(const char *text)
{
    double total = 0, number, unit;
    bool any = false;
    for (size_t used; text += strspn(text, " "), (used = read_number(text, &number)) > 0;) {
        const char *after = text + used;
        after += strspn(after, " ");
        if (!read_unit(&after, &unit)) {
            if (any)
                break;
            unit = 1000; /* "5 or later": a bare number */
        }
        text = after;
        total += number * unit;
        any = true;
    }
    if (!any)
        return -1;
    return total < (double)DURATION_MAX_MS ? (int64_t)total : DURATION_MAX_MS;
}

static int64_t retry_after(const char *value, int64_t now_unix_ms)
{
    value += strspn(value, " ");
    double seconds;
    size_t used = read_number(value, &seconds);
    if (used && !value[used + strspn(value + used, " ")])
        return gg_retry_duration(value);
    time_t when = curl_getdate(value, NULL);
    int64_t delay = (int64_t)when * 1000 - now_unix_ms;
    return when != (time_t)-1 && delay > 0 ? delay : -1;
}

static int64_t delay_in_text(const char *message)
{
    for (size_t i = 0; i < sizeof DELAY_WORDS / sizeof *DELAY_WORDS; i++) {
        const char *at = strcasestr(message, DELAY_WORDS[i]);
        int64_t delay = at ? gg_retry_duration(at + strlen(DELAY_WORDS[i])) : -1;
        if (delay > 0)
            return delay;
    }
    return -1;
}

/* The resets tell when the whole allowance is back, so the nearer one is enough, and one that is
 * far away is no order to wait. */
static int64_t delay_by_resets(const gg_http_reply *reply)
{
    const char *const values[] = {reply->reset_requests, reply->reset_tokens};
    int64_t best = -1;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        int64_t delay = values[i] ? gg_retry_duration(values[i]) : -1;
        if (delay > 0 && delay <= GG_RETRY_SERVER_CAP_MS && (best < 0 || delay < best))
            best = delay;
    }
    return best;
}

int64_t gg_retry_server_delay(const gg_http_reply *reply, const char *message, int64_t now_unix_ms)
{
    double ms;
    if (reply->retry_after_ms && read_number(reply->retry_after_ms, &ms) && ms > 0)
        return (int64_t)ms;
    int64_t delay = reply->retry_after ? retry_after(reply->retry_after, now_unix_ms) : -1;
    if (delay > 0)
        return delay;
    delay = message ? delay_in_text(message) : -1;
    if (delay > 0)
        return delay;
    return reply->status == 429 ? delay_by_resets(reply) : -1;
}

int64_t gg_retry_delay(int attempt, double unit)
{
    int64_t most = GG_RETRY_CAP_MS;
    if (attempt >= 0 && attempt < 16 && ((int64_t)GG_RETRY_BASE_MS << attempt) < most)
        most = (int64_t)GG_RETRY_BASE_MS << attempt;
    return (int64_t)(unit * (double)most);
}

uint64_t gg_retry_hash(uint64_t seed, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    uint64_t hash = UINT64_C(14695981039346656037) ^ seed;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ p[i]) * UINT64_C(1099511628211);
    return hash;
}

double gg_retry_unit(uint64_t seed, const char *path, const char *body, size_t len, int attempt)
{
    uint64_t hash = gg_retry_hash(seed, path, strlen(path));
    hash = gg_retry_hash(hash, body, len);
    hash = gg_retry_hash(hash, &attempt, sizeof attempt);
    hash ^= hash >> 30; /* the finish of splitmix64: FNV leaves the high bits poor */
    hash *= UINT64_C(0xbf58476d1ce4e5b9);
    hash ^= hash >> 27;
    hash *= UINT64_C(0x94d049bb133111eb);
    hash ^= hash >> 31;
    return (double)(hash >> 11) * 0x1p-53;
}
