/* The rule that nothing tells the answer before the end. */
#include "env/check_rules.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_LETTERS 3   /* shorter answers turn up by chance */
#define SECRET_MAX    200 /* bytes of one text in an answer that are looked for */
#define FORM_MAX      (2 * SECRET_MAX + 8)

/* Occurrences in any case. */
static size_t count_form(const char *text, const char *form)
{
    size_t n = 0, len = strlen(form);
    for (const char *p = text; *p; p++)
        n += tolower((unsigned char)*p) == tolower((unsigned char)*form) &&
             strncasecmp(p, form, len) == 0;
    return n;
}

/* Base64 without padding, so that it is found inside longer texts. */
static void as_base64(const char *text, size_t len, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;
    for (size_t bit = 0; bit < len * 8; bit += 6) {
        size_t at = bit / 8;
        unsigned pair = (unsigned)(unsigned char)text[at] << 8 |
                        (at + 1 < len ? (unsigned char)text[at + 1] : 0u);
        out[n++] = digits[pair >> (10 - bit % 8) & 63];
    }
    out[n] = '\0';
}

static void as_is(const char *text, size_t len, char *out)
{
    memcpy(out, text, len + 1);
}

static void as_reversed(const char *text, size_t len, char *out)
{
    for (size_t i = 0; i < len; i++)
        out[i] = text[len - 1 - i];
    out[len] = '\0';
}

static void as_spaced(const char *text, size_t len, char *out)
{
    for (size_t i = 0; i < len; i++) {
        out[2 * i] = text[i];
        out[2 * i + 1] = ' ';
    }
    out[2 * len - 1] = '\0';
}

static void as_upper_base64(const char *text, size_t len, char *out)
{
    char upper[SECRET_MAX + 1];
    for (size_t i = 0; i < len; i++)
        upper[i] = (char)toupper((unsigned char)text[i]);
    as_base64(upper, len, out);
}

static const struct {
    const char *name;
    void (*make)(const char *text, size_t len, char *out);
} forms[] = {
    {"as it is", as_is},
    {"reversed", as_reversed},
    {"spaced", as_spaced},
    {"in base64", as_base64},
    {"in capitals and base64", as_upper_base64},
};

/* Two plays of the same calls on two tasks: the one whose answer is looked for, and another. */
typedef struct pair {
    gg_log log, other;
    const gg_script *script;
} pair;

static bool in_script(const gg_script *script, const char *form)
{
    for (size_t i = 0; i < script->count; i++)
        if (count_form(script->calls[i].arguments, form))
            return true;
    return false;
}

static void look_for(gg_checker *c, const pair *p, const char *secret)
{
    size_t len = strlen(secret);
    char form[FORM_MAX];
    if (len < LEAST_LETTERS || len > SECRET_MAX)
        return;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        forms[i].make(secret, len, form);
        if (count_form(gg_buf_cstr(&p->log.before_end), form) >
                count_form(gg_buf_cstr(&p->other.before_end), form) &&
            !in_script(p->script, form))
            gg_check_broke(c, "\"%.40s\", of the answer, is told before the end, %s", secret,
                           forms[i].name);
    }
}

/* All texts and long numbers of an answer. */
static void look_for_all(gg_checker *c, const pair *p, const cJSON *answer)
{
    if (cJSON_IsString(answer)) {
        look_for(c, p, answer->valuestring);
    } else if (cJSON_IsNumber(answer)) {
        gg_buf text;
        gg_buf_init(&text, SECRET_MAX);
        gg_buf_double(&text, answer->valuedouble);
        look_for(c, p, gg_buf_cstr(&text));
        gg_buf_free(&text);
    } else {
        for (const cJSON *m = answer ? answer->child : NULL; m; m = m->next)
            look_for_all(c, p, m);
    }
}

/* True when the pair was of use: two different answers. */
static bool try_pair(gg_checker *c, size_t first, size_t second, const gg_script *script)
{
    pair p = {.script = script};
    cJSON *answer = NULL;
    gg_log_play(c, c->tasks[first], c->seed, script, &p.log);
    gg_log_play(c, c->tasks[second], c->seed, script, &p.other);
    const char *text = gg_buf_cstr(&p.log.answer);
    bool differ = strcmp(text, gg_buf_cstr(&p.other.answer)) != 0;
    /* When the other play was over first, its shorter text says less of everything. */
    bool comparable = !p.other.ended || p.log.ended;
    if (differ && comparable && gg_json_parse(text, strlen(text), &answer, NULL) == GG_OK)
        look_for_all(c, &p, answer);
    cJSON_Delete(answer);
    gg_log_free(&p.log);
    gg_log_free(&p.other);
    return differ && comparable;
}

static void check_secret(gg_checker *c)
{
    size_t tried = 0;
    for (size_t i = 0; i + 1 < c->task_count && i + 1 < GG_CHECK_TASKS; i++) {
        gg_script sane, hostile;
        gg_script_sane(c, &sane, (size_t)c->game->info.max_calls);
        gg_script_hostile(c, &hostile);
        tried += try_pair(c, i, i + 1, &sane);
        tried += try_pair(c, i, i + 1, &hostile);
        gg_script_free(&sane);
        gg_script_free(&hostile);
    }
    if (!tried)
        gg_check_note(c, "not tried: it needs two tasks with different answers");
}

const gg_rule gg_rules_secret[] = {
    {"secret", check_secret},
    {NULL, NULL},
};
