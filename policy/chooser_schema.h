/*
 * What can be called, read from the tools' schemas as the prompt's tokens spell them: tools, their
 * arguments in schema order, and every value that an argument can have.
 *
 * Readable arguments are an enum or const of texts, numbers and booleans, a boolean, and a whole
 * number with minimum and maximum. An argument that is not readable is left out where it is not
 * required; where it is, the schema is refused.
 */
#ifndef GG_POLICY_CHOOSER_SCHEMA_H
#define GG_POLICY_CHOOSER_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include "core/json.h"
#include <guessgym/error.h>

#define GG_CHOOSER_TOOLS     16
#define GG_CHOOSER_ARGUMENTS 16  /* of a tool */
#define GG_CHOOSER_VALUES    128 /* of an argument */
#define GG_CHOOSER_TOTAL     2048
#define GG_CHOOSER_TEXT_MAX  (1u << 16) /* bytes of all names and values */

typedef struct gg_chooser_slice {
    uint32_t at, len; /* in the schema's text */
} gg_chooser_slice;

typedef struct gg_chooser_argument {
    gg_chooser_slice name; /* as JSON, in quotes */
    uint32_t first, count; /* of values */
} gg_chooser_argument;

typedef struct gg_chooser_tool {
    gg_chooser_slice name;
    size_t argument_count;
    gg_chooser_argument arguments[GG_CHOOSER_ARGUMENTS];
} gg_chooser_tool;

typedef struct gg_chooser_schema {
    gg_buf text;
    size_t tool_count;
    gg_chooser_tool tools[GG_CHOOSER_TOOLS];
    size_t value_count;
    gg_chooser_slice values[GG_CHOOSER_TOTAL]; /* as JSON */
} gg_chooser_schema;

void gg_chooser_schema_init(gg_chooser_schema *schema);
void gg_chooser_schema_free(gg_chooser_schema *schema);
/* Adds a tool; `parameters` is its JSON Schema, empty for a tool without arguments. What it cannot
 * play is GG_E_ARGUMENT with the tool and the argument named. */
gg_status gg_chooser_schema_add(gg_chooser_schema *schema, const char *name, const char *parameters,
                                size_t len, gg_error *error);
const char *gg_chooser_text(const gg_chooser_schema *schema, gg_chooser_slice slice);

#endif
