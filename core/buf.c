#include <guessgym/buf.h>
#include "core/number.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256

void gg_buf_init(gg_buf *buf, size_t maximum)
{
    *buf = (gg_buf){.maximum = maximum};
}

void gg_buf_free(gg_buf *buf)
{
    if (!buf)
        return;
    free(buf->data);
    *buf = (gg_buf){.maximum = buf->maximum};
}

void gg_buf_reset(gg_buf *buf)
{
    buf->len = 0;
    buf->status = GG_OK;
    if (buf->data)
        buf->data[0] = '\0';
}

void gg_buf_truncate(gg_buf *buf, size_t len)
{
    if (len >= buf->len)
        return;
    buf->len = len;
    buf->data[len] = '\0';
}

void gg_buf_reserve(gg_buf *buf, size_t more)
{
    if (buf->status != GG_OK)
        return;
    if (more > buf->maximum - buf->len) {
        buf->status = GG_E_LIMIT;
        return;
    }
    size_t need = buf->len + more + 1;
    if (need <= buf->room)
        return;
    size_t room = buf->room ? buf->room * 2 : FIRST_ROOM;
    if (room > buf->maximum) /* gg_buf_add trusts that what has room is within the maximum */
        room = buf->maximum + 1;
    if (room < need)
        room = need;
    char *data = realloc(buf->data, room);
    if (!data) {
        buf->status = GG_E_MEMORY;
        return;
    }
    data[buf->len] = '\0'; /* room that nothing was written to yet is an empty string */
    buf->data = data;
    buf->room = room;
}

void gg_buf_add(gg_buf *buf, const void *bytes, size_t len)
{
    if (buf->status != GG_OK || len >= buf->room - buf->len)
        gg_buf_reserve(buf, len);
    if (buf->status != GG_OK)
        return;
    if (len)
        memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void gg_buf_str(gg_buf *buf, const char *text)
{
    gg_buf_add(buf, text, strlen(text));
}

void gg_buf_char(gg_buf *buf, char c)
{
    gg_buf_add(buf, &c, 1);
}

void gg_buf_int(gg_buf *buf, int64_t value)
{
    char text[GG_INT_TEXT];
    char *end = text + sizeof text, *at = gg_int_text(value, end);
    gg_buf_add(buf, at, (size_t)(end - at));
}

void gg_buf_double(gg_buf *buf, double value)
{
    char text[GG_DOUBLE_TEXT];
    if (!isfinite(value)) {
        gg_buf_str(buf, "null");
        return;
    }
    if (value == floor(value) && fabs(value) < 1e15 && !(value == 0 && signbit(value))) {
        gg_buf_int(buf, (int64_t)value);
        return;
    }
    gg_buf_add(buf, text, gg_double_text(value, text));
}

void gg_buf_printf(gg_buf *buf, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int len = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (len >= 0) {
        gg_buf_reserve(buf, (size_t)len);
        if (buf->status == GG_OK) {
            vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
            buf->len += (size_t)len;
        }
    }
    va_end(again);
}

/* Length of the valid UTF-8 sequence at `p` (RFC 3629: no overlong forms, no surrogates), 0 if
 * none. */
static size_t utf8_length(const unsigned char *p, size_t left)
{
    static const struct {
        unsigned char first_low, first_high, second_low, second_high, length;
    } rows[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t n = rows[i].length;
        if (p[0] < rows[i].first_low || p[0] > rows[i].first_high)
            continue;
        if (n > left || (n > 1 && (p[1] < rows[i].second_low || p[1] > rows[i].second_high)))
            return 0;
        for (size_t k = 2; k < n; k++)
            if ((p[k] & 0xc0) != 0x80)
                return 0;
        return n;
    }
    return 0;
}

static void json_control(gg_buf *buf, unsigned char c)
{
    static const char *const names[32] = {
        ['\b'] = "\\b", ['\f'] = "\\f", ['\n'] = "\\n", ['\r'] = "\\r", ['\t'] = "\\t"};
    if (c < 32 && names[c])
        gg_buf_str(buf, names[c]);
    else
        gg_buf_printf(buf, "\\u%04x", c);
}

/* Bytes that may stand in a JSON string as they are: printable ASCII but the quote and backslash.
 */
static size_t plain_run(const unsigned char *p, const unsigned char *end)
{
    const unsigned char *start = p;
    while (p < end && *p >= 0x20 && *p < 0x7f && *p != '"' && *p != '\\')
        p++;
    return (size_t)(p - start);
}

static size_t json_special(gg_buf *buf, const unsigned char *p, size_t left)
{
    if (*p == '"' || *p == '\\') {
        gg_buf_char(buf, '\\');
        gg_buf_char(buf, (char)*p);
        return 1;
    }
    if (*p < 0x20 || *p == 0x7f) {
        json_control(buf, *p);
        return 1;
    }
    size_t n = utf8_length(p, left);
    if (n == 0) {
        gg_buf_str(buf, "\xef\xbf\xbd");
        return 1;
    }
    /* U+0085, U+2028 and U+2029 end a line for many readers. */
    if (n == 2 && p[0] == 0xc2 && p[1] < 0xa0)
        json_control(buf, p[1]);
    else if (n == 3 && p[0] == 0xe2 && p[1] == 0x80 && (p[2] | 1) == 0xa9)
        gg_buf_str(buf, p[2] == 0xa8 ? "\\u2028" : "\\u2029");
    else
        gg_buf_add(buf, p, n);
    return n;
}

void gg_buf_json_part(gg_buf *buf, const char *bytes, size_t len)
{
    const unsigned char *p = (const unsigned char *)bytes;
    const unsigned char *end = p + len;
    while (p < end && buf->status == GG_OK) {
        size_t run = plain_run(p, end);
        if (run)
            gg_buf_add(buf, p, run);
        p += run;
        if (p < end)
            p += json_special(buf, p, (size_t)(end - p));
    }
}

void gg_buf_json(gg_buf *buf, const char *bytes, size_t len)
{
    gg_buf_char(buf, '"');
    gg_buf_json_part(buf, bytes, len);
    gg_buf_char(buf, '"');
}

void gg_buf_json_str(gg_buf *buf, const char *text)
{
    if (text)
        gg_buf_json(buf, text, strlen(text));
    else
        gg_buf_str(buf, "null");
}

const char *gg_buf_cstr(const gg_buf *buf)
{
    return buf->data ? buf->data : "";
}

gg_status gg_buf_status(const gg_buf *buf, const char *what, gg_error *error)
{
    if (buf->status == GG_E_MEMORY)
        return gg_fail(error, GG_E_MEMORY, "out of memory while building %s", what);
    if (buf->status == GG_E_LIMIT)
        return gg_fail(error, GG_E_LIMIT, "%s would be larger than %zu bytes", what, buf->maximum);
    return GG_OK;
}

char *gg_buf_take(gg_buf *buf)
{
    gg_buf_reserve(buf, 0);
    char *data = buf->data;
    if (buf->status != GG_OK) {
        gg_buf_free(buf);
        return NULL;
    }
    data[buf->len] = '\0';
    *buf = (gg_buf){.maximum = buf->maximum};
    return data;
}
