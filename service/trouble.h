/*
 * The kinds of trouble that `builtin:hostile` can make, as a table. docs/faults.md describes them
 * for users; a test holds the two together.
 *
 * Three classes. *Transport*: the request goes through when it is sent again. *Model*: the play
 * changes. *Stop*: the run cannot go on.
 */
#ifndef GG_SERVICE_TROUBLE_H
#define GG_SERVICE_TROUBLE_H

#include "core/json.h"

typedef enum gg_trouble_class {
    GG_TROUBLE_TRANSPORT,
    GG_TROUBLE_MODEL,
    GG_TROUBLE_STOP
} gg_trouble_class;

typedef enum gg_trouble_way {
    GG_WAY_CANNED, /* a fixed status and body */
    GG_WAY_STATUS, /* any status, with an error body of some form */
    GG_WAY_RESET,  /* the connection breaks before a byte */
    GG_WAY_NEVER,  /* nothing, until the connection is dropped at last */
    GG_WAY_DELAY,  /* the right reply, later */
    GG_WAY_CUT,    /* the connection breaks in the middle of the right reply */
    GG_WAY_STALL,  /* the right reply stops in the middle, and the connection stays */
    GG_WAY_DRIP,   /* the right reply in small pieces */
    GG_WAY_HALF,   /* half of the right reply, as if it were whole */
    GG_WAY_MANGLE  /* the right reply, changed: `mangle` */
} gg_trouble_way;

enum { /* settings that a kind takes, besides `times` */
       GG_KEY_BYTES = 1,
       GG_KEY_SECONDS = 2,
       GG_KEY_PIECE = 4,   /* and `every` */
       GG_KEY_HEADERS = 8, /* header, retry-after, retry-after-ms, retry-after-date */
       GG_KEY_BODY = 16    /* body, message; and a bare number, the status */
};

/* Changes a reply (a chat completion) by the kind's `body`; false where there is nothing to change.
 */
typedef bool (*gg_mangle)(cJSON *reply, const char *text);

typedef struct gg_trouble {
    const char *name;
    gg_trouble_class class;
    gg_trouble_way way;
    unsigned keys;
    bool delivers; /* the right reply arrives, sooner or later, at who waits long enough */
    int status;
    const char *content_type, *body; /* of GG_WAY_CANNED; what GG_WAY_MANGLE is given */
    gg_mangle mangle;
} gg_trouble;

/* The i-th kind, NULL past the last. */
const gg_trouble *gg_trouble_at(size_t index);
/* NULL when there is none; *near is then the name that was most likely meant, or NULL. */
const gg_trouble *gg_trouble_find(const char *name, const char **near);
const char *gg_trouble_class_name(gg_trouble_class class);

/* The forms of an error body: "openai", "vllm" ... The i-th form's name, NULL past the last. */
const char *gg_error_form_at(size_t index);
bool gg_error_form_known(const char *form);
/* Appends a body of that form; sets *content_type. */
void gg_error_form_write(const char *form, int status, const char *message, gg_buf *out,
                         const char **content_type);

/* service/mangle.c: the kinds that change a reply, and their number. */
extern const gg_trouble gg_manglers[];
extern const size_t gg_mangler_count;

#endif
