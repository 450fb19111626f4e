/*
 * The chooser's scores: a linear function of hashed features, and the softmax over a slot's
 * candidates. One function for sampling, log-probabilities and gradients.
 *
 * Each kind of feature has a stretch of the weights of its own, in which the hash of its key picks
 * one; keys may share a weight. Of a tool: the tool; with the shape of the last result's first
 * line; with the turn. Of a value: the argument and the value; how far it lies from the value
 * chosen last (in places of the schema's order), with the shape of the line that is the argument's,
 * alone, with the turn; the value with that shape; and for every earlier turn the side on which it
 * lies of that turn's value, with that turn's shape.
 */
#ifndef GG_POLICY_CHOOSER_CHOICE_H
#define GG_POLICY_CHOOSER_CHOICE_H

#include "policy/chooser_read.h"
#include "policy/draw.h"

#define GG_CHOOSER_WEIGHTS 512
#define GG_CHOOSER_ROW     (4 + GG_CHOOSER_HISTORY) /* features of a candidate */

extern const double gg_chooser_base[GG_CHOOSER_WEIGHTS]; /* start weights: all 0 */

typedef struct gg_chooser_choice {
    size_t count; /* candidates that agree with the slot's tokens so far */
    size_t candidate[GG_CHOOSER_VALUES];
    int32_t token[GG_CHOOSER_VALUES]; /* what each goes on with */
    size_t width;
    uint16_t feature[GG_CHOOSER_VALUES][GG_CHOOSER_ROW]; /* indices of weights, each counting 1 */
    double score[GG_CHOOSER_VALUES], p[GG_CHOOSER_VALUES];
} gg_chooser_choice;

/* What can be written now; count 0 outside of a reply. */
void gg_chooser_choose(const gg_chooser_reader *reader, const double *weights,
                       gg_chooser_choice *choice);
/* Of a token; -INFINITY for one that cannot be written. */
double gg_chooser_logprob(const gg_chooser_choice *choice, int32_t token);
/* Adds factor x d log p(token) / d weights. */
void gg_chooser_add_gradient(const gg_chooser_choice *choice, int32_t token, double factor,
                             double *sum);

#endif
