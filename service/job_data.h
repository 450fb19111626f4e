/*
 * Data sets of jobs: the prompts of one channel, in the order of the objects' names and their rows.
 *
 * Read are .jsonl (an object a line), .json (an array of objects) and .csv (RFC 4180, with a header
 * row). The prompt column is the one named "prompt", else the first of the first row; all others
 * are passed over. A prompt is handed on as it stands: a text unchanged, any other JSON value as
 * its text.
 *
 * A byte order mark at the start, CRLF line ends and empty lines between rows are fine. Refused,
 * with file and line: invalid UTF-8, a row without the column, an empty prompt, a row of more than
 * GG_ROW_MAX bytes, JSON that is none. The same prompt twice is two rows, and counted.
 */
#ifndef GG_SERVICE_JOB_DATA_H
#define GG_SERVICE_JOB_DATA_H

#include "service/store.h"

#define GG_ROW_MAX  (16u << 20)
#define GG_ROWS_MAX 1000000

typedef struct gg_rows {
    char **prompts; /* owned; NUL-terminated UTF-8 */
    size_t count, room;
    size_t duplicates; /* rows whose prompt came before */
} gg_rows;

void gg_rows_free(gg_rows *rows);
/* All objects at the address. GG_E_CONFIG for what is wrong with the data. */
gg_status gg_rows_load(const gg_store *store, const char *uri, gg_rows *out, gg_error *error);
/* One object's bytes; `name` decides on the format and is told in messages. Appends. */
gg_status gg_rows_parse(const char *name, const char *bytes, size_t len, gg_rows *out,
                        gg_error *error);

#endif
