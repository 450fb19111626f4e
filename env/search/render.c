/* A play as text: each search and what it found, then the ranking with its grades. */
#include <string.h>

#include "core/json.h"
#include "env/search/game.h"

#define SHOWN_MAX 120 /* bytes of a query or of arguments */

typedef struct style {
    const char *open, *close, *row_open, *row_close, *good_open, *note_open, *mark_close;
    bool html;
} style;

static const style styles[] = {
    [GG_RENDER_PLAIN] = {"", "", "", "\n", "", "", "", false},
    [GG_RENDER_ANSI] = {"", "", "", "\n", "\x1b[32m", "\x1b[2m", "\x1b[0m", false},
    [GG_RENDER_HTML] = {"<ol class=\"gg-search\">\n", "</ol>\n", "<li>", "</li>\n", "<strong>",
                        "<small>", NULL, true},
};

/* Text of strangers: on one line, without controls, escaped for HTML. */
static void add_text(gg_buf *out, const style *s, const char *text, size_t len)
{
    size_t most = len < SHOWN_MAX ? len : SHOWN_MAX;
    while (most < len && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--;
    for (size_t i = 0; i < most; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == 0x7f)
            gg_buf_char(out, ' ');
        else if (s->html && strchr("<>&\"'", c))
            gg_buf_printf(out, "&#%d;", c);
        else
            gg_buf_char(out, (char)c);
    }
    gg_buf_str(out, most < len ? "..." : "");
}

static void close_mark(gg_buf *out, const style *s, bool good)
{
    gg_buf_str(out, s->html ? (good ? "</strong>" : "</small>") : s->mark_close);
}

static void add_search(gg_buf *out, const style *s, const gg_call *call, const char *tool)
{
    char query[GG_QUERY_MAX + 1] = "";
    double found = 0, fresh = 0;
    gg_fact_text(call->facts, "query", query, sizeof query);
    gg_fact_number(call->facts, "found", &found);
    gg_fact_number(call->facts, "new", &fresh);
    gg_buf_printf(out, "%s%s ", s->row_open, strcmp(tool, S_TOOL_WORDS) ? "vectors" : "words  ");
    add_text(out, s, query, strlen(query));
    gg_buf_printf(out, " %s(%.0f found, %.0f new)", s->note_open, found, fresh);
    close_mark(out, s, false);
    gg_buf_str(out, s->row_close);
}

/* The grade of a document by the record's answer. */
static double grade_of(const cJSON *judged, const char *id)
{
    const cJSON *item;
    double grade = 0;
    cJSON_ArrayForEach(item, judged)
    {
        const char *name = gg_json_text(item, "id");
        if (name && strcmp(name, id) == 0)
            gg_json_number(item, "grade", &grade);
    }
    return grade;
}

static void add_ranking(gg_buf *out, const style *s, const gg_episode *episode, const gg_call *call)
{
    cJSON *facts = NULL, *answer = NULL;
    const char *text = episode->answer ? episode->answer : "[]";
    const cJSON *item;
    int place = 0;
    if (gg_json_parse(call->facts, strlen(call->facts), &facts, NULL) != GG_OK ||
        gg_json_parse(text, strlen(text), &answer, NULL) != GG_OK) {
        cJSON_Delete(facts);
        return;
    }
    cJSON_ArrayForEach(item, gg_json_get(facts, "ranking"))
    {
        const char *id = cJSON_IsString(item) ? item->valuestring : "";
        double grade = grade_of(answer, id);
        gg_buf_printf(out, "%s%2d. %s", s->row_open, ++place, grade > 0 ? s->good_open : "");
        add_text(out, s, id, strlen(id));
        if (grade > 0) {
            gg_buf_printf(out, " grade %.0f", grade);
            close_mark(out, s, true);
        }
        gg_buf_str(out, s->row_close);
    }
    cJSON_Delete(facts);
    cJSON_Delete(answer);
}

static void add_other(gg_buf *out, const style *s, const gg_call *call)
{
    const char *text = call->arguments_raw ? call->arguments_raw : "";
    gg_buf_printf(out, "%s%s%s: ", s->row_open, s->note_open,
                  call->status == GG_CALL_OVER ? "after the end" : "refused");
    add_text(out, s, text, strlen(text));
    close_mark(out, s, false);
    gg_buf_str(out, s->row_close);
}

static void add_end(gg_buf *out, const style *s, const gg_env *env, const gg_episode *episode)
{
    gg_buf_printf(out, "%s%s%s, nDCG@10 %.3f", s->row_open, s->note_open,
                  gg_outcome_name(episode->outcome), gg_search_measure(env, episode));
    close_mark(out, s, false);
    gg_buf_str(out, s->row_close);
}

gg_status gg_search_render(const gg_env *env, const gg_episode *episode, gg_render_style which,
                           gg_buf *out, gg_error *error)
{
    const style *s = &styles[which];
    char tool[32];
    gg_buf_str(out, s->open);
    size_t begun = out->len;
    for (size_t t = 0; t < episode->turn_count; t++)
        for (size_t c = 0; c < episode->turns[t].call_count; c++) {
            const gg_call *call = &episode->turns[t].calls[c];
            bool valid = call->status == GG_CALL_VALID &&
                         gg_fact_text(call->facts, "tool", tool, sizeof tool);
            if (!valid)
                add_other(out, s, call);
            else if (strcmp(tool, S_TOOL_SUBMIT) == 0)
                add_ranking(out, s, episode, call);
            else
                add_search(out, s, call, tool);
        }
    if (out->len == begun)
        gg_buf_printf(out, "%sno search yet%s", s->row_open, s->row_close);
    if (episode->outcome != GG_UNPLAYED)
        add_end(out, s, env, episode);
    gg_buf_str(out, s->close);
    return gg_buf_status(out, "a search", error);
}
