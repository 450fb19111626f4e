/* guessgym mark: the marks of a guess, one letter each. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/term.h"
#include "env/guess/guess.h"

typedef struct pair {
    char guess[GG_WORD_MAX + 1], answer[GG_WORD_MAX + 1];
    int length;
} pair;

/* Copies a word in lower case. */
static gg_status read_word(const char *text, size_t len, char out[GG_WORD_MAX + 1], gg_error *error)
{
    int shown = len > 40 ? 40 : (int)len;

    if (len == 0 || len > GG_WORD_MAX)
        return gg_fail(error, GG_E_CONFIG, "\"%.*s\" has %zu letters; 1 to %d can be marked", shown,
                       text, len, GG_WORD_MAX);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c > 127 || !isalpha(c))
            return gg_fail(error, GG_E_CONFIG, "\"%.*s\" holds something else than letters a-z",
                           shown, text);
        out[i] = (char)tolower(c);
    }
    out[len] = '\0';
    return GG_OK;
}

static gg_status read_pair(const char *guess, size_t guess_len, const char *answer,
                           size_t answer_len, pair *out, gg_error *error)
{
    gg_status status = read_word(guess, guess_len, out->guess, error);

    if (status == GG_OK)
        status = read_word(answer, answer_len, out->answer, error);
    if (status == GG_OK && guess_len != answer_len)
        status = gg_fail(error, GG_E_CONFIG,
                         "%s has %zu letters and %s has %zu; both need the same number", out->guess,
                         guess_len, out->answer, answer_len);
    out->length = (int)guess_len;
    return status;
}

static void print_marks(const pair *p, bool json)
{
    gg_marks marks = gg_mark(p->guess, p->answer, p->length);
    char letters[GG_WORD_MAX + 1] = {0};

    for (int i = 0; i < p->length; i++)
        letters[i] = gg_mark_letter(marks, i);
    if (json)
        printf("{\"guess\":\"%s\",\"answer\":\"%s\",\"marks\":\"%s\"}\n", p->guess, p->answer,
               letters);
    else
        puts(letters);
}

/* "guess answer" with blanks around; an empty line is passed over. */
static gg_status mark_line(const char *line, bool json, gg_error *error)
{
    static const char blanks[] = " \t\r\n";
    const char *guess = line + strspn(line, blanks);
    size_t guess_len = strcspn(guess, blanks);
    const char *answer = guess + guess_len + strspn(guess + guess_len, blanks);
    size_t answer_len = strcspn(answer, blanks);
    pair p;

    if (guess_len == 0)
        return GG_OK;
    if (answer_len == 0 || answer[answer_len + strspn(answer + answer_len, blanks)])
        return gg_fail(error, GG_E_CONFIG, "a line should be `guess answer`");
    gg_status status = read_pair(guess, guess_len, answer, answer_len, &p, error);
    if (status == GG_OK)
        print_marks(&p, json);
    return status;
}

static gg_exit mark_stdin(bool json)
{
    gg_error error = {0};
    char *line = NULL;
    size_t room = 0, number = 0;
    ssize_t len = 0;
    gg_status status = GG_OK;

    while (status == GG_OK && (len = getline(&line, &room, stdin)) >= 0) {
        number++;
        status = strlen(line) == (size_t)len
                     ? mark_line(line, json, &error)
                     : gg_fail(&error, GG_E_CONFIG, "the line holds a NUL byte");
        if (status != GG_OK)
            gg_fail_prefix(&error, "stdin, line %zu", number);
    }
    free(line);
    return status == GG_OK ? GG_EXIT_OK : gg_give_up(GG_STARTING, &error);
}

gg_exit gg_cmd_mark(gg_cli *cli)
{
    bool json = gg_opt_flag(cli->opts, GG_OPT_JSON);
    gg_error error = {0};
    pair p;

    if (cli->arg_count == 0)
        return mark_stdin(json);
    if (cli->arg_count == 1)
        gg_fail(&error, GG_E_CONFIG, "mark needs two words: mark GUESS ANSWER");
    else if (read_pair(cli->args[0], strlen(cli->args[0]), cli->args[1], strlen(cli->args[1]), &p,
                       &error) == GG_OK) {
        print_marks(&p, json);
        return GG_EXIT_OK;
    }
    return gg_give_up(GG_STARTING, &error);
}
