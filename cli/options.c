#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/option_store.h"
#include "core/file.h"
#include "core/near.h"

#define NAME_ROOM   96
#define CONFIG_MAX  (1u << 20)
#define VARIABLE_OF "GUESSGYM_"

void gg_opts_free(gg_opts *opts)
{
    if (!opts)
        return;
    for (int id = 0; id < GG_OPT_COUNT; id++)
        free(opts->values[id].text);
    for (size_t i = 0; i < opts->pair_count; i++) {
        free(opts->pairs[i].key);
        free(opts->pairs[i].value);
    }
    free(opts->pairs);
    free(opts);
}

static gg_status no_memory(gg_error *error)
{
    return gg_fail(error, GG_E_MEMORY, "out of memory while reading options");
}

/* Adds KEY=VALUE; the same key from a weaker source gives way, from the same source the later wins.
 */
static gg_status store_pair(gg_opts *opts, const char *text, gg_source source, gg_error *error)
{
    size_t len = strcspn(text, "=");
    char *key = strndup(text, len), *value = strdup(text + len + 1);
    gg_opt_pair *slot = NULL;

    for (size_t i = 0; key && i < opts->pair_count; i++)
        if (strcmp(opts->pairs[i].key, key) == 0)
            slot = &opts->pairs[i];
    if (key && value && !slot) {
        gg_opt_pair *pairs = realloc(opts->pairs, (opts->pair_count + 1) * sizeof *pairs);
        if (pairs) {
            opts->pairs = pairs;
            slot = &pairs[opts->pair_count++];
            *slot = (gg_opt_pair){.source = GG_FROM_DEFAULT};
        }
    }
    if (!key || !value || !slot || slot->source > source) {
        free(key);
        free(value);
        return slot ? GG_OK : no_memory(error);
    }
    free(slot->key);
    free(slot->value);
    *slot = (gg_opt_pair){.key = key, .value = value, .source = source};
    return GG_OK;
}

gg_status gg_opt_store(gg_opts *opts, gg_opt_id id, const char *text, gg_source source,
                       const char *where, gg_error *error)
{
    const gg_opt *row = gg_opt_row(id);
    gg_opt_value *value = &opts->values[id];
    gg_opt_value fresh = {.source = source};

    gg_status status = gg_opt_check(row, text, where, &fresh, error);
    if (status != GG_OK)
        return status;
    if (row->type == GG_VALUE_PAIRS)
        return store_pair(opts, text, source, error);
    if (value->text && value->source > source)
        return GG_OK;
    bool goes_on = row->type == GG_VALUE_LIST && value->text && value->source == source;
    size_t room = (goes_on ? strlen(value->text) + 1 : 0) + strlen(text) + 1;
    fresh.text = malloc(room);
    if (!fresh.text)
        return no_memory(error);
    snprintf(fresh.text, room, "%s%s%s", goes_on ? value->text : "", goes_on ? "\n" : "", text);
    free(value->text);
    *value = fresh;
    return GG_OK;
}

static gg_status store_defaults(gg_opts *opts, gg_error *error)
{
    gg_status status = GG_OK;

    for (int id = 0; id < GG_OPT_COUNT && status == GG_OK; id++) {
        const gg_opt *row = gg_opt_row((gg_opt_id)id);
        if (row->fallback && gg_opt_taken_by((gg_opt_id)id, opts->command))
            status =
                gg_opt_store(opts, (gg_opt_id)id, row->fallback, GG_FROM_DEFAULT, row->name, error);
    }
    return status;
}

/* "reasoning-effort" -> "GUESSGYM_REASONING_EFFORT". */
static void variable_name(const char *option, char *out, size_t room)
{
    snprintf(out, room, VARIABLE_OF "%s", option);
    for (char *c = out; *c; c++)
        *c = (char)(*c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
}

static gg_status store_variable(gg_opts *opts, gg_opt_id id, const char *name, gg_error *error)
{
    const char *text = getenv(name);

    if (!text || !*text)
        return GG_OK;
    return gg_opt_store(opts, id, text, GG_FROM_ENVIRONMENT, name, error);
}

static gg_status store_environment(gg_opts *opts, gg_error *error)
{
    gg_status status = GG_OK;

    for (int id = 0; id < GG_OPT_COUNT && status == GG_OK; id++) {
        const gg_opt *row = gg_opt_row((gg_opt_id)id);
        char name[NAME_ROOM];
        if ((row->traits & GG_OPT_FLAG_ONLY) || !gg_opt_taken_by((gg_opt_id)id, opts->command))
            continue;
        /* The weakest name first: the last one that is set stands. */
        if (row->variable)
            status = store_variable(opts, (gg_opt_id)id, row->variable, error);
        if (status == GG_OK && row->alias) {
            variable_name(row->alias, name, sizeof name);
            status = store_variable(opts, (gg_opt_id)id, name, error);
        }
        if (status == GG_OK) {
            variable_name(row->name, name, sizeof name);
            status = store_variable(opts, (gg_opt_id)id, name, error);
        }
    }
    return status;
}

static gg_status read_config(gg_opts *opts, gg_error *error)
{
    const char *path = gg_opt_text(opts, GG_OPT_CONFIG);
    gg_buf text;

    if (!path)
        return GG_OK;
    gg_buf_init(&text, CONFIG_MAX);
    gg_status status = gg_file_read(path, &text, error);
    if (status == GG_OK)
        status = gg_opts_read_json(opts, gg_buf_cstr(&text), text.len, GG_FROM_CONFIG, path, error);
    gg_buf_free(&text);
    return status;
}

static gg_status unknown_option(gg_cmd_id command, const char *word, gg_error *error)
{
    const char *names[2 * GG_OPT_COUNT];
    size_t count = 0, len = strcspn(word, "=");
    char name[NAME_ROOM];

    for (int id = 0; id < GG_OPT_COUNT; id++)
        if (gg_opt_taken_by((gg_opt_id)id, command)) {
            names[count++] = gg_opt_row((gg_opt_id)id)->name;
            names[count++] = gg_opt_row((gg_opt_id)id)->alias;
        }
    snprintf(name, sizeof name, "%.*s", (int)len, word);
    const char *near =
        name[0] == '-' && name[1] == '-' ? gg_near_miss(name + 2, names, count) : NULL;
    return gg_fail(error, GG_E_CONFIG,
                   near ? "unknown option %s; did you mean --%s?" : "unknown option %s", name,
                   near);
}

/* What is left of the command line while it is read. */
typedef struct words {
    int argc;
    char *const *argv;
    int at;
} words;

static gg_status store_word(gg_opts *opts, gg_opt_id id, const char *value, const char *where,
                            words *rest, gg_error *error)
{
    const gg_opt *row = gg_opt_row(id);

    if (row->type == GG_VALUE_FLAG)
        value = value ? value : "true";
    else if (!value && rest->at < rest->argc)
        value = rest->argv[rest->at++];
    if (!value)
        return gg_fail(error, GG_E_CONFIG, "%s needs a value: %s %s", where, where, row->value);
    return gg_opt_store(opts, id, value, GG_FROM_FLAG, where, error);
}

/* --name, --name=value, --no-name. */
static gg_status read_long(gg_opts *opts, const char *word, words *rest, gg_error *error)
{
    const char *name = word + 2;
    size_t len = strcspn(name, "=");
    const char *value = name[len] == '=' ? name + len + 1 : NULL;
    char where[NAME_ROOM];
    gg_opt_id id = gg_opt_named(opts->command, name, len);

    snprintf(where, sizeof where, "%.*s", (int)(len + 2), word);
    if (id == GG_OPT_COUNT && !value && strncmp(name, "no-", 3) == 0) {
        id = gg_opt_named(opts->command, name + 3, len - 3);
        if (id != GG_OPT_COUNT && gg_opt_row(id)->type == GG_VALUE_FLAG)
            value = "false";
        else
            id = GG_OPT_COUNT;
    }
    if (id == GG_OPT_COUNT)
        return unknown_option(opts->command, word, error);
    return store_word(opts, id, value, where, rest, error);
}

/* -x, -xVALUE, -x VALUE; flags do not bundle. */
static gg_status read_short(gg_opts *opts, const char *word, words *rest, gg_error *error)
{
    gg_opt_id id = gg_opt_lettered(opts->command, word[1]);
    const char where[] = {'-', word[1], '\0'};

    if (id == GG_OPT_COUNT || (gg_opt_row(id)->type == GG_VALUE_FLAG && word[2]))
        return unknown_option(opts->command, word, error);
    return store_word(opts, id, word[2] ? word + 2 : NULL, where, rest, error);
}

static gg_status read_words(gg_opts *opts, words *rest, const char **plain, size_t *plain_count,
                            gg_error *error)
{
    gg_status status = GG_OK;
    bool only_plain = false;

    while (rest->at < rest->argc && status == GG_OK) {
        const char *word = rest->argv[rest->at++];
        if (only_plain || word[0] != '-' || !word[1])
            plain[(*plain_count)++] = word;
        else if (strcmp(word, "--") == 0)
            only_plain = true;
        else if (word[1] == '-')
            status = read_long(opts, word, rest, error);
        else
            status = read_short(opts, word, rest, error);
    }
    return status;
}

/* --help and --version work whatever else is wrong. */
static bool asks_for_help(gg_opts *opts, int argc, char *const *argv)
{
    static const struct {
        const char *word;
        gg_opt_id id;
    } asks[] = {{"--help", GG_OPT_HELP},
                {"-h", GG_OPT_HELP},
                {"--version", GG_OPT_VERSION},
                {"-V", GG_OPT_VERSION}};

    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        for (size_t k = 0; k < sizeof asks / sizeof *asks; k++)
            if (strcmp(argv[i], asks[k].word) == 0)
                return opts->values[asks[k].id].flag = true;
    return false;
}

static gg_status check_needed(const gg_opts *opts, gg_error *error)
{
    for (int id = 0; id < GG_OPT_COUNT; id++) {
        const gg_opt *row = gg_opt_row((gg_opt_id)id);
        if ((row->traits & GG_OPT_NEEDED) && gg_opt_taken_by((gg_opt_id)id, opts->command) &&
            !opts->values[id].text)
            return gg_fail(error, GG_E_CONFIG, "--%s %s is needed: %s", row->name, row->value,
                           row->help);
    }
    return GG_OK;
}

gg_status gg_opts_parse(gg_cmd_id command, int argc, char *const *argv, gg_opts **out,
                        const char **plain, size_t *plain_count, gg_error *error)
{
    gg_opts *opts = calloc(1, sizeof *opts);
    words rest = {.argc = argc, .argv = argv};

    *out = opts;
    *plain_count = 0;
    if (!opts)
        return no_memory(error);
    opts->command = command;
    if (asks_for_help(opts, argc, argv))
        return GG_OK;
    gg_status status = store_defaults(opts, error);
    if (status == GG_OK)
        status = read_words(opts, &rest, plain, plain_count, error);
    if (status == GG_OK)
        status = store_environment(opts, error);
    if (status == GG_OK)
        status = read_config(opts, error);
    if (status == GG_OK)
        status = check_needed(opts, error);
    return status;
}

bool gg_opt_given(const gg_opts *opts, gg_opt_id id)
{
    return opts->values[id].text && opts->values[id].source > GG_FROM_DEFAULT;
}

const char *gg_opt_text(const gg_opts *opts, gg_opt_id id)
{
    return opts->values[id].text;
}

int64_t gg_opt_int(const gg_opts *opts, gg_opt_id id)
{
    return opts->values[id].integer;
}

double gg_opt_real(const gg_opts *opts, gg_opt_id id)
{
    return opts->values[id].real;
}

bool gg_opt_flag(const gg_opts *opts, gg_opt_id id)
{
    return opts->values[id].flag;
}

int gg_opt_choice(const gg_opts *opts, gg_opt_id id)
{
    const char *text = gg_opt_text(opts, id), *at = gg_opt_row(id)->choices;
    int index = 0;

    while (strncmp(at, text, strlen(text)) != 0 ||
           (at[strlen(text)] != '|' && at[strlen(text)] != '\0')) {
        at = strchr(at, '|') + 1; /* the value was checked: it is there */
        index++;
    }
    return index;
}

bool gg_opt_item(const gg_opts *opts, gg_opt_id id, size_t index, char *out, size_t room)
{
    const char *at = opts->values[id].text;
    const char *between = gg_opt_row(id)->type == GG_VALUE_LIST ? "\n" : ",";

    for (; at && index > 0; index--) {
        at = strchr(at, *between);
        at = at ? at + 1 : NULL;
    }
    if (!at)
        return false;
    snprintf(out, room, "%.*s", (int)strcspn(at, between), at);
    return true;
}
