/* Token ids, their log-probabilities and texts in a reply (agent/chat.h), in the forms of vLLM,
 * SGLang and llama.cpp. */
#include "agent/reply_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef gg_reply_reading reading;
typedef gg_reply_member member;

void gg_reply_prompt_ids(reading *in)
{
    gg_reply *reply = in->reply;
    if (gg_read_next(&in->r) == '[')
        gg_read_int32s(&in->r, &reply->prompt_ids, &reply->prompt_count, &reply->prompt_room);
    else
        gg_read_skip(&in->r);
}

void gg_reply_ids(reading *in)
{
    gg_reply *reply = in->reply;
    if (gg_read_next(&in->r) == '[')
        gg_read_int32s(&in->r, &reply->ids, &reply->id_count, &reply->id_room);
    else
        gg_read_skip(&in->r);
}

static void no_memory(reading *in)
{
    in->r.failed = in->r.no_memory = true;
}

static void push_logprob(reading *in, double value)
{
    gg_reply *reply = in->reply;
    if (reply->logprob_count == reply->logprob_room) {
        size_t room = reply->logprob_room ? reply->logprob_room * 2 : 64;
        double *grown = realloc(reply->logprobs, room * sizeof *grown);
        if (!grown) {
            no_memory(in);
            return;
        }
        reply->logprobs = grown;
        reply->logprob_room = room;
    }
    reply->logprobs[reply->logprob_count++] = value;
}

static void push_pair(reading *in, gg_reply_pairs *pairs, int64_t id, double logprob)
{
    if (pairs->count == pairs->room) {
        size_t room = pairs->room ? pairs->room * 2 : 64;
        int32_t *ids = realloc(pairs->ids, room * sizeof *ids);
        if (ids)
            pairs->ids = ids;
        double *logprobs = realloc(pairs->logprobs, room * sizeof *logprobs);
        if (logprobs)
            pairs->logprobs = logprobs;
        if (!ids || !logprobs) {
            no_memory(in);
            return;
        }
        pairs->room = room;
    }
    pairs->ids[pairs->count] = (int32_t)id;
    pairs->logprobs[pairs->count++] = logprob;
}

static void read_logprob(reading *in)
{
    if (gg_read_next(&in->r) == 'n')
        gg_read_skip(&in->r);
    else
        gg_read_double(&in->r, &in->logprob);
}

/* A token's id; -1 for anything that cannot be one. */
static int64_t read_token_id(reading *in)
{
    int64_t id = gg_reply_count(in);
    return id > INT32_MAX ? -1 : id;
}

static void read_entry_id(reading *in)
{
    in->id = read_token_id(in);
}

/* "token_id:7" stands in a text's place. */
static bool is_id_text(const char *text, int64_t *id)
{
    static const char mark[] = "token_id:";
    char *end;
    if (strncmp(text, mark, sizeof mark - 1) != 0)
        return false;
    *id = strtoll(text + sizeof mark - 1, &end, 10);
    return *end == '\0' && *id >= 0 && *id <= INT32_MAX;
}

/* A token that holds part of a character is shown with U+FFFD; its text is then not known. */
static void read_token(reading *in)
{
    gg_buf *text = &in->reply->token_text;
    size_t begins = in->text_at;
    int64_t id;
    if (gg_read_next(&in->r) != '"') {
        gg_read_skip(&in->r);
        return;
    }
    if (in->has_text) { /* bytes came first and say it better */
        gg_buf_reset(&in->reply->scratch);
        text = &in->reply->scratch;
        begins = 0;
    }
    if (!gg_read_string(&in->r, text))
        return;
    const char *token = gg_buf_cstr(text) + begins;
    if (is_id_text(token, &id)) {
        in->id = id;
        gg_buf_truncate(text, begins);
    } else if (text == &in->reply->token_text) {
        in->has_text = !strstr(token, "\xef\xbf\xbd");
    }
}

/* The token's bytes as numbers, which stand for its text. */
static void read_token_bytes(reading *in)
{
    gg_buf *text = &in->reply->token_text;
    int64_t byte;
    if (gg_read_next(&in->r) != '[') {
        gg_read_skip(&in->r);
        return;
    }
    gg_buf_truncate(text, in->text_at);
    in->has_text = true;
    gg_read_array(&in->r);
    while (gg_read_element(&in->r)) {
        if (gg_read_int(&in->r, &byte) && byte >= 0 && byte <= UINT8_MAX)
            gg_buf_char(text, (char)byte);
        else
            in->has_text = false;
    }
}

/* One element a token: the alternatives are not wanted. */
static void read_logprob_content(reading *in)
{
    static const member table[] = {{"logprob", read_logprob, 0},
                                   {"token", read_token, 0},
                                   {"bytes", read_token_bytes, 0},
                                   {"id", read_entry_id, 0}};
    gg_reply *reply = in->reply;
    if (!gg_reply_array(in))
        return;
    reply->logprob_count = reply->entries.count = 0;
    gg_buf_reset(&reply->token_text);
    reply->token_text_whole = true;
    while (gg_read_element(&in->r)) {
        in->logprob = NAN;
        in->id = -1;
        in->has_text = false;
        in->text_at = reply->token_text.len;
        READ_MEMBERS(in, table);
        push_logprob(in, in->logprob);
        if (in->id >= 0)
            push_pair(in, &reply->entries, in->id, in->logprob);
        reply->token_text_whole &= in->has_text;
    }
    reply->token_text_whole &= reply->logprob_count > 0 && reply->token_text.status == GG_OK;
}

/* [logprob, id, text or null] */
static void read_triple(reading *in)
{
    int64_t id = -1;
    if (!gg_reply_array(in))
        return;
    in->logprob = NAN;
    for (size_t i = 0; gg_read_element(&in->r); i++) {
        if (i == 0)
            read_logprob(in);
        else if (i == 1)
            id = read_token_id(in);
        else
            gg_read_skip(&in->r);
    }
    push_pair(in, &in->reply->meta, id, in->logprob);
}

static void read_triples(reading *in)
{
    if (!gg_reply_array(in))
        return;
    in->reply->meta.count = 0;
    while (gg_read_element(&in->r))
        read_triple(in);
}

void gg_reply_meta(reading *in)
{
    static const member table[] = {
        COUNT_MEMBER("weight_version", weight_version),
        {"output_token_logprobs", read_triples, 0},
        {"output_ids", gg_reply_ids, 0},
        {"prompt_token_ids", gg_reply_prompt_ids, 0},
    };
    READ_MEMBERS(in, table);
}

static void read_token_logprobs(reading *in)
{
    gg_reply *reply = in->reply;
    if (gg_read_next(&in->r) == '[')
        gg_read_doubles(&in->r, &reply->logprobs, &reply->logprob_count, &reply->logprob_room);
    else
        gg_read_skip(&in->r);
}

void gg_reply_logprobs(reading *in)
{
    static const member table[] = {{"content", read_logprob_content, 0},
                                   {"token_logprobs", read_token_logprobs, 0}};
    READ_MEMBERS(in, table);
}

static bool has_ids(const gg_reply_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (pairs->ids[i] < 0)
            return false;
    return pairs->count > 0;
}

static bool take_ids(gg_reply *reply, const gg_reply_pairs *from)
{
    if (reply->id_room < from->count) {
        int32_t *grown = realloc(reply->ids, from->room * sizeof *grown);
        if (!grown)
            return false;
        reply->ids = grown;
        reply->id_room = from->room;
    }
    memcpy(reply->ids, from->ids, from->count * sizeof *from->ids);
    reply->id_count = from->count;
    return true;
}

static bool take_logprobs(gg_reply *reply, const gg_reply_pairs *from)
{
    if (reply->logprob_room < from->count) {
        double *grown = realloc(reply->logprobs, from->room * sizeof *grown);
        if (!grown)
            return false;
        reply->logprobs = grown;
        reply->logprob_room = from->room;
    }
    memcpy(reply->logprobs, from->logprobs, from->count * sizeof *from->logprobs);
    reply->logprob_count = from->count;
    return true;
}

bool gg_reply_settle_ids(gg_reply *reply)
{
    const gg_reply_pairs *meta = &reply->meta, *entries = &reply->entries;
    bool pairs = has_ids(meta) && (reply->id_count == 0 || reply->id_count == meta->count);
    if (pairs && !(take_ids(reply, meta) &&
                   (reply->logprob_count == meta->count || take_logprobs(reply, meta))))
        return false;
    if (reply->id_count || entries->count != reply->logprob_count || !has_ids(entries))
        return true;
    return take_ids(reply, entries);
}
