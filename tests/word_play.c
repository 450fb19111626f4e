#include "word_play.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_ROOM (1u << 16)

static cJSON *add_message(word_play *p, const char *role, const char *content)
{
    cJSON *message = cJSON_CreateObject();
    if (!message || !cJSON_AddItemToArray(p->messages, message))
        return NULL;
    cJSON_AddStringToObject(message, "role", role);
    if (content)
        cJSON_AddStringToObject(message, "content", content);
    return message;
}

bool word_play_start(word_play *p, const gg_game *game, const char *word)
{
    const gg_env_api *api = game->api;
    const char *tools = api->tools(game->env);
    *p = (word_play){.game = game, .messages = cJSON_CreateArray()};
    gg_buf_init(&p->text, TEXT_ROOM);
    gg_buf_init(&p->facts, TEXT_ROOM);
    if (gg_json_parse(tools, strlen(tools), &p->tools, NULL) != GG_OK ||
        api->start(game->env, word, 1, &p->play, NULL) != GG_OK ||
        api->system_prompt(p->play, &p->text, NULL) != GG_OK)
        return false;
    add_message(p, "system", gg_buf_cstr(&p->text));
    gg_buf_reset(&p->text);
    if (api->opening(p->play, &p->text, NULL) != GG_OK)
        return false;
    return add_message(p, "user", gg_buf_cstr(&p->text)) != NULL;
}

static bool add_call(cJSON *message, const gg_policy_reply *reply)
{
    cJSON *calls = cJSON_AddArrayToObject(message, "tool_calls");
    cJSON *call = cJSON_CreateObject();
    if (!calls || !call || !cJSON_AddItemToArray(calls, call))
        return false;
    cJSON_AddStringToObject(call, "id", "call_1");
    cJSON_AddStringToObject(call, "type", "function");
    cJSON *function = cJSON_AddObjectToObject(call, "function");
    cJSON_AddStringToObject(function, "name", reply->call.name);
    return cJSON_AddStringToObject(function, "arguments", reply->call.arguments) != NULL;
}

bool word_play_answer(word_play *p, const gg_policy_reply *reply, bool echo)
{
    const char *content = reply->content.len ? gg_buf_cstr(&reply->content) : NULL;
    cJSON *message = add_message(p, "assistant", content);
    if (!message)
        return false;
    if (echo && reply->reasoning.len)
        cJSON_AddStringToObject(message, "reasoning_content", gg_buf_cstr(&reply->reasoning));
    if (!reply->call.name)
        return true;
    gg_result result = {.text = &p->text, .facts = &p->facts};
    gg_buf_reset(&p->text);
    gg_buf_reset(&p->facts);
    if (!add_call(message, reply) ||
        p->game->api->call(p->play, reply->call.name, reply->call.arguments, &result, NULL) !=
            GG_OK)
        return false;
    p->turns++;
    p->done = p->done || result.done;
    p->solved = p->solved || (result.done && result.outcome == GG_SOLVED);
    message = add_message(p, "tool", gg_buf_cstr(&p->text));
    return message && cJSON_AddStringToObject(message, "tool_call_id", "call_1");
}

void word_play_end(word_play *p)
{
    if (p->play)
        p->game->api->finish(p->play);
    cJSON_Delete(p->messages);
    cJSON_Delete(p->tools);
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
