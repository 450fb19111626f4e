#include "core/json.h"

#include <guessgym/record.h>

#include <stdlib.h>
#include <string.h>

#define ID_MAX 256

/* A later turn whose prompt stands whole departed from the sequence before it, unless there was
 * none. */
static bool is_fork(const gg_episode *episode, size_t turn)
{
    bool before = false;
    for (size_t i = 0; i < turn; i++)
        before |= episode->tokens[i].count > 0;
    return before && episode->tokens[turn].prompt_from == 0;
}

gg_status gg_episode_write_tokens(const gg_episode *episode, gg_buf *line, gg_error *error)
{
    if (!episode->tokens)
        return GG_OK;
    if (!episode->id)
        return gg_fail(error, GG_E_ARGUMENT, "a token record needs an episode with an id");
    size_t start = line->len;
    gg_buf_str(line, "{\"id\":");
    gg_buf_json_str(line, episode->id);
    gg_buf_str(line, ",\"turns\":[");
    for (size_t i = 0; i < episode->turn_count; i++) {
        const gg_turn_tokens *turn = &episode->tokens[i];
        gg_buf_str(line, i ? ",{\"prompt_ids_from\":" : "{\"prompt_ids_from\":");
        gg_buf_int(line, turn->prompt_from);
        if (is_fork(episode, i)) {
            gg_buf_str(line, ",\"fork_at\":");
            gg_buf_int(line, turn->fork_at);
        }
        gg_buf_str(line, ",\"prompt_ids\":");
        gg_buf_ints(line, turn->prompt_ids, turn->prompt_count);
        gg_buf_str(line, ",\"ids\":");
        gg_buf_ints(line, turn->ids, turn->count);
        gg_buf_str(line, ",\"logprobs\":");
        if (turn->logprobs)
            gg_buf_doubles(line, turn->logprobs, turn->count);
        else
            gg_buf_str(line, "null");
        gg_buf_char(line, '}');
    }
    gg_buf_str(line, "]}\n");
    gg_status status = gg_buf_status(line, "a token record", error);
    if (status != GG_OK)
        gg_buf_truncate(line, start);
    return status;
}

/* The arrays of one turn, read into storage that all turns of a line share. */
typedef struct columns {
    int32_t *prompt, *ids;
    double *logprobs;
    size_t prompt_count, prompt_room, id_count, id_room, logprob_count, logprob_room;
    bool has_logprobs;
} columns;

static bool read_turn(gg_json_reader *r, columns *c, int64_t *from, int64_t *fork)
{
    gg_json_name name;
    bool good = gg_read_object(r);
    c->prompt_count = c->id_count = c->logprob_count = 0;
    c->has_logprobs = false;
    *from = *fork = 0;
    while (good && gg_read_name(r, &name)) {
        if (gg_name_is(name, "prompt_ids_from"))
            good = gg_read_int(r, from) && *from >= 0;
        else if (gg_name_is(name, "fork_at"))
            good = gg_read_int(r, fork) && *fork >= 0;
        else if (gg_name_is(name, "prompt_ids"))
            good = gg_read_int32s(r, &c->prompt, &c->prompt_count, &c->prompt_room);
        else if (gg_name_is(name, "ids"))
            good = gg_read_int32s(r, &c->ids, &c->id_count, &c->id_room);
        else if (gg_name_is(name, "logprobs") && !gg_read_null(r))
            good = c->has_logprobs =
                gg_read_doubles(r, &c->logprobs, &c->logprob_count, &c->logprob_room);
        else if (!gg_name_is(name, "logprobs"))
            good = gg_read_skip(r);
    }
    return good && !r->failed && (!c->has_logprobs || c->logprob_count == c->id_count);
}

static void *keep(gg_episode *episode, const void *values, size_t bytes)
{
    void *copy = gg_episode_alloc(episode, bytes);
    if (copy && bytes)
        memcpy(copy, values, bytes);
    return copy;
}

static bool keep_turn(gg_episode *episode, const columns *c, int64_t from, int64_t fork,
                      gg_turn_tokens *out)
{
    *out = (gg_turn_tokens){
        .prompt_from = from,
        .fork_at = fork,
        .prompt_count = c->prompt_count,
        .count = c->id_count,
        .prompt_ids = keep(episode, c->prompt, c->prompt_count * sizeof *c->prompt),
        .ids = keep(episode, c->ids, c->id_count * sizeof *c->ids),
    };
    if (c->has_logprobs)
        out->logprobs = keep(episode, c->logprobs, c->logprob_count * sizeof *c->logprobs);
    return out->prompt_ids && out->ids && (out->logprobs || !c->has_logprobs);
}

/* One pass over a token line. */
typedef struct token_reader {
    gg_json_reader json;
    columns columns;
    gg_turn_tokens *turns; /* in the episode's arena */
    size_t count;
    bool same_id, seen_turns, no_memory;
} token_reader;

static bool read_turns(token_reader *t, gg_episode *episode)
{
    t->seen_turns = true;
    bool good = gg_read_array(&t->json);
    while (good && gg_read_element(&t->json)) {
        int64_t from, fork;
        if (t->count == episode->turn_count || !read_turn(&t->json, &t->columns, &from, &fork))
            return false;
        if (!keep_turn(episode, &t->columns, from, fork, &t->turns[t->count++])) {
            t->no_memory = true;
            return false;
        }
    }
    return good && !t->json.failed;
}

static bool read_id(token_reader *t, const gg_episode *episode)
{
    char storage[ID_MAX + 1] = "";
    gg_buf id = {.data = storage, .room = sizeof storage, .maximum = ID_MAX};
    t->same_id = gg_read_string(&t->json, &id) && episode->id && strcmp(storage, episode->id) == 0;
    return t->same_id;
}

static bool read_line(token_reader *t, gg_episode *episode)
{
    gg_json_name name;
    bool good = gg_read_object(&t->json);
    while (good && gg_read_name(&t->json, &name)) {
        if (gg_name_is(name, "id"))
            good = read_id(t, episode);
        else if (gg_name_is(name, "turns"))
            good = read_turns(t, episode);
        else
            good = gg_read_skip(&t->json);
    }
    return good && gg_read_end(&t->json) && t->same_id && t->seen_turns &&
           t->count == episode->turn_count;
}

gg_status gg_episode_read_tokens(gg_episode *episode, const char *line, size_t len, gg_error *error)
{
    token_reader t = {.json = gg_json_reader_make(line, len)};
    const char *id = episode->id ? episode->id : "(none)";
    t.turns = gg_episode_alloc(episode, episode->turn_count * sizeof *t.turns);
    if (!t.turns)
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading a token record");
    bool good = read_line(&t, episode);
    free(t.columns.prompt);
    free(t.columns.ids);
    free(t.columns.logprobs);
    if (good) {
        episode->tokens = t.turns;
        return GG_OK;
    }
    if (t.no_memory || t.json.no_memory)
        return gg_fail(error, GG_E_MEMORY, "out of memory while reading a token record");
    return gg_fail(error, GG_E_FORMAT,
                   "damaged token record, or not that of episode %s with its %zu turns (read to "
                   "byte %zu)",
                   id, episode->turn_count, (size_t)(t.json.at - line));
}

/* Goes to the value of a member; true when the reader stands before it. */
static bool find_fact(gg_json_reader *r, const char *facts, const char *name)
{
    gg_json_name found;
    if (!facts || !strstr(facts, name)) /* most that are asked for are not there */
        return false;
    *r = gg_json_reader_make(facts, strlen(facts));
    if (!gg_read_object(r))
        return false;
    while (gg_read_name(r, &found)) {
        if (gg_name_is(found, name))
            return true;
        if (!gg_read_skip(r))
            return false;
    }
    return false;
}

bool gg_fact_number(const char *facts, const char *name, double *value)
{
    gg_json_reader r;
    if (!find_fact(&r, facts, name))
        return false;
    gg_json_reader flag = r;
    bool truth;
    double number;
    if (gg_read_bool(&flag, &truth))
        number = truth;
    else if (!gg_read_double(&r, &number))
        return false;
    *value = number;
    return true;
}

bool gg_fact_text(const char *facts, const char *name, char *out, size_t room)
{
    gg_json_reader r;
    gg_json_name raw;
    if (room == 0 || !find_fact(&r, facts, name))
        return false;
    gg_json_reader again = r;
    if (!gg_read_raw(&r, &raw) || *raw.bytes != '"')
        return false;
    if (!memchr(raw.bytes, '\\', raw.len)) {
        if (raw.len - 2 >= room)
            return false;
        memcpy(out, raw.bytes + 1, raw.len - 2);
        out[raw.len - 2] = '\0';
        return true;
    }
    gg_buf text;
    gg_buf_init(&text, room - 1);
    bool good = gg_read_string(&again, &text);
    if (good)
        memcpy(out, text.data, text.len + 1);
    gg_buf_free(&text);
    return good;
}
