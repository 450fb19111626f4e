/*
 * The baselines of the search game: one query, the whole question.
 *
 *   bm25    searches by words, submits what comes
 *   vector  the same by vectors
 *   hybrid  both, fused by reciprocal rank: the score of a document is the sum over the pages of
 *           1 / (60 + its rank) (Cormack, Clarke and Buettcher 2009, SIGIR)
 *
 * They read the question and the pages from the prompt, as any player.
 */
#include "policy/retriever.h"

#include <stdlib.h>
#include <string.h>

#include "env/search/search.h"
#include "env/search/texts.h"
#include "policy/reply.h"

#define QUERY_MAX     1000 /* bytes; the game takes no longer ones */
#define PAGES_MAX     2
#define FOUND_MAX     40 /* documents of two pages */
#define FUSION        60.0
#define TEXT_MAX      (4u << 20)
#define ARGUMENTS_MAX 16384
#define ASKED_FOR     20
#define NOTHING       "No document was found."

typedef struct retriever {
    gg_policy common;
    gg_tokenizer *tokenizer;
} retriever;

static gg_status open_retriever(const gg_policy_api *api, const char *settings, gg_policy **out,
                                gg_error *error)
{
    static const char *const phrases[] = {S_TOOL_WORDS, S_TOOL_VECTORS, S_TOOL_SUBMIT};
    (void)api;
    (void)settings;
    retriever *r = calloc(1, sizeof *r);
    if (!r)
        return gg_fail(error, GG_E_MEMORY, "not enough memory for a baseline");
    gg_status status = gg_tokenizer_new(GG_TOKENIZER_LETTERS, phrases,
                                        sizeof phrases / sizeof *phrases, &r->tokenizer, error);
    r->common.tokenizer = r->tokenizer;
    if (status == GG_OK)
        *out = &r->common;
    else
        free(r);
    return status;
}

static void close_retriever(gg_policy *policy)
{
    retriever *r = (retriever *)policy;
    gg_tokenizer_free(r->tokenizer);
    free(r);
}

/* ---- reading ---- */

typedef struct found {
    gg_span id;
    double score;
} found;

/* What the prompt holds; the spans lie in `text`. */
typedef struct history {
    gg_buf text;
    size_t question, question_len; /* places in the text */
    size_t page[PAGES_MAX], page_len[PAGES_MAX], pages;
    bool asked;
} history;

/* The text of one message, from its first token on; *next is behind it. */
static gg_status read_message(const gg_policy *policy, const int32_t *ids, size_t count,
                              size_t *next, gg_buf *out, gg_error *error)
{
    size_t end = *next;
    while (end < count && ids[end] != GG_TOKEN_END)
        end++;
    gg_status status = gg_tokenizer_decode(policy->tokenizer, ids + *next, end - *next, out, error);
    gg_buf_char(out, '\n');
    *next = end;
    return status;
}

static bool is_page(const char *text)
{
    return strstr(text, S_COLUMN) != NULL || strncmp(text, S_FOUND_NONE, strlen(S_FOUND_NONE)) == 0;
}

/* The first user message is the question; tool messages that are pages are kept in order. */
static gg_status read_history(const gg_policy *policy, const int32_t *ids, size_t count,
                              history *out, gg_error *error)
{
    gg_status status = GG_OK;
    gg_buf_init(&out->text, TEXT_MAX);
    for (size_t i = 0; i < count && status == GG_OK; i++) {
        bool question = ids[i] == GG_TOKEN_USER && !out->asked;
        bool page = ids[i] == GG_TOKEN_TOOL && out->pages < PAGES_MAX;
        size_t from = out->text.len, next = i + 1;
        if (!question && !page)
            continue;
        status = read_message(policy, ids, count, &next, &out->text, error);
        if (status != GG_OK)
            break;
        if (question) {
            out->question = from;
            out->question_len = out->text.len - 1 - from;
            out->asked = true;
        } else if (is_page(gg_buf_cstr(&out->text) + from)) {
            out->page[out->pages] = from;
            out->page_len[out->pages++] = out->text.len - from;
        }
        i = next;
    }
    return status == GG_OK ? gg_buf_status(&out->text, "a prompt", error) : status;
}

static void add_found(found *all, size_t *count, gg_span id, double score)
{
    size_t i = 0;
    while (i < *count && (all[i].id.len != id.len || memcmp(all[i].id.at, id.at, id.len) != 0))
        i++;
    if (i == FOUND_MAX)
        return;
    if (i == *count)
        all[(*count)++] = (found){id, 0};
    all[i].score += score;
}

/* Best first; of equals the one found first. */
static size_t fuse(const history *h, found all[FOUND_MAX])
{
    size_t count = 0;
    for (size_t p = 0; p < h->pages; p++) {
        gg_page_line line;
        size_t at = 0;
        for (int rank = 1; gg_page_next(h->text.data + h->page[p], h->page_len[p], &at, &line);
             rank++)
            add_found(all, &count, line.id, 1 / (FUSION + rank));
    }
    for (size_t i = 1; i < count; i++) /* insertion keeps the order of equals */
        for (size_t j = i; j > 0 && all[j].score > all[j - 1].score; j--) {
            found swap = all[j];
            all[j] = all[j - 1];
            all[j - 1] = swap;
        }
    return count;
}

/* ---- writing ---- */

static const char *next_tool(const gg_policy *policy, const history *h)
{
    static const char *const plan[][PAGES_MAX] = {
        [GG_RETRIEVER_BM25] = {S_TOOL_WORDS, NULL},
        [GG_RETRIEVER_VECTOR] = {S_TOOL_VECTORS, NULL},
        [GG_RETRIEVER_HYBRID] = {S_TOOL_WORDS, S_TOOL_VECTORS},
    };
    return h->pages < PAGES_MAX ? plan[policy->api->variant][h->pages] : NULL;
}

static void write_search(const history *h, gg_buf *arguments)
{
    const char *text = h->text.data + h->question;
    size_t opening = strlen(S_OPENING), len = h->question_len;
    if (len >= opening && memcmp(text, S_OPENING, opening) == 0) {
        text += opening;
        len -= opening;
    }
    if (len > QUERY_MAX)
        for (len = QUERY_MAX; len > 1 && text[len] != ' '; len--)
            ;
    gg_buf_str(arguments, "{\"" S_QUERY "\":");
    gg_buf_json(arguments, text, len);
    gg_buf_printf(arguments, ",\"" S_K "\":%d}", ASKED_FOR);
}

static void write_ranking(const found *all, size_t count, gg_buf *arguments)
{
    gg_buf_str(arguments, "{\"" S_IDS "\":[");
    for (size_t i = 0; i < count && i < S_RANKED_MAX; i++) {
        gg_buf_str(arguments, i ? "," : "");
        gg_buf_json(arguments, all[i].id.at, all[i].id.len);
    }
    gg_buf_str(arguments, "]}");
}

/* Up to max_tokens of the ids; *room is what is left. */
static bool push(gg_policy_reply *reply, const int32_t *ids, size_t count, size_t *room)
{
    for (size_t i = 0; i < count && *room; i++, --*room)
        if (!gg_reply_push(reply, ids[i], NULL))
            return false;
    return true;
}

/* A call of `tool`, or plain text without one. */
static gg_status write_reply(const gg_policy *policy, const char *tool, const char *text,
                             size_t room, gg_policy_reply *reply, gg_error *error)
{
    const int32_t call = GG_TOKEN_CALL, arguments = GG_TOKEN_ARGUMENTS, end = GG_TOKEN_END;
    gg_ids name = {0}, body = {0};
    if (tool)
        gg_tokenizer_encode(policy->tokenizer, tool, strlen(tool), &name);
    gg_tokenizer_encode(policy->tokenizer, text, strlen(text), &body);
    bool fine = !name.failed && !body.failed && push(reply, &call, tool != NULL, &room) &&
                push(reply, name.data, name.count, &room) &&
                push(reply, &arguments, tool != NULL, &room) &&
                push(reply, body.data, body.count, &room);
    reply->finish_reason = room ? "stop" : "length";
    fine = fine && push(reply, &end, 1, &room);
    gg_ids_free(&name);
    gg_ids_free(&body);
    return fine ? GG_OK : gg_fail(error, GG_E_MEMORY, "not enough memory for a reply");
}

static gg_status sample(const gg_policy *policy, const double *weights, const int32_t *prompt,
                        size_t count, const gg_sampling *sampling, gg_policy_reply *reply,
                        gg_error *error)
{
    history h = {.pages = 0};
    found all[FOUND_MAX];
    gg_buf arguments;
    (void)weights;
    gg_buf_init(&arguments, ARGUMENTS_MAX);
    gg_status status = read_history(policy, prompt, count, &h, error);
    const char *tool = status == GG_OK ? next_tool(policy, &h) : NULL;
    if (tool && h.asked) {
        write_search(&h, &arguments);
    } else if (status == GG_OK) {
        size_t ranked = fuse(&h, all);
        tool = ranked ? S_TOOL_SUBMIT : NULL;
        if (ranked)
            write_ranking(all, ranked, &arguments);
        else
            gg_buf_str(&arguments, NOTHING);
    }
    if (status == GG_OK)
        status = gg_buf_status(&arguments, "a reply", error);
    if (status == GG_OK)
        status =
            write_reply(policy, tool, gg_buf_cstr(&arguments), sampling->max_tokens, reply, error);
    gg_buf_free(&arguments);
    gg_buf_free(&h.text);
    return status;
}

#define RETRIEVER(called, which)                                                                   \
    {                                                                                              \
        .name = (called), .trainable = false, .variant = (which), .open = open_retriever,          \
        .close = close_retriever, .sample = sample                                                 \
    }
const gg_policy_api gg_retriever_policies[] = {
    RETRIEVER("bm25", GG_RETRIEVER_BM25),
    RETRIEVER("vector", GG_RETRIEVER_VECTOR),
    RETRIEVER("hybrid", GG_RETRIEVER_HYBRID),
};
