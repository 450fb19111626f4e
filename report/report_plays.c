/* The second reading: the plays of the viewer. Their index is JSON that the page reads at once;
 * what a play holds lies in pieces, deflated, that it opens when they are looked at. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/json.h"
#include "report/report_inside.h"

#define PIECE     100 /* plays of a piece */
#define INDEX_MAX (64u << 20)
#define PIECE_MAX (256u << 20)
#define TEXT_MAX  20000 /* bytes of one text of a play */
#define REPAIRED  1
#define FLIPPED   2

typedef struct writing {
    gg_report *r;
    size_t run;
    gg_buf index, piece;
    size_t count, in_piece;
    double share; /* of the plays that have nothing special */
} writing;

/* JSON inside a script element: nothing in it can end the element. */
static void add_safe(gg_buf *out, const char *json, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (json[i] == '<')
            gg_buf_str(out, "\\u003c");
        else
            gg_buf_char(out, json[i]);
    }
}

static void add_number(gg_buf *out, double value)
{
    if (isfinite(value))
        gg_buf_double(out, value);
    else
        gg_buf_str(out, "null");
}

static void add_text(gg_buf *out, const char *text)
{
    size_t len = text ? strlen(text) : 0, most = len < TEXT_MAX ? len : TEXT_MAX;
    while (most < len && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--;
    gg_buf_json(out, text ? text : "", most);
}

/* ---- which plays ---- */

/* A number in [0, 1) of the play's run and id and the seed. */
static double draw(const writing *w, const gg_episode *e)
{
    uint64_t h = 14695981039346656037u ^ w->r->o->seed ^ (uint64_t)w->run << 32;
    for (const char *p = e->id; p && *p; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211u;
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdu;
    h ^= h >> 33;
    return (double)(h >> 11) * 0x1p-53;
}

static int flags_of(const writing *w, const gg_episode *e, size_t task)
{
    return (gg_report_repaired(e) ? REPAIRED : 0) | (w->r->tasks[task].flipped ? FLIPPED : 0);
}

/* ---- one play ---- */

static void add_index(writing *w, const gg_episode *e, size_t task, int flags)
{
    gg_buf *out = &w->index;
    gg_buf_str(out, w->count ? ",\n[" : "[");
    gg_buf_json_str(out, e->id);
    gg_buf_printf(out, ",%zu,%zu,%d,%d,%lld,", w->run, task, (int)e->outcome, (int)e->stop,
                  (long long)e->moves);
    add_number(out, e->reward);
    gg_buf_char(out, ',');
    add_number(out, e->measure.value);
    gg_buf_printf(out, ",%d,[", flags);
    for (size_t i = 0, written = 0; i < e->label_count; i++) {
        size_t at = gg_report_label_at(w->r, e->labels[i].name, e->labels[i].value);
        if (at != SIZE_MAX)
            gg_buf_printf(out, "%s%zu", written++ ? "," : "", at);
    }
    gg_buf_str(out, "]]");
}

static void add_call(gg_buf *out, const gg_call *call)
{
    gg_buf_str(out, "{\"n\":");
    add_text(out, call->name);
    gg_buf_str(out, ",\"a\":");
    add_text(out, call->arguments_raw);
    gg_buf_printf(out, ",\"s\":\"%s\",\"x\":", gg_call_status_name(call->status));
    add_text(out, call->result);
    gg_buf_str(out, ",\"p\":[");
    for (size_t i = 0; i < call->repair_count; i++) {
        gg_buf_str(out, i ? "," : "");
        gg_buf_json_str(out, call->repairs[i]);
    }
    gg_buf_str(out, "]}");
}

static void add_tokens(gg_buf *out, int64_t tokens)
{
    if (tokens >= 0)
        gg_buf_int(out, tokens);
    else
        gg_buf_str(out, "null");
}

static void add_turn(gg_buf *out, const gg_turn *turn)
{
    gg_buf_str(out, "{\"f\":");
    gg_buf_json_str(out, turn->finish_reason);
    gg_buf_str(out, ",\"r\":");
    add_text(out, turn->reasoning);
    gg_buf_str(out, ",\"u\":[");
    add_tokens(out, turn->usage.prompt);
    gg_buf_char(out, ',');
    add_tokens(out, turn->usage.completion);
    gg_buf_printf(out, "],\"m\":%lld,\"g\":%zu,\"c\":[", (long long)turn->latency_ms,
                  turn->attempt_count);
    for (size_t c = 0; c < turn->call_count; c++) {
        gg_buf_str(out, c ? "," : "");
        add_call(out, &turn->calls[c]);
    }
    gg_buf_str(out, "]}");
}

static gg_status add_play(writing *w, const gg_episode *e, gg_error *error)
{
    gg_buf *out = &w->piece;
    gg_buf board;
    gg_buf_init(&board, PIECE_MAX);
    gg_status status =
        w->r->o->game->api->render(w->r->o->game->env, e, GG_RENDER_HTML, &board, error);
    gg_buf_str(out, w->in_piece ? ",{\"b\":" : "[{\"b\":");
    gg_buf_json(out, board.len ? board.data : "", board.len);
    gg_buf_free(&board);
    gg_buf_str(out, ",\"e\":");
    gg_buf_json_str(out, e->error);
    gg_buf_str(out, ",\"p\":{");
    for (size_t i = 0; i < e->part_count; i++) {
        gg_buf_str(out, i ? "," : "");
        gg_buf_json_str(out, e->parts[i].name);
        gg_buf_char(out, ':');
        add_number(out, e->parts[i].value);
    }
    gg_buf_str(out, "},\"t\":[");
    for (size_t t = 0; t < e->turn_count; t++) {
        gg_buf_str(out, t ? "," : "");
        add_turn(out, &e->turns[t]);
    }
    gg_buf_str(out, "]}");
    w->in_piece++;
    return status == GG_OK ? gg_buf_status(out, "a report's plays", error) : status;
}

/* ---- pieces ---- */

static gg_status end_piece(writing *w, gg_error *error)
{
    gg_report *r = w->r;
    gg_buf_char(&w->piece, ']');
    uLongf room = compressBound(w->piece.len);
    Bytef *packed = malloc(room);
    int failed = packed ? compress2(packed, &room, (const Bytef *)w->piece.data, w->piece.len, 6)
                        : Z_MEM_ERROR;
    if (failed == Z_OK) {
        gg_buf_printf(&r->out, "<script type=\"text/plain\" id=\"chunk%zu\">",
                      (w->count - 1) / PIECE);
        gg_report_base64(&r->out, packed, room);
        gg_buf_str(&r->out, "</script>\n");
    }
    free(packed);
    gg_buf_reset(&w->piece);
    w->in_piece = 0;
    return failed == Z_OK ? gg_report_flush(r, false, error)
                          : gg_fail(error, GG_E_MEMORY, "out of memory for a report's plays");
}

static gg_status take(writing *w, const gg_episode *e, gg_error *error)
{
    size_t task = gg_report_task_at(w->r, e->task_key ? e->task_key : "");
    if (task == SIZE_MAX)
        return GG_OK; /* written since the first reading */
    int flags = flags_of(w, e, task);
    if (!flags && e->outcome != GG_ERRORED && draw(w, e) >= w->share)
        return GG_OK;
    add_index(w, e, task, flags);
    gg_status status = add_play(w, e, error);
    w->count++;
    if (status == GG_OK && w->in_piece == PIECE)
        status = end_piece(w, error);
    return status;
}

static gg_status each(void *context, gg_episode *episode, gg_error *error)
{
    gg_status status = take(context, episode, error);
    gg_episode_free(episode);
    return status;
}

/* ---- the section ---- */

static void add_controls(gg_report *r)
{
    static const char *const filters[] = {"all",     "solved",  "lost",    "failed",
                                          "flipped", "errored", "repaired"};
    gg_buf_str(&r->out, "<section><h2 id=\"plays\">Plays</h2>\n<div id=\"controls\">");
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (r->run_count > 1 || strcmp(filters[i], "flipped") != 0)
            gg_buf_printf(&r->out, "<button data-filter=\"%s\" aria-pressed=\"%s\">%s</button>\n",
                          filters[i], i ? "false" : "true", filters[i]);
    gg_buf_printf(&r->out, "<select id=\"run\" aria-label=\"run\"%s><option value=\"\">both runs",
                  r->run_count > 1 ? "" : " hidden");
    for (size_t i = 0; i < r->run_count; i++) {
        gg_buf_printf(&r->out, "<option value=\"%zu\">", i);
        gg_report_text(&r->out, r->o->names[i]);
    }
    gg_buf_str(&r->out, "</select><select id=\"label\" aria-label=\"label\"><option "
                        "value=\"\">every label");
    for (size_t i = 0; i < r->label_count && i < 500; i++) {
        gg_buf_printf(&r->out, "<option value=\"%zu\">", i);
        gg_report_text(&r->out, r->labels[i].name);
        gg_buf_str(&r->out, ": ");
        gg_report_text(&r->out, r->labels[i].value);
    }
    gg_buf_str(&r->out, "</select><input type=\"search\" id=\"search\" placeholder=\"search\" "
                        "aria-label=\"search\"><small id=\"count\" role=\"status\"></small></div>\n"
                        "<div id=\"viewer\"><ul id=\"list\" role=\"listbox\" tabindex=\"0\" "
                        "aria-label=\"plays\"></ul><article id=\"one\" aria-live=\"polite\">"
                        "</article></div></section>\n<noscript><p>The plays need the page's own "
                        "script; the tables do not.</p></noscript>\n");
}

static void add_names(gg_buf *out, const char *member, const char *(*name)(size_t), size_t count)
{
    gg_buf_printf(out, ",\"%s\":[", member);
    for (size_t i = 0; i < count; i++) {
        gg_buf_str(out, i ? "," : "");
        gg_buf_json_str(out, name(i));
    }
    gg_buf_char(out, ']');
}

static const char *outcome_at(size_t i)
{
    return gg_outcome_name((gg_outcome)i);
}

static const char *stop_at(size_t i)
{
    return gg_stop_name((gg_stop)i);
}

static void write_lists(const gg_report *r, gg_buf *json)
{
    gg_buf_printf(json, "{\"chunk\":%d,\"measure\":", PIECE);
    gg_buf_json_str(json, r->measure ? r->measure : "measure");
    add_names(json, "outcomes", outcome_at, GG_OUTCOME_COUNT);
    add_names(json, "stops", stop_at, GG_STOP_COUNT);
    gg_buf_str(json, ",\"runs\":[");
    for (size_t i = 0; i < r->run_count; i++) {
        gg_buf_str(json, i ? "," : "");
        gg_buf_json_str(json, r->o->names[i]);
    }
    gg_buf_str(json, "],\"labels\":[");
    for (size_t i = 0; i < r->label_count; i++) {
        gg_buf_str(json, i ? "," : "");
        gg_buf_json_str(json, r->labels[i].value);
    }
    gg_buf_str(json, "],\"tasks\":[");
    for (size_t i = 0; i < r->task_count; i++) {
        gg_buf_str(json, i ? ",[" : "[");
        gg_buf_json_str(json, r->tasks[i].id);
        gg_buf_char(json, ',');
        gg_buf_json_str(json, r->tasks[i].answer);
        gg_buf_char(json, ']');
    }
    gg_buf_str(json, "],\"episodes\":[");
}

static gg_status add_data(writing *w, gg_error *error)
{
    gg_buf json;
    gg_buf_init(&json, INDEX_MAX);
    write_lists(w->r, &json);
    gg_buf_add(&json, w->index.data, w->index.len);
    gg_buf_str(&json, "]}");
    gg_status status = gg_buf_status(&json, "a report's index", error);
    gg_buf_str(&w->r->out, "<script type=\"application/json\" id=\"data\">");
    if (status == GG_OK)
        add_safe(&w->r->out, json.data, json.len);
    gg_buf_str(&w->r->out, "</script>\n");
    gg_buf_free(&json);
    return status;
}

static void say_how_many(const writing *w)
{
    if (w->share < 1)
        gg_buf_printf(
            &w->r->out,
            "<p class=\"faint\">%zu of %lld plays are shown: those that flipped, erred or "
            "were repaired, and a sample of the others. The figures above count all.</p>\n",
            w->count, (long long)w->r->total);
}

gg_status gg_report_plays(gg_report *r, gg_error *error)
{
    int64_t most = (int64_t)(r->o->plays ? r->o->plays : GG_REPORT_PLAYS),
            plain = r->total - (r->flagged < r->total ? r->flagged : r->total);
    writing w = {.r = r, .share = 1};
    gg_damage damage = {0};
    gg_status status = GG_OK;
    if (r->total > most)
        w.share = plain > 0 && most > r->flagged ? (double)(most - r->flagged) / (double)plain : 0;
    gg_buf_init(&w.index, INDEX_MAX);
    gg_buf_init(&w.piece, PIECE_MAX);
    add_controls(r);
    for (w.run = 0; w.run < r->run_count && status == GG_OK; w.run++)
        status = gg_run_each_episode(r->o->runs[w.run], GG_JOURNAL_EPISODES, GG_READ_PLAY, each, &w,
                                     &damage, error);
    if (status == GG_OK && w.in_piece)
        status = end_piece(&w, error);
    if (status == GG_OK) {
        say_how_many(&w);
        status = add_data(&w, error);
    }
    gg_buf_free(&w.index);
    gg_buf_free(&w.piece);
    return status;
}
