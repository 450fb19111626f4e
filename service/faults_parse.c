/* Reading fault scripts. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/near.h"
#include "service/faults_parts.h"

#define TOKENS_MAX   48
#define LINE_ROOM    2048
#define SEED_DEFAULT 42
#define STATUS_MAX   599
#define BYTES_MAX    1e9
#define SECONDS_MAX  1e6
#define DRIP_MS      10
#define NEVER_MS     700000 /* more than the time clients allow by default */
#define LATE_MS      2000
#define SLOW_MS      200

/* One line, cut into its tokens; quotes are gone. */
typedef struct line {
    gg_faults *script;
    const char *file;
    int number;
    gg_error *error;
    char text[LINE_ROOM];
    char *tokens[TOKENS_MAX];
    size_t count, colon; /* tokens before the colon; colon == SIZE_MAX: there is none */
} line;

static gg_status wrong(const line *l, const char *what, const char *token, const char *near)
{
    return gg_fail(l->error, GG_E_CONFIG, "%s:%d: %s \"%s\"%s%s%s", l->file, l->number, what, token,
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* ---- tokens ---- */

static bool ends_token(char c, bool colon_seen)
{
    return !c || isspace((unsigned char)c) || c == '#' || (!colon_seen && (c == ',' || c == ':'));
}

/* Takes one token at *in, writes it at *out. False when a quote is not closed. */
static bool take_token(const char **in, char **out, bool colon_seen)
{
    bool quoted = false;
    for (; **in && (quoted || !ends_token(**in, colon_seen)); (*in)++) {
        if (**in == '"')
            quoted = !quoted;
        else
            *(*out)++ = **in;
    }
    *(*out)++ = '\0';
    return !quoted;
}

static gg_status cut_tokens(line *l, const char *text)
{
    char *out = l->text;
    l->count = 0;
    l->colon = SIZE_MAX;
    while (*text && *text != '#') {
        if (isspace((unsigned char)*text) || (l->colon == SIZE_MAX && *text == ',')) {
            text++;
        } else if (*text == ':' && l->colon == SIZE_MAX) {
            l->colon = l->count;
            text++;
        } else if (l->count == TOKENS_MAX) {
            return wrong(l, "too many tokens, from", text, NULL);
        } else {
            l->tokens[l->count++] = out;
            if (!take_token(&text, &out, l->colon != SIZE_MAX))
                return wrong(l, "a quote is not closed in", l->tokens[l->count - 1], NULL);
        }
    }
    return GG_OK;
}

/* ---- numbers ---- */

static bool read_real(const char *text, double low, double high, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end && isfinite(*out) && *out >= low && *out <= high;
}

static bool read_whole(const char *text, double low, double high, int64_t *out)
{
    double value;
    if (!read_real(text, low, high, &value) || value != floor(value))
        return false;
    *out = (int64_t)value;
    return true;
}

/* "7", "7..9", "7.." */
static bool read_range(char *text, int64_t *from, int64_t *to)
{
    char *dots = strstr(text, "..");
    if (dots)
        *dots = '\0';
    bool good = read_whole(text, 1, BYTES_MAX, from);
    *to = *from;
    if (dots && !dots[2])
        *to = INT64_MAX;
    else if (dots)
        good = good && read_whole(dots + 2, (double)*from, BYTES_MAX, to);
    if (dots)
        *dots = '.';
    return good;
}

/* ---- conditions ---- */

static const char *const conditions[] = {"request", "turn", "attempt", "every", "always"};

static bool set_range(gg_rule *rule, const char *name, char *text)
{
    if (!strcmp(name, "request"))
        return read_range(text, &rule->request_from, &rule->request_to);
    if (!strcmp(name, "turn"))
        return read_range(text, &rule->turn_from, &rule->turn_to);
    if (!strcmp(name, "attempt"))
        return read_range(text, &rule->attempt_from, &rule->attempt_to);
    return read_whole(text, 1, BYTES_MAX, &rule->every);
}

static gg_status read_share(const line *l, char *token, gg_rule *rule)
{
    double percent;
    size_t len = strlen(token);
    token[len - 1] = '\0';
    bool good = read_real(token, 0, 100, &percent);
    token[len - 1] = '%';
    rule->share = percent / 100;
    return good ? GG_OK : wrong(l, "not a share from 0% to 100%:", token, NULL);
}

static gg_status read_conditions(line *l, gg_rule *rule)
{
    size_t known = sizeof conditions / sizeof *conditions;
    for (size_t i = 0; i < l->colon; i++) {
        char *token = l->tokens[i];
        size_t row = 0;
        while (row < known && strcmp(conditions[row], token) != 0)
            row++;
        if (*token && token[strlen(token) - 1] == '%') {
            gg_status status = read_share(l, token, rule);
            if (status != GG_OK)
                return status;
        } else if (row == known) {
            return wrong(l, "unknown condition", token, gg_near_miss(token, conditions, known));
        } else if (row + 1 < known) {
            if (++i >= l->colon)
                return wrong(l, "a number is missing behind", token, NULL);
            if (!set_range(rule, token, l->tokens[i]))
                return wrong(l, "neither N, N..M nor N.. (from 1):", l->tokens[i], NULL);
        }
    }
    return GG_OK;
}

/* ---- settings of a trouble ---- */

static gg_status add_header(const line *l, gg_rule *rule, const char *name, const char *value)
{
    if (rule->header_count == GG_RULE_HEADERS || !strchr(*name ? ":" : value, ':'))
        return wrong(l, "not a header \"Name: value\", or one too many:", value, NULL);
    snprintf(rule->headers[rule->header_count++], GG_RULE_TEXT, "%s%s%s", name, *name ? ": " : "",
             value);
    return GG_OK;
}

typedef enum key_id {
    KEY_TIMES,
    KEY_BYTES,
    KEY_SECONDS,
    KEY_PIECE,
    KEY_EVERY,
    KEY_BODY,
    KEY_MESSAGE,
    KEY_HEADER,
    KEY_RETRY_AFTER,
    KEY_RETRY_AFTER_MS,
    KEY_RETRY_AFTER_DATE,
    KEY_COUNT
} key_id;

static const struct {
    const char *name;
    unsigned group; /* 0 = for all troubles */
} keys[KEY_COUNT] = {
    [KEY_TIMES] = {"times", 0},
    [KEY_BYTES] = {"bytes", GG_KEY_BYTES},
    [KEY_SECONDS] = {"seconds", GG_KEY_SECONDS},
    [KEY_PIECE] = {"piece", GG_KEY_PIECE},
    [KEY_EVERY] = {"every", GG_KEY_PIECE},
    [KEY_BODY] = {"body", GG_KEY_BODY},
    [KEY_MESSAGE] = {"message", GG_KEY_BODY},
    [KEY_HEADER] = {"header", GG_KEY_HEADERS},
    [KEY_RETRY_AFTER] = {"retry-after", GG_KEY_HEADERS},
    [KEY_RETRY_AFTER_MS] = {"retry-after-ms", GG_KEY_HEADERS},
    [KEY_RETRY_AFTER_DATE] = {"retry-after-date", GG_KEY_HEADERS},
};

static bool set_seconds(int64_t *ms, const char *value)
{
    double seconds;
    if (!read_real(value, 0, SECONDS_MAX, &seconds))
        return false;
    *ms = (int64_t)(seconds * 1000);
    return true;
}

static bool set_size(size_t *out, const char *value)
{
    int64_t size;
    if (!read_whole(value, 0, BYTES_MAX, &size))
        return false;
    *out = (size_t)size;
    return true;
}

static bool set_number(gg_rule *rule, key_id key, const char *value)
{
    switch (key) {
    case KEY_TIMES:
        return read_whole(value, 1, BYTES_MAX, &rule->times);
    case KEY_BYTES:
        return set_size(&rule->bytes, value);
    case KEY_SECONDS:
        return set_seconds(&rule->delay_ms, value);
    case KEY_PIECE:
        return set_size(&rule->piece, value) && rule->piece > 0;
    case KEY_EVERY:
        return set_seconds(&rule->every_ms, value);
    case KEY_RETRY_AFTER_DATE:
        return read_whole(value, 0, SECONDS_MAX, &rule->retry_date_s);
    default:
        return false;
    }
}

static gg_status set_form(const line *l, gg_rule *rule, const char *value)
{
    const char *names[32];
    size_t count = 0;
    for (; count < 32 && gg_error_form_at(count); count++)
        names[count] = gg_error_form_at(count);
    if (!gg_error_form_known(value))
        return wrong(l, "unknown form of an error body", value, gg_near_miss(value, names, count));
    snprintf(rule->form, sizeof rule->form, "%s", value);
    return GG_OK;
}

static gg_status set_key(const line *l, gg_rule *rule, key_id key, const char *value)
{
    switch (key) {
    case KEY_BODY:
        return set_form(l, rule, value);
    case KEY_MESSAGE:
        snprintf(rule->message, sizeof rule->message, "%s", value);
        return GG_OK;
    case KEY_HEADER:
        return add_header(l, rule, "", value);
    case KEY_RETRY_AFTER:
    case KEY_RETRY_AFTER_MS:
        return add_header(l, rule, keys[key].name, value);
    default:
        return set_number(rule, key, value) ? GG_OK
                                            : wrong(l, "not a fitting number:", value, NULL);
    }
}

static gg_status read_setting(const line *l, gg_rule *rule, char *token)
{
    const char *names[KEY_COUNT];
    char *equals = strchr(token, '=');
    size_t count = 0, row = KEY_COUNT;
    int64_t status;
    if (!equals && (rule->trouble->keys & GG_KEY_BODY) &&
        read_whole(token, 100, STATUS_MAX, &status)) {
        rule->status = (int)status;
        return GG_OK;
    }
    if (equals)
        *equals = '\0';
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (!keys[i].group || (rule->trouble->keys & keys[i].group)) {
            row = !strcmp(keys[i].name, token) ? i : row;
            names[count++] = keys[i].name;
        }
    if (row == KEY_COUNT)
        return wrong(l, "this trouble has no setting", token, gg_near_miss(token, names, count));
    if (!equals)
        return wrong(l, "a value is missing behind", token, NULL);
    return set_key(l, rule, (key_id)row, equals + 1);
}

/* What a rule does when it does not say. */
static void set_defaults(gg_rule *rule)
{
    const gg_trouble *t = rule->trouble;
    rule->status = t->status;
    rule->piece = t->way == GG_WAY_DRIP ? 64 : 0;
    rule->every_ms = t->way == GG_WAY_DRIP ? DRIP_MS : 0;
    rule->delay_ms = t->way == GG_WAY_NEVER   ? NEVER_MS
                     : t->way != GG_WAY_DELAY ? 0
                     : t->delivers            ? SLOW_MS
                                              : LATE_MS;
    rule->bytes = 40;
    snprintf(rule->form, sizeof rule->form, "openai");
}

static gg_status read_trouble(line *l, gg_rule *rule)
{
    const char *near = NULL;
    if (l->colon == l->count)
        return gg_fail(l->error, GG_E_CONFIG,
                       "%s:%d: what happens is missing behind the colon, as in \"10%% : reset\"",
                       l->file, l->number);
    rule->trouble = gg_trouble_find(l->tokens[l->colon], &near);
    if (!rule->trouble)
        return wrong(l, "unknown trouble", l->tokens[l->colon], near);
    set_defaults(rule);
    for (size_t i = l->colon + 1; i < l->count; i++) {
        gg_status status = read_setting(l, rule, l->tokens[i]);
        if (status != GG_OK)
            return status;
    }
    return GG_OK;
}

/* ---- lines ---- */

static gg_status read_rule(line *l)
{
    gg_faults *script = l->script;
    if (script->rule_count == GG_FAULTS_RULES)
        return gg_fail(l->error, GG_E_CONFIG, "%s:%d: more than %d rules", l->file, l->number,
                       GG_FAULTS_RULES);
    gg_rule *rule = &script->rules[script->rule_count++];
    *rule = (gg_rule){.share = 1,
                      .request_from = 1,
                      .request_to = INT64_MAX,
                      .turn_from = 1,
                      .turn_to = INT64_MAX,
                      .attempt_from = 1,
                      .attempt_to = INT64_MAX,
                      .retry_date_s = -1};
    gg_status status = read_conditions(l, rule);
    return status == GG_OK ? read_trouble(l, rule) : status;
}

static gg_status read_about(line *l)
{
    static const char *const names[] = {"seed", "policy", "in-a-row", "history"};
    const char *name = l->tokens[0], *value = l->count == 2 ? l->tokens[1] : "";
    gg_faults *script = l->script;
    int64_t number = 0;
    bool good = false;
    if (!strcmp(name, "seed")) {
        good = read_whole(value, 0, 9007199254740991.0, &number);
        script->seed = (uint64_t)number;
    } else if (!strcmp(name, "policy")) {
        good = *value && strlen(value) < sizeof script->policy;
        snprintf(script->policy, sizeof script->policy, "%s", value);
    } else if (!strcmp(name, "in-a-row")) {
        good = !strcmp(value, "any") || read_whole(value, 1, 1000, &number);
        script->in_row = (uint32_t)number;
    } else if (!strcmp(name, "history")) {
        script->checks = !strcmp(value, "check");
        good = script->checks || !strcmp(value, "ignore");
    } else {
        return wrong(l, "neither a rule such as \"10% : reset\" nor a setting:", name,
                     gg_near_miss(name, names, sizeof names / sizeof *names));
    }
    return good ? GG_OK : wrong(l, "no fitting value behind", name, NULL);
}

/* Shares that always apply must leave something over. */
static gg_status check_shares(const gg_faults *script, const char *name, gg_error *error)
{
    double sum[2] = {0, 0};
    for (size_t i = 0; i < script->rule_count; i++)
        if (script->rules[i].share < 1)
            sum[script->rules[i].trouble->class == GG_TROUBLE_MODEL] += script->rules[i].share;
    for (int i = 0; i < 2; i++)
        if (sum[i] > 1 + 1e-9)
            return gg_fail(error, GG_E_CONFIG,
                           "%s: the shares of %s troubles add up to %.4g%%, which is more than all "
                           "requests",
                           name, i ? "model" : "transport and stop", sum[i] * 100);
    return GG_OK;
}

static gg_status read_line(line *l, const char *text, size_t len)
{
    char copy[LINE_ROOM];
    if (len >= sizeof copy || memchr(text, '\0', len))
        return gg_fail(l->error, GG_E_CONFIG, "%s:%d: not a line of text, or longer than %d bytes",
                       l->file, l->number, LINE_ROOM - 1);
    memcpy(copy, text, len);
    copy[len] = '\0';
    gg_status status = cut_tokens(l, copy);
    if (status != GG_OK || (l->count == 0 && l->colon == SIZE_MAX))
        return status;
    return l->colon == SIZE_MAX ? read_about(l) : read_rule(l);
}

gg_status gg_faults_parse(const char *text, size_t len, const char *name, gg_faults **out,
                          gg_error *error)
{
    gg_status status = GG_OK;
    gg_faults *script = calloc(1, sizeof *script);
    *out = NULL;
    if (!script)
        return gg_fail(error, GG_E_MEMORY, "out of memory for a fault script");
    pthread_mutex_init(&script->lock, NULL);
    script->seed = SEED_DEFAULT;
    script->in_row = GG_FAULTS_IN_ROW;
    script->checks = true;
    line l = {.script = script, .file = name, .error = error};
    while (status == GG_OK && len > 0) {
        const char *end = memchr(text, '\n', len);
        size_t used = end ? (size_t)(end - text) : len;
        l.number++;
        status = read_line(&l, text, used);
        used += end != NULL;
        text += used;
        len -= used;
    }
    if (status == GG_OK)
        status = check_shares(script, name, error);
    if (status == GG_OK)
        *out = script;
    else
        gg_faults_free(script);
    return status;
}

gg_status gg_faults_load(const char *path, gg_faults **out, gg_error *error)
{
    gg_buf text;
    *out = NULL;
    gg_buf_init(&text, GG_FAULTS_MAX);
    gg_status status = gg_file_read(path, &text, error);
    if (status == GG_OK)
        status = gg_faults_parse(gg_buf_cstr(&text), text.len, path, out, error);
    gg_buf_free(&text);
    return status;
}
