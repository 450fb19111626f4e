/* guessgym probe: telling it, for people and as JSON (cli/probe.h). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/probe.h"
#include "cli/term.h"
#include "core/json.h"

#define WIDTH     80
#define LEFT      12 /* of a layer's or request's name */
#define FEATURE   16
#define LINE_ROOM 4096
#define SNIPPET   160 /* bytes shown of a text of the model's */

/* ---- layout ---- */

/* Words from column `from` on, wrapped at WIDTH; ends the line. A word may be longer than a line.
 */
static void wrap(gg_buf *out, const char *text, size_t column, size_t from)
{
    for (bool first = true; *text; first = false) {
        size_t len = strcspn(text, " "), shown = 0;
        for (size_t i = 0; i < len; i++)
            shown += ((unsigned char)text[i] & 0xc0) != 0x80;
        if (!first && column + 1 + shown > WIDTH) {
            gg_buf_printf(out, "\n%*s", (int)from, "");
            column = from;
        } else if (!first) {
            gg_buf_char(out, ' ');
            column++;
        }
        gg_buf_add(out, text, len);
        column += shown;
        text += len + (text[len] == ' ');
    }
    gg_buf_char(out, '\n');
}

static void row(gg_buf *out, const char *name, const char *format, ...) GG_PRINTF(3, 4);
static void row(gg_buf *out, const char *name, const char *format, ...)
{
    char text[LINE_ROOM];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    gg_buf_printf(out, "%-*s", LEFT, name);
    wrap(out, text, LEFT, LEFT);
}

/* A text of somebody else's on one line, shortened; control characters become blanks. */
static const char *snippet(const char *text, size_t len, char out[SNIPPET + 8])
{
    size_t n = len < SNIPPET ? len : SNIPPET;
    while (n < len && n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i];
    snprintf(out + n, 8, "%s", n < len ? "..." : "");
    return out;
}

/* ---- what was sent ---- */

static void tell_fields(const gg_probe *p, gg_buf *out)
{
    static const char *const whole[] = {"messages", "tools"};
    char text[LINE_ROOM] = "";
    size_t used = 0;
    const cJSON *item;
    gg_buf value;

    gg_buf_init(&value, LINE_ROOM);
    cJSON_ArrayForEach(item, p->body)
    {
        if (strcmp(item->string, whole[0]) == 0 || strcmp(item->string, whole[1]) == 0)
            continue;
        char shown[SNIPPET + 8];
        gg_buf_reset(&value);
        gg_buf_cjson(&value, item);
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", used ? ", " : "",
                                     item->string, snippet(gg_buf_cstr(&value), value.len, shown));
    }
    row(out, "", "%s", text);
    gg_buf_free(&value);
}

static void tell_sent(const gg_probe *p, gg_buf *out)
{
    const cJSON *message, *tool;
    char text[LINE_ROOM];
    size_t used = 0;

    row(out, "sent", "POST %s", p->chat.url);
    row(out, "", "%zu bytes, %s", p->chat.sent, p->player.authorization ? "key hidden" : "no key");
    tell_fields(p, out);
    used = (size_t)snprintf(text, sizeof text, "messages:");
    cJSON_ArrayForEach(message, gg_json_get(p->body, "messages"))
    {
        const char *role = gg_json_text(message, "role"),
                   *content = gg_json_text(message, "content");
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, " %s (%zu characters)",
                                     role ? role : "?", content ? strlen(content) : 0);
    }
    if (used < sizeof text)
        used += (size_t)snprintf(text + used, sizeof text - used, "; tools:");
    cJSON_ArrayForEach(tool, gg_json_get(p->body, "tools"))
    {
        const char *name = gg_json_text(gg_json_get(tool, "function"), "name");
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, " %s", name ? name : "?");
    }
    row(out, "", "%s", text);
}

static void tell_came(const gg_probe *p, gg_buf *out)
{
    const gg_shot *s = &p->chat;

    if (s->transport != GG_TRANSPORT_OK)
        row(out, "came back", "nothing: %s", s->message);
    else
        row(out, "came back", "status %d, %s, %zu bytes in %lld ms", s->status,
            *s->type ? s->type : "no content type", s->received, (long long)s->ms);
    if (s->transport == GG_TRANSPORT_OK && s->outcome != GG_RETRY_OK)
        row(out, "", "%s", s->message);
}

/* ---- layers ---- */

static void tell_reply(const gg_probe *p, gg_buf *out)
{
    const gg_reply *r = &p->reply;
    char text[SNIPPET + 8];

    row(out, "reply", "finish_reason %s; %zu call%s, %zu characters of thoughts; content%s%s",
        r->finish_reason ? r->finish_reason : "missing", r->call_count,
        r->call_count == 1 ? "" : "s", strlen(r->reasoning), r->content_len ? ": " : " is empty",
        r->content_len ? snippet(r->content, r->content_len, text) : "");
}

static void tell_call(const gg_call *call, gg_buf *out)
{
    char arguments[SNIPPET + 8], result[SNIPPET + 8], repairs[200] = "";
    const char *raw = call->arguments_raw ? call->arguments_raw : "";
    const char *said = call->result ? call->result : "";
    size_t used = 0;

    for (size_t i = 0; i < call->repair_count && used < sizeof repairs; i++)
        used += (size_t)snprintf(repairs + used, sizeof repairs - used, "%s%s",
                                 i ? ", " : "; repaired: ", call->repairs[i]);
    row(out, "call", "%s %s%s", call->name ? call->name : "(a move in the text)",
        snippet(raw, strlen(raw), arguments), repairs);
    row(out, "game", "%s: %s", gg_call_status_name(call->status),
        snippet(said, strlen(said), result));
}

static void tell_layers(const gg_probe *p, gg_buf *out)
{
    const gg_episode *e = p->episode;

    gg_buf_str(out, "\nWhat each layer made of it\n\n");
    row(out, "transport", "%s",
        p->chat.transport == GG_TRANSPORT_OK ? "a whole reply"
                                             : gg_transport_name(p->chat.transport));
    if (p->chat.outcome != GG_RETRY_OK) {
        row(out, "reply", "a run would class it as \"%s\" and %s",
            gg_retry_class_name(p->chat.outcome),
            gg_retry_again(p->chat.outcome) ? "ask again" : "not ask again");
        return;
    }
    tell_reply(p, out);
    if (e->turn_count && !e->turns[0].call_count)
        row(out, "call",
            "none, neither as a call nor as the whole text; a run would remind the "
            "model");
    for (size_t i = 0; e->turn_count && i < e->turns[0].call_count; i++)
        tell_call(&e->turns[0].calls[i], out);
    row(out, "record", "%s%s",
        e->untrainable_reason ? "not to be trained on: " : "can be trained on",
        e->untrainable_reason ? e->untrainable_reason : "");
}

/* ---- features, advice ---- */

static void tell_features(const gg_probe *p, gg_buf *out)
{
    static const struct {
        const char *word, *color;
    } marks[] = {[GG_FINDING_UNKNOWN] = {"?  ", "\033[33m"},
                 [GG_FINDING_YES] = {"yes", "\033[32m"},
                 [GG_FINDING_NO] = {"no ", "\033[31m"}};
    bool color = gg_term_color(p->cli, stdout);

    gg_buf_str(out, "\nWhat the endpoint can do\n\n");
    for (int i = 0; i < GG_FEATURE_COUNT; i++) {
        const gg_feature *f = &p->features[i];
        gg_buf_printf(out, "%-*s%s%s%s  ", FEATURE, gg_feature_label((gg_feature_id)i),
                      color ? marks[f->value].color : "", marks[f->value].word,
                      color ? "\033[0m" : "");
        wrap(out, f->detail, FEATURE + 5, FEATURE + 5);
    }
}

static void tell_advice(const gg_probe *p, gg_buf *out)
{
    if (p->advice_count)
        gg_buf_str(out, "\nWhat to know\n\n");
    for (size_t i = 0; i < p->advice_count; i++) {
        gg_buf_str(out, "- ");
        wrap(out, p->advice[i], 2, 2);
    }
    if (p->chat.outcome == GG_RETRY_OK)
        gg_buf_printf(out, "\nUse it with\n\n  guessgym eval %s\n", gg_buf_cstr(&p->flags));
}

void gg_probe_tell(const gg_probe *p, gg_buf *out)
{
    row(out, "endpoint", "%s%s", p->given ? p->mended : p->player.shown,
        p->given ? "" : " (a tiny embedded policy, no language model)");
    bool several = p->model_count > 1 || !p->model_listed;
    row(out, "model", "%s%s%s%s", p->player.model, several ? "; listed: " : "",
        several ? p->models : "", p->model_count > GG_PROBE_MODELS ? " ..." : "");
    tell_sent(p, out);
    tell_came(p, out);
    tell_layers(p, out);
    if (p->chat.outcome == GG_RETRY_OK)
        tell_features(p, out);
    tell_advice(p, out);
}

/* ---- JSON ---- */

static void text_member(gg_buf *out, const char *name, const char *text)
{
    gg_buf_printf(out, ",\"%s\":", name);
    gg_buf_json_str(out, text);
}

static void shot_json(gg_buf *out, const char *what, const gg_shot *s)
{
    if (!s->made)
        return;
    gg_buf_printf(out,
                  ",{\"what\":\"%s\",\"status\":%d,\"outcome\":\"%s\",\"ms\":%lld,\"sent\":%zu,"
                  "\"received\":%zu",
                  what, s->status, gg_retry_class_name(s->outcome), (long long)s->ms, s->sent,
                  s->received);
    text_member(out, "url", s->url);
    text_member(out, "content_type", s->type);
    text_member(out, "message", *s->message ? s->message : NULL);
    gg_buf_char(out, '}');
}

static void shots_json(const gg_probe *p, gg_buf *out)
{
    gg_buf_str(out, ",\"requests\":[");
    size_t start = out->len;
    shot_json(out, "models", &p->list);
    shot_json(out, "first", &p->chat);
    shot_json(out, "without_tools", &p->plain);
    shot_json(out, "strange_effort", &p->effort);
    shot_json(out, "stream", &p->stream);
    if (out->status == GG_OK && out->len > start) /* the first comma */
        out->data[start] = ' ';
    gg_buf_char(out, ']');
}

static void calls_json(const gg_probe *p, gg_buf *out)
{
    const gg_turn *turn = p->episode && p->episode->turn_count ? p->episode->turns : NULL;

    gg_buf_str(out, ",\"calls\":[");
    for (size_t i = 0; turn && i < turn->call_count; i++) {
        const gg_call *call = &turn->calls[i];
        gg_buf_str(out, i ? ",{\"name\":" : "{\"name\":");
        gg_buf_json_str(out, call->name);
        text_member(out, "arguments", call->arguments_raw);
        text_member(out, "status", gg_call_status_name(call->status));
        text_member(out, "result", call->result);
        gg_buf_str(out, ",\"repairs\":[");
        for (size_t k = 0; k < call->repair_count; k++)
            gg_buf_printf(out, "%s\"%s\"", k ? "," : "", call->repairs[k]);
        gg_buf_str(out, "]}");
    }
    gg_buf_char(out, ']');
}

static void features_json(const gg_probe *p, gg_buf *out)
{
    static const char *const values[] = {"null", "true", "false"};

    gg_buf_str(out, ",\"features\":{");
    for (int i = 0; i < GG_FEATURE_COUNT; i++)
        gg_buf_printf(out, "%s\"%s\":%s", i ? "," : "", gg_feature_key((gg_feature_id)i),
                      values[p->features[i].value]);
    gg_buf_str(out, "},\"details\":{");
    for (int i = 0; i < GG_FEATURE_COUNT; i++) {
        gg_buf_printf(out, "%s\"%s\":", i ? "," : "", gg_feature_key((gg_feature_id)i));
        gg_buf_json_str(out, p->features[i].detail);
    }
    gg_buf_char(out, '}');
}

static void tokens_json(const gg_probe *p, gg_buf *out)
{
    int64_t with = p->reply.usage.prompt >= 0 ? p->reply.usage.prompt
                   : p->reply.prompt_count    ? (int64_t)p->reply.prompt_count
                                              : GG_TOKENS_UNKNOWN;
    const int64_t counts[] = {p->chat.outcome == GG_RETRY_OK ? with : GG_TOKENS_UNKNOWN,
                              p->plain_tokens};
    static const char *const names[] = {"with_tools", "without_tools"};

    gg_buf_str(out, ",\"prompt_tokens\":{");
    for (int i = 0; i < 2; i++) {
        gg_buf_printf(out, "%s\"%s\":", i ? "," : "", names[i]);
        if (counts[i] < 0)
            gg_buf_str(out, "null");
        else
            gg_buf_int(out, counts[i]);
    }
    gg_buf_char(out, '}');
}

void gg_probe_json(const gg_probe *p, gg_buf *out)
{
    bool good = p->chat.outcome == GG_RETRY_OK;

    gg_buf_str(out, "{\"endpoint\":");
    gg_buf_json_str(out, p->given ? p->mended : p->player.shown);
    text_member(out, "given", p->given);
    text_member(out, "address_fault", p->url_fault);
    text_member(out, "model", p->player.model);
    text_member(out, "owner", *p->player.owner ? p->player.owner : NULL);
    gg_buf_printf(out, ",\"usable\":%s", good ? "true" : "false");
    shots_json(p, out);
    gg_buf_str(out, ",\"body\":");
    gg_buf_cjson(out, p->body);
    text_member(out, "finish_reason", good ? p->reply.finish_reason : NULL);
    text_member(out, "content", good ? p->reply.content : NULL);
    calls_json(p, out);
    text_member(out, "untrainable_reason", p->episode ? p->episode->untrainable_reason : NULL);
    features_json(p, out);
    tokens_json(p, out);
    gg_buf_str(out, ",\"advice\":[");
    for (size_t i = 0; i < p->advice_count; i++) {
        gg_buf_str(out, i ? "," : "");
        gg_buf_json_str(out, p->advice[i]);
    }
    gg_buf_char(out, ']');
    text_member(out, "flags", good ? gg_buf_cstr(&p->flags) : NULL);
    gg_buf_str(out, "}\n");
}
