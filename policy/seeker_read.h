/*
 * What the seeker knows: read token by token from a sequence of the chat template.
 *
 * It reads which tools are on offer, the words of the question, its own calls, and the lines of
 * results, `id | title | snippet`. At each place of a reply it knows what could be written there: a
 * fixed token of the template, or one of several choices (seeker_choice.h). Sampling,
 * log-probabilities and gradients all follow it.
 *
 * Any ids are fine, also sequences that no policy of ours wrote: a reply that leaves the path is
 * off it until a call or the closing token come. What is beyond the limits below is passed over.
 *
 * No allocation; the struct is large and belongs on the heap. The vocabulary is borrowed.
 */
#ifndef GG_POLICY_SEEKER_READ_H
#define GG_POLICY_SEEKER_READ_H

#include "policy/policy.h"
#include "policy/seeker_features.h"
#include "policy/seeker_vocabulary.h"

#define GG_SEEK_ASKED_MAX     128 /* different words of a question */
#define GG_SEEK_PARTS_MAX     8   /* of a question */
#define GG_SEEK_DOCUMENTS_MAX 160
#define GG_SEEK_TEXT_MAX      96 /* words of a document's title and snippet that are kept */
#define GG_SEEK_TITLE_MAX     24 /* of them, of the title */
#define GG_SEEK_ID_MAX        24 /* tokens of a document's id */
#define GG_SEEK_RESULTS_MAX   24
#define GG_SEEK_LEADS_MAX     160  /* words from documents that a query may hold */
#define GG_SEEK_USED_MAX      128  /* different leads that queries held */
#define GG_SEEK_QUERY_MAX     12   /* words of a query */
#define GG_SEEK_RANKING       10   /* documents submitted, where as many were seen */
#define GG_SEEK_SLOTS         1024 /* of the hash of words; more than twice what can be in it */

typedef enum gg_seek_next {
    GG_SEEK_GIVEN,   /* outside a reply: the policy says nothing about this token */
    GG_SEEK_FIXED,   /* the template's token, due[due_at] */
    GG_SEEK_CHOICE,  /* see gg_seek_choose */
    GG_SEEK_NOTHING, /* off the path: nothing the policy could write */
} gg_seek_next;

enum gg_seek_stage {
    GG_SEEK_STAGE_DUE,  /* fixed tokens wait in `due`; then comes the stage `after` */
    GG_SEEK_STAGE_TOOL, /* the name of a tool */
    GG_SEEK_STAGE_WORD, /* a query's words */
    GG_SEEK_STAGE_RANK, /* documents to submit */
    GG_SEEK_STAGE_OFF,
    GG_SEEK_STAGE_CLOSED
};

enum gg_word_kind { GG_WORD_OF_QUESTION, GG_WORD_OF_TWO, GG_WORD_OF_LAST };

/* A word that a query may hold. */
typedef struct gg_seek_word {
    gg_lexeme lexeme;
    double rarity;
    uint8_t parts; /* of the question: bit set */
    uint8_t kind;  /* gg_word_kind */
    bool used;     /* stood in an earlier query */
    bool picked;   /* stands in this one */
} gg_seek_word;

typedef struct gg_seek_document {
    int32_t id[GG_SEEK_ID_MAX], words[GG_SEEK_TEXT_MAX]; /* tokens */
    uint8_t id_count, word_count, title_count;
    uint32_t name_ends;                        /* bit i: a name ends with the title's word i */
    int rank_lexical, rank_vector, rank_leads; /* best ones, from 1; 0 = none */
    int results;                               /* that hold it */
    double fused, cover[GG_SEEK_PARTS_MAX];    /* see seeker_features.h */
    int named;                                 /* best documents that hold its title, up to 2 */
    bool submitted;
} gg_seek_document;

typedef struct gg_seek_result {
    int best;         /* its first document, or -1 */
    int hits, fresh;  /* lines; documents not seen before */
    uint8_t tool;     /* gg_seek_tool */
    bool of_question; /* the query began with a word of the question */
} gg_seek_result;

typedef struct gg_seeker_state {
    const gg_seek_vocabulary *vocabulary;
    gg_effort effort;
    bool offered[GG_SEEK_TOOLS];
    int turn; /* replies begun */

    uint8_t part; /* of the template; enum in seeker_read.c */
    bool has_question, colon;
    int parts;                       /* of the question */
    double mass[GG_SEEK_PARTS_MAX];  /* rarity of a part's words, summed */
    double spent[GG_SEEK_PARTS_MAX]; /* of those that queries held */
    double query[GG_SEEK_PARTS_MAX]; /* of those that the query in work holds */
    int asked;                       /* words[0 .. asked) are the question's */
    gg_seek_word words[GG_SEEK_ASKED_MAX + GG_SEEK_LEADS_MAX]; /* then come those read */
    int word_count;
    int32_t used[GG_SEEK_USED_MAX]; /* keys of leads in earlier queries */
    int used_count;
    int16_t slots[GG_SEEK_SLOTS]; /* from a key's hash to words[] + 1 */

    gg_seek_result results[GG_SEEK_RESULTS_MAX];
    int result_count;
    gg_seek_document documents[GG_SEEK_DOCUMENTS_MAX + 1]; /* the last is the line being read */
    int document_count;
    int field; /* of a line: id, title, snippet; -1 = no hit */
    uint8_t asked_tool;
    bool asked_of_question, awaiting; /* of the call whose result is awaited */

    uint8_t stage, after;
    int due_at, due_count;
    int32_t due[4];
    int query_words;                 /* so far in this query */
    uint8_t first_kind, first_parts; /* of its first word */
    int submitted;
    uint8_t served; /* parts that a submitted document shows best: bit set */
    int spelled;    /* tokens of the id in work */
    int32_t spelling[GG_SEEK_ID_MAX];
} gg_seeker_state;

void gg_seeker_start(gg_seeker_state *state, const gg_seek_vocabulary *vocabulary);
void gg_seeker_put(gg_seeker_state *state, int32_t id);
gg_seek_next gg_seeker_next(const gg_seeker_state *state);

/* The share of a part that earlier queries held, by rarity; that of the part held least. */
double gg_seeker_spent(const gg_seeker_state *state, int part);
double gg_seeker_done(const gg_seeker_state *state);
/* Documents that this reply submits in all. */
int gg_seeker_wanted(const gg_seeker_state *state);
/* Whether a document may come next, given what is spelled of its id. */
bool gg_seeker_alive(const gg_seeker_state *state, const gg_seek_document *document);
/* The token that goes on with a document's id, or closes it. */
int32_t gg_seeker_id_token(const gg_seeker_state *state, const gg_seek_document *document);
/* The token that ends a query. */
int32_t gg_seeker_query_end(const gg_seeker_state *state);

#endif
