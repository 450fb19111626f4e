#include "core/record_fields.h"
#include "core/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRING_MAX (64u << 20) /* longest decoded string of a record */

typedef struct parser {
    gg_json_reader json;
    gg_episode *episode;
    gg_buf scratch; /* strings with escapes are decoded here */
    double *by_turn;
    size_t by_turn_count, by_turn_room;
    bool seen_schema, seen_turns, no_memory;
    const char *where; /* name of the innermost field that could not be read */
    gg_read_depth depth;
    bool done; /* the messages are reached and not wanted */
} parser;

#define AT(type, base, offset) (*(type *)(void *)((base) + (offset)))

typedef const char *text;

static bool read_fields(parser *p, const gg_field *fields, char *base);

static bool short_of_memory(parser *p)
{
    p->no_memory = true;
    return false;
}

static bool keep_string(parser *p, const char *bytes, size_t len, const char **out)
{
    *out = gg_episode_string(p->episode, bytes, len);
    return *out || short_of_memory(p);
}

static bool read_text(parser *p, const char **out)
{
    gg_json_name raw;
    *out = NULL;
    if (gg_read_null(&p->json))
        return true;
    gg_json_reader again = p->json;
    if (!gg_read_raw(&p->json, &raw) || *raw.bytes != '"')
        return false;
    if (!memchr(raw.bytes, '\\', raw.len))
        return keep_string(p, raw.bytes + 1, raw.len - 2, out);
    gg_buf_reset(&p->scratch);
    if (!gg_read_string(&again, &p->scratch)) {
        p->json.no_memory |= again.no_memory;
        return false;
    }
    return keep_string(p, p->scratch.data, p->scratch.len, out);
}

static bool read_json(parser *p, const char **out)
{
    gg_json_name raw;
    return gg_read_raw(&p->json, &raw) && keep_string(p, raw.bytes, raw.len, out);
}

static bool read_count(parser *p, int64_t *out)
{
    *out = GG_TOKENS_UNKNOWN;
    return gg_read_null(&p->json) || (gg_read_int(&p->json, out) && *out >= 0);
}

static bool read_number(parser *p, double *out)
{
    *out = NAN;
    return gg_read_null(&p->json) || gg_read_double(&p->json, out);
}

static bool read_short(parser *p, int *out)
{
    int64_t value;
    if (!gg_read_int(&p->json, &value) || value < INT32_MIN || value > INT32_MAX)
        return false;
    *out = (int)value;
    return true;
}

static bool read_seed(parser *p, uint64_t *out)
{
    int64_t value;
    if (!gg_read_int(&p->json, &value) || value < 0 || value >> 53)
        return false;
    *out = (uint64_t)value;
    return true;
}

/* A name out of a closed set, read without a copy. */
static bool read_enum(parser *p, gg_field_kind kind, char *at)
{
    char name[32];
    gg_json_name raw;
    if (!gg_read_raw(&p->json, &raw) || *raw.bytes != '"' || raw.len - 2 >= sizeof name)
        return false;
    memcpy(name, raw.bytes + 1, raw.len - 2);
    name[raw.len - 2] = '\0';
    if (kind == GG_FIELD_OUTCOME)
        return (AT(gg_outcome, at, 0) = gg_outcome_parse(name)) < GG_OUTCOME_COUNT;
    if (kind == GG_FIELD_STOP)
        return (AT(gg_stop, at, 0) = gg_stop_parse(name)) < GG_STOP_COUNT;
    return (AT(gg_call_status, at, 0) = gg_call_status_parse(name)) < GG_CALL_STATUS_COUNT;
}

static bool read_schema(parser *p)
{
    const char *schema;
    if (!read_text(p, &schema))
        return false;
    p->seen_schema = schema && strcmp(schema, GG_RECORD_SCHEMA) == 0;
    return p->seen_schema;
}

static bool read_list(parser *p, const gg_field *field, char *base)
{
    /* Pushed into locals: element structs may move while their own lists are read, base does not.
     */
    char *items = NULL;
    size_t count = 0;
    bool good = gg_read_array(&p->json);
    while (good && gg_read_element(&p->json)) {
        char *item = gg_episode_push(p->episode, &items, &count, field->size);
        good = item ? gg_read_object(&p->json) && read_fields(p, field->fields, item)
                    : short_of_memory(p);
    }
    memcpy(base + field->at, &items, sizeof items);
    AT(size_t, base, field->count_at) = count;
    return good && !p->json.failed;
}

static bool read_strings(parser *p, const gg_field *field, char *base)
{
    const char **items = NULL;
    size_t count = 0;
    bool good = gg_read_array(&p->json);
    while (good && gg_read_element(&p->json)) {
        const char **item = gg_episode_push(p->episode, &items, &count, sizeof *items);
        good = item ? read_text(p, item) : short_of_memory(p);
    }
    AT(const char **, base, field->at) = items;
    AT(size_t, base, field->count_at) = count;
    return good && !p->json.failed;
}

/* A member's name as a kept string. */
static bool keep_name(parser *p, gg_json_name name, const char **out)
{
    if (!memchr(name.bytes, '\\', name.len))
        return keep_string(p, name.bytes, name.len, out);
    gg_json_reader quoted = gg_json_reader_make(name.bytes - 1, name.len + 2);
    gg_buf_reset(&p->scratch);
    if (!gg_read_string(&quoted, &p->scratch)) {
        p->json.no_memory |= quoted.no_memory;
        return false;
    }
    return keep_string(p, p->scratch.data, p->scratch.len, out);
}

static bool read_parts(parser *p, const gg_field *field, char *base)
{
    gg_named *items = NULL;
    size_t count = 0;
    gg_json_name name;
    bool good = gg_read_object(&p->json);
    while (good && gg_read_name(&p->json, &name)) {
        gg_named *item = gg_episode_push(p->episode, &items, &count, sizeof *items);
        good = item ? keep_name(p, name, &item->name) && read_number(p, &item->value)
                    : short_of_memory(p);
    }
    AT(gg_named *, base, field->at) = items;
    AT(size_t, base, field->count_at) = count;
    return good && !p->json.failed;
}

static bool read_labels(parser *p, const gg_field *field, char *base)
{
    gg_label *items = NULL;
    size_t count = 0;
    gg_json_name name;
    bool good = gg_read_object(&p->json);
    while (good && gg_read_name(&p->json, &name)) {
        gg_label *item = gg_episode_push(p->episode, &items, &count, sizeof *items);
        good = item ? keep_name(p, name, &item->name) && read_text(p, &item->value)
                    : short_of_memory(p);
    }
    AT(gg_label *, base, field->at) = items;
    AT(size_t, base, field->count_at) = count;
    return good && !p->json.failed;
}

/* Kept aside until the number of turns is known. */
static bool read_by_turn(parser *p, char *base, size_t at)
{
    if (gg_read_null(&p->json))
        return true;
    if (!gg_read_doubles(&p->json, &p->by_turn, &p->by_turn_count, &p->by_turn_room))
        return false;
    size_t bytes = p->by_turn_count * sizeof *p->by_turn;
    double *kept = gg_episode_alloc(p->episode, bytes);
    if (!kept)
        return short_of_memory(p);
    if (bytes)
        memcpy(kept, p->by_turn, bytes);
    AT(double *, base, at) = kept;
    return true;
}

static bool read_group(parser *p, const gg_field *field, char *base)
{
    return gg_read_null(&p->json) ||
           (gg_read_object(&p->json) && read_fields(p, field->fields, base));
}

static bool read_value(parser *p, const gg_field *field, char *base)
{
    char *at = base + field->at;
    switch (field->kind) {
    case GG_FIELD_SCHEMA:
        return read_schema(p);
    case GG_FIELD_TEXT:
        return read_text(p, &AT(text, at, 0));
    case GG_FIELD_JSON:
        return read_json(p, &AT(text, at, 0));
    case GG_FIELD_INT:
        return gg_read_int(&p->json, &AT(int64_t, at, 0));
    case GG_FIELD_SHORT:
        return read_short(p, &AT(int, at, 0));
    case GG_FIELD_SEED:
        return read_seed(p, &AT(uint64_t, at, 0));
    case GG_FIELD_COUNT:
        return read_count(p, &AT(int64_t, at, 0));
    case GG_FIELD_NUMBER:
        return read_number(p, &AT(double, at, 0));
    case GG_FIELD_BOOL:
        return gg_read_bool(&p->json, &AT(bool, at, 0));
    case GG_FIELD_OUTCOME:
    case GG_FIELD_STOP:
    case GG_FIELD_STATUS:
        return read_enum(p, field->kind, at);
    case GG_FIELD_GROUP:
        return read_group(p, field, base);
    case GG_FIELD_LIST:
        return read_list(p, field, base);
    case GG_FIELD_STRINGS:
        return read_strings(p, field, base);
    case GG_FIELD_PARTS:
        return read_parts(p, field, base);
    case GG_FIELD_LABELS:
        return read_labels(p, field, base);
    case GG_FIELD_BY_TURN:
        return read_by_turn(p, base, field->at);
    }
    return false;
}

/* Records are written in the table's order, so the member after the last one found is tried first.
 */
static const gg_field *find(const gg_field *fields, const gg_field *next, gg_json_name name)
{
    if (next->name && gg_name_is(name, next->name))
        return next;
    const gg_field *field = fields;
    while (field->name && !gg_name_is(name, field->name))
        field++;
    return field;
}

static bool read_fields(parser *p, const gg_field *fields, char *base)
{
    const gg_field *next = fields;
    gg_json_name name;
    while (gg_read_name(&p->json, &name)) {
        const gg_field *field = find(fields, next, name);
        if (!field->name) {
            if (!gg_read_skip(&p->json))
                return false;
            continue;
        }
        next = field + 1;
        bool messages = fields == gg_episode_fields && !next->name;
        if (messages && p->depth == GG_READ_PLAY) {
            p->done = p->seen_turns;
            if (p->done)
                return true;
            if (!gg_read_skip(&p->json))
                return false;
        } else if (!read_value(p, field, base)) {
            if (!p->where)
                p->where = field->name;
            return false;
        }
        if (field->kind == GG_FIELD_LIST && fields == gg_episode_fields)
            p->seen_turns = true;
    }
    return !p->json.failed;
}

/* A line cut short cannot be told inside the messages, which may be skipped, but by its end. */
static size_t without_space(const char *line, size_t len)
{
    while (len && (line[len - 1] == '\n' || line[len - 1] == '\r' || line[len - 1] == ' '))
        len--;
    return len;
}

static gg_status refuse(const parser *p, const char *line, gg_error *error)
{
    if (p->no_memory || p->json.no_memory)
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading an episode's record");
    size_t byte = (size_t)(p->json.at - line);
    if (p->where && strcmp(p->where, "schema") == 0)
        return gg_fail(error, GG_E_FORMAT,
                       "not a record of schema " GG_RECORD_SCHEMA
                       ": it was written by another version or is no episode");
    if (p->where)
        return gg_fail(error, GG_E_FORMAT,
                       "damaged episode record: no proper value of \"%s\" before byte %zu",
                       p->where, byte);
    return gg_fail(error, GG_E_FORMAT, "damaged episode record: not valid JSON at byte %zu", byte);
}

static gg_status check(const parser *p, gg_error *error)
{
    const gg_episode *e = p->episode;
    const char *missing = !p->seen_schema  ? "schema"
                          : !e->id         ? "id"
                          : !e->env        ? "env"
                          : !p->seen_turns ? "turns"
                                           : NULL;
    if (missing)
        return gg_fail(error, GG_E_FORMAT, "not an episode record: no \"%s\"", missing);
    if (e->reward_by_turn && p->by_turn_count != e->turn_count)
        return gg_fail(error, GG_E_FORMAT,
                       "damaged episode record %s: %zu rewards by turn for %zu turns", e->id,
                       p->by_turn_count, e->turn_count);
    return GG_OK;
}

gg_status gg_episode_read(const char *line, size_t len, gg_read_depth depth, gg_episode **out,
                          gg_error *error)
{
    len = without_space(line, len);
    parser p = {.json = gg_json_reader_make(line, len), .depth = depth};
    p.episode = gg_episode_new();
    *out = NULL;
    if (!p.episode)
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading an episode's record");
    gg_buf_init(&p.scratch, STRING_MAX);
    bool good = gg_read_object(&p.json) && read_fields(&p, gg_episode_fields, (char *)p.episode) &&
                (p.done ? line[len - 1] == '}' : gg_read_end(&p.json));
    gg_status status = good ? check(&p, error) : refuse(&p, line, error);
    p.episode->partial = depth == GG_READ_PLAY;
    gg_buf_free(&p.scratch);
    free(p.by_turn);
    if (status == GG_OK)
        *out = p.episode;
    else
        gg_episode_free(p.episode);
    return status;
}
