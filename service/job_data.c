#include "service/job_data.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/file.h"
#include "core/json.h"

#define COLUMN     "prompt"
#define COLUMN_MAX 1024

/* One object while it is read. */
typedef struct reading {
    const char *name, *at, *end;
    size_t line; /* of what comes next, from 1 */
    gg_rows *out;
    gg_buf column; /* the prompt column's name, once the first row is seen */
    bool column_known;
    gg_buf value; /* scratch */
    gg_error *error;
} reading;

void gg_rows_free(gg_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free(rows->prompts[i]);
    free(rows->prompts);
    *rows = (gg_rows){0};
}

static gg_status refuse(reading *r, size_t line, const char *sentence)
{
    return gg_fail(r->error, GG_E_CONFIG, "%s, line %zu: %s", r->name, line, sentence);
}

static gg_status no_memory(reading *r)
{
    return gg_fail(r->error, GG_E_MEMORY, "out of memory for the rows of %s", r->name);
}

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!strchr(" \t\r\n\v\f", text[i]))
            return false;
    return true;
}

/* Takes r->value as the next prompt. */
static gg_status push(reading *r, size_t line)
{
    gg_rows *rows = r->out;
    if (r->value.status == GG_E_MEMORY)
        return no_memory(r);
    if (is_blank(gg_buf_cstr(&r->value), r->value.len))
        return refuse(r, line, "the prompt is empty");
    if (rows->count == GG_ROWS_MAX)
        return gg_fail(r->error, GG_E_CONFIG, "%s: more than %d rows", r->name, GG_ROWS_MAX);
    if (rows->count == rows->room) {
        size_t room = rows->room ? rows->room * 2 : 256;
        char **prompts = realloc(rows->prompts, room * sizeof *prompts);
        if (!prompts)
            return no_memory(r);
        rows->prompts = prompts;
        rows->room = room;
    }
    char *text = strndup(gg_buf_cstr(&r->value), r->value.len);
    if (!text)
        return no_memory(r);
    rows->prompts[rows->count++] = text;
    return GG_OK;
}

/* ---- JSON ---- */

/* The value that comes next as the prompt's text: a string decoded, anything else as it stands. */
static gg_status read_prompt(reading *r, gg_json_reader *json, size_t line)
{
    gg_json_name raw;
    gg_buf_reset(&r->value);
    if (gg_read_next(json) == '"') {
        if (!gg_read_string(json, &r->value))
            return json->no_memory ? no_memory(r) : refuse(r, line, "the prompt is broken");
        return GG_OK;
    }
    if (gg_read_next(json) == 'n')
        return refuse(r, line, "the prompt is null");
    if (!gg_read_raw(json, &raw))
        return refuse(r, line, "this is no JSON object");
    gg_buf_add(&r->value, raw.bytes, raw.len);
    return GG_OK;
}

/* The prompt column by the first row's members: "prompt", else the first. */
static gg_status choose_column(reading *r, gg_json_reader json, size_t line)
{
    gg_json_name name;
    bool first = true, found = false;
    if (!gg_read_object(&json))
        return refuse(r, line, "a row must be a JSON object");
    while (!found && gg_read_name(&json, &name)) {
        found = gg_name_is(name, COLUMN);
        if (first || found) {
            gg_buf_reset(&r->column);
            gg_buf_add(&r->column, name.bytes, name.len);
        }
        first = false;
        gg_read_skip(&json);
    }
    if (json.failed)
        return refuse(r, line, "this is no JSON object");
    if (first)
        return refuse(r, line, "the row has no column");
    r->column_known = true;
    return r->column.status == GG_OK ? GG_OK : refuse(r, line, "the column's name is too long");
}

/* One row, an object; the reader stands behind it afterwards. */
static gg_status read_row(reading *r, gg_json_reader *json, size_t line)
{
    gg_json_name name;
    bool found = false;
    gg_status status = r->column_known ? GG_OK : choose_column(r, *json, line);
    if (status != GG_OK)
        return status;
    if (!gg_read_object(json))
        return refuse(r, line, "a row must be a JSON object");
    while (status == GG_OK && gg_read_name(json, &name)) {
        bool wanted = !found && name.len == r->column.len &&
                      memcmp(name.bytes, gg_buf_cstr(&r->column), name.len) == 0;
        found = found || wanted;
        if (wanted)
            status = read_prompt(r, json, line);
        else
            gg_read_skip(json);
    }
    if (status != GG_OK)
        return status;
    if (json->failed)
        return refuse(r, line, "this is no JSON object");
    if (!found)
        return gg_fail(r->error, GG_E_CONFIG, "%s, line %zu: the row has no column \"%s\"", r->name,
                       line, gg_buf_cstr(&r->column));
    return push(r, line);
}

static gg_status too_long(reading *r, size_t line, size_t len)
{
    return gg_fail(r->error, GG_E_CONFIG, "%s, line %zu: a row of %zu bytes; at most %u", r->name,
                   line, len, GG_ROW_MAX);
}

static gg_status read_lines(reading *r)
{
    gg_status status = GG_OK;
    for (; status == GG_OK && r->at < r->end; r->line++) {
        const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
        size_t len = (size_t)((stop ? stop : r->end) - r->at);
        if (len > GG_ROW_MAX)
            return too_long(r, r->line, len);
        if (!is_blank(r->at, len)) {
            gg_json_reader json = gg_json_reader_make(r->at, len);
            status = read_row(r, &json, r->line);
            if (status == GG_OK && !gg_read_end(&json))
                status = refuse(r, r->line, "something follows the row's object");
        }
        r->at += len + (stop ? 1 : 0);
    }
    return status;
}

static size_t lines_between(const char *from, const char *to)
{
    size_t count = 0;
    while (from < to && (from = memchr(from, '\n', (size_t)(to - from)))) {
        count++;
        from++;
    }
    return count;
}

static gg_status read_array(reading *r)
{
    gg_json_reader json = gg_json_reader_make(r->at, (size_t)(r->end - r->at));
    gg_status status = GG_OK;
    if (!gg_read_array(&json))
        return refuse(r, 1,
                      "a .json data set is one array of objects; for an object a line name "
                      "it .jsonl");
    while (status == GG_OK && gg_read_element(&json)) {
        (void)gg_read_next(&json); /* over the white space, so that the line is the row's */
        r->line += lines_between(r->at, json.at);
        r->at = json.at;
        status = read_row(r, &json, r->line);
        size_t len = (size_t)(json.at - r->at);
        if (status == GG_OK && len > GG_ROW_MAX)
            status = too_long(r, r->line, len);
    }
    if (status == GG_OK && !gg_read_end(&json))
        status = refuse(r, r->line, "the array is broken off, or something follows it");
    return status;
}

/* ---- CSV ---- */

/* One field into r->value; *last tells whether it ends its row. */
static gg_status read_field(reading *r, size_t row_line, bool *last)
{
    bool quoted = r->at < r->end && *r->at == '"';
    gg_buf_reset(&r->value);
    r->at += quoted;
    for (;;) {
        if (r->at == r->end && quoted)
            return refuse(r, row_line, "a quoted field does not end");
        if (r->at == r->end || (!quoted && (*r->at == ',' || *r->at == '\n')))
            break;
        char c = *r->at++;
        if (quoted && c == '"') {
            if (r->at < r->end && *r->at == '"') {
                r->at++;
            } else {
                quoted = false;
                continue;
            }
        } else if (!quoted && c == '\r' && (r->at == r->end || *r->at == '\n')) {
            continue;
        }
        r->line += c == '\n';
        gg_buf_char(&r->value, c);
    }
    *last = r->at == r->end || *r->at == '\n';
    r->line += r->at < r->end && *r->at == '\n';
    r->at += r->at < r->end;
    return r->value.status == GG_E_LIMIT ? too_long(r, row_line, r->value.len) : GG_OK;
}

/* Reads the header; *column is the prompt's place. */
static gg_status read_header(reading *r, size_t *column, size_t *columns)
{
    bool last = false;
    *column = *columns = 0;
    while (!last) {
        gg_status status = read_field(r, 1, &last);
        if (status != GG_OK)
            return status;
        if (strcmp(gg_buf_cstr(&r->value), COLUMN) == 0)
            *column = *columns;
        ++*columns;
    }
    return GG_OK;
}

static bool at_empty_line(const reading *r)
{
    return *r->at == '\n' || (*r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n');
}

static gg_status read_csv_row(reading *r, size_t column, size_t columns)
{
    size_t line = r->line, place = 0;
    bool last = false;
    gg_status status = GG_OK;
    gg_buf prompt = {0};
    for (; status == GG_OK && !last; place++) {
        status = read_field(r, line, &last);
        if (status == GG_OK && place == column) {
            prompt = r->value;
            gg_buf_init(&r->value, GG_ROW_MAX);
        }
    }
    if (status == GG_OK && place != columns)
        status = gg_fail(r->error, GG_E_CONFIG, "%s, line %zu: %zu fields where the header has %zu",
                         r->name, line, place, columns);
    gg_buf_free(&r->value);
    if (prompt.maximum)
        r->value = prompt;
    else
        gg_buf_init(&r->value, GG_ROW_MAX);
    return status == GG_OK ? push(r, line) : status;
}

static gg_status read_csv(reading *r)
{
    size_t column, columns;
    gg_status status = read_header(r, &column, &columns);
    while (status == GG_OK && r->at < r->end) {
        if (at_empty_line(r)) {
            r->at += *r->at == '\r' ? 2 : 1;
            r->line++;
        } else {
            status = read_csv_row(r, column, columns);
        }
    }
    return status;
}

/* ---- an object ---- */

static gg_status read_parquet(reading *r)
{
    return gg_fail(r->error, GG_E_CONFIG,
                   "%s: parquet cannot be read here; convert it, for example by python3 -c "
                   "\"import pandas as p; p.read_parquet('train.parquet').to_json('train.jsonl', "
                   "orient='records', lines=True)\"",
                   r->name);
}

static const struct {
    const char *suffix;
    gg_status (*read)(reading *);
} formats[] = {
    {".jsonl", read_lines}, {".json", read_array}, {".csv", read_csv}, {".parquet", read_parquet}};
#define FORMATS (sizeof formats / sizeof *formats)

static size_t format_of(const char *name)
{
    size_t len = strlen(name), i = 0;
    for (; i < FORMATS; i++) {
        size_t suffix = strlen(formats[i].suffix);
        if (len > suffix && strcasecmp(name + len - suffix, formats[i].suffix) == 0)
            break;
    }
    return i;
}

/* Length of the well-formed UTF-8 character at `s`; 0 for what is none (Unicode 15, table 3-7). */
static size_t character(const unsigned char *s, size_t left)
{
    unsigned char low = 0x80, high = 0xBF;
    size_t len = s[0] < 0x80   ? 1
                 : s[0] < 0xC2 ? 0
                 : s[0] < 0xE0 ? 2
                 : s[0] < 0xF0 ? 3
                 : s[0] < 0xF5 ? 4
                               : 0;
    if (len == 0 || len > left)
        return 0;
    if (s[0] == 0xE0)
        low = 0xA0;
    else if (s[0] == 0xED)
        high = 0x9F;
    else if (s[0] == 0xF0)
        low = 0x90;
    else if (s[0] == 0xF4)
        high = 0x8F;
    for (size_t i = 1; i < len; i++, low = 0x80, high = 0xBF)
        if (s[i] < low || s[i] > high)
            return 0;
    return len;
}

static gg_status check_text(reading *r)
{
    size_t line = 1;
    for (const char *p = r->at; p < r->end;) {
        size_t len = character((const unsigned char *)p, (size_t)(r->end - p));
        if (len == 0 || *p == '\0')
            return refuse(r, line, len ? "a NUL byte" : "invalid UTF-8; save the file as UTF-8");
        line += *p == '\n';
        p += len;
    }
    return GG_OK;
}

gg_status gg_rows_parse(const char *name, const char *bytes, size_t len, gg_rows *out,
                        gg_error *error)
{
    reading r = {
        .name = name, .at = bytes, .end = bytes + len, .line = 1, .out = out, .error = error};
    size_t format = format_of(name);
    if (format == FORMATS)
        return gg_fail(error, GG_E_CONFIG, "%s is none of .jsonl, .json, .csv", name);
    gg_buf_init(&r.column, COLUMN_MAX);
    gg_buf_init(&r.value, GG_ROW_MAX);
    if (len >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
        r.at += 3;
    gg_status status = formats[format].read == read_parquet ? GG_OK : check_text(&r);
    if (status == GG_OK)
        status = formats[format].read(&r);
    gg_buf_free(&r.column);
    gg_buf_free(&r.value);
    return status;
}

/* ---- a channel ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static gg_status count_duplicates(gg_rows *rows, gg_error *error)
{
    char **sorted = malloc((rows->count + 1) * sizeof *sorted);
    if (!sorted)
        return gg_fail(error, GG_E_MEMORY, "out of memory for %zu rows", rows->count);
    if (rows->count)
        memcpy(sorted, rows->prompts, rows->count * sizeof *sorted);
    qsort(sorted, rows->count, sizeof *sorted, by_text);
    rows->duplicates = 0;
    for (size_t i = 1; i < rows->count; i++)
        rows->duplicates += strcmp(sorted[i], sorted[i - 1]) == 0;
    free(sorted);
    return GG_OK;
}

/* Markers that programs leave beside data. */
static bool is_hidden(const char *uri)
{
    const char *slash = strrchr(uri, '/');
    return slash && (slash[1] == '_' || slash[1] == '.');
}

static gg_status load_one(const gg_store *store, const char *uri, gg_rows *out, gg_error *error)
{
    gg_buf text;
    gg_buf_init(&text, GG_FILE_MAX);
    gg_status status = gg_store_read(store, uri, &text, error);
    if (status == GG_OK)
        status = gg_rows_parse(uri, gg_buf_cstr(&text), text.len, out, error);
    gg_buf_free(&text);
    return status;
}

gg_status gg_rows_load(const gg_store *store, const char *uri, gg_rows *out, gg_error *error)
{
    gg_store_list list;
    *out = (gg_rows){0};
    gg_status status = gg_store_find(store, uri, &list, error);
    if (status != GG_OK)
        return status;
    if (list.count == 0)
        status = gg_fail(error, GG_E_CONFIG, "there is no data at %s", uri);
    for (size_t i = 0; status == GG_OK && i < list.count; i++)
        if (list.count == 1 || !is_hidden(list.uris[i]))
            status = load_one(store, list.uris[i], out, error);
    if (status == GG_OK && out->count == 0)
        status = gg_fail(error, GG_E_CONFIG, "the data at %s has no rows", uri);
    if (status == GG_OK)
        status = count_duplicates(out, error);
    gg_store_list_free(&list);
    if (status != GG_OK)
        gg_rows_free(out);
    return status;
}
