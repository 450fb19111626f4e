#include "service/hostile.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "service/manners.h"

#define WHY_MAX      1000
#define DATE_ROOM    96
#define TOMORROW_S   86400
#define HEADERS_MAX  (GG_RULE_HEADERS + 2)
#define HOLD_MS      3600000 /* a reply that has got stuck */
#define DEFAULT_TEXT "the script says so"

/* One request being answered. */
typedef struct answering {
    gg_exchange *exchange;
    gg_chat_reply reply;
    gg_reply_shape shape;
    const char *headers[HEADERS_MAX + 1];
    size_t header_count;
    char date[DATE_ROOM], delay[DATE_ROOM];
} answering;

static int64_t turn_of(const cJSON *request)
{
    int64_t turn = 1;
    const cJSON *message;
    cJSON_ArrayForEach(message, gg_json_get(request, "messages"))
    {
        const char *role = gg_json_text(message, "role");
        turn += role && !strcmp(role, "assistant");
    }
    return turn;
}

/* ---- trouble on the way ---- */

static void add_headers(answering *a, const gg_rule *rule)
{
    for (size_t i = 0; i < rule->header_count; i++)
        a->headers[a->header_count++] = rule->headers[i];
    if (rule->retry_date_s >= 0) {
        struct tm utc;
        time_t when = time(NULL) + (time_t)rule->retry_date_s;
        gmtime_r(&when, &utc);
        strftime(a->date, sizeof a->date, "Retry-After: %a, %d %b %Y %H:%M:%S GMT", &utc);
        a->headers[a->header_count++] = a->date;
    }
    if (rule->trouble->class == GG_TROUBLE_STOP && rule->trouble->way == GG_WAY_STATUS &&
        a->header_count == 0) {
        snprintf(a->delay, sizeof a->delay, "Retry-After: %d", TOMORROW_S);
        a->headers[a->header_count++] = a->delay;
    }
}

static void fill_error(answering *a, const gg_rule *rule)
{
    gg_buf_reset(&a->reply.body);
    a->reply.status = rule->status;
    gg_error_form_write(rule->form, rule->status, *rule->message ? rule->message : DEFAULT_TEXT,
                        &a->reply.body, &a->reply.content_type);
}

static void fill_canned(answering *a, const gg_trouble *trouble)
{
    gg_buf_reset(&a->reply.body);
    a->reply.status = trouble->status;
    a->reply.content_type = trouble->content_type;
    gg_buf_str(&a->reply.body, trouble->body);
}

/* What the rule makes of the answer. */
static void spoil(answering *a, const gg_rule *rule)
{
    size_t len = a->reply.body.len;
    add_headers(a, rule);
    switch (rule->trouble->way) {
    case GG_WAY_CANNED:
        fill_canned(a, rule->trouble);
        break;
    case GG_WAY_STATUS:
        fill_error(a, rule);
        break;
    case GG_WAY_NEVER:
    case GG_WAY_DELAY:
        a->shape.delay_ms = rule->delay_ms;
        break;
    case GG_WAY_CUT:
        a->shape.cut = true;
        a->shape.cut_at = rule->bytes < len ? rule->bytes : len / 2;
        break;
    case GG_WAY_STALL:
        a->shape.drip_bytes = rule->bytes < len ? rule->bytes : len / 2;
        a->shape.drip_ms = HOLD_MS;
        break;
    case GG_WAY_DRIP:
        a->shape.drip_bytes = rule->piece;
        a->shape.drip_ms = rule->every_ms;
        break;
    case GG_WAY_HALF:
        gg_buf_truncate(&a->reply.body, len / 2);
        break;
    default:
        break;
    }
}

/* ---- trouble with the model ---- */

static void mangle(answering *a, const gg_trouble *trouble)
{
    cJSON *reply = NULL;
    const gg_buf *body = &a->reply.body;
    if (trouble->way == GG_WAY_CANNED) {
        fill_canned(a, trouble);
        return;
    }
    if (a->reply.status != 200 ||
        gg_json_parse(gg_buf_cstr(body), body->len, &reply, NULL) != GG_OK)
        return;
    if (trouble->mangle(reply, trouble->body)) {
        gg_buf_reset(&a->reply.body);
        gg_buf_cjson(&a->reply.body, reply);
    }
    cJSON_Delete(reply);
}

/* ---- answering ---- */

static void send_answer(answering *a, bool silent)
{
    const gg_chat_reply *r = &a->reply;
    gg_exchange_reply_shaped(a->exchange, r->status, r->content_type, a->headers,
                             silent ? NULL : gg_buf_cstr(&r->body), r->body.len, &a->shape);
}

/* Whether nothing at all goes out. */
static bool is_silent(const gg_rule *rule)
{
    return rule && (rule->trouble->way == GG_WAY_RESET || rule->trouble->way == GG_WAY_NEVER);
}

static void refuse_manners(answering *a, const char *why)
{
    char text[WHY_MAX + 64];
    snprintf(text, sizeof text, "a strict server would refuse this request: %s", why);
    gg_chat_refuse(&a->reply, 400, "invalid_request_error", "messages", "bad_history", text);
}

static void answer_by(answering *a, const gg_verdict *verdict, const gg_chat_model *model,
                      uint64_t fallback_seed, const gg_exchange_request *request)
{
    gg_chat_answer(model, request->body, request->body_len, fallback_seed, &a->reply);
    if (verdict->model)
        mangle(a, verdict->model->trouble);
    if (verdict->wire)
        spoil(a, verdict->wire);
}

void gg_hostile_answer(gg_faults *script, const gg_chat_model *model, uint64_t fallback_seed,
                       gg_exchange *exchange, const gg_exchange_request *request)
{
    answering a = {.exchange = exchange};
    cJSON *root = NULL;
    gg_buf why;
    gg_buf_init(&why, WHY_MAX);
    gg_chat_reply_init(&a.reply);
    bool readable = gg_json_parse(request->body, request->body_len, &root, NULL) == GG_OK &&
                    cJSON_IsObject(root);
    bool clean = !readable || !gg_faults_checks(script) || gg_manners_check(root, &why);
    int64_t turn = turn_of(root);
    cJSON_Delete(root);
    gg_verdict verdict = {0};
    if (clean) {
        verdict = gg_faults_decide(script, request->body, request->body_len, turn);
        answer_by(&a, &verdict, model, fallback_seed, request);
    } else {
        refuse_manners(&a, gg_buf_cstr(&why));
    }
    send_answer(&a, is_silent(verdict.wire));
    gg_chat_reply_free(&a.reply);
    gg_buf_free(&why);
}
