#include "word_play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_ROOM (1u << 16)

/* Begins a message at the array's end, which end_message closes again. */
static void begin_message(word_play *p, const char *role, const char *content)
{
    gg_buf *out = &p->messages;
    if (out->len)
        gg_buf_truncate(out, out->len - 1);
    gg_buf_str(out, out->len ? ",{\"role\":" : "[{\"role\":");
    gg_buf_json_str(out, role);
    gg_buf_str(out, ",\"content\":");
    gg_buf_json_str(out, content);
}

static bool end_message(word_play *p)
{
    gg_buf_str(&p->messages, "}]");
    return p->messages.status == GG_OK;
}

bool word_play_start(word_play *p, const gg_game *game, const char *word)
{
    const gg_env_api *api = game->api;
    *p = (word_play){.game = game, .tools = api->tools(game->env)};
    gg_buf_init(&p->messages, TEXT_ROOM);
    gg_buf_init(&p->text, TEXT_ROOM);
    gg_buf_init(&p->facts, TEXT_ROOM);
    if (api->start(game->env, word, 1, &p->play, NULL) != GG_OK ||
        api->system_prompt(p->play, &p->text, NULL) != GG_OK)
        return false;
    begin_message(p, "system", gg_buf_cstr(&p->text));
    end_message(p);
    gg_buf_reset(&p->text);
    if (api->opening(p->play, &p->text, NULL) != GG_OK)
        return false;
    begin_message(p, "user", gg_buf_cstr(&p->text));
    return end_message(p);
}

gg_policy_request word_play_request(const word_play *p, gg_effort effort, uint64_t seed)
{
    return (gg_policy_request){.messages = {p->messages.data, p->messages.len},
                               .tools = {p->tools, strlen(p->tools)},
                               .effort = effort,
                               .temperature = 1,
                               .top_p = 1,
                               .seed = seed,
                               .max_tokens = 4096};
}

static void add_call(word_play *p, const gg_policy_call *call)
{
    gg_buf_str(&p->messages, ",\"tool_calls\":[{\"id\":\"call_1\",\"type\":\"function\","
                             "\"function\":{\"name\":");
    gg_buf_json_str(&p->messages, call->name);
    gg_buf_str(&p->messages, ",\"arguments\":");
    gg_buf_json_str(&p->messages, call->arguments);
    gg_buf_str(&p->messages, "}}]");
}

bool word_play_answer(word_play *p, const gg_policy_reply *reply, bool echo)
{
    const gg_policy_call *call = &reply->call;
    begin_message(p, "assistant", reply->content.len ? gg_buf_cstr(&reply->content) : NULL);
    if (echo && reply->reasoning.len) {
        gg_buf_str(&p->messages, ",\"reasoning_content\":");
        gg_buf_json_str(&p->messages, gg_buf_cstr(&reply->reasoning));
    }
    if (!call->name)
        return end_message(p);
    add_call(p, call);
    end_message(p);
    gg_result result = {.text = &p->text, .facts = &p->facts};
    gg_buf_reset(&p->text);
    gg_buf_reset(&p->facts);
    if (p->game->api->call(p->play, call->name, call->arguments, &result, NULL) != GG_OK)
        return false;
    p->turns++;
    p->done = p->done || result.done;
    p->solved = p->solved || (result.done && result.outcome == GG_SOLVED);
    begin_message(p, "tool", gg_buf_cstr(&p->text));
    gg_buf_str(&p->messages, ",\"tool_call_id\":\"call_1\"");
    return end_message(p);
}

void word_play_end(word_play *p)
{
    if (p->play)
        p->game->api->finish(p->play);
    gg_buf_free(&p->messages);
    gg_buf_free(&p->text);
    gg_buf_free(&p->facts);
}

void word_letters(const char *word, uint8_t *out)
{
    for (size_t i = 0; word[i]; i++)
        out[i] = (uint8_t)(word[i] - 'a');
}

void board_learn(gg_board *board, const char *guess, const char *hidden)
{
    static const uint8_t value[] = {GG_MARK_GREY, GG_MARK_YELLOW, GG_MARK_GREEN};
    uint8_t letters[GG_WORD_MAX], marks[GG_WORD_MAX];
    gg_marks packed = gg_mark(guess, hidden, board->length);
    word_letters(guess, letters);
    for (int i = 0; i < board->length; i++, packed /= 3)
        marks[i] = value[packed % 3];
    gg_board_learn(board, letters, marks);
}

char *word_list_file(const char *const *words, size_t count)
{
    char *path = strdup("/tmp/guessgym-list-XXXXXX");
    int fd = path ? mkstemp(path) : -1;
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    for (size_t i = 0; file && i < count; i++)
        fprintf(file, "%s\n", words[i]);
    if (!file || fclose(file) != 0) {
        free(path);
        return NULL;
    }
    return path;
}
