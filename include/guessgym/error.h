/*
 * Errors.
 *
 * Every function that can fail returns a gg_status and takes, last, a caller-owned gg_error in
 * which it leaves one sentence for a person: what happened, where (file, line, address without
 * secrets), what to do. The library never prints and never exits; the program maps a gg_status to
 * its exit code in one table (cli/exit.c).
 *
 * Threads: a gg_error belongs to its caller. No function keeps a pointer to it.
 */
#ifndef GUESSGYM_ERROR_H
#define GUESSGYM_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GG_MUST_USE            __attribute__((__warn_unused_result__))
#define GG_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#define GG_API                 __attribute__((__visibility__("default")))
#else
#define GG_MUST_USE
#define GG_PRINTF(text, first)
#define GG_API
#endif

typedef enum gg_status {
    GG_OK = 0,
    GG_E_MEMORY = 1,      /* an allocation failed */
    GG_E_ARGUMENT = 2,    /* a value the caller passed makes no sense */
    GG_E_CONFIG = 3,      /* an option, list, dataset or configuration the user gave is wrong */
    GG_E_IO = 4,          /* reading or writing a file failed */
    GG_E_FORMAT = 5,      /* bytes that should be JSON, a record, a list, are not */
    GG_E_LIMIT = 6,       /* a named limit was reached: size, depth, time, count */
    GG_E_LOCKED = 7,      /* another process holds the run folder */
    GG_E_UNREACHABLE = 8, /* an endpoint does not answer, or refuses us for good */
    GG_E_PROTOCOL = 9,    /* an endpoint answered something that cannot be */
    GG_E_STATE = 10,      /* the call does not fit the object's state */
    GG_E_INTERRUPTED = 11 /* stopped by a signal; what was done is kept */
} gg_status;

#define GG_ERROR_TEXT 512

typedef struct gg_error {
    gg_status status;
    char
        text[GG_ERROR_TEXT]; /* one sentence, cut with "..." when longer; "" when status is GG_OK */
} gg_error;

/* Short English name of a status, for logs; never NULL, static storage. */
GG_API const char *gg_status_name(gg_status status);

/* Fills `error` (NULL is allowed: then only the status counts) and returns `status`, so that a
 * failing function can end in `return gg_fail(error, GG_E_IO, "cannot read %s: %s", ...)`. */
GG_API gg_status gg_fail(gg_error *error, gg_status status, const char *format, ...)
    GG_PRINTF(3, 4);

/* Puts "prefix: " before the sentence already there. Returns error's status. */
GG_API gg_status gg_fail_prefix(gg_error *error, const char *format, ...) GG_PRINTF(2, 3);

#ifdef __cplusplus
}
#endif
#endif
