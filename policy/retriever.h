/* The baselines of the search game, which search once with the whole question. */
#ifndef GG_POLICY_RETRIEVER_H
#define GG_POLICY_RETRIEVER_H

#include "policy/api.h"

enum { GG_RETRIEVER_BM25, GG_RETRIEVER_VECTOR, GG_RETRIEVER_HYBRID, GG_RETRIEVERS };

extern const gg_policy_api gg_retriever_policies[GG_RETRIEVERS];

#endif
