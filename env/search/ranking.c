/* Rankings: read from a call's arguments or from prose, checked, and scored. */
#include <string.h>

#include "core/json.h"
#include "env/search/game.h"

#define CUT     10
#define MARKERS "-*#>0123456789.) \t"
#define ID_ENDS " \t|:,;"

/* ---- from arguments ---- */

static bool refuse(const gg_play *play, gg_result *result, const char *flaw, const char *text,
                   const char *id)
{
    gg_buf_str(result->text, text);
    gg_buf_str(result->text, id);
    gg_search_open_facts(play, result->facts);
    gg_buf_printf(result->facts, ",\"flaw\":\"%s\"}", flaw);
    return false;
}

static bool ranked(const gg_ranking *ranking, const char *id)
{
    for (size_t i = 0; i < ranking->count; i++)
        if (strcmp(ranking->ids[i], id) == 0)
            return true;
    return false;
}

static bool add_id(gg_play *play, const cJSON *item, gg_ranking *out, gg_result *result,
                   gg_status *status, gg_error *error)
{
    const char *id = cJSON_IsString(item) ? item->valuestring : "";
    char shown[GG_DOCUMENT_ID_MAX + 1];
    size_t len = strlen(id), part = len < GG_DOCUMENT_ID_MAX ? len : GG_DOCUMENT_ID_MAX;
    int64_t row = 0;
    memcpy(shown, id, part);
    shown[part] = '\0';
    if (len && len <= GG_DOCUMENT_ID_MAX)
        *status = gg_index_find(play->env->index, id, len, &row, error);
    if (*status != GG_OK)
        return false;
    if (!row)
        return refuse(play, result, "unknown_id", S_UNKNOWN, *shown ? shown : "(not a text)");
    if (ranked(out, id))
        return refuse(play, result, "id_twice", S_TWICE, shown);
    memcpy(out->ids[out->count++], id, len + 1);
    return true;
}

bool gg_ranking_read(gg_play *play, const char *arguments, gg_ranking *out, gg_result *result,
                     gg_status *status, gg_error *error)
{
    cJSON *object = NULL;
    const cJSON *item;
    bool fine = true;
    out->count = 0;
    *status = gg_json_parse(arguments, strlen(arguments), &object, error);
    if (*status == GG_E_FORMAT)
        *status = GG_OK;
    const cJSON *list = gg_json_get(object, S_IDS);
    int count = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
    if (*status == GG_OK && count == 0)
        fine = refuse(play, result, "no_ids", S_NO_IDS, "");
    else if (count > S_RANKED_MAX)
        fine = refuse(play, result, "many_ids", S_MANY_IDS, "");
    if (fine && *status == GG_OK)
        cJSON_ArrayForEach(item, list)
        {
            fine = fine && add_id(play, item, out, result, status, error);
        }
    cJSON_Delete(object);
    return fine && *status == GG_OK;
}

/* ---- the end ---- */

void gg_search_end(gg_play *play, const gg_ranking *ranking, gg_result *result)
{
    int grades[S_RANKED_MAX];
    const gg_question *question = &play->question;
    for (size_t i = 0; i < ranking->count; i++)
        grades[i] = gg_question_grade(question, ranking->ids[i]);
    double ndcg = gg_ndcg(grades, ranking->count, question->grades, question->judged, CUT);
    play->over = true;
    result->status = GG_CALL_VALID;
    result->done = true;
    result->outcome = ndcg >= play->env->solved_at ? GG_SOLVED : GG_LOST;
    gg_buf_str(result->text, S_RANKED);
    gg_search_open_facts(play, result->facts);
    gg_buf_printf(result->facts,
                  ",\"tool\":\"" S_TOOL_SUBMIT "\",\"ranked\":%zu,\"ndcg\":", ranking->count);
    gg_buf_double(result->facts, ndcg);
    gg_buf_str(result->facts, ",\"ranking\":[");
    for (size_t i = 0; i < ranking->count; i++) {
        gg_buf_str(result->facts, i ? "," : "");
        gg_buf_json_str(result->facts, ranking->ids[i]);
    }
    gg_buf_str(result->facts, "]}");
}

/* ---- from prose ---- */

static bool was_shown(gg_play *play, const char *id, size_t len)
{
    if (!len || len > GG_DOCUMENT_ID_MAX)
        return false;
    gg_buf_reset(&play->text);
    gg_buf_char(&play->text, '\n');
    gg_buf_add(&play->text, id, len);
    gg_buf_char(&play->text, '\n');
    return strstr(gg_buf_cstr(&play->shown), gg_buf_cstr(&play->text)) != NULL;
}

/* Bytes of `line` before the first of `ends`, without blanks at their end. */
static size_t before(const char *line, size_t len, const char *ends)
{
    size_t n = 0;
    while (n < len && !strchr(ends, line[n]))
        n++;
    while (n && line[n - 1] == ' ')
        n--;
    return n;
}

/* The id that a line begins with, as it stands or behind a list's marker (ids may begin with digits
 * and hold blanks); only what was shown counts, so a sentence that begins with some word is none.
 */
static bool line_id(gg_play *play, const char *line, size_t len, char id[GG_DOCUMENT_ID_MAX + 1])
{
    static const char *const ends[] = {"|", ID_ENDS};
    size_t from = 0;
    for (int marked = 0; marked < 2; marked++) {
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            size_t n = before(line + from, len - from, ends[i]);
            if (!was_shown(play, line + from, n))
                continue;
            memcpy(id, line + from, n);
            id[n] = '\0';
            return true;
        }
        while (from < len && strchr(MARKERS, line[from]))
            from++;
    }
    return false;
}

gg_status gg_search_text(gg_play *play, const char *reply, bool *taken, gg_result *result,
                         gg_error *error)
{
    gg_ranking ranking = {.count = 0};
    char id[GG_DOCUMENT_ID_MAX + 1];
    *taken = false;
    if (play->over)
        return GG_OK;
    for (const char *line = reply; *line && ranking.count < S_RANKED_MAX;) {
        size_t len = strcspn(line, "\r\n");
        if (len && line_id(play, line, len, id) && !ranked(&ranking, id))
            memcpy(ranking.ids[ranking.count++], id, strlen(id) + 1);
        line += len;
        line += strspn(line, "\r\n");
    }
    if (!ranking.count)
        return gg_buf_status(&play->text, "a reply", error);
    *taken = true;
    result->moved = false;
    gg_search_end(play, &ranking, result);
    return gg_buf_status(result->facts, "a tool's facts", error);
}
