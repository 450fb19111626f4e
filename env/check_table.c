/* Rules about the table, its options, its tools and its tasks. */
#include "env/check_rules.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define NAME_MAX_LEN 64    /* what chat endpoints take as a tool's name */
#define CAP_MAX      10000 /* calls or replies an episode: more is a mistake */
#define IDENTITY_MAX (1u << 20)

/* Letters, digits, '_' and '-', as chat endpoints and command lines want names. */
static bool is_name(const char *text)
{
    size_t len = text ? strlen(text) : 0;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '-')
            return false;
    return len > 0 && len <= NAME_MAX_LEN;
}

static bool is_line(const char *text)
{
    return text && *text && !strchr(text, '\n');
}

static void check_table(gg_checker *c)
{
    const gg_env_api *api = c->game->api;
    if (api->abi != GG_ENV_ABI)
        gg_check_broke(c, "abi is %u, not %u", (unsigned)api->abi, (unsigned)GG_ENV_ABI);
    if (!is_name(api->name))
        gg_check_broke(c, "name must be letters, digits, '_' and '-'");
    if (!is_line(api->summary))
        gg_check_broke(c, "summary must be one line");
    api->finish(NULL);
    api->close(NULL);
}

static void check_info(gg_checker *c)
{
    gg_env_info i = {0};
    gg_reward *reward = NULL;
    gg_error error = {0};
    c->game->api->info(c->game->env, &i);
    const char *const names[] = {i.name, i.task_noun, i.move_noun, i.measure_name};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (!is_line(names[n]))
            gg_check_broke(c, "name, task_noun, move_noun and measure_name must all be given");
    if (i.max_calls < 1 || i.max_calls > CAP_MAX || i.max_turns < 1 || i.max_turns > CAP_MAX)
        gg_check_broke(c, "max_calls (%d) and max_turns (%d) must be 1 to %d", i.max_calls,
                       i.max_turns, CAP_MAX);
    if (!i.default_reward)
        gg_check_broke(c, "default_reward must be given");
    else if (gg_reward_parse(c->game, i.default_reward, &reward, &error) != GG_OK)
        gg_check_broke(c, "default_reward: %s", error.text);
    gg_reward_free(reward);
}

static void check_options(gg_checker *c)
{
    const gg_env_api *api = c->game->api;
    for (size_t i = 0; i < api->option_count; i++) {
        const gg_env_option *o = &api->options[i];
        if (!is_name(o->name) || !is_line(o->help))
            gg_check_broke(c, "option %zu needs a name and one line of help", i);
        for (size_t k = 0; k < i && o->name; k++)
            if (strcmp(o->name, api->options[k].name) == 0)
                gg_check_broke(c, "option \"%s\" stands twice", o->name);
        if (o->type < GG_OPTION_INT || o->type > GG_OPTION_FILE)
            gg_check_broke(c, "option \"%s\" has an unknown type", o->name ? o->name : "");
    }
    /* That defaults fit their types and open was seen when the game was opened. */
}

static void check_part_table(gg_checker *c)
{
    const gg_env_api *api = c->game->api;
    const gg_part_info *common;
    for (size_t i = 0; i < api->part_count; i++) {
        const gg_part_info *p = &api->part_table[i];
        if (!is_name(p->name) || !is_line(p->help)) {
            gg_check_broke(c, "part %zu needs a name and one line of help", i);
            continue;
        }
        for (size_t k = 0; k < i; k++)
            if (strcmp(p->name, api->part_table[k].name) == 0)
                gg_check_broke(c, "part \"%s\" stands twice", p->name);
        for (size_t k = 0; (common = gg_reward_part(NULL, k)); k++)
            if (strcmp(p->name, common->name) == 0)
                gg_check_broke(c, "part \"%s\" has the name of a part of every environment",
                               p->name);
    }
}

/* Required arguments must be described. */
static void check_parameters(gg_checker *c, const char *name, const cJSON *parameters)
{
    const cJSON *required = gg_json_get(parameters, "required"), *item;
    const char *type = gg_json_text(parameters, "type");
    if (!type || strcmp(type, "object") != 0)
        gg_check_broke(c, "tool %s: parameters must be a schema of type object", name);
    cJSON_ArrayForEach(item, required)
    {
        const cJSON *properties = gg_json_get(parameters, "properties");
        if (!cJSON_IsString(item) || !gg_json_get(properties, item->valuestring))
            gg_check_broke(c, "tool %s: a required argument is not among its properties", name);
    }
}

static void check_tools(gg_checker *c)
{
    const cJSON *tool, *other;
    if (!cJSON_IsArray(c->tools) || cJSON_GetArraySize(c->tools) == 0) {
        gg_check_broke(c, "tools must return a JSON array with at least one tool");
        return;
    }
    cJSON_ArrayForEach(tool, c->tools)
    {
        const char *type = gg_json_text(tool, "type");
        const cJSON *function = gg_json_get(tool, "function");
        const char *name = gg_json_text(function, "name");
        if (!type || strcmp(type, "function") != 0 || !is_name(name)) {
            gg_check_broke(c, "a tool needs type \"function\" and a function.name of letters, "
                              "digits, '_' and '-'");
            continue;
        }
        if (!gg_json_text(function, "description"))
            gg_check_broke(c, "tool %s has no description", name);
        check_parameters(c, name, gg_json_get(function, "parameters"));
        for (other = tool->next; other; other = other->next) {
            const char *second = gg_json_text(gg_json_get(other, "function"), "name");
            if (second && strcmp(second, name) == 0)
                gg_check_broke(c, "tool %s stands twice", name);
        }
    }
    if (strcmp(c->game->api->tools(c->game->env), c->game->api->tools(c->game->env)) != 0)
        gg_check_broke(c, "tools returned two different texts");
}

static void check_identity(gg_checker *c)
{
    const gg_game *g = c->game;
    gg_buf first, again;
    gg_buf_init(&first, IDENTITY_MAX);
    gg_buf_init(&again, IDENTITY_MAX);
    for (size_t i = 0; i < c->task_count && i < GG_CHECK_TASKS; i++) {
        gg_error error = {0};
        gg_buf_reset(&first);
        gg_buf_reset(&again);
        if (!gg_check_ok(c, g->api->identity(g->env, c->tasks[i], &first, &error), &error,
                         "identity") ||
            !gg_check_ok(c, g->api->identity(g->env, c->tasks[i], &again, &error), &error,
                         "identity"))
            break;
        if (!first.len)
            gg_check_broke(c, "identity of task %zu is empty", i + 1);
        else if (strcmp(gg_buf_cstr(&first), gg_buf_cstr(&again)) != 0)
            gg_check_broke(c, "identity of task %zu is not the same the second time", i + 1);
    }
    gg_buf_free(&first);
    gg_buf_free(&again);
}

/* Rows that are no tasks: refused with a sentence, or accepted, but with one opinion. */
static void check_bad_tasks(gg_checker *c)
{
    static const char *const rows[] = {"",
                                       " ",
                                       "{}",
                                       "[]",
                                       "{\"prompt\":",
                                       "\xff\xfe",
                                       "null",
                                       "{\"answer\":null}",
                                       "{\"answer\":[[[]]]}",
                                       "%s%n"};
    const gg_game *g = c->game;
    gg_buf out;
    gg_buf_init(&out, IDENTITY_MAX);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gg_error error = {0}, start_error = {0};
        gg_play *play = NULL;
        gg_buf_reset(&out);
        gg_status status = g->api->identity(g->env, rows[i], &out, &error);
        gg_status started = g->api->start(g->env, rows[i], c->seed, &play, &start_error);
        if ((status == GG_OK) != (started == GG_OK))
            gg_check_broke(c, "identity and start do not agree on the row \"%s\"", rows[i]);
        if (status != GG_OK && !error.text[0])
            gg_check_broke(c, "identity refuses the row \"%s\" without a sentence", rows[i]);
        if (started != GG_OK && (play || !start_error.text[0]))
            gg_check_broke(c, "start refuses the row \"%s\" but %s", rows[i],
                           play ? "leaves a play" : "without a sentence");
        if (started == GG_OK && play)
            g->api->finish(play);
    }
    gg_buf_free(&out);
}

static void check_default_tasks(gg_checker *c)
{
    static const char *const splits[] = {"train", "val", "test", "no-such-split"};
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
        const char *path = c->game->api->default_tasks(c->game->env, splits[i]);
        if (path && i == 3)
            gg_check_broke(c, "default_tasks knows a split \"%s\"", splits[i]);
        else if (path && access(path, R_OK) != 0)
            gg_check_broke(c, "default_tasks names %s, which cannot be read", path);
    }
}

const gg_rule gg_rules_table[] = {
    {"table", check_table},
    {"info", check_info},
    {"options", check_options},
    {"part-table", check_part_table},
    {"tools", check_tools},
    {"identity", check_identity},
    {"bad-tasks", check_bad_tasks},
    {"default-tasks", check_default_tasks},
    {NULL, NULL},
};
