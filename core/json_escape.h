/* The \uXXXX escape, for the two readers of JSON text (json.c, json_read.c). */
#ifndef GG_CORE_JSON_ESCAPE_H
#define GG_CORE_JSON_ESCAPE_H

/* The value of four hex digits, or -1. */
static inline int gg_json_hex4(const char *p)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* The 16 bits of an escape that starts at `p`, or -1. */
static inline int gg_json_escape(const char *p, const char *end)
{
    return end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? gg_json_hex4(p + 2) : -1;
}

static inline int gg_json_is_low(int unit)
{
    return unit >= 0xdc00 && unit < 0xe000;
}

static inline int gg_json_is_high(int unit)
{
    return unit >= 0xd800 && unit < 0xdc00;
}

/* An escape that, standing alone, is no character we can keep: a lone surrogate, or U+0000, which
 * would end a C string. */
static inline int gg_json_is_lost(int unit)
{
    return unit == 0 || (unit >= 0xd800 && unit < 0xe000);
}

#endif
