#include "policy/vocabulary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env/guess/texts.h"

#define OWN_MAX     160 /* phrases of our own */
#define PHRASE_ROOM 64

#define TEXT_OVER    "The game is over."
#define TEXT_NO_TOOL "There is no tool that I could call."
#define TEXT_FITS    ": fits"
/* A message of the game that says this ends it. */
#define SAYS_OVER "game is over"

/* What a check says of a letter; the first two are followed by the place, from 1. */
static const char *const clash_texts[GG_CLASH_COUNT] = {
    [GG_CLASH_GREEN] = " must be at ",
    [GG_CLASH_WRONG] = " cannot be at ",
    [GG_CLASH_OFTEN] = " is used too often",
    [GG_CLASH_MISSING] = " is missing",
};
static const char *const mark_texts[] = {
    [GG_MARK_GREY] = T_GREY,
    [GG_MARK_YELLOW] = T_YELLOW,
    [GG_MARK_GREEN] = T_GREEN,
};

typedef struct own {
    char text[OWN_MAX][PHRASE_ROOM];
    size_t count;
} own;

static int places(int clash)
{
    return clash == GG_CLASH_GREEN || clash == GG_CLASH_WRONG ? GG_WORD_MAX : 1;
}

static void clash_text(char out[PHRASE_ROOM], int clash, int place, int newline)
{
    char number[16] = "";
    if (places(clash) > 1)
        snprintf(number, sizeof number, "%d", place + 1);
    snprintf(out, PHRASE_ROOM, "%s%s%s", clash_texts[clash], number, newline ? "\n" : "");
}

static void subject_text(char out[PHRASE_ROOM], int letter)
{
    snprintf(out, PHRASE_ROOM, ": %c", 'A' + letter);
}

static void add(own *list, const char *text)
{
    snprintf(list->text[list->count++], PHRASE_ROOM, "%s", text);
}

static void add_own(own *list)
{
    static const char *const plain[] = {
        T_TOOL_NAME, T_ARGUMENTS_OPEN, T_ARGUMENTS_CLOSE, TEXT_OVER, TEXT_NO_TOOL, TEXT_FITS,
    };
    char text[PHRASE_ROOM];
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        add(list, plain[i]);
    for (int letter = 0; letter < GG_LETTERS; letter++) {
        subject_text(text, letter);
        add(list, text);
    }
    for (int clash = GG_CLASH_NONE + 1; clash < GG_CLASH_COUNT; clash++) {
        for (int place = 0; place < places(clash); place++) {
            for (int newline = 0; newline < 2; newline++) {
                clash_text(text, clash, place, newline);
                add(list, text);
            }
        }
    }
}

/* " s=grey": a letter and its mark. */
static bool read_mark(const char *text, gg_token *token)
{
    if (text[0] != ' ' || text[1] < 'a' || text[1] > 'z')
        return false;
    for (uint8_t mark = GG_MARK_GREY; mark <= GG_MARK_GREEN; mark++) {
        if (strcmp(text + 2, mark_texts[mark]) != 0)
            continue;
        *token = (gg_token){GG_MEANS_MARK, (uint8_t)(text[1] - 'a'), mark};
        return true;
    }
    return false;
}

static bool set_meanings(gg_vocabulary *v)
{
    v->tokens = calloc((size_t)v->size, sizeof *v->tokens);
    if (!v->tokens)
        return false;
    for (int32_t id = GG_TOKEN_PHRASES; id < v->size; id++) {
        size_t len;
        const char *text = gg_tokenizer_text(v->tokenizer, id, &len);
        if (!read_mark(text, &v->tokens[id]) && strstr(text, SAYS_OVER))
            v->tokens[id].meaning = GG_MEANS_OVER;
    }
    v->tokens[v->tool].meaning = GG_MEANS_TOOL;
    return true;
}

static void find_own(gg_vocabulary *v)
{
    const gg_tokenizer *t = v->tokenizer;
    char text[PHRASE_ROOM];
    v->tool = gg_tokenizer_find(t, T_TOOL_NAME);
    v->open = gg_tokenizer_find(t, T_ARGUMENTS_OPEN);
    v->close = gg_tokenizer_find(t, T_ARGUMENTS_CLOSE);
    v->over = gg_tokenizer_find(t, TEXT_OVER);
    v->no_tool = gg_tokenizer_find(t, TEXT_NO_TOOL);
    v->fits = gg_tokenizer_find(t, TEXT_FITS);
    for (int letter = 0; letter < GG_LETTERS; letter++) {
        subject_text(text, letter);
        v->subject[letter] = gg_tokenizer_find(t, text);
    }
    for (int clash = GG_CLASH_NONE + 1; clash < GG_CLASH_COUNT; clash++) {
        for (int place = 0; place < places(clash); place++) {
            for (int newline = 0; newline < 2; newline++) {
                clash_text(text, clash, place, newline);
                v->clash[clash][place][newline] = gg_tokenizer_find(t, text);
            }
        }
    }
}

gg_status gg_vocabulary_init(gg_vocabulary *v, gg_error *error)
{
    *v = (gg_vocabulary){0};
    size_t game_count;
    const char *const *game = gg_guess_phrases(&game_count);
    own *list = calloc(1, sizeof *list);
    const char **all = calloc(OWN_MAX + game_count, sizeof *all);
    gg_status status = GG_E_MEMORY;
    if (list && all) {
        add_own(list);
        for (size_t i = 0; i < list->count; i++)
            all[i] = list->text[i];
        memcpy(all + list->count, game, game_count * sizeof *all);
        status = gg_tokenizer_new(GG_TOKENIZER_LETTERS, all, list->count + game_count,
                                  &v->tokenizer, error);
    }
    free(all);
    free(list);
    if (status == GG_OK) {
        v->size = gg_tokenizer_size(v->tokenizer);
        find_own(v);
        if (!set_meanings(v))
            status = GG_E_MEMORY;
    }
    if (status == GG_OK)
        return GG_OK;
    gg_vocabulary_free(v);
    return status == GG_E_MEMORY ? gg_fail(error, status, "not enough memory for the vocabulary")
                                 : status;
}

void gg_vocabulary_free(gg_vocabulary *v)
{
    gg_tokenizer_free(v->tokenizer);
    free(v->tokens);
    *v = (gg_vocabulary){0};
}
