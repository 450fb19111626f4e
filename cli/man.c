/* The man page, as roff. */
#include "cli/help.h"

#include <string.h>

/* Text in which roff sees no requests and no escapes. */
static void put_text(FILE *stream, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stream);
    for (; *text; text++)
        if (*text == '-')
            fputs("\\-", stream);
        else if (*text == '\\')
            fputs("\\e", stream);
        else
            fputc(*text, stream);
}

static void put_item(FILE *stream, const char *term, const char *text)
{
    fputs(".TP\n.B ", stream);
    put_text(stream, term);
    fputc('\n', stream);
    put_text(stream, text);
    fputc('\n', stream);
}

static void put_option_name(FILE *stream, const gg_opt *row)
{
    fputs(".TP\n", stream);
    if (row->letter)
        fprintf(stream, "\\fB\\-%c\\fR, ", row->letter);
    fputs("\\fB\\-\\-", stream);
    put_text(stream, row->name);
    fputs("\\fR", stream);
    if (row->alias) {
        fputs(", \\fB\\-\\-", stream);
        put_text(stream, row->alias);
        fputs("\\fR", stream);
    }
    if (row->value) {
        fputs(" \\fI", stream);
        put_text(stream, row->value);
        fputs("\\fR", stream);
    }
    fputc('\n', stream);
}

/* "(eval, rollout)". */
static void put_takers(FILE *stream, gg_opt_id id)
{
    const char *between = "(";

    for (size_t i = 0; gg_cmd_at(i); i++)
        if (gg_opt_taken_by(id, gg_cmd_at(i)->id)) {
            fprintf(stream, "%s%s", between, gg_cmd_at(i)->name);
            between = ", ";
        }
    fputs(")\n", stream);
}

/* "a|b|c" with blanks, so that roff can break the line. */
static void put_choices(FILE *stream, const char *choices)
{
    fputs(": ", stream);
    for (const char *c = choices; *c; c++)
        if (*c == '|')
            fputs(", ", stream);
        else
            fputc(*c, stream);
}

static void put_option(FILE *stream, gg_opt_id id)
{
    const gg_opt *row = gg_opt_row(id);

    if (!gg_cmd_option_used(id))
        return;
    put_option_name(stream, row);
    put_text(stream, row->help);
    if (row->choices)
        put_choices(stream, row->choices);
    if (row->fallback) {
        fputs("; default ", stream);
        put_text(stream, row->fallback);
    }
    fputs(".\n", stream);
    if (row->section != GG_SECTION_COMMON)
        put_takers(stream, id);
}

static void put_commands(FILE *stream)
{
    fputs(".SH COMMANDS\n", stream);
    for (size_t i = 0; gg_cmd_at(i); i++) {
        fprintf(stream, ".TP\n\\fB%s\\fR", gg_cmd_at(i)->name);
        if (*gg_cmd_at(i)->arguments)
            fprintf(stream, " \\fI%s\\fR", gg_cmd_at(i)->arguments);
        fputc('\n', stream);
        put_text(stream, gg_cmd_at(i)->summary);
        fputs(".\n", stream);
    }
}

static void put_environment(FILE *stream)
{
    static const char *const rows[][2] = {
        {"GUESSGYM_NAME", "the option of that name, with underscores for dashes"},
        {"REASONING_EFFORT", "as --reasoning-effort"},
        {"GUESSGYM_API_KEY, OPENAI_API_KEY", "the endpoint's key; never written anywhere"},
        {"GUESSGYM_DATA", "folder of the shipped word lists"},
        {"GUESSGYM_EMBED_API_KEY", "bearer key of the server of embeddings (index --embed-url)"},
        {"NO_COLOR, FORCE_COLOR, COLUMNS", "as usual"},
        {"HTTP_PROXY, HTTPS_PROXY, NO_PROXY", "as usual, for endpoints"},
    };
    fputs(".SH ENVIRONMENT\nAn option is taken from the command line, else from the environment, "
          "else from the file of \\-\\-config (JSON with the keys of run.json), else by default.\n",
          stream);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        put_item(stream, rows[i][0], rows[i][1]);
}

static void put_examples(FILE *stream)
{
    fputs(".SH EXAMPLES\n", stream);
    for (size_t i = 0; gg_cmd_at(i); i++)
        for (size_t k = 0; gg_cmd_at(i)->examples && gg_cmd_at(i)->examples[k]; k += 2)
            put_item(stream, gg_cmd_at(i)->examples[k], gg_cmd_at(i)->examples[k + 1]);
}

void gg_help_man(FILE *stream)
{
    fputs(".TH GUESSGYM 1 \"\" \"guessgym " GG_VERSION "\" \"User Commands\"\n"
          ".SH NAME\nguessgym \\- play a word\\-guessing game with a tool\\-calling model, measure "
          "it, train it\n"
          ".SH SYNOPSIS\n.B guessgym\n.I COMMAND\n[\\fIOPTION\\fR...]\n",
          stream);
    put_commands(stream);
    fputs(".SH OPTIONS\n", stream);
    for (int id = 0; id < GG_OPT_COUNT; id++)
        put_option(stream, (gg_opt_id)id);
    put_environment(stream);
    fputs(".SH EXIT STATUS\n", stream);
    for (unsigned i = 0; gg_exit_meaning(i); i++) {
        fprintf(stream, ".TP\n.B %d\n", (int)gg_exit_meaning(i)->code);
        put_text(stream, gg_exit_meaning(i)->meaning);
        fputc('\n', stream);
    }
    put_examples(stream);
}
