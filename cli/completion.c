/* The completion, as a script for bash. */
#include "cli/help.h"

#include <string.h>

static size_t first_len(size_t i)
{
    return strcspn(gg_cmd_at(i)->name, " ");
}

/* Commands of two words stand together in the table. */
static bool begins_like_the_last(size_t i)
{
    return i > 0 && first_len(i) == first_len(i - 1) &&
           memcmp(gg_cmd_at(i)->name, gg_cmd_at(i - 1)->name, first_len(i)) == 0;
}

static void put_second_words(FILE *stream, size_t from)
{
    for (size_t i = from; gg_cmd_at(i) && (i == from || begins_like_the_last(i)); i++)
        fprintf(stream, " %s", gg_cmd_at(i)->name + first_len(i) + 1);
}

/* First words; and behind the first of two words, the second. */
static void put_command_words(FILE *stream)
{
    fputs("    local options='' commands='", stream);
    for (size_t i = 0; gg_cmd_at(i); i++)
        if (!begins_like_the_last(i))
            fprintf(stream, " %.*s", (int)first_len(i), gg_cmd_at(i)->name);
    fputs("'\n    [[ $COMP_CWORD == 1 ]] || case ${COMP_WORDS[1]} in\n", stream);
    for (size_t i = 0; gg_cmd_at(i); i++)
        if (gg_cmd_at(i)->name[first_len(i)] == ' ' && !begins_like_the_last(i)) {
            fprintf(stream, "    %.*s) commands='", (int)first_len(i), gg_cmd_at(i)->name);
            put_second_words(stream, i);
            fputs("' ;;\n", stream);
        }
    fputs("    *) commands='' ;;\n    esac\n", stream);
}

static void put_command_options(FILE *stream)
{
    for (size_t i = 0; gg_cmd_at(i); i++) {
        fprintf(stream, "    '%s'*) options='", gg_cmd_at(i)->name);
        for (int id = 0; id < GG_OPT_COUNT; id++)
            if (gg_opt_taken_by((gg_opt_id)id, gg_cmd_at(i)->id))
                fprintf(stream, "--%s ", gg_opt_row((gg_opt_id)id)->name);
        fputs("' ;;\n", stream);
    }
}

/* "--a|-a|--other)" for all options of a type; compgen's letter says what may follow them. */
static void put_paths(FILE *stream, gg_value_type type, char letter)
{
    const char *between = "    ";

    for (int id = 0; id < GG_OPT_COUNT; id++) {
        const gg_opt *row = gg_opt_row((gg_opt_id)id);
        if (row->type != type || !gg_cmd_option_used((gg_opt_id)id))
            continue;
        fprintf(stream, "%s--%s", between, row->name);
        between = "|";
        if (row->alias)
            fprintf(stream, "|--%s", row->alias);
        if (row->letter)
            fprintf(stream, "|-%c", row->letter);
    }
    if (*between == '|')
        fprintf(stream, ") COMPREPLY=($(compgen -%c -- \"$word\")); return ;;\n", letter);
}

/* What may follow an option: one of its choices, a file, a folder. */
static void put_values(FILE *stream)
{
    for (int id = 0; id < GG_OPT_COUNT; id++) {
        const gg_opt *row = gg_opt_row((gg_opt_id)id);
        if (!row->choices || !gg_cmd_option_used((gg_opt_id)id))
            continue;
        fprintf(stream, "    --%s%s%s) options='", row->name, row->alias ? "|--" : "",
                row->alias ? row->alias : "");
        for (const char *c = row->choices; *c; c++)
            fputc(*c == '|' ? ' ' : *c, stream);
        fputs("' ;;\n", stream);
    }
    put_paths(stream, GG_VALUE_FILE, 'f');
    put_paths(stream, GG_VALUE_FOLDER, 'd');
}

void gg_help_completion(FILE *stream)
{
    fputs("# bash completion of guessgym; made by `guessgym --completion bash`\n"
          "_guessgym() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n",
          stream);
    put_command_words(stream);
    fputs("    case \"${COMP_WORDS[*]:1:2} \" in\n", stream);
    put_command_options(stream);
    fputs("    esac\n    case $before in\n", stream);
    put_values(stream);
    fputs("    esac\n"
          "    if [[ $COMP_CWORD == 1 || ( $COMP_CWORD == 2 && $options == '' ) ]]; then\n"
          "        options=$commands\n"
          "    fi\n"
          "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
          "    [[ $word == -* || ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "
          "\"$word\"))\n"
          "}\n"
          "complete -F _guessgym guessgym\n",
          stream);
}
