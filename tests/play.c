#include "tests/play.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEXT_MAX (1u << 20)

void play_open(play *p, const char *env, const char *settings)
{
    gg_error error = {0};
    *p = (play){0};
    gg_buf_init(&p->text, TEXT_MAX);
    gg_buf_init(&p->facts, TEXT_MAX);
    if (gg_game_open(env, settings, &p->game, &error) != GG_OK)
        fail_msg("%s: %s", env, error.text);
}

static void end(play *p)
{
    if (p->play)
        p->game->api->finish(p->play);
    gg_episode_free(p->episode);
    p->play = NULL;
    p->episode = NULL;
}

void play_start(play *p, const char *prompt)
{
    gg_error error = {0};
    gg_buf answer;
    end(p);
    if (p->game->api->start(p->game->env, prompt, 1, &p->play, &error) != GG_OK)
        fail_msg("%s: %s", prompt, error.text);
    gg_buf_init(&answer, TEXT_MAX);
    p->episode = gg_episode_new();
    assert_non_null(p->episode);
    assert_int_equal(p->game->api->answer(p->play, &answer, &error), GG_OK);
    p->episode->answer = gg_episode_string(p->episode, answer.data, answer.len);
    gg_buf_free(&answer);
    gg_turn *turn =
        gg_episode_push(p->episode, &p->episode->turns, &p->episode->turn_count, sizeof *turn);
    assert_non_null(turn);
}

static void record(play *p, const char *tool, const char *arguments)
{
    gg_episode *e = p->episode;
    gg_call *call =
        gg_episode_push(e, &e->turns[0].calls, &e->turns[0].call_count, sizeof(gg_call));
    assert_non_null(call);
    call->name = gg_episode_string(e, tool, strlen(tool));
    call->arguments_raw = gg_episode_string(e, arguments, strlen(arguments));
    call->status = p->result.status;
    call->result = gg_episode_string(e, gg_buf_cstr(&p->text), p->text.len);
    call->facts = gg_episode_string(e, gg_buf_cstr(&p->facts), p->facts.len);
    e->moves += p->result.moved;
    if (p->result.done)
        e->outcome = p->result.outcome;
}

void play_call(play *p, const char *tool, const char *arguments)
{
    gg_error error = {0};
    gg_buf_reset(&p->text);
    gg_buf_reset(&p->facts);
    p->result = (gg_result){.text = &p->text, .facts = &p->facts};
    if (p->game->api->call(p->play, tool, arguments, &p->result, &error) != GG_OK)
        fail_msg("%s %s: %s", tool, arguments, error.text);
    record(p, tool, arguments);
}

void play_guess(play *p, const char *word)
{
    gg_buf arguments;
    gg_buf_init(&arguments, TEXT_MAX);
    gg_buf_str(&arguments, "{\"guess\":");
    gg_buf_json_str(&arguments, word);
    gg_buf_str(&arguments, "}");
    play_call(p, "guess_word", gg_buf_cstr(&arguments));
    gg_buf_free(&arguments);
}

void play_close(play *p)
{
    end(p);
    gg_game_close(p->game);
    gg_buf_free(&p->text);
    gg_buf_free(&p->facts);
}

double play_fact(const play *p, const char *name)
{
    double value = 0;
    if (!gg_fact_number(gg_buf_cstr(&p->facts), name, &value))
        fail_msg("no fact %s in %s", name, gg_buf_cstr(&p->facts));
    return value;
}
