/* One call of a tool: a search, or the ranking that ends the play. */
#include <math.h>
#include <string.h>

#include "core/json.h"
#include "env/search/game.h"

/* The kind of question stands in every call's facts and not in the answer: it is no secret, and
 * reports want it of plays without a ranking too. */
void gg_search_open_facts(const gg_play *play, gg_buf *facts)
{
    gg_buf_str(facts, "{\"kind\":");
    gg_buf_json_str(facts, gg_buf_cstr(&play->question.kind));
}

static void refuse(const gg_play *play, gg_result *result, const char *flaw, const char *text)
{
    gg_buf_str(result->text, text);
    gg_search_open_facts(play, result->facts);
    gg_buf_printf(result->facts, ",\"flaw\":\"%s\"}", flaw);
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The query without white space around it. */
static const char *trim(const char *text, size_t *len)
{
    *len = strlen(text);
    while (*len && is_blank(text[*len - 1]))
        --*len;
    while (*len && is_blank(*text)) {
        text++;
        --*len;
    }
    return text;
}

/* Absent or null: the default. False when it is something else than 1 to 20. */
static bool read_k(const gg_env *env, const cJSON *object, size_t *out)
{
    const cJSON *item = gg_json_get(object, S_K);
    double value = cJSON_IsNumber(item) ? item->valuedouble : item ? (double)NAN : env->k;
    if (!(value >= 1 && value <= GG_K_MAX) || value != floor(value))
        return false;
    *out = (size_t)value;
    return true;
}

/* Notes a search; true when it was made before. White space is folded, so that lines stay lines. */
static bool note_search(gg_play *play, gg_search_kind kind, size_t k, const char *query, size_t len)
{
    gg_buf *line = &play->text;
    gg_buf_reset(line);
    gg_buf_printf(line, "\n%d %zu ", (int)kind, k);
    for (size_t i = 0; i < len; i++)
        gg_buf_char(line, is_blank(query[i]) ? ' ' : query[i]);
    gg_buf_char(line, '\n');
    bool again = strstr(gg_buf_cstr(&play->asked), gg_buf_cstr(line)) != NULL;
    if (!again)
        gg_buf_add(&play->asked, line->data + 1, line->len - 1);
    return again;
}

/* Notes the documents of a page; how many were not shown before. */
static size_t note_shown(gg_play *play, const char *page, size_t len)
{
    gg_page_line line;
    size_t at = 0, fresh = 0;
    while (gg_page_next(page, len, &at, &line)) {
        gg_buf_reset(&play->text);
        gg_buf_char(&play->text, '\n');
        gg_buf_add(&play->text, line.id.at, line.id.len);
        gg_buf_char(&play->text, '\n');
        if (strstr(gg_buf_cstr(&play->shown), gg_buf_cstr(&play->text)))
            continue;
        gg_buf_add(&play->shown, play->text.data + 1, play->text.len - 1);
        fresh++;
    }
    return fresh;
}

static gg_status run_search(gg_play *play, gg_search_kind kind, const char *query, size_t len,
                            size_t k, gg_result *result, gg_error *error)
{
    size_t count = 0, from;
    bool again = note_search(play, kind, k, query, len);
    gg_buf_str(result->text, again ? S_REPEAT : "");
    from = result->text->len;
    gg_status status =
        gg_pages_search(play->env->pages, kind, query, len, k, result->text, &count, error);
    if (status != GG_OK)
        return status;
    size_t fresh = note_shown(play, result->text->data + from, result->text->len - from);
    result->status = GG_CALL_VALID;
    result->moved = true;
    gg_search_open_facts(play, result->facts);
    gg_buf_printf(result->facts, ",\"tool\":\"%s\",\"query\":",
                  kind == GG_SEARCH_WORDS ? S_TOOL_WORDS : S_TOOL_VECTORS);
    gg_buf_json(result->facts, query, len);
    gg_buf_printf(result->facts, ",\"k\":%zu,\"found\":%zu,\"new\":%zu,\"repeat\":%s}", k, count,
                  fresh, again ? "true" : "false");
    return gg_buf_status(&play->shown, "the documents that a play was shown", error);
}

static gg_status search(gg_play *play, gg_search_kind kind, const char *arguments,
                        gg_result *result, gg_error *error)
{
    cJSON *object = NULL;
    size_t len = 0, k = 0;
    gg_status status = gg_json_parse(arguments, strlen(arguments), &object, error);
    if (status == GG_E_FORMAT) {
        refuse(play, result, "no_query", S_NO_QUERY);
        return GG_OK;
    }
    if (status != GG_OK)
        return status;
    const char *text = gg_json_text(object, S_QUERY), *query = text ? trim(text, &len) : NULL;
    if (!len) {
        refuse(play, result, "no_query", S_NO_QUERY);
    } else if (len > GG_QUERY_MAX) {
        refuse(play, result, "long_query", S_LONG_QUERY);
        gg_buf_printf(result->text, "%d" S_LONG_UNIT, GG_QUERY_MAX);
    } else if (!read_k(play->env, object, &k)) {
        refuse(play, result, "bad_k", S_BAD_K);
    } else {
        status = run_search(play, kind, query, len, k, result, error);
    }
    cJSON_Delete(object);
    return status;
}

static gg_status submit(gg_play *play, const char *arguments, gg_result *result, gg_error *error)
{
    gg_ranking ranking;
    gg_status status = GG_OK;
    if (gg_ranking_read(play, arguments, &ranking, result, &status, error))
        gg_search_end(play, &ranking, result);
    return status;
}

gg_status gg_search_call(gg_play *play, const char *tool, const char *arguments, gg_result *result,
                         gg_error *error)
{
    gg_status status = GG_OK;
    result->status = GG_CALL_INVALID;
    result->moved = result->done = false;
    result->outcome = GG_UNPLAYED;
    if (play->over) {
        result->status = GG_CALL_OVER;
        gg_buf_str(result->text, S_OVER);
        gg_buf_str(result->facts, "{}");
    } else if (strcmp(tool, S_TOOL_WORDS) == 0) {
        status = search(play, GG_SEARCH_WORDS, arguments, result, error);
    } else if (strcmp(tool, S_TOOL_VECTORS) == 0) {
        status = search(play, GG_SEARCH_VECTORS, arguments, result, error);
    } else if (strcmp(tool, S_TOOL_SUBMIT) == 0) {
        status = submit(play, arguments, result, error);
    } else {
        refuse(play, result, "no_tool", S_NO_TOOL);
    }
    if (status == GG_OK)
        status = gg_buf_status(result->text, "a tool's result", error);
    return status == GG_OK ? gg_buf_status(result->facts, "a tool's facts", error) : status;
}
