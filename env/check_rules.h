/* Inside of the conformance run (env/check.h): what its files share. */
#ifndef GG_ENV_CHECK_RULES_H
#define GG_ENV_CHECK_RULES_H

#include "core/json.h"
#include "core/rng.h"
#include "env/check.h"
#include "env/reward/reward.h"

#define GG_CHECK_TASKS     8  /* tasks that are played */
#define GG_CHECK_CALLS_MAX 64 /* calls of one script */
#define GG_CHECK_TEXT_MAX  (16u << 20)

typedef struct gg_checker {
    const gg_game *game;
    const char *const *tasks; /* prompts, at least one */
    size_t task_count;
    uint64_t seed;
    gg_rng rng;
    cJSON *tools;     /* NULL when the tools are not JSON */
    gg_buf detail;    /* why the rule at work is broken, or what could not be tried */
    bool broken;      /* the rule at work */
    gg_error failure; /* memory ran out: the run ends */
} gg_checker;

/* Marks the rule at work as broken; only the first reason is kept. */
void gg_check_broke(gg_checker *c, const char *format, ...) GG_PRINTF(2, 3);
/* Notes something without breaking the rule, such as what could not be tried. */
void gg_check_note(gg_checker *c, const char *format, ...) GG_PRINTF(2, 3);
/* True; or false, with the rule broken, when the environment returned an error. */
bool gg_check_ok(gg_checker *c, gg_status status, const gg_error *error, const char *function);

/* Calls to make, in order. */
typedef struct gg_script {
    struct {
        char *tool, *arguments;
    } calls[GG_CHECK_CALLS_MAX];
    size_t count;
} gg_script;

/* Sane calls: random tools of the environment with arguments that their schemas allow. */
void gg_script_sane(gg_checker *c, gg_script *script, size_t count);
/* Hostile ones: unknown tools, missing, mistyped, huge and odd arguments. */
void gg_script_hostile(gg_checker *c, gg_script *script);
void gg_script_free(gg_script *script);

/* A play of a script and what it wrote, kept apart for what players see and what records keep. */
typedef struct gg_log {
    gg_buf texts;      /* system prompt, opening, results, a line break after each */
    gg_buf before_end; /* the same and facts, up to the result that ended the play */
    gg_buf facts, statuses, answer;
    gg_episode *episode; /* its record so far; one turn holds all calls */
    bool ended;
    size_t calls_after_end;
} gg_log;

/* Plays; rules about single results are checked on the way. Everything in the log is set, also
 * when the play could not be started. */
void gg_log_play(gg_checker *c, const char *task, uint64_t seed, const gg_script *script,
                 gg_log *log);
void gg_log_free(gg_log *log);
/* Compares everything that two plays wrote; `what` says what should not have mattered. */
void gg_log_compare(gg_checker *c, const gg_log *a, const gg_log *b, const char *what);

/* A rule: calls gg_check_broke when it does not hold. */
typedef struct gg_rule {
    const char *name;
    void (*check)(gg_checker *c);
} gg_rule;

extern const gg_rule gg_rules_table[], gg_rules_play[], gg_rules_record[], gg_rules_secret[];

#endif
