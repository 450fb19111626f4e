/*
 * A growable byte buffer with a hard maximum.
 *
 * The buffer always holds a NUL after its last byte, so `data` is a C string once anything was
 * appended. Running out of room or memory marks the buffer as failed: later appends do nothing, and
 * one check of gg_buf_status at the end covers the whole series. Reset keeps the storage, so a
 * buffer that is reused in a loop stops allocating once it has grown.
 *
 * Ownership: the struct is the caller's; gg_buf_free releases the bytes (NULL and zeroed buffers
 * are fine). Threads: one at a time.
 */
#ifndef GUESSGYM_BUF_H
#define GUESSGYM_BUF_H

#include <stddef.h>
#include <stdint.h>

#include <guessgym/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gg_buf {
    char *data;       /* NULL until the first append */
    size_t len;       /* bytes in use, the NUL not counted */
    size_t room;      /* bytes allocated */
    size_t maximum;   /* hard limit of len */
    gg_status status; /* GG_OK, GG_E_MEMORY or GG_E_LIMIT; sticky until reset */
} gg_buf;

/* Starts an empty buffer that may grow to `maximum` bytes. */
GG_API void gg_buf_init(gg_buf *buf, size_t maximum);
GG_API void gg_buf_free(gg_buf *buf);
/* Empties the buffer and clears a failure; keeps the storage. */
GG_API void gg_buf_reset(gg_buf *buf);
/* Cuts to the first `len` bytes; no effect when there are fewer. */
GG_API void gg_buf_truncate(gg_buf *buf, size_t len);
/* Makes room for `more` bytes now, so that the appends that follow do not allocate. */
GG_API void gg_buf_reserve(gg_buf *buf, size_t more);

GG_API void gg_buf_add(gg_buf *buf, const void *bytes, size_t len);
GG_API void gg_buf_str(gg_buf *buf, const char *text);
GG_API void gg_buf_char(gg_buf *buf, char c);
GG_API void gg_buf_int(gg_buf *buf, int64_t value);
/* Shortest decimal text that reads back as the same double; NaN and infinities become null. */
GG_API void gg_buf_double(gg_buf *buf, double value);
GG_API void gg_buf_printf(gg_buf *buf, const char *format, ...) GG_PRINTF(2, 3);

/* A JSON string with its quotes. Invalid UTF-8 and lone surrogates become U+FFFD; U+2028, U+2029
 * and all control characters are escaped, so the text can stand on one line of any JSONL file. */
GG_API void gg_buf_json(gg_buf *buf, const char *bytes, size_t len);
GG_API void gg_buf_json_str(gg_buf *buf, const char *text); /* NULL gives null */
/* The same without the quotes, for a string that is put together from pieces (cut them between
 * characters). */
GG_API void gg_buf_json_part(gg_buf *buf, const char *bytes, size_t len);

/* "" for an empty buffer, else data. Valid until the next append. */
GG_API const char *gg_buf_cstr(const gg_buf *buf);
/* The sticky status; fills error with what went wrong. `what` names the contents for the reader. */
GG_API gg_status gg_buf_status(const gg_buf *buf, const char *what, gg_error *error);
/* Takes the bytes out (malloc'ed, NUL-terminated; caller frees) and leaves the buffer empty.
 * NULL when the buffer failed or memory is short. */
GG_API char *gg_buf_take(gg_buf *buf);

#ifdef __cplusplus
}
#endif
#endif
