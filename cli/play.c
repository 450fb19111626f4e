/*
 * guessgym play: a person in the model's place.
 *
 * Works with every game through the environment's contract alone: a typed line becomes a tool call,
 * the board is the environment's own rendering of the record so far.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cli/game.h"
#include "cli/keyboard.h"
#include "cli/term.h"
#include "core/json.h"
#include "core/rng.h"

#define TEXT_MAX (16u << 20)
#define ID       "s0-g0-0"

typedef struct table {
    gg_cli *cli;
    const gg_game *game;
    const gg_reward *reward;
    gg_play *play;
    gg_episode *episode; /* the record so far, which the board is rendered from */
    char *tool;          /* what a plain line calls; NULL when the tools are not that simple */
    char *argument;
    FILE *screen; /* stdout, or stderr when stdout is for JSON */
    bool color, tty;
    int shown; /* lines of the last picture, to draw over them */
    gg_buf picture, text, facts, arguments;
} table;

/* A game whose only tool takes one text needs no more than that text. */
static gg_status find_tool(table *t, gg_error *error)
{
    const char *tools = t->game->api->tools(t->game->env);
    cJSON *root = NULL;

    gg_status status = gg_json_parse(tools, strlen(tools), &root, error);
    if (status != GG_OK)
        return status;
    const char *name = cJSON_GetStringValue(gg_json_path(root, "0.function.name"));
    const cJSON *needed = gg_json_path(root, "0.function.parameters.required");
    const char *argument = cJSON_GetStringValue(cJSON_GetArrayItem(needed, 0));
    if (cJSON_GetArraySize(root) == 1 && cJSON_GetArraySize(needed) == 1 && name && argument) {
        t->tool = strdup(name);
        t->argument = strdup(argument);
        if (!t->tool || !t->argument)
            status = gg_fail(error, GG_E_MEMORY, "out of memory");
    }
    cJSON_Delete(root);
    return status;
}

/* Cuts "tool {json}" in place; a plain line becomes the one tool's one argument. */
static const char *read_call(table *t, char *line)
{
    gg_buf_reset(&t->arguments);
    if (t->tool) {
        gg_buf_char(&t->arguments, '{');
        gg_buf_json_str(&t->arguments, t->argument);
        gg_buf_char(&t->arguments, ':');
        gg_buf_json_str(&t->arguments, line);
        gg_buf_char(&t->arguments, '}');
        return t->tool;
    }
    char *rest = line + strcspn(line, " ");
    if (*rest)
        *rest++ = '\0';
    gg_buf_str(&t->arguments, *rest ? rest : "{}");
    return line;
}

static const char *keep(table *t, const char *text)
{
    return gg_episode_string(t->episode, text, strlen(text));
}

/* Every line is a turn with one call. */
static gg_status record(table *t, const char *tool, const gg_result *result, gg_error *error)
{
    gg_episode *e = t->episode;
    gg_turn *turn = gg_episode_push(e, &e->turns, &e->turn_count, sizeof *turn);
    gg_call *call = turn ? gg_episode_push(e, &turn->calls, &turn->call_count, sizeof *call) : NULL;

    if (!call)
        return gg_fail(error, GG_E_MEMORY, "out of memory for the record");
    turn->index = (int)e->turn_count - 1;
    turn->finish_reason = "tool_calls";
    turn->usage =
        (gg_usage){GG_TOKENS_UNKNOWN, GG_TOKENS_UNKNOWN, GG_TOKENS_UNKNOWN, GG_TOKENS_UNKNOWN};
    call->id = "call_0";
    call->name = keep(t, tool);
    call->arguments_raw = keep(t, gg_buf_cstr(&t->arguments));
    call->status = result->status;
    call->result = keep(t, gg_buf_cstr(&t->text));
    call->facts = t->facts.len ? keep(t, gg_buf_cstr(&t->facts)) : "{}";
    e->moves += result->moved;
    if (result->done) {
        e->outcome = result->outcome;
        e->stop = GG_STOP_DONE;
    } else if ((int)e->turn_count >= t->game->info.max_calls) {
        e->outcome = GG_FORFEITED;
        e->stop = GG_STOP_CALL_CAP;
    }
    return call->name && call->arguments_raw && call->result && call->facts
               ? GG_OK
               : gg_fail(error, GG_E_MEMORY, "out of memory for the record");
}

/* Rows that the text takes on the screen: long lines wrap, colours take no room. */
static int count_rows(const char *text, int width)
{
    int rows = 0, column = 0;

    for (; *text; text++) {
        if (*text == '\x1b') {
            text += strcspn(text, "m");
        } else if (*text == '\n') {
            rows++;
            column = 0;
        } else if (++column > width) {
            rows++;
            column = 1;
        }
    }
    return rows;
}

/* Board, keyboard and message; with colour on a terminal over the last picture and the line typed
 * below it. */
static gg_status draw(table *t, const char *message, gg_error *error)
{
    gg_buf_reset(&t->picture);
    gg_status status = t->game->api->render(
        t->game->env, t->episode, t->color ? GG_RENDER_ANSI : GG_RENDER_PLAIN, &t->picture, error);
    if (status != GG_OK)
        return status;
    if (t->episode->outcome == GG_UNPLAYED && t->tty)
        gg_keyboard(t->episode, t->color, &t->picture);
    if (*message)
        gg_buf_printf(&t->picture, "%s\n", message);
    status = gg_buf_status(&t->picture, "the board", error);
    if (t->color && t->tty && t->shown > 0)
        fprintf(t->screen, "\x1b[%dA\x1b[J", t->shown);
    fputs(gg_buf_cstr(&t->picture), t->screen);
    t->shown = count_rows(gg_buf_cstr(&t->picture), gg_term_width(t->screen)) + 1;
    return status;
}

static gg_status take_line(table *t, char *line, gg_error *error)
{
    gg_result result = {.text = &t->text, .facts = &t->facts};
    const char *tool = read_call(t, line);

    gg_buf_reset(&t->text);
    gg_buf_reset(&t->facts);
    gg_status status =
        t->game->api->call(t->play, tool, gg_buf_cstr(&t->arguments), &result, error);
    if (status == GG_OK)
        status = record(t, tool, &result, error);
    if (status != GG_OK || t->episode->outcome != GG_UNPLAYED)
        return status;
    if (!t->tty) { /* a pipe gets what a model gets */
        fprintf(t->screen, "%s\n", gg_buf_cstr(&t->text));
        return GG_OK;
    }
    /* After a move the board says it all; anything else has to be told. */
    return draw(t, result.moved ? "" : gg_buf_cstr(&t->text), error);
}

static void prompt(const table *t)
{
    if (!t->tty)
        return;
    fprintf(t->screen, "%s %lld: ", t->game->info.move_noun, (long long)t->episode->moves + 1);
    fflush(t->screen);
}

static gg_status play_lines(table *t, gg_error *error)
{
    char *line = NULL;
    size_t room = 0;
    gg_status status = GG_OK;

    while (status == GG_OK && t->episode->outcome == GG_UNPLAYED) {
        prompt(t);
        ssize_t len = getline(&line, &room, stdin);
        if (len < 0) {
            t->episode->outcome = GG_FORFEITED;
            t->episode->stop = GG_STOP_NO_CALL;
            break;
        }
        line[strcspn(line, "\r\n")] = '\0';
        if (*line)
            status = take_line(t, line, error);
        else
            t->shown++; /* an empty line moved the cursor */
    }
    free(line);
    return status;
}

static void show_reward(const table *t)
{
    const gg_episode *e = t->episode;

    if (!gg_opt_given(t->cli->opts, GG_OPT_REWARD))
        return;
    fprintf(t->screen, "reward %g", e->reward);
    for (size_t i = 0; i < e->part_count; i++)
        fprintf(t->screen, "  %s %g", e->parts[i].name, e->parts[i].value);
    fputc('\n', t->screen);
}

static gg_status finish(table *t, gg_error *error)
{
    gg_buf_reset(&t->text);
    gg_status status = t->game->api->answer(t->play, &t->text, error);
    t->episode->answer = keep(t, gg_buf_cstr(&t->text));
    if (status == GG_OK)
        status = gg_episode_judge(t->game, t->reward, t->episode, error);
    if (t->tty && t->episode->stop == GG_STOP_NO_CALL)
        fputc('\n', t->screen); /* behind the prompt that was left */
    if (status == GG_OK)
        status = draw(t, "", error);
    show_reward(t);
    if (status == GG_OK && gg_opt_flag(t->cli->opts, GG_OPT_JSON)) {
        gg_buf_reset(&t->picture);
        status = gg_episode_write(t->episode, &t->picture, error);
        gg_print(&t->picture);
    }
    return status;
}

/* The record's head: what is played, and by whom. */
static gg_status begin(table *t, const gg_task *task, uint64_t seed, gg_error *error)
{
    gg_episode *e = t->episode = gg_episode_new();

    if (!e)
        return gg_fail(error, GG_E_MEMORY, "out of memory for the record");
    e->id = ID;
    e->env = keep(t, t->game->info.name);
    e->task_id = keep(t, task->id);
    e->task_digest = keep(t, task->digest);
    e->task_key = keep(t, task->key);
    e->answer = "null";
    e->seed = seed;
    e->started = "1970-01-01T00:00:00Z";
    e->messages = "[]";
    e->policy = (gg_policy_info){.endpoint = "terminal",
                                 .model = "person",
                                 .weight_version_first = -1,
                                 .weight_version_last = -1};
    e->untrainable_reason = "a person played";
    gg_status status = t->game->api->start(t->game->env, task->prompt, seed, &t->play, error);
    if (status == GG_OK)
        status = t->game->api->opening(t->play, &t->text, error);
    if (status != GG_OK)
        return status;
    fprintf(t->screen, "%s%s\n", gg_buf_cstr(&t->text), t->tty ? " (Ctrl-D gives up)" : "");
    return t->tty ? draw(t, "", error) : GG_OK;
}

static uint64_t choose_seed(const gg_cli *cli)
{
    uint64_t seed = 0;

    if (gg_opt_given(cli->opts, GG_OPT_PLAY_SEED))
        return (uint64_t)gg_opt_int(cli->opts, GG_OPT_PLAY_SEED);
    /* Without entropy it is the first task once more, which is no harm. */
    if (getrandom(&seed, sizeof seed, 0) < 0)
        seed = 0;
    return seed >> (64 - GG_SEED_BITS);
}

static gg_status play_one(table *t, gg_tasks *tasks, gg_error *error)
{
    uint64_t seed = choose_seed(t->cli);
    size_t index = (size_t)(gg_derive_seed(seed, "play", 0) % tasks->count);

    gg_status status = begin(t, &tasks->items[index], seed, error);
    if (status == GG_OK)
        status = find_tool(t, error);
    if (status == GG_OK)
        status = play_lines(t, error);
    if (status == GG_OK)
        status = finish(t, error);
    return status;
}

static void table_free(table *t)
{
    if (t->play)
        t->game->api->finish(t->play);
    gg_episode_free(t->episode);
    free(t->tool);
    free(t->argument);
    gg_buf_free(&t->picture);
    gg_buf_free(&t->text);
    gg_buf_free(&t->facts);
    gg_buf_free(&t->arguments);
}

gg_exit gg_cmd_play(gg_cli *cli)
{
    FILE *screen = gg_opt_flag(cli->opts, GG_OPT_JSON) ? stderr : stdout;
    table t = {.cli = cli,
               .screen = screen,
               .color = gg_term_color(cli, screen),
               .tty = gg_term_is_tty(stdin) && gg_term_is_tty(screen)};
    gg_game *game = NULL;
    gg_reward *reward = NULL;
    gg_tasks tasks = {0};
    gg_error error = {0};

    gg_buf_init(&t.picture, TEXT_MAX);
    gg_buf_init(&t.text, TEXT_MAX);
    gg_buf_init(&t.facts, TEXT_MAX);
    gg_buf_init(&t.arguments, TEXT_MAX);
    gg_status status = gg_cli_game(cli, gg_opt_text(cli->opts, GG_OPT_ENV), &game, &error);
    if (status == GG_OK)
        status = gg_cli_reward(cli, game, &reward, &error);
    if (status == GG_OK)
        status = gg_cli_tasks(cli, game, "test", &tasks, &error);
    if (status == GG_OK) {
        t.game = game;
        t.reward = reward;
        status = play_one(&t, &tasks, &error);
        table_free(&t);
    }
    gg_tasks_free(&tasks);
    gg_reward_free(reward);
    gg_game_close(game);
    return status == GG_OK ? GG_EXIT_OK : gg_give_up(GG_STARTING, &error);
}
