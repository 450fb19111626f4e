/* The seeker's choices: what could be written at a place, each with its features, and the softmax
 * over their linear scores. One function for sampling, log-probabilities and gradients. */
#ifndef GG_POLICY_SEEKER_CHOICE_H
#define GG_POLICY_SEEKER_CHOICE_H

#include "policy/seeker_read.h"

#define GG_SEEK_CHOICES (GG_SEEK_ASKED_MAX + GG_SEEK_LEADS_MAX + 1)
#define GG_SEEK_ROW     16 /* features of one */

extern const double gg_seeker_base[GG_SEEK_WEIGHTS]; /* start weights */

/* Several rows may have one token (ids that begin alike): its probability is their sum. */
typedef struct gg_seek_choice {
    size_t count;
    size_t at, width; /* the rows' weights are weights[at .. at + width) */
    int32_t token[GG_SEEK_CHOICES];
    double feature[GG_SEEK_CHOICES][GG_SEEK_ROW];
    double score[GG_SEEK_CHOICES], p[GG_SEEK_CHOICES];
    double log_sum; /* logarithm of the sum of exp(score) */
} gg_seek_choice;

/* The state must be at GG_SEEK_CHOICE. There is always something to choose. */
void gg_seek_choose(const gg_seeker_state *state, const double *weights, gg_seek_choice *choice);
/* Of a token; -INFINITY for one that cannot be chosen. */
double gg_seek_logprob(const gg_seek_choice *choice, int32_t token);
/* Adds factor x d log p(token) / d weights. */
void gg_seek_add_gradient(const gg_seek_choice *choice, int32_t token, double factor, double *sum);

#endif
