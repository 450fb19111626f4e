/* guessgym preflight: what would make a managed job fail. */
#include <stdlib.h>
#include <string.h>

#include "cli/game.h"
#include "cli/job_plan.h"
#include "cli/measured.h"
#include "cli/plan.h"
#include "cli/term.h"
#include "core/file.h"

#define DOCUMENT_MAX (1u << 20)
#define JSON_MAX     (1u << 20)
#define TOOL_TOKENS  150.0 /* of a tool result, where nothing was measured */
#define COLUMNS_MAX  110
#define COLUMN       24 /* where the sentences begin */

enum { TRUST, PERMISSIONS, AGENT_PERMISSIONS, DOCUMENTS };
enum { ROWS, VAL, HELD_OUT, LISTS };

typedef struct plan {
    gg_cli *cli;
    gg_game *game;
    gg_tasks tasks[LISTS];
    gg_error faults[LISTS];
    gg_buf documents[DOCUMENTS];
    gg_job_plan job;
    gg_preflight preflight;
    gg_findings findings;
} plan;

/* A list that cannot be read is a finding, not the end. */
static const gg_tasks *load(plan *p, int which, gg_opt_id option, const char *split)
{
    const char *path = gg_opt_text(p->cli->opts, option);

    if (!path)
        path = p->game->api->default_tasks(p->game->env, split);
    if (!path)
        return NULL;
    return gg_tasks_load(p->game, path, &p->tasks[which], &p->faults[which]) == GG_OK
               ? &p->tasks[which]
               : NULL;
}

static const char *fault_of(const plan *p, int which)
{
    return p->faults[which].text[0] ? p->faults[which].text : NULL;
}

static gg_status read_documents(plan *p, gg_error *error)
{
    static const gg_opt_id options[DOCUMENTS] = {GG_OPT_TRUST, GG_OPT_PERMISSIONS,
                                                 GG_OPT_AGENT_PERMISSIONS};
    const char **texts[DOCUMENTS] = {&p->preflight.trust, &p->preflight.permissions,
                                     &p->preflight.agent_permissions};
    gg_status status = GG_OK;

    for (int i = 0; i < DOCUMENTS && status == GG_OK; i++) {
        const char *path = gg_opt_text(p->cli->opts, options[i]);
        gg_buf_init(&p->documents[i], DOCUMENT_MAX);
        if (path)
            status = gg_file_read(path, &p->documents[i], error);
        if (path && status == GG_OK)
            *texts[i] = gg_buf_cstr(&p->documents[i]);
    }
    return status;
}

static gg_status fill(plan *p, gg_error *error)
{
    const gg_opts *opts = p->cli->opts;
    const char *baseline = gg_opt_text(opts, GG_OPT_BASELINE);
    gg_preflight *f = &p->preflight;

    f->plan = &p->job;
    f->rows = load(p, ROWS, GG_OPT_TASKS, "train");
    f->val = load(p, VAL, GG_OPT_VAL, "val");
    f->held_out = load(p, HELD_OUT, GG_OPT_HELD_OUT, "test");
    f->rows_fault = fault_of(p, ROWS);
    f->val_fault = fault_of(p, VAL);
    f->max_turns = p->game->info.max_turns;
    f->tool_tokens = TOOL_TOKENS;
    f->max_cost = gg_opt_real(opts, GG_OPT_MAX_COST);
    gg_status status = gg_cli_job_plan(p->cli, f->rows ? f->rows->count : 0, &p->job, error);
    if (status == GG_OK)
        status = gg_plan_price(p->cli, &f->price, error);
    if (status == GG_OK)
        status = read_documents(p, error);
    if (status == GG_OK && baseline)
        status = gg_measured_read(baseline, gg_opt_int(opts, GG_OPT_GROUP_SIZE), &f->baseline,
                                  &f->measured, error);
    return status;
}

/* ---- what it says ---- */

static void wrap(const char *text, int width, gg_buf *out)
{
    size_t room = (size_t)(width - COLUMN), used = 0;

    for (const char *word = text; *word;) {
        size_t len = strcspn(word, " ");
        if (used && used + 1 + len > room) {
            gg_buf_printf(out, "\n%*s", COLUMN, "");
            used = 0;
        }
        gg_buf_str(out, used ? " " : "");
        gg_buf_add(out, word, len);
        used += len + (used ? 1 : 0);
        word += len;
        word += strspn(word, " ");
    }
    gg_buf_char(out, '\n');
}

/* The worst first. */
static void write_text(const plan *p, gg_buf *out)
{
    static const char *const colors[] = {
        [GG_HOLDS] = "32", [GG_REMARK] = "36", [GG_DOUBT] = "33", [GG_FAULT] = "31"};
    const gg_findings *all = &p->findings;
    bool color = gg_term_color(p->cli, stdout);
    int width = gg_term_width(stdout);

    width = width > COLUMNS_MAX ? COLUMNS_MAX : width < 2 * COLUMN ? 2 * COLUMN : width;
    for (int s = GG_FAULT; s >= GG_HOLDS; s--)
        for (size_t i = 0; i < all->count; i++) {
            const gg_finding *f = &all->items[i];
            if ((int)f->severity != s)
                continue;
            if (color)
                gg_buf_printf(out, "\033[%sm", colors[s]);
            gg_buf_printf(out, "%-4s", gg_severity_name(f->severity));
            gg_buf_printf(out, "%s  %-*s", color ? "\033[0m" : "", COLUMN - 6, f->check);
            wrap(f->text, width, out);
        }
    gg_buf_printf(out, "\n%zu would fail, %zu in doubt, %zu hold, %zu notes\n",
                  gg_findings_count(all, GG_FAULT), gg_findings_count(all, GG_DOUBT),
                  gg_findings_count(all, GG_HOLDS), gg_findings_count(all, GG_REMARK));
}

static void write_json(const plan *p, gg_buf *out)
{
    const gg_findings *all = &p->findings;

    gg_buf_printf(out, "{\"fail\":%zu,\"warn\":%zu,\"ok\":%zu,\"note\":%zu,\"findings\":[",
                  gg_findings_count(all, GG_FAULT), gg_findings_count(all, GG_DOUBT),
                  gg_findings_count(all, GG_HOLDS), gg_findings_count(all, GG_REMARK));
    for (size_t i = 0; i < all->count; i++) {
        gg_buf_printf(out, "%s{\"check\":\"%s\",\"severity\":\"%s\",\"text\":", i ? "," : "",
                      all->items[i].check, gg_severity_name(all->items[i].severity));
        gg_buf_json_str(out, all->items[i].text);
        gg_buf_char(out, '}');
    }
    gg_buf_str(out, "]}\n");
}

static gg_exit say(const plan *p)
{
    gg_buf text;

    gg_buf_init(&text, JSON_MAX);
    if (gg_opt_flag(p->cli->opts, GG_OPT_JSON))
        write_json(p, &text);
    else
        write_text(p, &text);
    gg_print(&text);
    gg_buf_free(&text);
    return gg_findings_count(&p->findings, GG_FAULT) ? GG_EXIT_USAGE : GG_EXIT_OK;
}

gg_exit gg_cmd_preflight(gg_cli *cli)
{
    plan p = {.cli = cli};
    gg_error error = {0};

    gg_status status = gg_cli_game(cli, gg_opt_text(cli->opts, GG_OPT_ENV), &p.game, &error);
    if (status == GG_OK)
        status = fill(&p, &error);
    if (status == GG_OK)
        status = gg_preflight_run(&p.preflight, &p.findings, &error);
    gg_exit code = status == GG_OK ? say(&p) : gg_give_up(GG_STARTING, &error);
    gg_findings_free(&p.findings);
    for (int i = 0; i < DOCUMENTS; i++)
        gg_buf_free(&p.documents[i]);
    for (int i = 0; i < LISTS; i++)
        gg_tasks_free(&p.tasks[i]);
    gg_game_close(p.game);
    return code;
}
