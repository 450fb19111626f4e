/* Rules about the pure functions of a record. */
#include "env/check_rules.h"

#include <math.h>
#include <string.h>

#define PARTS_MAX 256

/* Records to try: of a play, cut at any place and with any outcome; without a turn; and one whose
 * texts are hostile. */
typedef void (*record_fn)(gg_checker *c, const gg_episode *episode);

static void hostile_record(gg_checker *c, gg_episode *e)
{
    static const char *const facts[] = {"",     "{",
                                        "[]",   "{\"a\":{\"b\":[]}}",
                                        "null", "{\"guess\":\"<script>\",\"text\":\"\\u001b[2J\"}"};
    gg_turn *turn = gg_episode_push(e, &e->turns, &e->turn_count, sizeof *turn);
    for (size_t i = 0; turn && i < sizeof facts / sizeof *facts; i++) {
        gg_call *call = gg_episode_push(e, &turn->calls, &turn->call_count, sizeof *call);
        if (!call)
            break;
        *call = (gg_call){.name = "<script>",
                          .arguments_raw = "{\"x\":\"<script>\x1b[2J\"}",
                          .status = GG_CALL_INVALID,
                          .result = "<script>\x1b[2J",
                          .facts = facts[i]};
    }
    if (!turn)
        gg_fail(&c->failure, GG_E_MEMORY, "out of memory while checking an environment");
    e->answer = "\"<script>\x1b[2J\"";
    e->outcome = GG_LOST;
}

/* `try` sees the whole play, its beginnings, and each outcome. */
static void each_cut(gg_checker *c, gg_episode *e, record_fn try)
{
    size_t calls = e->turn_count ? e->turns[0].call_count : 0;
    gg_outcome real = e->outcome;
    try(c, e);
    for (int outcome = 0; outcome < GG_OUTCOME_COUNT; outcome++) {
        e->outcome = (gg_outcome)outcome;
        try(c, e);
    }
    e->outcome = GG_UNPLAYED;
    for (size_t n = 0; n < calls; n++) {
        e->turns[0].call_count = n;
        try(c, e);
    }
    if (e->turn_count)
        e->turns[0].call_count = calls;
    e->outcome = real;
}

static void each_record(gg_checker *c, record_fn try)
{
    gg_script script;
    gg_log log;
    gg_script_sane(c, &script, (size_t)c->game->info.max_calls);
    gg_log_play(c, c->tasks[0], c->seed, &script, &log);
    if (log.episode)
        each_cut(c, log.episode, try);
    gg_log_free(&log);
    gg_script_free(&script);
    gg_episode *bare = gg_episode_new(), *hostile = gg_episode_new();
    if (bare && hostile) {
        try(c, bare);
        hostile_record(c, hostile);
        try(c, hostile);
    } else {
        gg_fail(&c->failure, GG_E_MEMORY, "out of memory while checking an environment");
    }
    gg_episode_free(bare);
    gg_episode_free(hostile);
}

static void try_measure(gg_checker *c, const gg_episode *e)
{
    double value = c->game->api->measure(c->game->env, e);
    if (!(value >= 0 && value <= 1))
        gg_check_broke(c, "measure is %g, not from 0 to 1", value);
    else if (value != c->game->api->measure(c->game->env, e))
        gg_check_broke(c, "measure of one record is not the same the second time");
}

static void check_measure(gg_checker *c)
{
    each_record(c, try_measure);
}

typedef struct collected {
    gg_checker *c;
    size_t seen[PARTS_MAX];
    double values[PARTS_MAX];
} collected;

static void collect(void *context, const char *name, double value)
{
    collected *into = context;
    const gg_env_api *api = into->c->game->api;
    if (!isfinite(value))
        gg_check_broke(into->c, "part \"%s\" is not a finite number", name ? name : "");
    for (size_t i = 0; i < api->part_count && i < PARTS_MAX; i++)
        if (name && strcmp(api->part_table[i].name, name) == 0) {
            into->seen[i]++;
            into->values[i] = value;
            return;
        }
    gg_check_broke(into->c, "part \"%s\" is reported but not in the table", name ? name : "");
}

static void try_parts(gg_checker *c, const gg_episode *e)
{
    const gg_env_api *api = c->game->api;
    collected first = {.c = c}, again = {.c = c};
    api->parts(c->game->env, e, collect, &first);
    api->parts(c->game->env, e, collect, &again);
    for (size_t i = 0; i < api->part_count && i < PARTS_MAX; i++) {
        if (first.seen[i] != 1)
            gg_check_broke(c, "part \"%s\" is reported %zu times, not once",
                           api->part_table[i].name, first.seen[i]);
        if (isfinite(first.values[i]) && first.values[i] != again.values[i])
            gg_check_broke(c, "part \"%s\" of one record is not the same the second time",
                           api->part_table[i].name);
    }
}

static void check_parts(gg_checker *c)
{
    each_record(c, try_parts);
}

static void see_label(void *context, const char *name, const char *value)
{
    gg_checker *c = context;
    if (!name || !*name || !value)
        gg_check_broke(c, "a label needs a name and a value");
}

static void try_labels(gg_checker *c, const gg_episode *e)
{
    c->game->api->labels(c->game->env, e, see_label, c);
}

static void check_labels(gg_checker *c)
{
    each_record(c, try_labels);
}

static void try_render(gg_checker *c, const gg_episode *e)
{
    static const gg_render_style styles[] = {GG_RENDER_PLAIN, GG_RENDER_ANSI, GG_RENDER_HTML};
    gg_buf out;
    gg_buf_init(&out, GG_CHECK_TEXT_MAX);
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
        gg_error error = {0};
        gg_buf_reset(&out);
        if (!gg_check_ok(c, c->game->api->render(c->game->env, e, styles[i], &out, &error), &error,
                         "render"))
            continue;
        const char *text = gg_buf_cstr(&out);
        if (!out.len)
            gg_check_broke(c, "render draws nothing");
        if (styles[i] == GG_RENDER_PLAIN && strchr(text, '\x1b'))
            gg_check_broke(c, "the plain board has control characters");
        if (styles[i] == GG_RENDER_ANSI && strstr(text, "\x1b[2J"))
            gg_check_broke(c, "a record's control characters reach the terminal");
        if (styles[i] == GG_RENDER_HTML && strstr(text, "<script>"))
            gg_check_broke(c, "a record's text is not escaped in HTML");
    }
    gg_buf_free(&out);
}

static void check_render(gg_checker *c)
{
    each_record(c, try_render);
}

const gg_rule gg_rules_record[] = {
    {"measure", check_measure}, {"parts", check_parts}, {"labels", check_labels},
    {"render", check_render},   {NULL, NULL},
};
