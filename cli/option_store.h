/* Inside of gg_opts, shared by the files that fill it: options.c, option_value.c, option_json.c. */
#ifndef GG_CLI_OPTION_STORE_H
#define GG_CLI_OPTION_STORE_H

#include "cli/options.h"

typedef struct gg_opt_value {
    char *text; /* NULL = not set */
    gg_source source;
    int64_t integer;
    double real;
    bool flag;
} gg_opt_value;

typedef struct gg_opt_pair { /* one KEY=VALUE */
    char *key, *value;
    gg_source source;
} gg_opt_pair;

struct gg_opts {
    gg_cmd_id command;
    gg_opt_value values[GG_OPT_COUNT];
    gg_opt_pair *pairs;
    size_t pair_count;
};

/* Checks a value's text against its row and fills the typed members. `where` names the option as
 * the user wrote it ("--samples", "GUESSGYM_SAMPLES"). */
gg_status gg_opt_check(const gg_opt *row, const char *text, const char *where, gg_opt_value *out,
                       gg_error *error);
/* Stores a value unless a stronger source gave one. For GG_VALUE_PAIRS the text is KEY=VALUE. */
gg_status gg_opt_store(gg_opts *opts, gg_opt_id id, const char *text, gg_source source,
                       const char *where, gg_error *error);

#endif
