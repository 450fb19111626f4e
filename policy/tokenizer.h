/*
 * The tokenizer of the embedded policies.
 *
 * Ids: 0-255 are the bytes (a letter is its own byte), then the special tokens below, then the
 * fixed phrases. Text becomes tokens by greedy longest match; every text comes back byte for byte.
 *
 * A phrase never matches inside a run of letters: where it begins (ends) with a letter, no letter
 * stands before (after) it. Special tokens never come out of text, whatever it holds: only the chat
 * template writes them.
 *
 * There are two kinds. One writes a played word as single letters. The other has words as tokens,
 * with and without a blank before them; digits count as letters there.
 *
 * Ownership: the phrases are copied. A tokenizer is immutable and shared by threads.
 */
#ifndef GG_POLICY_TOKENIZER_H
#define GG_POLICY_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guessgym/buf.h>

#define GG_TOKEN_BYTES 256

enum gg_special {
    GG_TOKEN_LOW = GG_TOKEN_BYTES, /* reasoning effort; in the order of gg_effort */
    GG_TOKEN_MEDIUM,
    GG_TOKEN_HIGH,
    GG_TOKEN_TOOLS,  /* opens the names of the tools on offer */
    GG_TOKEN_SYSTEM, /* these four open a message of that role */
    GG_TOKEN_USER,
    GG_TOKEN_ASSISTANT,
    GG_TOKEN_TOOL,
    GG_TOKEN_THINK,     /* thoughts: from here ... */
    GG_TOKEN_THOUGHT,   /* ... to here */
    GG_TOKEN_CALL,      /* a tool call: its name follows */
    GG_TOKEN_ARGUMENTS, /* and then its arguments */
    GG_TOKEN_END,       /* closes a message, the reply included */
    GG_TOKEN_PHRASES    /* id of the first phrase */
};

/* A growable array of ids. Zeroed = empty; a failed allocation sticks in `failed`. */
typedef struct gg_ids {
    int32_t *data;
    size_t count, room;
    bool failed;
} gg_ids;

void gg_ids_reserve(gg_ids *ids, size_t more);
void gg_ids_push(gg_ids *ids, int32_t id);
void gg_ids_free(gg_ids *ids);

typedef struct gg_tokenizer gg_tokenizer;

typedef enum gg_tokenizer_kind { GG_TOKENIZER_LETTERS, GG_TOKENIZER_WORDS } gg_tokenizer_kind;

/* Phrases get ids in the order given. Repeats are left out, and what could swallow a word that a
 * policy wrote. LETTERS: phrases of one byte, and those that a lower-case word opens unless it goes
 * on with '_' or ' '. WORDS: phrases of nothing but blanks and several lower-case words. */
gg_status gg_tokenizer_new(gg_tokenizer_kind kind, const char *const *phrases, size_t count,
                           gg_tokenizer **out, gg_error *error);
void gg_tokenizer_free(gg_tokenizer *tokenizer);

int32_t gg_tokenizer_size(const gg_tokenizer *tokenizer); /* number of ids */
/* Id of exactly this phrase, or -1. */
int32_t gg_tokenizer_find(const gg_tokenizer *tokenizer, const char *phrase);
/* Text of an id; special tokens read "<|end|>". NULL when there is no such id. */
const char *gg_tokenizer_text(const gg_tokenizer *tokenizer, int32_t id, size_t *len);

/* Appends the ids of a text. */
void gg_tokenizer_encode(const gg_tokenizer *tokenizer, const char *text, size_t len, gg_ids *out);
/* Appends the text of ids; an id outside the vocabulary is GG_E_ARGUMENT with its place. */
gg_status gg_tokenizer_decode(const gg_tokenizer *tokenizer, const int32_t *ids, size_t count,
                              gg_buf *out, gg_error *error);

#endif
