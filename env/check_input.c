/* Calls to try an environment with: sane ones made from the tools' own schemas, and hostile ones.
 */
#include "env/check_rules.h"

#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_MAX (4u << 20)
#define LONG_TEXT     100000 /* bytes of the longest argument tried */
#define DEPTH_MAX     4      /* objects inside objects that are filled */
#define WORD_LENGTHS  8      /* random words have 1 to this many letters */
#define NUMBERS       100    /* random numbers where the schema sets no bounds */

static void add_random(gg_checker *c, const cJSON *schema, int depth, gg_buf *out);

static void add_word(gg_checker *c, const cJSON *schema, gg_buf *out)
{
    int64_t least = 1, most = WORD_LENGTHS;
    gg_json_int(schema, "minLength", &least);
    if (!gg_json_int(schema, "maxLength", &most) && most < least)
        most = least;
    uint64_t span = most >= least ? (uint64_t)(most - least) + 1 : 1;
    int64_t length = least + (int64_t)gg_rng_below(&c->rng, span);
    gg_buf_char(out, '"');
    for (int64_t i = 0; i < length && i < LONG_TEXT; i++)
        gg_buf_char(out, (char)('a' + gg_rng_below(&c->rng, 26)));
    gg_buf_char(out, '"');
}

static void add_number(gg_checker *c, const cJSON *schema, gg_buf *out)
{
    double least = 0, most = NUMBERS;
    gg_json_number(schema, "minimum", &least);
    if (!gg_json_number(schema, "maximum", &most))
        most = least + NUMBERS;
    uint64_t span = most > least && most - least < 1e9 ? (uint64_t)(most - least) + 1 : 1;
    gg_buf_double(out, least + (double)gg_rng_below(&c->rng, span));
}

static void add_object(gg_checker *c, const cJSON *schema, int depth, gg_buf *out)
{
    bool first = true;
    const cJSON *properties = gg_json_get(schema, "properties");
    gg_buf_char(out, '{');
    for (const cJSON *p = properties ? properties->child : NULL; p; p = p->next) {
        gg_buf_str(out, first ? "" : ",");
        gg_buf_json_str(out, p->string);
        gg_buf_char(out, ':');
        add_random(c, p, depth + 1, out);
        first = false;
    }
    gg_buf_char(out, '}');
}

static void add_array(gg_checker *c, const cJSON *schema, int depth, gg_buf *out)
{
    uint64_t count = gg_rng_below(&c->rng, 4);
    gg_buf_char(out, '[');
    for (uint64_t i = 0; i < count; i++) {
        gg_buf_str(out, i ? "," : "");
        add_random(c, gg_json_get(schema, "items"), depth + 1, out);
    }
    gg_buf_char(out, ']');
}

/* A value that the schema allows, as far as it uses type, enum, bounds and lengths. */
static void add_random(gg_checker *c, const cJSON *schema, int depth, gg_buf *out)
{
    const cJSON *choices = gg_json_get(schema, "enum");
    const char *type = gg_json_text(schema, "type");
    int size = cJSON_IsArray(choices) ? cJSON_GetArraySize(choices) : 0;
    if (size > 0)
        gg_buf_cjson(out, cJSON_GetArrayItem(choices, (int)gg_rng_below(&c->rng, (uint64_t)size)));
    else if (!type || depth > DEPTH_MAX)
        gg_buf_str(out, "null");
    else if (strcmp(type, "object") == 0)
        add_object(c, schema, depth, out);
    else if (strcmp(type, "array") == 0)
        add_array(c, schema, depth, out);
    else if (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0)
        add_number(c, schema, out);
    else if (strcmp(type, "boolean") == 0)
        gg_buf_str(out, gg_rng_below(&c->rng, 2) ? "true" : "false");
    else
        add_word(c, schema, out);
}

/* Takes over nothing: both texts are copied. */
static void add_call(gg_checker *c, gg_script *script, const char *tool, const char *arguments)
{
    if (script->count == GG_CHECK_CALLS_MAX)
        return;
    char *own_tool = strdup(tool), *own_arguments = strdup(arguments);
    if (!own_tool || !own_arguments) {
        gg_fail(&c->failure, GG_E_MEMORY, "out of memory while checking an environment");
        free(own_tool);
        free(own_arguments);
        return;
    }
    script->calls[script->count].tool = own_tool;
    script->calls[script->count++].arguments = own_arguments;
}

static const cJSON *random_tool(gg_checker *c)
{
    int count = cJSON_GetArraySize(c->tools);
    if (count == 0)
        return NULL;
    const cJSON *tool = cJSON_GetArrayItem(c->tools, (int)gg_rng_below(&c->rng, (uint64_t)count));
    return gg_json_get(tool, "function");
}

void gg_script_sane(gg_checker *c, gg_script *script, size_t count)
{
    gg_buf arguments;
    gg_buf_init(&arguments, ARGUMENTS_MAX);
    script->count = 0;
    for (size_t i = 0; i < count; i++) {
        const cJSON *tool = random_tool(c);
        const char *name = gg_json_text(tool, "name");
        if (!name)
            break;
        gg_buf_reset(&arguments);
        add_object(c, gg_json_get(tool, "parameters"), 0, &arguments);
        if (gg_buf_status(&arguments, "arguments", &c->failure) == GG_OK)
            add_call(c, script, name, gg_buf_cstr(&arguments));
    }
    gg_buf_free(&arguments);
}

/* Every member of the tool's arguments with the same odd value. */
static void add_odd(gg_checker *c, gg_script *script, const cJSON *tool, const char *value)
{
    const char *name = gg_json_text(tool, "name");
    const cJSON *properties = gg_json_path(tool, "parameters.properties");
    gg_buf arguments;
    gg_buf_init(&arguments, ARGUMENTS_MAX);
    gg_buf_char(&arguments, '{');
    for (const cJSON *p = properties ? properties->child : NULL; p; p = p->next) {
        gg_buf_json_str(&arguments, p->string);
        gg_buf_printf(&arguments, ":%s%s", value, p->next ? "," : "");
    }
    gg_buf_char(&arguments, '}');
    if (name && gg_buf_status(&arguments, "arguments", &c->failure) == GG_OK)
        add_call(c, script, name, gg_buf_cstr(&arguments));
    gg_buf_free(&arguments);
}

static char *long_text(void)
{
    char *text = malloc(LONG_TEXT + 1);
    if (!text)
        return NULL;
    memset(text, 'a', LONG_TEXT);
    text[0] = text[LONG_TEXT - 1] = '"';
    text[LONG_TEXT] = '\0';
    return text;
}

void gg_script_hostile(gg_checker *c, gg_script *script)
{
    static const char *const values[] = {"null",
                                         "true",
                                         "-1",
                                         "1e308",
                                         "0.5",
                                         "9007199254740993",
                                         "\"\"",
                                         "\"\\u0000\"",
                                         "\"\\ud83d\"",
                                         "\"\xff\xfe\"",
                                         "\"<script>\\u001b[2J\"",
                                         "\"%s%n%d\"",
                                         "[]",
                                         "[[[[1]]]]",
                                         "{}",
                                         "{\"a\":{\"b\":[1,2,{\"c\":null}]}}"};
    script->count = 0;
    const cJSON *tool = random_tool(c);
    const char *name = gg_json_text(tool, "name");
    add_call(c, script, "no_such_tool", "{}");
    add_call(c, script, "", "{}");
    if (!name)
        return;
    add_call(c, script, name, "{}");
    add_call(c, script, name, "{\"no_such_argument\":1}");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        add_odd(c, script, tool, values[i]);
    char *text = long_text();
    if (text)
        add_odd(c, script, tool, text);
    else
        gg_fail(&c->failure, GG_E_MEMORY, "out of memory while checking an environment");
    free(text);
}

void gg_script_free(gg_script *script)
{
    for (size_t i = 0; i < script->count; i++) {
        free(script->calls[i].tool);
        free(script->calls[i].arguments);
    }
    script->count = 0;
}
