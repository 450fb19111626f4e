/*
 * The word game: built-in environment "guess", and its pure functions.
 *
 * The functions below the table are what others may use: the policies read lists and marks from
 * here, `guessgym mark` and `guessgym words` too. There is one marking function in the tree.
 */
#ifndef GG_ENV_GUESS_H
#define GG_ENV_GUESS_H

#include <stdint.h>

#include <guessgym/env.h>

#define GG_WORD_MIN    3
#define GG_WORD_MAX    12
#define GG_GUESSES_MAX 32
#define GG_ANSWERS_MAX 65535 /* an answer's index fits 16 bits */
#define GG_ALLOWED_MAX 2000000

extern const gg_env_api gg_guess_env;

/* Marks. A pattern is base-3 digits, first letter least significant: 0 grey, 1 yellow, 2 green.
 * 3^12 fits an int32. Greens first, then yellows left to right while unused copies of the letter
 * remain. Both words are `length` lower-case letters a-z (not checked: hot path). */
typedef int32_t gg_marks;
gg_marks gg_mark(const char *guess, const char *answer, int length);
/* 'G', 'Y' or 'B' for the letter at `place`. */
char gg_mark_letter(gg_marks marks, int place);

/* A loaded pair of lists: immutable, shared. Words stand in the order of their file (the shipped
 * lists are sorted), `length` bytes and a NUL each, back to back. */
typedef struct gg_words gg_words;
/* NULL paths mean the shipped lists. Refuses wrong lengths, duplicates, capitals, non-letters, CR,
 * an empty list, an answer missing from allowed - with file, line and word in the sentence. */
gg_status gg_words_load(const char *answers_path, const char *allowed_path, int length,
                        gg_words **out, gg_error *error);
void gg_words_free(gg_words *words);
int gg_words_length(const gg_words *words);
size_t gg_words_answer_count(const gg_words *words);
size_t gg_words_allowed_count(const gg_words *words);
const char *gg_words_answer(const gg_words *words, size_t index);
const char *gg_words_allowed(const gg_words *words, size_t index);
/* Index in the list, or -1. Reads up to `length` bytes; any of them that is not a-z gives -1. */
int gg_words_find_answer(const gg_words *words, const char *word);
int gg_words_find_allowed(const gg_words *words, const char *word);
/* The lists' digest, for records and caches: SHA-256 over both, hex. */
const char *gg_words_digest(const gg_words *words);

/* Datasets drawn from the answers: disjoint, without replacement, decided by the seed alone. */
typedef struct gg_split {
    const char *name;  /* "train": given by the caller, stands in the rows' ids */
    size_t count;      /* words, given by the caller */
    gg_buf rows;       /* JSON lines, one a word, each with a `prompt` column */
    char identity[65]; /* SHA-256 of the sorted keys of its words */
} gg_split;
/* Fills rows and identity of every split, which the caller has zeroed otherwise and releases with
 * gg_splits_free. More words than there are is GG_E_CONFIG. */
gg_status gg_words_split(const gg_words *words, uint64_t seed, gg_split *splits, size_t count,
                         gg_error *error);
void gg_splits_free(gg_split *splits, size_t count);

/* The fixed phrases of the game's texts (system prompt, tool, feedback, a call's arguments), for a
 * tokenizer that makes each one token: beside them the texts hold only single letters and numbers.
 * The list is the same for every length and number of guesses. Some phrases begin others, so match
 * the longest, and never let one end inside a run of letters. Static storage. */
const char *const *gg_guess_phrases(size_t *count);

#endif
