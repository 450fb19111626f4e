/* guessgym compare: two runs of the same tasks against each other, or two folders of such runs. */
#include <math.h>
#include <unistd.h>

#include "cli/term.h"
#include "core/file.h"
#include "core/json.h"
#include "report/compare.h"

#define JSON_MAX  (1u << 16)
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

gg_exit gg_cmd_compare(gg_cli *cli)
{
    gg_error error = {0};
    gg_buf out;
    size_t count = 0;

    gg_buf_init(&out, JSON_MAX);
    gg_status status = compare_efforts(cli, &out, &count, &error);
    if (status == GG_OK && count > 0)
        gg_print(&out);
    gg_buf_free(&out);
    if (status != GG_OK)
        return gg_give_up(GG_STARTING, &error);
    return count > 0 ? GG_EXIT_OK : compare_one(cli);
}
