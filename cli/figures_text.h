/* Figures for people: one run in full, several in a table, and what to be warned of. */
#ifndef GG_CLI_FIGURES_TEXT_H
#define GG_CLI_FIGURES_TEXT_H

#include "cli/command.h"
#include "env/env.h"
#include "report/summary.h"

typedef struct gg_told_run { /* one run and what it was called */
    const char *effort;      /* "" = not sent */
    const gg_figures *figures;
} gg_told_run;

void gg_tell_run(const gg_figures *figures, const gg_env_info *game, bool groups, gg_buf *out);
/* A Markdown table, one row a run. */
void gg_tell_table(const gg_told_run *runs, size_t count, const gg_env_info *game, bool groups,
                   gg_buf *out);
/* "planned 256 = solved 43 + ..." */
void gg_tell_ledger(const gg_figures *figures, gg_buf *out);
/* To stderr: what should not be overlooked, and what to do about it. */
void gg_tell_warnings(const gg_figures *figures, bool groups);

#endif
