/* Playing a script and keeping all that comes back; every result is checked on the way. */
#include "env/check_rules.h"

#include <string.h>

/* Bytes that are not UTF-8 become U+FFFD in a JSON string; a text without any comes out as it is.
 */
static bool is_utf8(const gg_buf *text)
{
    gg_buf quoted;
    gg_buf_init(&quoted, 8 * GG_CHECK_TEXT_MAX);
    gg_buf_json(&quoted, gg_buf_cstr(text), text->len);
    bool replaced = quoted.len && strstr(quoted.data, "\xef\xbf\xbd") != NULL;
    bool had = text->len && strstr(text->data, "\xef\xbf\xbd") != NULL;
    gg_buf_free(&quoted);
    return !replaced || had;
}

/* One flat JSON object. */
static void check_facts(gg_checker *c, const gg_buf *facts)
{
    cJSON *tree = NULL;
    if (gg_json_parse(gg_buf_cstr(facts), facts->len, &tree, NULL) != GG_OK ||
        !cJSON_IsObject(tree))
        gg_check_broke(c, "facts are no JSON object: %.80s", gg_buf_cstr(facts));
    for (const cJSON *m = cJSON_IsObject(tree) ? tree->child : NULL; m; m = m->next)
        if (cJSON_IsObject(m))
            gg_check_broke(c, "fact \"%s\" is an object; facts are flat", m->string);
    cJSON_Delete(tree);
}

static void check_outcome(gg_checker *c, const gg_result *r)
{
    bool known = r->outcome == GG_SOLVED || r->outcome == GG_LOST || r->outcome == GG_FORFEITED;
    if (r->done && !known)
        gg_check_broke(c, "a result is done with outcome %s", gg_outcome_name(r->outcome));
    if (r->moved && r->status != GG_CALL_VALID)
        gg_check_broke(c, "a result has moved but its status is %s",
                       gg_call_status_name(r->status));
    if (r->status == GG_CALL_FAILED || r->status >= GG_CALL_STATUS_COUNT)
        gg_check_broke(c, "a result has status %s, which is the caller's",
                       gg_call_status_name(r->status));
}

static void check_result(gg_checker *c, const gg_result *r, bool ended)
{
    if (!r->text->len)
        gg_check_broke(c, "a result has no text for the player");
    if (!is_utf8(r->text))
        gg_check_broke(c, "a result's text is not UTF-8");
    check_facts(c, r->facts);
    check_outcome(c, r);
    if (ended && (r->status != GG_CALL_OVER || r->moved || r->done))
        gg_check_broke(c, "a call after the end has status %s%s%s", gg_call_status_name(r->status),
                       r->moved ? ", moved" : "", r->done ? ", done" : "");
    if (!ended && r->status == GG_CALL_OVER)
        gg_check_broke(c, "a call before the end has status over");
}

static void record_call(gg_checker *c, gg_log *log, const char *tool, const char *arguments,
                        const gg_result *r)
{
    gg_episode *e = log->episode;
    gg_call *call = gg_episode_push(e, &e->turns[0].calls, &e->turns[0].call_count, sizeof *call);
    if (!call) {
        gg_fail(&c->failure, GG_E_MEMORY, "out of memory while checking an environment");
        return;
    }
    call->name = gg_episode_string(e, tool, strlen(tool));
    call->arguments_raw = gg_episode_string(e, arguments, strlen(arguments));
    call->status = r->status;
    call->result = gg_episode_string(e, gg_buf_cstr(r->text), r->text->len);
    call->facts = gg_episode_string(e, gg_buf_cstr(r->facts), r->facts->len);
    e->moves += r->moved;
    if (r->done)
        e->outcome = r->outcome;
}

static void keep(gg_log *log, const gg_buf *text, const gg_buf *facts)
{
    gg_buf_printf(&log->texts, "%s\n", gg_buf_cstr(text));
    if (!log->ended)
        gg_buf_printf(&log->before_end, "%s\n%s\n", gg_buf_cstr(text),
                      facts ? gg_buf_cstr(facts) : "");
    if (facts)
        gg_buf_printf(&log->facts, "%s\n", gg_buf_cstr(facts));
}

static void make_call(gg_checker *c, gg_play *play, const char *tool, const char *arguments,
                      gg_log *log)
{
    gg_buf text, facts;
    gg_error error = {0};
    gg_buf_init(&text, GG_CHECK_TEXT_MAX);
    gg_buf_init(&facts, GG_CHECK_TEXT_MAX);
    /* Values that no result leaves alone. */
    gg_result result = {.text = &text, .facts = &facts, .status = GG_CALL_STATUS_COUNT};
    gg_status status = c->game->api->call(play, tool, arguments, &result, &error);
    if (status != GG_OK) {
        gg_check_broke(c,
                       "call %s with %.60s failed: %s; invalid input is an outcome, not an error",
                       tool, arguments, error.text);
    } else {
        bool ended = log->ended;
        check_result(c, &result, ended);
        record_call(c, log, tool, arguments, &result);
        gg_buf_printf(&log->statuses, "%d%d%d%d ", (int)result.status, result.moved, result.done,
                      result.done ? (int)result.outcome : 0);
        log->calls_after_end += ended;
        log->ended = ended || result.done; /* the result that ends it may tell the answer */
        keep(log, &text, &facts);
    }
    gg_buf_free(&text);
    gg_buf_free(&facts);
}

static void first_texts(gg_checker *c, const gg_play *play, gg_log *log)
{
    gg_error error = {0};
    gg_buf text;
    gg_buf_init(&text, GG_CHECK_TEXT_MAX);
    if (gg_check_ok(c, c->game->api->system_prompt(play, &text, &error), &error, "system_prompt"))
        keep(log, &text, NULL);
    gg_buf_reset(&text);
    if (gg_check_ok(c, c->game->api->opening(play, &text, &error), &error, "opening"))
        keep(log, &text, NULL);
    gg_buf_free(&text);
}

/* The answer is JSON, and the same before and after. */
static void read_answer(gg_checker *c, const gg_play *play, gg_log *log)
{
    gg_error error = {0};
    gg_buf answer;
    cJSON *tree = NULL;
    gg_buf_init(&answer, GG_CHECK_TEXT_MAX);
    if (gg_check_ok(c, c->game->api->answer(play, &answer, &error), &error, "answer") &&
        gg_json_parse(gg_buf_cstr(&answer), answer.len, &tree, NULL) != GG_OK)
        gg_check_broke(c, "answer is no JSON: %.80s", gg_buf_cstr(&answer));
    if (log->answer.len && strcmp(log->answer.data, gg_buf_cstr(&answer)) != 0)
        gg_check_broke(c, "answer changes during a play");
    gg_buf_reset(&log->answer);
    gg_buf_str(&log->answer, gg_buf_cstr(&answer));
    cJSON_Delete(tree);
    gg_buf_free(&answer);
}

static bool new_record(gg_checker *c, gg_log *log)
{
    log->episode = gg_episode_new();
    gg_turn *turn = log->episode ? gg_episode_push(log->episode, &log->episode->turns,
                                                   &log->episode->turn_count, sizeof *turn)
                                 : NULL;
    if (!turn)
        gg_fail(&c->failure, GG_E_MEMORY, "out of memory while checking an environment");
    return turn != NULL;
}

void gg_log_play(gg_checker *c, const char *task, uint64_t seed, const gg_script *script,
                 gg_log *log)
{
    gg_play *play = NULL;
    gg_error error = {0};
    *log = (gg_log){0};
    gg_buf *const bufs[] = {&log->texts, &log->before_end, &log->facts, &log->statuses,
                            &log->answer};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        gg_buf_init(bufs[i], 4 * (size_t)GG_CHECK_TEXT_MAX);
    if (!new_record(c, log) ||
        !gg_check_ok(c, c->game->api->start(c->game->env, task, seed, &play, &error), &error,
                     "start"))
        return;
    first_texts(c, play, log);
    read_answer(c, play, log);
    for (size_t i = 0; i < script->count && c->failure.status == GG_OK; i++)
        make_call(c, play, script->calls[i].tool, script->calls[i].arguments, log);
    read_answer(c, play, log);
    log->episode->answer =
        gg_episode_string(log->episode, gg_buf_cstr(&log->answer), log->answer.len);
    c->game->api->finish(play);
}

void gg_log_free(gg_log *log)
{
    gg_buf_free(&log->texts);
    gg_buf_free(&log->before_end);
    gg_buf_free(&log->facts);
    gg_buf_free(&log->statuses);
    gg_buf_free(&log->answer);
    gg_episode_free(log->episode);
}

void gg_log_compare(gg_checker *c, const gg_log *a, const gg_log *b, const char *what)
{
    const struct {
        const char *name;
        const gg_buf *a, *b;
    } rows[] = {
        {"texts", &a->texts, &b->texts},
        {"facts", &a->facts, &b->facts},
        {"statuses", &a->statuses, &b->statuses},
        {"answers", &a->answer, &b->answer},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(gg_buf_cstr(rows[i].a), gg_buf_cstr(rows[i].b)) != 0)
            gg_check_broke(c, "the same calls give other %s %s", rows[i].name, what);
}
