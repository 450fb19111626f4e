/*
 * The built-in embedding: feature hashing (Weinberger et al. 2009, arXiv:0902.2206).
 *
 * A text's features are its lower-case words and the character trigrams of each word with a blank
 * on both sides. A feature's hash names one of GG_EMBED_DIMS places and a sign; its weight is
 * (1 + ln count) x idf, idf = ln((documents + 1) / (documents that have it + 1)), a word GG_EMBED_
 * WORD times a trigram; a feature that no document has weighs nothing. The sum is scaled to
 * length 1. So this is lexical in spirit: it finds spellings and parts of words, not meanings.
 *
 * In how many documents a feature stands is counted in GG_EMBED_SLOTS slots by hash.
 */
#ifndef GG_ENV_SEARCH_EMBED_H
#define GG_ENV_SEARCH_EMBED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <guessgym/error.h>

#define GG_EMBED_DIMS  512
#define GG_EMBED_SLOTS (1u << 18)
#define GG_EMBED_NAME  "hashing/1" /* changes with every change of the numbers */
#define GG_EMBED_WORD  3.0
#define GG_EMBED_BYTES (1u << 20) /* of a text that are looked at */

/* Counts over a corpus. Filled by one thread, then immutable and shared. */
typedef struct gg_features gg_features;

gg_features *gg_features_new(void); /* NULL when memory is short */
void gg_features_free(gg_features *features);
/* Counts one document, given as two texts. GG_E_MEMORY. */
gg_status gg_features_count(gg_features *features, const char *title, size_t title_len,
                            const char *text, size_t text_len, gg_error *error);
size_t gg_features_documents(const gg_features *features);
/* In how many documents a word of lower-case bytes stands, or a little more (slots are shared). */
size_t gg_features_having(const gg_features *features, const char *word, size_t len);

gg_status gg_features_write(const gg_features *features, const char *path, gg_error *error);
gg_status gg_features_read(const char *path, gg_features **out, gg_error *error);

/* The vector of two texts taken together (the second may be empty); all 0 when there is no word. */
gg_status gg_embed(const gg_features *features, const char *title, size_t title_len,
                   const char *text, size_t text_len, float out[GG_EMBED_DIMS], gg_error *error);

/* The next word of a text at or after *at: a run of letters, digits and bytes beyond ASCII, in
 * lower case, of which at most `room` bytes are written. 0 at the end; *start is where it stands.
 */
size_t gg_next_word(const char *text, size_t len, size_t *at, size_t *start, char *word,
                    size_t room);

#endif
