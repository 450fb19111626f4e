#include "core/record_fields.h"
#include "core/json.h"

#include <string.h>

typedef struct writer {
    gg_buf *line;
    size_t turn_count;
    const char *bad; /* name of the field whose text is not JSON */
} writer;

/* The value of a field in the struct at `base`. */
#define AT(type, base, offset) (*(const type *)(const void *)((base) + (offset)))

typedef const char *text;

static void write_fields(writer *w, const gg_field *fields, const char *base);

static void write_count(gg_buf *line, int64_t count)
{
    if (count == GG_TOKENS_UNKNOWN)
        gg_buf_str(line, "null");
    else
        gg_buf_int(line, count);
}

static void write_json(writer *w, const gg_field *field, const char *base)
{
    const char *json = AT(text, base, field->at);
    if (!json)
        gg_buf_str(w->line, field->fallback);
    else if (!gg_buf_json_text(w->line, json, strlen(json)))
        w->bad = field->name;
}

static void write_list(writer *w, const gg_field *field, const char *base)
{
    const char *items = AT(text, base, field->at);
    size_t count = AT(size_t, base, field->count_at);
    gg_buf_char(w->line, '[');
    for (size_t i = 0; i < count; i++) {
        gg_buf_str(w->line, i ? ",{" : "{");
        write_fields(w, field->fields, items + i * field->size);
        gg_buf_char(w->line, '}');
    }
    gg_buf_char(w->line, ']');
}

static void write_strings(gg_buf *line, const text *items, size_t count)
{
    gg_buf_char(line, '[');
    for (size_t i = 0; i < count; i++) {
        if (i)
            gg_buf_char(line, ',');
        gg_buf_json_str(line, items[i]);
    }
    gg_buf_char(line, ']');
}

static void write_name(gg_buf *line, const char *name, bool first)
{
    if (!first)
        gg_buf_char(line, ',');
    gg_buf_json_str(line, name ? name : "");
    gg_buf_char(line, ':');
}

static void write_parts(gg_buf *line, const gg_named *parts, size_t count)
{
    gg_buf_char(line, '{');
    for (size_t i = 0; i < count; i++) {
        write_name(line, parts[i].name, i == 0);
        gg_buf_double(line, parts[i].value);
    }
    gg_buf_char(line, '}');
}

static void write_labels(gg_buf *line, const gg_label *labels, size_t count)
{
    gg_buf_char(line, '{');
    for (size_t i = 0; i < count; i++) {
        write_name(line, labels[i].name, i == 0);
        gg_buf_json_str(line, labels[i].value);
    }
    gg_buf_char(line, '}');
}

static void write_array(writer *w, const gg_field *field, const char *base)
{
    size_t count = AT(size_t, base, field->count_at);
    switch (field->kind) {
    case GG_FIELD_STRINGS:
        write_strings(w->line, AT(text *, base, field->at), count);
        break;
    case GG_FIELD_PARTS:
        write_parts(w->line, AT(gg_named *, base, field->at), count);
        break;
    case GG_FIELD_LABELS:
        write_labels(w->line, AT(gg_label *, base, field->at), count);
        break;
    case GG_FIELD_BY_TURN:
        gg_buf_doubles(w->line, AT(double *, base, field->at), w->turn_count);
        break;
    default:
        write_list(w, field, base);
    }
}

static void write_value(writer *w, const gg_field *field, const char *base)
{
    gg_buf *line = w->line;
    switch (field->kind) {
    case GG_FIELD_SCHEMA:
        gg_buf_json_str(line, GG_RECORD_SCHEMA);
        break;
    case GG_FIELD_TEXT:
        gg_buf_json_str(line, AT(text, base, field->at));
        break;
    case GG_FIELD_JSON:
        write_json(w, field, base);
        break;
    case GG_FIELD_INT:
        gg_buf_int(line, AT(int64_t, base, field->at));
        break;
    case GG_FIELD_SHORT:
        gg_buf_int(line, AT(int, base, field->at));
        break;
    case GG_FIELD_SEED:
        gg_buf_int(line, (int64_t)AT(uint64_t, base, field->at));
        break;
    case GG_FIELD_COUNT:
        write_count(line, AT(int64_t, base, field->at));
        break;
    case GG_FIELD_NUMBER:
        gg_buf_double(line, AT(double, base, field->at));
        break;
    case GG_FIELD_BOOL:
        gg_buf_str(line, AT(bool, base, field->at) ? "true" : "false");
        break;
    case GG_FIELD_OUTCOME:
        gg_buf_json_str(line, gg_outcome_name(AT(gg_outcome, base, field->at)));
        break;
    case GG_FIELD_STOP:
        gg_buf_json_str(line, gg_stop_name(AT(gg_stop, base, field->at)));
        break;
    case GG_FIELD_STATUS:
        gg_buf_json_str(line, gg_call_status_name(AT(gg_call_status, base, field->at)));
        break;
    case GG_FIELD_GROUP:
        gg_buf_char(line, '{');
        write_fields(w, field->fields, base);
        gg_buf_char(line, '}');
        break;
    default:
        write_array(w, field, base);
    }
}

static bool left_out(const gg_field *field, const char *base)
{
    bool empty = field->kind == GG_FIELD_BOOL ? !AT(bool, base, field->at)
                                              : field->optional && !AT(text, base, field->at);
    return (field->optional && empty) ||
           (field->kind == GG_FIELD_BY_TURN && !AT(double *, base, field->at));
}

static void write_fields(writer *w, const gg_field *fields, const char *base)
{
    bool first = true;
    for (const gg_field *field = fields; field->name; field++) {
        if (left_out(field, base))
            continue;
        /* Names of the table need no escapes. */
        gg_buf_str(w->line, first ? "\"" : ",\"");
        gg_buf_str(w->line, field->name);
        gg_buf_str(w->line, "\":");
        write_value(w, field, base);
        first = false;
    }
}

#define EXACT_INT_BITS 53

static gg_status check(const gg_episode *episode, gg_error *error)
{
    const char *id = episode->id ? episode->id : "without an id";
    if (episode->partial)
        return gg_fail(error, GG_E_STATE,
                       "episode %s was read without its messages and cannot be written again", id);
    if (!episode->id || !episode->env)
        return gg_fail(error, GG_E_ARGUMENT, "an episode needs an id and an environment");
    if (episode->seed >> EXACT_INT_BITS)
        return gg_fail(error, GG_E_ARGUMENT, "the seed of episode %s is not below 2^53", id);
    return GG_OK;
}

gg_status gg_episode_write(const gg_episode *episode, gg_buf *line, gg_error *error)
{
    gg_status status = check(episode, error);
    if (status != GG_OK)
        return status;
    size_t start = line->len;
    writer w = {.line = line, .turn_count = episode->turn_count};
    gg_buf_char(line, '{');
    write_fields(&w, gg_episode_fields, (const char *)episode);
    gg_buf_str(line, "}\n");
    status = gg_buf_status(line, "an episode's record", error);
    if (status == GG_OK && w.bad)
        status = gg_fail(error, GG_E_FORMAT, "the %s of episode %s is not valid JSON", w.bad,
                         episode->id);
    if (status != GG_OK)
        gg_buf_truncate(line, start);
    return status;
}
