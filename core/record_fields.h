/* The record's schema as a table, from which it is both written and read. */
#ifndef GG_CORE_RECORD_FIELDS_H
#define GG_CORE_RECORD_FIELDS_H

#include <guessgym/record.h>

typedef enum gg_field_kind {
    GG_FIELD_SCHEMA, /* the fixed text GG_RECORD_SCHEMA */
    GG_FIELD_TEXT,   /* const char *, NULL = null */
    GG_FIELD_JSON,   /* const char * of JSON text; NULL = `fallback` */
    GG_FIELD_INT,    /* int64_t */
    GG_FIELD_SHORT,  /* int */
    GG_FIELD_SEED,   /* uint64_t below 2^53 */
    GG_FIELD_COUNT,  /* int64_t, -1 = null */
    GG_FIELD_NUMBER, /* double, NaN = null */
    GG_FIELD_BOOL,
    GG_FIELD_OUTCOME,
    GG_FIELD_STOP,
    GG_FIELD_STATUS,
    GG_FIELD_GROUP,   /* an object whose members lie in the same struct: `fields` */
    GG_FIELD_LIST,    /* an array of structs of `size` bytes: `fields` */
    GG_FIELD_STRINGS, /* an array of const char * */
    GG_FIELD_PARTS,   /* an object of numbers, gg_named */
    GG_FIELD_LABELS,  /* an object of strings, gg_label */
    GG_FIELD_BY_TURN  /* an array of one double a turn; absent when NULL */
} gg_field_kind;

typedef struct gg_field {
    const char *name; /* NULL ends a table */
    size_t at;        /* offset of the value in its struct */
    size_t count_at;  /* offset of an array's count */
    size_t size;      /* of an array's element */
    const struct gg_field *fields;
    const char *fallback;
    gg_field_kind kind;
    bool optional; /* a text that is left out when NULL, a bool when false */
} gg_field;

/* The members of an episode in the order of the schema; `messages` is the last. */
extern const gg_field gg_episode_fields[];

#endif
