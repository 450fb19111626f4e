/*
 * Which answers fit the marks told so far.
 *
 * Marking every answer again at each step would cost more than everything else together. Instead a
 * set of answers is one bit an answer, and what a mark says is a set made once at opening: "letter
 * l stands at place i", "there are at least n copies of l". A guess's marks are the intersection of
 * a handful of them. That holds for any guess, listed or not, and needs some tens of kilobytes.
 *
 * Threads: may be shared.
 */
#ifndef GG_ENV_GUESS_FITS_H
#define GG_ENV_GUESS_FITS_H

#include "env/guess/guess.h"

typedef struct gg_fits gg_fits;

/* Keeps `words`, which must outlive it. NULL when memory is short. */
gg_fits *gg_fits_new(const gg_words *words);
void gg_fits_free(gg_fits *fits);

/* A set is this many numbers long. */
size_t gg_fits_width(const gg_fits *fits);
/* All answers. */
void gg_fits_all(const gg_fits *fits, uint64_t *set);
/* Leaves the answers against which `guess` gives `marks`; returns their number. */
size_t gg_fits_narrow(const gg_fits *fits, const char *guess, gg_marks marks, uint64_t *set);

/* A condition on an answer: `letter` (0-25) stands at `place`, or, where `place` is GG_FITS_COPIES,
 * there are at least `copies` of it (1 to the length). It must hold, or must not. */
#define GG_FITS_COPIES (-1)
typedef struct gg_fits_condition {
    int letter, place, copies;
    bool holds;
} gg_fits_condition;
/* Number of answers that meet all conditions. */
size_t gg_fits_count(const gg_fits *fits, const gg_fits_condition *asked, size_t count);

#define GG_ENTROPY_UNIT 1000000 /* entropies are told in millionths of a bit */

/* Shannon entropy of the guess's marks when every answer is equally likely. Computed when a word is
 * first asked for and kept for listed ones (`allowed` is the index in that list, else -1). False
 * when memory is short. */
bool gg_fits_entropy(gg_fits *fits, const char *guess, int allowed, uint32_t *millionths);

#endif
