#include "policy/seeker_vocabulary.h"

#include <stdlib.h>
#include <string.h>

#include "env/search/texts.h"

#define TEXT_NO_TOOL "There is no tool that I could call."

static const char *const tool_names[GG_SEEK_TOOLS] = {
    [GG_SEEK_LEXICAL] = S_TOOL_WORDS,
    [GG_SEEK_VECTOR] = S_TOOL_VECTORS,
    [GG_SEEK_SUBMIT] = S_TOOL_SUBMIT,
};
/* The more effort, the more results it asks for. */
#define QUERY_END(k) "\",\"" S_K "\":" k "}"
static const char *const query_ends[GG_SEEK_EFFORTS] = {
    QUERY_END("5"),
    QUERY_END("10"),
    QUERY_END("20"),
};
#define QUERY_OPEN "{\"" S_QUERY "\":\""
#define RANK_OPEN  "{\"" S_IDS "\":[\""
#define RANK_NEXT  "\",\""
#define RANK_END   "\"]}"

static uint8_t signs_of(const char *text, size_t len)
{
    unsigned signs = 0;
    if (len == 0)
        return 0;
    char first = text[0], last = text[len - 1];
    signs |= last == '\n' ? GG_SIGN_LINE : 0u;
    signs |= last == ':' ? GG_SIGN_COLON : 0u;
    signs |= first == ' ' || first == '\n' ? GG_SIGN_BLANK : 0u;
    signs |= first == ',' ? GG_SIGN_COMMA : 0u;
    signs |= len == strlen(S_COLUMN) && memcmp(text, S_COLUMN, len) == 0 ? GG_SIGN_FIELD : 0u;
    return (uint8_t)signs;
}

static bool set_signs(gg_seek_vocabulary *v)
{
    v->signs = calloc((size_t)v->lexicon.size, sizeof *v->signs);
    for (int32_t id = 0; v->signs && id < v->lexicon.size; id++) {
        size_t len;
        const char *text = gg_tokenizer_text(v->lexicon.tokenizer, id, &len);
        if (id < GG_TOKEN_BYTES || id >= GG_TOKEN_PHRASES)
            v->signs[id] = signs_of(text, len);
    }
    return v->signs != NULL;
}

static void find_own(gg_seek_vocabulary *v)
{
    const gg_tokenizer *t = v->lexicon.tokenizer;
    for (int tool = 0; tool < GG_SEEK_TOOLS; tool++)
        v->tools[tool] = gg_tokenizer_find(t, tool_names[tool]);
    for (int effort = 0; effort < GG_SEEK_EFFORTS; effort++)
        v->query_end[effort] = gg_tokenizer_find(t, query_ends[effort]);
    v->query_open = gg_tokenizer_find(t, QUERY_OPEN);
    v->rank_open = gg_tokenizer_find(t, RANK_OPEN);
    v->rank_next = gg_tokenizer_find(t, RANK_NEXT);
    v->rank_end = gg_tokenizer_find(t, RANK_END);
    v->no_tool = gg_tokenizer_find(t, TEXT_NO_TOOL);
}

gg_status gg_seek_vocabulary_init(gg_seek_vocabulary *v, gg_index *index, gg_error *error)
{
    /* Our own first, then the texts of the game that every sequence holds. */
    const char *const phrases[] = {
        tool_names[0], tool_names[1],  tool_names[2],  query_ends[0], query_ends[1], query_ends[2],
        QUERY_OPEN,    RANK_OPEN,      RANK_NEXT,      RANK_END,      S_COLUMN,      TEXT_NO_TOOL,
        S_SYSTEM_ROLE, S_SYSTEM_TURNS, S_SYSTEM_CALLS, S_OPENING,     S_FOUND_ONE,   S_FOUND_MANY,
        S_FOUND_NONE,  S_REPEAT,       S_RANKED,       S_OVER,
    };
    *v = (gg_seek_vocabulary){.signs = NULL};
    gg_status status =
        gg_lexicon_init(&v->lexicon, index, phrases, sizeof phrases / sizeof *phrases, error);
    if (status != GG_OK)
        return status;
    find_own(v);
    if (set_signs(v))
        return GG_OK;
    gg_seek_vocabulary_free(v);
    return gg_fail(error, GG_E_MEMORY, "not enough memory for the vocabulary");
}

void gg_seek_vocabulary_free(gg_seek_vocabulary *v)
{
    gg_lexicon_free(&v->lexicon);
    free(v->signs);
    *v = (gg_seek_vocabulary){.signs = NULL};
}
