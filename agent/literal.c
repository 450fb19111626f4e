/* Python literals as JSON (agent/cursor.h). */
#include "agent/cursor.h"
#include "core/json.h"

#define DEPTH_MAX  8
#define STRING_MAX (1u << 20)

static bool literal(gg_cursor *c, gg_buf *out, int depth);

static bool literal_string(gg_cursor *c, gg_buf *out)
{
    char quote = *c->at++;
    gg_buf text;
    gg_buf_init(&text, STRING_MAX);
    while (c->at < c->end && *c->at != quote && *c->at != '\n') {
        char byte = *c->at++;
        if (byte == '\\' && c->at < c->end) {
            byte = *c->at++;
            byte = (char)(byte == 'n' ? '\n' : byte == 't' ? '\t' : byte);
        }
        gg_buf_char(&text, byte);
    }
    bool done = c->at < c->end && *c->at == quote && text.status == GG_OK;
    if (done) {
        c->at++;
        gg_buf_json(out, gg_buf_cstr(&text), text.len);
    }
    gg_buf_free(&text);
    return done;
}

static bool literal_list(gg_cursor *c, gg_buf *out, const char *close, int depth)
{
    bool first = true;
    gg_buf_char(out, '[');
    while (!gg_take(c, close)) {
        if (!first) {
            if (!gg_take(c, ","))
                return false;
            if (gg_take(c, close))
                break;
            gg_buf_char(out, ',');
        }
        first = false;
        if (!literal(c, out, depth))
            return false;
    }
    gg_buf_char(out, ']');
    return true;
}

static bool literal_dict(gg_cursor *c, gg_buf *out, int depth)
{
    bool first = true;
    gg_buf_char(out, '{');
    while (!gg_take(c, "}")) {
        if (!first && !gg_take(c, ","))
            return false;
        gg_skip_space(c);
        if (!first)
            gg_buf_char(out, ',');
        first = false;
        if (c->at == c->end || (*c->at != '"' && *c->at != '\'') || !literal_string(c, out) ||
            !gg_take(c, ":"))
            return false;
        gg_buf_char(out, ':');
        if (!literal(c, out, depth))
            return false;
    }
    gg_buf_char(out, '}');
    return true;
}

/* A Python literal as JSON. */
static bool literal(gg_cursor *c, gg_buf *out, int depth)
{
    static const struct {
        const char *python, *json;
    } names[] = {{"True", "true"}, {"False", "false"}, {"None", "null"},
                 {"true", "true"}, {"false", "false"}, {"null", "null"}};
    gg_skip_space(c);
    if (c->at == c->end || depth == 0)
        return false;
    if (*c->at == '"' || *c->at == '\'')
        return literal_string(c, out);
    if (gg_take(c, "["))
        return literal_list(c, out, "]", depth - 1);
    if (gg_take(c, "("))
        return literal_list(c, out, ")", depth - 1);
    if (gg_take(c, "{"))
        return literal_dict(c, out, depth - 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (gg_take(c, names[i].python)) {
            gg_buf_str(out, names[i].json);
            return true;
        }
    }
    gg_json_reader r = gg_json_reader_make(c->at, (size_t)(c->end - c->at));
    double value;
    if (!gg_read_double(&r, &value))
        return false;
    gg_buf_add(out, c->at, (size_t)(r.at - c->at));
    c->at = r.at;
    return true;
}

bool gg_take_literal(gg_cursor *c, gg_buf *out)
{
    return literal(c, out, DEPTH_MAX);
}
