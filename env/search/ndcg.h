/*
 * nDCG at a cut-off, as trec_eval's ndcg_cut computes it (m_ndcg_cut.c, version 9):
 *
 *   DCG@k  = sum over ranks i = 1..k of gain(i) / log2(i + 1)
 *   nDCG@k = DCG@k / DCG@k of the best ranking of all judged documents
 *
 * The gain is the grade itself, 0 where it is negative or the document was not judged. Documents
 * stand in the order given, so there are no ties to break. Pure functions.
 */
#ifndef GG_ENV_SEARCH_NDCG_H
#define GG_ENV_SEARCH_NDCG_H

#include <stddef.h>

#define GG_NDCG_CUT_MAX 1000

/* `ranked` holds the grades of the ranked documents, `judged` those of all judged ones in any
 * order. `cut` is 1 to GG_NDCG_CUT_MAX. 0 when nothing judged has a gain. */
double gg_ndcg(const int *ranked, size_t ranked_count, const int *judged, size_t judged_count,
               size_t cut);

#endif
