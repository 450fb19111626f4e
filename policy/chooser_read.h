/*
 * What the chooser reads of a sequence, token by token: the tools, what was called, what came back,
 * and where in a reply it stands.
 *
 * A reply is a row of slots. A slot has candidates, each a string of token ids of which none begins
 * another; text that is fixed is a slot with one candidate. So the probability of the next token is
 * that of the candidates that go on with it, among those that agree so far: a choice counts once,
 * at the tokens where its candidates part.
 */
#ifndef GG_POLICY_CHOOSER_READ_H
#define GG_POLICY_CHOOSER_READ_H

#include "policy/chooser_schema.h"
#include "policy/tokenizer.h"

#define GG_CHOOSER_HISTORY 8 /* calls remembered */
#define GG_CHOOSER_NONE    (-1)

/* One call and its result. Shapes are hashes of a line with every number read as one sign. */
typedef struct gg_chooser_turn {
    int tool;
    int value[GG_CHOOSER_ARGUMENTS];      /* index among the argument's values */
    uint32_t shape[GG_CHOOSER_ARGUMENTS]; /* of the line that is the argument's */
    uint32_t first;                       /* of the first line */
    bool answered;
} gg_chooser_turn;

typedef enum gg_chooser_slot {
    GG_SLOT_OUTSIDE, /* of a reply, or of what it could have written */
    GG_SLOT_TOOL,
    GG_SLOT_ARGUMENT,
    GG_SLOT_CLOSE,
    GG_SLOT_NO_TOOL, /* a prompt without tools */
    GG_SLOT_LOST     /* a reply that the chooser would not write */
} gg_chooser_slot;

typedef struct gg_chooser_reader {
    gg_chooser_schema schema;
    gg_status status; /* of the schema */
    gg_error error;
    int32_t section;                             /* the special token that opened it */
    gg_buf text;                                 /* of the section */
    gg_buf name;                                 /* of the tool whose schema is read */
    gg_chooser_turn history[GG_CHOOSER_HISTORY]; /* the oldest first */
    size_t history_count, turns;
    gg_chooser_slot slot;
    gg_chooser_turn call;          /* the one being written */
    size_t argument;               /* the slot's */
    size_t written;                /* tokens of the slot so far */
    bool alive[GG_CHOOSER_VALUES]; /* candidates that agree with them */
} gg_chooser_reader;

void gg_chooser_reader_init(gg_chooser_reader *reader);
void gg_chooser_reader_free(gg_chooser_reader *reader);
void gg_chooser_put(gg_chooser_reader *reader, int32_t token);
/* Candidates of the slot; 0 outside. */
size_t gg_chooser_candidates(const gg_chooser_reader *reader);
/* The token that a candidate has at a place, or GG_CHOOSER_NONE after its end. */
int32_t gg_chooser_token(const gg_chooser_reader *reader, size_t candidate, size_t at);
/* The last call and its result; NULL in the first turn. */
const gg_chooser_turn *gg_chooser_last(const gg_chooser_reader *reader);

#endif
