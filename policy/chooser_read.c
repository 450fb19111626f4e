#include "policy/chooser_read.h"

#include <string.h>

#define SECTION_MAX (1u << 22)
#define NO_TOOL     "There is no tool that I could call."

void gg_chooser_reader_init(gg_chooser_reader *r)
{
    memset(r, 0, sizeof *r);
    gg_chooser_schema_init(&r->schema);
    gg_buf_init(&r->text, SECTION_MAX);
    gg_buf_init(&r->name, SECTION_MAX);
}

void gg_chooser_reader_free(gg_chooser_reader *r)
{
    gg_chooser_schema_free(&r->schema);
    gg_buf_free(&r->text);
    gg_buf_free(&r->name);
}

const gg_chooser_turn *gg_chooser_last(const gg_chooser_reader *r)
{
    return r->history_count ? &r->history[r->history_count - 1] : NULL;
}

/* ---- candidates ---- */

/* A string of ids that is put together from pieces; a cursor finds the one at a place. */
typedef struct cursor {
    size_t left;
    int32_t found;
} cursor;

static void put_id(cursor *c, int32_t id)
{
    if (c->found == GG_CHOOSER_NONE && c->left == 0)
        c->found = id;
    if (c->left > 0)
        c->left--;
}

static void put_bytes(cursor *c, const char *bytes, size_t len)
{
    if (c->found != GG_CHOOSER_NONE)
        return;
    if (c->left < len)
        c->found = (unsigned char)bytes[c->left];
    c->left = c->left < len ? 0 : c->left - len;
}

static void put_slice(cursor *c, const gg_chooser_schema *s, gg_chooser_slice slice)
{
    put_bytes(c, gg_chooser_text(s, slice), slice.len);
}

static void put_argument(cursor *c, const gg_chooser_reader *r, size_t candidate)
{
    const gg_chooser_tool *tool = &r->schema.tools[r->call.tool];
    const gg_chooser_argument *a = &tool->arguments[r->argument];
    put_bytes(c, "{", r->argument == 0);
    put_slice(c, &r->schema, a->name);
    put_bytes(c, ":", 1);
    put_slice(c, &r->schema, r->schema.values[a->first + candidate]);
    put_bytes(c, r->argument + 1 == tool->argument_count ? "}" : ",", 1);
}

int32_t gg_chooser_token(const gg_chooser_reader *r, size_t candidate, size_t at)
{
    cursor c = {.left = at, .found = GG_CHOOSER_NONE};
    switch (r->slot) {
    case GG_SLOT_TOOL:
        put_id(&c, GG_TOKEN_CALL);
        put_slice(&c, &r->schema, r->schema.tools[candidate].name);
        put_id(&c, GG_TOKEN_ARGUMENTS);
        break;
    case GG_SLOT_ARGUMENT:
        put_argument(&c, r, candidate);
        break;
    case GG_SLOT_CLOSE:
        put_bytes(&c, "{}", r->schema.tools[r->call.tool].argument_count ? 0 : 2);
        put_id(&c, GG_TOKEN_END);
        break;
    case GG_SLOT_NO_TOOL:
        put_bytes(&c, NO_TOOL, strlen(NO_TOOL));
        put_id(&c, GG_TOKEN_END);
        break;
    default:
        break;
    }
    return c.found;
}

size_t gg_chooser_candidates(const gg_chooser_reader *r)
{
    switch (r->slot) {
    case GG_SLOT_TOOL:
        return r->schema.tool_count;
    case GG_SLOT_ARGUMENT:
        return r->schema.tools[r->call.tool].arguments[r->argument].count;
    case GG_SLOT_CLOSE:
    case GG_SLOT_NO_TOOL:
        return 1;
    default:
        return 0;
    }
}

/* ---- a reply ---- */

static void enter(gg_chooser_reader *r, gg_chooser_slot slot)
{
    r->slot = slot;
    r->written = 0;
    memset(r->alive, true, sizeof r->alive);
}

static void remember_call(gg_chooser_reader *r)
{
    if (r->history_count == GG_CHOOSER_HISTORY)
        memmove(r->history, r->history + 1, --r->history_count * sizeof *r->history);
    r->history[r->history_count++] = r->call;
    r->turns++;
}

static void next_slot(gg_chooser_reader *r, int chosen)
{
    switch (r->slot) {
    case GG_SLOT_TOOL:
        r->call = (gg_chooser_turn){.tool = chosen};
        r->argument = 0;
        enter(r, r->schema.tools[chosen].argument_count ? GG_SLOT_ARGUMENT : GG_SLOT_CLOSE);
        break;
    case GG_SLOT_ARGUMENT:
        r->call.value[r->argument++] = chosen;
        enter(r, r->argument < r->schema.tools[r->call.tool].argument_count ? GG_SLOT_ARGUMENT
                                                                            : GG_SLOT_CLOSE);
        break;
    case GG_SLOT_CLOSE:
        remember_call(r);
        r->slot = GG_SLOT_OUTSIDE;
        break;
    default:
        r->slot = GG_SLOT_OUTSIDE;
        break;
    }
}

static void put_in_reply(gg_chooser_reader *r, int32_t token)
{
    size_t count = gg_chooser_candidates(r);
    int chosen = GG_CHOOSER_NONE;
    bool complete = false;
    for (size_t k = 0; k < count; k++) {
        r->alive[k] = r->alive[k] && gg_chooser_token(r, k, r->written) == token;
        if (r->alive[k] && chosen == GG_CHOOSER_NONE) {
            chosen = (int)k;
            complete = gg_chooser_token(r, k, r->written + 1) == GG_CHOOSER_NONE;
        }
    }
    r->written++;
    if (chosen == GG_CHOOSER_NONE)
        r->slot = token == GG_TOKEN_END ? GG_SLOT_OUTSIDE : GG_SLOT_LOST;
    else if (complete)
        next_slot(r, chosen);
}

/* ---- what came back ---- */

#define HASH_START 2166136261u /* FNV-1a, 32 bits */
#define HASH_TIMES 16777619u

/* Hash of a line; a run of digits counts as one sign. */
static uint32_t shape(const char *line, size_t len)
{
    uint32_t hash = HASH_START;
    bool digits = false;
    for (size_t i = 0; i < len; i++) {
        bool digit = line[i] >= '0' && line[i] <= '9';
        if (!digit || !digits)
            hash = (hash ^ (digit ? '#' : (unsigned char)line[i])) * HASH_TIMES;
        digits = digit;
    }
    return hash;
}

/* The n-th argument's line is the n-th, or the first where there are fewer lines than arguments. */
static void read_result(gg_chooser_reader *r)
{
    gg_chooser_turn *turn = r->history_count ? &r->history[r->history_count - 1] : NULL;
    if (!turn || turn->answered)
        return;
    const char *line = gg_buf_cstr(&r->text), *end = line + r->text.len;
    size_t wanted = r->schema.tools[turn->tool].argument_count, n = 0;
    turn->answered = true;
    turn->first = 0;
    for (; line < end; n++) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        uint32_t hash = shape(line, (size_t)(stop - line));
        turn->first = n == 0 ? hash : turn->first;
        if (n < wanted)
            turn->shape[n] = hash;
        line = stop + 1;
    }
    for (size_t i = 0; n < wanted && i < wanted; i++)
        turn->shape[i] = turn->first;
}

/* ---- sections ---- */

static void add_tool(gg_chooser_reader *r)
{
    if (r->status == GG_OK)
        r->status = gg_chooser_schema_add(&r->schema, gg_buf_cstr(&r->name), gg_buf_cstr(&r->text),
                                          r->text.len, &r->error);
}

static void close_section(gg_chooser_reader *r, int32_t token)
{
    if (r->section == GG_TOKEN_TOOLS) { /* its name; a schema may follow */
        gg_buf_reset(&r->name);
        gg_buf_add(&r->name, gg_buf_cstr(&r->text), r->text.len);
        gg_buf_reset(&r->text);
        if (token != GG_TOKEN_ARGUMENTS)
            add_tool(r);
    } else if (r->section == GG_TOKEN_ARGUMENTS) {
        add_tool(r);
    } else if (r->section == GG_TOKEN_TOOL) {
        read_result(r);
    }
    if (r->status == GG_OK)
        r->status = gg_buf_status(&r->text, "a section of a sequence", &r->error);
    gg_buf_reset(&r->text);
    r->section = token;
}

void gg_chooser_put(gg_chooser_reader *r, int32_t token)
{
    bool reply = r->slot != GG_SLOT_OUTSIDE;
    if (reply && r->slot != GG_SLOT_LOST) {
        put_in_reply(r, token);
    } else if (reply) {
        if (token == GG_TOKEN_END)
            r->slot = GG_SLOT_OUTSIDE;
    } else if (token < GG_TOKEN_BYTES) {
        gg_buf_char(&r->text, (char)token);
    } else {
        close_section(r, token);
        if (token == GG_TOKEN_ASSISTANT)
            enter(r, r->schema.tool_count ? GG_SLOT_TOOL : GG_SLOT_NO_TOOL);
    }
}
