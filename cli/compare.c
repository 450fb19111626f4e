/* guessgym compare: two runs of the same tasks against each other, or two folders of such runs. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/term.h"
#include "core/file.h"
#include "core/json.h"
#include "core/plan_stats.h"
#include "report/compare.h"

#define JSON_MAX  (1u << 20)
#define SURE      0.05
#define PATH_ROOM 4096
#define PERCENT   100.0

static void print_text(const gg_cli *cli, const gg_comparison *c)
{
    bool color = gg_term_color(cli, stdout);
    const char *paint = c->interval.low > 0 ? "\x1b[32m" : c->interval.high < 0 ? "\x1b[31m" : "";

    printf("before       %.4f   %s\n", c->before, cli->args[0]);
    printf("after        %.4f   %s\n", c->after, cli->args[1]);
    printf("difference  %+.4f   %+.4f to %+.4f (95 %%, bootstrap over %zu tasks)\n", c->difference,
           c->interval.low, c->interval.high, c->pairs);
    printf("tasks        %zu better, %zu worse, %zu the same\n", c->better, c->worse, c->same);
    printf("p-value      %.3g   %s\n", c->p_value,
           c->exact ? "exact McNemar test" : "permutation of signs");
    printf("verdict      %s%s%s\n", color ? paint : "", c->verdict,
           color && *paint ? "\x1b[0m" : "");
    if (c->interval.low <= 0 && c->interval.high >= 0 && isfinite(c->pairs_needed))
        printf("             a difference like this one takes about %.0f tasks to tell\n",
               ceil(c->pairs_needed));
}

static void print_warnings(const gg_comparison *c)
{
    if (c->errored_before + c->errored_after > 0)
        gg_complain("warning: %lld errored episodes before and %lld after are left out",
                    (long long)c->errored_before, (long long)c->errored_after);
    if (c->only_before + c->only_after > 0)
        gg_complain("warning: %zu tasks were played only before and %zu only after; left out",
                    c->only_before, c->only_after);
    if (c->damaged > 0)
        gg_complain("warning: %lld damaged lines are left out", (long long)c->damaged);
}

static gg_status compare(const gg_cli *cli, const char *before_dir, const char *after_dir,
                         gg_comparison *out, gg_error *error)
{
    const gg_compare_options options = {.by =
                                            gg_compare_by_parse(gg_opt_text(cli->opts, GG_OPT_BY)),
                                        .common = gg_opt_flag(cli->opts, GG_OPT_COMMON),
                                        .seed = (uint64_t)gg_opt_int(cli->opts, GG_OPT_SEED)};
    gg_run *before = NULL, *after = NULL;

    gg_status status = gg_run_open_read(before_dir, &before, error);
    if (status == GG_OK)
        status = gg_run_open_read(after_dir, &after, error);
    if (status == GG_OK)
        status = gg_compare_runs(before, after, &options, out, error);
    gg_run_close(before);
    gg_run_close(after);
    return status;
}

/* ---- folders of several efforts: one row each ---- */

static const char *const efforts[] = {"none", "minimal", "low", "medium", "high", "xhigh", "max"};

#define EFFORTS (sizeof efforts / sizeof *efforts)

static bool has_run(const char *dir, const char *effort, char path[PATH_ROOM])
{
    char file[PATH_ROOM + 16];

    snprintf(path, PATH_ROOM, "%s/%s", dir, effort);
    snprintf(file, sizeof file, "%s/run.json", path);
    return access(file, R_OK) == 0;
}

/* tokens_per_turn of a run's summary; NaN when it does not say. */
static double tokens_per_turn(const char *dir)
{
    char path[PATH_ROOM + 16];
    double value = NAN;
    cJSON *root = NULL;
    gg_buf text;

    gg_buf_init(&text, GG_FILE_MAX);
    snprintf(path, sizeof path, "%s/summary.json", dir);
    if (gg_file_read(path, &text, NULL) == GG_OK &&
        gg_json_parse(gg_buf_cstr(&text), text.len, &root, NULL) == GG_OK)
        gg_json_number(root, "tokens_per_turn", &value);
    cJSON_Delete(root);
    gg_buf_free(&text);
    return value;
}

static void write_row(const char *effort, const gg_comparison *c, double tokens, gg_buf *out)
{
    gg_buf_printf(out, "| %-7s | %5.1f %% | %5.1f %% | %+5.1f (%+5.1f to %+5.1f) |", effort,
                  c->before * PERCENT, c->after * PERCENT, c->difference * PERCENT,
                  c->interval.low * PERCENT, c->interval.high * PERCENT);
    if (isnan(tokens))
        gg_buf_str(out, "           - |");
    else
        gg_buf_printf(out, " %11.1f |", tokens);
    gg_buf_printf(out, " %-11s |\n", c->verdict);
}

/* Compares what both folders hold of each effort; *count = 0 when they hold no such runs. */
static gg_status compare_efforts(const gg_cli *cli, gg_buf *out, size_t *count, gg_error *error)
{
    const bool json = gg_opt_flag(cli->opts, GG_OPT_JSON);
    char before[PATH_ROOM], after[PATH_ROOM];
    gg_status status = GG_OK;

    if (!json)
        gg_buf_str(
            out,
            "| effort  | before  | after   | difference (95 %)      | tokens/turn | verdict     |\n"
            "|---------|--------:|--------:|------------------------|------------:|-------------|"
            "\n");
    *count = 0;
    for (size_t i = 0; i < EFFORTS && status == GG_OK; i++) {
        gg_comparison c;
        if (!has_run(cli->args[0], efforts[i], before) || !has_run(cli->args[1], efforts[i], after))
            continue;
        status = compare(cli, before, after, &c, error);
        if (status != GG_OK)
            break;
        print_warnings(&c);
        if (json) {
            gg_buf_printf(out, "%s\"%s\":", *count ? "," : "{", efforts[i]);
            gg_comparison_write(&c, out);
        } else {
            write_row(efforts[i], &c, tokens_per_turn(after), out);
        }
        ++*count;
    }
    if (json)
        gg_buf_str(out, "}\n");
    return status;
}

static gg_exit compare_one(const gg_cli *cli)
{
    gg_comparison comparison;
    gg_error error = {0};
    gg_buf json;

    if (compare(cli, cli->args[0], cli->args[1], &comparison, &error) != GG_OK)
        return gg_give_up(GG_STARTING, &error);
    if (gg_opt_flag(cli->opts, GG_OPT_JSON)) {
        gg_buf_init(&json, JSON_MAX);
        gg_comparison_write(&comparison, &json);
        gg_buf_char(&json, '\n');
        gg_print(&json);
        gg_buf_free(&json);
    } else {
        print_text(cli, &comparison);
    }
    print_warnings(&comparison);
    return GG_EXIT_OK;
}

/* ---- more than two runs: each against the first ---- */

static gg_status compare_all(const gg_cli *cli, gg_comparison *found, gg_error *error)
{
    gg_status status = GG_OK;

    for (size_t i = 1; i < cli->arg_count && status == GG_OK; i++) {
        status = compare(cli, cli->args[0], cli->args[i], &found[i - 1], error);
        if (status == GG_OK)
            print_warnings(&found[i - 1]);
        else
            gg_fail_prefix(error, "%s", cli->args[i]);
    }
    return status;
}

static void write_all(const gg_cli *cli, const gg_comparison *found, const double *adjusted,
                      gg_buf *out)
{
    gg_buf_str(out, "{\"before\":");
    gg_buf_json_str(out, cli->args[0]);
    gg_buf_str(out, ",\"runs\":[");
    for (size_t i = 1; i < cli->arg_count; i++) {
        gg_buf_str(out, i > 1 ? ",{\"run\":" : "{\"run\":");
        gg_buf_json_str(out, cli->args[i]);
        gg_buf_str(out, ",\"p_adjusted\":");
        gg_buf_double(out, adjusted[i - 1]);
        gg_buf_str(out, ",\"comparison\":");
        gg_comparison_write(&found[i - 1], out);
        gg_buf_char(out, '}');
    }
    gg_buf_str(out, "]}\n");
}

static void tell_all(const gg_cli *cli, const gg_comparison *found, const double *adjusted,
                     gg_buf *out)
{
    gg_buf_printf(out, "against %s (%.4f); p adjusted for %zu comparisons (Holm)\n\n", cli->args[0],
                  found[0].before, cli->arg_count - 1);
    gg_buf_printf(out, "| %-24s | %7s | %-25s | %7s | %-11s |\n", "run", "value",
                  "difference (95 %)", "p adj", "verdict");
    gg_buf_str(out, "|--------------------------|--------:|---------------------------|--------:|"
                    "-------------|\n");
    for (size_t i = 1; i < cli->arg_count; i++) {
        const gg_comparison *c = &found[i - 1];
        gg_buf_printf(out, "| %-24s | %7.4f | %+.3f (%+.3f to %+.3f) | %7.3g | %-11s |\n",
                      cli->args[i], c->after, c->difference, c->interval.low, c->interval.high,
                      adjusted[i - 1], c->verdict);
    }
}

static gg_exit compare_many(const gg_cli *cli)
{
    gg_comparison *found = calloc(cli->arg_count, sizeof *found);
    double adjusted[GG_HOLM_MOST];
    gg_error error = {0};
    gg_buf out;

    gg_buf_init(&out, JSON_MAX);
    gg_status status = found ? GG_OK : gg_fail(&error, GG_E_MEMORY, "out of memory");
    if (status == GG_OK)
        status = compare_all(cli, found, &error);
    if (status == GG_OK) {
        size_t n = cli->arg_count - 1;
        for (size_t i = 0; i < n; i++)
            adjusted[i] = found[i].p_value;
        gg_holm(adjusted, n);
        for (size_t i = 0; i < n; i++) /* an interval alone does not know of the others */
            if (adjusted[i] > SURE)
                found[i].verdict = "cannot tell";
        if (gg_opt_flag(cli->opts, GG_OPT_JSON))
            write_all(cli, found, adjusted, &out);
        else
            tell_all(cli, found, adjusted, &out);
        status = gg_buf_status(&out, "the comparison", &error);
    }
    if (status == GG_OK)
        gg_print(&out);
    gg_buf_free(&out);
    free(found);
    return status == GG_OK ? GG_EXIT_OK : gg_give_up(GG_STARTING, &error);
}

gg_exit gg_cmd_compare(gg_cli *cli)
{
    gg_error error = {0};
    gg_buf out;
    size_t count = 0;

    if (cli->arg_count > 2)
        return compare_many(cli);
    gg_buf_init(&out, JSON_MAX);
    gg_status status = compare_efforts(cli, &out, &count, &error);
    if (status == GG_OK && count > 0)
        gg_print(&out);
    gg_buf_free(&out);
    if (status != GG_OK)
        return gg_give_up(GG_STARTING, &error);
    return count > 0 ? GG_EXIT_OK : compare_one(cli);
}
