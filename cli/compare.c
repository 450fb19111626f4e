/* guessgym compare: two runs of the same tasks against each other. */
#include <math.h>

#include "cli/term.h"
#include "report/compare.h"

#define JSON_MAX (1u << 16)

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

static gg_status compare(const gg_cli *cli, gg_comparison *out, gg_error *error)
{
    const gg_compare_options options = {.by =
                                            gg_compare_by_parse(gg_opt_text(cli->opts, GG_OPT_BY)),
                                        .common = gg_opt_flag(cli->opts, GG_OPT_COMMON),
                                        .seed = (uint64_t)gg_opt_int(cli->opts, GG_OPT_SEED)};
    gg_run *before = NULL, *after = NULL;

    gg_status status = gg_run_open_read(cli->args[0], &before, error);
    if (status == GG_OK)
        status = gg_run_open_read(cli->args[1], &after, error);
    if (status == GG_OK)
        status = gg_compare_runs(before, after, &options, out, error);
    gg_run_close(before);
    gg_run_close(after);
    return status;
}

gg_exit gg_cmd_compare(gg_cli *cli)
{
    gg_comparison comparison;
    gg_error error = {0};
    gg_buf json;

    gg_status status = compare(cli, &comparison, &error);
    if (status != GG_OK)
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
