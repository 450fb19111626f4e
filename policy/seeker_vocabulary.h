/*
 * The seeker's vocabulary: its lexicon with the search game's phrases and our own, and what the
 * tokens mean to its reader.
 */
#ifndef GG_POLICY_SEEKER_VOCABULARY_H
#define GG_POLICY_SEEKER_VOCABULARY_H

#include "policy/lexicon.h"
#include "policy/seeker_features.h"

#define GG_SEEK_EFFORTS 3

enum gg_seek_sign {
    GG_SIGN_LINE = 1,  /* its text ends a line */
    GG_SIGN_FIELD = 2, /* parts the fields of a line */
    GG_SIGN_COLON = 4, /* ends with a colon */
    GG_SIGN_BLANK = 8, /* begins with a blank or a line's end */
    GG_SIGN_COMMA = 16 /* parts the names of a title */
};

typedef struct gg_seek_vocabulary {
    gg_lexicon lexicon;
    uint8_t *signs; /* one an id: bits of gg_seek_sign */
    int32_t tools[GG_SEEK_TOOLS];
    int32_t query_open, query_end[GG_SEEK_EFFORTS]; /* {"query":"  ","k":10} */
    int32_t rank_open, rank_next, rank_end;         /* {"document_ids":["  ","  "]} */
    int32_t no_tool;                                /* a reply without a call */
} gg_seek_vocabulary;

gg_status gg_seek_vocabulary_init(gg_seek_vocabulary *vocabulary, gg_index *index, gg_error *error);
void gg_seek_vocabulary_free(gg_seek_vocabulary *vocabulary);

#endif
