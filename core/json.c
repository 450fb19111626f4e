#include "core/json.h"
#include "core/json_escape.h"
#include "core/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_INT_MAX 9007199254740992.0 /* 2^53 */
#define WRITE_DEPTH   256                /* a tree built in memory that is deeper is a mistake */

/*
 * What cJSON must not see, found in one pass over the first value of a text: deep nesting, and
 * escapes that cJSON would refuse (lone surrogates) or end the string at (\u0000, bad hex digits).
 */
typedef struct prescan {
    const char *end; /* one past the first value, as far as brackets and quotes tell */
    bool deep, bad_escape;
    bool repair; /* an escape has to be replaced */
} prescan;

/* Handles the escape at `p` and returns its length. `fix` (the same place in a writable copy, or
 * NULL) gets U+FFFD where the escape stands for no character. */
static size_t scan_escape(prescan *scan, const char *p, const char *end, char *fix)
{
    static const char replacement[4] = {'f', 'f', 'f', 'd'};
    if (end - p < 2)
        return 1;
    if (p[1] != 'u')
        return 2;
    int unit = gg_json_escape(p, end);
    if (unit < 0) {
        scan->bad_escape = true;
        return 2;
    }
    if (gg_json_is_high(unit) && gg_json_is_low(gg_json_escape(p + 6, end)))
        return 12;
    if (gg_json_is_lost(unit)) {
        scan->repair = true;
        if (fix)
            memcpy(fix + 2, replacement, sizeof replacement);
    }
    return 6;
}

/* From an opening quote to one past the closing one. */
static const char *scan_string(prescan *scan, const char *text, const char *p, const char *end,
                               char *copy)
{
    p++;
    while (p < end && *p != '"') {
        if (*p == '\\')
            p += scan_escape(scan, p, end, copy ? copy + (p - text) : NULL);
        else
            p++;
    }
    return p < end ? p + 1 : end;
}

static prescan scan_value(const char *text, size_t len, char *copy)
{
    prescan scan = {.end = text + len};
    const char *p = text, *end = text + len;
    int depth = 0;
    while (p < end) {
        char c = *p;
        if (c == '"') {
            p = scan_string(&scan, text, p, end, copy);
        } else {
            p++;
            if (c == '{' || c == '[')
                depth++;
            else if (c == '}' || c == ']')
                depth--;
            else
                continue;
        }
        if (depth > GG_JSON_DEPTH_MAX) {
            scan.deep = true;
            return scan;
        }
        if (depth <= 0) {
            scan.end = p;
            return scan;
        }
    }
    return scan;
}

/* cJSON answers NULL for a bad text and for want of memory alike; our own reader tells which. */
static gg_status refused(const char *text, size_t len, const char *at, gg_error *error)
{
    gg_json_reader reader = gg_json_reader_make(text, len);
    if (gg_read_skip(&reader))
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading JSON of %zu bytes", len);
    size_t where = at && at >= text && at <= text + len ? (size_t)(at - text) : 0;
    return gg_fail(error, GG_E_FORMAT, "not valid JSON at byte %zu of %zu", where, len);
}

gg_status gg_json_parse_first(const char *text, size_t len, cJSON **out, size_t *used,
                              gg_error *error)
{
    *out = NULL;
    *used = 0;
    prescan scan = scan_value(text, len, NULL);
    if (scan.deep)
        return gg_fail(error, GG_E_FORMAT, "JSON is nested deeper than %d levels",
                       GG_JSON_DEPTH_MAX);
    if (scan.bad_escape)
        return gg_fail(error, GG_E_FORMAT, "JSON holds a \\u escape without four hex digits");
    char *copy = NULL;
    if (scan.repair) {
        copy = malloc(len);
        if (!copy)
            return gg_fail(error, GG_E_MEMORY, "out of memory while reading JSON");
        memcpy(copy, text, len);
        scan_value(text, len, copy);
    }
    const char *source = copy ? copy : text;
    const char *end = NULL;
    cJSON *value = cJSON_ParseWithLengthOpts(source, (size_t)(scan.end - text), &end, 0);
    gg_status status = GG_OK;
    if (value) {
        *used = (size_t)(end - source);
        *out = value;
    } else {
        status = refused(source, len, end, error);
    }
    free(copy);
    return status;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

gg_status gg_json_parse(const char *text, size_t len, cJSON **out, gg_error *error)
{
    size_t used;
    gg_status status = gg_json_parse_first(text, len, out, &used, error);
    if (status != GG_OK)
        return status;
    while (used < len && is_space(text[used]))
        used++;
    if (used == len)
        return GG_OK;
    cJSON_Delete(*out);
    *out = NULL;
    return gg_fail(error, GG_E_FORMAT, "JSON is followed by other text at byte %zu of %zu", used,
                   len);
}

const cJSON *gg_json_get(const cJSON *object, const char *name)
{
    if (!cJSON_IsObject(object))
        return NULL;
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNull(value) ? NULL : value;
}

/* One step of a path: a member, or an element when `step` is a number. */
static const cJSON *path_step(const cJSON *at, const char *step, size_t len)
{
    if (cJSON_IsArray(at)) {
        size_t index = 0;
        for (size_t i = 0; i < len; i++) {
            if (step[i] < '0' || step[i] > '9' || index > 1000000)
                return NULL;
            index = index * 10 + (size_t)(step[i] - '0');
        }
        const cJSON *child = len ? at->child : NULL;
        while (child && index--)
            child = child->next;
        return child;
    }
    const cJSON *child = cJSON_IsObject(at) ? at->child : NULL;
    while (child && !(strncmp(child->string, step, len) == 0 && child->string[len] == '\0'))
        child = child->next;
    return child;
}

const cJSON *gg_json_path(const cJSON *root, const char *path)
{
    while (root && *path) {
        size_t len = strcspn(path, ".");
        root = path_step(root, path, len);
        path += len;
        if (*path == '.')
            path++;
    }
    return cJSON_IsNull(root) ? NULL : root;
}

const char *gg_json_text(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(gg_json_get(object, name));
}

bool gg_json_number(const cJSON *object, const char *name, double *out)
{
    const cJSON *value = gg_json_get(object, name);
    if (!cJSON_IsNumber(value))
        return false;
    *out = value->valuedouble;
    return true;
}

bool gg_json_int(const cJSON *object, const char *name, int64_t *out)
{
    double value;
    if (!gg_json_number(object, name, &value) || value != floor(value) ||
        fabs(value) > EXACT_INT_MAX)
        return false;
    *out = (int64_t)value;
    return true;
}

bool gg_json_bool(const cJSON *object, const char *name, bool *out)
{
    const cJSON *value = gg_json_get(object, name);
    if (!cJSON_IsBool(value))
        return false;
    *out = cJSON_IsTrue(value);
    return true;
}

/* A whole number stays one: 8e15 would be no integer to who reads it. */
static void write_number(gg_buf *buf, double value)
{
    static const double exact = 9007199254740992.0; /* 2^53 */
    if (value > -exact && value < exact && value == (double)(int64_t)value &&
        !(value == 0 && signbit(value)))
        gg_buf_int(buf, (int64_t)value);
    else
        gg_buf_double(buf, value);
}

static void write_value(gg_buf *buf, const cJSON *value, int depth);

static void write_children(gg_buf *buf, const cJSON *value, int depth)
{
    bool object = cJSON_IsObject(value);
    if (depth > WRITE_DEPTH) {
        buf->status = GG_E_LIMIT;
        return;
    }
    gg_buf_char(buf, object ? '{' : '[');
    for (const cJSON *child = value->child; child && buf->status == GG_OK; child = child->next) {
        if (child != value->child)
            gg_buf_char(buf, ',');
        if (object) {
            gg_buf_json_str(buf, child->string);
            gg_buf_char(buf, ':');
        }
        write_value(buf, child, depth + 1);
    }
    gg_buf_char(buf, object ? '}' : ']');
}

static void write_value(gg_buf *buf, const cJSON *value, int depth)
{
    if (cJSON_IsObject(value) || cJSON_IsArray(value))
        write_children(buf, value, depth);
    else if (cJSON_IsString(value))
        gg_buf_json_str(buf, value->valuestring);
    else if (cJSON_IsNumber(value))
        write_number(buf, value->valuedouble);
    else if (cJSON_IsBool(value))
        gg_buf_str(buf, cJSON_IsTrue(value) ? "true" : "false");
    else if (cJSON_IsRaw(value) && value->valuestring)
        gg_buf_str(buf, value->valuestring);
    else
        gg_buf_str(buf, "null");
}

void gg_buf_cjson(gg_buf *buf, const cJSON *value)
{
    write_value(buf, value, 0);
}

/* Bytes that may be copied as they are: all ASCII but control characters (U+007F is one). */
static size_t copy_run(const char *p, const char *end)
{
    const char *start = p;
    while (p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x7f)
        p++;
    return (size_t)(p - start);
}

bool gg_buf_json_text(gg_buf *buf, const char *text, size_t len)
{
    gg_json_reader reader = gg_json_reader_make(text, len);
    if (!gg_read_skip(&reader) || !gg_read_end(&reader))
        return false;
    const char *p = text, *end = text + len;
    while (p < end) {
        size_t run = copy_run(p, end);
        gg_buf_add(buf, p, run);
        p += run;
        const char *special = p;
        while (p < end && (unsigned char)*p >= 0x7f)
            p++;
        gg_buf_json_part(buf, special, (size_t)(p - special));
        if (p < end && (unsigned char)*p < 0x20) {
            gg_buf_char(buf, ' ');
            p++;
        }
    }
    return true;
}

void gg_buf_ints(gg_buf *buf, const int32_t *values, size_t count)
{
    char text[GG_INT_TEXT + 1]; /* with the comma before it */
    char *end = text + sizeof text;
    gg_buf_char(buf, '[');
    for (size_t i = 0; i < count && buf->status == GG_OK; i++) {
        char *at = gg_int_text(values[i], end);
        if (i)
            *--at = ',';
        gg_buf_add(buf, at, (size_t)(end - at));
    }
    gg_buf_char(buf, ']');
}

/* 0 and -0 are written differently, and NaN is NaN: bits tell what == does not. */
static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void gg_buf_doubles(gg_buf *buf, const double *values, size_t count)
{
    size_t last = 0, last_len = 0; /* the text of the element before */
    gg_buf_char(buf, '[');
    for (size_t i = 0; i < count && buf->status == GG_OK; i++) {
        if (i)
            gg_buf_char(buf, ',');
        /* Advantages and weights come in runs of one value, and shortest text is dear to find. */
        if (i && bits_of(values[i]) == bits_of(values[i - 1])) {
            gg_buf_reserve(buf, last_len);
            if (buf->status == GG_OK)
                gg_buf_add(buf, buf->data + last, last_len);
            continue;
        }
        last = buf->len;
        gg_buf_double(buf, values[i]);
        last_len = buf->len - last;
    }
    gg_buf_char(buf, ']');
}
