/*
 * JSON access on top of cJSON, and the two things cJSON is too slow for: number arrays and lines.
 *
 * Every look-up is case-sensitive. "Absent", null and (for strings) empty are told apart only where
 * a caller asks. Numbers are read as doubles; integers beyond 2^53 are refused by gg_json_int.
 */
#ifndef GG_CORE_JSON_H
#define GG_CORE_JSON_H

#include <stdbool.h>
#include <cjson/cJSON.h>

#include <guessgym/buf.h>

#define GG_JSON_DEPTH_MAX 64 /* deeper input is refused before cJSON sees it */

/* Parses exactly one JSON value: trailing bytes other than white space, nesting beyond
 * GG_JSON_DEPTH_MAX and invalid JSON are GG_E_FORMAT. Lone surrogate escapes, for which cJSON alone
 * would refuse the whole text, and \u0000, at which it would end the string, become U+FFFD. The
 * caller frees with cJSON_Delete; *out is NULL on failure. */
gg_status gg_json_parse(const char *text, size_t len, cJSON **out, gg_error *error);
/* The first value of a text that may go on; *used is where it ended. For glued objects. */
gg_status gg_json_parse_first(const char *text, size_t len, cJSON **out, size_t *used,
                              gg_error *error);

const cJSON *gg_json_get(const cJSON *object,
                         const char *name); /* NULL if absent, null or not an object */
/* Follows "a.b.0.c". */
const cJSON *gg_json_path(const cJSON *root, const char *path);
const char *gg_json_text(const cJSON *object, const char *name); /* NULL if not a string */
bool gg_json_number(const cJSON *object, const char *name, double *out);
bool gg_json_int(const cJSON *object, const char *name, int64_t *out); /* whole, within 2^53 */
bool gg_json_bool(const cJSON *object, const char *name, bool *out);

/* Appends compact JSON text of a cJSON tree with exact doubles. */
void gg_buf_cjson(gg_buf *buf, const cJSON *value);

/* Appends JSON text as it stands, on one line: line breaks between values become blanks, and what
 * gg_buf_json would escape or replace is escaped or replaced. False, and nothing appended, when the
 * text is not exactly one JSON value. */
bool gg_buf_json_text(gg_buf *buf, const char *text, size_t len);

/* Number arrays: "[1,2,3]"; doubles exact, NaN and infinities as null. */
void gg_buf_ints(gg_buf *buf, const int32_t *values, size_t count);
void gg_buf_doubles(gg_buf *buf, const double *values, size_t count);

/*
 * A streaming reader: walks JSON text in order without building a tree. It never allocates (but for
 * the caller's buffers and arrays). All functions return false once anything was malformed, and
 * `failed` stays set. It is strict (RFC 8259): no raw control characters in strings, no 01, no NaN.
 *
 *     gg_json_reader r = gg_json_reader_make(text, len);
 *     gg_json_name name;
 *     if (gg_read_object(&r))
 *         while (gg_read_name(&r, &name))
 *             if (gg_name_is(name, "ids")) ... else gg_read_skip(&r);
 */
typedef struct gg_json_reader {
    const char *at, *end;
    bool failed;
    bool no_memory; /* it failed for want of memory; the text may be good */
    bool first;     /* no comma is due */
} gg_json_reader;

typedef struct gg_json_name { /* raw bytes between the quotes; escapes are left as they stand */
    const char *bytes;
    size_t len;
} gg_json_name;

gg_json_reader gg_json_reader_make(const char *text, size_t len);
/* The first byte of what comes next, which tells its type; 0 at the end or after a failure. */
char gg_read_next(gg_json_reader *r);
bool gg_read_object(gg_json_reader *r);                   /* enters '{' */
bool gg_read_name(gg_json_reader *r, gg_json_name *name); /* next member's name; false at '}' */
bool gg_name_is(gg_json_name name, const char *text);
bool gg_read_array(gg_json_reader *r);   /* enters '[' */
bool gg_read_element(gg_json_reader *r); /* true when another element follows; false at ']' */
bool gg_read_null(gg_json_reader *r);    /* consumes null if it is next */
bool gg_read_double(gg_json_reader *r, double *out); /* the nearest double; 1e400 is malformed */
bool gg_read_int(gg_json_reader *r, int64_t *out);   /* 64 bits; 3.0 and 1e3 are whole too */
bool gg_read_bool(gg_json_reader *r, bool *out);
/* Decoded and appended; \u0000 and lone surrogates become U+FFFD. Also false when `out` has failed.
 */
bool gg_read_string(gg_json_reader *r, gg_buf *out);
bool gg_read_raw(gg_json_reader *r, gg_json_name *slice); /* any value, as its bytes */
bool gg_read_skip(gg_json_reader *r); /* any value, checked, to GG_JSON_DEPTH_MAX */
bool gg_read_end(gg_json_reader *r);  /* only white space is left */
/* Reads an array of numbers into arrays grown with realloc, from *values[0] on; the caller frees.
 * Also false when memory is short. A null among doubles is NaN. */
bool gg_read_int32s(gg_json_reader *r, int32_t **values, size_t *count, size_t *room);
bool gg_read_doubles(gg_json_reader *r, double **values, size_t *count, size_t *room);

#endif
