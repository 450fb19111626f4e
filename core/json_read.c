#include "core/json.h"
#include "core/json_escape.h"
#include "core/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX   63 /* bytes of one number; cJSON's limit too */
#define DIGITS_EXACT 19 /* as many decimal digits always fit into 64 bits */
#define FIRST_ROOM   64 /* elements of a number array */
#define EACH_BYTE    UINT64_C(0x0101010101010101)
#define HIGH_BITS    UINT64_C(0x8080808080808080)

gg_json_reader gg_json_reader_make(const char *text, size_t len)
{
    return (gg_json_reader){.at = text, .end = text + len, .first = true};
}

static bool fail(gg_json_reader *r)
{
    r->failed = true;
    return false;
}

static void skip_space(gg_json_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
        r->at++;
}

static char peek_past_space(gg_json_reader *r)
{
    if (r->failed)
        return 0;
    skip_space(r);
    return r->at < r->end ? *r->at : 0;
}

/* The next byte that is not white space; 0 at the end or after a failure. Most texts have no white
 * space between values. */
static inline char peek(gg_json_reader *r)
{
    return !r->failed && r->at<r->end && * r->at> ' ' ? *r->at : peek_past_space(r);
}

char gg_read_next(gg_json_reader *r)
{
    return peek(r);
}

static inline bool take(gg_json_reader *r, char c)
{
    if (peek(r) != c)
        return fail(r);
    r->at++;
    return true;
}

static bool enter(gg_json_reader *r, char open)
{
    if (!take(r, open))
        return false;
    r->first = true;
    return true;
}

/* Before a member or element: true when there is one, false at the closing bracket. */
static bool more(gg_json_reader *r, char close)
{
    if (peek(r) == close) {
        r->at++;
        r->first = false;
        return false;
    }
    if (!r->first && !take(r, ','))
        return false;
    r->first = false;
    char next = peek(r);
    return (next && next != close) || fail(r);
}

bool gg_read_object(gg_json_reader *r)
{
    return enter(r, '{');
}

bool gg_read_array(gg_json_reader *r)
{
    return enter(r, '[');
}

bool gg_read_element(gg_json_reader *r)
{
    return more(r, ']');
}

/* The bytes that end a plain run inside a string: quote, backslash and control characters. */
static bool ends_run(char c)
{
    return (unsigned char)c < 0x20 || c == '"' || c == '\\';
}

/* Bit 7 of every byte of `eight` that is `byte`; more bits may be set above a true one. */
static inline uint64_t bytes_like(uint64_t eight, unsigned char byte)
{
    uint64_t rest = eight ^ EACH_BYTE * byte;
    return (rest - EACH_BYTE) & ~rest & HIGH_BITS;
}

/* Past the bytes that need no look: eight at a time, then the last few. */
static const char *plain_end(const char *p, const char *end)
{
    for (uint64_t eight; end - p >= (ptrdiff_t)sizeof eight; p += sizeof eight) {
        memcpy(&eight, p, sizeof eight);
        uint64_t control = (eight - EACH_BYTE * 0x20) & ~eight & HIGH_BITS;
        if (control | bytes_like(eight, '"') | bytes_like(eight, '\\'))
            break;
    }
    while (p < end && !ends_run(*p))
        p++;
    return p;
}

static int simple_escape(char c)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found = c ? strchr(from, c) : NULL;
    return found ? to[found - from] : -1;
}

/* Passes over the escape at r->at, a backslash. */
static bool skip_escape(gg_json_reader *r)
{
    const char *p = r->at;
    if (gg_json_escape(p, r->end) >= 0) {
        r->at += 6;
        return true;
    }
    if (r->end - p >= 2 && simple_escape(p[1]) >= 0) {
        r->at += 2;
        return true;
    }
    return fail(r);
}

/* A string as it stands: from its opening quote to one past the closing one. */
static bool raw_string(gg_json_reader *r, gg_json_name *inside)
{
    if (!take(r, '"'))
        return false;
    inside->bytes = r->at;
    for (;;) {
        r->at = plain_end(r->at, r->end);
        if (r->at == r->end)
            return fail(r);
        if (*r->at == '"')
            break;
        if (*r->at != '\\')
            return fail(r);
        if (!skip_escape(r))
            return false;
    }
    inside->len = (size_t)(r->at - inside->bytes);
    r->at++;
    r->first = false;
    return true;
}

bool gg_read_name(gg_json_reader *r, gg_json_name *name)
{
    return more(r, '}') && raw_string(r, name) && take(r, ':');
}

bool gg_name_is(gg_json_name name, const char *text)
{
    if (name.len && *name.bytes != *text) /* most names differ at once */
        return false;
    return strncmp(name.bytes, text, name.len) == 0 && text[name.len] == '\0';
}

static void add_utf8(gg_buf *out, unsigned code)
{
    char bytes[4];
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n - 1; i > 0; i--) {
        bytes[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    bytes[0] = (char)(lead[n] | code);
    gg_buf_add(out, bytes, n);
}

/* Decodes a checked escape at `p`; returns its length. */
static size_t decode_escape(const char *p, const char *end, gg_buf *out)
{
    if (p[1] != 'u') {
        gg_buf_char(out, (char)simple_escape(p[1]));
        return 2;
    }
    int unit = gg_json_escape(p, end), low;
    if (gg_json_is_high(unit) && gg_json_is_low(low = gg_json_escape(p + 6, end))) {
        add_utf8(out, 0x10000u + ((unsigned)(unit - 0xd800) << 10) + (unsigned)(low - 0xdc00));
        return 12;
    }
    add_utf8(out, gg_json_is_lost(unit) ? 0xfffdu : (unsigned)unit);
    return 6;
}

bool gg_read_string(gg_json_reader *r, gg_buf *out)
{
    gg_json_name inside;
    if (!raw_string(r, &inside))
        return false;
    const char *p = inside.bytes, *end = p + inside.len;
    gg_buf_reserve(out, 0); /* an empty string is a string too */
    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        const char *stop = slash ? slash : end;
        gg_buf_add(out, p, (size_t)(stop - p));
        p = slash ? slash + decode_escape(slash, end, out) : end;
    }
    r->no_memory |= out->status == GG_E_MEMORY;
    return out->status == GG_OK || fail(r);
}

static bool literal(gg_json_reader *r, const char *text)
{
    size_t len = strlen(text);
    if (peek(r) != *text || (size_t)(r->end - r->at) < len || memcmp(r->at, text, len) != 0)
        return false;
    r->at += len;
    r->first = false;
    return true;
}

bool gg_read_null(gg_json_reader *r)
{
    return literal(r, "null");
}

bool gg_read_bool(gg_json_reader *r, bool *out)
{
    *out = literal(r, "true");
    return *out || literal(r, "false") || fail(r);
}

/* A number's text and, where it fits, its exact decimal form: digits x 10^exponent. */
typedef struct number {
    const char *text;
    size_t len;
    uint64_t digits;
    int digit_count; /* significant ones; above DIGITS_EXACT `digits` holds the first of them */
    int64_t exponent;
    bool negative, whole; /* whole: no fraction and no exponent part */
} number;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *scan_digits(const char *p, const char *end, number *n)
{
    if (!n->digit_count)
        while (p < end && *p == '0')
            p++;
    for (; p < end && is_digit(*p) && n->digit_count < DIGITS_EXACT; p++, n->digit_count++)
        n->digits = n->digits * 10 + (uint64_t)(*p - '0');
    for (; p < end && is_digit(*p); p++)
        n->digit_count++;
    return p;
}

static const char *scan_exponent(const char *p, const char *end, number *n)
{
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    const char *start = p;
    int64_t value = 0;
    for (; p < end && is_digit(*p); p++)
        if (value < 100000)
            value = value * 10 + (*p - '0');
    n->exponent += negative ? -value : value;
    return p > start ? p : NULL;
}

/* The grammar of RFC 8259, section 6. */
static bool scan_number(gg_json_reader *r, number *n)
{
    *n = (number){.whole = true};
    peek(r);
    const char *p = r->at, *end = r->end, *start = p;
    if (p < end && *p == '-') {
        n->negative = true;
        p++;
    }
    const char *digits = p;
    p = scan_digits(p, end, n);
    if (r->failed || p == digits || (*digits == '0' && p - digits > 1))
        return fail(r);
    if (p < end && *p == '.') {
        const char *fraction = p + 1;
        p = scan_digits(fraction, end, n);
        if (p == fraction)
            return fail(r);
        n->exponent = fraction - p;
        n->whole = false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p = scan_exponent(p + 1, end, n);
        if (!p)
            return fail(r);
        n->whole = false;
    }
    if (p - start > NUMBER_MAX)
        return fail(r);
    n->text = start;
    n->len = (size_t)(p - start);
    r->at = p;
    r->first = false;
    return true;
}

static double number_value(const number *n)
{
    double value;
    if (n->digit_count <= DIGITS_EXACT && gg_double_from(n->digits, n->exponent, &value))
        return n->negative ? -value : value;
    char text[NUMBER_MAX + 1]; /* strtod needs an end, and the bytes may have none */
    memcpy(text, n->text, n->len);
    text[n->len] = '\0';
    return strtod(text, NULL);
}

bool gg_read_double(gg_json_reader *r, double *out)
{
    number n;
    if (!scan_number(r, &n))
        return false;
    *out = number_value(&n);
    return isfinite(*out) || fail(r);
}

bool gg_read_int(gg_json_reader *r, int64_t *out)
{
    number n;
    if (!scan_number(r, &n))
        return false;
    if (n.whole && n.digit_count <= DIGITS_EXACT && n.digits <= INT64_MAX) {
        *out = n.negative ? -(int64_t)n.digits : (int64_t)n.digits;
        return true;
    }
    double value = number_value(&n);
    if (value != floor(value) || fabs(value) > 9007199254740992.0)
        return fail(r);
    *out = (int64_t)value;
    return true;
}

static bool skip_scalar(gg_json_reader *r, char next)
{
    gg_json_name inside;
    number n;
    bool flag;
    if (next == '"')
        return raw_string(r, &inside);
    if (next == 't' || next == 'f')
        return gg_read_bool(r, &flag);
    if (next == 'n')
        return gg_read_null(r) || fail(r);
    return scan_number(r, &n);
}

bool gg_read_skip(gg_json_reader *r)
{
    uint64_t objects = 0; /* one bit a level: an object, else an array */
    int depth = 0;
    do {
        char next = peek(r);
        if (next == '{' || next == '[') {
            if (depth == GG_JSON_DEPTH_MAX)
                return fail(r);
            depth++;
            objects = objects << 1 | (next == '{');
            enter(r, next);
        } else if (!skip_scalar(r, next)) {
            return false;
        }
        gg_json_name name;
        while (depth && !(objects & 1 ? gg_read_name(r, &name) : gg_read_element(r))) {
            if (r->failed)
                return false;
            depth--;
            objects >>= 1;
        }
    } while (depth);
    return true;
}

bool gg_read_raw(gg_json_reader *r, gg_json_name *slice)
{
    peek(r);
    const char *start = r->at;
    if (!gg_read_skip(r))
        return false;
    *slice = (gg_json_name){.bytes = start, .len = (size_t)(r->at - start)};
    return true;
}

bool gg_read_end(gg_json_reader *r)
{
    if (r->failed)
        return false;
    skip_space(r);
    return r->at == r->end || fail(r);
}

/* Room for one element more in an array that the caller frees. */
static bool grow(gg_json_reader *r, void **values, size_t count, size_t *room, size_t element)
{
    if (count < *room)
        return true;
    size_t wanted = *room ? *room * 2 : FIRST_ROOM;
    void *grown = realloc(*values, wanted * element);
    if (!grown) {
        r->no_memory = true;
        return false;
    }
    *values = grown;
    *room = wanted;
    return true;
}

/* A token id as it nearly always stands: a few digits right before a comma or bracket. False, and
 * nothing read, for anything else. */
static bool read_id(gg_json_reader *r, int64_t *value)
{
    const char *p = r->at;
    int64_t sum = 0;
    for (; p < r->end && p - r->at < 9 && is_digit(*p); p++)
        sum = sum * 10 + (*p - '0');
    bool plain =
        p > r->at && p < r->end && (*p == ',' || *p == ']') && (*r->at != '0' || p - r->at == 1);
    if (!plain)
        return false;
    *value = sum;
    r->at = p;
    r->first = false;
    return true;
}

bool gg_read_int32s(gg_json_reader *r, int32_t **values, size_t *count, size_t *room)
{
    *count = 0;
    if (!gg_read_array(r))
        return false;
    while (gg_read_element(r)) {
        int64_t value;
        void *array = *values;
        if (!(read_id(r, &value) || gg_read_int(r, &value)) || value < INT32_MIN ||
            value > INT32_MAX || !grow(r, &array, *count, room, sizeof **values))
            return fail(r);
        *values = array;
        (*values)[(*count)++] = (int32_t)value;
    }
    return !r->failed;
}

bool gg_read_doubles(gg_json_reader *r, double **values, size_t *count, size_t *room)
{
    *count = 0;
    if (!gg_read_array(r))
        return false;
    while (gg_read_element(r)) {
        double value = NAN;
        void *array = *values;
        if ((!gg_read_null(r) && !gg_read_double(r, &value)) ||
            !grow(r, &array, *count, room, sizeof **values))
            return fail(r);
        *values = array;
        (*values)[(*count)++] = value;
    }
    return !r->failed;
}
