/* The conformance run (env/check.h): it passes good environments and names the rule that each of
 * many broken ones breaks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "env/check.h"

/* A small environment: a hidden number, three tries at its last digit. Each fault breaks one rule.
 */
typedef enum fault {
    NONE,
    ABI,
    SUMMARY,
    CAPS,
    DEFAULT_REWARD,
    OPTION_TWICE,
    COMMON_PART,
    TOOLS_NOT_JSON,
    TOOLS_REQUIRED,
    TOOLS_TWICE,
    IDENTITY_CHANGES,
    IDENTITY_EMPTY,
    ROWS_DISAGREE,
    REFUSES_SILENTLY,
    SPLIT_MISSING,
    EMPTIES_BUFFER,
    NO_PROMPT,
    NO_TEXT,
    NOT_UTF8,
    FACTS_TEXT,
    FACTS_DEEP,
    DONE_UNPLAYED,
    MOVED_INVALID,
    ANSWER_TEXT,
    ERROR_ON_BAD_INPUT,
    KNOWS_ANY_TOOL,
    COUNTS_GLOBALLY,
    KEEPS_STATE_GLOBALLY,
    PLAYS_ON,
    TEXT_WRITES,
    IGNORES_ROOM,
    TELLS,
    TELLS_REVERSED,
    TELLS_SPACED,
    TELLS_BASE64,
    TELLS_IN_FACTS,
    MEASURE_TWO,
    MEASURE_NAN,
    PART_NAN,
    PART_LEFT_OUT,
    PART_UNKNOWN,
    LABEL_NULL,
    RENDER_NOTHING,
    RENDER_RAW
} fault;

static fault now;              /* the fault at work */
static _Atomic int calls_ever; /* for COUNTS_GLOBALLY */
static _Atomic int tries_ever; /* for KEEPS_STATE_GLOBALLY */

struct gg_env {
    int unused;
};

struct gg_play {
    char hidden[8];
    int tries;
    bool over;
};

static gg_env the_env;

static gg_status open_it(const char *config, gg_env **out, gg_error *error)
{
    (void)config;
    (void)error;
    *out = &the_env;
    return GG_OK;
}

static void close_it(gg_env *env)
{
    (void)env;
}

static void info(const gg_env *env, gg_env_info *out)
{
    (void)env;
    *out = (gg_env_info){.name = "digits",
                         .task_noun = "number",
                         .move_noun = "try",
                         .measure_name = "found",
                         .default_reward = now == DEFAULT_REWARD ? "nothing" : "solve",
                         .max_calls = now == CAPS ? 0 : 6,
                         .max_turns = 6};
}

#define TOOL(required)                                                                             \
    "{\"type\":\"function\",\"function\":{\"name\":\"try\",\"description\":\"Tries a digit.\","    \
    "\"parameters\":{\"type\":\"object\",\"properties\":{\"digit\":{\"type\":\"integer\","         \
    "\"minimum\":0,\"maximum\":9}},\"required\":[\"" required "\"]}}}"

static const char *tools(const gg_env *env)
{
    (void)env;
    return now == TOOLS_NOT_JSON   ? "[{]"
           : now == TOOLS_REQUIRED ? "[" TOOL("digits") "]"
           : now == TOOLS_TWICE    ? "[" TOOL("digit") "," TOOL("digit") "]"
                                   : "[" TOOL("digit") "]";
}

static const char *default_tasks(const gg_env *env, const char *split)
{
    (void)env;
    return now == SPLIT_MISSING && strcmp(split, "val") == 0 ? "/nonexistent/val.jsonl" : NULL;
}

static gg_status check_row(const char *prompt, gg_error *error)
{
    if (strlen(prompt) == 5 && strspn(prompt, "0123456789") == 5)
        return GG_OK;
    return now == REFUSES_SILENTLY ? GG_E_CONFIG : gg_fail(error, GG_E_CONFIG, "no number");
}

static gg_status identity(const gg_env *env, const char *prompt, gg_buf *out, gg_error *error)
{
    (void)env;
    if (now == ROWS_DISAGREE)
        return GG_OK;
    gg_status status = check_row(prompt, error);
    if (status == GG_OK && now != IDENTITY_EMPTY)
        gg_buf_str(out, prompt);
    if (now == IDENTITY_CHANGES)
        gg_buf_int(out, ++calls_ever);
    return status;
}

static gg_status start(const gg_env *env, const char *prompt, uint64_t seed, gg_play **out,
                       gg_error *error)
{
    (void)env;
    (void)seed;
    *out = NULL;
    gg_status status = check_row(prompt, error);
    if (status != GG_OK)
        return status;
    gg_play *play = calloc(1, sizeof *play);
    if (!play)
        return gg_fail(error, GG_E_MEMORY, "out of memory");
    memcpy(play->hidden, prompt, 6);
    *out = play;
    tries_ever = 0;
    return GG_OK;
}

static gg_status system_prompt(const gg_play *play, gg_buf *out, gg_error *error)
{
    (void)play;
    if (now == EMPTIES_BUFFER)
        gg_buf_reset(out);
    if (now != NO_PROMPT)
        gg_buf_str(out, "Find the last digit.");
    return now == IGNORES_ROOM ? GG_OK : gg_buf_status(out, "the prompt", error);
}

static gg_status opening(const gg_play *play, gg_buf *out, gg_error *error)
{
    (void)play;
    if (now != NO_PROMPT)
        gg_buf_str(out, "Begin.");
    return gg_buf_status(out, "the opening", error);
}

static void tell(const gg_play *play, gg_buf *text)
{
    static const char base64_of_12345[] = "MTIzNDU=";
    switch (now) {
    case TELLS:
        gg_buf_printf(text, " It is %s.", play->hidden);
        break;
    case TELLS_REVERSED:
        for (int i = 4; i >= 0; i--)
            gg_buf_char(text, play->hidden[i]);
        break;
    case TELLS_SPACED:
        for (int i = 0; i < 5; i++)
            gg_buf_printf(text, " %c", play->hidden[i]);
        break;
    case TELLS_BASE64:
        if (strcmp(play->hidden, "12345") == 0)
            gg_buf_printf(text, " trace=%s", base64_of_12345);
        break;
    default:
        break;
    }
}

static void try_digit(gg_play *play, int digit, gg_result *r)
{
    bool found = digit == play->hidden[4] - '0';
    int tries = now == KEEPS_STATE_GLOBALLY ? ++tries_ever : ++play->tries;
    r->status = GG_CALL_VALID;
    r->moved = true;
    r->done = play->over = found || tries == 3;
    r->outcome = now == DONE_UNPLAYED ? GG_UNPLAYED : found ? GG_SOLVED : GG_LOST;
    if (now != NO_TEXT)
        gg_buf_printf(r->text, "%d is %s; tries %d.", digit, found ? "right" : "wrong", tries);
    if (now == COUNTS_GLOBALLY)
        gg_buf_int(r->text, ++calls_ever);
    if (now == NOT_UTF8)
        gg_buf_str(r->text, "\xff");
    tell(play, r->text);
    if (now == FACTS_TEXT)
        gg_buf_str(r->facts, "digit");
    else if (now == FACTS_DEEP)
        gg_buf_str(r->facts, "{\"digit\":{\"value\":1}}");
    else if (now == TELLS_IN_FACTS)
        gg_buf_printf(r->facts, "{\"hidden\":\"%s\"}", play->hidden);
    else
        gg_buf_printf(r->facts, "{\"digit\":%d}", digit);
}

static gg_status call(gg_play *play, const char *tool, const char *arguments, gg_result *r,
                      gg_error *error)
{
    double digit;
    r->status = GG_CALL_INVALID;
    r->moved = r->done = false;
    r->outcome = GG_UNPLAYED;
    bool known = strcmp(tool, "try") == 0 || now == KNOWS_ANY_TOOL;
    bool read = gg_fact_number(arguments, "digit", &digit) && digit >= 0 && digit <= 9;
    if (play->over && now != PLAYS_ON) {
        r->status = GG_CALL_OVER;
        gg_buf_str(r->text, "It is over.");
        gg_buf_str(r->facts, "{}");
    } else if (known && (read || now == KNOWS_ANY_TOOL)) {
        try_digit(play, read ? (int)digit : 0, r);
    } else if (now == ERROR_ON_BAD_INPUT) {
        return gg_fail(error, GG_E_ARGUMENT, "bad input");
    } else {
        r->moved = now == MOVED_INVALID;
        gg_buf_str(r->text, "Call try with a digit.");
        gg_buf_str(r->facts, "{}");
    }
    if (now == IGNORES_ROOM)
        return GG_OK;
    gg_status status = gg_buf_status(r->text, "a result", error);
    return status == GG_OK ? gg_buf_status(r->facts, "facts", error) : status;
}

static gg_status text(gg_play *play, const char *reply, bool *taken, gg_result *r, gg_error *error)
{
    (void)play;
    (void)reply;
    (void)error;
    *taken = false;
    if (now == TEXT_WRITES)
        gg_buf_str(r->text, "What?");
    return GG_OK;
}

static gg_status answer(const gg_play *play, gg_buf *out, gg_error *error)
{
    gg_buf_printf(out, now == ANSWER_TEXT ? "number %s" : "{\"number\":\"%s\"}", play->hidden);
    return gg_buf_status(out, "the answer", error);
}

static void finish(gg_play *play)
{
    free(play);
}

static double measure(const gg_env *env, const gg_episode *e)
{
    (void)env;
    return now == MEASURE_TWO ? 2 : now == MEASURE_NAN ? NAN : e->outcome == GG_SOLVED;
}

static void parts(const gg_env *env, const gg_episode *e, gg_part_fn each, void *context)
{
    (void)env;
    if (now != PART_LEFT_OUT)
        each(context, now == COMMON_PART ? "solve" : "digits",
             now == PART_NAN ? NAN : (double)e->moves);
    if (now == PART_UNKNOWN)
        each(context, "more", 1);
}

static void labels(const gg_env *env, const gg_episode *e, gg_label_fn each, void *context)
{
    (void)env;
    (void)e;
    each(context, "first", now == LABEL_NULL ? NULL : "digit");
}

static gg_status render(const gg_env *env, const gg_episode *e, gg_render_style style, gg_buf *out,
                        gg_error *error)
{
    (void)env;
    (void)style;
    if (now != RENDER_NOTHING)
        gg_buf_str(out, "board\n");
    for (size_t t = 0; now == RENDER_RAW && t < e->turn_count; t++)
        for (size_t c = 0; c < e->turns[t].call_count; c++)
            gg_buf_str(out, e->turns[t].calls[c].arguments_raw);
    return gg_buf_status(out, "a board", error);
}

static const gg_env_option options[] = {{"size", GG_OPTION_INT, "1", NULL, "the size"},
                                        {"size", GG_OPTION_INT, "1", NULL, "the size again"}};
static const gg_part_info part_tables[2][1] = {{{"digits", "digits tried"}},
                                               {{"solve", "digits tried"}}};

static gg_env_api make_api(void)
{
    return (gg_env_api){.abi = now == ABI ? GG_ENV_ABI + 1 : GG_ENV_ABI,
                        .name = "digits",
                        .summary = now == SUMMARY ? "" : "find a digit",
                        .options = options,
                        .option_count = now == OPTION_TWICE ? 2 : 1,
                        .part_table = part_tables[now == COMMON_PART],
                        .part_count = 1,
                        .open = open_it,
                        .close = close_it,
                        .info = info,
                        .tools = tools,
                        .default_tasks = default_tasks,
                        .identity = identity,
                        .start = start,
                        .system_prompt = system_prompt,
                        .opening = opening,
                        .call = call,
                        .text = text,
                        .answer = answer,
                        .finish = finish,
                        .measure = measure,
                        .parts = parts,
                        .labels = labels,
                        .render = render};
}

typedef struct seen {
    size_t rules, broken;
    char first[64];    /* the first broken rule */
    char detail[1024]; /* and why */
} seen;

static void see(void *context, const char *rule, bool kept, const char *detail)
{
    seen *s = context;
    s->rules++;
    if (!kept && !s->broken++) {
        snprintf(s->first, sizeof s->first, "%s", rule);
        snprintf(s->detail, sizeof s->detail, "%s", detail);
    }
}

static const char *const numbers[] = {"12345", "98706", "55512", "31415"};

static gg_status check_digits(seen *s, gg_error *error)
{
    gg_env_api api = make_api();
    gg_game game = {.api = &api, .env = &the_env, .name = (char *)(uintptr_t) "digits"};
    size_t broken = 0;
    *s = (seen){0};
    api.info(&the_env, &game.info);
    gg_status status = gg_env_check(&game, numbers, 4, 1, see, s, &broken, error);
    assert_true(status != GG_OK || broken == s->broken);
    return status;
}

static void each_fault_is_named(void **state)
{
    static const struct {
        fault fault;
        const char *rule; /* NULL: nothing is broken */
        const char *says;
    } rows[] = {
        {NONE, NULL, ""},
        {ABI, "table", "abi is 2, not 1"},
        {SUMMARY, "table", "summary"},
        {CAPS, "info", "max_calls (0)"},
        {DEFAULT_REWARD, "info", "\"nothing\" is not known"},
        {OPTION_TWICE, "options", "\"size\" stands twice"},
        {COMMON_PART, "part-table", "\"solve\""},
        {TOOLS_NOT_JSON, "tools", "JSON array"},
        {TOOLS_REQUIRED, "tools", "required argument"},
        {TOOLS_TWICE, "tools", "stands twice"},
        {IDENTITY_CHANGES, "identity", "not the same the second time"},
        {IDENTITY_EMPTY, "identity", "empty"},
        {ROWS_DISAGREE, "identity", "empty"},
        {REFUSES_SILENTLY, "bad-tasks", "without a sentence"},
        {SPLIT_MISSING, "default-tasks", "/nonexistent/val.jsonl"},
        {EMPTIES_BUFFER, "texts", "emptied the buffer"},
        {NO_PROMPT, "texts", "neither a system prompt nor an opening"},
        {NO_TEXT, "results", "no text"},
        {NOT_UTF8, "results", "not UTF-8"},
        {FACTS_TEXT, "results", "no JSON object: digit"},
        {FACTS_DEEP, "results", "facts are flat"},
        {DONE_UNPLAYED, "results", "done with outcome unplayed"},
        {MOVED_INVALID, "invalid-input", "moved but its status is invalid"},
        {ANSWER_TEXT, "results", "answer is no JSON"},
        {ERROR_ON_BAD_INPUT, "invalid-input", "an outcome, not an error"},
        {KNOWS_ANY_TOOL, "invalid-input", "unknown tool"},
        {COUNTS_GLOBALLY, "same-seed", "with the same seed"},
        {KEEPS_STATE_GLOBALLY, "plays-apart", "another play"},
        {PLAYS_ON, "results", "after the end"},
        {TEXT_WRITES, "text-replies", "wrote something"},
        {IGNORES_ROOM, "small-buffers", "did not fit"},
        {TELLS, "secret", "as it is"},
        {TELLS_REVERSED, "secret", "reversed"},
        {TELLS_SPACED, "secret", "spaced"},
        {TELLS_BASE64, "secret", "base64"},
        {TELLS_IN_FACTS, "secret", "as it is"},
        {MEASURE_TWO, "measure", "2, not from 0 to 1"},
        {MEASURE_NAN, "measure", "not from 0 to 1"},
        {PART_NAN, "parts", "not a finite number"},
        {PART_LEFT_OUT, "parts", "reported 0 times"},
        {PART_UNKNOWN, "parts", "\"more\""},
        {LABEL_NULL, "labels", "a value"},
        {RENDER_NOTHING, "render", "nothing"},
        {RENDER_RAW, "render", "control characters"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        seen s;
        gg_error error = {0};
        now = rows[i].fault;
        if (check_digits(&s, &error) != GG_OK)
            fail_msg("fault %d: %s", rows[i].fault, error.text);
        assert_true(s.rules > 15);
        if (!rows[i].rule && s.broken)
            fail_msg("without a fault %s is broken: %s", s.first, s.detail);
        if (rows[i].rule && (strcmp(s.first, rows[i].rule) != 0 || !strstr(s.detail, rows[i].says)))
            fail_msg("fault %d: want %s (%s), got %s (%s)", rows[i].fault, rows[i].rule,
                     rows[i].says, s.first, s.detail);
    }
    now = NONE;
}

/* The word game, in all its settings, on its own tasks. */
static void the_word_game_conforms(void **state)
{
    static const char *const settings[] = {NULL, "{\"hard\":true,\"unlisted\":\"reject\"}",
                                           "{\"guesses\":1}", "{\"guesses\":32}"};
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        gg_game *game = NULL;
        seen s = {0};
        size_t broken = 0;
        gg_error error = {0};
        if (gg_game_open("guess", settings[i], &game, &error) != GG_OK)
            fail_msg("%s", error.text);
        if (gg_env_check(game, NULL, 0, 7, see, &s, &broken, &error) != GG_OK)
            fail_msg("%s", error.text);
        if (broken)
            fail_msg("%s: %s", s.first, s.detail);
        gg_game_close(game);
    }
}

static void tasks_are_needed(void **state)
{
    seen s = {0};
    size_t broken = 0;
    gg_error error = {0};
    gg_env_api api = make_api();
    gg_game game = {.api = &api, .env = &the_env, .name = (char *)(uintptr_t) "digits"};
    (void)state;
    api.info(&the_env, &game.info);
    assert_int_equal(gg_env_check(&game, NULL, 0, 1, see, &s, &broken, &error), GG_E_CONFIG);
    assert_non_null(strstr(error.text, "--tasks"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_is_named),
        cmocka_unit_test(the_word_game_conforms),
        cmocka_unit_test(tasks_are_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
