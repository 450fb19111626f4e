/*
 * "seeker": a tiny policy that searches. Not a language model.
 *
 * It chooses a tool, the words of a query, and the documents to submit, each as a token drawn from
 * the softmax of linear scores. docs/seeker.md gives features and weights in full. It is opened on
 * a search index (the setting `index`), whose words are its vocabulary.
 */
#ifndef GG_POLICY_SEEKER_H
#define GG_POLICY_SEEKER_H

#include "policy/api.h"

extern const gg_policy_api gg_seeker_policy;

#endif
